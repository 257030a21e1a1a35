//! `lawful paper`: runs the experiments of the paper and compares with its published numbers.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use lawful::Precision;
use lawful_experiment::{Diagnostic, counted, files};
use lawful_paper::timings::duration;
use lawful_paper::{Options, Preset, Reproduction, System, VARIANTS, Variant, reproduce, verdict};

use crate::output::{data, talk, typed};
use crate::study_progress::StudyProgress;
use crate::{INTERRUPTED, MISSED};

#[derive(Debug, Args)]
pub(crate) struct Paper {
    /// Settings to use: those of the paper's equations, or of the authors' public scripts
    #[arg(long = "as", value_name = "PRESET", default_value = "paper")]
    preset: Settings,
    /// System to run, instead of all three; can be given several times
    #[arg(long, value_name = "SYSTEM", value_parser = PossibleValuesParser::new(systems()))]
    system: Vec<String>,
    /// Method to run, instead of all nine; can be given several times
    #[arg(long = "method", value_name = "METHOD", value_parser = PossibleValuesParser::new(variants()))]
    variant: Vec<String>,
    /// Train each method with the seeds 1 to N
    #[arg(long, value_name = "N", default_value_t = 3,
          value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    /// Optimiser steps of each training
    #[arg(long, value_name = "N", default_value_t = 10_000,
          value_parser = clap::value_parser!(u32).range(1..))]
    iterations: u32,
    /// Precision of the arithmetic inside the network
    #[arg(long, value_name = "PRECISION", default_value = "single")]
    precision: Digits,
    /// Also train on the exact solution of the reaction, and the oscillator with a law that holds
    #[arg(long)]
    truths: bool,
    /// Also train the oscillator at the learning rate of the authors' script
    #[arg(long)]
    rates: bool,
    /// Number of trainings that run at the same time; default: one per core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Folder for all results; an interrupted reproduction resumes there
    #[arg(long, value_name = "FOLDER", default_value = "paper")]
    out: PathBuf,
    /// Print only the name of the report
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Settings {
    /// The equations
    Paper,
    /// The equations, with the changes that the scripts make to them
    Script,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Digits {
    /// 32-bit floats, as in the authors' scripts
    Single,
    /// 64-bit floats
    Double,
}

fn systems() -> impl Iterator<Item = &'static str> {
    System::ALL.into_iter().map(System::name)
}

fn variants() -> impl Iterator<Item = &'static str> {
    VARIANTS.iter().map(|(word, _)| *word)
}

pub(crate) fn run(options: &Paper) -> Result<u8, Diagnostic> {
    let wanted = wanted(options)?;
    let progress = StudyProgress::new(options.quiet);
    let reproduced = reproduce(&wanted, &options.out, &command(options), &progress);
    progress.clear();
    let Some(reproduction) = reproduced? else {
        if !options.quiet {
            talk("interrupted: the same command resumes");
        }
        return Ok(INTERRUPTED);
    };
    report(&reproduction, options.quiet)
}

fn wanted(options: &Paper) -> Result<Options, Diagnostic> {
    files::create_folder(&options.out)
        .map_err(|error| error.with_hint("choose another folder: `--out FOLDER`"))?;
    let everything = Options::default();
    let named = |word: &str| options.system.iter().any(|name| name == word);
    let chosen: Vec<Variant> =
        options.variant.iter().map(|word| Variant::from_word(word)).collect::<Result<_, _>>()?;
    let all_systems = options.system.is_empty();
    let systems = System::ALL.into_iter().filter(|s| all_systems || named(s.name())).collect();
    let variants = Variant::all().filter(|m| chosen.is_empty() || chosen.contains(m)).collect();
    Ok(Options {
        preset: match options.preset {
            Settings::Paper => Preset::Paper,
            Settings::Script => Preset::Script,
        },
        systems,
        variants,
        seeds: options.seeds,
        iterations: options.iterations as usize,
        precision: match options.precision {
            Digits::Single => Precision::Single,
            Digits::Double => Precision::Double,
        },
        truths: options.truths,
        rates: options.rates,
        jobs: options.jobs.map_or(everything.jobs, usize::from),
    })
}

/// Returns a command that gives the same results; the output folder and the number of cores are left
/// out.
fn command(options: &Paper) -> String {
    let mut words = vec!["lawful paper".to_owned()];
    if options.preset == Settings::Script {
        words.push("--as script".to_owned());
    }
    words.extend(options.system.iter().map(|system| format!("--system {system}")));
    words.extend(options.variant.iter().map(|variant| format!("--method {variant}")));
    words.push(format!("--seeds {}", options.seeds));
    if options.iterations != 10_000 {
        words.push(format!("--iterations {}", options.iterations));
    }
    if options.precision == Digits::Double {
        words.push("--precision double".to_owned());
    }
    for (given, word) in [(options.truths, "--truths"), (options.rates, "--rates")] {
        if given {
            words.push(word.to_owned());
        }
    }
    words.join(" ")
}

fn report(reproduction: &Reproduction, quiet: bool) -> Result<u8, Diagnostic> {
    let Reproduction { report, judgements, total, failed } = reproduction;
    if !quiet {
        for line in verdict::summary(judgements) {
            talk(line);
        }
        talk(format!(
            "\n{} took {} of processor time; torchdiffeq would take {}",
            counted(total.trainings, "training"),
            duration(total.seconds),
            duration(total.torchdiffeq)
        ));
        talk(format!("report: {}", typed(report)));
    }
    if *failed > 0 {
        talk(format!(
            "error: {} failed; they are listed in the report",
            counted(*failed, "training")
        ));
    }
    data(&format!("{}\n", report.display()))?;
    Ok(if *failed > 0 { MISSED } else { 0 })
}
