//! What is asked: data to fit, laws to obey.

use lawful_law::Law;

use crate::{Dataset, Interpolation, LearnedConstant, Loss};

/// Data, laws, and how an error counts.
#[derive(Debug, Clone)]
pub struct Problem {
    /// What was measured.
    pub dataset: Dataset,
    /// What must hold, in the order in which everything per law is reported.
    pub laws: Vec<Law>,
    /// How an error of one cell becomes a term of the loss.
    pub loss: Loss,
    /// What inputs are between rows.
    pub interpolation: Interpolation,
    /// What counts as an error, or a violation, of one.
    pub units: Units,
    /// Constants that are learned with the field and that laws use; empty if no law does. The laws
    /// are then read with [`freed`](crate::freed), and the constants' raw numbers are the last of
    /// the field's parameters.
    pub constants: Vec<LearnedConstant>,
}

/// In what units errors and violations enter the objective. What is reported stays in the units of
/// the data.
#[derive(Debug, Clone, PartialEq)]
pub struct Units {
    /// An error of each state variable that counts as 1; above 0.
    pub state: Vec<f64>,
    /// A violation of each law that counts as 1; above 0. Laws beyond the list have 1 itself.
    pub laws: Vec<f64>,
    /// By how much inequalities are asked to hold, in units of the law; at least 0. A square is flat
    /// where a law begins to hold, so a path that is only asked for `c ≤ 0` ends up on both sides of
    /// 0; asked for `c ≤ −margin` it stays below.
    pub margin: f64,
}

impl Problem {
    /// Mean squared error, linear inputs, the data's own units.
    pub fn new(dataset: Dataset, laws: Vec<Law>) -> Self {
        let units = Units::of_data(dataset.state().len(), laws.len());
        let (loss, interpolation, constants) = (Loss::Mse, Interpolation::Linear, Vec::new());
        Self { dataset, laws, loss, interpolation, units, constants }
    }

    /// The same question asked of other data.
    #[must_use]
    pub fn of(&self, dataset: Dataset) -> Self {
        Self { dataset, ..self.clone() }
    }
}

impl Units {
    /// Those of the data and the laws themselves: everything as it is.
    pub fn of_data(states: usize, laws: usize) -> Self {
        Self { state: vec![1.0; states], laws: vec![1.0; laws], margin: 0.0 }
    }

    /// The unit of law `k`.
    pub(crate) fn law(&self, k: usize) -> f64 {
        self.laws.get(k).copied().unwrap_or(1.0)
    }
}
