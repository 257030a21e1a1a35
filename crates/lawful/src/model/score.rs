//! The score of a model on some data: errors, and violations of each law.

use serde::Serialize;

use crate::statistics::mean_square;
use crate::{Dataset, Failure, Objective};

/// The score of one law.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LawScore {
    /// Mean violation over the steps that have a residual.
    pub mean: f64,
    /// Largest violation.
    pub max: f64,
    /// Share of the steps that violate it: by more than `count-above`, and of a law that the field guarantees
    /// by more than rounding, 1e-12 of its size.
    pub share: f64,
}

/// The score of a model on some data.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// Mean squared error over the measured cells.
    pub mse: f64,
    /// The raw total: the sum over laws of the mean violation.
    pub violation: f64,
    /// The largest violation of any law at any step.
    pub violation_max: f64,
    /// Each law, in order.
    pub laws: Vec<LawScore>,
    /// Predicted states of each trajectory, row after row.
    pub predicted: Vec<Vec<f64>>,
    /// Residuals of each law: for each trajectory, times and values.
    pub residuals: Vec<Vec<(Vec<f64>, Vec<f64>)>>,
}

/// The fit of a model to some data.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// As in [`Score::mse`].
    pub mse: f64,
    /// As in [`Score::predicted`].
    pub predicted: Vec<Vec<f64>>,
}

/// Scores θ on the data of an objective, in the data's own units. A violation counts for
/// [`LawScore::share`] if it is above that of its law in `count_above`.
pub(super) fn score(
    objective: &mut Objective,
    theta: &[f64],
    count_above: &[f64],
) -> Result<Score, Failure> {
    objective.observe(theta)?;
    let (problem, misfit) = (objective.problem(), objective.misfit());
    let mut laws = Vec::new();
    let mut residuals = Vec::new();
    for (k, law) in problem.laws.iter().enumerate() {
        let violations = misfit.violations(k);
        let n = violations.len().max(1) as f64;
        laws.push(LawScore {
            mean: violations.iter().sum::<f64>() / n,
            max: violations.iter().copied().fold(0.0, larger),
            share: violations.iter().filter(|&&v| v > count_above[k]).count() as f64 / n,
        });
        let (mut times, mut values) = (&*misfit.residual_times(law), misfit.residuals(k));
        let mut parts = Vec::new();
        for rows in misfit.residual_counts(law) {
            parts.push((times[..rows].to_vec(), values[..rows].to_vec()));
            (times, values) = (&times[rows..], &values[rows..]);
        }
        residuals.push(parts);
    }
    let Fit { mse, predicted } = fit_of(objective);
    Ok(Score {
        mse,
        // Without laws the sum is −0.
        violation: laws.iter().map(|law| law.mean).sum::<f64>() + 0.0,
        violation_max: laws.iter().map(|law| law.max).fold(0.0, larger),
        laws,
        predicted,
        residuals,
    })
}

/// Returns the fit of θ to the data of an objective.
pub(super) fn fit(objective: &mut Objective, theta: &[f64]) -> Result<Fit, Failure> {
    objective.observe(theta)?;
    Ok(fit_of(objective))
}

/// Returns the fit of the last evaluation.
fn fit_of(objective: &Objective) -> Fit {
    let dataset = &objective.problem().dataset;
    let predicted: Vec<Vec<f64>> =
        (0..dataset.trajectories().len()).map(|n| objective.predicted(n).to_vec()).collect();
    Fit { mse: mean_squared_error(dataset, &predicted), predicted }
}

impl Score {
    /// The same score of other predicted states.
    pub(super) fn with_predicted(self, dataset: &Dataset, predicted: Vec<Vec<f64>>) -> Self {
        Self { mse: mean_squared_error(dataset, &predicted), predicted, ..self }
    }
}

/// Returns the larger of two numbers, or NaN if one is NaN (unlike `max`).
fn larger(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}

/// Returns the mean squared error over the measured cells that are scored, for any training loss.
fn mean_squared_error(dataset: &Dataset, predicted: &[Vec<f64>]) -> f64 {
    let d = dataset.state().len();
    let pairs = dataset.trajectories().iter().zip(predicted).flat_map(|(trajectory, predicted)| {
        trajectory.states.iter().zip(predicted).skip(trajectory.scored_from * d)
    });
    let measured = pairs.filter(|(measured, _)| !measured.is_nan());
    mean_square(measured.map(|(measured, predicted)| predicted - measured))
}
