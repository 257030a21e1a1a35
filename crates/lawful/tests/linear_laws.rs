//! Linear laws hold along every path of a field that guarantees them, and their gradients are exact.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod linear_support;

use lawful::ode::{
    InitialValueProblems, NoInputs, Path, SolveError, TABLEAUS, predict, pull_back, replay, solve,
};
use lawful::{Adaptive, Control, Random, Solver, VectorField};
use linear_support::{CASES, Case};

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
        let (mut field, theta) = case.field(1, 0.8);
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
            // Logarithms are steep at small distances.
            let scale = match (i < y.len(), case.logs) {
                (true, true) => 1e-4 * case.scale[i % d],
                (true, false) => case.scale[i % d],
                (false, _) => 1.0,
            };
            let mut at = |shift: f64| {
                let (mut y, mut theta) = (y.clone(), theta.clone());
                let mut both = y.iter_mut().chain(&mut theta);
                *both.nth(i).unwrap() += shift * scale;
                value(&mut *field, &y, &theta)
            };
            let e = 1e-3;
            let slope = (8.0 * (at(e) - at(-e)) - (at(2.0 * e) - at(-2.0 * e))) / (12.0 * e);
            expected.push(slope / scale);
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
        for (i, (found, expected)) in y_bar.iter().zip(&expected).enumerate() {
            let error = (found - expected).abs() / expected.abs().max(1.0);
            assert!(error <= 1e-6, "{} y {i}: {found} {expected}", case.name);
        }
        let error = relative_error(&theta_bar, &expected[y.len()..]);
        assert!(error <= 1e-6, "{} θ: {error:e}\n{theta_bar:?}\n{expected:?}", case.name);
    }
}

#[test]
fn the_rate_points_inwards_and_in_its_direction_and_changes_no_sum() {
    for case in &CASES {
        let (form, d) = (case.form(), case.d());
        for (seed, amplitude) in (0..30).zip([0.1, 1.0, 5.0].into_iter().cycle()) {
            let (mut field, _) = case.field(seed, amplitude);
            field.reserve(1, 3);
            let y = case.initial.concat();
            let mut dy = vec![0.0; y.len()];
            field.eval(0, &[0.0, 1.0, 9.0], &y, &[], &mut dy);
            for (y, dy) in y.chunks_exact(d).zip(dy.chunks_exact(d)) {
                for (i, state) in form.description.states.iter().enumerate() {
                    let label = format!("{} {seed} {i}: {} at {}", case.name, dy[i], y[i]);
                    assert!(dy[i].is_finite(), "{label}");
                    if state.lower.is_some_and(|lower| y[i] <= lower.at) {
                        assert!(dy[i] >= 0.0, "{label}");
                    }
                    if state.upper.is_some_and(|upper| y[i] >= upper.at) {
                        assert!(dy[i] <= 0.0, "{label}");
                    }
                    match state.direction {
                        Some(lawful::Direction::Falls) => assert!(dy[i] <= 0.0, "{label}"),
                        Some(lawful::Direction::Rises) => assert!(dy[i] >= 0.0, "{label}"),
                        Some(lawful::Direction::Stays) => assert!(dy[i].abs() <= 0.0, "{label}"),
                        None => {}
                    }
                }
                for sum in &form.description.sums {
                    let terms = || sum.weights.iter().zip(dy).map(|(w, dy)| w * dy);
                    let size: f64 = terms().map(f64::abs).sum();
                    let scale: f64 =
                        sum.weights.iter().zip(case.scale).map(|(w, s)| (w * s).abs()).sum();
                    let off = terms().sum::<f64>().abs();
                    assert!(off <= 1e-14 * (size + scale), "{} {seed}: {off:e}", case.name);
                }
            }
        }
    }
}

#[test]
fn random_networks_obey_their_laws_over_long_paths_with_every_method_and_on_dense_output() {
    let (mut corrected, mut refused, mut failed, mut solved) = (0, 0, 0, 0);
    for case in &CASES {
        for solver in solvers(1e-4) {
            for (start, amplitude) in [0.1, 0.8, 2.0].into_iter().enumerate() {
                let seed = start as u64;
                let label = format!("{} {seed}", label(case, &solver));
                let (mut field, _) = case.field(seed, amplitude);
                let adaptive = matches!(solver.control(), Control::Adaptive(_));
                let mut random = Random::new(seed, "times");
                let mut times: Vec<f64> = if adaptive {
                    (0..1500).map(|_| 20.0 * random.uniform()).collect()
                } else {
                    (0..150).map(|i| 0.4 * f64::from(i)).collect()
                };
                times.push(0.0);
                times.sort_by(f64::total_cmp);
                times.dedup();
                let mut ivps = InitialValueProblems::new(case.d());
                for k in 0..if adaptive { 1 } else { 3 } {
                    ivps.push(&times, case.initial[(start + k) % 3]).unwrap();
                }
                let mut path = Path::new();
                let result = solve(&mut *field, &solver, &ivps, &NoInputs, &mut path);
                refused += path.counts().refused;
                match result {
                    // Steps on a grid may be too long.
                    Err(SolveError::Refused { why, .. }) if !adaptive => {
                        assert!(!why.is_empty());
                        failed += 1;
                        continue;
                    }
                    result => result.unwrap_or_else(|error| panic!("{label}: {error}")),
                }
                solved += 1;
                corrected += path.counts().corrected;
                for column in 0..ivps.columns() {
                    let broken = case.broken(&times, path.observed(column));
                    assert!(broken.is_empty(), "{label}: {broken:?}");
                }
            }
        }
    }
    assert!(corrected > 100 && refused > 100 && solved > 20 * failed.max(1), "{failed} {solved}");
}

#[test]
fn values_depend_on_the_steps_and_not_on_the_output_times() {
    for case in &CASES {
        for solver in solvers(1e-3).filter(|s| matches!(s.control(), Control::Adaptive(_))) {
            let (mut field, _) = case.field(4, 1.5);
            let all: Vec<f64> = (0..=300).map(|i| 0.02 * f64::from(i)).collect();
            let some: Vec<f64> = all.iter().copied().step_by(30).collect();
            let observed = |field: &mut dyn VectorField, times: &[f64]| {
                let (mut ivps, mut path) = (InitialValueProblems::new(case.d()), Path::new());
                ivps.push(times, case.initial[0]).unwrap();
                predict(field, &solver, &ivps, &NoInputs, &mut path).unwrap();
                path.all_observed().to_vec()
            };
            let (dense, sparse) = (observed(&mut *field, &all), observed(&mut *field, &some));
            let picked: Vec<f64> =
                dense.chunks_exact(case.d()).step_by(30).flatten().copied().collect();
            assert_eq!(picked, sparse, "{}", label(case, &solver));
        }
    }
}

#[test]
fn forks_give_the_same_bytes() {
    for case in &CASES {
        let (mut field, _) = case.field(3, 1.0);
        let mut fork = field.fork();
        let solver = Solver::new(TABLEAUS[0], Control::Grid { substeps: 2 }).unwrap();
        let mut ivps = InitialValueProblems::new(case.d());
        for initial in case.initial {
            ivps.push(&[0.0, 0.01, 0.02, 0.05], initial).unwrap();
        }
        let (mut path, mut other) = (Path::new(), Path::new());
        solve(&mut *field, &solver, &ivps, &NoInputs, &mut path).unwrap();
        solve(&mut *fork, &solver, &ivps, &NoInputs, &mut other).unwrap();
        assert_eq!(path.all_observed(), other.all_observed());
    }
}

/// Compares with central differences of replays: the same steps, from moved starts and parameters.
fn check_gradient(
    case: &Case,
    solver: &Solver,
    (seed, amplitude): (u64, f64),
) -> Result<usize, SolveError> {
    let label = label(case, solver);
    let (mut field, theta) = case.field(seed, amplitude);
    let adaptive = matches!(solver.control(), Control::Adaptive(_));
    let mut ivps = InitialValueProblems::new(case.d());
    for initial in case.initial.iter().take(if adaptive { 1 } else { 2 }) {
        let width = if adaptive { 0.3 } else { 0.8 };
        let times: Vec<f64> = (0..7).map(|i| width * f64::from(i)).collect();
        ivps.push(&times, initial).unwrap();
    }
    let mut path = Path::new();
    solve(&mut *field, solver, &ivps, &NoInputs, &mut path)?;
    if case.name.starts_with("logit") && path.counts().corrected > 0 {
        // A thousandth of the gap to a bound other than 0 has few digits: differences are rounding.
        return Ok(0);
    }
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
    let mut moved_path = Path::new();
    let mut expected = Vec::new();
    let mut refused = None;
    for i in 0..theta.len() {
        let mut at = |shift: f64| {
            let mut theta = theta.clone();
            theta[i] += shift;
            field.set_parameters(&theta);
            // A step that all but goes the wrong way is refused from moved parameters.
            let result = replay(&mut *field, solver, &ivps, &NoInputs, &path, &mut moved_path);
            refused = result.err().or(refused.take());
            moved_path.all_observed().iter().zip(&w).map(|(x, w)| x * w).sum::<f64>()
        };
        // Long steps bend values much: of three widths, the best one.
        let mut slope =
            |e: f64| (8.0 * (at(e) - at(-e)) - (at(2.0 * e) - at(-2.0 * e))) / (12.0 * e);
        let slopes = [slope(1e-5), slope(1e-6), slope(1e-7)];
        let off = |slope: f64| (slope - theta_bar[i]).abs();
        let best = slopes.into_iter().reduce(|a, b| if off(b) < off(a) { b } else { a });
        expected.push(best.unwrap());
    }
    if let Some(refused) = refused {
        return Err(refused);
    }
    let error = relative_error(&theta_bar, &expected);
    assert!(error <= 1e-6, "{label}: {error:e}\n{theta_bar:?}\n{expected:?}");
    Ok(path.counts().corrected)
}

#[test]
fn gradients_of_solves_are_those_of_central_differences() {
    let (mut corrected, mut refused, mut checked) = (0, 0, 0);
    for case in &CASES {
        for solver in solvers(1e-2) {
            for draw in [(1, 0.5), (2, 1.5), (3, 1.5)] {
                match check_gradient(case, &solver, draw) {
                    Ok(count) => {
                        corrected += count;
                        checked += 1;
                    }
                    Err(SolveError::Refused { .. }) => refused += 1,
                    Err(error) => panic!("{}: {error}", label(case, &solver)),
                }
            }
        }
    }
    assert!(corrected > 100 && checked > 5 * refused, "{corrected} {refused} {checked}");
}

/// Mean squared distance to the data in sizes of the states, and its gradient.
fn loss(
    case: &Case,
    field: &mut dyn VectorField,
    ivps: &InitialValueProblems,
    data: &[f64],
    theta: &[f64],
) -> (f64, Vec<f64>) {
    field.set_parameters(theta);
    let (solver, mut path) = (Solver::default(), Path::new());
    solve(field, &solver, ivps, &NoInputs, &mut path).unwrap();
    let sizes = case.scale.iter().cycle();
    let off = path.all_observed().iter().zip(data).zip(sizes).map(|((y, data), s)| (y - data) / s);
    let (off, n): (Vec<f64>, f64) = (off.collect(), data.len() as f64);
    let bar = off.iter().zip(case.scale.iter().cycle()).map(|(off, s)| 2.0 * off / (s * n));
    let bar: Vec<f64> = bar.collect();
    let (mut initial_bar, mut slope) = (vec![0.0; ivps.initial().len()], vec![0.0; theta.len()]);
    pull_back(field, &solver, ivps, &NoInputs, &mut path, &bar, &mut initial_bar, &mut slope);
    (off.iter().map(|off| off * off).sum::<f64>() / n, slope)
}

/// Systems that obey the laws of a case, learned from 25 rows by Adam.
#[test]
fn trained_networks_fit_and_obey_their_laws_over_ten_times_the_horizon() {
    type Rates = fn(&[f64]) -> Vec<f64>;
    let systems: [(&str, f64, Rates); 3] = [
        ("influenza", 12.0, |y| {
            let (infected, recovered) = (1.6 * y[0] * y[1] / 763.0, 0.45 * y[1]);
            vec![-infected, infected - recovered, recovered]
        }),
        ("falling to a bound and rising to one", 12.0, |y| {
            vec![-0.8 * y[0], 0.02 * y[0] - 0.3 * y[1], 0.2 * (1.0 - y[2])]
        }),
        ("log coordinates", 4.0, |y| vec![y[0] * (0.5 - 0.02 * y[1]), y[1] * (0.02 * y[0] - 0.7)]),
    ];
    for (name, horizon, rates) in systems {
        let case = CASES.iter().find(|case| case.name == name).unwrap();
        let (rows, parts) = (24, 200);
        let (mut y, mut data) = (case.initial[0].to_vec(), case.initial[0].to_vec());
        let h = horizon / f64::from(rows * parts);
        for _ in 0..rows {
            for _ in 0..parts {
                let first = rates(&y);
                let half: Vec<f64> = y.iter().zip(&first).map(|(y, f)| y + 0.5 * h * f).collect();
                y.iter_mut().zip(rates(&half)).for_each(|(y, f)| *y += h * f);
            }
            data.extend_from_slice(&y);
        }
        let times: Vec<f64> =
            (0..=rows).map(|i| horizon * f64::from(i) / f64::from(rows)).collect();
        let mut ivps = InitialValueProblems::new(case.d());
        ivps.push(&times, case.initial[0]).unwrap();
        let (mut field, mut theta) = case.field(7, 0.3);
        let (before, _) = loss(case, &mut *field, &ivps, &data, &theta);
        let (mut m, mut v) = (vec![0.0; theta.len()], vec![0.0; theta.len()]);
        for step in 1..=2000 {
            let (_, slope) = loss(case, &mut *field, &ivps, &data, &theta);
            for i in 0..theta.len() {
                m[i] = 0.9 * m[i] + 0.1 * slope[i];
                v[i] = 0.999 * v[i] + 0.001 * slope[i] * slope[i];
                let (m, v) =
                    (m[i] / (1.0 - 0.9_f64.powi(step)), v[i] / (1.0 - 0.999_f64.powi(step)));
                theta[i] -= 0.01 * m / (v.sqrt() + 1e-8);
            }
        }
        let (after, _) = loss(case, &mut *field, &ivps, &data, &theta);
        assert!(after < 0.01 && after < 0.05 * before, "{name}: {before:e} → {after:e}");
        let long: Vec<f64> = (0..=2000).map(|i| horizon * f64::from(i) / 200.0).collect();
        for solver in solvers(1e-5) {
            for initial in case.initial {
                let mut ivps = InitialValueProblems::new(case.d());
                ivps.push(&long, initial).unwrap();
                let mut path = Path::new();
                predict(&mut *field, &solver, &ivps, &NoInputs, &mut path)
                    .unwrap_or_else(|error| panic!("{}: {error}", label(case, &solver)));
                let broken = case.broken(&long, path.all_observed());
                assert!(broken.is_empty(), "{}: {broken:?}", label(case, &solver));
            }
        }
    }
}
