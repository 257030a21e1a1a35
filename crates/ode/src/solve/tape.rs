//! Which slots of the field's tape a step evaluates into.
//!
//! Slots are assigned one after the other. A full tape grows up to the bound on memory, and is then
//! used again from the start. In both cases its content is lost, and a new checkpoint block begins.

/// The field's slots.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tape {
    /// Slots that the field has room for.
    pub(crate) room: usize,
    /// Slots that the memory allows.
    bound: usize,
    /// The next free slot.
    pub(crate) next: usize,
}

/// Result of reserving slots for a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    /// The slots are free.
    Free,
    /// The tape has to grow to `room` slots first, and loses its content.
    Grown,
    /// The tape starts again from slot 0.
    Wrapped,
}

impl Tape {
    /// A tape for `wanted` slots, if `memory` bytes suffice for that, and for one step in any case.
    pub(crate) fn new(wanted: usize, per_step: usize, memory: usize, slot_bytes: usize) -> Self {
        let bound = (memory / slot_bytes.max(1)).max(per_step);
        Self { room: wanted.clamp(per_step, bound), bound, next: 0 }
    }

    /// Finds room for a step of `slots` slots, from [`next`](Self::next) on.
    pub(crate) fn find(&mut self, slots: usize) -> Room {
        let needed = self.next + slots;
        if needed <= self.room {
            Room::Free
        } else if needed <= self.bound {
            self.room = (2 * needed).min(self.bound);
            Room::Grown
        } else {
            self.next = 0;
            Room::Wrapped
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Room::{Free, Grown, Wrapped};
    use super::*;

    #[test]
    fn tape_doubles_up_to_its_bound_and_then_wraps() {
        let mut tape = Tape::new(10, 5, 32, 1);
        let mut seen = Vec::new();
        for _ in 0..9 {
            let room = tape.find(5);
            seen.push((room, tape.room, tape.next));
            tape.next += 5;
        }
        let expected = [
            (Free, 10, 0),
            (Free, 10, 5),
            (Grown, 30, 10),
            (Free, 30, 15),
            (Free, 30, 20),
            (Free, 30, 25),
            (Wrapped, 30, 0),
            (Free, 30, 5),
            (Free, 30, 10),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn one_step_fits_even_without_memory() {
        let mut tape = Tape::new(100, 7, 0, 64);
        assert_eq!((tape.room, tape.find(7)), (7, Free));
    }
}
