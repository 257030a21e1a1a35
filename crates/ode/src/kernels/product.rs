//! `W x + b` for every column, with what follows it in the same call.
//!
//! Sums go over the inputs in order, starting from the bias, whatever the number of columns: a
//! column's result does not depend on its neighbours. A thin matrix instead sums lane by lane,
//! because one pack of outputs alone would wait for its own additions.

use super::activate::{activate, times_slope};
use super::dispatch::Kernel;
use super::exponential::Exponential;
use super::lanes::{Lanes, Real, flat, flat_mut, packs};
use super::packed::Packed;
use crate::Activation;

/// `y = σ(W x + b)`; with `input`, keeps `W x + b` there.
///
/// `x` and `y` hold one column after the other, each filled up to whole packs.
pub(crate) struct Forward<'a, T, const N: usize> {
    pub(crate) matrix: &'a Packed<T, N>,
    pub(crate) activation: Activation,
    pub(crate) x: &'a [Lanes<T, N>],
    pub(crate) y: &'a mut [Lanes<T, N>],
    pub(crate) input: Option<&'a mut [Lanes<T, N>]>,
}

impl<T: Exponential, const N: usize> Kernel for Forward<'_, T, N> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        product::<T, N, FMA>(self.matrix, self.x, self.y);
        if let Some(input) = self.input {
            input.copy_from_slice(self.y);
        }
        activate::<T, N, FMA>(self.activation, self.y);
    }
}

/// `x_bar = (Wᵀ δ) ∘ σ′`, where `matrix` is `Wᵀ` without bias, and `value` and `input` belong to
/// the activation that made the layer's input.
pub(crate) struct Backward<'a, T, const N: usize> {
    pub(crate) matrix: &'a Packed<T, N>,
    pub(crate) activation: Activation,
    pub(crate) delta: &'a [Lanes<T, N>],
    pub(crate) value: &'a [Lanes<T, N>],
    pub(crate) input: &'a [Lanes<T, N>],
    pub(crate) x_bar: &'a mut [Lanes<T, N>],
}

impl<T: Exponential, const N: usize> Kernel for Backward<'_, T, N> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        product::<T, N, FMA>(self.matrix, self.delta, self.x_bar);
        times_slope::<T, N, FMA>(self.activation, self.value, self.input, self.x_bar);
    }
}

/// `y = W x + b` for every column.
#[inline(always)]
fn product<T: Real, const N: usize, const FMA: bool>(
    matrix: &Packed<T, N>,
    x: &[Lanes<T, N>],
    y: &mut [Lanes<T, N>],
) {
    if matrix.thin() {
        return dots::<T, N, FMA>(matrix, x, y);
    }
    let (mut first, mut start) = (0, 0);
    for width in matrix.widths() {
        let end = start + (1 + matrix.inputs) * width;
        let panel = &matrix.data[start..end];
        let block =
            Block { panel, inputs: matrix.inputs, x, y, stride: packs(matrix.outputs, N), first };
        match width {
            1 => block.columns::<1, FMA>(),
            2 => block.columns::<2, FMA>(),
            3 => block.one_by_one::<3, FMA>(),
            4 => block.one_by_one::<4, FMA>(),
            5 => block.one_by_one::<5, FMA>(),
            6 => block.one_by_one::<6, FMA>(),
            7 => block.one_by_one::<7, FMA>(),
            8 => block.one_by_one::<8, FMA>(),
            _ => unreachable!("panels are at most eight packs wide"),
        }
        (first, start) = (first + width, end);
    }
}

/// One panel's part of the product.
struct Block<'a, T, const N: usize> {
    panel: &'a [Lanes<T, N>],
    inputs: usize,
    x: &'a [Lanes<T, N>],
    y: &'a mut [Lanes<T, N>],
    /// Packs from one column of `y` to the next.
    stride: usize,
    /// Where the panel's outputs begin in a column of `y`, in packs.
    first: usize,
}

impl<T: Real, const N: usize> Block<'_, T, N> {
    #[inline(always)]
    fn one_by_one<const R: usize, const FMA: bool>(mut self) {
        for column in 0..self.y.len() / self.stride {
            self.tile::<R, 1, FMA>(column);
        }
    }

    /// In tiles of up to six columns, as equal as possible.
    #[inline(always)]
    fn columns<const R: usize, const FMA: bool>(mut self) {
        let columns = self.y.len() / self.stride;
        let mut column = 0;
        while column < columns {
            let rest = columns - column;
            let take = rest.div_ceil(rest.div_ceil(6));
            match take {
                1 => self.tile::<R, 1, FMA>(column),
                2 => self.tile::<R, 2, FMA>(column),
                3 => self.tile::<R, 3, FMA>(column),
                4 => self.tile::<R, 4, FMA>(column),
                5 => self.tile::<R, 5, FMA>(column),
                _ => self.tile::<R, 6, FMA>(column),
            }
            column += take;
        }
    }

    /// `R` packs of outputs for `C` columns, in registers over all inputs.
    #[inline(always)]
    fn tile<const R: usize, const C: usize, const FMA: bool>(&mut self, column: usize) {
        let x = flat(self.x);
        let step = packs(self.inputs, N) * N;
        let x: [&[T]; C] = std::array::from_fn(|c| &x[(column + c) * step..][..self.inputs]);
        let (rows, _) = self.panel.as_chunks::<R>();
        let (biases, weights) = rows.split_at(1);
        let weights = &weights[..self.inputs];
        let mut sums = [biases[0]; C];
        for (k, row) in weights.iter().enumerate() {
            for c in 0..C {
                let x = Lanes::splat(x[c][k]);
                for r in 0..R {
                    sums[c][r] = sums[c][r].plus_product::<FMA>(row[r], x);
                }
            }
        }
        for (c, sums) in sums.iter().enumerate() {
            self.y[(column + c) * self.stride + self.first..][..R].copy_from_slice(sums);
        }
    }
}

/// The product with a thin matrix: each output is a dot product in four partial sums of lanes.
#[inline(always)]
fn dots<T: Real, const N: usize, const FMA: bool>(
    matrix: &Packed<T, N>,
    x: &[Lanes<T, N>],
    y: &mut [Lanes<T, N>],
) {
    let (x_packs, y_packs) = (packs(matrix.inputs, N), packs(matrix.outputs, N));
    let (rows, biases) = matrix.data.split_at(matrix.outputs * x_packs);
    for (x, y) in x.chunks_exact(x_packs).zip(y.chunks_exact_mut(y_packs)) {
        y.copy_from_slice(biases);
        for (row, y) in rows.chunks_exact(x_packs).zip(flat_mut(y)) {
            let mut sums = [Lanes::zero(); 4];
            let (x_fours, x_rest) = x.as_chunks::<4>();
            let (row_fours, row_rest) = row.as_chunks::<4>();
            for (x, row) in x_fours.iter().zip(row_fours) {
                for i in 0..4 {
                    sums[i] = sums[i].plus_product::<FMA>(row[i], x[i]);
                }
            }
            for (sum, (x, row)) in sums.iter_mut().zip(x_rest.iter().zip(row_rest)) {
                *sum = sum.plus_product::<FMA>(*row, *x);
            }
            let total = (sums[0] + sums[2]) + (sums[1] + sums[3]);
            *y = *y + total.sum();
        }
    }
}
