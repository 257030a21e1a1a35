//! Balanced gradients: every law pulls on θ as strongly as the fit.

use super::{
    LawRows, ListedStrategy, MisfitView, Slopes, State, Strategy, Value,
    penalty::{self, Power},
};
use crate::number::exact;
use crate::settings::{Access, Key, LARGEST, Range, Settings, word};

/// With the gradients `g_0` of the fit and `g_k` of the penalty `P_k = (1/N) Σ_n v²` of each law:
///
/// ```text
/// φ   = l(θ) + Σ_k μ_k P_k
/// μ_k ← s μ_k + (1 − s) ‖g_0‖/‖g_k‖,  at most `mu-max`, every `every` iterations
/// ```
///
/// (the learning-rate annealing of Wang, Teng and Perdikaris, SIAM Journal on Scientific Computing 43,
/// 2021, A3055–A3081, with norms). A law without a gradient keeps its μ.
///
/// With `direction = "conflict-free"`, at every iteration, gradients of this equal size that point
/// against each other lose that part (Yu, Kumar, Gupta, Levine, Hausman and Finn, *Gradient surgery for
/// multi-task learning*, 2020; terms in order):
///
/// ```text
/// g_i ← g_i − min(0, g_i·g_j)/‖g_j‖² g_j   for every other j;   the step follows Σ_i g_i
/// ```
///
/// Each term needs a solve and a pull-back of its own.
///
/// | setting | default | range | purpose |
/// |---|---|---|---|
/// | `direction` | sum | | whether conflicts between gradients are removed |
/// | `every` | 10 | ≥ 1 | iterations between updates of μ |
/// | `smoothing` | 0.1 | 0 ≤ s < 1 | s |
/// | `mu-max` | 1e4 | > 0 | largest μ |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Balanced {
    /// Whether conflicts between gradients are removed.
    pub direction: Direction,
    /// Iterations between updates of μ.
    pub every: usize,
    /// Share of the old μ in the new one.
    pub smoothing: f64,
    /// Largest μ.
    pub mu_max: f64,
}

/// The direction in which [`Balanced`] descends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    /// The weighted sum of the gradients.
    #[default]
    Sum,
    /// The same without the parts that point against other gradients.
    ConflictFree,
}

impl Direction {
    /// The words of `direction` in an experiment file.
    pub const NAMES: [(&'static str, Self); 2] =
        [("sum", Self::Sum), ("conflict-free", Self::ConflictFree)];
}

impl Default for Balanced {
    fn default() -> Self {
        Self { direction: Direction::Sum, every: 10, smoothing: 0.1, mu_max: 1e4 }
    }
}

impl Balanced {
    /// Returns the coefficient of each gradient of equal size after their conflicts are removed;
    /// `weights` are the sizes.
    fn without_conflicts(weights: &[f64], gram: &[f64]) -> Vec<f64> {
        let n = weights.len();
        let product = |a: &[f64], j: usize| -> f64 {
            let along = a.iter().enumerate().map(|(i, a)| a * weights[i] * gram[i * n + j]);
            along.sum::<f64>() * weights[j]
        };
        let mut sum = vec![0.0; n];
        for i in 0..n {
            let mut own = vec![0.0; n];
            own[i] = 1.0;
            for j in (0..n).filter(|&j| j != i) {
                let square = weights[j] * weights[j] * gram[j * n + j];
                let along = product(&own, j);
                if along < 0.0 && square > 0.0 {
                    own[j] -= along / square;
                }
            }
            sum.iter_mut().zip(&own).for_each(|(sum, own)| *sum += own);
        }
        sum
    }
}

impl Settings for Balanced {
    const NAME: &'static str = "balanced";
    const HELP: &'static str = "weights with which every law's gradient is as large as the fit's";
    const KEYS: &'static [Key<Self>] = &[
        Key {
            name: "direction",
            help: "`sum` of the gradients, or `conflict-free`",
            access: word!(direction: Direction),
        },
        Key {
            name: "every",
            help: "iterations between updates of the weights",
            access: Access::Count(LARGEST, |own| &mut own.every),
        },
        Key {
            name: "smoothing",
            help: "share of the old weight in the new one",
            access: Access::Number(Range::BelowOne, |own| &mut own.smoothing),
        },
        Key {
            name: "mu-max",
            help: "largest weight of a law",
            access: Access::Number(Range::Positive, |own| &mut own.mu_max),
        },
    ];
}

impl ListedStrategy for Balanced {
    fn build(&self) -> Box<dyn Strategy> {
        Box::new(*self)
    }

    /// Weights depend on gradients at single points.
    fn is_smooth(&self) -> bool {
        false
    }

    fn squares_violations(&self) -> bool {
        true
    }

    fn takes_line_searches(&self) -> bool {
        false
    }

    fn without_effect(
        &self,
        key: &str,
        _: &[crate::Relation],
    ) -> Option<(&'static str, &'static str)> {
        (self.direction == Direction::ConflictFree && ["every", "smoothing"].contains(&key))
            .then_some(("with `direction = \"conflict-free\"`", "leave one of the two out"))
    }

    fn details(&self) -> String {
        match self.direction {
            Direction::Sum => {
                format!(", every {} iterations, mu at most {}", self.every, exact(self.mu_max))
            }
            Direction::ConflictFree => {
                format!(", conflict-free, mu at most {}", exact(self.mu_max))
            }
        }
    }
}

impl Strategy for Balanced {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    /// The weight of the fit, the μ of each law, and the coefficient of each law in the direction.
    fn start(&self, laws: &[LawRows]) -> State {
        State { numbers: vec![1.0; 1 + 2 * laws.len()] }
    }

    fn gram_every(&self) -> Option<usize> {
        Some(if self.direction == Direction::ConflictFree { 1 } else { self.every })
    }

    fn balance(&self, state: &mut State, gram: &[f64]) {
        let laws = (state.numbers.len() - 1) / 2;
        let n = laws + 1;
        let norm = |k: usize| gram[k * n + k].sqrt();
        let smoothing = if self.direction == Direction::Sum { self.smoothing } else { 0.0 };
        for k in 0..laws {
            let ratio = norm(0) / norm(k + 1);
            if ratio.is_finite() {
                let mu = &mut state.numbers[1 + k];
                *mu = (smoothing * *mu + (1.0 - smoothing) * ratio).min(self.mu_max);
            }
        }
        let mut weights = vec![1.0; n];
        weights[1..].copy_from_slice(&state.numbers[1..n]);
        if self.direction == Direction::ConflictFree {
            let coefficients = Self::without_conflicts(&weights, gram);
            weights.iter_mut().zip(coefficients).for_each(|(weight, own)| *weight *= own);
        }
        state.numbers[0] = weights[0];
        state.numbers[n..].copy_from_slice(&weights[1..]);
    }

    fn term_slopes(&self, view: &MisfitView, term: usize, slopes: &mut Slopes) {
        match term.checked_sub(1) {
            None => {
                penalty::fit(view, 1.0, slopes);
            }
            Some(law) => {
                slopes.terms.fill(0.0);
                penalty::add_one(view, Power::Squared, law, 1.0, slopes);
            }
        }
    }

    fn weights(&self, state: &mut State, _: &MisfitView, _: usize, weights: &mut [f64]) {
        let laws = weights.len();
        weights.copy_from_slice(&state.numbers[1 + laws..]);
    }

    fn value(
        &self,
        state: &State,
        view: &MisfitView,
        weights: &[f64],
        slopes: &mut Slopes,
    ) -> Value {
        let share = state.numbers[0];
        let fit = penalty::fit(view, share, slopes);
        let value = share * fit + penalty::add(view, Power::Squared, weights, slopes);
        Value { value, fit, violation: view.violation() }
    }
}
