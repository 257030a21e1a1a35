//! `[[training.phase]]`: a phase of training. Each phase starts from the parameters with which the one
//! before it ended.
//!
//! | key | default | range | purpose |
//! |---|---|---|---|
//! | `optimiser` | `"adam"` | [`OptimiserKind::NAMES`](lawful::optimiser::OptimiserKind::NAMES) | the optimiser: a name or a table, see [`super::optimiser`] |
//! | `least-squares` | none | a table | least squares from several starts instead of the optimiser, see [`super::least_squares`]; not with `optimiser`, `batch` or `strategy`, and with `segments` only beside `process-noise` |
//! | `iterations` | required | ≥ 1 | evaluations of the objective and its gradient |
//! | `segments` | none: single shooting | 1 to below the steps of the longest trajectory | multiple shooting, with segments of this many steps between data rows |
//! | `starts` | `"data"` | `"data"`, `"free"` | with `segments`: they start at the measured states, or at states that are trained |
//! | `part` | all data | ≥ 2 | rows of the part of the data that the phase uses, at most: segments or full trajectories, spread evenly over the data; not with `batch` |
//! | `batch` | all data | a table | as in `[training]`; not with `segments` |
//! | `strategy` | that of `[strategy]` | a table | the strategy of this phase, with the keys of `[strategy]` and the paper's equations as defaults |
//! | `substeps` | 1 | 1 to 1024 | factor on the steps per data interval of `[solver]`; no effect on adaptive steps |

use lawful::strategy::StrategySettings;
use lawful::{Batch, Phase, Shooting};

use super::complete::{self, Table};
use super::laws::WrittenLaw;
use super::section::Section;
use super::value::{LARGEST, Mark, Value};
use super::{least_squares, optimiser, strategy, training};
use crate::diagnostic::Diagnostic;

/// The keys of a phase.
pub(crate) const KEYS: &[&str] = &[
    "optimiser",
    "least-squares",
    "iterations",
    "segments",
    "starts",
    "part",
    "batch",
    "strategy",
    "substeps",
];

/// The words of `starts`: whether they are free.
const STARTS: [(&str, bool); 2] = [("data", false), ("free", true)];

/// Most substeps.
const MOST_SUBSTEPS: u64 = 1024;

/// A phase, and where its batch and its segments are.
pub(crate) struct Written<'s> {
    pub(crate) phase: Phase,
    pub(crate) batch: Option<Mark<'s>>,
    pub(crate) segments: Option<Mark<'s>>,
}

impl Written<'_> {
    /// Some optimisers compare values of the objective, which differ between batches.
    pub(super) fn check_batch(&self) -> Result<(), Diagnostic> {
        match &self.batch {
            Some(mark) if !self.phase.optimiser.takes_batches() => {
                let title = self.phase.optimiser.title();
                let message = format!(
                    "{title} cannot be trained on batches: the objective differs between batches"
                );
                Err(mark
                    .error(message)
                    .with_hint("leave `batch` out, or write `optimiser = \"adam\"`"))
            }
            _ => Ok(()),
        }
    }

    /// Some strategies need the same residuals at a row in every batch.
    pub(super) fn check_windows(&self, default: &StrategySettings) -> Result<(), Diagnostic> {
        let kind = &self.phase.strategy.as_ref().unwrap_or(default).kind;
        match (&self.batch, self.phase.batch) {
            (Some(mark), Batch::Windows { .. }) if !kind.takes_windows() => {
                let (why, others) = kind.refuses_windows();
                let hint = format!(
                    "leave `batch` out, write `batch = {{ trajectories = 4 }}`, or use one of {others}"
                );
                Err(mark.error(why).with_hint(hint))
            }
            _ => Ok(()),
        }
    }
}

/// The best point needs values of the objective that can be compared, and an optimiser that can return
/// to an earlier point.
pub(super) fn check_best_point(phase: &Phase, best_point: &Mark) -> Result<(), Diagnostic> {
    if phase.batch != Batch::Full {
        let message =
            "the best point cannot be found on batches: the objective differs between batches";
        return Err(best_point.error(message).with_hint("leave `best-point` or `batch` out"));
    }
    if !phase.optimiser.returns_to_best_point() {
        let title = phase.optimiser.title();
        let message =
            format!("{title} never accepts a worse point, and cannot return to a better one");
        let hint = "leave `best-point` out, or write `optimiser = \"adam\"` in the phase";
        return Err(best_point.error(message).with_hint(hint));
    }
    Ok(())
}

/// Reads the list of phases.
pub(crate) fn read<'s>(
    value: Value<'s>,
    laws: &[WrittenLaw],
) -> Result<Vec<Written<'s>>, Diagnostic> {
    let mark = value.mark();
    let entries =
        value.list("a list of tables", "[{ optimiser = \"lbfgs\", iterations = 1000 }]")?;
    if entries.is_empty() {
        return Err(mark
            .error("`phase` is empty: there would be no training")
            .with_hint("leave it out for `recipe = \"auto\"`, or add a `[[training.phase]]`"));
    }
    entries.into_iter().map(|entry| read_one(entry, laws)).collect()
}

fn read_one<'s>(entry: Value<'s>, laws: &[WrittenLaw]) -> Result<Written<'s>, Diagnostic> {
    let mut section = entry.table("{ optimiser = \"lbfgs\", iterations = 1000 }")?;
    section.only(KEYS)?;
    let why = "because it is the length of the phase";
    let iterations = section.need("iterations", why, "1000")?.count(1..=LARGEST, "1000")?;
    let least_squares = match section.take("least-squares") {
        None => None,
        Some(value) => {
            for key in ["optimiser", "batch", "strategy"] {
                if let Some(mark) = section.peek(key) {
                    let message = format!("`{key}` and `least-squares` cannot both be given");
                    let hint = format!("leave out `{key}` or `least-squares`");
                    return Err(mark.error(message).with_hint(hint));
                }
            }
            Some(least_squares::read(value)?)
        }
    };
    let (optimiser, schedule) = optimiser::read(section.take("optimiser"), iterations)?;
    let steps = section.take("segments");
    let segments = steps.as_ref().map(Value::mark);
    let starts = section.take("starts");
    let shooting = if let Some(steps) = steps {
        let free = starts.map_or(Ok(false), |value| value.word("start", &STARTS))?;
        Shooting::Multiple { steps: steps.count(1..=LARGEST, "10")?, free }
    } else if let Some(value) = starts {
        return Err(value
            .error("`starts` has no effect without `segments`")
            .with_hint("add `segments = 10`, or leave it out"));
    } else {
        Shooting::Single
    };
    let batch = section.take("batch");
    let mark = batch.as_ref().map(Value::mark);
    if let (Some(mark), Some(_)) = (&mark, &segments) {
        let error = mark.error("multiple shooting cannot be trained on batches");
        return Err(error.with_hint("leave `batch` or `segments` out"));
    }
    let batch = batch.map_or(Ok(Batch::Full), training::read_batch)?;
    let part = section.take("part");
    if let (Some(part), true) = (&part, mark.is_some()) {
        let error = part.error("a phase on a part of the data has no batches");
        return Err(error.with_hint("leave `part` or `batch` out"));
    }
    let part = part.map(|value| value.count(2..=LARGEST, "20000")).transpose()?;
    let (strategy, best_point) = match section.take("strategy") {
        None => (None, None),
        Some(value) => strategy_of(value.section()?, laws)?,
    };
    let substeps =
        section.take("substeps").map_or(Ok(1), |value| value.count(1..=MOST_SUBSTEPS, "2"))?;
    let phase = Phase {
        optimiser,
        schedule,
        iterations,
        shooting,
        batch,
        strategy,
        substeps,
        least_squares,
        part,
    };
    if let Some(mark) = &best_point {
        check_best_point(&phase, mark)?;
    }
    let written = Written { phase, batch: mark, segments };
    written.check_batch()?;
    Ok(written)
}

/// The strategy of a phase, and where its best point is.
type OwnStrategy<'s> = (Option<StrategySettings>, Option<Mark<'s>>);

fn strategy_of<'s>(
    section: Section<'s>,
    laws: &[WrittenLaw],
) -> Result<OwnStrategy<'s>, Diagnostic> {
    section.only(&strategy::keys())?;
    let written = strategy::read(section, laws, strategy::Place::Phase)?;
    Ok((written.strategy, written.best_point))
}

/// The phases with every key.
pub(crate) fn write(phases: &[Phase], laws: &[WrittenLaw]) -> complete::Value {
    let tables = phases.iter().map(|phase| complete::Value::from(write_one(phase, laws)));
    tables.collect::<Vec<_>>().into()
}

fn write_one(phase: &Phase, laws: &[WrittenLaw]) -> Table {
    let (key, method) = match &phase.least_squares {
        Some(settings) => ("least-squares", least_squares::write(settings)),
        None => ("optimiser", optimiser::write(&phase.optimiser, &phase.schedule)),
    };
    let iterations = complete::whole(phase.iterations);
    let mut table = complete::table([(key, method.into()), ("iterations", iterations)]);
    if let Shooting::Multiple { steps, free } = phase.shooting {
        table.insert("segments".to_owned(), complete::whole(steps));
        table.insert("starts".to_owned(), complete::word(&STARTS, free));
    }
    if let Some(rows) = phase.part {
        table.insert("part".to_owned(), complete::whole(rows));
    }
    if let Some(batch) = training::write_batch(&phase.batch) {
        table.insert("batch".to_owned(), batch.into());
    }
    if let Some(own) = &phase.strategy {
        table.insert("strategy".to_owned(), strategy::write(own, laws).into());
    }
    table.insert("substeps".to_owned(), complete::whole(phase.substeps));
    table
}
