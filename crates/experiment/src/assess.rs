//! How well a model does on each set: errors, violations, and what the solver itself contributes.

use lawful::{Dataset, Failure, LearnedConstant, Segment, Solver};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::assemble::finer;
use crate::diagnosis::{STEP_LEAST, mean_square};
use crate::experiment::{Experiment, StrategyKind};
use crate::number::short;
use crate::run_folder::sets;

/// One law on one set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LawScore {
    /// Mean violation over the steps that have a residual.
    pub mean: f64,
    /// Largest violation.
    pub max: f64,
    /// Share of the steps that violate it (by more than `count-above`).
    pub share: f64,
}

/// A model on one set.
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

/// A set with its score, or why there is none.
#[derive(Debug, Clone, PartialEq)]
pub struct SetScore {
    /// Its name.
    pub name: String,
    /// How many rows are scored.
    pub rows: usize,
    /// First and last scored time, over all trajectories.
    pub range: (f64, f64),
    /// The score, or what the solver said.
    pub outcome: Result<Score, Failure>,
}

/// A constant that was learned.
#[derive(Debug, Clone, PartialEq)]
pub struct ConstantValue {
    /// Its name.
    pub name: String,
    /// Where it started.
    pub start: f64,
    /// What was learned.
    pub value: f64,
}

/// A model on all sets.
#[derive(Debug, Clone, PartialEq)]
pub struct Scores {
    /// The learned constants.
    pub constants: Vec<ConstantValue>,
    /// Names of the laws.
    pub laws: Vec<String>,
    /// The training set (`reconstruction`) and the test sets, in order.
    pub sets: Vec<SetScore>,
    /// What the steps of training contribute; `None` if they, or the prediction solver, fail.
    pub discretisation: Option<Discretisation>,
}

/// The training discretisation beside the prediction solver, on the training set.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Discretisation {
    /// Mean squared difference between the two.
    pub difference: f64,
    /// Mean squared error by the training discretisation: what was minimised, if the loss is `mse`.
    pub fit: f64,
    /// The difference as a share of the data's variance.
    #[serde(skip)]
    pub share: f64,
}

/// Scores a model on every set of its experiment with the prediction solver; it was trained with
/// `substeps` times the steps that the experiment asks for.
pub fn assess(experiment: &Experiment, theta: &[f64], substeps: usize) -> Scores {
    let score = |dataset: &Dataset| score(experiment, dataset, experiment.predict, theta);
    let sets: Vec<SetScore> = sets(experiment)
        .map(|(name, dataset)| SetScore {
            name: name.to_owned(),
            rows: scored_rows(dataset),
            range: scored_range(dataset),
            outcome: score(dataset),
        })
        .collect();
    let solver = finer(experiment.solver, substeps);
    let trained = self::score(experiment, &experiment.training_set, solver, theta);
    let discretisation = match (&sets[0].outcome, trained) {
        (Ok(predicted), Ok(trained)) => Some(Discretisation {
            difference: difference(&predicted.predicted, &trained.predicted),
            fit: trained.mse,
            share: mean_square(&experiment.training_set, &predicted.predicted, &trained.predicted),
        }),
        _ => None,
    };
    let values = experiment.constants.iter().zip(experiment.constant_values(theta));
    let constants = values.map(|(constant, value)| {
        let LearnedConstant { name, start, .. } = constant.clone();
        ConstantValue { name, start, value }
    });
    let constants = constants.collect();
    Scores { constants, laws: experiment.law_names(), sets, discretisation }
}

/// How many rows of a set are scored.
pub(crate) fn scored_rows(dataset: &Dataset) -> usize {
    dataset.trajectories().iter().map(|t| t.len().saturating_sub(t.scored_from)).sum()
}

/// First and last scored time of a set, over all trajectories.
pub(crate) fn scored_range(dataset: &Dataset) -> (f64, f64) {
    let trajectories = dataset.trajectories();
    let firsts = trajectories.iter().map(|t| t.times[t.scored_from.min(t.len() - 1)]);
    let lasts = trajectories.iter().map(|t| t.times[t.len() - 1]);
    (firsts.fold(f64::INFINITY, f64::min), lasts.fold(f64::NEG_INFINITY, f64::max))
}

/// Mean squared difference of two predictions at the same times.
fn difference(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    let (a, b) = (a.iter().flatten(), b.iter().flatten());
    let squares: Vec<f64> = a.zip(b).map(|(a, b)| (a - b).powi(2)).collect();
    squares.iter().sum::<f64>() / squares.len() as f64
}

/// Scores a model on one set with a solver.
pub fn score(
    experiment: &Experiment,
    dataset: &Dataset,
    solver: Solver,
    theta: &[f64],
) -> Result<Score, Failure> {
    let count_above = match &experiment.strategy.kind {
        StrategyKind::SelfAdaptive(settings) => settings.count_above,
        _ => 0.0,
    };
    let mut objective = experiment.measure(dataset.clone(), solver, theta);
    let misfit = objective.observe(&theta[..experiment.parameter_len()])?;
    let view = misfit.view();
    let mut laws = Vec::new();
    let mut residuals = Vec::new();
    for (k, law) in experiment.laws.iter().enumerate() {
        let violations = view.of(k);
        let n = violations.len().max(1) as f64;
        laws.push(LawScore {
            mean: violations.iter().sum::<f64>() / n,
            max: violations.iter().copied().fold(0.0, f64::max),
            share: violations.iter().filter(|&&v| v > count_above).count() as f64 / n,
        });
        let (mut times, mut values) = (&*misfit.residual_times(law), misfit.residuals(k));
        let mut parts = Vec::new();
        for rows in misfit.residual_counts(law) {
            parts.push((times[..rows].to_vec(), values[..rows].to_vec()));
            (times, values) = (&times[rows..], &values[rows..]);
        }
        residuals.push(parts);
    }
    let count = Segment::whole(dataset).len();
    let predicted: Vec<Vec<f64>> = (0..count).map(|n| objective.predicted(n).to_vec()).collect();
    Ok(Score {
        mse: mean_squared_error(dataset, &predicted),
        violation: laws.iter().map(|law| law.mean).sum(),
        violation_max: laws.iter().map(|law| law.max).fold(0.0, f64::max),
        laws,
        predicted,
        residuals,
    })
}

/// Over the measured cells that are scored, whatever loss the model was trained with.
fn mean_squared_error(dataset: &Dataset, predicted: &[Vec<f64>]) -> f64 {
    let d = dataset.state().len();
    let (mut sum, mut count) = (0.0, 0_u32);
    for (trajectory, predicted) in dataset.trajectories().iter().zip(predicted) {
        let measured = trajectory.states.iter().zip(predicted).skip(trajectory.scored_from * d);
        for (measured, predicted) in measured.filter(|(measured, _)| !measured.is_nan()) {
            sum += (predicted - measured).powi(2);
            count += 1;
        }
    }
    sum / f64::from(count.max(1))
}

impl Scores {
    /// The sets that could not be scored, and why.
    pub fn failures(&self) -> impl Iterator<Item = (&str, &Failure)> {
        self.sets.iter().filter_map(|set| Some((set.name.as_str(), set.outcome.as_ref().err()?)))
    }

    /// How far the training discretisation is from the prediction solver, beside the fit.
    pub fn solver_note(&self) -> Option<String> {
        let Discretisation { difference, fit, .. } = self.discretisation?;
        Some(format!(
            "the prediction solver differs from the steps of training by {} (mean squared, on \
             reconstruction); by those steps the fit is {}",
            short(difference),
            short(fit)
        ))
    }

    /// A warning if the solvers of training and prediction differ by more than the fit, and by so much
    /// that a recipe would do something about it.
    pub fn warning(&self) -> Option<&'static str> {
        let Discretisation { difference, fit, share } = self.discretisation?;
        (difference > fit && share > STEP_LEAST).then_some(
            "that difference is larger than the fit: the model has learned the steps of its \
             solver\nhint: train with `substeps = 2` or more under `[solver]`, or with `rtol`",
        )
    }

    /// For programs to read.
    pub fn json(&self) -> Value {
        let mut sets = Map::new();
        for set in &self.sets {
            let value = match &set.outcome {
                Ok(score) => {
                    let laws: Map<String, Value> = self
                        .laws
                        .iter()
                        .cloned()
                        .zip(score.laws.iter().map(|l| json!(l)))
                        .collect();
                    json!({
                        "mse": score.mse,
                        "violation": score.violation,
                        "violation_max": score.violation_max,
                        "laws": laws,
                    })
                }
                Err(failure) => json!({
                    "mse": null, "violation": null, "violation_max": null, "laws": {},
                    "failed": failure.to_string(),
                }),
            };
            sets.insert(set.name.clone(), value);
        }
        let mut value = json!({ "sets": sets, "discretisation": self.discretisation });
        if !self.constants.is_empty() {
            let constants = self.constants.iter().map(|c| (c.name.clone(), json!(c.value)));
            value["constants"] = constants.collect::<Map<_, _>>().into();
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_of_solvers_is_warned_about_only_where_it_matters() {
        for (difference, fit, share, warned) in [
            (1e-3, 1e-6, 1e-3, true),
            (1e-6, 1e-3, 1e-6, false),
            // Both are nothing beside the data: as close as that, any solver's digits differ.
            (3e-13, 6e-14, 1e-12, false),
            // The same in units in which the data are small.
            (3e-13, 6e-14, 1e-3, true),
        ] {
            let assessment = Scores {
                constants: Vec::new(),
                laws: Vec::new(),
                sets: Vec::new(),
                discretisation: Some(Discretisation { difference, fit, share }),
            };
            assert_eq!(assessment.warning().is_some(), warned, "{difference} {fit} {share}");
        }
    }
}
