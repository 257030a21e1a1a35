//! Errors of solves and of invalid solvers, as sentences for the user.

use std::error::Error;
use std::fmt;

/// Why a solve stopped before its end.
#[derive(Debug, Clone, PartialEq)]
pub enum SolveError {
    /// The right-hand side is infinite or not a number at this time and state.
    DerivativeNotFinite(Moment),
    /// The state after the step is infinite or not a number.
    NotFinite(Moment),
    /// Step-size control requires a step below the floor: a singularity, or a stiff system.
    StepTooSmall {
        /// Where the solve stopped.
        at: Moment,
        /// The smallest step allowed there.
        floor: f64,
    },
    /// The field's guard refuses the step, however short it is, or a value inside it.
    Refused {
        /// Where the solve stopped.
        at: Moment,
        /// The time of the value, if it is inside the step.
        inside: Option<f64>,
        /// Why, as the end of the sentence "the step …".
        why: String,
    },
    /// The maximum number of steps is reached before the end time.
    TooManySteps {
        /// Where the solve stopped.
        at: Moment,
        /// The maximum, accepted and rejected steps together.
        max_steps: usize,
        /// The time to be reached.
        end: f64,
    },
}

/// Column, time, step and state at which a solve stopped.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// Which column.
    pub column: usize,
    /// Time at the start of the step.
    pub t: f64,
    /// Size of the step.
    pub h: f64,
    /// State at the start of the step.
    pub y: Vec<f64>,
}

impl SolveError {
    /// Where the solve stopped.
    pub fn at(&self) -> &Moment {
        match self {
            Self::DerivativeNotFinite(at)
            | Self::NotFinite(at)
            | Self::StepTooSmall { at, .. }
            | Self::Refused { at, .. }
            | Self::TooManySteps { at, .. } => at,
        }
    }

    pub(crate) fn at_mut(&mut self) -> &mut Moment {
        match self {
            Self::DerivativeNotFinite(at)
            | Self::NotFinite(at)
            | Self::StepTooSmall { at, .. }
            | Self::Refused { at, .. }
            | Self::TooManySteps { at, .. } => at,
        }
    }

    /// Returns a hint for the user: what to try next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::DerivativeNotFinite(_) => "check where the right-hand side is defined",
            Self::NotFinite(_) => "use smaller steps, or check where the solution blows up",
            Self::StepTooSmall { .. } => {
                "the solution may blow up there, or the system may be stiff for an explicit method"
            }
            Self::Refused { .. } => {
                "use smaller or adaptive steps; if that does not help, the field contradicts its laws \
                 there"
            }
            Self::TooManySteps { .. } => "allow more steps, or loosen the tolerances",
        }
    }
}

impl fmt::Display for SolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DerivativeNotFinite(at) => write!(f, "the derivative is not finite at {at}"),
            Self::NotFinite(at) => {
                write!(f, "the solution is not finite after a step of {} from {at}", Number(at.h))
            }
            Self::StepTooSmall { at, floor } => {
                let (h, floor) = (Number(at.h), Number(*floor));
                write!(f, "the step size {h} fell below its floor {floor} at {at}")
            }
            Self::Refused { at, inside: None, why } => {
                write!(f, "the step of {} from {at} {why}", Number(at.h))
            }
            Self::Refused { at, inside: Some(t), why } => {
                let (h, t) = (Number(at.h), Number(*t));
                write!(f, "the value at t = {t}, inside the step of {h} from {at}, {why}")
            }
            Self::TooManySteps { at, max_steps, end } => {
                write!(f, "{max_steps} steps did not reach t = {}", Number(*end))?;
                write!(f, "; they ended at {at}, with a step of {}", Number(at.h))
            }
        }
    }
}

impl Error for SolveError {}

/// Number of state variables that a message shows.
const SHOWN: usize = 8;

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t = {}, y = [", Number(self.t))?;
        for (i, y) in self.y.iter().take(SHOWN).enumerate() {
            write!(f, "{}{}", if i == 0 { "" } else { ", " }, Number(*y))?;
        }
        if self.y.len() > SHOWN {
            write!(f, ", and {} more", self.y.len() - SHOWN)?;
        }
        write!(f, "]")
    }
}

/// A number, with an exponent only if it is very large or very small.
struct Number(f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let x = self.0;
        if x == 0.0 || !x.is_finite() || (1e-4..1e7).contains(&x.abs()) {
            write!(f, "{x}")
        } else {
            write!(f, "{x:e}")
        }
    }
}

/// Why a tableau and a step-size control cannot be combined.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum InvalidSolver {
    /// Adaptive steps need an error estimate, which this tableau does not have.
    NoErrorEstimate {
        /// Name of the tableau.
        name: &'static str,
    },
    /// A setting is outside its range.
    OutOfRange {
        /// Name of the setting.
        setting: &'static str,
        /// Its range.
        range: &'static str,
        /// Its value.
        value: f64,
    },
}

impl fmt::Display for InvalidSolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoErrorEstimate { name } => {
                write!(f, "`{name}` has no error estimate, so it cannot choose its steps")
            }
            Self::OutOfRange { setting, range, value } => {
                write!(f, "`{setting}` must be {range}, but it is {value}")
            }
        }
    }
}

impl Error for InvalidSolver {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_state_is_shortened_with_the_number_of_hidden_variables() {
        let at = Moment { column: 3, t: 0.5, h: 0.1, y: vec![1.0; 10] };
        let text = SolveError::NotFinite(at).to_string();
        assert_eq!(
            text,
            "the solution is not finite after a step of 0.1 from t = 0.5, \
             y = [1, 1, 1, 1, 1, 1, 1, 1, and 2 more]"
        );
    }
}
