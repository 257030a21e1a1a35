//! Compares experiments: each with every combination of some changes, from several seeds.
//!
//! ```text
//! files × axes × strategies × seeds ─ plan ─► runner ─► score ─► lines ─┬─► table
//!                                                                       └─► ranking ─► report, front
//! ```

mod axes;
mod front;
pub mod ranking;
mod report;
mod strategies;
mod table;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use toml::{Table, Value};

use crate::audit::{FalseLaw, false_laws};
use crate::config::{self, ExperimentFile};
use crate::csv_writer::CsvWriter;
use crate::diagnostic::Diagnostic;
use crate::files::{self, Lock};
use crate::run::{LoadedRun, Status};
use crate::runner::{self, FinishedRun, StudyObserver, changes};
use crate::scores::{SetScore, score_sets};
use lawful::{LawReport, LawStatus, LawVerdict, exact};

use axes::{Axis, Level, combinations, read_axes};
use ranking::{Ranking, rank};

pub use report::json;
pub use strategies::LeftOut;
pub use table::markdown;

/// What is compared.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Experiment files.
    pub files: Vec<PathBuf>,
    /// A file of axes.
    pub axes: Option<PathBuf>,
    /// Seeds 1 to this.
    pub seeds: u64,
    /// Take only the `quick` levels.
    pub quick: bool,
    /// Number of trainings that run at the same time.
    pub jobs: usize,
    /// Strategies that are run side by side, by their words, or `all`; none without that axis.
    pub strategies: Vec<String>,
}

/// One training of a comparison.
#[derive(Debug, Clone)]
struct Entry {
    file: ExperimentFile,
    name: String,
    levels: Vec<String>,
    seed: u64,
    /// Laws that the data contradict.
    false_laws: Arc<[FalseLaw]>,
}

/// The score of one training on one set.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The experiment's name.
    pub experiment: String,
    /// The level of each axis.
    pub levels: Vec<String>,
    /// The seed.
    pub seed: u64,
    /// The set.
    pub set: String,
    /// Mean squared error; `None` if the model could not be solved.
    pub mse: Option<f64>,
    /// Mean violation of all laws together.
    pub violation: Option<f64>,
    /// Evaluations of the objective and its gradient.
    pub evaluations: usize,
    /// Largest violation of any law that the data do not contradict, as a share of the law's size, on all sets
    /// and up to the horizon; `None` if it is not known.
    pub largest: Option<f64>,
    /// Seconds spent in training.
    pub seconds: f64,
    /// The name of the run's folder, in `runs`.
    pub run: String,
}

/// The result of a comparison.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// One line per training and set.
    pub lines: Vec<Line>,
    /// Names of the axes.
    pub axes: Vec<String>,
    /// The table, as in its file.
    pub text: String,
    /// The file with the table.
    pub table: PathBuf,
    /// One ranking for each experiment and combination of levels, if strategies are compared.
    pub rankings: Vec<Ranking>,
    /// Strategies that cannot be trained with an experiment.
    pub left_out: Vec<LeftOut>,
    /// For each experiment, laws that the data contradict, if strategies are compared.
    pub false_laws: Vec<(String, Arc<[FalseLaw]>)>,
    /// The figures of the fronts.
    pub figures: Vec<PathBuf>,
    /// Number of trainings that failed.
    pub failed: usize,
    /// The laws that some models break, in the order of the experiments.
    pub broken: Vec<BrokenLaw>,
}

/// A law that some models of an experiment break.
#[derive(Debug, Clone, PartialEq)]
pub struct BrokenLaw {
    /// The experiment's name.
    pub experiment: String,
    /// The law's name.
    pub law: String,
    /// The models that break it.
    pub models: usize,
    /// All models of the experiment.
    pub of: usize,
    /// The largest violation, per cent of the law's size.
    pub percent: f64,
}

/// Trains everything into `out`, and writes `runs.csv` and `table.md` there, and of strategies side by
/// side `front.svg` and `front.png`.
///
/// Returns `None` if the observer stopped it: the same call resumes.
pub fn compare(
    options: &Options,
    out: &Path,
    observer: &dyn StudyObserver,
) -> Result<Option<Comparison>, Diagnostic> {
    let (mut axes, seed_keys) = match &options.axes {
        Some(path) => read_axes(path, options.quick)?,
        None => (Vec::new(), Vec::new()),
    };
    let ranks = !options.strategies.is_empty();
    if ranks {
        strategies::add_axis(&mut axes, options)?;
    }
    let (entries, left_out) = plan(options, &axes, &seed_keys)?;
    files::create_folder(out)?;
    // Until the tables are written: the runner's own lock ends with the trainings.
    let _lock = Lock::take(out, &mut |text| observer.warn(text))?;
    files::remove_parts(out)?;
    let plan: Vec<ExperimentFile> = entries.iter().map(|entry| entry.file.clone()).collect();
    let finished = runner::run(&plan, &out.join("runs"), options.jobs, observer)?;
    let Some(finished) = finished else { return Ok(None) };
    let (mut lines, mut broken) = (Vec::new(), Vec::new());
    for (entry, finished) in entries.iter().zip(&finished) {
        let (of_sets, report) = score(entry, finished)?;
        lines.extend(of_sets);
        count_broken(&mut broken, &entry.name, &report);
    }
    for law in &mut broken {
        law.of = entries.iter().filter(|entry| entry.name == law.experiment).count();
    }
    let axes: Vec<String> = axes.into_iter().map(|axis| axis.name).collect();
    files::write(&out.join("runs.csv"), csv(&lines, &axes).as_bytes())?;
    let rankings = if ranks { rank(&lines, &axes) } else { Vec::new() };
    let figures = front::write(&rankings, out)?;
    let mut false_laws: Vec<(String, Arc<[FalseLaw]>)> =
        entries.iter().map(|entry| (entry.name.clone(), Arc::clone(&entry.false_laws))).collect();
    false_laws.dedup_by(|a, b| a.0 == b.0);
    let text = if ranks {
        report::markdown(&rankings, &left_out, &false_laws)
    } else {
        markdown(&lines, &axes)
    };
    let table = out.join("table.md");
    files::write(&table, text.as_bytes())?;
    let failed = finished.iter().filter(|run| run.manifest.status == Status::Failed).count();
    Ok(Some(Comparison {
        lines,
        axes,
        text,
        table,
        rankings,
        left_out,
        false_laws,
        figures,
        failed,
        broken,
    }))
}

/// Reads the experiment of every training, and which strategies some experiments cannot be trained with.
fn plan(
    options: &Options,
    axes: &[Axis],
    seed_keys: &[String],
) -> Result<(Vec<Entry>, Vec<LeftOut>), Diagnostic> {
    let (mut entries, mut left_out) = (Vec::new(), Vec::new());
    let mut names: Vec<String> = Vec::new();
    for path in &options.files {
        // Errors of the file itself are found first: they have their place in it.
        let file = config::read(path)?.experiment;
        let name = file.name.clone();
        let mut own: Arc<[FalseLaw]> = Arc::default();
        if !options.strategies.is_empty() {
            strategies::check_file(path, &file, &names)?;
            names.push(name.clone());
            own = false_laws(&file).into();
        }
        let shown = path.display().to_string();
        let table = changes::parse(&shown, &files::read_text(path)?)?;
        let (planned, mut first) = (entries.len(), None);
        for levels in combinations(axes, &name) {
            match of_levels((&shown, &name, &own), &table, &levels, (options.seeds, seed_keys)) {
                Ok(more) => entries.extend(more),
                Err(error) => {
                    let Some(strategy) = levels.iter().find_map(|level| level.strategy) else {
                        return Err(error);
                    };
                    let others = levels.iter().filter(|level| level.strategy.is_none());
                    left_out.push(LeftOut {
                        experiment: name.clone(),
                        levels: others.map(|level| level.name.clone()).collect(),
                        strategy: strategy.to_owned(),
                        reason: error.message.clone(),
                    });
                    first.get_or_insert_with(|| strategies::nothing_left(&shown, strategy, error));
                }
            }
        }
        if let Some(error) = first.filter(|_| entries.len() == planned) {
            return Err(error);
        }
    }
    Ok((entries, left_out))
}

/// Returns the trainings of an experiment with one level of each axis.
fn of_levels(
    (path, name, false_laws): (&str, &str, &Arc<[FalseLaw]>),
    table: &Table,
    levels: &[&Level],
    (seeds, seed_keys): (u64, &[String]),
) -> Result<Vec<Entry>, Diagnostic> {
    let mut changed = table.clone();
    for level in levels {
        changes::set(&mut changed, &level.set);
        if let Some(Value::Table(own)) = level.of_experiments.get(name) {
            changes::set(&mut changed, own);
        }
        if let Some(word) = level.strategy {
            strategies::replace(&mut changed, word);
        }
    }
    let of_seed = |seed: u64| {
        let mut seeded = changed.clone();
        let number = i64::try_from(seed).unwrap_or(i64::MAX);
        for key in seed_keys.iter().filter(|key| has_home(&changed, key)) {
            changes::set(&mut seeded, &changes::single(key, number));
        }
        changes::set(&mut seeded, &changes::single("training.seed", number));
        let levels = levels.iter().map(|level| level.name.clone()).collect();
        let file = changes::experiment(path, &seeded)?;
        let false_laws = Arc::clone(false_laws);
        Ok(Entry { file, name: name.to_owned(), levels, seed, false_laws })
    };
    (1..=seeds).map(of_seed).collect()
}

/// Returns whether the table that would hold this key exists.
fn has_home(table: &Table, key: &str) -> bool {
    let Some((home, _)) = key.rsplit_once('.') else { return true };
    let mut table = table;
    for name in home.split('.') {
        match table.get(name) {
            Some(Value::Table(inner)) => table = inner,
            _ => return false,
        }
    }
    true
}

/// Counts the laws that a model breaks.
fn count_broken(broken: &mut Vec<BrokenLaw>, experiment: &str, report: &LawReport) {
    for law in report.faults() {
        let known = broken.iter_mut().find(|b| b.experiment == experiment && b.law == law.name);
        if let Some(known) = known {
            known.models += 1;
            known.percent = known.percent.max(law.percent);
            continue;
        }
        let (experiment, percent) = (experiment.to_owned(), law.percent);
        let law = law.name.clone();
        broken.push(BrokenLaw { experiment, law, models: 1, of: 0, percent });
    }
}

/// Scores the model of a finished training on every set, and its laws.
fn score(entry: &Entry, finished: &FinishedRun) -> Result<(Vec<Line>, LawReport), Diagnostic> {
    let run = LoadedRun::open(finished.folder.path(), None)?;
    let scores = score_sets(&run.experiment, &run.model, run.manifest.substeps);
    let largest = largest_violation(&scores.report, &entry.false_laws);
    let run = finished.folder.path().file_name();
    let run = run.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let line = |set: &SetScore| {
        let score = set.score.as_ref().ok();
        Line {
            experiment: entry.name.clone(),
            levels: entry.levels.clone(),
            seed: entry.seed,
            set: set.name.clone(),
            mse: score.map(|score| score.mse),
            violation: score.map(|score| score.violation),
            evaluations: finished.manifest.done + 1,
            largest,
            seconds: finished.manifest.seconds,
            run: run.clone(),
        }
    };
    Ok((scores.sets.iter().map(line).collect(), scores.report))
}

/// Returns the largest violation of any law that the data do not contradict, as a share of its size; `None` if a law has no value
/// somewhere, or a path ends too early.
fn largest_violation(report: &LawReport, false_laws: &[FalseLaw]) -> Option<f64> {
    let may_be_true =
        |law: &&LawVerdict| !false_laws.iter().any(|contradicted| contradicted.law == law.name);
    let known = |law: &LawVerdict| law.status != LawStatus::Undefined;
    let mut laws = report.laws.iter().filter(may_be_true);
    (report.unsolved.is_empty() && laws.clone().all(known))
        .then(|| laws.by_ref().map(|law| law.percent / 100.0).fold(0.0, f64::max))
}

/// One row per training and set.
fn csv(lines: &[Line], axes: &[String]) -> String {
    let mut csv = CsvWriter::new();
    let axes = axes.iter().map(String::as_str);
    let scores = ["seed", "set", "mse", "violation", "largest_violation", "evaluations", "run"];
    csv.row(["experiment"].into_iter().chain(axes).chain(scores));
    let number = |value: Option<f64>| value.map_or(String::new(), exact);
    for line in lines {
        csv.cell(&line.experiment);
        for level in &line.levels {
            csv.cell(level);
        }
        csv.cell(line.seed.to_string());
        csv.cell(&line.set);
        csv.cell(number(line.mse));
        csv.cell(number(line.violation));
        csv.cell(number(line.largest));
        csv.cell(line.evaluations.to_string());
        csv.cell(&line.run);
        csv.end_row();
    }
    csv.into_text()
}
