//! The guard of linear laws: shortens steps at bounds, refuses wrong ways, and keeps sums to rounding.

use std::sync::Arc;

use lawful_ode::{GuardedStep, Refused, StepGuard};

use super::blend;
use super::form::Form;
use super::limit::{Limit, Texts, limit};
use super::projection::Projection;
use super::sums::Shift;

/// Changes of a state below this share of its numbers are rounding.
pub(super) const ROUNDING: f64 = 1e-14;

/// Keeps linear laws in the steps of a solver.
#[derive(Debug, Clone)]
pub(super) struct LinearGuard {
    pub(super) form: Arc<Form>,
    projection: Projection,
    texts: Texts,
    /// What limits each block, and what the sum of each takes up.
    limits: Vec<Limit>,
    shifts: Vec<Shift>,
    /// A state, and the adjoint of one.
    next: Vec<f64>,
    bar: Vec<f64>,
}

impl LinearGuard {
    pub(super) fn new(form: Arc<Form>) -> Self {
        let d = form.states.len();
        Self {
            projection: form.projection.clone(),
            texts: Texts::new(&form),
            limits: vec![Limit::default(); d],
            shifts: vec![Shift::default(); form.sums.len()],
            next: vec![0.0; d],
            bar: vec![0.0; d],
            form,
        }
    }
}

impl StepGuard for LinearGuard {
    fn correct(&mut self, step: &GuardedStep<'_>, next: &mut [f64]) -> Result<bool, Refused> {
        let Self { form, limits, shifts, .. } = self;
        let mut moved = limit(form, &self.texts, (step.y, step.computed), limits)?;
        for (i, state) in form.states.iter().enumerate() {
            let (y, computed) = (step.y[i], step.computed[i]);
            next[i] = limits[state.block].applied(y, computed);
            if state.is_limited() {
                next[i] = state.clamped(y, next[i]);
            }
        }
        for (sum, shift) in form.sums.iter().zip(shifts) {
            let found = sum.shift(form, step.y, next);
            *shift = found.map_err(|()| self.texts.sum(sum))?;
            moved |= shift.is_more_than_rounding;
            next[shift.state] += shift.by;
        }
        Ok(moved | self.projection.state(step.y, next))
    }

    fn pull_back(
        &mut self,
        step: &GuardedStep<'_>,
        _next: &[f64],
        next_bar: &[f64],
        y_bar: &mut [f64],
        computed_bar: &mut [f64],
    ) {
        let mut next = std::mem::take(&mut self.next);
        next.copy_from_slice(step.computed);
        self.correct(step, &mut next).expect("a step that was accepted");
        self.next = next;
        let Self { form, limits, shifts, bar, projection, .. } = self;
        bar.copy_from_slice(next_bar);
        projection.state_bar(bar, y_bar);
        for (sum, shift) in form.sums.iter().zip(shifts) {
            sum.shift_bar(shift, bar, y_bar);
        }
        for (i, state) in form.states.iter().enumerate() {
            let factor = limits[state.block].factor;
            y_bar[i] += (1.0 - factor) * bar[i];
            computed_bar[i] += factor * bar[i];
        }
        for (block, limit) in limits.iter().enumerate() {
            let Some((decisive, by_y, by_computed)) = limit.slopes else { continue };
            let states = form.states.iter().enumerate().filter(|(_, state)| state.block == block);
            let factor_bar: f64 =
                states.map(|(i, _)| bar[i] * (step.computed[i] - step.y[i])).sum();
            y_bar[decisive] += factor_bar * by_y;
            computed_bar[decisive] += factor_bar * by_computed;
        }
    }

    fn blend(&mut self, control: &[f64]) -> f64 {
        blend::factor(&self.form, control).map_or(1.0, |tight| tight.factor())
    }

    fn pull_back_blend(&mut self, control: &[f64], a_bar: f64, control_bar: &mut [f64]) {
        if let Some(tight) = blend::factor(&self.form, control) {
            tight.pull_back(self.form.states.len(), a_bar, control_bar);
        }
    }

    // What is corrected inside is rounding: the default adjoint passes it by.
    fn correct_inside(
        &mut self,
        _step: &GuardedStep<'_>,
        curve: &[f64],
        theta: f64,
        value: &mut [f64],
    ) -> Result<(), Refused> {
        self.put_inside(curve, theta, value);
        Ok(())
    }
}
