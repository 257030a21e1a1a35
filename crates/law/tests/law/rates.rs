//! `rate(e)`: its value, its gradients, what it is without a field, and the forms of laws with it.
#![expect(clippy::float_cmp, reason = "the expected numbers are exact")]

use crate::common::{Trajectory, law, vocabulary};
use lawful_law::{Expression, Invariant, Law, NotOfThisForm, Words, Workspace};

/// Residuals with these rates.
fn with_rates(law: &Law, trajectory: &Trajectory, rates: &[f64]) -> Vec<f64> {
    let mut result = vec![f64::NAN; trajectory.times.len()];
    law.residuals_with_rates(&trajectory.steps(), rates, &mut Workspace::new(), &mut result);
    result
}

#[test]
fn rates_are_those_worked_by_hand() {
    // Rows (x, v) = (2, 3), (1, −1) at t = 0 and 1, with the rates (5, 7) and (−2, 4); k = 2, m = 1/2.
    let trajectory = Trajectory::new(&[2.0, 3.0, 1.0, -1.0]);
    let rates = [5.0, 7.0, -2.0, 4.0];
    let table = [
        ("rate(x) == 0", [5.0, -2.0]),
        ("rate(v) <= x", [5.0, 3.0]),
        ("rate(x*v) == 0", [29.0, 6.0]),
        ("rate(x^2 + t) == 0", [21.0, -3.0]),
        ("rate(t*x) == 0", [2.0, -1.0]),
        ("rate(E) == -v^2", [30.5 + 9.0, -6.0 + 1.0]),
        ("rate(x - initial(x)) == 0", [5.0, -2.0]),
        ("rate(x) == initial(rate(x))", [0.0, -7.0]),
        ("rate(k*x + m) >= 0", [-10.0, 4.0]),
        ("u*rate(x) == 0", [0.0, -20.0]),
        ("rate(max(x, v)) == 0", [7.0, -2.0]),
        ("rate(1/x) == 0", [-1.25, 2.0]),
        ("next(rate(x)) == 0", [-2.0, 0.0]),
        ("rate(next(x)) == 0", [-2.0, 0.0]),
    ];
    for (text, expected) in table {
        let law = law(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert!(law.uses_rates(), "{text}");
        assert_eq!(with_rates(&law, &trajectory, &rates), expected, "{text}");
        assert_eq!(law.to_string(), text);
    }
    assert!(!law("next(E) <= E").unwrap().uses_rates());
}

#[test]
fn gradients_by_states_and_rates_are_those_of_central_differences() {
    let trajectory = Trajectory::new(&[0.3, 0.7, 1.9, 0.4, 0.2, 0.8]);
    let rates = [0.5, -1.2, 0.8, 0.1, -0.6, 2.0];
    let w = [0.7, -1.3, 0.4];
    for text in [
        "rate(E) == -0.3*v^2",
        "rate(sin(x*v) + t*x) <= x",
        "rate(sqrt(x)/(1 + v^2)) == u*rate(v)",
        "rate(x^v) == next(rate(v))*previous(x)",
        "rate(ln(x)*abs(v - 0.5)) <= initial(rate(x))",
        "rate(tanh(x) + min(x, v)) >= final(v)",
    ] {
        let law = law(text).unwrap();
        let (mut workspace, mut unused) = (Workspace::new(), [0.0; 3]);
        let (mut state_bar, mut rates_bar) = ([0.0; 6], [0.0; 6]);
        let steps = trajectory.steps();
        law.residuals_with_rates(&steps, &rates, &mut workspace, &mut unused);
        law.pull_back_with_rates(&steps, &mut workspace, &w, &mut state_bar, &mut rates_bar);
        let value = |states: &[f64], rates: &[f64]| {
            let moved = Trajectory { states: states.to_vec(), ..trajectory.clone() };
            with_rates(&law, &moved, rates).iter().zip(w).map(|(c, w)| c * w).sum::<f64>()
        };
        let h = 1e-3;
        for i in 0..6 {
            let at = |of_states: bool, shift: f64| {
                let (mut states, mut rates) = (trajectory.states.clone(), rates);
                let moved = if of_states { &mut states[i] } else { &mut rates[i] };
                *moved += shift;
                value(&states, &rates)
            };
            for (of_states, exact) in [(true, state_bar[i]), (false, rates_bar[i])] {
                let near = at(of_states, h) - at(of_states, -h);
                let far = at(of_states, 2.0 * h) - at(of_states, -2.0 * h);
                let difference = (8.0 * near - far) / (12.0 * h);
                let relative = (difference - exact).abs() / exact.abs().max(1.0);
                assert!(relative < 1e-6, "{text} {i} {of_states}: {exact} {difference}");
            }
        }
    }
}

#[test]
fn without_a_field_rates_are_slopes_of_the_rows() {
    let quadratic = Trajectory {
        times: vec![0.0, 0.5, 2.0, 3.0],
        states: vec![1.0, 0.0, 1.75, 0.0, 7.0, 0.0, 13.0, 0.0],
        inputs: vec![0.0; 4],
    };
    // x = 1 + t + t².
    let law = law("rate(x) == 1 + 2*t").unwrap();
    for residual in crate::common::residuals(&law, &quadratic) {
        assert!(residual.abs() < 1e-12, "{residual}");
    }
    let one = Trajectory::new(&[1.0, 2.0]);
    assert!(crate::common::residuals(&law, &one)[0].is_nan());
}

#[test]
fn rates_are_for_laws_only() {
    let message = "`rate` is a rate along the vector field, which is only allowed in a law";
    let error = Expression::parse("x + rate(v)", &vocabulary()).unwrap_err();
    assert_eq!((error.to_string(), error.span()), (message.to_owned(), 4..11));
    let words = Words::new().state(["x"]).define("P", "rate(x^2)").check().unwrap();
    let error = Expression::parse("2*P", &words).unwrap_err();
    assert_eq!(error.to_string(), message.replace("rate`", "P`"));
    assert!(Law::parse("power", "P <= 0", &words).unwrap()[0].uses_rates());
}

#[test]
fn rates_of_definitions_with_inputs_are_refused_where_they_stand() {
    let words = Words::new().state(["x"]).inputs(["u"]).define("P", "1 + rate(x*u)");
    let error = words.check().unwrap_err();
    assert_eq!(error.to_string(), "the rate of the input `u` is not known");
    assert_eq!(error.span(), 4..13);
    assert_eq!(*error.origin(), lawful_law::Origin::Definition("P".to_owned()));
}

#[test]
fn laws_of_a_rate_alone_name_its_quantity() {
    let value = |quantity: lawful_law::Quantity| {
        let (trajectory, mut value) = (Trajectory::new(&[3.0, 2.0]), [f64::NAN]);
        quantity.values(&trajectory.steps(), &mut Workspace::new(), &mut value);
        value[0]
    };
    // E = x² + v²/4 at (3, 2) is 10.
    for (text, expected) in [
        ("rate(E) <= 0", 10.0),
        ("0 >= rate(E)", 10.0),
        ("rate(E) >= 0", -10.0),
        ("0 <= rate(E)", -10.0),
        ("rate(x) < 0", 3.0),
    ] {
        let quantity = law(text).unwrap().never_rising().expect(text);
        assert_eq!(value(quantity), expected, "{text}");
    }
    let conserved = law("rate(E) == 0").unwrap().conserved().unwrap();
    assert!(!conserved.is_zero);
    assert_eq!(value(conserved.quantity), 10.0);
    let weights = vec![1.0, 2.0];
    let sum = Some(Invariant { weights, value: None });
    assert_eq!(law("rate(x + 2*v - 7) == 0").unwrap().invariant(), sum);
    assert_eq!(
        law("rate(x) <= 0").unwrap().never_rising().unwrap().linear().unwrap().terms.len(),
        1
    );

    for text in ["rate(E) == -v^2", "rate(x) == 1", "rate(x) - rate(v) == 0"] {
        let law = law(text).unwrap();
        assert_eq!(law.conserved().unwrap_err(), NotOfThisForm::Rate, "{text}");
        assert_eq!((law.invariant(), law.linear()), (None, None), "{text}");
    }
    assert_eq!(law("rate(E) <= x").unwrap().never_rising().unwrap_err(), NotOfThisForm::Rate);
    assert_eq!(law("rate(next(E)) <= 0").unwrap().never_rising().unwrap_err(), NotOfThisForm::Rate);
}

#[test]
#[should_panic(expected = "a rate for each state")]
fn rates_of_another_length_are_refused() {
    let trajectory = Trajectory::new(&[2.0, 3.0]);
    with_rates(&law("rate(x) == 0").unwrap(), &trajectory, &[1.0]);
}
