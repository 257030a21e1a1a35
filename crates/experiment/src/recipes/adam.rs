//! Adam throughout: short segments first, then the whole path with a falling rate.

use lawful::optimiser::AdamSettings;
use lawful::{Course, Schedule};

use super::lbfgs::STEPS;
use super::{Choice, Facts, Recipe, phase};
use crate::experiment::{Horizon, OptimiserSettings, Phase};

pub(super) const RECIPE: Recipe = Recipe {
    name: "adam",
    help: "Adam on segments of 10 steps, then on the whole path with a rate that falls",
    choose,
};

/// Steps on segments, and on the whole path.
const ON_SEGMENTS: usize = 3000;
const ON_THE_WHOLE: usize = 7000;
/// Learning rate.
const RATE: f64 = 3e-3;

fn choose(facts: &Facts) -> Choice {
    Choice::mended(phases(facts))
}

/// The phases; segments of a path that is hardly longer than one are left out.
pub(super) fn phases(facts: &Facts) -> Vec<Phase> {
    let adam = OptimiserSettings::Adam(AdamSettings { rate: RATE, ..AdamSettings::default() });
    let segments = phase(adam, ON_SEGMENTS, Horizon::Segments { steps: STEPS, free: false });
    let mut whole = phase(adam, ON_THE_WHOLE, Horizon::Full);
    whole.schedule = Schedule { course: Course::Cosine, ..whole.schedule };
    if facts.longest() > 2 * STEPS { vec![segments, whole] } else { vec![whole] }
}
