//! One training of a plan.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use lawful::Row;

use super::study_observer::StudyObserver;
use crate::config::ExperimentFile;
use crate::diagnostic::Diagnostic;
use crate::experiment::Experiment;
use crate::run::{Manifest, Resumed, RunFolder, RunObserver, Status, resume, train};

/// Iterations between two calls of the study observer.
const REPORT_EVERY: usize = 16;

/// An experiment and the place of its run folder.
pub(super) struct Job<'a> {
    file: &'a ExperimentFile,
    parent: &'a Path,
    pub(super) path: PathBuf,
}

/// Returns whether a run is over, with or without success.
pub(super) fn has_ended(manifest: &Manifest) -> bool {
    matches!(manifest.status, Status::Finished | Status::Failed)
}

/// Returns the cost of one iteration, in units that are the same for all experiments: rows of data
/// times parameters.
pub fn cost(experiment: &Experiment) -> f64 {
    experiment.training.data.rows() as f64 * experiment.training.parameter_len() as f64
}

impl<'a> Job<'a> {
    pub(super) fn new(file: &'a ExperimentFile, parent: &'a Path) -> Self {
        Self { file, parent, path: parent.join(RunFolder::name_of(file)) }
    }

    /// Returns the manifest of the run, if the training was begun before.
    pub(super) fn found(&self) -> Result<Option<Manifest>, Diagnostic> {
        if !self.path.exists() {
            return Ok(None);
        }
        let folder = RunFolder::open(&self.path)?;
        let manifest = Manifest::read(&folder.manifest())?;
        let now = Manifest::new(self.file);
        for (what, then, now) in [
            ("version", &manifest.version, &now.version),
            ("arithmetic", &manifest.kernels, &now.kernels),
        ] {
            if then != now {
                let path = self.path.display();
                return Err(Diagnostic::new(format!(
                    "`{path}` was written with the {what} `{then}`, but this program has `{now}`"
                ))
                .with_hint(
                    "choose another `--out` folder: results of different versions cannot be compared",
                ));
            }
        }
        Ok(Some(manifest))
    }

    /// Returns the cost of the iterations that are left after `done`.
    pub(super) fn work_left(&self, done: usize) -> f64 {
        let left = self.file.experiment.training.iterations().saturating_sub(done);
        left as f64 * cost(&self.file.experiment)
    }

    /// Starts or resumes the training. Returns whether it is over, `false` if it was interrupted.
    pub(super) fn train(
        &self,
        observer: &dyn StudyObserver,
        stop: &AtomicBool,
    ) -> Result<bool, Diagnostic> {
        let cost = cost(&self.file.experiment);
        let mut watching = JobObserver { observer, stop, cost, reported: 0, iterations: 0 };
        let manifest = if self.path.exists() {
            match resume(&self.path, None, &mut watching)? {
                Resumed::Trained(trained) => trained.manifest,
                Resumed::Finished(manifest) => *manifest,
            }
        } else {
            train(self.file, self.parent, &mut watching)?.manifest
        };
        let ended = has_ended(&manifest);
        if ended {
            observer.ended(&self.file.experiment.label(), &manifest);
        }
        Ok(ended)
    }
}

/// Passes the progress of one training on to the observer of the study.
struct JobObserver<'a> {
    observer: &'a dyn StudyObserver,
    /// Set when all trainings should stop.
    stop: &'a AtomicBool,
    cost: f64,
    /// Iterations that were reported.
    reported: usize,
    iterations: usize,
}

impl RunObserver for JobObserver<'_> {
    fn begin(&mut self, _: &RunFolder, done: usize, iterations: usize) {
        (self.reported, self.iterations) = (done, iterations);
    }

    fn iteration(&mut self, row: &Row) -> ControlFlow<()> {
        let new = row.iteration.saturating_sub(self.reported);
        if new < REPORT_EVERY && row.iteration < self.iterations {
            return ControlFlow::Continue(());
        }
        self.reported = row.iteration;
        if self.observer.advance(new as f64 * self.cost) == ControlFlow::Break(()) {
            self.stop.store(true, Ordering::Relaxed);
        }
        if self.stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn end(&mut self, _: &Manifest) {}

    fn wants_figures(&self) -> bool {
        false
    }
}
