//! The settings of arXiv 2307.14940: Adam at a rate of 1e-5, in the data's own units.

use crate::optimiser::AdamSettings;

use super::super::Shooting;
use super::{Choice, Facts, Recipe, WIDE, phase};
use crate::optimiser::OptimiserKind;

pub(super) const RECIPE: Recipe = Recipe {
    name: "paper",
    help: "the paper's: 10 000 steps of Adam at rate 1e-5, nothing scaled",
    smooth: false,
    hidden: WIDE,
    choose,
};

fn choose(_: &Facts) -> Choice {
    let adam = OptimiserKind::Adam(AdamSettings { rate: 1e-5, ..AdamSettings::default() });
    Choice { scale: false, ..Choice::of(vec![phase(adam, 10_000, Shooting::Single)]) }
}
