//! `[test.NAME]`: data that a trained model is scored on.
//!
//! Each test set has exactly one of these keys:
//!
//! | key | default | range | purpose |
//! |---|---|---|---|
//! | `file` | | a path or a list of paths | other measurements, in the same form as `[data] file` |
//! | `grid` | | see [`super::grid`] | the simulation of `[data.simulate]` at other times, with the same initial states |
//! | `after` | | a time | rows of the training data after this time are held out |
//! | `every` | | 2 to 1 000 000 | every n-th row between the first and the last of each trajectory is held out |
//! | `trajectories` | | a list of names | these trajectories are held out |
//!
//! With `after` and `every`, predictions start at the initial state of each trajectory, and only the held-out rows
//! are scored. The training set is always scored, too, as `reconstruction`.

use super::complete::{self, Table};
use super::data::{self, Data, Files, Origin};
use super::grid::{self, Grid};
use super::moment::Moment;
use super::name;
use super::section::{Name, Section};
use super::value::{Mark, Text, Value};
use crate::diagnostic::Diagnostic;
use crate::experiment::RECONSTRUCTION;
use crate::phrases::listed;
use crate::table::TimeOrigin;

/// Largest `every`.
const MOST_EVERY: u64 = 1_000_000;

/// The keys of this section.
pub(crate) const KEYS: &[&str] = &["file", "grid", "after", "every", "trajectories"];

/// A checked test set.
#[derive(Debug)]
pub(crate) struct TestSet<'s> {
    pub(crate) name: String,
    pub(crate) kind: Kind<'s>,
    pub(crate) mark: Mark<'s>,
}

/// Where its rows come from.
#[derive(Debug)]
pub(crate) enum Kind<'s> {
    File(Files<'s>),
    Grid(Grid),
    After(Moment<'s>),
    Every(usize),
    Trajectories(Vec<Text<'s>>),
}

/// Reads all test sets, in the order of the file.
pub(crate) fn read<'s>(
    value: Option<Value<'s>>,
    data: &Data,
) -> Result<Vec<TestSet<'s>>, Diagnostic> {
    let Some(value) = value else { return Ok(Vec::new()) };
    if !value.is_table() {
        let error = value.error("each test set has a name");
        return Err(error.with_hint("write a line `[test.later]`, and its keys below it"));
    }
    let mut sets: Vec<TestSet> = Vec::new();
    for (name, value) in value.section()?.rest() {
        check_name(&name, &sets)?;
        if !value.is_table() {
            let error = name.error(format!("`{}` must be in a test set with a name", name.text));
            return Err(
                error.with_hint(format!("write `[test.later]`, and `{} = …` below it", name.text))
            );
        }
        let section = value.section()?;
        section.only(KEYS)?;
        let (kind, mark) = kind(section, data)?;
        sets.push(TestSet { name: name.text, kind, mark });
    }
    Ok(sets)
}

fn check_name(name: &Name, before: &[TestSet]) -> Result<(), Diagnostic> {
    let text = &name.text;
    if text.to_lowercase() == RECONSTRUCTION {
        let error = name.error("the name `reconstruction` is reserved for the training set");
        return Err(error.with_hint("give the test set another name"));
    }
    if let Err(reason) = name::check(text) {
        let error = name.error(format!("a test set cannot be called `{text}`: {reason}"));
        return Err(error.with_hint("it is used as a file name: use letters, digits, `-` and `_`"));
    }
    // Some file systems do not tell upper from lower case.
    if before.iter().any(|set| set.name.to_lowercase() == text.to_lowercase()) {
        let error = name.error(format!(
            "another test set has the same name as `{text}`, apart from upper and lower case"
        ));
        return Err(error.with_hint("give it another name: some file systems ignore case"));
    }
    Ok(())
}

fn kind<'s>(mut section: Section<'s>, data: &Data) -> Result<(Kind<'s>, Mark<'s>), Diagnostic> {
    let given: Vec<&str> = KEYS.iter().copied().filter(|key| section.has(key)).collect();
    let [key] = given[..] else {
        let message = if given.is_empty() {
            "this test set has no data".to_owned()
        } else {
            format!("this test set has {}, but can have only one of them", listed(given))
        };
        return Err(section.error(message).with_hint(
            "write one of `file = \"test.csv\"`, `grid = { from = 0, to = 100, points = 200 }` \
             (simulated data), `after = 40.0`, `every = 4`, `trajectories = [\"a\"]`",
        ));
    };
    let value = section.need(key, "", "")?;
    let mark = value.mark();
    let kind = match (key, &data.origin) {
        ("file", _) => Kind::File(data::files(value)?),
        ("grid", Origin::Simulation(_)) => {
            let example = "{ from = 0, to = 100, points = 200 }";
            Kind::Grid(grid::read(value.table(example)?)?)
        }
        ("grid", origin) => {
            let are =
                if matches!(origin, Origin::Files(_)) { "read from a file" } else { "in memory" };
            let error = value.error(format!("`grid` needs simulated data, but these are {are}"));
            return Err(error.with_hint("give a file of measurements: `file = \"test.csv\"`"));
        }
        ("after", _) => Kind::After(value.moment("40.0")?),
        ("every", _) => Kind::Every(value.count(2..=MOST_EVERY, "4")?),
        _ => {
            let values = value.list("a list of names", "[\"a\"]")?;
            let names: Vec<Text> =
                values.iter().map(|value| value.text("a")).collect::<Result<_, _>>()?;
            if names.is_empty() {
                let error = mark.error("`trajectories` is an empty list");
                return Err(error.with_hint("list the trajectories to hold out"));
            }
            Kind::Trajectories(names)
        }
    };
    Ok((kind, mark))
}

/// All sections with their keys.
pub(crate) fn write(sets: &[TestSet], origin: &TimeOrigin) -> Table {
    let tables = sets.iter().map(|set| {
        let entry = match &set.kind {
            Kind::File(files) => ("file", files.write()),
            Kind::Grid(grid) => ("grid", grid.write().into()),
            Kind::After(time) => ("after", time.write(origin)),
            Kind::Every(n) => ("every", complete::whole(*n)),
            Kind::Trajectories(names) => {
                ("trajectories", complete::texts(names.iter().map(|name| &name.value)))
            }
        };
        (set.name.clone(), complete::table([entry]).into())
    });
    tables.collect()
}
