//! Missing cells and the order of trajectories.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{LAWS, all_strategies, dataset, laws, objective, ragged, relative_error, theta};
use lawful::strategy::Vanilla;
use lawful::{Evaluation, Problem, Solver, Trajectory};

fn vanilla(trajectories: Vec<Trajectory>) -> (f64, Evaluation) {
    let cells: usize = trajectories.iter().map(|t| t.states.len()).sum();
    let data = dataset(trajectories);
    let measured = (cells - data.missing()) as f64;
    let problem = Problem::new(data, Vec::new());
    let mut objective = objective(problem, Solver::default(), Box::new(Vanilla));
    (measured, objective.evaluate(&theta(), 0).unwrap().clone())
}

#[test]
fn masking_a_cell_equals_removing_its_term() {
    let full = ragged();
    let (n, all) = vanilla(full.clone());
    for (trajectory, cell) in [(0, 2), (1, 5), (2, 12)] {
        let mut masked = full.clone();
        masked[trajectory].states[cell] = f64::NAN;
        // The same data with no cell but that one, and the initial states, whose errors are 0.
        let mut alone = full.clone();
        for (n, t) in alone.iter_mut().enumerate() {
            for (c, value) in t.states.iter_mut().enumerate().skip(2) {
                if (n, c) != (trajectory, cell) {
                    *value = f64::NAN;
                }
            }
        }
        let ((n_masked, masked), (n_alone, alone)) = (vanilla(masked), vanilla(alone));
        assert!((n_masked - (n - 1.0)).abs() < 1e-12 && (n_alone - 7.0).abs() < 1e-12);
        assert!(alone.loss > 0.1);
        let sum = n_masked * masked.loss + n_alone * alone.loss;
        assert!((sum / (n * all.loss) - 1.0).abs() < 1e-14);
        let sums = masked.gradient.iter().zip(&alone.gradient);
        let sums: Vec<f64> = sums.map(|(a, b)| (n_masked * a + n_alone * b) / n).collect();
        assert!(relative_error(&all.gradient, &sums) < 1e-13);
    }
}

#[test]
fn a_missing_cell_does_not_silence_the_laws_of_its_row() {
    let violation = |trajectories| {
        let problem = Problem::new(dataset(trajectories), laws(&LAWS));
        let mut objective = objective(problem, Solver::default(), Box::new(Vanilla));
        objective.observe(&theta()).unwrap().view().violations.to_vec()
    };
    let mut masked = ragged();
    masked[0].states[2..].fill(f64::NAN);
    assert_eq!(common::bits(&violation(ragged())), common::bits(&violation(masked)));
}

#[test]
fn order_of_trajectories_does_not_matter() {
    let orders = [[0, 1, 2], [2, 1, 0], [1, 2, 0]];
    for solver in [Solver::default(), common::dopri5(1e-6)] {
        for strategies in 0..all_strategies(LAWS.len()).len() {
            let evaluation = |order: [usize; 3]| {
                let trajectories = order.map(|n| ragged().swap_remove(n)).into();
                let problem = Problem::new(dataset(trajectories), laws(&LAWS));
                let strategy = all_strategies(LAWS.len()).swap_remove(strategies);
                objective(problem, solver, strategy).evaluate(&theta(), 0).unwrap().clone()
            };
            let first = evaluation(orders[0]);
            for order in &orders[1..] {
                let other = evaluation(*order);
                assert!(relative_error(&first.gradient, &other.gradient) < 1e-12);
                assert!(relative_error(&first.laws, &other.laws) < 1e-12);
                assert!(relative_error(&[first.value.value], &[other.value.value]) < 1e-12);
            }
        }
    }
}
