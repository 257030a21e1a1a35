//! Early stopping at the least error on held-out data.

use super::{TrainerError, Validated};
use crate::Objective;

/// Early stopping on held-out data.
pub struct Validation {
    objective: Objective,
    /// Iterations between two evaluations.
    every: usize,
    /// Iterations without a lower error after which training stops.
    patience: usize,
}

impl Validation {
    /// Evaluates the data of `objective` every `every` iterations, and stops training when the error has
    /// not fallen for more than `patience` iterations. θ is that of the training.
    ///
    /// # Errors
    /// If `every` is 0.
    pub fn new(objective: Objective, every: usize, patience: usize) -> Result<Self, TrainerError> {
        if every == 0 {
            return Err(TrainerError::NoInterval);
        }
        Ok(Self { objective, every, patience })
    }

    /// Evaluates θ if an evaluation is due. Returns whether training should stop.
    pub(super) fn evaluate(
        &mut self,
        theta: &[f64],
        iteration: usize,
        least: &mut Validated,
    ) -> bool {
        if !iteration.is_multiple_of(self.every) {
            return false;
        }
        // A point that cannot be solved is no candidate.
        let error =
            self.objective.observe(theta).map_or(f64::INFINITY, |misfit| misfit.view().fit());
        if error < least.error {
            least.theta.clear();
            least.theta.extend_from_slice(theta);
            (least.error, least.iteration) = (error, iteration);
        }
        iteration - least.iteration > self.patience
    }
}
