//! A network whose outputs are flows, as a field that keeps linear laws.

use std::sync::Arc;

use lawful_ode::{Scaled, StepGuard, VectorField};

use super::form::Form;
use super::guard::LinearGuard;
use crate::field::FieldError;

/// A field that guarantees linear laws, with the guard of its steps. θ is the network's.
pub struct LinearField {
    /// The network, in units of order one.
    network: Box<dyn VectorField>,
    form: Arc<Form>,
    guard: LinearGuard,
    tape: Tape,
    /// Coordinates of all columns, or their adjoints.
    x: Vec<f64>,
    /// Adjoints of the network's outputs of all columns.
    o_bar: Vec<f64>,
    /// Rates of one column, or their adjoint.
    f: Vec<f64>,
}

/// What the adjoint needs of every slot: states and outputs of the network.
#[derive(Debug, Clone, Default)]
struct Tape {
    columns: Vec<usize>,
    /// Capacity of each slot, in columns.
    width: usize,
    y: Vec<f64>,
    o: Vec<f64>,
}

impl LinearField {
    pub(super) fn new(mut network: Box<dyn VectorField>, form: Form) -> Result<Self, FieldError> {
        if network.guard().is_some() {
            let reason = "wraps a network, not a field that guards its steps";
            return Err(FieldError::Order { part: "linear", reason });
        }
        for (what, found, expected) in [
            ("state variables of the network", network.state_len(), form.states.len()),
            ("outputs of the network", network.output_len(), form.flows.len()),
        ] {
            if found != expected {
                return Err(FieldError::Length { what, found, expected });
            }
        }
        let scaling = form.inner_scaling();
        let network = Scaled::new(network, scaling).map_err(FieldError::Scaling)?;
        Ok(Self::around(Box::new(network), Arc::new(form)))
    }

    fn around(network: Box<dyn VectorField>, form: Arc<Form>) -> Self {
        let guard = LinearGuard::new(Arc::clone(&form));
        let f = vec![0.0; form.states.len()];
        let (tape, x, o_bar) = (Tape::default(), Vec::new(), Vec::new());
        Self { network, form, guard, tape, x, o_bar, f }
    }

    /// Writes `o_bar` of all columns, and adds what does not pass through the network to `y_bar`.
    fn back(&mut self, slot: usize, w: &[f64], mut y_bar: Option<&mut [f64]>) -> usize {
        let Self { form, tape, o_bar, f, .. } = self;
        let (d, flows, learned) = (form.states.len(), form.flows.len(), &form.learned);
        let (columns, cell) = (tape.columns[slot], slot * tape.width);
        for column in 0..columns {
            f.fill(0.0);
            let w = &w[column * learned.len()..][..learned.len()];
            learned.iter().zip(w).for_each(|(&state, w)| f[state] = *w);
            let y = &tape.y[(cell + column) * d..][..d];
            let o = &tape.o[(cell + column) * flows..][..flows];
            let o_bar = &mut o_bar[column * flows..][..flows];
            let y_bar = y_bar.as_deref_mut().map(|y_bar| &mut y_bar[column * d..][..d]);
            form.rates_bar((y, o), f, o_bar, y_bar);
        }
        columns
    }

    /// Adds the adjoint of the coordinates to that of the state.
    fn add_coordinates(&self, slot: usize, columns: usize, y_bar: &mut [f64]) {
        let d = self.form.states.len();
        let y = &self.tape.y[slot * self.tape.width * d..][..columns * d];
        for ((y, x_bar), y_bar) in
            y.chunks_exact(d).zip(self.x.chunks_exact(d)).zip(y_bar.chunks_exact_mut(d))
        {
            for (i, state) in self.form.states.iter().enumerate() {
                y_bar[i] += x_bar[i] * state.coordinate_at(y[i]).1;
            }
        }
    }
}

impl VectorField for LinearField {
    fn state_len(&self) -> usize {
        self.form.states.len()
    }

    fn output_len(&self) -> usize {
        self.form.learned.len()
    }

    fn input_len(&self) -> usize {
        self.network.input_len()
    }

    fn parameter_len(&self) -> usize {
        self.network.parameter_len()
    }

    fn set_parameters(&mut self, theta: &[f64]) {
        self.network.set_parameters(theta);
    }

    fn reserve(&mut self, slots: usize, columns: usize) {
        self.network.reserve(slots, columns);
        let (d, flows) = (self.form.states.len(), self.form.flows.len());
        for (buffer, width) in [(&mut self.x, d), (&mut self.o_bar, flows)] {
            if buffer.len() < columns * width {
                buffer.resize(columns * width, 0.0);
            }
        }
        let tape = &mut self.tape;
        if columns > tape.width || slots > tape.columns.len() {
            tape.width = tape.width.max(columns);
            let slots = slots.max(tape.columns.len());
            tape.columns.resize(slots, 0);
            tape.y.resize(slots * tape.width * d, 0.0);
            tape.o.resize(slots * tape.width * flows, 0.0);
        }
    }

    fn slot_bytes(&self, columns: usize) -> usize {
        let per_column = self.form.states.len() + self.form.flows.len();
        let own = size_of::<usize>() + columns * per_column * size_of::<f64>();
        self.network.slot_bytes(columns) + own
    }

    fn eval(&mut self, slot: usize, t: &[f64], y: &[f64], u: &[f64], dy: &mut [f64]) {
        let Self { network, form, tape, x, f, .. } = self;
        let (d, flows, learned) = (form.states.len(), form.flows.len(), &form.learned);
        let (columns, cell) = (t.len(), slot * tape.width);
        tape.columns[slot] = columns;
        tape.y[cell * d..][..columns * d].copy_from_slice(y);
        for (x, y) in x.chunks_exact_mut(d).zip(y.chunks_exact(d)) {
            for (i, state) in form.states.iter().enumerate() {
                x[i] = state.coordinate_at(y[i]).0;
            }
        }
        let o = &mut tape.o[cell * flows..][..columns * flows];
        network.eval(slot, t, &x[..columns * d], u, o);
        for column in 0..columns {
            form.rates(&y[column * d..][..d], &o[column * flows..][..flows], f);
            let dy = &mut dy[column * learned.len()..][..learned.len()];
            dy.iter_mut().zip(learned).for_each(|(dy, &state)| *dy = f[state]);
        }
    }

    fn pull_back(&mut self, slot: usize, w: &[f64], y_bar: &mut [f64]) {
        let columns = self.back(slot, w, Some(y_bar));
        let x_bar = &mut self.x[..y_bar.len()];
        x_bar.fill(0.0);
        self.network.pull_back(slot, &self.o_bar[..columns * self.form.flows.len()], x_bar);
        self.add_coordinates(slot, columns, y_bar);
    }

    fn pull_back_state(&mut self, slot: usize, w: &[f64], y_bar: &mut [f64]) {
        let columns = self.back(slot, w, Some(y_bar));
        let x_bar = &mut self.x[..y_bar.len()];
        x_bar.fill(0.0);
        self.network.pull_back_state(slot, &self.o_bar[..columns * self.form.flows.len()], x_bar);
        self.add_coordinates(slot, columns, y_bar);
    }

    fn pull_back_parameters(&mut self, slot: usize, w: &[f64]) {
        let columns = self.back(slot, w, None);
        self.network.pull_back_parameters(slot, &self.o_bar[..columns * self.form.flows.len()]);
    }

    fn flush(&mut self, theta_bar: &mut [f64]) {
        self.network.flush(theta_bar);
    }

    fn effect_len(&self) -> usize {
        self.network.effect_len()
    }

    fn set_effects(&mut self, effects: &[f64]) {
        self.network.set_effects(effects);
    }

    fn flush_effects(&mut self, effects_bar: &mut [f64]) {
        self.network.flush_effects(effects_bar);
    }

    fn guard(&mut self) -> Option<&mut dyn StepGuard> {
        Some(&mut self.guard)
    }

    fn fork(&self) -> Box<dyn VectorField> {
        Box::new(Self::around(self.network.fork(), Arc::clone(&self.form)))
    }
}
