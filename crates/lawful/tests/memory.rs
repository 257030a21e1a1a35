//! The tape of a long path does not decide what a user can train.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use lawful::ode::tableaus::{DOPRI5, RK4_38};
use lawful::strategy::Vanilla;
use lawful::{
    Activation, Adaptive, Control, Dataset, Initialise, Mlp, MlpShape, Objective, Precision,
    Problem, Solver, Trajectory,
};

/// The gradient of a fit over so many steps, with a tape of at most so many bytes.
fn gradient(steps: usize, memory: usize) -> Vec<f64> {
    let times = vec![0.0, 1.0, 2.0];
    let data = Dataset::single(&["x", "v"], times, vec![1.0, 0.0, 0.5, -0.8, -0.4, -0.9]).unwrap();
    let shape = MlpShape::new(2, &[8], Activation::Tanh);
    let theta = Initialise::Normal { std: 0.5 }.draw(&shape, 1);
    let control = Control::Grid { substeps: steps / 2 };
    let solver = Solver::new(&RK4_38, control).unwrap().with_memory(memory);
    let network = Box::new(Mlp::new(shape, Precision::Double).expect("the shape of a network"));
    let mut objective =
        Objective::new(Problem::new(data, Vec::new()), network, solver, Box::new(Vanilla)).unwrap();
    objective.evaluate(&theta, 0).unwrap().gradient.clone()
}

#[test]
fn a_small_tape_gives_the_gradient_of_an_ample_one() {
    assert_eq!(gradient(10_000, 20_000), gradient(10_000, 1 << 30));
}

/// The gradient of a fit of many short trajectories, with tapes of at most so many bytes all together.
fn gradient_of_many(memory: usize, adaptive: bool) -> (Vec<f64>, f64) {
    let trajectory = |n: usize| {
        let y = |t: f64| [(t + 0.1 * n as f64).cos(), -(t + 0.1 * n as f64).sin()];
        // Of different lengths.
        let times: Vec<f64> = (0..4 + n % 3).map(|row| 0.2 * row as f64).collect();
        let states = times.iter().flat_map(|&t| y(t)).collect();
        Trajectory::new(n.to_string(), times, states)
    };
    let count = if adaptive { 40 } else { 600 };
    let names = vec!["x".to_owned(), "v".to_owned()];
    let data = Dataset::new(names, Vec::new(), (0..count).map(trajectory).collect()).unwrap();
    let shape = MlpShape::new(2, &[8], Activation::Tanh);
    let theta = Initialise::Normal { std: 0.5 }.draw(&shape, 1);
    let network = Box::new(Mlp::new(shape, Precision::Double).expect("the shape of a network"));
    let solver = if adaptive {
        let control = Control::Adaptive(Adaptive::with_tolerances(1e-6, 1e-8));
        Solver::new(&DOPRI5, control).unwrap()
    } else {
        Solver::default()
    };
    let problem = Problem::new(data, Vec::new());
    let solver = solver.with_memory(memory);
    let mut objective = Objective::new(problem, network, solver, Box::new(Vanilla)).unwrap();
    let evaluation = objective.evaluate(&theta, 0).unwrap().clone();
    let value = objective.replay(&theta).unwrap().value;
    assert_eq!(
        value.to_bits(),
        evaluation.value.value.to_bits(),
        "another solve of the same steps"
    );
    let again = objective.evaluate(&theta, 1).unwrap();
    assert_eq!(again.gradient, evaluation.gradient);
    (evaluation.gradient, evaluation.value.value)
}

#[test]
fn many_groups_with_few_tapes_give_the_gradient_of_a_tape_for_each() {
    for adaptive in [false, true] {
        let ample = gradient_of_many(1 << 30, adaptive);
        for memory in [1, 30_000, 300_000] {
            assert_eq!(gradient_of_many(memory, adaptive), ample, "{memory} bytes, {adaptive}");
        }
    }
}

#[test]
fn a_million_steps_go_back_on_a_tape_of_eight_mebibytes() {
    // Without a bound the tape would take several hundred megabytes. The gradient hardly depends on
    // the number of steps, whose error is far below the tolerance here.
    let (long, short) = (gradient(1_000_000, 8 << 20), gradient(1_000, 1 << 30));
    let norm = short.iter().map(|g| g * g).sum::<f64>().sqrt();
    let difference = long.iter().zip(&short).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    assert!(difference < 1e-8 * norm, "{difference} of {norm}");
}
