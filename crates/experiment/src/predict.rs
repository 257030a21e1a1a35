//! Predictions as files, as smooth curves, and at many times.

use std::ops::Range;

use lawful::{Control, Dataset, Model, PredictError, Table, Trajectory, exact};

use crate::csv_writer::CsvWriter;
use crate::table::TimeOrigin;

/// Fewest points of a curve that looks smooth.
const SMOOTH: usize = 1000;

/// Returns times along a trajectory, dense enough for a smooth curve, including the measured times.
pub fn smooth_times(trajectory: &Trajectory) -> Vec<f64> {
    let (first, last) = (trajectory.times[0], trajectory.times[trajectory.len() - 1]);
    let mut times = trajectory.times.to_vec();
    if times.len() < SMOOTH {
        let between = (1..SMOOTH).map(|n| first + (last - first) * n as f64 / SMOOTH as f64);
        times.extend(between);
        times.sort_by(f64::total_cmp);
        times.dedup();
    }
    times
}

/// Numbers of a part of a prediction that are in memory at the same time: 32 MiB.
pub(crate) const PART: usize = 1 << 22;

/// A prediction at any number of times, in parts of bounded memory.
///
/// Adaptive steps do not depend on the times inside: every part is solved to the last time, and read
/// off at its own times. Steps on a grid end at every time: a part begins where the one before ended.
/// Values are the same in parts of any size.
#[expect(missing_debug_implementations, reason = "it has a function")]
#[derive(Clone, Copy)]
pub struct Prediction<'a> {
    /// The model, with the solver to use.
    pub model: &'a Model,
    /// The time of the initial state.
    pub start: f64,
    /// The initial state.
    pub initial: &'a [f64],
    /// The inputs.
    pub inputs: Table<'a>,
    /// Number of output times.
    pub points: usize,
    /// The output times: none before `start`, strictly increasing.
    pub time: &'a (dyn Fn(usize) -> f64 + Sync),
}

impl Prediction<'_> {
    /// Calls `print` with the times and states of each part, in order, until it returns false.
    ///
    /// # Errors
    /// If the solver fails; then nothing was printed.
    pub fn run(&self, print: impl FnMut(&[f64], &[f64]) -> bool) -> Result<(), PredictError> {
        self.run_in_parts((PART / (self.initial.len() + 1)).max(1), print)
    }

    fn run_in_parts(
        &self,
        rows: usize,
        mut print: impl FnMut(&[f64], &[f64]) -> bool,
    ) -> Result<(), PredictError> {
        let on_grid = matches!(self.model.solver().control(), Control::Grid { .. });
        if on_grid && self.points > rows {
            // A later part can fail, and nothing is printed of a prediction that fails.
            self.each_part(rows, on_grid, &mut |_, _| true)?;
        }
        self.each_part(rows, on_grid, &mut print)
    }

    fn each_part(
        &self,
        rows: usize,
        on_grid: bool,
        print: &mut dyn FnMut(&[f64], &[f64]) -> bool,
    ) -> Result<(), PredictError> {
        let mut place = self.begin();
        let mut first = 0;
        while first < self.points {
            let part = first..(first + rows).min(self.points);
            let (times, shown) = self.part(&mut place, part.clone(), on_grid)?;
            if !print(&times, &shown) {
                break;
            }
            first = part.end;
        }
        Ok(())
    }

    /// Returns where the first part begins.
    pub(crate) fn begin(&self) -> Place {
        Place { start: self.start, initial: self.initial.to_vec() }
    }

    /// Returns the times and states of a part, and moves on to the next.
    pub(crate) fn part(
        &self,
        place: &mut Place,
        part: Range<usize>,
        on_grid: bool,
    ) -> Result<(Vec<f64>, Vec<f64>), PredictError> {
        let d = self.initial.len();
        let mut times: Vec<f64> = part.clone().map(self.time).collect();
        let lead = usize::from(times[0] > place.start);
        if lead == 1 {
            times.insert(0, place.start);
        }
        let inside = lead + part.len();
        if !on_grid && part.end < self.points {
            times.push((self.time)(self.points - 1));
        }
        let states = self.model.predict_since(self.start, &place.initial, &times, self.inputs)?;
        let shown = states[lead * d..inside * d].to_vec();
        if on_grid {
            place.start = times[inside - 1];
            place.initial.copy_from_slice(&shown[shown.len() - d..]);
        }
        times.truncate(inside);
        times.drain(..lead);
        Ok((times, shown))
    }
}

/// Where the next part of a prediction begins.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) start: f64,
    pub(crate) initial: Vec<f64>,
}

/// Rows of a file of predictions, about: of more, it has every second, third, … and the last of each
/// trajectory.
const MOST_ROWS: usize = 100_000;

/// Returns predictions at the times of a dataset as a CSV text: `trajectory,t,…`; at every n-th time of each
/// trajectory, and the last, if there are more than 100 000.
pub fn csv_text(dataset: &Dataset, origin: &TimeOrigin, predicted: &[Vec<f64>]) -> String {
    let names = dataset.state();
    let every = dataset.rows().div_ceil(MOST_ROWS);
    let mut csv = CsvWriter::new();
    csv.row(["trajectory", "t"].into_iter().chain(names.iter().map(String::as_str)));
    for (trajectory, states) in dataset.trajectories().iter().zip(predicted) {
        let rows = trajectory.times.iter().zip(states.chunks_exact(names.len())).enumerate();
        let last = trajectory.len() - 1;
        for (_, (t, row)) in rows.filter(|(n, _)| n.is_multiple_of(every) || *n == last) {
            csv.cell(&trajectory.name);
            csv.cell(origin.shown(*t));
            for value in row {
                csv.cell(exact(*value));
            }
            csv.end_row();
        }
    }
    csv.into_text()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_embedded;
    use lawful::{Adaptive, Solver, Tableau};

    const EXPERIMENT: &str = r#"
[system]
state = ["x", "v"]
[data.simulate]
equations = { x = "v", v = "-x" }
initial = { x = 1, v = 0 }
grid = { from = 0, to = 5, points = 20 }
[field]
hidden = [6]
activations = "tanh"
[training]
optimiser = "adam"
iterations = 1
"#;

    #[test]
    fn parts_of_any_size_give_the_same_values() {
        let training = read_embedded("a.toml", EXPERIMENT).unwrap().experiment.training;
        let model = training.model(training.initial_theta(), 0);
        let grid = |name| {
            let control = Control::Grid { substeps: 2 };
            Solver::new(Tableau::from_name(name).unwrap(), control).unwrap()
        };
        let loose = Control::Adaptive(Adaptive::with_tolerances(1e-4, 1e-6));
        let dopri5 = Tableau::from_name("dopri5").unwrap();
        let adaptive = Solver::new(dopri5, loose).unwrap();
        for solver in [adaptive, grid("rk4"), grid("dopri5")] {
            let model = model.clone().with_solver(solver);
            for from in [0.0, 0.3] {
                let prediction = Prediction {
                    model: &model,
                    start: 0.0,
                    initial: &[1.0, 0.0],
                    inputs: Table { times: &[], values: &[] },
                    points: 101,
                    time: &|n| from + 0.2 * n as f64,
                };
                let parts = |rows| {
                    let (mut times, mut states, mut parts) = (Vec::new(), Vec::new(), 0);
                    let run = prediction.run_in_parts(rows, |t, y| {
                        assert_eq!((t.len() * 2, t.len() <= rows), (y.len(), true));
                        times.extend_from_slice(t);
                        states.extend_from_slice(y);
                        parts += 1;
                        true
                    });
                    run.unwrap();
                    assert_eq!(parts, 101_usize.div_ceil(rows));
                    (times, states)
                };
                let whole = parts(101);
                for rows in [1, 7, 50, 100] {
                    assert_eq!(parts(rows), whole, "{solver:?} from {from} in parts of {rows}");
                }
            }
        }
    }
}
