//! `W x + b` for every column.
//!
//! Sums go over the inputs in order, starting from the bias, whatever the number of columns: a
//! column's result does not depend on its neighbours. A thin matrix instead sums lane by lane,
//! because one pack of outputs alone would wait for its own additions.

use super::lanes::{Lanes, Real, flat, packs, parts};
use super::packed::Packed;

/// `y = W x + b` for every column.
///
/// `x` and `y` hold one column after the other, each filled up to whole packs.
#[inline(always)]
pub(crate) fn product<T: Real, const N: usize, const FMA: bool>(
    columns: usize,
    matrix: &Packed<T, N>,
    x: &[Lanes<T, N>],
    y: &mut [Lanes<T, N>],
) {
    if matrix.thin() {
        return dots::<T, N, FMA>(columns, matrix, x, y);
    }
    for panel in &matrix.panels {
        let block = Block {
            columns,
            panel: &matrix.data[panel.data.clone()],
            inputs: matrix.inputs,
            x,
            y,
            stride: packs(matrix.outputs, N),
            first: panel.first,
        };
        match panel.width {
            1 => block.columns::<1, FMA>(),
            2 => block.columns::<2, FMA>(),
            3 => block.one_by_one::<3, FMA>(),
            4 => block.one_by_one::<4, FMA>(),
            5 => block.one_by_one::<5, FMA>(),
            6 => block.one_by_one::<6, FMA>(),
            7 => block.one_by_one::<7, FMA>(),
            8 => block.one_by_one::<8, FMA>(),
            9 => block.one_by_one::<9, FMA>(),
            10 => block.one_by_one::<10, FMA>(),
            11 => block.one_by_one::<11, FMA>(),
            12 => block.one_by_one::<12, FMA>(),
            13 => block.one_by_one::<13, FMA>(),
            14 => block.one_by_one::<14, FMA>(),
            _ => unreachable!("panels are at most `ONE_COLUMN` packs wide"),
        }
    }
}

/// One panel's part of the product.
struct Block<'a, T, const N: usize> {
    columns: usize,
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
    fn one_by_one<const R: usize, const FMA: bool>(self) {
        let (rows, _) = self.panel.as_chunks::<R>();
        let Some((biases, weights)) = rows.split_first() else { return };
        let (mut x, mut y) = (flat(self.x), &mut self.y[self.first..]);
        for column in 0..self.columns {
            if column > 0 {
                x = &x[packs(self.inputs, N) * N..];
                y = &mut std::mem::take(&mut y)[self.stride..];
            }
            let mut sums = *biases;
            for (row, x) in weights.iter().zip(&x[..self.inputs]) {
                let x = Lanes::splat(*x);
                for r in 0..R {
                    sums[r] = sums[r].plus_product::<FMA>(row[r], x);
                }
            }
            y[..R].copy_from_slice(&sums);
        }
    }

    /// In tiles of up to six columns, as equal as possible.
    #[inline(always)]
    fn columns<const R: usize, const FMA: bool>(mut self) {
        let mut column = 0;
        for take in parts(self.columns, 6) {
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
                // SAFETY: `weights` and each `x[c]` were cut to `self.inputs` entries above.
                let x = Lanes::splat(unsafe { *x[c].get_unchecked(k) });
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

/// The product with a thin matrix, whose outputs are one pack: each output is a dot product, in
/// four partial sums of lanes.
#[inline(always)]
fn dots<T: Real, const N: usize, const FMA: bool>(
    columns: usize,
    matrix: &Packed<T, N>,
    x: &[Lanes<T, N>],
    y: &mut [Lanes<T, N>],
) {
    let x_packs = packs(matrix.inputs, N);
    let (rows, biases) = matrix.data.split_at(matrix.outputs * x_packs);
    for (column, y) in y[..columns].iter_mut().enumerate() {
        let (x, x_rest) = x[column * x_packs..][..x_packs].as_chunks::<4>();
        *y = biases[0];
        for (o, y) in y.0[..matrix.outputs].iter_mut().enumerate() {
            let (row, row_rest) = rows[o * x_packs..][..x_packs].as_chunks::<4>();
            let mut sums = [Lanes::zero(); 4];
            for (x, row) in x.iter().zip(row) {
                for i in 0..4 {
                    sums[i] = sums[i].plus_product::<FMA>(row[i], x[i]);
                }
            }
            for (sum, (x, row)) in sums.iter_mut().zip(x_rest.iter().zip(row_rest)) {
                *sum = sum.plus_product::<FMA>(*row, *x);
            }
            let total = (sums[0] + sums[2]) + (sums[1] + sums[3]);
            // The black box keeps the sum over lanes from being mixed with the sums above.
            *y = *y + std::hint::black_box(total).sum();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::dispatch::{Kernel, Kernels};
    use super::super::lanes::flat_mut;
    use super::super::packed::{MANY_COLUMNS, ONE_COLUMN};
    use super::*;

    struct Product<'a, T, const N: usize> {
        columns: usize,
        matrix: &'a Packed<T, N>,
        x: &'a [Lanes<T, N>],
        y: &'a mut [Lanes<T, N>],
    }

    impl<T: Real, const N: usize> Kernel for Product<'_, T, N> {
        #[inline(always)]
        fn run<const FMA: bool>(self) {
            product::<T, N, FMA>(self.columns, self.matrix, self.x, self.y);
        }
    }

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
        for outputs in [1, 2, 3, 4, 5, 7, 8, 9, 33, 50, 64, 100, 113] {
            for (inputs, columns) in [(1, 1), (50, 1), (17, 6), (3, 13), (9, 4)] {
                product_is_exact::<f64, 4>(outputs, inputs, columns);
                product_is_exact::<f32, 8>(outputs, inputs, columns);
            }
        }
    }
}
