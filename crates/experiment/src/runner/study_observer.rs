//! Who watches many trainings at once.

use std::ops::ControlFlow;

use crate::manifest::Manifest;

/// Shows many trainings to the user, as one piece of work. Called from all threads.
pub trait StudyObserver: Sync {
    /// A plan of `trainings` begins, of which `finished` were there already; `work` is what is left,
    /// in units that are the same for all trainings.
    fn begin(&self, trainings: usize, finished: usize, work: f64);

    /// This much of the work was done just now. The answer is whether to go on.
    fn advance(&self, work: f64) -> ControlFlow<()>;

    /// A training has ended by itself.
    fn ended(&self, label: &str, manifest: &Manifest);
}

/// Nobody watches.
impl StudyObserver for () {
    fn begin(&self, _: usize, _: usize, _: f64) {}

    fn advance(&self, _: f64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn ended(&self, _: &str, _: &Manifest) {}
}
