//! The gradient of the full objective, from θ through solver, laws and strategy, against central
//! differences of the same steps under the same weights.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{LAWS, adaptive, all_methods, all_strategies, objective, problem, relative_error};
use lawful::ode::tableaus::RK4_38;
use lawful::{Control, Interpolation, Loss, Objective, Problem, Solver};

/// What every gradient here has to reach; the largest relative error seen is 2.4e-9.
const BOUND: f64 = 1e-7;

/// The gradient's relative error, after making sure that the point is one where a derivative
/// exists and every law contributes.
fn error(objective: &mut Objective, case: &str) -> f64 {
    let theta = common::theta();
    let gradient = objective.evaluate(&theta, 0).unwrap().gradient.clone();
    let misfit = objective.observe(&theta).unwrap();
    for &term in misfit.view().terms {
        assert!(term == 0.0 || term > 1e-3, "{case}: an error near a kink, {term}");
    }
    for k in 0..misfit.view().laws.len() {
        let residuals = misfit.residuals(k);
        assert!(residuals.iter().all(|c| c.abs() > 1e-3), "{case}: law {k}, {residuals:?}");
        assert!(
            misfit.view().violations_of(k).iter().any(|&v| v > 0.0),
            "{case}: law {k} is obeyed"
        );
    }
    relative_error(&gradient, &differences(objective, &theta))
}

/// Central differences of replayed steps.
fn differences(objective: &mut Objective, theta: &[f64]) -> Vec<f64> {
    let h = 1e-5;
    let mut theta = theta.to_vec();
    let mut value = |theta: &[f64]| objective.replay(theta).unwrap().value;
    let mut difference = |i: usize| {
        let centre = theta[i];
        theta[i] = centre + h;
        let above = value(&theta);
        theta[i] = centre - h;
        let below = value(&theta);
        theta[i] = centre;
        (above - below) / (2.0 * h)
    };
    (0..common::theta().len()).map(&mut difference).collect()
}

fn check(problem: &Problem, solver: Solver) {
    for strategy in all_strategies(problem.laws.len()) {
        let laws: Vec<&str> = problem.laws.iter().map(lawful::Law::name).collect();
        let (name, control) = (solver.tableau().name, solver.control());
        let case = format!("{name} {control:?} {} {laws:?} {:?}", strategy.name(), problem.loss);
        let found = error(&mut objective(problem.clone(), solver, strategy), &case);
        assert!(found <= BOUND, "{case}: relative error {found:e}");
    }
}

#[test]
fn gradient_matches_central_differences_for_every_method_strategy_and_law_kind() {
    // Solves this short are faster without other threads.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        for solver in all_methods() {
            for law in LAWS {
                check(&problem(&[law]), solver);
            }
            check(&problem(&LAWS), solver);
            check(&problem(&[]), solver);
        }
    });
}

#[test]
fn gradient_matches_central_differences_for_every_loss_and_hold() {
    for loss in [Loss::Mse, Loss::Mae, Loss::Huber { delta: 0.7 }, Loss::Huber { delta: 50.0 }] {
        for interpolation in [Interpolation::Linear, Interpolation::Previous] {
            for control in [Control::Grid { substeps: 1 }, adaptive(1e-3)] {
                let tableau = match control {
                    Control::Grid { .. } => &RK4_38,
                    Control::Adaptive(_) => &lawful::ode::tableaus::TSIT5,
                };
                let solver = Solver::new(tableau, control).unwrap();
                check(&Problem { loss, interpolation, ..problem(&LAWS) }, solver);
            }
        }
    }
}

#[test]
fn gradient_is_the_same_when_the_tape_does_not_hold_the_path() {
    for solver in all_methods() {
        let of = |solver: Solver| {
            let strategy = all_strategies(LAWS.len()).pop().unwrap();
            let mut objective = objective(problem(&LAWS), solver, strategy);
            common::bits(&objective.evaluate(&common::theta(), 0).unwrap().gradient)
        };
        assert_eq!(of(solver), of(solver.with_memory(0)), "{}", solver.tableau().name);
    }
}

#[test]
fn true_differences_of_adaptive_solves_agree_to_their_tolerance() {
    for rtol in [1e-6, 1e-8, 1e-10] {
        for strategy in all_strategies(LAWS.len()) {
            let name = strategy.name();
            let mut objective = objective(problem(&LAWS), common::dopri5(rtol), strategy);
            let theta = common::theta();
            let gradient = objective.evaluate(&theta, 0).unwrap().gradient.clone();
            // Along the gradient itself, by a difference of fourth order. Steps that are chosen anew
            // make the objective rough by a few times its tolerance, which a difference divides by h.
            let length = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
            let h = 3e-3;
            // Under the weights of this point, which no gradient flows through.
            let mut at = |steps: f64| {
                let moved = theta.iter().zip(&gradient).map(|(x, g)| x + steps * h * g / length);
                objective.evaluate_frozen(&moved.collect::<Vec<_>>()).unwrap().value.value
            };
            let difference = (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * h);
            let (error, bound) = ((difference - length).abs() / length, 20.0 * rtol / h);
            assert!(error < bound, "{name} at {rtol:e}: relative error {error:e} > {bound:e}");
        }
    }
}
