//! The three systems of the paper, as experiment files.

use toml::Table;

use lawful_experiment::Diagnostic;
use lawful_experiment::runner::changes;

/// A system of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum System {
    /// World population growth.
    Population,
    /// A chemical reaction.
    Reaction,
    /// A damped harmonic oscillator.
    Oscillator,
}

impl System {
    /// All of them, in the paper's order.
    pub const ALL: [Self; 3] = [Self::Population, Self::Reaction, Self::Oscillator];

    /// Returns its word on the command line and in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Population => "population",
            Self::Reaction => "reaction",
            Self::Oscillator => "oscillator",
        }
    }

    /// Returns the system of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|system| system.name() == name)
    }

    /// Returns its experiment file.
    pub fn file(self) -> &'static str {
        match self {
            Self::Population => include_str!("../experiments/population.toml"),
            Self::Reaction => include_str!("../experiments/reaction.toml"),
            Self::Oscillator => include_str!("../experiments/oscillator.toml"),
        }
    }

    /// Returns its experiment file as a table.
    pub fn table(self) -> Result<Table, Diagnostic> {
        changes::parse(self.name(), self.file())
    }

    /// Returns the CPU milliseconds of one training iteration in torchdiffeq, which the paper used:
    /// measured beside ours, on one quiet core of a Zen 3 processor (see `benches/peers`).
    pub fn torchdiffeq_milliseconds(self) -> f64 {
        match self {
            Self::Population => 306.0,
            Self::Reaction => 203.0,
            Self::Oscillator => 699.0,
        }
    }
}

/// A test of a model: on which data it is scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Task {
    /// The training set itself.
    Reconstruction,
    /// Later times.
    Extrapolation,
    /// Times between those of training.
    Completion,
}

impl Task {
    /// All of them, in the paper's order.
    pub const ALL: [Self; 3] = [Self::Reconstruction, Self::Extrapolation, Self::Completion];

    /// Returns its word in tables: the name of its set in an experiment file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reconstruction => "reconstruction",
            Self::Extrapolation => "extrapolation",
            Self::Completion => "completion",
        }
    }
}
