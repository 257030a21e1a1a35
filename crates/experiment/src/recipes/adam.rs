//! Adam throughout: short segments first, then the whole path with a falling rate.

use lawful::optimiser::AdamSettings;
use lawful::{RateDecay, Schedule};

use super::lbfgs::segments;
use super::{Choice, Facts, Recipe, phase};
use crate::experiment::{OptimiserSettings, Phase, Shooting};

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

/// The phases; a path too short to be cut is learned as a whole.
pub(super) fn phases(facts: &Facts) -> Vec<Phase> {
    let adam = OptimiserSettings::Adam(AdamSettings { rate: RATE, ..AdamSettings::default() });
    let mut whole = phase(adam, ON_THE_WHOLE, Shooting::Single);
    whole.schedule = Schedule { decay: RateDecay::Cosine, ..whole.schedule };
    match segments(facts) {
        Some(steps) => {
            vec![phase(adam, ON_SEGMENTS, Shooting::Multiple { steps, free: false }), whole]
        }
        None => vec![whole],
    }
}
