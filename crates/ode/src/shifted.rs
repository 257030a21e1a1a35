//! Time counted from the start of each column, so that steps keep their digits far from zero.

use crate::{GuardedStep, InsideBars, Refused, SolveError, StepGuard, VectorField};

/// A field and inputs at the user's times, for a solver whose times start near zero.
///
/// At `t = 1.7e12` doubles are 2.4e-4 apart: steps of 1e-3 would be rounded to a tenth of
/// themselves, and a step-size floor relative to `|t|` is larger than any useful step. So columns
/// are solved in `t − origin`, and the field sees `t` again:
///
/// ```text
/// f_shifted(τ, y, u) = f(origin + τ, y, u)
/// ```
pub struct Shifted {
    field: Box<dyn VectorField>,
    /// What is added to the solver's time, for each column.
    origins: Vec<f64>,
    /// Whether any origin is not 0.
    shifts: bool,
    /// The user's times of all columns.
    t: Vec<f64>,
}

impl Shifted {
    /// A field whose columns all start at the solver's own time.
    pub fn new(field: Box<dyn VectorField>) -> Self {
        Self { field, origins: Vec::new(), shifts: false, t: Vec::new() }
    }

    /// Sets the origin of each column; columns beyond the list have 0.
    pub fn set_origins(&mut self, origins: impl IntoIterator<Item = f64>) {
        self.origins.clear();
        self.origins.extend(origins);
        self.shifts = self.origins.iter().any(|origin| origin.abs() > 0.0);
    }

    /// The origin of a column.
    pub fn origin(&self, column: usize) -> f64 {
        self.origins.get(column).copied().unwrap_or(0.0)
    }

    /// Returns an error of a solve at the user's times.
    #[must_use]
    pub fn at_user_times(&self, mut error: SolveError) -> SolveError {
        let origin = self.origin(error.at().column);
        match &mut error {
            SolveError::TooManySteps { end: t, .. }
            | SolveError::Refused { inside: Some(t), .. } => *t += origin,
            _ => {}
        }
        error.at_mut().t += origin;
        error
    }
}

impl VectorField for Shifted {
    fn state_len(&self) -> usize {
        self.field.state_len()
    }

    fn output_len(&self) -> usize {
        self.field.output_len()
    }

    fn input_len(&self) -> usize {
        self.field.input_len()
    }

    fn parameter_len(&self) -> usize {
        self.field.parameter_len()
    }

    fn set_parameters(&mut self, theta: &[f64]) {
        self.field.set_parameters(theta);
    }

    fn reserve(&mut self, slots: usize, columns: usize) {
        self.field.reserve(slots, columns);
        self.t.reserve(columns);
    }

    fn slot_bytes(&self, columns: usize) -> usize {
        self.field.slot_bytes(columns)
    }

    fn eval(&mut self, slot: usize, t: &[f64], y: &[f64], u: &[f64], dy: &mut [f64]) {
        if !self.shifts {
            return self.field.eval(slot, t, y, u, dy);
        }
        self.t.clear();
        let origins = self.origins.iter().copied().chain(std::iter::repeat(0.0));
        self.t.extend(t.iter().zip(origins).map(|(t, origin)| t + origin));
        self.field.eval(slot, &self.t, y, u, dy);
    }

    fn pull_back(&mut self, slot: usize, w: &[f64], y_bar: &mut [f64]) {
        self.field.pull_back(slot, w, y_bar);
    }

    fn pull_back_state(&mut self, slot: usize, w: &[f64], y_bar: &mut [f64]) {
        self.field.pull_back_state(slot, w, y_bar);
    }

    fn pull_back_parameters(&mut self, slot: usize, w: &[f64]) {
        self.field.pull_back_parameters(slot, w);
    }

    fn jacobian(&mut self, slot: usize, jacobian: &mut [f64]) {
        self.field.jacobian(slot, jacobian);
    }

    fn flush(&mut self, theta_bar: &mut [f64]) {
        self.field.flush(theta_bar);
    }

    fn effect_len(&self) -> usize {
        self.field.effect_len()
    }

    fn set_effects(&mut self, effects: &[f64]) {
        self.field.set_effects(effects);
    }

    fn flush_effects(&mut self, effects_bar: &mut [f64]) {
        self.field.flush_effects(effects_bar);
    }

    fn guard(&mut self) -> Option<&mut dyn StepGuard> {
        if self.field.guard().is_some() { Some(self) } else { None }
    }

    fn fork(&self) -> Box<dyn VectorField> {
        let (field, origins) = (self.field.fork(), self.origins.clone());
        Box::new(Self { field, origins, shifts: self.shifts, t: Vec::new() })
    }
}

impl Shifted {
    /// The guard of the field inside.
    fn inner(&mut self) -> &mut dyn StepGuard {
        self.field.guard().expect("only a field with a guard is used as one")
    }

    /// A step at the user's times.
    fn at_origin<'a>(&self, step: &GuardedStep<'a>) -> GuardedStep<'a> {
        let origin = self.origin(step.column);
        GuardedStep { start: step.start + origin, end: step.end + origin, ..*step }
    }
}

/// The guard of the field inside, at the user's times.
impl StepGuard for Shifted {
    fn correct(&mut self, step: &GuardedStep<'_>, next: &mut [f64]) -> Result<bool, Refused> {
        let step = self.at_origin(step);
        self.inner().correct(&step, next)
    }

    fn pull_back(
        &mut self,
        step: &GuardedStep<'_>,
        next: &[f64],
        next_bar: &[f64],
        y_bar: &mut [f64],
        computed_bar: &mut [f64],
    ) {
        let step = self.at_origin(step);
        self.inner().pull_back(&step, next, next_bar, y_bar, computed_bar);
    }

    fn blend(&mut self, control: &[f64]) -> f64 {
        self.inner().blend(control)
    }

    fn pull_back_blend(&mut self, control: &[f64], a_bar: f64, control_bar: &mut [f64]) {
        self.inner().pull_back_blend(control, a_bar, control_bar);
    }

    fn correct_inside(
        &mut self,
        step: &GuardedStep<'_>,
        curve: &[f64],
        theta: f64,
        value: &mut [f64],
    ) -> Result<(), Refused> {
        let step = self.at_origin(step);
        self.inner().correct_inside(&step, curve, theta, value)
    }

    fn pull_back_inside(
        &mut self,
        step: &GuardedStep<'_>,
        curve: &[f64],
        theta: f64,
        inside: InsideBars<'_>,
    ) {
        let step = self.at_origin(step);
        self.inner().pull_back_inside(&step, curve, theta, inside);
    }

    fn undefined(&mut self, column: usize, start: f64, end: f64) -> Option<Refused> {
        let origin = self.origin(column);
        self.inner().undefined(column, start + origin, end + origin)
    }
}

/// Writes times since `origin` to `since`, over what is there, and returns the origin that was used:
/// 0 if rounding would make two of the differences equal, or one infinite.
pub fn times_since(origin: f64, times: &[f64], since: &mut Vec<f64>) -> f64 {
    since.clear();
    since.extend(times.iter().map(|t| t - origin));
    let apart = since.windows(2).all(|pair| pair[0] < pair[1]);
    if apart && since.iter().all(|t| t.is_finite()) {
        return origin;
    }
    since.clear();
    since.extend_from_slice(times);
    0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_counted_from_an_origin_unless_that_would_lose_them() {
        let mut since = Vec::new();
        let used = times_since(1.7e12, &[1.7e12, 1.7e12 + 1000.0], &mut since);
        assert_eq!(used.to_bits(), 1.7e12_f64.to_bits());
        assert_eq!(since, [0.0, 1000.0]);
        assert_eq!(times_since(-1e300, &[-1e300, 0.0, 1.0], &mut since).to_bits(), 0);
        assert_eq!(since, [-1e300, 0.0, 1.0]);
        assert_eq!(times_since(-1e308, &[-1e308, 1e308], &mut since).to_bits(), 0);
        assert_eq!(since, [-1e308, 1e308]);
    }
}
