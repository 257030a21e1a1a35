//! Looks at the data and chooses.

use super::{CAUTIOUS, Choice, Facts, Recipe, UNRESOLVED, adam, lbfgs, phase};
use crate::experiment::Shooting;
use crate::number::short;

pub(super) const RECIPE: Recipe = Recipe {
    name: "auto",
    help: "looks at length, noise and gaps of the data, and says what it chose and why",
    choose,
};

/// Noise above this share of a state's standard deviation counts as noise.
const NOISE: f64 = 2e-3;
/// Largest change in a step of the solver, in standard deviations, with noise and without: the error
/// of the steps, which grows with its fourth power, should not be what limits a fit.
const CHANGE_WITH_NOISE: f64 = 0.25;
const CHANGE: f64 = 0.1;
/// Evaluations with noise, on segments and on the whole path.
const ON_SEGMENTS: usize = 299;
const WITH_NOISE: usize = 1999;
/// Rows from which on data that look clean are. Fewer hide a little noise, which a close fit follows: 20 rows
/// of an oscillator with 1 % ended 4 to 6 times further from the truth with what is best for clean data.
const ROWS_THAT_SHOW_NOISE: usize = 100;
/// Share of the data that is held out with noise, and rows of which it takes that many at least.
const HELD_OUT: f64 = 0.2;
const ROWS_TO_HOLD_OUT: usize = 100;
/// Weight decay with noise where nothing is held out.
const DECAY: f64 = 1e-5;

fn choose(facts: &Facts) -> Choice {
    let noise = lawful::noise(facts.dataset);
    let (noisiest, level) = noise
        .iter()
        .copied()
        .enumerate()
        .fold((0, 0.0), |worst, one| if one.1 > worst.1 { one } else { worst });
    let mut choice = if level > NOISE {
        let name = &facts.dataset.state()[noisiest];
        let share = short(100.0 * level);
        let why = if level < UNRESOLVED {
            format!("`{name}` has noise of about {share} % of its standard deviation")
        } else {
            format!(
                "`{name}` jumps from row to row: taken for noise, or motion too fast for the rows"
            )
        };
        noisy(facts, why)
    } else {
        clean(facts)
    };
    let substeps = facts.substeps(if level > NOISE { CHANGE_WITH_NOISE } else { CHANGE });
    if substeps > 1 {
        choice.remarks.push(format!(
            "the rows are far apart: {substeps} steps of the solver between two of them"
        ));
    }
    if !facts.is_smooth() {
        choice.phases = adam::phases(facts);
        choice
            .remarks
            .push("the strategy has kinks or jumps, at which L-BFGS stops: Adam".to_owned());
    }
    for phase in &mut choice.phases {
        phase.substeps = substeps;
    }
    choice
}

/// Without noise: as close as arithmetic allows, unless a little noise may be hidden.
fn clean(facts: &Facts) -> Choice {
    let missing = facts.dataset.missing();
    let free = missing > 0;
    let mut phases = lbfgs::phases(facts, free);
    let mut remarks = vec!["the data look smooth: L-BFGS on all of them".to_owned()];
    let rows = facts.dataset.rows();
    if rows < ROWS_THAT_SHOW_NOISE {
        for phase in &mut phases {
            phase.optimiser = CAUTIOUS;
        }
        remarks.push(format!(
            "{rows} rows may hide a little noise, so it is not asked for the closest fit"
        ));
    }
    remarks.push(match lbfgs::segments(facts) {
        Some(steps) => format!(
            "segments of {steps} steps first, which are learned fast and lead to the whole path"
        ),
        None => "the paths are short: no segments".to_owned(),
    });
    if free {
        remarks.push(format!(
            "{missing} cells are missing: segments start from states that are trained along"
        ));
    }
    Choice { remarks, ..Choice::mended(phases) }
}

/// With noise: segments that start anywhere lead to the whole path, whose start is trained too, and
/// not for too long.
fn noisy(facts: &Facts, why: String) -> Choice {
    let mut phases = vec![phase(CAUTIOUS, WITH_NOISE, Shooting::Single)];
    let mut remarks = vec![why, "so initial states are trained along".to_owned()];
    if let Some(steps) = lbfgs::segments(facts) {
        phases.insert(0, phase(CAUTIOUS, ON_SEGMENTS, Shooting::Multiple { steps, free: true }));
        remarks.push(format!(
            "segments of {steps} steps lead to the whole path, on which training ends"
        ));
    }
    let rows = facts.dataset.rows();
    let mut choice = Choice { initial_state: true, ..Choice::mended(phases) };
    if rows >= ROWS_TO_HOLD_OUT {
        choice.validation = HELD_OUT;
        remarks.push(format!(
            "the last {} % of the rows are held out, and training stops where their error is least",
            short(100.0 * HELD_OUT)
        ));
    } else {
        choice.decay = DECAY;
        remarks.push(format!(
            "{rows} rows are too few to hold some out: weight decay {} instead",
            short(DECAY)
        ));
    }
    Choice { remarks, ..choice }
}
