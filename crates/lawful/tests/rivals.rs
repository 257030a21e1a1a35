//! The rival strategies against numbers worked by hand, and what they need of the training loop.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;
mod strategy_support;

use common::watch::Watch;
use common::{bits, objective, problem, relative_error, theta};
use lawful::strategy::{
    Balanced, Barrier, Direction, Dynamic, Evaluator, Filter, Growth, Judgement, L2, LawRows,
    Lemonge, MisfitView, NuPi, Power, Strategy, TwoStage, Value, Vanilla, fill_violations,
};
use lawful::{Relation, Restore, Settings, Solver, Verdict};
use strategy_support::{Expected, LAWS, TERMS, check, view};

/// Mean squares of the violations: 1/2, (9 + 1 + 1/9)/4 = 91/36, 9/2.
const SQUARES: f64 = 0.5 + 91.0 / 36.0 + 4.5;
/// Their means: 1/2, 13/12, 3/2.
const MEANS: [f64; 3] = [0.5, 13.0 / 12.0, 1.5];
const VIOLATION: f64 = 0.5 + 13.0 / 12.0 + 1.5;

#[test]
fn dynamic_weights_grow_with_the_iteration() {
    // (1/2 · 1)² = 1/4 in the first iteration.
    let expected = Expected {
        weights: &[0.25; 3],
        value: 3.0 + 0.25 * SQUARES,
        fit: 3.0,
        violation: VIOLATION,
        term_slopes: &[0.5; 2],
        residual_slopes: &[0.25, 0.0, 0.375, 0.125, -0.125 / 3.0, 0.0, 0.0, 0.75],
    };
    check(Box::new(Dynamic::default()), &view(), &expected);
    let absolute = Dynamic { power: Power::Absolute, ..Dynamic::default() };
    let of_means = Expected {
        value: 3.0 + 0.25 * VIOLATION,
        residual_slopes: &[0.125, 0.0, 0.0625, 0.0625, -0.0625, 0.0, 0.0, 0.125],
        ..expected
    };
    check(Box::new(absolute), &view(), &of_means);
    let root = Dynamic { growth: Growth::KRootK, d: 2.0, ..Dynamic::default() };
    for (strategy, fourth) in [(Dynamic::default(), 4.0), (root, 16.0)] {
        let mut evaluator = Evaluator::new(Box::new(strategy), &LAWS).unwrap();
        evaluator.evaluate(&view(), 3);
        assert_eq!(evaluator.weights(), [fourth; 3]);
    }
    let steep = Dynamic { a: 40.0, ..Dynamic::default() };
    let error = Evaluator::new(Box::new(steep), &LAWS).err().unwrap();
    assert_eq!(error.to_string(), "the strategy `dynamic` has an exponent `a` above 16");
}

#[test]
fn lemonge_makes_the_penalty_as_large_as_the_fit() {
    // Σ v̄² = (36 + 169 + 324)/144.
    let mu = MEANS.map(|v| 3.0 * v * 144.0 / 529.0);
    let expected = Expected {
        weights: &mu,
        value: 6.0,
        fit: 3.0,
        violation: VIOLATION,
        term_slopes: &[0.5; 2],
        residual_slopes: &[
            mu[0] / 2.0,
            0.0,
            mu[1] / 4.0,
            mu[1] / 4.0,
            -mu[1] / 4.0,
            0.0,
            0.0,
            mu[2] / 2.0,
        ],
    };
    check(Box::new(Lemonge::default()), &view(), &expected);
    let mut bounded = Evaluator::new(Box::new(Lemonge { mu_max: 0.5 }), &LAWS).unwrap();
    bounded.evaluate(&view(), 0);
    assert!((bounded.weights()[0] - mu[0]).abs() < 1e-15 && mu[0] < 0.5);
    assert_eq!(bounded.weights()[1..], [0.5; 2]);
    let obeyed = MisfitView { residuals: &[0.0; 8], violations: &[0.0; 8], ..view() };
    bounded.evaluate(&obeyed, 1);
    assert_eq!(bounded.weights(), [0.0; 3]);
}

#[test]
fn the_barrier_is_a_logarithm_inside_and_a_line_outside() {
    // t = 1: ψ(c) = −ln(−c) for c ≤ −1, and c + 1 beyond. For c = 3 and −3: 4 − ln 3, with slopes 1 and
    // −(1/3); for |c| < 1 the sum of both is 2.
    let strategy = Barrier { t: 1.0, ..Barrier::default() };
    let expected = Expected {
        weights: &[1.0; 3],
        value: 3.0 + 2.0 + (10.0 - 3.0_f64.ln()) / 4.0 + (4.0 - 2.0_f64.ln()) / 2.0,
        fit: 3.0,
        violation: VIOLATION,
        term_slopes: &[0.5; 2],
        residual_slopes: &[0.0, 0.0, 1.0 / 6.0, 0.0, 0.0, 0.0, 0.25, 0.5],
    };
    check(Box::new(strategy), &view(), &expected);
    let mut evaluator = Evaluator::new(Box::new(Barrier::default()), &LAWS).unwrap();
    for (iteration, t) in [(0, 5.0), (19, 5.0), (20, 5.5), (45, 6.05), (1_000_000_000, 1e4)] {
        evaluator.evaluate(&view(), iteration);
        assert!((evaluator.weights()[0] / t - 1.0).abs() < 1e-12, "iteration {iteration}");
    }
}

#[test]
fn nu_pi_moves_multipliers_by_the_residual_and_its_change() {
    let strategy = NuPi { eta: 0.5, nu: 0.5, ki: 1.0, kp: 2.0 };
    let mut evaluator = Evaluator::new(Box::new(strategy), &LAWS).unwrap();
    assert!((evaluator.evaluate(&view(), 0).value - 3.0).abs() < 1e-15);
    evaluator.new_point(&view());
    // ξ = c/2 and λ = (c + 2 · c/2)/2 = c, its positive part for the inequality.
    let value = evaluator.evaluate(&view(), 1).value;
    assert!((value - (3.0 + SQUARES)).abs() < 1e-14, "{value}");
    let slopes = [0.5, 0.0, 0.75, 0.25, -1.0 / 12.0, 0.0, 0.0, 1.5];
    assert!(relative_error(&slopes, &evaluator.slopes().residuals) < 1e-15);
    for (weight, mean) in evaluator.weights().iter().zip(MEANS) {
        assert!((weight - mean).abs() < 1e-15);
    }
    evaluator.new_point(&view());
    // ξ = 3c/4, Δξ = c/4 and λ = c + (c + c/2)/2; for c = −2 nothing is positive.
    let lambda = [1.0, 0.0, 3.0, 1.0, -1.0 / 3.0, 0.0].map(|c| 1.75 * c);
    let state = &evaluator.state().numbers;
    assert!(relative_error(&lambda, &state[..6]) < 1e-15);
    assert_eq!(state[6..8], [0.0, 5.25]);
}

/// Half the squared distance of (x, y) from (3, 4), under x + y = 4 and 2x ≤ 2: the optimum is (1, 3), where
/// y − 4 = −λ₁ and x − 3 = −λ₁ − 2λ₂, so that λ₁ = 1 and λ₂ = 1/2.
#[test]
fn nu_pi_finds_the_multipliers_of_a_convex_problem() {
    let laws = [(Relation::Equality, 0), (Relation::AtMost, 1)].map(|(relation, start)| LawRows {
        relation,
        start,
        len: 1,
        points: 1,
    });
    let mut evaluator = Evaluator::new(Box::new(NuPi::default()), &laws).unwrap();
    let mut theta = [0.0, 0.0];
    for iteration in 0..4000 {
        let terms = [(theta[0] - 3.0_f64).powi(2), (theta[1] - 4.0_f64).powi(2)];
        let residuals = [theta[0] + theta[1] - 4.0, 2.0 * theta[0] - 2.0];
        let mut violations = [0.0; 2];
        fill_violations(&laws, &residuals, 0.0, &mut violations);
        let view = MisfitView {
            terms: &terms,
            residuals: &residuals,
            violations: &violations,
            points: &[0, 0],
            laws: &laws,
            margin: 0.0,
        };
        evaluator.evaluate(&view, iteration);
        let slopes = evaluator.slopes();
        let by_term = [0, 1].map(|i| slopes.terms[i] * 2.0 * (theta[i] - [3.0, 4.0][i]));
        let by_law = &slopes.residuals;
        theta[0] -= 0.05 * (by_term[0] + by_law[0] + 2.0 * by_law[1]);
        theta[1] -= 0.05 * (by_term[1] + by_law[0]);
        evaluator.new_point(&view);
    }
    let off = [theta[0] - 1.0, theta[1] - 3.0].map(f64::abs);
    assert!(off.iter().all(|off| *off < 1e-6), "{theta:?}");
    let lambda = &evaluator.state().numbers[..2];
    assert!((lambda[0] - 1.0).abs() < 1e-6 && (lambda[1] - 0.5).abs() < 1e-6, "{lambda:?}");
}

fn at(fit: f64, violation: f64) -> Value {
    Value { value: 0.0, fit, violation }
}

#[test]
fn two_stages_first_lower_the_violations_and_then_the_fit_of_feasible_points() {
    let strategy = TwoStage { tolerance: 0.1, first_stage: 3 };
    let expected = Expected {
        weights: &[1.0; 3],
        value: SQUARES,
        fit: 3.0,
        violation: VIOLATION,
        term_slopes: &[0.0; 2],
        residual_slopes: &[1.0, 0.0, 1.5, 0.5, -0.5 / 3.0, 0.0, 0.0, 3.0],
    };
    check(Box::new(strategy), &view(), &expected);
    let mut evaluator = Evaluator::new(Box::new(strategy), &LAWS).unwrap();
    assert_eq!(evaluator.judge(&view(), &at(1.0, 0.5)), Judgement::Accepted);
    assert_eq!(evaluator.judge(&view(), &at(2.0, 0.05)), Judgement::Accepted);
    // The second stage.
    let value = evaluator.evaluate(&view(), 2);
    assert_eq!((value.value, evaluator.weights()), (3.0, &[0.0; 3][..]));
    assert!(evaluator.slopes().residuals.iter().all(|slope| *slope == 0.0));
    for (trial, expected) in [
        (at(1.9, 0.2), Judgement::Rejected),
        (at(1.8, 0.1), Judgement::Accepted),
        (at(1.8, 0.0), Judgement::Rejected),
        (at(1.7, 0.0), Judgement::Accepted),
    ] {
        assert_eq!(evaluator.judge(&view(), &trial), expected, "{trial:?}");
    }
    // A first stage that does not get there: its last violation is the bound.
    let mut evaluator = Evaluator::new(Box::new(strategy), &LAWS).unwrap();
    for violation in [0.9, 0.5, 0.3] {
        assert_eq!(evaluator.judge(&view(), &at(1.0, violation)), Judgement::Accepted);
    }
    assert_eq!(evaluator.judge(&view(), &at(0.9, 0.3)), Judgement::Accepted);
    assert_eq!(evaluator.judge(&view(), &at(0.5, 0.31)), Judgement::Rejected);
}

#[test]
fn the_filter_accepts_what_no_earlier_point_dominates_and_restores_otherwise() {
    let strategy = Filter { gamma: 0.1 };
    let expected = Expected {
        weights: &[0.0; 3],
        value: 3.0,
        fit: 3.0,
        violation: VIOLATION,
        term_slopes: &[0.5; 2],
        residual_slopes: &[0.0; 8],
    };
    check(Box::new(strategy), &view(), &expected);
    let mut evaluator = Evaluator::new(Box::new(strategy), &LAWS).unwrap();
    for (trial, expected) in [
        (at(1.0, 1.0), Judgement::Accepted),
        // A lower violation, and a lower fit by a tenth of the violation.
        (at(2.0, 0.89), Judgement::Accepted),
        (at(0.89, 1.5), Judgement::Accepted),
        (at(0.95, 1.0), Judgement::Rejected),
        // In the restoration from (0.89, 1.5).
        (at(1.5, 0.95), Judgement::Pending),
        (at(3.0, 0.8), Judgement::Accepted),
        (at(0.5, 0.5), Judgement::Accepted),
        (at(0.44, 0.5), Judgement::Accepted),
        (at(0.40, 0.5), Judgement::Rejected),
    ] {
        assert_eq!(evaluator.judge(&view(), &trial), expected, "{trial:?}");
    }
    let value = evaluator.evaluate(&view(), 0);
    assert!((value.value - SQUARES).abs() < 1e-14, "a restoration lowers the violations");
    for _ in 0..24 {
        assert_eq!(evaluator.judge(&view(), &at(9.0, 9.0)), Judgement::Pending);
    }
    assert_eq!(evaluator.judge(&view(), &at(9.0, 9.0)), Judgement::Rejected);
    assert!((evaluator.evaluate(&view(), 0).value - 3.0).abs() < 1e-15);
    // More points than the filter holds.
    for n in 0..300 {
        let (fit, violation) = (1.0 + f64::from(n), 0.4 * 0.8_f64.powi(n));
        assert_eq!(evaluator.judge(&view(), &at(fit, violation)), Judgement::Accepted, "{n}");
    }
    assert_eq!(evaluator.judge(&view(), &at(0.1, 0.0)), Judgement::Accepted);
    assert_eq!(evaluator.judge(&view(), &at(0.1, 0.0)), Judgement::Rejected);
    let value = evaluator.evaluate(&view(), 0).value;
    assert!((value - 3.0).abs() < 1e-15, "nothing to restore at P = 0");
}

#[test]
fn balanced_weights_make_every_gradient_as_large_as_the_fit_s() {
    let strategy = Balanced { smoothing: 0.0, ..Balanced::default() };
    let mut evaluator = Evaluator::new(Box::new(strategy), &LAWS).unwrap();
    assert!(evaluator.gram_is_due(0) && !evaluator.gram_is_due(9) && evaluator.gram_is_due(10));
    // Norms 2, 4, 0 and 1e-9.
    let mut gram = [0.0; 16];
    (gram[0], gram[5], gram[15]) = (4.0, 16.0, 1e-18);
    evaluator.balance(&gram);
    let value = evaluator.evaluate(&view(), 0).value;
    assert_eq!(evaluator.weights(), [0.5, 1.0, 1e4]);
    assert!((value - (3.0 + 0.25 + 91.0 / 36.0 + 4.5e4)).abs() < 1e-9, "{value}");
    // Half of the old weight.
    let strategy = Balanced { smoothing: 0.5, ..strategy };
    let mut evaluator = Evaluator::new(Box::new(strategy), &LAWS).unwrap();
    evaluator.balance(&gram);
    evaluator.evaluate(&view(), 0);
    assert_eq!(evaluator.weights()[..1], [0.75]);
}

#[test]
fn conflict_free_directions_lose_what_points_against_another_gradient() {
    // g₀ = (1, 0) and g₁ = (−1, 1): of equal size (1, 0) and (−1, 1)/√2, without the conflict (1, 1)/2 and
    // (0, 1/√2).
    let law = [LawRows { relation: Relation::AtMost, start: 0, len: 1, points: 1 }];
    let strategy = Balanced { direction: Direction::ConflictFree, ..Balanced::default() };
    let mut evaluator = Evaluator::new(Box::new(strategy), &law).unwrap();
    assert!(evaluator.gram_is_due(7));
    evaluator.balance(&[1.0, -1.0, -1.0, 2.0]);
    let one = MisfitView {
        terms: &TERMS,
        residuals: &[1.0],
        violations: &[1.0],
        points: &[0],
        laws: &law,
        margin: 0.0,
    };
    evaluator.evaluate(&one, 0);
    let root = 0.5_f64.sqrt();
    let (of_fit, of_law) = (1.0 + root, (1.0 + root) * root);
    assert!((evaluator.weights()[0] - of_law).abs() < 1e-15);
    assert!((2.0 * evaluator.slopes().terms[0] - of_fit).abs() < 1e-15);
    // of_fit (1, 0) + of_law (−1, 1) = (1/2, 1/2 + 1/√2).
    assert!((of_fit - of_law - 0.5).abs() < 1e-15 && (of_law - 0.5 - root).abs() < 1e-15);
    // No conflict, no change.
    evaluator.balance(&[1.0, 0.0, 0.0, 4.0]);
    evaluator.evaluate(&one, 1);
    assert_eq!((evaluator.weights()[0], evaluator.slopes().terms[0]), (0.5, 0.5));
}

#[test]
fn the_gradients_that_are_balanced_are_those_of_the_terms_alone() {
    let laws = &common::LAWS[..3];
    let gradient = |strategy: Box<dyn Strategy>| {
        let mut objective = objective(problem(laws), Solver::default(), strategy);
        objective.evaluate(&theta(), 0).unwrap().gradient.clone()
    };
    let of_fit = gradient(Box::new(Vanilla));
    let norm = |g: &[f64]| g.iter().map(|x| x * x).sum::<f64>().sqrt();
    let expected: Vec<f64> = (0..3)
        .map(|k| {
            let mut mu = vec![0.0; 3];
            mu[k] = 1.0;
            let both = gradient(Box::new(L2 { mu }));
            let of_law: Vec<f64> = both.iter().zip(&of_fit).map(|(a, b)| a - b).collect();
            norm(&of_fit) / norm(&of_law)
        })
        .collect();
    let strategy = Balanced { smoothing: 0.0, mu_max: 1e30, ..Balanced::default() };
    let mut balanced = objective(problem(laws), Solver::default(), Box::new(strategy));
    let found = balanced.evaluate(&theta(), 0).unwrap().clone();
    assert!(relative_error(&expected, &found.weights) < 1e-9, "{expected:?} {:?}", found.weights);
    let sum = gradient(Box::new(L2 { mu: found.weights.clone() }));
    assert!(relative_error(&sum, &found.gradient) < 1e-12);
}

#[test]
fn a_rejected_trial_returns_to_the_last_accepted_point_and_evaluates_it_again() {
    let strategies: [Box<dyn Fn() -> Box<dyn Strategy>>; 2] = [
        Box::new(|| Box::new(Filter::default())),
        Box::new(|| Box::new(TwoStage { first_stage: 10, ..TwoStage::default() })),
    ];
    for strategy in strategies {
        let name = strategy().name();
        let objective = objective(problem(&common::LAWS), Solver::default(), strategy());
        let restore = Some(Restore { backtrack: true, ..Restore::default() });
        let settings = Settings { iterations: 120, best_point: restore, ..Settings::default() };
        let mut watch = Watch::every(1);
        let outcome = common::trainer(objective, 0.1, settings).run(&mut watch);
        let (mut accepted, mut returns) = (None, 0);
        for (k, row) in watch.rows.iter().enumerate() {
            let theta = bits(&watch.checkpoints[k].theta);
            match row.verdict {
                Some(Verdict::Accepted) => accepted = Some(theta),
                Some(Verdict::Rejected) if k + 1 < watch.rows.len() => {
                    let next = bits(&watch.checkpoints[k + 1].theta);
                    assert_eq!(Some(next), accepted, "{name}: after iteration {k}");
                    assert_eq!(watch.rows[k + 1].verdict, None, "{name}: it is not judged again");
                    returns += 1;
                }
                _ => {}
            }
        }
        assert!(returns > 3, "{name}: {returns}");
        assert_eq!(Some(bits(outcome.best.theta())), accepted, "{name}");
    }
}
