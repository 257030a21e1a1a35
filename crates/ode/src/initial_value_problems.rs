//! Initial value problems: an initial state and observation times for each column.
//!
//! Each is one trajectory, or one segment of a trajectory. Problems that share θ are solved
//! together, as columns of one evaluation; each has its own times.
//!
//! A solve on a grid takes its steps between the *nodes* of each problem: all its observation times,
//! unless others are given. Observations between nodes are then read from the dense output, and do not
//! change the steps.

use std::ops::Range;

/// Observation times and initial state of each column.
///
/// Columns are in order of non-increasing number of times, so that the active columns are always
/// the first ones. Buffers grow and stay: [`clear`](Self::clear) and refill.
///
/// ```
/// use lawful_ode::InitialValueProblems;
/// let mut ivps = InitialValueProblems::new(2);
/// ivps.push(&[0.0, 0.5, 1.0], &[1.0, 0.0])?;
/// ivps.push(&[3.0, 3.1], &[0.2, 0.4])?;
/// assert_eq!(ivps.columns(), 2);
/// assert_eq!(ivps.times(1), [3.0, 3.1]);
/// assert_eq!(ivps.observations(), 5);
/// # Ok::<(), lawful_ode::InvalidProblem>(())
/// ```
#[derive(Debug, Clone)]
pub struct InitialValueProblems {
    state_len: usize,
    times: Vec<f64>,
    /// Index at which each column's times start, and the end of the last one's.
    offsets: Vec<usize>,
    /// Nodes of the columns that have other nodes than times, and the same indices of them.
    nodes: Vec<f64>,
    node_offsets: Vec<usize>,
    initial: Vec<f64>,
}

impl InitialValueProblems {
    /// Creates an empty list of problems with `state_len` state variables.
    pub fn new(state_len: usize) -> Self {
        let (offsets, node_offsets) = (vec![0], vec![0]);
        let [times, nodes, initial] = [const { Vec::new() }; 3];
        Self { state_len, times, offsets, nodes, node_offsets, initial }
    }

    /// Removes all problems and keeps the allocations.
    pub fn clear(&mut self) {
        self.times.clear();
        self.offsets.truncate(1);
        self.nodes.clear();
        self.node_offsets.truncate(1);
        self.initial.clear();
    }

    /// Adds a column that starts at `times[0]` in the state `initial`.
    ///
    /// # Errors
    /// If there is no time, if `times` are not finite and strictly increasing, if they are more
    /// than the column before has, or if `initial` has another length than the state. Nothing is
    /// added then.
    pub fn push(&mut self, times: &[f64], initial: &[f64]) -> Result<(), InvalidProblem> {
        self.check(times, times.len(), initial)?;
        self.times.extend_from_slice(times);
        self.offsets.push(self.times.len());
        self.node_offsets.push(self.nodes.len());
        self.initial.extend_from_slice(initial);
        Ok(())
    }

    /// Adds a column whose steps on a grid lie between these nodes, from the first to the last of the
    /// observation times. Columns are then in order of non-increasing number of nodes.
    ///
    /// # Errors
    /// As [`push`](Self::push), for the times and for the nodes, or if the nodes do not begin and end with
    /// the times.
    pub fn push_between(
        &mut self,
        nodes: &[f64],
        times: &[f64],
        initial: &[f64],
    ) -> Result<(), InvalidProblem> {
        self.check(nodes, nodes.len(), initial)?;
        self.check(times, nodes.len(), initial)?;
        let ends = |times: &[f64]| [times[0], times[times.len() - 1]].map(f64::to_bits);
        if ends(nodes) != ends(times) {
            return Err(InvalidProblem::NodesEndElsewhere);
        }
        self.times.extend_from_slice(times);
        self.offsets.push(self.times.len());
        self.nodes.extend_from_slice(nodes);
        self.node_offsets.push(self.nodes.len());
        self.initial.extend_from_slice(initial);
        Ok(())
    }

    /// Checks a column of this many nodes.
    fn check(&self, times: &[f64], nodes: usize, initial: &[f64]) -> Result<(), InvalidProblem> {
        if times.is_empty() {
            return Err(InvalidProblem::NoTimes);
        }
        if let Some(row) = times.iter().position(|t| !t.is_finite()) {
            return Err(InvalidProblem::TimeNotFinite { row });
        }
        if let Some(row) = times.windows(2).position(|pair| pair[0] >= pair[1]) {
            return Err(InvalidProblem::TimesNotIncreasing { row: row + 1 });
        }
        let (found, expected) = (initial.len(), self.state_len);
        if found != expected {
            return Err(InvalidProblem::StateLength { found, expected });
        }
        if let Some(last) = self.columns().checked_sub(1) {
            let (found, most) = (nodes, self.nodes(last).len());
            if found > most {
                return Err(InvalidProblem::MoreTimes { found, most });
            }
        }
        Ok(())
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

    /// Times between which a grid's steps of a column lie; the first and the last are those of its
    /// observations.
    pub fn nodes(&self, column: usize) -> &[f64] {
        let own = &self.nodes[self.node_offsets[column]..self.node_offsets[column + 1]];
        if own.is_empty() { self.times(column) } else { own }
    }

    /// Returns whether a column may have observations between its nodes.
    pub(crate) fn observes_between(&self) -> bool {
        !self.nodes.is_empty()
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

    /// Number of intervals between nodes of the longest problem.
    pub(crate) fn intervals(&self) -> usize {
        if self.columns() == 0 { 0 } else { self.nodes(0).len() - 1 }
    }

    /// Number of columns that have an interval of this index: a prefix.
    pub(crate) fn active(&self, interval: usize) -> usize {
        if self.observes_between() {
            let intervals = |column: &usize| self.nodes(*column).len() - 1;
            return (0..self.columns()).take_while(|column| intervals(column) > interval).count();
        }
        self.offsets.windows(2).take_while(|ends| ends[1] - ends[0] > interval + 1).count()
    }
}

/// Why an initial value problem cannot be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidProblem {
    /// There is no start time.
    NoTimes,
    /// A time is infinite or not a number.
    TimeNotFinite {
        /// Its index, counted from 0.
        row: usize,
    },
    /// A time is not later than the one before.
    TimesNotIncreasing {
        /// Its index, counted from 0.
        row: usize,
    },
    /// There must be one initial value per state variable.
    StateLength {
        /// Number of initial values.
        found: usize,
        /// Number of state variables.
        expected: usize,
    },
    /// Columns must be in order of non-increasing number of times, or of nodes.
    MoreTimes {
        /// Number of times.
        found: usize,
        /// Number of times of the column before.
        most: usize,
    },
    /// The first and the last node must be those of the observation times.
    NodesEndElsewhere,
}

impl std::fmt::Display for InvalidProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoTimes => write!(f, "an initial value problem needs a start time"),
            Self::TimeNotFinite { row } => write!(f, "time {row} is not finite"),
            Self::TimesNotIncreasing { row } => {
                write!(f, "time {row} is not later than the one before")
            }
            Self::StateLength { found, expected } => {
                write!(f, "{found} initial values for {expected} state variables")
            }
            Self::MoreTimes { found, most } => {
                write!(
                    f,
                    "{found} times after a column with {most}: columns must be in order of "
                )?;
                write!(f, "non-increasing number of times")
            }
            Self::NodesEndElsewhere => {
                write!(f, "the nodes of a problem begin and end with its times")
            }
        }
    }
}

impl std::error::Error for InvalidProblem {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn active_columns_are_a_prefix_that_shrinks() {
        let mut ivps = InitialValueProblems::new(1);
        for times in [&[0.0, 1.0, 2.0][..], &[0.0, 1.0], &[5.0]] {
            ivps.push(times, &[0.0]).unwrap();
        }
        let active: Vec<_> = (0..3).map(|interval| ivps.active(interval)).collect();
        assert_eq!((ivps.intervals(), active), (2, vec![2, 1, 0]));
        // Observations between nodes are no intervals.
        ivps.clear();
        ivps.push_between(&[0.0, 2.0], &[0.0, 0.5, 1.0, 2.0], &[0.0]).unwrap();
        ivps.push(&[0.0, 1.0], &[0.0]).unwrap();
        assert_eq!((ivps.intervals(), ivps.active(0), ivps.active(1)), (1, 2, 0));
        assert_eq!((ivps.nodes(0), ivps.nodes(1)), (&[0.0, 2.0][..], &[0.0, 1.0][..]));
    }

    #[test]
    fn invalid_problems_are_refused_and_nothing_is_added() {
        let mut ivps = InitialValueProblems::new(1);
        ivps.push(&[0.0, 1.0], &[0.0]).unwrap();
        let cases: [(&[f64], &[f64], &str); 5] = [
            (&[], &[0.0], "an initial value problem needs a start time"),
            (&[0.0, f64::NAN], &[0.0], "time 1 is not finite"),
            (&[0.0, 0.0], &[0.0], "time 1 is not later than the one before"),
            (&[0.0], &[0.0, 1.0], "2 initial values for 1 state variables"),
            (
                &[0.0, 1.0, 2.0],
                &[0.0],
                "3 times after a column with 2: columns must be in order of non-increasing number \
                 of times",
            ),
        ];
        for (times, initial, message) in cases {
            assert_eq!(ivps.push(times, initial).unwrap_err().to_string(), message);
            assert_eq!(ivps.push_between(times, times, initial).unwrap_err().to_string(), message);
            assert_eq!((ivps.columns(), ivps.observations()), (1, 2));
        }
        let elsewhere = ivps.push_between(&[0.0, 1.0], &[0.0, 0.5], &[0.0]).unwrap_err();
        assert_eq!(elsewhere.to_string(), "the nodes of a problem begin and end with its times");
        assert!(ivps.push_between(&[0.0, 1.0], &[0.0, 0.5, 0.2, 1.0], &[0.0]).is_err());
        assert_eq!((ivps.columns(), ivps.observations()), (1, 2));
    }
}
