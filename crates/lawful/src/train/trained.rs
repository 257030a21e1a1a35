//! The result of a training.

use std::fmt::Write as _;

use super::{Prepared, Run, StopReason};
use crate::number::short;
use crate::{Failure, LawReport, Model, Score};

/// A trained model, and how training went.
#[derive(Debug)]
pub struct Trained {
    /// The model: at the best point if the strategy returns to it or training failed, otherwise at the
    /// last point; with remedies, the best model of all phases.
    pub model: Model,
    /// Why training ended.
    pub stop: StopReason,
    /// Iterations done.
    pub iterations: usize,
    /// The score of the model on the training data, or why it cannot be solved there.
    pub score: Result<Score, Failure>,
    /// What the model makes of each law between the rows and up to the horizon, too; the name of the set
    /// is `training`.
    pub laws: LawReport,
    /// The recipe that chose the phases, if one did.
    pub recipe: Option<&'static str>,
    /// Its reasons.
    pub remarks: Vec<String>,
    /// The phases, including those of remedies, in words.
    pub phases: Vec<String>,
}

impl Prepared {
    /// Returns the model of a run of this training.
    pub fn model_of(&self, run: &Run) -> Model {
        let Run { outcome, plan, layout, .. } = run;
        let (theta, iteration) = self.selected(outcome);
        let iteration = match plan.best_model() {
            // The run has ended with it.
            Some(best) if outcome.stop != StopReason::Interrupted => best.iteration,
            _ => plan.start() + iteration,
        };
        let model = self.model(layout.keep(theta), iteration);
        model.with_posterior(self.posterior(plan, &outcome.last))
    }

    /// Returns the result of a run of this training.
    pub fn trained(&self, run: &Run) -> Trained {
        let Run { outcome, plan, .. } = run;
        let model = self.model_of(run);
        let score = model.score(&self.data);
        let laws = model.measure(&[("training", &self.data)], self.horizon);
        Trained {
            score,
            laws,
            model,
            stop: outcome.stop.clone(),
            iterations: plan.start() + outcome.last.iteration,
            recipe: self.recipe,
            remarks: self.remarks.clone(),
            phases: plan.phases().iter().map(super::Phase::describe).collect(),
        }
    }
}

impl Trained {
    /// Returns a summary of a few lines: how training ended, the error, the violation of each law and the
    /// verdict on it, the learned constants, the choices of the recipe with its reasons, and the phases.
    pub fn summary(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "training    {} iterations: {}", self.iterations, self.stop);
        match &self.score {
            Ok(score) => {
                let _ = writeln!(text, "fit         MSE {}", short(score.mse));
                let verdicts = score.laws.iter().zip(&self.laws.laws);
                for (law, (score, verdict)) in self.model.laws().iter().zip(verdicts) {
                    let (mean, max) = (short(score.mean), short(score.max));
                    let share = short(100.0 * score.share);
                    let name = law.name();
                    let _ = writeln!(
                        text,
                        "law         {name}: violation {mean} on average, {max} at most, at {share} % \
                         of the steps"
                    );
                    let _ = writeln!(text, "            it {}", verdict.describe());
                }
            }
            Err(failure) => {
                let _ = writeln!(text, "fit         cannot be solved: {failure}");
            }
        }
        for (name, start, value) in self.model.constants() {
            let (value, start) = (short(value), short(start));
            let _ = writeln!(text, "constant    {name} = {value}, from {start}");
        }
        let sizes = self.model.process_noise().into_iter().flatten();
        for (name, size) in self.model.state().iter().zip(sizes) {
            let size = short(*size);
            let _ = writeln!(text, "process     {name}: {size} per square root of time");
        }
        for name in self.model.description().subjects.iter().flat_map(|own| &own.trajectories) {
            let effects = self.model.effects_of(name).unwrap_or_default();
            let constants = self.model.constants_under(effects);
            let values =
                constants.iter().map(|(name, value)| format!("{name} = {}", short(*value)));
            let values: Vec<String> = values.collect();
            if !values.is_empty() {
                let _ = writeln!(text, "trajectory  {name}: {}", values.join(", "));
            }
        }
        match self.recipe {
            Some(recipe) => {
                let _ = writeln!(text, "recipe      {recipe}");
            }
            None if self.remarks.is_empty() => {}
            None => text.push_str("remarks\n"),
        }
        for remark in &self.remarks {
            let _ = writeln!(text, "            – {remark}");
        }
        for (n, phase) in self.phases.iter().enumerate() {
            let _ = writeln!(text, "phase {:<6}{phase}", n + 1);
        }
        text
    }
}
