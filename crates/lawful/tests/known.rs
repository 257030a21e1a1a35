//! Known physics beside the network: values, exact gradients, and workers that agree.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{all_methods, bits, relative_error};
use lawful::law::Words;
use lawful::ode::{InitialValueProblems, Inputs, Path, pull_back, replay, solve};
use lawful::{
    Activation, Control, FieldError, FormulaField, HybridField, KnownRates, LearnedConstant, Mlp,
    MlpShape, Precision, Random, Recorded, Solver, VectorField, Vocabulary,
};

/// What every gradient here has to reach.
const BOUND: f64 = 1e-6;

/// `u(t) = sin(2t)`.
struct Sine;

impl Inputs for Sine {
    fn at(&self, _: usize, t: f64, _: f64, u: &mut [f64]) {
        u.fill((2.0 * t).sin());
    }
}

fn vocabulary() -> Vocabulary {
    let words = Words::new().state(["x", "v"]).inputs(["u"]).constant("m", 1.3);
    let words = words.constant("k", 0.7).constant("c", -0.2).constant("w", 0.0);
    words.define("spring", "-k*x*abs(x + 2)/m").define("wave", "sin(w + t)").check().unwrap()
}

fn constant(name: &str, min: Option<f64>, max: Option<f64>) -> LearnedConstant {
    let vocabulary = vocabulary();
    let (_, start) = vocabulary.constants().iter().find(|(known, _)| known == name).unwrap();
    LearnedConstant { name: name.to_owned(), start: *start, min, max }
}

fn network(outputs: usize) -> (Mlp, usize) {
    let shape = MlpShape {
        state: 2,
        outputs,
        inputs: 1,
        time: true,
        hidden: vec![4],
        activations: vec![Activation::Tanh],
    };
    let parameters = shape.parameter_len();
    (Mlp::new(shape, Precision::Double).expect("the shape of a network"), parameters)
}

/// Known rates of some variables, these constants learned, and a network for some variables.
fn informed(
    rates: &[(usize, &str)],
    constants: Vec<LearnedConstant>,
    learn: &[usize],
) -> (HybridField, Vec<f64>) {
    let known = KnownRates::new(rates, constants, &vocabulary()).unwrap();
    let field = HybridField::new(known);
    let field = match learn.len() {
        0 => field,
        outputs => field.with_network(Box::new(network(outputs).0), learn).unwrap(),
    };
    let mut random = Random::new(5, "known");
    let theta = (0..field.parameter_len()).map(|_| 0.4 * random.normal()).collect();
    (field, theta)
}

/// Every way in which rates are known, learned or both, and every kind of bound.
fn fields() -> Vec<(&'static str, HybridField, Vec<f64>)> {
    let motion = [(0, "v"), (1, "spring + c*v + u*wave")];
    let mut fields = Vec::new();
    let mut push = |name, rates: &[_], constants, learn: &[usize]| {
        let (field, theta) = informed(rates, constants, learn);
        fields.push((name, field, theta));
    };
    push("no bounds", &motion, vec![constant("k", None, None), constant("w", None, None)], &[]);
    push("below", &motion, vec![constant("k", Some(0.0), None)], &[]);
    push("above", &motion, vec![constant("c", None, Some(0.0))], &[]);
    push("between", &motion, vec![constant("k", Some(-1.0), Some(2.5))], &[]);
    push("known and learned", &motion[..1], vec![], &[1]);
    push("corrected", &motion, vec![], &[1]);
    push("all corrected", &motion, vec![], &[1, 0]);
    let all = vec![
        constant("c", None, Some(0.5)),
        constant("k", Some(0.1), None),
        constant("w", Some(-1.0), Some(1.0)),
        constant("m", None, None),
    ];
    push("everything", &motion, all, &[0, 1]);
    fields
}

/// Two columns on the grid, one adaptively.
fn ivps(solver: &Solver) -> InitialValueProblems {
    let mut ivps = InitialValueProblems::new(2);
    ivps.push(&[0.0, 0.2, 0.5, 0.6, 1.0], &[1.0, 0.3]).expect("a valid problem");
    if matches!(solver.control(), Control::Grid { .. }) {
        ivps.push(&[-0.5, -0.1, 0.0, 0.4], &[-0.4, 0.8]).expect("a valid problem");
    }
    ivps
}

/// A sum of all observed states with weights of their own.
fn weights(len: usize) -> Vec<f64> {
    (0..len).map(|n| (1.7 * n as f64 + 0.3).cos()).collect()
}

fn sum(path: &Path) -> f64 {
    let observed = path.all_observed();
    observed.iter().zip(weights(observed.len())).map(|(y, w)| y * w).sum()
}

/// The gradient of [`sum`] by θ.
fn gradient(field: &mut HybridField, theta: &[f64], solver: &Solver, path: &mut Path) -> Vec<f64> {
    let ivps = ivps(solver);
    field.set_parameters(theta);
    solve(field, solver, &ivps, &Sine, path).unwrap();
    let mut initial_bar = vec![0.0; ivps.columns() * 2];
    let mut theta_bar = vec![0.0; theta.len()];
    let w = weights(path.all_observed().len());
    pull_back(field, solver, &ivps, &Sine, path, &w, &mut initial_bar, &mut theta_bar);
    theta_bar
}

#[test]
fn gradient_matches_central_differences_for_every_method_and_kind_of_field() {
    let h = 1e-5;
    for (name, mut field, theta) in fields() {
        for solver in all_methods() {
            let mut path = Path::default();
            let found = gradient(&mut field, &theta, &solver, &mut path);
            let ivps = ivps(&solver);
            let mut unrecorded = Path::default();
            let mut value = |theta: &[f64]| {
                field.set_parameters(theta);
                replay(&mut field, &solver, &ivps, &Sine, &path, &mut unrecorded).unwrap();
                sum(&unrecorded)
            };
            let mut expected = Vec::new();
            for n in 0..theta.len() {
                let [above, below] = [h, -h].map(|h| {
                    let mut theta = theta.clone();
                    theta[n] += h;
                    value(&theta)
                });
                expected.push((above - below) / (2.0 * h));
            }
            // Every number of θ matters.
            let tableau = solver.tableau().name;
            assert!(expected.iter().all(|slope| slope.abs() > 1e-6), "{name}, {tableau}");
            let error = relative_error(&expected, &found);
            assert!(error <= BOUND, "{name}, {tableau}, {:?}: {error:e}", solver.control());
        }
    }
}

#[test]
fn pull_back_matches_central_differences_by_the_state() {
    for (name, mut field, theta) in fields() {
        field.set_parameters(&theta);
        field.reserve(2, 3);
        let (t, u) = ([0.1, 0.4, -0.2], [0.7, -0.3, 0.2]);
        let y = [0.3, -0.8, 1.1, 0.2, -0.5, 0.6];
        let w = weights(6);
        let mut y_bar = [0.25; 6];
        field.eval(1, &t, &y, &u, &mut [0.0; 6]);
        field.eval(0, &t[..1], &y[2..4], &u[..1], &mut [0.0; 2]);
        field.pull_back(1, &w, &mut y_bar);
        for n in 0..6 {
            let h = 1e-6;
            let [above, below] = [h, -h].map(|h| {
                let (mut y, mut dy) = (y, [0.0; 6]);
                y[n] += h;
                field.eval(0, &t, &y, &u, &mut dy);
                dy.iter().zip(&w).map(|(dy, w)| dy * w).sum::<f64>()
            });
            let error = (y_bar[n] - 0.25 - (above - below) / (2.0 * h)).abs();
            assert!(error <= BOUND, "{name}, number {n}: {error:e}");
        }
    }
}

#[test]
fn both_halves_are_the_joint_pull_back_bit_for_bit() {
    for (name, mut field, theta) in fields() {
        field.set_parameters(&theta);
        field.reserve(2, 3);
        let (t, u) = ([0.1, 0.4, -0.2], [0.7, -0.3, 0.2]);
        let y = [0.3, -0.8, 1.1, 0.2, -0.5, 0.6];
        let w = weights(6);
        field.eval(1, &t, &y, &u, &mut [0.0; 6]);
        field.eval(0, &t[..1], &y[2..4], &u[..1], &mut [0.0; 2]);
        let mut joint = vec![0.25; 8];
        field.pull_back(1, &w, &mut joint[..6]);
        field.pull_back(0, &w[..2], &mut joint[6..]);
        let mut theta_bar = vec![0.5; theta.len()];
        field.flush(&mut theta_bar);

        let (mut state, mut other) = (vec![0.25; 8], [0.0; 6]);
        field.pull_back_parameters(1, &w);
        field.pull_back_state(1, &[1.5; 6], &mut other);
        field.jacobian(1, &mut [f64::NAN; 12]);
        field.pull_back_state(1, &w, &mut state[..6]);
        field.pull_back_state(0, &w[..2], &mut state[6..]);
        field.pull_back_parameters(0, &w[..2]);
        field.pull_back_state(1, &[1.5; 6], &mut other);
        let mut parameters = vec![0.5; theta.len()];
        field.flush(&mut parameters);
        assert_eq!(bits(&joint), bits(&state), "{name}");
        assert_eq!(bits(&theta_bar), bits(&parameters), "{name}");
    }
}

#[test]
fn jacobian_matches_central_differences() {
    for (name, mut field, theta) in fields() {
        field.set_parameters(&theta);
        field.reserve(2, 3);
        let (t, u) = ([0.1, 0.4, -0.2], [0.7, -0.3, 0.2]);
        let y = [0.3, -0.8, 1.1, 0.2, -0.5, 0.6];
        for columns in [1, 3] {
            let (t, u, y) = (&t[..columns], &u[..columns], &y[..2 * columns]);
            let (mut found, mut expected) =
                (vec![f64::NAN; 4 * columns], vec![f64::NAN; 4 * columns]);
            field.eval(1, t, y, u, &mut vec![0.0; 2 * columns]);
            field.jacobian(1, &mut found);
            let h = 1e-6;
            for i in 0..2 {
                let [above, below] = [h, -h].map(|h| {
                    let (mut y, mut dy) = (y.to_vec(), vec![f64::NAN; 2 * columns]);
                    y.iter_mut().skip(i).step_by(2).for_each(|y| *y += h);
                    field.eval(0, t, &y, u, &mut dy);
                    dy
                });
                for (row, (above, below)) in above.iter().zip(&below).enumerate() {
                    expected[2 * row + i] = (above - below) / (2.0 * h);
                }
            }
            let error = relative_error(&expected, &found);
            assert!(error <= BOUND, "{name}, {columns} columns: {error:e}");
        }
    }
}

#[test]
fn known_rates_at_the_start_are_those_of_the_written_equations() {
    let texts = ["v", "spring + c*v + u*wave"];
    let mut written = Recorded::new(FormulaField::new(&texts, &vocabulary()).unwrap());
    let constants = vec![constant("k", Some(0.0), None), constant("c", None, None)];
    let (mut field, theta) = informed(&[(0, texts[0]), (1, texts[1])], constants, &[]);
    let (t, y, u) = ([0.3, 0.9], [0.2, -0.4, 1.5, 0.1], [0.6, -0.2]);
    let rates = |field: &mut dyn VectorField| {
        let mut dy = [f64::NAN; 4];
        field.reserve(1, 2);
        field.eval(0, &t, &y, &u, &mut dy);
        bits(&dy)
    };
    let expected = rates(&mut written);
    assert_eq!(rates(&mut field), expected, "before any θ is set");
    field.set_parameters(&theta);
    assert_ne!(rates(&mut field), expected);
    field.set_parameters(&[0.0; 2]);
    assert_eq!(rates(&mut field), expected);
}

#[test]
fn a_rate_that_is_known_and_learned_is_the_sum_of_both() {
    let (mut mlp, parameters) = network(1);
    let (mut field, theta) = informed(&[(0, "v"), (1, "-x")], vec![], &[1]);
    assert_eq!(theta.len(), parameters);
    let (t, y, u) = ([0.3], [0.2, -0.4], [0.6]);
    let (mut dy, mut correction) = ([f64::NAN; 2], [f64::NAN]);
    field.set_parameters(&theta);
    field.reserve(1, 1);
    field.eval(0, &t, &y, &u, &mut dy);
    mlp.set_parameters(&theta);
    mlp.reserve(1, 1);
    mlp.eval(0, &t, &y, &u, &mut correction);
    assert_eq!(bits(&dy), bits(&[y[1], correction[0] - y[0]]));
}

#[test]
fn forks_and_small_tapes_give_the_same_bytes() {
    for (name, mut field, theta) in fields() {
        for solver in all_methods() {
            let mut path = Path::default();
            let expected = bits(&gradient(&mut field, &theta, &solver, &mut path));
            let again = solver.with_memory(0);
            assert_eq!(bits(&gradient(&mut field, &theta, &again, &mut path)), expected, "{name}");
        }
        field.set_parameters(&theta);
        field.reserve(1, 1);
        let mut fork = field.fork();
        assert_eq!(fork.parameter_len(), theta.len());
        fork.reserve(1, 1);
        let (mut dy, mut same) = ([0.0; 2], [0.0; 2]);
        field.eval(0, &[0.2], &[0.5, -0.1], &[0.3], &mut dy);
        fork.eval(0, &[0.2], &[0.5, -0.1], &[0.3], &mut same);
        assert_eq!(bits(&dy), bits(&same), "{name}");
        // A pull-back that is not flushed belongs to the field, not to its fork.
        let [mut of_field, mut of_fork] = [vec![0.0; theta.len()], vec![0.0; theta.len()]];
        field.pull_back(0, &[1.0, 2.0], &mut [0.0; 2]);
        let mut fork_of_late = field.fork();
        fork_of_late.flush(&mut of_fork);
        assert!(of_fork.iter().all(|bar| bar.abs() < f64::MIN_POSITIVE), "{name}");
        field.flush(&mut of_field);
        fork.pull_back(0, &[1.0, 2.0], &mut [0.0; 2]);
        fork.flush(&mut of_fork);
        assert_eq!(bits(&of_field), bits(&of_fork), "{name}");
    }
}

#[test]
fn a_constant_that_no_rate_depends_on_is_told() {
    let constants = vec![constant("k", None, None), constant("c", None, None)];
    let known = KnownRates::new(&[(1, "spring + (c - c)")], constants, &vocabulary()).unwrap();
    assert_eq!([known.depends_on(0), known.depends_on(1)], [true, false]);
    assert_eq!(known.constants().len(), 2);
}

#[test]
fn a_rate_that_cannot_be_read_is_told_by_its_place() {
    let error = KnownRates::new(&[(0, "v"), (1, "next(x)")], vec![], &vocabulary()).unwrap_err();
    let FieldError::Rate { variable, rate, error } = error else { panic!("{error}") };
    assert_eq!((variable.as_str(), rate), ("v", 1));
    assert_eq!(
        error.to_string(),
        "`next` refers to another time step, which is only allowed in a law"
    );
}
