//! Adaptive steps by the error estimate, for one column.

use crate::control::{Adaptive, Controller};
use crate::error::SolveError;
use crate::solve::blocks::weighted;
use crate::solve::forward::Forward;

/// A step is stretched to the end if that is within this factor of its size.
const STRETCH: f64 = 1.01;

/// Solves to the last observation time in steps whose estimated error is within the tolerances.
pub(crate) fn adaptive(mut solve: Forward<'_>, settings: &Adaptive) -> Result<(), SolveError> {
    assert_eq!(solve.ivps.columns(), 1, "adaptive steps are for one column per solve");
    let (&[mut t, ..], &[.., t_end]) = (solve.ivps.times(0), solve.ivps.times(0)) else {
        unreachable!("an initial value problem has a start time");
    };
    if t >= t_end {
        solve.complete();
        return Ok(());
    }
    let tableau = solve.stepper.tableau;
    let embedded = tableau.embedded.expect("`Solver::new` refuses tableaus without error estimate");
    let mut control = Controller::new(*settings, embedded.order);
    let (length, fsal) = (t_end - t, tableau.is_fsal());

    solve.set_step(t, t);
    solve.begin_step(false);
    let mut h = match settings.first_step {
        Some(h) => h,
        None => first_step(&mut solve, settings, embedded.order, t, t_end)?,
    };
    let mut error = 0.0;
    let mut refusal = None;
    for _ in 0..settings.max_steps {
        // Steps end where the solve ends, or where the inputs break.
        let limit = solve.stepper.next_break(t).min(t_end);
        let reaches_limit = t + STRETCH * h >= limit;
        let end = if reaches_limit { limit } else { t + h };
        solve.set_step(t, end);
        let floor = settings.min_step * t.abs().max(length);
        if h < floor && !reaches_limit {
            return Err(if let Some(refused) = refusal {
                solve.refused(refused)
            } else if f64::is_finite(error) {
                SolveError::StepTooSmall { at: solve.moment(0), floor }
            } else {
                solve.not_finite()
            });
        }
        solve.advance();
        let size = end - t;
        refusal = solve.correct().err();
        if refusal.is_some() {
            solve.counts.rejected += 1;
            h = size * control.refuse();
            continue;
        }
        if fsal {
            solve.end();
        }
        error = estimate(&mut solve, settings, embedded.error);
        if error <= 1.0 {
            if !fsal && solve.observes_inside() {
                solve.end();
            }
            let reused = solve.record.end && solve.stepper.end_is_next_start();
            solve.finish_step(reused)?;
            if end >= t_end {
                solve.complete();
                return Ok(());
            }
            let next = size * control.accept(error);
            // The error of a step cut short by a break is no measure for the next one.
            h = if reaches_limit { next.max(h) } else { next };
            t = end;
            solve.set_step(t, t);
            solve.begin_step(reused);
        } else {
            solve.counts.rejected += 1;
            h = size * control.reject(error);
        }
    }
    solve.set_step(t, t + h);
    Err(SolveError::TooManySteps { at: solve.moment(0), max_steps: settings.max_steps, end: t_end })
}

/// Returns the error of the step in units of the tolerance; NaN if the state is not finite.
///
/// What a guard has changed counts as an error too: an end that is far from its laws is not moved
/// there, but reached in shorter steps.
fn estimate(solve: &mut Forward<'_>, settings: &Adaptive, weights: &[f64]) -> f64 {
    if !solve.is_finite() {
        return f64::NAN;
    }
    let work = &mut *solve.stepper.work;
    weighted(&mut work.stage, &work.h, weights, &work.k);
    let error = settings.norm(&work.stage, &work.y, &work.next);
    if work.guarded.corrected == 0 {
        return error;
    }
    let ends = work.next.iter().zip(&work.guarded.computed);
    work.stage.iter_mut().zip(ends).for_each(|(moved, (next, computed))| *moved = next - computed);
    let moved = settings.norm(&work.stage, &work.y, &work.next);
    if moved > error { moved } else { error }
}

/// Returns the first step, from the sizes of the state and its first two derivatives (Hairer,
/// Nørsett, Wanner, *Solving Ordinary Differential Equations I*, section II.4).
fn first_step(
    solve: &mut Forward<'_>,
    settings: &Adaptive,
    order: usize,
    t: f64,
    t_end: f64,
) -> Result<f64, SolveError> {
    let work = &*solve.stepper.work;
    let n = solve.stepper.d;
    let (size, slope) =
        (settings.norm(&work.y, &work.y, &work.y), settings.norm(&work.k[..n], &work.y, &work.y));
    if !slope.is_finite() {
        return Err(solve.not_finite());
    }
    let limit = solve.stepper.next_break(t).min(t_end) - t;
    let small = size < 1e-5 || slope < 1e-5;
    let guess = if small { 1e-6 } else { 0.01 * size / slope }.min(limit);

    // An explicit Euler step estimates the second derivative.
    solve.set_step(t, t + guess);
    let slot = solve.record.inner_slot();
    solve.stepper.probe(slot);
    let work = &mut *solve.stepper.work;
    let (before, after) = (&work.k[..n], &work.k[n..2 * n]);
    for ((change, before), after) in work.stage.iter_mut().zip(before).zip(after) {
        *change = after - before;
    }
    let bend = settings.norm(&work.stage, &work.y, &work.y) / guess;
    let largest = slope.max(bend);
    let h = if largest <= 1e-15 {
        (1e-3 * guess).max(1e-6)
    } else {
        (0.01 / largest).powf(1.0 / (order + 1) as f64)
    };
    Ok(if h.is_finite() { h.min(100.0 * guess).min(t_end - t) } else { guess })
}
