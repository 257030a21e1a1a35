//! The training loop: evaluates, judges the point, steps, and undoes a failed step.

mod progress;
mod settings;
mod validation;

pub use progress::{Outcome, Progress, Validated};
pub use settings::{GradientAt, Restore, Settings};
pub use validation::Validation;

use std::ops::ControlFlow;

use thiserror::Error;

use super::{BestPoint, Event, Observer, Row, StopReason, Verdict};
use crate::data::{Sampler, Segment};
use crate::objective::{Failure, Objective, StrategyMemory};
use crate::optimiser::{Optimiser, Step};
use crate::strategy::{Judgement, ObjectiveChange, State};
use progress::Before;

/// Consecutive rejections after which [`Restore::backtrack`] halves the step.
const BACKTRACK_AFTER: u64 = 20;

/// With mini-batches, iterations between two judgements of the point on all data; the last point is
/// judged too.
const JUDGE_EVERY: usize = 100;

/// The training loop: evaluates φ and its gradient, judges the point, and calls the optimiser.
///
/// A failed evaluation (a solve that diverges, a loss that is not finite) does not end training: the
/// step is undone, the rate is halved for the rest of the run, and the step is repeated at half its
/// length; a line search tries a shorter step. Training ends after [`Settings::failures`] consecutive
/// failures, or if the initial point fails.
pub struct Trainer {
    objective: Objective,
    optimiser: Box<dyn Optimiser>,
    sampler: Sampler,
    validation: Option<Validation>,
    settings: Settings,
    /// Without the optimiser's memory.
    progress: Progress,
    /// A copy of the progress at the last checkpoint, with the optimiser's memory.
    checkpoint: Progress,
    before: Before,
    segments: Vec<Segment>,
    /// Consecutive failed evaluations.
    failures: u32,
}

/// Why a trainer, or a part of it, cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TrainerError {
    /// θ has another length than the objective needs.
    #[error("θ has {found} numbers, but the objective has {expected} parameters")]
    Parameters {
        /// Length of θ.
        found: usize,
        /// Number of parameters of the objective.
        expected: usize,
    },
    /// A checkpoint has the memory of another optimiser.
    #[error("the checkpoint is of a run with another optimiser")]
    Optimiser,
    /// A checkpoint has the weights of another number of laws.
    #[error(
        "the checkpoint is of a run with {found} penalised laws, but the objective has {expected}"
    )]
    Laws {
        /// Penalised laws of the checkpoint.
        found: usize,
        /// Penalised laws of the objective.
        expected: usize,
    },
    /// A checkpoint has the state of another strategy.
    #[error("the checkpoint is of a run with another strategy")]
    Strategy,
    /// A validation every 0 iterations.
    #[error("there must be at least one iteration between two validations, not 0")]
    NoInterval,
}

impl Trainer {
    /// Creates a trainer that starts at θ and evaluates all data in every iteration.
    ///
    /// # Errors
    /// If θ has another length than the objective needs.
    pub fn new(
        objective: Objective,
        optimiser: Box<dyn Optimiser>,
        settings: Settings,
        theta: Vec<f64>,
    ) -> Result<Self, TrainerError> {
        let (found, expected) = (theta.len(), objective.parameter_len());
        if found != expected {
            return Err(TrainerError::Parameters { found, expected });
        }
        let n = theta.len();
        let mut strategy = StrategyMemory::default();
        objective.save_strategy(&mut strategy);
        let progress = Progress {
            iteration: 0,
            best: BestPoint::new(settings.tolerance, n),
            best_gradient: vec![0.0; n],
            optimiser: Vec::new(),
            strategy,
            failure_factor: 1.0,
            backtrack_factor: 1.0,
            outer_step: 0,
            validated: Validated::default(),
            theta,
        };
        let sampler = Sampler::full(&objective.problem().dataset);
        let mut checkpoint = progress.clone();
        optimiser.save(&mut checkpoint.optimiser);
        let segments = sampler.whole().to_vec();
        Ok(Self {
            objective,
            optimiser,
            sampler,
            validation: None,
            settings,
            progress,
            checkpoint,
            before: Before::default(),
            segments,
            failures: 0,
        })
    }

    /// Evaluates the segments that this sampler draws.
    #[must_use]
    pub fn with_sampler(mut self, sampler: Sampler) -> Self {
        self.sampler = sampler;
        self
    }

    /// Evaluates the error on held-out data, and stops when it no longer falls.
    #[must_use]
    pub fn with_validation(mut self, validation: Validation) -> Self {
        self.validation = Some(validation);
        self
    }

    /// Continues with the strategy's state for the laws from the end of the previous phase.
    #[must_use]
    pub fn continuing(mut self, laws: &State) -> Self {
        self.objective.continue_phase(laws);
        self.objective.save_strategy(&mut self.progress.strategy);
        self
    }

    /// Resumes from a checkpoint. The result has the same bytes as a run without a pause, provided that
    /// the trainer was built in the same way.
    ///
    /// # Errors
    /// If the checkpoint is of a run with another number of parameters or laws, another optimiser or
    /// another strategy.
    pub fn from_checkpoint(mut self, mut progress: Progress) -> Result<Self, TrainerError> {
        let (found, expected) = (progress.theta.len(), self.progress.theta.len());
        if found != expected {
            return Err(TrainerError::Parameters { found, expected });
        }
        if !self.optimiser.restore(&progress.optimiser) {
            return Err(TrainerError::Optimiser);
        }
        let lengths = |StrategyMemory { laws, continuity, weights }: &StrategyMemory| {
            (weights.len(), [laws.numbers.len(), continuity.numbers.len()])
        };
        let (found, expected) = (lengths(&progress.strategy), lengths(&self.progress.strategy));
        if found.0 != expected.0 {
            // The last weight is that of continuity.
            let [found, expected] = [found.0, expected.0].map(|len| len.saturating_sub(1));
            return Err(TrainerError::Laws { found, expected });
        }
        if found.1 != expected.1 {
            return Err(TrainerError::Strategy);
        }
        self.objective.restore_strategy(&progress.strategy);
        // From here on the memory is the optimiser's own.
        progress.optimiser = Vec::new();
        self.progress = progress;
        Ok(self)
    }

    /// Runs until all iterations are done, the observer stops it, the optimiser stalls, or too many
    /// evaluations fail.
    pub fn run(&mut self, observer: &mut dyn Observer) -> Outcome {
        let mut stopping = false;
        loop {
            let iteration = self.progress.iteration;
            let last = iteration >= self.settings.iterations;
            self.objective.save_strategy(&mut self.progress.strategy);
            let checkpoint = last || stopping || observer.wants_checkpoint(iteration);
            if checkpoint {
                self.store_checkpoint();
            }
            let verdict = match self.evaluate(iteration) {
                Ok(verdict) => verdict,
                Err(failure) => {
                    let (flow, stop) = self.undo_failed_step(failure, observer);
                    stopping |= flow.is_break();
                    match stop {
                        Some(stop) => return self.ended(stop),
                        None => continue,
                    }
                }
            };
            if checkpoint {
                observer.checkpoint(&self.checkpoint);
            }
            let event = self.backtrack(verdict);
            let factor = self.factor(iteration);
            let flow = observer.iteration(&Row {
                iteration,
                laws: self.objective.problem().laws.len(),
                evaluation: Some(self.objective.evaluation()),
                verdict,
                factor,
                event: event.as_ref(),
            });
            let validated = !last && self.validate(iteration);
            if last || validated {
                let value = self.objective.evaluation().value.value;
                let stop = if last { StopReason::Finished } else { StopReason::Validated };
                let finished = self.optimiser.finish(&mut self.progress.theta, value);
                // If θ has not changed, the checkpoint from before the evaluation is enough to resume.
                let changed = finished || validated || !self.progress.validated.theta.is_empty();
                return if changed { self.ended(stop) } else { self.outcome(stop) };
            }
            if stopping {
                return self.outcome(StopReason::Interrupted);
            }
            stopping = flow.is_break();
            if verdict == Some(Verdict::Rejected) && self.objective.judges() {
                // The objective there may be another than the one that led to the rejected point.
                self.progress.theta.copy_from_slice(self.progress.best.theta());
                self.progress.iteration += 1;
                continue;
            }
            if self.outer_step() {
                continue;
            }
            if let Some(why) = self.step(verdict, factor) {
                return self.ended(StopReason::Stalled(why));
            }
        }
    }

    /// Copies everything that is needed to resume from here; the optimiser's memory, which is much the
    /// largest part, once.
    fn store_checkpoint(&mut self) {
        self.checkpoint.copy_from(&self.progress);
        self.optimiser.save(&mut self.checkpoint.optimiser);
    }

    /// Ends at the current θ, or where the error on held-out data was least.
    fn ended(&mut self, stop: StopReason) -> Outcome {
        let validated = &self.progress.validated;
        if !validated.theta.is_empty() {
            self.progress.theta.clone_from(&validated.theta);
        }
        self.store_checkpoint();
        Outcome { after_last_evaluation: true, ..self.outcome(stop) }
    }

    fn outcome(&self, stop: StopReason) -> Outcome {
        let (last, best) = (self.checkpoint.clone(), self.progress.best.clone());
        Outcome { stop, last, best, after_last_evaluation: false }
    }

    /// Evaluates the held-out data if this is due. Returns whether training should stop.
    fn validate(&mut self, iteration: usize) -> bool {
        let Some(validation) = &mut self.validation else { return false };
        validation.evaluate(&self.progress.theta, iteration, &mut self.progress.validated)
    }

    /// Evaluates θ and judges it.
    fn evaluate(&mut self, iteration: usize) -> Result<Option<Verdict>, Failure> {
        let Self { objective, sampler, progress, segments, settings, .. } = self;
        let mut verdict = None;
        if sampler.is_full() {
            objective.select(sampler.whole());
        } else {
            if iteration.is_multiple_of(JUDGE_EVERY) || iteration >= settings.iterations {
                objective.select(sampler.whole());
                let value = objective.evaluate(&progress.theta, iteration)?.value;
                progress.best.judge(&progress.theta, &value, iteration);
                // The strategy's state is that of the batches only.
                objective.restore_strategy(&progress.strategy);
            }
            sampler.draw(iteration, segments);
            objective.select(segments);
        }
        let frozen = self.optimiser.freezes_weights();
        if frozen {
            objective.evaluate_frozen(&progress.theta)?;
        } else {
            objective.evaluate(&progress.theta, iteration)?;
        }
        self.failures = 0;
        if sampler.is_full() {
            verdict = if objective.judges() {
                judged_by_strategy(objective, progress, iteration)
            } else {
                let value = &objective.evaluation().value;
                Some(progress.best.judge(&progress.theta, value, iteration))
            };
            if verdict == Some(Verdict::Accepted) && settings.uses_best_gradient() {
                progress.best_gradient.copy_from_slice(&objective.evaluation().gradient);
            }
        }
        if !frozen {
            objective.new_point();
        }
        Ok(verdict)
    }

    /// Takes the optimiser's step, after a rejection from the best point. Returns why the optimiser has
    /// stalled, if it has.
    fn step(&mut self, verdict: Option<Verdict>, factor: f64) -> Option<&'static str> {
        let Self { objective, optimiser, progress, before, settings, .. } = self;
        if settings.best_point.is_some() && verdict == Some(Verdict::Rejected) {
            progress.theta.copy_from_slice(progress.best.theta());
        }
        let from_best = settings.uses_best_gradient() && verdict == Some(Verdict::Rejected);
        loop {
            let mut value = objective.evaluation().value.value;
            if from_best {
                value = progress.best.value().map_or(value, |best| best.value);
            }
            let gradient = if optimiser.can_shorten() {
                &objective.evaluation().gradient
            } else {
                if from_best {
                    before.gradient.clone_from(&progress.best_gradient);
                } else {
                    objective.swap_gradient(&mut before.gradient);
                }
                before.keep(&progress.theta, &**optimiser);
                (before.value, before.factor) = (value, factor);
                &before.gradient
            };
            match optimiser.advance(&mut progress.theta, value, gradient, factor) {
                Step::Evaluate => break,
                Step::Stalled(why) => {
                    if !outer_step_after_stall(objective, &mut **optimiser, progress) {
                        return Some(why);
                    }
                    break;
                }
                Step::Accepted => {
                    objective.new_point();
                    let mut change = objective.update_weights(progress.iteration);
                    if progress.outer_step_is_due(objective.outer_every()) {
                        progress.outer_step = progress.iteration;
                        change = change.max(objective.outer_step());
                    }
                    match change {
                        ObjectiveChange::Unchanged => {}
                        // The objective has changed: evaluate the same point again.
                        ObjectiveChange::Slight => break,
                        ObjectiveChange::Substantial => {
                            optimiser.objective_changed();
                            break;
                        }
                    }
                }
            }
        }
        progress.iteration += 1;
        None
    }

    /// Takes an outer step of the strategy if one is due. Returns whether the objective has changed, so
    /// that the same point must be evaluated again.
    fn outer_step(&mut self) -> bool {
        let Self { objective, optimiser, progress, sampler, .. } = self;
        // Both ends of a line search belong to one objective.
        if optimiser.freezes_weights() || !progress.outer_step_is_due(objective.outer_every()) {
            return false;
        }
        progress.outer_step = progress.iteration;
        // The points of a batch are those of some trajectories only.
        if !sampler.is_full() {
            objective.select(sampler.whole());
            if objective.observe(&progress.theta).is_err() {
                return false;
            }
        }
        if objective.outer_step() == ObjectiveChange::Unchanged {
            return false;
        }
        optimiser.objective_changed();
        progress.iteration += 1;
        true
    }

    /// Undoes the step to a point that failed, and takes a shorter one. Returns what the observer
    /// answered, and why training ends, if it does.
    fn undo_failed_step(
        &mut self,
        failure: Failure,
        observer: &mut dyn Observer,
    ) -> (ControlFlow<()>, Option<StopReason>) {
        self.failures += 1;
        let iteration = self.progress.iteration;
        let shortens = self.optimiser.can_shorten();
        let known = shortens || self.before.known;
        let event = if shortens {
            Event::Shortened { failure: failure.clone() }
        } else {
            self.progress.failure_factor *= 0.5;
            let factor = self.progress.failure_factor;
            Event::TakenBack { failure: failure.clone(), factor }
        };
        let flow = observer.iteration(&Row {
            iteration,
            laws: self.objective.problem().laws.len(),
            evaluation: None,
            verdict: None,
            factor: self.factor(iteration),
            event: Some(&event),
        });
        let Self { objective, optimiser, progress, before, .. } = self;
        objective.restore_strategy(&progress.strategy);
        if shortens {
            let step = if iteration < self.settings.iterations {
                optimiser.shorten(&mut progress.theta)
            } else {
                // No iteration is left: the run ends where the search started.
                optimiser.finish(&mut progress.theta, f64::INFINITY);
                return (flow, None);
            };
            let stop = match step {
                Step::Stalled(why)
                    if !outer_step_after_stall(objective, &mut **optimiser, progress) =>
                {
                    Some(StopReason::Stalled(why))
                }
                Step::Stalled(_) | Step::Evaluate | Step::Accepted => None,
            };
            progress.iteration += 1;
            return (flow, stop);
        }
        if before.known {
            before.restore(&mut progress.theta, &mut **optimiser);
        }
        if !known || self.failures >= self.settings.failures {
            return (flow, Some(StopReason::Failed(failure)));
        }
        // If no iteration is left, the run ends at the point before the step.
        if iteration < self.settings.iterations {
            // Half the step, a quarter after the second consecutive failure, and so on.
            let factor = before.factor * 0.5_f64.powi(self.failures.cast_signed());
            optimiser.advance(&mut progress.theta, before.value, &before.gradient, factor);
            progress.iteration += 1;
        }
        (flow, None)
    }

    /// Halves the step after twenty consecutive rejections.
    fn backtrack(&mut self, verdict: Option<Verdict>) -> Option<Event> {
        let progress = &mut self.progress;
        if !self.settings.best_point.is_some_and(|restore| restore.backtrack) {
            return None;
        }
        match verdict? {
            Verdict::Accepted => {
                progress.backtrack_factor = (2.0 * progress.backtrack_factor).min(1.0);
                None
            }
            Verdict::Rejected => {
                let in_a_row = progress.best.rejected_in_a_row();
                in_a_row.is_multiple_of(BACKTRACK_AFTER).then(|| {
                    progress.backtrack_factor *= 0.5;
                    Event::Backtracked { factor: progress.backtrack_factor }
                })
            }
        }
    }

    fn factor(&self, iteration: usize) -> f64 {
        self.settings.schedule.factor(iteration)
            * self.progress.failure_factor
            * self.progress.backtrack_factor
    }

    /// Returns the objective, with the results of the last evaluation.
    pub fn objective(&self) -> &Objective {
        &self.objective
    }

    /// Returns the objective, for evaluations between runs.
    pub fn objective_mut(&mut self) -> &mut Objective {
        &mut self.objective
    }
}

/// Takes the strategy's own verdict on the point of the last evaluation. Returns `None` for the accepted
/// point, evaluated again, and where the strategy has not decided.
fn judged_by_strategy(
    objective: &mut Objective,
    progress: &mut Progress,
    iteration: usize,
) -> Option<Verdict> {
    let best = &mut progress.best;
    if best.value().is_some() && best.theta() == progress.theta {
        return None;
    }
    let verdict = match objective.judge() {
        Judgement::Accepted => Verdict::Accepted,
        Judgement::Rejected => Verdict::Rejected,
        Judgement::Pending => return None,
    };
    best.take(verdict, &progress.theta, &objective.evaluation().value, iteration);
    Some(verdict)
}

/// Takes an outer step of the strategy at θ, where the optimiser has stalled: other multipliers may let
/// it continue. Returns whether the objective has changed.
fn outer_step_after_stall(
    objective: &mut Objective,
    optimiser: &mut dyn Optimiser,
    progress: &mut Progress,
) -> bool {
    // The last evaluation may be a failed trial of a line search, and not at θ.
    if objective.evaluate_frozen(&progress.theta).is_err()
        || objective.outer_step() == ObjectiveChange::Unchanged
    {
        return false;
    }
    optimiser.objective_changed();
    progress.outer_step = progress.iteration + 1;
    true
}
