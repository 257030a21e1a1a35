//! Rows of layer inputs and deltas that wait to become weight gradients.
//!
//! `W̄ += δ xᵀ` for one row at a time would read and write all of `W̄` for each row. So rows are
//! queued, and a full queue becomes one sum of outer products, whose tiles stay in registers.
//! More rows than fit the cache would make it slower again.

use super::LayerShape;
use crate::kernels::dispatch::Kernels;
use crate::kernels::gradient::{OuterProducts, RowSums};
use crate::kernels::lanes::{Lanes, Real, flat, packs};

/// Rows that become one sum of outer products.
const ROWS: usize = 64;

/// Rows after which sums are added to θ's gradient in `f64`, which keeps single precision exact
/// on long paths.
const SPILL: usize = 1024;

/// The queue of all layers, and the gradient so far.
pub(super) struct Queue<T, const N: usize> {
    /// Rows that wait.
    rows: usize,
    /// Rows in the sums, not yet in `theta_bar`.
    summed: usize,
    capacity: usize,
    pub(super) layers: Vec<Rows<T, N>>,
    theta_bar: Vec<f64>,
}

/// One layer's queue.
pub(super) struct Rows<T, const N: usize> {
    shape: LayerShape,
    x: Vec<Lanes<T, N>>,
    delta: Vec<Lanes<T, N>>,
    /// Whether the lanes go along the outputs, because that wastes fewer of them.
    transposed: bool,
    /// Σ δ xᵀ, or its transpose, in rows of whole packs.
    weights: Vec<Lanes<T, N>>,
    /// Σ δ.
    biases: Vec<Lanes<T, N>>,
}

impl<T: Real, const N: usize> Queue<T, N> {
    /// An empty queue for these layers.
    pub(super) fn new(layers: impl Iterator<Item = LayerShape>) -> Self {
        let layers: Vec<_> = layers.map(Rows::new).collect();
        let parameters = layers.last().map_or(0, |layer| layer.shape.biases.end);
        Self { rows: 0, summed: 0, capacity: 0, layers, theta_bar: vec![0.0; parameters] }
    }

    /// Makes room for so many columns at a time.
    pub(super) fn reserve(&mut self, columns: usize) {
        let capacity = columns.max(ROWS);
        if capacity > self.capacity {
            self.capacity = capacity;
            for layer in &mut self.layers {
                layer.x.resize(capacity * packs(layer.shape.inputs, N), Lanes::zero());
                layer.delta.resize(capacity * packs(layer.shape.outputs, N), Lanes::zero());
            }
        }
    }

    /// Room for so many new rows; says where they begin. The caller writes them.
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
            layer.sum(self.rows, kernels);
        }
        self.summed += self.rows;
        self.rows = 0;
        if self.summed >= SPILL {
            self.spill();
        }
    }

    /// Adds the sums to `theta_bar` and clears them.
    fn spill(&mut self) {
        for layer in &mut self.layers {
            layer.spill(&mut self.theta_bar);
        }
        self.summed = 0;
    }

    /// Adds everything that was queued to `theta_bar`.
    pub(super) fn flush(&mut self, theta_bar: &mut [f64], kernels: Kernels) {
        self.sum(kernels);
        self.spill();
        for (sum, part) in theta_bar.iter_mut().zip(&mut self.theta_bar) {
            *sum += std::mem::take(part);
        }
    }

    /// Forgets everything that was queued.
    pub(super) fn clear(&mut self) {
        (self.rows, self.summed) = (0, 0);
        for layer in &mut self.layers {
            layer.weights.fill(Lanes::zero());
            layer.biases.fill(Lanes::zero());
        }
        self.theta_bar.fill(0.0);
    }
}

impl<T: Real, const N: usize> Rows<T, N> {
    fn new(shape: LayerShape) -> Self {
        let (inputs, outputs) = (shape.inputs, shape.outputs);
        let straight = outputs * packs(inputs, N);
        let transposed = inputs * packs(outputs, N);
        Self {
            x: Vec::new(),
            delta: Vec::new(),
            transposed: transposed < straight,
            weights: vec![Lanes::zero(); transposed.min(straight)],
            biases: vec![Lanes::zero(); packs(outputs, N)],
            shape,
        }
    }

    /// The rows of layer inputs from `row` on.
    pub(super) fn x(&mut self, row: usize, rows: usize) -> &mut [Lanes<T, N>] {
        let packs = packs(self.shape.inputs, N);
        &mut self.x[row * packs..][..rows * packs]
    }

    /// The rows of deltas from `row` on.
    pub(super) fn delta(&mut self, row: usize, rows: usize) -> &mut [Lanes<T, N>] {
        let packs = packs(self.shape.outputs, N);
        &mut self.delta[row * packs..][..rows * packs]
    }

    fn sum(&mut self, rows: usize, kernels: Kernels) {
        let (x_packs, delta_packs) = (packs(self.shape.inputs, N), packs(self.shape.outputs, N));
        let x = self.x[..rows * x_packs].chunks(ROWS * x_packs);
        let delta = self.delta[..rows * delta_packs].chunks(ROWS * delta_packs);
        for (x, delta) in x.zip(delta) {
            let sums = &mut self.weights[..];
            kernels.run(if self.transposed {
                let broad_len = self.shape.inputs;
                OuterProducts { broad_len, broad: x, wide_packs: delta_packs, wide: delta, sums }
            } else {
                let broad_len = self.shape.outputs;
                OuterProducts { broad_len, broad: delta, wide_packs: x_packs, wide: x, sums }
            });
            kernels.run(RowSums { rows: delta, sums: &mut self.biases });
        }
    }

    fn spill(&mut self, theta_bar: &mut [f64]) {
        let (inputs, outputs) = (self.shape.inputs, self.shape.outputs);
        let weights_bar = &mut theta_bar[self.shape.weights.clone()];
        let sums = flat(&self.weights);
        if self.transposed {
            let row = packs(outputs, N) * N;
            for (i, sums) in sums.chunks_exact(row).enumerate() {
                for (o, sum) in sums[..outputs].iter().enumerate() {
                    weights_bar[o * inputs + i] += sum.to_f64();
                }
            }
        } else {
            let rows = sums.chunks_exact(packs(inputs, N) * N);
            for (bar, sums) in weights_bar.chunks_exact_mut(inputs).zip(rows) {
                bar.iter_mut().zip(sums).for_each(|(bar, sum)| *bar += sum.to_f64());
            }
        }
        let biases_bar = &mut theta_bar[self.shape.biases.clone()];
        let sums = flat(&self.biases);
        biases_bar.iter_mut().zip(sums).for_each(|(bar, sum)| *bar += sum.to_f64());
        self.weights.fill(Lanes::zero());
        self.biases.fill(Lanes::zero());
    }
}
