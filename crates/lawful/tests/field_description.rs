//! Vector fields as values: every part goes through JSON without a change, builds the same field, and
//! impossible ones are errors.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{all_methods, bits, dataset, ragged, relative_error};
use lawful::law::{Law, Words};
use lawful::strategy::Vanilla;
use lawful::{
    ConservingDescription, Constant, Coverage, FieldDescription, FieldError, FieldPart,
    KnownDescription, LinearDescription, LinearForm, LinearTask, NetworkDescription, Objective,
    Problem, Random, Scaling, SmoothDescription, SmoothLaw, VectorField,
};

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// A network that computes these rates.
fn network(outputs: &[&str]) -> FieldPart {
    FieldPart::Network(NetworkDescription {
        hidden: vec![5, 4],
        activations: names(&["tanh", "elu"]),
        time_input: true,
        ..NetworkDescription::new(&[], &names(outputs))
    })
}

/// Units whose numbers are not short in decimal.
fn scaling() -> Scaling {
    Scaling {
        state_centre: vec![0.1, -1.0 / 3.0],
        state: vec![2.0_f64.sqrt(), 1e-7 / 3.0 + 0.7],
        rate: vec![std::f64::consts::PI, 1.0 / 7.0 + 1.0],
        input_centre: vec![-0.2],
        input: vec![1.0 / 0.3],
        time_centre: 1e-3,
        time: 20.0 / 3.0,
    }
}

fn known(rates: &[(&str, &str)], learn: &[&str]) -> FieldPart {
    let rates = rates.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    FieldPart::Known(KnownDescription { rates: rates.collect(), learn: names(learn) })
}

fn conserving(sums: &[[f64; 2]]) -> FieldPart {
    FieldPart::Conserving(ConservingDescription { sums: sums.iter().map(|w| w.to_vec()).collect() })
}

/// A field of x, v and the input u with these parts.
fn field(parts: Vec<FieldPart>) -> FieldDescription {
    let fixed = |name: &str, start| Constant {
        name: name.to_owned(),
        start,
        learned: false,
        min: None,
        max: None,
        per_trajectory: false,
    };
    let learns = parts.iter().any(|part| matches!(part, FieldPart::Known(_)));
    let k = Constant { learned: learns, min: learns.then_some(0.1), ..fixed("k", 0.7) };
    FieldDescription {
        inputs: names(&["u"]),
        constants: vec![fixed("m", 1.0 / 3.0), k],
        definitions: vec![("spring".to_owned(), "-k*x*abs(x + 2)/m".to_owned())],
        parts,
        ..FieldDescription::new(&names(&["x", "v"]))
    }
}

/// Each part, and each combination of them that makes sense.
fn fields() -> Vec<(&'static str, FieldDescription)> {
    let motion = || known(&[("x", "v"), ("v", "spring + u")], &[]);
    let (both, one) = (|| network(&["x", "v"]), || network(&["v"]));
    let (units, sum) = (|| FieldPart::Scaling(scaling()), || conserving(&[[1.0, 0.3]]));
    vec![
        ("network", field(vec![both()])),
        ("scaled", field(vec![both(), units()])),
        ("known", field(vec![motion()])),
        ("network beside known", field(vec![one(), known(&[("x", "v")], &["v"])])),
        ("scaled beside known", field(vec![one(), units(), known(&[("x", "v")], &["v"])])),
        ("scaled correction", field(vec![both(), units(), known(&[("v", "spring")], &["x", "v"])])),
        ("known in units", field(vec![motion(), units()])),
        ("part of known in units", field(vec![one(), known(&[("x", "v")], &["v"]), units()])),
        ("conserving", field(vec![both(), sum()])),
        ("conserving, scaled inside", field(vec![both(), units(), sum()])),
        ("conserving known", field(vec![motion(), sum()])),
        ("conserving nothing", field(vec![both(), conserving(&[[0.0, 0.0]])])),
        ("sum", field(with_linear(&["x + 2*v == initial(x + 2*v)"], false))),
        ("bounds", field(with_linear(&["x >= -30", "-30 <= v <= 30"], false))),
        (
            "flows",
            field(with_linear(&["x + v == initial(x + v)", "x >= -30", "next(v) <= v"], false)),
        ),
        ("bounds beside known", field(with_linear(&["-30 <= v <= 30"], true))),
        (
            "everything",
            field(vec![one(), units(), known(&[("x", "v"), ("v", "spring")], &["v"]), sum()]),
        ),
    ]
}

/// Flows in units of their own for x and v, or for v alone beside a known rate of x.
fn linear(laws: &[&str], known: &[usize]) -> LinearDescription {
    let vocabulary = Words::new().state(["x", "v"]).check().unwrap();
    let read = laws.iter().flat_map(|text| Law::parse(text, text, &vocabulary).unwrap());
    let form = LinearForm::choose(&LinearTask {
        state: vocabulary.state(),
        known,
        laws: &read.collect::<Vec<_>>(),
        scaling: &scaling(),
        logs: &[],
    });
    assert!(form.laws.iter().all(Coverage::is_covered), "{:?}", form.laws);
    form.description
}

/// The parts of a field with linear laws.
fn with_linear(laws: &[&str], known_x: bool) -> Vec<FieldPart> {
    let linear = linear(laws, if known_x { &[0] } else { &[] });
    let outputs = linear.outputs();
    let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
    let mut parts = vec![network(&outputs), FieldPart::Linear(linear.clone())];
    if known_x {
        parts.push(known(&[("x", "v + k*u")], &["v"]));
    }
    parts
}

fn drawn(len: usize) -> Vec<f64> {
    let mut random = Random::new(11, "descriptions");
    (0..len).map(|_| 0.4 * random.normal()).collect()
}

/// Rates of three columns, and what comes back through them by state and by θ.
fn passes(field: &mut dyn VectorField) -> [Vec<u64>; 3] {
    let theta = drawn(field.parameter_len());
    field.set_parameters(&theta);
    field.reserve(1, 3);
    let (t, u) = ([0.1, 0.4, -0.2], [0.7, -0.3, 0.2]);
    let y = [0.3, -0.8, 1.1, 0.2, -0.5, 0.6];
    let (mut rates, mut y_bar, mut theta_bar) = ([0.0; 6], [0.0; 6], vec![0.0; theta.len()]);
    field.eval(0, &t, &y, &u, &mut rates);
    field.pull_back(0, &[1.0, -0.5, 0.25, 2.0, -1.0, 0.75], &mut y_bar);
    field.flush(&mut theta_bar);
    [bits(&rates), bits(&y_bar), bits(&theta_bar)]
}

#[test]
fn every_part_goes_through_json_exactly_and_builds_a_field_with_the_same_bits() {
    for (name, description) in fields() {
        for pretty in [false, true] {
            let text = if pretty {
                serde_json::to_string_pretty(&description).unwrap()
            } else {
                serde_json::to_string(&description).unwrap()
            };
            let read: FieldDescription = serde_json::from_str(&text).unwrap();
            assert_eq!(read, description, "{name}");
            assert_eq!(
                serde_json::to_string(&read).unwrap(),
                serde_json::to_string(&description).unwrap()
            );
            let mut built = description.build().unwrap();
            let mut again = read.build().unwrap();
            let expected = passes(&mut *built);
            assert_eq!(passes(&mut *again), expected, "{name}");
            assert_eq!(passes(&mut *again.fork()), expected, "{name}, its fork");
            assert!(expected[0].iter().any(|&bits| bits != 0), "{name}");
        }
    }
}

#[test]
fn gradients_of_every_combination_match_central_differences_for_every_method() {
    for (name, description) in fields() {
        for solver in all_methods() {
            let problem = Problem::new(dataset(ragged()), Vec::new());
            let field = description.build().unwrap();
            let theta = drawn(field.parameter_len());
            let mut objective = Objective::new(problem, field, solver, Box::new(Vanilla)).unwrap();
            let gradient = objective.evaluate(&theta, 0).unwrap().gradient.clone();
            let differences: Vec<f64> = (0..theta.len())
                .map(|i| {
                    let h = 1e-5;
                    let mut at = |shift: f64| {
                        let mut theta = theta.clone();
                        theta[i] += shift;
                        objective.replay(&theta).unwrap().value
                    };
                    (at(h) - at(-h)) / (2.0 * h)
                })
                .collect();
            let error = relative_error(&gradient, &differences);
            let tableau = solver.tableau().name;
            assert!(error <= 1e-6, "{name}, {tableau}, {:?}: {error:e}", solver.control());
        }
    }
}

#[test]
fn a_conserving_field_changes_no_sum_and_goes_back_by_the_state_exactly() {
    for (name, description) in fields() {
        let is_conserving = |part: &FieldPart| matches!(part, FieldPart::Conserving(_));
        if description.parts.iter().any(is_conserving) || description.linear().is_some() {
            continue;
        }
        let parts = description.parts.into_iter().chain([conserving(&[[0.6, -1.7]])]).collect();
        let description = FieldDescription { parts, ..description };
        let mut field = description.build().unwrap();
        let theta = drawn(field.parameter_len());
        field.set_parameters(&theta);
        field.reserve(2, 2);
        let (t, u, y, w) = ([0.1, 0.4], [0.7, -0.3], [0.3, -0.8, 1.1, 0.2], [1.0, -0.5, 0.25, 2.0]);
        let (mut rates, mut y_bar) = ([0.0; 4], [0.125; 4]);
        field.eval(0, &t, &y, &u, &mut rates);
        for rate in rates.chunks_exact(2) {
            let sum = 0.6 * rate[0] - 1.7 * rate[1];
            assert!(sum.abs() <= 1e-14, "{name}: {sum:e}");
        }
        field.pull_back(0, &w, &mut y_bar);
        let differences: Vec<f64> = (0..4)
            .map(|n| {
                let h = 1e-6;
                let mut at = |shift: f64| {
                    let (mut y, mut rates) = (y, [0.0; 4]);
                    y[n] += shift;
                    field.eval(1, &t, &y, &u, &mut rates);
                    rates.iter().zip(&w).map(|(rate, w)| rate * w).sum::<f64>()
                };
                (at(h) - at(-h)) / (2.0 * h)
            })
            .collect();
        let found: Vec<f64> = y_bar.iter().map(|bar| bar - 0.125).collect();
        let error = relative_error(&differences, &found);
        assert!(error <= 1e-6, "{name}: {error:e}");
    }
}

fn refused(description: &FieldDescription) -> String {
    description.build().err().unwrap().to_string()
}

#[test]
fn linear_laws_wrap_the_network_and_nothing_wraps_them_but_known_rates() {
    let (both, units) = (|| network(&["x", "v"]), || FieldPart::Scaling(scaling()));
    let sum = || conserving(&[[1.0, 1.0]]);
    let bounded = || linear(&["x >= 0", "v <= 1"], &[]);
    let after_linear = |part: FieldPart| {
        let mut parts = with_linear(&["x >= 0", "v <= 1"], false);
        parts.push(part);
        parts
    };
    let circle = || {
        let law = SmoothLaw { name: "c".to_owned(), holds: "x^2 + v^2 == 1".to_owned(), size: 1.0 };
        FieldPart::Smooth(SmoothDescription {
            scale: vec![1.0; 2],
            equalities: vec![law],
            falling: None,
            softness: 1e-3,
        })
    };
    for (parts, expected) in [
        (
            vec![both(), units(), FieldPart::Linear(bounded())],
            "the part `linear` of a vector field must follow the network".to_owned(),
        ),
        (
            vec![both(), FieldPart::Linear(bounded())],
            "the part `linear` of a vector field needs a network with one output for each of its flows"
                .to_owned(),
        ),
        (after_linear(units()), "the part `scaling` of a vector field cannot follow `linear`".to_owned()),
        (after_linear(sum()), "the part `conserving` of a vector field cannot follow `linear`".to_owned()),
        (after_linear(circle()), "the part `smooth` of a vector field cannot follow `linear`".to_owned()),
        (
            after_linear(known(&[("v", "x")], &["x"])),
            "the linear laws of a vector field: `v` has a known rate, which laws do not alter".to_owned(),
        ),
    ] {
        assert_eq!(refused(&field(parts)), expected);
    }
}

#[test]
fn impossible_parts_and_orders_are_errors() {
    let (both, units) = (|| network(&["x", "v"]), || FieldPart::Scaling(scaling()));
    let motion = || known(&[("x", "v"), ("v", "spring")], &[]);
    let short = || FieldPart::Scaling(Scaling { rate: vec![1.0], ..scaling() });
    let sum = || conserving(&[[1.0, 1.0]]);
    let uneven = FieldPart::Conserving(ConservingDescription { sums: vec![vec![1.0; 3]] });
    let last = || "the part `conserving` of a vector field must be the last".to_owned();
    let order = "must have outputs for different state variables, in their order";
    let cases = [
        (vec![], "a vector field needs a network or known rates".to_owned()),
        (vec![both(), both()], "the part `network` of a vector field must be the first".to_owned()),
        (
            vec![motion(), both()],
            "the part `network` of a vector field must be the first".to_owned(),
        ),
        (
            vec![units(), both()],
            "the part `scaling` of a vector field cannot be the first".to_owned(),
        ),
        (vec![both(), sum(), units()], last()),
        (vec![both(), sum(), sum()], last()),
        (vec![sum(), both()], last()),
        (vec![sum()], "the part `conserving` of a vector field cannot be the first".to_owned()),
        (
            vec![motion(), motion()],
            "the part `known` of a vector field can only be there once".to_owned(),
        ),
        (vec![network(&["v"])], "rates of the vector field: 1 instead of 2".to_owned()),
        (vec![network(&["v"]), units()], "rates of the vector field: 1 instead of 2".to_owned()),
        (vec![network(&["v", "x"])], format!("the part `network` of a vector field {order}")),
        (vec![network(&["x", "x"])], format!("the part `network` of a vector field {order}")),
        (vec![network(&[])], "a network needs at least one output".to_owned()),
        (vec![network(&["w"])], "`w` is not a state variable".to_owned()),
        (
            vec![network(&["v"]), sum()],
            "rates of a field that conserves sums: 1 instead of 2".to_owned(),
        ),
        (vec![both(), uneven], "finite weights of a conserved sum: 3 instead of 2".to_owned()),
        (
            vec![both(), conserving(&[[f64::NAN, 1.0]])],
            "finite weights of a conserved sum: 1 instead of 2".to_owned(),
        ),
        (vec![both(), short()], "numbers of a scaling: 1 instead of 2".to_owned()),
        (
            vec![both(), known(&[], &["v"])],
            "variables for the network's outputs: 1 instead of 2".to_owned(),
        ),
        (vec![known(&[("w", "v")], &[])], "`w` is not a state variable".to_owned()),
    ];
    for (parts, expected) in cases {
        let case = format!("{parts:?}");
        assert_eq!(refused(&field(parts)), expected, "{case}");
    }
    let word = |change: fn(&mut NetworkDescription)| {
        let FieldPart::Network(mut network) = network(&["x", "v"]) else { unreachable!() };
        change(&mut network);
        refused(&field(vec![FieldPart::Network(network)]))
    };
    assert_eq!(word(|n| n.precision = "half".to_owned()), "there is no precision `half`");
    assert_eq!(word(|n| n.activations[0] = "tan".to_owned()), "there is no activation `tan`");
    assert_eq!(word(|n| n.hidden.push(3)), "3 hidden layers need as many activations, not 2");
    assert_eq!(word(|n| n.hidden[1] = 0), "hidden layer 1 has no units");

    let mut learned = field(vec![network(&["x", "v"])]);
    learned.constants[1].learned = true;
    let expected = "the learned constant `k` needs known rates, of which it is a parameter";
    assert_eq!(refused(&learned), expected);
    let mut outside = field(vec![motion()]);
    outside.constants[1].min = Some(0.7);
    let expected = "the learned constant `k` does not start inside its bounds";
    assert_eq!(refused(&outside), expected);
    let unreadable = field(vec![known(&[("x", "v"), ("v", "next(x)")], &[])]);
    assert!(matches!(
        unreadable.build().err().unwrap(),
        FieldError::Rate { variable, rate: 1, .. } if variable == "v"
    ));
}
