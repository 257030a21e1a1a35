//! Loss, objective, weights, gradient and 200 steps of Adam against an independent implementation:
//! `tests/reference/reference.py`, `NumPy` in double precision without automatic differentiation.

#![expect(clippy::unwrap_used, reason = "a test whose files are damaged has failed")]

use std::ops::ControlFlow;

use lawful::{Observer, Outcome, Prepared, Row};
use lawful_experiment::runner::changes;
use lawful_paper::System;
use serde_json::Value;

/// How well two programs must agree that add in different orders.
const BOUND: f64 = 1e-9;

/// The experiment of the paper in double precision, at the reference's rate.
fn training(system: System, rate: f64) -> Prepared {
    let mut table = system.table().unwrap();
    changes::set(&mut table, &changes::single("field.precision", "double"));
    changes::set(&mut table, &changes::single("training.optimiser.rate", rate));
    changes::experiment(system.name(), &table).unwrap().experiment.training
}

/// Stored as 32-bit floats, so that both programs start from the same bits.
fn initial_weights(system: System) -> Vec<f64> {
    let bytes: &[u8] = match system {
        System::Population => include_bytes!("reference/population.f32"),
        System::Reaction => include_bytes!("reference/reaction.f32"),
        System::Oscillator => include_bytes!("reference/oscillator.f32"),
    };
    let (numbers, rest) = bytes.as_chunks::<4>();
    assert!(rest.is_empty());
    numbers.iter().map(|bytes| f64::from(f32::from_le_bytes(*bytes))).collect()
}

fn numbers() -> Value {
    serde_json::from_str(include_str!("reference/numbers.json")).unwrap()
}

fn row(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn agree(what: &str, found: f64, expected: f64) {
    let error = (found - expected).abs() / expected.abs().max(f64::MIN_POSITIVE);
    assert!(error <= BOUND, "{what}: {found:e} is not {expected:e}, relative error {error:e}");
}

#[derive(Default)]
struct Curve {
    losses: Vec<f64>,
    values: Vec<f64>,
}

impl Observer for Curve {
    fn iteration(&mut self, row: &Row) -> ControlFlow<()> {
        let evaluation = row.evaluation.unwrap();
        self.losses.push(evaluation.loss);
        self.values.push(evaluation.value.value);
        ControlFlow::Continue(())
    }
}

#[test]
fn loss_objective_weights_and_gradient_agree_with_an_independent_implementation() {
    let numbers = numbers();
    for system in System::ALL {
        let expected = &numbers[system.name()]["start"];
        let training = training(system, 1e-3);
        let mut trainer = trainer(&training, 0);
        let objective = trainer.objective_mut();
        let evaluation = objective.evaluate(&initial_weights(system), 0).unwrap();
        let norm = evaluation.gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
        for (what, found) in
            [("loss", evaluation.loss), ("phi", evaluation.value.value), ("gradient", norm)]
        {
            agree(&format!("{system:?}, {what}"), found, expected[what].as_f64().unwrap());
        }
        let weights = row(&expected["mu"]);
        assert!(weights.iter().all(|&mu| mu > 0.0), "{system:?}: every law must count");
        assert_eq!(evaluation.weights.len(), weights.len());
        for (found, expected) in evaluation.weights.iter().zip(weights) {
            agree(&format!("{system:?}, mu"), *found, expected);
        }
    }
}

#[test]
fn two_hundred_steps_of_adam_agree_with_an_independent_implementation() {
    let numbers = numbers();
    for system in System::ALL {
        let expected = &numbers[system.name()];
        let training = training(system, expected["rate"].as_f64().unwrap());
        let (losses, phis) = (row(&expected["losses"]), row(&expected["phis"]));
        assert_eq!(losses.len(), 200);
        let mut trainer = trainer(&training, losses.len() - 1);
        let start = lawful::Progress { theta: initial_weights(system), ..progress(&training) };
        trainer = trainer.from_checkpoint(start).unwrap();
        let mut curve = Curve::default();
        let Outcome { .. } = trainer.run(&mut curve);
        assert_eq!(curve.losses.len(), losses.len(), "{system:?}");
        for k in 0..losses.len() {
            agree(&format!("{system:?}, loss of iteration {k}"), curve.losses[k], losses[k]);
            agree(&format!("{system:?}, phi of iteration {k}"), curve.values[k], phis[k]);
        }
    }
}

/// The training loop for this many iterations.
fn trainer(training: &Prepared, iterations: usize) -> lawful::Trainer {
    let phase = lawful::Phase { iterations, ..training.phases[0].clone() };
    training.trainer(&phase, &training.initial_theta())
}

/// A run that has not begun.
fn progress(training: &Prepared) -> lawful::Progress {
    let parameters = training.shape().parameter_len();
    let (mut optimiser, mut strategy) = (Vec::new(), lawful::StrategyMemory::default());
    training.phases[0].optimiser.build(parameters).save(&mut optimiser);
    trainer(training, 0).objective().save_strategy(&mut strategy);
    lawful::Progress {
        iteration: 0,
        theta: Vec::new(),
        optimiser,
        strategy,
        outer_step: 0,
        best: lawful::BestPoint::new(training.strategy.tolerance, parameters),
        best_gradient: vec![0.0; parameters],
        failure_factor: 1.0,
        backtrack_factor: 1.0,
        validated: lawful::Validated::default(),
    }
}
