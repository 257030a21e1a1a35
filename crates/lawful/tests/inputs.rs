//! Inputs from the rows of the data, held or on straight lines, against integrals worked by hand.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use lawful::ode::TABLEAUS;
use lawful::strategy::Vanilla;
use lawful::{
    Control, Dataset, Equations, Interpolation, Objective, Problem, Recorded, Segment, Solver,
    Tableau, Trajectory,
};

/// `x' = u`: the solution is the integral of the input.
#[derive(Clone)]
struct Integral;

impl Equations for Integral {
    fn state_len(&self) -> usize {
        1
    }

    fn input_len(&self) -> usize {
        1
    }

    fn parameter_len(&self) -> usize {
        0
    }

    fn eval(&mut self, _: &[f64], _: f64, _: &[f64], u: &[f64], dy: &mut [f64]) {
        dy[0] = u[0];
    }

    fn pull_back(
        &mut self,
        _: &[f64],
        _: f64,
        _: &[f64],
        _: &[f64],
        _: &[f64],
        _: &mut [f64],
        _: &mut [f64],
    ) {
    }
}

const TIMES: [f64; 5] = [0.0, 1.0, 1.5, 4.0, 5.0];
const INPUTS: [f64; 5] = [2.0, -1.0, 3.0, 0.0, 8.0];

/// The solution on rows `first..`, from 0.
fn solved(solver: Solver, interpolation: Interpolation, first: usize) -> (Vec<f64>, usize) {
    let states = vec![0.0; TIMES.len()];
    let trajectory = Trajectory {
        inputs: INPUTS.to_vec().into(),
        ..Trajectory::new("1", TIMES.to_vec(), states)
    };
    let data = Dataset::new(vec!["x".into()], vec!["u".into()], vec![trajectory]).unwrap();
    let problem = Problem { interpolation, ..Problem::new(data, Vec::new()) };
    let field = Box::new(Recorded::new(Integral));
    let mut objective = Objective::new(problem, field, solver, Box::new(Vanilla)).unwrap();
    objective.select(&[Segment { trajectory: 0, first, rows: TIMES.len() - first }]);
    objective.evaluate(&[], 0).unwrap();
    (objective.predicted(0).to_vec(), objective.field_evaluations())
}

/// Rectangles of the value before, or trapezia.
fn integral(interpolation: Interpolation, first: usize) -> Vec<f64> {
    let mut sums = vec![0.0];
    for n in first..TIMES.len() - 1 {
        let height = match interpolation {
            Interpolation::Previous => INPUTS[n],
            Interpolation::Linear => f64::midpoint(INPUTS[n], INPUTS[n + 1]),
        };
        sums.push(sums.last().unwrap() + height * (TIMES[n + 1] - TIMES[n]));
    }
    sums
}

#[test]
fn the_integral_of_the_input_is_exact_for_every_method() {
    for tableau in TABLEAUS {
        for substeps in [1, 3] {
            for (_, interpolation) in Interpolation::NAMES {
                // Euler knows only the start of a step, so it cannot follow a line.
                if tableau.order == 1 && interpolation == Interpolation::Linear {
                    continue;
                }
                for first in [0, 2] {
                    let solver = Solver::new(tableau, Control::Grid { substeps }).unwrap();
                    let error = common::relative_error(
                        &integral(interpolation, first),
                        &solved(solver, interpolation, first).0,
                    );
                    assert!(
                        error < 1e-14,
                        "{} {interpolation:?} from {first}: {error:e}",
                        tableau.name
                    );
                }
            }
        }
    }
}

#[test]
fn adaptive_steps_end_where_an_input_breaks_and_are_exact_between() {
    // An embedded method of order 1 (heun's) sees an error where the input is a line.
    let exact = |tableau: &Tableau| tableau.embedded.is_some_and(|embedded| embedded.order > 1);
    for tableau in TABLEAUS.iter().filter(|tableau| exact(tableau)) {
        for (_, interpolation) in Interpolation::NAMES {
            for first in [0, 2] {
                let solver = Solver::new(tableau, common::adaptive(1e-9)).unwrap();
                let (found, evaluations) = solved(solver, interpolation, first);
                let error = common::relative_error(&integral(interpolation, first), &found);
                assert!(
                    error < 1e-14,
                    "{} {interpolation:?} from {first}: {error:e}",
                    tableau.name
                );
                // Stumbling over a break would cost dozens of rejected steps.
                assert!(evaluations < 150, "{} {interpolation:?}: {evaluations}", tableau.name);
            }
        }
    }
}
