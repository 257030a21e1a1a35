//! The experiment file: what is written, checked into an [`Experiment`].
//!
//! | key | default | range | purpose |
//! |---|---|---|---|
//! | `name` | the file's or its folder's name | a file's name | what run folders are called |
//! | `system` | needed | a table | see [`system`] |
//! | `law` | none | a list of tables | see [`laws`] |
//! | `data` | needed | a table | see [`data`] |
//! | `test` | none | a table of tables | see [`test_set`] |
//! | `field` | its defaults | a table | see [`field`] |
//! | `solver` | its defaults | a table | see [`solver`] |
//! | `strategy` | its defaults | a table | see [`strategy`] |
//! | `training` | its defaults | a table | see [`training`] |
//!
//! A key that is not in these tables is an error, and so is one that decides nothing.

mod complete;
pub mod constants;
pub mod data;
mod datasets;
pub mod field;
mod formula;
pub mod grid;
pub mod known;
pub mod laws;
mod name;
pub mod optimiser;
pub mod phase;
mod section;
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
mod value;

use std::path::Path;

use lawful::{Dataset, Law, LearnedConstant, Scaling, Units};

pub use text::to_text;

use crate::diagnostic::Diagnostic;
use crate::experiment::Experiment;
use crate::files;
use crate::phrases::listed;
use crate::recipes::Facts;
use complete::Table;
use data::Origin;
use section::Section;
use source::Source;
use test_set::Kind;

/// Every table of an experiment file and its keys.
pub(crate) const SECTIONS: &[(&str, &[&str])] = &[
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
];

/// The keys at the top of the file.
const KEYS: &[&str] =
    &["name", "system", "law", "data", "test", "field", "solver", "strategy", "training"];

/// Reads an experiment file and all data that it names. A folder stands for the `experiment.toml`
/// in it.
pub fn read(path: &Path) -> Result<Experiment, Diagnostic> {
    let inside = path.join("experiment.toml");
    let path = if path.is_dir() { &inside } else { path };
    if path == inside && !inside.is_file() {
        return Err(no_experiment(&inside));
    }
    let source = Source::new(path, files::read_text(path)?);
    check(&source, None)
}

/// Reads an experiment from a text; `name` is what messages call it. Files that it names are looked
/// for in the current folder.
pub fn read_embedded(name: &str, text: &str) -> Result<Experiment, Diagnostic> {
    check(&Source::new(Path::new(name), text.to_owned()), None)
}

/// Reads the experiment of a run folder with the data as they were used, from `config.toml` and
/// `data/`; its sources are not needed any more.
pub fn read_run(folder: &Path) -> Result<Experiment, Diagnostic> {
    if !folder.is_dir() {
        let error = Diagnostic::new(format!("there is no run folder `{}`", folder.display()));
        return Err(error.with_hint("`lawful train` makes them, below `runs/`"));
    }
    let path = folder.join("config.toml");
    if !path.is_file() {
        let message =
            format!("`{}` is not a run folder: it has no `config.toml`", folder.display());
        return Err(Diagnostic::new(message).with_hint("`lawful train` makes them, below `runs/`"));
    }
    let source = Source::new(&path, files::read_text(&path)?);
    check(&source, Some(folder))
}

/// Reads a text as TOML; `name` is what messages call it.
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
        [one] => error.with_hint(format!("is `{}` meant?", folder.join(one).display())),
        _ => error.with_hint(format!("name one of {}", listed(others))),
    }
}

fn is_toml(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "toml")
}

/// From text to experiment; `run` is the folder whose data are used instead of the sources.
fn check(source: &Source, run: Option<&Path>) -> Result<Experiment, Diagnostic> {
    let mut top = source.parse()?;
    top.only(KEYS)?;
    let name = read_name(&mut top)?;
    let system = system::read(top.section("system", system::KEYS)?)?;
    let vocabulary = &system.vocabulary;
    let laws = laws::read(top.take("law"), &system)?;
    let data = data::read(top.section("data", data::KEYS)?, &system)?;
    let tests = test_set::read(top.take("test"), &data)?;
    let field = field::read(top.section("field", field::KEYS)?, &system)?;
    let solver = solver::read(top.section("solver", solver::KEYS)?)?;
    let training = top.section("training", training::KEYS)?;
    let smooth = training::Written::is_smooth(&training);
    let strategy = strategy::read(top.section("strategy", strategy::KEYS)?, &laws, smooth)?;
    let training = training::read(training, &laws)?;

    let reads_files = matches!(data.origin, Origin::Files(_))
        || tests.iter().any(|test| matches!(test.kind, Kind::File(_)));
    if let (false, Some((key, mark))) = (reads_files, &data.about_files) {
        let error = mark.error(format!("`{key}` says how files are read, and there is none"));
        return Err(error.with_hint("leave it out; data are simulated"));
    }

    let folder = source.file().parent().unwrap_or(Path::new(""));
    let open = training.initial_state == Some(true);
    let (training_set, test_sets) = match run {
        Some(run) => datasets::stored(run, &tests, vocabulary, open)?,
        None => datasets::gather(folder, &data, &tests, vocabulary, open)?,
    };
    let parts: Vec<_> = laws.iter().flat_map(|law| law.parts.clone()).collect();
    let facts = Facts { dataset: &training_set, strategy: &strategy.strategy };
    let training = training::complete(&training, &facts)?;
    if let Some(mark) = &strategy.best_point {
        for phase in training.phases.iter().filter(|phase| phase.strategy.is_none()) {
            phase::check_best_point(phase, mark)?;
        }
    }
    let constants = system.learned();
    let (scaling, units) = scale(&training_set, &parts, &constants, training.scale);

    let mut complete = Table::new();
    complete.insert("name".to_owned(), name.as_str().into());
    for (key, table) in [
        ("system", system::write(&system).into()),
        ("law", laws::write(&laws).into()),
        ("data", data.write(reads_files).into()),
        ("test", test_set::write(&tests).into()),
        ("field", field::write(&field).into()),
        ("solver", solver::write(&solver).into()),
        ("strategy", strategy::write(&strategy).into()),
        ("training", training::write(&training).into()),
    ] {
        complete.insert(key.to_owned(), table);
    }
    Ok(Experiment {
        name,
        laws: parts,
        training_set,
        tests: test_sets,
        interpolation: data.interpolation,
        field,
        solver: solver.training,
        predict: solver.predict,
        strategy: strategy.strategy,
        training,
        scaling,
        units,
        complete,
        constants,
        vocabulary: system.vocabulary,
    })
}

/// The units of the network and of the objective: read off the data, or as they are.
fn scale(
    dataset: &Dataset,
    laws: &[Law],
    constants: &[LearnedConstant],
    wanted: bool,
) -> (Option<Scaling>, Units) {
    if wanted {
        let scaling = lawful::scaling(dataset);
        let units = lawful::units(dataset, laws, constants, &scaling);
        (Some(scaling), units)
    } else {
        (None, Units::of_data(dataset.state().len(), laws.len()))
    }
}

fn read_name(top: &mut Section) -> Result<String, Diagnostic> {
    let Some(value) = top.take("name") else { return Ok(name::of_file(top.source().file())) };
    let text = value.text("oscillator")?;
    match name::check(&text.value) {
        Ok(()) => Ok(text.value),
        Err(reason) => Err(text
            .error(format!("the experiment cannot have the name \"{}\": {reason}", text.value))
            .with_hint("the name becomes a folder's: use letters, digits, `-` and `_`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The documentation of each table of [`SECTIONS`].
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
    ];

    #[test]
    fn every_key_is_documented_where_it_is_read() {
        for ((section, keys), (documented, text)) in SECTIONS.iter().zip(DOCUMENTATION) {
            assert_eq!(section, documented);
            let docs: String = text.lines().filter(|line| line.starts_with("//!")).collect();
            for key in *keys {
                assert!(docs.contains(&format!("`{key}`")), "`{key}` of [{section}]");
            }
        }
    }
}
