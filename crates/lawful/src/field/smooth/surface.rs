//! The laws of a surface: their residuals, gradients and second derivatives, column after column.
//!
//! All of it is in scaled coordinates: `c = (e(t, y) − level)/size`, and a row of `A` is
//! `∇e ∘ s/size` with the sizes `s` of the states, so that the numbers are of order one in any units.

use lawful_law::{Quantity, Steps, Workspace};

/// A quantity with its differential, and its size.
#[derive(Debug, Clone)]
pub(super) struct SurfaceLaw {
    /// Its name, for messages.
    pub(super) name: String,
    quantity: Quantity,
    differential: Quantity,
    /// Whether its value is 0, or each trajectory has its own.
    pub(super) is_zero: bool,
    /// Its size, above 0.
    pub(super) size: f64,
}

impl SurfaceLaw {
    pub(super) fn new(name: &str, quantity: Quantity, is_zero: bool, size: f64) -> Self {
        let differential = quantity.differential();
        Self { name: name.to_owned(), quantity, differential, is_zero, size }
    }
}

/// Laws over the same state, with the buffers of their sweeps.
#[derive(Debug, Clone)]
pub(super) struct Surface {
    pub(super) laws: Vec<SurfaceLaw>,
    /// `s`: the size of each state variable.
    pub(super) scale: Vec<f64>,
    inputs: usize,
    workspace: Workspace,
    /// Rows `(y, ẏ, ṫ)`, the adjoints of them, values and ones, of all columns.
    rows: Vec<f64>,
    rows_bar: Vec<f64>,
    values: Vec<f64>,
    ones: Vec<f64>,
    /// Zeros: no quantity here depends on inputs.
    u: Vec<f64>,
}

/// A differential and its gradient, of one column after the other.
pub(super) struct Sweep<'a> {
    /// `Σ ∂e/∂y_i ẏ_i + ∂e/∂t ṫ`
    pub(super) values: &'a [f64],
    rows_bar: &'a [f64],
    scale: &'a [f64],
    size: f64,
}

impl Sweep<'_> {
    /// The derivative of the differential by `y`.
    pub(super) fn by_state(&self, column: usize) -> &[f64] {
        let d = self.scale.len();
        &self.rows_bar[column * (2 * d + 1)..][..d]
    }

    /// `∇e`
    pub(super) fn gradient(&self, column: usize) -> &[f64] {
        let d = self.scale.len();
        &self.rows_bar[column * (2 * d + 1) + d..][..d]
    }

    /// Writes the scaled gradient, `∇e ∘ s/size`.
    pub(super) fn row(&self, column: usize, row: &mut [f64]) {
        for ((row, x), s) in row.iter_mut().zip(self.gradient(column)).zip(self.scale) {
            *row = x * s / self.size;
        }
    }
}

/// Grows a buffer to this length.
pub(super) fn grow(buffer: &mut Vec<f64>, len: usize) {
    if buffer.len() < len {
        buffer.resize(len, 0.0);
    }
}

impl Surface {
    pub(super) fn new(laws: Vec<SurfaceLaw>, scale: &[f64], inputs: usize) -> Self {
        Self {
            laws,
            scale: scale.to_vec(),
            inputs,
            workspace: Workspace::new(),
            rows: Vec::new(),
            rows_bar: Vec::new(),
            values: Vec::new(),
            ones: Vec::new(),
            u: Vec::new(),
        }
    }

    /// State variables.
    pub(super) fn d(&self) -> usize {
        self.scale.len()
    }

    pub(super) fn len(&self) -> usize {
        self.laws.len()
    }

    /// Reserves buffers for this number of columns.
    pub(super) fn reserve(&mut self, columns: usize) {
        let width = 2 * self.d() + 1;
        grow(&mut self.rows, columns * width);
        grow(&mut self.rows_bar, columns * width);
        grow(&mut self.values, columns);
        grow(&mut self.u, columns * self.inputs);
        if self.ones.len() < columns {
            self.ones.resize(columns, 1.0);
        }
    }

    /// The differential of a law in the direction `(p, time)`, and its gradient, at every column.
    pub(super) fn sweep(
        &mut self,
        law: usize,
        t: &[f64],
        y: &[f64],
        p: &[f64],
        time: f64,
    ) -> Sweep<'_> {
        let (d, columns) = (self.d(), t.len());
        let width = 2 * d + 1;
        let rows = &mut self.rows[..columns * width];
        for ((row, y), p) in
            rows.chunks_exact_mut(width).zip(y.chunks_exact(d)).zip(p.chunks_exact(d))
        {
            row[..d].copy_from_slice(y);
            row[d..2 * d].copy_from_slice(p);
            row[2 * d] = time;
        }
        let steps = Steps { times: t, states: rows, inputs: &self.u[..columns * self.inputs] };
        let (values, rows_bar) =
            (&mut self.values[..columns], &mut self.rows_bar[..columns * width]);
        let differential = &self.laws[law].differential;
        differential.values(&steps, &mut self.workspace, values);
        rows_bar.fill(0.0);
        differential.pull_back(&steps, &mut self.workspace, &self.ones[..columns], rows_bar);
        Sweep { values, rows_bar, scale: &self.scale, size: self.laws[law].size }
    }

    /// The value of a law's quantity at one state.
    pub(super) fn value(&mut self, law: usize, t: f64, y: &[f64]) -> f64 {
        let (times, mut value) = ([t], [0.0]);
        let steps = Steps { times: &times, states: y, inputs: &self.u[..self.inputs] };
        self.laws[law].quantity.values(&steps, &mut self.workspace, &mut value);
        value[0]
    }

    /// The value and the scaled gradient, `∇e ∘ s/size`, of a law's quantity at one state.
    pub(super) fn value_and_row(&mut self, law: usize, t: f64, y: &[f64], row: &mut [f64]) -> f64 {
        let (times, mut value) = ([t], [0.0]);
        let steps = Steps { times: &times, states: y, inputs: &self.u[..self.inputs] };
        let SurfaceLaw { quantity, size, .. } = &self.laws[law];
        quantity.values(&steps, &mut self.workspace, &mut value);
        row.fill(0.0);
        quantity.pull_back(&steps, &mut self.workspace, &self.ones[..1], row);
        row.iter_mut().zip(&self.scale).for_each(|(x, s)| *x = *x * s / size);
        value[0]
    }

    /// Adds `factor ∇e` at one state to `y_bar`.
    pub(super) fn add_gradient(
        &mut self,
        law: usize,
        t: f64,
        y: &[f64],
        factor: f64,
        y_bar: &mut [f64],
    ) {
        let (times, mut value) = ([t], [0.0]);
        let steps = Steps { times: &times, states: y, inputs: &self.u[..self.inputs] };
        let quantity = &self.laws[law].quantity;
        quantity.values(&steps, &mut self.workspace, &mut value);
        quantity.pull_back(&steps, &mut self.workspace, &[factor], y_bar);
    }
}
