//! The rate that is tangent to the surface of equalities.
//!
//! A rate `f` is projected, in scaled coordinates, with `c_t = ∂c/∂t`:
//!
//! ```text
//! f̃ = f − s∘Aᵀ q,      (AAᵀ) q = ∇c·f + c_t
//! ```
//!
//! so that `∇c·f̃ + c_t = 0` (Hairer, Lubich, Wanner, *Geometric Numerical Integration*, IV.4). White,
//! Kilbertus, Gelbrecht and Boers (*Stabilized Neural Differential Equations for Learning Dynamics with
//! Explicit Constraints*, 2023) add a multiple of `−c` to the rate as well; here the guard of the steps
//! returns to the surface, which needs no gain and no small steps. For the adjoint `w` of `f̃`, with
//! `(AAᵀ) ν = A (s∘w)`:
//!
//! ```text
//! adjoint of f:   v = w − Aᵀν/s
//! adjoint of y:   − Σ_l q_l ∇²c_l (s²∘v)  −  Σ_l ν_l ∂/∂y (∇c_l·f̃ + ∂c_l/∂t)
//! ```
//!
//! Where the gradients are dependent there is no such rate: it is not a number, which ends the solve,
//! and the guard says why.

use super::basis::Basis;
use super::lost::Lost;
use super::surface::{Surface, grow};

/// Projects rates on the tangent space of a surface.
#[derive(Debug, Clone)]
pub(super) struct Tangent {
    surface: Surface,
    basis: Basis,
    /// The last place of each column at which the gradients were dependent, if there was one.
    pub(super) lost: Vec<Option<Lost>>,
    /// Rows `A` of all columns: `a[(column * laws + law) * d..]`.
    a: Vec<f64>,
    /// `∂/∂y (∇c_l·f̃ + ∂c_l/∂t)`, alike.
    h: Vec<f64>,
    /// `ν` of all columns, and `s²∘v`.
    nu: Vec<f64>,
    p: Vec<f64>,
    /// One scaled vector.
    z: Vec<f64>,
}

impl Tangent {
    pub(super) fn new(surface: Surface) -> Self {
        let d = surface.d();
        Self {
            basis: Basis::new(surface.len(), d),
            surface,
            lost: Vec::new(),
            a: Vec::new(),
            h: Vec::new(),
            nu: Vec::new(),
            p: Vec::new(),
            z: vec![0.0; d],
        }
    }

    /// Number of equalities, of which each column has one `q`.
    pub(super) fn laws(&self) -> usize {
        self.surface.len()
    }

    pub(super) fn reserve(&mut self, columns: usize) {
        let (d, laws) = (self.surface.d(), self.laws());
        self.surface.reserve(columns);
        grow(&mut self.a, columns * laws * d);
        grow(&mut self.h, columns * laws * d);
        grow(&mut self.nu, columns * laws);
        grow(&mut self.p, columns * d);
        if self.lost.len() < columns {
            self.lost.resize(columns, None);
        }
    }

    /// Projects the rates `dy` of all columns, and writes `q`.
    pub(super) fn project(&mut self, t: &[f64], y: &[f64], dy: &mut [f64], q: &mut [f64]) {
        let (d, laws) = (self.surface.d(), self.laws());
        if laws == 0 {
            return;
        }
        for law in 0..laws {
            let size = self.surface.laws[law].size;
            let sweep = self.surface.sweep(law, t, y, dy, 1.0);
            for (column, q) in q.chunks_exact_mut(laws).enumerate() {
                sweep.row(column, &mut self.a[(column * laws + law) * d..][..d]);
                q[law] = sweep.values[column] / size;
            }
        }
        for (column, (dy, q)) in dy.chunks_exact_mut(d).zip(q.chunks_exact_mut(laws)).enumerate() {
            match self.basis.decompose(&self.a[column * laws * d..][..laws * d], false) {
                Ok(()) => {
                    self.basis.forward(q);
                    self.z.fill(0.0);
                    self.basis.add(&mut self.z, 1.0, q);
                    self.basis.backward(q);
                    for ((dy, z), s) in dy.iter_mut().zip(&self.z).zip(&self.surface.scale) {
                        *dy -= s * z;
                    }
                }
                Err(loss) => {
                    // Where the state is not finite, nothing can be said about the laws.
                    let y = &y[column * d..][..d];
                    if y.iter().chain(&*dy).all(|x| x.is_finite()) {
                        let lost = self.lost[column].get_or_insert_default();
                        (lost.loss, lost.t) = (loss, t[column]);
                        lost.y.clear();
                        lost.y.extend_from_slice(y);
                    }
                    dy.fill(f64::NAN);
                }
            }
        }
    }

    /// Turns the adjoint of the projected `rate` into that of the rate before, in place, and adds what
    /// comes from the laws to `y_bar`.
    pub(super) fn pull_back(
        &mut self,
        (t, y): (&[f64], &[f64]),
        rate: &[f64],
        q: &[f64],
        w: &mut [f64],
        y_bar: Option<&mut [f64]>,
    ) {
        let (d, laws, columns) = (self.surface.d(), self.laws(), t.len());
        if laws == 0 {
            return;
        }
        for law in 0..laws {
            let size = self.surface.laws[law].size;
            let sweep = self.surface.sweep(law, t, y, rate, 1.0);
            for column in 0..columns {
                let cells = (column * laws + law) * d..(column * laws + law + 1) * d;
                sweep.row(column, &mut self.a[cells.clone()]);
                let h = self.h[cells].iter_mut().zip(sweep.by_state(column));
                h.for_each(|(h, x)| *h = x / size);
            }
        }
        let scale = &self.surface.scale;
        for (column, w) in w.chunks_exact_mut(d).enumerate() {
            let a = &self.a[column * laws * d..][..laws * d];
            let nu = &mut self.nu[column * laws..][..laws];
            self.z.iter_mut().zip(&*w).zip(scale).for_each(|((z, w), s)| *z = w * s);
            // A rate that is not a number has no adjoint either.
            if self.basis.decompose(a, false).is_ok() {
                self.basis.along(&self.z, nu);
                self.basis.add(&mut self.z, -1.0, nu);
                self.basis.backward(nu);
            } else {
                nu.fill(f64::NAN);
            }
            let p = &mut self.p[column * d..][..d];
            for (((p, w), z), s) in p.iter_mut().zip(w).zip(&self.z).zip(scale) {
                *p = z * s;
                *w = z / s;
            }
        }
        let Some(y_bar) = y_bar else { return };
        for law in 0..laws {
            let size = self.surface.laws[law].size;
            let sweep = self.surface.sweep(law, t, y, &self.p[..columns * d], 0.0);
            for (column, y_bar) in y_bar.chunks_exact_mut(d).enumerate() {
                let cell = column * laws + law;
                let (q, nu) = (q[cell] / size, self.nu[cell]);
                let h = &self.h[cell * d..][..d];
                for ((bar, second), h) in y_bar.iter_mut().zip(sweep.by_state(column)).zip(h) {
                    *bar -= q * second + nu * h;
                }
            }
        }
    }
}
