//! The quadratic penalty with fixed μ.

use super::l1::{check, details, fixed};
use super::list::of_penalised;
use super::{
    LawRows, ListedStrategy, MisfitView, Slopes, State, Strategy, StrategyError, StrategyKind,
    Value, mean,
};
use crate::settings::{Access, Key, Range, Settings};

/// `φ = l(θ) + Σ_k μ_k (1/N) Σ_n (v_n^k)²`.
///
/// | setting | default | range | purpose |
/// |---|---|---|---|
/// | `mu` | 1 | ≥ 0, one per law | weight of one unit of mean squared violation |
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

impl Settings for L2 {
    const NAME: &'static str = "l2";
    const HELP: &'static str = "fit + mu × mean squared violation, with fixed mu";
    const KEYS: &'static [Key<Self>] = &[Key {
        name: "mu",
        help: "weight of squared violations, one number or a list with one per `[[law]]`",
        access: Access::PerLaw(Range::NotNegative, |l2| &mut l2.mu),
    }];
}

impl ListedStrategy for L2 {
    fn build(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }

    fn is_smooth(&self) -> bool {
        true
    }

    fn squares_violations(&self) -> bool {
        true
    }

    fn for_laws(&self, penalised: &[bool]) -> Option<StrategyKind> {
        Some(Self { mu: of_penalised(&self.mu, penalised)? }.into())
    }

    fn details(&self) -> String {
        details(&self.mu)
    }
}

impl Strategy for L2 {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    /// The same penalty with the first law's weight.
    fn of_continuity(&self) -> Box<dyn Strategy> {
        Box::new(Self { mu: vec![self.mu.first().copied().unwrap_or(1.0)] })
    }

    fn check(&self, laws: &[LawRows]) -> Result<(), StrategyError> {
        check(Self::NAME, &self.mu, laws)
    }

    fn weights(&self, _: &mut State, _: &MisfitView, _: usize, weights: &mut [f64]) {
        fixed(&self.mu, weights);
    }

    fn value(&self, _: &State, view: &MisfitView, weights: &[f64], slopes: &mut Slopes) -> Value {
        let fit = view.fit();
        slopes.terms.fill(1.0 / view.terms.len() as f64);
        let mut value = fit;
        for (k, (law, mu)) in view.laws.iter().zip(weights).enumerate() {
            let violations = view.violations_of(k);
            value += mu * mean(violations.iter().map(|v| v * v));
            let slopes = &mut slopes.residuals[law.start..][..law.len];
            for (n, (slope, v)) in slopes.iter_mut().zip(violations).enumerate() {
                *slope = mu * 2.0 * v / law.len as f64 * view.violation_slope(k, n);
            }
        }
        Value { value, fit, violation: view.violation() }
    }
}
