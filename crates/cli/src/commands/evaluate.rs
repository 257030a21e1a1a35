//! `lawful evaluate`: prints a model's errors and violations on each set.

use lawful::Score;
use lawful_experiment::{Diagnostic, LoadedRun, Scores, exact, score_sets, short};

use crate::MISSED;
use crate::arguments::Evaluate;
use crate::output::{data, talk};
use crate::text_table::render;

pub(crate) fn run(options: &Evaluate) -> Result<u8, Diagnostic> {
    let run = LoadedRun::open(&options.run, options.model.map(Into::into))?;
    let scores = score_sets(&run.experiment, &run.model, run.manifest.substeps);
    if options.json {
        data(&format!("{:#}\n", scores.json()))?;
    } else {
        talk(format!(
            "{} model, iteration {}\n",
            run.choice.name(),
            run.model.description().iteration
        ));
        data(&table(&scores))?;
    }
    if let Some(warning) = scores.warning() {
        talk(format!("warning: {warning}"));
    }
    Ok(say_failures(&scores))
}

/// Prints which sets could not be solved, and returns the exit code.
pub(crate) fn say_failures(scores: &Scores) -> u8 {
    let mut code = 0;
    for (set, failure) in scores.failures() {
        talk(format!("error: {set} could not be solved: {failure}"));
        code = MISSED;
    }
    code
}

/// Returns tables of the scores of every set, of each law and of the learned constants, and what the
/// solver contributes.
pub(crate) fn table(scores: &Scores) -> String {
    let mut text = sets(scores);
    if !scores.laws.is_empty() {
        text.push('\n');
        text += &laws(scores);
    }
    if !scores.constants.is_empty() {
        text.push('\n');
        text += &constants(scores);
    }
    match scores.solver_note() {
        Some(note) => format!("{text}\n{note}\n"),
        None => text,
    }
}

fn constants(scores: &Scores) -> String {
    let rows = scores.constants.iter().map(|constant| {
        vec![constant.name.clone(), six_digits(constant.value), exact(constant.start)]
    });
    render(&["constant", "learned", "start"], 1, &rows.collect::<Vec<_>>())
}

/// Six significant digits: `0.123457`, `9.81`, `6.674e-11`.
fn six_digits(value: f64) -> String {
    format!("{value:.5e}").parse().map_or_else(|_| exact(value), exact)
}

fn sets(scores: &Scores) -> String {
    let has_laws = !scores.laws.is_empty();
    let mut header = vec!["set", "rows", "from", "to", "mse"];
    if has_laws {
        header.extend(["violation", "largest"]);
    }
    let mut rows = Vec::new();
    for set in &scores.sets {
        let mut row = vec![set.name.clone(), set.rows.to_string()];
        row.extend([exact(set.range.0), exact(set.range.1)]);
        row.extend(match &set.score {
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

fn laws(scores: &Scores) -> String {
    let mut rows = Vec::new();
    for (k, name) in scores.laws.iter().enumerate() {
        for (n, set) in scores.sets.iter().enumerate() {
            let name = if n == 0 { name.clone() } else { String::new() };
            let numbers = match &set.score {
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
