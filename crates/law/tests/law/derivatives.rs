//! Differentials of quantities, and the forms of laws that name them.

use crate::common::{law, vocabulary};
use lawful_law::{FUNCTIONS, Law, NotOfThisForm, Quantity, Steps, Words, Workspace};

/// Value and gradient of a quantity at one row.
fn at_row(quantity: &Quantity, t: f64, row: &[f64]) -> (f64, Vec<f64>) {
    let steps = Steps { times: &[t], states: row, inputs: &[0.7] };
    let (mut workspace, mut value) = (Workspace::new(), [f64::NAN]);
    let mut slopes = vec![0.0; row.len()];
    quantity.values(&steps, &mut workspace, &mut value);
    quantity.pull_back(&steps, &mut workspace, &[1.0], &mut slopes);
    (value[0], slopes)
}

/// The quantity of the law `text == 1`, and those of every function and operator.
fn quantity(text: &str) -> Quantity {
    law(&format!("{text} == 1"))
        .unwrap_or_else(|error| panic!("{text}: {error}"))
        .conserved()
        .expect("an equality")
        .quantity
}

fn formulas() -> Vec<String> {
    let at = ["next", "previous", "initial", "final", "rate"];
    let functions = FUNCTIONS.iter().filter(|function| !at.contains(&function.name()));
    let mut formulas: Vec<String> = functions
        .map(|function| match function.arguments() {
            "1 argument" => format!("{}(x*v + 0.3*t)*v", function.name()),
            _ => format!("{0}(x*v, t - v, x) - {0}(v, x)", function.name()),
        })
        .collect();
    formulas.extend(
        [
            "x + v*t",
            "-(x - v)*v",
            "x/(v + t)",
            "x^3*v^-2",
            "(x + t)^1.5",
            "v^x",
            "2^(x*v)",
            "x^2*u",
            "E",
        ]
        .map(str::to_owned),
    );
    formulas
}

#[test]
fn differentials_and_their_gradients_are_those_of_central_differences() {
    let (t, x, v) = (0.8, 0.6, 1.3);
    let (dx, dv, dt) = (0.4, -1.1, 0.9);
    for text in formulas() {
        let quantity = quantity(&text);
        let differential = quantity.differential();
        let value = |h: f64| at_row(&quantity, t + h * dt, &[x + h * dx, v + h * dv]).0;
        let h = 1e-4;
        let central =
            (8.0 * (value(h) - value(-h)) - (value(2.0 * h) - value(-2.0 * h))) / (12.0 * h);
        let row = [x, v, dx, dv, dt];
        let (found, slopes) = at_row(&differential, t, &row);
        assert!(
            (found - central).abs() <= 1e-8 * central.abs().max(1.0),
            "{text}: {found} {central}"
        );

        // ∂/∂ẏ is the gradient that the reverse sweep computes.
        let gradient = at_row(&quantity, t, &[x, v]).1;
        for (slope, expected) in slopes[2..4].iter().zip(&gradient) {
            assert!((slope - expected).abs() <= 1e-12 * expected.abs().max(1.0), "{text}");
        }
        // ∂/∂y, the second derivatives.
        for variable in 0..2 {
            let at = |h: f64| {
                let mut row = row;
                row[variable] += h;
                at_row(&differential, t, &row).0
            };
            let central = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
            let slope = slopes[variable];
            assert!(
                (slope - central).abs() <= 1e-7 * central.abs().max(1.0),
                "{text}: {slope} {central}"
            );
        }
    }
}

#[test]
fn quantities_know_what_they_depend_on_and_where_their_gradients_jump() {
    for (text, time, inputs, smooth) in [
        ("x^2 + v", false, false, true),
        ("x*cos(t)", true, false, true),
        ("x*u", false, true, true),
        ("abs(x)", false, false, false),
        ("max(x, v)", false, false, false),
        ("x + min(t, 3)", true, false, false),
    ] {
        let quantity = quantity(text);
        assert_eq!(quantity.depends_on_time(), time, "{text}");
        assert_eq!(quantity.depends_on_inputs(), inputs, "{text}");
        assert_eq!(quantity.is_smooth(), smooth, "{text}");
        assert_eq!(quantity.depends_on(1), text.contains('v'), "{text}");
    }
}

#[test]
fn conserved_quantities_are_found_in_every_writing() {
    for (text, is_zero, expected) in [
        ("x^2 + v^2 == 1", true, 0.25 + 4.0 - 1.0),
        ("x^2 + v^2 == t", true, 0.25 + 4.0 - 3.0),
        ("E == initial(E)", false, 0.25 + 1.0),
        ("E == final(E)", false, 0.25 + 1.0),
        ("final(E) == E", false, -1.25),
        ("next(E) == E", false, -1.25),
        ("E - previous(E) == 0", false, 1.25),
        ("x*v - initial(v*x) == 0", false, 1.0),
        ("2*x^2 + t + v == initial(v) + 2*initial(x^2) + initial(t)", false, 0.5 + 3.0 + 2.0),
        ("sin(x) - initial(v^2) == initial(sin(x)) - v^2", false, 0.5_f64.sin() + 4.0),
    ] {
        let conserved =
            law(text).unwrap().conserved().unwrap_or_else(|why| panic!("{text}: {why}"));
        assert_eq!(conserved.is_zero, is_zero, "{text}");
        let (value, _) = at_row(&conserved.quantity, 3.0, &[0.5, 2.0]);
        assert!((value - expected).abs() < 1e-15, "{text}: {value}");
    }
    for (text, why) in [
        ("E <= initial(E)", NotOfThisForm::NotAnEquality),
        ("E == initial(x)", NotOfThisForm::DifferentQuantities),
        ("E == initial(E) + 1", NotOfThisForm::DifferentQuantities),
        ("E == 2*initial(E)", NotOfThisForm::DifferentQuantities),
        ("E + initial(E) == 0", NotOfThisForm::DifferentQuantities),
        ("x^2 == initial(E)*exp(-t)", NotOfThisForm::Mixed),
        ("E/initial(E) == 1", NotOfThisForm::Mixed),
        ("next(next(E)) == E", NotOfThisForm::Mixed),
        ("next(x) == initial(x)", NotOfThisForm::SeveralSteps),
    ] {
        assert_eq!(law(text).unwrap().conserved().unwrap_err(), why, "{text}");
    }
}

#[test]
fn quantities_that_never_rise_are_found_in_every_writing() {
    for (text, expected) in [
        ("next(E) <= E", 1.25),
        ("E >= next(E)", 1.25),
        ("next(E) < E", 1.25),
        ("E <= previous(E)", 1.25),
        ("next(E) - E <= 0", 1.25),
        ("rise <= 0", 1.25),
        ("next(E) >= E", -1.25),
        ("next(x + v) <= v + x", 2.5),
    ] {
        let found = law(text).unwrap().never_rising().unwrap_or_else(|why| panic!("{text}: {why}"));
        let (value, _) = at_row(&found, 0.0, &[0.5, 2.0]);
        assert!((value - expected).abs() < 1e-15, "{text}: {value}");
    }
    for (text, why) in [
        ("next(E) == E", NotOfThisForm::NotAnInequality),
        ("E <= 1", NotOfThisForm::NotNeighbours),
        ("E <= initial(E)", NotOfThisForm::NotNeighbours),
        ("next(E) <= E - 1", NotOfThisForm::DifferentQuantities),
        ("next(E) <= 0.9*E", NotOfThisForm::DifferentQuantities),
        ("next(next(x)) - 2*next(x) + x <= 0", NotOfThisForm::Mixed),
    ] {
        assert_eq!(law(text).unwrap().never_rising().unwrap_err(), why, "{text}");
    }
}

#[test]
fn the_reserved_derivatives_of_functions_cannot_be_called() {
    let words = Words::new().state(["sign"]).check();
    assert!(words.is_ok(), "`sign` is a name like any other");
    let error = Law::parse("law", "sign(x) == 1", &vocabulary()).unwrap_err();
    assert!(error.to_string().contains("sign"), "{error}");
}
