//! `[solver]` and `[solver.predict]`: the ODE solvers of training and of predictions.
//!
//! | key | default | range | purpose |
//! |---|---|---|---|
//! | `method` | `"rk4-38"`; predict: `"dopri5"` | [`TABLEAUS`] | the Runge–Kutta method |
//! | `substeps` | 1 | ≥ 1 | equal steps per data interval |
//! | `rtol` | 1e-7; predict: 1e-9 | ≥ 0 | relative tolerance of adaptive steps |
//! | `atol` | 1e-9; predict: 1e-11 | > 0 | absolute tolerance of adaptive steps |
//! | `max-steps` | 100 000 | 1 to 100 000 000 | maximum number of adaptive steps per solve |
//! | `min-step` | 1e-14 | between 0 and 1 | smallest adaptive step, as a fraction of the solved time span |
//! | `first-step` | estimated | > 0 | first adaptive step |
//! | `memory` | 1 GiB | bytes, or a text like `"1 GiB"` | memory for the solution that the gradient needs; what does not fit is computed twice |
//! | `predict` | see above | a table | the same keys, except `memory`, for predictions, test sets and `evaluate` |
//!
//! Training takes equal steps between data rows, unless one of `rtol`, `atol`, `max-steps`, `min-step`
//! and `first-step` is given: then its steps are adaptive. They are also adaptive where every rate is known, if
//! neither `method` nor `substeps` is given. Predictions use adaptive steps, unless `substeps` is given.

use lawful::Solver;
use lawful::ode::{Adaptive, Control, TABLEAUS, Tableau, tableaus};

use super::complete::{self, Table};
use super::section::Section;
use super::value::{BETWEEN, LARGEST, Mark, NOT_NEGATIVE, POSITIVE, Value};
use crate::diagnostic::Diagnostic;
use crate::phrases::listed;

/// The keys of `[solver]`.
pub(crate) const KEYS: &[&str] = &[
    "method",
    "substeps",
    "rtol",
    "atol",
    "max-steps",
    "min-step",
    "first-step",
    "memory",
    "predict",
];
/// The keys of `[solver.predict]`.
pub(crate) const PREDICT_KEYS: &[&str] =
    &["method", "substeps", "rtol", "atol", "max-steps", "min-step", "first-step"];
/// Most adaptive steps of a solve.
const MOST_STEPS: u64 = 100_000_000;
/// Each of these selects adaptive steps.
const ADAPTIVE_KEYS: [&str; 5] = ["rtol", "atol", "max-steps", "min-step", "first-step"];

/// The checked section.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Solvers {
    pub(crate) training: Solver,
    /// Whether the recipe may choose another solver of the training.
    pub(crate) open: bool,
    pub(crate) predict: Solver,
}

/// Reads both sections.
pub(crate) fn read(mut section: Section) -> Result<Solvers, Diagnostic> {
    let mut predict = section.section("predict", PREDICT_KEYS)?;
    let memory = section.take("memory").map(|value| memory(&value)).transpose()?;
    let open = !section.has("method")
        && !section.has("substeps")
        && !ADAPTIVE_KEYS.iter().any(|key| section.has(key));
    let training = method(&mut section, &tableaus::RK4_38, Adaptive::default(), Steps::Grid)?;
    let training = training.with_memory(memory.unwrap_or(Solver::MEMORY));
    let tolerances = Adaptive::with_tolerances(1e-9, 1e-11);
    let predict = method(&mut predict, &tableaus::DOPRI5, tolerances, Steps::Adaptive)?;
    Ok(Solvers { training, open, predict })
}

/// Which steps are taken if no key selects one or the other.
#[derive(Clone, Copy, PartialEq)]
enum Steps {
    Grid,
    Adaptive,
}

fn method(
    section: &mut Section,
    tableau: &'static Tableau,
    adaptive: Adaptive,
    steps: Steps,
) -> Result<Solver, Diagnostic> {
    let words: Vec<_> = TABLEAUS.iter().map(|&tableau| (tableau.name, tableau)).collect();
    let value = section.take("method");
    let mark = value.as_ref().map(Value::mark);
    let tableau = value.map_or(Ok(tableau), |value| value.word("method", &words))?;
    let asks = ADAPTIVE_KEYS.into_iter().find(|key| section.has(key));
    let control = match (section.take("substeps"), asks) {
        (Some(substeps), Some(asks)) => {
            return Err(substeps
                .error(format!("`substeps` means equal steps, `{asks}` means adaptive ones"))
                .with_hint("keep one of the two"));
        }
        (Some(substeps), None) => Control::Grid { substeps: substeps.count(1..=1_000_000, "1")? },
        (None, None) if steps == Steps::Grid => Control::Grid { substeps: 1 },
        (None, _) => {
            if tableau.embedded.is_none() {
                return Err(no_estimate(section, tableau, asks, mark.as_ref()));
            }
            Control::Adaptive(settings(section, adaptive)?)
        }
    };
    Solver::new(tableau, control).map_err(|error| section.error(error.to_string()))
}

/// Adaptive steps need a method that estimates its error.
fn no_estimate(
    section: &mut Section,
    tableau: &Tableau,
    asks: Option<&str>,
    method: Option<&Mark>,
) -> Diagnostic {
    let able = TABLEAUS.iter().filter(|method| method.embedded.is_some());
    let able = listed(able.map(|method| method.name));
    let name = tableau.name;
    let key = asks.and_then(|key| section.take(key));
    let error = |message| match (method, &key) {
        (_, Some(key)) => key.error(message),
        (Some(method), None) => method.error(message),
        (None, None) => section.error(message),
    };
    match asks {
        Some(asks) => error(format!(
            "`{asks}` needs adaptive steps, but the method `{name}` has no error estimate"
        ))
        .with_hint(format!("use one of {able}, or replace `{asks}` by `substeps = 1`")),
        None => error(format!(
            "predictions use adaptive steps, but the method `{name}` has no error estimate"
        ))
        .with_hint(format!("use one of {able}, or add `substeps = 4`")),
    }
}

fn settings(section: &mut Section, mut adaptive: Adaptive) -> Result<Adaptive, Diagnostic> {
    if let Some(value) = section.take("rtol") {
        adaptive.rtol = value.number(NOT_NEGATIVE, "1e-7")?;
    }
    if let Some(value) = section.take("atol") {
        adaptive.atol = value.number(POSITIVE, "1e-9")?;
    }
    if let Some(value) = section.take("max-steps") {
        adaptive.max_steps = value.count(1..=MOST_STEPS, "100000")?;
    }
    if let Some(value) = section.take("min-step") {
        adaptive.min_step = value.number(BETWEEN, "1e-14")?;
    }
    if let Some(value) = section.take("first-step") {
        adaptive.first_step = Some(value.number(POSITIVE, "0.001")?);
    }
    Ok(adaptive)
}

/// Units of `memory`.
const UNITS: [(&str, f64); 9] = [
    ("B", 1.0),
    ("kB", 1e3),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
];

/// Bytes, as a number or as a text with a unit.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be from 1 to 2⁵³"
)]
fn memory(value: &Value) -> Result<usize, Diagnostic> {
    if !value.is_text() {
        return value.count(1..=LARGEST, "\"1 GiB\"");
    }
    let text = value.text("1 GiB")?.value;
    let (number, unit) = text.split_at(text.find(char::is_alphabetic).unwrap_or(text.len()));
    let factor = UNITS.iter().find(|(name, _)| *name == unit.trim()).map(|(_, factor)| factor);
    let bytes = number.trim().parse::<f64>().ok().zip(factor).map(|(x, factor)| x * factor);
    let bytes = bytes.filter(|bytes| (1.0..=LARGEST as f64).contains(bytes));
    bytes.map(|bytes| bytes as usize).ok_or_else(|| {
        value.wrong(
            "bytes, or a number with one of the units kB, MB, GB, KiB, MiB, GiB",
            "\"1 GiB\"",
        )
    })
}

/// The section with every key.
pub(crate) fn write(solver: &Solvers) -> Table {
    let mut table = write_method(&solver.training);
    table.insert("memory".to_owned(), complete::whole(solver.training.memory()));
    table.insert("predict".to_owned(), write_method(&solver.predict).into());
    table
}

fn write_method(method: &Solver) -> Table {
    let mut table = complete::table([("method", method.tableau().name.into())]);
    match method.control() {
        Control::Grid { substeps } => {
            table.insert("substeps".to_owned(), complete::whole(substeps));
        }
        Control::Adaptive(Adaptive { rtol, atol, max_steps, min_step, first_step, .. }) => {
            table.insert("rtol".to_owned(), rtol.into());
            table.insert("atol".to_owned(), atol.into());
            table.insert("max-steps".to_owned(), complete::whole(max_steps));
            table.insert("min-step".to_owned(), min_step.into());
            if let Some(first_step) = first_step {
                table.insert("first-step".to_owned(), first_step.into());
            }
        }
    }
    table
}
