//! Phases for many rows, on all of which one iteration takes seconds: training begins on a part of them, and
//! ends on all.

use super::super::{Phase, Shooting};
use super::{CAUTIOUS, Choice, Facts, adam, phase};
use crate::optimiser::{LbfgsSettings, OptimiserKind, RateDecay, Schedule};

/// Rows above which training begins on a part.
pub(super) const LARGE: usize = 100_000;
/// Rows of the part.
const PART: usize = 20_000;
/// Iterations on the part, on short segments and on long ones; with noise, and with Adam.
const ON_A_PART: [usize; 2] = [999, 999];
const WITH_NOISE: [usize; 2] = [299, 699];
const WITH_ADAM: [usize; 2] = [2999, 2999];
/// Evaluations of rows on all data, and the bounds of the iterations that this makes.
const ROWS_ON_ALL: usize = 100_000_000;
const FEWEST_ON_ALL: usize = 20;
const MOST_ON_ALL: usize = 300;
/// Steps of short segments: in them, states change by about half a standard deviation.
const SHORT: [usize; 2] = [10, 100];
const CHANGE: f64 = 0.5;
/// How much longer long segments are. Full trajectories that are no longer are not cut.
const LONGER: usize = 10;
/// Pairs that L-BFGS keeps with trained starts, whose number grows with the data.
const FEW_PAIRS: usize = 20;

/// Chooses the phases; `noise` says why the data count as noisy, if they do.
pub(super) fn choose(facts: &Facts, noise: Option<String>) -> Choice {
    let (rows, missing) = (facts.dataset.rows(), facts.dataset.missing());
    let noisy = noise.is_some();
    let free = noisy || missing > 0;
    let on_all = (ROWS_ON_ALL / rows).clamp(FEWEST_ON_ALL, MOST_ON_ALL);
    let mut remarks = vec![noise.unwrap_or_else(|| "no noise found".to_owned())];
    remarks.push(format!(
        "{rows} rows: training begins on a part of {PART} rows, and ends with {on_all} iterations on all"
    ));
    let (short, long) = shootings(facts, free);
    let name = |shooting: Shooting| match shooting {
        Shooting::Multiple { steps, .. } => format!("{steps}-step segments"),
        Shooting::Single => "full trajectories".to_owned(),
    };
    remarks.push(match short {
        Some(short) => format!("multiple shooting on {} first, then {}", name(short), name(long)),
        None => format!("the trajectories are short: {}", name(long)),
    });
    if free && (short.is_some() || long != Shooting::Single) {
        remarks.push("the states from which segments start are trained".to_owned());
    }
    let iterations = match (facts.strategy.is_smooth(), noisy) {
        (false, _) => WITH_ADAM,
        (true, true) => WITH_NOISE,
        (true, false) => ON_A_PART,
    };
    let on_part = |(shooting, iterations)| Phase {
        part: Some(PART),
        ..with_optimiser(facts, noisy, iterations, shooting)
    };
    let shootings = short.into_iter().chain([long]).zip(&iterations[2 - count(short)..]);
    let mut phases: Vec<Phase> = shootings.map(|(how, &count)| on_part((how, count))).collect();
    let mut last = with_optimiser(facts, noisy, on_all, long);
    if let (OptimiserKind::Lbfgs(settings), true) = (&mut last.optimiser, free) {
        settings.memory = settings.memory.min(FEW_PAIRS);
    }
    phases.push(last);
    let initial_state = facts.given.initial_state.unwrap_or(noisy);
    if initial_state {
        remarks.push("initial states are trained".to_owned());
    }
    // So many rows need neither held-out data nor decay against the noise.
    Choice { initial_state, remarks, ..Choice::with_remedies(phases) }
}

/// Returns the number of shootings.
fn count(short: Option<Shooting>) -> usize {
    1 + usize::from(short.is_some())
}

fn with_optimiser(facts: &Facts, noisy: bool, iterations: usize, shooting: Shooting) -> Phase {
    if !facts.strategy.is_smooth() {
        let adam = phase(adam::optimiser(), iterations, shooting);
        return Phase { schedule: Schedule { decay: RateDecay::Cosine, ..adam.schedule }, ..adam };
    }
    let close = OptimiserKind::Lbfgs(LbfgsSettings::default());
    phase(if noisy { CAUTIOUS } else { close }, iterations, shooting)
}

/// Returns short segments, if the trajectories are long enough for four of them, and long segments or full
/// trajectories.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped first")]
fn shootings(facts: &Facts, free: bool) -> (Option<Shooting>, Shooting) {
    let [least, most] = SHORT.map(|steps| steps as f64);
    let resolved = (CHANGE / facts.change()).ceil().clamp(least, most) as usize;
    let steps = resolved.min(facts.longest() / 4);
    let long = LONGER * resolved;
    let segments = |steps| Shooting::Multiple { steps, free };
    let short = (steps >= 2).then(|| segments(steps));
    (short, if facts.longest() > long { segments(long) } else { Shooting::Single })
}
