//! `lawful train`: an experiment into a run folder.

use lawful_experiment::{Assessment, Diagnostic, Status, Trained, read, train};
use serde_json::json;

use super::evaluate;
use crate::arguments::Train;
use crate::progress::Progress;
use crate::{INTERRUPTED, MISSED};

pub(crate) fn run(options: &Train) -> Result<u8, Diagnostic> {
    let mut experiment = read(&options.experiment)?;
    if let Some(seed) = options.seed {
        experiment.set_seed(seed);
    }
    let mut progress = Progress::new(options.quiet, experiment.label());
    let trained = train(&experiment, &options.out, &mut progress)?;
    report(&trained, options.quiet, options.json)
}

/// Results to stdout and, in words, to stderr; the exit code.
pub(crate) fn report(trained: &Trained, quiet: bool, json: bool) -> Result<u8, Diagnostic> {
    let Trained { folder, manifest, assessment } = trained;
    let path = folder.path().display();
    if !quiet {
        if manifest.accepted + manifest.rejected > 0 && manifest.model.name() == "best" {
            eprintln!(
                "best point of iteration {} ({} trials accepted, {} rejected)",
                manifest.best_iteration, manifest.accepted, manifest.rejected
            );
        }
        if let Some(assessment) = assessment {
            eprint!("\n{}", evaluate::table(assessment));
            eprintln!("\npictures: {path}/figures/");
        } else {
            eprintln!("to go on: lawful resume {path}");
        }
    }
    if json {
        let mut value = assessment.as_ref().map_or_else(|| json!({}), Assessment::json);
        value["run"] = json!(path.to_string());
        value["status"] = json!(manifest.status);
        value["reason"] = json!(manifest.reason);
        println!("{value:#}");
    } else {
        println!("{path}");
    }
    Ok(match manifest.status {
        Status::Interrupted => INTERRUPTED,
        Status::Failed => MISSED,
        Status::Finished | Status::Running => 0,
    })
}
