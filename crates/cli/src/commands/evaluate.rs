//! `lawful evaluate`: prints a model's errors and violations on each set.

use lawful::{Estimates, LawPlace, LawReport, LawStatus, Score};
use lawful_experiment::{
    Diagnostic, Experiment, IntervalReport, LoadedRun, Scores, audit, contradictions, exact,
    law_warning, score_sets, short,
};

use super::check::say_contradictions;
use super::predict::since;
use crate::MISSED;
use crate::arguments::{Evaluate, Time};
use crate::output::{data, talk};
use crate::text_table::render;

pub(crate) fn run(options: &Evaluate) -> Result<u8, Diagnostic> {
    let mut run = LoadedRun::open(&options.run, options.model.map(Into::into))?;
    if let Some(horizon) = &options.horizon {
        run.experiment.horizon = Some(checked(horizon, &run.experiment)?);
    }
    let scores = score_sets(&run.experiment, &run.model, run.manifest.substeps)
        .with_intervals(&run.experiment, &run.model);
    if options.json {
        data(&format!("{:#}\n", scores.json()))?;
    } else {
        talk(format!(
            "{} model, iteration {}\n",
            run.choice.name(),
            run.model.description().iteration
        ));
        if let Some(note) = run.experiment.time_note() {
            talk(note);
        }
        data(&table(&scores))?;
    }
    if let Some(warning) = scores.warning() {
        talk(format!("warning: {warning}"));
    }
    let laws = warn_of_laws(&run.experiment, &scores.report, "this model", options.strict);
    let audited = if options.strict { audited(&run.experiment) } else { 0 };
    Ok(say_failures(&scores).max(laws).max(audited))
}

/// Refuses a horizon up to which nothing more would be measured.
fn checked(given: &Time, experiment: &Experiment) -> Result<f64, Diagnostic> {
    let origin = &experiment.time_origin;
    let horizon =
        if given.number.is_finite() { since(given, "--horizon", origin)? } else { given.number };
    let wrong = |why: &str, hint: String| {
        let message = format!("`--horizon {}` {why}", given.digits);
        Err(Diagnostic::new(message).with_hint(hint))
    };
    if experiment.training.laws.is_empty() {
        return wrong("has no effect: the experiment has no law", "leave it out".to_owned());
    }
    let ends = experiment.training.data.trajectories().iter();
    let end =
        ends.map(|trajectory| trajectory.times[trajectory.len() - 1]).fold(f64::INFINITY, f64::min);
    let hint = format!("give a time after {}", origin.shown(end));
    if !horizon.is_finite() {
        return wrong("is not a time", hint);
    }
    if horizon <= end {
        return wrong("has no effect: no trajectory of the training data ends before it", hint);
    }
    Ok(horizon)
}

/// Prints which laws contradict the data, and returns the exit code.
pub(crate) fn audited(experiment: &Experiment) -> u8 {
    let contradictions = contradictions(&audit(experiment));
    say_contradictions(&contradictions);
    if contradictions.is_empty() { 0 } else { MISSED }
}

/// Prints which laws a model breaks, even when quiet. Returns the exit code.
pub(crate) fn warn_of_laws(
    experiment: &Experiment,
    report: &LawReport,
    model: &str,
    strict: bool,
) -> u8 {
    if let Some(warning) = law_warning(experiment, report, model) {
        talk(warning);
    }
    let failed = report.laws.iter().any(|law| law.status == LawStatus::GuaranteeFailed);
    if failed || (strict && !report.is_clean()) { MISSED } else { 0 }
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
        text.push('\n');
        text += &verdicts(&scores.report);
    }
    if let Some(report) = &scores.intervals {
        text.push('\n');
        text += &intervals(report);
    }
    if !scores.constants.constants.is_empty() {
        text.push('\n');
        text += &constants(&scores.constants);
    }
    if !scores.process_noise.is_empty() {
        text.push('\n');
        let rows = scores.process_noise.iter().map(|(name, size)| vec![name.clone(), short(*size)]);
        let header = ["process noise", "standard deviation per square root of time"];
        text += &render(&header, 1, &rows.collect::<Vec<_>>());
    }
    if !scores.subjects.is_empty() {
        text.push('\n');
        text += &subjects(scores);
    }
    match scores.solver_note() {
        Some(note) => format!("{text}\n{note}\n"),
        None => text,
    }
}

/// Returns the learned constants as a regression reports them.
fn constants(estimates: &Estimates) -> String {
    let has_errors = estimates.constants.iter().any(|constant| constant.standard_error.is_some());
    let mut header = vec!["constant", "learned", "start"];
    if has_errors {
        header.insert(2, "standard error");
    }
    let rows = estimates.constants.iter().map(|constant| {
        let mut row =
            vec![constant.name.clone(), six_digits(constant.value), exact(constant.start)];
        if has_errors {
            row.insert(2, constant.standard_error.map_or_else(|| "–".to_owned(), short));
        }
        row
    });
    let mut text = render(&header, 1, &rows.collect::<Vec<_>>());
    let pairs = estimates.pairs().map(|(i, j, correlation)| {
        let names = [i, j].map(|k| estimates.constants[k].name.clone());
        vec![names.join(", "), format!("{correlation:.3}")]
    });
    let pairs: Vec<Vec<String>> = pairs.collect();
    if !pairs.is_empty() {
        text.push('\n');
        text += &render(&["constants", "correlation"], 1, &pairs);
    }
    text
}

/// Returns how good the intervals are on each set, and the laws over the draws.
fn intervals(report: &IntervalReport) -> String {
    let mut rows = Vec::new();
    for (set, scores) in &report.sets {
        match scores {
            Ok(scores) => {
                for score in scores.iter().filter(|score| score.cells > 0) {
                    let coverage = format!("{:.1} %", 100.0 * score.coverage);
                    let (width, mean) = (short(score.width), short(score.score));
                    let cells = score.cells.to_string();
                    rows.push(vec![set.clone(), score.state.clone(), cells, coverage, width, mean]);
                }
            }
            Err(failure) => {
                let none = || "–".to_owned();
                rows.push(vec![set.clone(), failure.clone(), none(), none(), none(), none()]);
            }
        }
    }
    let percent = format!("{} % interval", exact(100.0 * report.level));
    let header = ["set", &percent, "cells", "coverage", "width", "score"];
    let mut text = render(&header, 2, &rows);
    if !report.laws.is_empty() {
        let rows = report.laws.iter().map(|law| {
            let broken = format!("{:.1} %", 100.0 * law.broken);
            vec![law.law.clone(), law.draws.to_string(), broken, short(law.largest)]
        });
        text.push('\n');
        text += &render(
            &["law", "draws", "that break it", "largest violation"],
            1,
            &rows.collect::<Vec<_>>(),
        );
    }
    text
}

/// Returns the numbers of each trajectory of the training.
fn subjects(scores: &Scores) -> String {
    let first = &scores.subjects[0];
    let effects = (1..=first.effects.len()).map(|n| format!("effect {n}"));
    let constants = first.constants.iter().map(|(name, _)| name.clone());
    let header: Vec<String> =
        std::iter::once("trajectory".to_owned()).chain(constants).chain(effects).collect();
    let rows = scores.subjects.iter().map(|own| {
        let values = own.constants.iter().map(|(_, value)| value).chain(&own.effects);
        let values = values.map(|value| six_digits(*value));
        std::iter::once(own.trajectory.clone()).chain(values).collect()
    });
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    render(&header, 1, &rows.collect::<Vec<_>>())
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

/// Returns the verdict on each law, on a dense grid.
fn verdicts(report: &LawReport) -> String {
    let rows = report.laws.iter().map(|law| {
        let place = if law.status == LawStatus::Undefined { &law.undefined } else { &law.place };
        let place = place.as_ref().filter(|_| law.status.is_fault());
        vec![
            law.name.clone(),
            law.status.name().replace('-', " "),
            place.map_or_else(String::new, LawPlace::describe),
            short(law.violation),
            format!("{} %", short(law.percent)),
        ]
    });
    render(&["law", "verdict", "where", "violation", "of its size"], 3, &rows.collect::<Vec<_>>())
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
