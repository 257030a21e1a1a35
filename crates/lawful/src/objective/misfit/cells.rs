//! The measured cells of a set of segments, as runs that follow each other in the paths and in the data: a million
//! rows without a gap need no number for each of their cells.

use std::ops::Range;

use crate::Dataset;

/// A run of measured cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cells {
    /// Index of the first in the states of the first layer.
    pub(super) at: usize,
    /// Index of the trajectory, and of the first cell in its states.
    trajectory: usize,
    from: usize,
    len: usize,
}

impl Cells {
    /// Adds a cell, to the last run if it follows that one.
    pub(super) fn push(runs: &mut Vec<Self>, at: usize, (trajectory, from): (usize, usize)) {
        match runs.last_mut() {
            Some(last)
                if (last.at + last.len, last.trajectory, last.from + last.len)
                    == (at, trajectory, from) =>
            {
                last.len += 1;
            }
            _ => runs.push(Self { at, trajectory, from, len: 1 }),
        }
    }

    /// Returns the number of cells of some runs.
    pub(super) fn count(runs: &[Self]) -> usize {
        runs.iter().map(|run| run.len).sum()
    }

    /// Returns the indices in the states of the first layer.
    pub(super) fn range(&self) -> Range<usize> {
        self.at..self.at + self.len
    }

    /// Returns the measured values.
    pub(super) fn measured<'a>(&self, dataset: &'a Dataset) -> &'a [f64] {
        &dataset.trajectories()[self.trajectory].states[self.from..][..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_that_follow_each_other_in_paths_and_data_are_one_run() {
        let mut runs = Vec::new();
        // The second trajectory, with a gap in the data and one in the path.
        for (at, from) in [(4, 0), (5, 1), (7, 3), (8, 4), (10, 5)] {
            Cells::push(&mut runs, at, (1, from));
        }
        Cells::push(&mut runs, 11, (0, 6));
        let found: Vec<_> =
            runs.iter().map(|run| (run.range(), run.trajectory, run.from)).collect();
        assert_eq!(found, [(4..6, 1, 0), (7..9, 1, 3), (10..11, 1, 5), (11..12, 0, 6)]);
        assert_eq!(Cells::count(&runs), 6);
    }
}
