//! `lawful check`: reads an experiment and prints a summary, without training.

use lawful_experiment::{Diagnostic, check, counted, read};

use crate::MISSED;
use crate::arguments::Check;
use crate::output::{self, patiently, reading, typed};

pub(crate) fn run(options: &Check) -> Result<u8, Diagnostic> {
    let path = &options.experiment;
    let file = patiently(reading(path), || read(path))?;
    let checked = check(&file);
    let faults = checked.faults();
    if options.complete {
        output::data(&file.complete)?;
    } else if options.json {
        output::data(&format!("{:#}\n", checked.json()))?;
    } else {
        output::data(&checked.text())?;
    }
    if options.strict && !faults.is_empty() {
        for fault in &faults {
            output::talk(format!("error: {fault}"));
        }
        let laws = counted(faults.len(), "law");
        output::talk(format!(
            "hint: correct {laws}, or leave `--strict` out to train all the same"
        ));
        return Ok(MISSED);
    }
    if !options.complete && !options.json {
        say_contradictions(&checked.contradictions());
        output::talk(format!("\nno errors found; to train: lawful train {}", typed(path)));
    }
    Ok(0)
}

/// Prints which laws contradict the data, and what to do about it.
pub(super) fn say_contradictions(contradictions: &[(String, String)]) {
    for (what, hint) in contradictions {
        output::talk(format!("warning: {what}"));
        output::talk(format!("hint: {hint}"));
    }
}
