//! The training set and the test sets, from their sources.

use std::path::{Path, PathBuf};

use lawful::{DataError, Dataset, Numbers, Trajectory, Vocabulary};

use super::data::{Data, Files, Origin};
use super::test_set::{Kind, TestSet};
use super::value::Mark;
use crate::diagnostic::Diagnostic;
use crate::experiment::RECONSTRUCTION;
use crate::phrases::{counted, meant};
use crate::table::{self, FileError, TimeOrigin, Variables};

/// The training set and the named test sets.
pub(super) type Sets = (Dataset, Vec<(String, Dataset)>);

/// The data files of a run folder: `data/reconstruction.csv`, `data/<test>.csv`.
fn stored_path(folder: &Path, name: &str) -> PathBuf {
    folder.join("data").join(format!("{name}.csv"))
}

/// Reads the data of a run folder.
pub(super) fn stored(
    folder: &Path,
    tests: &[TestSet],
    (vocabulary, open): (&Vocabulary, bool),
    origin: &TimeOrigin,
) -> Result<Sets, Diagnostic> {
    let variables = Variables { state: vocabulary.state(), inputs: vocabulary.inputs(), open };
    let read = |name: &str| {
        let path = stored_path(folder, name);
        if !path.is_file() {
            let (folder, path) = (folder.display(), path.display());
            return Err(Diagnostic::new(format!("the run folder `{folder}` has no `{path}`"))
                .with_hint("restore the file, or train again"));
        }
        table::read_dataset(&path, variables, origin)
    };
    let training = read(RECONSTRUCTION)?;
    let tests = tests.iter().map(|test| Ok((test.name.clone(), read(&test.name)?)));
    Ok((training, tests.collect::<Result<_, Diagnostic>>()?))
}

/// Reads or simulates all data and splits them into the training set and the test sets. Times whose digits do not
/// fit into a double are counted from the first of them, which becomes the origin of the format.
pub(super) fn gather(
    folder: &Path,
    data: &mut Data,
    tests: &[TestSet],
    vocabulary: &Vocabulary,
    open: bool,
) -> Result<Sets, Diagnostic> {
    let mut measured = Vec::new();
    if let Origin::Files(files) = &data.origin {
        let gather = Gather { folder, data, vocabulary, open };
        let read = match gather.try_read(files) {
            Err(FileError { origin: Some(origin), .. }) => {
                data.format.origin = origin;
                Gather { folder, data, vocabulary, open }.try_read(files)
            }
            read => read,
        };
        measured = read.map_err(|error| files.locate(error.file, error.error))?;
    }
    let gather = Gather { folder, data, vocabulary, open };
    let origin = &data.format.origin;
    // Only training data get noise: test sets stay clean.
    let (clean, noisy) = match &data.origin {
        Origin::Files(_) => (measured, None),
        Origin::Table(table) => {
            (table.read(&data.format, gather.variables(), data.interpolation)?, None)
        }
        Origin::Simulation(simulate) => {
            let clean = simulate.trajectories()?;
            let mut noisy = clean.clone();
            simulate.disturb(&mut noisy);
            (clean, Some(noisy))
        }
    };
    let held_out = held_out(&clean, tests)?;
    let trained = |trajectory: &&Trajectory| !held_out.contains(&trajectory.name.as_str());
    let training: Vec<Trajectory> =
        noisy.as_ref().unwrap_or(&clean).iter().filter(trained).cloned().collect();
    let training = without_every(before(training, tests, origin)?, tests);
    let mut sets = Vec::with_capacity(tests.len());
    for test in tests {
        let trajectories = match (&test.kind, &data.origin) {
            (Kind::File(files), _) => gather.read(files)?,
            (Kind::Grid(grid), Origin::Simulation(simulate)) => simulate.on(grid)?,
            (Kind::Grid(_), _) => Vec::new(),
            (Kind::After(time), _) => {
                let time = time.since(origin)?;
                let trajectories = clean.iter().filter(trained);
                let later: Vec<Trajectory> =
                    trajectories.filter_map(|trajectory| after(trajectory, time)).collect();
                if later.is_empty() {
                    return Err(nothing_after(&clean, (time, origin), &test.mark));
                }
                later
            }
            (Kind::Every(n), _) => {
                let trajectories = clean.iter().filter(trained).cloned().collect();
                let earlier = before(trajectories, tests, origin)?;
                let between: Vec<Trajectory> =
                    earlier.iter().filter_map(|trajectory| every(trajectory, *n)).collect();
                if between.is_empty() {
                    let error = test
                        .mark
                        .error("no trajectory has a row to hold out between its first and last");
                    return Err(error.with_hint("choose a smaller number, at least 2"));
                }
                between
            }
            (Kind::Trajectories(names), _) => {
                let named = |trajectory: &&Trajectory| {
                    names.iter().any(|name| name.value == trajectory.name)
                };
                clean.iter().filter(named).cloned().collect()
            }
        };
        let set = gather.dataset(trajectories).map_err(|e| test.mark.error(e.to_string()))?;
        sets.push((test.name.clone(), set));
    }
    let training = gather.dataset(training).map_err(|error| Diagnostic::new(error.to_string()))?;
    Ok((training, sets))
}

struct Gather<'a> {
    folder: &'a Path,
    data: &'a Data<'a>,
    vocabulary: &'a Vocabulary,
    /// Whether first rows can have missing cells.
    open: bool,
}

impl Gather<'_> {
    fn variables(&self) -> Variables<'_> {
        let (state, inputs) = (self.vocabulary.state(), self.vocabulary.inputs());
        Variables { state, inputs, open: self.open }
    }

    fn read(&self, files: &Files) -> Result<Vec<Trajectory>, Diagnostic> {
        self.try_read(files).map_err(|error| files.locate(error.file, error.error))
    }

    fn try_read(&self, files: &Files) -> Result<Vec<Trajectory>, FileError> {
        let paths = files.paths(self.folder);
        table::read(&paths, &self.data.format, self.variables(), self.data.interpolation)
    }

    fn dataset(&self, trajectories: Vec<Trajectory>) -> Result<Dataset, DataError> {
        let (state, inputs) = (self.vocabulary.state(), self.vocabulary.inputs());
        let make = if self.open { Dataset::with_open_starts } else { Dataset::new };
        make(state.to_vec(), inputs.to_vec(), trajectories)
    }
}

/// Returns the names of the trajectories that test sets hold out. Each must exist, and at least one
/// trajectory must remain.
fn held_out<'t>(
    trajectories: &[Trajectory],
    tests: &'t [TestSet],
) -> Result<Vec<&'t str>, Diagnostic> {
    let known = || trajectories.iter().map(|trajectory| trajectory.name.as_str());
    let mut held_out = Vec::new();
    for test in tests {
        let Kind::Trajectories(names) = &test.kind else { continue };
        for name in names {
            if !known().any(|known| known == name.value) {
                let known: Vec<&str> = known().collect();
                let error = name.error(format!("there is no trajectory `{}`", name.value));
                let hint = meant(&name.value, known.iter().copied(), "the trajectories are");
                return Err(error.with_hint(hint));
            }
            held_out.push(name.value.as_str());
        }
        if known().all(|known| held_out.contains(&known)) {
            let error = test.mark.error("every trajectory is held out: none is left for training");
            return Err(error.with_hint("remove a name from the list"));
        }
    }
    Ok(held_out)
}

/// Removes the rows that are held out.
fn before(
    trajectories: Vec<Trajectory>,
    tests: &[TestSet],
    origin: &TimeOrigin,
) -> Result<Vec<Trajectory>, Diagnostic> {
    let cuts = tests.iter().filter_map(|test| match &test.kind {
        Kind::After(time) => Some(time.since(origin).map(|time| (time, &test.mark))),
        _ => None,
    });
    let cuts = cuts.collect::<Result<Vec<_>, _>>()?;
    let Some((time, mark)) = cuts.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)) else {
        return Ok(trajectories);
    };
    let cut = |mut trajectory: Trajectory| {
        let all = trajectory.len();
        let rows = trajectory.times.partition_point(|&t| t <= time);
        if rows < 2 {
            let rows = counted(rows, "row");
            let message = format!(
                "trajectory `{}` has {rows} up to t = {}, too few to train on",
                trajectory.name,
                origin.shown(time)
            );
            return Err(mark.error(message).with_hint(
                "choose a later time, or hold the trajectory out: `trajectories = [\"…\"]`",
            ));
        }
        for values in [&mut trajectory.states, &mut trajectory.inputs] {
            values.truncate(values.len() / all * rows);
        }
        trajectory.times.truncate(rows);
        Ok(trajectory)
    };
    trajectories.into_iter().map(cut).collect()
}

/// Returns whether row `row` of `rows` is one of every `n` that are held out: never the first or the last.
fn is_held(row: usize, rows: usize, n: usize) -> bool {
    row > 0 && row + 1 < rows && row % n == n / 2
}

/// Removes every n-th row where a test set holds it out.
fn without_every(trajectories: Vec<Trajectory>, tests: &[TestSet]) -> Vec<Trajectory> {
    let numbers = tests.iter().filter_map(|test| match test.kind {
        Kind::Every(n) => Some(n),
        _ => None,
    });
    let numbers: Vec<usize> = numbers.collect();
    let thinned = |trajectory: Trajectory| {
        let all = trajectory.len();
        let kept: Vec<usize> =
            (0..all).filter(|&row| !numbers.iter().any(|&n| is_held(row, all, n))).collect();
        if kept.len() == all {
            return trajectory;
        }
        let of = |values: &[f64]| {
            let width = values.len() / all;
            let rows = kept.iter().flat_map(|&row| &values[row * width..(row + 1) * width]);
            Numbers::from(rows.copied().collect::<Vec<f64>>())
        };
        Trajectory {
            times: of(&trajectory.times),
            states: of(&trajectory.states),
            inputs: of(&trajectory.inputs),
            ..trajectory
        }
    };
    trajectories.into_iter().map(thinned).collect()
}

/// The initial row, which is not scored, and every n-th row between the first and the last; rows between keep
/// their inputs.
fn every(trajectory: &Trajectory, n: usize) -> Option<Trajectory> {
    let all = trajectory.len();
    if !(0..all).any(|row| is_held(row, all, n)) {
        return None;
    }
    let d = trajectory.states.len() / all;
    let states = trajectory.states.iter().enumerate().map(|(at, value)| {
        let row = at / d;
        if row == 0 || is_held(row, all, n) { *value } else { f64::NAN }
    });
    let states = Numbers::from(states.collect::<Vec<f64>>());
    Some(Trajectory { states, scored_from: 1, ..trajectory.clone() })
}

/// The initial row, which is not scored, and all rows later than `time`.
fn after(trajectory: &Trajectory, time: f64) -> Option<Trajectory> {
    let all = trajectory.len();
    let first = trajectory.times.partition_point(|&t| t <= time).max(1);
    let kept = |values: &[f64]| {
        let width = values.len() / all;
        Numbers::from([&values[..width], &values[first * width..]].concat())
    };
    (first < all).then(|| Trajectory {
        name: trajectory.name.clone(),
        times: kept(&trajectory.times),
        states: kept(&trajectory.states),
        inputs: kept(&trajectory.inputs),
        scored_from: 1,
    })
}

fn nothing_after(
    trajectories: &[Trajectory],
    (time, origin): (f64, &TimeOrigin),
    mark: &Mark,
) -> Diagnostic {
    let last = trajectories.iter().filter_map(|trajectory| trajectory.times.last().copied());
    let last = last.fold(f64::NEG_INFINITY, f64::max);
    let (time, last) = (origin.shown(time), origin.shown(last));
    mark.error(format!("no row comes after t = {time}: the data end at {last}"))
        .with_hint("choose an earlier time")
}
