//! Reads an experiment file and checks it into an [`Experiment`].
//!
//! | key | default | range | purpose |
//! |---|---|---|---|
//! | `name` | the name of the file or of its folder | a valid file name | the name of the experiment and of its run folders |
//! | `system` | required | a table | see [`system`] |
//! | `law` | none | a list of tables | see [`laws`] |
//! | `data` | required | a table | see [`data`] |
//! | `test` | none | a table of tables | see [`test_set`] |
//! | `field` | its defaults | a table | see [`field`] |
//! | `solver` | its defaults | a table | see [`solver`] |
//! | `strategy` | its defaults | a table | see [`strategy`] |
//! | `training` | its defaults | a table | see [`training`] |
//!
//! An unknown key is an error, and so is a key that has no effect.

mod complete;
pub mod constants;
pub mod data;
mod datasets;
pub mod field;
mod formula;
pub mod grid;
pub mod known;
pub mod laws;
pub mod least_squares;
mod moment;
mod name;
pub(crate) mod on_data;
pub mod optimiser;
pub mod phase;
mod section;
mod settings;
pub mod simulate;
pub mod solver;
mod source;
pub mod strategy;
mod synonyms;
mod syntax;
pub mod system;
pub mod test_set;
mod text;
pub mod training;
mod underscores;
mod value;

use std::path::Path;
use std::sync::LazyLock;

use lawful::strategy::StrategySettings;
use lawful::{OffLaw, Training, TrainingError};

pub use text::to_text;
pub use underscores::with_hyphens;

use crate::diagnostic::Diagnostic;
use crate::experiment::Experiment;
use crate::files;
use crate::phrases::listed;
use crate::table::{Columns, TimeOrigin};
use complete::Table;
use data::{Data, Origin};
use laws::WrittenLaw;
use section::Section;
use solver::Solvers;
use source::Source;
use system::System;
use test_set::{Kind, TestSet};
use value::Mark;

/// Every table of an experiment file and its keys.
pub(crate) static SECTIONS: LazyLock<Vec<(&str, Vec<&str>)>> = LazyLock::new(|| {
    let of = |(path, keys): &(&'static str, &[&'static str])| (*path, keys.to_vec());
    let mut sections: Vec<(&str, Vec<&str>)> = OWN_KEYS.iter().map(of).collect();
    for (path, keys) in &mut sections {
        match *path {
            "strategy" => *keys = strategy::keys(),
            "training.optimiser" => *keys = optimiser::keys(),
            _ => {}
        }
    }
    sections
});

/// Returns the keys at the top of an experiment file.
pub fn sections() -> Vec<&'static str> {
    KEYS.to_vec()
}

/// Returns whether a section has a key.
pub(crate) fn has_key(section: &str, key: &str) -> bool {
    SECTIONS.iter().any(|(path, keys)| *path == section && keys.contains(&key))
}

/// The same without the keys of each strategy and optimiser.
const OWN_KEYS: &[(&str, &[&str])] = &[
    ("", KEYS),
    ("system", system::KEYS),
    ("system.constants.NAME", constants::KEYS),
    ("law", laws::KEYS),
    ("data", data::KEYS),
    ("data.simulate", simulate::KEYS),
    ("data.simulate.grid", grid::KEYS),
    ("data.simulate.noise", simulate::NOISE_KEYS),
    ("data.simulate.missing", simulate::MISSING_KEYS),
    ("test.NAME", test_set::KEYS),
    ("field", field::KEYS),
    ("field.init", field::INIT_KEYS),
    ("solver", solver::KEYS),
    ("solver.predict", solver::PREDICT_KEYS),
    ("strategy", strategy::KEYS),
    ("training", training::KEYS),
    ("training.loss", training::LOSS_KEYS),
    ("training.optimiser", optimiser::KEYS),
    ("training.batch", training::BATCH_KEYS),
    ("training.phase", phase::KEYS),
    ("training.phase.least-squares", least_squares::KEYS),
];

/// The keys at the top of the file.
const KEYS: &[&str] =
    &["name", "system", "law", "data", "test", "field", "solver", "strategy", "training"];

/// An experiment file as it was read.
#[derive(Debug, Clone)]
pub struct ExperimentFile {
    /// The checked experiment.
    pub experiment: Experiment,
    /// The same as the text of an experiment file, with every key written out.
    pub complete: String,
}

/// Reads an experiment file and its data. For a folder, reads the `experiment.toml` in it.
pub fn read(path: &Path) -> Result<ExperimentFile, Diagnostic> {
    read_with_seed(path, None)
}

/// Like [`read`], with this seed instead of the file's.
pub fn read_with_seed(path: &Path, seed: Option<u64>) -> Result<ExperimentFile, Diagnostic> {
    let inside = path.join("experiment.toml");
    let path = if path.is_dir() { &inside } else { path };
    if path == inside && !inside.is_file() {
        return Err(no_experiment(&inside));
    }
    let source = Source::new(path, files::read_text(path)?);
    check(&source, From::Files, seed)
}

/// Reads an experiment from a text; `name` is its name in messages. Paths in it are relative to the
/// current folder.
pub fn read_embedded(name: &str, text: &str) -> Result<ExperimentFile, Diagnostic> {
    check(&Source::new(Path::new(name), text.to_owned()), From::Files, None)
}

/// Like [`read_embedded`], with a table in memory in the place of `file` or `simulate` in `[data]`.
pub fn read_with_table(
    name: &str,
    text: &str,
    table: &Columns,
) -> Result<ExperimentFile, Diagnostic> {
    check(&Source::new(Path::new(name), text.to_owned()), From::Table(table), None)
}

/// Reads the experiment of a run folder from `config.toml` and `data/`. The original data files are
/// not needed.
pub fn read_run(folder: &Path) -> Result<ExperimentFile, Diagnostic> {
    if !folder.is_dir() {
        let error = Diagnostic::new(format!("there is no run folder `{}`", folder.display()));
        return Err(error.with_hint("`lawful train` creates run folders, by default in `runs/`"));
    }
    let path = folder.join("config.toml");
    if !path.is_file() {
        let message =
            format!("`{}` is not a run folder: it has no `config.toml`", folder.display());
        return Err(Diagnostic::new(message)
            .with_hint("`lawful train` creates run folders, by default in `runs/`"));
    }
    let source = Source::new(&path, files::read_text(&path)?);
    check(&source, From::Run(folder), None)
}

/// Reads a text as TOML; `name` is its name in messages.
pub(crate) fn parse(name: &str, text: &str) -> Result<Table, Diagnostic> {
    Source::new(Path::new(name), text.to_owned()).table()
}

fn no_experiment(path: &Path) -> Diagnostic {
    let folder = path.parent().unwrap_or(Path::new("."));
    let error =
        Diagnostic::new(format!("the folder `{}` has no `experiment.toml`", folder.display()));
    let names = files::list(folder);
    let others: Vec<&str> = names.iter().map(String::as_str).filter(|name| is_toml(name)).collect();
    match others[..] {
        [] => error.with_hint(format!("`lawful init {}` writes one", folder.display())),
        [one] => error.with_hint(format!("did you mean `{}`?", folder.join(one).display())),
        _ => error.with_hint(format!("give one of {}", listed(others))),
    }
}

fn is_toml(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "toml")
}

/// Where the data are read from.
#[derive(Clone, Copy)]
enum From<'a> {
    /// What `[data]` names.
    Files,
    /// A run folder, whose data replace the original files.
    Run(&'a Path),
    /// A table in memory, which `[data]` does not name.
    Table(&'a Columns<'a>),
}

/// Checks a text and builds the experiment.
#[expect(clippy::too_many_lines, reason = "a section after the other, in the order of a file")]
fn check(source: &Source, from: From, seed: Option<u64>) -> Result<ExperimentFile, Diagnostic> {
    let mut top = source.parse()?;
    top.only(KEYS)?;
    let name = read_name(&mut top)?;
    let system = system::read(top.section("system", system::KEYS)?)?;
    let vocabulary = &system.vocabulary;
    let (laws, written_laws, law_marks) = laws::read(top.take("law"), &system)?;
    let table = if let From::Table(table) = from { Some(table) } else { None };
    let mut data = data::read(top.section("data", data::KEYS)?, &system, table)?;
    let tests = test_set::read(top.take("test"), &data)?;
    let solvers = solver::read(top.section("solver", solver::KEYS)?)?;
    let training = top.section("training", training::KEYS)?;
    let process_noise = training.peek("process-noise");
    let field = top.section("field", field::KEYS)?;
    let (effects, coordinates) = (field.peek("effects"), field.peek("coordinates"));
    let (field, open) = field::read(field, &system, training::Written::hidden(&training))?;
    let place = training::Written::place(&training);
    let section = top.section("strategy", &strategy::keys())?;
    let strategy = strategy::read(section, &written_laws, place)?;
    let mut training = training::read(training, &written_laws)?;
    training.seed = seed.unwrap_or(training.seed);
    // `auto` has a strategy for all of them.
    training.check_windows(strategy.strategy.as_ref().unwrap_or(&StrategySettings::vanilla()))?;
    if let Some(mark) = &strategy.best_point {
        training.check_best_point(mark)?;
    }

    let reads_files = matches!(data.origin, Origin::Files(_) | Origin::Table(_))
        || tests.iter().any(|test| matches!(test.kind, Kind::File(_)));
    data.check_about_files(reads_files)?;

    let open_start = training.initial_state == Some(true);
    let (training_set, test_sets) = if let From::Run(run) = from {
        datasets::stored(run, &tests, (vocabulary, open_start), &data.format.origin)?
    } else {
        let marks = (written_laws.as_slice(), law_marks.as_slice());
        gathered(source, &system, (&mut data, &tests, open_start), marks, &field.known)?
    };
    let origin = data.format.origin.clone();
    let horizon = system.horizon.as_ref().map(|horizon| horizon.since(&origin)).transpose()?;
    if let (Some(since), Some(horizon)) = (horizon, &system.horizon) {
        let has_laws = !written_laws.is_empty();
        on_data::check_horizon((since, &origin), horizon.mark(), &training_set, has_laws)?;
    }
    let builder = Training::new(training_set.clone())
        .laws(laws)
        .field(field)
        .open_width(open.width)
        .open_effects(open.effects)
        .solver(solvers.training)
        .open_solver(solvers.open)
        .predict(solvers.predict)
        .interpolation(data.interpolation);
    let builder = match strategy.strategy {
        Some(strategy) => builder.strategy(strategy),
        None => builder.auto_strategy(),
    };
    let builder = horizon.into_iter().fold(builder, Training::horizon);
    let builder = test_sets.iter().fold(builder, |builder, (_, set)| builder.test_times(set));
    let builder = training::complete(training, builder, &training_set)?;
    let prepared = builder.prepare().map_err(|error| {
        // The strategy cannot be combined with the phases that the recipe has selected.
        let adam = "write `optimiser = \"adam\"` in a phase";
        match (&error, &strategy.best_point, &strategy.kind) {
            (TrainingError::Phase { reason, .. }, Some(mark), _) => {
                mark.error(reason).with_hint(format!("leave `best-point` out, or {adam}"))
            }
            (TrainingError::Phase { reason, .. }, None, Some(mark)) => {
                mark.error(reason).with_hint(format!("choose another strategy, or {adam}"))
            }
            (TrainingError::Law { law, .. } | TrainingError::Start(OffLaw { law, .. }), _, _) => {
                let number = written_laws.iter().position(|written| written.has(law));
                let error_of = |text| match number {
                    Some(number) => law_marks[number].error(text),
                    None => source.lacks(text),
                };
                error_of(error.to_string()).with_hint(error.hint().unwrap_or_default())
            }
            (TrainingError::Coordinates { hint, .. }, _, _) => {
                let text = error.to_string();
                let mark = coordinates.as_ref();
                mark.map_or_else(|| source.lacks(&text), |mark| mark.error(&text)).with_hint(hint)
            }
            (TrainingError::ProcessNoise { hint, .. }, _, _) => {
                let message = error.to_string();
                let located = process_noise.as_ref().map(|mark| mark.error(&message));
                located.unwrap_or_else(|| source.lacks(message)).with_hint(hint)
            }
            (TrainingError::Subjects { hint, .. }, _, _) => {
                system.own_numbers_error(source, effects.as_ref(), &error).with_hint(hint)
            }
            _ => source.lacks(error.to_string()),
        }
    })?;
    let written_laws = laws::enforced(&written_laws, &prepared.laws);

    let mut complete = Table::new();
    complete.insert("name".to_owned(), name.as_str().into());
    for (key, table) in [
        ("system", system::write(&system, &origin).into()),
        ("law", laws::write(&written_laws).into()),
        ("data", data.write(reads_files).into()),
        ("test", test_set::write(&tests, &origin).into()),
        ("field", field::write(&prepared.field).into()),
        ("solver", solver::write(&Solvers { training: prepared.solver, ..solvers }).into()),
        ("strategy", strategy::write(&prepared.strategy, &written_laws).into()),
        ("training", training::write(&prepared, &written_laws).into()),
    ] {
        complete.insert(key.to_owned(), table);
    }
    let time = (data.format.time.clone(), origin);
    let experiment = Experiment::new(name, prepared, test_sets, time);
    Ok(ExperimentFile { experiment, complete: to_text(&complete) })
}

/// Reads or simulates the data, and checks what a run folder's data were checked for.
fn gathered(
    source: &Source,
    system: &System,
    (data, tests, open): (&mut Data, &[TestSet], bool),
    (laws, marks): (&[WrittenLaw], &[Mark]),
    known: &[(String, String)],
) -> Result<datasets::Sets, Diagnostic> {
    let folder = source.file().parent().unwrap_or(Path::new(""));
    let given = data.format.origin.clone();
    let sets = datasets::gather(folder, data, tests, &system.vocabulary, open)?;
    let chosen = Some(&data.format.origin).filter(|origin| **origin != given);
    if let Some(origin) = chosen.and_then(TimeOrigin::text) {
        for (law, mark) in laws.iter().zip(marks) {
            moment::check_law(&law.parts, mark, origin)?;
        }
        moment::check_known(known, &system.vocabulary, source, origin)?;
    }
    on_data::check_sizes(&sets.0).map_err(|error| data.locate(error))?;
    for (law, mark) in laws.iter().zip(marks) {
        for part in &law.parts {
            on_data::check_law(part, mark, &sets.0, &system.learned())?;
        }
    }
    Ok(sets)
}

fn read_name(top: &mut Section) -> Result<String, Diagnostic> {
    let Some(value) = top.take("name") else { return Ok(name::of_file(top.source().file())) };
    let text = value.text("oscillator")?;
    match name::check(&text.value) {
        Ok(()) => Ok(text.value),
        Err(reason) => Err(text
            .error(format!("the experiment cannot be named \"{}\": {reason}", text.value))
            .with_hint("it is used as a folder name: use letters, digits, `-` and `_`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file with the documentation of each table of [`SECTIONS`].
    const DOCUMENTATION: &[(&str, &str)] = &[
        ("", include_str!("mod.rs")),
        ("system", include_str!("system.rs")),
        ("system.constants.NAME", include_str!("constants.rs")),
        ("law", include_str!("laws.rs")),
        ("data", include_str!("data.rs")),
        ("data.simulate", include_str!("simulate.rs")),
        ("data.simulate.grid", include_str!("grid.rs")),
        ("data.simulate.noise", include_str!("simulate.rs")),
        ("data.simulate.missing", include_str!("simulate.rs")),
        ("test.NAME", include_str!("test_set.rs")),
        ("field", include_str!("field.rs")),
        ("field.init", include_str!("field.rs")),
        ("solver", include_str!("solver.rs")),
        ("solver.predict", include_str!("solver.rs")),
        ("strategy", include_str!("strategy.rs")),
        ("training", include_str!("training.rs")),
        ("training.loss", include_str!("training.rs")),
        ("training.optimiser", include_str!("optimiser.rs")),
        ("training.batch", include_str!("training.rs")),
        ("training.phase", include_str!("phase.rs")),
        ("training.phase.least-squares", include_str!("least_squares.rs")),
    ];

    #[test]
    fn every_key_is_documented_where_it_is_read() {
        for ((section, keys), (documented, text)) in OWN_KEYS.iter().zip(DOCUMENTATION) {
            assert_eq!(section, documented);
            let docs: String = text.lines().filter(|line| line.starts_with("//!")).collect();
            for key in *keys {
                assert!(docs.contains(&format!("`{key}`")), "`{key}` of [{section}]");
            }
        }
    }
}
