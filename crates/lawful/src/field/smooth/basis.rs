//! Orthonormal rows that span the gradients of laws.
//!
//! `A = R U` with the rows of `A` the scaled gradients, `R` lower triangular, and the rows of `U`
//! orthonormal, by Gram–Schmidt, twice: the normal equations `A Aᵀ` would square the condition number.
//! With it
//!
//! ```text
//! Aᵀ(AAᵀ)⁻¹ c = Uᵀ R⁻¹ c,      (AAᵀ)⁻¹ c = R⁻ᵀ R⁻¹ c,      (AAᵀ)⁻¹ A w = R⁻ᵀ U w
//! ```

/// Gradients are dependent if one of them keeps less than this share of its length when the others are
/// removed, and vanish below it: a law's residual is known to about its square, so that nothing else
/// could be told from rounding.
const RANK: f64 = 1e-8;

/// The decomposition of a few rows of `d` numbers; buffers grow and stay.
#[derive(Debug, Clone, Default)]
pub(super) struct Basis {
    d: usize,
    rank: usize,
    /// Orthonormal rows.
    u: Vec<f64>,
    /// Row after row, each as long as the matrix is wide.
    r: Vec<f64>,
    width: usize,
}

/// The row at which a decomposition failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RankLoss {
    pub(super) row: usize,
    pub(super) loss: Loss,
}

/// What is wrong with a row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Loss {
    /// It is 0.
    #[default]
    Vanishes,
    /// It depends on those before it.
    Depends,
    /// It is not finite.
    NotFinite,
}

impl Basis {
    /// Reserves room for `rows` of `d` numbers.
    pub(super) fn new(rows: usize, d: usize) -> Self {
        Self { d, rank: 0, u: vec![0.0; rows * d], r: vec![0.0; rows * rows], width: rows }
    }

    /// Decomposes the rows of `a`, of which the last may be shorter than [`RANK`] if `last_may_vanish`,
    /// but not 0.
    pub(super) fn decompose(&mut self, a: &[f64], last_may_vanish: bool) -> Result<(), RankLoss> {
        let (d, rows) = (self.d, a.len() / self.d);
        self.rank = 0;
        for (row, a) in a.chunks_exact(d).enumerate() {
            let length = norm(a);
            let floor = if last_may_vanish && row + 1 == rows { f64::MIN_POSITIVE } else { RANK };
            let lost = |loss| Err(RankLoss { row, loss });
            if !length.is_finite() {
                return lost(Loss::NotFinite);
            }
            if length < floor {
                return lost(Loss::Vanishes);
            }
            if self.append(a) < RANK * length {
                return lost(Loss::Depends);
            }
        }
        Ok(())
    }

    /// Adds a row, and returns the length of what the rows before it do not span.
    fn append(&mut self, a: &[f64]) -> f64 {
        let (d, row) = (self.d, self.rank);
        let (before, rest) = self.u.split_at_mut(row * d);
        let u = &mut rest[..d];
        u.copy_from_slice(a);
        let r = &mut self.r[row * self.width..][..=row];
        r.fill(0.0);
        for _ in 0..2 {
            for (r, v) in r.iter_mut().zip(before.chunks_exact(d)) {
                let along = dot(v, u);
                *r += along;
                add_scaled(u, -along, v);
            }
        }
        let left = norm(u);
        r[row] = left;
        for u in u {
            *u /= left;
        }
        self.rank += 1;
        left
    }

    /// The orthonormal rows.
    fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.u.chunks_exact(self.d).take(self.rank)
    }

    /// `c ← R⁻¹ c`
    pub(super) fn forward(&self, c: &mut [f64]) {
        for row in 0..self.rank {
            let r = &self.r[row * self.width..][..=row];
            let before = dot(&r[..row], &c[..row]);
            c[row] = (c[row] - before) / r[row];
        }
    }

    /// `b ← R⁻ᵀ b`
    pub(super) fn backward(&self, b: &mut [f64]) {
        for row in (0..self.rank).rev() {
            let after: f64 =
                (row + 1..self.rank).map(|k| self.r[k * self.width + row] * b[k]).sum();
            b[row] = (b[row] - after) / self.r[row * self.width + row];
        }
    }

    /// `b ← U w`
    pub(super) fn along(&self, w: &[f64], b: &mut [f64]) {
        b.iter_mut().zip(self.rows()).for_each(|(b, u)| *b = dot(u, w));
    }

    /// `w ← w + factor · Uᵀ b`
    pub(super) fn add(&self, w: &mut [f64], factor: f64, b: &[f64]) {
        b.iter().zip(self.rows()).for_each(|(b, u)| add_scaled(w, factor * b, u));
    }
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The length of a vector, without overflow and underflow of squares; not finite if an entry is not.
pub(super) fn norm(a: &[f64]) -> f64 {
    // `max` ignores what is not a number.
    let largest = a.iter().fold(0.0, |largest: f64, a| largest.max(a.abs()));
    if a.iter().all(|a| a.is_finite()) && largest > 0.0 {
        largest * a.iter().map(|a| (a / largest) * (a / largest)).sum::<f64>().sqrt()
    } else {
        a.iter().map(|a| a.abs()).sum()
    }
}

/// `a ← a + factor · b`
pub(super) fn add_scaled(a: &mut [f64], factor: f64, b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += factor * b);
}
