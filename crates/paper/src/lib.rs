//! Reproduces the experiments of the paper (arXiv 2307.14940) and compares with its published numbers.
//!
//! ```text
//! experiments/*.toml ─ system ┐
//!                     preset ├─ matrix ─► runner ─► measure ─► results ─┬─► results.csv
//! (variant, variation, seed) ┘                                          │
//!    published.csv ─ published ─ mark ─ tables ─┐                       │
//!                    statistics ─ claims ─ verdict ─ report ◄───────────┘
//!                                                     └─► document ─► tables.md, report.html
//! ```

pub mod claims;
pub mod document;
mod figures;
pub mod mark;
pub mod matrix;
pub mod measure;
pub mod preset;
pub mod published;
pub mod references;
mod report;
pub mod results;
pub mod statistics;
pub mod system;
pub mod tables;
pub mod timings;
pub mod variant;
pub mod variation;
pub mod verdict;

use std::path::{Path, PathBuf};

use lawful_experiment::files::{self, Lock};
use lawful_experiment::runner::{self, FinishedRun, StudyObserver, pool};
use lawful_experiment::{Diagnostic, ExperimentFile, Manifest, Status};
use lawful_plot::Figure;

pub use matrix::Options;
pub use preset::Preset;
pub use system::{System, Task};
pub use variant::{VARIANTS, Variant};

use figures::Trained;
use matrix::{Entry, entries};
use measure::{Outcome, Yardstick};
use report::Findings;
use results::Cell;
use timings::Total;
use variation::Purpose;
use verdict::Judgement;

/// The result of a reproduction.
#[derive(Debug, Clone)]
pub struct Reproduction {
    /// The report, an HTML page.
    pub report: PathBuf,
    /// Which claims of the paper hold.
    pub judgements: Vec<Judgement>,
    /// Processor time of all trainings.
    pub total: Total,
    /// Trainings in which too many evaluations failed in a row.
    pub failed: usize,
}

/// Runs the selected part of the paper and writes everything below `out`. The report says that
/// `command` was typed.
///
/// Returns `None` if the observer stopped it: the same call resumes.
pub fn reproduce(
    options: &Options,
    out: &Path,
    command: &str,
    observer: &dyn StudyObserver,
) -> Result<Option<Reproduction>, Diagnostic> {
    files::create_folder(out)?;
    // Until the report is written: the runner's own lock ends with the trainings.
    let _lock = Lock::take(out, &mut |text| observer.warn(text))?;
    files::remove_parts(out)?;
    files::remove_parts(&out.join("figures"))?;
    let entries = entries(options)?;
    let plan: Vec<ExperimentFile> = entries.iter().flat_map(|e| e.experiments.clone()).collect();
    let finished = runner::run(&plan, &out.join("runs"), options.jobs, observer)?;
    let Some(finished) = finished else { return Ok(None) };
    let seeds = plan.len().checked_div(entries.len()).unwrap_or(1).max(1);
    let rows = entries.iter().zip(finished.chunks(seeds));
    let trained: Vec<Trained> = rows.map(|(entry, runs)| Trained { entry, runs }).collect();
    let cells = cells(&trained, options.jobs)?;
    let judgements = verdict::judge(&cells);
    let total = timings::total(&trained);
    write(options, out, command, &trained, &cells, &judgements, total)?;
    let failed = finished.iter().filter(|run| run.manifest.status == Status::Failed).count();
    let report = out.join("report.html");
    Ok(Some(Reproduction { report, judgements, total, failed }))
}

/// Scores every run on every test.
fn cells(trained: &[Trained], threads: usize) -> Result<Vec<Cell>, Diagnostic> {
    let mut runs: Vec<(Yardstick, &FinishedRun)> = Vec::new();
    for Trained { entry, runs: finished } in trained {
        let yardstick = Yardstick::new(entry.dataset.system, &entry.laws)?;
        runs.extend(finished.iter().map(|run| (yardstick.clone(), run)));
    }
    let outcomes = pool::map(&runs, threads, |(yardstick, run)| yardstick.measure(run));
    let outcomes: Vec<[Outcome; 3]> = outcomes.into_iter().collect::<Result<_, _>>()?;
    let mut outcomes = outcomes.into_iter();
    let mut cells = Vec::new();
    for Trained { entry, runs } in trained {
        let Entry { dataset, variant, .. } = entry;
        let own: Vec<[Outcome; 3]> = outcomes.by_ref().take(runs.len()).collect();
        for (n, task) in Task::ALL.into_iter().enumerate() {
            let runs = own.iter().map(|tests| tests[n].clone()).collect();
            cells.push(Cell { dataset: dataset.clone(), variant: *variant, task, runs });
        }
    }
    Ok(cells)
}

/// Writes tables, figures and report.
fn write(
    options: &Options,
    out: &Path,
    command: &str,
    trained: &[Trained],
    cells: &[Cell],
    judgements: &[Judgement],
    total: Total,
) -> Result<(), Diagnostic> {
    let of = |purpose: Option<Purpose>| {
        results::csv(cells.iter().filter(|cell| cell.dataset.purpose() == purpose))
    };
    let mut references = Vec::new();
    for &system in &options.systems {
        references.extend(references::references(system)?);
    }
    let save = |name: &str, text: &str| files::write(&out.join(name), text.as_bytes());
    save("results.csv", &of(None))?;
    save("truths.csv", &(of(Some(Purpose::Truth)) + &references::rows(&references)))?;
    if options.rates {
        save("rates.csv", &of(Some(Purpose::Rate)))?;
    }
    save("timings.csv", &timings::csv(trained))?;

    files::create_folder(&out.join("figures"))?;
    let mut drawn: Vec<(String, Figure)> = Vec::new();
    let mut figures = Vec::new();
    for &system in &options.systems {
        let own = figures::of_system(system, trained, cells)?;
        figures.push((system, own.iter().map(|(name, _)| name.clone()).collect()));
        drawn.extend(own);
    }
    for (name, figure) in &drawn {
        let path = out.join("figures").join(name);
        files::write(&path.with_extension("svg"), figure.svg.as_bytes())?;
        files::write(&path.with_extension("png"), &figure.png)?;
    }

    let failures: Vec<String> = trained.iter().flat_map(failures).collect();
    let manifests = || trained.iter().flat_map(|row| row.runs).map(|run| &run.manifest);
    let findings = Findings {
        options,
        command,
        cells,
        references: &references,
        judgements,
        figures: &figures,
        total,
        manifest: manifests().next(),
        failures: &failures,
        commits: &commits(manifests()),
    };
    let blocks = report::blocks(&findings);
    save("tables.md", &document::markdown(&blocks))?;
    let svg_of = |name: &str| {
        drawn.iter().find(|(known, _)| known == name).map(|(_, figure)| figure.svg.clone())
    };
    save("report.html", &document::html(report::TITLE, &blocks, svg_of))
}

/// Trainings that failed, and why.
fn failures(row: &Trained) -> Vec<String> {
    let failed = row.runs.iter().filter(|run| run.manifest.status == Status::Failed);
    let (dataset, variant) = (row.entry.dataset.name(), row.entry.variant);
    let line = |run: &FinishedRun| {
        let Manifest { seed, reason, done, .. } = &run.manifest;
        format!("{dataset}, {variant}, seed {seed}, at iteration {done}: {reason}")
    };
    failed.map(line).collect()
}

/// Returns the commits that runs were made with, each once.
fn commits<'a>(manifests: impl Iterator<Item = &'a Manifest>) -> Vec<String> {
    let mut commits: Vec<String> = Vec::new();
    for manifest in manifests {
        if !manifest.commit.is_empty() && !commits.contains(&manifest.commit) {
            commits.push(manifest.commit.clone());
        }
    }
    commits
}
