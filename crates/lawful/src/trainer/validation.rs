//! Stopping where the error on data that are not trained on is least.

use super::Validated;
use crate::Objective;

/// Data that are looked at and never trained on.
pub struct Validation {
    objective: Objective,
    /// Iterations between two looks.
    every: usize,
    /// Iterations without a lower error after which training stops.
    patience: usize,
}

impl Validation {
    /// Looks at the data of `objective` every so many iterations, and stops when the error has not
    /// fallen for `patience` of them. θ is that of the training.
    ///
    /// # Panics
    /// If `every` is 0.
    pub fn new(objective: Objective, every: usize, patience: usize) -> Self {
        assert!(every > 0, "a look every 0 iterations");
        Self { objective, every, patience }
    }

    /// Looks if it is time to; whether training should stop.
    pub(super) fn look(&mut self, theta: &[f64], iteration: usize, least: &mut Validated) -> bool {
        if !iteration.is_multiple_of(self.every) {
            return false;
        }
        // A point that cannot be solved there is no candidate.
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
