//! Least squares with Bayesian regularisation, for scarce or noisy data.

use lawful_ode::Control;

use super::{Choice, Facts, Recipe, physics};
use crate::Phase;
use crate::optimiser::OptimiserKind;
use crate::train::{LeastSquaresSettings, Start};

pub(super) const RECIPE: Recipe = Recipe {
    name: "evidence",
    help: "Levenberg–Marquardt from several starts, regularised and ranked by evidence: for scarce or noisy data",
    smooth: true,
    hidden: &[8],
    choose,
};

/// Iterations between screening and rounds.
const ITERATIONS: usize = 150;
/// Largest change in a solver step, in standard deviations, between the two rows that differ most, and the fewest
/// steps per interval.
const CHANGE: f64 = 0.25;
const FEWEST_SUBSTEPS: usize = 2;
/// Most steps per interval that jumps of the data ask for; one that is noise needs none.
const MOST_SUBSTEPS: usize = 8;

fn choose(facts: &Facts) -> Choice {
    if facts.physics {
        return physics::choose(facts);
    }
    let settings = LeastSquaresSettings::default();
    let LeastSquaresSettings { screening, rounds, .. } = settings;
    let iterations = screening + ITERATIONS + settings.in_rounds(facts.penalised);
    let mut phase = Phase::new(OptimiserKind::default(), iterations);
    phase.least_squares = Some(settings);
    let mut remarks = vec![
        settings.in_words(),
        "noise, and the decay of weights, are chosen by evidence".to_owned(),
    ];
    if let Control::Grid { substeps } = facts.solver.control() {
        let wanted = facts.substeps_of_jumps(CHANGE).clamp(FEWEST_SUBSTEPS, MOST_SUBSTEPS);
        phase.substeps = wanted.max(facts.substeps(CHANGE)).div_ceil(substeps);
        let steps = phase.substeps * substeps;
        remarks.push(format!("{steps} solver steps per interval"));
    }
    if facts.penalised {
        remarks.push(format!(
            "laws are residuals with multipliers, updated in {rounds} rounds; `[strategy]` only measures them"
        ));
    }
    let initial_state = facts.given.initial_state.unwrap_or(true);
    if initial_state {
        remarks
            .push("initial states are trained, with a prior of one standard deviation".to_owned());
    }
    Choice { initial_state, start: Start::Table, remarks, ..Choice::with_remedies(vec![phase]) }
}
