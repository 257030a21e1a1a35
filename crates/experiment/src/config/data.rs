//! `[data]`: the training data, measured or simulated.
//!
//! | key | default | range | purpose |
//! |---|---|---|---|
//! | `file` | required, or `simulate` | a path or a list of paths | CSV files with one row per time; paths are relative to the experiment file |
//! | `simulate` | none | a table | instead of `file`: data simulated from equations, see [`super::simulate`] |
//! | `time` | `"t"` | a column name | the column with the times |
//! | `time-origin` | the first time, where times have more digits than double precision; else none | a number as text | the time that is subtracted from the digits of every time before it is rounded, and added to those that are printed: `"1700000000000000000"`; `t` in laws and known rates is counted from it |
//! | `trajectory` | none | a column name | the column with the name of the trajectory; without it, each file is one trajectory |
//! | `columns` | `{}` | column names | columns whose name in the file is not the variable's: `{ T = "Temp (°C)" }` |
//! | `missing` | `["", "NA", "NaN"]` | a list of texts | cells that count as missing |
//! | `separator` | `","` | one character, or `"tab"` | the separator between cells |
//! | `interpolation` | `"linear"` | [`Interpolation::NAMES`] | interpolation of inputs between rows |
//!
//! The keys from `time` to `separator` also apply to the files of test sets.

use std::path::{Path, PathBuf};

use lawful::Interpolation;

use super::complete::{self, Table};
use super::section::Section;
use super::simulate::{self, Simulate};
use super::system::System;
use super::value::{Mark, Value};
use crate::diagnostic::Diagnostic;
use crate::phrases::meant;
use crate::table::{Columns, Format, TimeOrigin};

/// The keys of this section.
pub(crate) const KEYS: &[&str] = &[
    "file",
    "simulate",
    "time",
    "time-origin",
    "trajectory",
    "columns",
    "missing",
    "separator",
    "interpolation",
];
/// Keys that say how files are read.
const FORMAT_KEYS: [&str; 6] =
    ["time", "time-origin", "trajectory", "columns", "missing", "separator"];

/// The checked section.
#[derive(Debug)]
pub(crate) struct Data<'s> {
    pub(crate) origin: Origin<'s>,
    pub(crate) format: Format,
    pub(crate) interpolation: Interpolation,
    /// A key about files that was given.
    pub(crate) about_files: Option<(&'static str, Mark<'s>)>,
    has_inputs: bool,
}

/// Where data come from.
#[derive(Debug)]
pub(crate) enum Origin<'s> {
    Files(Files<'s>),
    Simulation(Box<Simulate<'s>>),
    /// A table in memory, which no key names.
    Table(&'s Columns<'s>),
}

/// Files, each with the place that names it.
#[derive(Debug)]
pub(crate) struct Files<'s> {
    /// As written.
    written: Vec<String>,
    marks: Vec<Mark<'s>>,
}

/// Reads the section; a `table` in memory is in the place of `file` and `simulate`.
pub(crate) fn read<'s>(
    mut section: Section<'s>,
    system: &System,
    table: Option<&'s Columns<'s>>,
) -> Result<Data<'s>, Diagnostic> {
    let (state, inputs) = (system.vocabulary.state(), system.vocabulary.inputs());
    let has_inputs = !inputs.is_empty();
    if table.is_some() {
        refuse_file_keys(&section)?;
    }
    let about_files = FORMAT_KEYS.into_iter().find(|key| section.has(key));
    let marked = about_files.and_then(|key| Some((key, section.peek(key)?)));
    let format = format(&mut section, state.iter().chain(inputs))?;
    let interpolation = match section.take("interpolation") {
        None => Interpolation::default(),
        Some(value) if !has_inputs => {
            return Err(value
                .error("`interpolation` has no effect: `[system] inputs` is empty")
                .with_hint("leave it out, or write `inputs = [\"u\"]` in `[system]`"));
        }
        Some(value) => value.word("interpolation", &Interpolation::NAMES)?,
    };
    let origin = match (table, section.take("file"), section.take("simulate")) {
        (Some(table), ..) => Origin::Table(table),
        (None, Some(file), None) => Origin::Files(files(file)?),
        (None, None, Some(value)) => {
            Origin::Simulation(Box::new(simulate::read(value.section()?, system)?))
        }
        (None, Some(file), Some(_)) => {
            let error = file.error("`file` and `[data.simulate]` cannot both be given");
            return Err(error.with_hint("keep one of the two"));
        }
        (None, None, None) => {
            let columns = ["t"].into_iter().chain(state.iter().map(String::as_str));
            let columns: Vec<&str> = columns.collect();
            return Err(section.error("there are no training data").with_hint(format!(
                "write `file = \"measurements.csv\"` below `[data]`, with the columns {}; \
                 or equations below `[data.simulate]`",
                columns.join(", ")
            )));
        }
    };
    Ok(Data { origin, format, interpolation, about_files: marked, has_inputs })
}

/// Refuses the keys that say where data are or how a file is written.
fn refuse_file_keys(section: &Section) -> Result<(), Diagnostic> {
    for key in ["file", "simulate", "time-origin", "missing", "separator"] {
        if let Some(mark) = section.peek(key) {
            let error = mark.error(format!("`{key}` has no effect: the data are in memory"));
            let hint = match key {
                "time-origin" => "leave it out, and subtract it from the times",
                "missing" => "leave it out: NaN is a missing cell",
                _ => "leave it out",
            };
            return Err(error.with_hint(hint));
        }
    }
    Ok(())
}

/// One path or several.
pub(crate) fn files(value: Value<'_>) -> Result<Files<'_>, Diagnostic> {
    let mark = value.mark();
    let values = value.one_or_more()?;
    if values.is_empty() {
        return Err(mark.error("`file` is an empty list").with_hint("write `file = \"data.csv\"`"));
    }
    let marks = values.iter().map(Value::mark).collect();
    let mut written = Vec::with_capacity(values.len());
    for value in &values {
        let text = value.text("data.csv")?;
        if text.value.is_empty() {
            let error = text.error("a file name is empty");
            return Err(error.with_hint("write `file = \"data.csv\"`"));
        }
        written.push(text.value);
    }
    Ok(Files { written, marks })
}

fn format<'a>(
    section: &mut Section,
    names: impl Iterator<Item = &'a String> + Clone,
) -> Result<Format, Diagnostic> {
    let mut format = Format::default();
    if let Some(value) = section.take("time") {
        format.time = value.text("t")?.value;
    }
    if let Some(value) = section.take("time-origin") {
        let text = value.text("1700000000000000000")?;
        format.origin = TimeOrigin::at(&text.value).ok_or_else(|| {
            let error = text.error(format!("`{}` is not a time in plain digits", text.value));
            error.with_hint("write it as in the file: `\"1700000000000000000\"`")
        })?;
    }
    if let Some(value) = section.take("trajectory") {
        format.trajectory = Some(value.text("trajectory")?.value);
    }
    if let Some(value) = section.take("columns") {
        for (name, value) in value.table("{ x = \"position\" }")?.rest() {
            if !names.clone().any(|known| *known == name.text) {
                let hint = meant(&name.text, names.map(String::as_str), "the names are");
                let message =
                    format!("`{}` in `columns` is not a state variable or an input", name.text);
                let hint = match name.text.as_str() {
                    "t" | "time" => "write `time = \"…\"` for the column with the times".to_owned(),
                    "trajectory" => {
                        "write `trajectory = \"…\"` for the column with the names of trajectories"
                            .to_owned()
                    }
                    _ => hint,
                };
                return Err(name.error(message).with_hint(hint));
            }
            format.columns.push((name.text, value.text("position")?.value));
        }
    }
    if let Some(value) = section.take("missing") {
        let values = value.list("a list of texts", "[\"\", \"NA\", \"NaN\"]")?;
        let texts = values.iter().map(|value| value.text("NA").map(|text| text.value));
        format.missing = texts.collect::<Result<_, _>>()?;
    }
    if let Some(value) = section.take("separator") {
        let text = value.text(",")?.value;
        format.separator = match (text.as_str(), text.as_bytes()) {
            ("tab", _) => b'\t',
            (_, &[byte]) if byte != b'"' && byte != b'\n' && byte != b'\r' => byte,
            _ => return Err(value.wrong("one character, or \"tab\"", "\";\"")),
        };
    }
    Ok(format)
}

impl Files<'_> {
    /// Returns the paths, relative to the current folder.
    pub(crate) fn paths(&self, folder: &Path) -> Vec<PathBuf> {
        self.written.iter().map(|file| folder.join(file)).collect()
    }

    /// Adds the place of the file's name to an error that has no place.
    pub(crate) fn locate(&self, file: usize, error: Diagnostic) -> Diagnostic {
        match (&error.place, self.marks.get(file)) {
            (None, Some(mark)) => error.at(mark.place()),
            _ => error,
        }
    }

    /// The key's value.
    pub(crate) fn write(&self) -> complete::Value {
        match self.written.as_slice() {
            [one] => one.as_str().into(),
            several => complete::texts(several),
        }
    }
}

impl Data<'_> {
    /// Adds the place of the file's name, or of the equations, to an error about the data.
    pub(crate) fn locate(&self, error: Diagnostic) -> Diagnostic {
        match &self.origin {
            Origin::Files(files) if files.marks.len() == 1 => files.locate(0, error),
            Origin::Files(_) | Origin::Table(_) => error,
            Origin::Simulation(simulate) => error.at(simulate.place()),
        }
    }

    /// Checks that keys about files are given only if one is read.
    pub(crate) fn check_about_files(&self, reads_files: bool) -> Result<(), Diagnostic> {
        match &self.about_files {
            Some((key, mark)) if !reads_files => {
                let message = format!("`{key}` has no effect: no data are read from a file");
                Err(mark.error(message).with_hint("leave it out"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the section with every key; `files` is whether any file is read.
    pub(crate) fn write(&self, files: bool) -> Table {
        let mut table = Table::new();
        if let Origin::Files(files) = &self.origin {
            table.insert("file".to_owned(), files.write());
        }
        if files {
            let Format { time, trajectory, columns, missing, separator, origin } = &self.format;
            table.insert("time".to_owned(), time.as_str().into());
            if let Some(origin) = origin.text() {
                table.insert("time-origin".to_owned(), origin.into());
            }
            if let Some(trajectory) = trajectory {
                table.insert("trajectory".to_owned(), trajectory.as_str().into());
            }
            let columns = complete::named(columns, |column| column.as_str().into());
            table.insert("columns".to_owned(), columns);
            if !matches!(self.origin, Origin::Table(_)) {
                table.insert("missing".to_owned(), complete::texts(missing));
                let separator = match separator {
                    b'\t' => "tab".to_owned(),
                    byte => char::from(*byte).to_string(),
                };
                table.insert("separator".to_owned(), separator.into());
            }
        }
        if self.has_inputs {
            table.insert(
                "interpolation".to_owned(),
                complete::word(&Interpolation::NAMES, self.interpolation),
            );
        }
        if let Origin::Simulation(simulate) = &self.origin {
            table.insert("simulate".to_owned(), simulate.write().into());
        }
        table
    }
}
