//! The extended logarithmic barrier: finite also where a law is broken.

use super::{ListedStrategy, MisfitView, Slopes, State, Strategy, Value, penalty};
use crate::Relation;
use crate::number::exact;
use crate::settings::{Access, Key, LARGEST, Range, Settings};

/// With residuals `c` of inequalities in units of the law, with their margin, and the sharpness `t`:
///
/// ```text
/// φ    = l(θ) + Σ_k (1/N) Σ_n ψ(c_n)
/// ψ(c) = −(1/t) ln(−c)                       c ≤ −1/t²
///        t c − (1/t) ln(1/t²) + 1/t          otherwise
/// ```
///
/// (Kervadec, Dolz, Yuan, Desrosiers, Granger and Ben Ayed, *Constrained deep networks: Lagrangian
/// optimization via log-barrier extensions*, 2019.) ψ and its slope are continuous, so that a start at
/// which laws are broken is as good as another. `t` grows, and with it the slope of the penalty; a path
/// stays about `1/t` inside its bounds. An equality is the pair `c ≤ 0`, `−c ≤ 0`, which leaves `|c|`
/// below `1/t²` free.
///
/// | setting | default | range | purpose |
/// |---|---|---|---|
/// | `t` | 5 | > 0 | sharpness at the start |
/// | `t-growth` | 1.1 | ≥ 1 | its factor after each round |
/// | `t-max` | 1e4 | > 0 | largest sharpness |
/// | `round` | 20 | ≥ 1 | iterations of a round |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Barrier {
    /// Sharpness at the start.
    pub t: f64,
    /// Its factor after each round.
    pub t_growth: f64,
    /// Largest sharpness.
    pub t_max: f64,
    /// Iterations of a round.
    pub round: usize,
}

impl Default for Barrier {
    fn default() -> Self {
        Self { t: 5.0, t_growth: 1.1, t_max: 1e4, round: 20 }
    }
}

/// Returns ψ and its slope.
fn psi(c: f64, t: f64) -> (f64, f64) {
    let edge = (t * t).recip();
    if c <= -edge { (-(-c).ln() / t, -(t * c).recip()) } else { (t * c + (1.0 - edge.ln()) / t, t) }
}

impl Settings for Barrier {
    const NAME: &'static str = "barrier";
    const HELP: &'static str = "an extended logarithmic barrier that becomes sharper in rounds";
    const KEYS: &'static [Key<Self>] = &[
        Key {
            name: "t",
            help: "sharpness of the barrier at the start",
            access: Access::Number(Range::Positive, |own| &mut own.t),
        },
        Key {
            name: "t-growth",
            help: "factor of the sharpness after each round",
            access: Access::Number(Range::AtLeastOne, |own| &mut own.t_growth),
        },
        Key {
            name: "t-max",
            help: "largest sharpness",
            access: Access::Number(Range::Positive, |own| &mut own.t_max),
        },
        Key {
            name: "round",
            help: "the barrier becomes sharper every `round` iterations",
            access: Access::Count(LARGEST, |own| &mut own.round),
        },
    ];
}

impl ListedStrategy for Barrier {
    fn build(&self) -> Box<dyn Strategy> {
        Box::new(*self)
    }

    fn is_smooth(&self) -> bool {
        true
    }

    fn details(&self) -> String {
        let Self { t, t_max, round, .. } = self;
        format!(", t {} to {}, rounds of {round} iterations", exact(*t), exact(*t_max))
    }
}

impl Strategy for Barrier {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    /// The sharpness, the same for every law.
    fn weights(&self, _: &mut State, _: &MisfitView, iteration: usize, weights: &mut [f64]) {
        let rounds = i32::try_from(iteration / self.round).unwrap_or(i32::MAX);
        weights.fill((self.t * self.t_growth.powi(rounds)).min(self.t_max.max(self.t)));
    }

    fn value(&self, _: &State, view: &MisfitView, weights: &[f64], slopes: &mut Slopes) -> Value {
        let fit = penalty::fit(view, 1.0, slopes);
        let mut value = fit;
        for (k, (law, &t)) in view.laws.iter().zip(weights).enumerate() {
            let (n, mut sum) = (law.len as f64, 0.0);
            let slopes = &mut slopes.residuals[law.start..][..law.len];
            for (slope, &c) in slopes.iter_mut().zip(view.residuals_of(k)) {
                let (psi, by_c) = match law.relation {
                    Relation::AtMost => psi(c + view.margin, t),
                    Relation::Equality => {
                        let ((above, up), (below, down)) = (psi(c, t), psi(-c, t));
                        (above + below, up - down)
                    }
                };
                sum += psi;
                *slope = by_c / n;
            }
            if law.len > 0 {
                value += sum / n;
            }
        }
        Value { value, fit, violation: view.violation() }
    }
}
