//! The parts that grid, adaptive and replayed solves share: slots, records, observations, checks.

use crate::error::{Moment, SolveError};
use crate::field::VectorField;
use crate::guard::Refused;
use crate::initial_value_problems::InitialValueProblems;
use crate::inputs::Inputs;
use crate::path::{Counts, Path, Step};
use crate::solve::blocks::combine_column;
use crate::solve::guarded::{self, GuardedStates};
use crate::solve::log::{Log, Record};
use crate::solve::solver::Solver;
use crate::solve::step::Stepper;
use crate::solve::tape::{Room, Tape};
use crate::solve::workspace::Workspace;

/// A solve in progress.
pub(crate) struct Forward<'a> {
    pub(crate) stepper: Stepper<'a>,
    pub(crate) ivps: &'a InitialValueProblems,
    pub(crate) counts: &'a mut Counts,
    /// The current step.
    pub(crate) record: Record,
    log: &'a mut Log,
    observed: &'a mut [f64],
    tape: Tape,
    /// Slots of a step whose first stage is reused.
    slots: usize,
    /// Values that a guarded step saves, per slot.
    saved_per_slot: usize,
    /// Whether to record what the adjoint needs.
    recording: bool,
}

/// Number of slots that a solve needs.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Slots {
    /// Steps of own stages only, this many.
    Grid(usize),
    /// Steps with an end stage, this many if known.
    WithEnd(Option<usize>),
}

/// Steps for which an adaptive solve reserves slots at first.
const FIRST_STEPS: usize = 32;

impl<'a> Forward<'a> {
    pub(crate) fn new(
        field: &'a mut dyn VectorField,
        solver: &Solver,
        ivps: &'a InitialValueProblems,
        inputs: &'a dyn Inputs,
        path: &'a mut Path,
        slots: Slots,
        recording: bool,
    ) -> Self {
        let (columns, d, m) = (ivps.columns(), field.state_len(), field.input_len());
        assert_eq!(ivps.state_len(), d, "initial states and field have different lengths");
        assert_eq!(field.output_len(), d, "a field needs a rate for each state variable");
        path.begin(ivps, d);
        let Path { observed, log, work, counts, .. } = path;
        let own = solver.tableau().own_stages();
        work.prepare(columns, d, m, own);
        work.y.copy_from_slice(ivps.initial());

        let (per_step, wanted) = match slots {
            Slots::Grid(steps) => (own, steps * own),
            Slots::WithEnd(Some(steps)) => (own + 1, steps * (own + 1)),
            Slots::WithEnd(None) => (own + 1, log.room.max(FIRST_STEPS * (own + 1))),
        };
        let wanted = if recording { wanted } else { per_step };
        let stepper = Stepper::new(field, inputs, solver.tableau(), work);
        let mut saved_per_slot = 0;
        if stepper.guarded {
            stepper.work.guarded.prepare(columns, d);
            // States, and stages if there may be dense output, of a step that uses `own` slots at least.
            let stages = stepper.saved_stages(per_step > own);
            saved_per_slot = GuardedStates::saved_len(columns * d, stages).div_ceil(own);
        }
        let slot_bytes = stepper.field.slot_bytes(columns) + saved_per_slot * size_of::<f64>();
        let tape = Tape::new(wanted, per_step, solver.memory(), slot_bytes);
        stepper.field.reserve(tape.room, columns);
        if recording {
            log.guarded.reserve(tape.room * saved_per_slot);
        }
        Self {
            stepper,
            ivps,
            counts,
            record: Record { columns: 0, slot: 0, reused: false, end: false, inside: false },
            log,
            observed,
            tape,
            slots: per_step - 1,
            saved_per_slot,
            recording,
        }
    }

    /// Sets the step of the only column.
    pub(crate) fn set_step(&mut self, start: f64, end: f64) {
        self.stepper.work.set_steps(self.stepper.d, std::iter::once(Step { start, end }));
    }

    /// Assigns slots to the step in `work.steps`, and evaluates its first stage unless it is
    /// `reused`.
    pub(crate) fn begin_step(&mut self, reused: bool) {
        let n = self.stepper.len();
        let columns = self.stepper.work.steps.len();
        let room = self.tape.find(self.slots + usize::from(!reused));
        if room == Room::Grown {
            self.stepper.reserve(self.tape.room, self.ivps.columns());
            self.log.room = self.log.room.max(self.tape.room);
            if self.recording {
                self.log.guarded.clear();
                self.log.guarded.reserve(self.tape.room * self.saved_per_slot);
            }
        }
        if self.recording && (room != Room::Free || self.log.checkpoint_blocks.is_empty()) {
            let work = &*self.stepper.work;
            self.log.start_checkpoint_block(&work.y[..n], reused.then(|| &work.k[..n]));
        }
        self.record = Record { columns, slot: self.tape.next, reused, end: false, inside: false };
        if !reused {
            self.stepper.start(self.tape.next);
        }
    }

    /// The stages after the first, and the state at the end.
    pub(crate) fn advance(&mut self) {
        self.stepper.advance(self.record.inner_slot());
    }

    /// The derivative at the end.
    pub(crate) fn end(&mut self) {
        self.stepper.end(self.record.end_slot(self.stepper.own));
        self.record.end = true;
    }

    /// Corrects the end if the field has a guard.
    ///
    /// # Errors
    /// If the guard refuses the step of a column.
    pub(crate) fn correct(&mut self) -> Result<(), (usize, Refused)> {
        let corrected = self.stepper.correct();
        self.counts.refused += usize::from(corrected.is_err());
        corrected
    }

    /// Returns the error for a step that is refused.
    pub(crate) fn refused(&self, (column, refused): (usize, Refused)) -> SolveError {
        SolveError::Refused { at: self.moment(column), inside: None, why: refused.why.to_string() }
    }

    /// Returns whether any column has an observation inside the step, before its end.
    pub(crate) fn observes_inside(&self) -> bool {
        let work = &*self.stepper.work;
        let mut columns = work.steps.iter().zip(&work.rows).enumerate();
        columns.any(|(column, (step, &row))| {
            self.ivps.times(column).get(row).is_some_and(|&t| t < step.end)
        })
    }

    /// Records the step and its observations, and moves to its end.
    ///
    /// `reused`: whether the next step's first stage is this step's end stage.
    ///
    /// # Errors
    /// If the field's guard refuses a value inside the step.
    pub(crate) fn finish_step(&mut self, reused: bool) -> Result<(), SolveError> {
        if self.stepper.guarded {
            self.record.inside = self.observes_inside();
            self.counts.corrected += self.stepper.work.guarded.corrected;
            if self.recording {
                self.stepper.save(self.record.inside, &mut self.log.guarded);
            }
            if self.record.inside {
                self.observe_guarded_inside()?;
            }
        }
        if self.recording {
            self.log.records.push(self.record);
            self.log.steps.extend_from_slice(&self.stepper.work.steps);
            let end = self.record.end_slot(self.stepper.own);
            self.tape.next = end + usize::from(self.record.end);
        }
        self.observe();
        self.counts.accepted += self.record.columns;
        self.stepper.move_on(reused);
        Ok(())
    }

    /// Writes the observations inside the step of each column, by the dense output that a guard
    /// corrects.
    fn observe_guarded_inside(&mut self) -> Result<(), SolveError> {
        let Stepper { d, tableau, ref mut work, ref mut field, .. } = self.stepper;
        let guard = guarded::guard(&mut **field);
        let Workspace { steps, rows, y, next, k, guarded, .. } = &mut **work;
        let n = steps.len() * d;
        let (y, computed, next) = (&y[..n], &guarded.computed[..n], &next[..n]);
        let states = GuardedStates { y, computed, next, k };
        let mut failed = None;
        for (column, &step) in steps.iter().enumerate() {
            let times = self.ivps.times(column);
            let offset = self.ivps.rows(column).start;
            let inside = times[rows[column]..].iter().take_while(|&&t| t < step.end).count();
            let polynomial = if inside == 0 {
                continue;
            } else {
                guarded.inside.set(guard, tableau, &states, (column, step.size()))
            };
            if let Err(refused) = polynomial {
                failed = Some((column, None, refused));
                break;
            }
            let guarded_step = states.step(column, step, d);
            for _ in 0..inside {
                let t = times[rows[column]];
                let theta = (t - step.start) / step.size();
                let observed = &mut self.observed[(offset + rows[column]) * d..][..d];
                let value = guarded.inside.value(guard, &guarded_step, theta, observed);
                if let Err(refused) = value {
                    failed = Some((column, Some(t), refused));
                    break;
                }
                rows[column] += 1;
            }
        }
        match failed {
            Some((column, inside, refused)) => {
                self.counts.refused += 1;
                let (at, why) = (self.moment(column), refused.why.to_string());
                Err(SolveError::Refused { at, inside, why })
            }
            None => Ok(()),
        }
    }

    /// Writes the observations in `(start, end]` of each column: the state at the end, the dense
    /// output before it.
    fn observe(&mut self) {
        let Stepper { d, tableau, ref mut work, .. } = self.stepper;
        for (column, step) in work.steps.iter().enumerate() {
            let times = self.ivps.times(column);
            let offset = self.ivps.rows(column).start;
            let row = &mut work.rows[column];
            while *row < times.len() && times[*row] <= step.end {
                let observed = &mut self.observed[(offset + *row) * d..][..d];
                if times[*row] < step.end {
                    let theta = (times[*row] - step.start) / step.size();
                    tableau.dense_weights(theta, &mut work.weights);
                    let (first, n) = (column * d, work.steps.len() * d);
                    let start = &work.y[first..][..d];
                    combine_column(
                        observed,
                        start,
                        step.size(),
                        &work.weights,
                        &work.k[first..],
                        n,
                    );
                } else {
                    observed.copy_from_slice(&work.next[column * d..][..d]);
                }
                *row += 1;
            }
        }
    }

    /// Marks the solve as complete.
    pub(crate) fn complete(self) {
        self.counts.evaluations = self.stepper.evaluations;
        self.log.complete = self.recording;
    }

    /// Returns whether the state at the end of the step is finite.
    pub(crate) fn is_finite(&self) -> bool {
        self.stepper.work.next[..self.stepper.len()].iter().all(|y| y.is_finite())
    }

    /// Returns the error for a step with a derivative or an end state that is not finite.
    pub(crate) fn not_finite(&mut self) -> SolveError {
        let (d, work) = (self.stepper.d, &*self.stepper.work);
        let wrong =
            |block: &[f64]| block.chunks_exact(d).position(|y| !y.iter().all(|y| y.is_finite()));
        let n = self.stepper.len();
        let (derivative, end) = (wrong(&work.k[..n]), wrong(&work.next[..n]));
        // A field that guarantees laws may know why it has no rate there.
        let column = derivative.or(end).unwrap_or(0);
        let Step { start, end: until } = work.steps[column];
        let guard = self.stepper.field.guard();
        if let Some(refused) = guard.and_then(|guard| guard.undefined(column, start, until)) {
            return self.refused((column, refused));
        }
        match (derivative, end) {
            (Some(column), _) => SolveError::DerivativeNotFinite(self.moment(column)),
            (None, column) => SolveError::NotFinite(self.moment(column.unwrap_or(0))),
        }
    }

    /// Returns the position of a column, for error messages.
    pub(crate) fn moment(&self, column: usize) -> Moment {
        let work = &*self.stepper.work;
        let step = work.steps[column];
        let d = self.stepper.d;
        Moment { column, t: step.start, h: step.size(), y: work.y[column * d..][..d].to_vec() }
    }
}
