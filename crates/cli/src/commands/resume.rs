//! `lawful resume`: finishes an interrupted run, or extends a finished one.

use lawful_experiment::{
    Diagnostic, LoadedRun, Manifest, Resumed, RunFolder, counted, resume, score_sets,
};

use super::train::{print_json, report};
use crate::arguments::Resume;
use crate::output::{data, talk};
use crate::progress::Progress;

pub(crate) fn run(options: &Resume) -> Result<u8, Diagnostic> {
    let folder = RunFolder::open(&options.run)?;
    let label = Manifest::read(&folder.manifest())?.name;
    let mut progress = Progress::new(options.quiet, label);
    match resume(&options.run, options.iterations, &mut progress)? {
        Resumed::Trained(trained) => report(&trained, options.quiet, options.json),
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
                let scores = score_sets(&run.experiment, &run.model, run.manifest.substeps);
                print_json(&options.run, &manifest, Some(&scores))?;
            } else {
                data(&format!("{}\n", options.run.display()))?;
            }
            Ok(0)
        }
    }
}
