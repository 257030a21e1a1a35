//! One step of any explicit tableau, and directly below it the step's adjoint.
//!
//! ```text
//! forward                                   back
//! k_0 = f(t_n, y_n)                         λ is the adjoint of y_{n+1}
//! Y_i = y_n + h Σ_{j<i} a_ij k_j            λ += J_endᵀ k̄_end,   k̄_i += h b_i λ
//! k_i = f(t_n + c_i h, Y_i)                 Ȳ_i = J_iᵀ k̄_i,      k̄_j += h a_ij Ȳ_i  (j < i),  i falling
//! y_{n+1} = y_n + h Σ b_i k_i               adjoint of y_n: λ + Σ Ȳ_i
//! corrected, if the field has a guard       after λ += …, see `guarded.rs`
//! k_end = f(t_{n+1}, y_{n+1})  if needed
//! ```
//!
//! Each column has its own step size h. Slots are those of
//! [`VectorField`]; the stages after the first use consecutive ones.

use crate::field::VectorField;
use crate::guard::Refused;
use crate::inputs::Inputs;
use crate::solve::blocks::{add, any_non_zero, combine, spread};
use crate::solve::guarded::{self, GuardedStates};
use crate::solve::log::Record;
use crate::solve::workspace::Workspace;
use crate::tableau::Tableau;

/// Takes single steps of the columns in [`Workspace::steps`].
pub(crate) struct Stepper<'a> {
    pub(crate) field: &'a mut dyn VectorField,
    inputs: &'a dyn Inputs,
    pub(crate) tableau: &'static Tableau,
    pub(crate) work: &'a mut Workspace,
    /// State variables.
    pub(crate) d: usize,
    /// Exogenous inputs.
    m: usize,
    /// Stages before the end is known.
    pub(crate) own: usize,
    /// Whether the field has a guard.
    pub(crate) guarded: bool,
    /// Evaluations so far, summed over the columns.
    pub(crate) evaluations: usize,
}

/// The state at which a stage is evaluated.
enum Argument {
    Start,
    Stage,
    End,
}

impl<'a> Stepper<'a> {
    pub(crate) fn new(
        field: &'a mut dyn VectorField,
        inputs: &'a dyn Inputs,
        tableau: &'static Tableau,
        work: &'a mut Workspace,
    ) -> Self {
        let (d, m, own) = (field.state_len(), field.input_len(), tableau.own_stages());
        let guarded = field.guard().is_some();
        Self { field, inputs, tableau, work, d, m, own, guarded, evaluations: 0 }
    }

    /// Columns × state of the current step.
    pub(crate) fn len(&self) -> usize {
        self.work.steps.len() * self.d
    }

    /// `k_0 = f(t_n, y_n)`.
    pub(crate) fn start(&mut self, slot: usize) {
        self.evaluate(0, slot, 0.0, &Argument::Start);
    }

    /// The stages after the first, into `slot` and the following, and `y_{n+1}`.
    pub(crate) fn advance(&mut self, slot: usize) {
        let (n, tableau) = (self.len(), self.tableau);
        for i in 1..self.own {
            let Workspace { stage, y, h, k, .. } = &mut *self.work;
            combine(&mut stage[..n], y, h, tableau.a[i], k);
            self.evaluate(i, slot + i - 1, tableau.c[i], &Argument::Stage);
        }
        let Workspace { next, y, h, k, .. } = &mut *self.work;
        combine(&mut next[..n], y, h, &tableau.b[..self.own], k);
    }

    /// Corrects `y_{n+1}` if the field has a guard. A state that is not finite stays.
    ///
    /// # Errors
    /// The column whose step is refused.
    pub(crate) fn correct(&mut self) -> Result<(), (usize, Refused)> {
        if self.guarded { guarded::correct(self.field, self.work, self.d) } else { Ok(()) }
    }

    /// Adds what the adjoint of a guarded step needs to `saved`.
    pub(crate) fn save(&self, inside: bool, saved: &mut Vec<f64>) {
        if self.guarded {
            let (n, work) = (self.len(), &*self.work);
            let k = &work.k[..self.saved_stages(inside) * n];
            let (y, computed, next) = (&work.y[..n], &work.guarded.computed[..n], &work.next[..n]);
            GuardedStates { y, computed, next, k }.save(saved);
        }
    }

    /// Number of stages that are saved: all if the dense output needs them.
    pub(crate) fn saved_stages(&self, inside: bool) -> usize {
        if inside { self.own + 1 } else { 0 }
    }

    /// `k_end = f(t_{n+1}, y_{n+1})`.
    pub(crate) fn end(&mut self, slot: usize) {
        self.evaluate(self.own, slot, 1.0, &Argument::End);
    }

    /// An Euler step, and the derivative at its end in place of the second stage.
    pub(crate) fn probe(&mut self, slot: usize) {
        let n = self.len();
        let Workspace { stage, y, h, k, .. } = &mut *self.work;
        combine(&mut stage[..n], y, h, &[1.0], k);
        self.evaluate(1, slot, 1.0, &Argument::Stage);
    }

    /// Makes the end of this step the start of the next, with its derivative if `reused`.
    pub(crate) fn move_on(&mut self, reused: bool) {
        let n = self.len();
        let work = &mut *self.work;
        std::mem::swap(&mut work.y, &mut work.next);
        if reused {
            work.k.copy_within(self.own * n..(self.own + 1) * n, 0);
        }
    }

    /// Returns whether the next step may reuse this step's end stage as its first: not if an input
    /// jumps.
    pub(crate) fn end_is_next_start(&mut self) -> bool {
        let m = self.m;
        let Workspace { steps, u, u_next, .. } = &mut *self.work;
        m == 0
            || steps.iter().enumerate().all(|(column, step)| {
                let (u, u_next) = (&u[column * m..][..m], &mut u_next[column * m..][..m]);
                self.inputs.at(column, step.end, step.end, u_next);
                u.iter().zip(u_next).all(|(u, next)| u.to_bits() == next.to_bits())
            })
    }

    /// Returns the first time after `t` at which the inputs are not smooth.
    pub(crate) fn next_break(&self, t: f64) -> f64 {
        if self.m == 0 { f64::INFINITY } else { self.inputs.next_break(0, t) }
    }

    fn evaluate(&mut self, stage: usize, slot: usize, c: f64, argument: &Argument) {
        let (n, m) = (self.len(), self.m);
        let work = &mut *self.work;
        let columns = work.steps.len();
        for (t, step) in work.t.iter_mut().zip(&work.steps) {
            *t = step.time(c);
        }
        if m > 0 {
            for (column, step) in work.steps.iter().enumerate() {
                self.inputs.at(column, work.t[column], step.start, &mut work.u[column * m..][..m]);
            }
        }
        let y = match argument {
            Argument::Start => &work.y[..n],
            Argument::Stage => &work.stage[..n],
            Argument::End => &work.next[..n],
        };
        let k = &mut work.k[stage * n..][..n];
        self.field.eval(slot, &work.t[..columns], y, &work.u[..columns * m], k);
        self.evaluations += columns;
    }

    /// Adjoint of the step in `record`.
    ///
    /// On entry `y_bar` is the adjoint of `y_{n+1}`, `k_bar` what observations inside the step and
    /// the next step's first stage add, `start_bar` what observations add to `y_n`. On return
    /// `y_bar` is the adjoint of `y_n`, and `carried_bar` that of a first stage evaluated
    /// elsewhere. `states` are those of a guarded step.
    pub(crate) fn pull_back(&mut self, record: &Record, states: Option<&GuardedStates<'_>>) {
        let (n, own, tableau) = (self.len(), self.own, self.tableau);
        if record.end {
            let Workspace { y_bar, k_bar, .. } = &mut *self.work;
            let end_bar = &k_bar[own * n..][..n];
            if any_non_zero(end_bar) {
                self.field.pull_back(record.end_slot(own), end_bar, &mut y_bar[..n]);
            }
        }
        if let Some(states) = states {
            guarded::pull_back_correct(self.field, self.work, states, self.d);
        }
        let Workspace { h, y_bar, k_bar, carried_bar, start_bar, stage_bar, .. } = &mut *self.work;
        let (y_bar, stage_bar) = (&mut y_bar[..n], &mut stage_bar[..n]);
        spread(k_bar, h, &tableau.b[..own], y_bar);
        for i in (1..own).rev() {
            let (before, rest) = k_bar.split_at_mut(i * n);
            let k_bar = &rest[..n];
            if any_non_zero(k_bar) {
                stage_bar.fill(0.0);
                self.field.pull_back(record.inner_slot() + i - 1, k_bar, stage_bar);
                add(y_bar, stage_bar);
                spread(before, h, tableau.a[i], stage_bar);
            }
        }
        let first_bar = &k_bar[..n];
        if record.reused {
            carried_bar[..n].copy_from_slice(first_bar);
        } else if any_non_zero(first_bar) {
            self.field.pull_back(record.slot, first_bar, y_bar);
        }
        add(y_bar, start_bar);
    }

    /// Reserves slots on the field's tape, which loses its content.
    pub(crate) fn reserve(&mut self, slots: usize, columns: usize) {
        self.field.reserve(slots, columns);
    }

    /// Adds the gradient with respect to θ to `theta_bar`.
    pub(crate) fn flush(&mut self, theta_bar: &mut [f64]) {
        self.field.flush(theta_bar);
    }
}
