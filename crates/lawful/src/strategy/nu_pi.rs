//! `νPI`: multipliers that a proportional–integral controller moves at every point.

use super::{LawRows, ListedStrategy, MisfitView, Slopes, State, Strategy, Value, penalty};
use crate::Relation;
use crate::number::exact;
use crate::settings::{Access, Key, Range, Settings};

/// The Lagrangian, with a multiplier λ and a smoothed residual ξ for each law and point; `e` is the
/// residual in units of the law, of inequalities with their margin:
///
/// ```text
/// φ = l(θ) + Σ_k (1/N) Σ_n λ e
/// ξ ← ν ξ + (1 − ν) e                      after every evaluation
/// λ ← λ + η (K_I e + K_P Δξ)               its positive part for inequalities
/// ```
///
/// (Sohrabi, Ramirez, Zhang, Lacoste-Julien and Gallego-Posada, *On PI controllers for updating
/// Lagrange multipliers in constrained optimization*, 2024.) With `K_P = 0` this is gradient ascent in
/// the multipliers, which oscillates; the proportional term damps it. Multipliers move with every
/// evaluation, so that line searches (L-BFGS) have no function to search on.
///
/// | setting | default | range | purpose |
/// |---|---|---|---|
/// | `eta` | 0.1 | > 0 | rate of the multipliers |
/// | `nu` | 0 | 0 ≤ ν < 1 | smoothing of residuals |
/// | `ki` | 1 | > 0 | integral gain |
/// | `kp` | 10 | ≥ 0 | proportional gain |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NuPi {
    /// Rate of the multipliers.
    pub eta: f64,
    /// Smoothing of residuals.
    pub nu: f64,
    /// Integral gain.
    pub ki: f64,
    /// Proportional gain.
    pub kp: f64,
}

impl Default for NuPi {
    fn default() -> Self {
        Self { eta: 0.1, nu: 0.0, ki: 1.0, kp: 10.0 }
    }
}

/// Returns `c`, with the margin for inequalities.
fn error(relation: Relation, c: f64, margin: f64) -> f64 {
    match relation {
        Relation::Equality => c,
        Relation::AtMost => c + margin,
    }
}

impl Settings for NuPi {
    const NAME: &'static str = "nu-pi";
    const HELP: &'static str =
        "a multiplier for each law and point, moved by a proportional–integral controller";
    const KEYS: &'static [Key<Self>] = &[
        Key {
            name: "eta",
            help: "rate of the multipliers",
            access: Access::Number(Range::Positive, |own| &mut own.eta),
        },
        Key {
            name: "nu",
            help: "smoothing of residuals, 0 for none",
            access: Access::Number(Range::BelowOne, |own| &mut own.nu),
        },
        Key {
            name: "ki",
            help: "integral gain",
            access: Access::Number(Range::Positive, |own| &mut own.ki),
        },
        Key {
            name: "kp",
            help: "proportional gain",
            access: Access::Number(Range::NotNegative, |own| &mut own.kp),
        },
    ];
}

impl ListedStrategy for NuPi {
    fn build(&self) -> Box<dyn Strategy> {
        Box::new(*self)
    }

    /// The objective changes with every evaluation.
    fn is_smooth(&self) -> bool {
        false
    }

    fn takes_windows(&self) -> bool {
        false
    }

    fn takes_line_searches(&self) -> bool {
        false
    }

    fn details(&self) -> String {
        let Self { eta, nu, ki, kp } = self;
        let [eta, nu, ki, kp] = [eta, nu, ki, kp].map(|number| exact(*number));
        format!(", eta {eta}, nu {nu}, gains {ki} and {kp}")
    }
}

impl Strategy for NuPi {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    /// Multipliers and smoothed residuals of 0.
    fn start(&self, laws: &[LawRows]) -> State {
        State { numbers: vec![0.0; 2 * LawRows::state_len(laws)] }
    }

    fn new_point(&self, state: &mut State, view: &MisfitView) {
        let half = state.numbers.len() / 2;
        let (lambdas, smoothed) = state.numbers.split_at_mut(half);
        for (k, law) in view.laws.iter().enumerate() {
            let own = LawRows::state_range(view.laws, k);
            let (lambdas, smoothed) = (&mut lambdas[own.clone()], &mut smoothed[own]);
            for (&point, &c) in view.points_of(k).iter().zip(view.residuals_of(k)) {
                let e = error(law.relation, c, view.margin);
                let change = (1.0 - self.nu) * (e - smoothed[point]);
                smoothed[point] += change;
                let lambda = lambdas[point] + self.eta * (self.ki * e + self.kp * change);
                lambdas[point] = match law.relation {
                    Relation::Equality => lambda,
                    Relation::AtMost => lambda.max(0.0),
                };
            }
        }
    }

    /// The mean size of the multipliers of each law.
    fn weights(&self, state: &mut State, view: &MisfitView, _: usize, weights: &mut [f64]) {
        for (k, weight) in weights.iter_mut().enumerate() {
            let own = &state.numbers[LawRows::state_range(view.laws, k)];
            *weight = super::mean(own.iter().map(|lambda| lambda.abs()));
        }
    }

    fn value(&self, state: &State, view: &MisfitView, _: &[f64], slopes: &mut Slopes) -> Value {
        let fit = penalty::fit(view, 1.0, slopes);
        let mut value = fit;
        for (k, law) in view.laws.iter().enumerate() {
            let lambda = &state.numbers[LawRows::state_range(view.laws, k)];
            let slopes = &mut slopes.residuals[law.start..][..law.len];
            let rows = view.points_of(k).iter().zip(view.residuals_of(k));
            let (n, mut sum) = (law.len as f64, 0.0);
            for (slope, (&point, &c)) in slopes.iter_mut().zip(rows) {
                *slope = lambda[point] / n;
                sum += lambda[point] * error(law.relation, c, view.margin);
            }
            if law.len > 0 {
                value += sum / n;
            }
        }
        Value { value, fit, violation: view.violation() }
    }
}
