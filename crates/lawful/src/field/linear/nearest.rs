//! A field whose rate is moved to the nearest one within linear laws: for networks that compute rates, not flows.
//!
//! ```text
//! min Σ ((f_i − g_i)/s_i)²      lo_i ≤ f_i ≤ hi_i,    Σ w_i f_i = 0 for each sum
//! lo_i = −10 r_i max(q, 0)      at a lower bound, 0 if the state only rises, −∞ otherwise; hi_i likewise
//! f_i  = g_i + λ w_i s_i²       within its limits
//! ```
//!
//! `g` is the inner rate, `q` the distance to the bound and `r` the usual rate of the state: away from bounds nothing
//! changes, and on a bound no state leaves it. The limits always contain 0, so that there is a solution; `λ` is where
//! a function that rises by pieces of straight lines is 0. Sums without bounds and directions are projected.

use std::sync::Arc;

use lawful_ode::{StepGuard, VectorField};

use super::form::{Edge, FlowSum, Form};
use super::guard::LinearGuard;
use crate::field::FieldError;

/// Fastest approach to a bound, in usual rates at the usual distance.
const APPROACH: f64 = 10.0;

/// Another field, with the nearest rate within linear laws, and the guard of its steps.
pub(in crate::field) struct NearestField {
    field: Box<dyn VectorField>,
    form: Arc<Form>,
    guard: LinearGuard,
    tape: Tape,
    /// The adjoint of the inner rates of all columns.
    g_bar: Vec<f64>,
    /// Of one column.
    limits: Vec<Limits>,
    f: Vec<f64>,
}

/// What the adjoint needs of every slot: states and inner rates.
#[derive(Debug, Clone, Default)]
struct Tape {
    slots: usize,
    /// Capacity of each slot, in columns.
    width: usize,
    y: Vec<f64>,
    g: Vec<f64>,
}

/// Between which rates a state may change.
#[derive(Debug, Clone, Copy, Default)]
struct Limits {
    low: f64,
    high: f64,
    /// Derivatives of both by the state.
    slopes: [f64; 2],
    /// Which of them the rate is at, if it is at one.
    held: Option<usize>,
}

impl Limits {
    /// A rate within the limits; what is not finite stays so, for the solver to refuse.
    fn within(&self, rate: f64) -> f64 {
        if rate.is_finite() { rate.max(self.low).min(self.high) } else { rate }
    }
}

impl NearestField {
    pub(super) fn new(mut field: Box<dyn VectorField>, form: Form) -> Result<Self, FieldError> {
        let part = "nearest";
        if field.guard().is_some() {
            let reason = "wraps a field that does not guard its steps";
            return Err(FieldError::Order { part, reason });
        }
        if !form.flows.is_empty() {
            return Err(FieldError::Order { part, reason: "has no flows" });
        }
        for rate in &form.scaling.rate {
            if !(rate.is_finite() && *rate > 0.0) {
                return Err(FieldError::Order { part, reason: "needs usual rates above 0" });
            }
        }
        let expected = form.states.len();
        for found in [field.output_len(), field.state_len(), form.scaling.rate.len()] {
            if found != expected {
                let what = "rates within linear laws";
                return Err(FieldError::Length { what, found, expected });
            }
        }
        Ok(Self::around(field, Arc::new(form)))
    }

    fn around(field: Box<dyn VectorField>, form: Arc<Form>) -> Self {
        let guard = LinearGuard::new(Arc::clone(&form));
        let d = form.states.len();
        let (limits, f) = (vec![Limits::default(); d], vec![0.0; d]);
        Self { field, form, guard, tape: Tape::default(), g_bar: Vec::new(), limits, f }
    }

    /// Writes the adjoint of the inner rates, and adds what comes from the limits to `y_bar`.
    fn back(&mut self, slot: usize, w: &[f64], mut y_bar: Option<&mut [f64]>) {
        let Self { form, tape, g_bar, limits, f, .. } = self;
        let (d, cell) = (form.states.len(), slot * tape.width);
        g_bar[..w.len()].copy_from_slice(w);
        for (column, bar) in g_bar[..w.len()].chunks_exact_mut(d).enumerate() {
            let y = &tape.y[(cell + column) * d..][..d];
            f.copy_from_slice(&tape.g[(cell + column) * d..][..d]);
            form.nearest(y, f, limits);
            let y_bar = y_bar.as_deref_mut().map(|y_bar| &mut y_bar[column * d..][..d]);
            form.nearest_bar(limits, bar, y_bar);
        }
    }
}

impl Form {
    fn limits(&self, y: &[f64], limits: &mut [Limits]) {
        for (i, (state, limits)) in self.states.iter().zip(limits).enumerate() {
            let fastest = APPROACH * self.scaling.rate[i];
            let own = |edge: &Option<Edge>| edge.filter(|edge| !edge.implied);
            let at = |edge: Edge| {
                let slope = if edge.gap(y[i]) > 0.0 { -fastest / edge.distance } else { 0.0 };
                (fastest * edge.q(y[i]).max(0.0), slope)
            };
            let (mut low, mut high) = ((f64::INFINITY, 0.0), (f64::INFINITY, 0.0));
            low = own(&state.lower).map_or(low, at);
            high = own(&state.upper).map_or(high, at);
            if state.stays || state.direction.is_some_and(|direction| direction > 0.0) {
                low = (0.0, 0.0);
            }
            if state.stays || state.direction.is_some_and(|direction| direction < 0.0) {
                high = (0.0, 0.0);
            }
            *limits = Limits { low: -low.0, high: high.0, slopes: [low.1, high.1], held: None };
        }
    }

    /// Moves an inner rate to the nearest one within the laws, in place.
    fn nearest(&self, y: &[f64], f: &mut [f64], limits: &mut [Limits]) {
        self.limits(y, limits);
        for sum in &self.sums {
            let multiplier = self.multiplier(sum, f, limits);
            for &(i, w) in &sum.terms {
                f[i] += multiplier * self.along(i, w);
            }
        }
        for (f, limits) in f.iter_mut().zip(limits) {
            let Limits { low, high, .. } = *limits;
            limits.held = if *f <= low { Some(0) } else { (*f >= high).then_some(1) };
            *f = limits.within(*f);
        }
        self.projection.rate(f);
    }

    /// How far a state of a sum moves with its multiplier.
    fn along(&self, i: usize, w: f64) -> f64 {
        w * self.scaling.state[i].powi(2)
    }

    /// The change of a sum at a multiplier, and its slope.
    fn change(&self, sum: &FlowSum, g: &[f64], limits: &[Limits], multiplier: f64) -> (f64, f64) {
        let (mut change, mut slope) = (0.0, 0.0);
        for &(i, w) in &sum.terms {
            let along = self.along(i, w);
            let moved = g[i] + multiplier * along;
            change += w * limits[i].within(moved);
            let free = limits[i].low < moved && moved < limits[i].high;
            slope += if free { w * along } else { 0.0 };
        }
        (change, slope)
    }

    /// The multiplier at which a sum does not change.
    fn multiplier(&self, sum: &FlowSum, g: &[f64], limits: &[Limits]) -> f64 {
        // The breakpoints next to the root.
        let (mut below, mut above) = (f64::NEG_INFINITY, f64::INFINITY);
        for &(i, w) in &sum.terms {
            for limit in [limits[i].low, limits[i].high] {
                let at = (limit - g[i]) / self.along(i, w);
                if !at.is_finite() || at <= below || at >= above {
                    continue;
                }
                if self.change(sum, g, limits, at).0 <= 0.0 {
                    below = at;
                } else {
                    above = at;
                }
            }
        }
        // Between them the change is a straight line.
        let inside = match (below.is_finite(), above.is_finite()) {
            (true, true) => 0.5 * (below + above),
            (true, false) => below + below.abs().max(1.0),
            (false, true) => above - above.abs().max(1.0),
            (false, false) => 0.0,
        };
        let (change, slope) = self.change(sum, g, limits, inside);
        if slope > 0.0 { (inside - change / slope).max(below).min(above) } else { inside }
    }

    /// The adjoint of [`nearest`](Self::nearest), which wrote the limits: turns the adjoint of the rate into that of
    /// the inner rate, in place, and adds to that of the state.
    ///
    /// With the free states `F` of a sum and `D = Σ_F w_i² s_i²`, `λ = −(Σ_F w_i g_i + Σ_held w_j b_j)/D`.
    fn nearest_bar(&self, limits: &[Limits], bar: &mut [f64], y_bar: Option<&mut [f64]>) {
        self.projection.rate_bar(bar);
        for sum in &self.sums {
            let free = || sum.terms.iter().filter(|(i, _)| limits[*i].held.is_none());
            let whole: f64 = free().map(|&(i, w)| w * self.along(i, w)).sum();
            if whole > 0.0 {
                let by = free().map(|&(i, w)| bar[i] * self.along(i, w)).sum::<f64>() / whole;
                sum.terms.iter().for_each(|&(i, w)| bar[i] -= by * w);
            }
        }
        if let Some(y_bar) = y_bar {
            for (i, limits) in limits.iter().enumerate() {
                y_bar[i] += limits.held.map_or(0.0, |side| limits.slopes[side] * bar[i]);
            }
        }
        for (bar, limits) in bar.iter_mut().zip(limits) {
            *bar = if limits.held.is_none() { *bar } else { 0.0 };
        }
    }
}

impl VectorField for NearestField {
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
        self.field.set_parameters(theta);
    }

    fn reserve(&mut self, slots: usize, columns: usize) {
        self.field.reserve(slots, columns);
        let d = self.form.states.len();
        if self.g_bar.len() < columns * d {
            self.g_bar.resize(columns * d, 0.0);
        }
        let tape = &mut self.tape;
        if columns > tape.width || slots > tape.slots {
            (tape.width, tape.slots) = (tape.width.max(columns), tape.slots.max(slots));
            tape.y.resize(tape.slots * tape.width * d, 0.0);
            tape.g.resize(tape.slots * tape.width * d, 0.0);
        }
    }

    fn slot_bytes(&self, columns: usize) -> usize {
        let own = 2 * columns * self.form.states.len() * size_of::<f64>();
        self.field.slot_bytes(columns) + own
    }

    fn eval(&mut self, slot: usize, t: &[f64], y: &[f64], u: &[f64], dy: &mut [f64]) {
        self.field.eval(slot, t, y, u, dy);
        let Self { form, tape, limits, .. } = self;
        let (d, columns) = (form.states.len(), t.len());
        let cell = slot * tape.width * d;
        tape.y[cell..][..columns * d].copy_from_slice(y);
        tape.g[cell..][..columns * d].copy_from_slice(dy);
        for (y, dy) in y.chunks_exact(d).zip(dy.chunks_exact_mut(d)) {
            form.nearest(y, dy, limits);
        }
    }

    fn pull_back(&mut self, slot: usize, w: &[f64], y_bar: &mut [f64]) {
        self.back(slot, w, Some(y_bar));
        self.field.pull_back(slot, &self.g_bar[..w.len()], y_bar);
    }

    fn pull_back_state(&mut self, slot: usize, w: &[f64], y_bar: &mut [f64]) {
        self.back(slot, w, Some(y_bar));
        self.field.pull_back_state(slot, &self.g_bar[..w.len()], y_bar);
    }

    fn pull_back_parameters(&mut self, slot: usize, w: &[f64]) {
        self.back(slot, w, None);
        self.field.pull_back_parameters(slot, &self.g_bar[..w.len()]);
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
        Some(&mut self.guard)
    }

    fn fork(&self) -> Box<dyn VectorField> {
        Box::new(Self::around(self.field.fork(), Arc::clone(&self.form)))
    }
}
