//! A phase: one part of a training.

use super::LeastSquaresSettings;
use super::part::part_of;
use crate::data::Batch;
use crate::optimiser::{OptimiserKind, Schedule};
use crate::strategy::StrategySettings;
use crate::{Dataset, Segment};

/// One part of a training: an optimiser, what it minimises, and for how long.
#[derive(Debug, Clone, PartialEq)]
pub struct Phase {
    /// The optimiser.
    pub optimiser: OptimiserKind,
    /// Its rate schedule.
    pub schedule: Schedule,
    /// Evaluations of the objective and its gradient.
    pub iterations: usize,
    /// Single or multiple shooting.
    pub shooting: Shooting,
    /// The part of the data that one iteration uses.
    pub batch: Batch,
    /// A strategy of its own; `None` for that of the training.
    pub strategy: Option<StrategySettings>,
    /// Factor of the number of solver steps on the data's grid.
    pub substeps: usize,
    /// Least squares from several starts, instead of the optimiser.
    pub least_squares: Option<LeastSquaresSettings>,
    /// The rows, at most, of the part of the data that it uses: segments, evenly spaced;
    /// `None` for all data.
    pub part: Option<usize>,
}

/// The shooting method of a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shooting {
    /// Single shooting: full trajectories, each from its initial state.
    Single,
    /// Multiple shooting: segments of trajectories, each from its own start.
    Multiple {
        /// Steps of each segment.
        steps: usize,
        /// Whether segments have free (trained) starts, joined by continuity. Otherwise they start from
        /// the measured states.
        free: bool,
    },
}

impl Shooting {
    /// Returns the segments of these data.
    pub fn segments(self, dataset: &Dataset) -> Vec<Segment> {
        match self {
            Self::Single => Segment::whole(dataset),
            Self::Multiple { steps, free } => Segment::cut(dataset, steps, !free),
        }
    }
}

impl Phase {
    /// Creates a phase of single shooting on all data, with a constant rate.
    pub fn new(optimiser: impl Into<OptimiserKind>, iterations: usize) -> Self {
        Self {
            optimiser: optimiser.into(),
            schedule: Schedule { iterations, ..Schedule::constant() },
            iterations,
            shooting: Shooting::Single,
            batch: Batch::Full,
            strategy: None,
            substeps: 1,
            least_squares: None,
            part: None,
        }
    }

    /// Returns whether all settings beside those of its optimiser and its batch are the defaults.
    pub fn is_plain(&self) -> bool {
        let one = self.shooting == Shooting::Single && self.strategy.is_none();
        one && self.substeps == 1 && self.part.is_none() && self.least_squares.is_none()
    }

    /// Returns the segments of these data that it uses in every iteration.
    pub fn segments(&self, dataset: &Dataset) -> Vec<Segment> {
        let segments = self.shooting.segments(dataset);
        match self.part {
            Some(rows) => part_of(&segments, rows),
            None => segments,
        }
    }

    /// Describes it: `L-BFGS, multiple shooting on segments of 10 steps, 1000 iterations`.
    pub fn describe(&self) -> String {
        let on = match (self.shooting, self.batch) {
            (Shooting::Multiple { steps, free: false }, _) => {
                format!("multiple shooting on segments of {steps} steps")
            }
            (Shooting::Multiple { steps, free: true }, _) => {
                format!("multiple shooting on segments of {steps} steps with trained starts")
            }
            (Shooting::Single, Batch::Full) => "full trajectories".to_owned(),
            (Shooting::Single, Batch::Trajectories { count }) => {
                format!("batches of {count} trajectories")
            }
            (Shooting::Single, Batch::Windows { count, rows }) => {
                format!("batches of {count} windows of {rows} rows")
            }
        };
        let label = |strategy: &StrategySettings| format!(", strategy {}", strategy.label());
        let strategy = self.strategy.as_ref().map_or(String::new(), label);
        let substeps = match self.substeps {
            1 => String::new(),
            substeps => format!(", {substeps} times the solver steps"),
        };
        let part = self.part.map_or(String::new(), |rows| format!(", a part of {rows} rows"));
        let optimiser = match self.least_squares {
            Some(LeastSquaresSettings { starts, .. }) => {
                format!("Levenberg–Marquardt from {starts} starts")
            }
            None => self.optimiser.title().to_owned(),
        };
        format!("{optimiser}, {on}{part}{strategy}{substeps}, {} iterations", self.iterations)
    }
}

/// Returns the evaluations of these phases minus 1; a phase of n iterations evaluates n + 1 points.
pub fn total(phases: &[Phase]) -> usize {
    let evaluations: usize = phases.iter().map(|phase| phase.iterations + 1).sum();
    evaluations.saturating_sub(1)
}
