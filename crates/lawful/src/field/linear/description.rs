//! The description of a field with linear laws, which files hold.

use lawful_ode::{Scaling, VectorField};
use serde::{Deserialize, Serialize};

use super::field::LinearField;
use super::form::Form;
use super::laws::LinearLaws;
use super::nearest::NearestField;
use crate::field::FieldError;
use crate::field::description::ScalingValue;

/// Linear laws that a field guarantees, and the flows that its network computes for them.
///
/// As [`FieldPart::Linear`](crate::FieldPart::Linear) it wraps the network alone, whose outputs are [`outputs`](Self::outputs), and brings its units: there is
/// no part `scaling` beside it. Known rates may follow. As [`FieldPart::Nearest`](crate::FieldPart::Nearest) it has no
/// flows, and wraps a whole field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct LinearDescription {
    /// The units of the network's inputs, and of the projection. The rate is not used where there are flows, each of
    /// which has its own.
    #[serde(with = "ScalingValue")]
    pub scaling: Scaling,
    /// The laws of each state variable, in the order of the state.
    pub states: Vec<StateDescription>,
    /// Sums that do not change.
    pub sums: Vec<SumDescription>,
    /// The flows, one for each output of the network.
    pub flows: Vec<FlowDescription>,
}

/// The laws of one state variable.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct StateDescription {
    /// Its lower bound.
    pub lower: Option<BoundDescription>,
    /// Its upper bound.
    pub upper: Option<BoundDescription>,
    /// The direction in which it may change, if it is only one.
    pub direction: Option<Direction>,
    /// In what the network sees it.
    pub coordinate: Coordinate,
}

/// A bound of a state variable.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct BoundDescription {
    /// The bound.
    pub at: f64,
    /// The usual distance of the data to it, above 0.
    pub distance: f64,
    /// Whether a sum and the other bounds imply it, so that flows do not carry the distance to it.
    pub implied: bool,
}

/// The direction in which a state variable may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// It never rises.
    Falls,
    /// It never falls.
    Rises,
    /// Neither.
    Stays,
}

/// In what the network sees a state variable.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "in")]
pub enum Coordinate {
    /// In its own units, centred and scaled.
    #[default]
    Linear,
    /// `ln q` of the distance to its lower bound, `−ln q` of that to its upper bound, and `ln q − ln q′` between
    /// both; centred and scaled. States must be strictly inside of the bounds.
    Log {
        /// Centre of the coordinate on the data.
        centre: f64,
        /// Its spread, above 0.
        spread: f64,
    },
}

/// A weighted sum of the states that does not change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SumDescription {
    /// The name of its law.
    pub law: String,
    /// The weight of each state variable.
    pub weights: Vec<f64>,
    /// Its value, or nothing if each trajectory has its own.
    pub value: Option<f64>,
    /// How the rate keeps it.
    pub by: SumForm,
}

/// How the rate keeps a sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SumForm {
    /// Its states change by flows between them only; their weights are above 0.
    Flows,
    /// The rate is projected; its states have neither bounds nor directions.
    Projection,
}

/// A flow between two states of a sum, or between a state and the outside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct FlowDescription {
    /// Where it comes from; nothing is the outside.
    pub from: Option<String>,
    /// Where it goes.
    pub to: Option<String>,
    /// Whether it may go both ways.
    pub signed: bool,
    /// Its size at usual states and the output ln 2 of a softplus, or 1 of a signed flow; above 0.
    pub rate: f64,
}

impl FlowDescription {
    /// Returns the name of the network's output: `S` for the rate of a state, `into S`, `out of S`, `S to I`,
    /// and `S with I` for a signed flow.
    pub fn output(&self) -> String {
        match (&self.from, &self.to, self.signed) {
            (None, Some(to), true) => to.clone(),
            (None, Some(to), false) => format!("into {to}"),
            (Some(from), None, _) => format!("out of {from}"),
            (Some(from), Some(to), true) => format!("{from} with {to}"),
            (Some(from), Some(to), false) => format!("{from} to {to}"),
            (None, None, _) => "nothing".to_owned(),
        }
    }
}

impl LinearDescription {
    /// Returns the names of the outputs that the network must have, one for each flow.
    pub fn outputs(&self) -> Vec<String> {
        self.flows.iter().map(FlowDescription::output).collect()
    }

    /// Returns the same laws and flows with all sizes 1, to compare it with another description.
    #[must_use]
    pub fn without_sizes(mut self) -> Self {
        self.scaling = Scaling::none(self.scaling.state.len(), self.scaling.input.len());
        self.flows.iter_mut().for_each(|flow| flow.rate = 1.0);
        for state in &mut self.states {
            for bound in [&mut state.lower, &mut state.upper].into_iter().flatten() {
                bound.distance = 1.0;
            }
            if let Coordinate::Log { centre, spread } = &mut state.coordinate {
                (*centre, *spread) = (0.0, 1.0);
            }
        }
        self
    }

    /// Returns the laws, to check and move states.
    pub(in crate::field) fn on_states(&self, state: &[String]) -> Result<LinearLaws, FieldError> {
        let form = Form::new(self, state, &[])?;
        let names = [SumForm::Flows, SumForm::Projection].map(|by| {
            let sums = self.sums.iter().filter(|sum| sum.by == by);
            sums.map(|sum| sum.law.clone()).collect()
        });
        Ok(LinearLaws::new(form, names))
    }

    /// Wraps a field of rates, whose rate is moved to the nearest one within the laws; there are no
    /// [`flows`](Self::flows). `known` are the indices of state variables whose rates are not moved.
    pub(in crate::field) fn nearest(
        &self,
        field: Box<dyn VectorField>,
        state: &[String],
        known: &[usize],
    ) -> Result<NearestField, FieldError> {
        NearestField::new(field, Form::new(self, state, known)?)
    }

    /// Wraps a network. `state` are the names of the state variables, and `known` the indices of those whose
    /// rates are known: the field computes the rates of the others.
    ///
    /// # Errors
    /// If the description is not valid, or the network has another number of inputs or outputs.
    pub fn around(
        &self,
        network: Box<dyn VectorField>,
        state: &[String],
        known: &[usize],
    ) -> Result<LinearField, FieldError> {
        let form = Form::new(self, state, known)?;
        LinearField::new(network, form)
    }
}
