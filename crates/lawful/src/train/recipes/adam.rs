//! Adam: multiple shooting first, then full trajectories with a falling rate.

use crate::optimiser::AdamSettings;
use crate::optimiser::{RateDecay, Schedule};

use super::super::{Phase, Shooting};
use super::lbfgs::segments;
use super::{Choice, Facts, Recipe, WIDE, phase};
use crate::optimiser::OptimiserKind;

pub(super) const RECIPE: Recipe = Recipe {
    name: "adam",
    help: "Adam: multiple shooting on 10-step segments, then full trajectories with a falling rate",
    smooth: true,
    hidden: WIDE,
    choose,
};

/// Iterations on segments, and on full trajectories.
const ON_SEGMENTS: usize = 3000;
const ON_THE_WHOLE: usize = 7000;
/// Learning rate.
const RATE: f64 = 3e-3;

fn choose(facts: &Facts) -> Choice {
    Choice::with_remedies(phases(facts))
}

/// Returns Adam with the rate of this recipe.
pub(super) fn optimiser() -> OptimiserKind {
    OptimiserKind::Adam(AdamSettings { rate: RATE, ..AdamSettings::default() })
}

/// Returns the phases; trajectories too short for segments have single shooting only.
pub(super) fn phases(facts: &Facts) -> Vec<Phase> {
    let adam = optimiser();
    let mut whole = phase(adam.clone(), ON_THE_WHOLE, Shooting::Single);
    whole.schedule = Schedule { decay: RateDecay::Cosine, ..whole.schedule };
    match segments(facts) {
        Some(steps) => {
            vec![phase(adam, ON_SEGMENTS, Shooting::Multiple { steps, free: false }), whole]
        }
        None => vec![whole],
    }
}
