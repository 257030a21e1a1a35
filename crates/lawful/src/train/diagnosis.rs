//! The diagnosis of a finished phase, and the remedy.

use lawful_ode::{Control, Solver};

use super::recipes::UNRESOLVED;
use super::{Plan, Prepared, Remedy, Shooting, StopReason, finer};
use crate::number::short;
use crate::statistics::{mean_and_variance, mean_square};
use crate::{Dataset, data};

/// A fit is flat if the variance of its prediction is below this share of the data's variance.
const FLAT: f64 = 0.05;
/// A fit is poor if its error is above this share of the data's variance.
const POOR: f64 = 0.1;
/// Most steps of a segment in a remedy.
const STEPS: usize = 5;
/// Violations up to this, in units of the law, are small.
const HELD: f64 = 0.1;
/// A fit depends on the solver's steps if halving them changes the path by more than this factor times
/// the error, both squared …
const STEP_FACTOR: f64 = 10.0;
/// … and by more than this share of the data's variance.
pub const STEP_LEAST: f64 = 1e-8;
/// Most steps per interval that a remedy chooses.
const MOST_SUBSTEPS: usize = 16;

/// A diagnosis, and its remedy.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Diagnosis {
    /// The diagnosis in words.
    pub(crate) what: String,
    /// The remedy in words.
    pub(crate) how: &'static str,
    pub(crate) remedy: Remedy,
}

/// Returns the diagnosis of a phase that ended with θ, and a remedy; `None` if nothing is wrong.
pub(crate) fn diagnose(
    training: &Prepared,
    plan: &Plan,
    stop: &StopReason,
    theta: &[f64],
) -> Option<Diagnosis> {
    let (phase, after) = (plan.phase(), plan.at());
    let free = training.initial_state || training.data.missing() > 0;
    let enforced = training.strategy_of(phase).kind.enforces();
    let laws = enforced && !training.laws.is_empty();
    let steps = segment_steps(training);
    if let StopReason::Failed(failure) = stop {
        // First from the current weights, then from new ones.
        let afresh = plan.has_continued();
        let how = match (laws, afresh) {
            (true, false) => "multiple shooting without laws, then with them",
            (true, true) => "restarting from new random weights, first without laws",
            (false, false) => "multiple shooting on short segments",
            (false, true) => "restarting from new random weights, first by multiple shooting",
        };
        let what = format!("training diverged ({failure})");
        let remedy = Remedy::MultipleShooting { after, steps, without_laws: laws, free, afresh };
        let new = phase.shooting == Shooting::Single || laws;
        return new.then_some(Diagnosis { what, how, remedy });
    }
    let solver = finer(training.solver, phase.substeps);
    let data = &training.data;
    let path = measure(training, solver, theta)?;
    let shares = variance_shares(data, &path.predicted);
    if path.error > poor(data) && phase.shooting == Shooting::Single {
        let mut what = if !shares.is_empty() && shares.iter().all(|share| *share < FLAT) {
            let most = shares.iter().copied().fold(0.0, f64::max);
            format!("the fit is flat (its variance is {} % of the data's)", short(100.0 * most))
        } else {
            let error = short(100.0 * path.error);
            format!("the fit is poor (its error is {error} % of the data's variance)")
        };
        // Laws may hold, or nearly hold, although the fit has lost the data.
        let without_laws = laws && path.violation < HELD;
        if without_laws {
            what += ", and the laws hold";
        }
        let how = if without_laws {
            "restarting from new random weights, first without laws"
        } else {
            "restarting from new random weights, first by multiple shooting"
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
    let change = match measure(training, finer(solver, 2), theta) {
        Some(half) => scaled_mean_square(data, &path.predicted, &half.predicted),
        None => f64::INFINITY,
    };
    (change > STEP_LEAST.max(STEP_FACTOR * path.error)).then(|| Diagnosis {
        what: format!(
            "the fit depends on the solver's step size (halving it changes the path by {}, the error \
             is {}; mean squares in standard deviations)",
            short(change),
            short(path.error)
        ),
        how: "twice as many steps from now on",
        remedy: Remedy::Finer { after },
    })
}

/// Returns the steps of the segments in a remedy: as planned, but at most [`STEPS`].
fn segment_steps(training: &Prepared) -> usize {
    let planned = training.phases.iter().find_map(|phase| match phase.shooting {
        Shooting::Multiple { steps, .. } => Some(steps),
        Shooting::Single => None,
    });
    planned.unwrap_or(STEPS).min(STEPS)
}

/// Returns the error, as a share of the data's variance, above which a fit is poor.
fn poor(data: &Dataset) -> f64 {
    let noise = data::noise(data).into_iter().filter(|&level| level < UNRESOLVED);
    noise.fold(POOR, |poor, level| poor.max(2.0 * level * level))
}

/// The full trajectories at θ: predictions, mean squared error in standard deviations, and violation in
/// units of the laws.
struct Measured {
    predicted: Vec<Vec<f64>>,
    error: f64,
    violation: f64,
}

fn measure(training: &Prepared, solver: Solver, theta: &[f64]) -> Option<Measured> {
    let data = &training.data;
    let mut objective = training.measure(solver, theta);
    let misfit = objective.observe(&theta[..training.parameter_len()]).ok()?;
    let violation =
        (0..training.laws.len()).map(|k| misfit.mean_violation(k) / training.units.laws[k]).sum();
    let count = data.trajectories().len();
    let predicted: Vec<Vec<f64>> = (0..count).map(|n| objective.predicted(n).to_vec()).collect();
    let measured: Vec<Vec<f64>> = data.trajectories().iter().map(|t| t.states.clone()).collect();
    let error = scaled_mean_square(data, &predicted, &measured);
    Some(Measured { predicted, error, violation })
}

/// Returns the mean squared difference, in standard deviations of each state variable, over the cells
/// that both have.
pub fn scaled_mean_square(data: &Dataset, a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    let scale = data::scaling(data).state;
    let pairs = a.iter().zip(b).flat_map(|(a, b)| a.iter().zip(b).zip(scale.iter().cycle()));
    let differences = pairs.map(|((a, b), scale)| (a - b) / scale);
    mean_square(differences.filter(|difference| !difference.is_nan()))
}

/// Returns the variance of each predicted state variable as a share of the measured variance, without
/// constants.
fn variance_shares(data: &Dataset, predicted: &[Vec<f64>]) -> Vec<f64> {
    let d = data.state().len();
    let variance = |rows: &[f64], variable: usize| {
        let column = rows.iter().skip(variable).step_by(d).copied();
        mean_and_variance(column.filter(|value| value.is_finite())).1
    };
    let mut shares = Vec::new();
    for variable in 0..d {
        let (mut of_data, mut of_path) = (0.0, 0.0);
        for (trajectory, predicted) in data.trajectories().iter().zip(predicted) {
            of_data += variance(&trajectory.states, variable);
            of_path += variance(predicted, variable);
        }
        if of_data > 0.0 {
            shares.push(of_path / of_data);
        }
    }
    shares
}
