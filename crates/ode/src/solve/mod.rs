//! From courses to a path: on the data's grid, adaptively, or along steps taken before.

mod adaptive;
pub(crate) mod blocks;
mod forward;
mod grid;
pub(crate) mod log;
mod method;
pub(crate) mod replay;
pub(crate) mod step;
mod tape;
pub(crate) mod workspace;

pub use method::Method;

use crate::control::Control;
use crate::courses::Courses;
use crate::error::SolveError;
use crate::field::VectorField;
use crate::inputs::Inputs;
use crate::path::Path;
use forward::{Forward, Slots};

/// Solves the courses, and records what [`pull_back`](crate::pull_back) needs.
///
/// # Errors
/// If the solution stops being finite, or an adaptive solve runs out of step size or steps.
///
/// # Panics
/// If the courses' states have another length than the field's, if the field is only a part of one
/// (fewer outputs than state variables), or if an adaptive solve is asked
/// for another number of columns than one.
pub fn solve(
    field: &mut dyn VectorField,
    method: &Method,
    courses: &Courses,
    inputs: &dyn Inputs,
    path: &mut Path,
) -> Result<(), SolveError> {
    run(field, method, courses, inputs, path, true)
}

/// Solves the courses without recording: the values of [`solve`], and no way back.
///
/// Memory is needed for the observations and one step only, however long the path is.
///
/// # Errors
/// As [`solve`].
///
/// # Panics
/// As [`solve`].
pub fn predict(
    field: &mut dyn VectorField,
    method: &Method,
    courses: &Courses,
    inputs: &dyn Inputs,
    path: &mut Path,
) -> Result<(), SolveError> {
    run(field, method, courses, inputs, path, false)
}

fn run(
    field: &mut dyn VectorField,
    method: &Method,
    courses: &Courses,
    inputs: &dyn Inputs,
    path: &mut Path,
    recording: bool,
) -> Result<(), SolveError> {
    match method.control() {
        Control::Grid { substeps } => {
            let slots = Slots::Grid(courses.intervals() * substeps);
            let solve = Forward::new(field, method, courses, inputs, path, slots, recording);
            grid::grid(solve, substeps)
        }
        Control::Adaptive(settings) => {
            let slots = Slots::WithEnd(None);
            let solve = Forward::new(field, method, courses, inputs, path, slots, recording);
            adaptive::adaptive(solve, &settings)
        }
    }
}

/// Solves the courses with exactly the steps of a recorded path, whatever the error is now.
///
/// The gradient of [`pull_back`](crate::pull_back) holds the steps fixed; differences of two replays
/// are what it is to be compared with.
///
/// # Errors
/// If the solution stops being finite.
///
/// # Panics
/// If `recorded` does not come from a finished [`solve`], or was solved for other courses.
pub fn replay(
    field: &mut dyn VectorField,
    method: &Method,
    courses: &Courses,
    inputs: &dyn Inputs,
    recorded: &Path,
    path: &mut Path,
) -> Result<(), SolveError> {
    let log = &recorded.log;
    assert!(log.complete, "only a path from a finished `solve` can be replayed");
    assert_eq!(recorded.columns(), courses.columns(), "replay is for the same courses");
    let steps = log.records.len();
    let with_end = log.records.iter().any(|record| record.end);
    let slots = if with_end { Slots::WithEnd(Some(steps)) } else { Slots::Grid(steps) };
    let solve = Forward::new(field, method, courses, inputs, path, slots, true);
    replay::replay(solve, log)
}
