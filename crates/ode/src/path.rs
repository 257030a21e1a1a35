//! The computed trajectory: observed states, accepted steps, and the record that its adjoint needs.

use crate::initial_value_problems::InitialValueProblems;
use crate::sensitivity::Tangents;
use crate::solve::log::Log;
use crate::solve::workspace::Workspace;

/// One step of one column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Time at its start.
    pub start: f64,
    /// Time at its end.
    pub end: f64,
}

impl Step {
    /// Step size h.
    pub fn size(&self) -> f64 {
        self.end - self.start
    }

    /// Time `t_n + c h` of a stage; exactly the end for `c = 1`.
    pub(crate) fn time(&self, c: f64) -> f64 {
        if c < 1.0 { self.start + c * self.size() } else { self.end }
    }
}

/// Numbers of steps and evaluations of a solve, summed over the columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Accepted steps.
    pub accepted: usize,
    /// Rejected steps.
    pub rejected: usize,
    /// Accepted steps whose end the field's guard changed.
    pub corrected: usize,
    /// Steps that the field's guard refused; an adaptive solve counts them as rejected too.
    pub refused: usize,
    /// Evaluations of the right-hand side.
    pub evaluations: usize,
}

/// Result of a solve, with the record that its adjoint needs.
///
/// Reuse a path for further solves: its buffers grow and stay.
#[derive(Debug, Clone, Default)]
pub struct Path {
    pub(crate) state_len: usize,
    /// Observed states, one column after the other, rows × state each.
    pub(crate) observed: Vec<f64>,
    /// First row of each column, and the number of all rows.
    pub(crate) offsets: Vec<usize>,
    pub(crate) counts: Counts,
    pub(crate) log: Log,
    pub(crate) work: Workspace,
    pub(crate) tangents: Tangents,
}

impl Path {
    /// A path without steps.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Returns the states of a column at its observation times, rows × state.
    pub fn observed(&self, column: usize) -> &[f64] {
        let d = self.state_len;
        &self.observed[self.offsets[column] * d..self.offsets[column + 1] * d]
    }

    /// Returns the observed states of all columns, one column after the other.
    pub fn all_observed(&self) -> &[f64] {
        &self.observed
    }

    /// Returns the index at which a column starts in [`all_observed`](Self::all_observed).
    pub fn offset(&self, column: usize) -> usize {
        self.offsets[column] * self.state_len
    }

    /// Returns the accepted steps of a column in order; none after [`predict`](crate::predict).
    pub fn steps(&self, column: usize) -> impl Iterator<Item = Step> + '_ {
        self.log.steps(column)
    }

    /// Returns the numbers of steps and evaluations of the solve.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Number of checkpoint blocks: runs of steps that fit on the field's tape at the same time.
    ///
    /// It is 1 if the whole path fits. The adjoint computes all but the last a second time.
    pub fn checkpoint_blocks(&self) -> usize {
        self.log.checkpoint_blocks.len()
    }

    /// Marks the field's tape as overwritten since this path was solved.
    ///
    /// The adjoint then computes the path again from its checkpoints instead of reading the tape.
    pub fn lose_tape(&mut self) {
        self.log.on_tape = None;
    }

    /// Prepares for a solve of these problems: the first observation is the initial state.
    pub(crate) fn begin(&mut self, ivps: &InitialValueProblems, state_len: usize) {
        let d = state_len;
        self.state_len = d;
        self.counts = Counts::default();
        self.log.clear();
        self.offsets.clear();
        self.offsets.push(0);
        self.observed.clear();
        self.observed.resize(ivps.observations() * d, 0.0);
        for column in 0..ivps.columns() {
            let rows = ivps.rows(column);
            self.offsets.push(rows.end);
            self.observed[rows.start * d..][..d]
                .copy_from_slice(&ivps.initial()[column * d..][..d]);
        }
    }
}
