//! Who watches a run, and what there is to see.

use std::ops::ControlFlow;

use crate::{Evaluation, Failure, Progress, Verdict};

/// Why training ended.
#[derive(Debug, Clone, PartialEq)]
pub enum StopReason {
    /// All iterations are done.
    Finished,
    /// The optimiser cannot go on; why.
    Stalled(&'static str),
    /// The error on held-out data has not fallen for long; θ is where it was least.
    Validated,
    /// The observer asked for it.
    Interrupted,
    /// Too many evaluations failed in a row; the last reason.
    Failed(Failure),
}

/// Something out of the ordinary.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// An evaluation failed: the step was taken back and the rate halved.
    TakenBack {
        /// Why.
        failure: Failure,
        /// What the rate is multiplied by from now on.
        factor: f64,
    },
    /// An evaluation failed: the line search tries a shorter step.
    Shortened {
        /// Why.
        failure: Failure,
    },
    /// Something that whoever drives the training has to say.
    Note(String),
    /// Twenty rejections in a row: the step is halved.
    Backtracked {
        /// What the step is multiplied by from now on.
        factor: f64,
    },
}

/// One iteration, as an observer sees it.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    /// Counted from 0; the last row is the point after the last step.
    pub iteration: usize,
    /// Number of laws.
    pub laws: usize,
    /// What was found at θ; `None` if the evaluation failed.
    pub evaluation: Option<&'a Evaluation>,
    /// What became of the trial point; `None` where it was not judged.
    pub verdict: Option<Verdict>,
    /// The factor of the learning rate at this iteration.
    pub factor: f64,
    /// Something out of the ordinary.
    pub event: Option<&'a Event>,
}

/// Watches a run; it cannot change it, only stop it.
pub trait Observer {
    /// After each iteration.
    fn iteration(&mut self, row: &Row) -> ControlFlow<()> {
        let _ = row;
        ControlFlow::Continue(())
    }

    /// Whether a checkpoint is wanted at this iteration.
    fn wants_checkpoint(&mut self, iteration: usize) -> bool {
        let _ = iteration;
        false
    }

    /// A checkpoint: a run that goes on from here gives the same bytes.
    fn checkpoint(&mut self, progress: &Progress) {
        let _ = progress;
    }
}

/// Nobody watches.
impl Observer for () {}
