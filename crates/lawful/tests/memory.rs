//! The tape of a long path does not decide what a user can train.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use lawful::ode::tableaus::RK4_38;
use lawful::strategy::Vanilla;
use lawful::{
    Activation, Control, Dataset, Initialise, Mlp, MlpShape, Objective, Precision, Problem, Solver,
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

#[test]
fn a_million_steps_go_back_on_a_tape_of_eight_mebibytes() {
    // Without a bound the tape would take several hundred megabytes. The gradient hardly depends on
    // the number of steps, whose error is far below the tolerance here.
    let (long, short) = (gradient(1_000_000, 8 << 20), gradient(1_000, 1 << 30));
    let norm = short.iter().map(|g| g * g).sum::<f64>().sqrt();
    let difference = long.iter().zip(&short).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    assert!(difference < 1e-8 * norm, "{difference} of {norm}");
}
