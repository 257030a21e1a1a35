//! One training of a plan.

use std::ops::ControlFlow;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use lawful::Row;

use super::study_observer::StudyObserver;
use crate::diagnostic::Diagnostic;
use crate::experiment::Experiment;
use crate::manifest::{Manifest, Status};
use crate::recorder::RunObserver;
use crate::run_folder::RunFolder;
use crate::train::{Resumed, resume, train};

/// Iterations between two words to the spectator.
const WORD_EVERY: usize = 16;

/// An experiment and the place of its run folder.
pub(super) struct Job<'a> {
    experiment: &'a Experiment,
    parent: &'a Path,
    pub(super) path: PathBuf,
}

/// Whether nothing is left to do, for better or worse.
pub(super) fn has_ended(manifest: &Manifest) -> bool {
    matches!(manifest.status, Status::Finished | Status::Failed)
}

/// What one iteration of an experiment costs, in units that are the same for all experiments: rows
/// of data times parameters.
pub fn cost(experiment: &Experiment) -> f64 {
    experiment.training_set.rows() as f64 * experiment.parameter_len() as f64
}

impl<'a> Job<'a> {
    pub(super) fn new(experiment: &'a Experiment, parent: &'a Path) -> Self {
        Self { experiment, parent, path: parent.join(RunFolder::name_of(experiment)) }
    }

    /// How far the training came before, if it was begun.
    pub(super) fn found(&self) -> Result<Option<Manifest>, Diagnostic> {
        if !self.path.exists() {
            return Ok(None);
        }
        let folder = RunFolder::open(&self.path)?;
        let manifest = Manifest::read(&folder.manifest())?;
        let now = Manifest::new(self.experiment);
        for (what, then, now) in [
            ("version", &manifest.version, &now.version),
            ("arithmetic", &manifest.kernels, &now.kernels),
        ] {
            if then != now {
                let path = self.path.display();
                return Err(Diagnostic::new(format!(
                    "`{path}` was made with another {what}: `{then}`, and this is `{now}`"
                ))
                .with_hint("mixed results would mean nothing: name another `--out` folder"));
            }
        }
        Ok(Some(manifest))
    }

    /// What is left of the work after `done` iterations.
    pub(super) fn work_left(&self, done: usize) -> f64 {
        let left = self.experiment.training.iterations().saturating_sub(done);
        left as f64 * cost(self.experiment)
    }

    /// Begins or goes on; whether it ended by itself.
    pub(super) fn train(
        &self,
        observer: &dyn StudyObserver,
        stop: &AtomicBool,
    ) -> Result<bool, Diagnostic> {
        let cost = cost(self.experiment);
        let mut share = Share { observer, stop, cost, told: 0, iterations: 0 };
        let manifest = if self.path.exists() {
            match resume(&self.path, None, &mut share)? {
                Resumed::Trained(trained) => trained.manifest,
                Resumed::Finished(manifest) => *manifest,
            }
        } else {
            train(self.experiment, self.parent, &mut share)?.manifest
        };
        let ended = has_ended(&manifest);
        if ended {
            observer.ended(&self.experiment.label(), &manifest);
        }
        Ok(ended)
    }
}

/// Tells the spectator about one of many trainings.
struct Share<'a> {
    observer: &'a dyn StudyObserver,
    /// Whether all trainings should stop.
    stop: &'a AtomicBool,
    cost: f64,
    /// Iterations that the spectator knows of.
    told: usize,
    iterations: usize,
}

impl RunObserver for Share<'_> {
    fn begin(&mut self, _: &RunFolder, done: usize, iterations: usize) {
        (self.told, self.iterations) = (done, iterations);
    }

    fn iteration(&mut self, row: &Row) -> ControlFlow<()> {
        let new = row.iteration.saturating_sub(self.told);
        if new < WORD_EVERY && row.iteration < self.iterations {
            return ControlFlow::Continue(());
        }
        self.told = row.iteration;
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

    fn wants_pictures(&self) -> bool {
        false
    }
}
