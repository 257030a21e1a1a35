//! A table in memory: columns of numbers with names, read into trajectories.

use std::collections::HashSet;
use std::fmt;

use lawful::law::nearest;
use lawful::{Interpolation, Trajectory, exact, fill};

use super::{Format, Variables};
use crate::diagnostic::Diagnostic;
use crate::phrases::listed;

/// Returns the number in a row of a column; NaN is a missing cell.
pub type Cells<'a> = Box<dyn Fn(usize) -> f64 + 'a>;

/// A table in memory. Rows of different trajectories may be mixed; within one, times must increase.
pub struct Columns<'a> {
    /// Number of rows.
    pub rows: usize,
    /// Names and cells of the columns of numbers.
    pub columns: Vec<(String, Cells<'a>)>,
    /// The column with the names of trajectories, if there is one; otherwise the table is one trajectory.
    pub grouped: Option<Grouped>,
}

/// The column with the names of trajectories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grouped {
    /// Its name.
    pub column: String,
    /// The names in it, each once, in the order of their first rows.
    pub names: Vec<String>,
    /// The position of the name of each row; none where the cell is missing.
    pub rows: Vec<Option<usize>>,
}

/// The columns of the variables.
struct Found<'t> {
    time: (&'t str, &'t Cells<'t>),
    states: Vec<&'t Cells<'t>>,
    inputs: Vec<&'t Cells<'t>>,
}

impl fmt::Debug for Columns<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Columns").field("rows", &self.rows).field("columns", &names).finish()
    }
}

impl Columns<'_> {
    /// Reads the trajectories. Each number is copied once.
    ///
    /// Missing cells of states become NaN; missing inputs are filled from their neighbours by `interpolation`.
    pub fn read(
        &self,
        format: &Format,
        variables: Variables,
        interpolation: Interpolation,
    ) -> Result<Vec<Trajectory>, Diagnostic> {
        let found = self.find(format, variables)?;
        if self.rows == 0 {
            let error = Diagnostic::new("the table has no rows");
            return Err(error.with_hint("at least two rows are needed"));
        }
        let parts = self.parts(format)?;
        let read =
            |(name, rows): (String, Vec<usize>)| one(name, &rows, &found, variables, interpolation);
        parts.into_iter().map(read).collect()
    }

    /// Finds the columns by their names.
    fn find(&self, format: &Format, variables: Variables) -> Result<Found<'_>, Diagnostic> {
        let time = self.column(&format.time, " with the times", "`time = \"…\"`")?;
        let find = |names: &[String]| -> Result<Vec<_>, _> {
            let one = |name: &String| {
                let mapped = format.columns.iter().find(|(ours, _)| ours == name);
                let column = mapped.map_or(name, |(_, column)| column);
                let hint = format!("`columns = {{ {name} = \"…\" }}`");
                self.column(column, &format!(" for `{name}`"), &hint).map(|(_, cells)| cells)
            };
            names.iter().map(one).collect()
        };
        Ok(Found { time, states: find(variables.state)?, inputs: find(variables.inputs)? })
    }

    fn column(
        &self,
        name: &str,
        purpose: &str,
        key: &str,
    ) -> Result<(&str, &Cells<'_>), Diagnostic> {
        let mut named = self.columns.iter().filter(|(known, _)| known == name);
        match (named.next(), named.next()) {
            (Some((name, cells)), None) => Ok((name, cells)),
            (Some(_), Some(_)) => {
                let error = Diagnostic::new(format!("the table has two columns named `{name}`"));
                Err(error.with_hint("rename or drop one of them"))
            }
            (None, _) => {
                let names: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
                let error = Diagnostic::new(format!("the table has no column `{name}`{purpose}"));
                Err(match nearest(name, names.iter().copied()) {
                    Some(close) => error.with_hint(format!("did you mean `{close}`?")),
                    None => error.with_hint(format!(
                        "the columns of numbers are {}; name the right one with {key} in [data]",
                        listed(names)
                    )),
                })
            }
        }
    }

    /// Returns the name and the rows of each trajectory.
    fn parts(&self, format: &Format) -> Result<Vec<(String, Vec<usize>)>, Diagnostic> {
        let Some(column) = &format.trajectory else {
            return Ok(vec![("1".to_owned(), (0..self.rows).collect())]);
        };
        let grouped = self.grouped.as_ref().filter(|grouped| grouped.column == *column);
        let Some(Grouped { names, rows, .. }) = grouped else {
            let message = format!("the table has no column `{column}` with names of trajectories");
            return Err(Diagnostic::new(message).with_hint("add the column, or leave it out"));
        };
        let mut unique = HashSet::new();
        if let Some(twice) = names.iter().find(|name| !unique.insert(name.as_str())) {
            let message = format!("two trajectories are called `{twice}` as text");
            return Err(Diagnostic::new(message).with_hint("give each a name of its own"));
        }
        let mut parts: Vec<(String, Vec<usize>)> =
            names.iter().map(|name| (name.clone(), Vec::new())).collect();
        for (row, part) in rows.iter().enumerate() {
            let Some((_, rows)) = part.and_then(|part| parts.get_mut(part)) else {
                let message = format!("row {row} has no trajectory name in `{column}`");
                return Err(Diagnostic::new(message).with_hint("fill it in, or drop the row"));
            };
            rows.push(row);
        }
        Ok(parts)
    }
}

/// Reads one trajectory.
fn one(
    name: String,
    rows: &[usize],
    found: &Found,
    variables: Variables,
    interpolation: Interpolation,
) -> Result<Trajectory, Diagnostic> {
    let times = times(&name, rows, found)?;
    if rows.len() < 2 {
        let message = format!("trajectory `{name}` has only one row");
        return Err(Diagnostic::new(message)
            .with_hint("at least two are needed: the initial state and one to predict"));
    }
    let states = cells(rows, variables.state, &found.states)?;
    let missing = states.iter().zip(variables.state).find(|(value, _)| value.is_nan());
    if let (Some((_, variable)), false) = (missing, variables.open) {
        let message = format!("trajectory `{name}` has no initial value of `{variable}`");
        let hint = "its first row is its initial state: fill the cell in, drop the rows before the first \
                    complete one, or add `initial-state = \"train\"` to `[training]`";
        return Err(Diagnostic::new(message).with_hint(hint));
    }
    let mut inputs = cells(rows, variables.inputs, &found.inputs)?;
    for (input, variable) in variables.inputs.iter().enumerate() {
        let mut values = inputs.iter().skip(input).step_by(variables.inputs.len());
        if values.all(|value| value.is_nan()) {
            let message = format!("trajectory `{name}` has no value of the input `{variable}`");
            return Err(Diagnostic::new(message).with_hint("an input needs at least one value"));
        }
    }
    fill(interpolation, &times, &mut inputs, variables.inputs.len());
    let (times, states, inputs) = (times.into(), states.into(), inputs.into());
    Ok(Trajectory { name, times, states, inputs, scored_from: 0 })
}

/// Reads the times, which must increase.
fn times(name: &str, rows: &[usize], found: &Found) -> Result<Vec<f64>, Diagnostic> {
    let (column, cells) = found.time;
    let mut times: Vec<f64> = Vec::with_capacity(rows.len());
    for (n, &row) in rows.iter().enumerate() {
        let t = cells(row);
        if !t.is_finite() {
            let message = format!("row {row} has no time: `{column}` is {t}");
            return Err(Diagnostic::new(message).with_hint("fill it in, or drop the row"));
        }
        if let Some(&before) = times.last().filter(|&&before| t <= before) {
            let (now, then, other) = (exact(t), exact(before), rows[n - 1]);
            let of = if name == "1" { String::new() } else { format!(" in trajectory `{name}`") };
            let (message, remedy) = if t < before {
                let message = format!(
                    "time goes back{of}: {now} in row {row} comes after {then} in row {other}"
                );
                (message, "sort the rows by time")
            } else {
                let message =
                    format!("time {now} appears twice{of}: in row {other} and in row {row}");
                (message, "keep one row per time")
            };
            return Err(Diagnostic::new(message).with_hint(format!(
                "{remedy}; if these are several trajectories, name the column that tells them apart: \
                 `trajectory = \"…\"` in [data]"
            )));
        }
        times.push(t);
    }
    Ok(times)
}

/// Returns the cells of some columns, row after row.
fn cells(rows: &[usize], names: &[String], columns: &[&Cells]) -> Result<Vec<f64>, Diagnostic> {
    let mut values = Vec::with_capacity(rows.len() * columns.len());
    for &row in rows {
        for (cells, name) in columns.iter().zip(names) {
            let value = cells(row);
            if value.is_infinite() {
                let error = Diagnostic::new(format!("`{name}` is infinite in row {row}"));
                return Err(error.with_hint("correct it, or set it to NaN to count it as missing"));
            }
            values.push(value);
        }
    }
    Ok(values)
}
