//! What moves θ.
//!
//! An optimiser is told the objective and its gradient at θ and moves θ to the next point to look
//! at. Everything it remembers is one flat row of numbers, so that a checkpoint, or taking a step
//! back, is a copy.

mod adam;
mod lbfgs;
mod line_search;

pub use adam::{Adam, Settings as AdamSettings};
pub use lbfgs::{Lbfgs, Scaling as LbfgsScaling, Settings as LbfgsSettings};

/// The words of `kind` of an optimiser in an experiment file, each with one line of help.
pub const OPTIMISERS: &[(&str, &str)] = &[
    ("adam", "Kingma and Ba's Adam, with gradient clipping"),
    ("lbfgs", "L-BFGS with a strong Wolfe line search; every trial is an iteration"),
];

/// What an optimiser has done with θ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// θ is the next point to look at.
    Evaluate,
    /// θ is where it was, and a line search has ended there. Weights may be renewed now; then the
    /// optimiser is told the value and the gradient once more, as they are under the new weights.
    Accepted,
    /// It cannot go on, and θ is the best it has; why.
    Stalled(&'static str),
}

/// Moves θ.
pub trait Optimiser: Send {
    /// The word of this optimiser in an experiment file.
    fn name(&self) -> &'static str;

    /// Moves θ from a point where the objective and its gradient are known; `factor` scales the
    /// step (schedule, halvings after failures).
    fn advance(&mut self, theta: &mut [f64], value: f64, gradient: &[f64], factor: f64) -> Step;

    /// Whether the next point must be judged under the weights of the last one.
    fn freezes_weights(&self) -> bool {
        false
    }

    /// The weights have changed so much that what was learned of the objective is worth nothing.
    fn objective_changed(&mut self) {}

    /// Whether it can [`shorten`](Self::shorten) a step by itself. If not, the default, a step that
    /// failed is taken back and repeated at half its length.
    fn can_shorten(&self) -> bool {
        false
    }

    /// Whether it can [`undo`](Self::undo) a step. If not, the default, its memory is copied before
    /// every step.
    fn can_undo(&self) -> bool {
        false
    }

    /// Takes back what the last [`advance`](Self::advance) changed in its memory. Called once after
    /// it at most, and only if it [can](Self::can_undo).
    fn undo(&mut self) {}

    /// The point that it moved θ to could not be evaluated: moves θ to a nearer one.
    fn shorten(&mut self, theta: &mut [f64]) -> Step {
        let _ = theta;
        Step::Stalled("the step cannot be shortened")
    }

    /// No more looks after this one, at θ, where the objective is `value`: moves θ to the best point
    /// it has if that one is better, and rests there. Whether anything has changed.
    fn finish(&mut self, theta: &mut [f64], value: f64) -> bool {
        let _ = (theta, value);
        false
    }

    /// Writes everything it remembers into `row`, over what is there.
    fn save(&self, row: &mut Vec<f64>);

    /// Takes over what [`save`](Self::save) once wrote; `false` if the row is of another optimiser.
    fn restore(&mut self, row: &[f64]) -> bool;
}
