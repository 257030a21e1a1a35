//! Vanilla: the fit alone.

use super::{ListedStrategy, MisfitView, Slopes, State, Strategy, Value};
use crate::settings::{Key, Settings};

/// Minimises the fit, `φ = l(θ)`; laws are measured, but do not enter the objective.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Vanilla;

impl Settings for Vanilla {
    const NAME: &'static str = "vanilla";
    const HELP: &'static str = "the fit alone; laws are measured, not enforced";
    const KEYS: &'static [Key<Self>] = &[];
}

impl ListedStrategy for Vanilla {
    fn build(&self) -> Box<dyn Strategy> {
        Box::new(*self)
    }

    fn is_smooth(&self) -> bool {
        true
    }

    fn enforces(&self) -> bool {
        false
    }
}

impl Strategy for Vanilla {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn weights(&self, _: &mut State, _: &MisfitView, _: usize, weights: &mut [f64]) {
        weights.fill(0.0);
    }

    fn value(&self, _: &State, view: &MisfitView, _: &[f64], slopes: &mut Slopes) -> Value {
        let fit = view.fit();
        slopes.terms.fill(1.0 / view.terms.len() as f64);
        Value { value: fit, fit, violation: 0.0 }
    }
}
