//! The right-hand side of an ODE, `dy/dt = f(t, y, u; θ)`, with its exact pull-back.
//!
//! Everything works on *columns*: several states that share θ are evaluated at once. A block of
//! columns is a flat slice, one column after the other (`y[column * state_len + variable]`), and
//! every column has a time of its own.

use crate::guard::StepGuard;

/// Right-hand side `f(t, y, u; θ)` that records what its own pull-back needs.
///
/// The solver numbers the evaluations of a solve with *slots*. For each slot the field stores what
/// its pull-backs need:
///
/// | method | effect on the slot | calls per evaluation |
/// |---|---|---|
/// | [`eval`](Self::eval) | overwrites it | |
/// | [`pull_back`](Self::pull_back), [`pull_back_parameters`](Self::pull_back_parameters) | read it | one of them, once |
/// | [`pull_back_state`](Self::pull_back_state), [`jacobian`](Self::jacobian) | read it | any number, before and after |
///
/// The number of columns may differ from slot to slot; a pull-back is given as many columns as its
/// evaluation.
///
/// The two partial pull-backs are required; their default composition
/// [`pull_back`](Self::pull_back) is worth overriding where one pass computes both. A right-hand
/// side without a tape of its own is easier to write as [`Equations`], wrapped in [`Recorded`].
pub trait VectorField: Send {
    /// Number of state variables.
    fn state_len(&self) -> usize;

    /// Number of rates that it computes: one for each state variable, unless it is a part of
    /// another field.
    fn output_len(&self) -> usize {
        self.state_len()
    }

    /// Number of exogenous inputs `u(t)`.
    fn input_len(&self) -> usize {
        0
    }

    /// Number of parameters θ.
    fn parameter_len(&self) -> usize;

    /// Sets θ, stored in any form that is fast to use (packed, cast), and drops pull-backs that
    /// were not flushed. Called once per iteration.
    fn set_parameters(&mut self, theta: &[f64]);

    /// Reserves slots `0..slots` of at most `columns` columns each. Buffers grow and stay. Called
    /// before the first evaluation of a solve, and by an adaptive solve whenever it needs more.
    fn reserve(&mut self, slots: usize, columns: usize);

    /// Returns the bytes of tape of one slot of `columns` columns.
    fn slot_bytes(&self, columns: usize) -> usize;

    /// `dy = f(t, y, u; θ)` for each column, recorded in `slot`.
    ///
    /// Lengths: `t` columns, `y` columns × state, `dy` columns × outputs, `u` columns × inputs.
    fn eval(&mut self, slot: usize, t: &[f64], y: &[f64], u: &[f64], dy: &mut [f64]);

    /// Adds `(∂f/∂y)ᵀ w` to `y_bar` for each column of `slot`, and queues `(∂f/∂θ)ᵀ w` for
    /// [`flush`](Self::flush) with everything it needs: the slot may be evaluated again before.
    ///
    /// Lengths: `w` columns × outputs, `y_bar` columns × state.
    fn pull_back(&mut self, slot: usize, w: &[f64], y_bar: &mut [f64]) {
        self.pull_back_state(slot, w, y_bar);
        self.pull_back_parameters(slot, w);
    }

    /// Adds `(∂f/∂y)ᵀ w` to `y_bar` for each column of `slot`. Queues nothing, and leaves the
    /// pending parameter pull-backs as they are.
    ///
    /// Lengths as in [`pull_back`](Self::pull_back).
    fn pull_back_state(&mut self, slot: usize, w: &[f64], y_bar: &mut [f64]);

    /// Queues `(∂f/∂θ)ᵀ w` of all columns of `slot` for [`flush`](Self::flush).
    ///
    /// Length: `w` columns × outputs.
    fn pull_back_parameters(&mut self, slot: usize, w: &[f64]);

    /// Writes `∂f/∂y` of each column of `slot`, exact in the arithmetic of the field. Queues
    /// nothing.
    ///
    /// Length: columns × outputs × state. Columns follow each other, and the matrix of a column is
    /// row-major: `∂f_o/∂y_i` of a column is at `(column * outputs + o) * state + i`.
    ///
    /// The default pulls back one unit covector per output and allocates two vectors for that; the
    /// fields of this crate allocate only at the first call.
    fn jacobian(&mut self, slot: usize, jacobian: &mut [f64]) {
        jacobian_by_rows(self, slot, jacobian, &mut Vec::new());
    }

    /// `theta_bar += Σ (∂f/∂θ)ᵀ w` over all pull-backs since the last flush.
    fn flush(&mut self, theta_bar: &mut [f64]);

    /// Number of effects: numbers that each column has of its own and that do not change along its path, such
    /// as random effects of subjects. They are 0 until they are set.
    fn effect_len(&self) -> usize {
        0
    }

    /// Sets the effects of each column, one column after the other, and drops their pull-backs that were not
    /// flushed. Columns beyond the list have effects of 0.
    ///
    /// A column has the same effects in every slot: those of a solve are set before it, and again before a
    /// pull-back if the field has solved other columns in between.
    fn set_effects(&mut self, effects: &[f64]) {
        let _ = effects;
    }

    /// `effects_bar += Σ (∂f/∂e)ᵀ w` of each column, over all pull-backs with parameters since the last flush.
    ///
    /// Length: columns × effects.
    fn flush_effects(&mut self, effects_bar: &mut [f64]) {
        let _ = effects_bar;
    }

    /// Returns what corrects the steps of a solver, if the field guarantees laws that steps may break.
    fn guard(&mut self) -> Option<&mut dyn StepGuard> {
        None
    }

    /// Returns a copy for another thread: the same right-hand side and θ, with a tape of its own.
    fn fork(&self) -> Box<dyn VectorField>;
}

/// Writes the Jacobian row by row: the pull-back of the unit covector `e_o` in all columns is row o
/// of each of them. `scratch` grows and stays.
pub(crate) fn jacobian_by_rows<F: VectorField + ?Sized>(
    field: &mut F,
    slot: usize,
    jacobian: &mut [f64],
    scratch: &mut Vec<f64>,
) {
    let (d, outputs) = (field.state_len(), field.output_len());
    let matrix = outputs * d;
    let columns = jacobian.len().checked_div(matrix).unwrap_or(0);
    assert_eq!(jacobian.len(), columns * matrix, "one matrix of outputs × state per column");
    scratch.clear();
    scratch.resize(columns * (outputs + d), 0.0);
    let (w, y_bar) = scratch.split_at_mut(columns * outputs);
    for output in 0..outputs {
        w.fill(0.0);
        w.iter_mut().skip(output).step_by(outputs).for_each(|w| *w = 1.0);
        y_bar.fill(0.0);
        field.pull_back_state(slot, w, y_bar);
        let rows = jacobian.chunks_exact_mut(d).skip(output).step_by(outputs);
        rows.zip(y_bar.chunks_exact(d)).for_each(|(row, y_bar)| row.copy_from_slice(y_bar));
    }
}

/// Right-hand side of one column, without a tape: the easy way to write a vector field.
///
/// Wrap it in [`Recorded`] to make it a [`VectorField`].
pub trait Equations: Clone + Send + 'static {
    /// Number of state variables.
    fn state_len(&self) -> usize;

    /// Number of rates: one for each state variable, unless these are a part of another field.
    fn output_len(&self) -> usize {
        self.state_len()
    }

    /// Number of exogenous inputs `u(t)`.
    fn input_len(&self) -> usize {
        0
    }

    /// Number of parameters θ.
    fn parameter_len(&self) -> usize;

    /// Returns what corrects the steps of a solver, if these equations guarantee laws that steps may
    /// break.
    fn guard(&mut self) -> Option<&mut dyn StepGuard> {
        None
    }

    /// `dy = f(t, y, u; θ)`.
    fn eval(&mut self, theta: &[f64], t: f64, y: &[f64], u: &[f64], dy: &mut [f64]);

    /// `y_bar += (∂f/∂y)ᵀ w` and `theta_bar += (∂f/∂θ)ᵀ w`.
    #[expect(clippy::too_many_arguments, reason = "the point, the covector, and both results")]
    fn pull_back(
        &mut self,
        theta: &[f64],
        t: f64,
        y: &[f64],
        u: &[f64],
        w: &[f64],
        y_bar: &mut [f64],
        theta_bar: &mut [f64],
    );
}

/// [`Equations`] with a tape of stage inputs, from which pull-backs recompute.
#[derive(Clone)]
pub struct Recorded<E> {
    equations: E,
    theta: Vec<f64>,
    theta_bar: Vec<f64>,
    /// Target of the half of a pull-back that is not wanted: one adjoint of the state, and θ's.
    discarded: Vec<f64>,
    /// For Jacobians.
    scratch: Vec<f64>,
    /// Columns recorded in each slot.
    columns: Vec<usize>,
    /// Capacity of each slot in columns.
    width: usize,
    t: Vec<f64>,
    y: Vec<f64>,
    u: Vec<f64>,
}

impl<E: Equations> Recorded<E> {
    /// Wraps equations, at θ = 0.
    pub fn new(equations: E) -> Self {
        let parameters = equations.parameter_len();
        let discarded = vec![0.0; equations.state_len() + parameters];
        Self {
            equations,
            theta: vec![0.0; parameters],
            theta_bar: vec![0.0; parameters],
            discarded,
            scratch: Vec::new(),
            columns: Vec::new(),
            width: 0,
            t: Vec::new(),
            y: Vec::new(),
            u: Vec::new(),
        }
    }

    /// Pulls back through every column of `slot`, to the state if `y_bar` is given and to the
    /// parameters if `parameters`.
    #[inline]
    fn back(&mut self, slot: usize, w: &[f64], mut y_bar: Option<&mut [f64]>, parameters: bool) {
        let (d, m, outputs) = (self.state_len(), self.input_len(), self.output_len());
        let (no_state, no_parameters) = self.discarded.split_at_mut(d);
        for column in 0..self.columns[slot] {
            let cell = slot * self.width + column;
            self.equations.pull_back(
                &self.theta,
                self.t[cell],
                &self.y[cell * d..][..d],
                &self.u[cell * m..][..m],
                &w[column * outputs..][..outputs],
                y_bar.as_mut().map_or(&mut *no_state, |y_bar| &mut y_bar[column * d..][..d]),
                if parameters { &mut self.theta_bar } else { &mut *no_parameters },
            );
        }
    }
}

impl<E: Equations> VectorField for Recorded<E> {
    fn state_len(&self) -> usize {
        self.equations.state_len()
    }

    fn output_len(&self) -> usize {
        self.equations.output_len()
    }

    fn input_len(&self) -> usize {
        self.equations.input_len()
    }

    fn parameter_len(&self) -> usize {
        self.equations.parameter_len()
    }

    fn set_parameters(&mut self, theta: &[f64]) {
        self.theta.copy_from_slice(theta);
        self.theta_bar.fill(0.0);
    }

    fn reserve(&mut self, slots: usize, columns: usize) {
        if columns > self.width || slots > self.columns.len() {
            self.width = self.width.max(columns);
            let slots = slots.max(self.columns.len());
            let cells = slots * self.width;
            self.columns.resize(slots, 0);
            self.t.resize(cells, 0.0);
            self.y.resize(cells * self.state_len(), 0.0);
            self.u.resize(cells * self.input_len(), 0.0);
        }
    }

    fn slot_bytes(&self, columns: usize) -> usize {
        size_of::<usize>() + columns * (1 + self.state_len() + self.input_len()) * size_of::<f64>()
    }

    fn eval(&mut self, slot: usize, t: &[f64], y: &[f64], u: &[f64], dy: &mut [f64]) {
        let (d, m, outputs) = (self.state_len(), self.input_len(), self.output_len());
        self.columns[slot] = t.len();
        for (column, &t) in t.iter().enumerate() {
            let cell = slot * self.width + column;
            let y = &y[column * d..][..d];
            let u = &u[column * m..][..m];
            self.t[cell] = t;
            self.y[cell * d..][..d].copy_from_slice(y);
            self.u[cell * m..][..m].copy_from_slice(u);
            let dy = &mut dy[column * outputs..][..outputs];
            self.equations.eval(&self.theta, t, y, u, dy);
        }
    }

    fn pull_back(&mut self, slot: usize, w: &[f64], y_bar: &mut [f64]) {
        self.back(slot, w, Some(y_bar), true);
    }

    fn pull_back_state(&mut self, slot: usize, w: &[f64], y_bar: &mut [f64]) {
        self.back(slot, w, Some(y_bar), false);
    }

    fn pull_back_parameters(&mut self, slot: usize, w: &[f64]) {
        self.back(slot, w, None, true);
    }

    fn jacobian(&mut self, slot: usize, jacobian: &mut [f64]) {
        let mut scratch = std::mem::take(&mut self.scratch);
        jacobian_by_rows(self, slot, jacobian, &mut scratch);
        self.scratch = scratch;
    }

    fn flush(&mut self, theta_bar: &mut [f64]) {
        for (sum, part) in theta_bar.iter_mut().zip(&mut self.theta_bar) {
            *sum += std::mem::take(part);
        }
    }

    fn guard(&mut self) -> Option<&mut dyn StepGuard> {
        self.equations.guard()
    }

    fn fork(&self) -> Box<dyn VectorField> {
        let mut fork = self.clone();
        fork.theta_bar.fill(0.0);
        Box::new(fork)
    }
}
