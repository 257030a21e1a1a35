//! The other time steps that a residual depends on, and the time steps at which it exists.

use std::ops::Range;

/// The time steps that a value at one time step depends on.
///
/// `next(e)` exists where the next step exists and `e` exists at that step. `initial(e)` exists
/// everywhere if `e` exists at the first step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reach {
    /// The number of earlier steps that must exist.
    pub back: usize,
    /// The number of later steps that must exist.
    pub ahead: usize,
    /// `Some(a)` if `initial` is used: the steps `0..=a` must exist.
    pub initial: Option<usize>,
    /// `Some(b)` if `final` is used: the last `b + 1` steps must exist.
    pub final_: Option<usize>,
}

impl Reach {
    /// Returns the time steps at which the value exists, on a trajectory with `steps` time steps.
    /// The range is empty if the trajectory is too short.
    pub fn range(&self, steps: usize) -> Range<usize> {
        let exists = |needed: Option<usize>| needed.is_none_or(|needed| needed < steps);
        let end = steps.saturating_sub(self.ahead);
        if exists(self.initial) && exists(self.final_) && self.back < end {
            self.back..end
        } else {
            0..0
        }
    }

    /// Returns whether the value depends on no other time step.
    pub fn is_pointwise(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the reach of a value that depends on both.
    pub(crate) fn join(self, other: Self) -> Self {
        Self {
            back: self.back.max(other.back),
            ahead: self.ahead.max(other.ahead),
            initial: self.initial.max(other.initial),
            final_: self.final_.max(other.final_),
        }
    }

    pub(crate) fn next(self) -> Self {
        Self { back: self.back.saturating_sub(1), ahead: self.ahead + 1, ..self }
    }

    pub(crate) fn previous(self) -> Self {
        Self { back: self.back + 1, ahead: self.ahead.saturating_sub(1), ..self }
    }

    /// Returns `None` if the value never exists at the first step.
    pub(crate) fn initial(self) -> Option<Self> {
        let initial = self.initial.max(Some(self.ahead));
        (self.back == 0).then_some(Self { back: 0, ahead: 0, initial, ..self })
    }

    /// Returns `None` if the value never exists at the last step.
    pub(crate) fn final_(self) -> Option<Self> {
        let final_ = self.final_.max(Some(self.back));
        (self.ahead == 0).then_some(Self { back: 0, ahead: 0, final_, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn range_leaves_out_the_steps_without_neighbours() {
        let here = Reach::default();
        assert_eq!(here.range(3), 0..3);
        assert_eq!(here.next().range(3), 0..2);
        assert_eq!(here.previous().range(3), 1..3);
        assert_eq!(here.next().next().join(here.previous()).range(4), 1..2);
        assert_eq!(here.next().previous().range(3), 1..3);
    }

    #[test]
    fn a_short_trajectory_has_an_empty_range() {
        let here = Reach::default();
        assert!(here.range(0).is_empty());
        assert!(here.next().range(1).is_empty());
        let first_two = here.next().initial().unwrap();
        assert!(first_two.range(1).is_empty());
        assert_eq!(first_two.range(2), 0..2);
    }

    #[test]
    fn nothing_exists_before_the_first_or_after_the_last_step() {
        let here = Reach::default();
        assert_eq!(here.previous().initial(), None);
        assert_eq!(here.next().final_(), None);
        assert_eq!(here.previous().final_().unwrap().final_, Some(1));
    }
}
