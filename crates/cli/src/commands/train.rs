//! `lawful train`: trains an experiment and writes its run folder.

use std::path::Path;

use lawful::optimiser::OptimiserKind;
use lawful_experiment::{
    Diagnostic, Experiment, Manifest, ModelChoice, Scores, Status, Trained, expected, read_run,
    read_with_seed, train,
};
use serde_json::json;

use super::evaluate;
use crate::arguments::Train;
use crate::output::{data, patiently, reading, talk, typed};
use crate::progress::Progress;
use crate::{INTERRUPTED, MISSED};

pub(crate) fn run(options: &Train) -> Result<u8, Diagnostic> {
    let path = &options.experiment;
    let read = || read_with_seed(path, options.seed);
    let file = if options.quiet { read() } else { patiently(reading(path), read) }?;
    let experiment = &file.experiment;
    if !options.quiet {
        say_recipe(experiment);
    }
    let audited = evaluate::audited(experiment);
    if options.strict && audited != 0 {
        talk(
            "error: nothing was trained, because `--strict` was given and laws contradict the data",
        );
        return Ok(audited);
    }
    let mut progress = Progress::new(options.quiet, experiment.label());
    let trained = train(&file, &options.out, &mut progress)?;
    report(
        experiment,
        &trained,
        Ending { quiet: options.quiet, json: options.json, strict: options.strict },
    )
}

/// Prints what a recipe has selected, and why.
fn say_recipe(experiment: &Experiment) {
    match experiment.training.recipe {
        Some(recipe) => talk(format!("recipe {recipe}:")),
        None if experiment.training.remarks.is_empty() => return,
        None => talk("remarks:".to_owned()),
    }
    let time = expected(&experiment.training);
    for remark in experiment.training.remarks.iter().chain(&time) {
        talk(format!("  – {remark}"));
    }
}

/// How the results are printed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ending {
    pub(crate) quiet: bool,
    pub(crate) json: bool,
    pub(crate) strict: bool,
}

/// Prints the results and returns the exit code. Errors are printed even when quiet: they are why the
/// code is not 0. So are broken laws.
pub(crate) fn report(
    experiment: &Experiment,
    trained: &Trained,
    ending: Ending,
) -> Result<u8, Diagnostic> {
    let Trained { folder, manifest, scores } = trained;
    if !ending.quiet {
        say(trained);
    }
    if manifest.status == Status::Failed {
        talk(format!("error: training failed: {}", manifest.reason));
        if let Some(optimiser) = optimiser_at_the_end(folder.path(), manifest.done) {
            talk(format!("hint: try {}, or a finer `[solver]`", remedies(&optimiser)));
        }
    }
    let missed = scores.as_ref().map_or(0, |scores| {
        let laws = evaluate::warn_of_laws(experiment, &scores.report, "this model", ending.strict);
        evaluate::say_failures(scores).max(laws)
    });
    if ending.json {
        print_json(folder.path(), manifest, scores.as_ref())?;
    } else {
        data(&format!("{}\n", folder.path().display()))?;
    }
    Ok(match manifest.status {
        Status::Interrupted => INTERRUPTED,
        Status::Failed => MISSED,
        Status::Finished | Status::Running => missed,
    })
}

/// Returns the optimiser of the phase of a run in which this many iterations end.
fn optimiser_at_the_end(run: &Path, done: usize) -> Option<OptimiserKind> {
    let phases = read_run(run).ok()?.experiment.training.phases;
    let mut first = 0;
    let phase = phases.iter().find(|phase| {
        // A phase of n iterations evaluates n + 1 points.
        first += phase.iterations + 1;
        done < first
    });
    phase.or(phases.last()).map(|phase| phase.optimiser.clone())
}

/// Returns which of its settings make an optimiser more careful, or one that has such settings.
fn remedies(optimiser: &OptimiserKind) -> String {
    let keys = optimiser.keys();
    let known = [("rate", "a smaller `rate`"), ("clip", "`clip` under `optimiser`")];
    let has = |name: &str| keys.iter().any(|key| key.name == name);
    let found: Vec<&str> =
        known.iter().filter(|(name, _)| has(name)).map(|(_, words)| *words).collect();
    if found.is_empty() {
        return "a first phase with `optimiser = \"adam\"`, which takes smaller steps".to_owned();
    }
    found.join(", ")
}

fn say(trained: &Trained) {
    let Trained { folder, manifest, scores } = trained;
    if manifest.model == ModelChoice::Best {
        talk(format!(
            "best point: iteration {} (trial points: {} accepted, {} rejected)",
            manifest.best_iteration, manifest.accepted, manifest.rejected
        ));
    }
    if let Some(scores) = scores {
        talk(format!("\n{}", evaluate::table(scores)));
        if let Some(warning) = scores.warning() {
            talk(format!("warning: {warning}\n"));
        }
        talk(format!("figures: {}", typed(&folder.path().join("figures"))));
    } else {
        talk(format!("to resume: lawful resume {}", typed(folder.path())));
    }
}

/// Prints the scores and the status of the run.
pub(crate) fn print_json(
    run: &Path,
    manifest: &Manifest,
    scores: Option<&Scores>,
) -> Result<(), Diagnostic> {
    let mut value = scores.map_or_else(|| json!({}), Scores::json);
    value["run"] = json!(run.display().to_string());
    value["status"] = json!(manifest.status);
    value["reason"] = json!(manifest.reason);
    value["iterations"] = json!(manifest.done);
    data(&format!("{value:#}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_name_only_settings_that_the_optimiser_has() {
        for optimiser in OptimiserKind::all() {
            let (hint, keys) = (remedies(&optimiser), optimiser.keys());
            for name in ["rate", "clip"] {
                let known = keys.iter().any(|key| key.name == name);
                assert_eq!(hint.contains(&format!("`{name}`")), known, "{}", optimiser.name());
            }
        }
    }
}
