//! The diagnosis of a finished phase, and the remedy.

use lawful_ode::{Control, Solver};

use super::recipes::UNRESOLVED;
use super::{Outcome, Phase, Plan, Prepared, Remedy, Shooting, StopReason, finer};
use crate::number::short;
use crate::statistics::{mean_and_variance, mean_square};
use crate::{ConsistentTable, Dataset, Failure, Numbers, data};

/// A fit is flat if the variance of its prediction is below this share of the data's variance.
const FLAT: f64 = 0.05;
/// A fit is poor if its error is above this share of the data's variance.
const POOR: f64 = 0.1;
/// With a table on which the laws hold, a training failed if its error is this many times that of the table
/// or the noise, both squared …
const ABOVE_NOISE: f64 = 4.0;
/// … and above this share of the data's variance.
const LEAST_FAILED: f64 = 0.01;
/// Most steps of a segment in a remedy.
const STEPS: usize = 5;
/// Violations up to this, in units of the law, are small.
const HELD: f64 = 0.1;
/// A fit depends on the solver's steps if halving them changes the path by more than this factor times
/// the error, both squared …
const STEP_FACTOR: f64 = 10.0;
/// … and by more than this share of the data's variance.
pub const STEP_LEAST: f64 = 1e-8;
/// Most steps per interval that a remedy between phases chooses.
const MOST_SUBSTEPS_BETWEEN: usize = 16;
/// Most steps per interval that a remedy of the last phase, or of a start that cannot be solved, chooses.
const MOST_SUBSTEPS: usize = 64;

/// A diagnosis, and its remedy.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Diagnosis {
    /// The diagnosis in words.
    pub(crate) what: String,
    /// The remedy, in words and as a change of the plan; `None` if there is none.
    pub(crate) remedy: Option<(String, Remedy)>,
    /// What the next phase continues with, if it is not the diagnosed θ.
    pub(crate) from: Option<Vec<f64>>,
}

impl Diagnosis {
    fn new(what: String, remedy: Option<(String, Remedy)>) -> Self {
        Self { what, remedy, from: None }
    }
}

/// Returns the diagnoses of a phase that ended with θ, with remedies, of which the first possible one
/// should be tried; none if nothing is wrong.
pub(crate) fn diagnose(
    training: &Prepared,
    plan: &Plan,
    outcome: &Outcome,
    theta: &[f64],
) -> Vec<Diagnosis> {
    let ends = plan.at() + 1 == plan.len() && plan.phase().shooting == Shooting::Single;
    if let StopReason::Failed(failure) = &outcome.stop {
        let of_failure = diverged(training, plan, outcome, failure);
        let best = plan.best_model().filter(|best| ends && best.judgement.is_finite());
        let of_steps = best.and_then(|best| compare_with_prediction(training, plan, &best.kept));
        return [of_failure, of_steps].into_iter().flatten().collect();
    }
    if training.process_noise {
        // The path of the vector field alone leaves the data.
        return Vec::new();
    }
    let phase = plan.phase();
    let Some(path) = measure(training, finer(training.solver, phase.substeps), theta) else {
        return Vec::new();
    };
    let of_fit = poor_fit(training, plan, &path);
    let of_steps = match phase.shooting {
        // The run would end with the best model so far.
        Shooting::Single if ends => {
            let best = plan.best_model().map_or(theta, |best| &best.kept);
            compare_with_prediction(training, plan, best)
        }
        Shooting::Multiple { .. } if plan.at() + 1 == plan.len() => None,
        _ => halve_steps(training, plan, &path, theta),
    };
    // Where a remedy of the fit continues, its phases are diagnosed again.
    [of_fit, of_steps].into_iter().flatten().collect()
}

/// Diagnoses a phase of which too many evaluations failed in a row.
fn diverged(
    training: &Prepared,
    plan: &Plan,
    outcome: &Outcome,
    failure: &Failure,
) -> Option<Diagnosis> {
    let (phase, after) = (plan.phase(), plan.at());
    let what = format!("training diverged ({failure})");
    let unsolved = matches!(failure, Failure::Solve { .. }) && outcome.best.value().is_none();
    if unsolved && let Some(factor) = first_solvable(training, phase, &outcome.last.theta) {
        let how = format!("{factor} times as many solver steps, from the same start");
        let remedy = Remedy::Finer { after, factor, repeat: true };
        return Some(Diagnosis::new(what, Some((how, remedy))));
    }
    let laws = enforced_laws(training, phase);
    // First from the current weights, then from new ones.
    let afresh = plan.has_continued();
    let how = match (laws, afresh) {
        (true, false) => "multiple shooting without laws, then with them".to_owned(),
        (true, true) => format!("restarting from {}, first without laws", start(training)?),
        (false, false) => "multiple shooting on short segments".to_owned(),
        (false, true) => {
            format!("restarting from {}, first by multiple shooting", start(training)?)
        }
    };
    let remedy = multiple_shooting(training, after, laws, afresh);
    let new = phase.shooting == Shooting::Single || laws;
    new.then_some(Diagnosis::new(what, Some((how, remedy))))
}

/// Returns the least factor of the number of steps at which θ can be solved in this phase, and at which
/// twice as many steps hardly change its error; the largest at which it can be solved if there is none.
fn first_solvable(training: &Prepared, phase: &Phase, theta: &[f64]) -> Option<usize> {
    let Control::Grid { .. } = training.solver.control() else { return None };
    let (data, _) = training.split();
    let segments = phase.segments(&data);
    let error = |factor: usize| {
        let solver = finer(training.solver, phase.substeps * factor);
        let mut objective = training.objective_with(phase, data.clone(), solver).ok()?;
        objective.select(&segments);
        let error = objective.observe(theta).ok()?.view().fit();
        error.is_finite().then_some(error)
    };
    let mut solvable = None;
    let mut factor = 2;
    while phase.substeps * factor <= MOST_SUBSTEPS {
        if let Some(one) = error(factor) {
            solvable = Some(factor);
            if error(2 * factor).is_some_and(|other| (one - other).abs() <= 0.5 * other) {
                break;
            }
        }
        factor *= 2;
    }
    solvable
}

/// Diagnoses a flat or poor fit.
fn poor_fit(training: &Prepared, plan: &Plan, path: &Measured) -> Option<Diagnosis> {
    let (data, phase) = (&training.data, plan.phase());
    let of_table = training.table.as_ref().map(|table| (above_noise(data, table), table));
    let limit = of_table.as_ref().map_or(poor(data), |(limit, _)| limit.min(poor(data)));
    if path.error <= limit || phase.shooting != Shooting::Single {
        return None;
    }
    let shares = variance_shares(data, &path.predicted);
    let mut what = if !shares.is_empty() && shares.iter().all(|share| *share < FLAT) {
        let most = shares.iter().copied().fold(0.0, f64::max);
        format!("the fit is flat (its variance is {} % of the data's)", short(100.0 * most))
    } else {
        let error = short(100.0 * path.error);
        match of_table {
            Some((_, table)) if path.error <= poor(data) => format!(
                "training failed (its error is {error} % of the data's variance, that of states on which the \
                 laws hold {} %)",
                short(100.0 * table.total_misfit.powi(2))
            ),
            _ => format!("the fit is poor (its error is {error} % of the data's variance)"),
        }
    };
    // Laws may hold, or nearly hold, although the fit has lost the data.
    let without_laws = enforced_laws(training, phase) && path.violation < HELD;
    if without_laws {
        what += ", and the laws hold";
    }
    let first = if without_laws { "without laws" } else { "by multiple shooting" };
    // Where training begins on a part of the data, so does a restart.
    let restarts = phase.part.is_some() || training.phases.iter().all(|phase| phase.part.is_none());
    let remedy = start(training).filter(|_| restarts).map(|start| {
        let how = format!("restarting from {start}, first {first}");
        (how, multiple_shooting(training, plan.at(), without_laws, true))
    });
    Some(Diagnosis::new(what, remedy))
}

/// Diagnoses a fit that depends on the solver's steps, by half the step size.
fn halve_steps(
    training: &Prepared,
    plan: &Plan,
    path: &Measured,
    theta: &[f64],
) -> Option<Diagnosis> {
    let substeps = plan.phase().substeps;
    let solver = finer(training.solver, substeps);
    let Control::Grid { substeps: all } = solver.control() else { return None };
    if all >= MOST_SUBSTEPS_BETWEEN {
        return None;
    }
    let change = match measure(training, finer(solver, 2), theta) {
        Some(half) => scaled_mean_square(&training.data, &path.predicted, &half.predicted),
        None => f64::INFINITY,
    };
    (change > STEP_LEAST.max(STEP_FACTOR * path.error)).then(|| {
        let what = format!(
            "the fit depends on the solver's step size (halving it changes the path by {}, the \
             error is {}; mean squares in standard deviations)",
            short(change),
            short(path.error)
        );
        let remedy = Remedy::Finer { after: plan.at(), factor: 2, repeat: false };
        Diagnosis::new(what, Some(("twice as many steps from now on".to_owned(), remedy)))
    })
}

/// Diagnoses a fit that depends on the solver's steps, by the prediction solver: the model's errors are
/// reported with it. With prediction on a grid too, half the step size is the measure.
fn compare_with_prediction(training: &Prepared, plan: &Plan, theta: &[f64]) -> Option<Diagnosis> {
    let path = measure(training, finer(training.solver, plan.phase().substeps), theta)?;
    if !matches!(training.predict.control(), Control::Adaptive(_)) {
        return halve_steps(training, plan, &path, theta);
    }
    let Control::Grid { substeps } = training.solver.control() else { return None };
    let now = substeps * plan.phase().substeps;
    let predicted = measure(training, training.predict, theta);
    let data = &training.data;
    let difference = |path: &Measured| match &predicted {
        Some(predicted) => Difference::between(data, path, predicted),
        None => Difference { scaled: f64::INFINITY, matters: true },
    };
    let found = difference(&path);
    if !found.matters {
        return None;
    }
    // As many steps as would suffice for this model.
    let mut factor = 2;
    while 2 * factor * now <= MOST_SUBSTEPS {
        let finer =
            measure(training, finer(training.solver, plan.phase().substeps * factor), theta);
        if finer.is_some_and(|finer| !difference(&finer).matters) {
            break;
        }
        factor *= 2;
    }
    let remedy = (factor * now <= MOST_SUBSTEPS).then(|| {
        let how = format!("{factor} times as many solver steps, and the last phase again");
        (how, Remedy::Finer { after: plan.at(), factor, repeat: true })
    });
    let left =
        if remedy.is_none() { format!(" with {now} steps per interval") } else { String::new() };
    Some(Diagnosis {
        what: format!(
            "the fit depends on the solver's step size{left} (the prediction solver changes the path by {}, \
             the error is {}; mean squares in standard deviations)",
            short(found.scaled),
            short(path.error)
        ),
        remedy,
        from: Some(theta.to_vec()),
    })
}

/// The difference of two paths of one model.
struct Difference {
    /// Its mean square in standard deviations.
    scaled: f64,
    /// Whether it is larger than the error, and more than rounding.
    matters: bool,
}

impl Difference {
    fn between(data: &Dataset, by_training: &Measured, by_prediction: &Measured) -> Self {
        let (a, b) = (&by_training.predicted, &by_prediction.predicted);
        let scaled = scaled_mean_square(data, a, b);
        let measured = data.trajectories().iter().flat_map(|t| t.states.iter().copied());
        let errors = a.iter().flatten().zip(measured).map(|(a, measured)| a - measured);
        // In the data's own units too, in which errors are reported.
        let fit = mean_square(errors.filter(|error| !error.is_nan()));
        let raw = mean_square(a.iter().flatten().zip(b.iter().flatten()).map(|(a, b)| a - b));
        let matters = scaled > STEP_LEAST && (scaled > by_training.error || raw > fit);
        Self { scaled, matters }
    }
}

/// Returns whether this phase enforces laws.
fn enforced_laws(training: &Prepared, phase: &Phase) -> bool {
    let penalised = |law: &crate::Law| law.enforcement() == crate::Enforcement::Penalty;
    training.strategy_of(phase).kind.enforces() && training.laws.iter().any(penalised)
}

/// Returns the start of a restart in words; `None` if there is nothing to draw.
fn start(training: &Prepared) -> Option<&'static str> {
    if training.has_network() {
        Some("new random weights")
    } else if training.constants.is_empty() {
        None
    } else {
        Some("other initial values of the learned constants")
    }
}

/// Returns the remedy of multiple shooting.
fn multiple_shooting(
    training: &Prepared,
    after: usize,
    without_laws: bool,
    afresh: bool,
) -> Remedy {
    let free = training.initial_state || training.data.missing() > 0;
    let steps = segment_steps(training);
    Remedy::MultipleShooting { after, steps, without_laws, free, afresh }
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

/// Returns the error, as a share of the data's variance, above which a training failed: the table shows that
/// states near the data obey the laws.
fn above_noise(data: &Dataset, table: &ConsistentTable) -> f64 {
    let levels = data::noise(data);
    let noise = levels.iter().map(|level| level * level).sum::<f64>() / levels.len() as f64;
    (ABOVE_NOISE * noise.max(table.total_misfit.powi(2))).max(LEAST_FAILED)
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
    let measured: Vec<Numbers> = data.trajectories().iter().map(|t| t.states.clone()).collect();
    let error = scaled_mean_square(data, &predicted, &measured);
    Some(Measured { predicted, error, violation })
}

/// Returns the mean squared difference, in standard deviations of each state variable, over the cells
/// that both have.
pub fn scaled_mean_square<A, B>(data: &Dataset, a: &[A], b: &[B]) -> f64
where
    A: AsRef<[f64]>,
    B: AsRef<[f64]>,
{
    let scale = data::scaling(data).state;
    let pairs = a
        .iter()
        .zip(b)
        .flat_map(|(a, b)| a.as_ref().iter().zip(b.as_ref()).zip(scale.iter().cycle()));
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
