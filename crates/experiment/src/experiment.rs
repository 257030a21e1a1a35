//! The experiment as meant: checked, complete, ready to run.

use lawful::optimiser::{AdamSettings, LbfgsSettings};
use lawful::{
    Activation, Batch, Dataset, Initialise, Interpolation, Law, LearnedConstant, Loss, Precision,
    Restore, Scaling, Schedule, Solver, Units, Vocabulary,
};

/// Everything a run needs, read from a file and checked. Only this type can run.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// Its name, part of the run folder's.
    pub name: String,
    /// What the names in laws and equations mean; it has the names of states and inputs too.
    pub vocabulary: Vocabulary,
    /// The constants that are learned; the vocabulary has their first values.
    pub constants: Vec<LearnedConstant>,
    /// The laws, chained ones split.
    pub laws: Vec<Law>,
    /// What is trained on; reported as `reconstruction`.
    pub training_set: Dataset,
    /// Named test sets, in the order of the file.
    pub tests: Vec<(String, Dataset)>,
    /// What inputs are between rows.
    pub interpolation: Interpolation,
    /// The right-hand side.
    pub field: Field,
    /// How training solves.
    pub solver: Solver,
    /// How everything after training solves.
    pub predict: Solver,
    /// How violations enter the objective.
    pub strategy: Strategy,
    /// How θ is found.
    pub training: Training,
    /// The units in which the network works, if they are not the data's.
    pub scaling: Option<Scaling>,
    /// The units in which errors and violations enter the objective.
    pub units: Units,
    /// The same in the words of an experiment file, every key written out.
    pub complete: toml::Table,
}

/// `[field]`: the right-hand side, a network beside what is known.
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
    /// Rates that are written down: state variable and expression, in the order of the state.
    pub known: Vec<(String, String)>,
    /// The state variables for which the network has an output, in the order of the state; without
    /// any there is no network.
    pub learn: Vec<String>,
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
    /// By how much inequalities are asked to hold in training, in units of the law.
    pub margin: f64,
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
    /// Whether the network and the objective work in units read off the data.
    pub scale: bool,
    /// Whether the initial states of trajectories are trained.
    pub initial_state: bool,
    /// Half of it, times the sum of squared parameters, is added to the objective.
    pub decay: f64,
    /// Share of the data that is held out, to stop on.
    pub validation: f64,
    /// Whether what goes wrong is mended by more phases.
    pub remedies: bool,
    /// Seed of initial weights and batches.
    pub seed: u64,
    /// What is done, one after the other; at least one.
    pub phases: Vec<Phase>,
    /// The recipe that chose the phases, if one did.
    pub recipe: Option<&'static str>,
    /// Why it chose them.
    pub remarks: Vec<String>,
}

/// `[[training.phase]]`: one part of a training.
#[derive(Debug, Clone, PartialEq)]
pub struct Phase {
    /// What moves θ.
    pub optimiser: OptimiserSettings,
    /// How its rate changes.
    pub schedule: Schedule,
    /// Evaluations of the objective and its gradient.
    pub iterations: usize,
    /// What is solved.
    pub shooting: Shooting,
    /// What one iteration looks at.
    pub batch: Batch,
    /// Another strategy than that of the experiment, with its table in the file's words.
    pub strategy: Option<(Strategy, toml::Table)>,
    /// Multiplies the steps on the data's grid.
    pub substeps: usize,
}

/// An optimiser with its settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OptimiserSettings {
    /// Adam.
    Adam(AdamSettings),
    /// L-BFGS.
    Lbfgs(LbfgsSettings),
}

/// What a phase solves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shooting {
    /// Whole trajectories.
    Single,
    /// Segments of them.
    Multiple {
        /// Steps of each.
        steps: usize,
        /// Whether their initial states are trained along.
        free: bool,
    },
}

impl Training {
    /// Rows that the log of a training without early ends has after its first: evaluations, but one.
    pub fn iterations(&self) -> usize {
        total(&self.phases)
    }
}

/// Evaluations of these phases together, but one: a phase of n iterations looks at n + 1 points.
pub(crate) fn total(phases: &[Phase]) -> usize {
    let looks: usize = phases.iter().map(|phase| phase.iterations + 1).sum();
    looks.saturating_sub(1)
}

impl Phase {
    /// Whether it can be written in the keys of `[training]` itself.
    pub(crate) fn is_plain(&self) -> bool {
        self.shooting == Shooting::Single && self.strategy.is_none() && self.substeps == 1
    }

    /// In words: `L-BFGS on segments of 10 steps, 1000 iterations`.
    pub fn describe(&self) -> String {
        let optimiser = match self.optimiser {
            OptimiserSettings::Adam(_) => "Adam",
            OptimiserSettings::Lbfgs(_) => "L-BFGS",
        };
        let shooting = match (self.shooting, self.batch) {
            (Shooting::Multiple { steps, free: false }, _) => format!("segments of {steps} steps"),
            (Shooting::Multiple { steps, free: true }, _) => {
                format!("segments of {steps} steps with free starts")
            }
            (Shooting::Single, Batch::Full) => "the whole path".to_owned(),
            (Shooting::Single, Batch::Trajectories { count }) => {
                format!("{count} trajectories at a time")
            }
            (Shooting::Single, Batch::Windows { count, rows }) => {
                format!("{count} windows of {rows} rows at a time")
            }
        };
        let strategy = self
            .strategy
            .as_ref()
            .map_or(String::new(), |(strategy, _)| format!(", strategy {}", strategy.label()));
        let substeps = match self.substeps {
            1 => String::new(),
            substeps => format!(", {substeps} times the steps"),
        };
        format!("{optimiser} on {shooting}{strategy}{substeps}, {} iterations", self.iterations)
    }
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
