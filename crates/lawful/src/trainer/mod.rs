//! The training loop: evaluate, judge, step; take a failed step back.

mod progress;
mod settings;

pub use progress::{Outcome, Progress};
pub use settings::{GradientAt, Restore, Settings};

use crate::objective::{Failure, Objective};
use crate::observer::{Event, Observer, Row, Stop, Wish};
use crate::optimiser::Optimiser;
use crate::{BestPoint, Sampler, Stretch, Verdict};
use progress::Before;

/// Rejections in a row after which [`Restore::backtrack`] halves the step.
const BACKTRACK_AFTER: u64 = 20;

/// With mini-batches, the best point is judged on all data every so many iterations, and at the end.
const JUDGE_EVERY: usize = 100;

/// The loop: evaluates φ and its gradient, judges the point, and lets the optimiser step.
///
/// An evaluation that fails (a solve that blows up, a loss that is not finite) never ends training
/// by itself: the step is taken back, the rate is halved for the rest of the run, and the same
/// step is tried at half its length. Only [`Settings::failures`] of them in a row do, or one at the
/// very first point.
pub struct Trainer {
    objective: Objective,
    optimiser: Box<dyn Optimiser>,
    sampler: Sampler,
    settings: Settings,
    progress: Progress,
    /// A copy of the progress before the iteration under way.
    checkpoint: Progress,
    before: Before,
    stretches: Vec<Stretch>,
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
        let progress = Progress {
            iteration: 0,
            best: BestPoint::new(settings.tolerance, n),
            best_gradient: vec![0.0; n],
            optimiser: optimiser.state().to_vec(),
            strategy: objective.strategy_state().clone(),
            failure_factor: 1.0,
            backtrack_factor: 1.0,
            theta,
        };
        let sampler = Sampler::full(&objective.problem().dataset);
        let checkpoint = progress.clone();
        let stretches = sampler.whole().to_vec();
        Self {
            objective,
            optimiser,
            sampler,
            settings,
            progress,
            checkpoint,
            before: Before::default(),
            stretches,
            failures: 0,
        }
    }

    /// Looks at what this sampler draws.
    #[must_use]
    pub fn with_sampler(mut self, sampler: Sampler) -> Self {
        self.sampler = sampler;
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
        self.optimiser.state_mut().copy_from_slice(&progress.optimiser);
        self.objective.set_strategy_state(&progress.strategy);
        self.progress = progress;
        self
    }

    /// Runs to the end, to a wish to stop, or to too many failures.
    pub fn run(&mut self, observer: &mut dyn Observer) -> Outcome {
        let mut stopping = false;
        loop {
            let iteration = self.progress.iteration;
            let last = iteration >= self.settings.iterations;
            self.progress.strategy.clone_from(self.objective.strategy_state());
            let checkpoint = last || stopping || observer.wants_checkpoint(iteration);
            if checkpoint {
                self.remember();
            }
            let verdict = match self.look(iteration) {
                Ok(verdict) => verdict,
                Err(failure) => {
                    let (wish, hopeless) = self.take_back(failure, observer);
                    stopping |= wish == Wish::Stop;
                    match hopeless {
                        Some(failure) => return self.failed(failure),
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
            if last || stopping {
                let stop = if last { Stop::Finished } else { Stop::Interrupted };
                let best = self.progress.best.clone();
                return Outcome { stop, last: self.checkpoint.clone(), best };
            }
            stopping = wish == Wish::Stop;
            self.step(verdict, factor);
        }
    }

    /// Copies everything that going on from here needs.
    fn remember(&mut self) {
        self.progress.optimiser.copy_from_slice(self.optimiser.state());
        self.checkpoint.copy_from(&self.progress);
    }

    fn failed(&mut self, failure: Failure) -> Outcome {
        self.remember();
        let best = self.progress.best.clone();
        Outcome { stop: Stop::Failed(failure), last: self.checkpoint.clone(), best }
    }

    /// Evaluates θ and judges it.
    fn look(&mut self, iteration: usize) -> Result<Option<Verdict>, Failure> {
        let Self { objective, sampler, progress, stretches, settings, .. } = self;
        let mut verdict = None;
        if sampler.is_full() {
            objective.look_at(sampler.whole());
        } else {
            if iteration.is_multiple_of(JUDGE_EVERY) || iteration >= settings.iterations {
                objective.look_at(sampler.whole());
                let value = objective.evaluate(&progress.theta, iteration)?.value;
                progress.best.judge(&progress.theta, &value, iteration);
                // The strategy's memory belongs to the batches alone.
                objective.set_strategy_state(&progress.strategy);
            }
            sampler.draw(iteration, stretches);
            objective.look_at(stretches);
        }
        let evaluation = objective.evaluate(&progress.theta, iteration)?;
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

    /// The optimiser's step, from the best point after a rejection.
    fn step(&mut self, verdict: Option<Verdict>, factor: f64) {
        let Self { objective, optimiser, progress, before, settings, .. } = self;
        let evaluation = objective.evaluation();
        let (mut value, mut gradient) = (evaluation.value, &evaluation.gradient);
        if settings.best_point.is_some() && verdict == Some(Verdict::Rejected) {
            progress.theta.copy_from_slice(progress.best.theta());
            if settings.uses_best_gradient() {
                value = progress.best.value().copied().unwrap_or(value);
                gradient = &progress.best_gradient;
            }
        }
        before.keep(&progress.theta, optimiser.state(), gradient);
        before.value = value.value;
        before.factor = factor;
        optimiser.advance(&mut progress.theta, before.value, gradient, factor);
        progress.iteration += 1;
    }

    /// After a failed evaluation: back to where the step began, and half the step from there. Gives
    /// the failure back if there is no hope.
    fn take_back(
        &mut self,
        failure: Failure,
        observer: &mut dyn Observer,
    ) -> (Wish, Option<Failure>) {
        self.failures += 1;
        let iteration = self.progress.iteration;
        let hopeless = !self.before.known || self.failures >= self.settings.failures;
        self.progress.failure_factor *= 0.5;
        let event = Event::TakenBack { failure, factor: self.progress.failure_factor };
        let wish = observer.iteration(&Row {
            iteration,
            laws: self.objective.problem().laws.len(),
            evaluation: None,
            verdict: None,
            factor: self.factor(iteration),
            event: Some(&event),
        });
        let Self { objective, optimiser, progress, before, .. } = self;
        objective.set_strategy_state(&progress.strategy);
        if before.known {
            progress.theta.copy_from_slice(&before.theta);
            optimiser.state_mut().copy_from_slice(&before.optimiser);
        }
        if hopeless {
            let Event::TakenBack { failure, .. } = event else { unreachable!("made above") };
            return (wish, Some(failure));
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
