//! The fast network in one precision: packed weights, tape and gradient queue around the kernels.

use super::MlpShape;
use super::queue::Queue;
use super::tape::Tape;
use super::weights::{Layer, MANY};
use crate::kernels::dispatch::Kernels;
use crate::kernels::exponential::Exponential;
use crate::kernels::lanes::{Lanes, flat, flat_mut, packs};
use crate::kernels::product::{Backward, Forward};
use crate::{Activation, VectorField};

/// A network that computes with `T`, `N` numbers at a time.
pub(super) struct Network<T, const N: usize> {
    shape: MlpShape,
    kernels: Kernels,
    theta: Vec<f64>,
    /// Packed for one column at a time.
    one: Packing<T, N>,
    /// Packed for many columns; made when they are first reserved.
    many: Option<Packing<T, N>>,
    tape: Tape<T, N>,
    queue: Queue<T, N>,
    /// The network's output, or the adjoint of its state, for all columns.
    result: Vec<Lanes<T, N>>,
}

/// All layers in one kind of packing.
struct Packing<T, const N: usize> {
    layers: Vec<Layer<T, N>>,
    /// Whether θ has changed since.
    stale: bool,
}

impl<T: Exponential, const N: usize> Packing<T, N> {
    fn new(shape: &MlpShape, many: bool) -> Self {
        let state = usize::from(shape.time)..usize::from(shape.time) + shape.state;
        let activations = shape.activations.iter().copied().chain([Activation::Identity]);
        let layers = shape.layers().zip(activations).enumerate().map(|(l, (layer, activation))| {
            let wanted = if l == 0 { state.clone() } else { 0..layer.inputs };
            Layer::new(layer, activation, wanted, many)
        });
        Self { layers: layers.collect(), stale: true }
    }

    /// The layers at θ.
    fn at(&mut self, theta: &[f64]) -> &[Layer<T, N>] {
        if self.stale {
            self.layers.iter_mut().for_each(|layer| layer.pack(theta));
            self.stale = false;
        }
        &self.layers
    }
}

/// The layers, packed for so many columns.
fn layers<'a, T: Exponential, const N: usize>(
    one: &'a mut Packing<T, N>,
    many: &'a mut Option<Packing<T, N>>,
    theta: &[f64],
    columns: usize,
) -> &'a [Layer<T, N>] {
    match many {
        Some(many) if columns >= MANY => many.at(theta),
        _ => one.at(theta),
    }
}

impl<T: Exponential, const N: usize> Network<T, N> {
    /// The network at θ = 0.
    pub(super) fn new(shape: &MlpShape, kernels: Kernels) -> Self {
        let hidden = shape.hidden.iter().copied().zip(shape.activations.iter().copied());
        Self {
            kernels,
            theta: vec![0.0; shape.parameter_len()],
            one: Packing::new(shape, false),
            many: None,
            tape: Tape::new(shape.input_len(), hidden),
            queue: Queue::new(shape.layers()),
            result: Vec::new(),
            shape: shape.clone(),
        }
    }
}

impl<T: Exponential, const N: usize> VectorField for Network<T, N> {
    fn state_len(&self) -> usize {
        self.shape.state
    }

    fn input_len(&self) -> usize {
        self.shape.inputs
    }

    fn parameter_len(&self) -> usize {
        self.theta.len()
    }

    fn set_parameters(&mut self, theta: &[f64]) {
        self.theta.copy_from_slice(theta);
        self.one.stale = true;
        if let Some(many) = &mut self.many {
            many.stale = true;
        }
        self.queue.clear();
    }

    fn reserve(&mut self, slots: usize, columns: usize) {
        self.tape.reserve(slots, columns);
        self.queue.reserve(columns);
        let len = columns * packs(self.shape.state, N);
        if len > self.result.len() {
            self.result.resize(len, Lanes::zero());
        }
        if columns >= MANY && self.many.is_none() {
            self.many = Some(Packing::new(&self.shape, true));
        }
    }

    fn slot_bytes(&self, columns: usize) -> usize {
        self.tape.slot_bytes(columns)
    }

    fn eval(&mut self, slot: usize, t: &[f64], y: &[f64], u: &[f64], dy: &mut [f64]) {
        let columns = t.len();
        let (d, m) = (self.shape.state, self.shape.inputs);
        let x = flat_mut(self.tape.record(slot, columns));
        let row = packs(self.shape.input_len(), N) * N;
        for (column, (x, t)) in x.chunks_exact_mut(row).zip(t).enumerate() {
            let time = self.shape.time.then_some(t);
            let (y, u) = (&y[column * d..][..d], &u[column * m..][..m]);
            for (x, value) in x.iter_mut().zip(time.into_iter().chain(y).chain(u)) {
                *x = T::from_f64(*value);
            }
        }

        let layers = layers(&mut self.one, &mut self.many, &self.theta, columns);
        let (hidden, last) = layers.split_at(layers.len() - 1);
        for (l, layer) in hidden.iter().enumerate() {
            let step = self.tape.step(slot, l);
            self.kernels.run(Forward {
                matrix: &layer.forward,
                activation: layer.activation,
                x: step.x,
                y: step.y,
                input: step.argument,
            });
        }
        let y_packs = packs(d, N);
        self.kernels.run(Forward {
            matrix: &last[0].forward,
            activation: Activation::Identity,
            x: self.tape.value(slot, hidden.len()),
            y: &mut self.result[..columns * y_packs],
            input: None,
        });
        let result = flat(&self.result).chunks_exact(y_packs * N);
        for (dy, result) in dy.chunks_exact_mut(d).zip(result) {
            dy.iter_mut().zip(result).for_each(|(dy, value)| *dy = value.to_f64());
        }
    }

    fn pull_back(&mut self, slot: usize, w: &[f64], y_bar: &mut [f64]) {
        let columns = self.tape.columns(slot);
        let (d, y_packs) = (self.shape.state, packs(self.shape.state, N));
        let layers = layers(&mut self.one, &mut self.many, &self.theta, columns);
        let row = self.queue.push(columns, self.kernels);

        let last = layers.len() - 1;
        let delta = flat_mut(self.queue.layers[last].delta(row, columns));
        for (delta, w) in delta.chunks_exact_mut(y_packs * N).zip(w.chunks_exact(d)) {
            delta.iter_mut().zip(w).for_each(|(delta, w)| *delta = T::from_f64(*w));
        }
        for l in (0..layers.len()).rev() {
            let value = self.tape.value(slot, l);
            let (before, queue) = self.queue.layers.split_at_mut(l);
            queue[0].x(row, columns).copy_from_slice(value);
            let (activation, x_bar) = match before.last_mut() {
                Some(before) => (layers[l - 1].activation, before.delta(row, columns)),
                None => (Activation::Identity, &mut self.result[..columns * y_packs]),
            };
            self.kernels.run(Backward {
                matrix: &layers[l].backward,
                activation,
                delta: queue[0].delta(row, columns),
                value,
                input: self.tape.argument(slot, l),
                x_bar,
            });
        }
        let result = flat(&self.result).chunks_exact(y_packs * N);
        for (y_bar, result) in y_bar.chunks_exact_mut(d).zip(result) {
            y_bar.iter_mut().zip(result).for_each(|(bar, value)| *bar += value.to_f64());
        }
    }

    fn flush(&mut self, theta_bar: &mut [f64]) {
        self.queue.flush(theta_bar, self.kernels);
    }

    fn fork(&self) -> Box<dyn VectorField> {
        let mut fork = Self::new(&self.shape, self.kernels);
        fork.set_parameters(&self.theta);
        Box::new(fork)
    }
}
