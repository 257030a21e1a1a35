//! Measurements: trajectories of states and inputs at their own times.

use std::sync::Arc;

use thiserror::Error;

use super::Numbers;

/// One trajectory: rows of states (and inputs) at increasing times. Copies share their rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Trajectory {
    /// Its name in the data, or a number.
    pub name: String,
    /// Times of the rows, strictly increasing.
    pub times: Numbers,
    /// States, row after row (`rows × state variables`); NaN is a missing cell, which has no weight
    /// in the loss. The first row is complete, for it is the initial state, unless that is trained
    /// (see [`Dataset::with_open_starts`]).
    pub states: Numbers,
    /// Exogenous inputs, row after row (`rows × inputs`), complete.
    pub inputs: Numbers,
    /// Rows before this one are solved but not scored: neither their errors nor their violations
    /// count. Used where a test begins later than the trajectory.
    pub scored_from: usize,
}

impl Trajectory {
    /// A trajectory without inputs, all of it scored.
    pub fn new(name: impl Into<String>, times: Vec<f64>, states: Vec<f64>) -> Self {
        let (times, states, inputs) = (times.into(), states.into(), Numbers::default());
        Self { name: name.into(), times, states, inputs, scored_from: 0 }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Returns the rows with at least one measured cell, of `width` cells each.
    pub(crate) fn measured(&self, width: usize) -> impl Iterator<Item = usize> {
        let rows = self.states.chunks_exact(width).enumerate();
        rows.filter(|(_, row)| row.iter().any(|value| value.is_finite())).map(|(n, _)| n)
    }
}

/// What is wrong with a set of trajectories.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum DataError {
    /// There is no trajectory.
    #[error("there is no trajectory")]
    NoTrajectory,
    /// The arrays of a trajectory have inconsistent lengths.
    #[error(
        "trajectory `{trajectory}` has {rows} times, so it needs {expected} {what}, not {found}"
    )]
    Length {
        /// The trajectory's name.
        trajectory: String,
        /// Its number of times.
        rows: usize,
        /// `state values` or `input values`.
        what: &'static str,
        /// How many there must be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A trajectory without an interval to solve over.
    #[error("trajectory `{trajectory}` has {rows} row(s); at least 2 are needed")]
    TooShort {
        /// The trajectory's name.
        trajectory: String,
        /// Its number of rows.
        rows: usize,
    },
    /// A time that does not come after the one before.
    #[error("trajectory `{trajectory}`: time {time} in row {row} does not come after {before}")]
    Time {
        /// The trajectory's name.
        trajectory: String,
        /// The row, counted from 0.
        row: usize,
        /// Its time.
        time: f64,
        /// The time of the row before.
        before: f64,
    },
    /// A value that is infinite, or NaN where a number is needed.
    #[error("trajectory `{trajectory}`, row {row}: `{variable}` is {value}")]
    NotFinite {
        /// The trajectory's name.
        trajectory: String,
        /// The row, counted from 0.
        row: usize,
        /// The state variable, the input, or `t`.
        variable: String,
        /// Its value.
        value: f64,
    },
    /// The first row gives the initial state, so it must be complete.
    #[error("trajectory `{trajectory}` has no initial value of `{variable}` in its first row")]
    NoInitialValue {
        /// The trajectory's name.
        trajectory: String,
        /// The state variable that is missing.
        variable: String,
    },
}

/// Checked measurements: trajectories that can be trained on or scored. Copies share them.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    state: Vec<String>,
    inputs: Vec<String>,
    trajectories: Arc<Vec<Trajectory>>,
}

impl Dataset {
    /// Checks the trajectories; `state` and `inputs` name their columns.
    pub fn new(
        state: Vec<String>,
        inputs: Vec<String>,
        trajectories: Vec<Trajectory>,
    ) -> Result<Self, DataError> {
        let dataset = Self::with_open_starts(state, inputs, trajectories)?;
        dataset.check_starts()?;
        Ok(dataset)
    }

    /// Checks that every first row is complete, so that it can be an initial state.
    ///
    /// # Errors
    /// If a cell is missing.
    pub fn check_starts(&self) -> Result<(), DataError> {
        for trajectory in &*self.trajectories {
            let first = trajectory.states.iter().zip(&self.state);
            if let Some((_, variable)) = first.clone().find(|(value, _)| value.is_nan()) {
                let (trajectory, variable) = (trajectory.name.clone(), variable.clone());
                return Err(DataError::NoInitialValue { trajectory, variable });
            }
        }
        Ok(())
    }

    /// Checks the trajectories for a training that trains initial states: the first row may have gaps.
    pub fn with_open_starts(
        state: Vec<String>,
        inputs: Vec<String>,
        trajectories: Vec<Trajectory>,
    ) -> Result<Self, DataError> {
        if trajectories.is_empty() {
            return Err(DataError::NoTrajectory);
        }
        for trajectory in &trajectories {
            check(trajectory, &state, &inputs)?;
        }
        Ok(Self { state, inputs, trajectories: Arc::new(trajectories) })
    }

    /// One trajectory from arrays in memory; `states` are rows, one value per name each.
    ///
    /// ```
    /// let data = lawful::Dataset::single(&["x"], vec![0.0, 1.0], vec![1.0, 0.5]).unwrap();
    /// assert_eq!(data.rows(), 2);
    /// ```
    pub fn single(state: &[&str], times: Vec<f64>, states: Vec<f64>) -> Result<Self, DataError> {
        let names = state.iter().map(ToString::to_string).collect();
        Self::new(names, Vec::new(), vec![Trajectory::new("1", times, states)])
    }

    /// Names of the state variables.
    pub fn state(&self) -> &[String] {
        &self.state
    }

    /// Names of the inputs.
    pub fn inputs(&self) -> &[String] {
        &self.inputs
    }

    /// The trajectories.
    pub fn trajectories(&self) -> &[Trajectory] {
        &self.trajectories
    }

    /// Number of rows of all trajectories.
    pub fn rows(&self) -> usize {
        self.trajectories.iter().map(Trajectory::len).sum()
    }

    /// Number of rows with at least one measured cell, of all trajectories.
    pub fn measured_rows(&self) -> usize {
        let of = |trajectory: &Trajectory| trajectory.measured(self.state.len()).count();
        self.trajectories.iter().map(of).sum()
    }

    /// Returns whether any measured cell is scored.
    pub(crate) fn has_scored_cells(&self) -> bool {
        let d = self.state.len();
        self.trajectories.iter().any(|t| t.measured(d).any(|row| row >= t.scored_from))
    }

    /// Number of cells without a measurement.
    pub fn missing(&self) -> usize {
        self.trajectories.iter().flat_map(|t| &*t.states).filter(|value| value.is_nan()).count()
    }
}

fn check(trajectory: &Trajectory, state: &[String], inputs: &[String]) -> Result<(), DataError> {
    let name = || trajectory.name.clone();
    let rows = trajectory.len();
    for (what, width, found) in [
        ("state values", state.len(), trajectory.states.len()),
        ("input values", inputs.len(), trajectory.inputs.len()),
    ] {
        let expected = rows * width;
        if found != expected {
            return Err(DataError::Length { trajectory: name(), rows, what, expected, found });
        }
    }
    if rows < 2 {
        return Err(DataError::TooShort { trajectory: name(), rows });
    }
    let not_finite = |row, variable: &str, value| DataError::NotFinite {
        trajectory: name(),
        row,
        variable: variable.to_owned(),
        value,
    };
    for (row, &time) in trajectory.times.iter().enumerate() {
        if !time.is_finite() {
            return Err(not_finite(row, "t", time));
        }
        if row > 0 && time <= trajectory.times[row - 1] {
            let before = trajectory.times[row - 1];
            return Err(DataError::Time { trajectory: name(), row, time, before });
        }
    }
    for (cell, &value) in trajectory.states.iter().enumerate() {
        let (row, variable) = (cell / state.len(), &state[cell % state.len()]);
        if value.is_infinite() {
            return Err(not_finite(row, variable, value));
        }
    }
    for (cell, &value) in trajectory.inputs.iter().enumerate() {
        if !value.is_finite() {
            return Err(not_finite(cell / inputs.len(), &inputs[cell % inputs.len()], value));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(times: &[f64], states: &[f64]) -> String {
        Dataset::single(&["x", "v"], times.to_vec(), states.to_vec()).unwrap_err().to_string()
    }

    #[test]
    fn each_mistake_is_named() {
        assert_eq!(
            error(&[0.0], &[1.0, 2.0]),
            "trajectory `1` has 1 row(s); at least 2 are needed"
        );
        assert_eq!(
            error(&[0.0, 1.0], &[1.0, 2.0, 3.0]),
            "trajectory `1` has 2 times, so it needs 4 state values, not 3"
        );
        assert_eq!(
            error(&[0.0, 0.0], &[1.0, 2.0, 3.0, 4.0]),
            "trajectory `1`: time 0 in row 1 does not come after 0"
        );
        assert_eq!(
            error(&[0.0, 1.0], &[1.0, f64::NAN, 3.0, 4.0]),
            "trajectory `1` has no initial value of `v` in its first row"
        );
        assert_eq!(
            error(&[0.0, 1.0], &[1.0, 2.0, 3.0, f64::INFINITY]),
            "trajectory `1`, row 1: `v` is inf"
        );
        let none = Dataset::new(vec!["x".into()], Vec::new(), Vec::new());
        assert_eq!(none, Err(DataError::NoTrajectory));
    }

    #[test]
    fn missing_cells_after_the_first_row_are_normal() {
        let data = Dataset::single(&["x"], vec![0.0, 1.0, 3.0], vec![1.0, f64::NAN, 2.0]).unwrap();
        assert_eq!((data.rows(), data.missing()), (3, 1));
    }
}
