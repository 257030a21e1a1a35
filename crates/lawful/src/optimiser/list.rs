//! The list of optimisers, and the trait that describes each.

use super::{AdamSettings, LbfgsSettings, Optimiser};
use crate::settings::listed;

listed! {
    /// An optimiser with its settings. Adding an optimiser to this list makes it available in
    /// experiment files, messages and tests.
    pub enum OptimiserKind: dyn ListedOptimiser {
        Adam(AdamSettings),
        Lbfgs(LbfgsSettings),
    }
}

/// The properties of a listed optimiser, beside its [keys](crate::settings::Settings::KEYS).
pub trait ListedOptimiser {
    /// Creates the optimiser with these settings for this many parameters.
    fn build(&self, parameters: usize) -> Box<dyn Optimiser>;

    /// Returns its name in sentences: `L-BFGS`.
    fn title(&self) -> &'static str;

    /// Returns the learning rate that a schedule multiplies, if it has one.
    fn rate(&self) -> Option<f64> {
        None
    }

    /// Returns whether it can train on batches, on which the objective is random.
    fn takes_batches(&self) -> bool;

    /// Returns whether training may return it to the best point.
    fn returns_to_best_point(&self) -> bool;

    /// Returns whether it searches along lines, on which the objective must be one function.
    fn searches_lines(&self) -> bool {
        false
    }

    /// Returns the iterations of multiple shooting in a remedy, for a phase of `iterations`.
    fn iterations_on_segments(&self, iterations: usize) -> usize {
        iterations.div_ceil(2)
    }

    /// Returns the settings in a few words, to follow the optimiser's name: `, memory of 400 pairs`.
    fn details(&self) -> String;
}

impl OptimiserKind {
    /// See [`ListedOptimiser::build`].
    pub fn build(&self, parameters: usize) -> Box<dyn Optimiser> {
        self.listed().build(parameters)
    }

    /// See [`ListedOptimiser::title`].
    pub fn title(&self) -> &'static str {
        self.listed().title()
    }

    /// See [`ListedOptimiser::rate`].
    pub fn rate(&self) -> Option<f64> {
        self.listed().rate()
    }

    /// See [`ListedOptimiser::takes_batches`].
    pub fn takes_batches(&self) -> bool {
        self.listed().takes_batches()
    }

    /// See [`ListedOptimiser::returns_to_best_point`].
    pub fn returns_to_best_point(&self) -> bool {
        self.listed().returns_to_best_point()
    }

    /// See [`ListedOptimiser::searches_lines`].
    pub fn searches_lines(&self) -> bool {
        self.listed().searches_lines()
    }

    /// See [`ListedOptimiser::iterations_on_segments`].
    pub fn iterations_on_segments(&self, iterations: usize) -> usize {
        self.listed().iterations_on_segments(iterations)
    }

    /// See [`ListedOptimiser::details`].
    pub fn details(&self) -> String {
        self.listed().details()
    }
}

/// The default: Adam.
impl Default for OptimiserKind {
    fn default() -> Self {
        Self::Adam(AdamSettings::default())
    }
}
