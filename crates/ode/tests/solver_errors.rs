//! What the user reads when a solve cannot be finished.

mod systems;

use lawful_ode::tableaus::{DOPRI5, EULER, HEUN};
use lawful_ode::{
    Adaptive, Control, InitialValueProblems, Inputs, NoInputs, Path, SolveError, Solver, Tableau,
    solve,
};
use systems::{BlowUp, Integral, with_parameters};

fn blow_up(tableau: &'static Tableau, control: Control) -> SolveError {
    let mut ivps = InitialValueProblems::new(1);
    ivps.push(&[0.0, 2.0], &[1.0]).expect("a valid problem");
    let solver = Solver::new(tableau, control).expect("a valid solver");
    let mut field = with_parameters(BlowUp, &[1.0]);
    solve(&mut field, &solver, &ivps, &NoInputs, &mut Path::new()).expect_err("the solve fails")
}

#[test]
fn blow_up_is_found_where_it_is() {
    for tableau in [&DOPRI5, &HEUN] {
        let error = blow_up(tableau, Control::Adaptive(Adaptive::default()));
        let SolveError::StepTooSmall { at, floor } = &error else { panic!("{error}") };
        assert!((at.t - 1.0).abs() < 1e-6 && at.y[0] > 1e6 && at.h < *floor, "{error}");
    }
}

#[test]
fn blow_up_message_has_time_state_and_step() {
    let settings = Adaptive { min_step: 1e-3, ..Adaptive::with_tolerances(1e-3, 1e-3) };
    let error = blow_up(&HEUN, Control::Adaptive(settings));
    let at = error.at();
    assert_eq!(
        error.to_string(),
        format!(
            "the step size {} fell below its floor 0.002 at t = {}, y = [{}]",
            at.h, at.t, at.y[0]
        )
    );
    assert!(error.hint().contains("blow up"));
}

#[test]
fn overflow_on_a_grid_knows_its_column() {
    let mut ivps = InitialValueProblems::new(1);
    let times: Vec<f64> = (0..40).map(f64::from).collect();
    ivps.push(&times, &[-0.5]).expect("a valid problem");
    ivps.push(&times, &[1.0]).expect("a valid problem");
    let solver = Solver::new(&EULER, Control::Grid { substeps: 1 }).unwrap();
    let mut field = with_parameters(BlowUp, &[1.0]);
    let error = solve(&mut field, &solver, &ivps, &NoInputs, &mut Path::new()).unwrap_err();
    let text = error.to_string();
    assert!(matches!(&error, SolveError::DerivativeNotFinite(at) if at.column == 1), "{text}");
    let sentence = "the derivative is not finite at t = 10, y = [2.739245030860303e208]";
    assert_eq!(text, sentence);
}

#[test]
fn too_many_steps_message_has_the_time_reached() {
    let settings = Adaptive { max_steps: 7, first_step: Some(1e-3), ..Adaptive::default() };
    let error = blow_up(&DOPRI5, Control::Adaptive(settings));
    let at = error.at();
    assert!(at.t > 0.0 && at.t < 1.0);
    let sentence = format!(
        "7 steps did not reach t = 2; they ended at t = {}, y = [{}], with a step of {}",
        at.t, at.y[0], at.h
    );
    assert_eq!(error.to_string(), sentence);
}

/// Not a number from t = 1 on.
struct Broken;

impl Inputs for Broken {
    fn at(&self, _column: usize, t: f64, _step_start: f64, u: &mut [f64]) {
        u[0] = if t < 1.0 { 1.0 } else { f64::NAN };
    }
}

#[test]
fn a_derivative_that_stops_being_a_number_is_told_apart_from_a_small_step() {
    let mut ivps = InitialValueProblems::new(1);
    let solver = Solver::new(&DOPRI5, Control::Adaptive(Adaptive::default())).unwrap();
    let mut field = with_parameters(Integral, &[1.0]);
    for (start, message) in [
        (0.0, "the solution is not finite after a step of "),
        (1.5, "the derivative is not finite at t = 1.5, y = [0]"),
    ] {
        ivps.clear();
        ivps.push(&[start, 2.0], &[0.0]).expect("a valid problem");
        let error = solve(&mut field, &solver, &ivps, &Broken, &mut Path::new()).unwrap_err();
        assert!(error.to_string().starts_with(message), "{error}");
    }
}

#[test]
#[should_panic(expected = "one column per solve")]
fn adaptive_steps_refuse_two_columns() {
    let mut ivps = InitialValueProblems::new(1);
    ivps.push(&[0.0, 2.0], &[1.0]).expect("a valid problem");
    ivps.push(&[0.0, 2.0], &[1.0]).expect("a valid problem");
    let solver = Solver::new(&DOPRI5, Control::Adaptive(Adaptive::default())).unwrap();
    let mut field = with_parameters(BlowUp, &[1.0]);
    let _ = solve(&mut field, &solver, &ivps, &NoInputs, &mut Path::new());
}
