//! Predictions as files and as smooth curves.

use lawful::{Dataset, Trajectory, exact};

use crate::csv_writer::CsvWriter;

/// Fewest points of a curve that looks smooth.
const SMOOTH: usize = 1000;

/// Returns times along a trajectory, dense enough for a smooth curve, including the measured times.
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

/// Returns predictions at the times of a dataset as a CSV text: `trajectory,t,…`.
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
