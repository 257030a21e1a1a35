//! Data made from equations: against closed forms, by hand, with noise and with inputs.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::bits;
use lawful::law::{Expression, Words};
use lawful::ode::tableaus::EULER;
use lawful::{FormulaField, Noise, NoiseLevel, Simulation, Trajectory, Vocabulary};

fn simulation(words: Words, equations: &[&str]) -> (Simulation, Vocabulary) {
    let vocabulary = words.check().unwrap();
    let field = FormulaField::new(equations, &vocabulary).unwrap();
    (Simulation { field, inputs: Vec::new(), tableau: None, noise: None }, vocabulary)
}

fn grid(to: f64, points: u32) -> Vec<f64> {
    (0..points).map(|n| to * f64::from(n) / f64::from(points - 1)).collect()
}

/// The largest error of `variable`, relative to the size of the exact solution where that exceeds 1.
fn error(found: &Trajectory, width: usize, variable: usize, exact: impl Fn(f64) -> f64) -> f64 {
    let states = found.states.iter().skip(variable).step_by(width);
    let errors = found.times.iter().zip(states).map(|(&t, x)| {
        let exact = exact(t);
        (x - exact).abs() / exact.abs().max(1.0)
    });
    errors.fold(0.0, |max, error| if error <= max { max } else { error })
}

#[test]
fn simulated_data_agree_with_closed_forms() {
    let words = Words::new().state(["x", "v"]).constant("c", 0.1);
    let (oscillator, _) = simulation(words, &["v", "-(c*v + x)"]);
    let found = oscillator.run("1", &grid(50.0, 400), &[1.0, 0.0]).unwrap();
    let w = (1.0_f64 - 0.0025).sqrt();
    let x = |t: f64| (-0.05 * t).exp() * ((w * t).cos() + 0.05 / w * (w * t).sin());
    let v = |t: f64| -(-0.05 * t).exp() * (w * t).sin() / w;
    for (variable, found) in [error(&found, 2, 0, x), error(&found, 2, 1, v)].iter().enumerate() {
        assert!(*found < 1e-10, "oscillator, variable {variable}: {found:e}");
    }
    let words = Words::new().state(["y"]).constant("r", 0.026).constant("K", 12.0);
    let (population, _) = simulation(words, &["r*y*(1 - y/K)"]);
    let found = population.run("1", &grid(300.0, 200), &[2.518_629]).unwrap();
    let y = |t: f64| 12.0 / (1.0 + (12.0 / 2.518_629 - 1.0) * (-0.026 * t).exp());
    let found = error(&found, 1, 0, y);
    assert!(found < 1e-10, "population: {found:e}");
}

#[test]
fn tight_solutions_do_not_depend_on_the_grid_they_are_sampled_on() {
    let (oscillator, _) = simulation(Words::new().state(["x", "v"]), &["v", "-x"]);
    let coarse = oscillator.run("1", &grid(20.0, 3), &[1.0, 0.0]).unwrap();
    let fine = oscillator.run("1", &grid(20.0, 201), &[1.0, 0.0]).unwrap();
    assert_eq!(bits(&coarse.states[2..4]), bits(&fine.states[200..202]));
}

#[test]
fn a_stated_method_steps_on_the_sampling_grid() {
    let words = Words::new().state(["A", "B"]).constant("k", 0.1);
    let (reaction, _) = simulation(words, &["-k*A*B", "-k*A*B + t/10"]);
    let euler = Simulation { tableau: Some(&EULER), ..reaction };
    let times = [0.0, 1.0, 1.5, 3.0];
    let found = euler.run("r", &times, &[1.0, 0.5]).unwrap();
    let (mut a, mut b) = (1.0, 0.5);
    let mut by_hand = vec![a, b];
    for pair in times.windows(2) {
        let (t, h) = (pair[0], pair[1] - pair[0]);
        let r = 0.1 * a * b;
        (a, b) = (a - h * r, b + h * (t / 10.0 - r));
        by_hand.extend([a, b]);
    }
    assert!(common::relative_error(&by_hand, &found.states) < 1e-15);
    assert_eq!((found.name.as_str(), found.times.as_slice()), ("r", &times[..]));
}

#[test]
fn inputs_are_expressions_of_time() {
    let words = Words::new().state(["x", "y"]).inputs(["u", "w"]).constant("a", 2.0);
    let (driven, vocabulary) = simulation(words, &["u", "w*u"]);
    let of_time = |text| Expression::parse_of_time(text, &vocabulary).unwrap();
    let driven = Simulation { inputs: vec![of_time("cos(t)"), of_time("a*sin(t)")], ..driven };
    let found = driven.run("1", &grid(3.0, 31), &[0.0, 0.0]).unwrap();
    assert!(error(&found, 2, 0, f64::sin) < 1e-10);
    assert!(error(&found, 2, 1, |t| t.sin().powi(2)) < 1e-10);
    for (row, t) in found.inputs.chunks_exact(2).zip(&found.times) {
        assert!(common::relative_error(&[t.cos(), 2.0 * t.sin()], row) < 1e-15);
    }
}

#[test]
fn noise_has_the_stated_size_and_depends_on_its_seed_and_name_alone() {
    let clean = || {
        let states = (0..40_000).map(f64::from).map(|n| (0.01 * n).sin()).collect();
        Trajectory::new("1", grid(1.0, 20_000), states)
    };
    let disturbed = |name: &str, level, seed| {
        let (mut simulation, _) = simulation(Words::new().state(["x", "v"]), &["v", "-x"]);
        simulation.noise = Some(Noise { level, seed });
        let mut trajectory = Trajectory { name: name.into(), ..clean() };
        simulation.disturb(&mut trajectory);
        trajectory.states
    };
    // The standard deviation of a sine wave is 1/√2.
    for (level, expected) in
        [(NoiseLevel::Std(0.3), 0.3), (NoiseLevel::Relative(0.1), 0.1 * 0.5_f64.sqrt())]
    {
        let noise: Vec<f64> =
            disturbed("1", level, 5).iter().zip(clean().states).map(|(a, b)| a - b).collect();
        for variable in 0..2 {
            let noise = || noise.iter().skip(variable).step_by(2);
            let mean = noise().sum::<f64>() / 20_000.0;
            let std = (noise().map(|e| e * e).sum::<f64>() / 20_000.0).sqrt();
            assert!(mean.abs() < 0.03 * expected, "{level:?}: mean {mean}");
            assert!((std / expected - 1.0).abs() < 0.03, "{level:?}: standard deviation {std}");
        }
        // Neighbours, of the same and of other variables, know nothing of each other.
        for lag in [1, 2, 3] {
            let products = noise.iter().zip(&noise[lag..]).map(|(a, b)| a * b);
            let correlation = products.sum::<f64>() / 40_000.0 / expected.powi(2);
            assert!(correlation.abs() < 0.03, "{level:?}, lag {lag}: {correlation}");
        }
    }
    let level = NoiseLevel::Std(0.1);
    assert_eq!(bits(&disturbed("1", level, 5)), bits(&disturbed("1", level, 5)));
    assert_ne!(bits(&disturbed("1", level, 5)), bits(&disturbed("1", level, 6)));
    assert_ne!(bits(&disturbed("1", level, 5)), bits(&disturbed("2", level, 5)));
    assert_eq!(bits(&disturbed("1", NoiseLevel::Std(0.0), 5)), bits(&clean().states));
}
