//! A layer's matrices, packed for the products that use them.

use super::LayerShape;
use crate::Activation;
use crate::kernels::dispatch::vectorised;
use crate::kernels::lanes::Real;
use crate::kernels::packed::{MANY_COLUMNS, ONE_COLUMN, Packed};

/// Number of columns from which on several columns share a tile.
pub(super) const MANY: usize = 4;

/// One affine map and its activation: `W` and `b` for evaluations, `Wᵀ` for pull-backs.
pub(super) struct Layer<T, const N: usize> {
    pub(super) shape: LayerShape,
    pub(super) activation: Activation,
    /// The inputs whose adjoint is computed: all, or the state's among the network's inputs.
    wanted: std::ops::Range<usize>,
    pub(super) forward: Packed<T, N>,
    pub(super) backward: Packed<T, N>,
}

impl<T: Real, const N: usize> Layer<T, N> {
    /// The layer at θ = 0, packed for one column at a time or for many.
    pub(super) fn new(
        shape: LayerShape,
        activation: Activation,
        wanted: std::ops::Range<usize>,
        many: bool,
    ) -> Self {
        let most = if many { MANY_COLUMNS } else { ONE_COLUMN };
        Self {
            forward: Packed::new(shape.outputs, shape.inputs, most),
            backward: Packed::new(wanted.len(), shape.outputs, most),
            shape,
            activation,
            wanted,
        }
    }

    /// Packs this layer's part of θ.
    pub(super) fn pack(&mut self, theta: &[f64]) {
        let Self { shape, wanted, forward, backward, .. } = self;
        let (weights, biases) = (&theta[shape.weights.clone()], &theta[shape.biases.clone()]);
        let row = |o: usize| &weights[o * shape.inputs..][..shape.inputs];
        vectorised(|| {
            forward.fill_by_rows(row, biases);
            backward.fill_by_columns(|o| &row(o)[wanted.clone()]);
        });
    }
}
