//! Newton's iteration on a surface, and its exact adjoint.
//!
//! In scaled coordinates `z = y/s`, with `c = (e(t, y) − level)/size` and the rows `A` of the current
//! state, the shortest step on which the linearised laws hold is
//!
//! ```text
//! y ← y − s∘Aᵀ q,      (AAᵀ) q = c
//! ```
//!
//! repeated until `c` is at rounding: quadratic convergence on a surface (Hairer, Lubich, Wanner,
//! *Geometric Numerical Integration*, IV.4), and a factor of ¼ per step towards a minimum of a falling
//! quantity, where the gradient vanishes too. The adjoint differentiates the steps that were taken, so
//! that it is exact also where few of them were. For the adjoint `w` of the end of a step, with
//! `(AAᵀ) ν = A (s∘w)` and `v = s∘w − Aᵀν`:
//!
//! ```text
//! adjoint of the start:  v/s + Σ_l ∇²c_l (s∘(ν_l Aᵀq − q_l v))
//! adjoint of a level:    ν_l/size_l
//! ```

use super::basis::{Basis, RankLoss, add_scaled};
use super::surface::Surface;

/// Residuals, in sizes of the law, at which a state is on the surface to rounding.
const ROUNDING: f64 = 1e-15;
/// Residuals that are accepted where rounding does not allow less.
const ACCEPTED: f64 = 1e-11;
/// Steps; halving the distance to a minimum takes one for each two bits.
const STEPS: usize = 60;

/// Why an iteration did not arrive.
#[derive(Debug, Clone, Copy)]
pub(super) enum NoArrival {
    /// The gradients are dependent at a state on the way.
    Rank(RankLoss),
    /// This law is still off by this share of its size.
    Off(usize, f64),
}

/// Laws, and the states of an iteration.
#[derive(Debug, Clone)]
pub(super) struct Newton {
    pub(super) surface: Surface,
    /// Whether the last law is a quantity that falls.
    pub(super) falling: bool,
    basis: Basis,
    /// The value of each law's quantity.
    pub(super) levels: Vec<f64>,
    pub(super) levels_bar: Vec<f64>,
    /// The start of each step, and the number of laws in it.
    starts: Vec<f64>,
    counts: Vec<usize>,
    /// Rows, residuals and their multipliers, and vectors of one step.
    a: Vec<f64>,
    c: Vec<f64>,
    nu: Vec<f64>,
    z: Vec<f64>,
    v: Vec<f64>,
    p: Vec<f64>,
    /// The state at which an iteration failed.
    pub(super) at: Vec<f64>,
}

impl Newton {
    /// The equalities, then the falling quantity if there is one.
    pub(super) fn new(mut surface: Surface, falling: bool) -> Self {
        surface.reserve(1);
        let (d, laws) = (surface.d(), surface.len());
        Self {
            basis: Basis::new(laws, d),
            surface,
            falling,
            levels: vec![0.0; laws],
            levels_bar: vec![0.0; laws],
            starts: Vec::new(),
            counts: Vec::new(),
            a: vec![0.0; laws * d],
            c: vec![0.0; laws],
            nu: vec![0.0; laws],
            z: vec![0.0; d],
            v: vec![0.0; d],
            p: vec![0.0; d],
            at: vec![0.0; d],
        }
    }

    /// Forgets the steps of earlier iterations.
    pub(super) fn start(&mut self) {
        self.starts.clear();
        self.counts.clear();
    }

    /// Moves a state to the levels of the first `count` laws, and returns the number of steps. These
    /// follow those of earlier iterations since [`start`](Self::start).
    pub(super) fn solve(
        &mut self,
        count: usize,
        t: f64,
        y: &mut [f64],
    ) -> Result<usize, NoArrival> {
        let mut before = f64::INFINITY;
        for step in 0.. {
            let (law, off) = self.residuals(count, t, y);
            if off <= ROUNDING {
                return Ok(step);
            }
            if off <= ACCEPTED && off > 0.5 * before {
                return Ok(step);
            }
            if step == STEPS || !off.is_finite() {
                return Err(NoArrival::Off(law, off));
            }
            before = off;
            self.starts.extend_from_slice(y);
            self.counts.push(count);
            self.decompose(count).map_err(|loss| {
                self.at.copy_from_slice(y);
                NoArrival::Rank(loss)
            })?;
            self.basis.forward(&mut self.c[..count]);
            self.z.fill(0.0);
            self.basis.add(&mut self.z, 1.0, &self.c[..count]);
            for ((y, z), s) in y.iter_mut().zip(&self.z).zip(&self.surface.scale) {
                *y -= s * z;
            }
        }
        unreachable!("the loop returns")
    }

    /// Turns the adjoint of the end of all steps into that of their start, in place, and adds to
    /// `self.levels_bar`.
    pub(super) fn pull_back(&mut self, t: f64, bar: &mut [f64]) {
        let d = self.surface.d();
        for step in (0..self.counts.len()).rev() {
            let count = self.counts[step];
            let starts = std::mem::take(&mut self.starts);
            let y = &starts[step * d..][..d];
            self.residuals(count, t, y);
            self.decompose(count).expect("the rows of a step that was taken");
            let (q, nu) = (&mut self.c[..count], &mut self.nu[..count]);
            self.basis.forward(q);
            self.z.fill(0.0);
            self.basis.add(&mut self.z, 1.0, q);
            self.basis.backward(q);
            let scale = &self.surface.scale;
            self.v.iter_mut().zip(&*bar).zip(scale).for_each(|((v, w), s)| *v = w * s);
            self.basis.along(&self.v, nu);
            self.basis.add(&mut self.v, -1.0, nu);
            self.basis.backward(nu);
            bar.iter_mut().zip(&self.v).zip(scale).for_each(|((bar, v), s)| *bar = v / s);
            for law in 0..count {
                let (q, nu) = (self.c[law], self.nu[law]);
                let size = self.surface.laws[law].size;
                self.levels_bar[law] += nu / size;
                let scaled = self.z.iter().zip(&self.v).zip(&self.surface.scale);
                for (p, ((z, v), s)) in self.p.iter_mut().zip(scaled) {
                    *p = s * (nu * z - q * v) / size;
                }
                let sweep = self.surface.sweep(law, &[t], y, &self.p, 0.0);
                add_scaled(bar, 1.0, sweep.by_state(0));
            }
            self.starts = starts;
        }
    }

    /// Computes rows and residuals, and returns the law with the largest one.
    fn residuals(&mut self, count: usize, t: f64, y: &[f64]) -> (usize, f64) {
        let d = self.surface.d();
        let mut worst = (0, 0.0);
        for law in 0..count {
            let row = &mut self.a[law * d..][..d];
            let value = self.surface.value_and_row(law, t, y, row);
            let c = (value - self.levels[law]) / self.surface.laws[law].size;
            self.c[law] = c;
            if c.abs() > worst.1 || c.is_nan() {
                worst = (law, c.abs());
            }
        }
        worst
    }

    fn decompose(&mut self, count: usize) -> Result<(), RankLoss> {
        let d = self.surface.d();
        let last_falls = self.falling && count == self.surface.len();
        self.basis.decompose(&self.a[..count * d], last_falls)
    }
}
