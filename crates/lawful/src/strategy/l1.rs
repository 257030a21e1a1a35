//! The exact penalty with fixed μ, equation (2).

use super::list::of_penalised;
use super::{
    LawRows, ListedStrategy, MisfitView, Slopes, State, Strategy, StrategyError, StrategyKind,
    Value, mean,
};
use crate::settings::{Access, Key, Range, Settings};

/// `φ = l(θ) + Σ_k μ_k (1/N) Σ_n v_n^k`, equation (2) of the paper.
///
/// | setting | default | range | purpose |
/// |---|---|---|---|
/// | `mu` | 1 | ≥ 0, one per law | weight of one unit of mean violation |
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

impl Settings for L1 {
    const NAME: &'static str = "l1";
    const HELP: &'static str = "fit + mu × mean violation, with fixed mu";
    const KEYS: &'static [Key<Self>] = &[Key {
        name: "mu",
        help: "weight of violations, one number or a list with one per `[[law]]`",
        access: Access::PerLaw(Range::NotNegative, |l1| &mut l1.mu),
    }];
}

impl ListedStrategy for L1 {
    fn build(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }

    fn is_smooth(&self) -> bool {
        false
    }

    fn for_laws(&self, penalised: &[bool]) -> Option<StrategyKind> {
        Some(Self { mu: of_penalised(&self.mu, penalised)? }.into())
    }

    fn details(&self) -> String {
        details(&self.mu)
    }
}

impl Strategy for L1 {
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
            value += mu * mean(view.violations_of(k).iter().copied());
            let slopes = &mut slopes.residuals[law.start..][..law.len];
            for (n, slope) in slopes.iter_mut().enumerate() {
                *slope = mu / law.len as f64 * view.violation_slope(k, n);
            }
        }
        Value { value, fit, violation: view.violation() }
    }
}

/// Checks that there is one number for all laws, or one per law.
pub(super) fn check(
    strategy: &'static str,
    mu: &[f64],
    laws: &[LawRows],
) -> Result<(), StrategyError> {
    if mu.len() == 1 || mu.len() == laws.len() {
        return Ok(());
    }
    Err(StrategyError::per_law(strategy, "mu", mu.len(), laws.len()))
}

/// Copies μ to every law: one number for all, or one per law.
pub(super) fn fixed(mu: &[f64], weights: &mut [f64]) {
    match mu {
        [all] => weights.fill(*all),
        each => weights.copy_from_slice(each),
    }
}

/// `, mu 1, 10`.
pub(super) fn details(mu: &[f64]) -> String {
    let numbers: Vec<String> = mu.iter().map(|&mu| crate::number::exact(mu)).collect();
    format!(", mu {}", numbers.join(", "))
}
