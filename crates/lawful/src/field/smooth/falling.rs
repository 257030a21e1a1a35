//! The rate along which a quantity never rises.
//!
//! The part of a rate `f` that would raise `E` is removed. In scaled coordinates, `φ = f/s`, with
//! `g = ∇E∘s/size`, projected on the tangent space of the equalities, and `γ = |g|²`, `n = g/|g|`:
//!
//! ```text
//! φ̃ = φ − s(α) n,      α = n·φ,      s(α) = ½(α + √(α² + ε²γ))
//! dE/dt = |g| (α − s(α)) ≤ 0
//! ```
//!
//! This is `f − ∇E s(a)/|∇E|²` with `a = ∇E·f` and `s(a) = ½(a + √(a² + ε²|∇E|⁴))`, written with the
//! direction of `∇E` instead of its square: every factor is finite, and of the size of the rate, however
//! small `∇E` is. Where it is 0 nothing is removed, since `E` does not change to first order. `ε` is a
//! rate; it is the width, in units of `|g|`, in which the removal sets in, and an `f` along which `E`
//! falls by itself changes by less than `ε²γ/4|α|`. For the adjoint `w` of `φ̃`, with
//! `κ = s′ = ½(1 + α/√(α² + ε²γ))`, `s_γ = ε²/4√(α² + ε²γ)`, `ω = w·n`, and `P` the projection on the
//! tangent space:
//!
//! ```text
//! adjoint of φ:   w − ωκ n
//! adjoint of g:   b = P [ (1 − nnᵀ)(−ωκ φ − s w)/|g| − 2 ω s_γ g ]
//! adjoint of y:   ∇²E b − Σ_l ∇²c_l (ν_l g + μ_l b),   ν = (AAᵀ)⁻¹A b₀,   μ = (AAᵀ)⁻¹A g₀
//! ```
//!
//! where `b₀` and `g₀` are `b` and `g` before the projection.

use super::basis::{Basis, add_scaled, dot, norm};
use super::surface::{Surface, grow};

/// Removes what raises the last law's quantity, within the tangent space of the others.
#[derive(Debug, Clone)]
pub(super) struct Falling {
    /// The equalities, then the falling quantity.
    surface: Surface,
    basis: Basis,
    /// `ε`
    softness: f64,
    /// Rows of all columns, `g₀` last: `a[(column * laws + law) * d..]`.
    a: Vec<f64>,
    /// Directions of the second derivatives, law after law, each of all columns.
    p: Vec<f64>,
    /// Vectors of one column.
    phi: Vec<f64>,
    g: Vec<f64>,
    w: Vec<f64>,
    b: Vec<f64>,
    mu: Vec<f64>,
    nu: Vec<f64>,
}

/// `s` and its derivatives.
struct Removed {
    s: f64,
    kappa: f64,
    by_gamma: f64,
}

impl Removed {
    fn new(alpha: f64, gamma: f64, softness: f64) -> Self {
        let soft = softness * gamma.sqrt();
        let root = alpha.hypot(soft);
        // No cancellation where E falls by itself.
        let s =
            if alpha > 0.0 { 0.5 * (alpha + root) } else { 0.5 * soft * (soft / (root - alpha)) };
        Self { s, kappa: s / root, by_gamma: softness * softness / (4.0 * root) }
    }
}

/// Share of `∇E` that must be left in the tangent space: less of it is rounding, and the state is at a
/// point where `E` has no first-order change on the surface.
const LEFT: f64 = 1e-14;

impl Falling {
    pub(super) fn new(surface: Surface, softness: f64) -> Self {
        let (d, equalities) = (surface.d(), surface.len() - 1);
        Self {
            basis: Basis::new(equalities, d),
            surface,
            softness,
            a: Vec::new(),
            p: Vec::new(),
            phi: vec![0.0; d],
            g: vec![0.0; d],
            w: vec![0.0; d],
            b: vec![0.0; d],
            mu: vec![0.0; equalities],
            nu: vec![0.0; equalities],
        }
    }

    pub(super) fn reserve(&mut self, columns: usize) {
        let (d, laws) = (self.surface.d(), self.surface.len());
        self.surface.reserve(columns);
        grow(&mut self.a, columns * laws * d);
        grow(&mut self.p, columns * laws * d);
    }

    /// Removes what raises the quantity from the rates `dy` of all columns.
    pub(super) fn remove(&mut self, t: &[f64], y: &[f64], dy: &mut [f64]) {
        let d = self.surface.d();
        self.rows(t, y, dy);
        for (column, dy) in dy.chunks_exact_mut(d).enumerate() {
            self.scaled_rate(dy);
            if let Some(length) = self.direction(column) {
                let n = &self.g;
                let alpha = dot(n, &self.phi);
                let removed = Removed::new(alpha, length * length, self.softness);
                for ((dy, n), s) in dy.iter_mut().zip(n).zip(&self.surface.scale) {
                    *dy -= s * removed.s * n;
                }
            }
        }
    }

    /// Turns the adjoint of the rate into that of the `rate` before the removal, in place, and adds what
    /// comes from the laws to `y_bar`.
    pub(super) fn pull_back(
        &mut self,
        (t, y): (&[f64], &[f64]),
        rate: &[f64],
        w: &mut [f64],
        y_bar: Option<&mut [f64]>,
    ) {
        let (d, laws, columns) = (self.surface.d(), self.surface.len(), t.len());
        self.rows(t, y, rate);
        self.p[..columns * laws * d].fill(0.0);
        for (column, (w, rate)) in w.chunks_exact_mut(d).zip(rate.chunks_exact(d)).enumerate() {
            self.scaled_rate(rate);
            let Some(length) = self.direction(column) else { continue };
            let n = &self.g;
            self.w.iter_mut().zip(&*w).zip(&self.surface.scale).for_each(|((z, w), s)| *z = w * s);
            let alpha = dot(n, &self.phi);
            let Removed { s, kappa, by_gamma } =
                Removed::new(alpha, length * length, self.softness);
            let along = dot(n, &self.w);
            // The adjoint of g₀, first that of n without its part along n.
            for ((b, phi), w) in self.b.iter_mut().zip(&self.phi).zip(&self.w) {
                *b = -along * kappa * phi - s * w;
            }
            let parallel = dot(n, &self.b);
            for (b, n) in self.b.iter_mut().zip(n) {
                *b = (*b - parallel * n) / length - 2.0 * along * by_gamma * length * n;
            }
            self.basis.along(&self.b, &mut self.nu);
            self.basis.add(&mut self.b, -1.0, &self.nu);
            self.basis.backward(&mut self.nu);
            self.basis.backward(&mut self.mu);

            let scale = &self.surface.scale;
            for ((w, n), s) in w.iter_mut().zip(n).zip(scale) {
                *w -= along * kappa * n / s;
            }
            let mut direction = |law: usize, by_g: f64, by_b: f64| {
                let p = &mut self.p[(law * columns + column) * d..][..d];
                add_scaled(p, by_g * length, n);
                add_scaled(p, by_b, &self.b);
                let factors = scale.iter().map(|s| s / self.surface.laws[law].size);
                p.iter_mut().zip(factors).for_each(|(p, factor)| *p *= factor);
            };
            for (law, (nu, mu)) in self.nu.iter().zip(&self.mu).enumerate() {
                direction(law, -nu, -mu);
            }
            direction(laws - 1, 0.0, 1.0);
        }
        let Some(y_bar) = y_bar else { return };
        for law in 0..laws {
            let p = &self.p[law * columns * d..][..columns * d];
            let sweep = self.surface.sweep(law, t, y, p, 0.0);
            for (column, y_bar) in y_bar.chunks_exact_mut(d).enumerate() {
                add_scaled(y_bar, 1.0, sweep.by_state(column));
            }
        }
    }

    /// Computes the rows of all columns.
    fn rows(&mut self, t: &[f64], y: &[f64], rate: &[f64]) {
        let (d, laws) = (self.surface.d(), self.surface.len());
        for law in 0..laws {
            let sweep = self.surface.sweep(law, t, y, rate, 0.0);
            for column in 0..t.len() {
                sweep.row(column, &mut self.a[(column * laws + law) * d..][..d]);
            }
        }
    }

    /// Writes `φ`.
    fn scaled_rate(&mut self, rate: &[f64]) {
        let phi = self.phi.iter_mut().zip(rate).zip(&self.surface.scale);
        phi.for_each(|((phi, f), s)| *phi = f / s);
    }

    /// Writes `n` to `self.g` and `U g₀` to `self.mu`, and returns `|g|`; nothing where it is 0.
    fn direction(&mut self, column: usize) -> Option<f64> {
        let (d, laws) = (self.surface.d(), self.surface.len());
        let rows = &self.a[column * laws * d..][..laws * d];
        let (a, g) = rows.split_at((laws - 1) * d);
        // Where the equalities are dependent the rate is not a number already.
        self.basis.decompose(a, false).ok()?;
        self.g.copy_from_slice(g);
        let whole = norm(g);
        self.basis.along(&self.g, &mut self.mu);
        self.basis.add(&mut self.g, -1.0, &self.mu);
        // Once more, so that n is tangent to rounding also where little is left.
        self.basis.along(&self.g, &mut self.nu);
        self.basis.add(&mut self.g, -1.0, &self.nu);
        add_scaled(&mut self.mu, 1.0, &self.nu);
        let length = norm(&self.g);
        if length <= LEFT * whole || length < f64::MIN_POSITIVE {
            return None;
        }
        self.g.iter_mut().for_each(|g| *g /= length);
        Some(length)
    }
}
