//! `lawful check`: reads an experiment and prints a summary, without training.

use lawful_experiment::{Diagnostic, read, summary};

use crate::arguments::Check;
use crate::output::{self, typed};

pub(crate) fn run(options: &Check) -> Result<u8, Diagnostic> {
    let experiment = read(&options.experiment)?;
    if options.complete {
        output::data(&experiment.complete_text())?;
    } else {
        output::data(&summary(&experiment))?;
        output::talk(format!(
            "\nno errors found; to train: lawful train {}",
            typed(&options.experiment)
        ));
    }
    Ok(0)
}
