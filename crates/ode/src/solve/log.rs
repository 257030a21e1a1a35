//! What a path remembers of its steps: where they are on the tape, and states to start again from.

use std::ops::Range;

use crate::path::Step;

/// All steps of a path, and its division into segments.
///
/// A *segment* is a stretch of steps whose evaluations fit on the field's tape at the same time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log {
    pub(crate) records: Vec<Record>,
    /// The steps of each record's columns, one record after the other.
    pub(crate) steps: Vec<Step>,
    pub(crate) segments: Vec<Segment>,
    /// What each segment starts from.
    pub(crate) checkpoints: Vec<f64>,
    /// The segment whose evaluations the field's tape holds.
    pub(crate) on_tape: Option<usize>,
    /// Slots that a tape has grown to: what the next adaptive solve asks for at once.
    pub(crate) room: usize,
    /// Whether the solve came to its end and recorded its steps.
    pub(crate) complete: bool,
}

/// One step of all columns that are under way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record {
    pub(crate) columns: usize,
    /// First slot that the step evaluated into.
    pub(crate) slot: usize,
    /// Whether its first stage is the end stage of the step before.
    pub(crate) reused: bool,
    /// Whether the derivative at its end was evaluated.
    pub(crate) end: bool,
}

/// Where a segment starts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segment {
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
    /// Forgets everything and keeps the room.
    pub(crate) fn clear(&mut self) {
        self.records.clear();
        self.steps.clear();
        self.segments.clear();
        self.checkpoints.clear();
        self.on_tape = None;
        self.complete = false;
    }

    /// Starts a segment at the state `y`, with the first derivative `k` if it is already known.
    pub(crate) fn start_segment(&mut self, y: &[f64], k: Option<&[f64]>) {
        self.on_tape = Some(self.segments.len());
        self.segments.push(Segment {
            first_record: self.records.len(),
            first_step: self.steps.len(),
            checkpoint: self.checkpoints.len(),
        });
        self.checkpoints.extend_from_slice(y);
        self.checkpoints.extend_from_slice(k.unwrap_or_default());
    }

    /// Records of a segment.
    pub(crate) fn records_of(&self, segment: usize) -> Range<usize> {
        let end = self.segments.get(segment + 1).map_or(self.records.len(), |s| s.first_record);
        self.segments[segment].first_record..end
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
