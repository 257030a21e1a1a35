//! The plan: the phases of a training, including those that remedies add.

use serde::{Deserialize, Serialize};

use super::phase::total;
use super::{BestModel, Phase, Shooting};
use crate::data::Batch;
use crate::optimiser::Schedule;
use crate::strategy::StrategySettings;

/// A change of the plan after the diagnosis of a phase. With the plan it determines the new phases, so
/// that a checkpoint stores nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "remedy")]
pub enum Remedy {
    /// More solver steps from now on; if no phase is left, the last one is repeated with them.
    Finer {
        /// The diagnosed phase, counted from 0.
        after: usize,
        /// Factor of the number of steps.
        #[serde(default = "twice")]
        factor: usize,
        /// Whether the diagnosed phase is repeated with them, although others are left.
        #[serde(default)]
        repeat: bool,
    },
    /// Multiple shooting, then the diagnosed phase again; without laws, full trajectories without laws
    /// in between.
    MultipleShooting {
        /// The diagnosed phase, counted from 0.
        after: usize,
        /// Steps of each segment.
        steps: usize,
        /// Whether multiple shooting leaves out the laws.
        without_laws: bool,
        /// Whether segments have free (trained) starts.
        free: bool,
        /// Whether they start from newly drawn weights, not from the result of the diagnosed phase.
        afresh: bool,
    },
}

/// The factor of [`Remedy::Finer`] in checkpoints that have none.
fn twice() -> usize {
    2
}

/// The phases of a training, and the current one.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    phases: Vec<Phase>,
    /// The current phase.
    at: usize,
    /// Iterations, of the whole training, before it.
    start: usize,
    /// What it fixes, in words.
    why: Option<String>,
    remedies: Vec<Remedy>,
    extensions: Vec<Extension>,
    /// The best model so far, once a remedy was applied.
    best_model: Option<BestModel>,
}

/// A change of the last phase, so that the training has another number of iterations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Extension {
    /// Number of remedies before it: those after it copy phases that have their new length.
    pub remedies: usize,
    /// The iterations of the training that were asked for.
    pub to: usize,
    /// The iterations of the last phase.
    pub last: usize,
}

/// The state of a plan in a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct PlanState {
    /// The current phase, counted from 0.
    pub phase: usize,
    /// Iterations, of the whole training, before it.
    pub start: usize,
    /// What it fixes, in words.
    pub why: Option<String>,
    /// Changes of the plan, in order.
    pub remedies: Vec<Remedy>,
    /// Changes of its length that remedies follow, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<Extension>,
}

/// Largest number of remedies in one training, without finer steps.
const MOST_REMEDIES: usize = 5;
/// Largest number of newly drawn weights.
const MOST_DRAWS: usize = 2;
/// Most remedies of all kinds, and most extensions, that a checkpoint can have.
const MOST_CHANGES: usize = 1000;
/// Most steps of the solver after remedies, as a multiple of those of the phases of the experiment.
const MOST_FACTOR: usize = 64;
/// Most iterations of a phase, as in an experiment file.
const MOST_ITERATIONS: usize = 1 << 53;

impl Plan {
    /// Creates a plan at its first phase.
    pub fn new(phases: &[Phase]) -> Self {
        let phases = phases.to_vec();
        let (remedies, extensions) = (Vec::new(), Vec::new());
        Self { phases, at: 0, start: 0, why: None, remedies, extensions, best_model: None }
    }

    /// Restores the plan of a checkpoint. Returns `None` if these phases cannot have such a state.
    pub fn restore(phases: &[Phase], plan_state: &PlanState) -> Option<Self> {
        let PlanState { phase, start, why, remedies, extensions } = plan_state;
        if remedies.len().max(extensions.len()) > MOST_CHANGES {
            return None;
        }
        let most = MOST_FACTOR * phases.iter().map(|phase| phase.substeps).max()?;
        let mut plan = Self::new(phases);
        let mut extensions = extensions.iter().peekable();
        for applied in 0..=remedies.len() {
            while let Some(next) = extensions.next_if(|next| next.remedies == applied) {
                let last = plan.phases.last_mut()?;
                last.iterations = Some(next.last).filter(|last| *last <= MOST_ITERATIONS)?;
                plan.extensions.push(next.clone());
            }
            if let Some(remedy) = remedies.get(applied) {
                plan.can_apply(remedy, most).then(|| plan.apply(remedy.clone()))?;
            }
        }
        (plan.at, plan.start) = (*phase, *start);
        plan.why.clone_from(why);
        let before = plan.phases.get(..plan.at)?.iter().map(|phase| phase.iterations + 1).sum();
        let fits =
            plan.at < plan.phases.len() && plan.start <= before && extensions.next().is_none();
        fits.then_some(plan)
    }

    /// Returns whether a remedy is of a phase of this plan, and leads to at most this many substeps.
    fn can_apply(&self, remedy: &Remedy, most: usize) -> bool {
        match *remedy {
            Remedy::Finer { after, factor, .. } => {
                let fine = |phase: &Phase| {
                    phase.substeps.checked_mul(factor).is_some_and(|steps| steps <= most)
                };
                after < self.phases.len() && factor > 0 && self.phases[after..].iter().all(fine)
            }
            Remedy::MultipleShooting { after, steps, .. } => {
                after < self.phases.len() && steps > 0 && self.may_try(remedy)
            }
        }
    }

    /// Returns its state, for a checkpoint.
    pub fn state(&self) -> PlanState {
        let Self { at, start, why, remedies, mut extensions, .. } = self.clone();
        // Those that no remedy follows are not needed to repeat the remedies: a run that was extended has
        // the checkpoint of a longer one.
        extensions.retain(|extension| extension.remedies < remedies.len());
        PlanState { phase: at, start, why, remedies, extensions }
    }

    /// Restores the best model of a checkpoint, which [`state`](Self::state) leaves out.
    #[must_use]
    pub fn with_best_model(self, best_model: Option<BestModel>) -> Self {
        Self { best_model, ..self }
    }

    /// Returns the best model so far; `None` before a remedy is applied.
    pub fn best_model(&self) -> Option<&BestModel> {
        self.best_model.as_ref()
    }

    /// Keeps a model if it is at least as good as the best so far. Returns whether it is.
    pub fn offer(&mut self, model: BestModel) -> bool {
        let better = self.best_model.as_ref().is_none_or(|best| model.judgement <= best.judgement);
        if better {
            self.best_model = Some(model);
        }
        better
    }

    /// Returns whether a remedy has been applied.
    pub fn has_remedies(&self) -> bool {
        !self.remedies.is_empty()
    }

    /// Returns the last phase.
    pub fn last_phase(&self) -> &Phase {
        &self.phases[self.phases.len() - 1]
    }

    /// Returns the current phase.
    pub fn phase(&self) -> &Phase {
        &self.phases[self.at]
    }

    /// Returns all phases, including those of remedies.
    pub fn phases(&self) -> &[Phase] {
        &self.phases
    }

    /// Returns the index of the current phase, counted from 0.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Returns the iterations of the whole training before the current phase.
    pub fn start(&self) -> usize {
        self.start
    }

    /// Returns the number of phases.
    #[expect(clippy::len_without_is_empty, reason = "there is one phase at least")]
    pub fn len(&self) -> usize {
        self.phases.len()
    }

    /// Returns the iterations of the whole training if no phase ends early.
    pub fn total(&self) -> usize {
        self.start + total(&self.phases[self.at..])
    }

    /// Returns what the current phase fixes, in words.
    pub fn why(&self) -> Option<&str> {
        self.why.as_deref()
    }

    /// Moves to the next phase, which fixes `why`, after `done` iterations of this one. Returns
    /// whether there is one.
    pub fn next(&mut self, done: usize, why: Option<String>) -> bool {
        if self.at + 1 == self.phases.len() {
            return false;
        }
        self.at += 1;
        self.why = why;
        self.start += done + 1;
        true
    }

    /// Returns whether this remedy is within the limits.
    pub fn may_try(&self, remedy: &Remedy) -> bool {
        match remedy {
            // The number of steps has its own limit.
            Remedy::Finer { .. } => true,
            Remedy::MultipleShooting { afresh, .. } => {
                let finer = |remedy: &&Remedy| matches!(remedy, Remedy::Finer { .. });
                let others = self.remedies.len() - self.remedies.iter().filter(finer).count();
                others < MOST_REMEDIES && (!afresh || self.draws() < MOST_DRAWS)
            }
        }
    }

    /// Returns whether a remedy has continued with the weights of the diagnosed phase.
    pub fn has_continued(&self) -> bool {
        let continues =
            |remedy: &Remedy| matches!(remedy, Remedy::MultipleShooting { afresh: false, .. });
        self.remedies.iter().any(continues)
    }

    /// Returns how many remedies have drawn new weights.
    pub fn draws(&self) -> usize {
        let afresh =
            |remedy: &&Remedy| matches!(remedy, Remedy::MultipleShooting { afresh: true, .. });
        self.remedies.iter().filter(afresh).count()
    }

    /// Changes the last phase so that the training has this many iterations; it keeps one at least.
    pub fn extend_to(&mut self, iterations: usize) {
        let others = self.total() - self.last_phase().iterations;
        self.extend_last(iterations, iterations.saturating_sub(others).max(1));
    }

    /// The same with the iterations of the last phase, as an earlier extension has found them.
    pub fn extend_last(&mut self, to: usize, last: usize) {
        if let Some(phase) = self.phases.last_mut() {
            phase.iterations = last;
        }
        self.extensions.push(Extension { remedies: self.remedies.len(), to, last });
    }

    /// Returns the iterations that the last extension asked for.
    pub fn extended_to(&self) -> Option<usize> {
        self.extensions.last().map(|extension| extension.to)
    }

    /// Applies a remedy.
    pub fn apply(&mut self, remedy: Remedy) {
        match remedy {
            Remedy::Finer { after, factor, repeat } => {
                if repeat || after + 1 == self.phases.len() {
                    self.phases.insert(after + 1, self.phases[after].clone());
                }
                for phase in &mut self.phases[after + 1..] {
                    phase.substeps *= factor;
                }
            }
            Remedy::MultipleShooting { after, steps, without_laws, free, .. } => {
                let again = self.phases[after].clone();
                let half = again.iterations.div_ceil(2);
                let iterations = again.optimiser.iterations_on_segments(again.iterations);
                let segments = Phase {
                    schedule: Schedule { iterations, ..again.schedule },
                    iterations,
                    shooting: Shooting::Multiple { steps, free },
                    batch: Batch::Full,
                    strategy: if without_laws {
                        Some(StrategySettings::vanilla())
                    } else {
                        again.strategy.clone()
                    },
                    ..again.clone()
                };
                // Laws that misled the fit are left out in single shooting too, before the last phase.
                let whole = (without_laws && again.shooting == Shooting::Single).then(|| Phase {
                    schedule: Schedule { iterations: half, ..again.schedule },
                    iterations: half,
                    strategy: Some(StrategySettings::vanilla()),
                    ..again.clone()
                });
                let rest = self.phases.split_off(after + 1);
                self.phases.push(segments);
                self.phases.extend(whole.into_iter().chain([again]).chain(rest));
            }
        }
        self.remedies.push(remedy);
    }
}
