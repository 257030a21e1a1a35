//! Optimisers: Adam and L-BFGS, and rate schedules.
//!
//! An optimiser takes the objective and its gradient at θ and moves θ to the next point to evaluate.
//! Its memory is one flat row of numbers, so that a checkpoint, or undoing a step, is a copy.

mod adam;
mod lbfgs;
mod line_search;
mod list;
mod schedule;

pub use adam::{Adam, AdamSettings};
pub use lbfgs::{Lbfgs, LbfgsScaling, LbfgsSettings};
pub use list::{ListedOptimiser, OptimiserKind};
pub use schedule::{RateDecay, Schedule};

/// The result of one [`advance`](Optimiser::advance).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// θ is the next point to evaluate.
    Evaluate,
    /// A line search has ended at θ, which has not moved. Weights may be updated now; then call
    /// [`advance`](Optimiser::advance) again, with the value and the gradient under the new weights.
    Accepted,
    /// The optimiser cannot lower the objective any further, for this reason; θ is its best point.
    Stalled(&'static str),
}

/// An optimiser: moves θ to the next point to evaluate.
pub trait Optimiser: Send {
    /// Returns the word of this optimiser in an experiment file.
    fn name(&self) -> &'static str;

    /// Moves θ from a point with this objective value and gradient. `factor` scales the step (rate
    /// schedule, halvings after failures).
    fn advance(&mut self, theta: &mut [f64], value: f64, gradient: &[f64], factor: f64) -> Step;

    /// Returns whether the next point must be evaluated under the weights of the last one.
    fn freezes_weights(&self) -> bool {
        false
    }

    /// Drops the memory of the objective, which has changed substantially: weights have jumped, or
    /// multipliers have changed. The next point is evaluated under the new objective.
    fn objective_changed(&mut self) {}

    /// Returns whether it can [`shorten`](Self::shorten) a step itself. If not, the default, a failed
    /// step is undone and repeated at half its length.
    fn can_shorten(&self) -> bool {
        false
    }

    /// Returns whether it can [`undo`](Self::undo) a step. If not, the default, its memory is copied
    /// before every step.
    fn can_undo(&self) -> bool {
        false
    }

    /// Restores a memory from which [`advance`](Self::advance) can repeat the last step from where it
    /// started. Called at most once after it, and only if [`can_undo`](Self::can_undo).
    fn undo(&mut self) {}

    /// Moves θ closer to the last accepted point, after an evaluation at θ failed.
    fn shorten(&mut self, theta: &mut [f64]) -> Step {
        let _ = theta;
        Step::Stalled("the step cannot be shortened")
    }

    /// Ends a run at θ, the last evaluated point, where the objective is `value`. Moves θ to the
    /// optimiser's best point if that is better. Returns whether anything has changed.
    fn finish(&mut self, theta: &mut [f64], value: f64) -> bool {
        let _ = (theta, value);
        false
    }

    /// Writes its memory to `row`, replacing the contents.
    fn save(&self, row: &mut Vec<f64>);

    /// Restores its memory from a row that [`save`](Self::save) wrote. Returns `false` if the row is of
    /// another optimiser.
    fn restore(&mut self, row: &[f64]) -> bool;
}
