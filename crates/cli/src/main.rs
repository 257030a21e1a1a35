//! The program `lawful`: learn dynamics from data that obey the laws you already know.
//!
//! Results go to stdout, messages to stderr. Exit codes: 0 success; 1 training or a test failed; 2 could
//! not run; 130 interrupted by the user.

mod arguments;
mod commands;
mod live_line;
mod output;
mod progress;
mod signals;
mod study_progress;
mod text_table;

use std::process::ExitCode;

use clap::Parser;
use lawful_experiment::Diagnostic;

use arguments::{Arguments, Command};

/// Training or a test failed.
const MISSED: u8 = 1;
/// Could not run.
const COULD_NOT_RUN: u8 = 2;
/// Interrupted by the user.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments.command) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            output::talk(error);
            ExitCode::from(COULD_NOT_RUN)
        }
    }
}

fn run(command: &Command) -> Result<u8, Diagnostic> {
    match command {
        Command::Demo(options) => commands::demo::run(options),
        Command::Init(options) => commands::init::run(options),
        Command::Check(options) => commands::check::run(options),
        Command::Train(options) => commands::train::run(options),
        Command::Resume(options) => commands::resume::run(options),
        Command::Predict(options) => commands::predict::run(options),
        Command::Evaluate(options) => commands::evaluate::run(options),
        Command::Compare(options) => commands::compare::run(options),
        Command::Paper(options) => commands::paper::run(options),
    }
}
