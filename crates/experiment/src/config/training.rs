//! `[training]`: the phases of training, the loss and the units.
//!
//! | key | default | range | purpose |
//! |---|---|---|---|
//! | `recipe` | `"auto"` | [`RECIPES`] | the recipe that selects the phases; not together with `optimiser`, `iterations`, `batch` or `phase` |
//! | `optimiser` | `"adam"` | [`OptimiserKind::NAMES`](lawful::optimiser::OptimiserKind::NAMES) | the optimiser of a training with one phase: a name or a table, see [`super::optimiser`] |
//! | `iterations` | 10 000 | ≥ 1 | evaluations of the objective and its gradient, in a training with one phase |
//! | `batch` | all data | a table | `{ trajectories = 4 }` or `{ windows = 8, rows = 20 }`: a random batch in every iteration, in a training with one phase |
//! | `phase` | selected by the recipe | a list of tables | the phases, one after the other, see [`super::phase`] |
//! | `loss` | `"mse"` | [`Loss::NAMES`], or a table | the loss, for example `{ kind = "huber", delta = 1.0 }` |
//! | `scale` | `"auto"`; `"none"` with `recipe = "paper"` | `"auto"`, `"none"` | `"auto"`: the network and the objective use variables scaled to order one; `"none"`: they use the units of the data |
//! | `initial-state` | `"data"`, or selected by the recipe | `"data"`, `"train"` | `"data"`: trajectories start at their first row; `"train"`: their initial states are trained, too |
//! | `process-noise` | `"none"` | `"none"`, `"estimate"` | `"estimate"`: paths have process noise, normal increments of variance `Q Δt` between segments, whose size the evidence estimates: for systems that their states do not determine. By least squares only, and not with laws that are guaranteed as bounds or directions, or penalised |
//! | `start` | `"random"`, or selected by the recipe | `"table"`, `"random"` | `"table"`: where cells are missing or noisy, first weights and trained starts are matched to the states nearest to the data on which the laws hold; where there are none, `"random"`: random weights |
//! | `weight-decay` | 0, or selected by the recipe | ≥ 0 | adds half of this number, times the sum of the network's squared parameters, to the objective |
//! | `validation` | 0, or selected by the recipe | 0 to below 1 | share of the data that is held out for early stopping of phases on full trajectories |
//! | `remedies` | `true` with a recipe other than `"paper"`, otherwise `false` | `true`, `false` | whether phases are added if the fit is flat or poor, depends on the solver's steps, or diverges; a search by least squares is only repeated with finer steps |
//! | `seed` | 1 | 0 to 2⁵³ | the seed of the initial weights and of batches |
//!
//! Keys of `loss`: `kind`, and `delta` (default 1.0, > 0), the error above which `huber` is linear.
//! Keys of `batch`: `trajectories` (1 to the number of trajectories), or `windows` (≥ 1) and the `rows`
//! of each (≥ 2).
//!
//! With `scale = "auto"`, errors are in standard deviations of their state variable, and violations in
//! units of the size of their law on the data.

use lawful::strategy::StrategySettings;
use lawful::{Batch, Dataset, Loss, Phase, Prepared, RECIPES, Recipe, Sampler, Shooting, Start};

use super::complete::{self, Table};
use super::laws::WrittenLaw;
use super::section::Section;
use super::strategy::Place;
use super::value::{BELOW_ONE, LARGEST, Mark, NOT_NEGATIVE, POSITIVE, Value};
use super::{optimiser, phase};
use crate::diagnostic::Diagnostic;
use crate::phrases::counted;

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
    "process-noise",
    "start",
    "weight-decay",
    "validation",
    "remedies",
    "seed",
];
/// The keys of `loss`.
pub(crate) const LOSS_KEYS: &[&str] = &["kind", "delta"];
/// The keys of `batch`.
pub(crate) const BATCH_KEYS: &[&str] = &["trajectories", "windows", "rows"];

/// The words of `scale`: whether variables are scaled.
const SCALES: [(&str, bool); 2] = [("auto", true), ("none", false)];
/// The words of `initial-state`: whether it is trained.
const INITIAL_STATES: [(&str, bool); 2] = [("data", false), ("train", true)];

/// The words of `process-noise`: whether it is estimated.
const PROCESS_NOISE: [(&str, bool); 2] = [("none", false), ("estimate", true)];

/// The section as written. A recipe selects the phases later, from the data.
pub(crate) struct Written<'s> {
    phases: Phases<'s>,
    loss: Loss,
    scale: Option<bool>,
    pub(crate) initial_state: Option<bool>,
    process_noise: bool,
    start: Option<Start>,
    decay: Option<f64>,
    validation: Option<f64>,
    remedies: Option<bool>,
    pub(crate) seed: u64,
}

enum Phases<'s> {
    Recipe(&'static Recipe),
    Listed(Vec<phase::Written<'s>>),
    /// In the keys of the section itself.
    One(Box<phase::Written<'s>>),
}

impl Written<'_> {
    /// Returns where the strategy of this training is written.
    pub(crate) fn place(section: &Section) -> Place {
        match Self::recipe(section) {
            _ if Self::names_phases(section) => Place::Listed,
            Some(recipe) if !recipe.smooth => Place::Paper,
            _ => Place::SmoothRecipe,
        }
    }

    /// Returns the widths of the hidden layers of a file that gives none.
    pub(crate) fn hidden(section: &Section) -> &'static [usize] {
        Self::recipe(section).map_or(RECIPES[0].hidden, |recipe| recipe.hidden)
    }

    /// Returns the recipe that selects the phases, if one does.
    fn recipe(section: &Section) -> Option<&'static Recipe> {
        let named = Self::names_phases(section);
        let recipe = section.text("recipe").unwrap_or(RECIPES[0].name);
        RECIPES.iter().find(|known| !named && known.name == recipe)
    }

    /// Returns whether the section names phases itself.
    fn names_phases(section: &Section) -> bool {
        ["optimiser", "iterations", "batch", "phase"].iter().any(|key| section.has(key))
    }
}

impl Written<'_> {
    /// Checks that the best point can be found in every phase that is written here and has no strategy
    /// of its own.
    pub(crate) fn check_best_point(&self, best_point: &Mark) -> Result<(), Diagnostic> {
        let phases = self.written().iter().map(|written| &written.phase);
        let mut checked = phases.filter(|phase| phase.strategy.is_none());
        checked.try_for_each(|phase| phase::check_best_point(phase, best_point))
    }

    /// Checks that the strategy of each phase, its own or this one, can be used with its batches.
    pub(crate) fn check_windows(&self, strategy: &StrategySettings) -> Result<(), Diagnostic> {
        self.written().iter().try_for_each(|written| written.check_windows(strategy))
    }

    /// Returns the phases that are written here.
    fn written(&self) -> &[phase::Written<'_>] {
        match &self.phases {
            Phases::Recipe(_) => &[],
            Phases::Listed(phases) => phases,
            Phases::One(written) => std::slice::from_ref(written),
        }
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
    let process_noise = section
        .take("process-noise")
        .map_or(Ok(false), |value| value.word("process noise", &PROCESS_NOISE))?;
    let start =
        section.take("start").map(|value| value.word("start", &Start::NAMES)).transpose()?;
    let decay =
        section.take("weight-decay").map(|value| value.number(NOT_NEGATIVE, "1e-6")).transpose()?;
    let validation =
        section.take("validation").map(|value| value.number(BELOW_ONE, "0.2")).transpose()?;
    let remedies = section.take("remedies").map(|value| value.flag()).transpose()?;
    let seed = section.take("seed").map_or(Ok(1), |value| value.whole(0..=LARGEST, "1"))?;
    Ok(Written {
        phases,
        loss,
        scale,
        initial_state,
        process_noise,
        start,
        decay,
        validation,
        remedies,
        seed,
    })
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
                    .error(format!("`recipe` and `{key}` cannot both be given"))
                    .with_hint(format!("leave out `recipe` or `{key}`")));
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
        let phase = Phase { schedule, batch, ..Phase::new(optimiser, iterations) };
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
    let mut section = value.table_or("a name or a table", "\"mse\"")?;
    section.only(LOSS_KEYS)?;
    let kind = section.need("kind", "because it is the name of the loss", "\"huber\"")?;
    match (kind.word("loss", &words)?, section.take("delta")) {
        (loss, None) => Ok(loss),
        (Loss::Huber { .. }, Some(delta)) => {
            Ok(Loss::Huber { delta: delta.number(POSITIVE, "1.0")? })
        }
        (loss, Some(delta)) => Err(delta
            .error(format!("`delta` has no effect for the loss `{}`", loss.name()))
            .with_hint("leave it out, or write `kind = \"huber\"`")),
    }
}

/// The default of `delta`.
const HUBER: Loss = Loss::Huber { delta: 1.0 };

/// Most windows of a batch.
const MOST_WINDOWS: u64 = 1_000_000;

pub(super) fn read_batch(value: Value) -> Result<Batch, Diagnostic> {
    let example = "{ trajectories = 4 }` or `batch = { windows = 8, rows = 20 }";
    let mut section = value.table(example)?;
    section.only(BATCH_KEYS)?;
    let many = 1..=LARGEST;
    match (section.take("trajectories"), section.take("windows"), section.take("rows")) {
        (Some(count), None, None) => Ok(Batch::Trajectories { count: count.count(many, "4")? }),
        (None, Some(count), Some(rows)) => Ok(Batch::Windows {
            count: count.count(1..=MOST_WINDOWS, "8")?,
            rows: rows.count(2..=LARGEST, "20")?,
        }),
        _ => Err(section
            .error("`batch` needs either `trajectories`, or `windows` with `rows`")
            .with_hint(format!("for example `batch = {example}`"))),
    }
}

/// Adds the section to a training and checks it against the data.
pub(crate) fn complete(
    written: Written,
    training: lawful::Training,
    data: &Dataset,
) -> Result<lawful::Training, Diagnostic> {
    let Written {
        phases,
        loss,
        scale,
        initial_state,
        process_noise,
        start,
        decay,
        validation,
        remedies,
        seed,
    } = written;
    let mut training = match phases {
        Phases::Recipe(recipe) => training.recipe(recipe),
        Phases::Listed(phases) => {
            for phase in &phases {
                check(phase, data, seed)?;
            }
            training.phases(phases.into_iter().map(|phase| phase.phase).collect())
        }
        Phases::One(phase) => {
            check(&phase, data, seed)?;
            training.phases(vec![phase.phase])
        }
    };
    training = training.loss(loss).seed(seed).process_noise(process_noise);
    if let Some(scale) = scale {
        training = training.scale(scale);
    }
    if let Some(trained) = initial_state {
        training = training.initial_state(trained);
    }
    if let Some(start) = start {
        training = training.start(start);
    }
    if let Some(decay) = decay {
        training = training.weight_decay(decay);
    }
    if let Some(share) = validation {
        training = training.validation(share);
    }
    if let Some(remedies) = remedies {
        training = training.remedies(remedies);
    }
    Ok(training)
}

/// Checks that a phase is possible on these data.
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

/// Returns the section with every key; the phases that a recipe has selected are written out.
pub(crate) fn write(training: &Prepared, laws: &[WrittenLaw]) -> Table {
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
    if training.process_noise {
        table.insert("process-noise".to_owned(), complete::word(&PROCESS_NOISE, true));
    }
    if training.start != Start::default() {
        table.insert("start".to_owned(), training.start.name().into());
    }
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
            table.insert("phase".to_owned(), phase::write(phases, laws));
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
