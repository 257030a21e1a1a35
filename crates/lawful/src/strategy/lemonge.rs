//! The adaptive penalty of Lemonge and Barbosa: weights from the fit and the violations themselves.

use super::{
    ListedStrategy, MisfitView, Slopes, State, Strategy, Value,
    penalty::{self, Power},
};
use crate::number::exact;
use crate::settings::{Access, Key, Range, Settings};

/// With the mean violation `v̄_k` of each law:
///
/// ```text
/// φ   = l(θ) + Σ_k μ_k v̄_k
/// μ_k = l v̄_k / Σ_j v̄_j²,  at most `mu-max`
/// ```
///
/// (Lemonge and Barbosa, International Journal for Numerical Methods in Engineering 59, 2004, 703–736.)
/// μ is computed at every point, and no gradient flows through it. Laws that are broken more weigh
/// more, and the penalty as a whole is as large as the fit, until μ reaches its bound.
///
/// | setting | default | range | purpose |
/// |---|---|---|---|
/// | `mu-max` | 1e6 | > 0 | largest μ |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lemonge {
    /// Largest weight.
    pub mu_max: f64,
}

impl Default for Lemonge {
    fn default() -> Self {
        Self { mu_max: 1e6 }
    }
}

impl Settings for Lemonge {
    const NAME: &'static str = "lemonge";
    const HELP: &'static str = "fit + mu × mean violation, with mu from the fit and the violations";
    const KEYS: &'static [Key<Self>] = &[Key {
        name: "mu-max",
        help: "largest weight of a law",
        access: Access::Number(Range::Positive, |own| &mut own.mu_max),
    }];
}

impl ListedStrategy for Lemonge {
    fn build(&self) -> Box<dyn Strategy> {
        Box::new(*self)
    }

    /// `|c|` has a kink where a law holds.
    fn is_smooth(&self) -> bool {
        false
    }

    fn details(&self) -> String {
        format!(", mu at most {}", exact(self.mu_max))
    }
}

impl Strategy for Lemonge {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn weights(&self, _: &mut State, view: &MisfitView, _: usize, weights: &mut [f64]) {
        let fit = view.fit();
        for (k, mu) in weights.iter_mut().enumerate() {
            *mu = penalty::of_law(view, Power::Absolute, k);
        }
        let squares: f64 = weights.iter().map(|v| v * v).sum();
        for mu in weights {
            // Where every law holds, none has a weight.
            *mu = if squares > 0.0 { (fit * *mu / squares).min(self.mu_max) } else { 0.0 };
        }
    }

    fn value(&self, _: &State, view: &MisfitView, weights: &[f64], slopes: &mut Slopes) -> Value {
        let fit = penalty::fit(view, 1.0, slopes);
        let value = fit + penalty::add(view, Power::Absolute, weights, slopes);
        Value { value, fit, violation: view.violation() }
    }
}
