//! The sum of outer products `G += Σ_rows broad ⊗ wide`, in tiles that stay in registers.
//!
//! A weight gradient is `W̄ = Σ δ xᵀ`. One factor is read in packs (`wide`), the other number by
//! number (`broad`); which is which is the choice that wastes fewer lanes.

use super::dispatch::Kernel;
use super::lanes::{Lanes, Real, flat, packs};

/// `sums[b][·] += Σ_rows broad[row][b] · wide[row][·]`.
pub(crate) struct OuterProducts<'a, T, const N: usize> {
    /// Numbers used of each row of `broad`.
    pub(crate) broad_len: usize,
    pub(crate) broad: &'a [Lanes<T, N>],
    /// Packs in each row of `wide`.
    pub(crate) wide_packs: usize,
    pub(crate) wide: &'a [Lanes<T, N>],
    /// `broad_len` rows of `wide_packs` packs.
    pub(crate) sums: &'a mut [Lanes<T, N>],
}

impl<T: Real, const N: usize> Kernel for OuterProducts<'_, T, N> {
    #[inline(always)]
    fn run<const FMA: bool>(mut self) {
        let mut first = 0;
        while first < self.wide_packs {
            let rest = self.wide_packs - first;
            let most = match self.broad_len {
                1 => 8,
                2 => 5,
                3 => 4,
                _ => 3,
            };
            let width = rest.div_ceil(rest.div_ceil(most));
            match width {
                1 => self.strip::<1, FMA>(first),
                2 => self.strip::<2, FMA>(first),
                3 => self.strip::<3, FMA>(first),
                4 => self.strip::<4, FMA>(first),
                5 => self.strip::<5, FMA>(first),
                6 => self.tile::<6, 1, FMA>(first, 0),
                7 => self.tile::<7, 1, FMA>(first, 0),
                _ => self.tile::<8, 1, FMA>(first, 0),
            }
            first += width;
        }
    }
}

impl<T: Real, const N: usize> OuterProducts<'_, T, N> {
    /// `R` packs of `wide` with all of `broad`.
    #[inline(always)]
    fn strip<const R: usize, const FMA: bool>(&mut self, first: usize) {
        let mut b = 0;
        while b < self.broad_len {
            let rest = self.broad_len - b;
            let take = rest.div_ceil(rest.div_ceil(if R > 3 { 3 } else { 4 }));
            match take {
                1 => self.tile::<R, 1, FMA>(first, b),
                2 => self.tile::<R, 2, FMA>(first, b),
                3 => self.tile::<R, 3, FMA>(first, b),
                _ => self.tile::<R, 4, FMA>(first, b),
            }
            b += take;
        }
    }

    /// `R` packs of `wide` with `C` numbers of `broad`, over all rows.
    #[inline(always)]
    fn tile<const R: usize, const C: usize, const FMA: bool>(&mut self, first: usize, b: usize) {
        let mut tile = [[Lanes::zero(); R]; C];
        for (c, tile) in tile.iter_mut().enumerate() {
            tile.copy_from_slice(&self.sums[(b + c) * self.wide_packs + first..][..R]);
        }
        let broad = flat(self.broad).chunks_exact(packs(self.broad_len, N) * N);
        for (broad, wide) in broad.zip(self.wide.chunks_exact(self.wide_packs)) {
            let (broad, wide) = (&broad[b..b + C], &wide[first..first + R]);
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

/// `sums += Σ_rows rows`.
pub(crate) struct RowSums<'a, T, const N: usize> {
    pub(crate) rows: &'a [Lanes<T, N>],
    pub(crate) sums: &'a mut [Lanes<T, N>],
}

impl<T: Real, const N: usize> Kernel for RowSums<'_, T, N> {
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        for row in self.rows.chunks_exact(self.sums.len()) {
            for (sum, x) in self.sums.iter_mut().zip(row) {
                *sum = *sum + *x;
            }
        }
    }
}
