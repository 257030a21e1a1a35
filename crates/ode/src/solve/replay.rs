//! Repeats the steps of a recorded path.

use crate::error::SolveError;
use crate::solve::forward::Forward;
use crate::solve::log::Log;
use crate::solve::step::Stepper;

/// Repeats the steps of a recorded path without step-size control.
pub(crate) fn replay(mut solve: Forward<'_>, recorded: &Log) -> Result<(), SolveError> {
    let mut first = 0;
    for (index, record) in recorded.records.iter().enumerate() {
        let steps = recorded.steps[first..][..record.columns].iter().copied();
        solve.stepper.work.set_steps(solve.stepper.d, steps);
        first += record.columns;
        solve.begin_step(record.reused);
        solve.advance();
        solve.correct().map_err(|refused| solve.refused(refused))?;
        if !solve.is_finite() {
            return Err(solve.not_finite());
        }
        if record.end {
            solve.end();
        }
        solve.finish_step(recorded.records.get(index + 1).is_some_and(|next| next.reused))?;
    }
    solve.complete();
    Ok(())
}

/// Evaluates a checkpoint block again, into the same slots, from its checkpoint.
pub(crate) fn recompute(stepper: &mut Stepper<'_>, log: &mut Log, block: usize) {
    let mut guarded = std::mem::take(&mut log.guarded);
    guarded.clear();
    let records = &log.records[log.records_of(block)];
    let start = &log.checkpoint_blocks[block];
    let mut first = start.first_step;
    for (index, record) in records.iter().enumerate() {
        let work = &mut *stepper.work;
        work.set_steps(stepper.d, log.steps[first..][..record.columns].iter().copied());
        first += record.columns;
        if index == 0 {
            let n = record.columns * stepper.d;
            let (y, k) = log.checkpoints[start.checkpoint..].split_at(n);
            work.y[..n].copy_from_slice(y);
            if record.reused {
                work.k[..n].copy_from_slice(&k[..n]);
            }
        }
        if !record.reused {
            stepper.start(record.slot);
        }
        stepper.advance(record.inner_slot());
        stepper.correct().expect("a guard accepts what it has accepted before");
        if record.end {
            stepper.end(record.end_slot(stepper.own));
        }
        stepper.save(record.inside, &mut guarded);
        stepper.move_on(records.get(index + 1).is_some_and(|next| next.reused));
    }
    log.guarded = guarded;
}
