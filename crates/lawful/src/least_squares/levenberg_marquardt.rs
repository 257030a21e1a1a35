//! Levenberg–Marquardt: Gauss–Newton steps, damped until they lower the sum of squares.
//!
//! Levenberg 1944, Marquardt 1963, with damping relative to the diagonal of the matrix, so that steps do not
//! depend on the units of the parameters.

use super::{Equations, Residuals};

/// How steps are damped.
///
/// | setting | default | purpose |
/// |---|---|---|
/// | `first` | 0.01 | damping μ of the first step |
/// | `increase` | 5 | factor of μ after a trial that is not better |
/// | `decrease` | 4 | divisor of μ after a step |
/// | `least` | 1e-12 | smallest μ |
/// | `trials` | 20 | most trials of one step |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Damping {
    /// μ of the first step.
    pub first: f64,
    /// Factor of μ after a trial that is not better, above 1.
    pub increase: f64,
    /// Divisor of μ after a step, at least 1.
    pub decrease: f64,
    /// Smallest μ.
    pub least: f64,
    /// Most trials of one step.
    pub trials: usize,
}

impl Default for Damping {
    fn default() -> Self {
        Self { first: 0.01, increase: 5.0, decrease: 4.0, least: 1e-12, trials: 20 }
    }
}

/// A point with its residuals and their Jacobian.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Point {
    /// The parameters.
    pub x: Vec<f64>,
    /// The residuals there.
    pub residuals: Vec<f64>,
    /// Their Jacobian, a row of parameters for each residual.
    pub jacobian: Vec<f64>,
}

impl Point {
    /// Evaluates x. Returns `None` if it has no residuals, or they are not finite.
    pub fn new(residuals: &mut dyn Residuals, x: Vec<f64>) -> Option<Self> {
        let (m, n) = (residuals.residual_len(), residuals.parameter_len());
        let mut point = Self { x, residuals: vec![0.0; m], jacobian: vec![0.0; m * n] };
        point.evaluate(residuals).then_some(point)
    }

    /// Evaluates its x again, for residuals that have changed. Returns whether everything is finite.
    pub fn evaluate(&mut self, residuals: &mut dyn Residuals) -> bool {
        if !residuals.evaluate(&self.x, &mut self.residuals) || !finite(&self.residuals) {
            return false;
        }
        residuals.jacobian(&mut self.jacobian);
        finite(&self.jacobian)
    }

    /// Returns `φ = ½ Σ w r² + ½ Σ a x²`.
    pub fn value(&self, weights: &[f64], precisions: &[f64]) -> f64 {
        half_squares(&self.residuals, weights) + half_squares(&self.x, precisions)
    }
}

/// The result of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stepped {
    /// The point has moved, and the sum of squares is lower.
    Accepted,
    /// No trial was better; the point has not moved.
    Stalled,
}

/// The method: damping is its only memory.
#[derive(Debug, Clone)]
pub struct LevenbergMarquardt {
    settings: Damping,
    /// μ of the next step.
    pub damping: f64,
    equations: Equations,
    step: Vec<f64>,
    trial: Point,
}

impl LevenbergMarquardt {
    /// The method before its first step.
    pub fn new(settings: Damping) -> Self {
        Self {
            damping: settings.first,
            settings,
            equations: Equations::default(),
            step: Vec::new(),
            trial: Point::default(),
        }
    }

    /// Moves the point by one step that lowers φ under these weights and precisions; the point has the
    /// residuals and the Jacobian of its x before and after. Allocates only at its first step.
    pub fn step(
        &mut self,
        residuals: &mut dyn Residuals,
        point: &mut Point,
        weights: &[f64],
        precisions: &[f64],
    ) -> Stepped {
        let Self { settings, damping, equations, step, trial } = self;
        let n = point.x.len();
        let value = point.value(weights, precisions);
        equations.set(&point.residuals, &point.jacobian, weights, n);
        step.resize(n, 0.0);
        trial.x.resize(n, 0.0);
        trial.residuals.resize(point.residuals.len(), 0.0);
        trial.jacobian.resize(point.jacobian.len(), 0.0);
        for _ in 0..settings.trials {
            if equations.solve(&point.x, precisions, *damping, step) {
                for ((trial, x), step) in trial.x.iter_mut().zip(&point.x).zip(&*step) {
                    *trial = x + step;
                }
                if trial.x == point.x {
                    break;
                }
                let exists = residuals.evaluate(&trial.x, &mut trial.residuals);
                if exists && trial.value(weights, precisions) < value {
                    residuals.jacobian(&mut trial.jacobian);
                    if finite(&trial.jacobian) {
                        std::mem::swap(point, trial);
                        *damping = (*damping / settings.decrease).max(settings.least);
                        return Stepped::Accepted;
                    }
                }
            }
            *damping *= settings.increase;
        }
        *damping = settings.first;
        Stepped::Stalled
    }
}

/// `½ Σ w x²`.
fn half_squares(values: &[f64], weights: &[f64]) -> f64 {
    0.5 * values.iter().zip(weights).map(|(x, w)| w * x * x).sum::<f64>()
}

fn finite(values: &[f64]) -> bool {
    values.iter().all(|x| x.is_finite())
}
