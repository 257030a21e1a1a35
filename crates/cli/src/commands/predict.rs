//! `lawful predict`: prints a model's predictions at any times, as CSV.

use lawful::ode::InvalidSolver;
use lawful::{Adaptive, Control, Solver, Table, Tableau, Trajectory};
use lawful_experiment::{CsvWriter, Diagnostic, LoadedRun, exact, read_times};

use crate::MISSED;
use crate::arguments::Predict;
use crate::output::{data, talk};

pub(crate) fn run(options: &Predict) -> Result<u8, Diagnostic> {
    let run = LoadedRun::open(&options.run, options.model.map(Into::into))?;
    let experiment = &run.experiment;
    let names = run.model.state();
    let trajectory = chosen(options, &run)?;
    let (start, _) = ends(trajectory);
    let times = times(options, trajectory, &experiment.time_column)?;
    let method = method(options, *run.model.solver())?;
    let initial = match &options.initial {
        Some(text) => Some(state(text, names)?),
        None if times[0] < start => {
            return Err(Diagnostic::new(format!(
                "the data start at t = {start}, after the first requested time, {}",
                times[0]
            ))
            .with_hint(format!(
                "request times from {start} on, or give the initial state: {}",
                example(names)
            )));
        }
        None => None,
    };
    // Without an initial state of its own the model starts where the trajectory does.
    let lead = usize::from(initial.is_none() && times[0] > start);
    let mut solved = times.clone();
    if lead == 1 {
        solved.insert(0, start);
    }
    let initial = initial.unwrap_or_else(|| run.model.initial_state(trajectory));
    let table = Table { times: &trajectory.times, values: &trajectory.inputs };
    let states = run.model.clone().with_solver(method).predict_with(&initial, &solved, table);
    let states = match states {
        Ok(states) => states,
        Err(error) => {
            talk(format!("error: {error}\nhint: {}", error.hint()));
            return Ok(MISSED);
        }
    };
    let rows = &states[lead * names.len()..];
    data(&csv(names, &times, rows))?;
    Ok(0)
}

fn csv(names: &[String], times: &[f64], rows: &[f64]) -> String {
    let mut csv = CsvWriter::new();
    csv.row(["t"].into_iter().chain(names.iter().map(String::as_str)));
    for (t, row) in times.iter().zip(rows.chunks_exact(names.len())) {
        csv.row([t].into_iter().chain(row).map(|value| exact(*value)));
    }
    csv.into_text()
}

/// Returns the trajectory whose initial state and inputs are used.
fn chosen<'a>(options: &Predict, run: &'a LoadedRun) -> Result<&'a Trajectory, Diagnostic> {
    let sets = std::iter::once(&run.experiment.training.data)
        .chain(run.experiment.tests.iter().map(|(_, dataset)| dataset));
    let mut all = sets.flat_map(lawful::Dataset::trajectories);
    let Some(name) = &options.trajectory else {
        return Ok(&run.experiment.training.data.trajectories()[0]);
    };
    all.clone().find(|trajectory| &trajectory.name == name).ok_or_else(|| {
        let names: Vec<String> = all.by_ref().map(|t| format!("`{}`", t.name)).take(12).collect();
        Diagnostic::new(format!("there is no trajectory `{name}`"))
            .with_hint(format!("the trajectories are {}", names.join(", ")))
    })
}

fn ends(trajectory: &Trajectory) -> (f64, f64) {
    (trajectory.times[0], trajectory.times[trajectory.len() - 1])
}

fn times(options: &Predict, trajectory: &Trajectory, time: &str) -> Result<Vec<f64>, Diagnostic> {
    if let Some(path) = &options.at {
        return read_times(path, time);
    }
    let (start, end) = ends(trajectory);
    let (from, to) = (options.from.unwrap_or(start), options.to.unwrap_or(end));
    for (name, value) in [("--from", from), ("--to", to)] {
        if !value.is_finite() {
            return Err(Diagnostic::new(format!("`{name} {value}` is not a time"))
                .with_hint(format!("give a number, for example `{name} {end}`")));
        }
    }
    match options.points {
        0 => Err(Diagnostic::new("`--points 0` prints nothing")
            .with_hint("give at least 1, for example `--points 500`")),
        1 => Ok(vec![from]),
        _ if to <= from => {
            Err(Diagnostic::new(format!("`--to {to}` is not after `--from {from}`"))
                .with_hint("give a larger `--to`, or swap the two"))
        }
        points if points > 100_000_000 => {
            Err(Diagnostic::new(format!("`--points {points}` is too many"))
                .with_hint("give at most 100000000"))
        }
        points => {
            let last = (points - 1) as f64;
            let at = |n: usize| {
                if n + 1 == points { to } else { from + (to - from) * n as f64 / last }
            };
            Ok((0..points).map(at).collect())
        }
    }
}

/// `x=1,v=0` as a state.
fn state(text: &str, names: &[String]) -> Result<Vec<f64>, Diagnostic> {
    let wrong =
        |what: String| Diagnostic::new(what).with_hint(format!("write it like {}", example(names)));
    let mut values = vec![None; names.len()];
    for part in text.split(',') {
        let Some((name, value)) = part.split_once('=') else {
            return Err(wrong(format!("`{part}` in `--initial` is not `name=number`")));
        };
        let Some(at) = names.iter().position(|known| known == name.trim()) else {
            return Err(wrong(format!("`{}` in `--initial` is not a state variable", name.trim())));
        };
        let number = value.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        let Some(number) = number else {
            return Err(wrong(format!("`{}` in `--initial` is not a number", value.trim())));
        };
        if values[at].replace(number).is_some() {
            return Err(wrong(format!("`{}` is given twice in `--initial`", name.trim())));
        }
    }
    let missing = names.iter().zip(&values).find(|(_, value)| value.is_none());
    if let Some((name, _)) = missing {
        return Err(wrong(format!("`--initial` does not give `{name}`")));
    }
    Ok(values.into_iter().flatten().collect())
}

fn example(names: &[String]) -> String {
    let parts: Vec<String> = names.iter().map(|name| format!("{name}=1")).collect();
    format!("`--initial {}`", parts.join(","))
}

/// Returns the solver of the options, or the experiment's.
fn method(options: &Predict, given: Solver) -> Result<Solver, Diagnostic> {
    let named = options.method.as_deref().and_then(Tableau::from_name);
    let tableau = named.unwrap_or_else(|| given.tableau());
    let control = if options.rtol.is_some() || options.atol.is_some() {
        let default = Adaptive::default();
        let (rtol, atol) = (options.rtol.unwrap_or(1e-9), options.atol.unwrap_or(1e-11));
        Control::Adaptive(Adaptive { rtol, atol, ..default })
    } else if options.method.is_some() || options.substeps.is_some() {
        Control::Grid { substeps: options.substeps.unwrap_or(1) }
    } else {
        given.control()
    };
    Solver::new(tableau, control).map_err(|error| {
        Diagnostic::new(error.to_string()).with_hint(match error {
            InvalidSolver::NoErrorEstimate { .. } => {
                "leave out `--rtol` and `--atol`, or use `--method dopri5`".to_owned()
            }
            InvalidSolver::OutOfRange { setting, .. } => {
                let usual = match setting {
                    "substeps" => "4",
                    "rtol" => "1e-9",
                    _ => "1e-11",
                };
                format!("for example `--{setting} {usual}`")
            }
        })
    })
}
