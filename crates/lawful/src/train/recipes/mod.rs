//! Recipes: named choices of phases.

mod adam;
mod auto;
mod evidence;
mod large;
mod lbfgs;
mod paper;
mod physics;
mod scarce;

use lawful_ode::Solver;

use super::{Phase, Shooting, Start};
use crate::Dataset;
use crate::optimiser::{LbfgsScaling, LbfgsSettings, OptimiserKind};
use crate::strategy::StrategySettings;

/// A recipe: a named choice of phases and settings.
#[derive(Debug)]
pub struct Recipe {
    /// The word of `recipe` in an experiment file.
    pub name: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// Whether it works best with a smooth objective, so that strategies default to their smooth form.
    pub smooth: bool,
    /// Widths of the hidden layers, if the user gives none.
    pub hidden: &'static [usize],
    /// Its choice.
    pub(crate) choose: fn(&Facts) -> Choice,
}

pub(crate) use physics::MOST_SLOPES;
pub(crate) use scarce::{MOST_ROWS as MOST_ROWS_WITH_LAWS, scarce};

/// The recipe that `auto` follows for scarce or noisy data.
pub(crate) const EVIDENCE: &str = evidence::RECIPE.name;

/// The words of `recipe` in an experiment file; the first is the default.
pub const RECIPES: &[Recipe] =
    &[auto::RECIPE, lbfgs::RECIPE, adam::RECIPE, evidence::RECIPE, paper::RECIPE];

/// Widths of the hidden layers for clean data.
const WIDE: &[usize] = &[50, 50];

/// A level of noise, in standard deviations, above which it cannot be distinguished from motion that
/// the rows do not resolve.
pub(crate) const UNRESOLVED: f64 = 0.5;

/// The facts that a recipe uses.
pub(crate) struct Facts<'a> {
    /// The training data.
    pub(crate) dataset: &'a Dataset,
    /// How violations enter the objective.
    pub(crate) strategy: &'a StrategySettings,
    /// The solver of the training.
    pub(crate) solver: Solver,
    /// Whether the recipe may choose another one.
    pub(crate) open_solver: bool,
    /// Whether every rate is known, and only constants are learned.
    pub(crate) physics: bool,
    /// Whether any law is penalised.
    pub(crate) penalised: bool,
    /// What the user has set.
    pub(crate) given: Given,
}

/// Settings of the user, which a recipe does not choose; `None` if it does.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Given {
    pub(crate) initial_state: Option<bool>,
    pub(crate) decay: Option<f64>,
    pub(crate) validation: Option<f64>,
}

/// The choice of a recipe, for settings that the user has left out.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Choice {
    pub(crate) phases: Vec<Phase>,
    /// Another solver of the training.
    pub(crate) solver: Option<Solver>,
    pub(crate) scale: bool,
    pub(crate) initial_state: bool,
    pub(crate) start: Start,
    pub(crate) decay: f64,
    pub(crate) validation: f64,
    pub(crate) remedies: bool,
    /// Its reasons, in words.
    pub(crate) remarks: Vec<String>,
}

impl Choice {
    /// Chooses these phases with remedies.
    fn with_remedies(phases: Vec<Phase>) -> Self {
        Self { remedies: true, ..Self::of(phases) }
    }

    /// Chooses these phases, and the defaults of everything else.
    pub(crate) fn of(phases: Vec<Phase>) -> Self {
        Self {
            phases,
            solver: None,
            scale: true,
            initial_state: false,
            start: Start::Random,
            decay: 0.0,
            validation: 0.0,
            remedies: false,
            remarks: Vec::new(),
        }
    }
}

impl Facts<'_> {
    /// Returns the initial number of solver steps per interval of the data, for a method of order four:
    /// in each step, states change on average by at most this share of their standard deviation.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped first")]
    fn substeps(&self, largest_change: f64) -> usize {
        (self.change() / largest_change).ceil().clamp(1.0, MOST_SUBSTEPS) as usize
    }

    /// Returns the number of solver steps per interval for the two neighbouring cells that differ most: in each
    /// step they change by at most this share of their standard deviation.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped first")]
    fn substeps_of_jumps(&self, largest_change: f64) -> usize {
        let spread = crate::scaling(self.dataset).state;
        let d = spread.len();
        let mut largest = 0.0_f64;
        for trajectory in self.dataset.trajectories() {
            for (i, unit) in spread.iter().enumerate() {
                let cells = trajectory.states.iter().skip(i).step_by(d).copied();
                let mut last = f64::NAN;
                for cell in cells.filter(|cell| cell.is_finite()) {
                    // The first difference is NaN, which `max` passes over.
                    largest = largest.max((cell - last).abs() / unit);
                    last = cell;
                }
            }
        }
        (largest / largest_change).ceil().clamp(1.0, MOST_SUBSTEPS) as usize
    }

    /// Returns the change of a state from row to row: the largest over the state variables of its root mean
    /// square, in standard deviations.
    fn change(&self) -> f64 {
        let scaling = crate::scaling(self.dataset);
        let trajectories = self.dataset.trajectories();
        let span: f64 = trajectories.iter().map(|t| t.times[t.len() - 1] - t.times[0]).sum();
        let steps: usize = trajectories.iter().map(|t| t.len() - 1).sum();
        let interval = span / steps.max(1) as f64;
        let changes = scaling.rate.iter().zip(&scaling.state).map(|(rate, s)| rate * interval / s);
        changes.fold(0.0, f64::max)
    }

    /// Returns the number of steps of the longest trajectory.
    fn longest(&self) -> usize {
        let lengths = self.dataset.trajectories().iter().map(crate::Trajectory::len);
        lengths.max().unwrap_or(1) - 1
    }
}

/// See [`Facts::substeps`].
const MOST_SUBSTEPS: f64 = 16.0;

/// A phase on all data.
fn phase(optimiser: OptimiserKind, iterations: usize, shooting: Shooting) -> Phase {
    Phase { shooting, ..Phase::new(optimiser, iterations) }
}

/// L-BFGS for the closest fit.
fn quasi_newton(iterations: usize, shooting: Shooting) -> Phase {
    phase(OptimiserKind::Lbfgs(LbfgsSettings::default()), iterations, shooting)
}

/// L-BFGS for noisy data, as studied in `docs/scarce-data.md`: a closer fit would follow the noise.
const CAUTIOUS: OptimiserKind =
    OptimiserKind::Lbfgs(LbfgsSettings { memory: 100, scaling: LbfgsScaling::Newest });
