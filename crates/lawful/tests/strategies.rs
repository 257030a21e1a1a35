//! Each strategy's weights, value and slopes against numbers worked by hand from the equations.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;
mod strategy_support;

use common::{all_strategies, bits};
use lawful::Relation;
use lawful::strategy::{
    AugmentedLagrangian, Evaluator, L1, L2, LawRows, MisfitView, Normalise, ObjectiveChange,
    Residual, SelfAdaptive, Vanilla, WeighBy, fill_violations,
};
use strategy_support::{Expected, LAWS, RESIDUALS, TERMS, VIOLATIONS, check, view, violations};

#[test]
fn the_residuals_of_these_tests_have_its_violations() {
    assert_eq!(bits(&violations(&RESIDUALS)), bits(&VIOLATIONS));
    assert_eq!([0, 1, 2].map(|k| view().points_of(k).len()), [2, 4, 2]);
}

#[test]
fn vanilla_is_the_mean_of_the_terms() {
    let expected = Expected {
        weights: &[0.0; 3],
        value: 3.0,
        fit: 3.0,
        violation: 0.0,
        term_slopes: &[0.5; 2],
        residual_slopes: &[0.0; 8],
    };
    check(Box::new(Vanilla), &view(), &expected);
}

#[test]
fn l1_adds_mu_times_the_mean_violation_of_each_law() {
    let mu = vec![2.0, 12.0, 4.0];
    let expected = Expected {
        weights: &mu,
        value: 3.0 + 1.0 + 13.0 + 6.0,
        fit: 3.0,
        violation: 0.5 + 13.0 / 12.0 + 1.5,
        term_slopes: &[0.5; 2],
        residual_slopes: &[1.0, 0.0, 3.0, 3.0, -3.0, 0.0, 0.0, 2.0],
    };
    check(Box::new(L1 { mu: mu.clone() }), &view(), &expected);
    let one = Expected {
        weights: &[2.0; 3],
        value: 3.0 + 2.0 * (0.5 + 13.0 / 12.0 + 1.5),
        residual_slopes: &[1.0, 0.0, 0.5, 0.5, -0.5, 0.0, 0.0, 1.0],
        ..expected
    };
    check(Box::new(L1 { mu: vec![2.0] }), &view(), &one);
}

#[test]
fn l2_adds_mu_times_the_mean_squared_violation_of_each_law() {
    let mu = vec![2.0, 36.0, 4.0];
    // Mean squares: 1/2, (9 + 1 + 1/9)/4 = 91/36, 9/2.
    let expected = Expected {
        weights: &mu,
        value: 3.0 + 1.0 + 91.0 + 18.0,
        fit: 3.0,
        violation: 0.5 + 13.0 / 12.0 + 1.5,
        term_slopes: &[0.5; 2],
        residual_slopes: &[2.0, 0.0, 54.0, 18.0, -6.0, 0.0, 0.0, 12.0],
    };
    check(Box::new(L2 { mu: mu.clone() }), &view(), &expected);
}

#[test]
fn self_adaptive_follows_equations_4_to_9() {
    // φ = 3/4 + (1/2)(1/2 · 1/4 + 3/4 · 3/8) + (1/1)(1/2 · 3/8); ψ′(0, 1/3, 1, 3) = 1, 9/16, 1/4, 1/16.
    let expected = Expected {
        weights: &[0.5, 0.75, 0.5],
        value: 0.75 + 0.5 * (0.125 + 9.0 / 32.0) + 3.0 / 16.0,
        fit: 0.75,
        violation: 0.25 + 0.375 + 0.375,
        term_slopes: &[1.0 / 32.0; 2],
        residual_slopes: &[
            0.25 / 8.0,
            0.0,
            3.0 / 32.0 / 16.0,
            3.0 / 32.0 / 4.0,
            -3.0 / 32.0 * 9.0 / 16.0,
            0.0,
            0.0,
            0.25 / 16.0,
        ],
    };
    check(Box::new(SelfAdaptive::default()), &view(), &expected);
}

#[test]
fn self_adaptive_elementwise_takes_psi_of_each_term() {
    let strategy = SelfAdaptive { normalise: Normalise::Elementwise, ..SelfAdaptive::default() };
    let only_terms =
        MisfitView { residuals: &[], violations: &[], points: &[], laws: &[], ..view() };
    let expected = Expected {
        weights: &[],
        value: 2.0 / 3.0,
        fit: 2.0 / 3.0,
        violation: 0.0,
        term_slopes: &[1.0 / 8.0, 1.0 / 72.0],
        residual_slopes: &[],
    };
    check(Box::new(strategy), &only_terms, &expected);
}

#[test]
fn self_adaptive_weighed_by_the_mean_has_the_mean_violation_as_mu() {
    let strategy = SelfAdaptive { weigh_by: WeighBy::Mean, ..SelfAdaptive::default() };
    let mut evaluator = Evaluator::new(Box::new(strategy), &LAWS).unwrap();
    let value = evaluator.evaluate(&view(), 0);
    let mu = [0.5, 13.0 / 12.0, 1.5];
    for (found, expected) in evaluator.weights().iter().zip(mu) {
        assert!((found - expected).abs() < 1e-15, "{found} is not {expected}");
    }
    // P_k = 1/4, 3/8, 3/8, as in equations (6) and (7).
    let expected = 0.75 + 0.5 * (mu[0] / 4.0 + mu[1] * 0.375) + mu[2] * 0.375;
    assert!((value.value - expected).abs() < 1e-15);
}

#[test]
fn self_adaptive_keeps_mu_until_it_is_refreshed_and_across_a_checkpoint() {
    let strategy = SelfAdaptive { weight_every: 10, ..SelfAdaptive::default() };
    let obeyed = [0.0, 0.0, 3.0, 1.0, 1.0, 1.0, 0.0, 0.0];
    let later = MisfitView { residuals: &obeyed, violations: &obeyed, ..view() };
    let mut evaluator = Evaluator::new(Box::new(strategy), &LAWS).unwrap();
    evaluator.evaluate(&view(), 0);
    assert_eq!(evaluator.weights(), [0.5, 0.75, 0.5]);
    for iteration in 1..10 {
        evaluator.evaluate(&later, iteration);
        assert_eq!(evaluator.weights(), [0.5, 0.75, 0.5], "iteration {iteration}");
    }
    let mut resumed = Evaluator::new(Box::new(strategy), &LAWS).unwrap();
    resumed.set_state(evaluator.state());
    resumed.evaluate(&later, 9);
    assert_eq!(resumed.weights(), [0.5, 0.75, 0.5]);
    evaluator.evaluate(&later, 10);
    assert_eq!(evaluator.weights(), [0.0, 1.0, 0.0]);
    // At a feasible point nothing counts, and what is remembered stays.
    let feasible = MisfitView { residuals: &[0.0; 8], violations: &[0.0; 8], ..view() };
    evaluator.evaluate(&feasible, 11);
    assert_eq!(evaluator.weights(), [0.0; 3]);
    evaluator.evaluate(&later, 12);
    assert_eq!(evaluator.weights(), [0.0, 1.0, 0.0]);
}

#[test]
fn self_adaptive_signed_takes_psi_of_the_residuals_of_equalities() {
    // ψ(−1/3) = −1/2 and ψ′(−1/3) = 9/4; the inequality keeps ψ(max(c, 0)).
    let strategy = SelfAdaptive { residual: Residual::Signed, ..SelfAdaptive::default() };
    let penalties = [0.25, (0.75 + 0.5 - 0.5) / 4.0, 0.375];
    let expected = Expected {
        weights: &[0.5, 0.75, 0.5],
        value: 0.75 + 0.5 * (0.5 * penalties[0] + 0.75 * penalties[1]) + 0.5 * penalties[2],
        fit: 0.75,
        violation: penalties.iter().sum(),
        term_slopes: &[1.0 / 32.0; 2],
        residual_slopes: &[
            0.25 / 8.0,
            1.0 / 8.0,
            3.0 / 32.0 / 16.0,
            3.0 / 32.0 / 4.0,
            3.0 / 32.0 * 9.0 / 4.0,
            3.0 / 32.0,
            0.0,
            0.25 / 16.0,
        ],
    };
    check(Box::new(strategy), &view(), &expected);
}

#[test]
fn signed_penalties_of_two_laws_do_not_cancel() {
    let strategy = SelfAdaptive { residual: Residual::Signed, ..SelfAdaptive::default() };
    let laws =
        [0, 1].map(|start| LawRows { relation: Relation::Equality, start, len: 1, points: 1 });
    // ψ(1) = 1/2 and ψ(−1/3) = −1/2.
    let (violations, residuals) = (&[1.0, 1.0 / 3.0], &[1.0, -1.0 / 3.0]);
    let view = MisfitView { residuals, violations, points: &[0, 0], laws: &laws, ..view() };
    let value = Evaluator::new(Box::new(strategy), &laws).unwrap().evaluate(&view, 0);
    assert!((value.violation - 1.0).abs() < 1e-15, "{}", value.violation);
}

#[test]
fn self_adaptive_at_a_feasible_point_is_the_fit_alone() {
    // One step of four violates: ψ(v)/4 is just below and just above the tolerance of 1e-4.
    let laws = [LawRows { relation: Relation::AtMost, start: 0, len: 4, points: 4 }];
    for (violation, mu) in [(3.9e-4, 0.0), (4.1e-4, 0.25)] {
        let violations = [0.0, violation, 0.0, 0.0];
        let residuals = [-1.0, violation, 0.0, -2.0];
        let view = MisfitView {
            terms: &TERMS,
            residuals: &residuals,
            violations: &violations,
            points: &[0, 1, 2, 3],
            laws: &laws,
            margin: 0.0,
        };
        let psi = violation / (1.0 + violation);
        let expected = Expected {
            weights: &[mu],
            value: 0.75 + mu * psi / 4.0,
            fit: 0.75,
            violation: psi / 4.0,
            term_slopes: &[1.0 / 32.0; 2],
            residual_slopes: &[0.0, mu / 4.0 / (1.0 + violation).powi(2), 0.0, 0.0],
        };
        check(Box::new(SelfAdaptive::default()), &view, &expected);
    }
}

#[test]
fn the_augmented_lagrangian_follows_its_formula_through_rounds() {
    let strategy = AugmentedLagrangian { rho: 2.0, ..AugmentedLagrangian::default() };
    // λ = 0, ρ = 2: the mean of c² for equalities, of ([2c]⁺)²/4 for the inequality.
    let expected = Expected {
        weights: &[2.0; 3],
        value: 3.0 + 1.0 / 2.0 + 91.0 / 9.0 / 4.0 + 9.0 / 2.0,
        fit: 3.0,
        violation: 0.5 + 13.0 / 12.0 + 1.5,
        term_slopes: &[0.5; 2],
        residual_slopes: &[1.0, 0.0, 1.5, 0.5, -0.5 / 3.0, 0.0, 0.0, 3.0],
    };
    check(Box::new(strategy), &view(), &expected);

    let mut evaluator = Evaluator::new(Box::new(strategy), &LAWS).unwrap();
    assert_eq!(evaluator.outer_step(&view()), ObjectiveChange::Substantial);
    // λ = 2c: [2, 0], [6, 2, −2/3, 0], [0, 6]. With the same residuals, λc + c² = 3c² in the mean, and
    // (12² − 6²)/4 = 27.
    let value = evaluator.evaluate(&view(), 0).value;
    assert!((value - (3.0 + 1.5 + 3.0 * 91.0 / 36.0 + 13.5)).abs() < 1e-14, "{value}");
    assert_eq!(evaluator.slopes().residuals[6..], [0.0, 6.0]);

    // A second round with the same violations: each ρ is four times as large.
    assert_eq!(evaluator.outer_step(&view()), ObjectiveChange::Substantial);
    evaluator.evaluate(&view(), 1);
    assert_eq!(evaluator.weights(), [8.0; 3]);
    // A third one, in which the last law's have fallen to a quarter: (λ + ρc) of 12 + 8 · 3/4.
    let residuals = [1.0, 0.0, 3.0, 1.0, -1.0 / 3.0, 0.0, -2.0, 0.75];
    let violations = violations(&residuals);
    let fallen = MisfitView { residuals: &residuals, violations: &violations, ..view() };
    assert_eq!(evaluator.outer_step(&fallen), ObjectiveChange::Substantial);
    evaluator.evaluate(&fallen, 2);
    assert_eq!(evaluator.weights(), [32.0, 32.0, 8.0]);
    // λ = 18 now, and the slope is (λ + ρc)/N.
    assert!((evaluator.slopes().residuals[7] - 12.0).abs() < 1e-14);
    for round in 3..12 {
        evaluator.outer_step(&view());
        evaluator.evaluate(&view(), round);
    }
    assert_eq!(evaluator.weights(), [1e4; 3], "penalties are bounded");
}

#[test]
fn the_augmented_lagrangian_enforces_inequalities_with_their_margin() {
    let laws = [LawRows { relation: Relation::AtMost, start: 0, len: 2, points: 2 }];
    let (residuals, mut violations) = ([-0.25, 1.0], [0.0; 2]);
    fill_violations(&laws, &residuals, 0.5, &mut violations);
    let (points, margin) = (&[0, 1], 0.5);
    let (residuals, violations) = (&residuals, &violations);
    let view = MisfitView { terms: &TERMS, residuals, violations, points, laws: &laws, margin };
    let strategy = AugmentedLagrangian { rho: 4.0, ..AugmentedLagrangian::default() };
    let mut evaluator = Evaluator::new(Box::new(strategy), &laws).unwrap();
    // Half of 4 · (1/4)² and of 4 · (3/2)², in the mean of two.
    let value = evaluator.evaluate(&view, 0).value;
    assert!((value - (3.0 + 0.0625 + 2.25)).abs() < 1e-15, "{value}");
    assert_eq!(evaluator.slopes().residuals, [0.5, 3.0]);
    evaluator.outer_step(&view);
    assert_eq!(evaluator.state().numbers[..2], [1.0, 6.0]);
}

#[test]
fn an_empty_set_of_laws_contributes_nothing() {
    let only_inequality = MisfitView {
        terms: &TERMS,
        residuals: &[-2.0, 3.0],
        violations: &[0.0, 3.0],
        points: &[0, 1],
        laws: &[LawRows { relation: Relation::AtMost, start: 0, len: 2, points: 2 }],
        margin: 0.0,
    };
    let evaluator = Evaluator::new(Box::new(SelfAdaptive::default()), only_inequality.laws);
    let value = evaluator.unwrap().evaluate(&only_inequality, 0);
    assert!((value.value - (0.75 + 3.0 / 16.0)).abs() < 1e-15);
    // A law without any residual (a trajectory too short for it) counts as obeyed.
    let empty = [LawRows { relation: Relation::Equality, start: 0, len: 0, points: 3 }];
    let no_residual =
        MisfitView { residuals: &[], violations: &[], points: &[], laws: &empty, ..view() };
    for strategy in all_strategies(1) {
        let name = strategy.name();
        let value = Evaluator::new(strategy, &empty).unwrap().evaluate(&no_residual, 0);
        assert!(value.value.is_finite() && value.violation.abs() < 1e-300, "{name}");
    }
}

#[test]
fn count_above_decides_which_steps_count_for_mu_and_nothing_else() {
    let strategy = SelfAdaptive { count_above: 1.0, ..SelfAdaptive::default() };
    let mut evaluator = Evaluator::new(Box::new(strategy), &LAWS).unwrap();
    let value = evaluator.evaluate(&view(), 0);
    assert_eq!(evaluator.weights(), [0.0, 0.25, 0.5]);
    assert!((value.violation - 1.0).abs() < 1e-15);
}

#[test]
fn slopes_match_central_differences_for_every_strategy() {
    for strategy in all_strategies(LAWS.len()) {
        let name = strategy.name();
        let mut evaluator = Evaluator::new(strategy, &LAWS).unwrap();
        evaluator.evaluate(&view(), 0);
        let slopes = evaluator.slopes().clone();
        let h = 1e-6;
        let mut difference = |cell: usize| {
            let mut values = [-h, h].map(|step| {
                let (mut terms, mut residuals) = (TERMS, RESIDUALS);
                match terms.get_mut(cell) {
                    Some(term) => *term += step,
                    None => residuals[cell - TERMS.len()] += step,
                }
                let violations = violations(&residuals);
                let (terms, residuals, violations) = (&terms, &residuals, &violations);
                let moved = MisfitView { terms, residuals, violations, ..view() };
                evaluator.evaluate_frozen(&moved).value
            });
            values.reverse();
            (values[0] - values[1]) / (2.0 * h)
        };
        for (cell, slope) in slopes.terms.iter().chain(&slopes.residuals).enumerate() {
            let difference = difference(cell);
            assert!((slope - difference).abs() < 1e-8, "{name}: {slope} is not {difference}");
        }
    }
}
