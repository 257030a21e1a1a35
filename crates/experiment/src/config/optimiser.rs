//! `optimiser`, of `[training]` or of a phase: a word, or a table.
//!
//! | key | default | range | purpose |
//! |---|---|---|---|
//! | `kind` | `"adam"` | [`OPTIMISERS`] | which one |
//! | `rate` | 1e-3 | > 0 | `adam`: learning rate |
//! | `beta1` | 0.9 | 0 to below 1 | `adam`: memory of the mean of gradients |
//! | `beta2` | 0.999 | 0 to below 1 | `adam`: memory of the mean of squared gradients |
//! | `epsilon` | 1e-8 | > 0 | `adam`: keeps the division finite |
//! | `clip` | none | > 0 | `adam`: largest norm of a gradient |
//! | `schedule` | `"constant"` | [`Schedule::NAMES`] | `adam`: how the rate changes over the iterations |
//! | `last-rate` | 0.01 | above 0, at most 1 | `adam`: factor of the rate at the end of `cosine` and `exponential` |
//! | `warm-up` | 0; a tenth of all with `schedule = "warm-up"` | up to `iterations` | `adam`: iterations over which the rate rises to its full value |
//! | `memory` | 400 | ≥ 1 | `lbfgs`: pairs of steps and gradient changes that are kept |
//! | `scaling` | `"every"` | `"every"`, `"newest"` | `lbfgs`: every pair corrects the scale, or the newest sets it |

use lawful::optimiser::{AdamSettings, LbfgsScaling, LbfgsSettings, OPTIMISERS};
use lawful::{RateDecay, Schedule};

use super::complete::{self, Table};
use super::section::Section;
use super::value::{BELOW_ONE, FACTOR, POSITIVE, Value};
use crate::diagnostic::Diagnostic;
use crate::experiment::OptimiserSettings;

/// The keys of `optimiser`.
pub(crate) const KEYS: &[&str] = &[
    "kind",
    "rate",
    "beta1",
    "beta2",
    "epsilon",
    "clip",
    "schedule",
    "last-rate",
    "warm-up",
    "memory",
    "scaling",
];

/// Most pairs that L-BFGS may keep.
const MOST_PAIRS: u64 = 10_000;

/// Schedules with their course.
const DECAYS: [(&str, RateDecay); 3] = [
    ("constant", RateDecay::Constant),
    ("cosine", RateDecay::Cosine),
    ("exponential", RateDecay::Exponential),
];

/// Reads the optimiser of a training of this many iterations.
pub(crate) fn read(
    value: Option<Value>,
    iterations: usize,
) -> Result<(OptimiserSettings, Schedule), Diagnostic> {
    let constant = Schedule { iterations, ..Schedule::constant() };
    let words: Vec<_> = OPTIMISERS.iter().map(|&(word, _)| (word, word)).collect();
    let of_kind = |kind| match kind {
        "lbfgs" => OptimiserSettings::Lbfgs(LbfgsSettings::default()),
        _ => OptimiserSettings::Adam(AdamSettings::default()),
    };
    let Some(value) = value else { return Ok((of_kind("adam"), constant)) };
    if value.is_text() {
        return Ok((of_kind(value.word("optimiser", &words)?), constant));
    }
    let mut section = value.table_or("a word or a table", "\"adam\"")?;
    section.only(KEYS)?;
    let kind = section.take("kind").map_or(Ok("adam"), |value| value.word("optimiser", &words))?;
    if kind == "lbfgs" {
        refuse(&mut section, kind, &KEYS[1..9])?;
        let mut settings = LbfgsSettings::default();
        if let Some(value) = section.take("memory") {
            settings.memory = value.count(1..=MOST_PAIRS, "400")?;
        }
        if let Some(value) = section.take("scaling") {
            settings.scaling = value.word("scaling", &LbfgsScaling::NAMES)?;
        }
        return Ok((OptimiserSettings::Lbfgs(settings), constant));
    }
    refuse(&mut section, kind, &KEYS[9..])?;
    let (settings, schedule) = adam(section, constant)?;
    Ok((OptimiserSettings::Adam(settings), schedule))
}

/// A key of another optimiser is a mistake that would go unnoticed.
fn refuse(section: &mut Section, kind: &str, keys: &[&str]) -> Result<(), Diagnostic> {
    for key in keys {
        if let Some(value) = section.take(key) {
            let other = if kind == "adam" { "lbfgs" } else { "adam" };
            return Err(value
                .error(format!("`{key}` has no meaning for the optimiser `{kind}`"))
                .with_hint(format!("leave it out, or write `kind = \"{other}\"`")));
        }
    }
    Ok(())
}

fn adam(
    mut section: Section,
    mut schedule: Schedule,
) -> Result<(AdamSettings, Schedule), Diagnostic> {
    let mut settings = AdamSettings::default();
    let iterations = schedule.iterations;
    for (key, number, bounds, example) in [
        ("rate", &mut settings.rate, POSITIVE, "1e-3"),
        ("beta1", &mut settings.beta1, BELOW_ONE, "0.9"),
        ("beta2", &mut settings.beta2, BELOW_ONE, "0.999"),
        ("epsilon", &mut settings.epsilon, POSITIVE, "1e-8"),
    ] {
        if let Some(value) = section.take(key) {
            *number = value.number(bounds, example)?;
        }
    }
    settings.clip = section.take("clip").map(|value| value.number(POSITIVE, "1.0")).transpose()?;
    if let Some(value) = section.take("schedule") {
        let word = value.word("schedule", &Schedule::NAMES.map(|name| (name, name)))?;
        schedule = Schedule::from_name(word, iterations).unwrap_or(schedule);
    }
    if let Some(value) = section.take("last-rate") {
        if schedule.decay == RateDecay::Constant {
            return Err(value
                .error("`last-rate` has no meaning for a constant rate")
                .with_hint("leave it out, or add `schedule = \"cosine\"`"));
        }
        schedule.last = value.number(FACTOR, "0.01")?;
    }
    if let Some(value) = section.take("warm-up") {
        schedule.warm_up = value.count(0..=iterations as u64, "0")?;
    }
    Ok((settings, schedule))
}

/// The table with every key.
pub(crate) fn write(optimiser: &OptimiserSettings, schedule: &Schedule) -> Table {
    match *optimiser {
        OptimiserSettings::Lbfgs(LbfgsSettings { memory, scaling }) => complete::table([
            ("kind", "lbfgs".into()),
            ("memory", complete::whole(memory)),
            ("scaling", scaling.name().into()),
        ]),
        OptimiserSettings::Adam(AdamSettings { rate, beta1, beta2, epsilon, clip }) => {
            let mut adam = complete::table([
                ("kind", "adam".into()),
                ("rate", rate.into()),
                ("beta1", beta1.into()),
                ("beta2", beta2.into()),
                ("epsilon", epsilon.into()),
            ]);
            if let Some(clip) = clip {
                adam.insert("clip".to_owned(), clip.into());
            }
            adam.insert("schedule".to_owned(), complete::word(&DECAYS, schedule.decay));
            if schedule.decay != RateDecay::Constant {
                adam.insert("last-rate".to_owned(), schedule.last.into());
            }
            adam.insert("warm-up".to_owned(), complete::whole(schedule.warm_up));
            adam
        }
    }
}
