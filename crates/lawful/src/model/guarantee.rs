//! Which laws the form of a vector field guarantees.

use lawful_law::{Enforcement, Law};

use crate::{FieldDescription, FieldPart};

/// What rounding may leave of the violation of a guaranteed law, as a share of the law's size. More is a
/// bug of ours, and said so.
pub(super) const ROUNDING: f64 = 1e-9;

/// What rounding leaves of it at a step, as a share of the law's size: no step counts as violated by less.
pub(super) const STEP_ROUNDING: f64 = 1e-12;

/// Returns by what a field guarantees a law, on paths that start on it.
pub(super) fn guarantee(field: &FieldDescription, law: &Law) -> Option<&'static str> {
    let by = by_itself(field, law);
    let follows = law.enforcement() == Enforcement::Hard;
    by.or_else(|| follows.then_some("the laws that it follows from"))
}

fn by_itself(field: &FieldDescription, law: &Law) -> Option<&'static str> {
    field.parts.iter().find_map(|part| match part {
        FieldPart::Network(_) | FieldPart::Scaling(_) | FieldPart::Known(_) => None,
        FieldPart::Conserving(conserving) => {
            let weights = law.invariant()?.weights;
            in_span(&conserving.sums, &weights).then_some("constant sums of the rates")
        }
        // Known rates behind it are checked where laws are chosen.
        FieldPart::Linear(_) | FieldPart::Nearest(_) if law.enforcement() != Enforcement::Hard => {
            None
        }
        FieldPart::Nearest(linear) => {
            if law.bound().is_some() || law.monotone().is_some() {
                return Some("the nearest rate within it");
            }
            let sums: Vec<_> = linear.sums.iter().map(|sum| sum.weights.clone()).collect();
            in_span(&sums, &law.invariant()?.weights)
                .then_some("the nearest rate that keeps its sum")
        }
        FieldPart::Linear(linear) => {
            if law.bound().is_some() {
                return Some("flows that end at its bound");
            }
            if law.monotone().is_some() {
                return Some("flows in its direction only");
            }
            let sums: Vec<_> = linear.sums.iter().map(|sum| sum.weights.clone()).collect();
            in_span(&sums, &law.invariant()?.weights).then_some("flows that keep its sum")
        }
        FieldPart::Smooth(smooth) => {
            let is_it = |name: &str, holds: &str| name == law.name() && holds == law.text();
            if smooth.equalities.iter().any(|known| is_it(&known.name, &known.holds)) {
                return Some("rates and steps on its surface");
            }
            let falling = smooth.falling.as_ref();
            let falls = falling.is_some_and(|known| is_it(&known.name, &known.holds));
            falls.then_some("rates and steps that never raise its quantity")
        }
    })
}

/// Returns whether a vector is a combination of others, by Gram–Schmidt orthogonalisation.
fn in_span(vectors: &[Vec<f64>], vector: &[f64]) -> bool {
    let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let without = |basis: &[Vec<f64>], v: &[f64]| {
        let mut rest = v.to_vec();
        // Twice is enough.
        for axis in basis.iter().chain(basis) {
            let along: f64 = axis.iter().zip(&rest).map(|(a, b)| a * b).sum();
            rest.iter_mut().zip(axis).for_each(|(r, a)| *r -= along * a);
        }
        rest
    };
    for known in vectors {
        // Laws read learned constants as variables behind the state, of which sums have none.
        let mut known = known.clone();
        known.resize(vector.len(), 0.0);
        let rest = without(&basis, &known);
        let length = norm(&rest);
        if length > NEGLIGIBLE * norm(&known) {
            basis.push(rest.iter().map(|x| x / length).collect());
        }
    }
    norm(&without(&basis, vector)) <= NEGLIGIBLE * norm(vector)
}

/// Vectors that differ by less are the same.
const NEGLIGIBLE: f64 = 1e-10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_combination_of_sums_is_one_of_them() {
        let sums = [vec![1.0, 1.0, 0.0], vec![0.0, 1.0, 1.0], vec![1.0, 2.0, 1.0]];
        assert!(in_span(&sums, &[2.0, 5.0, 3.0]));
        assert!(in_span(&sums, &[1.0, 0.0, -1.0, 0.0]));
        assert!(!in_span(&sums, &[1.0, 0.0, 0.0]));
        assert!(!in_span(&sums, &[1.0, 1.0, 0.0, -1.0]));
        assert!(!in_span(&[], &[1.0]));
    }
}
