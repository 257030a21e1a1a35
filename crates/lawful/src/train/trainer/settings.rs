//! Settings of the training loop.

use crate::optimiser::Schedule;

/// Settings of a [`Trainer`](crate::Trainer).
///
/// | setting | default | range | purpose |
/// |---|---|---|---|
/// | `iterations` | 10 000 | ≥ 0 | optimiser steps |
/// | `tolerance` | 1e-4 | ≥ 0 | violation P up to which a point is feasible, for the best point |
/// | `best_point` | off | | return to the best point after a rejection |
/// | `failures` | 20 | ≥ 1 | consecutive failed evaluations after which training stops |
/// | `schedule` | constant | | rate schedule |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Optimiser steps.
    pub iterations: usize,
    /// The P up to which a point is feasible.
    pub tolerance: f64,
    /// How training returns to the best point after a rejected trial; `None` if it does not. With
    /// mini-batches, whose objectives cannot be compared, no trial is rejected.
    pub best_point: Option<Restore>,
    /// Consecutive failed evaluations after which training stops.
    pub failures: u32,
    /// Rate schedule. After the schedule's own iterations its last value holds.
    pub schedule: Schedule,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            iterations: 10_000,
            tolerance: 1e-4,
            best_point: None,
            failures: 20,
            schedule: Schedule::constant(),
        }
    }
}

impl Settings {
    /// Returns whether a step after a rejection uses the gradient at the best point.
    pub(super) fn uses_best_gradient(&self) -> bool {
        self.best_point.is_some_and(|restore| restore.gradient_at == GradientAt::Best)
    }
}

/// How training returns to the best point after a rejected trial: the next step starts there; the
/// optimiser keeps its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Restore {
    /// Which gradient the step from the best point uses; default [`GradientAt::Trial`].
    pub gradient_at: GradientAt,
    /// Halve the step after 20 consecutive rejections; an acceptance doubles it again, up to its full
    /// length. Off by default, as in the paper.
    pub backtrack: bool,
}

/// Which gradient is used after a rejection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GradientAt {
    /// That of the rejected trial, as in the paper's Algorithm 1.
    #[default]
    Trial,
    /// That of the best point.
    Best,
}

impl GradientAt {
    /// The words of `gradient-at` in an experiment file.
    pub const NAMES: [(&'static str, Self); 2] = [("trial", Self::Trial), ("best", Self::Best)];
}
