//! The exact penalty with fixed μ, equation (2).

use super::{MisfitView, Slopes, State, Strategy, Value, mean};

/// `φ = l(θ) + Σ_k μ_k (1/N) Σ_n v_n^k`, equation (2) of the paper.
///
/// | setting | default | range | purpose |
/// |---|---|---|---|
/// | `mu` | 1 | ≥ 0, one per law | price of one unit of mean violation |
#[derive(Debug, Clone, PartialEq)]
pub struct L1 {
    /// One weight per law, or a single one for all.
    pub mu: Vec<f64>,
}

impl Default for L1 {
    fn default() -> Self {
        Self { mu: vec![1.0] }
    }
}

impl Strategy for L1 {
    fn name(&self) -> &'static str {
        "l1"
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
            value += mu * mean(view.of(k).iter().copied());
            slopes.violations[law.start..][..law.len].fill(mu / law.len as f64);
        }
        Value { value, fit, violation: view.violation() }
    }
}

/// Copies μ to every law: one number for all, or one per law.
pub(super) fn fixed(mu: &[f64], weights: &mut [f64]) {
    match mu {
        [all] => weights.fill(*all),
        each => {
            assert_eq!(each.len(), weights.len(), "one μ for all laws, or one per law");
            weights.copy_from_slice(each);
        }
    }
}
