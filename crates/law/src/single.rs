//! Laws about one state variable: bounds, and directions in which it may change.

use crate::law::Law;
use crate::relation::Relation;

/// A bound on one state variable: `y >= at`, or `y <= at`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// The position of the variable in a row of states.
    pub variable: usize,
    /// The bound.
    pub at: f64,
    /// Whether it is an upper bound.
    pub is_upper: bool,
}

/// A direction of one state variable: it never rises, or never falls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Monotone {
    /// The position of the variable in a row of states.
    pub variable: usize,
    /// Whether it never rises; otherwise it never falls.
    pub falls: bool,
}

impl Law {
    /// Returns the bound that the law states, if it is an inequality between one state variable at its own
    /// time step and a constant.
    ///
    /// ```
    /// # use lawful_law::{Bound, Law, Words};
    /// let vocabulary = Words::new().state(["S", "I"]).check()?;
    /// let bound = |text| Law::parse("law", text, &vocabulary).map(|laws| laws[0].bound());
    ///
    /// let half = Bound { variable: 1, at: 0.5, is_upper: true };
    /// assert_eq!(bound("2*I <= 1")?, Some(half));
    /// assert_eq!(bound("S >= 0")?, Some(Bound { variable: 0, at: 0.0, is_upper: false }));
    /// assert_eq!(bound("S + I <= 1")?, None);
    /// # Ok::<(), lawful_law::LawError>(())
    /// ```
    pub fn bound(&self) -> Option<Bound> {
        if self.relation() != Relation::AtMost {
            return None;
        }
        let linear = self.linear()?;
        let &[term] = &linear.terms[..] else { return None };
        // −0 becomes 0.
        let at = -linear.constant / term.coefficient + 0.0;
        let is_upper = term.coefficient > 0.0;
        let bound = Bound { variable: term.variable, at, is_upper };
        (linear.is_pointwise() && at.is_finite()).then_some(bound)
    }

    /// Returns the direction that the law states, if it compares one state variable with itself at the next
    /// time step, or its rate with 0.
    ///
    /// ```
    /// # use lawful_law::{Law, Monotone, Words};
    /// let vocabulary = Words::new().state(["S", "R"]).check()?;
    /// let direction = |text| Law::parse("law", text, &vocabulary).map(|laws| laws[0].monotone());
    ///
    /// assert_eq!(direction("next(S) <= S")?, Some(Monotone { variable: 0, falls: true }));
    /// assert_eq!(direction("rate(R) >= 0")?, Some(Monotone { variable: 1, falls: false }));
    /// assert_eq!(direction("S <= initial(S)")?, None);
    /// # Ok::<(), lawful_law::LawError>(())
    /// ```
    pub fn monotone(&self) -> Option<Monotone> {
        let linear = self.never_rising().ok()?.linear()?;
        let &[term] = &linear.terms[..] else { return None };
        linear
            .is_pointwise()
            .then_some(Monotone { variable: term.variable, falls: term.coefficient > 0.0 })
    }
}
