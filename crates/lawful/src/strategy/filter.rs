//! The filter: a trial is acceptable if no earlier point was better in both fit and violation.

use super::{
    Judgement, LawRows, ListedStrategy, MisfitView, Slopes, State, Strategy, Value,
    penalty::{self, Power},
};
use crate::settings::{Access, Key, Range, Settings};
use crate::train::Restore;

/// The filter is a set of pairs `(F_j, P_j)` of fit and total violation. With `F = l(θ)` and
/// `P = Σ_k (1/N) Σ_n v`, a trial is acceptable if for every pair
///
/// ```text
/// P < (1 − γ) P_j    or    F < F_j − γ P_j
/// ```
///
/// (Fletcher and Leyffer, Mathematical Programming 91, 2002, 239–269.) Its pair joins the filter, and
/// pairs that are worse in both leave it. Training minimises `φ = F`; it returns from a trial that is
/// not acceptable to the last accepted point, of which it keeps a copy, and restores feasibility from
/// there: it minimises `φ = Σ_k (1/N) Σ_n v²` until a trial is acceptable, or begins again at the
/// accepted point after 25 trials. No weight is needed.
///
/// | setting | default | range | purpose |
/// |---|---|---|---|
/// | `gamma` | 1e-5 | 0 ≤ γ < 1 | decrease that is required |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Filter {
    /// Decrease that is required, as a share of the violation.
    pub gamma: f64,
}

impl Default for Filter {
    fn default() -> Self {
        Self { gamma: 1e-5 }
    }
}

/// Largest number of pairs: beyond it, that with the largest violation leaves the filter.
const PAIRS: usize = 100;
/// Trials of one restoration.
const TRIALS: f64 = 25.0;
/// A point with a total violation up to this needs no restoration.
const FEASIBLE: f64 = 1e-12;

/// The memory: trials of the current restoration (NaN outside of one), the violation of the accepted
/// point, and the pairs; unused ones are infinite.
const RESTORATION: usize = 0;
const ACCEPTED: usize = 1;
const FIRST: usize = 2;

impl Filter {
    fn is_acceptable(self, pairs: &[f64], fit: f64, violation: f64) -> bool {
        pairs.chunks_exact(2).all(|pair| {
            violation < (1.0 - self.gamma) * pair[1] || fit < pair[0] - self.gamma * pair[1]
        })
    }
}

/// Adds a pair, and removes those that it dominates.
fn add(pairs: &mut [f64], fit: f64, violation: f64) {
    for pair in pairs.chunks_exact_mut(2) {
        if pair[0] >= fit && pair[1] >= violation {
            pair.fill(f64::INFINITY);
        }
    }
    let place = (pairs.chunks_exact(2).enumerate())
        .max_by(|(_, a), (_, b)| a[1].total_cmp(&b[1]))
        .map_or(0, |(n, _)| n);
    pairs[2 * place..][..2].copy_from_slice(&[fit, violation]);
}

impl Settings for Filter {
    const NAME: &'static str = "filter";
    const HELP: &'static str =
        "the fit; trials that are worse than an earlier point in fit and violation are rejected";
    const KEYS: &'static [Key<Self>] = &[Key {
        name: "gamma",
        help: "decrease that an acceptable trial needs, as a share of the violation",
        access: Access::Number(Range::BelowOne, |own| &mut own.gamma),
    }];
}

impl ListedStrategy for Filter {
    fn build(&self) -> Box<dyn Strategy> {
        Box::new(*self)
    }

    fn is_smooth(&self) -> bool {
        false
    }

    fn squares_violations(&self) -> bool {
        true
    }

    /// Fits and violations of different batches cannot be compared.
    fn takes_windows(&self) -> bool {
        false
    }

    fn best_point(&self) -> Option<Restore> {
        Some(Restore { backtrack: true, ..Restore::default() })
    }
}

impl Strategy for Filter {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    /// An empty filter.
    fn start(&self, _: &[LawRows]) -> State {
        let mut numbers = vec![f64::INFINITY; FIRST + 2 * PAIRS];
        numbers[RESTORATION] = f64::NAN;
        State { numbers }
    }

    /// Fits and violations on other segments are not comparable.
    fn new_phase(&self, state: &mut State, laws: &[LawRows]) {
        *state = self.start(laws);
    }

    /// 1 in a restoration, otherwise 0.
    fn weights(&self, state: &mut State, _: &MisfitView, _: usize, weights: &mut [f64]) {
        weights.fill(if state.numbers[RESTORATION].is_nan() { 0.0 } else { 1.0 });
    }

    fn judges(&self) -> bool {
        true
    }

    fn judge(&self, state: &mut State, _: &MisfitView, value: &Value) -> Judgement {
        let (head, pairs) = state.numbers.split_at_mut(FIRST);
        let (fit, violation) = (value.fit, value.violation);
        if self.is_acceptable(pairs, fit, violation) {
            add(pairs, fit, violation);
            head[RESTORATION] = f64::NAN;
            head[ACCEPTED] = violation;
            return Judgement::Accepted;
        }
        let trials = head[RESTORATION];
        if trials.is_nan() {
            // Where the accepted point is feasible, a shorter step is the only remedy.
            head[RESTORATION] = if head[ACCEPTED] <= FEASIBLE { f64::NAN } else { 0.0 };
            Judgement::Rejected
        } else if trials + 1.0 < TRIALS {
            head[RESTORATION] = trials + 1.0;
            Judgement::Pending
        } else {
            head[RESTORATION] = f64::NAN;
            Judgement::Rejected
        }
    }

    fn value(
        &self,
        state: &State,
        view: &MisfitView,
        weights: &[f64],
        slopes: &mut Slopes,
    ) -> Value {
        let share = if state.numbers[RESTORATION].is_nan() { 1.0 } else { 0.0 };
        let fit = penalty::fit(view, share, slopes);
        let value = share * fit + penalty::add(view, Power::Squared, weights, slopes);
        Value { value, fit, violation: view.violation() }
    }
}
