//! `[training]`: how the network's parameters are found.
//!
//! | key | default | range | purpose |
//! |---|---|---|---|
//! | `loss` | `"mse"` | [`Loss::NAMES`] | how an error counts; `{ kind = "huber", delta = 1.0 }` |
//! | `optimiser` | `"adam"` | [`OPTIMISERS`] | what moves the parameters; a word or the table below |
//! | `iterations` | 10 000 | ≥ 1 | optimiser steps |
//! | `seed` | 1 | 0 to 2⁵³ | of initial weights and batches |
//! | `batch` | all data | a table | `{ trajectories = 4 }` or `{ windows = 8, rows = 20 }`, drawn anew in every iteration |
//!
//! Of `loss`: `kind`, and `delta` (1.0, > 0), the error from which `huber` is linear. Of `batch`:
//! `trajectories` (≥ 1, at most as many as there are), or `windows` (≥ 1) of `rows` (≥ 2) each.
//! Of `optimiser`:
//!
//! | key | default | range | purpose |
//! |---|---|---|---|
//! | `kind` | `"adam"` | [`OPTIMISERS`] | which one |
//! | `rate` | 1e-3 | > 0 | learning rate |
//! | `beta1` | 0.9 | 0 to below 1 | memory of the mean of gradients |
//! | `beta2` | 0.999 | 0 to below 1 | memory of the mean of squared gradients |
//! | `epsilon` | 1e-8 | > 0 | keeps the division finite |
//! | `clip` | none | > 0 | largest norm of a gradient |
//! | `schedule` | `"constant"` | [`Schedule::NAMES`] | how the rate changes over the iterations |
//! | `last-rate` | 0.01 | above 0, at most 1 | factor of the rate at the end of `cosine` and `exponential` |
//! | `warm-up` | 0; a tenth of all with `schedule = "warm-up"` | up to `iterations` | iterations over which the rate rises to its full value |

use lawful::optimiser::{AdamSettings, OPTIMISERS};
use lawful::{Batch, Course, Dataset, Loss, Sampler, Schedule};

use super::complete::{self, Table};
use super::section::Section;
use super::value::{BELOW_ONE, FACTOR, LARGEST, Mark, POSITIVE, Value};
use super::words::counted;
use crate::diagnostic::Diagnostic;
use crate::experiment::Training;

/// The keys of this section.
pub(crate) const KEYS: &[&str] = &["loss", "optimiser", "iterations", "seed", "batch"];
/// The keys of `loss`.
pub(crate) const LOSS_KEYS: &[&str] = &["kind", "delta"];
/// The keys of `optimiser`.
pub(crate) const OPTIMISER_KEYS: &[&str] =
    &["kind", "rate", "beta1", "beta2", "epsilon", "clip", "schedule", "last-rate", "warm-up"];
/// The keys of `batch`.
pub(crate) const BATCH_KEYS: &[&str] = &["trajectories", "windows", "rows"];

/// Schedules with their course.
const COURSES: [(&str, Course); 3] = [
    ("constant", Course::Constant),
    ("cosine", Course::Cosine),
    ("exponential", Course::Exponential),
];

/// Reads the section; also says where `batch` is.
pub(crate) fn read(mut section: Section<'_>) -> Result<(Training, Option<Mark<'_>>), Diagnostic> {
    let iterations =
        section.take("iterations").map_or(Ok(10_000), |value| value.count(1..=LARGEST, "10000"))?;
    let loss = section.take("loss").map_or(Ok(Loss::default()), loss)?;
    let (optimiser, schedule) = optimiser(section.take("optimiser"), iterations)?;
    let seed = section.take("seed").map_or(Ok(1), |value| value.whole(0..=LARGEST, "1"))?;
    let batch = section.take("batch");
    let mark = batch.as_ref().map(Value::mark);
    let batch = batch.map_or(Ok(Batch::Full), read_batch)?;
    Ok((Training { loss, optimiser, schedule, iterations, seed, batch }, mark))
}

fn loss(value: Value) -> Result<Loss, Diagnostic> {
    let words =
        [(Loss::Mse.name(), Loss::Mse), (Loss::Mae.name(), Loss::Mae), (HUBER.name(), HUBER)];
    if value.is_text() {
        return value.word("loss", &words);
    }
    let mut section = value.table_or("a word or a table", "\"mse\"")?;
    section.only(LOSS_KEYS)?;
    let kind = section.need("kind", "because it says which loss is meant", "\"huber\"")?;
    match (kind.word("loss", &words)?, section.take("delta")) {
        (loss, None) => Ok(loss),
        (Loss::Huber { .. }, Some(delta)) => {
            Ok(Loss::Huber { delta: delta.number(POSITIVE, "1.0")? })
        }
        (loss, Some(delta)) => Err(delta
            .error(format!("`delta` has no meaning for the loss `{}`", loss.name()))
            .with_hint("leave it out, or write `kind = \"huber\"`")),
    }
}

/// The default of `delta`.
const HUBER: Loss = Loss::Huber { delta: 1.0 };

fn optimiser(
    value: Option<Value>,
    iterations: usize,
) -> Result<(AdamSettings, Schedule), Diagnostic> {
    let mut settings = AdamSettings::default();
    let mut schedule = Schedule { iterations, ..Schedule::constant() };
    let words: Vec<_> = OPTIMISERS.iter().map(|&(word, _)| (word, ())).collect();
    let Some(value) = value else { return Ok((settings, schedule)) };
    if value.is_text() {
        value.word("optimiser", &words)?;
        return Ok((settings, schedule));
    }
    let mut section = value.table_or("a word or a table", "\"adam\"")?;
    section.only(OPTIMISER_KEYS)?;
    section.take("kind").map_or(Ok(()), |value| value.word("optimiser", &words))?;
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
        if schedule.course == Course::Constant {
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

fn read_batch(value: Value) -> Result<Batch, Diagnostic> {
    let example = "{ trajectories = 4 }` or `batch = { windows = 8, rows = 20 }";
    let mut section = value.table(example)?;
    section.only(BATCH_KEYS)?;
    let many = 1..=LARGEST;
    match (section.take("trajectories"), section.take("windows"), section.take("rows")) {
        (Some(count), None, None) => Ok(Batch::Trajectories { count: count.count(many, "4")? }),
        (None, Some(count), Some(rows)) => Ok(Batch::Windows {
            count: count.count(many, "8")?,
            rows: rows.count(2..=LARGEST, "20")?,
        }),
        _ => Err(section
            .error("`batch` needs either `trajectories`, or `windows` with `rows`")
            .with_hint(format!("for example `batch = {example}`"))),
    }
}

/// Whether the batch can be drawn from these data.
pub(crate) fn check_batch(
    training: &Training,
    data: &Dataset,
    mark: Option<&Mark>,
) -> Result<(), Diagnostic> {
    let Some(mark) = mark else { return Ok(()) };
    let trajectories = data.trajectories().len();
    if let Batch::Trajectories { count } = training.batch
        && count > trajectories
    {
        let found = counted(trajectories, "trajectory");
        let error =
            mark.error(format!("a batch of {count} trajectories, but the data have {found}"));
        return Err(error.with_hint("leave `batch` out to train on all data at once"));
    }
    let longest = data.trajectories().iter().map(lawful::Trajectory::len).max().unwrap_or(0);
    if let Batch::Windows { rows, .. } = training.batch
        && rows > longest
    {
        let error = mark.error(format!(
            "windows of {rows} rows, but the longest trajectory has {}",
            counted(longest, "row")
        ));
        return Err(error.with_hint("use shorter windows, or leave `batch` out"));
    }
    match Sampler::new(training.batch, data, training.seed) {
        Some(_) => Ok(()),
        None => Err(mark.error("no window begins with a row in which every state is measured")),
    }
}

/// The section with every key.
pub(crate) fn write(training: &Training) -> Table {
    let Training { loss, optimiser, schedule, iterations, seed, batch } = training;
    let loss = match *loss {
        Loss::Huber { delta } => {
            complete::table([("kind", loss.name().into()), ("delta", delta.into())]).into()
        }
        loss => loss.name().into(),
    };
    let AdamSettings { rate, beta1, beta2, epsilon, clip } = *optimiser;
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
    adam.insert("schedule".to_owned(), complete::word(&COURSES, schedule.course));
    if schedule.course != Course::Constant {
        adam.insert("last-rate".to_owned(), schedule.last.into());
    }
    adam.insert("warm-up".to_owned(), complete::whole(schedule.warm_up));
    let mut table = complete::table([
        ("loss", loss),
        ("optimiser", adam.into()),
        ("iterations", complete::whole(*iterations)),
        ("seed", complete::whole(*seed)),
    ]);
    let batch = match *batch {
        Batch::Full => return table,
        Batch::Trajectories { count } => {
            complete::table([("trajectories", complete::whole(count))])
        }
        Batch::Windows { count, rows } => {
            complete::table([("windows", complete::whole(count)), ("rows", complete::whole(rows))])
        }
    };
    table.insert("batch".to_owned(), batch.into());
    table
}
