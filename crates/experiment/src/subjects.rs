//! What trajectories of a training have of their own: effects, and values of constants.

use lawful::Model;
use serde_json::{Map, Value, json};

use crate::experiment::Experiment;

/// The numbers of one trajectory of the training.
#[derive(Debug, Clone, PartialEq)]
pub struct SubjectValues {
    /// Its name.
    pub trajectory: String,
    /// Name and value of each constant that has one for each trajectory.
    pub constants: Vec<(String, f64)>,
    /// Its effects in the network.
    pub effects: Vec<f64>,
}

impl SubjectValues {
    /// Returns those of all trajectories of the training; none if they have nothing of their own.
    pub(crate) fn all(experiment: &Experiment, model: &Model) -> Vec<Self> {
        let names = experiment.training.data.trajectories().iter().map(|own| &own.name);
        let values = names.filter_map(|name| {
            let effects = model.effects_of(name).filter(|effects| !effects.is_empty())?;
            let constants = model.constants_under(effects);
            let of_network = effects.len() - constants.len();
            let effects = effects[..of_network].to_vec();
            Some(Self { trajectory: name.clone(), constants, effects })
        });
        values.collect()
    }

    /// Returns constants and effects as JSON.
    pub(crate) fn json(&self) -> Value {
        let constants = self.constants.iter().map(|(name, value)| (name.clone(), json!(value)));
        json!({ "constants": constants.collect::<Map<_, _>>(), "effects": self.effects })
    }
}
