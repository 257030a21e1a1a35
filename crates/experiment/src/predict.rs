//! What a model says at any times, from any initial state.

use lawful::ode::{self, InitialValueProblems, Inputs, Path, SolveError};
use lawful::{Dataset, Interpolation, Solver, Table, Trajectory};

use crate::csv_writer::CsvWriter;
use crate::experiment::Experiment;
use crate::number::exact;

/// States at `times`, row after row, from `initial` at `times[0]`. `table` has the inputs: those of
/// a trajectory, by its times.
pub fn states(
    experiment: &Experiment,
    theta: &[f64],
    solver: &Solver,
    times: &[f64],
    initial: &[f64],
    table: Table<'_>,
) -> Result<Vec<f64>, SolveError> {
    let mut network = experiment.network();
    network.set_parameters(&theta[..network.parameter_len()]);
    let mut ivps = InitialValueProblems::new(initial.len());
    ivps.push(times, initial);
    let mut path = Path::default();
    let inputs = Signal { interpolation: experiment.interpolation, table };
    ode::predict(&mut *network, solver, &ivps, &inputs, &mut path)?;
    Ok(path.observed(0).to_vec())
}

/// The inputs of one trajectory.
struct Signal<'a> {
    interpolation: Interpolation,
    table: Table<'a>,
}

impl Inputs for Signal<'_> {
    fn at(&self, _: usize, t: f64, step_start: f64, u: &mut [f64]) {
        self.table.at(self.interpolation, t, step_start, u);
    }

    fn next_break(&self, _: usize, t: f64) -> f64 {
        self.table.next_break(t)
    }
}

/// Fewest points of a curve that looks smooth.
const SMOOTH: usize = 1000;

/// Times along a trajectory that are dense enough for a picture, the measured ones among them.
pub fn smooth_times(trajectory: &Trajectory) -> Vec<f64> {
    let (first, last) = (trajectory.times[0], trajectory.times[trajectory.len() - 1]);
    let mut times = trajectory.times.clone();
    if times.len() < SMOOTH {
        let between = (1..SMOOTH).map(|n| first + (last - first) * n as f64 / SMOOTH as f64);
        times.extend(between);
        times.sort_by(f64::total_cmp);
        times.dedup();
    }
    times
}

/// The model along a trajectory of the data, at other times.
pub fn along(
    experiment: &Experiment,
    theta: &[f64],
    trajectory: &Trajectory,
    times: &[f64],
) -> Result<Vec<f64>, SolveError> {
    let initial = experiment.initial_state(theta, trajectory);
    let table = Table { times: &trajectory.times, values: &trajectory.inputs };
    states(experiment, theta, &experiment.predict, times, &initial, table)
}

/// Predictions at the times of a dataset, as a CSV file: `trajectory,t,…`.
pub fn csv_text(dataset: &Dataset, predicted: &[Vec<f64>]) -> String {
    let names = dataset.state();
    let mut csv = CsvWriter::new();
    csv.row(["trajectory", "t"].into_iter().chain(names.iter().map(String::as_str)));
    for (trajectory, states) in dataset.trajectories().iter().zip(predicted) {
        for (t, row) in trajectory.times.iter().zip(states.chunks_exact(names.len())) {
            csv.cell(&trajectory.name);
            for value in std::iter::once(t).chain(row) {
                csv.cell(exact(*value));
            }
            csv.end_row();
        }
    }
    csv.into_text()
}
