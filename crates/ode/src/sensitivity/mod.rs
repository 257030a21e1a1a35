//! Forward sensitivities of a solve: the derivatives of all observed states, along the steps that were taken.
//!
//! They are the derivatives of the computed numbers with respect to θ and the initial state, at fixed step
//! sizes: the matrix J of which [`pull_back`](crate::pull_back) computes `Jᵀw`. The adjoint is cheaper for
//! one covector and many parameters; sensitivities are for least squares, which need all rows of J. The
//! tangent of a single step is in `tangent.rs`, that of a step with a guard in `guarded.rs`.

mod guarded;
mod tangent;

use crate::field::VectorField;
use crate::initial_value_problems::InitialValueProblems;
use crate::inputs::Inputs;
use crate::path::{Path, Step};
use crate::solve::Solver;
use crate::solve::guarded::GuardedStates;
use crate::solve::replay::recompute;
use crate::solve::step::Stepper;
pub(crate) use tangent::Tangents;

/// Returns the length of the matrix that [`sensitivities`] writes: all observed values times (parameters +
/// effects + state variables).
pub fn sensitivities_len(field: &dyn VectorField, ivps: &InitialValueProblems) -> usize {
    let d = field.state_len();
    ivps.observations() * d * (field.parameter_len() + field.effect_len() + d)
}

/// Writes the derivatives of every observed state with respect to `(θ, e, y_0)`, with e the effects and y₀ the
/// initial state of its own column.
///
/// The matrix is row-major, with one row for each number of [`Path::all_observed`] in the same order, and a
/// column for each parameter, then for each effect, then for each variable of the initial state. Field, solver, initial value
/// problems and inputs are those of the solve, θ unchanged, and no pull-back is pending in the field. It may
/// be called several times for one path, and allocates only at its largest use. If the field has evaluated
/// anything else in between, call [`Path::lose_tape`] first.
///
/// The cost of a step of s stages is s times (state² · parameters) for each column, and a pull-back for each
/// variable and column.
///
/// # Panics
/// If the path does not come from a finished [`solve`](crate::solve()), or the length is not
/// [`sensitivities_len`].
pub fn sensitivities(
    field: &mut dyn VectorField,
    solver: &Solver,
    ivps: &InitialValueProblems,
    inputs: &dyn Inputs,
    path: &mut Path,
    matrix: &mut [f64],
) {
    assert!(path.log.complete, "only a path from a finished `solve` has sensitivities");
    assert_eq!(matrix.len(), sensitivities_len(field, ivps), "one row per observed value");
    let columns = ivps.columns();
    let own = (field.parameter_len(), field.effect_len());
    let Path { log, work, tangents, .. } = path;
    let mut stepper = Stepper::new(field, inputs, solver.tableau(), work);
    let d = stepper.d;
    if stepper.guarded {
        stepper.work.guarded.prepare_back(columns, d);
    }
    tangents.prepare(columns, d, own, stepper.own);
    stepper.work.rows.clear();
    stepper.work.rows.resize(columns, 1);
    for column in 0..columns {
        let start = ivps.rows(column).start * tangents.len();
        matrix[start..][..tangents.len()].copy_from_slice(tangents.state(column));
    }

    let mut first = 0;
    let blocks = log.checkpoint_blocks.len();
    for block in 0..blocks {
        // The tape of the last block survives only if no other one is computed again.
        if blocks > 1 || log.on_tape != Some(block) {
            recompute(&mut stepper, log, block);
        }
        log.on_tape = Some(block);
        let mut saved = log.guarded.as_slice();
        for record in &log.records[log.records_of(block)] {
            stepper.work.set_steps(d, log.steps[first..][..record.columns].iter().copied());
            first += record.columns;
            tangents.advance(&mut stepper, record);
            let states = stepper.guarded.then(|| {
                let n = stepper.len();
                let len = GuardedStates::saved_len(n, stepper.saved_stages(record.inside));
                let (own, after) = saved.split_at(len);
                saved = after;
                GuardedStates::saved(own, n)
            });
            if let Some(states) = &states {
                guarded::correct(tangents, &mut stepper, states);
            }
            if record.end {
                tangents.end(&mut stepper, record);
            }
            observe(tangents, &mut stepper, ivps, states.as_ref(), matrix);
            tangents.move_on(stepper.work.steps.len(), record.end);
        }
    }
}

/// Writes the rows of the observations in `(start, end]` of each column.
fn observe(
    tangents: &mut Tangents,
    stepper: &mut Stepper<'_>,
    ivps: &InitialValueProblems,
    states: Option<&GuardedStates<'_>>,
    matrix: &mut [f64],
) {
    let len = tangents.len();
    for column in 0..stepper.work.steps.len() {
        let Step { start, end } = stepper.work.steps[column];
        let (times, offset) = (ivps.times(column), ivps.rows(column).start);
        while let row = stepper.work.rows[column]
            && row < times.len()
            && times[row] <= end
        {
            let rows = &mut matrix[(offset + row) * len..][..len];
            let theta = (times[row] - start) / (end - start);
            match states {
                _ if times[row] >= end => rows.copy_from_slice(tangents.end_state(column)),
                None => {
                    let weights = &mut stepper.work.weights;
                    stepper.tableau.dense_weights(theta, weights);
                    tangents.inside(column, end - start, weights, rows);
                }
                Some(states) => {
                    guarded::inside(tangents, stepper, states, (column, theta), rows);
                }
            }
            stepper.work.rows[column] += 1;
        }
    }
}
