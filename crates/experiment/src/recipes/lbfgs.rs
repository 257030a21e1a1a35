//! L-BFGS throughout: short segments first, then the whole path.

use super::{Choice, Facts, Recipe, quasi_newton};
use crate::experiment::{Phase, Shooting};

pub(super) const RECIPE: Recipe = Recipe {
    name: "lbfgs",
    help: "L-BFGS on segments of 10 steps, then on the whole path",
    choose,
};

/// Steps of a segment of a long path.
const STEPS: usize = 10;
/// Evaluations on segments, and on the whole path; 4990 in all with the first of each.
const ON_SEGMENTS: usize = 999;
const ON_THE_WHOLE: usize = 3989;

fn choose(facts: &Facts) -> Choice {
    Choice::mended(phases(facts, false))
}

/// The phases; a path too short to be cut is learned as a whole.
pub(super) fn phases(facts: &Facts, free: bool) -> Vec<Phase> {
    let whole = quasi_newton(ON_THE_WHOLE, Shooting::Single);
    match segments(facts) {
        Some(steps) => vec![quasi_newton(ON_SEGMENTS, Shooting::Multiple { steps, free }), whole],
        None => vec![whole],
    }
}

/// Steps of segments: at most ten, and at least four segments of two steps.
pub(super) fn segments(facts: &Facts) -> Option<usize> {
    let steps = STEPS.min(facts.longest() / 4);
    (steps >= 2).then_some(steps)
}
