//! Compares experiments: each with every combination of some changes, from several seeds.
//!
//! The changes are a file of axes, each with its levels:
//!
//! ```toml
//! # Keys that get the training's seed, so that every seed has data of its own.
//! seed-keys = ["data.simulate.noise.seed"]
//!
//! [[axis]]
//! name = "noise"
//! level = [
//!     { name = "none" },
//!     { name = "5 %", quick = true, set.data.simulate.noise.relative = 0.05 },
//! ]
//! ```
//!
//! `set` changes keys of every experiment, `for.NAME` those of the experiment of that name; a level
//! with `for` leaves out experiments that it does not name. `--quick` takes the `quick` levels only; an
//! axis without any keeps all of its levels.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::config::{self, ExperimentFile};
use crate::csv_writer::CsvWriter;
use crate::diagnostic::Diagnostic;
use crate::files::{self, Lock};
use crate::run::{LoadedRun, Status};
use crate::runner::{self, FinishedRun, StudyObserver, changes};
use crate::scores::{SetScore, score_sets};
use lawful::{LawReport, exact, short};

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
}

/// One level of an axis.
#[derive(Debug, Clone)]
struct Level {
    name: String,
    set: Table,
    of_experiments: Table,
    quick: bool,
}

/// A set of alternative changes.
#[derive(Debug, Clone)]
struct Axis {
    name: String,
    levels: Vec<Level>,
}

/// One training of a comparison.
#[derive(Debug, Clone)]
struct Entry {
    file: ExperimentFile,
    name: String,
    levels: Vec<String>,
    seed: u64,
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
}

/// The result of a comparison.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// One line per training and set.
    pub lines: Vec<Line>,
    /// Names of the axes.
    pub axes: Vec<String>,
    /// The file with the table.
    pub table: PathBuf,
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

/// Trains everything into `out`, and writes `runs.csv` and `table.md` there.
///
/// Returns `None` if the observer stopped it: the same call resumes.
pub fn compare(
    options: &Options,
    out: &Path,
    observer: &dyn StudyObserver,
) -> Result<Option<Comparison>, Diagnostic> {
    let (axes, seed_keys) = match &options.axes {
        Some(path) => read_axes(path, options.quick)?,
        None => (Vec::new(), Vec::new()),
    };
    let mut entries = Vec::new();
    for path in &options.files {
        // Errors of the file itself are found first: they have their place in it.
        let name = config::read(path)?.experiment.name;
        let table = changes::parse(&path.display().to_string(), &files::read_text(path)?)?;
        for levels in combinations(&axes, &name) {
            let mut changed = table.clone();
            for level in &levels {
                changes::set(&mut changed, &level.set);
                if let Some(Value::Table(own)) = level.of_experiments.get(&name) {
                    changes::set(&mut changed, own);
                }
            }
            for seed in 1..=options.seeds {
                let mut seeded = changed.clone();
                let number = i64::try_from(seed).unwrap_or(i64::MAX);
                for key in seed_keys.iter().filter(|key| has_home(&changed, key)) {
                    changes::set(&mut seeded, &changes::single(key, number));
                }
                changes::set(&mut seeded, &changes::single("training.seed", number));
                let label = levels.iter().map(|level| level.name.clone()).collect();
                let file = changes::experiment(&path.display().to_string(), &seeded)?;
                entries.push(Entry { file, name: name.clone(), levels: label, seed });
            }
        }
    }
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
    let table = out.join("table.md");
    files::write(&table, markdown(&lines, &axes).as_bytes())?;
    let failed = finished.iter().filter(|run| run.manifest.status == Status::Failed).count();
    Ok(Some(Comparison { lines, axes, table, failed, broken }))
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

fn read_axes(path: &Path, quick: bool) -> Result<(Vec<Axis>, Vec<String>), Diagnostic> {
    let shown = path.display().to_string();
    let table = changes::parse(&shown, &files::read_text(path)?)?;
    let wrong = |what: &str| {
        Diagnostic::new(format!("`{shown}`: {what}")).with_hint(
            "an axis is `[[axis]]` with `name` and `level = [{ name = \"…\", set.KEY = … }]`",
        )
    };
    let text = |table: &Table, key: &str| table.get(key)?.as_str().map(ToOwned::to_owned);
    let inner = |table: &Table, key: &str| match table.get(key) {
        None => Some(Table::new()),
        Some(value) => value.as_table().cloned(),
    };
    let known = ["axis", "seed-keys"];
    if let Some(key) = table.keys().find(|key| !known.contains(&key.as_str())) {
        return Err(wrong(&format!("unknown key `{key}`")));
    }
    let list = |table: &Table, key: &str| -> Option<Vec<Value>> {
        table.get(key).map_or(Some(Vec::new()), |value| value.as_array().cloned())
    };
    let keys =
        list(&table, "seed-keys").ok_or_else(|| wrong("`seed-keys` must be a list of texts"))?;
    let keys: Option<_> = keys.iter().map(|key| key.as_str().map(ToOwned::to_owned)).collect();
    let keys = keys.ok_or_else(|| wrong("`seed-keys` must be a list of texts"))?;
    let mut axes = Vec::new();
    for axis in list(&table, "axis").ok_or_else(|| wrong("axes are written as `[[axis]]`"))? {
        let axis =
            axis.as_table().cloned().ok_or_else(|| wrong("axes are written as `[[axis]]`"))?;
        let name = text(&axis, "name").ok_or_else(|| wrong("an axis has no name"))?;
        if let Some(key) = axis.keys().find(|key| !["name", "level"].contains(&key.as_str())) {
            return Err(wrong(&format!("unknown key `{key}` of the axis `{name}`")));
        }
        let mut levels = Vec::new();
        for level in
            list(&axis, "level").ok_or_else(|| wrong("`level` must be a list of tables"))?
        {
            let level =
                level.as_table().ok_or_else(|| wrong("`level` must be a list of tables"))?;
            let known = ["name", "set", "for", "quick"];
            if let Some(key) = level.keys().find(|key| !known.contains(&key.as_str())) {
                return Err(wrong(&format!("unknown key `{key}` of a level of `{name}`")));
            }
            let quick = level.get("quick").map_or(Some(false), Value::as_bool);
            levels.push(Level {
                name: text(level, "name").ok_or_else(|| wrong("a level has no name"))?,
                set: inner(level, "set").ok_or_else(|| wrong("`set` must be a table"))?,
                of_experiments: inner(level, "for")
                    .ok_or_else(|| wrong("`for` must be a table"))?,
                quick: quick.ok_or_else(|| wrong("`quick` must be `true` or `false`"))?,
            });
        }
        if quick && levels.iter().any(|level| level.quick) {
            levels.retain(|level| level.quick);
        }
        if levels.is_empty() {
            return Err(wrong(&format!("the axis `{name}` has no levels")));
        }
        axes.push(Axis { name, levels });
    }
    Ok((axes, keys))
}

/// Returns every combination of levels, one of each axis, that applies to an experiment.
fn combinations<'a>(axes: &'a [Axis], experiment: &str) -> Vec<Vec<&'a Level>> {
    let mut all: Vec<Vec<&Level>> = vec![Vec::new()];
    for axis in axes {
        let applies = |level: &&Level| {
            level.of_experiments.is_empty() || level.of_experiments.contains_key(experiment)
        };
        let levels: Vec<&Level> = axis.levels.iter().filter(applies).collect();
        all = (all.iter())
            .flat_map(|chosen| levels.iter().map(move |&level| [&chosen[..], &[level]].concat()))
            .collect();
    }
    all
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
        }
    };
    Ok((scores.sets.iter().map(line).collect(), scores.report))
}

/// One row per training and set.
fn csv(lines: &[Line], axes: &[String]) -> String {
    let mut csv = CsvWriter::new();
    let axes = axes.iter().map(String::as_str);
    let scores = ["seed", "set", "mse", "violation", "evaluations"];
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
        csv.cell(line.evaluations.to_string());
        csv.end_row();
    }
    csv.into_text()
}

/// Returns a Markdown table of the median and the worst score over the seeds, for each experiment,
/// combination of levels and set.
pub fn markdown(lines: &[Line], axes: &[String]) -> String {
    let mut text = String::from("| experiment |");
    for name in axes {
        let _ = write!(text, " {name} |");
    }
    text += " set | seeds | MSE, median | MSE, worst | violation, median | violation, worst | most evaluations |\n|";
    text += &"---|".repeat(axes.len() + 8);
    text.push('\n');
    let mut rest: &[Line] = lines;
    while let Some(first) = rest.first() {
        let same =
            |line: &&Line| line.experiment == first.experiment && line.levels == first.levels;
        let group: Vec<&Line> = rest.iter().take_while(same).collect();
        rest = &rest[group.len()..];
        let mut sets: Vec<&str> = Vec::new();
        for line in &group {
            if !sets.contains(&line.set.as_str()) {
                sets.push(&line.set);
            }
        }
        for set in sets {
            let of_set: Vec<&Line> = group.iter().copied().filter(|line| line.set == set).collect();
            let _ = write!(text, "| {} |", first.experiment);
            for level in &first.levels {
                let _ = write!(text, " {level} |");
            }
            let mses = sorted(of_set.iter().map(|line| line.mse));
            let violations = sorted(of_set.iter().map(|line| line.violation));
            let most = of_set.iter().map(|line| line.evaluations).max().unwrap_or(0);
            let _ = writeln!(
                text,
                " {set} | {} | {} | {} | {} | {} | {most} |",
                of_set.len(),
                short(median(&mses)),
                short(mses.last().copied().unwrap_or(f64::NAN)),
                short(median(&violations)),
                short(violations.last().copied().unwrap_or(f64::NAN)),
            );
        }
    }
    text
}

/// Sorts scores in increasing order; a set that could not be solved counts as infinite.
fn sorted(values: impl Iterator<Item = Option<f64>>) -> Vec<f64> {
    let mut values: Vec<f64> = values.map(|value| value.unwrap_or(f64::INFINITY)).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The median of sorted numbers.
fn median(sorted: &[f64]) -> f64 {
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}
