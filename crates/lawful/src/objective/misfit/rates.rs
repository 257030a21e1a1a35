//! The rates of the field at law points, for laws with `rate(e) = ∇e·f + ∂e/∂t`.
//!
//! They are evaluations of the field that training solves, with everything that is part of it, at the states
//! of the path: the adjoint `w` of a rate adds `(∂f/∂y)ᵀ w` to that of the state and `(∂f/∂θ)ᵀ w` to that of
//! θ. The pull-back evaluates the field again, so that memory does not grow with the number of points.

use lawful_ode::VectorField;

/// Points that are evaluated together.
const COLUMNS: usize = 32;

/// A field that computes rates along a path, at the user's times.
pub(super) struct Rates {
    field: Box<dyn VectorField>,
    /// Adjoint of the field's parameters.
    theta_bar: Vec<f64>,
    /// Scratch: rates that are computed again.
    again: Vec<f64>,
}

/// States of a path, row after row.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    pub(super) times: &'a [f64],
    pub(super) states: &'a [f64],
    pub(super) inputs: &'a [f64],
}

impl Rows<'_> {
    /// Rows `first..first + n`, with the inputs only if the field has `inputs` of them.
    fn part(&self, first: usize, n: usize, inputs: usize) -> Self {
        let d = self.states.len() / self.times.len();
        Self {
            times: &self.times[first..][..n],
            states: &self.states[first * d..][..n * d],
            inputs: &self.inputs[first * inputs..][..n * inputs],
        }
    }
}

impl Rates {
    pub(super) fn new(mut field: Box<dyn VectorField>) -> Self {
        field.reserve(1, COLUMNS);
        let theta_bar = vec![0.0; field.parameter_len()];
        let again = vec![0.0; COLUMNS * field.state_len()];
        Self { field, theta_bar, again }
    }

    /// Writes the rates at θ, laid out as the states.
    pub(super) fn evaluate(&mut self, theta: &[f64], rows: Rows<'_>, rates: &mut [f64]) {
        let Self { field, .. } = self;
        let (d, m) = (field.state_len(), field.input_len());
        field.set_parameters(theta);
        for (chunk, rates) in rates.chunks_mut(COLUMNS * d).enumerate() {
            let Rows { times, states, inputs } = rows.part(chunk * COLUMNS, rates.len() / d, m);
            field.eval(0, times, states, inputs, rates);
        }
    }

    /// Adds the adjoints of the states; θ is that of [`evaluate`](Self::evaluate). Those of θ are kept for
    /// [`add_to`](Self::add_to).
    pub(super) fn pull_back(&mut self, rows: Rows<'_>, rates_bar: &[f64], state_bar: &mut [f64]) {
        let Self { field, theta_bar, again } = self;
        let (d, m) = (field.state_len(), field.input_len());
        let bars = rates_bar.chunks(COLUMNS * d).zip(state_bar.chunks_mut(COLUMNS * d));
        for (chunk, (bar, state_bar)) in bars.enumerate() {
            if bar.iter().all(|bar| *bar == 0.0) {
                continue;
            }
            let Rows { times, states, inputs } = rows.part(chunk * COLUMNS, bar.len() / d, m);
            field.eval(0, times, states, inputs, &mut again[..bar.len()]);
            field.pull_back(0, bar, state_bar);
        }
        theta_bar.fill(0.0);
        field.flush(theta_bar);
    }

    /// Adds the adjoint of θ from the last pull-back.
    pub(super) fn add_to(&self, bar: &mut [f64]) {
        bar.iter_mut().zip(&self.theta_bar).for_each(|(sum, bar)| *sum += bar);
    }
}

impl std::fmt::Debug for Rates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rates").field("parameters", &self.theta_bar.len()).finish_non_exhaustive()
    }
}
