//! The tangent of what a guard does in a step, by the guard's own pull-backs of unit covectors: row i of the
//! result's matrix is the adjoint of variable i, times the matrices of everything it depends on.

use super::Tangents;
use crate::solve::guarded::{self, GuardedStates};
use crate::solve::step::Stepper;

/// `S_{n+1} = (∂C/∂y_n) S_n + (∂C/∂ỹ) S̃` in every column.
pub(super) fn correct(
    tangents: &mut Tangents,
    stepper: &mut Stepper<'_>,
    states: &GuardedStates<'_>,
) {
    let (d, width) = (stepper.d, tangents.width());
    let guard = guarded::guard(stepper.field);
    for (column, &step) in stepper.work.steps.iter().enumerate() {
        let guarded_step = states.step(column, step, d);
        let mut bars = std::mem::take(&mut tangents.bars);
        for (variable, row) in bars.corrected.chunks_exact_mut(width).enumerate() {
            bars.unit.fill(0.0);
            bars.unit[variable] = 1.0;
            bars.start.fill(0.0);
            bars.end.fill(0.0);
            let end = states.end(column, d);
            guard.pull_back(&guarded_step, end, &bars.unit, &mut bars.start, &mut bars.end);
            row.fill(0.0);
            add_rows(row, &bars.start, tangents.state(column));
            add_rows(row, &bars.end, tangents.end_state(column));
        }
        tangents.end_state_mut(column).copy_from_slice(&bars.corrected);
        tangents.bars = bars;
    }
}

/// Writes the sensitivity of the dense output at ϑ inside a column's step.
pub(super) fn inside(
    tangents: &mut Tangents,
    stepper: &mut Stepper<'_>,
    states: &GuardedStates<'_>,
    (column, theta): (usize, f64),
    rows: &mut [f64],
) {
    let (d, own, tableau, width) = (stepper.d, stepper.own, stepper.tableau, tangents.width());
    let n = stepper.len();
    let step = stepper.work.steps[column];
    let guard = guarded::guard(stepper.field);
    let inside = &mut stepper.work.guarded.inside;
    let guarded_step = states.step(column, step, d);
    let mut bars = std::mem::take(&mut tangents.bars);
    for (variable, row) in rows.chunks_exact_mut(width).enumerate() {
        let set = inside.set(guard, tableau, states, (column, step.size()));
        set.expect("a dense output that was finite before");
        bars.unit.fill(0.0);
        bars.unit[variable] = 1.0;
        for bar in [&mut bars.start, &mut bars.end, &mut bars.k] {
            bar.fill(0.0);
        }
        inside.pull_back_value(guard, &guarded_step, theta, &bars.unit);
        let adjoints = (&mut bars.start[..], &mut bars.end[..], &mut bars.k[..]);
        inside.pull_back_set(guard, tableau, states, (column, step.size()), adjoints);
        row.fill(0.0);
        add_rows(row, &bars.start, tangents.state(column));
        add_rows(row, &bars.end, tangents.end_state(column));
        for stage in 0..=own {
            let bar = &bars.k[stage * n + column * d..][..d];
            add_rows(row, bar, tangents.stage(stage, column));
        }
    }
    tangents.bars = bars;
}

/// `row += Σ_i bar_i · row i of the matrix`.
fn add_rows(row: &mut [f64], bar: &[f64], matrix: &[f64]) {
    for (bar, matrix) in bar.iter().zip(matrix.chunks_exact(row.len())) {
        row.iter_mut().zip(matrix).for_each(|(sum, x)| *sum += bar * x);
    }
}
