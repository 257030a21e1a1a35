//! `lawful evaluate`: prints a model's errors and violations on each set.

use lawful_experiment::{Diagnostic, LoadedRun, Score, Scores, assess, exact, short};

use crate::MISSED;
use crate::arguments::Evaluate;
use crate::output::{data, talk};
use crate::text_table::render;

pub(crate) fn run(options: &Evaluate) -> Result<u8, Diagnostic> {
    let run = LoadedRun::open(&options.run, options.model.map(Into::into))?;
    let assessment = assess(&run.experiment, &run.theta, run.manifest.substeps);
    if options.json {
        data(&format!("{:#}\n", assessment.json()))?;
    } else {
        talk(format!("{} model, iteration {}\n", run.which.name(), run.iteration));
        data(&table(&assessment))?;
    }
    if let Some(warning) = assessment.warning() {
        talk(format!("warning: {warning}"));
    }
    Ok(say_failures(&assessment))
}

/// Prints which sets could not be solved, and returns the exit code.
pub(crate) fn say_failures(assessment: &Scores) -> u8 {
    let mut code = 0;
    for (set, failure) in assessment.failures() {
        talk(format!("error: {set} could not be solved: {failure}"));
        code = MISSED;
    }
    code
}

/// Returns tables of the scores of every set, of each law and of the learned constants, and what the
/// solver contributes.
pub(crate) fn table(assessment: &Scores) -> String {
    let mut text = sets(assessment);
    if !assessment.laws.is_empty() {
        text.push('\n');
        text += &laws(assessment);
    }
    if !assessment.constants.is_empty() {
        text.push('\n');
        text += &constants(assessment);
    }
    match assessment.solver_note() {
        Some(note) => format!("{text}\n{note}\n"),
        None => text,
    }
}

fn constants(assessment: &Scores) -> String {
    let rows = assessment.constants.iter().map(|constant| {
        vec![constant.name.clone(), six_digits(constant.value), exact(constant.start)]
    });
    render(&["constant", "learned", "start"], 1, &rows.collect::<Vec<_>>())
}

/// Six significant digits: `0.123457`, `9.81`, `6.674e-11`.
fn six_digits(value: f64) -> String {
    format!("{value:.5e}").parse().map_or_else(|_| exact(value), exact)
}

fn sets(assessment: &Scores) -> String {
    let has_laws = !assessment.laws.is_empty();
    let mut header = vec!["set", "rows", "from", "to", "mse"];
    if has_laws {
        header.extend(["violation", "largest"]);
    }
    let mut rows = Vec::new();
    for set in &assessment.sets {
        let mut row = vec![set.name.clone(), set.rows.to_string()];
        row.extend([exact(set.range.0), exact(set.range.1)]);
        row.extend(match &set.outcome {
            Ok(Score { mse, violation, violation_max, .. }) => {
                [mse, violation, violation_max].map(|number| short(*number))
            }
            Err(_) => ["failed".to_owned(), "–".to_owned(), "–".to_owned()],
        });
        row.truncate(header.len());
        rows.push(row);
    }
    render(&header, 1, &rows)
}

fn laws(assessment: &Scores) -> String {
    let mut rows = Vec::new();
    for (k, name) in assessment.laws.iter().enumerate() {
        for (n, set) in assessment.sets.iter().enumerate() {
            let name = if n == 0 { name.clone() } else { String::new() };
            let numbers = match &set.outcome {
                Ok(score) => {
                    let law = &score.laws[k];
                    let share = format!("{:.1} %", 100.0 * law.share);
                    [short(law.mean), short(law.max), share]
                }
                Err(_) => ["–".to_owned(), "–".to_owned(), "–".to_owned()],
            };
            rows.push([name, set.name.clone()].into_iter().chain(numbers).collect());
        }
    }
    render(&["law", "set", "mean violation", "largest", "steps violated"], 2, &rows)
}
