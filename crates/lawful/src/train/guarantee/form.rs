//! The form by which a field can guarantee a law, and what to do about a law that has none.

use lawful_law::{Conserved, Law, Quantity, Relation};

use super::Question;
use crate::{NotSmooth, dissipation, smooth_equality};

/// How laws of each form are guaranteed.
pub(super) const EQUALITY: &str =
    "the rate has no part that would leave it, and every step returns to it";
pub(super) const FALLING: &str =
    "what would raise its quantity is removed from the rate and from every step";
pub(super) const FOLLOWS: &str = "it follows from the laws that are guaranteed already";

/// Why a law of one form is not guaranteed beside laws of the other.
pub(super) const BESIDE: &str = "bounds and directions are not guaranteed beside energies and other nonlinear laws, and the \
     other kind has more hard laws, more equalities, or more laws";

/// Returns the reason of the form that a law is nearer to, of the chosen one and the other.
pub(super) fn nearer(
    law: &Law,
    by_linear: bool,
    chosen: NotGuaranteed,
    other: NotGuaranteed,
) -> NotGuaranteed {
    let is_linear = law.linear().is_some();
    if is_linear == by_linear { chosen } else { other }
}

/// The form by which a law can be guaranteed.
#[derive(Debug, Clone)]
pub(super) enum Form {
    /// A quantity is conserved.
    Equality(Conserved),
    /// A quantity never rises.
    Falling(Quantity),
}

/// Why a law is not guaranteed, as the end of a sentence, and what can be done instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NotGuaranteed {
    pub(super) why: String,
    pub(super) hint: String,
}

/// What is always possible.
const OTHERWISE: &str = "leave `strategy = \"hard\"` out, so that `[strategy]` enforces the law by a penalty or by multipliers";

impl NotGuaranteed {
    pub(super) fn new(why: String, hint: &str) -> Self {
        let hint =
            if hint.is_empty() { OTHERWISE.to_owned() } else { format!("{hint}; or {OTHERWISE}") };
        Self { why, hint }
    }

    /// Nothing but multipliers is possible.
    pub(super) fn form(why: String) -> Self {
        Self::new(why, "")
    }
}

impl Form {
    pub(super) fn quantity(&self) -> &Quantity {
        match self {
            Self::Equality(conserved) => &conserved.quantity,
            Self::Falling(quantity) => quantity,
        }
    }

    /// Its place in the order in which laws are chosen.
    pub(super) fn rank(&self) -> u8 {
        match self {
            Self::Equality(conserved) => u8::from(!conserved.is_zero),
            Self::Falling(_) => 2,
        }
    }
}

/// Returns the form of a law.
pub(super) fn of(law: &Law, question: &Question) -> Result<Form, NotGuaranteed> {
    let (state, known) = (question.vocabulary.state(), question.known());
    let form = match law.relation() {
        Relation::Equality => smooth_equality(law, state, &known).map(Form::Equality),
        Relation::AtMost if law.reach().is_pointwise() && !law.uses_rates() => {
            let why = "it is an inequality of states other than a bound of one state variable";
            let hint = "a guarantee is for bounds such as `x >= 0`, and for `next(E) <= E`";
            return Err(NotGuaranteed::new(why.to_owned(), hint));
        }
        Relation::AtMost => dissipation(law, state, &known).map(Form::Falling),
    };
    form.map_err(|why| NotGuaranteed::new(why.to_string(), hint(&why)))
}

/// What to do about a law that is not smooth in the sense of a guarantee.
fn hint(why: &NotSmooth) -> &'static str {
    match why {
        NotSmooth::Form(_) => {
            "a guarantee is for `E == initial(E)`, for a relation of states such as `x^2 + y^2 == 1`, and \
             for `next(E) <= E`"
        }
        NotSmooth::Inputs => "write it without the input",
        NotSmooth::LearnedConstant => "give the constant a fixed value",
        NotSmooth::Jumps => "write it with powers, for example `x^2` instead of `abs(x)`",
        NotSmooth::Time => "write it without `t`",
        NotSmooth::KnownRate(_) => "leave the rate to the network",
    }
}
