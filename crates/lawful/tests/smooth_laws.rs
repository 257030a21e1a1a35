//! Smooth laws hold along every path of a field that guarantees them, and their gradients are exact.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod smooth_support;

use lawful::ode::{
    InitialValueProblems, NoInputs, Path, SolveError, TABLEAUS, pull_back, replay, solve,
};
use lawful::{Adaptive, Control, Solver, VectorField};
use smooth_support::{CASES, Case};

fn solvers(tolerance: f64) -> impl Iterator<Item = Solver> {
    let adaptive = Adaptive::with_tolerances(tolerance, tolerance);
    let controls =
        [Control::Grid { substeps: 1 }, Control::Grid { substeps: 3 }, Control::Adaptive(adaptive)];
    TABLEAUS
        .iter()
        .flat_map(move |tableau| controls.map(|control| Solver::new(tableau, control)))
        .filter_map(Result::ok)
}

fn label(case: &Case, solver: &Solver) -> String {
    format!("{}, {} {:?}", case.name, solver.tableau().name, solver.control())
}

/// The largest error of a gradient, in units of its largest entry.
fn relative_error(found: &[f64], expected: &[f64]) -> f64 {
    let size = expected.iter().fold(1e-3, |size: f64, x| size.max(x.abs()));
    found.iter().zip(expected).map(|(a, b)| (a - b).abs() / size).fold(0.0, f64::max)
}

fn covector(len: usize) -> Vec<f64> {
    (0..len).map(|i| (0.3 + 1.7 * (i as f64 + 1.0).powf(1.3)).sin()).collect()
}

#[test]
fn the_pull_back_of_the_rate_is_that_of_central_differences() {
    for case in &CASES {
        let (mut field, theta) = case.field(1);
        let d = case.d();
        let y = case.initial.concat();
        let (t, w) = ([0.3, 1.7, 0.0], covector(y.len()));
        let mut dy = vec![0.0; y.len()];
        field.reserve(2, 3);
        let mut value = |field: &mut dyn VectorField, y: &[f64], theta: &[f64]| {
            field.set_parameters(theta);
            field.eval(0, &t, y, &[], &mut dy);
            dy.iter().zip(&w).map(|(f, w)| f * w).sum::<f64>()
        };
        let mut expected = Vec::new();
        for i in 0..y.len() + theta.len() {
            let scale = if i < y.len() { case.scale[i % d] } else { 1.0 };
            let mut at = |shift: f64| {
                let (mut y, mut theta) = (y.clone(), theta.clone());
                let mut both = y.iter_mut().chain(&mut theta);
                *both.nth(i).unwrap() += shift * scale;
                value(&mut *field, &y, &theta)
            };
            let e = 1e-4;
            expected.push((8.0 * (at(e) - at(-e)) - (at(2.0 * e) - at(-2.0 * e))) / (12.0 * e));
        }
        value(&mut *field, &y, &theta);
        // Another slot in between must not matter.
        field.eval(1, &t[..1], &y[..d], &[], &mut vec![0.0; d]);
        let (mut y_bar, mut theta_bar) = (vec![0.0; y.len()], vec![0.0; theta.len()]);
        field.pull_back(0, &w, &mut y_bar);
        field.flush(&mut theta_bar);
        let mut state_only = vec![0.0; y.len()];
        field.pull_back_state(0, &w, &mut state_only);
        assert_eq!(state_only, y_bar, "{}", case.name);
        let mut parameters_only = vec![0.0; theta.len()];
        field.pull_back_parameters(0, &w);
        field.flush(&mut parameters_only);
        assert_eq!(parameters_only, theta_bar, "{}", case.name);
        y_bar.iter_mut().enumerate().for_each(|(i, bar)| *bar *= case.scale[i % d]);
        for (name, found, expected) in
            [("y", &y_bar, &expected[..y.len()]), ("θ", &theta_bar, &expected[y.len()..])]
        {
            let error = relative_error(found, expected);
            assert!(error <= 1e-6, "{} {name}: {error:e}\n{found:?}\n{expected:?}", case.name);
        }
    }
}

#[test]
fn random_networks_obey_their_laws_over_long_paths_with_every_method_and_on_dense_output() {
    let mut corrected = 0;
    for case in &CASES {
        for solver in solvers(1e-5) {
            for seed in 0..3 {
                let label = format!("{} {seed}", label(case, &solver));
                let (mut field, _) = case.field(seed);
                let adaptive = matches!(solver.control(), Control::Adaptive(_));
                let (points, width) = if adaptive { (1500, 0.007) } else { (150, 0.07) };
                let times: Vec<f64> = (0..=points).map(|i| width * f64::from(i)).collect();
                let mut ivps = InitialValueProblems::new(case.d());
                for initial in case.initial.iter().take(if adaptive { 1 } else { 3 }) {
                    ivps.push(&times, initial).unwrap();
                }
                let mut path = Path::new();
                solve(&mut *field, &solver, &ivps, &NoInputs, &mut path)
                    .unwrap_or_else(|error| panic!("{label}: {error}"));
                corrected += path.counts().corrected;
                for column in 0..ivps.columns() {
                    for (law, violation) in case.violations(&times, path.observed(column)) {
                        assert!(violation <= 1e-12, "{label}: {law} by {violation:e}");
                    }
                }
            }
        }
    }
    assert!(corrected > 10_000, "{corrected}");
}

/// Compares with central differences of replays: the same steps, from moved starts and parameters.
fn check_gradient(case: &Case, solver: &Solver) -> Result<usize, SolveError> {
    let label = label(case, solver);
    let (mut field, theta) = case.soft_field(2);
    let adaptive = matches!(solver.control(), Control::Adaptive(_));
    let mut ivps = InitialValueProblems::new(case.d());
    for initial in case.initial.iter().take(if adaptive { 1 } else { 2 }) {
        let times: Vec<f64> = (0..8).map(|i| 0.17 * f64::from(i)).collect();
        ivps.push(&times, initial).unwrap();
    }
    let mut path = Path::new();
    solve(&mut *field, solver, &ivps, &NoInputs, &mut path)?;
    let d = case.d();
    let w: Vec<f64> = covector(path.all_observed().len());
    let w: Vec<f64> = w.iter().enumerate().map(|(i, w)| w / case.scale[i % d]).collect();
    let (mut initial_bar, mut theta_bar) =
        (vec![0.0; ivps.initial().len()], vec![0.0; theta.len()]);
    pull_back(
        &mut *field,
        solver,
        &ivps,
        &NoInputs,
        &mut path,
        &w,
        &mut initial_bar,
        &mut theta_bar,
    );
    initial_bar.iter_mut().enumerate().for_each(|(i, bar)| *bar *= case.scale[i % d]);
    let exact = [initial_bar, theta_bar].concat();
    let initial = ivps.initial().len();
    let mut moved_path = Path::new();
    let mut expected = Vec::new();
    for i in 0..exact.len() {
        let mut at = |shift: f64| {
            let (mut ivps, mut theta) = (ivps.clone(), theta.clone());
            match i.checked_sub(initial) {
                None => ivps.initial_mut()[i] += shift * case.scale[i % d],
                Some(i) => theta[i] += shift,
            }
            field.set_parameters(&theta);
            replay(&mut *field, solver, &ivps, &NoInputs, &path, &mut moved_path)
                .unwrap_or_else(|error| panic!("{label}: {error}"));
            moved_path.all_observed().iter().zip(&w).map(|(x, w)| x * w).sum::<f64>()
        };
        let e = 1e-5;
        expected.push((8.0 * (at(e) - at(-e)) - (at(2.0 * e) - at(-2.0 * e))) / (12.0 * e));
    }
    let error = relative_error(&exact, &expected);
    assert!(error <= 1e-6, "{label}: {error:e}\n{exact:?}\n{expected:?}");
    Ok(path.counts().corrected)
}

#[test]
fn gradients_of_solves_are_those_of_central_differences() {
    let mut corrected = 0;
    for case in &CASES {
        for solver in solvers(1e-3) {
            corrected += check_gradient(case, &solver)
                .unwrap_or_else(|error| panic!("{}: {error}", label(case, &solver)));
        }
    }
    assert!(corrected > 100, "{corrected}");
}
