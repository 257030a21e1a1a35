//! The sum of outer products `G += Σ_rows broad ⊗ wide`, in tiles that stay in registers.
//!
//! A weight gradient is `W̄ = Σ δ xᵀ`. One factor is read in packs (`wide`), the other number by
//! number (`broad`); which is which is the choice that wastes fewer lanes.

use super::dispatch::Kernel;
use super::lanes::{Lanes, Real, flat, packs, parts};

/// `sums[b][·] += Σ_rows broad[row][b] · wide[row][·]`.
pub(crate) struct OuterProducts<'a, T, const N: usize> {
    pub(crate) rows: usize,
    /// Numbers used of each row of `broad`, which is filled up to whole packs.
    pub(crate) broad_len: usize,
    pub(crate) broad: &'a [Lanes<T, N>],
    /// Packs in each row of `wide`.
    pub(crate) wide_packs: usize,
    pub(crate) wide: &'a [Lanes<T, N>],
    /// `broad_len` rows of `wide_packs` packs.
    pub(crate) sums: &'a mut [Lanes<T, N>],
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
            match width {
                1 => self.strip::<1, FMA>(first, 6),
                2 => self.strip::<2, FMA>(first, 6),
                3 => self.strip::<3, FMA>(first, 3),
                4 => self.strip::<4, FMA>(first, 2),
                5 => self.strip::<5, FMA>(first, 2),
                6 => self.tile::<6, 1, FMA>(first, 0),
                7 => self.tile::<7, 1, FMA>(first, 0),
                _ => self.tile::<8, 1, FMA>(first, 0),
            }
            first += width;
        }
    }
}

impl<T: Real, const N: usize> OuterProducts<'_, T, N> {
    /// `R` packs of `wide` with all of `broad`, at most `most` numbers at a time.
    #[inline(always)]
    fn strip<const R: usize, const FMA: bool>(&mut self, first: usize, most: usize) {
        let mut b = 0;
        for height in parts(self.broad_len, most) {
            match height {
                1 => self.tile::<R, 1, FMA>(first, b),
                2 => self.tile::<R, 2, FMA>(first, b),
                3 => self.tile::<R, 3, FMA>(first, b),
                4 => self.tile::<R, 4, FMA>(first, b),
                5 => self.tile::<R, 5, FMA>(first, b),
                _ => self.tile::<R, 6, FMA>(first, b),
            }
            b += height;
        }
    }

    /// `R` packs of `wide` with `C` numbers of `broad`, over all rows.
    #[inline(always)]
    fn tile<const R: usize, const C: usize, const FMA: bool>(&mut self, first: usize, b: usize) {
        let mut tile = [[Lanes::zero(); R]; C];
        for (c, tile) in tile.iter_mut().enumerate() {
            tile.copy_from_slice(&self.sums[(b + c) * self.wide_packs + first..][..R]);
        }
        let step = packs(self.broad_len, N) * N;
        let (broad, wide) = (flat(self.broad), self.wide);
        assert!(b + C <= step && broad.len() == self.rows * step);
        assert!(first + R <= self.wide_packs && wide.len() == self.rows * self.wide_packs);
        for row in 0..self.rows {
            // SAFETY: `row < self.rows`, and both lengths were checked against all rows above.
            let (broad, wide) = unsafe {
                let broad = broad.as_ptr().add(row * step + b).cast::<[T; C]>();
                let wide =
                    wide.as_ptr().add(row * self.wide_packs + first).cast::<[Lanes<T, N>; R]>();
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
            self.sums[(b + c) * self.wide_packs + first..][..R].copy_from_slice(tile);
        }
    }
}
