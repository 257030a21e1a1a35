//! The problem: data to fit, and laws to obey.

use lawful_law::Law;

use super::points::LawPoints;
use crate::{Dataset, Interpolation, LearnedConstant, Loss};

/// Data, laws, and the units and loss in which errors count.
#[derive(Debug, Clone)]
pub struct Problem {
    /// The measurements.
    pub dataset: Dataset,
    /// The laws, in the order of every list with one entry per law.
    pub laws: Vec<Law>,
    /// The loss of one cell.
    pub loss: Loss,
    /// How inputs are interpolated between rows.
    pub interpolation: Interpolation,
    /// The units of errors and violations in the objective.
    pub units: Units,
    /// Constants that are learned with the field and that laws use; empty if no law does. The laws
    /// are then read with [`with_learned_as_variables`](crate::with_learned_as_variables), and the
    /// constants' raw numbers are the last of the field's parameters.
    pub constants: Vec<LearnedConstant>,
    /// Times beside the measured rows at which laws count.
    pub points: LawPoints,
}

/// The units in which errors and violations enter the objective. Reports are in the units of the data.
#[derive(Debug, Clone, PartialEq)]
pub struct Units {
    /// An error of each state variable that counts as 1; above 0.
    pub state: Vec<f64>,
    /// A violation of each law that counts as 1; above 0. Laws beyond the list have the unit 1.
    pub laws: Vec<f64>,
    /// Margin by which inequalities are enforced, in units of the law; at least 0. A squared violation
    /// is flat where a law begins to hold, so a path trained for `c ≤ 0` ends on both sides of 0; one
    /// trained for `c ≤ −margin` stays below.
    pub margin: f64,
}

impl Problem {
    /// Mean squared error, linear inputs, the data's own units.
    pub fn new(dataset: Dataset, laws: Vec<Law>) -> Self {
        let units = Units::of_data(dataset.state().len(), laws.len());
        let (loss, interpolation, constants) = (Loss::Mse, Interpolation::Linear, Vec::new());
        let points = LawPoints::default();
        Self { dataset, laws, loss, interpolation, units, constants, points }
    }

    /// Returns the same problem on other data, where laws count at the rows.
    #[must_use]
    pub fn of(&self, dataset: Dataset) -> Self {
        Self { dataset, points: LawPoints::default(), ..self.clone() }
    }
}

impl Units {
    /// Returns the units of the data and the laws themselves: all 1.
    pub fn of_data(states: usize, laws: usize) -> Self {
        Self { state: vec![1.0; states], laws: vec![1.0; laws], margin: 0.0 }
    }

    /// Returns the unit of law `k`.
    pub(crate) fn law(&self, k: usize) -> f64 {
        self.laws.get(k).copied().unwrap_or(1.0)
    }
}
