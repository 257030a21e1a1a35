//! Hostile tests: mutated inputs, kills, damages and full disks. Short in `.ci/run`, long by hand; what
//! the long runs found is in docs/reliability.md.
//!
//! ```text
//! cargo run -p lawful-fuzz -- cases --seconds 3600      mutated inputs of every target
//! cargo run -p lawful-fuzz -- cases law --cases 1000000
//! cargo run -p lawful-fuzz -- once table FILE           one input, with its panic
//! cargo run -p lawful-fuzz -- kills --seconds 600       kill -9 at random moments
//! cargo run -p lawful-fuzz -- damages --seconds 600     damaged files of run folders
//! cargo run -p lawful-fuzz -- full-disk                 a disk that becomes full
//! ```
//!
//! A case depends on the seed, its number and the seeds of the target only.
#![expect(clippy::print_stdout, reason = "it is a program")]

mod archive;
mod cases;
mod clock;
mod crash;
mod disk;
mod memory;
mod mutate;
mod seeds;
mod targets;
mod worker;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use lawful_experiment::{Diagnostic, files};

use targets::Target;

#[derive(Debug, Parser)]
#[command(about = "Hostile tests of lawful")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Mutate inputs of every target
    Cases(cases::Cases),
    /// Run one input of a target
    Once { target: String, file: PathBuf },
    /// Kill the program at random moments, resume, and compare the bytes
    Kills(crash::Options),
    /// Damage files of run folders, and check that nothing wrong is accepted
    Damages(crash::Options),
    /// Train on a disk that becomes full
    FullDisk(crash::Options),
    /// Run cases in this process
    #[command(hide = true)]
    Worker(Worker),
}

#[derive(Debug, Args)]
struct Worker {
    target: String,
    #[arg(long)]
    seeds: PathBuf,
    #[arg(long)]
    found: PathBuf,
    #[arg(long)]
    progress: PathBuf,
    #[arg(long)]
    seed: u64,
    #[arg(long)]
    first: u64,
    #[arg(long)]
    cases: u64,
    #[arg(long)]
    seconds: u64,
}

/// Prints a line.
fn say(line: &str) {
    println!("{line}");
    let _ = std::io::stdout().flush();
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            say(&error.to_string());
            ExitCode::from(2)
        }
    }
}

fn named(target: &str) -> Result<&'static Target, Diagnostic> {
    Target::named(target).ok_or_else(|| Diagnostic::new(format!("there is no target `{target}`")))
}

/// Runs a command. Returns whether nothing was found.
fn run(command: Command) -> Result<bool, Diagnostic> {
    match command {
        Command::Cases(options) => cases::run(&options),
        Command::Once { target, file } => {
            let accepted = (named(&target)?.run)(&files::read(&file)?);
            say(if accepted { "accepted" } else { "refused" });
            Ok(true)
        }
        Command::Kills(options) => crash::kills::run(&options),
        Command::Damages(options) => crash::damages::run(&options),
        Command::FullDisk(options) => crash::full_disk::run(&options),
        Command::Worker(worker) => {
            let Worker { target, seeds, found, progress, seed, first, cases, seconds } = worker;
            let work = worker::Work { seeds, found, seed, first, cases, seconds, progress };
            let (done, accepted) = worker::run(named(&target)?, &work);
            say(&format!("done {done} {accepted}"));
            Ok(true)
        }
    }
}
