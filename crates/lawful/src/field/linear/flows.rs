//! The flows of a form: which there are, and their sizes.

use super::choose::LinearTask;
use super::description::{
    Coordinate, Direction, FlowDescription, StateDescription, SumDescription, SumForm,
};

/// Returns the flows, in the order of the network's outputs: those of the states alone, in the order of the
/// state, then those of each sum.
pub(super) fn flows(
    task: &LinearTask<'_>,
    states: &[StateDescription],
    sums: &[SumDescription],
) -> Vec<FlowDescription> {
    let by_flows = || sums.iter().filter(|sum| sum.by == SumForm::Flows);
    let mut flows = Vec::new();
    for (i, state) in states.iter().enumerate() {
        if !task.known.contains(&i) && !by_flows().any(|sum| sum.weights[i] != 0.0) {
            alone(&task.state[i], state, task.scaling.rate[i], &mut flows);
        }
    }
    for sum in by_flows() {
        between(task, states, &sum.weights, &mut flows);
    }
    flows
}

fn is_limited(state: &StateDescription) -> bool {
    state.lower.is_some() || state.upper.is_some() || state.direction.is_some()
}

/// The flows of a state from and to the outside.
fn alone(name: &str, state: &StateDescription, rate: f64, flows: &mut Vec<FlowDescription>) {
    let end = || Some(name.to_owned());
    let into = FlowDescription { from: None, to: end(), signed: false, rate };
    let out = FlowDescription { from: end(), to: None, signed: false, rate };
    let signed = FlowDescription { signed: true, ..into.clone() };
    let in_logs = matches!(state.coordinate, Coordinate::Log { .. });
    match state.direction {
        Some(Direction::Stays) => {}
        Some(Direction::Falls) => flows.push(out),
        Some(Direction::Rises) => flows.push(into),
        None if in_logs || !is_limited(state) => flows.push(signed),
        None => flows.extend([into, out]),
    }
}

/// The flows between the states of a sum.
fn between(
    task: &LinearTask<'_>,
    states: &[StateDescription],
    weights: &[f64],
    flows: &mut Vec<FlowDescription>,
) {
    let members: Vec<usize> = (0..weights.len()).filter(|&i| weights[i] != 0.0).collect();
    let size = |i: usize| weights[i] * task.scaling.rate[i];
    let may = |i: usize, up: bool| match states[i].direction {
        None => true,
        Some(Direction::Rises) => up,
        Some(Direction::Falls) => !up,
        Some(Direction::Stays) => false,
    };
    for (n, &a) in members.iter().enumerate() {
        for &b in &members[n + 1..] {
            let rate = (size(a) * size(b)).sqrt() / (members.len() - 1) as f64;
            let flow = |from: usize, to: usize, signed| FlowDescription {
                from: Some(task.state[from].clone()),
                to: Some(task.state[to].clone()),
                signed,
                rate,
            };
            if !is_limited(&states[a]) && !is_limited(&states[b]) {
                flows.push(flow(a, b, true));
                continue;
            }
            for (from, to) in [(a, b), (b, a)] {
                if may(from, false) && may(to, true) {
                    flows.push(flow(from, to, false));
                }
            }
        }
    }
}
