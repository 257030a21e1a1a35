//! Coefficients of laws that are affine in the states, and the quantities they conserve.
#![expect(clippy::float_cmp, reason = "the expected numbers are exact")]

use crate::common::{Trajectory, gradient, law, residuals};
use lawful_law::TimeStep::{Final, Initial, Offset};
use lawful_law::{Law, Linear, LinearTerm, Relation, TimeStep, Vocabulary, Words};
use proptest::prelude::*;

/// Four state variables, an input, constants and definitions.
fn vocabulary() -> Vocabulary {
    Words::new()
        .state(["A", "B", "C", "D"])
        .inputs(["u"])
        .constant("k", 2.0)
        .constant("total", 763.0)
        .define("mass", "A + B + C + D")
        .define("gain", "k^3*(A - 1)/4")
        .define("one", "A + 1 - A")
        .check()
        .expect("a good vocabulary")
}

fn parsed(text: &str) -> Vec<Law> {
    Law::parse("law", text, &vocabulary()).expect(text)
}

/// A form: its terms as (time step, variable, coefficient), and its constant.
type Form = (Vec<(TimeStep, usize, f64)>, f64);

fn form(linear: Linear) -> Form {
    let terms = linear.terms.into_iter();
    (terms.map(|term| (term.at, term.variable, term.coefficient)).collect(), linear.constant)
}

/// One form for each law of a text.
fn forms(text: &str) -> Vec<Option<Form>> {
    parsed(text).iter().map(|law| law.linear().map(form)).collect()
}

#[test]
fn affine_laws_have_the_coefficients_worked_by_hand() {
    let here = |terms: &[(usize, f64)]| -> Vec<(TimeStep, usize, f64)> {
        terms.iter().map(|&(variable, coefficient)| (Offset(0), variable, coefficient)).collect()
    };
    let table = [
        ("A + B + C == total", here(&[(0, 1.0), (1, 1.0), (2, 1.0)]), -763.0),
        ("D <= 12", here(&[(3, 1.0)]), -12.0),
        ("D >= -2", here(&[(3, -1.0)]), -2.0),
        ("2*(A - B)/4 >= 1", here(&[(0, -0.5), (1, 0.5)]), 1.0),
        ("A*0 + B <= 1", here(&[(1, 1.0)]), -1.0),
        ("A + B - A <= 1", here(&[(1, 1.0)]), -1.0),
        ("gain <= k", here(&[(0, 2.0)]), -4.0),
        ("-(B - k*A)*one^3 <= sqrt(16)", here(&[(0, 2.0), (1, -1.0)]), -4.0),
        ("B/one == 0", here(&[(1, 1.0)]), 0.0),
        ("-A <= 0", here(&[(0, -1.0)]), 0.0),
        ("one <= 3", here(&[]), -2.0),
        ("next(A) <= A", vec![(Offset(0), 0, -1.0), (Offset(1), 0, 1.0)], 0.0),
        (
            "next(B) - 2*B + previous(B) == next(previous(A))",
            vec![
                (Offset(-1), 1, 1.0),
                (Offset(0), 0, -1.0),
                (Offset(0), 1, -2.0),
                (Offset(1), 1, 1.0),
            ],
            0.0,
        ),
        (
            "initial(next(A) + next(previous(B))) == final(C - previous(D)) + 1",
            vec![
                (Initial(0), 1, 1.0),
                (Initial(1), 0, 1.0),
                (Final(0), 2, -1.0),
                (Final(1), 3, 1.0),
            ],
            -1.0,
        ),
        (
            "next(initial(A)) + final(initial(A) + A) <= A",
            vec![(Offset(0), 0, -1.0), (Initial(0), 0, 2.0), (Final(0), 0, 1.0)],
            0.0,
        ),
    ];
    for (text, terms, constant) in table {
        assert_eq!(forms(text), [Some((terms, constant))], "{text}");
    }
    let chain = [Some((here(&[(0, -1.0)]), 0.0)), Some((here(&[(0, 1.0)]), -1.0))];
    assert_eq!(forms("0 <= A <= 1"), chain);
    let mass = |at, sign: f64| (0..4).map(move |variable| (at, variable, sign));
    let terms = mass(Offset(0), 1.0).chain(mass(Initial(0), -1.0)).collect();
    assert_eq!(forms("A + B + C + D == initial(A + B + C + D)"), [Some((terms, 0.0))]);
}

#[test]
fn laws_that_are_not_affine_in_the_states_alone_have_no_coefficients() {
    for text in [
        "A^2 + B^2 == 1",
        "A*B <= 1",
        "1/A <= 1",
        "A/B <= 1",
        "A^0.5 <= 1",
        "2^A <= 1",
        "A*u <= 1",
        "A + u <= 1",
        "t + A <= 3",
        "(next(A) - A)/(next(t) - t) <= 1",
        "sin(A) <= 1",
        "abs(A) <= 1",
        "max(A, B) <= 1",
        "A*1e200*1e200 <= 1",
        "A/(one - 1) <= 1",
    ] {
        assert_eq!(forms(text), [None], "{text}");
        assert_eq!(parsed(text)[0].invariant(), None, "{text}");
    }
}

#[test]
fn only_laws_of_one_time_step_are_pointwise() {
    for (text, pointwise) in [
        ("A <= 12", true),
        ("mass == 1", true),
        ("next(previous(A)) == 1", true),
        ("next(A) <= A", false),
        ("mass == initial(mass)", false),
        ("final(A) == 1", false),
    ] {
        assert_eq!(parsed(text)[0].linear().unwrap().is_pointwise(), pointwise, "{text}");
    }
}

#[test]
fn conserved_quantities_are_found_however_they_are_written() {
    let all = [1.0; 4];
    let table = [
        ("A + B + C + D == initial(A + B + C + D)", all, None),
        ("initial(mass) == mass", all, None),
        ("mass - initial(A + D) == initial(B + C)", all, None),
        ("mass == final(mass)", all, None),
        ("mass == initial(next(mass))", all, None),
        ("next(mass) == mass", all, None),
        ("mass == previous(mass)", all, None),
        ("next(mass) == next(next(mass))", all, None),
        ("D - k*B == initial(D - k*B)", [0.0, 2.0, 0.0, -1.0], None),
        ("A + B + C == total", [1.0, 1.0, 1.0, 0.0], Some(763.0)),
        ("total == A + B + C", [1.0, 1.0, 1.0, 0.0], Some(763.0)),
        ("B - A == 1", [1.0, -1.0, 0.0, 0.0], Some(-1.0)),
        ("A + B == 0", [1.0, 1.0, 0.0, 0.0], Some(0.0)),
        ("-A == B", [1.0, 1.0, 0.0, 0.0], Some(0.0)),
    ];
    for (text, weights, value) in table {
        let invariant = parsed(text)[0].invariant().expect(text);
        assert_eq!((&invariant.weights[..], invariant.value), (&weights[..], value), "{text}");
        assert_eq!(invariant.value.map(f64::is_sign_negative), value.map(|value| value < 0.0));
    }
}

#[test]
fn laws_that_conserve_nothing_have_no_invariant() {
    for text in [
        "mass <= initial(mass)",
        "A <= 12",
        "A == 2*initial(A)",
        "A == initial(B)",
        "A + B == initial(A)",
        "A == initial(A) + 1",
        "initial(A) == 1",
        "next(A) == 1",
        "initial(A) == final(A)",
        "next(A) == previous(A)",
        "next(A) == initial(next(A))",
        "next(A) - A == initial(B)",
        "one == 1",
    ] {
        assert_eq!(parsed(text)[0].invariant(), None, "{text}");
    }
}

/// The residual that a linear form gives at a row, and the size of its terms.
fn value(linear: &Linear, trajectory: &Trajectory, row: usize) -> (f64, f64) {
    let terms = linear.terms.iter().map(|term| {
        let state = trajectory.states[place(term, trajectory, row)];
        term.coefficient * state
    });
    let start = (linear.constant, linear.constant.abs());
    terms.fold(start, |(sum, size), term| (sum + term, size + term.abs()))
}

/// Where the state of a term is, among all states.
fn place(term: &LinearTerm, trajectory: &Trajectory, row: usize) -> usize {
    let row = match term.at {
        Offset(offset) => row.checked_add_signed(offset).expect("an earlier row"),
        Initial(after) => after,
        Final(before) => trajectory.times.len() - 1 - before,
    };
    2 * row + term.variable
}

/// Text of a random formula that is affine in `x` and `v`.
fn formula() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec!["x", "v", "k", "1.5", "-x", "(v - m)", "3*x"]);
    leaf.prop_map(str::to_owned).prop_recursive(6, 32, 2, |inner| {
        let of_one = prop::sample::select(vec![
            "-(#)",
            "k*(#)",
            "(#)*0.3",
            "(#)/7",
            "(#)/m",
            "(#)*m^-3",
            "(#)*sqrt(k)",
            "(#)*0",
            "next(#)",
            "previous(#)",
            "initial(#)",
            "final(#)",
        ]);
        let of_two = prop::sample::select(vec!["#1 + #2", "(#1) - (#2)"]);
        prop_oneof![
            (of_one, inner.clone()).prop_map(|(form, a)| form.replace('#', &a)),
            (of_two, inner.clone(), inner)
                .prop_map(|(form, a, b)| form.replace("#1", &a).replace("#2", &b)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn the_coefficients_give_the_residuals_and_the_gradient(
        (left, right) in (formula(), formula()),
        states in prop::collection::vec(-3.0..3.0_f64, 12),
    ) {
        // Some of these laws are errors: they never exist, or do not depend on the states.
        let law = law(&format!("{left} == {right}"));
        prop_assume!(law.is_ok());
        let law = law.unwrap();
        let linear = law.linear().expect("an affine law");
        prop_assert!(linear.terms.is_sorted_by_key(|term| (term.at, term.variable)));
        prop_assert!(linear.terms.iter().all(|term| term.coefficient != 0.0));
        let trajectory = Trajectory::new(&states);
        let found = residuals(&law, &trajectory);
        let scale = found.iter().fold(1e3_f64, |scale, c| scale.max(c.abs()));
        for row in law.reach().range(6) {
            let (expected, size) = value(&linear, &trajectory, row);
            prop_assert!((found[row] - expected).abs() <= 1e-11 * (scale + size));

            let mut expected = [0.0; 12];
            for term in &linear.terms {
                expected[place(term, &trajectory, row)] += term.coefficient;
            }
            let chosen: Vec<f64> = (0..6).map(|other| f64::from(u8::from(other == row))).collect();
            for (found, expected) in gradient(&law, &trajectory, &chosen).iter().zip(expected) {
                prop_assert!((found - expected).abs() <= 1e-11 * (scale + expected.abs()));
            }
        }
    }

    #[test]
    fn an_invariant_has_the_same_value_at_every_step_that_obeys_the_law(
        weights in prop::collection::vec(-5..=5_i32, 2),
        pick in 0..5_usize,
        states in prop::collection::vec(-3..=3_i32, 2),
    ) {
        prop_assume!(weights.iter().any(|&w| w != 0));
        let q = format!("({}*x + {}*v)", weights[0], weights[1]);
        let forms =
            ["Q == initial(Q)", "final(Q) == Q", "next(Q) == Q", "Q == previous(Q)", "Q == 3"];
        let law = law(&forms[pick].replace('Q', &q)).unwrap();
        prop_assert_eq!(law.relation(), Relation::Equality);
        let invariant = law.invariant().expect("a conservation law");
        // Parallel to the weights that were written.
        let w: Vec<f64> = weights.into_iter().map(f64::from).collect();
        prop_assert_eq!(w[0] * invariant.weights[1], w[1] * invariant.weights[0]);
        // Along a direction orthogonal to the weights, the residuals are constant.
        let [a, b] = [0, 1].map(|variable| invariant.weights[variable]);
        let rows = (0..4).map(f64::from).flat_map(|n| {
            [f64::from(states[0]) + n * b, f64::from(states[1]) - n * a]
        });
        let found = residuals(&law, &Trajectory::new(&rows.collect::<Vec<_>>()));
        for row in law.reach().range(4) {
            let expected = invariant.value.map_or(0.0, |value| {
                f64::from(states[0]) * a + f64::from(states[1]) * b - value
            });
            prop_assert_eq!(found[row].abs(), expected.abs());
        }
    }
}
