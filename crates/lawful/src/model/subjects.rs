//! What trajectories have of their own: effects of those of the training, and what new ones begin with.
//!
//! A trajectory of the training has the effects that were trained for it. For a new one they are predicted from
//! its initial state and its inputs at the start by ridge regression over the trajectories of the training:
//! zero, the mean of all, would ignore what is known of it. The regression also predicts the start of state
//! variables that nobody measures.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::ridge::{Regression, regress};
use super::{Archive, Model, ModelDescription, ModelError};
use crate::data::Table;
use crate::{Dataset, FieldError, Random, Trajectory};

/// What the trajectories of a training have of their own. The numbers are in tensors beside it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Subjects {
    /// The names of the trajectories, in the order of their effects.
    pub trajectories: Vec<String>,
    /// The state variables that no first row has: the regression predicts their start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmeasured: Vec<String>,
}

/// The names of the tensors of a regression.
const TENSORS: [&str; 4] =
    ["subjects.centre", "subjects.regression", "subjects.variance", "subjects.known"];

impl Subjects {
    /// Returns the subjects of a training, if they have anything of their own.
    pub(crate) fn of(data: &Dataset, effects: usize) -> Option<Self> {
        let d = data.state().len();
        let starts = || data.trajectories().iter().map(|trajectory| &trajectory.states[..d]);
        let unmeasured = data.state().iter().enumerate();
        let unmeasured = unmeasured.filter(|&(i, _)| starts().all(|start| start[i].is_nan()));
        let unmeasured: Vec<String> = unmeasured.map(|(_, name)| name.clone()).collect();
        if effects == 0 && unmeasured.is_empty() {
            return None;
        }
        let trajectories = data.trajectories().iter().map(|trajectory| trajectory.name.clone());
        Some(Self { trajectories: trajectories.collect(), unmeasured })
    }

    /// Returns the number of values that the regression predicts, and that of the values it uses.
    fn shape(&self, description: &ModelDescription) -> (usize, usize) {
        let field = &description.field;
        let known = field.state.len() - self.unmeasured.len().min(field.state.len());
        (field.effect_len() + self.unmeasured.len(), known + field.inputs.len())
    }

    /// Returns whether the start of a state variable is predicted.
    fn predicts(&self, name: &str) -> bool {
        self.unmeasured.iter().any(|unmeasured| unmeasured == name)
    }
}

/// The numbers of [`Subjects`] in a model.
#[derive(Debug, Clone, Default)]
pub(super) struct Newcomers {
    pub(super) regression: Regression,
    /// What is known of each trajectory of the training: a row of features.
    known: Vec<Vec<f64>>,
    /// What a draw adds to the predicted values: their error of leave-one-out, drawn. Empty for the model itself.
    scatter: Vec<f64>,
}

impl Model {
    /// Returns the number of effects of a trajectory: those of the network, then the deviations of constants
    /// that have one value for each.
    pub fn effect_len(&self) -> usize {
        self.description.field.effect_len()
    }

    /// Returns the effects of a trajectory of the training by its name.
    pub fn effects_of(&self, trajectory: &str) -> Option<&[f64]> {
        let names = &self.description.subjects.as_ref()?.trajectories;
        let found = names.iter().position(|name| name == trajectory)?;
        let each = self.effect_len();
        let effects = &self.theta[self.theta.len() - names.len() * each..];
        Some(&effects[found * each..][..each])
    }

    /// Gives every path of this model these effects, instead of those of its trajectory.
    ///
    /// # Errors
    /// If their number is not [`effect_len`](Self::effect_len).
    pub fn with_effects(mut self, effects: Vec<f64>) -> Result<Self, FieldError> {
        let (found, expected) = (effects.len(), self.effect_len());
        if found != expected {
            return Err(FieldError::Length { what: "effects of a trajectory", found, expected });
        }
        self.effects = Some(effects);
        Ok(self)
    }

    /// Returns the effects that a path from this initial state with these inputs has: those given by
    /// [`with_effects`](Self::with_effects), or a prediction for a new trajectory. NaN is a value that is not
    /// known.
    pub fn effects_from(&self, initial: &[f64], inputs: &[f64]) -> Vec<f64> {
        match &self.effects {
            Some(effects) => effects.clone(),
            None => self.predicted(initial, inputs).0,
        }
    }

    /// Returns the effects of a trajectory: those given by [`with_effects`](Self::with_effects), those that
    /// were trained for a trajectory of its name, or a prediction for a new one.
    pub fn effects_along(&self, trajectory: &Trajectory) -> Vec<f64> {
        let given = self.effects.as_deref().or_else(|| self.effects_of(&trajectory.name));
        given.map_or_else(
            || {
                let initial = &trajectory.states[..self.state().len()];
                self.predicted(initial, &trajectory.inputs[..self.inputs().len()]).0
            },
            <[f64]>::to_vec,
        )
    }

    /// Returns this model with the effects of a path from this initial state at time `t` for every path: those
    /// given by [`with_effects`](Self::with_effects), or a prediction for a new trajectory. The parts of one
    /// long prediction share them.
    pub fn of_start(&self, t: f64, initial: &[f64], inputs: Table<'_>) -> Cow<'_, Self> {
        if self.effect_len() == 0 {
            return Cow::Borrowed(self);
        }
        let effects = Some(self.effects_from(initial, &self.inputs_at(t, inputs)));
        Cow::Owned(Self { effects, ..self.clone() })
    }

    /// Returns whether the start of a state variable is predicted where it is not known: nobody measures it.
    pub fn predicts_start(&self, variable: &str) -> bool {
        self.description.subjects.as_ref().is_some_and(|subjects| subjects.predicts(variable))
    }

    /// Fills in the state variables of an initial state that are NaN because nobody measures them.
    pub fn complete_start(&self, initial: &mut [f64], inputs: &[f64]) {
        let Some(subjects) = &self.description.subjects else { return };
        let predicted = self.predicted(initial, inputs).1;
        let names = self.state().iter().zip(initial);
        let unmeasured = names.filter(|(name, _)| subjects.predicts(name)).map(|(_, value)| value);
        for (value, predicted) in unmeasured.zip(predicted) {
            if value.is_nan() {
                *value = predicted;
            }
        }
    }

    /// Returns the values of the inputs at a time, from a table.
    pub fn inputs_at(&self, t: f64, table: Table<'_>) -> Vec<f64> {
        let mut inputs = vec![0.0; self.inputs().len()];
        if !inputs.is_empty() {
            table.at(self.description.interpolation, t, t, &mut inputs);
        }
        inputs
    }

    /// Returns the predicted effects of a new trajectory, and the start of its unmeasured state variables.
    fn predicted(&self, initial: &[f64], inputs: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let Some(subjects) = &self.description.subjects else { return Default::default() };
        let features = features(subjects, self.state(), initial, inputs);
        let mut predicted = self.newcomers.regression.predict(&features);
        let scattered = predicted.iter_mut().zip(&self.newcomers.scatter);
        scattered.for_each(|(value, scatter)| *value += scatter);
        let starts = predicted.split_off(self.effect_len());
        (predicted, starts)
    }

    /// Returns the value of each constant that has one for each trajectory, under these effects.
    pub fn constants_under(&self, effects: &[f64]) -> Vec<(String, f64)> {
        let learned = self.description.field.learned();
        let raw = &self.parameters()[self.field_len - learned.len()..];
        let of_network = self.effect_len() - self.description.field.varying().count();
        let deviations = effects.iter().skip(of_network);
        let values = self.description.field.varying().zip(deviations);
        let values = values.filter_map(|(name, deviation)| {
            let at = learned.iter().position(|constant| constant.name == name)?;
            Some((name.to_owned(), learned[at].value(raw[at] + deviation)))
        });
        values.collect()
    }

    /// Fits the regression for new trajectories to those of the training, from their initial states.
    pub(crate) fn with_newcomers(mut self, data: &Dataset, starts: &[Vec<f64>]) -> Self {
        let Some(subjects) = &self.description.subjects else { return self };
        let (d, m) = (self.state().len(), self.inputs().len());
        let of = |trajectory: &Trajectory| {
            let (state, inputs) = (&trajectory.states[..d], &trajectory.inputs[..m]);
            features(subjects, self.state(), state, inputs)
        };
        let measured = |n: usize| &data.trajectories()[n].states[..d];
        let known: Vec<Vec<f64>> = data.trajectories().iter().map(of).collect();
        let regression =
            self.regression(&known, |n| starts.get(n).map_or(measured(n), |start| &start[..]));
        self.newcomers = Newcomers { regression, known, scatter: Vec::new() };
        self
    }

    /// Fits the regression of a draw to its own effects and trained starts, and draws the error of a prediction:
    /// nobody has measured a new trajectory.
    pub(super) fn redraw_newcomers(&mut self, seed: u64) {
        let known = std::mem::take(&mut self.newcomers.known);
        let starts = &self.description.starts;
        let regression =
            self.regression(&known, |n| starts.get(n).map_or(&[], |start| &start.state[..]));
        let mut random = Random::new(seed, "new trajectory");
        let scatter = regression.variance.iter().map(|v| v.sqrt() * random.normal());
        self.newcomers = Newcomers { scatter: scatter.collect(), regression, known };
    }

    /// Returns the regression of effects and unmeasured starts on what is known of each trajectory.
    fn regression<'s>(&self, known: &[Vec<f64>], start: impl Fn(usize) -> &'s [f64]) -> Regression {
        let Some(subjects) = &self.description.subjects else { return Regression::default() };
        let wanted = subjects.trajectories.iter().enumerate().map(|(n, name)| {
            let effects = self.effects_of(name).unwrap_or_default().iter();
            let unmeasured = self.state().iter().zip(start(n));
            let unmeasured = unmeasured.filter(|(name, _)| subjects.predicts(name));
            effects.chain(unmeasured.map(|(_, value)| value)).copied().collect()
        });
        regress(known, &wanted.collect::<Vec<Vec<f64>>>())
    }

    /// Adds the numbers of subjects to an archive.
    pub(super) fn archive_subjects(&self, archive: &mut Archive) {
        let Some(subjects) = &self.description.subjects else { return };
        let each = self.effect_len();
        if each > 0 {
            let rows = subjects.trajectories.len();
            let effects = &self.theta[self.theta.len() - rows * each..];
            archive.add_matrix("effects", [rows, each], effects);
        }
        let (targets, known) = subjects.shape(&self.description);
        let Newcomers { regression, known: rows, .. } = &self.newcomers;
        let Regression { centre, coefficients, variance } = regression;
        archive.add(TENSORS[0], centre);
        archive.add_matrix(TENSORS[1], [targets, known + 1], coefficients);
        archive.add(TENSORS[2], variance);
        archive.add_matrix(TENSORS[3], [rows.len(), known], &rows.concat());
    }

    /// Reads the numbers of subjects.
    pub(super) fn read_subjects(
        archive: &Archive,
        description: &ModelDescription,
    ) -> Result<Newcomers, ModelError> {
        let Some(subjects) = &description.subjects else { return Ok(Newcomers::default()) };
        let (targets, known) = subjects.shape(description);
        let [centre, coefficients, variance, rows] = TENSORS.map(|name| archive.values(name));
        let (centre, coefficients, variance, rows) = (centre?, coefficients?, variance?, rows?);
        for (name, found, expected) in [
            (TENSORS[0], centre.len(), known),
            (TENSORS[1], coefficients.len(), targets * (known + 1)),
            (TENSORS[2], variance.len(), targets),
            (TENSORS[3], rows.len(), subjects.trajectories.len() * known),
        ] {
            if found != expected {
                let what = format!("`{name}` has {found} numbers instead of {expected}");
                return Err(archive.damaged(&what));
            }
        }
        let numbers = centre.iter().chain(coefficients).chain(variance);
        if !numbers.clone().all(|x| x.is_finite()) || variance.iter().any(|v| *v < 0.0) {
            return Err(archive.damaged("the regression of new trajectories is not finite"));
        }
        let regression = Regression {
            centre: centre.to_vec(),
            coefficients: coefficients.to_vec(),
            variance: variance.to_vec(),
        };
        let known = match known {
            0 => vec![Vec::new(); subjects.trajectories.len()],
            known => rows.chunks_exact(known).map(<[f64]>::to_vec).collect(),
        };
        Ok(Newcomers { regression, known, scatter: Vec::new() })
    }
}

/// Returns what the regression uses: the initial state, without the variables that it predicts, and the inputs.
fn features(subjects: &Subjects, state: &[String], initial: &[f64], inputs: &[f64]) -> Vec<f64> {
    let known = state.iter().zip(initial).filter(|(name, _)| !subjects.predicts(name));
    known.map(|(_, value)| *value).chain(inputs.iter().copied()).collect()
}

/// Checks what the metadata of a model say of subjects. Returns the number of effects of all of them.
pub(super) fn check(description: &ModelDescription) -> Result<usize, FieldError> {
    let each = description.field.effect_len();
    let none = Subjects::default();
    let subjects = description.subjects.as_ref().unwrap_or(&none);
    let names = &subjects.trajectories;
    let (what, found) = ("trajectories with effects", names.len());
    if each > 0 && names.is_empty() {
        return Err(FieldError::Length { what, found, expected: 1 });
    }
    let mut unique: Vec<&String> = names.iter().collect();
    unique.sort();
    unique.dedup();
    if unique.len() < names.len() {
        return Err(FieldError::Length { what, found, expected: unique.len() });
    }
    for (n, name) in subjects.unmeasured.iter().enumerate() {
        let known = description.field.state.contains(name);
        if !known || subjects.unmeasured[..n].contains(name) {
            return Err(FieldError::NotAState(name.clone()));
        }
    }
    Ok(each * names.len())
}
