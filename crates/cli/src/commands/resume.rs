//! `lawful resume`: finishes an interrupted run, or extends a finished one.

use lawful_experiment::{Diagnostic, Manifest, Resumed, RunFolder, resume};

use super::train::report;
use crate::arguments::Resume;
use crate::progress::Progress;

pub(crate) fn run(options: &Resume) -> Result<u8, Diagnostic> {
    let folder = RunFolder::open(&options.run)?;
    let label = Manifest::read(&folder.manifest())?.name;
    let mut progress = Progress::new(options.quiet, label);
    match resume(&options.run, options.iterations, &mut progress)? {
        Resumed::Trained(trained) => report(&trained, options.quiet, options.json),
        Resumed::Finished(manifest) => {
            if !options.quiet {
                eprintln!("this run is finished: {} iterations are done", manifest.done);
                eprintln!("hint: `--iterations {}` extends it", 2 * manifest.done.max(1));
            }
            println!("{}", options.run.display());
            Ok(0)
        }
    }
}
