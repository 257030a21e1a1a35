//! The axes of a comparison: alternative changes to its experiments.
//!
//! The changes are a file of axes, each with its levels:
//!
//! ```toml
//! # Keys that get the training's seed, so that every seed has data of its own.
//! seed-keys = ["data.simulate.noise.seed"]
//!
//! [[axis]]
//! name = "noise"
//! level = [
//!     { name = "none" },
//!     { name = "5 %", quick = true, set.data.simulate.noise.relative = 0.05 },
//! ]
//! ```
//!
//! `set` changes keys of every experiment, `for.NAME` those of the experiment of that name; a level
//! with `for` leaves out experiments that it does not name. `--quick` takes the `quick` levels only; an
//! axis without any keeps all of its levels.

use std::path::Path;

use toml::{Table, Value};

use crate::diagnostic::Diagnostic;
use crate::files;
use crate::runner::changes;

/// One level of an axis.
#[derive(Debug, Clone)]
pub(super) struct Level {
    pub(super) name: String,
    pub(super) set: Table,
    pub(super) of_experiments: Table,
    pub(super) quick: bool,
    /// The strategy in the place of the experiment's, by its word.
    pub(super) strategy: Option<&'static str>,
}

/// A set of alternative changes.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    pub(super) name: String,
    pub(super) levels: Vec<Level>,
}

/// Reads the axes of a file, and the keys that get the seed.
pub(super) fn read_axes(path: &Path, quick: bool) -> Result<(Vec<Axis>, Vec<String>), Diagnostic> {
    let shown = path.display().to_string();
    let table = changes::parse(&shown, &files::read_text(path)?)?;
    let wrong = |what: &str| {
        Diagnostic::new(format!("`{shown}`: {what}")).with_hint(
            "an axis is `[[axis]]` with `name` and `level = [{ name = \"…\", set.KEY = … }]`",
        )
    };
    let text = |table: &Table, key: &str| table.get(key)?.as_str().map(ToOwned::to_owned);
    let inner = |table: &Table, key: &str| match table.get(key) {
        None => Some(Table::new()),
        Some(value) => value.as_table().cloned(),
    };
    let known = ["axis", "seed-keys"];
    if let Some(key) = table.keys().find(|key| !known.contains(&key.as_str())) {
        return Err(wrong(&format!("unknown key `{key}`")));
    }
    let list = |table: &Table, key: &str| -> Option<Vec<Value>> {
        table.get(key).map_or(Some(Vec::new()), |value| value.as_array().cloned())
    };
    let keys =
        list(&table, "seed-keys").ok_or_else(|| wrong("`seed-keys` must be a list of texts"))?;
    let keys: Option<_> = keys.iter().map(|key| key.as_str().map(ToOwned::to_owned)).collect();
    let keys = keys.ok_or_else(|| wrong("`seed-keys` must be a list of texts"))?;
    let mut axes = Vec::new();
    for axis in list(&table, "axis").ok_or_else(|| wrong("axes are written as `[[axis]]`"))? {
        let axis =
            axis.as_table().cloned().ok_or_else(|| wrong("axes are written as `[[axis]]`"))?;
        let name = text(&axis, "name").ok_or_else(|| wrong("an axis has no name"))?;
        if let Some(key) = axis.keys().find(|key| !["name", "level"].contains(&key.as_str())) {
            return Err(wrong(&format!("unknown key `{key}` of the axis `{name}`")));
        }
        let mut levels = Vec::new();
        for level in
            list(&axis, "level").ok_or_else(|| wrong("`level` must be a list of tables"))?
        {
            let level =
                level.as_table().ok_or_else(|| wrong("`level` must be a list of tables"))?;
            let known = ["name", "set", "for", "quick"];
            if let Some(key) = level.keys().find(|key| !known.contains(&key.as_str())) {
                return Err(wrong(&format!("unknown key `{key}` of a level of `{name}`")));
            }
            let quick = level.get("quick").map_or(Some(false), Value::as_bool);
            levels.push(Level {
                name: text(level, "name").ok_or_else(|| wrong("a level has no name"))?,
                set: inner(level, "set").ok_or_else(|| wrong("`set` must be a table"))?,
                of_experiments: inner(level, "for")
                    .ok_or_else(|| wrong("`for` must be a table"))?,
                quick: quick.ok_or_else(|| wrong("`quick` must be `true` or `false`"))?,
                strategy: None,
            });
        }
        if quick && levels.iter().any(|level| level.quick) {
            levels.retain(|level| level.quick);
        }
        if levels.is_empty() {
            return Err(wrong(&format!("the axis `{name}` has no levels")));
        }
        axes.push(Axis { name, levels });
    }
    Ok((axes, keys))
}

/// Returns every combination of levels, one of each axis, that applies to an experiment.
pub(super) fn combinations<'a>(axes: &'a [Axis], experiment: &str) -> Vec<Vec<&'a Level>> {
    let mut all: Vec<Vec<&Level>> = vec![Vec::new()];
    for axis in axes {
        let applies = |level: &&Level| {
            level.of_experiments.is_empty() || level.of_experiments.contains_key(experiment)
        };
        let levels: Vec<&Level> = axis.levels.iter().filter(applies).collect();
        all = (all.iter())
            .flat_map(|chosen| levels.iter().map(move |&level| [&chosen[..], &[level]].concat()))
            .collect();
    }
    all
}
