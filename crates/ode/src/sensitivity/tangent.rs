//! The tangent of one step of any explicit tableau.
//!
//! ```text
//! S_i = S_n + h Σ_{j<i} a_ij K_j                  S_n = ∂y_n/∂(θ, e, y_0)
//! K_i = (∂f/∂y) S_i + [∂f/∂θ | ∂f/∂e | 0]          at the stage's slot
//! S_{n+1} = S_n + h Σ b_i K_i                     corrected, if the field has a guard
//! K_end = (∂f/∂y) S_{n+1} + [∂f/∂θ | ∂f/∂e | 0]    if needed
//! ```
//!
//! The rows of `∂f/∂θ` and of `∂f/∂e`, e the effects of the column, are pull-backs of unit covectors, so that every field has them exactly.

use crate::kernels::dispatch::vectorised;
use crate::solve::blocks::combine;
use crate::solve::log::Record;
use crate::solve::step::Stepper;
use crate::solve::workspace::zeroed;

/// Tangents of all columns with respect to `(θ, e, y_0)`; a matrix has a row for each state variable.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tangents {
    d: usize,
    parameters: usize,
    effects: usize,
    /// Own stages of the tableau.
    own: usize,
    /// `S_n` and `S_{n+1}` of each column.
    start: Vec<f64>,
    next: Vec<f64>,
    /// `K` of each column: own stages, then the end.
    k: Vec<f64>,
    /// `S_i` of all columns.
    stage: Vec<f64>,
    /// The step size of a column, once for each number of a matrix.
    h: Vec<f64>,
    /// `∂f/∂y` of all columns, and one row of `∂f/∂θ` and of each column's `∂f/∂e`.
    jacobian: Vec<f64>,
    row: Vec<f64>,
    /// Unit covector.
    w: Vec<f64>,
    /// What a guard needs: adjoints of a unit covector.
    pub(super) bars: Bars,
}

/// Adjoints of a unit covector of a guard's results.
#[derive(Debug, Clone, Default)]
pub(super) struct Bars {
    pub(super) unit: Vec<f64>,
    pub(super) start: Vec<f64>,
    pub(super) end: Vec<f64>,
    /// Stages × columns × state.
    pub(super) k: Vec<f64>,
    /// A corrected matrix.
    pub(super) corrected: Vec<f64>,
}

/// Which of the three matrices a stage is evaluated at.
enum At {
    Start,
    Stage,
    End,
}

impl Tangents {
    /// Sizes the buffers; every column starts at `[0 | I]`.
    pub(super) fn prepare(
        &mut self,
        columns: usize,
        d: usize,
        (parameters, effects): (usize, usize),
        own: usize,
    ) {
        (self.d, self.parameters, self.effects, self.own) = (d, parameters, effects, own);
        let (width, len) = (self.width(), self.len());
        for block in [&mut self.start, &mut self.next, &mut self.stage] {
            zeroed(block, columns * len);
        }
        zeroed(&mut self.k, columns * (own + 1) * len);
        zeroed(&mut self.h, len);
        zeroed(&mut self.jacobian, columns * d * d);
        zeroed(&mut self.row, parameters + columns * effects);
        zeroed(&mut self.w, columns * d);
        for bar in [&mut self.bars.unit, &mut self.bars.start, &mut self.bars.end] {
            zeroed(bar, d);
        }
        zeroed(&mut self.bars.k, (own + 1) * columns * d);
        zeroed(&mut self.bars.corrected, len);
        for matrix in self.start.chunks_exact_mut(len) {
            for (i, row) in matrix.chunks_exact_mut(width).enumerate() {
                row[parameters + effects + i] = 1.0;
            }
        }
    }

    /// Returns the length of one matrix.
    pub(super) fn len(&self) -> usize {
        self.d * self.width()
    }

    /// Returns the length of a row.
    pub(super) fn width(&self) -> usize {
        self.parameters + self.effects + self.d
    }

    /// Returns `S_n` of a column.
    pub(super) fn state(&self, column: usize) -> &[f64] {
        &self.start[column * self.len()..][..self.len()]
    }

    /// Returns `S_{n+1}` of a column.
    pub(super) fn end_state(&self, column: usize) -> &[f64] {
        &self.next[column * self.len()..][..self.len()]
    }

    /// Returns `S_{n+1}` of a column for change.
    pub(super) fn end_state_mut(&mut self, column: usize) -> &mut [f64] {
        let len = self.len();
        &mut self.next[column * len..][..len]
    }

    /// Returns `K` of a stage of a column.
    pub(super) fn stage(&self, stage: usize, column: usize) -> &[f64] {
        let len = self.len();
        &self.k[(column * (self.own + 1) + stage) * len..][..len]
    }

    /// The stages of the step in `record`, and `S_{n+1}` as the tableau computes it.
    pub(super) fn advance(&mut self, stepper: &mut Stepper<'_>, record: &Record) {
        let (tableau, columns) = (stepper.tableau, record.columns);
        if !record.reused {
            self.evaluate(stepper, 0, record.slot, columns, &At::Start);
        }
        for i in 1..self.own {
            self.combine(stepper, columns, tableau.a[i], false);
            self.evaluate(stepper, i, record.inner_slot() + i - 1, columns, &At::Stage);
        }
        self.combine(stepper, columns, &tableau.b[..self.own], true);
    }

    /// `K_end`.
    pub(super) fn end(&mut self, stepper: &mut Stepper<'_>, record: &Record) {
        let slot = record.end_slot(self.own);
        self.evaluate(stepper, self.own, slot, record.columns, &At::End);
    }

    /// `S_n + h Σ w_j K_j` of every column, into the stage or the end.
    fn combine(&mut self, stepper: &Stepper<'_>, columns: usize, weights: &[f64], to_end: bool) {
        let len = self.len();
        let Self { start, next, stage, k, h, own, .. } = self;
        let target = if to_end { next } else { stage };
        for (column, step) in stepper.work.steps.iter().enumerate().take(columns) {
            h.fill(step.size());
            let k = &k[column * (*own + 1) * len..][..(*own + 1) * len];
            let start = &start[column * len..][..len];
            let target = &mut target[column * len..][..len];
            vectorised(|| combine(target, start, h, weights, k));
        }
    }

    /// The sensitivity of the dense output inside a column's step.
    pub(super) fn inside(&mut self, column: usize, size: f64, weights: &[f64], rows: &mut [f64]) {
        let len = self.len();
        self.h.fill(size);
        let k = &self.k[column * (self.own + 1) * len..][..(self.own + 1) * len];
        combine(rows, &self.start[column * len..][..len], &self.h, weights, k);
    }

    /// `K = (∂f/∂y) S + [∂f/∂θ | ∂f/∂e | 0]` of every column at a slot.
    fn evaluate(
        &mut self,
        stepper: &mut Stepper<'_>,
        stage: usize,
        slot: usize,
        columns: usize,
        at: &At,
    ) {
        let (d, width, len) = (self.d, self.width(), self.len());
        let Self { start, next, stage: inner, k, jacobian, row, w, own, .. } = self;
        let (parameters, effects) = (self.parameters, self.effects);
        let s = match at {
            At::Start => &*start,
            At::Stage => &*inner,
            At::End => &*next,
        };
        let jacobian = &mut jacobian[..columns * d * d];
        stepper.field.jacobian(slot, jacobian);
        for column in 0..columns {
            let s = &s[column * len..][..len];
            let jacobian = &jacobian[column * d * d..][..d * d];
            let k = &mut k[(column * (*own + 1) + stage) * len..][..len];
            vectorised(|| product(k, jacobian, s, d));
        }
        if parameters + effects == 0 {
            return;
        }
        let w = &mut w[..columns * d];
        w.fill(0.0);
        for column in 0..columns {
            for variable in 0..d {
                w[column * d + variable] = 1.0;
                row.fill(0.0);
                stepper.field.pull_back_parameters(slot, w);
                let (of_theta, of_effects) = row.split_at_mut(parameters);
                stepper.field.flush(of_theta);
                stepper.field.flush_effects(of_effects);
                w[column * d + variable] = 0.0;
                let k = &mut k[(column * (*own + 1) + stage) * len + variable * width..];
                let slopes = of_theta.iter().chain(&of_effects[column * effects..][..effects]);
                k.iter_mut().zip(slopes).for_each(|(sum, slope)| *sum += slope);
            }
        }
    }

    /// Makes the end of a step of this many columns the start of the next one, whose first stage may be its
    /// end stage.
    pub(super) fn move_on(&mut self, columns: usize, with_end: bool) {
        let len = self.len();
        std::mem::swap(&mut self.start, &mut self.next);
        if with_end {
            for k in self.k.chunks_exact_mut((self.own + 1) * len).take(columns) {
                k.copy_within(self.own * len.., 0);
            }
        }
    }
}

/// `k = J s` for a matrix J of d × d, both row-major.
#[inline]
fn product(k: &mut [f64], jacobian: &[f64], s: &[f64], d: usize) {
    let width = s.len() / d;
    for (k, slopes) in k.chunks_exact_mut(width).zip(jacobian.chunks_exact(d)) {
        k.fill(0.0);
        for (slope, s) in slopes.iter().zip(s.chunks_exact(width)) {
            k.iter_mut().zip(s).for_each(|(sum, s)| *sum += slope * s);
        }
    }
}
