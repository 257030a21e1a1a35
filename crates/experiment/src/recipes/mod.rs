//! Named lists of phases: how to train, for those who do not want to say.

mod adam;
mod auto;
mod lbfgs;
mod paper;

use lawful::optimiser::{LbfgsScaling, LbfgsSettings};
use lawful::strategy::{Penalise, Penalty};
use lawful::{Batch, Dataset, Schedule};

use crate::experiment::{OptimiserSettings, Phase, Shooting, Strategy, StrategyKind};

/// A recipe: a name, and what it chooses for an experiment.
#[derive(Debug)]
pub struct Recipe {
    /// The word of `recipe` in an experiment file.
    pub name: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// What it chooses.
    pub(crate) choose: fn(&Facts) -> Choice,
}

/// The words of `recipe` in an experiment file; the first is the default.
pub const RECIPES: &[Recipe] = &[auto::RECIPE, lbfgs::RECIPE, adam::RECIPE, paper::RECIPE];

/// A level of noise, in standard deviations, from which on it may as well be motion that the rows do
/// not resolve.
pub(crate) const UNRESOLVED: f64 = 0.5;

/// What a recipe looks at.
pub(crate) struct Facts<'a> {
    /// What is trained on.
    pub(crate) dataset: &'a Dataset,
    /// How violations enter the objective.
    pub(crate) strategy: &'a Strategy,
}

/// What a recipe chooses, where the experiment does not say.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Choice {
    pub(crate) phases: Vec<Phase>,
    pub(crate) scale: bool,
    pub(crate) initial_state: bool,
    pub(crate) decay: f64,
    pub(crate) validation: f64,
    pub(crate) remedies: bool,
    /// Why, in words.
    pub(crate) remarks: Vec<String>,
}

impl Choice {
    /// These phases with remedies, as recipes choose them.
    fn mended(phases: Vec<Phase>) -> Self {
        Self { remedies: true, ..Self::of(phases) }
    }

    /// These phases, and the defaults of everything else.
    pub(crate) fn of(phases: Vec<Phase>) -> Self {
        Self {
            phases,
            scale: true,
            initial_state: false,
            decay: 0.0,
            validation: 0.0,
            remedies: false,
            remarks: Vec::new(),
        }
    }
}

impl Facts<'_> {
    /// Whether the objective has neither kinks nor jumps, so that L-BFGS can be trusted with it.
    fn is_smooth(&self) -> bool {
        let smooth = match &self.strategy.kind {
            StrategyKind::Vanilla | StrategyKind::L2(_) => true,
            StrategyKind::L1(_) => false,
            StrategyKind::SelfAdaptive(settings) => {
                settings.penalty == Penalty::Squared && settings.penalise == Penalise::Always
            }
        };
        smooth && self.strategy.best_point.is_none()
    }

    /// Steps per interval of the data with which a method of order four is good enough to begin
    /// with: in each, states change by this share of their standard deviation at most, on average.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped first")]
    fn substeps(&self, largest_change: f64) -> usize {
        let scaling = lawful::scaling(self.dataset);
        let trajectories = self.dataset.trajectories();
        let span: f64 = trajectories.iter().map(|t| t.times[t.len() - 1] - t.times[0]).sum();
        let steps: usize = trajectories.iter().map(|t| t.len() - 1).sum();
        let interval = span / steps.max(1) as f64;
        let changes = scaling.rate.iter().zip(&scaling.state).map(|(rate, s)| rate * interval / s);
        let most = changes.fold(0.0, f64::max) / largest_change;
        most.ceil().clamp(1.0, MOST_SUBSTEPS) as usize
    }

    /// Steps of the longest trajectory.
    fn longest(&self) -> usize {
        let lengths = self.dataset.trajectories().iter().map(lawful::Trajectory::len);
        lengths.max().unwrap_or(1) - 1
    }
}

/// See [`Facts::substeps`].
const MOST_SUBSTEPS: f64 = 16.0;

/// A phase on all data.
fn phase(optimiser: OptimiserSettings, iterations: usize, shooting: Shooting) -> Phase {
    Phase {
        optimiser,
        schedule: Schedule { iterations, ..Schedule::constant() },
        iterations,
        shooting,
        batch: Batch::Full,
        strategy: None,
        substeps: 1,
    }
}

/// L-BFGS as close as it comes.
fn quasi_newton(iterations: usize, shooting: Shooting) -> Phase {
    phase(OptimiserSettings::Lbfgs(LbfgsSettings::default()), iterations, shooting)
}

/// L-BFGS as noisy data were studied with (`docs/scarce-data.md`): a closer fit would follow the noise.
const CAUTIOUS: OptimiserSettings =
    OptimiserSettings::Lbfgs(LbfgsSettings { memory: 100, scaling: LbfgsScaling::Newest });
