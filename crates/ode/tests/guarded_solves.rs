//! Guards keep their laws in every step and between the steps, and nothing else changes.

mod guards;
mod systems;

use guards::{BLENDED, CASES, Case, Guarded, circle_field};
use lawful_ode::tableaus::{DOPRI5, EULER, HEUN};
use lawful_ode::{
    Adaptive, Control, Equations, GuardedStep, InitialValueProblems, NoInputs, Path, Refused,
    Shifted, SolveError, Solver, StepGuard, TABLEAUS, Tableau, VectorField, predict, replay, solve,
};
use systems::{LIMIT_CYCLE, LimitCycle, with_observations_between, with_parameters};

fn solvers() -> impl Iterator<Item = Solver> {
    let adaptive = Adaptive::with_tolerances(1e-4, 1e-5);
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

/// Ragged columns on the grid, and one with many observations inside steps otherwise.
fn ivps(case: &Case, control: Control, end: f64) -> InitialValueProblems {
    let mut ivps = InitialValueProblems::new(2);
    let (columns, rows) = match control {
        Control::Grid { .. } => (3, 60),
        Control::Adaptive(_) => (1, 997),
    };
    for (column, initial) in case.initial.iter().take(columns).enumerate() {
        let times: Vec<f64> = (0..=rows - column).map(|i| i as f64 * end / rows as f64).collect();
        ivps.push(&times, initial).expect("a valid problem");
    }
    ivps
}

#[test]
fn laws_hold_at_every_observation_with_every_method() {
    BLENDED.set(0);
    let mut limited = Vec::new();
    for case in &CASES {
        for (solver, ivps) in solvers().flat_map(|solver| {
            // Pulses grow without bound, and by midpoint steps beyond all numbers before t = 6.
            let [long, short] = [6.0, 4.0].map(|end| ivps(case, solver.control(), end));
            let between = with_observations_between(short, solver.control()).into_iter().skip(1);
            std::iter::once(long).chain(between).map(move |ivps| (solver, ivps))
        }) {
            let label = label(case, &solver);
            let mut path = Path::new();
            solve(&mut *case.field(), &solver, &ivps, &NoInputs, &mut path).expect(&label);
            for column in 0..ivps.columns() {
                let states = path.observed(column).chunks_exact(2).zip(ivps.times(column));
                for (y, &t) in states {
                    let violation = (case.violation)(t, y);
                    assert!(violation < 1e-13, "{label}: {violation:e} at t = {t}");
                }
            }
            let counts = path.counts();
            assert!(counts.corrected <= counts.accepted, "{label}");
            match (case.name, counts.corrected) {
                ("bound", 0) => {}
                ("bound", _) => limited.push(label),
                (_, corrected) => assert!(corrected > 0, "{label}"),
            }
        }
    }
    // Methods of even order do not leave the bound where the rate is constant.
    let on_grid = limited.iter().filter(|label| label.contains("Grid")).count();
    assert!(on_grid >= 6 && limited.len() > on_grid, "{limited:#?}");
    assert!(BLENDED.get() > 0, "no dense output was blended");
}

#[test]
fn without_its_guard_each_field_breaks_its_law() {
    for case in &CASES {
        let solver = Solver::new(&EULER, Control::Grid { substeps: 1 }).unwrap();
        let ivps = ivps(case, solver.control(), 6.0);
        let mut field: Box<dyn VectorField> = match case.name {
            "bound" => Box::new(with_parameters(guards::Pulses, case.theta)),
            "sum" => Box::new(with_parameters(guards::Exchange, case.theta)),
            _ => Box::new(with_parameters(LimitCycle, case.theta)),
        };
        let mut path = Path::new();
        solve(&mut *field, &solver, &ivps, &NoInputs, &mut path).unwrap();
        let states = path.observed(0).chunks_exact(2).zip(ivps.times(0));
        let largest = states.map(|(y, &t)| (case.violation)(t, y)).fold(0.0, f64::max);
        assert!(largest > 1e-4, "{}: {largest:e}", case.name);
        assert_eq!((path.counts().corrected, path.counts().refused), (0, 0));
    }
}

#[test]
fn values_depend_on_the_steps_and_not_on_the_output_times() {
    for case in &CASES {
        for solver in solvers().filter(|s| matches!(s.control(), Control::Adaptive(_))) {
            let label = label(case, &solver);
            let dense = ivps(case, solver.control(), 4.0);
            let times: Vec<f64> = dense.times(0).iter().copied().step_by(83).collect();
            let mut sparse = InitialValueProblems::new(2);
            sparse.push(&[&times[..], &[4.0]].concat(), &case.initial[0]).unwrap();
            let (mut field, mut all, mut some) = (case.field(), Path::new(), Path::new());
            solve(&mut *field, &solver, &dense, &NoInputs, &mut all).unwrap();
            solve(&mut *field, &solver, &sparse, &NoInputs, &mut some).unwrap();
            assert!(all.steps(0).eq(some.steps(0)), "{label}");
            let of_all: Vec<f64> =
                all.observed(0).chunks_exact(2).step_by(83).flatten().copied().collect();
            assert_eq!(some.observed(0)[..of_all.len()], of_all, "{label}");
        }
    }
}

#[test]
fn replay_and_prediction_give_the_same_bits() {
    for case in &CASES {
        for solver in solvers() {
            let label = label(case, &solver);
            let ivps = ivps(case, solver.control(), 3.0);
            let (mut field, mut path) = (case.field(), Path::new());
            solve(&mut *field, &solver, &ivps, &NoInputs, &mut path).unwrap();
            let (mut again, mut predicted) = (Path::new(), Path::new());
            replay(&mut *field, &solver, &ivps, &NoInputs, &path, &mut again).unwrap();
            predict(&mut *field, &solver, &ivps, &NoInputs, &mut predicted).unwrap();
            assert_eq!(path.all_observed(), again.all_observed(), "{label}");
            assert_eq!(path.all_observed(), predicted.all_observed(), "{label}");
            assert_eq!(path.counts(), predicted.counts(), "{label}");
            assert_eq!(path.counts().corrected, again.counts().corrected, "{label}");
        }
    }
}

#[test]
fn columns_together_give_the_bits_of_each_column_alone() {
    for case in &CASES {
        for tableau in TABLEAUS {
            let solver = Solver::new(tableau, Control::Grid { substeps: 2 }).unwrap();
            let together = ivps(case, solver.control(), 3.0);
            let (mut field, mut path) = (case.field(), Path::new());
            solve(&mut *field, &solver, &together, &NoInputs, &mut path).unwrap();
            for column in 0..together.columns() {
                let (mut alone, mut path_alone) = (InitialValueProblems::new(2), Path::new());
                alone.push(together.times(column), &case.initial[column]).unwrap();
                solve(&mut *field, &solver, &alone, &NoInputs, &mut path_alone).unwrap();
                assert_eq!(path_alone.all_observed(), path.observed(column), "{}", case.name);
            }
        }
    }
}

/// Angle of the limit cycle from angle 0, on the unit circle.
fn on_circle(t: f64) -> [f64; 2] {
    let angle = t + LIMIT_CYCLE[1] * t.sin();
    [angle.cos(), angle.sin()]
}

fn largest_error(solver: &Solver, times: &[f64]) -> f64 {
    let mut ivps = InitialValueProblems::new(2);
    ivps.push(times, &on_circle(times[0])).expect("a valid problem");
    let mut path = Path::new();
    solve(&mut circle_field(), solver, &ivps, &NoInputs, &mut path).expect("the solve succeeds");
    let states = path.observed(0).chunks_exact(2).zip(times);
    let error = |(y, &t): (&[f64], &f64)| (y[0] - on_circle(t)[0]).hypot(y[1] - on_circle(t)[1]);
    states.map(error).fold(0.0, f64::max)
}

#[test]
fn the_order_of_every_tableau_stays_at_the_ends_and_between_them() {
    for tableau in TABLEAUS {
        let order_of = |errors: [f64; 2]| (errors[0] / errors[1]).log2();
        let ends = [32, 64].map(|substeps| {
            let solver = Solver::new(tableau, Control::Grid { substeps }).unwrap();
            largest_error(&solver, &[0.0, 0.9, 1.7, 2.0])
        });
        let measured = order_of(ends);
        assert!(measured > tableau.order as f64 - 0.2, "{} {measured:.2}", tableau.name);
        if tableau.embedded.is_none() {
            continue;
        }
        let between = [32.0, 64.0].map(|steps: f64| {
            let control = Adaptive {
                first_step: Some(steps.recip()),
                rtol: 1e30,
                max_factor: 1.0 + f64::EPSILON,
                ..Adaptive::default()
            };
            let times: Vec<f64> = (0..=997).map(|i| f64::from(i) * 2.0 / 997.0).collect();
            largest_error(&Solver::new(tableau, Control::Adaptive(control)).unwrap(), &times)
        });
        let (measured, stated) = (order_of(between), tableau.order.min(tableau.dense.order + 1));
        assert!(measured > stated as f64 - 0.2, "{}: {stated}, {measured:.2}", tableau.name);
    }
}

#[test]
fn a_shifted_guard_sees_the_users_times() {
    let case = &CASES[1];
    let origin = 2.0;
    let start = [0.3, 0.5 * (guards::total(origin) - 0.3)];
    for solver in solvers() {
        let since = [0.0, 0.3, 0.7, 1.0];
        let (mut shifted, mut plain) = (InitialValueProblems::new(2), InitialValueProblems::new(2));
        shifted.push(&since, &start).unwrap();
        plain.push(&since.map(|t| origin + t), &start).unwrap();
        let mut field = Shifted::new(case.field());
        field.set_origins([origin]);
        let (mut path, mut expected) = (Path::new(), Path::new());
        solve(&mut field, &solver, &shifted, &NoInputs, &mut path).unwrap();
        solve(&mut *case.field(), &solver, &plain, &NoInputs, &mut expected).unwrap();
        for (y, expected) in path.all_observed().iter().zip(expected.all_observed()) {
            assert!((y - expected).abs() < 1e-9, "{}: {y} {expected}", label(case, &solver));
        }
        for (y, t) in path.observed(0).chunks_exact(2).zip(since) {
            assert!((case.violation)(origin + t, y) < 1e-13);
        }
    }
}

/// Refuses steps that are longer than a limit, and values later than a time.
#[derive(Clone)]
struct Strict {
    longest: f64,
    until: f64,
}

impl StepGuard for Strict {
    fn correct(&mut self, step: &GuardedStep<'_>, _next: &mut [f64]) -> Result<bool, Refused> {
        if step.end - step.start > self.longest {
            return Err(Refused::new("lets E rise"));
        }
        Ok(false)
    }

    fn pull_back(
        &mut self,
        _step: &GuardedStep<'_>,
        _next: &[f64],
        next_bar: &[f64],
        _y_bar: &mut [f64],
        computed_bar: &mut [f64],
    ) {
        computed_bar.iter_mut().zip(next_bar).for_each(|(sum, bar)| *sum += bar);
    }

    fn correct_inside(
        &mut self,
        step: &GuardedStep<'_>,
        _curve: &[f64],
        theta: f64,
        _value: &mut [f64],
    ) -> Result<(), Refused> {
        let t = step.start + theta * (step.end - step.start);
        if t > self.until { Err(Refused::new("has no point on the law near it")) } else { Ok(()) }
    }
}

fn strict(
    tableau: &'static Tableau,
    control: Control,
    guard: Strict,
    times: &[f64],
) -> (Result<(), SolveError>, Path) {
    let solver = Solver::new(tableau, control).expect("a valid solver");
    let mut ivps = InitialValueProblems::new(2);
    ivps.push(times, &[0.5, 0.0]).expect("a valid problem");
    let mut field = with_parameters(Guarded { equations: LimitCycle, guard }, &LIMIT_CYCLE);
    let mut path = Path::new();
    (solve(&mut field, &solver, &ivps, &NoInputs, &mut path), path)
}

#[test]
fn a_refused_step_on_a_grid_fails_with_time_state_and_reason() {
    let guard = Strict { longest: 0.3, until: 9.0 };
    let times = [0.0, 0.25, 1.25];
    let (result, path) = strict(&EULER, Control::Grid { substeps: 2 }, guard, &times);
    let error = result.unwrap_err();
    let at = error.at();
    let expected =
        format!("the step of 0.5 from t = 0.25, y = [{}, {}] lets E rise", at.y[0], at.y[1]);
    assert_eq!(error.to_string(), expected);
    assert!(error.hint().contains("smaller or adaptive steps"));
    assert_eq!((path.counts().accepted, path.counts().refused), (2, 1));
}

#[test]
fn an_adaptive_solve_halves_refused_steps_down_to_the_floor() {
    let settings = Adaptive { first_step: Some(0.5), ..Adaptive::with_tolerances(1e-1, 1e-1) };
    for tableau in [&DOPRI5, &HEUN] {
        let control = Control::Adaptive(settings);
        let guard = Strict { longest: 0.1, until: 9.0 };
        let (result, path) = strict(tableau, control, guard, &[0.0, 1.0]);
        result.unwrap();
        assert!(path.steps(0).all(|step| step.size() <= 0.1));
        assert!((3..=path.counts().rejected).contains(&path.counts().refused));

        let control = Control::Adaptive(Adaptive { min_step: 0.01, ..settings });
        let guard = Strict { longest: 0.0, until: 9.0 };
        let (result, _) = strict(tableau, control, guard, &[0.0, 1.0]);
        let text = result.unwrap_err().to_string();
        assert_eq!(text, "the step of 0.0078125 from t = 0, y = [0.5, 0] lets E rise");
    }
}

#[test]
fn a_refused_value_inside_a_step_fails_at_its_time() {
    let control = Control::Adaptive(Adaptive::with_tolerances(1e-3, 1e-3));
    let times: Vec<f64> = (0..=100).map(|i| f64::from(i) / 50.0).collect();
    let guard = Strict { longest: 9.0, until: 1.111 };
    let (result, _) = strict(&DOPRI5, control, guard, &times);
    let error = result.unwrap_err();
    let SolveError::Refused { inside: Some(t), at, .. } = &error else { panic!("{error}") };
    assert!(at.t < *t && *t > 1.111 && *t < 1.3, "{error}");
    assert!(error.to_string().starts_with(&format!("the value at t = {t}, inside the step of ")));
    assert!(error.to_string().ends_with(", has no point on the law near it"));
    // At the user's times where the solver counts from an origin.
    let mut field = Shifted::new(Box::new(with_parameters(LimitCycle, &LIMIT_CYCLE)));
    field.set_origins([100.0]);
    let SolveError::Refused { inside: Some(moved), .. } = field.at_user_times(error.clone()) else {
        panic!("{error}")
    };
    assert!((moved - t - 100.0).abs() < 1e-12);
}

#[test]
fn what_a_guard_moves_beyond_the_tolerance_is_rejected() {
    let solver = |tolerance: f64| {
        let control = Adaptive::with_tolerances(tolerance, tolerance);
        Solver::new(&DOPRI5, Control::Adaptive(control)).unwrap()
    };
    let case = &CASES[1];
    let mut steps = Vec::new();
    for tolerance in [1e-2, 1e-3, 1e-4] {
        let mut ivps = InitialValueProblems::new(2);
        ivps.push(&[0.0, 3.0], &case.initial[0]).unwrap();
        let mut path = Path::new();
        solve(&mut *case.field(), &solver(tolerance), &ivps, &NoInputs, &mut path).unwrap();
        steps.push(path.counts().accepted);
    }
    // The field drifts from the law by 0.02 |cos t|: steps are in proportion to the tolerance.
    assert!(steps[2] > 4 * steps[1] && steps[1] > steps[0], "{steps:?}");
}

#[test]
#[should_panic(expected = "a field with a guard is the outermost part")]
fn a_scaling_around_a_guarded_field_is_a_bug() {
    let scaling = lawful_ode::Scaling::none(2, 0);
    let _ = lawful_ode::Scaled::new(Box::new(circle_field()), scaling);
}

#[test]
fn equations_without_a_guard_have_none() {
    assert!(LimitCycle.guard().is_none() && LimitCycle::field().guard().is_none());
}
