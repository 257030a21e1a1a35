//! The self-adaptive penalty, equations (4) to (9): the paper's contribution.

use super::{Leftover, Slopes, State, Strategy, Value, mean};
use crate::Relation;

/// Weights follow the share of time steps that violate a law, and everything is brought to `[0, 1)`
/// by `ψ`, so that nothing needs tuning.
///
/// ```text
/// ψ(x) = 1 − 1/(1 + x)                                             (4)
/// F    = ψ(l(θ))                                                   (5)
/// P_k  = (1/N) Σ_n ψ(v_n^k)                                        (6), (7)
/// μ_k  = #{n : v_n^k ≠ 0} / N                                      (8)
/// φ    = F                                        if Σ_k P_k ≤ tol
/// φ    = F + (1/#E) Σ_{E} μ_i P_i + (1/#I) Σ_{I} μ_j P_j  otherwise (9)
/// ```
///
/// | setting | default | range | purpose |
/// |---|---|---|---|
/// | `tolerance` | 1e-4 | ≥ 0 | a total violation up to this counts as feasible: only the fit counts |
/// | `count_above` | 0 | ≥ 0 | violation above which a step counts for μ |
/// | `normalise` | mean | | whether ψ is taken of the mean or of each element of the loss |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SelfAdaptive {
    /// Total violation `Σ_k P_k` up to which a point is feasible.
    pub tolerance: f64,
    /// A step counts for μ when its violation is larger than this.
    pub count_above: f64,
    /// Where ψ enters the fit.
    pub normalise: Normalise,
}

/// Where `ψ` enters the fit of [`SelfAdaptive`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Normalise {
    /// `F = ψ(mean of the terms)`, equation (5).
    #[default]
    Mean,
    /// `F = mean of ψ(term)`, as in the authors' public scripts.
    Elementwise,
}

impl Normalise {
    /// The words of `normalise` in an experiment file.
    pub const NAMES: [(&'static str, Self); 2] =
        [("mean", Self::Mean), ("elementwise", Self::Elementwise)];
}

impl Default for SelfAdaptive {
    fn default() -> Self {
        Self { tolerance: 1e-4, count_above: 0.0, normalise: Normalise::Mean }
    }
}

/// `ψ(x) = 1 − 1/(1 + x)` on `x ≥ 0`, equation (4), in the form that keeps small `x` exact.
fn psi(x: f64) -> f64 {
    if x.is_infinite() { 1.0 } else { x / (1.0 + x) }
}

/// `ψ′(x) = 1/(1 + x)²`.
fn psi_slope(x: f64) -> f64 {
    1.0 / ((1.0 + x) * (1.0 + x))
}

impl SelfAdaptive {
    /// `P_k` of law `k`, equations (6) and (7).
    fn penalty(leftover: &Leftover, k: usize) -> f64 {
        mean(leftover.of(k).iter().map(|&v| psi(v)))
    }

    /// `P_θ = Σ_k P_k`.
    fn total(leftover: &Leftover) -> f64 {
        (0..leftover.laws.len()).map(|k| Self::penalty(leftover, k)).sum()
    }
}

impl Strategy for SelfAdaptive {
    fn name(&self) -> &'static str {
        "self-adaptive"
    }

    /// `μ_k`, equation (8); all zero at a feasible point, which is the first case of (9).
    fn weights(&self, _: &mut State, leftover: &Leftover, _: usize, weights: &mut [f64]) {
        if Self::total(leftover) <= self.tolerance {
            weights.fill(0.0);
            return;
        }
        for (k, weight) in weights.iter_mut().enumerate() {
            let counts = leftover.of(k).iter().map(|&v| f64::from(u8::from(v > self.count_above)));
            *weight = mean(counts);
        }
    }

    fn value(&self, leftover: &Leftover, weights: &[f64], slopes: &mut Slopes) -> Value {
        let n = leftover.terms.len() as f64;
        let fit = match self.normalise {
            Normalise::Mean => {
                let l = leftover.fit();
                slopes.terms.fill(psi_slope(l) / n);
                psi(l)
            }
            Normalise::Elementwise => {
                for (slope, &term) in slopes.terms.iter_mut().zip(leftover.terms) {
                    *slope = psi_slope(term) / n;
                }
                mean(leftover.terms.iter().map(|&term| psi(term)))
            }
        };
        let (equalities, inequalities) =
            (leftover.count(Relation::Equality), leftover.count(Relation::AtMost));
        let mut value = fit;
        for (k, (law, mu)) in leftover.laws.iter().zip(weights).enumerate() {
            let set = match law.relation {
                Relation::Equality => equalities,
                Relation::AtMost => inequalities,
            };
            let share = mu / set as f64;
            value += share * Self::penalty(leftover, k);
            let slopes = &mut slopes.violations[law.start..][..law.len];
            for (slope, &v) in slopes.iter_mut().zip(leftover.of(k)) {
                *slope = share * psi_slope(v) / law.len as f64;
            }
        }
        Value { value, fit, violation: Self::total(leftover) }
    }
}
