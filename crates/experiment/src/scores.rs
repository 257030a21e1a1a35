//! The scores of a model on each set, and the error of the training solver.

use lawful::{
    Dataset, Estimates, Failure, LawReport, Model, STEP_LEAST, Score, finer, scaled_mean_square,
    short,
};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::experiment::{Experiment, in_a_line};
use crate::interval::{IntervalReport, score_intervals};
use crate::subjects::SubjectValues;

/// A set with its score, or why there is none.
#[derive(Debug, Clone, PartialEq)]
pub struct SetScore {
    /// Its name.
    pub name: String,
    /// How many rows are scored.
    pub rows: usize,
    /// First and last scored time, over all trajectories.
    pub range: (f64, f64),
    /// The score, or the error of the solver.
    pub score: Result<Score, Failure>,
}

/// A model on all sets.
#[derive(Debug, Clone, PartialEq)]
pub struct Scores {
    /// The learned constants.
    pub constants: Estimates,
    /// The standard deviation of process noise of each state variable, per square root of time; empty if paths
    /// have none.
    pub process_noise: Vec<(String, f64)>,
    /// What trajectories of the training have of their own.
    pub subjects: Vec<SubjectValues>,
    /// Names of the laws.
    pub laws: Vec<String>,
    /// What the model makes of each law on a dense grid.
    pub report: LawReport,
    /// The training set (`reconstruction`) and the test sets, in order.
    pub sets: Vec<SetScore>,
    /// How good the model's intervals are, if they were [asked for](Self::with_intervals).
    pub intervals: Option<IntervalReport>,
    /// The effect of the training solver; `None` if one of the two solvers fails.
    pub discretisation: Option<Discretisation>,
}

/// The training solver compared with the prediction solver, on the training set.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Discretisation {
    /// Mean squared difference between the two.
    pub difference: f64,
    /// Mean squared error with the training solver: the minimised quantity if the loss is `mse`.
    pub fit: f64,
    /// The difference as a share of the data's variance.
    #[serde(skip)]
    pub share: f64,
}

/// Scores a model on every set of its experiment with the prediction solver. The model was trained
/// with `substeps` times the solver steps of the experiment.
pub fn score_sets(experiment: &Experiment, model: &Model, substeps: usize) -> Scores {
    let sets: Vec<SetScore> = experiment
        .sets()
        .map(|(name, dataset)| SetScore {
            name: name.to_owned(),
            rows: scored_rows(dataset),
            range: scored_range(dataset),
            score: model.score(dataset),
        })
        .collect();
    let training = &experiment.training;
    let trained = model.fit_by(&training.data, finer(training.solver, substeps));
    let discretisation = match (&sets[0].score, trained) {
        (Ok(predicted), Ok(trained)) => Some(Discretisation {
            difference: difference(&predicted.predicted, &trained.predicted),
            fit: trained.mse,
            share: scaled_mean_square(&training.data, &predicted.predicted, &trained.predicted),
        }),
        _ => None,
    };
    let report = law_report(experiment, model);
    let (constants, laws) = (model.estimates(), experiment.law_names());
    let subjects = SubjectValues::all(experiment, model);
    let sizes = model.process_noise().into_iter().flatten().copied();
    let process_noise = model.state().iter().cloned().zip(sizes).collect();
    Scores {
        constants,
        process_noise,
        subjects,
        laws,
        report,
        sets,
        intervals: None,
        discretisation,
    }
}

/// Measures the laws on every set of the experiment and up to its horizon.
pub fn law_report(experiment: &Experiment, model: &Model) -> LawReport {
    let sets: Vec<(&str, &Dataset)> = experiment.sets().collect();
    let mut report = model.measure(&sets, experiment.horizon);
    for law in &mut report.laws {
        (law.name, law.holds) = (in_a_line(&law.name), in_a_line(&law.holds));
    }
    report
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
    let (mut sum, mut count) = (0.0, 0_usize);
    for (a, b) in a.zip(b) {
        sum += (a - b).powi(2);
        count += 1;
    }
    sum / count as f64
}

impl Scores {
    /// Adds how good the intervals of the model are, if it has a posterior: some hundred solutions of each set.
    #[must_use]
    pub fn with_intervals(self, experiment: &Experiment, model: &Model) -> Self {
        Self { intervals: score_intervals(experiment, model), ..self }
    }

    /// The sets that could not be scored, and why.
    pub fn failures(&self) -> impl Iterator<Item = (&str, &Failure)> {
        self.sets.iter().filter_map(|set| Some((set.name.as_str(), set.score.as_ref().err()?)))
    }

    /// Returns a note on the difference between the two solvers, compared with the fit.
    pub fn solver_note(&self) -> Option<String> {
        let Discretisation { difference, fit, .. } = self.discretisation?;
        Some(format!(
            "MSE with the training solver: {}; mean squared difference between the training and the \
             prediction solver: {} (both on reconstruction)",
            short(fit),
            short(difference)
        ))
    }

    /// Returns a warning if the difference between the two solvers is larger than the fit, and so
    /// large that a recipe would reduce it.
    pub fn warning(&self) -> Option<&'static str> {
        let Discretisation { difference, fit, share } = self.discretisation?;
        (difference > fit && share > STEP_LEAST).then_some(
            "the difference between the two solvers is larger than the MSE: the model depends on \
             the steps of the training solver\nhint: train with `substeps = 2` or more under \
             `[solver]`, or with `rtol`",
        )
    }

    /// Returns the scores as JSON.
    pub fn json(&self) -> Value {
        let mut sets = Map::new();
        for set in &self.sets {
            let value = match &set.score {
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
        let mut value = json!({
            "sets": sets,
            "laws": self.report.laws,
            "unsolved": self.report.unsolved,
            "discretisation": self.discretisation,
        });
        let Estimates { constants, .. } = &self.constants;
        if !constants.is_empty() {
            let values = constants.iter().map(|c| (c.name.clone(), json!(c.value)));
            value["constants"] = values.collect::<Map<_, _>>().into();
        }
        if !self.process_noise.is_empty() {
            let sizes = self.process_noise.iter().map(|(name, size)| (name.clone(), json!(size)));
            value["process-noise"] = sizes.collect::<Map<_, _>>().into();
        }
        let errors =
            constants.iter().filter_map(|c| Some((c.name.clone(), json!(c.standard_error?))));
        let errors: Map<_, _> = errors.collect();
        if !errors.is_empty() {
            value["standard-errors"] = errors.into();
        }
        let pairs = self.constants.pairs().map(|(i, j, correlation)| {
            let between = [i, j].map(|k| &constants[k].name);
            json!({ "between": between, "correlation": correlation })
        });
        let pairs: Vec<Value> = pairs.collect();
        if !pairs.is_empty() {
            value["correlations"] = pairs.into();
        }
        if let Some(intervals) = &self.intervals {
            value["intervals"] = intervals.json();
        }
        if !self.subjects.is_empty() {
            let subjects = self.subjects.iter().map(|own| (own.trajectory.clone(), own.json()));
            value["trajectories"] = subjects.collect::<Map<_, _>>().into();
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
            // Both are far below the variance of the data, where solvers differ by rounding.
            (3e-13, 6e-14, 1e-12, false),
            // The same in units in which the data are small.
            (3e-13, 6e-14, 1e-3, true),
        ] {
            let assessment = Scores {
                constants: Estimates::default(),
                process_noise: Vec::new(),
                subjects: Vec::new(),
                intervals: None,
                laws: Vec::new(),
                report: LawReport::default(),
                sets: Vec::new(),
                discretisation: Some(Discretisation { difference, fit, share }),
            };
            assert_eq!(assessment.warning().is_some(), warned, "{difference} {fit} {share}");
        }
    }
}
