//! `lawful check`: says what was understood, trains nothing.

use lawful_experiment::{Diagnostic, read, summary};

use crate::arguments::Check;

pub(crate) fn run(options: &Check) -> Result<u8, Diagnostic> {
    let experiment = read(&options.experiment)?;
    if options.complete {
        print!("{}", experiment.complete_text());
    } else {
        print!("{}", summary(&experiment));
    }
    Ok(0)
}
