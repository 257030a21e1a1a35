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
    /// The best model so far, once a remedy was applied.
    best_model: Option<BestModel>,
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
}

/// Largest number of remedies in one training, without finer steps.
const MOST_REMEDIES: usize = 5;
/// Largest number of newly drawn weights.
const MOST_DRAWS: usize = 2;

impl Plan {
    /// Creates a plan at its first phase.
    pub fn new(phases: &[Phase]) -> Self {
        let phases = phases.to_vec();
        Self { phases, at: 0, start: 0, why: None, remedies: Vec::new(), best_model: None }
    }

    /// Restores the plan of a checkpoint. Returns `None` if it has no such phase.
    pub fn restore(phases: &[Phase], plan_state: &PlanState) -> Option<Self> {
        let mut plan = Self::new(phases);
        for remedy in &plan_state.remedies {
            plan.apply(remedy.clone());
        }
        (plan.at, plan.start) = (plan_state.phase, plan_state.start);
        plan.why.clone_from(&plan_state.why);
        (plan.at < plan.phases.len()).then_some(plan)
    }

    /// Returns its state, for a checkpoint.
    pub fn state(&self) -> PlanState {
        let Self { at, start, why, remedies, .. } = self.clone();
        PlanState { phase: at, start, why, remedies }
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

    /// Gives the last phase more iterations.
    pub fn lengthen(&mut self, by: usize) {
        if let Some(last) = self.phases.last_mut() {
            last.iterations += by;
        }
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
