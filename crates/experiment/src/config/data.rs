//! `[data]`: what was measured, or where it comes from.
//!
//! | key | default | range | purpose |
//! |---|---|---|---|
//! | `file` | needed, or `simulate` | a path or a list of paths | CSV files in long form, relative to the experiment file |
//! | `simulate` | instead of `file` | a table | data from equations, see [`super::simulate`] |
//! | `time` | `"t"` | a column's name | the column of times |
//! | `trajectory` | none | a column's name | the column that tells trajectories apart; without one, each file is a trajectory |
//! | `columns` | `{}` | names of columns | `{ T = "Temp (°C)" }`: our name = the column in the file |
//! | `missing` | `["", "NA", "NaN"]` | texts | cells that mean "not measured" |
//! | `separator` | `","` | one character, or `"tab"` | what separates cells |
//! | `interpolation` | `"linear"` | [`Interpolation::NAMES`] | what inputs are between two rows |
//!
//! The keys from `time` to `separator` are for the files of test sets, too.

use std::path::{Path, PathBuf};

use lawful::Interpolation;

use super::complete::{self, Table};
use super::section::Section;
use super::simulate::{self, Simulate};
use super::system::System;
use super::value::{Mark, Value};
use crate::diagnostic::Diagnostic;
use crate::phrases::meant;
use crate::table::Format;

/// The keys of this section.
pub(crate) const KEYS: &[&str] =
    &["file", "simulate", "time", "trajectory", "columns", "missing", "separator", "interpolation"];
/// Keys that say how files are read.
const FORMAT_KEYS: [&str; 5] = ["time", "trajectory", "columns", "missing", "separator"];

/// The section as meant.
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
}

/// Files, each with the place that names it.
#[derive(Debug)]
pub(crate) struct Files<'s> {
    /// As written.
    written: Vec<String>,
    marks: Vec<Mark<'s>>,
}

/// Reads the section.
pub(crate) fn read<'s>(mut section: Section<'s>, system: &System) -> Result<Data<'s>, Diagnostic> {
    let (state, inputs) = (system.vocabulary.state(), system.vocabulary.inputs());
    let has_inputs = !inputs.is_empty();
    let about_files = FORMAT_KEYS.into_iter().find(|key| section.has(key));
    let marked = about_files.and_then(|key| Some((key, section.peek(key)?)));
    let format = format(&mut section, state.iter().chain(inputs))?;
    let interpolation = match section.take("interpolation") {
        None => Interpolation::default(),
        Some(value) if !has_inputs => {
            return Err(value
                .error("`interpolation` is about inputs, and `[system] inputs` names none")
                .with_hint("leave it out, or write `inputs = [\"u\"]` in `[system]`"));
        }
        Some(value) => value.word("interpolation", &Interpolation::NAMES)?,
    };
    let origin = match (section.take("file"), section.take("simulate")) {
        (Some(file), None) => Origin::Files(files(file)?),
        (None, Some(value)) => {
            Origin::Simulation(Box::new(simulate::read(value.section()?, system)?))
        }
        (Some(file), Some(_)) => {
            let error = file.error("`file` and `[data.simulate]` cannot both be given");
            return Err(error.with_hint("keep the measurements or the equations"));
        }
        (None, None) => {
            let columns = ["t"].into_iter().chain(state.iter().map(String::as_str));
            let columns: Vec<&str> = columns.collect();
            return Err(section.error("there are no data to learn from").with_hint(format!(
                "write `file = \"measurements.csv\"` below `[data]`, with the columns {}; \
                 or equations below `[data.simulate]`",
                columns.join(", ")
            )));
        }
    };
    Ok(Data { origin, format, interpolation, about_files: marked, has_inputs })
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
            let error = text.error("a file's name is empty");
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
    if let Some(value) = section.take("trajectory") {
        format.trajectory = Some(value.text("trajectory")?.value);
    }
    if let Some(value) = section.take("columns") {
        for (name, value) in value.table("{ x = \"position\" }")?.rest() {
            if !names.clone().any(|known| *known == name.text) {
                let hint = meant(&name.text, names.map(String::as_str), "the names are");
                let message = format!("`{}` in `columns` is no state variable or input", name.text);
                let hint = match name.text.as_str() {
                    "t" | "time" => "the column of times is `time = \"…\"`".to_owned(),
                    "trajectory" => "the column of trajectories is `trajectory = \"…\"`".to_owned(),
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
    /// Their paths, seen from where the program runs.
    pub(crate) fn paths(&self, folder: &Path) -> Vec<PathBuf> {
        self.written.iter().map(|file| folder.join(file)).collect()
    }

    /// Says which file of the list a mistake without a place is about.
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
    /// The section with every key; `files` says whether any file is read.
    pub(crate) fn write(&self, files: bool) -> Table {
        let mut table = Table::new();
        if let Origin::Files(files) = &self.origin {
            table.insert("file".to_owned(), files.write());
        }
        if files {
            let Format { time, trajectory, columns, missing, separator } = &self.format;
            table.insert("time".to_owned(), time.as_str().into());
            if let Some(trajectory) = trajectory {
                table.insert("trajectory".to_owned(), trajectory.as_str().into());
            }
            let columns = complete::named(columns, |column| column.as_str().into());
            table.insert("columns".to_owned(), columns);
            table.insert("missing".to_owned(), complete::texts(missing));
            let separator = match separator {
                b'\t' => "tab".to_owned(),
                byte => char::from(*byte).to_string(),
            };
            table.insert("separator".to_owned(), separator.into());
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
