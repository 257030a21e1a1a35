//! `manifest.json`: the version, the machine, the state and the result of a run.

use std::path::Path;

use lawful::{LawReport, LawVerdict, StopReason, Unsolved};
use serde::{Deserialize, Serialize};

use super::digest;
use crate::config::ExperimentFile;
use crate::diagnostic::Diagnostic;
use crate::experiment::Experiment;
use crate::files;

/// Commit that the program was built from, as its build script found it.
const COMMIT: &str = env!("LAWFUL_COMMIT");

/// Most remedies of a training that double the steps of the solver.
const MOST_DOUBLINGS: u32 = 6;
/// Most iterations of a run, as in an experiment file.
const MOST_ITERATIONS: usize = 1 << 53;
/// A longer training, of 300 years, is damage.
const MOST_SECONDS: f64 = 1e10;

/// The last entry of a manifest.
const SEAL: &str = ",\n  \"fingerprint\": \"";

/// Returns a JSON object in lines with the fingerprint of its text as its last entry.
fn sealed(text: &str) -> String {
    let open = text.strip_suffix("\n}").unwrap_or(text);
    format!("{open}{SEAL}{}\"\n}}\n", digest::of_bytes(text.as_bytes()))
}

/// The state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// In progress, or killed.
    Running,
    /// All iterations are done.
    Finished,
    /// Stopped by the user.
    Interrupted,
    /// Too many evaluations failed in a row.
    Failed,
}

/// One of the two models of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelChoice {
    /// θ after the last iteration.
    Last,
    /// The best θ by the best-point rules.
    Best,
}

impl ModelChoice {
    /// Returns its name on the command line and of its file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Last => "last",
            Self::Best => "best",
        }
    }
}

/// The machine a run was made on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Machine {
    /// Operating system.
    pub system: String,
    /// Processor architecture.
    pub architecture: String,
    /// Cores that the program may use.
    pub cores: usize,
}

/// How a training ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct RunEnd {
    /// Whether it finished, was interrupted or failed.
    pub status: Status,
    /// The reason, in words.
    pub reason: String,
}

impl RunEnd {
    /// `best_known` is whether any point could be evaluated.
    pub(crate) fn of(stop: &StopReason, best_known: bool) -> Self {
        let (status, reason) = match stop {
            StopReason::Failed(failure) if !best_known => {
                (Status::Failed, format!("the initial weights cannot be evaluated: {failure}"))
            }
            StopReason::Failed(_) => (Status::Failed, stop.to_string()),
            StopReason::Interrupted => (Status::Interrupted, stop.to_string()),
            StopReason::Finished | StopReason::Stalled(_) | StopReason::Validated => {
                (Status::Finished, stop.to_string())
            }
        };
        Self { status, reason }
    }
}

/// The version, the machine, the state and the result of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Manifest {
    /// Version of `lawful`.
    pub version: String,
    /// Commit that the program was built from; empty if not known.
    pub commit: String,
    /// Name of the experiment.
    pub name: String,
    /// Strategy of the run.
    pub strategy: String,
    /// Seed of initial weights and batches.
    pub seed: u64,
    /// The recipe that selected the phases, if one did.
    #[serde(default)]
    pub recipe: Option<String>,
    /// Why the recipe selected these phases.
    #[serde(default)]
    pub remarks: Vec<String>,
    /// Fingerprint of `config.toml`; empty in runs of earlier versions.
    #[serde(default)]
    pub config: String,
    /// Fingerprint of the data, to detect changed files in `data/`.
    pub data: String,
    /// Kernels in use: two processor families may round differently.
    pub kernels: String,
    /// The machine.
    pub machine: Machine,
    /// The state of the run.
    pub status: Status,
    /// Why the run ended, in words.
    pub reason: String,
    /// Number of iterations, including extensions.
    pub iterations: usize,
    /// Iterations done.
    pub done: usize,
    /// Iteration counts before each extension by `resume --iterations`.
    pub extended_from: Vec<usize>,
    /// Iterations that all extensions added.
    #[serde(default)]
    pub extended_by: usize,
    /// Number of iterations that the last extension asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extended_to: Option<usize>,
    /// Iterations of the last phase after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extended_last: Option<usize>,
    /// Fingerprint of the checkpoint that the last extension began with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extended_checkpoint: Option<String>,
    /// Seconds spent in training, all sessions together.
    pub seconds: f64,
    /// Trial points accepted as the best.
    pub accepted: u64,
    /// Trial points rejected.
    pub rejected: u64,
    /// Iteration of the best point.
    pub best_iteration: usize,
    /// Evaluations that failed, so that the step was undone.
    pub failures: usize,
    /// Steps of the solver in training, as a multiple of those in the experiment file: recipes and
    /// remedies add some.
    pub substeps: usize,
    /// The model that the run selected.
    pub model: ModelChoice,
    /// What that model makes of each law; empty before the run has ended, and in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub laws: Vec<LawVerdict>,
    /// Paths on which the laws are not known to the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsolved: Vec<Unsolved>,
}

impl Manifest {
    /// The manifest of a new run.
    pub fn new(file: &ExperimentFile) -> Self {
        let ExperimentFile { experiment, complete } = file;
        Self {
            config: digest::of_bytes(complete.as_bytes()),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: COMMIT.to_owned(),
            name: experiment.name.clone(),
            strategy: experiment.training.strategy.kind.name().to_owned(),
            seed: experiment.training.seed,
            recipe: experiment.training.recipe.map(ToOwned::to_owned),
            remarks: experiment.training.remarks.clone(),
            data: digest::of_data(experiment),
            kernels: lawful::ode::kernels().to_string(),
            machine: Machine {
                system: std::env::consts::OS.to_owned(),
                architecture: std::env::consts::ARCH.to_owned(),
                cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            },
            status: Status::Running,
            reason: String::new(),
            iterations: experiment.training.iterations(),
            done: 0,
            extended_from: Vec::new(),
            extended_by: 0,
            extended_to: None,
            extended_last: None,
            extended_checkpoint: None,
            seconds: 0.0,
            accepted: 0,
            rejected: 0,
            best_iteration: 0,
            failures: 0,
            substeps: experiment.training.phases[0].substeps,
            model: Self::usual_model(experiment),
            laws: Vec::new(),
            unsolved: Vec::new(),
        }
    }

    /// Returns what the selected model makes of each law.
    pub fn law_report(&self) -> LawReport {
        let (laws, unsolved) = (self.laws.clone(), self.unsolved.clone());
        LawReport { laws, unsolved, ..LawReport::default() }
    }

    /// Returns the iteration of a model of an ended run. One that is training may have newer models; those of
    /// earlier versions, which kept no fingerprint of the config, counted differently.
    pub(super) fn iteration_of(&self, choice: ModelChoice) -> Option<usize> {
        let is_known = self.status != Status::Running && !self.config.is_empty();
        is_known.then_some(match choice {
            ModelChoice::Last => self.done,
            ModelChoice::Best => self.best_iteration,
        })
    }

    /// Returns the model that a run without failure selects: the best if the best-point strategy is
    /// on, otherwise the last.
    pub fn usual_model(experiment: &Experiment) -> ModelChoice {
        if experiment.training.strategy.best_point.is_some() {
            ModelChoice::Best
        } else {
            ModelChoice::Last
        }
    }

    /// Records how the run ended; `best_known` is whether any point could be evaluated.
    pub(crate) fn end(&mut self, ending: RunEnd, best_known: bool) {
        (self.status, self.reason) = (ending.status, ending.reason);
        if self.status == Status::Finished {
            // A phase may have ended early.
            self.iterations = self.done;
        }
        match (self.status, best_known) {
            (_, false) => self.model = ModelChoice::Last,
            (Status::Failed, true) => self.model = ModelChoice::Best,
            _ => {}
        }
    }

    /// Checks that `config.toml` is the one that the run began with.
    pub fn check_config(&self, path: &Path) -> Result<(), Diagnostic> {
        if self.config.is_empty() || self.config == digest::of_bytes(&files::read(path)?) {
            return Ok(());
        }
        let message = format!("`{}` has changed since its run began", path.display());
        Err(Diagnostic::new(message)
            .with_hint("restore it; to change an experiment, `lawful train` a copy of the file"))
    }

    /// Checks that these are the data that the run began with.
    pub fn check_data(&self, experiment: &Experiment) -> Result<(), Diagnostic> {
        if self.data == digest::of_data(experiment) {
            return Ok(());
        }
        let message = "the files in `data/` of this run have changed since it began";
        Err(Diagnostic::new(message).with_hint("restore them, or train again"))
    }

    /// Checks that a run of this experiment can have these numbers: `evaluate` solves with them, and
    /// `resume` trains with them.
    pub fn check_numbers(&self, path: &Path, experiment: &Experiment) -> Result<(), Diagnostic> {
        let damaged = |what: String| {
            Err(Diagnostic::new(format!("`{}` is damaged: {what}", path.display()))
                .with_hint("restore it, or train again"))
        };
        let phases = &experiment.training.phases;
        let doubled = |n: u32| {
            phases.iter().any(|phase| phase.substeps.checked_mul(1 << n) == Some(self.substeps))
        };
        if !(0..=MOST_DOUBLINGS).any(doubled) {
            let planned = phases[0].substeps;
            return damaged(format!(
                "`substeps` is {}, but the experiment has {planned}, or a few times twice as many",
                self.substeps
            ));
        }
        // An extension adds what the plan lacks of the iterations that it asked for. Earlier versions,
        // which kept no fingerprint of the config, added more.
        let most = self.extended_to.unwrap_or(0);
        if self.extended_by > most && !self.config.is_empty() {
            return damaged(match most {
                0 => format!("`extended-by` is {}, but it was not extended", self.extended_by),
                _ => format!("`extended-by` is {}, but it has {most} in all", self.extended_by),
            });
        }
        for (name, number) in
            [("iterations", self.iterations), ("extended-last", self.extended_last.unwrap_or(0))]
        {
            if number > MOST_ITERATIONS {
                return damaged(format!("`{name}` is {number}"));
            }
        }
        if self.done > self.iterations || self.best_iteration > self.done {
            return damaged(format!(
                "`done` is {} and `best-iteration` {} of {} `iterations`",
                self.done, self.best_iteration, self.iterations
            ));
        }
        if !(self.seconds >= 0.0 && self.seconds < MOST_SECONDS) {
            return damaged(format!("`seconds` is {}", self.seconds));
        }
        Ok(())
    }

    /// Writes it, with a fingerprint of its text as its last entry.
    pub fn write(&self, path: &Path) -> Result<(), Diagnostic> {
        let text = serde_json::to_string_pretty(self).expect("plain data");
        files::write(path, sealed(&text).as_bytes())
    }

    /// Reads it.
    pub fn read(path: &Path) -> Result<Self, Diagnostic> {
        let damaged = |what: String| {
            Diagnostic::new(format!("`{}` is damaged: {what}", path.display()))
                .with_hint("train again: a run needs its manifest")
        };
        let bytes = files::read(path)?;
        let text = String::from_utf8(bytes).map_err(|error| damaged(error.to_string()))?;
        let read = serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
        let unsealed = Self::unsealed(&text);
        // Those of earlier versions have no fingerprint.
        if unsealed != text && sealed(&unsealed) != text {
            return Err(damaged("it has changed since it was written".to_owned()));
        }
        Ok(read)
    }

    /// Returns the text of a manifest without its fingerprint, which can be changed.
    pub fn unsealed(text: &str) -> String {
        match text.rfind(SEAL) {
            Some(end) => format!("{}\n}}", &text[..end]),
            None => text.to_owned(),
        }
    }
}
