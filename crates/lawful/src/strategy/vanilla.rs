//! Vanilla: the fit alone.

use super::{MisfitView, Slopes, State, Strategy, Value};

/// Minimises the fit, `φ = l(θ)`; laws are measured and have no part in training.
#[derive(Debug, Clone, Copy, Default)]
pub struct Vanilla;

impl Strategy for Vanilla {
    fn name(&self) -> &'static str {
        "vanilla"
    }

    fn weights(&self, _: &mut State, _: &MisfitView, _: usize, weights: &mut [f64]) {
        weights.fill(0.0);
    }

    fn value(&self, view: &MisfitView, _: &[f64], slopes: &mut Slopes) -> Value {
        let fit = view.fit();
        slopes.terms.fill(1.0 / view.terms.len() as f64);
        Value { value: fit, fit, violation: 0.0 }
    }
}
