//! The meaning of a text: precedence, functions, time steps.
#![expect(clippy::float_cmp, reason = "the expected numbers are exact")]

use crate::common::{Trajectory, at_point, gradient, law, residuals, vocabulary};
use lawful_law::{Enforcement, Expression, FUNCTIONS, Law, Relation, Words};

#[test]
fn precedence_and_grouping_are_those_of_mathematics() {
    // Text, printed text, value at x = 3, v = −2.
    let table = [
        ("-x^2", "-x^2", -9.0),
        ("(-x)^2", "(-x)^2", 9.0),
        ("-x*v", "-x*v", 6.0),
        ("2^3^2", "2^3^2", 512.0),
        ("(2^3)^2", "(2^3)^2", 64.0),
        ("2^-v", "2^-v", 4.0),
        ("2^-v^2", "2^-v^2", 0.0625),
        ("2^-v*x", "2^-v*x", 12.0),
        ("x - v - 1", "x - v - 1", 4.0),
        ("x - (v - 1)", "x - (v - 1)", 6.0),
        ("x/v/2", "x/v/2", -0.75),
        ("x/(v/2)", "x/(v/2)", -3.0),
        ("x + v*2", "x + v*2", -1.0),
        ("(x + v)*2", "(x + v)*2", 2.0),
        ("x*-v", "x*-v", 6.0),
        ("x - -v", "x - -v", 1.0),
        ("--x", "--x", 3.0),
        ("x^2*2", "x^2*2", 18.0),
        ("x^(1 + 1)", "x^(1 + 1)", 9.0),
        ("((x))", "x", 3.0),
        (" x+ v ", "x + v", 1.0),
        ("max(x,(v),1)", "max(x, v, 1)", 3.0),
        ("1.50e0 + .5", "1.5 + 0.5", 2.0),
        ("k*m*x", "k*m*x", 3.0),
    ];
    for (text, normal, value) in table {
        assert_eq!(Expression::parse(text, &vocabulary()).unwrap().to_string(), normal, "{text}");
        assert_eq!(at_point(text, 3.0, -2.0).0, value, "{text}");
    }
}

#[test]
fn the_example_of_every_function_holds() {
    let trajectory = Trajectory::new(&[0.0; 6]);
    for function in FUNCTIONS {
        // `x` is 0 everywhere. It is added because a law must depend on the state.
        let law = law(&format!("{} + x", function.example())).unwrap();
        assert_eq!(law.relation(), Relation::Equality);
        assert!(function.example().contains(&format!("{}(", function.name())));
        for row in law.reach().range(3) {
            let residual = residuals(&law, &trajectory)[row];
            assert!(residual.abs() <= 1e-14, "{} at row {row}: {residual}", function.example());
        }
    }
}

#[test]
fn functions_agree_with_the_standard_library() {
    type OfOne = fn(f64) -> f64;
    let known: [(&str, OfOne); 9] = [
        ("sin", f64::sin),
        ("cos", f64::cos),
        ("tan", f64::tan),
        ("exp", f64::exp),
        ("ln", f64::ln),
        ("log10", f64::log10),
        ("sqrt", f64::sqrt),
        ("abs", f64::abs),
        ("tanh", f64::tanh),
    ];
    for x in [-2.5, -1.0, -1e-9, 0.0, 0.3, 1.0, 7.5, 1e6] {
        for (name, value) in known {
            let found = at_point(&format!("{name}(x)"), x, 0.0).0;
            assert_eq!(found.to_bits(), value(x).to_bits(), "{name}({x})");
        }
        for v in [-1.0, 0.0, 0.3, 9.0] {
            assert_eq!(at_point("min(x, v)", x, v).0, x.min(v));
            assert_eq!(at_point("max(v, x, 0.1)", x, v).0, x.max(v).max(0.1));
            assert_eq!(at_point("x^v", x, v).0.to_bits(), x.powf(v).to_bits(), "{x}^{v}");
        }
        assert_eq!(at_point("x^2", x, 0.0).0, x * x);
        assert_eq!(at_point("x^-3", x, 0.0).0, x.powi(-3));
    }
    assert!(at_point("max(x, 0)", f64::NAN, 0.0).0.is_nan());
}

#[test]
fn relations_become_residuals_that_are_positive_where_they_fail() {
    let trajectory = Trajectory::new(&[3.0, 1.0]);
    let table = [
        ("x == v", Relation::Equality, 2.0),
        ("x <= v", Relation::AtMost, 2.0),
        ("x < v", Relation::AtMost, 2.0),
        ("x ≤ v", Relation::AtMost, 2.0),
        ("x >= v", Relation::AtMost, -2.0),
        ("x > v", Relation::AtMost, -2.0),
        ("x ≥ v", Relation::AtMost, -2.0),
    ];
    for (text, relation, residual) in table {
        let law = law(text).unwrap();
        assert_eq!(law.relation(), relation, "{text}");
        assert_eq!(residuals(&law, &trajectory), [residual], "{text}");
        assert_eq!(law.text(), text);
        assert_eq!(law.name(), "law");
    }
}

#[test]
fn a_law_is_penalised_unless_another_enforcement_is_chosen() {
    for law in Law::parse("bounded", "0 <= x <= 1", &vocabulary()).unwrap() {
        assert_eq!(law.enforcement(), Enforcement::Penalty);
        for (_, enforcement) in Enforcement::NAMES {
            let text = law.to_string();
            let law = law.clone().enforced(enforcement);
            assert_eq!((law.enforcement(), law.to_string()), (enforcement, text));
        }
    }
}

#[test]
fn a_chain_is_one_law_for_each_pair() {
    let laws = Law::parse("bounded", " 0 <= (x + v)  < 2*k >= v ", &vocabulary()).unwrap();
    let names: Vec<&str> = laws.iter().map(Law::name).collect();
    let expected = ["bounded (0 <= (x + v))", "bounded ((x + v)  < 2*k)", "bounded (2*k >= v)"];
    assert_eq!(names, expected);
    assert_eq!(laws[1].text(), "(x + v)  < 2*k");
    assert_eq!(laws[1].to_string(), "x + v < 2*k");
    let trajectory = Trajectory::new(&[3.0, 2.0]);
    let found: Vec<f64> = laws.iter().map(|law| residuals(law, &trajectory)[0]).collect();
    assert_eq!(found, [-5.0, 1.0, -2.0]);
}

#[test]
fn other_time_steps_have_their_values_and_zero_where_they_do_not_exist() {
    let trajectory = Trajectory::new(&[1.0, 0.0, 4.0, 0.0, 9.0, 0.0, 16.0, 0.0]);
    let table = [
        ("next(x) == x", vec![3.0, 5.0, 7.0, 0.0]),
        ("previous(x) == x", vec![0.0, -3.0, -5.0, -7.0]),
        ("next(next(x)) == x", vec![8.0, 12.0, 0.0, 0.0]),
        ("next(x) - 2*x + previous(x) == 0", vec![0.0, 2.0, 2.0, 0.0]),
        ("x == initial(x)", vec![0.0, 3.0, 8.0, 15.0]),
        ("x == final(x)", vec![-15.0, -12.0, -7.0, 0.0]),
        ("x == initial(next(x))", vec![-3.0, 0.0, 5.0, 12.0]),
        ("x == final(previous(x))", vec![-8.0, -5.0, 0.0, 7.0]),
        ("next(previous(x)) == 0", vec![1.0, 4.0, 9.0, 0.0]),
        ("x == next(initial(x))", vec![0.0, 3.0, 8.0, 0.0]),
        ("rise <= 0", vec![15.0, 65.0, 175.0, 0.0]),
        ("next(rise) <= 0", vec![65.0, 175.0, 0.0, 0.0]),
        ("x == next(t) + u", vec![0.0, -8.0, -14.0, 0.0]),
    ];
    for (text, expected) in table {
        assert_eq!(residuals(&law(text).unwrap(), &trajectory), expected, "{text}");
    }
}

#[test]
fn a_trajectory_too_short_has_no_residuals() {
    let one = Trajectory::new(&[3.0, 2.0]);
    for text in ["next(x) == 0", "previous(x) == 0", "x == initial(next(x))"] {
        let law = law(text).unwrap();
        assert!(law.reach().range(1).is_empty(), "{text}");
        assert_eq!(residuals(&law, &one), [0.0], "{text}");
        assert_eq!(gradient(&law, &one, &[1.0]), [0.0, 0.0], "{text}");
    }
    let none = Trajectory::new(&[]);
    assert!(residuals(&law("x <= 1").unwrap(), &none).is_empty());
}

#[test]
fn formulas_of_time_contain_time_and_constants() {
    let expression = Expression::parse_of_time("k*t + pi", &vocabulary()).unwrap();
    assert!(![0, 1].iter().any(|&variable| expression.depends_on(variable)));
    let trajectory = Trajectory::new(&[0.0; 4]);
    let mut values = [0.0; 2];
    expression.values(&trajectory.steps(), &mut lawful_law::Workspace::new(), &mut values);
    assert_eq!(values, [std::f64::consts::PI, 2.0 + std::f64::consts::PI]);
}

#[test]
fn a_formula_depends_on_the_variables_that_can_change_it() {
    for (text, expected) in [
        ("x + sin(v)", [true, true]),
        ("k*t + u", [false, false]),
        ("E - E + v", [false, true]),
        ("0*v + x", [true, false]),
    ] {
        let expression = Expression::parse(text, &vocabulary()).unwrap();
        assert_eq!([0, 1].map(|variable| expression.depends_on(variable)), expected, "{text}");
    }
}

#[test]
fn the_users_of_a_name_are_found_through_other_definitions() {
    let words = Words::new().state(["x"]).constant("k", 1.0).constant("c", 2.0);
    let words = words.define("c_of_b", "next(b) + c").define("b", "2*a").define("a", "k - k");
    let vocabulary = words.define("other", "x + c").check().unwrap();
    let users = |names: &[&str]| {
        let users = vocabulary.users_of(names);
        users.into_iter().map(|(user, name)| format!("{user}: {name}")).collect::<Vec<_>>()
    };
    assert_eq!(users(&["k"]), ["a: k", "b: k", "c_of_b: k"]);
    assert_eq!(users(&["c"]), ["c_of_b: c", "other: c"]);
    assert_eq!(users(&[]), [""; 0]);
}
