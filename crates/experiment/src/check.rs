//! What `lawful check` finds in an experiment and its data, as a text and as JSON.

use lawful::{Audit, Dataset, Relation};
use serde_json::{Map, Value, json};
use toml::Table;

use crate::audit::{audit, contradictions, law_json, lines};
use crate::config::ExperimentFile;
use crate::config::on_data::{LawValues, law_values};
use crate::experiment::{Experiment, in_a_line};
use crate::phrases::counted;
use crate::scores::{scored_range, scored_rows};
use crate::summary::summary;

/// What is known about an experiment without training it.
#[derive(Debug)]
pub struct Check<'a> {
    file: &'a ExperimentFile,
    /// Each law on the training data.
    laws: Vec<LawValues>,
    /// Whether the laws and the data agree.
    audit: Audit,
}

/// Evaluates and audits the laws of an experiment on its data.
pub fn check(file: &ExperimentFile) -> Check<'_> {
    let training = &file.experiment.training;
    let values = |law| law_values(law, &training.data, &training.constants);
    let laws = training.laws.iter().map(values).collect();
    Check { file, laws, audit: audit(&file.experiment) }
}

impl Check<'_> {
    /// Returns the summary that `lawful check` prints.
    pub fn text(&self) -> String {
        summary(&self.file.experiment) + &lines(&self.audit)
    }

    /// Returns the contradictions of laws and data, each with what to do about it.
    pub fn contradictions(&self) -> Vec<(String, String)> {
        contradictions(&self.audit)
    }

    /// Returns what is wrong with the laws, a sentence each: `lawful check --strict` fails with them.
    pub fn faults(&self) -> Vec<String> {
        let laws = self.file.experiment.law_names().into_iter().zip(&self.laws);
        let undefined = laws.filter_map(|(name, values)| {
            let (moment, _) = values.first.as_ref()?;
            let steps = counted(values.undefined, "step");
            Some(format!("the law `{name}` has no finite value at {steps}, first at {moment}"))
        });
        let contradictions = self.contradictions().into_iter().map(|(what, _)| what);
        undefined.chain(contradictions).collect()
    }

    /// Returns the same as data. `settings` is the experiment with every key written out, as
    /// `lawful check --complete` prints it.
    pub fn json(&self) -> Value {
        let Experiment { name, training, .. } = &self.file.experiment;
        let settings: Table = toml::from_str(&self.file.complete).unwrap_or_default();
        let phases = training.phases.iter().map(|phase| {
            json!({
                "optimiser": phase.optimiser.name(),
                "iterations": phase.iterations,
                "description": phase.describe(),
            })
        });
        json!({
            "experiment": name,
            "state": training.vocabulary.state(),
            "inputs": training.vocabulary.inputs(),
            "laws": self.laws_json(),
            "sets": self.sets_json(),
            "parameters": training.theta_len(),
            "recipe": training.recipe,
            "remarks": training.remarks,
            "phases": phases.collect::<Vec<_>>(),
            "faults": self.faults(),
            "settings": settings,
        })
    }

    fn laws_json(&self) -> Vec<Value> {
        let experiment = &self.file.experiment;
        let laws = experiment.training.laws.iter().zip(experiment.law_names()).zip(&self.laws);
        let laws = laws.enumerate().map(|(k, ((law, name), values))| {
            let violations = values.residuals.iter().map(|c| law.relation().violation(*c, 0.0));
            let (steps, sum) = (values.residuals.len(), violations.clone().sum::<f64>());
            json!({
                "name": name,
                "holds": in_a_line(law.text()),
                "relation": match law.relation() {
                    Relation::Equality => "equality",
                    Relation::AtMost => "inequality",
                },
                "strategy": law.enforcement().name(),
                "audit": law_json(&self.audit, k),
                "data": {
                    "steps": steps,
                    "violated": violations.clone().filter(|violation| *violation > 0.0).count(),
                    "mean": (steps > 0).then(|| (sum + 0.0) / steps as f64),
                    "max": violations.reduce(f64::max),
                    "undefined": values.undefined,
                    "undefined_at": values.first.as_ref().map(|(moment, _)| moment),
                },
            })
        });
        laws.collect()
    }

    fn sets_json(&self) -> Map<String, Value> {
        let value = |dataset: &Dataset| {
            let (from, to) = scored_range(dataset);
            json!({
                "trajectories": dataset.trajectories().len(),
                "rows": scored_rows(dataset),
                "from": from,
                "to": to,
                "missing": dataset.missing(),
            })
        };
        let sets = self.file.experiment.sets();
        sets.map(|(name, dataset)| (name.to_owned(), value(dataset))).collect()
    }
}
