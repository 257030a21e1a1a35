//! Rows of layer inputs and deltas that wait to become weight gradients.
//!
//! `[W̄ b̄] += δ [xᵀ 1]` for one row at a time would read and write all of `W̄` for each row. So
//! rows are queued, and a full queue becomes one sum of outer products, whose tiles stay in
//! registers. More rows than fit the cache would make it slower again.

use super::LayerShape;
use crate::kernels::dispatch::Kernels;
use crate::kernels::gradient::{COPY, OuterProducts, ROWS};
use crate::kernels::lanes::{Lanes, Real, flat, flat_mut, packs};

/// Rows after which sums are added to θ's gradient in `f64`, which keeps single precision good
/// on long paths.
const SPILL: usize = 4096;

/// The queue of all layers, and the gradient so far.
pub(super) struct Queue<T, const N: usize> {
    /// Rows that wait.
    rows: usize,
    /// Rows in the sums, not yet in `theta_bar`.
    summed: usize,
    /// Whether `theta_bar` holds anything.
    spilled: bool,
    capacity: usize,
    pub(super) layers: Vec<Rows<T, N>>,
    theta_bar: Vec<f64>,
    /// Room for the sums of outer products.
    copy: Vec<Lanes<T, N>>,
}

/// One layer's queue.
pub(super) struct Rows<T, const N: usize> {
    shape: LayerShape,
    /// Rows of the layer's input with a 1 behind it, filled up to whole packs.
    x: Vec<Lanes<T, N>>,
    /// Rows of the adjoint of the layer's output, filled up with zeros.
    delta: Vec<Lanes<T, N>>,
    x_packs: usize,
    delta_packs: usize,
    /// Whether the lanes go along the outputs, because that wastes fewer of them.
    transposed: bool,
    /// Σ δ [xᵀ 1], or its transpose, in rows of whole packs.
    sums: Vec<Lanes<T, N>>,
}

impl<T: Real, const N: usize> Queue<T, N> {
    /// An empty queue for these layers.
    pub(super) fn new(layers: impl Iterator<Item = LayerShape>) -> Self {
        let layers: Vec<_> = layers.map(Rows::new).collect();
        let parameters = layers.last().map_or(0, |layer| layer.shape.biases.end);
        let (theta_bar, copy) = (vec![0.0; parameters], vec![Lanes::zero(); COPY]);
        Self { rows: 0, summed: 0, spilled: false, capacity: 0, layers, theta_bar, copy }
    }

    /// Reserves rows for pull-backs of at most `columns` columns.
    pub(super) fn reserve(&mut self, columns: usize) {
        let capacity = columns.max(ROWS);
        if capacity > self.capacity {
            self.capacity = capacity;
            for layer in &mut self.layers {
                layer.x.resize(capacity * layer.x_packs, Lanes::zero());
                layer.delta.resize(capacity * layer.delta_packs, Lanes::zero());
                for row in flat_mut(&mut layer.x).chunks_exact_mut(layer.x_packs * N) {
                    row[layer.shape.inputs] = T::from_f64(1.0);
                }
            }
        }
    }

    /// Adds rows and returns the index of the first. The caller writes them.
    pub(super) fn push(&mut self, rows: usize, kernels: Kernels) -> usize {
        if self.rows + rows > self.capacity {
            self.sum(kernels);
        }
        self.rows += rows;
        self.rows - rows
    }

    /// Turns the waiting rows into sums.
    fn sum(&mut self, kernels: Kernels) {
        for layer in &mut self.layers {
            layer.sum(self.rows, &mut self.copy, kernels);
        }
        self.summed += self.rows;
        self.rows = 0;
        if self.summed >= SPILL {
            for layer in &mut self.layers {
                layer.spill(&mut self.theta_bar);
            }
            (self.summed, self.spilled) = (0, true);
        }
    }

    /// Adds everything that was queued to `theta_bar`.
    pub(super) fn flush(&mut self, theta_bar: &mut [f64], kernels: Kernels) {
        self.sum(kernels);
        for layer in &mut self.layers {
            layer.spill(theta_bar);
        }
        if self.spilled {
            for (sum, part) in theta_bar.iter_mut().zip(&mut self.theta_bar) {
                *sum += std::mem::take(part);
            }
        }
        (self.summed, self.spilled) = (0, false);
    }

    /// Drops everything that was queued.
    pub(super) fn clear(&mut self) {
        if self.summed > 0 {
            self.layers.iter_mut().for_each(|layer| layer.sums.fill(Lanes::zero()));
        }
        if self.spilled {
            self.theta_bar.fill(0.0);
        }
        (self.rows, self.summed, self.spilled) = (0, 0, false);
    }
}

impl<T: Real, const N: usize> Rows<T, N> {
    fn new(shape: LayerShape) -> Self {
        let (x_packs, delta_packs) = (packs(shape.inputs + 1, N), packs(shape.outputs, N));
        let straight = shape.outputs * x_packs;
        let transposed = (shape.inputs + 1) * delta_packs;
        // Adding transposed sums to θ's gradient is slow, so they must save a twentieth at least.
        let choose_transposed = 20 * transposed < 19 * straight;
        Self {
            x: Vec::new(),
            delta: Vec::new(),
            x_packs,
            delta_packs,
            transposed: choose_transposed,
            sums: vec![Lanes::zero(); if choose_transposed { transposed } else { straight }],
            shape,
        }
    }

    /// The row of the layer's input, to be written together with [`mark`](Self::mark).
    pub(super) fn x(&mut self, row: usize) -> &mut [Lanes<T, N>] {
        &mut self.x[row * self.x_packs..][..packs(self.shape.inputs, N)]
    }

    /// Writes the 1 behind the layer's input.
    pub(super) fn mark(&mut self, row: usize) {
        flat_mut(&mut self.x)[row * self.x_packs * N + self.shape.inputs] = T::from_f64(1.0);
    }

    /// The rows of deltas from `row` on.
    pub(super) fn delta(&mut self, row: usize, rows: usize) -> &mut [Lanes<T, N>] {
        &mut self.delta[row * self.delta_packs..][..rows * self.delta_packs]
    }

    fn sum(&mut self, rows: usize, copy: &mut [Lanes<T, N>], kernels: Kernels) {
        for start in (0..rows).step_by(ROWS) {
            let rows = ROWS.min(rows - start);
            let x = &self.x[start * self.x_packs..][..rows * self.x_packs];
            let delta = &self.delta[start * self.delta_packs..][..rows * self.delta_packs];
            let (broad_len, broad, wide_packs, wide) = if self.transposed {
                (self.shape.inputs + 1, x, self.delta_packs, delta)
            } else {
                (self.shape.outputs, delta, self.x_packs, x)
            };
            let sums = &mut self.sums[..];
            kernels.run(OuterProducts { rows, broad_len, broad, wide_packs, wide, sums, copy });
        }
    }

    fn spill(&mut self, theta_bar: &mut [f64]) {
        let inputs = self.shape.inputs;
        let (biases, weights) = (self.shape.biases.clone(), self.shape.weights.clone());
        let sums = flat(&self.sums);
        if self.transposed {
            let mut rows = sums.chunks_exact(self.delta_packs * N);
            let bars = &mut theta_bar[weights];
            for (i, sums) in rows.by_ref().take(inputs).enumerate() {
                let column = bars[i..].iter_mut().step_by(inputs);
                column.zip(sums).for_each(|(bar, sum)| *bar += sum.to_f64());
            }
            let bars = theta_bar[biases].iter_mut();
            bars.zip(rows.flatten()).for_each(|(bar, sum)| *bar += sum.to_f64());
        } else {
            for (o, sums) in sums.chunks_exact(self.x_packs * N).enumerate() {
                let bars = theta_bar[weights.start + o * inputs..][..inputs].iter_mut();
                bars.zip(sums).for_each(|(bar, sum)| *bar += sum.to_f64());
                theta_bar[biases.start + o] += sums[inputs].to_f64();
            }
        }
        self.sums.fill(Lanes::zero());
    }
}
