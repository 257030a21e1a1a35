//! Weighted sums of violations, which several strategies share.

use super::{MisfitView, Slopes, mean};

/// Whether violations enter squared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Power {
    /// `v²`, without a kink where a law begins to hold.
    #[default]
    Squared,
    /// `v`.
    Absolute,
}

impl Power {
    /// The words of `power` in an experiment file.
    pub const NAMES: [(&'static str, Self); 2] =
        [("squared", Self::Squared), ("absolute", Self::Absolute)];
}

/// Writes the slopes of `weight · l(θ)`, and returns `l(θ)`.
pub(super) fn fit(view: &MisfitView, weight: f64, slopes: &mut Slopes) -> f64 {
    slopes.terms.fill(weight / view.terms.len() as f64);
    view.fit()
}

/// Returns the penalty of law `k`, `(1/N) Σ_n v` or `(1/N) Σ_n v²`.
pub(super) fn of_law(view: &MisfitView, power: Power, k: usize) -> f64 {
    let violations = view.violations_of(k).iter();
    match power {
        Power::Squared => mean(violations.map(|v| v * v)),
        Power::Absolute => mean(violations.copied()),
    }
}

/// Returns `weight · penalty` of law `k`, and writes its slopes.
pub(super) fn add_one(
    view: &MisfitView,
    power: Power,
    k: usize,
    weight: f64,
    slopes: &mut Slopes,
) -> f64 {
    let law = &view.laws[k];
    let share = weight / law.len as f64;
    let slopes = &mut slopes.residuals[law.start..][..law.len];
    for (row, (slope, v)) in slopes.iter_mut().zip(view.violations_of(k)).enumerate() {
        let by_violation = match power {
            Power::Squared => 2.0 * v,
            Power::Absolute => 1.0,
        };
        *slope = share * by_violation * view.violation_slope(k, row);
    }
    weight * of_law(view, power, k)
}

/// Returns `Σ_k weight_k · penalty_k`, and writes its slopes.
pub(super) fn add(view: &MisfitView, power: Power, weights: &[f64], slopes: &mut Slopes) -> f64 {
    let terms = weights.iter().enumerate();
    terms.map(|(k, weight)| add_one(view, power, k, *weight, slopes)).sum()
}
