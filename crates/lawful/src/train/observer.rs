//! Observers of a run, and what they receive.

use std::ops::ControlFlow;

use super::{Plan, Progress, Verdict};
use crate::{Evaluation, Failure, ParameterLayout};

/// Why training ended.
#[derive(Debug, Clone, PartialEq)]
pub enum StopReason {
    /// All iterations are done.
    Finished,
    /// The optimiser has stalled, for this reason.
    Stalled(&'static str),
    /// The error on held-out data no longer falls; θ is the point of least error.
    Validated,
    /// The observer stopped the run.
    Interrupted,
    /// Too many consecutive evaluations failed; this is the last failure.
    Failed(Failure),
}

impl std::fmt::Display for StopReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Finished => f.write_str("all iterations are done"),
            Self::Stalled(why) => write!(f, "the optimiser has stalled: {why}"),
            Self::Validated => f.write_str("the error on held-out data no longer falls"),
            Self::Interrupted => f.write_str("stopped by the user"),
            Self::Failed(failure) => {
                write!(f, "too many evaluations failed in a row; the last one: {failure}")
            }
        }
    }
}

/// An event of an iteration.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// An evaluation failed: the step was undone and the rate halved.
    TakenBack {
        /// Why the evaluation failed.
        failure: Failure,
        /// Factor of the rate from now on.
        factor: f64,
    },
    /// An evaluation failed: the line search tries a shorter step.
    Shortened {
        /// Why the evaluation failed.
        failure: Failure,
    },
    /// A note of the program that runs the training.
    Note(String),
    /// Twenty consecutive rejections: the step is halved.
    Backtracked {
        /// Factor of the step from now on.
        factor: f64,
    },
}

/// One iteration, as an observer receives it.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    /// Counted from 0; the last row is the point after the last step.
    pub iteration: usize,
    /// Number of laws.
    pub laws: usize,
    /// The evaluation at θ; `None` if it failed.
    pub evaluation: Option<&'a Evaluation>,
    /// The verdict on the trial point; `None` if it was not judged.
    pub verdict: Option<Verdict>,
    /// The factor of the learning rate at this iteration.
    pub factor: f64,
    /// An event, if there was one.
    pub event: Option<&'a Event>,
}

/// The start of a phase, as an observer receives it.
#[derive(Debug, Clone, Copy)]
pub struct PhaseStart<'a> {
    /// The plan, at the phase that starts.
    pub plan: &'a Plan,
    /// The layout of θ in this phase.
    pub layout: &'a ParameterLayout,
    /// Whether it resumes from a checkpoint with some iterations done.
    pub resumed: bool,
}

/// Observes a run. It can stop the run, but not change it.
pub trait Observer {
    /// Called after each iteration. Returns whether the run continues.
    fn iteration(&mut self, row: &Row) -> ControlFlow<()> {
        let _ = row;
        ControlFlow::Continue(())
    }

    /// Returns whether [`checkpoint`](Self::checkpoint) is called for this iteration.
    fn wants_checkpoint(&mut self, iteration: usize) -> bool {
        let _ = iteration;
        false
    }

    /// Called when a phase of a training starts or resumes.
    fn phase(&mut self, phase: &PhaseStart) {
        let _ = phase;
    }

    /// Called with a warning for the user that does not change the training.
    fn warn(&mut self, text: &str) {
        let _ = text;
    }

    /// Called with a checkpoint. A run that resumes from it gives the same bytes.
    fn checkpoint(&mut self, progress: &Progress) {
        let _ = progress;
    }
}

/// Observes nothing.
impl Observer for () {}
