//! The observer of many trainings at once.

use std::ops::ControlFlow;

use crate::run::Manifest;

/// Observes many trainings as one study. Its methods are called from all threads.
pub trait StudyObserver: Sync {
    /// Called once: a plan has `trainings`, of which `finished` were finished before. `work` is the
    /// cost of the others, in units that are the same for all trainings.
    fn begin(&self, trainings: usize, finished: usize, work: f64);

    /// Called when this much of the work was done. Returns whether training continues.
    fn advance(&self, work: f64) -> ControlFlow<()>;

    /// Called when a training has finished or failed; not when it was interrupted.
    fn ended(&self, label: &str, manifest: &Manifest);

    /// Called with a warning for the user.
    fn warn(&self, text: &str) {
        let _ = text;
    }
}

/// Ignores everything.
impl StudyObserver for () {
    fn begin(&self, _: usize, _: usize, _: f64) {}

    fn advance(&self, _: f64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn ended(&self, _: &str, _: &Manifest) {}
}
