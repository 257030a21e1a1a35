//! A look at a phase that has ended: what went wrong, and what would mend it.

use lawful::{Control, Dataset, Solver, StopReason};

use crate::assemble::finer;
use crate::experiment::{Experiment, Shooting, StrategyKind};
use crate::number::short;
use crate::plan::{Plan, Remedy};
use crate::recipes::UNRESOLVED;

/// A fit whose prediction varies by less than this share of the data's variance is flat.
const FLAT: f64 = 0.05;
/// A fit whose error is more than this share of that variance is poor.
const POOR: f64 = 0.1;
/// Steps of segments that mend something.
const STEPS: usize = 5;
/// Violations up to this, in units of the law, are small.
const HELD: f64 = 0.1;
/// A fit depends on the solver's steps if halving them changes the path by more than this many times
/// the error, both squared …
const STEP_FACTOR: f64 = 10.0;
/// … and by more than this share of the data's variance.
pub(crate) const STEP_LEAST: f64 = 1e-8;
/// Most steps per interval that a remedy chooses.
const MOST_SUBSTEPS: usize = 16;

/// What was found, and what would mend it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Diagnosis {
    /// What was found, in words.
    pub(crate) what: String,
    /// How the remedy works, in words.
    pub(crate) how: &'static str,
    pub(crate) remedy: Remedy,
}

/// Looks at the model with which a phase ended.
pub(crate) fn diagnose(
    experiment: &Experiment,
    plan: &Plan,
    stop: &StopReason,
    theta: &[f64],
) -> Option<Diagnosis> {
    let (phase, after) = (plan.phase(), plan.at());
    let free = experiment.training.initial_state || experiment.training_set.missing() > 0;
    let enforced = experiment.strategy_of(phase).kind != StrategyKind::Vanilla;
    let laws = enforced && !experiment.laws.is_empty();
    let steps = segment_steps(experiment);
    if let StopReason::Failed(failure) = stop {
        // At first from where it stands, then from other weights.
        let afresh = plan.went_on();
        let how = match (laws, afresh) {
            (true, false) => "segments without laws lead back to the data",
            (true, true) => "once more from other weights, at first without laws",
            (false, false) => "short segments lead back to the data",
            (false, true) => "once more from other weights, at first on segments",
        };
        let what = format!("training blew up ({failure})");
        let remedy = Remedy::MultipleShooting { after, steps, without_laws: laws, free, afresh };
        let new = phase.shooting == Shooting::Single || laws;
        return new.then_some(Diagnosis { what, how, remedy });
    }
    let solver = finer(experiment.solver, phase.substeps);
    let data = &experiment.training_set;
    let path = look(experiment, data, solver, theta)?;
    let shares = variance_shares(data, &path.predicted);
    if path.error > poor(data) && phase.shooting == Shooting::Single {
        let mut what = if !shares.is_empty() && shares.iter().all(|share| *share < FLAT) {
            let most = shares.iter().copied().fold(0.0, f64::max);
            format!("the fit is flat (its variance is {} % of the data's)", short(100.0 * most))
        } else {
            let error = short(100.0 * path.error);
            format!("the fit is poor (its error is {error} % of the data's variance)")
        };
        // Laws may hold, or nearly so, where nothing of the data is left.
        let without_laws = laws && path.violation < HELD;
        if without_laws {
            what += ", and the laws hold there";
        }
        let how = if without_laws {
            "once more from other weights, at first without laws"
        } else {
            "once more from other weights, at first on segments, which stay near the data"
        };
        let remedy = Remedy::MultipleShooting { after, steps, without_laws, free, afresh: true };
        return Some(Diagnosis { what, how, remedy });
    }
    let Control::Grid { substeps } = solver.control() else { return None };
    if phase.shooting != Shooting::Single && plan.at() + 1 == plan.len()
        || substeps >= MOST_SUBSTEPS
    {
        return None;
    }
    let change = match look(experiment, data, finer(solver, 2), theta) {
        Some(half) => mean_square(data, &path.predicted, &half.predicted),
        None => f64::INFINITY,
    };
    (change > STEP_LEAST.max(STEP_FACTOR * path.error)).then(|| Diagnosis {
        what: format!(
            "the fit depends on the solver's steps (half of them change the path by {} and the \
             error is {}, mean squares in standard deviations)",
            short(change),
            short(path.error)
        ),
        how: "twice as many from now on",
        remedy: Remedy::Finer { after },
    })
}

/// Steps of the segments of a remedy: as planned, or short ones.
fn segment_steps(experiment: &Experiment) -> usize {
    let planned = experiment.training.phases.iter().find_map(|phase| match phase.shooting {
        Shooting::Multiple { steps, .. } => Some(steps),
        Shooting::Single => None,
    });
    planned.unwrap_or(STEPS).min(STEPS)
}

/// The error, as a share of the data's variance, from which on a fit is poor.
fn poor(data: &Dataset) -> f64 {
    let noise = lawful::noise(data).into_iter().filter(|&level| level < UNRESOLVED);
    noise.fold(POOR, |poor, level| poor.max(2.0 * level * level))
}

/// A solved path: its error in standard deviations, its violation in units of the laws.
struct Look {
    predicted: Vec<Vec<f64>>,
    error: f64,
    violation: f64,
}

fn look(experiment: &Experiment, data: &Dataset, solver: Solver, theta: &[f64]) -> Option<Look> {
    let mut objective = experiment.measure(data.clone(), solver, theta);
    let fields = experiment.parameter_len();
    let misfit = objective.observe(&theta[..fields]).ok()?;
    let violation = (0..experiment.laws.len())
        .map(|k| misfit.mean_violation(k) / experiment.units.laws[k])
        .sum();
    let count = data.trajectories().len();
    let predicted: Vec<Vec<f64>> = (0..count).map(|n| objective.predicted(n).to_vec()).collect();
    let measured: Vec<Vec<f64>> = data.trajectories().iter().map(|t| t.states.clone()).collect();
    let error = mean_square(data, &predicted, &measured);
    Some(Look { predicted, error, violation })
}

/// Mean squared difference in standard deviations of each state variable, over the cells that both
/// have.
pub(crate) fn mean_square(data: &Dataset, a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    let scale = lawful::scaling(data).state;
    let (mut sum, mut count) = (0.0, 0.0);
    for (a, b) in a.iter().zip(b) {
        for ((a, b), scale) in a.iter().zip(b).zip(scale.iter().cycle()) {
            let difference = (a - b) / scale;
            if !difference.is_nan() {
                sum += difference * difference;
                count += 1.0;
            }
        }
    }
    sum / f64::max(count, 1.0)
}

/// The variance of each predicted state variable as a share of the measured one, of those that
/// change.
fn variance_shares(data: &Dataset, predicted: &[Vec<f64>]) -> Vec<f64> {
    let d = data.state().len();
    let variance = |values: &[f64]| {
        let known: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
        known.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / known.len().max(1) as f64
    };
    let column = |rows: &[f64], variable: usize| -> Vec<f64> {
        rows.iter().skip(variable).step_by(d).copied().collect()
    };
    let mut shares = Vec::new();
    for variable in 0..d {
        let (mut of_data, mut of_path) = (0.0, 0.0);
        for (trajectory, predicted) in data.trajectories().iter().zip(predicted) {
            of_data += variance(&column(&trajectory.states, variable));
            of_path += variance(&column(predicted, variable));
        }
        if of_data > 0.0 {
            shares.push(of_path / of_data);
        }
    }
    shares
}
