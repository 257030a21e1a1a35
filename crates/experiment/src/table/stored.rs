//! The data of a run: `data/*.csv` in a run folder.
//!
//! ```text
//! trajectory,t,x,v,u,scored
//! a,0.0,1.0,0.5,0.25,0
//! a,0.1,,0.4,0.25,1
//! ```
//!
//! Columns are the trajectory's name, the time, the states, the inputs, and whether the row is
//! scored (1) or only solved (0). Numbers are written with as many digits as give the same number
//! back; a missing cell is empty.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::Path;

use lawful::{Dataset, Interpolation};

use super::collection::Collection;
use super::header::{Header, Layout};
use super::place::Sheet;
use super::{TimeOrigin, Variables};
use crate::diagnostic::Diagnostic;
use crate::files;

/// Returns the header for these variables.
fn columns(variables: Variables) -> Vec<String> {
    let names = ["trajectory", "t"].into_iter().map(str::to_owned);
    let names = names.chain(variables.state.iter().cloned());
    names.chain(variables.inputs.iter().cloned()).chain(["scored".to_owned()]).collect()
}

/// Writes data in the form above, with the digits of times that are counted from an origin.
pub fn write_dataset(
    dataset: &Dataset,
    origin: &TimeOrigin,
    path: &Path,
) -> Result<(), Diagnostic> {
    let variables = Variables { state: dataset.state(), inputs: dataset.inputs(), open: true };
    let (states, inputs) = (variables.state.len(), variables.inputs.len());
    let mut names = HashSet::new();
    if let Some(twice) = dataset.trajectories().iter().find(|t| !names.insert(&t.name)) {
        return Err(Diagnostic::new(format!("two trajectories are called `{}`", twice.name))
            .with_hint("give each trajectory its own name"));
    }
    files::stream(path, |file| {
        let mut writer = csv::Writer::from_writer(file);
        writer.write_record(columns(variables))?;
        let mut cell = String::new();
        for trajectory in dataset.trajectories() {
            for (n, &t) in trajectory.times.iter().enumerate() {
                writer.write_field(&trajectory.name)?;
                match origin.text() {
                    Some(_) => writer.write_field(origin.shown(t))?,
                    None => writer.write_field(format!("{t:?}"))?,
                }
                let row = trajectory.states[n * states..][..states].iter();
                let row = row.chain(&trajectory.inputs[n * inputs..][..inputs]);
                for x in row {
                    cell.clear();
                    if !x.is_nan() {
                        write!(cell, "{x:?}").expect("memory can be written");
                    }
                    writer.write_field(&cell)?;
                }
                writer.write_field(if n >= trajectory.scored_from { "1" } else { "0" })?;
                writer.write_record(None::<&[u8]>)?;
            }
        }
        writer.flush()
    })
}

/// Reads data in the form above.
pub fn read_dataset(
    path: &Path,
    variables: Variables,
    origin: &TimeOrigin,
) -> Result<Dataset, Diagnostic> {
    let sheet = Sheet::new(path, files::read_text(path)?, b',');
    let header = Header::read(&sheet)?;
    let needed = columns(variables);
    if header.columns != needed {
        return Err(header
            .error(format!(
                "this file does not have the columns of this run, which are {}",
                needed.join(",")
            ))
            .with_hint("the run folder was changed by hand; train again, or restore the file"));
    }
    let (states, inputs) = (variables.state.len(), variables.inputs.len());
    let layout = Layout {
        time: 1,
        trajectory: Some(0),
        states: (2..2 + states).collect(),
        inputs: (2 + states..2 + states + inputs).collect(),
        scored: Some(2 + states + inputs),
        columns: needed,
    };
    let mut collection = Collection::new(variables);
    collection.begin(sheet, layout, String::new());
    collection.read(&[String::new()], origin)?;
    let trajectories = collection.finish(Interpolation::default()).map_err(|error| error.error)?;
    let make = if variables.open { Dataset::with_open_starts } else { Dataset::new };
    make(variables.state.to_vec(), variables.inputs.to_vec(), trajectories)
        .map_err(|error| Diagnostic::new(format!("`{}`: {error}", path.display())))
}
