//! Steps on the problems' grid: all columns together, each interval divided into equal steps.

use crate::error::SolveError;
use crate::path::Step;
use crate::solve::forward::Forward;

/// Takes `substeps` steps in each interval between nodes. Where observations lie inside a step, the
/// derivative at its end is computed, with which the next step begins.
pub(crate) fn grid(mut solve: Forward<'_>, substeps: usize) -> Result<(), SolveError> {
    let ivps = solve.ivps;
    let (intervals, dense) = (ivps.intervals(), ivps.observes_between());
    let mut reused = false;
    for interval in 0..intervals {
        let columns = ivps.active(interval);
        for substep in 0..substeps {
            let steps = (0..columns).map(|column| {
                let nodes = ivps.nodes(column);
                cut(nodes[interval], nodes[interval + 1], substep, substeps)
            });
            solve.stepper.work.set_steps(solve.stepper.d, steps);
            solve.begin_step(reused);
            solve.advance();
            solve.correct().map_err(|refused| solve.refused(refused))?;
            if !solve.is_finite() {
                return Err(solve.not_finite());
            }
            reused = false;
            if dense && solve.observes_inside() {
                solve.end();
                let last = substep + 1 == substeps && interval + 1 == intervals;
                reused = !last && solve.stepper.end_is_next_start();
            }
            solve.finish_step(reused)?;
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
