//! Selects phases from the data.

use lawful_ode::Control;

use super::super::prepared::{holds_out_trajectories, split};
use super::super::{Shooting, Start};
use super::large::{self, LARGE};
use super::{CAUTIOUS, Choice, Facts, Given, Recipe, UNRESOLVED, WIDE, adam, lbfgs, phase};
use crate::number::short;

pub(super) const RECIPE: Recipe = Recipe {
    name: "auto",
    help: "selects from length, noise and gaps of the data, and prints what it chose and why",
    smooth: true,
    hidden: WIDE,
    choose,
};

/// Estimated noise above this share of a state's standard deviation counts as noise.
pub(super) const NOISE: f64 = 2e-3;
/// Largest change in a solver step, in standard deviations, with noise and without: the solver's error,
/// which grows with the fourth power, should not limit the fit.
const CHANGE_WITH_NOISE: f64 = 0.25;
const CHANGE: f64 = 0.1;
/// Iterations with noise, on segments and on full trajectories.
const ON_SEGMENTS: usize = 299;
const WITH_NOISE: usize = 1999;
/// Fewest rows in which no estimated noise means no noise. In fewer rows weak noise is not detected, and a
/// close fit follows it: with 20 rows of an oscillator with 1 % noise, the error was 4 to 6 times larger
/// with the settings for clean data.
const ROWS_THAT_SHOW_NOISE: usize = 100;
/// Share of the data that is held out with noise, and the fewest rows for it.
const HELD_OUT: f64 = 0.2;
const ROWS_TO_HOLD_OUT: usize = 100;
/// Weight decay with noise if nothing is held out.
const DECAY: f64 = 1e-5;

fn choose(facts: &Facts) -> Choice {
    let noise = crate::noise(facts.dataset);
    let (noisiest, level) = noise
        .iter()
        .copied()
        .enumerate()
        .fold((0, 0.0), |worst, one| if one.1 > worst.1 { one } else { worst });
    let why = (level > NOISE).then(|| {
        let name = &facts.dataset.state()[noisiest];
        let share = short(100.0 * level);
        if level < UNRESOLVED {
            format!("`{name}` has noise of about {share} % of its standard deviation")
        } else {
            format!(
                "`{name}` jumps from row to row, by noise or by motion that the rows do not resolve: treated as noise"
            )
        }
    });
    let large = facts.dataset.rows() > LARGE;
    let mut choice = match why {
        why if large => large::choose(facts, why),
        Some(why) => noisy(facts, why),
        None => clean(facts),
    };
    let on_grid = match facts.solver.control() {
        Control::Grid { substeps } => Some(substeps),
        Control::Adaptive(_) => None,
    };
    let substeps = match on_grid {
        Some(_) => facts.substeps(if level > NOISE { CHANGE_WITH_NOISE } else { CHANGE }),
        None => 1,
    };
    if substeps > 1 {
        let steps = substeps * on_grid.unwrap_or(1);
        choice.remarks.push(format!("the rows are far apart: {steps} solver steps per interval"));
    }
    if !facts.strategy.is_smooth() {
        if !large {
            choice.phases = adam::phases(facts);
        }
        choice
            .remarks
            .push("the strategy has kinks or jumps, where L-BFGS stalls: Adam instead".to_owned());
    }
    for phase in &mut choice.phases {
        phase.substeps = substeps;
    }
    choice
}

/// Without noise: the closest fit, unless the rows are too few to detect weak noise.
fn clean(facts: &Facts) -> Choice {
    let missing = facts.dataset.missing();
    let free = missing > 0;
    let mut phases = lbfgs::phases(facts, free);
    let mut remarks = vec!["no noise found: L-BFGS".to_owned()];
    let rows = facts.dataset.measured_rows();
    if rows < ROWS_THAT_SHOW_NOISE {
        for phase in &mut phases {
            phase.optimiser = CAUTIOUS;
        }
        remarks.push(format!(
            "{rows} rows are too few to detect weak noise: L-BFGS with the settings for noisy data"
        ));
    }
    remarks.push(match lbfgs::segments(facts) {
        Some(steps) => {
            format!("multiple shooting on {steps}-step segments first, then the full trajectory")
        }
        None => "the trajectories are too short for multiple shooting".to_owned(),
    });
    if free {
        remarks.push(format!(
            "{missing} cells are missing: the states from which segments start are trained"
        ));
    }
    let start = if free { Start::Table } else { Start::Random };
    Choice { start, remarks, ..Choice::with_remedies(phases) }
}

/// With noise: multiple shooting with free starts, then full trajectories with trained initial states,
/// with early stopping or weight decay.
fn noisy(facts: &Facts, why: String) -> Choice {
    let mut phases = vec![phase(CAUTIOUS, WITH_NOISE, Shooting::Single)];
    let initial_state = facts.given.initial_state.unwrap_or(true);
    let mut remarks = vec![why];
    if initial_state {
        remarks.push("initial states are trained".to_owned());
    }
    if let Some(steps) = lbfgs::segments(facts) {
        phases.insert(0, phase(CAUTIOUS, ON_SEGMENTS, Shooting::Multiple { steps, free: true }));
        remarks.push(format!(
            "multiple shooting on {steps}-step segments first, then the full trajectory"
        ));
    }
    let start = Start::Table;
    let mut choice = Choice { initial_state, start, ..Choice::with_remedies(phases) };
    let rows = facts.dataset.measured_rows();
    let enough = rows >= ROWS_TO_HOLD_OUT;
    choice.validation = facts.given.validation.unwrap_or(if enough { HELD_OUT } else { 0.0 });
    let held_out = split(facts.dataset, choice.validation, initial_state).1;
    if let Some(held_out) = &held_out {
        let what = if holds_out_trajectories(facts.dataset, initial_state) {
            let (count, of) = (held_out.trajectories().len(), facts.dataset.trajectories().len());
            format!("the last {count} of {of} trajectories are")
        } else {
            format!("the last {} % of the rows are", short(100.0 * choice.validation))
        };
        remarks.push(format!("{what} held out; training stops where their error is smallest"));
    } else {
        choice.validation = 0.0;
    }
    choice.decay = facts.given.decay.unwrap_or(if held_out.is_some() { 0.0 } else { DECAY });
    if choice.decay > 0.0 {
        let decay = short(choice.decay);
        let why = match (facts.given, held_out) {
            (Given { decay: Some(_), .. }, _) | (_, Some(_)) => String::new(),
            (Given { validation: Some(_), .. }, None) => "no row is held out: ".to_owned(),
            (_, None) if enough => "the rows to hold out have no measurement: ".to_owned(),
            (_, None) => format!("{rows} rows are too few to hold some out: "),
        };
        remarks.push(format!("{why}weight decay {decay}"));
    }
    Choice { remarks, ..choice }
}
