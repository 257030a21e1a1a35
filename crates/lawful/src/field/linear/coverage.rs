//! What becomes of each law: how it is guaranteed, or why not.

use std::fmt;

use thiserror::Error;

/// What becomes of a law.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Coverage {
    /// It is guaranteed.
    Covered(Guaranteed),
    /// It is not guaranteed.
    NotCovered(NotLinear),
    /// No state obeys it and these laws, by their names.
    Contradicts(Vec<String>),
}

impl Coverage {
    /// Returns whether the law is guaranteed.
    pub fn is_covered(&self) -> bool {
        matches!(self, Self::Covered(_))
    }
}

/// How a law is guaranteed, as the end of the sentence "it is guaranteed by …".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guaranteed {
    /// A sum whose states change by flows between them.
    Flows,
    /// A sum on which the rate is projected.
    Projection,
    /// A bound at which the rate points inwards.
    Inwards,
    /// A bound of a state in log coordinates.
    Logarithm,
    /// A direction, by the sign of the rate.
    Sign,
    /// It follows from the others that are guaranteed.
    Implied,
}

impl fmt::Display for Guaranteed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Flows => "flows between its states",
            Self::Projection => "a projection of the rate and of the steps",
            Self::Inwards => "a rate that points inwards at the bound",
            Self::Logarithm => "a rate in proportion to the distance to the bound",
            Self::Sign => "the sign of the rate",
            Self::Implied => "the other laws, from which it follows",
        })
    }
}

/// Why a law is not guaranteed as a linear one, as the end of the sentence "it is not guaranteed, because …".
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotLinear {
    /// It has another form.
    #[error("it is neither a linear sum, nor a bound or a direction of one state variable")]
    Form,
    /// It depends on a constant that changes during training.
    #[error("it depends on a learned constant")]
    LearnedConstant,
    /// It depends on a state variable whose rate is written down, and would be altered.
    #[error("the rate of `{0}` is known, and known rates are never altered")]
    KnownRate(String),
    /// An inequality between several states.
    #[error("it is an inequality between several state variables")]
    SeveralStates,
    /// A bound or a direction in a sum with weights of both signs.
    #[error("the weights in `{0}` have both signs, and flows need weights of one sign")]
    MixedSigns(String),
    /// A bound or a direction in sums that share states.
    #[error("{0} share state variables, and flows keep one sum each")]
    SharedStates(String),
    /// A bound or a direction in a sum of many states.
    #[error("`{0}` has more than 12 state variables, each pair of which would need a flow")]
    ManyStates(String),
}
