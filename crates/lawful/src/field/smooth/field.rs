//! A field whose rate obeys smooth laws, with the guard of its steps.

use lawful_ode::{GuardedStep, InsideBars, Refused, StepGuard, VectorField};

use super::falling::Falling;
use super::guard::SurfaceGuard;
use super::surface::grow;
use super::tangent::Tangent;

/// Another field, made tangent to equalities, then made to lower a quantity.
pub struct SmoothField {
    field: Box<dyn VectorField>,
    tangent: Tangent,
    falling: Option<Falling>,
    guard: SurfaceGuard,
    tape: Tape,
    /// The adjoint of the inner field's rate.
    w: Vec<f64>,
}

/// What the adjoint needs of every slot: times, states, tangent rates and their multipliers.
#[derive(Debug, Clone, Default)]
struct Tape {
    columns: Vec<usize>,
    /// Capacity of each slot, in columns.
    width: usize,
    t: Vec<f64>,
    y: Vec<f64>,
    rate: Vec<f64>,
    q: Vec<f64>,
}

impl SmoothField {
    pub(super) fn new(
        field: Box<dyn VectorField>,
        tangent: Tangent,
        falling: Option<Falling>,
        guard: SurfaceGuard,
    ) -> Self {
        Self { field, tangent, falling, guard, tape: Tape::default(), w: Vec::new() }
    }

    /// Computes the adjoint of the inner rate in `self.w`, and adds what comes from the laws to `y_bar`.
    fn back(&mut self, slot: usize, w: &[f64], mut y_bar: Option<&mut [f64]>) {
        let (d, laws) = (self.field.state_len(), self.tangent.laws());
        let Tape { columns, width, t, y, rate, q } = &self.tape;
        let (columns, cell) = (columns[slot], slot * width);
        let at = (&t[cell..][..columns], &y[cell * d..][..columns * d]);
        let rate = &rate[cell * d..][..columns * d];
        let q = &q[cell * laws..][..columns * laws];
        let inner = &mut self.w[..w.len()];
        inner.copy_from_slice(w);
        if let Some(falling) = &mut self.falling {
            falling.pull_back(at, rate, inner, y_bar.as_deref_mut());
        }
        self.tangent.pull_back(at, rate, q, inner, y_bar);
    }
}

impl VectorField for SmoothField {
    fn state_len(&self) -> usize {
        self.field.state_len()
    }

    fn input_len(&self) -> usize {
        self.field.input_len()
    }

    fn parameter_len(&self) -> usize {
        self.field.parameter_len()
    }

    fn set_parameters(&mut self, theta: &[f64]) {
        self.tangent.lost.fill(None);
        self.field.set_parameters(theta);
    }

    fn reserve(&mut self, slots: usize, columns: usize) {
        self.field.reserve(slots, columns);
        self.tangent.reserve(columns);
        if let Some(falling) = &mut self.falling {
            falling.reserve(columns);
        }
        let (d, laws) = (self.field.state_len(), self.tangent.laws());
        grow(&mut self.w, columns * d);
        let tape = &mut self.tape;
        if columns > tape.width || slots > tape.columns.len() {
            tape.width = tape.width.max(columns);
            let slots = slots.max(tape.columns.len());
            let cells = slots * tape.width;
            tape.columns.resize(slots, 0);
            tape.t.resize(cells, 0.0);
            tape.y.resize(cells * d, 0.0);
            tape.rate.resize(cells * d, 0.0);
            tape.q.resize(cells * laws, 0.0);
        }
    }

    fn slot_bytes(&self, columns: usize) -> usize {
        let per_column = 1 + 2 * self.field.state_len() + self.tangent.laws();
        let own = size_of::<usize>() + columns * per_column * size_of::<f64>();
        self.field.slot_bytes(columns) + own
    }

    fn eval(&mut self, slot: usize, t: &[f64], y: &[f64], u: &[f64], dy: &mut [f64]) {
        self.field.eval(slot, t, y, u, dy);
        let (d, laws, columns) = (self.field.state_len(), self.tangent.laws(), t.len());
        let tape = &mut self.tape;
        let cell = slot * tape.width;
        self.tangent.project(t, y, dy, &mut tape.q[cell * laws..][..columns * laws]);
        tape.columns[slot] = columns;
        tape.t[cell..][..columns].copy_from_slice(t);
        tape.y[cell * d..][..columns * d].copy_from_slice(y);
        tape.rate[cell * d..][..columns * d].copy_from_slice(dy);
        if let Some(falling) = &mut self.falling {
            falling.remove(t, y, dy);
        }
    }

    fn pull_back(&mut self, slot: usize, w: &[f64], y_bar: &mut [f64]) {
        self.back(slot, w, Some(y_bar));
        self.field.pull_back(slot, &self.w[..w.len()], y_bar);
    }

    fn pull_back_state(&mut self, slot: usize, w: &[f64], y_bar: &mut [f64]) {
        self.back(slot, w, Some(y_bar));
        self.field.pull_back_state(slot, &self.w[..w.len()], y_bar);
    }

    fn pull_back_parameters(&mut self, slot: usize, w: &[f64]) {
        self.back(slot, w, None);
        self.field.pull_back_parameters(slot, &self.w[..w.len()]);
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
        Some(self)
    }

    fn fork(&self) -> Box<dyn VectorField> {
        let (tangent, falling) = (self.tangent.clone(), self.falling.clone());
        Box::new(Self::new(self.field.fork(), tangent, falling, self.guard.clone()))
    }
}

impl StepGuard for SmoothField {
    fn correct(&mut self, step: &GuardedStep<'_>, next: &mut [f64]) -> Result<bool, Refused> {
        self.guard.correct(step, next)
    }

    fn pull_back(
        &mut self,
        step: &GuardedStep<'_>,
        _next: &[f64],
        next_bar: &[f64],
        y_bar: &mut [f64],
        computed_bar: &mut [f64],
    ) {
        self.guard.pull_back(step, next_bar, y_bar, computed_bar);
    }

    fn correct_inside(
        &mut self,
        step: &GuardedStep<'_>,
        curve: &[f64],
        theta: f64,
        value: &mut [f64],
    ) -> Result<(), Refused> {
        self.guard.correct_inside(step, curve, theta, value)
    }

    fn pull_back_inside(
        &mut self,
        step: &GuardedStep<'_>,
        curve: &[f64],
        theta: f64,
        mut inside: InsideBars<'_>,
    ) {
        self.guard.pull_back_inside(step, curve, theta, &mut inside);
    }

    fn undefined(&mut self, column: usize, start: f64, end: f64) -> Option<Refused> {
        let lost = self.tangent.lost.get(column)?.as_ref()?;
        (start <= lost.t && lost.t <= end).then(|| self.guard.undefined(lost))
    }
}
