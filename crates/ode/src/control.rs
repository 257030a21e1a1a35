//! Step-size control: fixed steps on the data's grid, or adaptive steps by an error estimate.

use crate::error::InvalidSolver;

/// Step-size control.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Control {
    /// Divides each interval between two observations into equal steps; all columns step together.
    Grid {
        /// Steps per interval, at least 1.
        substeps: usize,
    },
    /// Adapts the step size to the error estimate; one column per solve.
    ///
    /// Steps do not depend on the observation times except the last: more observations never change
    /// a value. Observations inside a step use the dense output.
    Adaptive(Adaptive),
}

/// Settings of adaptive steps.
///
/// The error of a step is measured as the root mean square over the state variables of `err_i /
/// (atol + rtol · max(|y_n,i|, |y_{n+1},i|))`, and the step is accepted when it is at most 1. With
/// `q` the order of the embedded weights, the next step is
///
/// ```text
/// h ← h · clamp(safety · err^−(1/(q+1) − 0.75β) · err_before^β,  min_factor,  max_factor)
/// ```
///
/// the proportional–integral control of Hairer, Nørsett and Wanner (*Solving Ordinary Differential
/// Equations II*, section IV.2), with the constants of their code `dopri5`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Adaptive {
    /// Relative tolerance, ≥ 0; default 1e-7.
    pub rtol: f64,
    /// Absolute tolerance, > 0; default 1e-9.
    pub atol: f64,
    /// Maximum number of steps, accepted and rejected; default 100 000.
    pub max_steps: usize,
    /// Smallest step, relative to the larger of `|t|` and the solve's length; default 1e-14.
    pub min_step: f64,
    /// First step, > 0; chosen from the first derivatives if not given.
    pub first_step: Option<f64>,
    /// Aim below the tolerance by this factor, in (0, 1); default 0.9.
    pub safety: f64,
    /// A step is at least this times the one before, in (0, 1); default 0.2.
    pub min_factor: f64,
    /// A step is at most this times the one before, > 1; default 10.
    pub max_factor: f64,
    /// Weight β of the error before, in [0, 0.2]; 0 is the elementary control; default 0.04.
    pub beta: f64,
}

impl Default for Adaptive {
    fn default() -> Self {
        Self {
            rtol: 1e-7,
            atol: 1e-9,
            max_steps: 100_000,
            min_step: 1e-14,
            first_step: None,
            safety: 0.9,
            min_factor: 0.2,
            max_factor: 10.0,
            beta: 0.04,
        }
    }
}

impl Adaptive {
    /// The default settings with these tolerances.
    pub fn with_tolerances(rtol: f64, atol: f64) -> Self {
        Self { rtol, atol, ..Self::default() }
    }

    /// Checks that every setting is in its range.
    pub(crate) fn check(&self) -> Result<(), InvalidSolver> {
        let below_one = |x: f64| x > 0.0 && x < 1.0;
        let positive = |x: f64| x > 0.0 && x.is_finite();
        let first = self.first_step.unwrap_or(1.0);
        let settings = [
            ("rtol", "at least 0", self.rtol, self.rtol >= 0.0 && self.rtol.is_finite()),
            ("atol", "above 0", self.atol, positive(self.atol)),
            ("max_steps", "at least 1", self.max_steps as f64, self.max_steps >= 1),
            ("min_step", "between 0 and 1", self.min_step, below_one(self.min_step)),
            ("first_step", "above 0", first, positive(first)),
            ("safety", "between 0 and 1", self.safety, below_one(self.safety)),
            ("min_factor", "between 0 and 1", self.min_factor, below_one(self.min_factor)),
            ("max_factor", "above 1", self.max_factor, self.max_factor > 1.0),
            ("beta", "from 0 to 0.2", self.beta, (0.0..=0.2).contains(&self.beta)),
        ];
        match settings.into_iter().find(|&(.., fine)| !fine) {
            Some((setting, range, value, _)) => {
                Err(InvalidSolver::OutOfRange { setting, range, value })
            }
            None => Ok(()),
        }
    }

    /// Returns the root mean square of `error` in units of the tolerance; NaN if anything is not
    /// finite.
    pub(crate) fn norm(&self, error: &[f64], before: &[f64], after: &[f64]) -> f64 {
        let mut sum = 0.0;
        for ((error, before), after) in error.iter().zip(before).zip(after) {
            let ratio = error / (self.atol + self.rtol * before.abs().max(after.abs()));
            sum += ratio * ratio;
        }
        (sum / error.len() as f64).sqrt()
    }
}

/// State of the proportional–integral control.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Controller {
    settings: Adaptive,
    /// `1/(q+1)`, the elementary exponent.
    exponent: f64,
    error_before: f64,
    just_rejected: bool,
}

impl Controller {
    /// Lower bound on the error before, so that one very accurate step does not cause a huge next
    /// one.
    const SMALLEST_ERROR: f64 = 1e-4;

    pub(crate) fn new(settings: Adaptive, embedded_order: usize) -> Self {
        let exponent = 1.0 / (embedded_order + 1) as f64;
        Self { settings, exponent, error_before: Self::SMALLEST_ERROR, just_rejected: false }
    }

    /// Returns the factor to the next step after accepting a step with this error (≤ 1).
    pub(crate) fn accept(&mut self, error: f64) -> f64 {
        let Adaptive { safety, min_factor, max_factor, beta, .. } = self.settings;
        let power = error.powf(self.exponent - 0.75 * beta);
        let factor = safety * self.error_before.powf(beta) / power;
        // Right after a rejection the step may not grow again.
        let most = if self.just_rejected { 1.0 } else { max_factor };
        self.error_before = error.max(Self::SMALLEST_ERROR);
        self.just_rejected = false;
        factor.clamp(min_factor, most)
    }

    /// Returns the factor to the next attempt after a step that a guard refused.
    pub(crate) fn refuse(&mut self) -> f64 {
        self.just_rejected = true;
        0.5
    }

    /// Returns the factor to the next attempt after rejecting a step with this error (> 1 or not
    /// finite).
    pub(crate) fn reject(&mut self, error: f64) -> f64 {
        let Adaptive { safety, min_factor, beta, .. } = self.settings;
        self.just_rejected = true;
        let factor = safety / error.powf(self.exponent - 0.75 * beta);
        if factor.is_finite() { factor.max(min_factor) } else { min_factor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_stay_in_their_limits() {
        let settings = Adaptive::default();
        let mut control = Controller::new(settings, 4);
        assert!((control.accept(0.0) - settings.max_factor).abs() < 1e-15);
        assert!((control.reject(f64::NAN) - settings.min_factor).abs() < 1e-15);
        assert!((control.reject(f64::INFINITY) - settings.min_factor).abs() < 1e-15);
        assert!((control.accept(0.0) - 1.0).abs() < 1e-15, "no growth after a rejection");
        assert!((control.accept(0.0) - settings.max_factor).abs() < 1e-15);
    }

    #[test]
    fn elementary_control_scales_with_the_root_of_the_error() {
        let mut control = Controller::new(Adaptive { beta: 0.0, ..Adaptive::default() }, 4);
        let expected = 0.9 * 0.5_f64.powf(-0.2);
        assert!((control.accept(0.5) - expected).abs() < 1e-15);
    }

    #[test]
    fn a_setting_outside_its_range_is_named() {
        let error = Adaptive { atol: 0.0, ..Adaptive::default() }.check().unwrap_err();
        assert_eq!(error.to_string(), "`atol` must be above 0, but it is 0");
    }
}
