//! The phases of a training as they are run: what was planned, and the remedies on the way.

use lawful::optimiser::LbfgsSettings;
use lawful::{Batch, Schedule};
use serde::{Deserialize, Serialize};

use crate::experiment::{
    Experiment, Horizon, OptimiserSettings, Phase, Strategy, StrategyKind, total,
};

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
    Segments {
        /// The phase after which, counted from 0.
        after: usize,
        /// Whether the laws do not count on the segments.
        without_laws: bool,
        /// Whether the segments start from states that are trained along.
        free: bool,
    },
}

/// Where the training stands: its phases, and which of them is under way.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Course {
    phases: Vec<Phase>,
    /// The phase under way.
    at: usize,
    /// Iterations, of the whole training, before it.
    start: usize,
    remedies: Vec<Remedy>,
}

/// What a checkpoint knows of where a training of several phases stands.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Stage {
    /// The phase under way, counted from 0.
    pub phase: usize,
    /// Iterations, of the whole training, before it.
    pub start: usize,
    /// Changes of the plan, in their order.
    pub remedies: Vec<Remedy>,
}

/// Most remedies of one training.
const MOST_REMEDIES: usize = 3;
/// Steps and evaluations of a phase on segments that mends something.
const STEPS: usize = 5;
const ON_SEGMENTS: usize = 999;

impl Course {
    /// At the first phase.
    pub(crate) fn new(experiment: &Experiment) -> Self {
        let phases = experiment.training.phases.clone();
        Self { phases, at: 0, start: 0, remedies: Vec::new() }
    }

    /// Where a checkpoint stood.
    pub(crate) fn restore(experiment: &Experiment, stage: &Stage) -> Option<Self> {
        let mut course = Self::new(experiment);
        for remedy in &stage.remedies {
            course.apply(remedy.clone());
        }
        (course.at, course.start) = (stage.phase, stage.start);
        (course.at < course.phases.len()).then_some(course)
    }

    /// For a checkpoint.
    pub(crate) fn stage(&self) -> Stage {
        Stage { phase: self.at, start: self.start, remedies: self.remedies.clone() }
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

    /// Goes on to the next phase after `done` iterations of this one; whether there is one.
    pub(crate) fn next(&mut self, done: usize) -> bool {
        if self.at + 1 == self.phases.len() {
            return false;
        }
        self.at += 1;
        self.start += done + 1;
        true
    }

    /// Whether another remedy may be tried.
    pub(crate) fn may_mend(&self) -> bool {
        self.remedies.len() < MOST_REMEDIES
    }

    /// Whether the phase under way already is a remedy of that kind's repetition.
    pub(crate) fn was_mended_by_segments(&self) -> bool {
        self.remedies.iter().any(|remedy| matches!(remedy, Remedy::Segments { .. }))
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
            Remedy::Segments { after, without_laws, free } => {
                let again = self.phases[after].clone();
                let segments = Phase {
                    optimiser: OptimiserSettings::Lbfgs(LbfgsSettings::default()),
                    schedule: Schedule { iterations: ON_SEGMENTS, ..Schedule::constant() },
                    iterations: ON_SEGMENTS,
                    horizon: Horizon::Segments { steps: STEPS, free },
                    batch: Batch::Full,
                    strategy: if without_laws { Some(vanilla()) } else { again.strategy.clone() },
                    substeps: again.substeps,
                };
                // Laws that led to the wrong place are left out on the way to the whole path, too.
                let whole = without_laws.then(|| Phase {
                    iterations: again.iterations.div_ceil(2),
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
