//! `W x + b` for every column.
//!
//! In which order a sum goes over the inputs follows from the matrix, not from the number of
//! columns: a column's result does not depend on its neighbours. Sums start from the bias and take
//! the inputs one after the other; where there are few packs of outputs, the even inputs apart from
//! the odd ones, and for the outputs of a thin matrix or of its rest, lane by lane.

use super::dispatch::{Kernel, apart};
use super::lanes::{Lanes, Real, flat, parts};
use super::packed::{MANY_COLUMNS, Packed, WITH_REST};

/// `y = W x + b` for every column.
///
/// `x` and `y` hold one column after the other, each filled up to whole packs.
pub(crate) struct Product<'a, T, const N: usize> {
    pub(crate) columns: usize,
    pub(crate) matrix: &'a Packed<T, N>,
    pub(crate) x: &'a [Lanes<T, N>],
    pub(crate) y: &'a mut [Lanes<T, N>],
}

impl<T: Real, const N: usize> Kernel for Product<'_, T, N> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        product::<T, N, FMA>(self.columns, self.matrix, self.x, self.y);
    }
}

impl<T: Real, const N: usize> Product<'_, T, N> {
    /// With one column, as a part of the calling function; with more, as one of its own.
    #[inline(always)]
    pub(crate) fn here<const ONE: bool, const FMA: bool>(self) {
        if ONE {
            product::<T, N, FMA>(1, self.matrix, self.x, self.y);
        } else {
            apart::<_, FMA>(self);
        }
    }

    /// A thin matrix with one column as a part of the calling function, and all else apart: what a
    /// network begins or ends with is mostly thin, and every copy of all the rest takes long to compile.
    #[inline(always)]
    pub(crate) fn here_if_thin<const ONE: bool, const FMA: bool>(self) {
        if ONE && self.matrix.thin() {
            thin::<T, N, FMA>(self.matrix, &self.x[..self.matrix.input_packs], &mut self.y[0]);
        } else {
            apart::<_, FMA>(self);
        }
    }
}

#[inline(always)]
fn product<T: Real, const N: usize, const FMA: bool>(
    columns: usize,
    matrix: &Packed<T, N>,
    x: &[Lanes<T, N>],
    y: &mut [Lanes<T, N>],
) {
    let (step, stride) = (matrix.input_packs, matrix.output_packs);
    let column_of = |column: usize| &x[column * step..][..step];
    if matrix.thin() {
        for (column, y) in y[..columns].iter_mut().enumerate() {
            thin::<T, N, FMA>(matrix, column_of(column), y);
        }
        return;
    }
    let rest = matrix.rest.as_ref().map_or(&[][..], |rest| &matrix.data[rest.data.clone()]);
    for panel in &matrix.panels {
        let data = &matrix.data[panel.data.clone()];
        let (inputs, first) = (matrix.inputs, panel.first);
        if columns > 1 && matrix.most == MANY_COLUMNS {
            let tiles = Tiles { columns, panel: data, inputs, x, y, step, stride, first };
            match (panel.width, matrix.split) {
                (1, false) => tiles.columns::<1, 1, FMA>(),
                (1, true) => tiles.columns::<1, 2, FMA>(),
                (_, false) => tiles.columns::<2, 1, FMA>(),
                (_, true) => tiles.columns::<2, 2, FMA>(),
            }
            continue;
        }
        for column in 0..columns {
            let (x, y) = (column_of(column), &mut y[column * stride + first..]);
            let last = first + panel.width + 1 == stride;
            let column = Column { panel: data, rest: if last { rest } else { &[] }, inputs, x, y };
            match (panel.width, matrix.split) {
                (1, true) => column.sum::<1, 2, FMA>(),
                (2, true) => column.sum::<2, 2, FMA>(),
                (3, _) => column.sum::<3, 2, FMA>(),
                (4, _) => column.sum::<4, 2, FMA>(),
                (5, _) => column.sum::<5, 2, FMA>(),
                (6, _) => column.sum::<6, 2, FMA>(),
                (7, true) => column.sum::<7, 2, FMA>(),
                (1, false) => column.sum::<1, 1, FMA>(),
                (2, false) => column.sum::<2, 1, FMA>(),
                (7, false) => column.sum::<7, 1, FMA>(),
                (8, _) => column.sum::<8, 1, FMA>(),
                (9, _) => column.sum::<9, 1, FMA>(),
                (10, _) => column.sum::<10, 1, FMA>(),
                (11, _) => column.sum::<11, 1, FMA>(),
                (12, _) => column.sum::<12, 1, FMA>(),
                (13, _) => column.sum::<13, 1, FMA>(),
                (14, _) => column.sum::<14, 1, FMA>(),
                _ => unreachable!("panels are at most `ONE_COLUMN` packs wide"),
            }
        }
    }
    if columns > 1 && matrix.most == MANY_COLUMNS && !rest.is_empty() {
        for column in 0..columns {
            let (x, y) = (column_of(column), &mut y[column * stride + stride - 1..]);
            Column { panel: &[], rest, inputs: matrix.inputs, x, y }.sum::<0, 1, FMA>();
        }
    }
}

/// One panel's part of the product with one column.
struct Column<'a, T, const N: usize> {
    panel: &'a [Lanes<T, N>],
    /// The [`Rest`](super::packed::Rest) behind the panel; empty if there is none.
    rest: &'a [Lanes<T, N>],
    inputs: usize,
    x: &'a [Lanes<T, N>],
    /// From the panel's outputs on.
    y: &'a mut [Lanes<T, N>],
}

impl<T: Real, const N: usize> Column<'_, T, N> {
    /// `R` packs of outputs, in `S` sums each, and the rest.
    #[inline(always)]
    fn sum<const R: usize, const S: usize, const FMA: bool>(self) {
        if R <= WITH_REST && !self.rest.is_empty() {
            self.sums::<R, S, true, FMA>();
        } else {
            self.sums::<R, S, false, FMA>();
        }
    }

    /// Half a pack of inputs is loaded at a time: a product with one column does little else than load.
    #[inline(always)]
    fn sums<const R: usize, const S: usize, const REST: bool, const FMA: bool>(self) {
        let (x, y, half) = (flat(self.x), self.y, N / 2);
        let (halves, left) = (self.inputs / half, self.inputs % half);
        assert!(self.panel.len() == (1 + self.inputs) * R, "biases and a row for each input");
        assert!(halves * half + left <= x.len(), "columns are filled up to whole packs");
        assert!(!REST || self.rest.len() > halves, "biases and a pack for each half");
        let rows = self.panel.as_ptr().cast::<[Lanes<T, N>; R]>();
        // SAFETY: as just checked, there are `1 + inputs` rows, and only these are read.
        let row = |k: usize| unsafe { &*rows.add(k) };
        let mut sums = [[Lanes::zero(); R]; S];
        sums[0] = *row(0);
        let mut two = if REST { self.rest[0] } else { Lanes::zero() };
        for (k, x) in x.chunks_exact(half).take(halves).enumerate() {
            let x = Lanes::both_halves::<FMA>(x);
            if REST {
                two = two.plus_product::<FMA>(self.rest[1 + k], x);
            }
            for i in 0..half {
                let (row, x) = (row(1 + k * half + i), x.splat_of_half(i));
                for r in 0..R {
                    sums[i % S][r] = sums[i % S][r].plus_product::<FMA>(row[r], x);
                }
            }
        }
        if left > 0 {
            let x = Lanes::both_halves::<FMA>(&x[halves * half..]);
            if REST {
                two = two.plus_product::<FMA>(self.rest[1 + halves], x);
            }
            for i in 0..half - 1 {
                if i < left {
                    let (row, x) = (row(1 + halves * half + i), x.splat_of_half(i));
                    for r in 0..R {
                        sums[i % S][r] = sums[i % S][r].plus_product::<FMA>(row[r], x);
                    }
                }
            }
        }
        let y = &mut y[..R + usize::from(REST)];
        for r in 0..R {
            y[r] = if S == 1 { sums[0][r] } else { sums[0][r] + sums[1][r] };
        }
        if REST {
            y[R] = two.sums_of_halves::<FMA>();
        }
    }
}

/// One panel's part of the product with many columns.
struct Tiles<'a, T, const N: usize> {
    columns: usize,
    panel: &'a [Lanes<T, N>],
    inputs: usize,
    x: &'a [Lanes<T, N>],
    y: &'a mut [Lanes<T, N>],
    /// Packs from one column of `x` to the next.
    step: usize,
    /// Packs from one column of `y` to the next.
    stride: usize,
    /// Where the panel's outputs begin in a column of `y`, in packs.
    first: usize,
}

impl<T: Real, const N: usize> Tiles<'_, T, N> {
    /// In tiles of up to six columns, as equal as possible.
    #[inline(always)]
    fn columns<const R: usize, const S: usize, const FMA: bool>(mut self) {
        let mut column = 0;
        for take in parts(self.columns, 6) {
            match take {
                1 => self.tile::<R, 1, S, FMA>(column),
                2 => self.tile::<R, 2, S, FMA>(column),
                3 => self.tile::<R, 3, S, FMA>(column),
                4 => self.tile::<R, 4, S, FMA>(column),
                5 => self.tile::<R, 5, S, FMA>(column),
                _ => self.tile::<R, 6, S, FMA>(column),
            }
            column += take;
        }
    }

    /// `R` packs of outputs for `C` columns, in registers over all inputs; or, if `S` is 2, over
    /// the even ones and then over the odd ones.
    #[inline(always)]
    fn tile<const R: usize, const C: usize, const S: usize, const FMA: bool>(
        &mut self,
        column: usize,
    ) {
        let x = flat(self.x);
        let step = self.step * N;
        let x: [&[T]; C] = std::array::from_fn(|c| &x[(column + c) * step..][..self.inputs]);
        let (rows, _) = self.panel.as_chunks::<R>();
        let (biases, weights) = rows.split_at(1);
        let weights = &weights[..self.inputs];
        for start in 0..S {
            let mut sums = if start == 0 { [biases[0]; C] } else { [[Lanes::zero(); R]; C] };
            for k in (start..weights.len()).step_by(S) {
                let row = &weights[k];
                for c in 0..C {
                    // SAFETY: `weights` and each `x[c]` were cut to `self.inputs` entries above.
                    let x = Lanes::splat(unsafe { *x[c].get_unchecked(k) });
                    for r in 0..R {
                        sums[c][r] = sums[c][r].plus_product::<FMA>(row[r], x);
                    }
                }
            }
            for (c, sums) in sums.iter().enumerate() {
                let y = &mut self.y[(column + c) * self.stride + self.first..][..R];
                for r in 0..R {
                    y[r] = if start == 0 { sums[r] } else { y[r] + sums[r] };
                }
            }
        }
    }
}

/// A thin matrix, whose outputs are one pack, with one column: each output is a dot product, in four
/// partial sums of lanes.
#[inline(always)]
fn thin<T: Real, const N: usize, const FMA: bool>(
    matrix: &Packed<T, N>,
    x: &[Lanes<T, N>],
    y: &mut Lanes<T, N>,
) {
    let (mut rows, biases) = matrix.data.split_at(matrix.outputs * x.len());
    *y = biases[0];
    let mut y = &mut y.0[..matrix.outputs];
    while let [first, second, others @ ..] = y {
        let (pair, rest) = rows.split_at(2 * x.len());
        let (row, next) = pair.split_at(x.len());
        let sums = dots::<T, N, 2, FMA>([row, next], x);
        (*first, *second) = (*first + sums[0], *second + sums[1]);
        (y, rows) = (others, rest);
    }
    if let [last] = y {
        let [sum] = dots::<T, N, 1, FMA>([rows], x);
        *last = *last + sum;
    }
}

/// The dot products of `R` rows with a column.
#[inline(always)]
fn dots<T: Real, const N: usize, const R: usize, const FMA: bool>(
    rows: [&[Lanes<T, N>]; R],
    x: &[Lanes<T, N>],
) -> [T; R] {
    let mut sums = [[Lanes::zero(); 4]; R];
    let rows = rows.map(|row| row[..x.len()].as_chunks::<4>());
    let (fours, rest) = x.as_chunks::<4>();
    for (k, x) in fours.iter().enumerate() {
        for r in 0..R {
            for i in 0..4 {
                sums[r][i] = sums[r][i].plus_product::<FMA>(rows[r].0[k][i], x[i]);
            }
        }
    }
    for i in 0..3 {
        if i < rest.len() {
            for r in 0..R {
                sums[r][i] = sums[r][i].plus_product::<FMA>(rows[r].1[i], rest[i]);
            }
        }
    }
    let mut dots = [T::default(); R];
    for r in 0..R {
        let sum = (sums[r][0] + sums[r][2]) + (sums[r][1] + sums[r][3]);
        dots[r] = sum.sum::<FMA>();
    }
    dots
}

#[cfg(test)]
mod tests {
    use super::super::dispatch::Kernels;
    use super::super::lanes::{flat_mut, packs};
    use super::super::packed::ONE_COLUMN;
    use super::*;

    /// Small integers, so that every sum is exact and the order of addition cannot matter.
    fn number(i: usize, j: usize) -> f64 {
        ((i * 7 + j * 5) % 11) as f64 - 5.0
    }

    fn product_is_exact<T: Real, const N: usize>(outputs: usize, inputs: usize, columns: usize) {
        let (x_packs, y_packs) = (packs(inputs, N), packs(outputs, N));
        let mut x = vec![Lanes::<T, N>::zero(); columns * x_packs];
        for column in 0..columns {
            for i in 0..inputs {
                flat_mut(&mut x)[column * x_packs * N + i] = T::from_f64(number(column, i));
            }
        }
        for most in [ONE_COLUMN, MANY_COLUMNS] {
            let mut matrix = Packed::new(outputs, inputs, most);
            let rows: Vec<f64> =
                (0..outputs * inputs).map(|at| number(at / inputs, at % inputs)).collect();
            let biases: Vec<f64> = (0..outputs).map(|o| o as f64).collect();
            matrix.fill_by_rows(|o| &rows[o * inputs..][..inputs], &biases);
            for kernels in Kernels::available() {
                let mut y = vec![Lanes::splat(T::from_f64(f64::NAN)); columns * y_packs];
                kernels.run(Product { columns, matrix: &matrix, x: &x, y: &mut y });
                for (i, y) in flat(&y).iter().enumerate() {
                    let (column, o) = (i / (y_packs * N), i % (y_packs * N));
                    let products = (0..inputs).map(|i| number(o, i) * number(column, i));
                    let sum = o as f64 + products.sum::<f64>();
                    let expected = if o < outputs { sum } else { 0.0 };
                    let error = (y.to_f64() - expected).abs();
                    assert!(error <= 0.0, "{outputs}×{inputs}, column {column}, output {o}");
                }
            }
        }
    }

    #[test]
    fn products_are_exact_for_integers_whatever_the_packing() {
        for outputs in [1, 2, 3, 4, 5, 7, 8, 9, 10, 17, 26, 33, 50, 58, 64, 100, 113] {
            for (inputs, columns) in [(1, 1), (50, 1), (17, 6), (3, 13), (9, 4)] {
                product_is_exact::<f64, 4>(outputs, inputs, columns);
                product_is_exact::<f32, 8>(outputs, inputs, columns);
            }
        }
    }

    /// The product, with numbers that are rounded, one column after the other or all at once.
    fn rounded<T: Real, const N: usize>(
        kernels: Kernels,
        (outputs, inputs): (usize, usize),
        columns: usize,
        most: usize,
    ) -> Vec<u64> {
        let weight = |at: usize| (at as f64 * 0.73).sin();
        let rows: Vec<f64> = (0..outputs * inputs).map(weight).collect();
        let mut matrix = Packed::<T, N>::new(outputs, inputs, most);
        matrix.fill_by_rows(|o| &rows[o * inputs..][..inputs], &rows[..outputs]);
        let (x_packs, y_packs) = (packs(inputs, N), packs(outputs, N));
        let mut x = vec![Lanes::zero(); columns * x_packs];
        for (column, x) in flat_mut(&mut x).chunks_exact_mut(x_packs * N).enumerate() {
            (0..inputs).for_each(|i| x[i] = T::from_f64(weight(i + 7 * column)));
        }
        let mut y = vec![Lanes::zero(); columns * y_packs];
        if most == MANY_COLUMNS {
            kernels.run(Product { columns, matrix: &matrix, x: &x, y: &mut y });
        } else {
            for (x, y) in x.chunks(x_packs).zip(y.chunks_mut(y_packs)) {
                kernels.run(Product { columns: 1, matrix: &matrix, x, y });
            }
        }
        flat(&y).iter().map(|y| y.to_f64().to_bits()).collect()
    }

    #[test]
    fn a_column_does_not_depend_on_its_neighbours() {
        for kernels in Kernels::available() {
            for outputs in [1, 4, 5, 9, 10, 17, 29, 33, 50, 57, 64, 100, 114] {
                for (inputs, columns) in [(1, 4), (3, 5), (50, 7), (64, 13)] {
                    let shape = (outputs, inputs);
                    let [alone, together] = [ONE_COLUMN, MANY_COLUMNS].map(|most| {
                        (
                            rounded::<f32, 8>(kernels, shape, columns, most),
                            rounded::<f64, 4>(kernels, shape, columns, most),
                        )
                    });
                    assert_eq!(alone, together, "{outputs}×{inputs}, {columns} columns");
                }
            }
        }
    }
}
