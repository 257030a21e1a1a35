//! Single beside double precision on the paper's three systems: the gradient of the objective.

use lawful::optimiser::OptimiserKind;
use lawful::{Observer, Phase, Precision, Prepared};
use lawful_experiment::read_embedded;
use lawful_paper::System;

fn training(system: System, precision: Precision, seed: u64) -> Prepared {
    let file = read_embedded(system.name(), system.file()).expect("an experiment of the paper");
    let mut training = file.experiment.training;
    training.field.precision = precision;
    Prepared { seed, ..training }
}

fn gradient(training: &Prepared, theta: &[f64]) -> Vec<f64> {
    let mut trainer = training.trainer(&training.phases[0], theta);
    trainer.objective_mut().evaluate(theta, 0).expect("a path that can be solved").gradient.clone()
}

/// `‖single − double‖/‖double‖` at θ.
fn difference(system: System, seed: u64, theta: &[f64]) -> f64 {
    let [double, single] = [Precision::Double, Precision::Single]
        .map(|precision| gradient(&training(system, precision, seed), theta));
    let norm = |row: &mut dyn Iterator<Item = f64>| row.map(|x| x * x).sum::<f64>().sqrt();
    norm(&mut single.iter().zip(&double).map(|(a, b)| a - b)) / norm(&mut double.iter().copied())
}

struct Nobody;
impl Observer for Nobody {}

#[test]
fn single_precision_agrees_with_double_at_initial_weights() {
    for system in System::ALL {
        for seed in 1..=3 {
            let theta = training(system, Precision::Double, seed).initial_theta();
            let found = difference(system, seed, &theta);
            assert!(found <= 1e-5, "{system:?}, seed {seed}: {found:e}");
        }
    }
}

#[test]
fn on_trained_weights_the_difference_is_known() {
    for system in System::ALL {
        let double = training(system, Precision::Double, 1);
        let OptimiserKind::Adam(adam) = double.phases[0].optimiser.clone() else {
            panic!("the paper uses Adam");
        };
        let optimiser = OptimiserKind::Adam(lawful::optimiser::AdamSettings { rate: 1e-3, ..adam });
        let phase = Phase { optimiser, iterations: 500, ..double.phases[0].clone() };
        let theta = double.trainer(&phase, &double.initial_theta()).run(&mut Nobody).last.theta;
        let found = difference(system, 1, &theta);
        // Errors nearly cancel in a good fit, so fewer digits are left: 4e-7, 3e-7, 4e-5.
        assert!(found < 1e-3, "{system:?}: {found:e}");
    }
}
