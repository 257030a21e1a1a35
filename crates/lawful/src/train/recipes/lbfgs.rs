//! L-BFGS: multiple shooting first, then full trajectories.

use super::super::{Phase, Shooting};
use super::{Choice, Facts, Recipe, WIDE, quasi_newton};

pub(super) const RECIPE: Recipe = Recipe {
    name: "lbfgs",
    help: "L-BFGS: multiple shooting on 10-step segments, then full trajectories",
    smooth: true,
    hidden: WIDE,
    choose,
};

/// Most steps of a segment.
const STEPS: usize = 10;
/// Iterations on segments, and on full trajectories: 4990 evaluations with the first of each phase.
const ON_SEGMENTS: usize = 999;
const ON_THE_WHOLE: usize = 3989;

fn choose(facts: &Facts) -> Choice {
    Choice::with_remedies(phases(facts, false))
}

/// Returns the phases; trajectories too short for segments have single shooting only.
pub(super) fn phases(facts: &Facts, free: bool) -> Vec<Phase> {
    let whole = quasi_newton(ON_THE_WHOLE, Shooting::Single);
    match segments(facts) {
        Some(steps) => vec![quasi_newton(ON_SEGMENTS, Shooting::Multiple { steps, free }), whole],
        None => vec![whole],
    }
}

/// Returns the steps of a segment: at most ten, and short enough for four segments. Returns `None` if
/// that leaves fewer than two steps.
pub(super) fn segments(facts: &Facts) -> Option<usize> {
    let steps = STEPS.min(facts.longest() / 4);
    (steps >= 2).then_some(steps)
}
