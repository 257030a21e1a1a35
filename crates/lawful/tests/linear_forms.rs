//! Which linear laws a field guarantees and how, which it does not and why, and wrong descriptions.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod linear_support;

use lawful::law::Words;
use lawful::{
    Coordinate, Coverage, Direction, FieldDescription, FieldPart, FlowDescription,
    LinearDescription, LinearForm, LinearTask, NetworkDescription, Scaling, StateDescription,
    SumForm,
};
use linear_support::{CASES, names, parse};

/// The form for laws about these states; `k` is a learned constant.
fn form(state: &[&str], known: &[usize], laws: &[&str]) -> LinearForm {
    let words = Words::new().state(state.iter().copied()).state(["k"]).inputs(["u"]);
    let laws = parse(&words.check().unwrap(), laws);
    LinearForm::choose(&LinearTask {
        state: &names(state),
        known,
        laws: &laws,
        scaling: &Scaling::none(state.len(), 0),
        logs: &[],
    })
}

/// What becomes of each law, in words.
fn said(form: &LinearForm) -> Vec<String> {
    let say = |law: &Coverage| match law {
        Coverage::Covered(how) => how.to_string(),
        Coverage::NotCovered(why) => format!("not: {why}"),
        Coverage::Contradicts(others) => format!("contradicts {}", others.join(" and ")),
    };
    form.laws.iter().map(say).collect()
}

const FLOWS: &str = "flows between its states";
const PROJECTION: &str = "a projection of the rate and of the steps";
const INWARDS: &str = "a rate that points inwards at the bound";
const SIGN: &str = "the sign of the rate";
const IMPLIED: &str = "the other laws, from which it follows";

#[test]
fn every_law_of_every_case_is_covered() {
    for case in &CASES {
        let form = case.form();
        assert!(form.guarantees_any());
        for (law, coverage) in case.parsed().iter().zip(&form.laws) {
            assert!(coverage.is_covered(), "{}: {law}: {coverage:?}", case.name);
        }
    }
}

#[test]
fn forms_are_those_worked_out_by_hand() {
    let abc: &[&str] = &["A", "B", "C"];
    let table: &[(&[&str], &[&str], &[&str])] = &[
        (&["A + B == 1"], &[PROJECTION], &["A", "B", "C"]),
        (
            &["A + B == 1", "A >= 0", "B <= 1", "A <= 1"],
            &[FLOWS, INWARDS, IMPLIED, INWARDS],
            &["C", "A to B", "B to A"],
        ),
        (
            &["A + B + C == initial(A + B + C)", "next(A) <= A", "rate(B) >= 0"],
            &[FLOWS, SIGN, SIGN],
            &["A to B", "A to C", "C to B"],
        ),
        (
            &["A + B == 1", "B + A == initial(A + B)", "2*A == 2 - 2*B"],
            &[PROJECTION, IMPLIED, IMPLIED],
            &["A", "B", "C"],
        ),
        (
            &["A >= 0", "A >= -1", "B <= 3"],
            &[INWARDS, IMPLIED, INWARDS],
            &["into A", "out of A", "into B", "out of B", "C"],
        ),
        (&["next(A) <= A", "next(A) >= A", "rate(C) >= 0"], &[SIGN, SIGN, SIGN], &["B", "into C"]),
        (
            &["A + B + C == 3", "A >= 0", "B >= 0", "C >= 0", "A + B <= 3", "A + B <= 2"],
            &[
                FLOWS,
                INWARDS,
                INWARDS,
                INWARDS,
                IMPLIED,
                "not: it is an inequality between several state variables",
            ],
            &["A to B", "B to A", "A to C", "C to A", "B to C", "C to B"],
        ),
        (
            &[
                "A + B + C == 3",
                "rate(A) <= 0",
                "next(A + B) >= A + B",
                "next(B + C) >= B + C",
                "A <= initial(A)",
            ],
            &[
                FLOWS,
                SIGN,
                "not: it is an inequality between several state variables",
                IMPLIED,
                IMPLIED,
            ],
            &["A to B", "A to C", "B with C"],
        ),
    ];
    for (laws, expected, outputs) in table {
        let form = form(abc, &[], laws);
        assert_eq!(said(&form), *expected, "{laws:?}");
        assert_eq!(form.description.outputs(), *outputs, "{laws:?}");
    }
}

#[test]
fn laws_that_are_not_covered_say_why() {
    let abc: &[&str] = &["A", "B", "C"];
    let table: &[(&[&str], &[usize], &[&str])] = &[
        (
            &["A - B == 0", "A >= 0"],
            &[],
            &[
                PROJECTION,
                "not: the weights in `A - B == 0` have both signs, and flows need weights of one sign",
            ],
        ),
        (
            &["A + B == 1", "B + C == 2", "A >= 0", "next(C) <= C"],
            &[],
            &[
                PROJECTION,
                PROJECTION,
                "not: `A + B == 1`, `B + C == 2` share state variables, and flows keep one sum each",
                "not: `A + B == 1`, `B + C == 2` share state variables, and flows keep one sum each",
            ],
        ),
        (
            &["A + B == 1", "C >= 0", "A >= 0"],
            &[1],
            &["not: the rate of `B` is known, and known rates are never altered", INWARDS, INWARDS],
        ),
        (
            &["A <= k", "A == k", "next(k*A) <= k*A"],
            &[],
            &[
                "not: it depends on a learned constant",
                "not: it depends on a learned constant",
                "not: it is neither a linear sum, nor a bound or a direction of one state variable",
            ],
        ),
        (
            &["A*B == 1", "A <= t", "A <= u", "next(A^2) <= A^2", "A == 2*initial(A)"],
            &[],
            &["not: it is neither a linear sum, nor a bound or a direction of one state variable";
                5],
        ),
    ];
    for (laws, known, expected) in table {
        let form = form(abc, known, laws);
        assert_eq!(said(&form), *expected, "{laws:?}");
    }
}

#[test]
fn contradictions_name_their_laws() {
    let table: &[(&[&str], &[&str])] = &[
        (&["A >= 2", "A <= 1"], &["contradicts A <= 1", "contradicts A >= 2"]),
        (
            &["A + B == 1", "A + B == 2", "C >= 0"],
            &["contradicts A + B == 2", "contradicts A + B == 1", INWARDS],
        ),
        (
            &["A + B == 1", "A >= 1", "B >= 0.5"],
            &[
                "contradicts A >= 1 and B >= 0.5",
                "contradicts B >= 0.5 and A + B == 1",
                "contradicts A >= 1 and A + B == 1",
            ],
        ),
    ];
    for (laws, expected) in table {
        let form = form(&["A", "B", "C"], &[], laws);
        assert_eq!(said(&form), *expected, "{laws:?}");
        // Nothing of them is left in the field.
        assert!(form.description.sums.is_empty(), "{laws:?}");
        assert!(form.description.states[..2].iter().all(|s| *s == StateDescription::default()));
    }
    // What follows from a law that is contradicted is guaranteed by itself.
    let laws = ["A + B == 1", "2*A + 2*B == 2", "A >= 1", "B >= 0.5", "A >= 0", "A + B <= 3"];
    let form = form(&["A", "B"], &[], &laws);
    let expected = [
        "contradicts A >= 1 and B >= 0.5",
        FLOWS,
        "contradicts B >= 0.5 and A + B == 1",
        "contradicts A >= 1 and A + B == 1",
        INWARDS,
        IMPLIED,
    ];
    assert_eq!(said(&form), expected);
    assert_eq!(form.description.sums[0].weights, [2.0, 2.0]);
}

/// The rate of a field of flows at a state, for a network whose outputs are its biases.
fn rate(form: &LinearForm, state: &[&str], biases: &[f64], y: &[f64]) -> Vec<f64> {
    let outputs = form.description.outputs();
    let description = FieldDescription {
        parts: vec![
            FieldPart::Network(NetworkDescription::new(&[], &outputs)),
            FieldPart::Linear(form.description.clone()),
        ],
        ..FieldDescription::new(&names(state))
    };
    let mut field = description.build().unwrap();
    let mut theta = vec![0.0; outputs.len() * state.len()];
    theta.extend_from_slice(biases);
    field.set_parameters(&theta);
    field.reserve(1, 1);
    let mut dy = vec![0.0; state.len()];
    field.eval(0, &[0.0], y, &[], &mut dy);
    dy
}

fn assert_near(found: &[f64], expected: &[f64]) {
    let near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12 * (1.0 + b.abs()));
    assert!(near, "{found:?} {expected:?}");
}

#[test]
fn rates_are_those_worked_by_hand() {
    let softplus = |o: f64| o.exp().ln_1p() / std::f64::consts::LN_2;
    // A + 2 B + 4 C == 8: at the output 0 a flow is its rate times the distance of its source.
    let state: &[&str] = &["A", "B", "C"];
    let laws = ["A + 2*B + 4*C == 8", "A >= 0", "B >= 1", "next(C) >= C"];
    let mut flows = form(state, &[], &laws);
    assert_eq!(flows.description.outputs(), ["A to B", "B to A", "A to C", "B to C"]);
    for (flow, rate) in flows.description.flows.iter_mut().zip([1.0, 2.0, 3.0, 4.0]) {
        flow.rate = rate;
    }
    for (state, distance) in flows.description.states.iter_mut().zip([2.0, 0.5, 1.0]) {
        state.lower.iter_mut().for_each(|lower| lower.distance = distance);
    }
    // q_A = 3/2, q_B = (2 − 1)/0.5 = 2: A to B 1.5, B to A 4, A to C 4.5, B to C 8.
    let y = [3.0, 2.0, 0.25];
    assert_near(
        &rate(&flows, state, &[0.0; 4], &y),
        &[-1.5 + 4.0 - 4.5, (1.5 - 4.0 - 8.0) / 2.0, 12.5 / 4.0],
    );
    let biases = [1.0, -2.0, 0.5, 3.0];
    let [ab, ba, ac, bc] = [1.5, 4.0, 4.5, 8.0];
    let o = biases.map(softplus);
    let expected = [
        ba * o[1] - ab * o[0] - ac * o[2],
        (ab * o[0] - ba * o[1] - bc * o[3]) / 2.0,
        (ac * o[2] + bc * o[3]) / 4.0,
    ];
    assert_near(&rate(&flows, state, &biases, &y), &expected);

    // One state between 0 and 4: in by the distance to 4, out by that to 0.
    let mut one = form(&["x"], &[], &["0 <= x <= 4"]).description;
    one.flows.iter_mut().for_each(|flow| flow.rate = 3.0);
    let distances = (2.0, 8.0);
    one.states[0].lower.as_mut().unwrap().distance = distances.0;
    one.states[0].upper.as_mut().unwrap().distance = distances.1;
    let one = LinearForm { description: one, laws: Vec::new() };
    assert_near(&rate(&one, &["x"], &[0.0, 0.0], &[1.0]), &[3.0 * 3.0 / 8.0 - 3.0 * 0.5]);

    // Sums without bounds: (1, 4) in sizes (1, 2) has (1, 2), of which (1, 2)/√5 is removed from A + B == 0
    // in sizes: what is left is (1, 2) − (1, 2)·5/5 = 0.
    let scaling = Scaling { state: vec![1.0, 2.0], rate: vec![1.0, 4.0], ..Scaling::none(2, 0) };
    let laws = parse(&Words::new().state(["A", "B"]).check().unwrap(), &["A + B == 0"]);
    let task = LinearTask {
        state: &names(&["A", "B"]),
        known: &[],
        laws: &laws,
        scaling: &scaling,
        logs: &[],
    };
    let sum = LinearForm::choose(&task);
    assert_near(&rate(&sum, &["A", "B"], &[1.0, 1.0], &[0.0, 0.0]), &[0.0, 0.0]);
    // (1, 0): along (1, 2)/√5 it is 1/√5, what is left is (4/5, −2/5), in units (4/5, −4/5).
    assert_near(&rate(&sum, &["A", "B"], &[1.0, 0.0], &[0.0, 0.0]), &[0.8, -0.8]);
}

/// A flow of size 1.
fn flow(from: Option<&str>, to: Option<&str>, signed: bool) -> FlowDescription {
    let own = |end: Option<&str>| end.map(str::to_owned);
    FlowDescription { from: own(from), to: own(to), signed, rate: 1.0 }
}

/// A change of a description.
type Change = fn(&mut LinearDescription);

#[test]
fn descriptions_that_do_not_guarantee_their_laws_are_refused() {
    let state: &[&str] = &["A", "B", "C"];
    let laws =
        ["A + B == 1", "A >= 0", "B >= 0", "B <= 1", "next(A) <= A", "C <= 2", "next(C) >= C"];
    let valid = form(state, &[], &laws).description;
    assert_eq!(valid.outputs(), ["into C", "A to B"]);
    assert!(valid.states[1].upper.is_some_and(|upper| upper.implied));
    let sums = "the sum with `A`, `B`";
    let table: &[(Change, String)] = &[
        (
            |d| d.flows[1] = flow(Some("B"), Some("A"), false),
            "the flow `B to A` goes against a direction".into(),
        ),
        (
            |d| d.flows[1] = flow(Some("A"), Some("B"), true),
            "the flow `A with B` goes against a direction".into(),
        ),
        (
            |d| d.flows[0] = flow(Some("C"), None, false),
            "the flow `out of C` goes against a direction".into(),
        ),
        (
            |d| d.flows[0] = flow(None, Some("C"), true),
            "the flow `C` goes against a direction".into(),
        ),
        (
            |d| d.flows[0] = flow(None, Some("B"), false),
            "the flow `into B` changes a sum that flows keep".into(),
        ),
        (
            |d| d.flows[1] = flow(Some("A"), Some("C"), false),
            "the flow `A to C` is not between two states of one sum".into(),
        ),
        (|d| d.flows[1].rate = 0.0, "the rate of `A to B` is 0".into()),
        (
            |d| d.states[1].upper.as_mut().unwrap().at = 0.9,
            "`B` has a bound that its sum does not imply".into(),
        ),
        (|d| d.states[0].lower = None, "`B` has a bound that its sum does not imply".into()),
        (
            |d| d.states[2].upper.as_mut().unwrap().distance = f64::NAN,
            "the distance to a bound of `C` is NaN".into(),
        ),
        (
            |d| d.states[2].direction = Some(Direction::Stays),
            "the flow `into C` goes against a direction".into(),
        ),
        (
            |d| d.sums[0].by = SumForm::Projection,
            format!("{sums} is projected, but its states have bounds, directions or flows"),
        ),
        (
            |d| d.sums[0].weights[0] = -1.0,
            format!("{sums} is kept by flows, but has weights below 0"),
        ),
        (
            |d| d.sums.push(d.sums[0].clone()),
            format!("{sums} is kept by flows, but shares states with another"),
        ),
        (|d| d.sums[0].value = Some(f64::INFINITY), format!("{sums} needs a finite value")),
        (
            |d| {
                d.states[2].upper = None;
                d.states[2].coordinate = Coordinate::Log { centre: 0.0, spread: 1.0 };
            },
            "`C` has log coordinates without a bound".into(),
        ),
        (
            |d| {
                let upper = d.states[2].upper;
                d.states[2].lower = upper;
                d.states[2].lower.as_mut().unwrap().at = 3.0;
            },
            "the lower bound of `C` is above its upper bound".into(),
        ),
    ];
    for (change, expected) in table {
        let mut linear = valid.clone();
        change(&mut linear);
        let outputs = linear.outputs();
        let description = FieldDescription {
            parts: vec![
                FieldPart::Network(NetworkDescription::new(&[], &outputs)),
                FieldPart::Linear(linear),
            ],
            ..FieldDescription::new(&names(state))
        };
        let error = description.build().err().map(|error| error.to_string());
        assert_eq!(error, Some(format!("the linear laws of a vector field: {expected}")));
    }
}
