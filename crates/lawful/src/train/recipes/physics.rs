//! Known physics alone: written equations whose constants are learned, without a network.

use lawful_ode::{Adaptive, Control, Solver, tableaus};

use super::scarce::blurred;
use super::{Choice, Facts};
use crate::Phase;
use crate::optimiser::OptimiserKind;
use crate::train::{LeastSquaresSettings, Start};

/// Starts: equations have local minima, and a start costs little.
const STARTS: usize = 24;
/// Iterations between screening and rounds.
const ITERATIONS: usize = 150;
/// Tolerances of adaptive steps, the absolute one as a share of the smallest standard deviation of a state.
const RELATIVE: f64 = 1e-7;
const ABSOLUTE: f64 = 1e-9;
/// Most steps of a path, and for each of its rows: constants for which it takes more are no solution.
const MOST_STEPS: usize = 2000;
const MOST_STEPS_PER_ROW: usize = 20;
/// Most numbers in the Jacobian of a start, of which every start holds two.
pub(crate) const MOST_SLOPES: f64 = 1e6;

/// Chooses least squares from several starts, with adaptive steps: constants that are drawn over decades need
/// steps that follow them.
pub(super) fn choose(facts: &Facts) -> Choice {
    let settings = LeastSquaresSettings { starts: STARTS, ..LeastSquaresSettings::default() };
    let LeastSquaresSettings { screening, kept, rounds, .. } = settings;
    let iterations = screening + ITERATIONS + settings.in_rounds(facts.penalised);
    let mut phase = Phase::new(OptimiserKind::default(), iterations);
    phase.least_squares = Some(settings);
    let mut remarks = vec![format!(
        "every rate is known: least squares for the constants, from the given values and {} others around \
         them, over decades; the {kept} of the greatest evidence go on after {screening} iterations",
        STARTS - 1
    )];
    let on_grid = matches!(facts.solver.control(), Control::Grid { .. });
    let solver = (on_grid && facts.open_solver).then(|| adaptive(facts));
    if solver.is_some() {
        remarks.push("the solver's steps are adaptive".to_owned());
    }
    if facts.penalised {
        remarks.push(format!(
            "laws are residuals with multipliers, updated in {rounds} rounds; `[strategy]` only measures them"
        ));
    }
    let gaps = facts.dataset.check_starts().is_err();
    let noisy = gaps || blurred(facts.dataset).is_some();
    let initial_state = facts.given.initial_state.unwrap_or(noisy);
    remarks.push(if initial_state {
        "initial states are trained, with a prior of one standard deviation".to_owned()
    } else {
        "trajectories start at their first rows".to_owned()
    });
    let chosen = Choice { initial_state, start: Start::Table, remarks, ..Choice::of(vec![phase]) };
    Choice { solver, ..chosen }
}

fn adaptive(facts: &Facts) -> Solver {
    let scale = crate::scaling(facts.dataset).state.into_iter().fold(f64::INFINITY, f64::min);
    let atol = (ABSOLUTE * scale).max(f64::MIN_POSITIVE);
    let max_steps = MOST_STEPS.max(MOST_STEPS_PER_ROW * facts.longest());
    let adaptive = Adaptive { max_steps, ..Adaptive::with_tolerances(RELATIVE, atol) };
    let solver = Solver::new(&tableaus::DOPRI5, Control::Adaptive(adaptive));
    solver.expect("dopri5 has an error estimate").with_memory(facts.solver.memory())
}
