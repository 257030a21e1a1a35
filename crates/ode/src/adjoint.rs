//! The discrete adjoint of a solve, along the steps that were taken.
//!
//! It differentiates the computed numbers, not the differential equation: for covectors w of the
//! observed states it returns `Jᵀw`, J the Jacobian of the observed states of
//! [`solve`](crate::solve()) with respect to the initial states and θ, at fixed step sizes. An
//! observation inside a step is `y(t_n + ϑh) = y_n + h Σ b_i(ϑ) k_i`, so its covector w adds w to
//! the adjoint of `y_n` and `h b_i(ϑ) w` to `k̄_i`. The adjoint of a single step is in
//! `solve/step.rs`.

use crate::field::VectorField;
use crate::initial_value_problems::InitialValueProblems;
use crate::inputs::Inputs;
use crate::path::Path;
use crate::solve::Solver;
use crate::solve::blocks::{add, spread_column};
use crate::solve::guarded::{self, GuardedStates};
use crate::solve::replay::recompute;
use crate::solve::step::Stepper;
use crate::solve::workspace::Workspace;

/// Adds the gradient of `Σ observed_bar · observed` to `initial_bar` and `theta_bar`.
///
/// `observed_bar` is laid out as [`Path::all_observed`], `initial_bar` as
/// [`InitialValueProblems::initial`]. Field, solver, initial value problems and inputs are those of
/// the solve, θ unchanged. It may be called several times for one path. If the field has evaluated
/// anything else in between, call [`Path::lose_tape`] first.
///
/// # Panics
/// If the path does not come from a finished [`solve`](crate::solve()), or a length is wrong.
#[expect(clippy::too_many_arguments, reason = "the solve's arguments, the covector, both results")]
pub fn pull_back(
    field: &mut dyn VectorField,
    solver: &Solver,
    ivps: &InitialValueProblems,
    inputs: &dyn Inputs,
    path: &mut Path,
    observed_bar: &[f64],
    initial_bar: &mut [f64],
    theta_bar: &mut [f64],
) {
    assert!(path.log.complete, "only a path from a finished `solve` has an adjoint");
    assert_eq!(observed_bar.len(), path.observed.len(), "one covector per observed state");
    assert_eq!(initial_bar.len(), ivps.initial().len(), "one result per initial value");
    assert_eq!(theta_bar.len(), field.parameter_len(), "one result per parameter");
    let columns = ivps.columns();
    let Path { log, work, .. } = path;
    let mut stepper = Stepper::new(field, inputs, solver.tableau(), work);
    let d = stepper.d;
    stepper.work.prepare_back(columns, d, stepper.own);
    if stepper.guarded {
        stepper.work.guarded.prepare_back(columns, d);
    }
    for column in 0..columns {
        stepper.work.rows[column] = ivps.times(column).len() - 1;
    }

    let mut first = log.steps.len();
    let mut reused_by_next = false;
    for block in (0..log.checkpoint_blocks.len()).rev() {
        if log.on_tape != Some(block) {
            recompute(&mut stepper, log, block);
        }
        log.on_tape = None;
        let mut saved = log.guarded.as_slice();
        for record in log.records[log.records_of(block)].iter().rev() {
            first -= record.columns;
            stepper.work.set_steps(d, log.steps[first..][..record.columns].iter().copied());
            let states = stepper.guarded.then(|| {
                let n = stepper.len();
                let len = GuardedStates::saved_len(n, stepper.saved_stages(record.inside));
                let (before, own) = saved.split_at(saved.len() - len);
                saved = before;
                GuardedStates::saved(own, n)
            });
            gather(&mut stepper, ivps, observed_bar, reused_by_next, states.as_ref());
            stepper.pull_back(record, states.as_ref());
            reused_by_next = record.reused;
        }
    }
    for column in 0..columns {
        let initial_bar = &mut initial_bar[column * d..][..d];
        add(initial_bar, &stepper.work.y_bar[column * d..][..d]);
        add(initial_bar, &observed_bar[ivps.rows(column).start * d..][..d]);
    }
    stepper.flush(theta_bar);
}

/// Adds up the adjoints that the observations in `(start, end]` and the next step pass to this
/// step.
fn gather(
    stepper: &mut Stepper<'_>,
    ivps: &InitialValueProblems,
    observed_bar: &[f64],
    reused_by_next: bool,
    states: Option<&GuardedStates<'_>>,
) {
    let (n, d, own, tableau) = (stepper.len(), stepper.d, stepper.own, stepper.tableau);
    let work = &mut *stepper.work;
    work.start_bar[..n].fill(0.0);
    let (own_bar, end_bar) = work.k_bar[..(own + 1) * n].split_at_mut(own * n);
    own_bar.fill(0.0);
    if reused_by_next {
        end_bar.copy_from_slice(&work.carried_bar[..n]);
    } else {
        end_bar.fill(0.0);
    }
    if let Some(states) = states {
        gather_guarded(stepper, ivps, observed_bar, states);
        return;
    }
    for (column, step) in work.steps.iter().enumerate() {
        let times = ivps.times(column);
        let offset = ivps.rows(column).start;
        let row = &mut work.rows[column];
        while *row > 0 && times[*row] > step.start {
            let bar = &observed_bar[(offset + *row) * d..][..d];
            if times[*row] < step.end {
                let theta = (times[*row] - step.start) / step.size();
                tableau.dense_weights(theta, &mut work.weights);
                let first = column * d;
                add(&mut work.start_bar[first..][..d], bar);
                spread_column(&mut work.k_bar[first..], step.size(), &work.weights, bar, n);
            } else {
                add(&mut work.y_bar[column * d..][..d], bar);
            }
            *row -= 1;
        }
    }
}

/// The observations' part of [`gather`] for a field with a guard.
fn gather_guarded(
    stepper: &mut Stepper<'_>,
    ivps: &InitialValueProblems,
    observed_bar: &[f64],
    states: &GuardedStates<'_>,
) {
    let Stepper { d, tableau, ref mut field, ref mut work, .. } = *stepper;
    let guard = guarded::guard(&mut **field);
    let Workspace { steps, rows, y_bar, k_bar, start_bar, guarded, .. } = &mut **work;
    for (column, &step) in steps.iter().enumerate() {
        let (times, offset) = (ivps.times(column), ivps.rows(column).start);
        let cells = column * d..(column + 1) * d;
        let (start_bar, end_bar) = (&mut start_bar[cells.clone()], &mut y_bar[cells]);
        let guarded_step = states.step(column, step, d);
        let (row, inside) = (&mut rows[column], &mut guarded.inside);
        let mut is_set = false;
        while *row > 0 && times[*row] > step.start {
            let bar = &observed_bar[(offset + *row) * d..][..d];
            if times[*row] < step.end {
                if !is_set {
                    let set = inside.set(guard, tableau, states, (column, step.size()));
                    set.expect("a dense output that was finite before");
                    is_set = true;
                }
                let theta = (times[*row] - step.start) / step.size();
                inside.pull_back_value(guard, &guarded_step, theta, bar);
            } else {
                add(end_bar, bar);
            }
            *row -= 1;
        }
        if is_set {
            let bars = (start_bar, end_bar, &mut k_bar[..]);
            inside.pull_back_set(guard, tableau, states, (column, step.size()), bars);
        }
    }
}
