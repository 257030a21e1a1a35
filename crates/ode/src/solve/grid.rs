//! Steps on the data's grid: all columns together, each interval divided into equal steps.

use crate::error::SolveError;
use crate::path::Step;
use crate::solve::forward::Forward;

/// Takes `substeps` steps in each interval between observations.
pub(crate) fn grid(mut solve: Forward<'_>, substeps: usize) -> Result<(), SolveError> {
    let ivps = solve.ivps;
    for interval in 0..ivps.intervals() {
        let columns = ivps.active(interval);
        for substep in 0..substeps {
            let steps = (0..columns).map(|column| {
                let times = ivps.times(column);
                cut(times[interval], times[interval + 1], substep, substeps)
            });
            solve.stepper.work.set_steps(solve.stepper.d, steps);
            solve.begin_step(false);
            solve.advance();
            solve.correct().map_err(|refused| solve.refused(refused))?;
            if !solve.is_finite() {
                return Err(solve.not_finite());
            }
            solve.finish_step(false)?;
        }
    }
    solve.complete();
    Ok(())
}

/// Returns one of `substeps` equal parts of `[start, end]`; the last one ends exactly there.
fn cut(start: f64, end: f64, substep: usize, substeps: usize) -> Step {
    let at = |part: usize| {
        if part == substeps { end } else { start + (end - start) * (part as f64 / substeps as f64) }
    };
    Step { start: at(substep), end: at(substep + 1) }
}
