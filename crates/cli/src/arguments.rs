//! The command line.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use lawful_experiment::ModelChoice;

/// Shown below `lawful --help`.
const START: &str = "Getting started:
  lawful demo                               train an example, in under a minute
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
    /// Train on an epidemic whose infected are not counted, with and without laws
    Demo(Demo),
    /// Write a commented experiment file and a small CSV to start from
    Init(Init),
    /// Read an experiment and its data and print a summary, without training
    Check(Check),
    /// Train an experiment and write its run folder, with figures
    Train(Train),
    /// Finish an interrupted run, or extend a finished one
    Resume(Resume),
    /// Print a model's predictions at any times, as CSV
    Predict(Predict),
    /// Print a model's errors and violations on each set
    Evaluate(Evaluate),
    /// Train several experiments, seeds and changes, and compare them in one table
    Compare(crate::commands::compare::Compare),
    /// Run the experiments of the paper (arXiv 2307.14940) and compare with its published numbers
    Paper(crate::commands::paper::Paper),
}

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Folder in which run folders are made
    #[arg(long, value_name = "FOLDER", default_value = "runs")]
    pub(crate) out: PathBuf,
    /// Print only the scores
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// Folder to create; the name of an example selects that example
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
    /// Population that never exceeds its carrying capacity
    Population,
    /// Chemical reaction that conserves mass
    Reaction,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Experiment file, or a folder with an `experiment.toml`
    #[arg(value_name = "EXPERIMENT")]
    pub(crate) experiment: PathBuf,
    /// Print the experiment as TOML with every key written out
    #[arg(long, conflicts_with = "json")]
    pub(crate) complete: bool,
    /// Print what was found as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Fail (exit code 1) for a law that contradicts the data, or has no value on some steps of them
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Train {
    /// Experiment file, or a folder with an `experiment.toml`
    #[arg(value_name = "EXPERIMENT")]
    pub(crate) experiment: PathBuf,
    /// Folder in which the run folder is made
    #[arg(long, value_name = "FOLDER", default_value = "runs")]
    pub(crate) out: PathBuf,
    /// Seed of initial weights and batches; default: the seed in the file
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=1 << 53))]
    pub(crate) seed: Option<u64>,
    /// Print the results as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Fail (exit code 1) if a law contradicts the data, or the model breaks it anywhere up to the horizon
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print only the name of the run folder, or the JSON
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Resume {
    /// Run folder
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    /// Extend the run to this many iterations in total, at the last learning rate of its schedule
    #[arg(long, value_name = "N")]
    pub(crate) iterations: Option<usize>,
    /// Print the results as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Fail (exit code 1) if a law contradicts the data, or the model breaks it anywhere up to the horizon
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print only the name of the run folder, or the JSON
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Predict {
    /// Run folder
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    /// First time; default: the first time of the trajectory
    #[arg(long, value_name = "T", allow_negative_numbers = true, conflicts_with = "at")]
    pub(crate) from: Option<Time>,
    /// Last time; default: the last time of the trajectory
    #[arg(long, value_name = "T", allow_negative_numbers = true, conflicts_with = "at")]
    pub(crate) to: Option<Time>,
    /// Number of times, including both ends
    #[arg(long, value_name = "N", default_value_t = 500, conflicts_with = "at")]
    pub(crate) points: usize,
    /// CSV file with the times, in its time column or as its only column
    #[arg(long, value_name = "FILE")]
    pub(crate) at: Option<PathBuf>,
    /// Initial state at the first time, such as `x=1,v=0`; default: the state of the trajectory. Without
    /// `--trajectory`, it is that of a new one, whose effects are predicted from it
    #[arg(long, value_name = "STATE", allow_hyphen_values = true)]
    pub(crate) initial: Option<String>,
    /// Print an interval of this probability around each state, such as 0.9: `x.low` and `x.high` beside `x`
    #[arg(long, value_name = "LEVEL", allow_negative_numbers = true)]
    pub(crate) interval: Option<f64>,
    /// Intervals of the curve itself, without the noise of measurements
    #[arg(long, requires = "interval")]
    pub(crate) without_noise: bool,
    /// Move the initial state to the laws of the model, and make the model obey them where their form allows
    #[arg(long)]
    pub(crate) project: bool,
    /// Trajectory whose initial state, inputs and effects are used; default: the first
    #[arg(long, value_name = "NAME")]
    pub(crate) trajectory: Option<String>,
    /// Method of the solver; default: the experiment's. Steps end at the output times, unless tolerances are given
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
    /// Model to use; default: the one that the run selected
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
    /// Model to use; default: the one that the run selected
    #[arg(long)]
    pub(crate) model: Option<Model>,
    /// Measure laws up to this time; default: the last time of all sets, or `horizon` of the experiment
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    pub(crate) horizon: Option<Time>,
    /// Print the scores as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Fail (exit code 1) if a law contradicts the data, or the model breaks it anywhere up to the horizon
    #[arg(long)]
    pub(crate) strict: bool,
}

/// One of the two models of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Model {
    /// The model after the last iteration
    Last,
    /// The best point
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

/// A time: a number, with the digits in which it was typed.
#[derive(Debug, Clone)]
pub(crate) struct Time {
    pub(crate) number: f64,
    pub(crate) digits: String,
}

impl std::str::FromStr for Time {
    type Err = std::num::ParseFloatError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self { number: text.parse()?, digits: text.to_owned() })
    }
}
