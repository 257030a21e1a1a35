//! Which laws are smooth laws that a field can guarantee, and why another is not.

use lawful_law::{Conserved, Law, NotOfThisForm, Quantity};
use thiserror::Error;

/// Why a law cannot be guaranteed as a smooth one, as the end of the sentence "it is not guaranteed,
/// because …".
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotSmooth {
    /// It has another form.
    #[error("{0}")]
    Form(#[from] NotOfThisForm),
    /// It depends on an input, whose rate nobody knows.
    #[error("it depends on an input, and how fast that changes is not known")]
    Inputs,
    /// It depends on a constant that changes during training.
    #[error("it depends on a learned constant")]
    LearnedConstant,
    /// Its gradient jumps.
    #[error("the gradient of `abs`, `min` or `max` jumps")]
    Jumps,
    /// A falling quantity depends on time.
    #[error("its quantity depends on time, so that no state can keep it from rising")]
    Time,
    /// It depends on a state variable whose rate is written down, and would be altered.
    #[error("the rate of `{0}` is known, and known rates are never altered")]
    KnownRate(String),
}

/// Returns the quantity of an equality that a field can conserve: `E == initial(E)`, `x^2 + y^2 == 1`,
/// also with `t`.
///
/// `state` are the names of the state variables; variables behind them are learned constants. `known` are
/// the indices of the state variables with known rates.
///
/// # Errors
/// If the law cannot be guaranteed.
pub fn smooth_equality(
    law: &Law,
    state: &[String],
    known: &[usize],
) -> Result<Conserved, NotSmooth> {
    let conserved = law.conserved()?;
    check(&conserved.quantity, state, known)?;
    Ok(conserved)
}

/// Returns the quantity that a field can keep from rising: `next(E) <= E`.
///
/// The arguments are those of [`smooth_equality`].
///
/// # Errors
/// If the law cannot be guaranteed.
pub fn dissipation(law: &Law, state: &[String], known: &[usize]) -> Result<Quantity, NotSmooth> {
    let quantity = law.never_rising()?;
    check(&quantity, state, known)?;
    if quantity.depends_on_time() { Err(NotSmooth::Time) } else { Ok(quantity) }
}

fn check(quantity: &Quantity, state: &[String], known: &[usize]) -> Result<(), NotSmooth> {
    if quantity.depends_on_inputs() {
        return Err(NotSmooth::Inputs);
    }
    if (state.len()..quantity.state_len()).any(|constant| quantity.depends_on(constant)) {
        return Err(NotSmooth::LearnedConstant);
    }
    if !quantity.is_smooth() {
        return Err(NotSmooth::Jumps);
    }
    match known.iter().find(|&&variable| quantity.depends_on(variable)) {
        Some(&variable) => Err(NotSmooth::KnownRate(state[variable].clone())),
        None => Ok(()),
    }
}
