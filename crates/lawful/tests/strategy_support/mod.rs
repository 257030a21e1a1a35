//! A misfit whose numbers are easy to work by hand, for tests of strategies.

#![allow(dead_code, reason = "each test uses some of them")]

use lawful::Relation;
use lawful::strategy::{Evaluator, LawRows, MisfitView, Slopes, Strategy, fill_violations};

/// Two equalities and one inequality:
///
/// | law | violations | mean | share of violated steps | mean of ψ |
/// |---|---|---|---|---|
/// | 0, equality | 1, 0 | 1/2 | 1/2 | 1/4 |
/// | 1, equality | 3, 1, 1/3, 0 | 13/12 | 3/4 | (3/4 + 1/2 + 1/4)/4 = 3/8 |
/// | 2, inequality | 0, 3 | 3/2 | 1/2 | 3/8 |
///
/// Loss terms 1 and 5: their mean is 3, and ψ(3) = 3/4; the mean of ψ is (1/2 + 5/6)/2 = 2/3.
pub(crate) const LAWS: [LawRows; 3] = [
    LawRows { relation: Relation::Equality, start: 0, len: 2, points: 2 },
    LawRows { relation: Relation::Equality, start: 2, len: 4, points: 4 },
    LawRows { relation: Relation::AtMost, start: 6, len: 2, points: 2 },
];
pub(crate) const VIOLATIONS: [f64; 8] = [1.0, 0.0, 3.0, 1.0, 1.0 / 3.0, 0.0, 0.0, 3.0];
/// The residuals behind them: one of the second equality is negative, and so is one of the inequality.
pub(crate) const RESIDUALS: [f64; 8] = [1.0, 0.0, 3.0, 1.0, -1.0 / 3.0, 0.0, -2.0, 3.0];
pub(crate) const POINTS: [usize; 8] = [0, 1, 0, 1, 2, 3, 0, 1];
pub(crate) const TERMS: [f64; 2] = [1.0, 5.0];

pub(crate) fn view() -> MisfitView<'static> {
    MisfitView {
        terms: &TERMS,
        residuals: &RESIDUALS,
        violations: &VIOLATIONS,
        points: &POINTS,
        laws: &LAWS,
        margin: 0.0,
    }
}

/// The violations of these residuals.
pub(crate) fn violations(residuals: &[f64; 8]) -> [f64; 8] {
    let mut violations = [0.0; 8];
    fill_violations(&LAWS, residuals, 0.0, &mut violations);
    violations
}

pub(crate) struct Expected<'a> {
    pub(crate) weights: &'a [f64],
    pub(crate) value: f64,
    pub(crate) fit: f64,
    pub(crate) violation: f64,
    pub(crate) term_slopes: &'a [f64],
    pub(crate) residual_slopes: &'a [f64],
}

pub(crate) fn check(strategy: Box<dyn Strategy>, view: &MisfitView, expected: &Expected) {
    let name = strategy.name();
    let mut evaluator = Evaluator::new(strategy, view.laws).unwrap();
    let value = evaluator.evaluate(view, 0);
    let Slopes { terms, residuals } = evaluator.slopes();
    for (what, found, expected) in [
        ("weights", evaluator.weights(), expected.weights),
        ("value", &[value.value], &[expected.value]),
        ("fit", &[value.fit], &[expected.fit]),
        ("violation", &[value.violation], &[expected.violation]),
        ("slopes of terms", terms, expected.term_slopes),
        ("slopes of residuals", residuals, expected.residual_slopes),
    ] {
        assert_eq!(found.len(), expected.len(), "{name}: {what}");
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-15, "{name}: {what} {found} is not {expected}");
        }
    }
}
