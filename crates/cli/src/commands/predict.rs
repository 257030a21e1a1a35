//! `lawful predict`: prints a model's predictions at any times, as CSV.

use lawful::ode::InvalidSolver;
use lawful::{
    Adaptive, Control, Interval, IntervalError, IntervalKind, Kept, Model, Solver, Table, Tableau,
    Trajectory,
};
use lawful_experiment::interval::{DrawnStart, IntervalPrediction};
use lawful_experiment::predict::Prediction;
use lawful_experiment::{CsvWriter, Diagnostic, LoadedRun, TimeOrigin, exact, read_times};

use crate::MISSED;
use crate::arguments::{Predict, Time};
use crate::output::{data, talk};

pub(crate) fn run(options: &Predict) -> Result<u8, Diagnostic> {
    let run = LoadedRun::open(&options.run, options.model.map(Into::into))?;
    let experiment = &run.experiment;
    let (names, origin) = (run.model.state(), &experiment.time_origin);
    let trajectory = chosen(options, &run)?;
    let (start, _) = ends(trajectory);
    let times = times(options, trajectory, (&experiment.time_column, origin))?;
    let first = times.at(0);
    let method = method(options, *run.model.solver())?;
    let initial = match &options.initial {
        Some(text) => Some(state(text, names, |name| run.model.predicts_start(name))?),
        None if first < start => {
            return Err(Diagnostic::new(format!(
                "the data start at t = {}, after the first requested time, {}",
                origin.shown(start),
                origin.shown(first)
            ))
            .with_hint(format!(
                "request times from {} on, or give the initial state: {}",
                origin.shown(start),
                example(names)
            )));
        }
        None => None,
    };
    // Without an initial state of its own the model starts where the trajectory does.
    let start = if initial.is_none() { start } else { first };
    check_range(start, times.at(times.len() - 1), origin)?;
    let model = if options.project { projected(&run)? } else { run.model.clone() };
    let inputs = Table { times: &trajectory.times, values: &trajectory.inputs };
    let is_new = initial.is_some() && options.trajectory.is_none();
    let given = initial.clone();
    let mut initial = initial.unwrap_or_else(|| model.initial_state(trajectory));
    // Draws have effects of their own.
    let from = options.interval.map(|level| (level, model.clone().with_solver(method)));
    let model = if is_new {
        model.of_start(start, &initial, inputs).into_owned()
    } else if options.initial.is_some() {
        model.of_trajectory(trajectory).into_owned().without_increments()
    } else {
        model.of_trajectory(trajectory).into_owned()
    };
    model.complete_start(&mut initial, &model.inputs_at(start, inputs));
    let on_laws = if options.project {
        model.project(start, &mut initial)
    } else {
        model.put_on_laws(start, &mut initial)
    };
    on_laws.map_err(|error| Diagnostic::new(error.to_string()).with_hint(error.hint()))?;
    let model = model.with_solver(method);
    let prediction = Prediction {
        model: &model,
        start,
        initial: &initial,
        inputs,
        points: times.len(),
        time: &|n| times.at(n),
    };
    if let Some((level, from)) = from {
        let start = match &given {
            None => DrawnStart::Of(trajectory),
            Some(given) if is_new => DrawnStart::New(given),
            Some(given) => DrawnStart::With(trajectory, given),
        };
        let shown = (level, options.without_noise, origin);
        return with_intervals(prediction, &from, shown, start);
    }
    let (mut header, mut printed) = (true, Ok(()));
    let solved = prediction.run(|times, states| {
        printed = data(&csv(std::mem::take(&mut header), names, (times, origin), states));
        printed.is_ok()
    });
    printed?;
    if let Err(error) = solved {
        talk(format!("error: {error}\nhint: {}", error.hint()));
        if let Some(note) = experiment.time_note() {
            talk(note);
        }
        return Ok(MISSED);
    }
    Ok(0)
}

/// Prints the prediction with intervals of a model.
fn with_intervals(
    prediction: Prediction<'_>,
    from: &Model,
    (level, without_noise, origin): (f64, bool, &TimeOrigin),
    start: DrawnStart<'_>,
) -> Result<u8, Diagnostic> {
    let error = |error: IntervalError| Diagnostic::new(error.to_string()).with_hint(error.hint());
    let kind = if without_noise { IntervalKind::Credible } else { IntervalKind::Prediction };
    let intervals = from.intervals(level).map_err(error)?.kind(kind);
    let names = prediction.model.state();
    let (mut header, mut printed) = (true, Ok(()));
    let run = IntervalPrediction { prediction, intervals: &intervals, start };
    let solved = run.run(|times, interval| {
        printed =
            data(&interval_csv(std::mem::take(&mut header), names, (times, origin), interval));
        printed.is_ok()
    });
    printed?;
    match solved {
        Ok(warning) => {
            if let Some(warning) = warning {
                talk(format!("warning: {warning}"));
            }
            Ok(0)
        }
        Err(error) => {
            talk(format!("error: {error}\nhint: {}", error.hint()));
            Ok(MISSED)
        }
    }
}

/// Returns the rows `t,x,x.low,x.high,…`.
fn interval_csv(
    header: bool,
    names: &[String],
    (times, origin): (&[f64], &TimeOrigin),
    interval: &Interval,
) -> String {
    let mut csv = CsvWriter::new();
    if header {
        let three = |name: &String| [name.clone(), format!("{name}.low"), format!("{name}.high")];
        csv.row(["t".to_owned()].into_iter().chain(names.iter().flat_map(three)));
    }
    let d = names.len();
    for (n, t) in times.iter().enumerate() {
        let cells = (n * d..(n + 1) * d)
            .flat_map(|at| [interval.central[at], interval.low[at], interval.high[at]]);
        csv.row([origin.shown(*t)].into_iter().chain(cells.map(exact)));
    }
    csv.into_text()
}

/// Returns the model whose field obeys its laws, and says which laws it cannot obey.
fn projected(run: &LoadedRun) -> Result<Model, Diagnostic> {
    let data = &run.experiment.training.data;
    let projected = run.model.clone().projected(data);
    let (model, kept) = projected.map_err(|error| Diagnostic::new(error.to_string()))?;
    for (law, kept) in model.laws().iter().zip(&kept) {
        if let Kept::Penalised(why) = kept {
            let why = why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
            talk(format!("warning: the law `{}` is not guaranteed{why}", law.name()));
        }
    }
    Ok(model)
}

fn csv(
    header: bool,
    names: &[String],
    (times, origin): (&[f64], &TimeOrigin),
    rows: &[f64],
) -> String {
    let mut csv = CsvWriter::new();
    if header {
        csv.row(["t"].into_iter().chain(names.iter().map(String::as_str)));
    }
    for (t, row) in times.iter().zip(rows.chunks_exact(names.len())) {
        csv.row([origin.shown(*t)].into_iter().chain(row.iter().map(|value| exact(*value))));
    }
    csv.into_text()
}

/// The requested times, strictly increasing.
#[derive(Debug, PartialEq)]
enum Times {
    Listed(Vec<f64>),
    /// At least two, evenly spaced.
    Even {
        from: f64,
        to: f64,
        points: usize,
    },
}

impl Times {
    fn len(&self) -> usize {
        match self {
            Self::Listed(times) => times.len(),
            Self::Even { points, .. } => *points,
        }
    }

    fn at(&self, n: usize) -> f64 {
        match *self {
            Self::Listed(ref times) => times[n],
            Self::Even { to, points, .. } if n + 1 == points => to,
            Self::Even { from, to, points } => from + (to - from) * n as f64 / (points - 1) as f64,
        }
    }
}

/// Refuses a range whose length is not a number.
fn check_range(from: f64, to: f64, origin: &TimeOrigin) -> Result<(), Diagnostic> {
    if (to - from).is_finite() {
        return Ok(());
    }
    let (shown_from, shown_to) = (origin.shown(from), origin.shown(to));
    let message = format!(
        "the range from t = {shown_from} to {shown_to} overflows: it is longer than 1.8e308"
    );
    Err(Diagnostic::new(message).with_hint("request times that are closer together"))
}

/// Returns evenly spaced times, if they are all different.
fn even(from: f64, to: f64, points: usize, origin: &TimeOrigin) -> Result<Times, Diagnostic> {
    check_range(from, to, origin)?;
    // Times are numbered up to 2⁵³, and `(to - from) * n` must not overflow.
    let times = Times::Even { from, to, points };
    if !((to - from) * points as f64).is_finite() {
        let message = format!(
            "{points} times from {} to {} overflow double precision",
            origin.shown(from),
            origin.shown(to)
        );
        return Err(Diagnostic::new(message).with_hint("request a shorter range, or fewer times"));
    }
    if (1..points).all(|n| times.at(n - 1) < times.at(n)) {
        return Ok(times);
    }
    let largest = from.abs().max(to.abs());
    let spacing = largest - largest.next_down();
    // Half of the numbers in between: neighbours stay apart after rounding.
    let apart = ((to - from) / spacing / 2.0).max(2.0).min(points as f64 / 2.0).max(2.0);
    let message = format!(
        "{points} times from {} to {} are too close to be told apart in double precision, whose \
         numbers are {spacing:.1e} apart there",
        origin.shown(from),
        origin.shown(to)
    );
    Err(Diagnostic::new(message).with_hint(format!(
        "request fewer, for example `--points {apart:.0}`, or count the time of the data from a later \
         origin"
    )))
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

/// Returns the time of an option since the origin.
pub(super) fn since(time: &Time, option: &str, origin: &TimeOrigin) -> Result<f64, Diagnostic> {
    let Some(from) = origin.text() else { return Ok(time.number) };
    origin.read(&time.digits).ok_or_else(|| {
        let message = format!("`{option} {}` cannot be counted from {from}", time.digits);
        Diagnostic::new(message).with_hint("write it in plain digits, like those of the data")
    })
}

fn times(
    options: &Predict,
    trajectory: &Trajectory,
    (time, origin): (&str, &TimeOrigin),
) -> Result<Times, Diagnostic> {
    if let Some(path) = &options.at {
        return read_times(path, time, origin).map(Times::Listed);
    }
    let (start, end) = ends(trajectory);
    let given = |time: &Option<Time>, option: &str, default| match time {
        None => Ok(default),
        Some(time) if time.number.is_finite() => since(time, option, origin),
        Some(Time { number, .. }) => {
            let end = origin.shown(end);
            Err(Diagnostic::new(format!("`{option} {number}` is not a time"))
                .with_hint(format!("give a number, for example `{option} {end}`")))
        }
    };
    let from = given(&options.from, "--from", start)?;
    let to = given(&options.to, "--to", end)?;
    match options.points {
        0 => Err(Diagnostic::new("`--points 0` prints nothing")
            .with_hint("give at least 1, for example `--points 500`")),
        1 => Ok(Times::Listed(vec![from])),
        _ if to <= from => {
            let (from, to) = (origin.shown(from), origin.shown(to));
            Err(Diagnostic::new(format!("`--to {to}` is not after `--from {from}`"))
                .with_hint("give a larger `--to`, or swap the two"))
        }
        points if points > 100_000_000 => {
            Err(Diagnostic::new(format!("`--points {points}` is too many"))
                .with_hint("give at most 100000000"))
        }
        points => even(from, to, points, origin),
    }
}

/// `x=1,v=0` as a state; variables that the model may leave open are NaN.
fn state(
    text: &str,
    names: &[String],
    open: impl Fn(&str) -> bool,
) -> Result<Vec<f64>, Diagnostic> {
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
    let missing =
        names.iter().zip(&values).find(|(name, value)| value.is_none() && !open(name.as_str()));
    if let Some((name, _)) = missing {
        return Err(wrong(format!("`--initial` does not give `{name}`")));
    }
    Ok(values.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect())
}

fn example(names: &[String]) -> String {
    let parts: Vec<String> = names.iter().map(|name| format!("{name}=1")).collect();
    format!("`--initial {}`", parts.join(","))
}

/// Largest `--substeps`, as in `[solver]`.
const MOST_SUBSTEPS: usize = 1_000_000;

/// Returns the solver of the options, or the experiment's.
fn method(options: &Predict, given: Solver) -> Result<Solver, Diagnostic> {
    if let Some(substeps) = options.substeps.filter(|substeps| *substeps > MOST_SUBSTEPS) {
        return Err(Diagnostic::new(format!("`--substeps {substeps}` is too many"))
            .with_hint(format!("give at most {MOST_SUBSTEPS}, for example `--substeps 4`")));
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suggested_number_of_points_is_accepted() {
        for (from, to) in [
            (1.0, 1.000_000_000_000_000_4),
            (1.0, 1.000_000_000_000_000_2),
            (1.7e18, 1.7e18 + 19_000.0),
            (1.7e9, 1.7e9 + 19e-6),
            (-1e16, -1e16 + 100.0),
        ] {
            let error = even(from, to, 500, &TimeOrigin::default()).unwrap_err();
            assert!(error.message.contains("too close to be told apart"), "{error}");
            let hint = error.hint.unwrap();
            let points = hint.split(['`', ' ']).find_map(|word| word.parse().ok()).unwrap();
            assert!(
                even(from, to, points, &TimeOrigin::default()).is_ok(),
                "{from} to {to}: {hint}"
            );
        }
    }
}
