//! Two stages: first the laws, then the fit among points that obey them.

use super::{
    Judgement, LawRows, ListedStrategy, MisfitView, Slopes, State, Strategy, Value,
    penalty::{self, Power},
};
use crate::number::exact;
use crate::settings::{Access, Key, LARGEST, Range, Settings};
use crate::train::Restore;

/// ```text
/// stage 1   φ = Σ_k (1/N) Σ_n v²    until P ≤ tolerance, at most `first-stage` iterations
/// stage 2   φ = l(θ)                a trial is accepted if P ≤ tolerance and l is lower
/// ```
///
/// with the total violation `P = Σ_k (1/N) Σ_n v` (Coelho, Costa and Ferrás, *A two-stage training
/// method for modeling constrained systems with neural networks*, 2024). Training returns from every
/// rejected trial to the last accepted point, of which it keeps a copy; after 20 in a row the step is
/// halved. If stage 1 ends by its number of iterations, the violation that it has reached replaces the
/// tolerance.
///
/// | setting | default | range | purpose |
/// |---|---|---|---|
/// | `tolerance` | 1e-4 | ≥ 0 | total violation up to which a point is feasible |
/// | `first-stage` | 1000 | ≥ 1 | most iterations of stage 1 |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoStage {
    /// Total violation up to which a point is feasible.
    pub tolerance: f64,
    /// Most iterations of stage 1.
    pub first_stage: usize,
}

impl Default for TwoStage {
    fn default() -> Self {
        Self { tolerance: 1e-4, first_stage: 1000 }
    }
}

/// The memory: iterations of stage 1, the largest violation of stage 2 (infinite in stage 1), and the
/// fit of the last accepted point.
const SIZE: usize = 3;
const ITERATIONS: usize = 0;
const BOUND: usize = 1;
const FIT: usize = 2;

impl TwoStage {
    fn is_second(state: &State) -> bool {
        state.numbers[BOUND].is_finite()
    }
}

impl Settings for TwoStage {
    const NAME: &'static str = "two-stage";
    const HELP: &'static str = "first the violations alone, then the fit among feasible points";
    const KEYS: &'static [Key<Self>] = &[
        Key {
            name: "tolerance",
            help: "total violation up to which a point is feasible",
            access: Access::Number(Range::NotNegative, |own| &mut own.tolerance),
        },
        Key {
            name: "first-stage",
            help: "most iterations of the first stage",
            access: Access::Count(LARGEST, |own| &mut own.first_stage),
        },
    ];
}

impl ListedStrategy for TwoStage {
    fn build(&self) -> Box<dyn Strategy> {
        Box::new(*self)
    }

    fn is_smooth(&self) -> bool {
        false
    }

    fn squares_violations(&self) -> bool {
        true
    }

    /// Fits of different batches cannot be compared.
    fn takes_windows(&self) -> bool {
        false
    }

    fn tolerance(&self) -> Option<f64> {
        Some(self.tolerance)
    }

    fn best_point(&self) -> Option<Restore> {
        Some(Restore { backtrack: true, ..Restore::default() })
    }

    fn details(&self) -> String {
        let Self { tolerance, first_stage } = self;
        format!(", tolerance {}, at most {first_stage} iterations first", exact(*tolerance))
    }
}

impl Strategy for TwoStage {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn start(&self, laws: &[LawRows]) -> State {
        let mut numbers = vec![0.0; SIZE];
        // Without laws there is nothing to do in stage 1.
        numbers[BOUND] = if laws.is_empty() { self.tolerance } else { f64::INFINITY };
        numbers[FIT] = f64::INFINITY;
        State { numbers }
    }

    /// The fit of another phase's objective, on other segments, is not comparable.
    fn new_phase(&self, state: &mut State, _: &[LawRows]) {
        state.numbers[FIT] = f64::INFINITY;
    }

    /// 1 in stage 1, 0 in stage 2.
    fn weights(&self, state: &mut State, _: &MisfitView, _: usize, weights: &mut [f64]) {
        weights.fill(if Self::is_second(state) { 0.0 } else { 1.0 });
    }

    fn judges(&self) -> bool {
        true
    }

    fn judge(&self, state: &mut State, _: &MisfitView, value: &Value) -> Judgement {
        let numbers = &mut state.numbers;
        if numbers[BOUND].is_infinite() {
            numbers[ITERATIONS] += 1.0;
            let over = numbers[ITERATIONS] >= self.first_stage as f64;
            if value.violation <= self.tolerance || over {
                numbers[BOUND] = value.violation.max(self.tolerance);
                numbers[FIT] = value.fit;
            }
            return Judgement::Accepted;
        }
        if value.violation <= numbers[BOUND] && value.fit < numbers[FIT] {
            numbers[FIT] = value.fit;
            return Judgement::Accepted;
        }
        Judgement::Rejected
    }

    fn value(
        &self,
        state: &State,
        view: &MisfitView,
        weights: &[f64],
        slopes: &mut Slopes,
    ) -> Value {
        let share = if Self::is_second(state) { 1.0 } else { 0.0 };
        let fit = penalty::fit(view, share, slopes);
        let value = share * fit + penalty::add(view, Power::Squared, weights, slopes);
        Value { value, fit, violation: view.violation() }
    }
}
