//! `optimiser` of `[training]` or of a phase: a name, or a table.
//!
//! | key | default | range | purpose |
//! |---|---|---|---|
//! | `kind` | `"adam"` | [`OptimiserKind::NAMES`] | the optimiser |
//! | `schedule` | `"constant"` | [`Schedule::NAMES`] | how the learning rate changes over the iterations |
//! | `last-rate` | 0.01 | above 0, at most 1 | rate at the end of `cosine` and `exponential`, as a fraction of `rate` |
//! | `warm-up` | 0; a tenth of `iterations` with `schedule = "warm-up"` | 0 to `iterations` | iterations over which the rate rises linearly to its full value |
//!
//! `schedule`, `last-rate` and `warm-up` apply to optimisers with a learning rate. Each optimiser has
//! keys of its own ([`OptimiserKind::keys`]): `adam` the fields of
//! [`AdamSettings`](lawful::optimiser::AdamSettings), `lbfgs` those of
//! [`LbfgsSettings`](lawful::optimiser::LbfgsSettings).

use lawful::optimiser::OptimiserKind;
use lawful::{RateDecay, Schedule};

use super::complete::{self, Table};
use super::section::Section;
use super::settings;
use super::value::{FACTOR, Value};
use crate::diagnostic::Diagnostic;

/// The keys that do not belong to one optimiser.
pub(crate) const KEYS: &[&str] = &["kind", "schedule", "last-rate", "warm-up"];
/// Of those, the keys that need a learning rate.
const SCHEDULE_KEYS: [&str; 3] = ["schedule", "last-rate", "warm-up"];

/// All keys of `optimiser`.
pub(crate) fn keys() -> Vec<&'static str> {
    let mut keys = KEYS.to_vec();
    for kind in OptimiserKind::all() {
        keys.extend(kind.keys().iter().map(|key| key.name));
    }
    keys
}

/// How the rate decreases, by the name of the schedule.
const DECAYS: [(&str, RateDecay); 3] = [
    ("constant", RateDecay::Constant),
    ("cosine", RateDecay::Cosine),
    ("exponential", RateDecay::Exponential),
];

/// Reads the optimiser of a training of this many iterations.
pub(crate) fn read(
    value: Option<Value>,
    iterations: usize,
) -> Result<(OptimiserKind, Schedule), Diagnostic> {
    let constant = Schedule { iterations, ..Schedule::constant() };
    let words: Vec<_> = OptimiserKind::NAMES.iter().map(|&(word, _)| (word, word)).collect();
    let of_name = |name: &str| OptimiserKind::from_name(name).unwrap_or_default();
    let Some(value) = value else { return Ok((OptimiserKind::default(), constant)) };
    if value.is_text() {
        return Ok((of_name(value.word("optimiser", &words)?), constant));
    }
    let mut section = value.table_or("a name or a table", "\"adam\"")?;
    section.only(&keys())?;
    let mut kind = match section.take("kind") {
        None => OptimiserKind::default(),
        Some(value) => of_name(value.word("optimiser", &words)?),
    };
    refuse_foreign_keys(&mut section, &kind)?;
    for key in kind.keys() {
        if let Some(value) = section.take(key.name) {
            let setting = settings::read(value, &key, kind.get(key.name).as_ref(), &[])?;
            assert!(kind.set(key.name, setting), "`{}` is read as what it may be", key.name);
        }
    }
    let schedule = read_schedule(section, constant)?;
    Ok((kind, schedule))
}

/// Returns an error for a key of another optimiser, which would have no effect.
fn refuse_foreign_keys(section: &mut Section, kind: &OptimiserKind) -> Result<(), Diagnostic> {
    let has = |kind: &OptimiserKind, key: &str| {
        kind.keys().iter().any(|known| known.name == key)
            || (SCHEDULE_KEYS.contains(&key) && kind.rate().is_some())
    };
    for key in keys().into_iter().filter(|key| *key != "kind" && !has(kind, key)) {
        if let Some(value) = section.take(key) {
            let others = OptimiserKind::all().into_iter().filter(|other| has(other, key));
            let others: Vec<String> =
                others.map(|other| format!("`kind = \"{}\"`", other.name())).collect();
            return Err(value
                .error(format!("the optimiser `{}` has no key `{key}`", kind.name()))
                .with_hint(format!("leave it out, or write {}", others.join(" or "))));
        }
    }
    Ok(())
}

fn read_schedule(mut section: Section, mut schedule: Schedule) -> Result<Schedule, Diagnostic> {
    let iterations = schedule.iterations;
    if let Some(value) = section.take("schedule") {
        let word = value.word("schedule", &Schedule::NAMES.map(|name| (name, name)))?;
        schedule = Schedule::from_name(word, iterations).unwrap_or(schedule);
    }
    if let Some(value) = section.take("last-rate") {
        if schedule.decay == RateDecay::Constant {
            return Err(value
                .error("`last-rate` has no effect with a constant rate")
                .with_hint("leave it out, or add `schedule = \"cosine\"`"));
        }
        schedule.last = value.number(FACTOR, "0.01")?;
    }
    if let Some(value) = section.take("warm-up") {
        schedule.warm_up = value.count(0..=iterations as u64, "0")?;
    }
    Ok(schedule)
}

/// The table with every key.
pub(crate) fn write(optimiser: &OptimiserKind, schedule: &Schedule) -> Table {
    let mut table = complete::table([("kind", optimiser.name().into())]);
    for key in optimiser.keys() {
        let setting = optimiser.get(key.name);
        if let Some(value) = setting.and_then(|setting| settings::write(&setting, &[])) {
            table.insert(key.name.to_owned(), value);
        }
    }
    if optimiser.rate().is_some() {
        table.insert("schedule".to_owned(), complete::word(&DECAYS, schedule.decay));
        if schedule.decay != RateDecay::Constant {
            table.insert("last-rate".to_owned(), schedule.last.into());
        }
        table.insert("warm-up".to_owned(), complete::whole(schedule.warm_up));
    }
    table
}
