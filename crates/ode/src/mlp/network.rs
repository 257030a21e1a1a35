//! The fast network in one precision: packed weights, tape and gradient queue around the kernels.

use super::MlpShape;
use super::passes::{Evaluation, PullBack, PullBackState};
use super::queue::Queue;
use super::tape::Tape;
use super::weights::{Layer, MANY};
use crate::field::jacobian_by_rows;
use crate::kernels::dispatch::Kernels;
use crate::kernels::exponential::Exponential;
use crate::kernels::lanes::{Lanes, packs};
use crate::{Activation, VectorField};

/// Packs of weights that stay in the first level of the cache from one evaluation to the next,
/// which is 32 KiB on most processors. What is larger is fetched ahead.
const CACHE: usize = 28 * 1024 / 32;

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
    /// Deltas of two neighbouring layers, for pull-backs that queue nothing.
    deltas: [Vec<Lanes<T, N>>; 2],
    /// For Jacobians.
    scratch: Vec<f64>,
}

/// All layers in one kind of packing.
struct Packing<T, const N: usize> {
    layers: Vec<Layer<T, N>>,
    /// Whether evaluations fetch weights ahead.
    ahead: bool,
    /// Whether θ has changed since packing.
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
        let layers: Vec<_> = layers.collect();
        let packs: usize = layers.iter().map(|layer| layer.forward.data.len()).sum();
        Self { layers, ahead: packs > CACHE, stale: true }
    }

    /// Returns the packing at θ.
    #[inline]
    fn at(&mut self, theta: &[f64]) -> &Self {
        if self.stale {
            self.layers.iter_mut().for_each(|layer| layer.pack(theta));
            self.stale = false;
        }
        self
    }
}

/// Returns the packing for this number of columns.
#[inline]
fn packing<'a, T: Exponential, const N: usize>(
    one: &'a mut Packing<T, N>,
    many: &'a mut Option<Packing<T, N>>,
    theta: &[f64],
    columns: usize,
) -> &'a Packing<T, N> {
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
            deltas: [Vec::new(), Vec::new()],
            scratch: Vec::new(),
            shape: shape.clone(),
        }
    }
}

impl<T: Exponential, const N: usize> VectorField for Network<T, N> {
    fn state_len(&self) -> usize {
        self.shape.state
    }

    fn output_len(&self) -> usize {
        self.shape.outputs
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
        let len = columns * packs(self.shape.state.max(self.shape.outputs), N);
        if len > self.result.len() {
            self.result.resize(len, Lanes::zero());
        }
        let widest = self.shape.layers().map(|layer| packs(layer.outputs, N)).max().unwrap_or(0);
        for deltas in &mut self.deltas {
            if columns * widest > deltas.len() {
                deltas.resize(columns * widest, Lanes::zero());
            }
        }
        if columns >= MANY && self.many.is_none() {
            self.many = Some(Packing::new(&self.shape, true));
        }
    }

    fn slot_bytes(&self, columns: usize) -> usize {
        self.tape.slot_bytes(columns)
    }

    fn eval(&mut self, slot: usize, t: &[f64], y: &[f64], u: &[f64], dy: &mut [f64]) {
        let packing = packing(&mut self.one, &mut self.many, &self.theta, t.len());
        self.kernels.run(Evaluation {
            shape: &self.shape,
            layers: &packing.layers,
            ahead: packing.ahead,
            tape: &mut self.tape,
            result: &mut self.result,
            slot,
            t,
            y,
            u,
            dy,
        });
    }

    fn pull_back(&mut self, slot: usize, w: &[f64], y_bar: &mut [f64]) {
        let columns = self.tape.columns(slot);
        let row = self.queue.push(columns, self.kernels);
        self.kernels.run(PullBack::<_, N, true> {
            shape: &self.shape,
            layers: &packing(&mut self.one, &mut self.many, &self.theta, columns).layers,
            tape: &self.tape,
            queue: &mut self.queue,
            result: &mut self.result,
            slot,
            row,
            w,
            y_bar,
        });
    }

    fn pull_back_state(&mut self, slot: usize, w: &[f64], y_bar: &mut [f64]) {
        let columns = self.tape.columns(slot);
        self.kernels.run(PullBackState {
            shape: &self.shape,
            layers: &packing(&mut self.one, &mut self.many, &self.theta, columns).layers,
            tape: &self.tape,
            deltas: &mut self.deltas,
            result: &mut self.result,
            slot,
            w,
            y_bar,
        });
    }

    fn pull_back_parameters(&mut self, slot: usize, w: &[f64]) {
        let columns = self.tape.columns(slot);
        let row = self.queue.push(columns, self.kernels);
        self.kernels.run(PullBack::<_, N, false> {
            shape: &self.shape,
            layers: &packing(&mut self.one, &mut self.many, &self.theta, columns).layers,
            tape: &self.tape,
            queue: &mut self.queue,
            result: &mut self.result,
            slot,
            row,
            w,
            y_bar: &mut [],
        });
    }

    fn jacobian(&mut self, slot: usize, jacobian: &mut [f64]) {
        let mut scratch = std::mem::take(&mut self.scratch);
        jacobian_by_rows(self, slot, jacobian, &mut scratch);
        self.scratch = scratch;
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
