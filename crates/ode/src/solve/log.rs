//! The record of a path's steps: their slots on the tape, and checkpoints to recompute them from.

use std::ops::Range;

use crate::path::Step;

/// All steps of a path, divided into checkpoint blocks.
///
/// A *checkpoint block* is a run of steps whose evaluations fit on the field's tape at the same
/// time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log {
    pub(crate) records: Vec<Record>,
    /// The steps of each record's columns, one record after the other.
    pub(crate) steps: Vec<Step>,
    pub(crate) checkpoint_blocks: Vec<CheckpointBlock>,
    /// State, and where it is known the first derivative, at the start of each block.
    pub(crate) checkpoints: Vec<f64>,
    /// States, and where the dense output needs them stages, of the steps on the tape, if the field has
    /// a guard.
    pub(crate) guarded: Vec<f64>,
    /// The block whose evaluations the field's tape holds.
    pub(crate) on_tape: Option<usize>,
    /// Slots that a tape has grown to: the next adaptive solve reserves them at once.
    pub(crate) room: usize,
    /// Whether the solve reached its end and recorded its steps.
    pub(crate) complete: bool,
}

/// One step of all active columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record {
    pub(crate) columns: usize,
    /// First slot that the step evaluated into.
    pub(crate) slot: usize,
    /// Whether its first stage is the end stage of the step before.
    pub(crate) reused: bool,
    /// Whether the derivative at its end was evaluated.
    pub(crate) end: bool,
    /// Whether there are observations inside the step.
    pub(crate) inside: bool,
}

/// Indices at which a checkpoint block starts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CheckpointBlock {
    pub(crate) first_record: usize,
    pub(crate) first_step: usize,
    pub(crate) checkpoint: usize,
}

impl Record {
    /// Slot of the second stage; the others follow.
    pub(crate) fn inner_slot(&self) -> usize {
        self.slot + usize::from(!self.reused)
    }

    /// Slot of the end stage, after `own_stages − 1` inner ones.
    pub(crate) fn end_slot(&self, own_stages: usize) -> usize {
        self.inner_slot() + own_stages - 1
    }
}

impl Log {
    /// Removes all steps and keeps the allocations.
    pub(crate) fn clear(&mut self) {
        self.records.clear();
        self.steps.clear();
        self.checkpoint_blocks.clear();
        self.checkpoints.clear();
        self.guarded.clear();
        self.on_tape = None;
        self.complete = false;
    }

    /// Starts a checkpoint block at the state `y`, with the first derivative `k` if it is known.
    pub(crate) fn start_checkpoint_block(&mut self, y: &[f64], k: Option<&[f64]>) {
        self.on_tape = Some(self.checkpoint_blocks.len());
        self.guarded.clear();
        self.checkpoint_blocks.push(CheckpointBlock {
            first_record: self.records.len(),
            first_step: self.steps.len(),
            checkpoint: self.checkpoints.len(),
        });
        self.checkpoints.extend_from_slice(y);
        self.checkpoints.extend_from_slice(k.unwrap_or_default());
    }

    /// Records of a checkpoint block.
    pub(crate) fn records_of(&self, block: usize) -> Range<usize> {
        let next = self.checkpoint_blocks.get(block + 1);
        let end = next.map_or(self.records.len(), |next| next.first_record);
        self.checkpoint_blocks[block].first_record..end
    }

    /// Steps of one column.
    pub(crate) fn steps(&self, column: usize) -> impl Iterator<Item = Step> + '_ {
        let mut first = 0;
        self.records.iter().map_while(move |record| {
            let step = (column < record.columns).then(|| self.steps[first + column]);
            first += record.columns;
            step
        })
    }
}
