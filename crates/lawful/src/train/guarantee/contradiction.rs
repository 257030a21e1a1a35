//! Whether the data contradict a law, so that it must not be enforced without being asked for.

use lawful_law::{Enforcement, Steps, Workspace};

use super::Question;
use crate::data::Accuracy;
use crate::{Audit, extend_rows, short};

/// Returns, for each law, why the data contradict it, as a sentence; `None` where they do not.
///
/// Only laws that the training may choose for are tested: by an [`Audit`] of all laws, and an equality that
/// states its value by every complete first row, from which a path could not start otherwise.
pub(super) fn by_data(question: &Question) -> Vec<Option<String>> {
    if question.is_trained || !question.open.contains(&true) {
        return vec![None; question.laws.len()];
    }
    let accuracy = Accuracy::of(question.data);
    let audit = Audit::new(question.data, question.laws, question.constants);
    let one = |k: usize| audit.describe(k).or_else(|| at_starts(question, k, &accuracy));
    (0..question.laws.len()).map(one).collect()
}

fn at_starts(question: &Question, k: usize, accuracy: &Accuracy) -> Option<String> {
    let law = &question.laws[k];
    if law.enforcement() == Enforcement::Monitor {
        return None;
    }
    let quantity = law.conserved().ok().filter(|conserved| conserved.is_zero)?.quantity;
    let (d, m) = (question.data.state().len(), question.data.inputs().len());
    let firsts: Vec<f64> = question.constants.iter().map(|constant| constant.start).collect();
    let (mut workspace, mut row) = (Workspace::new(), Vec::new());
    for trajectory in question.data.trajectories() {
        let first = &trajectory.states[..d];
        if first.iter().any(|value| value.is_nan()) {
            continue;
        }
        extend_rows(first, d, &firsts, &mut row);
        let inputs = &trajectory.inputs[..m];
        let steps = Steps { times: &trajectory.times[..1], states: &row, inputs };
        let (mut off, mut bar) = ([0.0], vec![0.0; row.len()]);
        quantity.values(&steps, &mut workspace, &mut off);
        quantity.pull_back(&steps, &mut workspace, &[1.0], &mut bar);
        let explained = accuracy.explains(&bar[..d]);
        let size = bar[..d].iter().zip(first).map(|(bar, y)| (bar * y).abs()).sum::<f64>();
        if off[0].abs() > explained + super::ROUNDING * size {
            let of = match question.data.trajectories().len() {
                1 => String::new(),
                _ => format!(" of trajectory `{}`", trajectory.name),
            };
            return Some(format!(
                "the data contradict it: its sides differ by {} in the first row{of}, and the accuracy of \
                 the data explains {}",
                short(off[0].abs()),
                short(explained)
            ));
        }
    }
    None
}
