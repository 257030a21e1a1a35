//! The self-adaptive penalty, equations (4) to (9): the paper's contribution.

use super::{
    LawRows, ListedStrategy, MisfitView, Slopes, State, Strategy, StrategyKind, Value, mean,
};
use crate::Relation;
use crate::number::exact;
use crate::settings::{Access, Key, LARGEST, Range, Settings, word};

/// Weights are the share of time steps that violate a law, and `ψ` maps the fit and the penalties to
/// `[0, 1)`, so that nothing needs tuning.
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
/// The defaults are these equations. The other words of `normalise`, `weigh_by`, `weight_every` and
/// `residual` reproduce the authors' public scripts.
///
/// `penalty` and `penalise` make it smooth, for optimisers that need a second derivative (L-BFGS):
/// `|c|` has a kink where a law holds, μ jumps whenever a step begins or ceases to violate it, and φ
/// jumps at the tolerance. With both,
///
/// ```text
/// P_k = (1/N) Σ_n ψ((v_n^k)²)                 penalty = squared, instead of (6), (7)
/// φ   = F + (1/#E) Σ_{E} P_i + (1/#I) Σ_{I} P_j    penalise = always, instead of (8), (9)
/// ```
///
/// `penalise = always` counts every step, violated or not: `μ_k = 1` at every point. Only the scale is
/// adaptive then: laws are in units of their size on the data, and ψ keeps each penalty below 1.
///
/// | setting | default | range | purpose |
/// |---|---|---|---|
/// | `tolerance` | 1e-4 | ≥ 0 | a total violation up to this counts as feasible: only the fit counts |
/// | `count_above` | 0 | ≥ 0 | violation above which a step counts for μ |
/// | `normalise` | mean | | whether ψ is taken of the mean or of each element of the loss |
/// | `weigh_by` | share | | whether μ is the share of violated steps or their mean violation |
/// | `weight_every` | 1 | ≥ 1 | iterations between updates of μ |
/// | `residual` | absolute | | whether ψ is taken of `abs(c)` or of `c` itself, for equalities |
/// | `penalty` | absolute | | whether ψ is taken of the violation or of its square |
/// | `penalise` | tolerance | | whether laws count only at infeasible points, or always, with weight 1 |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SelfAdaptive {
    /// Total violation `Σ_k P_k` up to which a point is feasible.
    pub tolerance: f64,
    /// A step counts for μ when its violation is larger than this.
    pub count_above: f64,
    /// Where ψ enters the fit.
    pub normalise: Normalise,
    /// How μ is computed.
    pub weigh_by: WeighBy,
    /// Iterations between updates of μ.
    pub weight_every: usize,
    /// What ψ is taken of, for equalities.
    pub residual: Residual,
    /// Whether ψ is taken of the violation or of its square.
    pub penalty: Penalty,
    /// When laws count.
    pub penalise: Penalise,
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

/// What the weight `μ` of [`SelfAdaptive`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WeighBy {
    /// `μ_k = #{n : v_n ≠ 0}/N`, equation (8).
    #[default]
    Share,
    /// `μ_k = (1/N) Σ_n v_n`, as in the authors' public script for the population.
    Mean,
}

/// What `ψ` is taken of in the penalty of an equality law of [`SelfAdaptive`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Residual {
    /// `ψ(|c|)`, equation (6).
    #[default]
    Absolute,
    /// `ψ(c)`, as in the authors' public script for the reaction: `P_k = (1/N) Σ_n ψ(c_n)` rewards
    /// negative residuals, and has a pole at −1. A point is feasible when `Σ_k |P_k| ≤ tol`.
    Signed,
}

/// Of what `ψ` is taken in the penalties of [`SelfAdaptive`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Penalty {
    /// `ψ(v)`, equations (6) and (7).
    #[default]
    Absolute,
    /// `ψ(v²)`, which has no kink where a law begins to hold.
    Squared,
}

/// When the laws of [`SelfAdaptive`] count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Penalise {
    /// With weight μ while `Σ_k P_k` is above the tolerance, equations (8) and (9).
    #[default]
    Tolerance,
    /// Always, with weight 1.
    Always,
}

impl Penalty {
    /// The words of `penalty` in an experiment file.
    pub const NAMES: [(&'static str, Self); 2] =
        [("absolute", Self::Absolute), ("squared", Self::Squared)];
}

impl Penalise {
    /// The words of `penalise` in an experiment file.
    pub const NAMES: [(&'static str, Self); 2] =
        [("tolerance", Self::Tolerance), ("always", Self::Always)];
}

impl Normalise {
    /// The words of `normalise` in an experiment file.
    pub const NAMES: [(&'static str, Self); 2] =
        [("mean", Self::Mean), ("elementwise", Self::Elementwise)];
}

impl WeighBy {
    /// The words of `weigh-by` in an experiment file.
    pub const NAMES: [(&'static str, Self); 2] = [("share", Self::Share), ("mean", Self::Mean)];
}

impl Residual {
    /// The words of `residual` in an experiment file.
    pub const NAMES: [(&'static str, Self); 2] =
        [("absolute", Self::Absolute), ("signed", Self::Signed)];
}

impl Default for SelfAdaptive {
    fn default() -> Self {
        Self {
            tolerance: 1e-4,
            count_above: 0.0,
            normalise: Normalise::Mean,
            weigh_by: WeighBy::Share,
            weight_every: 1,
            residual: Residual::Absolute,
            penalty: Penalty::Absolute,
            penalise: Penalise::Tolerance,
        }
    }
}

/// `ψ(x) = 1 − 1/(1 + x)`, equation (4), in the form that keeps small `x` exact.
fn psi(x: f64) -> f64 {
    if x.is_infinite() { 1.0 } else { x / (1.0 + x) }
}

/// `ψ′(x) = 1/(1 + x)²`.
fn psi_slope(x: f64) -> f64 {
    1.0 / ((1.0 + x) * (1.0 + x))
}

impl SelfAdaptive {
    /// The form without kinks and jumps: squared violations that always count.
    pub fn smooth() -> Self {
        Self { penalty: Penalty::Squared, penalise: Penalise::Always, ..Self::default() }
    }

    /// Returns ψ of a violation, or of its square, with its slope.
    fn psi_of(&self, v: f64) -> (f64, f64) {
        match self.penalty {
            Penalty::Absolute => (psi(v), psi_slope(v)),
            Penalty::Squared => (psi(v * v), 2.0 * v * psi_slope(v * v)),
        }
    }

    /// Returns whether ψ is taken of the signed residuals of law `k`.
    fn is_signed(&self, view: &MisfitView, k: usize) -> bool {
        // A square has no sign.
        self.residual == Residual::Signed
            && self.penalty == Penalty::Absolute
            && view.laws[k].relation == Relation::Equality
    }

    /// `P_k` of law `k`, equations (6) and (7).
    fn penalty_of(&self, view: &MisfitView, k: usize) -> f64 {
        let signed = self.is_signed(view, k);
        let values = if signed { view.residuals_of(k) } else { view.violations_of(k) };
        mean(values.iter().map(|&x| self.psi_of(x).0))
    }

    /// `P_θ = Σ_k P_k`; signed penalties do not cancel each other.
    fn total(&self, view: &MisfitView) -> f64 {
        (0..view.laws.len()).map(|k| self.penalty_of(view, k).abs()).sum()
    }

    /// `μ_k`, equation (8).
    fn weight(&self, view: &MisfitView, k: usize) -> f64 {
        let violations = view.violations_of(k).iter();
        match self.weigh_by {
            WeighBy::Share => mean(violations.map(|&v| f64::from(u8::from(v > self.count_above)))),
            WeighBy::Mean => mean(violations.copied()),
        }
    }
}

/// Keys of the paper's form: writing one of them selects that form.
const OF_THE_PAPER: [&str; 5] =
    ["tolerance", "count-above", "weigh-by", "weight-every", "residual"];

impl Settings for SelfAdaptive {
    const NAME: &'static str = "self-adaptive";
    const HELP: &'static str = "the paper's: weights follow the share of steps that violate a law";
    const KEYS: &'static [Key<Self>] = &[
        Key {
            name: "tolerance",
            help: "total violation up to which a point is feasible",
            access: Access::Number(Range::NotNegative, |own| &mut own.tolerance),
        },
        Key {
            name: "count-above",
            help: "violation above which a step counts for the weight",
            access: Access::Number(Range::NotNegative, |own| &mut own.count_above),
        },
        Key {
            name: "normalise",
            help: "ψ of the mean of the loss terms, or the mean of ψ of each",
            access: word!(normalise: Normalise),
        },
        Key {
            name: "weigh-by",
            help: "the weight is the share of violated steps, or their mean violation",
            access: word!(weigh_by: WeighBy),
        },
        Key {
            name: "weight-every",
            help: "weights are recomputed every `weight-every` iterations",
            access: Access::Count(LARGEST, |own| &mut own.weight_every),
        },
        Key {
            name: "residual",
            help: "ψ of abs(c), or of c itself, for equalities",
            access: word!(residual: Residual),
        },
        Key {
            name: "penalty",
            help: "ψ of the violation, or of its square",
            access: word!(penalty: Penalty),
        },
        Key {
            name: "penalise",
            help: "laws count where the point is not feasible, or always, with weight 1",
            access: word!(penalise: Penalise),
        },
    ];
}

impl ListedStrategy for SelfAdaptive {
    fn build(&self) -> Box<dyn Strategy> {
        Box::new(*self)
    }

    fn is_smooth(&self) -> bool {
        self.penalty == Penalty::Squared && self.penalise == Penalise::Always
    }

    fn squares_violations(&self) -> bool {
        self.penalty == Penalty::Squared
    }

    fn tolerance(&self) -> Option<f64> {
        Some(self.tolerance)
    }

    fn count_above(&self) -> f64 {
        self.count_above
    }

    fn without_effect(&self, key: &str, laws: &[Relation]) -> Option<(&'static str, &'static str)> {
        let one = "leave one of the two out";
        match key {
            "tolerance" | "count-above" | "weigh-by" | "weight-every"
                if self.penalise == Penalise::Always =>
            {
                Some(("with `penalise = \"always\"`", one))
            }
            "count-above" if self.weigh_by == WeighBy::Mean => Some((
                "with `weigh-by = \"mean\"`",
                "leave it out: every violation is part of the mean",
            )),
            "residual" if self.penalty == Penalty::Squared => {
                Some(("with `penalty = \"squared\"`", one))
            }
            "residual" if !laws.contains(&Relation::Equality) => {
                Some(("without an equality among the laws", "leave it out"))
            }
            _ => None,
        }
    }

    fn smooth_form(&self, written: &[&str]) -> Option<StrategyKind> {
        let paper = OF_THE_PAPER.iter().any(|key| written.contains(key));
        (!paper).then(|| Self::smooth().into())
    }

    fn details(&self) -> String {
        let form = match self.penalty {
            Penalty::Absolute => "",
            Penalty::Squared => ", squared violations",
        };
        match self.penalise {
            Penalise::Tolerance => format!("{form}, tolerance {}", exact(self.tolerance)),
            Penalise::Always => format!("{form} that always count"),
        }
    }
}

impl Strategy for SelfAdaptive {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn of_continuity(&self) -> Box<dyn Strategy> {
        Box::new(*self)
    }

    /// With `weight_every`, the last μ of each law; otherwise nothing.
    fn start(&self, laws: &[LawRows]) -> State {
        State { numbers: if self.weight_every > 1 { vec![0.0; laws.len()] } else { Vec::new() } }
    }

    /// `μ_k`, equation (8); all zero at a feasible point, which is the first case of (9).
    fn weights(&self, state: &mut State, view: &MisfitView, iteration: usize, weights: &mut [f64]) {
        if self.penalise == Penalise::Always {
            weights.fill(1.0);
            return;
        }
        if self.weight_every > 1 {
            if iteration.is_multiple_of(self.weight_every) {
                for (k, mu) in state.numbers.iter_mut().enumerate() {
                    *mu = self.weight(view, k);
                }
            }
            weights.copy_from_slice(&state.numbers);
        } else {
            for (k, mu) in weights.iter_mut().enumerate() {
                *mu = self.weight(view, k);
            }
        }
        if self.total(view) <= self.tolerance {
            weights.fill(0.0);
        }
    }

    fn value(&self, _: &State, view: &MisfitView, weights: &[f64], slopes: &mut Slopes) -> Value {
        let n = view.terms.len() as f64;
        let fit = match self.normalise {
            Normalise::Mean => {
                let l = view.fit();
                slopes.terms.fill(psi_slope(l) / n);
                psi(l)
            }
            Normalise::Elementwise => {
                for (slope, &term) in slopes.terms.iter_mut().zip(view.terms) {
                    *slope = psi_slope(term) / n;
                }
                mean(view.terms.iter().map(|&term| psi(term)))
            }
        };
        let (equalities, inequalities) =
            (view.count(Relation::Equality), view.count(Relation::AtMost));
        let mut value = fit;
        for (k, (law, mu)) in view.laws.iter().zip(weights).enumerate() {
            let set = match law.relation {
                Relation::Equality => equalities,
                Relation::AtMost => inequalities,
            };
            let share = mu / set as f64;
            value += share * self.penalty_of(view, k);
            let slopes = &mut slopes.residuals[law.start..][..law.len];
            let n = law.len as f64;
            if self.is_signed(view, k) {
                for (slope, &c) in slopes.iter_mut().zip(view.residuals_of(k)) {
                    *slope = share * psi_slope(c) / n;
                }
            } else {
                for (row, (slope, &v)) in slopes.iter_mut().zip(view.violations_of(k)).enumerate() {
                    *slope = share * self.psi_of(v).1 / n * view.violation_slope(k, row);
                }
            }
        }
        Value { value, fit, violation: self.total(view) }
    }
}
