//! A field that computes in units of order one, in the user's units outside.

use crate::VectorField;

/// Centres and scales of time, state, inputs and rates of a [`Scaled`] field.
///
/// ```text
/// f(t, y, u) = rate ∘ g((t − t₀)/T, (y − m)/s, (u − a)/b)
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Scaling {
    /// `m`: centre of each state variable, 0 inside.
    pub state_centre: Vec<f64>,
    /// `s`: scale of each state variable; above 0.
    pub state: Vec<f64>,
    /// `rate`: scale of each output; above 0.
    pub rate: Vec<f64>,
    /// `a`: centre of each input, 0 inside.
    pub input_centre: Vec<f64>,
    /// `b`: scale of each input; above 0.
    pub input: Vec<f64>,
    /// `t₀`: centre of time, 0 inside.
    pub time_centre: f64,
    /// `T`: scale of time; above 0.
    pub time: f64,
}

impl Scaling {
    /// Returns centres 0 and scales 1, which change nothing.
    pub fn none(states: usize, inputs: usize) -> Self {
        Self {
            state_centre: vec![0.0; states],
            state: vec![1.0; states],
            rate: vec![1.0; states],
            input_centre: vec![0.0; inputs],
            input: vec![1.0; inputs],
            time_centre: 0.0,
            time: 1.0,
        }
    }

    /// `inner = rate ∘ w` for every column.
    #[inline]
    fn rates_inwards(&self, inner: &mut [f64], w: &[f64]) {
        let outputs = self.rate.len();
        for (inner, w) in inner.chunks_exact_mut(outputs).zip(w.chunks_exact(outputs)) {
            for ((inner, w), rate) in inner.iter_mut().zip(w).zip(&self.rate) {
                *inner = w * rate;
            }
        }
    }

    /// `y_bar += (1/s) ∘ inner` for every column.
    #[inline]
    fn add_outwards(&self, y_bar: &mut [f64], inner: &[f64]) {
        let d = self.state.len();
        for (bar, inner) in y_bar.chunks_exact_mut(d).zip(inner.chunks_exact(d)) {
            for ((bar, inner), scale) in bar.iter_mut().zip(inner).zip(&self.state) {
                *bar += inner / scale;
            }
        }
    }
}

/// A field that computes in units of order one, seen from outside in the user's units.
///
/// Its pull-back is `ȳ += (1/s) ∘ ḡ`, with ḡ the inner field's pull-back of `rate ∘ w`. θ is the
/// inner field's.
pub struct Scaled {
    field: Box<dyn VectorField>,
    scaling: Scaling,
    /// Times, states and inputs, or adjoints, of all columns in inner units.
    t: Vec<f64>,
    y: Vec<f64>,
    u: Vec<f64>,
    w: Vec<f64>,
}

impl Scaled {
    /// Wraps a field in a scaling.
    ///
    /// # Errors
    /// If the lengths of the scaling are not the field's.
    ///
    /// # Panics
    /// If the field has a guard, which would see states in inner units: guards are outermost.
    pub fn new(mut field: Box<dyn VectorField>, scaling: Scaling) -> Result<Self, ScalingError> {
        assert!(field.guard().is_none(), "a field with a guard is the outermost part");
        let (d, m) = (field.state_len(), field.input_len());
        for (scale, found, expected) in [
            ("state_centre", scaling.state_centre.len(), d),
            ("state", scaling.state.len(), d),
            ("rate", scaling.rate.len(), field.output_len()),
            ("input_centre", scaling.input_centre.len(), m),
            ("input", scaling.input.len(), m),
        ] {
            if found != expected {
                return Err(ScalingError { scale, found, expected });
            }
        }
        Ok(Self::around(field, scaling))
    }

    fn around(field: Box<dyn VectorField>, scaling: Scaling) -> Self {
        Self { field, scaling, t: Vec::new(), y: Vec::new(), u: Vec::new(), w: Vec::new() }
    }
}

/// A scaling has another length than the field that it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScalingError {
    /// Name of the member of [`Scaling`].
    pub scale: &'static str,
    /// Its length.
    pub found: usize,
    /// The field's number of state variables, outputs or inputs.
    pub expected: usize,
}

impl std::fmt::Display for ScalingError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { scale, found, expected } = self;
        write!(f, "`{scale}` has {found} numbers, but the field needs {expected}")
    }
}

impl std::error::Error for ScalingError {}

/// `to = (from − centre)/scale`, column after column.
fn inwards(to: &mut [f64], from: &[f64], centre: &[f64], scale: &[f64]) {
    let width = centre.len();
    if width == 0 {
        return;
    }
    for (to, from) in to.chunks_exact_mut(width).zip(from.chunks_exact(width)) {
        for (((to, from), centre), scale) in to.iter_mut().zip(from).zip(centre).zip(scale) {
            *to = (from - centre) / scale;
        }
    }
}

impl VectorField for Scaled {
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
        let (d, m, outputs) = (self.state_len(), self.input_len(), self.output_len());
        for (buffer, width) in
            [(&mut self.t, 1), (&mut self.y, d), (&mut self.u, m), (&mut self.w, outputs)]
        {
            if buffer.len() < columns * width {
                buffer.resize(columns * width, 0.0);
            }
        }
    }

    fn slot_bytes(&self, columns: usize) -> usize {
        self.field.slot_bytes(columns)
    }

    fn eval(&mut self, slot: usize, t: &[f64], y: &[f64], u: &[f64], dy: &mut [f64]) {
        let Self { scaling, field, .. } = self;
        let (inner_t, inner_y) = (&mut self.t[..t.len()], &mut self.y[..y.len()]);
        let inner_u = &mut self.u[..u.len()];
        inwards(inner_t, t, &[scaling.time_centre], &[scaling.time]);
        inwards(inner_y, y, &scaling.state_centre, &scaling.state);
        inwards(inner_u, u, &scaling.input_centre, &scaling.input);
        field.eval(slot, inner_t, inner_y, inner_u, dy);
        for dy in dy.chunks_exact_mut(scaling.rate.len()) {
            for (dy, rate) in dy.iter_mut().zip(&scaling.rate) {
                *dy *= rate;
            }
        }
    }

    fn pull_back(&mut self, slot: usize, w: &[f64], y_bar: &mut [f64]) {
        let Self { scaling, field, .. } = self;
        let (inner_w, inner_bar) = (&mut self.w[..w.len()], &mut self.y[..y_bar.len()]);
        scaling.rates_inwards(inner_w, w);
        inner_bar.fill(0.0);
        field.pull_back(slot, inner_w, inner_bar);
        scaling.add_outwards(y_bar, inner_bar);
    }

    fn pull_back_state(&mut self, slot: usize, w: &[f64], y_bar: &mut [f64]) {
        let Self { scaling, field, .. } = self;
        let (inner_w, inner_bar) = (&mut self.w[..w.len()], &mut self.y[..y_bar.len()]);
        scaling.rates_inwards(inner_w, w);
        inner_bar.fill(0.0);
        field.pull_back_state(slot, inner_w, inner_bar);
        scaling.add_outwards(y_bar, inner_bar);
    }

    fn pull_back_parameters(&mut self, slot: usize, w: &[f64]) {
        let inner_w = &mut self.w[..w.len()];
        self.scaling.rates_inwards(inner_w, w);
        self.field.pull_back_parameters(slot, inner_w);
    }

    /// `∂f_o/∂y_i = rate_o · ∂g_o/∂y_i / s_i`.
    fn jacobian(&mut self, slot: usize, jacobian: &mut [f64]) {
        let Self { scaling, field, .. } = self;
        field.jacobian(slot, jacobian);
        let rates = scaling.rate.iter().cycle();
        for (row, rate) in jacobian.chunks_exact_mut(scaling.state.len()).zip(rates) {
            for (entry, scale) in row.iter_mut().zip(&scaling.state) {
                *entry *= rate / scale;
            }
        }
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

    fn fork(&self) -> Box<dyn VectorField> {
        Box::new(Self::around(self.field.fork(), self.scaling.clone()))
    }
}
