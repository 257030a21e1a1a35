//! `lawful compare`: trains several experiments, seeds and changes, and compares them.

use std::path::PathBuf;

use clap::Args;
use lawful_experiment::compare::{BrokenLaw, Options, compare, json};
use lawful_experiment::{Diagnostic, counted, short};

use crate::output::{data, talk, typed};
use crate::study_progress::StudyProgress;
use crate::{INTERRUPTED, MISSED};

#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// Experiment files, or folders with an `experiment.toml`
    #[arg(value_name = "EXPERIMENT", required = true)]
    experiments: Vec<PathBuf>,
    /// File with axes of changes; every combination of their levels is trained
    #[arg(long, value_name = "FILE")]
    vary: Option<PathBuf>,
    /// Train with the seeds 1 to N
    #[arg(long, value_name = "N", default_value_t = 3,
          value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    /// Train only the levels marked as `quick`
    #[arg(long, requires = "vary")]
    quick: bool,
    /// Number of trainings that run at the same time; default: one per core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Folder for all results; an interrupted comparison resumes there
    #[arg(long, value_name = "FOLDER", default_value = "compare")]
    out: PathBuf,
    /// Run strategies side by side, in the place of the files' own: `all`, or words of `kind` in `[strategy]`
    /// with commas between. Ranks them by error and violation, with rank tests and a figure of both
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    strategies: Vec<String>,
    /// Print everything that was compared as JSON, in the place of the table
    #[arg(long)]
    json: bool,
    /// Print only the table, or the JSON
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn run(options: &Compare) -> Result<u8, Diagnostic> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let inside = |path: &PathBuf| {
        if path.is_dir() { path.join("experiment.toml") } else { path.clone() }
    };
    let wanted = Options {
        files: options.experiments.iter().map(inside).collect(),
        axes: options.vary.clone(),
        seeds: options.seeds,
        quick: options.quick,
        jobs: options.jobs.map_or(cores, usize::from),
        strategies: options.strategies.clone(),
    };
    let progress = StudyProgress::new(options.quiet);
    let compared = compare(&wanted, &options.out, &progress);
    progress.clear();
    let Some(compared) = compared? else {
        if !options.quiet {
            talk("interrupted: the same command resumes");
        }
        return Ok(INTERRUPTED);
    };
    if options.json {
        data(&format!("{:#}\n", json(&compared)))?;
    } else {
        data(&compared.text)?;
    }
    let (failed, broken) = (compared.failed, &compared.broken);
    if !options.quiet {
        let runs = options.out.join("runs.csv");
        let svg = |path: &&PathBuf| path.extension().is_some_and(|ending| ending == "svg");
        let mut written = vec![typed(&compared.table)];
        written.extend(compared.figures.iter().filter(svg).map(|path| typed(path)));
        talk(format!("\nwrote {} and {}", written.join(", "), typed(&runs)));
    }
    if !broken.is_empty() {
        talk("warning: models break laws; `lawful evaluate` says where, and what to try next");
        for BrokenLaw { experiment, law, models, of, percent } in broken {
            let most = short(*percent);
            talk(format!(
                "  {experiment}: `{law}` by {models} of {of} models, by up to {most} % of its size"
            ));
        }
    }
    if failed > 0 {
        talk(format!(
            "error: {} failed; the reasons are in the manifests",
            counted(failed, "training")
        ));
    }
    Ok(if failed > 0 { MISSED } else { 0 })
}
