//! What rounding takes from a sum goes to the state that has most room.
//!
//! ```text
//! y_k += (b − w·y)/w_k
//! ```

use super::form::{FlowSum, Form};

/// Changes below this share of a sum's terms are rounding.
const ROUNDING: f64 = 1e-13;

/// What a state takes up.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shift {
    pub(super) state: usize,
    pub(super) by: f64,
    pub(super) is_more_than_rounding: bool,
}

impl FlowSum {
    /// `w·y`
    pub(super) fn of(&self, y: &[f64]) -> f64 {
        self.terms.iter().map(|&(i, w)| w * y[i]).sum()
    }

    /// Returns what keeps the sum at the end of a step from `y`; nothing of it if no state has the room and
    /// it is rounding.
    ///
    /// # Errors
    /// If no state has the room, and it is more than rounding.
    pub(super) fn shift(&self, form: &Form, y: &[f64], next: &[f64]) -> Result<Shift, ()> {
        let level = self.value.unwrap_or_else(|| self.of(y));
        let off = level - self.of(next);
        let size = level.abs() + self.terms.iter().map(|&(i, w)| (w * next[i]).abs()).sum::<f64>();
        let is_more_than_rounding = off.abs() > ROUNDING * size;
        // Of states without a limit, the largest.
        let room = |&(i, w): &(usize, f64)| {
            let room = form.states[i].room(off > 0.0, y[i], next[i]);
            (i, w, w * room.min(next[i].abs() + form.scaling.state[i]))
        };
        let most = self.terms.iter().map(room).reduce(|a, b| if b.2 > a.2 { b } else { a });
        let (state, weight, room) = most.expect("a sum has terms");
        if off.abs() < room {
            Ok(Shift { state, by: off / weight, is_more_than_rounding })
        } else if is_more_than_rounding {
            Err(())
        } else {
            Ok(Shift { state, by: 0.0, is_more_than_rounding })
        }
    }

    /// The adjoint of a shift: changes the adjoint of the end, and adds to that of the start.
    pub(super) fn shift_bar(&self, shift: &Shift, bar: &mut [f64], start_bar: &mut [f64]) {
        let weight = self.terms.iter().find(|(i, _)| *i == shift.state).map_or(1.0, |term| term.1);
        let off_bar = bar[shift.state] / weight;
        for &(i, w) in &self.terms {
            bar[i] -= w * off_bar;
            if self.value.is_none() {
                start_bar[i] += w * off_bar;
            }
        }
    }
}
