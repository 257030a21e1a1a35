//! The training loop: evaluate, judge, step; take a failed step back.

mod progress;
mod settings;
mod validation;

pub use progress::{Outcome, Progress, Validated};
pub use settings::{GradientAt, Restore, Settings};
pub use validation::Validation;

use std::ops::ControlFlow;

use crate::objective::{Failure, Objective, StrategyMemory};
use crate::observer::{Event, Observer, Row, StopReason};
use crate::optimiser::{Optimiser, Step};
use crate::strategy::WeightChange;
use crate::{BestPoint, Sampler, Segment, Verdict};
use progress::Before;

/// Rejections in a row after which [`Restore::backtrack`] halves the step.
const BACKTRACK_AFTER: u64 = 20;

/// With mini-batches, the best point is judged on all data every so many iterations, and at the end.
const JUDGE_EVERY: usize = 100;

/// The loop: evaluates φ and its gradient, judges the point, and lets the optimiser step.
///
/// An evaluation that fails (a solve that blows up, a loss that is not finite) never ends training
/// by itself: the step is taken back, the rate is halved for the rest of the run, and the same
/// step is tried at half its length; a line search tries a shorter step. Only
/// [`Settings::failures`] of them in a row do, or one at the very first point.
pub struct Trainer {
    objective: Objective,
    optimiser: Box<dyn Optimiser>,
    sampler: Sampler,
    validation: Option<Validation>,
    settings: Settings,
    progress: Progress,
    /// A copy of the progress before the iteration under way.
    checkpoint: Progress,
    before: Before,
    segments: Vec<Segment>,
    /// Failed evaluations in a row.
    failures: u32,
}

impl Trainer {
    /// Starts at θ and looks at all data in every iteration.
    ///
    /// # Panics
    /// If θ has another length than the objective's field wants.
    pub fn new(
        objective: Objective,
        optimiser: Box<dyn Optimiser>,
        settings: Settings,
        theta: Vec<f64>,
    ) -> Self {
        assert_eq!(objective.parameter_len(), theta.len(), "θ of another network");
        let n = theta.len();
        let (mut row, mut strategy) = (Vec::new(), StrategyMemory::default());
        optimiser.save(&mut row);
        objective.save_strategy(&mut strategy);
        let progress = Progress {
            iteration: 0,
            best: BestPoint::new(settings.tolerance, n),
            best_gradient: vec![0.0; n],
            optimiser: row,
            strategy,
            failure_factor: 1.0,
            backtrack_factor: 1.0,
            validated: Validated::default(),
            theta,
        };
        let sampler = Sampler::full(&objective.problem().dataset);
        let checkpoint = progress.clone();
        let segments = sampler.whole().to_vec();
        Self {
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
        }
    }

    /// Looks at what this sampler draws.
    #[must_use]
    pub fn with_sampler(mut self, sampler: Sampler) -> Self {
        self.sampler = sampler;
        self
    }

    /// Watches the error on data that are not trained on, and stops when it does not fall any more.
    #[must_use]
    pub fn with_validation(mut self, validation: Validation) -> Self {
        self.validation = Some(validation);
        self
    }

    /// Goes on from a checkpoint, with the same bytes as if there had been no pause, provided that
    /// everything else is made as it was.
    ///
    /// # Panics
    /// If the checkpoint is of a run with another number of parameters, or another optimiser.
    #[must_use]
    pub fn from_checkpoint(mut self, progress: Progress) -> Self {
        assert_eq!(progress.theta.len(), self.progress.theta.len(), "θ of another network");
        assert!(self.optimiser.restore(&progress.optimiser), "the memory of another optimiser");
        self.objective.restore_strategy(&progress.strategy);
        self.progress = progress;
        self
    }

    /// Runs to the end, to a wish to stop, or to too many failures.
    pub fn run(&mut self, observer: &mut dyn Observer) -> Outcome {
        let mut stopping = false;
        loop {
            let iteration = self.progress.iteration;
            let last = iteration >= self.settings.iterations;
            self.objective.save_strategy(&mut self.progress.strategy);
            let checkpoint = last || stopping || observer.wants_checkpoint(iteration);
            if checkpoint {
                self.remember();
            }
            let verdict = match self.look(iteration) {
                Ok(verdict) => verdict,
                Err(failure) => {
                    let (wish, hopeless) = self.take_back(failure, observer);
                    stopping |= wish == ControlFlow::Break(());
                    match hopeless {
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
            let wish = observer.iteration(&Row {
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
                // Otherwise the checkpoint from before the look is all that going on needs.
                let whole = finished || validated || !self.progress.validated.theta.is_empty();
                return if whole { self.ended(stop) } else { self.outcome(stop) };
            }
            if stopping {
                return self.outcome(StopReason::Interrupted);
            }
            stopping = wish == ControlFlow::Break(());
            if let Some(why) = self.step(verdict, factor) {
                return self.ended(StopReason::Stalled(why));
            }
        }
    }

    /// Copies everything that going on from here needs.
    fn remember(&mut self) {
        self.optimiser.save(&mut self.progress.optimiser);
        self.checkpoint.copy_from(&self.progress);
    }

    /// Ends where θ is now, or where the error on held-out data was least.
    fn ended(&mut self, stop: StopReason) -> Outcome {
        let validated = &self.progress.validated;
        if !validated.theta.is_empty() {
            self.progress.theta.clone_from(&validated.theta);
        }
        self.remember();
        Outcome { after_last_look: true, ..self.outcome(stop) }
    }

    fn outcome(&self, stop: StopReason) -> Outcome {
        let (last, best) = (self.checkpoint.clone(), self.progress.best.clone());
        Outcome { stop, last, best, after_last_look: false }
    }

    /// Looks at held-out data every so often; whether it is time to stop.
    fn validate(&mut self, iteration: usize) -> bool {
        let Some(validation) = &mut self.validation else { return false };
        validation.look(&self.progress.theta, iteration, &mut self.progress.validated)
    }

    /// Evaluates θ and judges it.
    fn look(&mut self, iteration: usize) -> Result<Option<Verdict>, Failure> {
        let Self { objective, sampler, progress, segments, settings, .. } = self;
        let mut verdict = None;
        if sampler.is_full() {
            objective.select(sampler.whole());
        } else {
            if iteration.is_multiple_of(JUDGE_EVERY) || iteration >= settings.iterations {
                objective.select(sampler.whole());
                let value = objective.evaluate(&progress.theta, iteration)?.value;
                progress.best.judge(&progress.theta, &value, iteration);
                // The strategy's memory belongs to the batches alone.
                objective.restore_strategy(&progress.strategy);
            }
            sampler.draw(iteration, segments);
            objective.select(segments);
        }
        let evaluation = if self.optimiser.freezes_weights() {
            objective.evaluate_frozen(&progress.theta)?
        } else {
            objective.evaluate(&progress.theta, iteration)?
        };
        self.failures = 0;
        if sampler.is_full() {
            let judgement = progress.best.judge(&progress.theta, &evaluation.value, iteration);
            if judgement == Verdict::Accepted && settings.uses_best_gradient() {
                progress.best_gradient.copy_from_slice(&evaluation.gradient);
            }
            verdict = Some(judgement);
        }
        Ok(verdict)
    }

    /// The optimiser's step, from the best point after a rejection; why it cannot be taken, if so.
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
                Step::Stalled(why) => return Some(why),
                Step::Accepted => match objective.update_weights(progress.iteration) {
                    WeightChange::Unchanged => {}
                    // Under other weights it is another objective: look at the same point again.
                    WeightChange::Slight => break,
                    WeightChange::Large => {
                        optimiser.objective_changed();
                        break;
                    }
                },
            }
        }
        progress.iteration += 1;
        None
    }

    /// After a failed evaluation: back to where the step began, and half the step from there. Gives
    /// a reason to stop if there is no hope.
    fn take_back(
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
        let wish = observer.iteration(&Row {
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
                // After the last step there is none to take again: where the search began is the last.
                optimiser.finish(&mut progress.theta, f64::INFINITY);
                return (wish, None);
            };
            progress.iteration += 1;
            return match step {
                Step::Stalled(why) => (wish, Some(StopReason::Stalled(why))),
                Step::Evaluate | Step::Accepted => (wish, None),
            };
        }
        if before.known {
            before.restore(&mut progress.theta, &mut **optimiser);
        }
        if !known || self.failures >= self.settings.failures {
            return (wish, Some(StopReason::Failed(failure)));
        }
        // After the last step there is none to take again: the point before it is the last one.
        if iteration < self.settings.iterations {
            // Half the step, a quarter at the second failure in a row, and so on.
            let factor = before.factor * 0.5_f64.powi(self.failures.cast_signed());
            optimiser.advance(&mut progress.theta, before.value, &before.gradient, factor);
            progress.iteration += 1;
        }
        (wish, None)
    }

    /// Halves the step after twenty rejections in a row.
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

    /// The objective, with what the last evaluation found.
    pub fn objective(&self) -> &Objective {
        &self.objective
    }

    /// The objective, to look elsewhere between runs.
    pub fn objective_mut(&mut self) -> &mut Objective {
        &mut self.objective
    }
}
