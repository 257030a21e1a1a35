//! What is asked: data to fit, laws to obey.

use lawful_law::Law;

use crate::{Dataset, Hold, Loss};

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
    pub hold: Hold,
}

impl Problem {
    /// Mean squared error, linear inputs.
    pub fn new(dataset: Dataset, laws: Vec<Law>) -> Self {
        Self { dataset, laws, loss: Loss::Mse, hold: Hold::Linear }
    }

    /// The same question asked of other data.
    #[must_use]
    pub fn of(&self, dataset: Dataset) -> Self {
        Self { dataset, ..self.clone() }
    }
}
