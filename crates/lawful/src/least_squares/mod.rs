//! Least squares: Levenberg–Marquardt, and the evidence that sets the weights.
//!
//! A sum of squares knows more of its curvature than its gradient says: `JᵀJ`, J the Jacobian of the
//! residuals. With tens to hundreds of parameters that makes a minimum a matter of some ten iterations, and
//! the same matrix gives the evidence, from which weights of measurements and priors follow without held-out
//! data.
//!
//! ```text
//! φ(x) = ½ Σ_i w_i r_i(x)² + ½ Σ_k a_k x_k²
//! ```
//!
//! The weights w and the precisions a of the priors belong to the caller; [`Evidence`] chooses them.

mod equations;
mod evidence;
mod levenberg_marquardt;

pub use equations::Equations;
pub use evidence::{Evidence, EvidenceError, FLAT, Group, Noise, NoisePrior, Precisions};
pub use levenberg_marquardt::{Damping, LevenbergMarquardt, Point, Stepped};

/// Residuals r and their Jacobian as functions of x.
pub trait Residuals {
    /// Number of residuals.
    fn residual_len(&self) -> usize;

    /// Number of parameters x.
    fn parameter_len(&self) -> usize;

    /// Writes the residuals at x. Returns `false` if there are none, because a solve has failed.
    fn evaluate(&mut self, x: &[f64], residuals: &mut [f64]) -> bool;

    /// Writes the Jacobian at the x of the last [`evaluate`](Self::evaluate), which succeeded: a row of
    /// parameters for each residual. A residual that is clipped to 0 has a row of zeros.
    fn jacobian(&mut self, jacobian: &mut [f64]);
}
