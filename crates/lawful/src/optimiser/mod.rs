//! What moves θ.
//!
//! An optimiser is told the objective and its gradient at θ and moves θ to the next point to look
//! at. Everything it remembers is one flat row of numbers, so that a checkpoint, or taking a step
//! back, is a copy.

mod adam;

pub use adam::{Adam, Settings as AdamSettings};

/// The words of `kind` of an optimiser in an experiment file, each with one line of help.
pub const OPTIMISERS: &[(&str, &str)] = &[("adam", "Kingma and Ba's Adam, with gradient clipping")];

/// Moves θ.
pub trait Optimiser: Send {
    /// The word of this optimiser in an experiment file.
    fn name(&self) -> &'static str;

    /// Moves θ from a point where the objective and its gradient are known; `factor` scales the
    /// step (schedule, halvings after failures).
    fn advance(&mut self, theta: &mut [f64], value: f64, gradient: &[f64], factor: f64);

    /// Everything it remembers.
    fn state(&self) -> &[f64];

    /// Everything it remembers, to be overwritten by what [`state`](Self::state) once gave.
    fn state_mut(&mut self) -> &mut [f64];
}
