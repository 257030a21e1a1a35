//! Sums that a projection keeps: in the rate, and in the state.
//!
//! With the sums' weights as rows of `W`, the sizes of the states in the diagonal `S`, and `W S = L U`, `U`
//! orthonormal rows and `L` lower triangular, so that distances are measured in sizes:
//!
//! ```text
//! f = S (1 − UᵀU) S⁻¹ g               rate
//! y = ỹ + S Uᵀ L⁻¹ (b − W ỹ)          state, at the values b
//! ```

/// Removes what would change sums.
#[derive(Debug, Clone)]
pub(super) struct Projection {
    scale: Vec<f64>,
    /// `W`, `U` and `L`, row after row; row k of `L` has `k + 1` entries.
    weights: Vec<f64>,
    basis: Vec<f64>,
    factor: Vec<Vec<f64>>,
    /// The values of the sums; nothing for that at the start of a step.
    values: Vec<Option<f64>>,
    /// One number for each sum.
    along: Vec<f64>,
}

/// Share of its length by which a row must be independent of those before.
const DEPENDENT: f64 = 1e-10;

/// Changes below this share of a sum's terms are rounding.
const ROUNDING: f64 = 1e-13;

impl Projection {
    /// No sums.
    pub(super) fn new(scale: &[f64]) -> Self {
        Self {
            scale: scale.to_vec(),
            weights: Vec::new(),
            basis: Vec::new(),
            factor: Vec::new(),
            values: Vec::new(),
            along: Vec::new(),
        }
    }

    /// Adds a sum. Returns whether it is independent of those before.
    pub(super) fn add(&mut self, weights: &[f64], value: Option<f64>) -> bool {
        let d = self.scale.len();
        let mut row: Vec<f64> = weights.iter().zip(&self.scale).map(|(w, s)| w * s).collect();
        let length = |row: &[f64]| row.iter().map(|x| x * x).sum::<f64>().sqrt();
        let whole = length(&row);
        let mut factor = vec![0.0; self.values.len()];
        // Twice is enough for orthogonality to rounding.
        for _ in 0..2 {
            for (u, factor) in self.basis.chunks_exact(d).zip(&mut factor) {
                let along: f64 = u.iter().zip(&row).map(|(u, x)| u * x).sum();
                row.iter_mut().zip(u).for_each(|(x, u)| *x -= along * u);
                *factor += along;
            }
        }
        let left = length(&row);
        if left <= DEPENDENT * whole || left.is_nan() {
            return false;
        }
        factor.push(left);
        self.basis.extend(row.iter().map(|x| x / left));
        self.weights.extend_from_slice(weights);
        self.factor.push(factor);
        self.values.push(value);
        self.along.push(0.0);
        true
    }

    /// Whether a state is in any of the sums.
    pub(super) fn has(&self, state: usize) -> bool {
        self.weights.chunks_exact(self.scale.len()).any(|row| row[state] != 0.0)
    }

    /// Projects a rate, in place.
    pub(super) fn rate(&self, f: &mut [f64]) {
        for u in self.basis.chunks_exact(self.scale.len()) {
            let scaled = u.iter().zip(&*f).zip(&self.scale);
            let along: f64 = scaled.map(|((u, f), s)| u * (f / s)).sum();
            let f = f.iter_mut().zip(u).zip(&self.scale);
            f.for_each(|((f, u), s)| *f -= along * u * s);
        }
    }

    /// The adjoint of [`rate`](Self::rate), in place.
    pub(super) fn rate_bar(&self, bar: &mut [f64]) {
        for u in self.basis.chunks_exact(self.scale.len()) {
            let scaled = u.iter().zip(&*bar).zip(&self.scale);
            let along: f64 = scaled.map(|((u, bar), s)| u * bar * s).sum();
            let bar = bar.iter_mut().zip(u).zip(&self.scale);
            bar.for_each(|((bar, u), s)| *bar -= along * u / s);
        }
    }

    /// Moves a state to the values of the sums, or to those at another state. Returns whether it has moved by
    /// more than rounding.
    pub(super) fn state(&mut self, start: &[f64], y: &mut [f64]) -> bool {
        let d = self.scale.len();
        let mut moved = false;
        // Once more for what the first time rounds away.
        for round in 0..2 {
            for (k, w) in self.weights.chunks_exact(d).enumerate() {
                let sum = |y: &[f64]| w.iter().zip(y).map(|(w, y)| w * y).sum::<f64>();
                let off = self.values[k].unwrap_or_else(|| sum(start)) - sum(y);
                let size: f64 = w.iter().zip(&*y).map(|(w, y)| (w * y).abs()).sum();
                moved |= round == 0 && off.abs() > ROUNDING * size;
                let (factor, before) = (&self.factor[k], &self.along[..k]);
                let known: f64 = factor.iter().zip(before).map(|(l, c)| l * c).sum();
                self.along[k] = (off - known) / factor[k];
            }
            for (u, along) in self.basis.chunks_exact(d).zip(&self.along) {
                let y = y.iter_mut().zip(u).zip(&self.scale);
                y.for_each(|((y, u), s)| *y += along * u * s);
            }
        }
        moved
    }

    /// The adjoint of [`state`](Self::state): replaces the adjoint of the end, and adds to that of the start.
    pub(super) fn state_bar(&mut self, bar: &mut [f64], start_bar: &mut [f64]) {
        let d = self.scale.len();
        for (u, along) in self.basis.chunks_exact(d).zip(&mut self.along) {
            let scaled = u.iter().zip(&*bar).zip(&self.scale);
            *along = scaled.map(|((u, bar), s)| u * bar * s).sum();
        }
        self.rate_bar(bar);
        // L⁻ᵀ
        for k in (0..self.along.len()).rev() {
            self.along[k] /= self.factor[k][k];
            for j in 0..k {
                self.along[j] -= self.factor[k][j] * self.along[k];
            }
        }
        for (k, w) in self.weights.chunks_exact(d).enumerate() {
            if self.values[k].is_none() {
                let along = self.along[k];
                start_bar.iter_mut().zip(w).for_each(|(sum, w)| *sum += along * w);
            }
        }
    }

    /// Values and weights of the sums.
    pub(super) fn sums(&self) -> impl Iterator<Item = (Option<f64>, &[f64])> {
        self.values.iter().copied().zip(self.weights.chunks_exact(self.scale.len()))
    }
}
