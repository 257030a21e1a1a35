//! The experiment as meant: checked, complete, ready to run.

use lawful::optimiser::AdamSettings;
use lawful::{
    Activation, Batch, Dataset, Hold, Initialise, Law, Loss, Method, Precision, Restore, Vocabulary,
};

/// Everything a run needs, read from a file and checked. Only this type can run.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// Its name, part of the run folder's.
    pub name: String,
    /// What the names in laws and equations mean; it has the names of states and inputs too.
    pub vocabulary: Vocabulary,
    /// The laws, chained ones split.
    pub laws: Vec<Law>,
    /// What is trained on; reported as `reconstruction`.
    pub training_set: Dataset,
    /// Named test sets, in the order of the file.
    pub tests: Vec<(String, Dataset)>,
    /// What inputs are between rows.
    pub hold: Hold,
    /// The network.
    pub field: Field,
    /// How training solves.
    pub solver: Method,
    /// How everything after training solves.
    pub predict: Method,
    /// How violations enter the objective.
    pub strategy: Strategy,
    /// How θ is found.
    pub training: Training,
    /// The same in the words of an experiment file, every key written out.
    pub complete: toml::Table,
}

/// `[field]`: the network.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Width of each hidden layer.
    pub hidden: Vec<usize>,
    /// One per hidden layer.
    pub activations: Vec<Activation>,
    /// How weights start.
    pub init: Initialise,
    /// Whether time is an input of the network.
    pub time_input: bool,
    /// Of the arithmetic inside the network.
    pub precision: Precision,
}

/// `[strategy]`: how violations enter the objective.
#[derive(Debug, Clone, PartialEq)]
pub struct Strategy {
    /// Which one.
    pub kind: StrategyKind,
    /// Violation up to which a point is feasible.
    pub tolerance: f64,
    /// Whether, and how, training goes back to the best point.
    pub best_point: Option<Restore>,
}

/// The strategy with its own settings.
#[derive(Debug, Clone, PartialEq)]
pub enum StrategyKind {
    /// The fit alone.
    Vanilla,
    /// Fixed weights of mean violations.
    L1(Vec<f64>),
    /// Fixed weights of mean squared violations.
    L2(Vec<f64>),
    /// The paper's.
    SelfAdaptive(lawful::strategy::SelfAdaptive),
}

/// `[training]`: how θ is found.
#[derive(Debug, Clone, PartialEq)]
pub struct Training {
    /// How an error counts.
    pub loss: Loss,
    /// What moves θ.
    pub optimiser: AdamSettings,
    /// How its rate changes.
    pub schedule: lawful::Schedule,
    /// Optimiser steps.
    pub iterations: usize,
    /// Seed of initial weights and batches.
    pub seed: u64,
    /// What one iteration looks at.
    pub batch: Batch,
}

impl Strategy {
    /// Its word, and whether it goes back to the best point: `self-adaptive`, `l1-best`.
    pub fn label(&self) -> String {
        let best = if self.best_point.is_some() { "-best" } else { "" };
        format!("{}{best}", self.kind.name())
    }
}

impl StrategyKind {
    /// Its word in an experiment file.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Vanilla => "vanilla",
            Self::L1(_) => "l1",
            Self::L2(_) => "l2",
            Self::SelfAdaptive(_) => "self-adaptive",
        }
    }
}

impl Experiment {
    /// Name, strategy and seed: `oscillator, self-adaptive, seed 1`.
    pub fn label(&self) -> String {
        format!("{}, {}, seed {}", self.name, self.strategy.label(), self.training.seed)
    }

    /// Trains from another seed.
    ///
    /// # Panics
    /// If the seed is larger than a TOML integer may be.
    pub fn set_seed(&mut self, seed: u64) {
        self.training.seed = seed;
        let written = i64::try_from(seed).expect("a seed that a file can hold");
        if let Some(training) = self.complete.get_mut("training").and_then(|t| t.as_table_mut()) {
            training.insert("seed".to_owned(), written.into());
        }
    }

    /// The experiment as meant, every key written out.
    pub fn complete_text(&self) -> String {
        crate::config::to_text(&self.complete)
    }

    /// The time column of its files.
    pub fn time_column(&self) -> &str {
        let data = self.complete.get("data").and_then(|data| data.get("time"));
        data.and_then(|time| time.as_str()).unwrap_or("t")
    }
}
