//! Initial value problems: an initial state and observation times for each column.
//!
//! Each is one trajectory, or one segment of a trajectory. Problems that share θ are solved
//! together, as columns of one evaluation; each has its own times.

use std::ops::Range;

/// Observation times and initial state of each column.
///
/// Columns are in order of non-increasing number of times, so that the active columns are always
/// the first ones. Buffers grow and stay: [`clear`](Self::clear) and refill.
///
/// ```
/// use lawful_ode::InitialValueProblems;
/// let mut ivps = InitialValueProblems::new(2);
/// ivps.push(&[0.0, 0.5, 1.0], &[1.0, 0.0]);
/// ivps.push(&[3.0, 3.1], &[0.2, 0.4]);
/// assert_eq!(ivps.columns(), 2);
/// assert_eq!(ivps.times(1), [3.0, 3.1]);
/// assert_eq!(ivps.observations(), 5);
/// ```
#[derive(Debug, Clone)]
pub struct InitialValueProblems {
    state_len: usize,
    times: Vec<f64>,
    /// Index at which each column's times start, and the end of the last one's.
    offsets: Vec<usize>,
    initial: Vec<f64>,
}

impl InitialValueProblems {
    /// Creates an empty list of problems with `state_len` state variables.
    pub fn new(state_len: usize) -> Self {
        Self { state_len, times: Vec::new(), offsets: vec![0], initial: Vec::new() }
    }

    /// Removes all problems and keeps the allocations.
    pub fn clear(&mut self) {
        self.times.clear();
        self.offsets.truncate(1);
        self.initial.clear();
    }

    /// Adds a column that starts at `times[0]` in the state `initial`.
    ///
    /// # Panics
    /// If there is no time, if `times` are not finite and strictly increasing, if they are more
    /// than the column before has, or if `initial` has another length than the state.
    pub fn push(&mut self, times: &[f64], initial: &[f64]) {
        assert!(!times.is_empty(), "an initial value problem needs a start time");
        assert!(times.iter().all(|t| t.is_finite()), "times must be finite");
        assert!(times.is_sorted_by(|a, b| a < b), "times must be strictly increasing");
        assert_eq!(initial.len(), self.state_len, "one initial value per state variable");
        let columns = self.columns();
        assert!(
            columns == 0 || times.len() <= self.times(columns - 1).len(),
            "columns must come in order of non-increasing number of times"
        );
        self.times.extend_from_slice(times);
        self.offsets.push(self.times.len());
        self.initial.extend_from_slice(initial);
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of state variables.
    pub fn state_len(&self) -> usize {
        self.state_len
    }

    /// Number of observations of all columns together, the initial ones included.
    pub fn observations(&self) -> usize {
        self.times.len()
    }

    /// Observation times of a column; the first is its start.
    pub fn times(&self, column: usize) -> &[f64] {
        &self.times[self.rows(column)]
    }

    /// Returns the range of the column's observations among those of all columns.
    pub fn rows(&self, column: usize) -> Range<usize> {
        self.offsets[column]..self.offsets[column + 1]
    }

    /// Initial states, one column after the other.
    pub fn initial(&self) -> &[f64] {
        &self.initial
    }

    /// Initial states, mutable, for training them.
    pub fn initial_mut(&mut self) -> &mut [f64] {
        &mut self.initial
    }

    /// Number of intervals between observations of the longest problem.
    pub(crate) fn intervals(&self) -> usize {
        if self.columns() == 0 { 0 } else { self.times(0).len() - 1 }
    }

    /// Number of columns that have an interval of this index: a prefix.
    pub(crate) fn active(&self, interval: usize) -> usize {
        self.offsets.windows(2).take_while(|ends| ends[1] - ends[0] > interval + 1).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn active_columns_are_a_prefix_that_shrinks() {
        let mut ivps = InitialValueProblems::new(1);
        ivps.push(&[0.0, 1.0, 2.0], &[0.0]);
        ivps.push(&[0.0, 1.0], &[0.0]);
        ivps.push(&[5.0], &[0.0]);
        let active: Vec<_> = (0..3).map(|interval| ivps.active(interval)).collect();
        assert_eq!((ivps.intervals(), active), (2, vec![2, 1, 0]));
    }

    #[test]
    #[should_panic(expected = "non-increasing")]
    fn a_longer_problem_after_a_shorter_one_is_refused() {
        let mut ivps = InitialValueProblems::new(1);
        ivps.push(&[0.0], &[0.0]);
        ivps.push(&[0.0, 1.0], &[0.0]);
    }

    #[test]
    #[should_panic(expected = "strictly increasing")]
    fn equal_times_are_refused() {
        InitialValueProblems::new(1).push(&[0.0, 0.0], &[0.0]);
    }
}
