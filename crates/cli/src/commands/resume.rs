//! `lawful resume`: finishes an interrupted run, or extends a finished one.

use lawful_experiment::{
    Diagnostic, LoadedRun, Manifest, Resumed, RunFolder, counted, law_report, read_run, resume,
    score_sets,
};

use super::evaluate::{audited, warn_of_laws};
use super::train::{Ending, print_json, report};
use crate::arguments::Resume;
use crate::output::{data, talk};
use crate::progress::Progress;

pub(crate) fn run(options: &Resume) -> Result<u8, Diagnostic> {
    let folder = RunFolder::open(&options.run)?;
    let label = Manifest::read(&folder.manifest())?.name;
    let mut progress = Progress::new(options.quiet, label);
    match resume(&options.run, options.iterations, &mut progress)? {
        Resumed::Trained(trained) => {
            let Resume { quiet, json, strict, .. } = *options;
            let experiment = read_run(&options.run)?.experiment;
            let code = report(&experiment, &trained, Ending { quiet, json, strict })?;
            Ok(if strict { code.max(audited(&experiment)) } else { code })
        }
        Resumed::Finished(manifest) => {
            if !options.quiet {
                talk(format!(
                    "this run is finished: {} are done",
                    counted(manifest.done, "iteration")
                ));
                talk(format!("hint: `--iterations {}` extends it", 2 * manifest.done.max(1)));
            }
            if options.json {
                let run = LoadedRun::open(&options.run, None)?;
                let scores = score_sets(&run.experiment, &run.model, run.manifest.substeps)
                    .with_intervals(&run.experiment, &run.model);
                print_json(&options.run, &manifest, Some(&scores))?;
            } else {
                data(&format!("{}\n", options.run.display()))?;
            }
            let experiment = read_run(&options.run)?.experiment;
            // Runs of earlier versions have no verdicts.
            let report = if manifest.laws.is_empty() && !experiment.training.laws.is_empty() {
                law_report(&experiment, &LoadedRun::open(&options.run, None)?.model)
            } else {
                manifest.law_report()
            };
            let code = warn_of_laws(&experiment, &report, "this model", options.strict);
            Ok(if options.strict { code.max(audited(&experiment)) } else { code })
        }
    }
}
