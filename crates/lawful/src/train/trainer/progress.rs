//! The state of a run between two iterations, and its outcome.

use crate::StrategyMemory;
use crate::optimiser::Optimiser;
use crate::train::{BestPoint, StopReason};

/// The state of a run between two iterations; a checkpoint is a copy of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// Iterations done.
    pub iteration: usize,
    /// The next point to evaluate.
    pub theta: Vec<f64>,
    /// The optimiser's memory.
    pub optimiser: Vec<f64>,
    /// The strategy's state and weights.
    pub strategy: StrategyMemory,
    /// The iteration of the strategy's last outer step.
    pub outer_step: usize,
    /// The best point so far.
    pub best: BestPoint,
    /// The gradient at the best point, if steps after a rejection use it.
    pub best_gradient: Vec<f64>,
    /// Factor of the rate after failures: a power of 1/2.
    pub failure_factor: f64,
    /// Factor of the step after rejections: a power of 1/2.
    pub backtrack_factor: f64,
    /// The point of least error on held-out data; empty without validation.
    pub validated: Validated,
}

/// The point of least error on held-out data.
#[derive(Debug, Clone, PartialEq)]
pub struct Validated {
    /// Its θ; empty before the first evaluation.
    pub theta: Vec<f64>,
    /// Its error on held-out data.
    pub error: f64,
    /// Its iteration.
    pub iteration: usize,
}

impl Default for Validated {
    fn default() -> Self {
        Self { theta: Vec::new(), error: f64::INFINITY, iteration: 0 }
    }
}

impl Progress {
    /// Returns whether `every` iterations have passed since the last outer step.
    pub(super) fn outer_step_is_due(&self, every: Option<usize>) -> bool {
        every.is_some_and(|every| self.iteration >= self.outer_step + every)
    }

    /// Copies another one without allocation, apart from the optimiser's memory.
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.iteration = other.iteration;
        self.theta.clone_from(&other.theta);
        self.strategy.copy_from(&other.strategy);
        self.outer_step = other.outer_step;
        self.best.copy_from(&other.best);
        self.best_gradient.clone_from(&other.best_gradient);
        self.failure_factor = other.failure_factor;
        self.backtrack_factor = other.backtrack_factor;
        self.validated.theta.clone_from(&other.validated.theta);
        self.validated.error = other.validated.error;
        self.validated.iteration = other.validated.iteration;
    }
}

/// The outcome of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Why it ended.
    pub stop: StopReason,
    /// The last point that could be evaluated, with all that is needed to resume; the initial point if
    /// there was none.
    pub last: Progress,
    /// The best point, including the last one judged. It has no [`value`](BestPoint::value) if no point
    /// could be evaluated.
    pub best: BestPoint,
    /// Whether `last` is the state after the last evaluation. Otherwise it is the state before it, from
    /// which a longer run continues as if this one had not ended.
    pub after_last_evaluation: bool,
}

/// The last point that could be evaluated, and the step from there: the state that undoing a failed step
/// restores.
#[derive(Debug, Default)]
pub(super) struct Before {
    /// Whether there is one.
    pub(super) known: bool,
    pub(super) theta: Vec<f64>,
    /// The optimiser's memory before the step, unless it can undo one.
    pub(super) optimiser: Vec<f64>,
    /// The gradient of the step.
    pub(super) gradient: Vec<f64>,
    pub(super) value: f64,
    pub(super) factor: f64,
}

impl Before {
    /// Copies the state that the step changes; allocates only the first time.
    pub(super) fn keep(&mut self, theta: &[f64], optimiser: &dyn Optimiser) {
        self.known = true;
        self.theta.clear();
        self.theta.extend_from_slice(theta);
        if !optimiser.can_undo() {
            optimiser.save(&mut self.optimiser);
        }
    }

    /// Restores the state before the step.
    pub(super) fn restore(&self, theta: &mut [f64], optimiser: &mut dyn Optimiser) {
        theta.copy_from_slice(&self.theta);
        if optimiser.can_undo() {
            optimiser.undo();
        } else {
            optimiser.restore(&self.optimiser);
        }
    }
}
