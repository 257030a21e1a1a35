//! Buffers of the current step and of its adjoint.

use crate::path::Step;
use crate::solve::guarded::Guarded;

/// Buffers of one step; blocks of columns are flat, see [`VectorField`](crate::VectorField).
#[derive(Debug, Clone, Default)]
pub(crate) struct Workspace {
    /// The step of each active column.
    pub(crate) steps: Vec<Step>,
    /// The step size of each entry's column: columns × state.
    pub(crate) h: Vec<f64>,
    /// Next observation of each column (solve) or the last one not yet passed (adjoint).
    pub(crate) rows: Vec<usize>,
    /// State at the step's start.
    pub(crate) y: Vec<f64>,
    /// State at its end.
    pub(crate) next: Vec<f64>,
    /// Derivatives of the own stages and, as the last, of the end: stages × columns × state.
    pub(crate) k: Vec<f64>,
    /// Argument `Y_i` of a stage; also the error estimate.
    pub(crate) stage: Vec<f64>,
    /// Times of a stage.
    pub(crate) t: Vec<f64>,
    /// Inputs of a stage.
    pub(crate) u: Vec<f64>,
    /// Inputs at the start of the next step.
    pub(crate) u_next: Vec<f64>,
    /// Weights of the dense output.
    pub(crate) weights: Vec<f64>,

    /// λ: adjoint of the state at the step's end, then of the one at its start.
    pub(crate) y_bar: Vec<f64>,
    /// Adjoints of `k`.
    pub(crate) k_bar: Vec<f64>,
    /// Adjoint of a first stage that is the end stage of the step before.
    pub(crate) carried_bar: Vec<f64>,
    /// Contribution of observations inside the step to the adjoint of the state at its start.
    pub(crate) start_bar: Vec<f64>,
    /// `Ȳ_i`, adjoint of a stage's argument.
    pub(crate) stage_bar: Vec<f64>,

    /// Buffers of a field with a guard.
    pub(crate) guarded: Guarded,
}

impl Workspace {
    /// Sizes the buffers of a solve.
    pub(crate) fn prepare(&mut self, columns: usize, d: usize, m: usize, own_stages: usize) {
        let n = columns * d;
        for block in [&mut self.y, &mut self.next, &mut self.stage] {
            zeroed(block, n);
        }
        zeroed(&mut self.k, (own_stages + 1) * n);
        zeroed(&mut self.t, columns);
        zeroed(&mut self.u, columns * m);
        zeroed(&mut self.u_next, columns * m);
        zeroed(&mut self.weights, own_stages + 1);
        self.guarded.corrected = 0;
        self.rows.clear();
        self.rows.resize(columns, 1);
    }

    /// Sets the step of each active column, of `d` variables each.
    pub(crate) fn set_steps(&mut self, d: usize, steps: impl Iterator<Item = Step>) {
        self.steps.clear();
        self.h.clear();
        for step in steps {
            self.steps.push(step);
            self.h.extend(std::iter::repeat_n(step.size(), d));
        }
    }

    /// Sizes the buffers of the adjoint.
    pub(crate) fn prepare_back(&mut self, columns: usize, d: usize, own_stages: usize) {
        let n = columns * d;
        for block in [&mut self.y_bar, &mut self.carried_bar, &mut self.start_bar] {
            zeroed(block, n);
        }
        zeroed(&mut self.stage_bar, n);
        zeroed(&mut self.k_bar, (own_stages + 1) * n);
    }
}

/// Sets a buffer to `len` zeros.
pub(crate) fn zeroed(buffer: &mut Vec<f64>, len: usize) {
    buffer.clear();
    buffer.resize(len, 0.0);
}
