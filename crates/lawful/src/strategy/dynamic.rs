//! The dynamic penalty: weights that grow with the iterations.

use super::{
    LawRows, ListedStrategy, MisfitView, Slopes, State, Strategy, StrategyError, Value,
    penalty::{self, Power},
};
use crate::number::exact;
use crate::settings::{Access, Key, Range, Settings, word};

/// With the iteration `k` of the phase, counted from 1, and violations `v`:
///
/// ```text
/// φ = l(θ) + μ(k) Σ_laws (1/N) Σ_n v²        power = squared; v instead of v² with absolute
/// μ(k) = (C k)^a                             growth = power
/// μ(k) = D k √k                              growth = k-root-k
/// ```
///
/// (Joines and Houck, IEEE Conference on Evolutionary Computation, 1994, 579–584, with C = 0.5 and
/// a = 2; `k √k` is the growth of Yang, Chen, Zhao and Han, 1997.) The same weight for every law, and it
/// grows without bound: the fit counts less and less.
///
/// | setting | default | range | purpose |
/// |---|---|---|---|
/// | `growth` | power | | how the weight grows |
/// | `c` | 0.5 | > 0 | C |
/// | `a` | 2 | > 0 | exponent a |
/// | `d` | 0.5 | > 0 | D |
/// | `power` | squared | | whether violations enter squared |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dynamic {
    /// How the weight grows.
    pub growth: Growth,
    /// C of `(C k)^a`.
    pub c: f64,
    /// a of `(C k)^a`.
    pub a: f64,
    /// D of `D k √k`.
    pub d: f64,
    /// Whether violations enter squared.
    pub power: Power,
}

/// How the weight of [`Dynamic`] grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Growth {
    /// `(C k)^a`.
    #[default]
    Power,
    /// `D k √k`.
    KRootK,
}

impl Growth {
    /// The words of `growth` in an experiment file.
    pub const NAMES: [(&'static str, Self); 2] =
        [("power", Self::Power), ("k-root-k", Self::KRootK)];
}

impl Default for Dynamic {
    fn default() -> Self {
        Self { growth: Growth::Power, c: 0.5, a: 2.0, d: 0.5, power: Power::Squared }
    }
}

impl Dynamic {
    /// Returns μ at an iteration, counted from 0.
    fn weight(&self, iteration: usize) -> f64 {
        let k = (iteration + 1) as f64;
        match self.growth {
            Growth::Power => (self.c * k).powf(self.a),
            Growth::KRootK => self.d * k * k.sqrt(),
        }
    }
}

impl Settings for Dynamic {
    const NAME: &'static str = "dynamic";
    const HELP: &'static str = "fit + a weight that grows with the iterations × violations";
    const KEYS: &'static [Key<Self>] = &[
        Key {
            name: "growth",
            help: "`power`: (c k)^a; `k-root-k`: d k √k, in iteration k of the phase",
            access: word!(growth: Growth),
        },
        Key {
            name: "c",
            help: "c of (c k)^a",
            access: Access::Number(Range::Positive, |own| &mut own.c),
        },
        Key {
            name: "a",
            help: "exponent of (c k)^a",
            access: Access::Number(Range::Positive, |own| &mut own.a),
        },
        Key {
            name: "d",
            help: "d of d k √k",
            access: Access::Number(Range::Positive, |own| &mut own.d),
        },
        Key {
            name: "power",
            help: "whether violations enter squared, without a kink, or as they are",
            access: word!(power: Power),
        },
    ];
}

impl ListedStrategy for Dynamic {
    fn build(&self) -> Box<dyn Strategy> {
        Box::new(*self)
    }

    fn is_smooth(&self) -> bool {
        self.power == Power::Squared
    }

    fn squares_violations(&self) -> bool {
        self.power == Power::Squared
    }

    fn without_effect(
        &self,
        key: &str,
        _: &[crate::Relation],
    ) -> Option<(&'static str, &'static str)> {
        let hint = "leave one of the two out";
        match (self.growth, key) {
            (Growth::KRootK, "c" | "a") => Some(("with `growth = \"k-root-k\"`", hint)),
            (Growth::Power, "d") => Some(("with `growth = \"power\"`", hint)),
            _ => None,
        }
    }

    fn details(&self) -> String {
        match self.growth {
            Growth::Power => format!(", ({} k)^{}", exact(self.c), exact(self.a)),
            Growth::KRootK => format!(", {} k √k", exact(self.d)),
        }
    }
}

impl Strategy for Dynamic {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn check(&self, _: &[LawRows]) -> Result<(), StrategyError> {
        // (C k)^a overflows at the largest iterations for an exponent of this size.
        if self.growth == Growth::Power && self.a > LARGEST_EXPONENT {
            let reason = format!("has an exponent `a` above {LARGEST_EXPONENT}");
            return Err(StrategyError { strategy: Self::NAME, reason });
        }
        Ok(())
    }

    fn weights(&self, _: &mut State, _: &MisfitView, iteration: usize, weights: &mut [f64]) {
        weights.fill(self.weight(iteration));
    }

    fn value(&self, _: &State, view: &MisfitView, weights: &[f64], slopes: &mut Slopes) -> Value {
        let fit = penalty::fit(view, 1.0, slopes);
        let value = fit + penalty::add(view, self.power, weights, slopes);
        Value { value, fit, violation: view.violation() }
    }
}

/// Largest `a`.
const LARGEST_EXPONENT: f64 = 16.0;
