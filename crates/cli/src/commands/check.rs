//! `lawful check`: says what was understood, trains nothing.

use lawful_experiment::{Diagnostic, read, summary};

use crate::arguments::Check;
use crate::output::{self, typed};

pub(crate) fn run(options: &Check) -> Result<u8, Diagnostic> {
    let experiment = read(&options.experiment)?;
    if options.complete {
        output::data(&experiment.complete_text())?;
    } else {
        output::data(&summary(&experiment))?;
        output::talk(format!("\nall is well: lawful train {}", typed(&options.experiment)));
    }
    Ok(0)
}
