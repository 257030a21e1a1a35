//! L-BFGS throughout: short segments first, then the whole path.

use super::{Choice, Facts, Recipe, quasi_newton};
use crate::experiment::{Horizon, Phase};

pub(super) const RECIPE: Recipe = Recipe {
    name: "lbfgs",
    help: "L-BFGS on segments of 10 steps, then on the whole path",
    choose,
};

/// Steps of a segment.
pub(super) const STEPS: usize = 10;
/// Evaluations on segments, and on the whole path; 4901 in all with the first of each.
const ON_SEGMENTS: usize = 999;
const ON_THE_WHOLE: usize = 3899;

fn choose(facts: &Facts) -> Choice {
    Choice::mended(phases(facts, false))
}

/// The phases; segments of a path that is hardly longer than one are left out.
pub(super) fn phases(facts: &Facts, free: bool) -> Vec<Phase> {
    let segments = quasi_newton(ON_SEGMENTS, Horizon::Segments { steps: STEPS, free });
    let whole = quasi_newton(ON_THE_WHOLE, Horizon::Full);
    if facts.longest() > 2 * STEPS { vec![segments, whole] } else { vec![whole] }
}
