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
use std::path::Path;

use lawful::{Dataset, Interpolation};

use super::Variables;
use super::collection::Collection;
use super::header::{Header, Layout};
use super::place::Sheet;
use crate::diagnostic::Diagnostic;
use crate::files;

/// Returns the header for these variables.
fn columns(variables: Variables) -> Vec<String> {
    let names = ["trajectory", "t"].into_iter().map(str::to_owned);
    let names = names.chain(variables.state.iter().cloned());
    names.chain(variables.inputs.iter().cloned()).chain(["scored".to_owned()]).collect()
}

/// Writes data in the form above.
pub fn write_dataset(dataset: &Dataset, path: &Path) -> Result<(), Diagnostic> {
    let variables = Variables { state: dataset.state(), inputs: dataset.inputs(), open: true };
    let (states, inputs) = (variables.state.len(), variables.inputs.len());
    let failed =
        |error: csv::Error| Diagnostic::new(format!("cannot write `{}`: {error}", path.display()));
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(columns(variables)).map_err(failed)?;
    let mut names = HashSet::new();
    for trajectory in dataset.trajectories() {
        if !names.insert(&trajectory.name) {
            let name = &trajectory.name;
            return Err(Diagnostic::new(format!("two trajectories are called `{name}`"))
                .with_hint("give each trajectory its own name"));
        }
        for (n, &t) in trajectory.times.iter().enumerate() {
            let numbers = [t].into_iter();
            let numbers = numbers.chain(trajectory.states[n * states..][..states].iter().copied());
            let numbers = numbers.chain(trajectory.inputs[n * inputs..][..inputs].iter().copied());
            let cells = numbers.map(|x| if x.is_nan() { String::new() } else { format!("{x:?}") });
            let scored = u8::from(n >= trajectory.scored_from).to_string();
            let cells = [trajectory.name.clone()].into_iter().chain(cells).chain([scored]);
            writer.write_record(cells).map_err(failed)?;
        }
    }
    let bytes = writer.into_inner().map_err(|error| failed(error.into_error().into()))?;
    files::write(path, &bytes)
}

/// Reads data in the form above.
pub fn read_dataset(path: &Path, variables: Variables) -> Result<Dataset, Diagnostic> {
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
    collection.read(&[String::new()], None)?;
    let trajectories = collection.finish(Interpolation::default()).map_err(|error| error.error)?;
    let make = if variables.open { Dataset::with_open_starts } else { Dataset::new };
    make(variables.state.to_vec(), variables.inputs.to_vec(), trajectories)
        .map_err(|error| Diagnostic::new(format!("`{}`: {error}", path.display())))
}
