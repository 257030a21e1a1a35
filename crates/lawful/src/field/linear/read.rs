//! What a law says, if it is linear.

use lawful_law::{Bound, Invariant, Law, Monotone, Relation, TimeStep};

use super::coverage::NotLinear;

/// What a law says.
#[derive(Debug, Clone)]
pub(super) enum Says {
    /// A sum does not change.
    Sum(Invariant),
    /// A bound of one state.
    Bound(Bound),
    /// A direction of one state.
    Direction(Monotone),
    /// `c·y ≤ bound`, of several states.
    AtMost(Vec<f64>, f64),
    /// `c·y` of several states never rises.
    Falls(Vec<f64>),
    /// A state never exceeds its initial value, or never falls below it.
    Start(Monotone),
}

/// Reads a law of these states; variables behind them are learned constants.
pub(super) fn read(law: &Law, state: &[String], known: &[usize]) -> Result<Says, NotLinear> {
    let d = state.len();
    let check = |variables: &mut dyn Iterator<Item = usize>| {
        for variable in variables {
            if variable >= d {
                return Err(NotLinear::LearnedConstant);
            }
            if known.contains(&variable) {
                return Err(NotLinear::KnownRate(state[variable].clone()));
            }
        }
        Ok(())
    };
    let of = |weights: &[f64]| -> Vec<usize> {
        (0..weights.len()).filter(|&i| weights[i] != 0.0).collect()
    };
    if law.relation() == Relation::Equality {
        let mut invariant = law.invariant().ok_or(NotLinear::Form)?;
        check(&mut of(&invariant.weights).into_iter())?;
        invariant.weights.truncate(d);
        return Ok(Says::Sum(invariant));
    }
    if let Some(monotone) = law.monotone() {
        check(&mut std::iter::once(monotone.variable))?;
        return Ok(Says::Direction(monotone));
    }
    if let Some(bound) = law.bound() {
        check(&mut std::iter::once(bound.variable))?;
        return Ok(Says::Bound(bound));
    }
    let falling = law.never_rising().ok().and_then(|quantity| quantity.linear());
    let linear = law.linear();
    let (linear, falls) = match (falling, linear) {
        (Some(falling), _) => (falling, true),
        (None, Some(linear)) => (linear, false),
        (None, None) => return Err(NotLinear::Form),
    };
    check(&mut linear.terms.iter().map(|term| term.variable))?;
    if linear.is_pointwise() && !linear.terms.is_empty() {
        let mut c = vec![0.0; d];
        linear.terms.iter().for_each(|term| c[term.variable] = term.coefficient);
        return Ok(if falls { Says::Falls(c) } else { Says::AtMost(c, -linear.constant) });
    }
    if let [now, start] = &linear.terms[..] {
        let one = now.variable == start.variable && now.at == TimeStep::Offset(0);
        let opposite = now.coefficient + start.coefficient == 0.0 && linear.constant <= 0.0;
        if one && opposite && start.at == TimeStep::Initial(0) {
            let falls = now.coefficient > 0.0;
            return Ok(Says::Start(Monotone { variable: now.variable, falls }));
        }
    }
    Err(NotLinear::Form)
}
