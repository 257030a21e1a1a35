//! Where laws count in a training: between rows, up to the horizon, and at the times of test sets.

use lawful_law::Enforcement;

use super::{Phase, Prepared};
use crate::data::Batch;
use crate::{Dataset, LawPoints, Trajectory};

/// Test times further beyond the last row than this, in durations of the trajectory, do not count.
pub(super) const FAR: f64 = 20.0;

/// Most rows beyond the measured ones of all trajectories.
pub(super) const MOST_ROWS: usize = 1_000_000;

impl Prepared {
    /// Returns whether laws enter the objective of a phase.
    fn enforces(&self, phase: &Phase) -> bool {
        let penalised = |law: &lawful_law::Law| law.enforcement() == Enforcement::Penalty;
        self.strategy_of(phase).kind.enforces() && self.laws.iter().any(penalised)
    }

    /// Returns whether paths are solved on beyond the rows in a phase that enforces laws. Windows end at
    /// rows.
    fn looks_beyond(&self, phase: &Phase) -> bool {
        let windows = matches!(phase.batch, Batch::Windows { .. });
        !windows && (self.horizon.is_some() || self.strategy_of(phase).between > 0)
    }

    /// Returns the data of a phase with rows beyond the measured ones, and the points between rows at which
    /// laws count.
    ///
    /// A trajectory goes on to the horizon, and to the last test time with its name where the strategy has
    /// points between rows or there is a horizon. Rows beyond have equal distances, at most the median
    /// distance of its rows; inputs keep their last value. Test times are points.
    pub(super) fn with_points(&self, phase: &Phase, dataset: Dataset) -> (Dataset, LawPoints) {
        let strategy = self.strategy_of(phase);
        let beyond = self.looks_beyond(phase);
        if !self.enforces(phase) || !beyond && strategy.between == 0 {
            return (dataset, LawPoints::default());
        }
        let trajectories = dataset.trajectories();
        let mut times = vec![Vec::new(); trajectories.len()];
        let mut counts = vec![0; trajectories.len()];
        if !beyond {
            let points = LawPoints::new(&dataset, strategy.between, &times, counts);
            return (dataset, points);
        }
        let mut extended = Vec::with_capacity(trajectories.len());
        for (n, trajectory) in trajectories.iter().enumerate() {
            let own = self.test_times_of(trajectory);
            let end = own.last().copied().into_iter().chain(self.horizon);
            let rows = rows_beyond(&trajectory.times, end.fold(f64::NEG_INFINITY, f64::max));
            extended.push(continued(trajectory, &rows));
            (times[n], counts[n]) = (own, rows.len());
        }
        let (state, inputs) = (dataset.state().to_vec(), dataset.inputs().to_vec());
        let dataset = Dataset::with_open_starts(state, inputs, extended);
        let dataset = dataset.expect("checked data, and rows after them");
        let points = LawPoints::new(&dataset, strategy.between, &times, counts);
        (dataset, points)
    }

    /// Returns the test times beyond the last row of a trajectory, ascending.
    fn test_times_of(&self, trajectory: &Trajectory) -> Vec<f64> {
        let (first, last) = (trajectory.times[0], trajectory.times[trajectory.len() - 1]);
        let counts = |t: &f64| *t > last && *t <= last + FAR * (last - first);
        let named = self.test_times.iter().filter(|(name, _)| *name == trajectory.name);
        let mut times: Vec<f64> = named.flat_map(|(_, times)| times).copied().collect();
        times.retain(counts);
        times.sort_unstable_by(f64::total_cmp);
        times
    }

    /// Returns the number of rows beyond the measured ones that the horizon asks for; infinite if it cannot
    /// be counted.
    pub(super) fn rows_to_horizon(data: &Dataset, horizon: f64) -> f64 {
        let rows = |trajectory: &Trajectory| {
            let last = trajectory.times[trajectory.len() - 1];
            ((horizon - last) / median_interval(&trajectory.times)).max(0.0).ceil()
        };
        data.trajectories().iter().map(rows).sum()
    }
}

/// Returns the median distance of neighbouring times.
fn median_interval(times: &[f64]) -> f64 {
    let mut intervals: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let middle = intervals.len() / 2;
    *intervals.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// Returns times after the last one of a trajectory, up to `end`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive count")]
fn rows_beyond(times: &[f64], end: f64) -> Vec<f64> {
    let last = times[times.len() - 1];
    if end <= last {
        return Vec::new();
    }
    // A whole number of intervals, up to rounding, is that number.
    let intervals = ((end - last) / median_interval(times) * (1.0 - 1e-9)).ceil();
    let count = (intervals.max(1.0) as usize).min(MOST_ROWS);
    let at = |n: usize| {
        if n == count { end } else { last + (end - last) * (n as f64 / count as f64) }
    };
    let mut rows: Vec<f64> = (1..=count).map(at).filter(|t| *t > last).collect();
    rows.dedup_by(|a, b| a <= b);
    rows
}

/// Returns a trajectory with rows without measurements behind its own.
fn continued(trajectory: &Trajectory, rows: &[f64]) -> Trajectory {
    let n = trajectory.len();
    let (d, m) = (trajectory.states.len() / n, trajectory.inputs.len() / n);
    let mut states = trajectory.states.to_vec();
    states.resize((n + rows.len()) * d, f64::NAN);
    let last = &trajectory.inputs[(n - 1) * m..];
    Trajectory {
        times: [&trajectory.times, rows].concat().into(),
        states: states.into(),
        inputs: [&*trajectory.inputs, &last.repeat(rows.len())].concat().into(),
        ..trajectory.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_beyond_have_the_median_distance_and_end_at_the_horizon() {
        assert_eq!(rows_beyond(&[0.0, 1.0, 2.0, 5.0], 8.0), [6.0, 7.0, 8.0]);
        assert_eq!(rows_beyond(&[0.0, 0.1, 0.2, 0.3], 0.5), [0.4, 0.5]);
        assert_eq!(rows_beyond(&[0.0, 1.0, 2.0], 3.5), [2.75, 3.5]);
        assert_eq!(rows_beyond(&[0.0, 1.0], 1.0), [0.0; 0]);
        assert_eq!(rows_beyond(&[0.0, 1.0], 1.25), [1.25]);
        // Where doubles are 256 apart.
        let far = rows_beyond(&[1.7e18, 1.7e18 + 256.0], 1.7e18 + 1024.0);
        assert_eq!(far, [512.0, 768.0, 1024.0].map(|t| 1.7e18 + t));
    }

    #[test]
    fn a_trajectory_continues_without_measurements_and_with_its_last_inputs() {
        let mut trajectory = Trajectory::new("a", vec![0.0, 1.0], vec![1.0, 2.0]);
        trajectory.inputs = vec![5.0, 6.0].into();
        let continued = continued(&trajectory, &[2.0, 3.0]);
        assert_eq!(continued.times, [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(continued.inputs, [5.0, 6.0, 6.0, 6.0]);
        assert_eq!(continued.states[..2], [1.0, 2.0]);
        assert!(continued.states[2..].iter().all(|x| x.is_nan()) && continued.states.len() == 4);
    }
}
