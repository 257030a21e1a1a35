//! A field of rates is brought to linear laws by the nearest rate within them, and the guard of its steps.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod linear_support;

use lawful::ode::{InitialValueProblems, NoInputs, Path, SolveError, TABLEAUS, solve};
use lawful::{
    Adaptive, Control, FieldDescription, FieldPart, KnownDescription, LinearDescription,
    NetworkDescription, Random, Solver, VectorField,
};
use linear_support::{CASES, Case, names};

/// The laws of a case around inner parts.
fn within(case: &Case, mut parts: Vec<FieldPart>) -> FieldDescription {
    let linear = LinearDescription { flows: Vec::new(), ..case.form().description };
    parts.push(FieldPart::Nearest(linear));
    FieldDescription { parts, ..FieldDescription::new(&names(case.state)) }
}

/// A random network of rates within the laws of a case.
fn field(case: &Case, seed: u64, amplitude: f64) -> (Box<dyn VectorField>, Vec<f64>) {
    let network = NetworkDescription {
        time_input: true,
        ..NetworkDescription::new(&[6], &names(case.state))
    };
    let parts = vec![FieldPart::Network(network), FieldPart::Scaling(case.scaling())];
    let mut field = within(case, parts).build().unwrap();
    let mut random = Random::new(seed, case.name);
    let theta: Vec<f64> = (0..field.parameter_len()).map(|_| amplitude * random.normal()).collect();
    field.set_parameters(&theta);
    (field, theta)
}

fn cases() -> impl Iterator<Item = &'static Case> {
    CASES.iter().filter(|case| !case.logs)
}

/// A field of constant rates.
fn rate(case: &Case, rates: &[&str], y: &[f64]) -> Vec<f64> {
    let rates = case.state.iter().zip(rates).map(|(name, rate)| ((*name).into(), (*rate).into()));
    // The rates are the network's here: laws do not alter known ones, and these are known to the field alone.
    let known = KnownDescription { rates: rates.collect(), learn: Vec::new() };
    let inner = FieldDescription {
        parts: vec![FieldPart::Known(known)],
        ..FieldDescription::new(&names(case.state))
    };
    let mut inner = inner.build().unwrap();
    inner.reserve(1, 1);
    let mut g = vec![0.0; y.len()];
    inner.eval(0, &[0.0], y, &[], &mut g);
    // A network of biases alone has these rates.
    let network = NetworkDescription::new(&[], &names(case.state));
    let mut field = within(case, vec![FieldPart::Network(network)]).build().unwrap();
    let weights = field.parameter_len() - y.len();
    let theta: Vec<f64> = std::iter::repeat_n(0.0, weights).chain(g).collect();
    field.set_parameters(&theta);
    field.reserve(1, 1);
    let mut f = vec![0.0; y.len()];
    field.eval(0, &[0.0], y, &[], &mut f);
    f
}

#[test]
fn rates_are_those_worked_by_hand() {
    let case = |name: &str| CASES.iter().find(|case| case.name == name).unwrap();
    let near = |found: Vec<f64>, expected: &[f64]| {
        let same = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12 * (1.0 + b.abs()));
        assert!(same, "{found:?} instead of {expected:?}");
    };
    // A bound of y >= −2, of which the usual distance is 2 and the usual rate 0.7: at most 7 q downwards.
    let bounds = case("lower bounds");
    near(rate(bounds, &["-50", "-50"], &[0.0, -2.0]), &[0.0, 0.0]);
    near(rate(bounds, &["-50", "-50"], &[1.0, -1.0]), &[-7.0, -3.5]);
    near(rate(bounds, &["-5", "50"], &[1.0, -2.0]), &[-5.0, 50.0]);
    // Directions alone: what goes the wrong way is 0, and z stays.
    near(rate(case("directions alone"), &["-1", "-2", "3"], &[0.0; 3]), &[0.0, -2.0, 0.0]);
    // Sizes 300, 90 and 250 of S, I and R, far from their bounds: of 16 too much, each takes its part of the squares.
    let flu = case("influenza");
    let squares = [90_000.0, 8_100.0, 62_500.0];
    let whole: f64 = squares.iter().sum();
    let expected = [-40.0, 26.0, 30.0];
    let expected: Vec<f64> =
        expected.iter().zip(squares).map(|(g, s)| g - 16.0 * s / whole).collect();
    near(rate(flu, &["-40", "26", "30"], &[400.0, 100.0, 263.0]), &expected);
    // R may not fall: S and I share the 15 that are too much.
    let found = rate(flu, &["5", "10", "0"], &[400.0, 100.0, 263.0]);
    let share = 15.0 * 8_100.0 / 98_100.0;
    near(found, &[share - 10.0, 10.0 - share, 0.0]);
    // Nobody is ill, and nobody less can be: S and R share the 9 that are too much.
    let found = rate(flu, &["0", "-9", "9"], &[400.0, 0.0, 363.0]);
    let share = 9.0 * 62_500.0 / 152_500.0;
    near(found, &[share - 9.0, 0.0, 9.0 - share]);
    // S may not rise, nor R fall: nothing changes.
    near(rate(flu, &["9", "0", "-9"], &[400.0, 0.0, 363.0]), &[0.0, 0.0, 0.0]);
    // S gives what R takes, if I is 0 and does not change.
    let found = rate(flu, &["-9", "-30", "9"], &[400.0, 0.0, 363.0]);
    near(found, &[-9.0, 0.0, 9.0]);
}

#[test]
fn the_rate_points_inwards_and_in_its_direction_and_changes_no_sum() {
    for case in cases() {
        let (form, d) = (case.form(), case.d());
        for (seed, amplitude) in (0..30).zip([0.1, 1.0, 5.0].into_iter().cycle()) {
            let (mut field, _) = field(case, seed, amplitude);
            field.reserve(1, 3);
            let y = case.initial.concat();
            let mut dy = vec![0.0; y.len()];
            field.eval(0, &[0.0, 1.0, 9.0], &y, &[], &mut dy);
            for (y, dy) in y.chunks_exact(d).zip(dy.chunks_exact(d)) {
                for (i, state) in form.description.states.iter().enumerate() {
                    let label = format!("{} {seed} {i}: {} at {}", case.name, dy[i], y[i]);
                    assert!(dy[i].is_finite(), "{label}");
                    if state.lower.is_some_and(|lower| y[i] <= lower.at && !lower.implied) {
                        assert!(dy[i] >= 0.0, "{label}");
                    }
                    if state.upper.is_some_and(|upper| y[i] >= upper.at && !upper.implied) {
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
                    assert!(off <= 1e-13 * (size + scale), "{} {seed}: {off:e}", case.name);
                }
            }
        }
    }
}

#[test]
fn a_rate_that_obeys_the_laws_is_not_moved() {
    for case in cases().filter(|case| case.name != "overlapping sums") {
        let d = case.d();
        for (seed, start) in (0..20).zip([0, 1, 2].into_iter().cycle()) {
            let (mut field, _) = field(case, seed, 1.0);
            field.reserve(1, 1);
            // A second time the rate is within the laws: the network of biases alone has it.
            let y = case.initial[start];
            let mut dy = vec![0.0; d];
            field.eval(0, &[0.0], y, &[], &mut dy);
            let texts: Vec<String> = dy.iter().map(|rate| format!("{rate:e}")).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let again = rate(case, &texts, y);
            for (a, b) in again.iter().zip(&dy) {
                assert!(
                    (a - b).abs() <= 1e-12 * (a.abs() + b.abs() + 1.0),
                    "{}: {a} {b}",
                    case.name
                );
            }
        }
    }
}

#[test]
fn the_pull_back_is_that_of_central_differences() {
    let (mut checked, mut kinks) = (0, 0);
    for case in cases() {
        let d = case.d();
        for seed in 0..6 {
            let (mut field, theta) = field(case, seed, 1.2);
            field.reserve(2, 2);
            // Away from bounds, where limits are straight lines.
            let mut random = Random::new(seed, "states");
            let y: Vec<f64> = (0..2 * d)
                .map(|k| case.initial[1][k % d] + 0.1 * case.scale[k % d] * random.uniform())
                .collect();
            let (t, w): (_, Vec<f64>) =
                ([0.3, 1.7], (0..2 * d).map(|i| (1.0 + 1.7 * i as f64).sin()).collect());
            let mut dy = vec![0.0; y.len()];
            let mut value = |field: &mut dyn VectorField, y: &[f64], theta: &[f64]| {
                field.set_parameters(theta);
                field.eval(0, &t, y, &[], &mut dy);
                dy.iter().zip(&w).map(|(f, w)| f * w).sum::<f64>()
            };
            let scale = |i: usize| if i < y.len() { case.scale[i % d] } else { 1.0 };
            let mut slopes = |e: f64| -> Vec<f64> {
                let of = |i: usize| {
                    let mut at = |shift: f64| {
                        let (mut y, mut theta) = (y.clone(), theta.clone());
                        *y.iter_mut().chain(&mut theta).nth(i).unwrap() += shift * scale(i);
                        value(&mut *field, &y, &theta)
                    };
                    (at(e) - at(-e)) / (2.0 * e * scale(i))
                };
                (0..y.len() + theta.len()).map(of).collect()
            };
            let (coarse, fine) = (slopes(1e-5), slopes(2e-6));
            field.set_parameters(&theta);
            let mut dy = vec![0.0; y.len()];
            field.eval(0, &t, &y, &[], &mut dy);
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
            let size = theta_bar.iter().fold(1e-3, |size: f64, x| size.max(x.abs()));
            let found = y_bar.iter().chain(&theta_bar);
            for (i, ((found, coarse), fine)) in found.zip(&coarse).zip(&fine).enumerate() {
                let size = if i < y.len() { size.max(found.abs()) } else { size };
                // A kink between the points of a difference makes two widths differ.
                if (coarse - fine).abs() > 1e-6 * size {
                    kinks += 1;
                    continue;
                }
                checked += 1;
                let error = (found - fine).abs() / size;
                assert!(error <= 1e-6, "{} {seed}, {i}: {found} {fine}", case.name);
            }
        }
    }
    assert!(checked > 100 * kinks.max(1), "{checked} {kinks}");
}

#[test]
fn random_networks_obey_their_laws_over_long_paths_with_every_method_and_on_dense_output() {
    let (mut refused, mut failed, mut solved) = (0, 0, 0);
    for case in cases() {
        for tableau in TABLEAUS {
            let adaptive = Control::Adaptive(Adaptive::with_tolerances(1e-4, 1e-4));
            for control in [Control::Grid { substeps: 2 }, adaptive] {
                let Ok(solver) = Solver::new(tableau, control) else { continue };
                for (start, amplitude) in [0.1, 0.8, 2.0].into_iter().enumerate() {
                    let seed = start as u64;
                    let label = format!("{}, {} {control:?} {seed}", case.name, tableau.name);
                    let (mut field, _) = field(case, seed, amplitude);
                    let adaptive = matches!(control, Control::Adaptive(_));
                    let times: Vec<f64> = (0..=300)
                        .map(|i| if adaptive { 0.07 } else { 0.2 } * f64::from(i))
                        .collect();
                    let mut ivps = InitialValueProblems::new(case.d());
                    ivps.push(&times, case.initial[start]).unwrap();
                    let mut path = Path::new();
                    let result = solve(&mut *field, &solver, &ivps, &NoInputs, &mut path);
                    refused += path.counts().refused;
                    match result {
                        // Steps on a grid may be too long.
                        Err(SolveError::Refused { .. }) if !adaptive => failed += 1,
                        Err(error) => panic!("{label}: {error}"),
                        Ok(()) => {
                            solved += 1;
                            let broken = case.broken(&times, path.observed(0));
                            assert!(broken.is_empty(), "{label}: {broken:?}");
                        }
                    }
                }
            }
        }
    }
    assert!(refused > 10 && solved > 5 * failed.max(1), "{refused} {solved} {failed}");
}

#[test]
fn fields_that_cannot_be_wrapped_are_refused() {
    let case = cases().next().unwrap();
    let network =
        |outputs: &[&str]| FieldPart::Network(NetworkDescription::new(&[], &names(outputs)));
    let error = |description: FieldDescription| description.build().err().unwrap().to_string();
    let error_within = |parts: Vec<FieldPart>| error(within(case, parts));
    let found = error_within(vec![network(&["S", "I"])]);
    assert!(found.contains("2 instead of 3"), "{found}");
    let found = error_within(case.description().parts);
    assert!(found.contains("cannot follow `linear`"), "{found}");
    let outer = within(case, vec![network(&["S", "I", "R"])]).parts;
    let found = error_within(outer.clone());
    assert!(found.contains("`nearest` of a vector field must be the last"), "{found}");
    for (what, wrong) in [
        ("has no flows", LinearDescription { ..case.form().description }),
        ("needs usual rates above 0", {
            let mut linear = case.form().description;
            linear.flows.clear();
            linear.scaling.rate[1] = 0.0;
            linear
        }),
    ] {
        let parts = vec![network(&["S", "I", "R"]), FieldPart::Nearest(wrong)];
        let found = error(FieldDescription { parts, ..FieldDescription::new(&names(case.state)) });
        assert!(found.contains(what), "{found}");
    }
}
