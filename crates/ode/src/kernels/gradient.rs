//! The sum of outer products `G += Σ_rows broad ⊗ wide`, in tiles that stay in registers.
//!
//! A weight gradient is `W̄ = Σ δ xᵀ`. One factor is read in packs (`wide`), the other number by
//! number (`broad`); which is which is the choice that wastes fewer lanes.

use super::dispatch::Kernel;
use super::lanes::{Lanes, Real, flat, packs, parts};

/// The most rows of one sum. More would fall out of the cache.
pub(crate) const ROWS: usize = 64;

/// Packs in a row from which on a strip of all rows is copied before it is used: in the same
/// columns of long rows, rows compete for the same places in the cache.
const LONG: usize = 32;

/// Packs of the copy of a strip, at most.
pub(crate) const COPY: usize = 8 * ROWS;

/// `sums[b][·] += Σ_rows broad[row][b] · wide[row][·]`.
pub(crate) struct OuterProducts<'a, T, const N: usize> {
    /// At most [`ROWS`].
    pub(crate) rows: usize,
    /// Numbers used of each row of `broad`, which is filled up to whole packs.
    pub(crate) broad_len: usize,
    pub(crate) broad: &'a [Lanes<T, N>],
    /// Packs in each row of `wide`.
    pub(crate) wide_packs: usize,
    pub(crate) wide: &'a [Lanes<T, N>],
    /// `broad_len` rows of `wide_packs` packs.
    pub(crate) sums: &'a mut [Lanes<T, N>],
    /// Room for a copy of [`COPY`] packs.
    pub(crate) copy: &'a mut [Lanes<T, N>],
}

/// Some neighbouring packs of all rows.
#[derive(Clone, Copy)]
struct Strip {
    /// Where they begin in a row of `wide`.
    first: usize,
    /// Whether they are in `copy`, without gaps.
    copied: bool,
}

impl<T: Real, const N: usize> Kernel for OuterProducts<'_, T, N> {
    /// Tiles of about ten packs: enough sums to hide the latency of the additions, and as square
    /// as the registers allow, so that few numbers are loaded for each product.
    #[inline(always)]
    fn run<const FMA: bool>(mut self) {
        let most = match self.broad_len {
            1 => 8,
            2 => 5,
            _ => 3,
        };
        let mut first = 0;
        for width in parts(self.wide_packs, most) {
            let strip = Strip { first, copied: self.wide_packs >= LONG };
            if strip.copied {
                for row in 0..self.rows {
                    let packs = &self.wide[row * self.wide_packs + first..][..width];
                    self.copy[row * width..][..width].copy_from_slice(packs);
                }
            }
            match width {
                1 => self.strip::<1, FMA>(strip, 6),
                2 => self.strip::<2, FMA>(strip, 6),
                3 => self.strip::<3, FMA>(strip, 3),
                4 => self.strip::<4, FMA>(strip, 2),
                5 => self.strip::<5, FMA>(strip, 2),
                6 => self.tile::<6, 1, FMA>(strip, 0),
                7 => self.tile::<7, 1, FMA>(strip, 0),
                _ => self.tile::<8, 1, FMA>(strip, 0),
            }
            first += width;
        }
    }
}

impl<T: Real, const N: usize> OuterProducts<'_, T, N> {
    /// A strip of `R` packs with all of `broad`, at most `most` numbers at a time.
    #[inline(always)]
    fn strip<const R: usize, const FMA: bool>(&mut self, strip: Strip, most: usize) {
        let mut b = 0;
        for height in parts(self.broad_len, most) {
            match height {
                1 => self.tile::<R, 1, FMA>(strip, b),
                2 => self.tile::<R, 2, FMA>(strip, b),
                3 => self.tile::<R, 3, FMA>(strip, b),
                4 => self.tile::<R, 4, FMA>(strip, b),
                5 => self.tile::<R, 5, FMA>(strip, b),
                _ => self.tile::<R, 6, FMA>(strip, b),
            }
            b += height;
        }
    }

    /// A strip of `R` packs with `C` numbers of `broad`, over all rows.
    #[inline(always)]
    fn tile<const R: usize, const C: usize, const FMA: bool>(&mut self, strip: Strip, b: usize) {
        let Some(last) = self.rows.checked_sub(1) else { return };
        let mut tile = [[Lanes::zero(); R]; C];
        for (c, tile) in tile.iter_mut().enumerate() {
            tile.copy_from_slice(&self.sums[(b + c) * self.wide_packs + strip.first..][..R]);
        }
        let (broad, step) = (&flat(self.broad)[b..], packs(self.broad_len, N) * N);
        let (wide, stride) = if strip.copied {
            (&*self.copy, R)
        } else {
            (&self.wide[strip.first..], self.wide_packs)
        };
        assert!(last * step + C <= broad.len(), "every row of `broad` is there");
        assert!(last * stride + R <= wide.len(), "every row of `wide` is there");
        for row in 0..self.rows {
            // SAFETY: `row <= last`, for which both reads were just checked to be inside.
            let (broad, wide) = unsafe {
                let broad = broad.as_ptr().add(row * step).cast::<[T; C]>();
                let wide = wide.as_ptr().add(row * stride).cast::<[Lanes<T, N>; R]>();
                (&*broad, &*wide)
            };
            for c in 0..C {
                let x = Lanes::splat(broad[c]);
                for r in 0..R {
                    tile[c][r] = tile[c][r].plus_product::<FMA>(wide[r], x);
                }
            }
        }
        for (c, tile) in tile.iter().enumerate() {
            self.sums[(b + c) * self.wide_packs + strip.first..][..R].copy_from_slice(tile);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::dispatch::Kernels;
    use super::super::lanes::flat_mut;
    use super::*;

    /// Small integers, so that every sum is exact and the order of addition cannot matter.
    fn number(i: usize, j: usize) -> f64 {
        ((i * 7 + j * 5) % 11) as f64 - 5.0
    }

    /// `rows` rows of `len` numbers, filled up to whole packs with numbers that must not count.
    fn rows<T: Real, const N: usize>(rows: usize, len: usize) -> Vec<Lanes<T, N>> {
        let mut filled = vec![Lanes::splat(T::from_f64(9.0)); rows * packs(len, N)];
        for (row, x) in flat_mut(&mut filled).chunks_exact_mut(packs(len, N) * N).enumerate() {
            (0..len).for_each(|i| x[i] = T::from_f64(number(row, i)));
        }
        filled
    }

    fn sums_are_exact<T: Real, const N: usize>(broad_len: usize, wide_len: usize, count: usize) {
        let wide_packs = packs(wide_len, N);
        let (broad, wide) = (rows::<T, N>(count, broad_len), rows::<T, N>(count, wide_len));
        for kernels in Kernels::available() {
            let mut sums = vec![Lanes::splat(T::from_f64(1.0)); broad_len * wide_packs];
            kernels.run(OuterProducts {
                rows: count,
                broad_len,
                broad: &broad,
                wide_packs,
                wide: &wide,
                sums: &mut sums,
                copy: &mut [Lanes::zero(); COPY],
            });
            for (b, sums) in flat(&sums).chunks_exact(wide_packs * N).enumerate() {
                for (w, sum) in sums[..wide_len].iter().enumerate() {
                    let products = (0..count).map(|row| number(row, b) * number(row, w));
                    let error = (sum.to_f64() - 1.0 - products.sum::<f64>()).abs();
                    assert!(error <= 0.0, "{broad_len}×{wide_len}, {count} rows, at {b}, {w}");
                }
            }
        }
    }

    #[test]
    fn outer_products_are_exact_for_integers() {
        for broad_len in [1, 2, 3, 4, 5, 7, 50] {
            for wide_len in [1, 4, 8, 9, 50, 51, 65, 140, 300] {
                for count in [0, 1, 5, ROWS] {
                    sums_are_exact::<f64, 4>(broad_len, wide_len, count);
                    sums_are_exact::<f32, 8>(broad_len, wide_len, count);
                }
            }
        }
    }
}
