//! The tape of a network: the input and the layers' outputs of each evaluation.
#![expect(clippy::inline_always, reason = "called for each layer of each pass")]

use crate::Activation;
use crate::kernels::lanes::{Lanes, Real, packs};

/// For each slot: `x₀`, then for each hidden layer its output `x_l` and, where the slope needs it,
/// its argument `z_l`; each for all columns of the slot.
pub(super) struct Tape<T, const N: usize> {
    data: Vec<Lanes<T, N>>,
    /// Columns recorded in each slot.
    columns: Vec<usize>,
    /// Capacity of each slot in columns.
    width: usize,
    parts: Vec<Part>,
    /// Packs of one column in one slot.
    depth: usize,
}

/// Place of `x_l` and `z_l`, in packs per column of room.
#[derive(Clone, Copy)]
struct Part {
    start: usize,
    packs: usize,
    has_argument: bool,
}

impl Part {
    #[inline(always)]
    fn end(&self) -> usize {
        self.start + self.packs * (1 + usize::from(self.has_argument))
    }
}

/// What one layer reads and writes: `x_l`, `x_{l+1}` and perhaps `z_{l+1}`.
pub(super) struct Step<'a, T, const N: usize> {
    pub(super) x: &'a [Lanes<T, N>],
    pub(super) y: &'a mut [Lanes<T, N>],
    pub(super) argument: Option<&'a mut [Lanes<T, N>]>,
}

impl<T: Real, const N: usize> Tape<T, N> {
    /// A tape without slots for a network with this input length and these hidden layers.
    pub(super) fn new(input_len: usize, hidden: impl Iterator<Item = (usize, Activation)>) -> Self {
        let mut parts = vec![Part { start: 0, packs: packs(input_len, N), has_argument: false }];
        for (width, activation) in hidden {
            let start = parts.last().map_or(0, Part::end);
            let has_argument = !activation.slope_follows_from_value();
            parts.push(Part { start, packs: packs(width, N), has_argument });
        }
        let depth = parts.last().map_or(0, Part::end);
        Self { data: Vec::new(), columns: Vec::new(), width: 0, parts, depth }
    }

    /// Reserves `slots` of `columns`; their content is lost when the tape grows.
    pub(super) fn reserve(&mut self, slots: usize, columns: usize) {
        if columns > self.width || slots > self.columns.len() {
            self.width = self.width.max(columns);
            let slots = slots.max(self.columns.len());
            self.columns.clear();
            self.columns.resize(slots, 0);
            self.data.clear();
            self.data.resize(slots * self.width * self.depth, Lanes::zero());
        }
    }

    /// Bytes of one slot of `columns`.
    pub(super) fn slot_bytes(&self, columns: usize) -> usize {
        size_of::<usize>() + columns * self.depth * size_of::<Lanes<T, N>>()
    }

    /// Columns recorded in `slot`.
    #[inline(always)]
    pub(super) fn columns(&self, slot: usize) -> usize {
        self.columns[slot]
    }

    /// Returns `x₀` of `slot`, to be written for `columns` columns.
    #[inline(always)]
    pub(super) fn record(&mut self, slot: usize, columns: usize) -> &mut [Lanes<T, N>] {
        assert!(columns <= self.width, "{columns} columns, but room for {}", self.width);
        self.columns[slot] = columns;
        let len = columns * self.parts[0].packs;
        &mut self.slot_mut(slot)[..len]
    }

    /// What hidden layer `l` reads and writes in `slot`.
    #[inline(always)]
    pub(super) fn step(&mut self, slot: usize, l: usize) -> Step<'_, T, N> {
        let (columns, width) = (self.columns[slot], self.width);
        let (from, to) = (self.parts[l], self.parts[l + 1]);
        let (before, after) = self.slot_mut(slot).split_at_mut(to.start * width);
        let x = &before[from.start * width..][..columns * from.packs];
        let (y, rest) = after.split_at_mut(to.packs * width);
        let len = columns * to.packs;
        Step { x, y: &mut y[..len], argument: to.has_argument.then(|| &mut rest[..len]) }
    }

    /// `x_l` of `slot`.
    #[inline(always)]
    pub(super) fn value(&self, slot: usize, l: usize) -> &[Lanes<T, N>] {
        let part = &self.parts[l];
        let start = (slot * self.depth + part.start) * self.width;
        &self.data[start..][..self.columns[slot] * part.packs]
    }

    /// `z_l` of `slot`; empty where it is not kept.
    #[inline(always)]
    pub(super) fn argument(&self, slot: usize, l: usize) -> &[Lanes<T, N>] {
        let part = &self.parts[l];
        if !part.has_argument {
            return &[];
        }
        let start = (slot * self.depth + part.start + part.packs) * self.width;
        &self.data[start..][..self.columns[slot] * part.packs]
    }

    #[inline(always)]
    fn slot_mut(&mut self, slot: usize) -> &mut [Lanes<T, N>] {
        let len = self.depth * self.width;
        &mut self.data[slot * len..][..len]
    }
}
