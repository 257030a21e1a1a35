//! The phases of a training as they are run: what was planned, and the remedies on the way.

use lawful::{Batch, Schedule};
use serde::{Deserialize, Serialize};

use crate::experiment::{
    Experiment, OptimiserSettings, Phase, Shooting, Strategy, StrategyKind, total,
};
use crate::manifest::Ending;

/// A change of the plan, made after a phase was looked at. Everything about it follows from these
/// words and the plan, so that a checkpoint needs no more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "remedy")]
pub enum Remedy {
    /// Twice the steps from now on; if no phase is left, the last one is repeated with them.
    Finer {
        /// The phase after which, counted from 0.
        after: usize,
    },
    /// A phase on segments, then the phase once more; without laws, the whole path without them
    /// in between.
    MultipleShooting {
        /// The phase after which, counted from 0.
        after: usize,
        /// Steps of each segment.
        steps: usize,
        /// Whether the laws do not count on the segments.
        without_laws: bool,
        /// Whether the segments start from states that are trained along.
        free: bool,
        /// Whether they begin with newly drawn weights, not with what the phase came to.
        afresh: bool,
    },
}

/// Where the training stands: its phases, and which of them is under way.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plan {
    phases: Vec<Phase>,
    /// The phase under way.
    at: usize,
    /// Iterations, of the whole training, before it.
    start: usize,
    /// What it mends.
    why: Option<String>,
    remedies: Vec<Remedy>,
}

/// What a checkpoint knows of where a training of several phases stands.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct PlanState {
    /// The phase under way, counted from 0.
    pub phase: usize,
    /// Iterations, of the whole training, before it.
    pub start: usize,
    /// What it mends, in words.
    pub why: Option<String>,
    /// Changes of the plan, in their order.
    pub remedies: Vec<Remedy>,
    /// How training ended, if it did and this is what it came to.
    pub ended: Option<Ending>,
}

/// Most remedies of one training.
const MOST_REMEDIES: usize = 5;
/// Most draws of other weights.
const MOST_DRAWS: usize = 2;
/// Evaluations of L-BFGS on segments that mend something.
const ON_SEGMENTS: usize = 999;

impl Plan {
    /// At the first phase.
    pub(crate) fn new(experiment: &Experiment) -> Self {
        let phases = experiment.training.phases.clone();
        Self { phases, at: 0, start: 0, why: None, remedies: Vec::new() }
    }

    /// Where a checkpoint stood.
    pub(crate) fn restore(experiment: &Experiment, plan_state: &PlanState) -> Option<Self> {
        let mut plan = Self::new(experiment);
        for remedy in &plan_state.remedies {
            plan.apply(remedy.clone());
        }
        (plan.at, plan.start) = (plan_state.phase, plan_state.start);
        plan.why.clone_from(&plan_state.why);
        (plan.at < plan.phases.len()).then_some(plan)
    }

    /// For a checkpoint.
    pub(crate) fn plan_state(&self, ended: Option<&Ending>) -> PlanState {
        let Self { at, start, why, remedies, .. } = self.clone();
        PlanState { phase: at, start, why, remedies, ended: ended.cloned() }
    }

    /// The phase under way.
    pub(crate) fn phase(&self) -> &Phase {
        &self.phases[self.at]
    }

    /// Which one it is, counted from 0.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Iterations of the whole training before the phase under way.
    pub(crate) fn start(&self) -> usize {
        self.start
    }

    /// How many phases there are.
    pub(crate) fn len(&self) -> usize {
        self.phases.len()
    }

    /// Iterations of the whole training, if every phase that is left takes all of its own.
    pub(crate) fn total(&self) -> usize {
        self.start + total(&self.phases[self.at..])
    }

    /// What the phase under way mends, in words.
    pub(crate) fn why(&self) -> Option<&str> {
        self.why.as_deref()
    }

    /// Goes on to the next phase, which mends `why`, after `done` iterations of this one; whether
    /// there is one.
    pub(crate) fn next(&mut self, done: usize, why: Option<String>) -> bool {
        if self.at + 1 == self.phases.len() {
            return false;
        }
        self.at += 1;
        self.why = why;
        self.start += done + 1;
        true
    }

    /// Whether this remedy may be tried, too.
    pub(crate) fn may_try(&self, remedy: &Remedy) -> bool {
        let afresh = matches!(remedy, Remedy::MultipleShooting { afresh: true, .. });
        self.remedies.len() < MOST_REMEDIES && (!afresh || self.draws() < MOST_DRAWS)
    }

    /// Whether segments were a remedy already that went on with the weights there were.
    pub(crate) fn went_on(&self) -> bool {
        let goes_on =
            |remedy: &Remedy| matches!(remedy, Remedy::MultipleShooting { afresh: false, .. });
        self.remedies.iter().any(goes_on)
    }

    /// How many times weights were drawn anew.
    pub(crate) fn draws(&self) -> usize {
        let afresh =
            |remedy: &&Remedy| matches!(remedy, Remedy::MultipleShooting { afresh: true, .. });
        self.remedies.iter().filter(afresh).count()
    }

    /// Gives the last phase more iterations.
    pub(crate) fn lengthen(&mut self, by: usize) {
        if let Some(last) = self.phases.last_mut() {
            last.iterations += by;
        }
    }

    /// Changes the plan.
    pub(crate) fn apply(&mut self, remedy: Remedy) {
        match remedy {
            Remedy::Finer { after } => {
                if after + 1 == self.phases.len() {
                    self.phases.push(self.phases[after].clone());
                }
                for phase in &mut self.phases[after + 1..] {
                    phase.substeps *= 2;
                }
            }
            Remedy::MultipleShooting { after, steps, without_laws, free, .. } => {
                let again = self.phases[after].clone();
                let half = again.iterations.div_ceil(2);
                let iterations = match again.optimiser {
                    OptimiserSettings::Lbfgs(_) => ON_SEGMENTS,
                    OptimiserSettings::Adam(_) => half,
                };
                let segments = Phase {
                    schedule: Schedule { iterations, ..again.schedule },
                    iterations,
                    shooting: Shooting::Multiple { steps, free },
                    batch: Batch::Full,
                    strategy: if without_laws { Some(vanilla()) } else { again.strategy.clone() },
                    ..again.clone()
                };
                // Laws that led to the wrong place are left out on the way to the whole path, too.
                let whole = (without_laws && again.shooting == Shooting::Single).then(|| Phase {
                    schedule: Schedule { iterations: half, ..again.schedule },
                    iterations: half,
                    strategy: Some(vanilla()),
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

/// The strategy that does not look at laws, with its table in a file.
fn vanilla() -> (Strategy, toml::Table) {
    let strategy =
        Strategy { kind: StrategyKind::Vanilla, tolerance: 0.0, best_point: None, margin: 0.0 };
    let table = toml::Table::from_iter([("kind".to_owned(), "vanilla".into())]);
    (strategy, table)
}
