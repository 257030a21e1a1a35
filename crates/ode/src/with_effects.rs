//! A field with effects: numbers of each column that it reads beside the state.

use crate::VectorField;

/// A field whose last state variables are the effects of the column instead.
///
/// ```text
/// f(t, y, u; e) = g(t, (y, e), u)
/// ```
///
/// Outside, the effects are neither states nor parameters: they do not change along a path, no tolerance of
/// a solver and no law sees them, and every column has its own. `(∂g/∂e)ᵀ w` is gathered for each column.
pub struct WithEffects {
    field: Box<dyn VectorField>,
    effects: usize,
    /// The effects of the columns, and their accumulated adjoints.
    values: Vec<f64>,
    bars: Vec<f64>,
    /// Scratch: states with the effects behind each, their adjoints, and the inner Jacobian.
    rows: Vec<f64>,
    inner: Vec<f64>,
}

impl WithEffects {
    /// Creates a field that passes this many effects to `field` as its last state variables.
    ///
    /// # Panics
    /// If there are no effects, if the field has fewer state variables than effects, or a guard, which would
    /// see them.
    pub fn new(mut field: Box<dyn VectorField>, effects: usize) -> Self {
        assert!(
            (1..=field.state_len()).contains(&effects),
            "the effects are among the field's state variables"
        );
        assert!(field.guard().is_none(), "a field with a guard is the outermost one");
        let (values, bars, rows, inner) = Default::default();
        Self { field, effects, values, bars, rows, inner }
    }

    /// Pulls back in the inner field by `pull`, then adds the adjoints of the states and gathers those of the
    /// effects, where they are wanted.
    #[inline]
    fn back(
        &mut self,
        w: &[f64],
        y_bar: Option<&mut [f64]>,
        gathers: bool,
        pull: impl Fn(&mut dyn VectorField, &mut [f64]),
    ) {
        let (width, d) = (self.field.state_len(), self.state_len());
        let columns = w.len() / self.field.output_len();
        let Self { field, effects, bars, rows, .. } = self;
        let rows = &mut rows[..columns * width];
        rows.fill(0.0);
        pull(&mut **field, rows);
        if let Some(y_bar) = y_bar {
            for (row, y_bar) in rows.chunks_exact(width).zip(y_bar.chunks_exact_mut(d)) {
                y_bar.iter_mut().zip(row).for_each(|(sum, bar)| *sum += bar);
            }
        }
        if gathers {
            let rows = rows.chunks_exact(width).map(|row| &row[d..]);
            for (row, bars) in rows.zip(bars.chunks_exact_mut(*effects)) {
                bars.iter_mut().zip(row).for_each(|(sum, bar)| *sum += bar);
            }
        }
    }
}

impl VectorField for WithEffects {
    fn state_len(&self) -> usize {
        self.field.state_len() - self.effects
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
        self.bars.fill(0.0);
    }

    fn reserve(&mut self, slots: usize, columns: usize) {
        self.field.reserve(slots, columns);
        let (width, outputs) = (self.field.state_len(), self.field.output_len());
        for (buffer, len) in [
            (&mut self.rows, columns * width),
            (&mut self.inner, columns * outputs * width),
            (&mut self.values, columns * self.effects),
            (&mut self.bars, columns * self.effects),
        ] {
            if buffer.len() < len {
                buffer.resize(len, 0.0);
            }
        }
    }

    fn slot_bytes(&self, columns: usize) -> usize {
        self.field.slot_bytes(columns)
    }

    fn eval(&mut self, slot: usize, t: &[f64], y: &[f64], u: &[f64], dy: &mut [f64]) {
        let (width, d) = (self.field.state_len(), self.state_len());
        let rows = &mut self.rows[..t.len() * width];
        let columns = y.chunks_exact(d).zip(self.values.chunks_exact(self.effects));
        for (row, (y, effects)) in rows.chunks_exact_mut(width).zip(columns) {
            row[..d].copy_from_slice(y);
            row[d..].copy_from_slice(effects);
        }
        self.field.eval(slot, t, rows, u, dy);
    }

    fn pull_back(&mut self, slot: usize, w: &[f64], y_bar: &mut [f64]) {
        self.back(w, Some(y_bar), true, |field, rows| field.pull_back(slot, w, rows));
    }

    fn pull_back_state(&mut self, slot: usize, w: &[f64], y_bar: &mut [f64]) {
        self.back(w, Some(y_bar), false, |field, rows| field.pull_back_state(slot, w, rows));
    }

    fn pull_back_parameters(&mut self, slot: usize, w: &[f64]) {
        self.back(w, None, true, |field, rows| field.pull_back(slot, w, rows));
    }

    fn jacobian(&mut self, slot: usize, jacobian: &mut [f64]) {
        let (width, d) = (self.field.state_len(), self.state_len());
        let inner = &mut self.inner[..jacobian.len() / d * width];
        self.field.jacobian(slot, inner);
        for (row, inner) in jacobian.chunks_exact_mut(d).zip(inner.chunks_exact(width)) {
            row.copy_from_slice(&inner[..d]);
        }
    }

    fn flush(&mut self, theta_bar: &mut [f64]) {
        self.field.flush(theta_bar);
    }

    fn effect_len(&self) -> usize {
        self.effects
    }

    fn set_effects(&mut self, effects: &[f64]) {
        if self.values.len() < effects.len() {
            self.values.resize(effects.len(), 0.0);
            self.bars.resize(effects.len(), 0.0);
        }
        let (own, beyond) = self.values.split_at_mut(effects.len());
        own.copy_from_slice(effects);
        beyond.fill(0.0);
        self.bars.fill(0.0);
    }

    fn flush_effects(&mut self, effects_bar: &mut [f64]) {
        for (sum, bar) in effects_bar.iter_mut().zip(&mut self.bars) {
            *sum += std::mem::take(bar);
        }
    }

    fn fork(&self) -> Box<dyn VectorField> {
        let mut fork = Self::new(self.field.fork(), self.effects);
        fork.set_effects(&self.values);
        Box::new(fork)
    }
}
