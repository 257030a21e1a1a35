//! What a run knows between two iterations, and what it ends with.

use crate::optimiser::Optimiser;
use crate::{BestPoint, StopReason, StrategyMemory};

/// Everything a run knows between two iterations; a checkpoint is a copy of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// Iterations done.
    pub iteration: usize,
    /// The point to look at next.
    pub theta: Vec<f64>,
    /// The optimiser's memory.
    pub optimiser: Vec<f64>,
    /// What the strategy remembers and has decided.
    pub strategy: StrategyMemory,
    /// The best point so far.
    pub best: BestPoint,
    /// The gradient at the best point, if a rejection needs it.
    pub best_gradient: Vec<f64>,
    /// What the rate is multiplied by after failures: a power of 1/2.
    pub failure_factor: f64,
    /// What the step is multiplied by after rejections: a power of 1/2.
    pub backtrack_factor: f64,
    /// Where the error on held-out data was least; empty without validation.
    pub validated: Validated,
}

/// The point at which the error on held-out data was least.
#[derive(Debug, Clone, PartialEq)]
pub struct Validated {
    /// Its θ; empty before the first look.
    pub theta: Vec<f64>,
    /// The error there.
    pub error: f64,
    /// The iteration.
    pub iteration: usize,
}

impl Default for Validated {
    fn default() -> Self {
        Self { theta: Vec::new(), error: f64::INFINITY, iteration: 0 }
    }
}

impl Progress {
    /// Becomes a copy, without allocation.
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.iteration = other.iteration;
        self.theta.clone_from(&other.theta);
        self.optimiser.clone_from(&other.optimiser);
        self.strategy.copy_from(&other.strategy);
        self.best.copy_from(&other.best);
        self.best_gradient.clone_from(&other.best_gradient);
        self.failure_factor = other.failure_factor;
        self.backtrack_factor = other.backtrack_factor;
        self.validated.theta.clone_from(&other.validated.theta);
        self.validated.error = other.validated.error;
        self.validated.iteration = other.validated.iteration;
    }
}

/// What a run ends with.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Why it ended.
    pub stop: StopReason,
    /// The last point that could be evaluated, with all that is needed to go on; the initial one if
    /// there was none.
    pub last: Progress,
    /// The best point, the last one judged too. It has no [`value`](BestPoint::value) if no point
    /// could be evaluated.
    pub best: BestPoint,
    /// Whether `last` is what the run came to after all its looks. Otherwise it is the point before
    /// the last look, from which a longer run goes on as if it had never ended.
    pub after_last_look: bool,
}

/// The last point that could be evaluated, and how the step from there was taken: what a failed
/// step is taken back to.
#[derive(Debug, Default)]
pub(super) struct Before {
    /// Whether there is one.
    pub(super) known: bool,
    pub(super) theta: Vec<f64>,
    /// The optimiser's memory before the step, unless it can undo one.
    pub(super) optimiser: Vec<f64>,
    /// The gradient that the step was taken by.
    pub(super) gradient: Vec<f64>,
    pub(super) value: f64,
    pub(super) factor: f64,
}

impl Before {
    /// Copies what the step changes; allocates only the first time.
    pub(super) fn keep(&mut self, theta: &[f64], optimiser: &dyn Optimiser) {
        self.known = true;
        self.theta.clear();
        self.theta.extend_from_slice(theta);
        if !optimiser.can_undo() {
            optimiser.save(&mut self.optimiser);
        }
    }

    /// Goes back to before the step.
    pub(super) fn restore(&self, theta: &mut [f64], optimiser: &mut dyn Optimiser) {
        theta.copy_from_slice(&self.theta);
        if optimiser.can_undo() {
            optimiser.undo();
        } else {
            optimiser.restore(&self.optimiser);
        }
    }
}
