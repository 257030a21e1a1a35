//! A solve of a field with linear laws, and its adjoint, allocate nothing the second time.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "common/counting.rs"]
mod counting;
mod linear_support;

use counting::allocations;
use lawful::ode::{InitialValueProblems, NoInputs, Path, pull_back, solve, tableaus};
use lawful::{Adaptive, Control, Solver};
use linear_support::CASES;

#[test]
fn the_second_iteration_allocates_nothing() {
    let adaptive = Control::Adaptive(Adaptive::with_tolerances(1e-3, 1e-3));
    for case in &CASES {
        for control in [Control::Grid { substeps: 2 }, adaptive] {
            for memory in [Solver::MEMORY, 20_000] {
                let solver = Solver::new(&tableaus::DOPRI5, control).unwrap().with_memory(memory);
                let (mut field, theta) = case.field(1, 0.7);
                let mut ivps = InitialValueProblems::new(case.d());
                let times: Vec<f64> = (0..40).map(|i| 0.05 * f64::from(i)).collect();
                ivps.push(&times, case.initial[0]).unwrap();
                let mut path = Path::new();
                let w = vec![1.0; times.len() * case.d()];
                let (mut y_bar, mut theta_bar) = (vec![0.0; case.d()], vec![0.0; theta.len()]);
                let mut counts = [0; 3];
                for count in &mut counts {
                    let before = allocations();
                    field.set_parameters(&theta);
                    solve(&mut *field, &solver, &ivps, &NoInputs, &mut path).unwrap();
                    pull_back(
                        &mut *field,
                        &solver,
                        &ivps,
                        &NoInputs,
                        &mut path,
                        &w,
                        &mut y_bar,
                        &mut theta_bar,
                    );
                    *count = allocations() - before;
                }
                assert_eq!(counts[1..], [0, 0], "{} {control:?} {memory}", case.name);
            }
        }
    }
}
