//! Scores of a finished training on the three tests.

use lawful::{Law, Model, Score};

use super::preset::{ScriptMeasure, script_measure};
use super::system::{System, Task};
use lawful_experiment::runner::{FinishedRun, changes};
use lawful_experiment::{Diagnostic, Experiment, LoadedRun};

/// Scores of one model on one test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// Mean squared error.
    pub mse: f64,
    /// Sum over laws of the mean violation.
    pub violation: f64,
    /// Largest violation of any law at any step.
    pub violation_max: f64,
    /// Violation as the authors' script reports it, where that differs.
    pub violation_script: Option<f64>,
}

/// The scores of a model on one test, or why there are none.
pub type Outcome = Result<Measured, String>;

/// The laws that a system is scored by.
#[derive(Debug, Clone)]
pub struct Yardstick {
    laws: Vec<Law>,
    script: Option<(Vec<Law>, ScriptMeasure)>,
}

impl Yardstick {
    /// Scores violations of these laws, and those of the system's script as it measures them.
    pub fn new(system: System, laws: &[Law]) -> Result<Self, Diagnostic> {
        let script = match script_measure(system)? {
            Some((table, measure)) => {
                Some((changes::experiment("script", &table)?.experiment.training.laws, measure))
            }
            None => None,
        };
        Ok(Self { laws: laws.to_vec(), script })
    }

    /// Scores the model that a run selected on every test, with the prediction solver.
    pub fn measure(&self, finished: &FinishedRun) -> Result<[Outcome; 3], Diagnostic> {
        let run = LoadedRun::open(finished.folder.path(), None)?;
        Ok(Task::ALL.map(|task| self.on(&run.experiment, &run.model, task)))
    }

    /// Scores a model on one test.
    pub fn on(&self, experiment: &Experiment, model: &Model, task: Task) -> Outcome {
        let (_, dataset) = experiment
            .sets()
            .find(|(name, _)| *name == task.name())
            .ok_or_else(|| format!("there is no test `{}`", task.name()))?;
        let under = |laws: &[Law]| {
            let model = model.clone().with_laws(laws.to_vec());
            model.score(dataset).map_err(|failure| failure.to_string())
        };
        let score = under(&self.laws)?;
        let violation_script = match &self.script {
            Some((laws, measure)) => Some(reported(&under(laws)?, *measure)),
            None => None,
        };
        let Score { mse, violation, violation_max, .. } = score;
        if ![mse, violation].iter().all(|number| number.is_finite()) {
            return Err("the prediction is not finite".to_owned());
        }
        Ok(Measured { mse, violation, violation_max, violation_script })
    }
}

/// Returns the violation as a script reports it.
pub(super) fn reported(score: &Score, measure: ScriptMeasure) -> f64 {
    match measure {
        ScriptMeasure::Mean => score.violation,
        ScriptMeasure::SignedMean => {
            let mean = |parts: &Vec<(Vec<f64>, Vec<f64>)>| {
                let residuals: Vec<f64> =
                    parts.iter().flat_map(|(_, residuals)| residuals).copied().collect();
                (residuals.iter().sum::<f64>() / residuals.len().max(1) as f64).abs()
            };
            score.residuals.iter().map(mean).sum()
        }
    }
}
