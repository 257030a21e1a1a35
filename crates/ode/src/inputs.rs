//! Exogenous inputs `u(t)`.

/// The inputs of each column as functions of time.
pub trait Inputs {
    /// `u = u(t)` of a column, seen from a step that starts at `step_start ≤ t`.
    ///
    /// If the signal jumps at `t`, a step that starts there gets the value after the jump, and a
    /// step that ends there (`step_start < t`) the value before it.
    fn at(&self, column: usize, t: f64, step_start: f64, u: &mut [f64]);

    /// The first time after `t` at which u, or a derivative of it, jumps; infinity if there is
    /// none.
    ///
    /// Adaptive steps end there, so that the inputs are smooth inside a step. The default is
    /// infinity, for inputs that are smooth everywhere.
    fn next_break(&self, column: usize, t: f64) -> f64 {
        let _ = (column, t);
        f64::INFINITY
    }
}

/// No inputs, for fields that have none.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoInputs;

impl Inputs for NoInputs {
    fn at(&self, _column: usize, _t: f64, _step_start: f64, _u: &mut [f64]) {}
}
