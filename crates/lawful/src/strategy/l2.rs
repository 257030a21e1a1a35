//! The quadratic penalty with fixed μ.

use super::l1::fixed;
use super::{MisfitView, Slopes, State, Strategy, Value, mean};

/// `φ = l(θ) + Σ_k μ_k (1/N) Σ_n (v_n^k)²`.
///
/// | setting | default | range | purpose |
/// |---|---|---|---|
/// | `mu` | 1 | ≥ 0, one per law | price of one unit of mean squared violation |
#[derive(Debug, Clone, PartialEq)]
pub struct L2 {
    /// One weight per law, or a single one for all.
    pub mu: Vec<f64>,
}

impl Default for L2 {
    fn default() -> Self {
        Self { mu: vec![1.0] }
    }
}

impl Strategy for L2 {
    fn name(&self) -> &'static str {
        "l2"
    }

    /// At the first law's price.
    fn of_continuity(&self) -> Box<dyn Strategy> {
        Box::new(Self { mu: vec![self.mu.first().copied().unwrap_or(1.0)] })
    }

    fn weights(&self, _: &mut State, _: &MisfitView, _: usize, weights: &mut [f64]) {
        fixed(&self.mu, weights);
    }

    fn value(&self, view: &MisfitView, weights: &[f64], slopes: &mut Slopes) -> Value {
        let fit = view.fit();
        slopes.terms.fill(1.0 / view.terms.len() as f64);
        let mut value = fit;
        for (k, (law, mu)) in view.laws.iter().zip(weights).enumerate() {
            let violations = view.of(k);
            value += mu * mean(violations.iter().map(|v| v * v));
            let slopes = &mut slopes.violations[law.start..][..law.len];
            for (slope, v) in slopes.iter_mut().zip(violations) {
                *slope = mu * 2.0 * v / law.len as f64;
            }
        }
        Value { value, fit, violation: view.violation() }
    }
}
