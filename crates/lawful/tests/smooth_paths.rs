//! Where smooth laws are hard to keep: training, order, critical points, dependent laws, wrong descriptions.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod smooth_support;

use lawful::law::{Law, Words};
use lawful::ode::{
    InitialValueProblems, NoInputs, Path, SolveError, TABLEAUS, pull_back, solve, tableaus,
};
use lawful::{
    Adaptive, Control, FieldDescription, FieldError, FieldPart, FormulaField, NotSmooth, Recorded,
    SmoothDescription, Solver, VectorField, dissipation, smooth_equality,
};
use smooth_support::{CASES, Case, names, smooth_law};

fn observed(
    field: &mut dyn VectorField,
    solver: &Solver,
    times: &[f64],
    initial: &[f64],
) -> Result<Vec<f64>, SolveError> {
    let mut ivps = InitialValueProblems::new(initial.len());
    ivps.push(times, initial).unwrap();
    let mut path = Path::new();
    solve(field, solver, &ivps, &NoInputs, &mut path)?;
    Ok(path.all_observed().to_vec())
}

fn on_grid(substeps: usize) -> impl Iterator<Item = Solver> {
    TABLEAUS.iter().map(move |tableau| Solver::new(tableau, Control::Grid { substeps }).unwrap())
}

fn adaptive(tolerance: f64) -> Solver {
    let settings = Adaptive::with_tolerances(tolerance, tolerance);
    Solver::new(&tableaus::DOPRI5, Control::Adaptive(settings)).unwrap()
}

fn grid_of(points: u32, width: f64) -> Vec<f64> {
    (0..=points).map(|i| width * f64::from(i)).collect()
}

/// Mean squared distance to the data, and its gradient.
fn loss(
    field: &mut dyn VectorField,
    solver: &Solver,
    ivps: &InitialValueProblems,
    data: &[f64],
    theta: &[f64],
) -> (f64, Vec<f64>) {
    field.set_parameters(theta);
    let mut path = Path::new();
    solve(field, solver, ivps, &NoInputs, &mut path).unwrap();
    let n = data.len() as f64;
    let bar: Vec<f64> =
        path.all_observed().iter().zip(data).map(|(y, data)| 2.0 * (y - data) / n).collect();
    let (mut initial_bar, mut slope) = (vec![0.0; ivps.initial().len()], vec![0.0; theta.len()]);
    pull_back(field, solver, ivps, &NoInputs, &mut path, &bar, &mut initial_bar, &mut slope);
    let loss =
        path.all_observed().iter().zip(data).map(|(y, data)| (y - data).powi(2)).sum::<f64>();
    (loss / n, slope)
}

/// A pendulum and a damped oscillator, learned from 40 rows up to t = 4.
fn trainings() -> [(Case, [&'static str; 2], [f64; 2]); 2] {
    let find = |name: &str| CASES.iter().find(|case| case.name == name).unwrap().clone();
    [
        (find("pendulum"), ["p", "-sin(q)"], [0.9, 0.0]),
        (find("damped oscillator"), ["y", "-x/2 - 0.2*y"], [1.5, 0.0]),
    ]
}

#[test]
fn trained_networks_obey_their_laws_over_ten_times_the_horizon() {
    for (case, rates, initial) in trainings() {
        let vocabulary = Words::new().state(case.state.iter().copied()).check().unwrap();
        let mut truth = Recorded::new(FormulaField::new(&rates, &vocabulary).unwrap());
        let (times, solver) = (grid_of(40, 0.1), Solver::default());
        let data = observed(&mut truth, &adaptive(1e-10), &times, &initial).unwrap();
        let (mut field, mut theta) = case.field(5);
        let mut ivps = InitialValueProblems::new(2);
        ivps.push(&times, &initial).unwrap();
        // Adam, 1500 steps.
        let (mut m, mut v) = (vec![0.0; theta.len()], vec![0.0; theta.len()]);
        let (before, _) = loss(&mut *field, &solver, &ivps, &data, &theta);
        for step in 1..=1500 {
            let (_, slope) = loss(&mut *field, &solver, &ivps, &data, &theta);
            for i in 0..theta.len() {
                m[i] = 0.9 * m[i] + 0.1 * slope[i];
                v[i] = 0.999 * v[i] + 0.001 * slope[i] * slope[i];
                let (m, v) =
                    (m[i] / (1.0 - 0.9_f64.powi(step)), v[i] / (1.0 - 0.999_f64.powi(step)));
                theta[i] -= 0.02 * m / (v.sqrt() + 1e-8);
            }
        }
        let (after, _) = loss(&mut *field, &solver, &ivps, &data, &theta);
        assert!(after < 0.02 * before, "{}: {before:e} → {after:e}", case.name);
        let long = grid_of(4000, 0.01);
        for tableau in TABLEAUS {
            let controls = [
                Control::Grid { substeps: 1 },
                Control::Adaptive(Adaptive::with_tolerances(1e-4, 1e-4)),
            ];
            for solver in controls.into_iter().filter_map(|c| Solver::new(tableau, c).ok()) {
                let path = observed(&mut *field, &solver, &long, &initial).unwrap();
                for (law, violation) in case.violations(&long, &path) {
                    assert!(
                        violation <= 1e-12,
                        "{} {}: {law} {violation:e}",
                        case.name,
                        tableau.name
                    );
                }
            }
        }
    }
}

/// Systems that obey their laws by themselves.
fn lawful_systems() -> Vec<(Case, Vec<&'static str>)> {
    let find = |name: &str| CASES.iter().find(|case| case.name == name).unwrap().clone();
    let kepler = vec!["u", "v", "-x/(x^2 + y^2)^1.5", "-y/(x^2 + y^2)^1.5"];
    // x ẋ + y ẏ + z ż = 0 and x ẋ + 2 y ẏ + 3.5 z ż = 0.
    vec![
        (find("pendulum"), vec!["p", "-sin(q)"]),
        (find("rigid body"), vec!["1.5*y*z", "-2.5*x*z", "x*y"]),
        (find("Kepler"), kepler),
        (find("damped oscillator"), vec!["y", "-x/2 - 0.2*y"]),
    ]
}

#[test]
fn every_method_keeps_its_order_on_systems_that_obey_their_laws() {
    for (case, rates) in lawful_systems() {
        let mut words = Words::new().state(case.state.iter().copied());
        for (name, text) in case.definitions {
            words = words.define(*name, *text);
        }
        let vocabulary = words.check().unwrap();
        let bare = || Box::new(Recorded::new(FormulaField::new(&rates, &vocabulary).unwrap()));
        let smooth = SmoothDescription { softness: 1e-9, ..case.smooth() };
        let initial = case.initial[1];
        let exact = observed(&mut *bare(), &adaptive(1e-13), &[0.0, 4.0], initial).unwrap();
        let error = |solver: &Solver| {
            let mut field = smooth.around(bare(), &vocabulary).unwrap();
            let end = observed(&mut field, solver, &[0.0, 4.0], initial).unwrap();
            let apart = end.iter().zip(&exact).map(|(a, b)| (a - b).abs());
            apart.skip(case.d()).fold(0.0, f64::max)
        };
        for tableau in TABLEAUS {
            let substeps = [8, 16, 32, 64, 128];
            let on_grid = |n| Solver::new(tableau, Control::Grid { substeps: n }).unwrap();
            let errors = substeps.map(|n| error(&on_grid(n)));
            // Below that is rounding.
            let last = errors.iter().rposition(|&error| error > 2e-11).unwrap();
            let order = (errors[last.max(1) - 1] / errors[last]).log2();
            let label = format!("{}, {}", case.name, tableau.name);
            assert!(last >= 1, "{label}: {errors:?}");
            assert!(order > tableau.order as f64 - 0.3, "{label}: order {order} from {errors:?}");
        }
        let error = error(&adaptive(1e-9));
        assert!(error < 1e-7, "{}: {error:e}", case.name);
    }
}

#[test]
fn nothing_rises_from_the_minimum_of_a_quantity() {
    let case = CASES.iter().find(|case| case.name == "damped oscillator").unwrap();
    for seed in 0..5 {
        for (initial, times) in
            [([0.0, 0.0], grid_of(400, 0.05)), ([1e-9, 0.0], grid_of(400, 0.05))]
        {
            let (mut field, _) = case.field(seed);
            for solver in on_grid(1) {
                let label = format!("{} {seed}", solver.tableau().name);
                let path = observed(&mut *field, &solver, &times, &initial);
                let path = path.unwrap_or_else(|error| panic!("{label}: {error}"));
                for (law, violation) in case.violations(&times, &path) {
                    assert!(violation <= 1e-12, "{label}: {law} {violation:e}");
                }
                // The minimum is the only state that the law leaves.
                let far = path.iter().fold(0.0, |far: f64, y| far.max(y.abs()));
                assert!(far < 1e-5, "{label}: {far:e}");
            }
        }
    }
}

#[test]
fn the_pull_back_is_finite_at_the_minimum_of_a_quantity() {
    let case = CASES.iter().find(|case| case.name == "damped oscillator").unwrap();
    let (mut field, theta) = case.field(1);
    field.reserve(1, 3);
    let y = [0.0, 0.0, 1e-200, 0.0, 1e-12, -1e-12];
    let mut dy = [f64::NAN; 6];
    field.eval(0, &[0.0; 3], &y, &[], &mut dy);
    let (mut y_bar, mut theta_bar) = ([0.0; 6], vec![0.0; theta.len()]);
    field.pull_back(0, &[1.0, 0.5, -0.3, 0.2, 1.0, 1.0], &mut y_bar);
    field.flush(&mut theta_bar);
    for number in dy.iter().chain(&y_bar[..2]).chain(&y_bar[4..]).chain(&theta_bar) {
        assert!(number.is_finite(), "{dy:?} {y_bar:?} {theta_bar:?}");
    }
}

fn failure(case: &Case, solver: &Solver, initial: &[f64]) -> String {
    let (mut field, _) = case.field(1);
    observed(&mut *field, solver, &[0.0, 1.0, 2.0], initial).unwrap_err().to_string()
}

#[test]
fn dependent_gradients_end_the_solve_and_the_laws_are_named() {
    let find = |name: &str| CASES.iter().find(|case| case.name == name).unwrap().clone();
    let twice = Case { equalities: &["x^2 + y^2 == 1", "y^2 == 1 - x^2"], ..find("circle") };
    for solver in on_grid(2).chain([adaptive(1e-6)]) {
        let error = failure(&twice, &solver, &[0.6, 0.8]);
        let named = "cannot obey its laws: the gradient of the law `y^2 == 1 - x^2` depends on that of \
                     `x^2 + y^2 == 1` at t = 0.000000, x = 0.600000, y = 0.800000";
        assert!(error.contains(named), "{error}");

        let error = failure(&find("pendulum"), &solver, &[0.0, 0.0]);
        let named =
            "the gradient of the law `E == initial(E)` vanishes at t = 0.000000, q = 0.000000";
        assert!(error.contains(named), "{error}");
    }
}

#[test]
fn reasons_say_why_a_law_is_not_guaranteed() {
    let state = names(&["x", "v"]);
    // k is learned: a variable behind the state.
    let words = Words::new().state(["x", "v", "k"]).inputs(["u"]).define("E", "x^2 + v^2");
    let vocabulary = words.check().unwrap();
    let law = |text: &str| Law::parse("law", text, &vocabulary).unwrap().remove(0);
    assert!(smooth_equality(&law("E == initial(E)"), &state, &[]).unwrap().quantity.depends_on(0));
    assert!(dissipation(&law("next(E) <= E"), &state, &[]).is_ok());
    for (text, known, why) in [
        ("k*x^2 == initial(k*x^2)", &[][..], "it depends on a learned constant"),
        ("x^2 + u == 1", &[], "it depends on an input, and how fast that changes is not known"),
        ("abs(x) + v == 1", &[], "the gradient of `abs`, `min` or `max` jumps"),
        ("E == 1", &[1], "the rate of `v` is known, and known rates are never altered"),
        ("E <= 1", &[], "it is not an equality"),
    ] {
        let found: NotSmooth = smooth_equality(&law(text), &state, known).unwrap_err();
        assert_eq!(found.to_string(), why, "{text}");
    }
    for (text, why) in [
        (
            "next(E*exp(-t)) <= E*exp(-t)",
            "its quantity depends on time, so that no state can keep it from rising",
        ),
        ("next(E) == E", "it is not an inequality"),
    ] {
        let found = dissipation(&law(text), &state, &[]).unwrap_err();
        assert_eq!(found.to_string(), why, "{text}");
    }
}

/// The message of a description that cannot be built.
fn impossible(change: impl Fn(&mut FieldDescription, &mut SmoothDescription)) -> String {
    let case = &CASES[0];
    let (mut description, mut smooth) = (case.description(), case.smooth());
    description.parts.pop();
    change(&mut description, &mut smooth);
    if !description.parts.iter().any(|part| matches!(part, FieldPart::Smooth(_))) {
        description.parts.push(FieldPart::Smooth(smooth));
    }
    let error: FieldError = description.build().map(|_| ()).unwrap_err();
    error.to_string()
}

#[test]
fn impossible_descriptions_are_errors() {
    let equal = |text: &str| vec![smooth_law("law", text, 1.0)];
    assert_eq!(
        impossible(|_, smooth| smooth.scale = vec![1.0, 0.0]),
        "sizes of states above 0: 1 instead of 2"
    );
    assert_eq!(
        impossible(|_, smooth| smooth.equalities[0].size = 0.0),
        "the law `x^2 + y^2 == 1` cannot be guaranteed: it must be one relation, with a size above 0"
    );
    assert_eq!(
        impossible(|_, smooth| smooth.softness = f64::NAN),
        "the part `smooth` of a vector field needs a softness above 0"
    );
    assert_eq!(
        impossible(|_, smooth| smooth.equalities = equal("x <= 1")),
        "the law `law` cannot be guaranteed: it is not an equality"
    );
    assert_eq!(
        impossible(|_, smooth| {
            smooth.equalities = equal("x^2 + t == initial(x^2 + t)");
            smooth.falling = Some(smooth_law("E", "next(y^2) <= y^2", 1.0));
        }),
        "the law `law` cannot be guaranteed: it moves with time, while another law's quantity must not \
         rise on it"
    );
    assert_eq!(
        impossible(|description, smooth| {
            description.parts.push(FieldPart::Smooth(smooth.clone()));
            description.parts.push(FieldPart::Smooth(smooth.clone()));
        }),
        "the part `smooth` of a vector field must be the last"
    );
    let known = |description: &mut FieldDescription| {
        description.parts.push(FieldPart::Known(lawful::KnownDescription {
            rates: vec![("x".to_owned(), "y".to_owned())],
            learn: names(&["x", "y"]),
        }));
    };
    assert_eq!(
        impossible(|description, _| known(description)),
        "the law `x^2 + y^2 == 1` cannot be guaranteed: the rate of `x` is known, and known rates are \
         never altered"
    );
    assert_eq!(
        impossible(|description, smooth| {
            known(description);
            description.constants.push(lawful::Constant {
                name: "k".to_owned(),
                start: 1.0,
                learned: true,
                min: None,
                max: None,
                per_trajectory: false,
            });
            smooth.equalities = equal("k*y^2 == 1");
        }),
        "the law `law` cannot be guaranteed: it depends on a learned constant"
    );
}

#[test]
fn a_description_goes_through_a_file_without_a_change() {
    for case in &CASES {
        let description = case.description();
        let text = serde_json::to_string(&description).unwrap();
        let read: FieldDescription = serde_json::from_str(&text).unwrap();
        assert_eq!(read, description, "{}", case.name);
    }
}

#[test]
fn states_move_to_their_laws_by_the_shortest_way() {
    let case = CASES.iter().find(|case| case.name == "a sum and a sphere").unwrap();
    let mut laws = case.description().smooth_laws().unwrap().unwrap();
    let mut y = [810.0, 600.0, 600.0, 500.0];
    let (law, off) = laws.worst(0.0, &y).unwrap();
    assert_eq!(law, "a + b + c + 2*d == 3000");
    assert!((off - 10.0 / case.size()).abs() < 1e-18, "{off}");
    assert!(laws.project(0.0, &mut y).unwrap());
    assert!((y[0] + y[1] + y[2] + 2.0 * y[3] - 3000.0).abs() < 1e-9, "{y:?}");
    // a² + b² is what it was: the law that each trajectory has its own value of.
    assert!((y[0].powi(2) + y[1].powi(2) - 810.0_f64.powi(2) - 600.0_f64.powi(2)).abs() < 1e-6);
    assert!(!laws.project(0.0, &mut y).unwrap(), "it is there");

    // The start of a segment moves to the level of its trajectory.
    let initial = case.initial[0];
    assert!(laws.project_to((3.0, &mut y), (0.0, initial)).unwrap());
    assert!((y[0].powi(2) + y[1].powi(2) - 1e6).abs() < 1e-6, "{y:?}");
    assert!((y[0] - 810.0).abs() < 20.0 && (y[1] - 600.0).abs() < 20.0, "{y:?}");
}
