//! Trajectories, read and checked row by row.

use std::collections::HashMap;

use lawful::{Interpolation, Trajectory, exact, fill};

use super::cell::{self, CellError};
use super::decimal::difference;
use super::header::Layout;
use super::origin::TimeOrigin;
use super::place::{Sheet, Start};
use super::{FileError, Variables};
use crate::diagnostic::Diagnostic;
use crate::phrases::counted;

/// A row of one of the files.
#[derive(Debug, Clone, Copy)]
struct Row {
    file: usize,
    start: Start,
}

/// A trajectory that is being read.
struct Growing {
    name: String,
    times: Vec<f64>,
    states: Vec<f64>,
    inputs: Vec<f64>,
    scored_from: usize,
    first: Row,
    last: Row,
    /// The text of the time of the last row.
    last_time: String,
}

/// The trajectories of all files so far, and the file that is being read.
pub(super) struct Collection<'a> {
    variables: Variables<'a>,
    files: Vec<(Sheet, Layout, String)>,
    trajectories: Vec<Growing>,
    /// Position of each trajectory by its name.
    positions: HashMap<String, usize>,
    /// The text of the first time of all.
    first_time: Option<String>,
    /// The origin that would keep the distances of times, if they were lost.
    pub(super) needed: Option<TimeOrigin>,
}

impl<'a> Collection<'a> {
    pub(super) fn new(variables: Variables<'a>) -> Self {
        Self {
            variables,
            files: Vec::new(),
            trajectories: Vec::new(),
            positions: HashMap::new(),
            first_time: None,
            needed: None,
        }
    }

    /// Starts the next file; `name` is that of its trajectory if no column has the names.
    pub(super) fn begin(&mut self, sheet: Sheet, layout: Layout, name: String) {
        self.files.push((sheet, layout, name));
    }

    /// Reads all rows of the last file.
    pub(super) fn read(
        &mut self,
        missing: &[String],
        origin: &TimeOrigin,
    ) -> Result<(), Diagnostic> {
        let files = std::mem::take(&mut self.files);
        let result = self.read_rows(&files, missing, origin);
        self.files = files;
        result
    }

    fn read_rows(
        &mut self,
        files: &[(Sheet, Layout, String)],
        missing: &[String],
        origin: &TimeOrigin,
    ) -> Result<(), Diagnostic> {
        let Some((sheet, layout, only)) = files.last() else { return Ok(()) };
        let mut reader = sheet.reader();
        let mut record = csv::StringRecord::new();
        let mut rows = 0;
        let failed = |error: csv::Error| sheet.file_error(&format!("cannot be read: {error}"));
        let _header = reader.read_record(&mut record).map_err(failed)?;
        while reader.read_record(&mut record).map_err(failed)? {
            let row = Row { file: files.len() - 1, start: sheet.start(&record) };
            let mut name = only.as_str();
            check_width(sheet, layout, row.start, &record)?;
            if let Some(column) = layout.trajectory {
                name =
                    if layout.scored.is_some() { &record[column] } else { record[column].trim() };
                if name.is_empty() && layout.scored.is_none() {
                    let error = sheet.error(row.start, column, "this row has no trajectory name");
                    return Err(error.with_hint("fill it in, or delete the row"));
                }
            }
            let reading =
                Reading { sheet, layout, row: row.start, record: &record, missing, origin };
            self.add(files, row, name, &reading)?;
            rows += 1;
        }
        if rows == 0 {
            let error = sheet.file_error("has a header, but no rows");
            return Err(error.with_hint("at least two rows are needed"));
        }
        Ok(())
    }

    fn add(
        &mut self,
        files: &[(Sheet, Layout, String)],
        row: Row,
        name: &str,
        reading: &Reading,
    ) -> Result<(), Diagnostic> {
        let Layout { time, states, inputs, scored, .. } = reading.layout;
        let Some(t) = reading.time(*time)? else {
            let error = reading.error(*time, "this row has no time");
            return Err(error.with_hint("fill it in, or delete the row"));
        };
        let position = self.position(name, row);
        let growing = &mut self.trajectories[position];
        if let Some(&before) = growing.times.last() {
            if let Some(lost) = reading.lost_digits(*time, growing, t, before) {
                if reading.origin.text().is_none() {
                    self.needed = self.first_time.as_deref().and_then(TimeOrigin::at);
                }
                return Err(lost);
            }
            if t <= before {
                return Err(not_after(files, growing, row, t, before));
            }
        }
        self.first_time.get_or_insert_with(|| reading.record[*time].to_owned());
        growing.last_time.clear();
        growing.last_time.push_str(&reading.record[*time]);
        let initial = growing.times.is_empty();
        for (&column, variable) in states.iter().zip(self.variables.state) {
            let value = reading.number(column, || format!("`{variable}`"))?;
            if initial && value.is_none() && !self.variables.open {
                let message = format!("trajectory `{name}` has no initial value of `{variable}`");
                let hint = "its first row is its initial state: fill the cell in, delete the rows \
                            before the first complete one, or add `initial-state = \"train\"` \
                            to `[training]`";
                return Err(reading.error(column, message).with_hint(hint));
            }
            growing.states.push(value.unwrap_or(f64::NAN));
        }
        for (&column, variable) in inputs.iter().zip(self.variables.inputs) {
            let value = reading.number(column, || format!("`{variable}`"))?;
            growing.inputs.push(value.unwrap_or(f64::NAN));
        }
        if let Some(column) = *scored {
            match (reading.record[column].trim(), growing.scored_from) {
                ("0", from) if from == growing.times.len() => {
                    growing.scored_from += 1;
                }
                ("1", _) => {}
                _ => {
                    return Err(
                        reading.error(column, "`scored` must be 0 in the first rows, then 1")
                    );
                }
            }
        }
        growing.times.push(t);
        growing.last = row;
        Ok(())
    }

    /// Returns the position of the trajectory of this name; a new one begins with `row`.
    fn position(&mut self, name: &str, row: Row) -> usize {
        if let Some(&position) = self.positions.get(name) {
            return position;
        }
        self.trajectories.push(Growing {
            name: name.to_owned(),
            times: Vec::new(),
            states: Vec::new(),
            inputs: Vec::new(),
            scored_from: 0,
            first: row,
            last: row,
            last_time: String::new(),
        });
        let position = self.trajectories.len() - 1;
        self.positions.insert(name.to_owned(), position);
        position
    }

    /// Returns the trajectories, with missing inputs filled in, if each has enough rows.
    pub(super) fn finish(self, interpolation: Interpolation) -> Result<Vec<Trajectory>, FileError> {
        let Self { variables, files, trajectories, .. } = self;
        let names = variables.inputs;
        let finished = trajectories.into_iter().map(|growing| {
            let Growing { name, times, states, inputs, scored_from, first, .. } = growing;
            let (times, inputs) = (times.into(), inputs.into());
            let mut trajectory =
                Trajectory { name, times, states: states.into(), inputs, scored_from };
            let (sheet, layout, _) = &files[first.file];
            let within = |error| FileError { file: first.file, error, origin: None };
            if trajectory.len() < 2 {
                let message = format!("trajectory `{}` has only one row", trajectory.name);
                let error = sheet.row_error(first.start, message);
                return Err(within(
                    error
                        .with_hint("at least two are needed: the initial state and one to predict"),
                ));
            }
            for (input, name) in names.iter().enumerate() {
                let mut values = trajectory.inputs.iter().skip(input).step_by(names.len());
                if values.all(|value| value.is_nan()) {
                    let message = format!(
                        "trajectory `{}` has no value of the input `{name}`",
                        trajectory.name
                    );
                    let error = sheet.error(first.start, layout.inputs[input], message);
                    return Err(within(error.with_hint("an input needs at least one value")));
                }
            }
            fill(interpolation, &trajectory.times, &mut trajectory.inputs, names.len());
            Ok(trajectory)
        });
        finished.collect()
    }
}

/// A record that is being read.
struct Reading<'a> {
    sheet: &'a Sheet,
    layout: &'a Layout,
    row: Start,
    record: &'a csv::StringRecord,
    missing: &'a [String],
    origin: &'a TimeOrigin,
}

/// Two times that are fewer doubles apart than this are compared as they are written.
const CLOSE: f64 = 100.0;

impl Reading<'_> {
    /// Returns the time, counted from the origin if there is one.
    fn time(&self, column: usize) -> Result<Option<f64>, Diagnostic> {
        let t = self.number(column, || "the time".to_owned())?;
        let (Some(_), Some(origin)) = (t, self.origin.text()) else { return Ok(t) };
        let since = self.origin.read(&self.record[column]).ok_or_else(|| {
            let message = format!("this time cannot be counted from `{origin}`");
            self.error(column, message).with_hint(
                "write it in plain digits, and fewer of them: at most 38 with those of the origin",
            )
        })?;
        Ok(Some(since))
    }

    /// Returns the error of a time whose distance from the one before is not what the file says, because
    /// the two are rounded to doubles.
    fn lost_digits(
        &self,
        column: usize,
        growing: &Growing,
        t: f64,
        before: f64,
    ) -> Option<Diagnostic> {
        let largest = t.abs().max(before.abs());
        let spacing = largest - largest.next_down();
        // What this program has written is rounded already.
        if (t - before).abs() > CLOSE * spacing || self.layout.scored.is_some() {
            return None;
        }
        let apart = difference(&self.record[column], &growing.last_time)?;
        if apart <= 0.0 || (t - before - apart).abs() <= apart / CLOSE {
            return None;
        }
        let (line, other) = (self.row.line, growing.last.start.line);
        let message = format!(
            "the times in lines {other} and {line} are {} apart, but {} in double precision, whose numbers \
             are {spacing:.1e} apart there",
            exact(apart),
            exact(t - before)
        );
        let hint = match self.origin.text() {
            None => format!(
                "count times from there: `time-origin = {:?}` in [data]",
                growing.last_time.trim()
            ),
            Some(origin) => format!(
                "times are counted from {origin}, which is too far away: count those of each trajectory \
                 from its own start"
            ),
        };
        Some(self.error(column, message).with_hint(hint))
    }

    fn number(
        &self,
        column: usize,
        subject: impl Fn() -> String,
    ) -> Result<Option<f64>, Diagnostic> {
        cell::number(&self.record[column], self.missing).map_err(|CellError { message, hint }| {
            let (subject, line) = (subject(), self.row.line);
            self.error(column, format!("{subject} in line {line} {message}")).with_hint(hint)
        })
    }

    fn error(&self, column: usize, message: impl Into<String>) -> Diagnostic {
        self.sheet.error(self.row, column, message)
    }
}

/// Every row must have as many cells as the header.
fn check_width(
    sheet: &Sheet,
    layout: &Layout,
    row: Start,
    record: &csv::StringRecord,
) -> Result<(), Diagnostic> {
    let (found, needed) = (record.len(), layout.columns.len());
    if found == needed {
        return Ok(());
    }
    if let Some(cell) = record.iter().position(|cell| cell.contains('\n')) {
        let error =
            sheet.error(row, cell, "a quote `\"` is opened here and closed some lines later");
        return Err(error.with_hint("delete it, or write another at the end of the cell"));
    }
    let cells = counted(found, "cell");
    let message = format!("line {} has {cells}, but the header has {needed}", row.line);
    let separator = char::from(sheet.separator());
    let hint = if found < needed {
        format!("a missing cell still needs its `{separator}`")
    } else if record.iter().skip(needed).all(|cell| cell.trim().is_empty()) {
        format!("delete the `{separator}` at its end, or add one to the header")
    } else if separator == ',' {
        "if numbers have decimal commas, save them with decimal points".to_owned()
    } else {
        "delete the extra cells".to_owned()
    };
    Err(sheet.error(row, found.min(needed), message).with_hint(hint))
}

/// Returns the error of a time that is not after the one before.
fn not_after(
    files: &[(Sheet, Layout, String)],
    growing: &Growing,
    row: Row,
    t: f64,
    before: f64,
) -> Diagnostic {
    let (sheet, layout, _) = &files[row.file];
    let mut there = format!("line {}", growing.last.start.line);
    if growing.last.file != row.file {
        there = format!("{there} of `{}`", files[growing.last.file].0.path().display());
    }
    let name = &growing.name;
    let whose = if layout.trajectory.is_some() {
        format!(" in trajectory `{name}`")
    } else {
        String::new()
    };
    let line = row.start.line;
    let message = if t < before {
        format!("time goes back{whose}: {t} in line {line} comes after {before} in {there}")
    } else {
        format!("time {t} appears twice{whose}: in {there} and in line {line}")
    };
    let remedy = if t < before { "sort the rows by time" } else { "keep one row per time" };
    let other = layout.unused().find(|name| !name.is_empty());
    let hint = match (layout.trajectory, other) {
        (Some(_), _) => "within a trajectory, times must increase from row to row".to_owned(),
        (None, Some(column)) => format!(
            "{remedy}; if these are several trajectories, give the column with their names: \
             `trajectory = {column:?}` in [data]"
        ),
        (None, None) => format!(
            "{remedy}; if these are several trajectories, add a column with their names, and \
             `trajectory = \"…\"` in [data]"
        ),
    };
    sheet.error(row.start, layout.time, message).with_hint(hint)
}
