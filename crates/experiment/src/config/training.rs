//! `[training]`: how the network's parameters are found.
//!
//! | key | default | range | purpose |
//! |---|---|---|---|
//! | `recipe` | `"auto"` | [`RECIPES`] | who chooses the phases; not with `optimiser`, `iterations`, `batch` or `phase` |
//! | `optimiser` | `"adam"` | [`OPTIMISERS`](lawful::optimiser::OPTIMISERS) | what moves the parameters, in a training of one phase; a word or a table, see [`super::optimiser`] |
//! | `iterations` | 10 000 | ≥ 1 | optimiser steps, in a training of one phase |
//! | `batch` | all data | a table | `{ trajectories = 4 }` or `{ windows = 8, rows = 20 }`, drawn anew in every iteration |
//! | `phase` | one phase | a list of tables | several phases, see [`super::phase`] |
//! | `loss` | `"mse"` | [`Loss::NAMES`] | how an error counts; `{ kind = "huber", delta = 1.0 }` |
//! | `scale` | `"auto"`; `"none"` with `recipe = "paper"` | `"auto"`, `"none"` | whether the network and the objective work in units of order one, read off the data, or in the data's own |
//! | `initial-state` | `"data"`, or what the recipe chooses | `"data"`, `"train"` | whether paths start at the first row, or at a state that is trained along |
//! | `weight-decay` | 0, or what the recipe chooses | ≥ 0 | adds half of it, times the sum of the network's squared parameters, to the objective |
//! | `validation` | 0, or what the recipe chooses | 0 to below 1 | share of the data that is held out, and on which phases on the whole path stop |
//! | `remedies` | `true` with a recipe other than `"paper"` | | whether a flat or poor fit, one that depends on the solver's steps, and a training that blows up are mended by more phases |
//! | `seed` | 1 | 0 to 2⁵³ | of initial weights and batches |
//!
//! Of `loss`: `kind`, and `delta` (1.0, > 0), the error from which `huber` is linear. Of `batch`:
//! `trajectories` (≥ 1, at most as many as there are), or `windows` (≥ 1) of `rows` (≥ 2) each.
//!
//! With `scale = "auto"`, an error counts in standard deviations of its state variable, and a
//! violation in units of its law's size on the data.

use lawful::{Batch, Dataset, Loss, Sampler};

use super::complete::{self, Table};
use super::laws::WrittenLaw;
use super::section::Section;
use super::value::{BELOW_ONE, LARGEST, NOT_NEGATIVE, POSITIVE, Value};
use super::{optimiser, phase};
use crate::diagnostic::Diagnostic;
use crate::experiment::{Phase, Shooting, Training};
use crate::phrases::counted;
use crate::recipes::{self, Facts, RECIPES};

/// The keys of this section.
pub(crate) const KEYS: &[&str] = &[
    "recipe",
    "optimiser",
    "iterations",
    "batch",
    "phase",
    "loss",
    "scale",
    "initial-state",
    "weight-decay",
    "validation",
    "remedies",
    "seed",
];
/// The keys of `loss`.
pub(crate) const LOSS_KEYS: &[&str] = &["kind", "delta"];
/// The keys of `batch`.
pub(crate) const BATCH_KEYS: &[&str] = &["trajectories", "windows", "rows"];

/// The words of `scale`: whether it is read off the data.
const SCALES: [(&str, bool); 2] = [("auto", true), ("none", false)];
/// The words of `initial-state`: whether it is trained.
const INITIAL_STATES: [(&str, bool); 2] = [("data", false), ("train", true)];

/// The section as written; what a recipe chooses waits for the data.
pub(crate) struct Written<'s> {
    phases: Phases<'s>,
    loss: Loss,
    scale: Option<bool>,
    pub(crate) initial_state: Option<bool>,
    decay: Option<f64>,
    validation: Option<f64>,
    remedies: Option<bool>,
    seed: u64,
}

enum Phases<'s> {
    Recipe(&'static recipes::Recipe),
    Listed(Vec<phase::Written<'s>>),
    /// In the keys of the section itself.
    One(Box<phase::Written<'s>>),
}

impl Written<'_> {
    /// Whether a recipe chooses that does best with a smooth objective.
    pub(crate) fn is_smooth(section: &Section) -> bool {
        let named =
            ["optimiser", "iterations", "batch", "phase"].iter().any(|key| section.has(key));
        !named && section.text("recipe").is_none_or(|recipe| recipe != "paper")
    }
}

/// Reads the section.
pub(crate) fn read<'s>(
    mut section: Section<'s>,
    laws: &[WrittenLaw],
) -> Result<Written<'s>, Diagnostic> {
    let phases = read_phases(&mut section, laws)?;
    let loss = section.take("loss").map_or(Ok(Loss::default()), loss)?;
    let scale = section.take("scale").map(|value| value.word("scale", &SCALES)).transpose()?;
    let initial_state = section
        .take("initial-state")
        .map(|value| value.word("initial state", &INITIAL_STATES))
        .transpose()?;
    let decay =
        section.take("weight-decay").map(|value| value.number(NOT_NEGATIVE, "1e-6")).transpose()?;
    let validation =
        section.take("validation").map(|value| value.number(BELOW_ONE, "0.2")).transpose()?;
    let remedies = section.take("remedies").map(|value| value.flag()).transpose()?;
    let seed = section.take("seed").map_or(Ok(1), |value| value.whole(0..=LARGEST, "1"))?;
    Ok(Written { phases, loss, scale, initial_state, decay, validation, remedies, seed })
}

fn read_phases<'s>(
    section: &mut Section<'s>,
    laws: &[WrittenLaw],
) -> Result<Phases<'s>, Diagnostic> {
    let single = ["optimiser", "iterations", "batch"];
    let recipe = section.take("recipe");
    if let Some(value) = &recipe {
        for key in single.iter().chain(&["phase"]) {
            if section.has(key) {
                return Err(value
                    .error(format!("`recipe` chooses what `{key}` says"))
                    .with_hint(format!("leave one of the two out: `recipe` or `{key}`")));
            }
        }
    }
    if let Some(value) = section.take("phase") {
        for key in single {
            if let Some(mark) = section.peek(key) {
                return Err(mark
                    .error(format!("with phases, each phase has its own `{key}`"))
                    .with_hint("write it below `[[training.phase]]`"));
            }
        }
        return Ok(Phases::Listed(phase::read(value, laws)?));
    }
    if single.iter().any(|key| section.has(key)) {
        let iterations = section
            .take("iterations")
            .map_or(Ok(10_000), |value| value.count(1..=LARGEST, "10000"))?;
        let (optimiser, schedule) = optimiser::read(section.take("optimiser"), iterations)?;
        let batch = section.take("batch");
        let mark = batch.as_ref().map(Value::mark);
        let batch = batch.map_or(Ok(Batch::Full), read_batch)?;
        let phase = Phase {
            optimiser,
            schedule,
            iterations,
            shooting: Shooting::Single,
            batch,
            strategy: None,
            substeps: 1,
        };
        let written = phase::Written { phase, batch: mark, segments: None };
        written.check_batch()?;
        return Ok(Phases::One(Box::new(written)));
    }
    let words: Vec<_> = RECIPES.iter().map(|recipe| (recipe.name, recipe)).collect();
    let recipe = recipe.map_or(Ok(&RECIPES[0]), |value| value.word("recipe", &words))?;
    Ok(Phases::Recipe(recipe))
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

pub(super) fn read_batch(value: Value) -> Result<Batch, Diagnostic> {
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

/// The training as meant, now that the data are known.
pub(crate) fn complete(written: &Written, facts: &Facts) -> Result<Training, Diagnostic> {
    let (choice, recipe) = match &written.phases {
        Phases::Recipe(recipe) => ((recipe.choose)(facts), Some(recipe.name)),
        Phases::Listed(phases) => {
            for phase in phases {
                check(phase, facts.dataset, written.seed)?;
            }
            (recipes::Choice::of(phases.iter().map(|phase| phase.phase.clone()).collect()), None)
        }
        Phases::One(phase) => {
            check(phase, facts.dataset, written.seed)?;
            (recipes::Choice::of(vec![phase.phase.clone()]), None)
        }
    };
    Ok(Training {
        loss: written.loss,
        scale: written.scale.unwrap_or(choice.scale),
        initial_state: written.initial_state.unwrap_or(choice.initial_state),
        decay: written.decay.unwrap_or(choice.decay),
        validation: written.validation.unwrap_or(choice.validation),
        remedies: written.remedies.unwrap_or(choice.remedies),
        seed: written.seed,
        phases: choice.phases,
        recipe,
        remarks: choice.remarks,
    })
}

/// Whether a phase can look at these data.
fn check(written: &phase::Written, data: &Dataset, seed: u64) -> Result<(), Diagnostic> {
    let longest = data.trajectories().iter().map(lawful::Trajectory::len).max().unwrap_or(0);
    if let (Shooting::Multiple { steps, .. }, Some(mark)) =
        (written.phase.shooting, &written.segments)
        && steps >= longest
    {
        let error = mark.error(format!(
            "segments of {steps} steps, but the longest trajectory has {}",
            counted(longest.saturating_sub(1), "step")
        ));
        return Err(error.with_hint("use shorter segments, or leave `segments` out"));
    }
    let Some(mark) = &written.batch else { return Ok(()) };
    let batch = written.phase.batch;
    let trajectories = data.trajectories().len();
    if let Batch::Trajectories { count } = batch
        && count > trajectories
    {
        let found = counted(trajectories, "trajectory");
        let error =
            mark.error(format!("a batch of {count} trajectories, but the data have {found}"));
        return Err(error.with_hint("leave `batch` out to train on all data at once"));
    }
    if let Batch::Windows { rows, .. } = batch
        && rows > longest
    {
        let error = mark.error(format!(
            "windows of {rows} rows, but the longest trajectory has {}",
            counted(longest, "row")
        ));
        return Err(error.with_hint("use shorter windows, or leave `batch` out"));
    }
    match Sampler::new(batch, data, seed) {
        Some(_) => Ok(()),
        None => Err(mark.error("no window begins with a row in which every state is measured")),
    }
}

/// The section with every key: what a recipe has chosen is written out as phases.
pub(crate) fn write(training: &Training) -> Table {
    let loss = match training.loss {
        loss @ Loss::Huber { delta } => {
            complete::table([("kind", loss.name().into()), ("delta", delta.into())]).into()
        }
        loss => loss.name().into(),
    };
    let mut table = complete::table([
        ("loss", loss),
        ("scale", complete::word(&SCALES, training.scale)),
        ("initial-state", complete::word(&INITIAL_STATES, training.initial_state)),
        ("weight-decay", training.decay.into()),
        ("validation", training.validation.into()),
        ("remedies", training.remedies.into()),
        ("seed", complete::whole(training.seed)),
    ]);
    match &training.phases[..] {
        [phase] if phase.is_plain() => {
            let optimiser = optimiser::write(&phase.optimiser, &phase.schedule);
            table.insert("optimiser".to_owned(), optimiser.into());
            table.insert("iterations".to_owned(), complete::whole(phase.iterations));
            if let Some(batch) = write_batch(&phase.batch) {
                table.insert("batch".to_owned(), batch.into());
            }
        }
        phases => {
            table.insert("phase".to_owned(), phase::write(phases));
        }
    }
    table
}

pub(super) fn write_batch(batch: &Batch) -> Option<Table> {
    match *batch {
        Batch::Full => None,
        Batch::Trajectories { count } => {
            Some(complete::table([("trajectories", complete::whole(count))]))
        }
        Batch::Windows { count, rows } => Some(complete::table([
            ("windows", complete::whole(count)),
            ("rows", complete::whole(rows)),
        ])),
    }
}
