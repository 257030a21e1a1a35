//! Solves initial value problems: on the data's grid, adaptively, or along recorded steps.

mod adaptive;
pub(crate) mod blocks;
mod forward;
mod grid;
pub(crate) mod guarded;
pub(crate) mod log;
pub(crate) mod replay;
mod solver;
pub(crate) mod step;
mod tape;
pub(crate) mod workspace;

pub use solver::Solver;

use crate::control::Control;
use crate::error::SolveError;
use crate::field::VectorField;
use crate::initial_value_problems::InitialValueProblems;
use crate::inputs::Inputs;
use crate::path::Path;
use forward::{Forward, Slots};

/// Solves the initial value problems, and records what [`pull_back`](crate::pull_back) needs.
///
/// # Errors
/// If the solution stops being finite, or an adaptive solve runs out of step size or steps.
///
/// # Panics
/// If the initial states have another length than the field's, if the field has fewer outputs than
/// state variables, or if an adaptive solve has another number of columns than one.
pub fn solve(
    field: &mut dyn VectorField,
    solver: &Solver,
    ivps: &InitialValueProblems,
    inputs: &dyn Inputs,
    path: &mut Path,
) -> Result<(), SolveError> {
    run(field, solver, ivps, inputs, path, true)
}

/// Solves the initial value problems without recording: the values of [`solve`], without an
/// adjoint.
///
/// Memory is needed for the observations and one step only, for any length of the path.
///
/// # Errors
/// As [`solve`].
///
/// # Panics
/// As [`solve`].
pub fn predict(
    field: &mut dyn VectorField,
    solver: &Solver,
    ivps: &InitialValueProblems,
    inputs: &dyn Inputs,
    path: &mut Path,
) -> Result<(), SolveError> {
    run(field, solver, ivps, inputs, path, false)
}

fn run(
    field: &mut dyn VectorField,
    solver: &Solver,
    ivps: &InitialValueProblems,
    inputs: &dyn Inputs,
    path: &mut Path,
    recording: bool,
) -> Result<(), SolveError> {
    match solver.control() {
        Control::Grid { substeps } => {
            let steps = ivps.intervals() * substeps;
            let dense = ivps.observes_between();
            let slots = if dense { Slots::WithEnd(Some(steps)) } else { Slots::Grid(steps) };
            let solve = Forward::new(field, solver, ivps, inputs, path, slots, recording);
            grid::grid(solve, substeps)
        }
        Control::Adaptive(settings) => {
            let slots = Slots::WithEnd(None);
            let solve = Forward::new(field, solver, ivps, inputs, path, slots, recording);
            adaptive::adaptive(solve, &settings)
        }
    }
}

/// Solves the initial value problems with exactly the steps of a recorded path, without step-size
/// control.
///
/// [`pull_back`](crate::pull_back) differentiates at fixed steps: its gradient is to be compared
/// with finite differences of replays.
///
/// # Errors
/// If the solution stops being finite.
///
/// # Panics
/// If `recorded` does not come from a finished [`solve`], or has another number of columns.
pub fn replay(
    field: &mut dyn VectorField,
    solver: &Solver,
    ivps: &InitialValueProblems,
    inputs: &dyn Inputs,
    recorded: &Path,
    path: &mut Path,
) -> Result<(), SolveError> {
    let log = &recorded.log;
    assert!(log.complete, "only a path from a finished `solve` can be replayed");
    assert_eq!(recorded.columns(), ivps.columns(), "replay is for the same initial value problems");
    let steps = log.records.len();
    let with_end = log.records.iter().any(|record| record.end);
    let slots = if with_end { Slots::WithEnd(Some(steps)) } else { Slots::Grid(steps) };
    let solve = Forward::new(field, solver, ivps, inputs, path, slots, true);
    replay::replay(solve, log)
}
