//! `lawful check`: reads an experiment and prints a summary, without training.

use lawful_experiment::{Diagnostic, read, summary};

use crate::arguments::Check;
use crate::output::{self, patiently, reading, typed};

pub(crate) fn run(options: &Check) -> Result<u8, Diagnostic> {
    let path = &options.experiment;
    let file = patiently(reading(path), || read(path))?;
    if options.complete {
        output::data(&file.complete)?;
    } else {
        output::data(&summary(&file.experiment))?;
        output::talk(format!(
            "\nno errors found; to train: lawful train {}",
            typed(&options.experiment)
        ));
    }
    Ok(0)
}
