//! The augmented Lagrangian: one multiplier per law and point.

use super::{
    LawRows, ListedStrategy, MisfitView, ObjectiveChange, Slopes, State, Strategy, StrategyError,
    Value, mean,
};
use crate::Relation;
use crate::number::exact;
use crate::settings::{Access, Key, LARGEST, Range, Settings};

/// With the N residuals `c` of a law in units of its size, a multiplier λ for each of them and the
/// law's penalty ρ:
///
/// ```text
/// φ = l(θ) + Σ_k (1/N) Σ_n λc + ½ρc²                   equalities
///            Σ_k (1/N) Σ_n ([λ + ρc]⁺² − λ²)/2ρ        inequalities
/// λ ← λ + ρc, its positive part for inequalities       after every round
/// ρ ← 4ρ where Σ v² > Σ v₋²/16, v₋ of the round before, at most `rho-max`
/// ```
///
/// (Hestenes, Journal of Optimization Theory and Applications 4, 1969, 303–320; Rockafellar 1973;
/// Nocedal and Wright, Numerical Optimization, chapter 17.) Where θ minimises φ and the laws hold, the
/// slope of φ is that of the fit under constraints, whatever ρ is: laws are kept by as many digits as
/// rounds allow, and ρ need not grow without bound. `c` of an inequality includes the margin.
///
/// A round is `round` iterations, or fewer if the optimiser finds nothing to lower before. L-BFGS drops
/// its memory after each: on four simulated systems with noise, 3 seeds each, fits were up to 20 times
/// closer than with a memory that survives rounds; without noise there was no difference.
///
/// | setting | default | range | purpose |
/// |---|---|---|---|
/// | `rho` | 10 | > 0 | ρ of each law at the start |
/// | `rho-growth` | 4 | ≥ 1 | factor of ρ where a round has not reduced a violation to a quarter |
/// | `rho-max` | 1e4 | ≥ `rho` | largest ρ |
/// | `round` | 300 | ≥ 1 | iterations between updates of the multipliers |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AugmentedLagrangian {
    /// Penalty ρ of each law at the start.
    pub rho: f64,
    /// Factor of ρ where a round has not reduced a violation enough.
    pub rho_growth: f64,
    /// Largest penalty.
    pub rho_max: f64,
    /// Iterations of a round.
    pub round: usize,
}

impl Default for AugmentedLagrangian {
    fn default() -> Self {
        Self { rho: 10.0, rho_growth: 4.0, rho_max: 1e4, round: 300 }
    }
}

impl AugmentedLagrangian {
    /// A round that reduces a violation to this share leaves ρ as it is.
    const ENOUGH: f64 = 0.25;
    /// A change of a multiplier up to this is none, and a violation up to this needs no larger ρ.
    const SETTLED: f64 = 1e-12;

    /// Returns `λ + ρc`, its positive part for inequalities, where `c` includes the margin.
    fn shifted(relation: Relation, lambda: f64, rho: f64, c: f64) -> f64 {
        let shifted = lambda + rho * c;
        match relation {
            // Not `f64::max`, which would return 0 for NaN.
            Relation::AtMost if shifted <= 0.0 => 0.0,
            Relation::Equality | Relation::AtMost => shifted,
        }
    }
}

/// Returns `c`, with the margin for inequalities.
fn tightened(relation: Relation, c: f64, margin: f64) -> f64 {
    match relation {
        Relation::Equality => c,
        Relation::AtMost => c + margin,
    }
}

/// The memory: the multipliers of all points, ρ of each law, and its violation after the last round
/// (root mean square; infinite before the first).
struct Memory<'a> {
    lambda: &'a mut [f64],
    rho: &'a mut [f64],
    violation: &'a mut [f64],
}

impl<'a> Memory<'a> {
    fn of(numbers: &'a mut [f64], laws: &[LawRows]) -> Self {
        let (lambda, rest) = numbers.split_at_mut(LawRows::state_len(laws));
        let (rho, violation) = rest.split_at_mut(laws.len());
        Self { lambda, rho, violation }
    }
}

/// Returns the penalties ρ of a state.
fn penalties<'a>(state: &'a State, laws: &[LawRows]) -> &'a [f64] {
    &state.numbers[LawRows::state_len(laws)..][..laws.len()]
}

impl Settings for AugmentedLagrangian {
    const NAME: &'static str = "augmented-lagrangian";
    const HELP: &'static str =
        "a multiplier for each law and point, updated in rounds: laws are kept by many digits";
    const KEYS: &'static [Key<Self>] = &[
        Key {
            name: "rho",
            help: "penalty of squared residuals at the start",
            access: Access::Number(Range::Positive, |own| &mut own.rho),
        },
        Key {
            name: "rho-growth",
            help: "factor of the penalty where a round has not reduced a violation to a quarter",
            access: Access::Number(Range::AtLeastOne, |own| &mut own.rho_growth),
        },
        Key {
            name: "rho-max",
            help: "largest penalty",
            access: Access::Number(Range::Positive, |own| &mut own.rho_max),
        },
        Key {
            name: "round",
            help: "multipliers are updated every `round` iterations",
            access: Access::Count(LARGEST, |own| &mut own.round),
        },
    ];
}

impl ListedStrategy for AugmentedLagrangian {
    fn build(&self) -> Box<dyn Strategy> {
        Box::new(*self)
    }

    /// Slopes are continuous, and kinks of them are where an inequality becomes active.
    fn is_smooth(&self) -> bool {
        true
    }

    fn squares_violations(&self) -> bool {
        true
    }

    fn takes_windows(&self) -> bool {
        false
    }

    fn details(&self) -> String {
        let Self { rho, rho_max, round, .. } = self;
        format!(", rho {} to {}, rounds of {round} iterations", exact(*rho), exact(*rho_max))
    }
}

impl Strategy for AugmentedLagrangian {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    /// Continuity has multipliers of its own.
    fn of_continuity(&self) -> Box<dyn Strategy> {
        Box::new(*self)
    }

    fn check(&self, _: &[LawRows]) -> Result<(), StrategyError> {
        if self.rho_max >= self.rho {
            return Ok(());
        }
        let [least, most] = [self.rho, self.rho_max].map(exact);
        let reason = format!("has `rho-max` {most}, which is below `rho` {least}");
        Err(StrategyError { strategy: Self::NAME, reason })
    }

    /// Multipliers of 0.
    fn start(&self, laws: &[LawRows]) -> State {
        let mut numbers = vec![0.0; LawRows::state_len(laws)];
        numbers.extend(std::iter::repeat_n(self.rho, laws.len()));
        numbers.extend(std::iter::repeat_n(f64::INFINITY, laws.len()));
        State { numbers }
    }

    /// Multipliers and penalties continue. The violations of other segments cannot be compared.
    fn new_phase(&self, state: &mut State, laws: &[LawRows]) {
        Memory::of(&mut state.numbers, laws).violation.fill(f64::INFINITY);
    }

    fn outer_every(&self) -> Option<usize> {
        Some(self.round)
    }

    fn outer_step(&self, state: &mut State, view: &MisfitView) -> ObjectiveChange {
        let mut change = ObjectiveChange::Unchanged;
        let memory = Memory::of(&mut state.numbers, view.laws);
        for (k, law) in view.laws.iter().enumerate() {
            let lambda = &mut memory.lambda[LawRows::state_range(view.laws, k)];
            let rho = &mut memory.rho[k];
            for (&point, &c) in view.points_of(k).iter().zip(view.residuals_of(k)) {
                let c = tightened(law.relation, c, view.margin);
                let new = Self::shifted(law.relation, lambda[point], *rho, c);
                if (new - lambda[point]).abs() > Self::SETTLED {
                    change = ObjectiveChange::Substantial;
                    lambda[point] = new;
                }
            }
            let now = mean(view.violations_of(k).iter().map(|v| v * v)).sqrt();
            let before = std::mem::replace(&mut memory.violation[k], now);
            let grown = (self.rho_growth * *rho).min(self.rho_max);
            if now > Self::SETTLED && now > Self::ENOUGH * before && grown > *rho {
                *rho = grown;
                change = ObjectiveChange::Substantial;
            }
        }
        change
    }

    /// ρ of each law.
    fn weights(&self, state: &mut State, view: &MisfitView, _: usize, weights: &mut [f64]) {
        weights.copy_from_slice(penalties(state, view.laws));
    }

    fn value(&self, state: &State, view: &MisfitView, _: &[f64], slopes: &mut Slopes) -> Value {
        let fit = view.fit();
        slopes.terms.fill(1.0 / view.terms.len() as f64);
        let mut value = fit;
        for (k, (law, &rho)) in view.laws.iter().zip(penalties(state, view.laws)).enumerate() {
            let lambda = &state.numbers[LawRows::state_range(view.laws, k)];
            let slopes = &mut slopes.residuals[law.start..][..law.len];
            let rows = view.points_of(k).iter().zip(view.residuals_of(k));
            let (n, mut sum) = (law.len as f64, 0.0);
            for (slope, (&point, &c)) in slopes.iter_mut().zip(rows) {
                let (lambda, c) = (lambda[point], tightened(law.relation, c, view.margin));
                let shifted = Self::shifted(law.relation, lambda, rho, c);
                *slope = shifted / n;
                sum += match law.relation {
                    Relation::Equality => (lambda + 0.5 * rho * c) * c,
                    Relation::AtMost => (shifted * shifted - lambda * lambda) / (2.0 * rho),
                };
            }
            if law.len > 0 {
                value += sum / n;
            }
        }
        Value { value, fit, violation: view.violation() }
    }
}
