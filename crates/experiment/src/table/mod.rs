//! Measurements as tables: CSV files in long form, one row per time.
//!
//! A file has a header and columns for the time, for each state variable and input and, where there
//! are several, for the trajectory's name. Other columns are ignored. Rows of different trajectories
//! may be mixed; within one, times must increase. A trajectory may continue in the next file.

mod cell;
mod collection;
mod decimal;
mod header;
mod memory;
mod origin;
mod place;
mod stored;

use std::path::PathBuf;

use lawful::{Interpolation, Trajectory};

pub use memory::{Cells, Columns, Grouped};
pub use origin::TimeOrigin;
pub use stored::{read_dataset, write_dataset};

use crate::diagnostic::Diagnostic;
use crate::files;
use collection::Collection;
use header::Layout;
use place::Sheet;

/// The format of files: the keys of `[data]` from `time` to `separator`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Format {
    /// The column of times.
    pub time: String,
    /// The column that names the trajectory; without one, each file is one.
    pub trajectory: Option<String>,
    /// Variable and column, where the names differ.
    pub columns: Vec<(String, String)>,
    /// Cells that count as missing.
    pub missing: Vec<String>,
    /// The separator between cells.
    pub separator: u8,
    /// The time from which times are counted; it is subtracted before they are rounded.
    pub origin: TimeOrigin,
}

impl Default for Format {
    fn default() -> Self {
        Self {
            time: "t".to_owned(),
            trajectory: None,
            columns: Vec::new(),
            missing: ["", "NA", "NaN"].map(str::to_owned).to_vec(),
            separator: b',',
            origin: TimeOrigin::default(),
        }
    }
}

/// The variables that a table must have.
#[derive(Debug, Clone, Copy)]
pub struct Variables<'a> {
    /// The state variables.
    pub state: &'a [String],
    /// The inputs.
    pub inputs: &'a [String],
    /// Whether the first row of a trajectory can have missing cells: initial states are trained.
    pub open: bool,
}

/// An error, and the number of the file that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileError {
    /// Number of the file, from 0.
    pub file: usize,
    /// The error.
    pub error: Diagnostic,
    /// The time from which times have to be counted so that rounding does not change their distances; that is
    /// the error.
    pub origin: Option<TimeOrigin>,
}

/// Reads one file or several.
///
/// Missing cells of states become NaN; missing inputs are filled from their neighbours by `interpolation`.
pub fn read(
    paths: &[PathBuf],
    format: &Format,
    variables: Variables,
    interpolation: Interpolation,
) -> Result<Vec<Trajectory>, FileError> {
    let names = names_of(paths);
    let mut collection = Collection::new(variables);
    for (file, (path, name)) in paths.iter().zip(names).enumerate() {
        let within = |error| FileError { file, error, origin: None };
        let text = files::read_text(path).map_err(within)?;
        let sheet = Sheet::new(path, text, format.separator);
        let layout = Layout::find(&sheet, format, variables).map_err(within)?;
        collection.begin(sheet, layout, name);
        let read = collection.read(&format.missing, &format.origin);
        read.map_err(|error| FileError { origin: collection.needed.take(), ..within(error) })?;
    }
    collection.finish(interpolation)
}

/// Returns the name of the only trajectory of each file: the file's name without its ending, or its
/// whole path where two files have the same name.
fn names_of(paths: &[PathBuf]) -> Vec<String> {
    let stems: Vec<String> = (paths.iter())
        .map(|path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned())
        .collect();
    let unique = |stem: &String| stems.iter().filter(|other| *other == stem).count() == 1;
    let named = stems.iter().zip(paths).map(|(stem, path)| {
        if unique(stem) { stem.clone() } else { path.with_extension("").display().to_string() }
    });
    named.collect()
}
