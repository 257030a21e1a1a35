//! `lawful evaluate`: errors and violations of a model on each set.

use lawful_experiment::{Assessment, Diagnostic, LoadedRun, assess};

use crate::MISSED;
use crate::arguments::Evaluate;
use crate::text_table::{render, short};

pub(crate) fn run(options: &Evaluate) -> Result<u8, Diagnostic> {
    let run = LoadedRun::open(&options.run, options.model.map(Into::into))?;
    let assessment = assess(&run.experiment, &run.theta);
    if options.json {
        println!("{:#}", assessment.json());
    } else {
        eprintln!("{} model of iteration {}\n", run.which.name(), run.iteration);
        print!("{}", table(&assessment));
    }
    if let Some(warning) = assessment.warning() {
        eprintln!("warning: {warning}");
    }
    Ok(if assessment.any_failed() { MISSED } else { 0 })
}

/// The scores of every set, then of each law, then what the solver contributes.
pub(crate) fn table(assessment: &Assessment) -> String {
    let mut rows = Vec::new();
    let mut law_rows = Vec::new();
    let mut failures = String::new();
    for set in &assessment.sets {
        match &set.outcome {
            Ok(score) => {
                let numbers = [score.mse, score.violation, score.violation_max];
                let cells = numbers.iter().map(|number| short(*number));
                rows.push(std::iter::once(set.name.clone()).chain(cells).collect());
                for (name, law) in assessment.laws.iter().zip(&score.laws) {
                    let share = format!("{:.1} %", 100.0 * law.share);
                    law_rows.push(vec![
                        format!("{name} ({})", set.name),
                        short(law.mean),
                        short(law.max),
                        share,
                    ]);
                }
            }
            Err(failure) => {
                let dash = || "–".to_owned();
                rows.push(vec![set.name.clone(), dash(), dash(), dash()]);
                failures += &format!("{} could not be solved: {failure}\n", set.name);
            }
        }
    }
    let mut text = render(&["set", "mse", "violation", "largest"], &rows);
    if !law_rows.is_empty() {
        text.push('\n');
        text += &render(&["law", "mean", "largest", "steps"], &law_rows);
    }
    if let Some(difference) = assessment.discretisation {
        text += &format!(
            "\ntraining discretisation and prediction solver differ by {} (mean squared)\n",
            short(difference)
        );
    }
    if !failures.is_empty() {
        text.push('\n');
        text += &failures;
    }
    text
}
