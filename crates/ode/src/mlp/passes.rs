//! One evaluation and one pull-back of the network, each compiled as a whole.
#![expect(clippy::inline_always, reason = "what is not inlined is not compiled for the set")]

use super::MlpShape;
use super::queue::Queue;
use super::tape::Tape;
use super::weights::Layer;
use crate::Activation;
use crate::kernels::activate::{activate, copy, one_at_a_time, times_slope};
use crate::kernels::dispatch::{Kernel, apart};
use crate::kernels::exponential::Exponential;
use crate::kernels::lanes::{Lanes, flat, flat_mut, packs};
use crate::kernels::product::Product;

/// `dy = f(t, y, u; θ)`, recorded in `slot`:
/// `x₀ = [t, y, u]`, `z_l = W_l x_{l−1} + b_l`, `x_l = σ_l(z_l)`, `dy = z_L`.
pub(super) struct Evaluation<'a, T, const N: usize> {
    pub(super) shape: &'a MlpShape,
    pub(super) layers: &'a [Layer<T, N>],
    /// Whether to fetch weights ahead.
    pub(super) ahead: bool,
    pub(super) tape: &'a mut Tape<T, N>,
    /// Room for `z_L`.
    pub(super) result: &'a mut [Lanes<T, N>],
    pub(super) slot: usize,
    pub(super) t: &'a [f64],
    pub(super) y: &'a [f64],
    pub(super) u: &'a [f64],
    pub(super) dy: &'a mut [f64],
}

impl<T: Exponential, const N: usize> Kernel for Evaluation<'_, T, N> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        match self.t.len() {
            1 => self.run_for::<true, FMA>(1),
            columns => self.run_for::<false, FMA>(columns),
        }
    }
}

impl<T: Exponential, const N: usize> Evaluation<'_, T, N> {
    /// Compiled twice, since what is done around the products is less where one column is known to
    /// be all.
    #[inline(always)]
    fn run_for<const ONE: bool, const FMA: bool>(self, columns: usize) {
        let (d, m) = (self.shape.state, self.shape.inputs);
        let (slot, first) = (self.slot, usize::from(self.shape.time));
        let x = flat_mut(self.tape.record(slot, columns));
        let row = packs(self.shape.input_len(), N) * N;
        for column in 0..columns {
            let x = &mut x[column * row..][..row];
            if self.shape.time {
                x[0] = T::from_f64(self.t[column]);
            }
            let (y, u) = (&self.y[column * d..][..d], &self.u[column * m..][..m]);
            cast(y, &mut x[first..]);
            cast(u, &mut x[first + d..]);
        }
        let (hidden, last) = self.layers.split_at(self.layers.len() - 1);
        for (l, layer) in hidden.iter().enumerate() {
            let step = self.tape.step(slot, l);
            let (matrix, x, y) = (&layer.forward, step.x, &mut *step.y);
            Product { columns, matrix, x, y }.here::<ONE, FMA>();
            if let Some(argument) = step.argument {
                argument.copy_from_slice(step.y);
            }
            let ahead = if self.ahead { &self.layers[l + 1].forward.data[..] } else { &[] };
            activate::<T, N, FMA>(layer.activation, step.y, ahead);
        }
        let x = self.tape.value(slot, hidden.len());
        let (matrix, y) = (&last[0].forward, &mut *self.result);
        Product { columns, matrix, x, y }.here_if_thin::<ONE, FMA>();
        let outputs = self.shape.outputs;
        let row = packs(outputs, N) * N;
        for column in 0..columns {
            let z = &flat(self.result)[column * row..][..outputs];
            let dy = &mut self.dy[column * outputs..][..outputs];
            for (dy, z) in dy.iter_mut().zip(z) {
                *dy = z.to_f64();
                one_at_a_time();
            }
        }
    }
}

/// The factors of `(∂f/∂θ)ᵀ w` into the queue, and with `STATE` also `y_bar += (∂f/∂y)ᵀ w`:
/// `δ_L = w`, `x̄_{l−1} = W_lᵀ δ_l`, `δ_{l−1} = x̄_{l−1} ∘ σ′(z_{l−1})`, `ȳ` is a part of `x̄₀`.
pub(super) struct PullBack<'a, T, const N: usize, const STATE: bool> {
    pub(super) shape: &'a MlpShape,
    pub(super) layers: &'a [Layer<T, N>],
    pub(super) tape: &'a Tape<T, N>,
    pub(super) queue: &'a mut Queue<T, N>,
    /// Room for `x̄₀`.
    pub(super) result: &'a mut [Lanes<T, N>],
    pub(super) slot: usize,
    /// The first of the slot's rows in the queue.
    pub(super) row: usize,
    pub(super) w: &'a [f64],
    /// Empty without `STATE`.
    pub(super) y_bar: &'a mut [f64],
}

impl<T: Exponential, const N: usize, const STATE: bool> Kernel for PullBack<'_, T, N, STATE> {
    /// Only the joint pull-back, which training calls, is compiled for one column as well.
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        match self.tape.columns(self.slot) {
            1 if STATE => self.run_for::<true, FMA>(1),
            columns => self.run_for::<false, FMA>(columns),
        }
    }
}

impl<T: Exponential, const N: usize, const STATE: bool> PullBack<'_, T, N, STATE> {
    /// Compiled twice, as [`Evaluation::run_for`].
    #[inline(always)]
    fn run_for<const ONE: bool, const FMA: bool>(self, columns: usize) {
        let (d, slot) = (self.shape.state, self.slot);
        let outputs = self.shape.outputs;
        let (y_lanes, w_lanes) = (packs(d, N) * N, packs(outputs, N) * N);
        let delta = flat_mut(self.queue.layers[self.layers.len() - 1].delta(self.row, columns));
        for column in 0..columns {
            cast(&self.w[column * outputs..][..outputs], &mut delta[column * w_lanes..]);
        }
        for (l, layer) in self.layers.iter().enumerate().rev() {
            let (value, argument) = (self.tape.value(slot, l), self.tape.argument(slot, l));
            let (before, queue) = self.queue.layers.split_at_mut(l);
            let (queue, row) = (&mut queue[0], self.row);
            let len = packs(layer.shape.inputs, N);
            let Some(before) = before.last_mut() else {
                if STATE {
                    let (matrix, x, y) =
                        (&layer.backward, queue.delta(row, columns), &mut *self.result);
                    Product { columns, matrix, x, y }.here_if_thin::<ONE, FMA>();
                }
                for column in 0..columns {
                    copy(&value[column * len..][..len], queue.x(row + column));
                    queue.mark(row + column);
                }
                break;
            };
            let x_bar = before.delta(row, columns);
            let (matrix, x, y) = (&layer.backward, queue.delta(row, columns), &mut *x_bar);
            Product { columns, matrix, x, y }.here::<ONE, FMA>();
            let activation: Activation = self.layers[l - 1].activation;
            for column in 0..columns {
                let part = column * len..column * len + len;
                let argument = argument.get(part.clone()).unwrap_or_default();
                let (value, x_bar) = (&value[part.clone()], &mut x_bar[part]);
                let kept = queue.x(row + column);
                times_slope::<T, N, FMA>(activation, value, argument, kept, x_bar);
                queue.mark(row + column);
            }
        }
        if STATE {
            for column in 0..columns {
                let bar = &flat(self.result)[column * y_lanes..][..d];
                let y_bar = &mut self.y_bar[column * d..][..d];
                for (sum, bar) in y_bar.iter_mut().zip(bar) {
                    *sum += bar.to_f64();
                    one_at_a_time();
                }
            }
        }
    }
}

/// `y_bar += (∂f/∂y)ᵀ w` by the arithmetic of [`PullBack`], and nothing into the queue.
pub(super) struct PullBackState<'a, T, const N: usize> {
    pub(super) shape: &'a MlpShape,
    pub(super) layers: &'a [Layer<T, N>],
    pub(super) tape: &'a Tape<T, N>,
    /// Room for `δ_l` and `x̄_{l−1}` of any layer.
    pub(super) deltas: &'a mut [Vec<Lanes<T, N>>; 2],
    /// Room for `x̄₀`.
    pub(super) result: &'a mut [Lanes<T, N>],
    pub(super) slot: usize,
    pub(super) w: &'a [f64],
    pub(super) y_bar: &'a mut [f64],
}

impl<T: Exponential, const N: usize> Kernel for PullBackState<'_, T, N> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let (d, outputs) = (self.shape.state, self.shape.outputs);
        let (columns, slot) = (self.tape.columns(self.slot), self.slot);
        let [delta, x_bar] = self.deltas;
        let (mut delta, mut x_bar) = (&mut delta[..], &mut x_bar[..]);
        let w_packs = packs(outputs, N);
        for (column, delta) in delta.chunks_exact_mut(w_packs).take(columns).enumerate() {
            // Lanes behind the last output are of another layer.
            delta[w_packs - 1] = Lanes::zero();
            cast(&self.w[column * outputs..][..outputs], flat_mut(delta));
        }
        for (l, layer) in self.layers.iter().enumerate().skip(1).rev() {
            let (value, argument) = (self.tape.value(slot, l), self.tape.argument(slot, l));
            let len = columns * packs(layer.shape.inputs, N);
            let (matrix, x, y) = (&layer.backward, &*delta, &mut *x_bar);
            apart::<_, FMA>(Product { columns, matrix, x, y });
            // `δ_l` has been used: its room takes the copy that `times_slope` keeps.
            let (x_bar_l, kept) = (&mut x_bar[..len], &mut delta[..len]);
            let activation = self.layers[l - 1].activation;
            times_slope::<T, N, FMA>(activation, value, argument, kept, x_bar_l);
            std::mem::swap(&mut delta, &mut x_bar);
        }
        let (matrix, x, y) = (&self.layers[0].backward, &*delta, &mut *self.result);
        apart::<_, FMA>(Product { columns, matrix, x, y });
        let y_lanes = packs(d, N) * N;
        for column in 0..columns {
            let bar = &flat(self.result)[column * y_lanes..][..d];
            let y_bar = &mut self.y_bar[column * d..][..d];
            for (sum, bar) in y_bar.iter_mut().zip(bar) {
                *sum += bar.to_f64();
                one_at_a_time();
            }
        }
    }
}

/// `to = from` in this precision, for as many numbers as `from` has.
#[inline(always)]
fn cast<T: Exponential>(from: &[f64], to: &mut [T]) {
    for (to, from) in to[..from.len()].iter_mut().zip(from) {
        *to = T::from_f64(*from);
        one_at_a_time();
    }
}
