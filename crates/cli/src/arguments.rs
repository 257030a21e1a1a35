//! What was typed.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use lawful_experiment::ModelChoice;

/// Where a new user begins.
const START: &str = "To begin:
  lawful demo                               see it work, in under a minute
  lawful init oscillator                    write an experiment to start from
  lawful train oscillator/experiment.toml   train it";

/// Learn dynamics from data that obey the laws you already know.
#[derive(Debug, Parser)]
#[command(
    name = "lawful",
    version,
    arg_required_else_help = true,
    subcommand_required = true,
    after_help = START
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Train on an epidemic whose infected nobody counts, with and without laws, and show what happened
    Demo(Demo),
    /// Write a commented experiment file and a small CSV to start from
    Init(Init),
    /// Read everything, say what was understood, train nothing
    Check(Check),
    /// Train an experiment into a run folder, with live progress and pictures
    Train(Train),
    /// Finish an interrupted run, or extend a finished one
    Resume(Resume),
    /// Print what a model says at any times, as CSV
    Predict(Predict),
    /// Print errors and violations of a model on each set
    Evaluate(Evaluate),
    /// Train experiments side by side, from several seeds and with changes, into one table
    Compare(crate::commands::compare::Compare),
    /// Run every experiment of the paper (arXiv 2307.14940) beside its published numbers
    Paper(crate::commands::paper::Paper),
}

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Folder for the run folders
    #[arg(long, value_name = "FOLDER", default_value = "runs")]
    pub(crate) out: PathBuf,
    /// No progress, no talk
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// Folder to make; the name of an example starts from that example
    #[arg(value_name = "FOLDER", default_value = "oscillator")]
    pub(crate) folder: PathBuf,
    /// Example to start from
    #[arg(long)]
    pub(crate) example: Option<Example>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Example {
    /// Damped oscillator whose energy never rises
    Oscillator,
    /// Population that never exceeds what its world can feed
    Population,
    /// Chemical reaction that conserves mass
    Reaction,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Experiment file, or a folder with an `experiment.toml`
    #[arg(value_name = "EXPERIMENT")]
    pub(crate) experiment: PathBuf,
    /// Print the experiment as meant, every key written out, as TOML
    #[arg(long)]
    pub(crate) complete: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Train {
    /// Experiment file, or a folder with an `experiment.toml`
    #[arg(value_name = "EXPERIMENT")]
    pub(crate) experiment: PathBuf,
    /// Folder for the run folder
    #[arg(long, value_name = "FOLDER", default_value = "runs")]
    pub(crate) out: PathBuf,
    /// Seed of initial weights and batches, instead of the file's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=1 << 53))]
    pub(crate) seed: Option<u64>,
    /// Print the results as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress, no talk: only the run folder's name, or the JSON
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Resume {
    /// Run folder
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    /// Extend the run to this many iterations in all, at the schedule's last rate
    #[arg(long, value_name = "N")]
    pub(crate) iterations: Option<usize>,
    /// Print the results as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress, no talk: only the run folder's name, or the JSON
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Predict {
    /// Run folder
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    /// First time; default: where the trajectory starts
    #[arg(long, value_name = "T", allow_negative_numbers = true, conflicts_with = "at")]
    pub(crate) from: Option<f64>,
    /// Last time; default: where the trajectory ends
    #[arg(long, value_name = "T", allow_negative_numbers = true, conflicts_with = "at")]
    pub(crate) to: Option<f64>,
    /// Number of times, both ends included
    #[arg(long, value_name = "N", default_value_t = 500, conflicts_with = "at")]
    pub(crate) points: usize,
    /// CSV file with the times, in its time column or its only column
    #[arg(long, value_name = "FILE")]
    pub(crate) at: Option<PathBuf>,
    /// Initial state at the first time, such as `x=1,v=0`; default: the trajectory's
    #[arg(long, value_name = "STATE", allow_hyphen_values = true)]
    pub(crate) initial: Option<String>,
    /// Trajectory whose initial state and inputs are taken; default: the first
    #[arg(long, value_name = "NAME")]
    pub(crate) trajectory: Option<String>,
    /// Solver instead of the experiment's: steps on the output times, unless tolerances are given
    #[arg(long, value_name = "METHOD", value_parser = PossibleValuesParser::new(method_names()))]
    pub(crate) method: Option<String>,
    /// Steps between two output times
    #[arg(long, value_name = "N", conflicts_with_all = ["rtol", "atol"])]
    pub(crate) substeps: Option<usize>,
    /// Relative tolerance of adaptive steps
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) rtol: Option<f64>,
    /// Absolute tolerance of adaptive steps
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) atol: Option<f64>,
    /// Which model; default: the one that stands for the run
    #[arg(long)]
    pub(crate) model: Option<Model>,
}

/// The words of `--method`.
fn method_names() -> impl Iterator<Item = &'static str> {
    lawful::ode::TABLEAUS.iter().map(|method| method.name)
}

#[derive(Debug, Args)]
pub(crate) struct Evaluate {
    /// Run folder
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    /// Which model; default: the one that stands for the run
    #[arg(long)]
    pub(crate) model: Option<Model>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which of a run's two models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Model {
    /// After the last iteration
    Last,
    /// The best by the best-point rules
    Best,
}

impl From<Model> for ModelChoice {
    fn from(model: Model) -> Self {
        match model {
            Model::Last => Self::Last,
            Model::Best => Self::Best,
        }
    }
}
