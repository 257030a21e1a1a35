//! The evidence of a fit, and the weights that maximise it (`MacKay` 1992; Foresee and Hagan 1997).
//!
//! Measurements have normal errors of precision β, parameters normal priors of precision α around 0. At a
//! minimum of φ, with residuals r of the data, `E_s = ½ Σ r²` for each kind s of measurement and
//! `E_k = ½ Σ u x²` for each group k of parameters (u a fixed relative precision, 1 for most),
//!
//! ```text
//! H       = Σ_s β_s J_sᵀJ_s + A + ρ J_LᵀJ_L,      A = diag(α_k u),      J_L: laws that are active
//! γ_s     = β_s tr(H⁻¹ J_sᵀJ_s)                   effective parameters
//! α_k     = (p_k − α_k tr_k(u H⁻¹)) / 2E_k
//! β_s     = (N_s − γ_s + n₀) / (2E_s + n₀ σ₀²)     n₀ pseudo-observations of σ₀
//! log evidence = − Σ β_s E_s − Σ α_k E_k + ½ Σ N_s log(β_s/2π) + ½ log|A| − ½ log|Σ β_s J_sᵀJ_s + A| + c
//! ```
//!
//! Increments of process noise are residuals, too: each is the jump of a path to a state of its own, on which
//! no prior lies but the increment's. Its precision is that of a prior, so that its sum has `log β` in place of
//! `log(β/2π)`, and the state's group is flat.
//!
//! c counts the minima that are copies of this one: log(n! 2ⁿ) for each layer of n tanh units. Every
//! parameter has a proper prior; otherwise evidences could not be compared.

use lawful_ode::Activation;
use nalgebra::{Cholesky, DMatrix, Dyn};
use thiserror::Error;

use super::Point;
use super::equations::{gram_of_columns, zeroed};

/// A group of parameters with one prior.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Its name in reports.
    pub name: String,
    /// Its parameters, in order.
    pub members: Vec<usize>,
    /// Precision α at the start, above 0; [`FLAT`] for no prior.
    pub precision: f64,
    /// Whether the evidence chooses α; otherwise it stays.
    pub chosen: bool,
}

/// The kinds of measurements, each with one noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Noise {
    /// The kind of each residual of the data; these are the first residuals, those of laws follow.
    pub of: Vec<usize>,
    /// Number of kinds.
    pub kinds: usize,
    /// Precision β of each kind at the start.
    pub precision: f64,
    /// The prior.
    pub prior: NoisePrior,
    /// The kinds that are increments of process noise, the last ones: of each the share of its residuals that are
    /// free, 1 unless laws tie them.
    pub increments: Vec<f64>,
}

/// The precision of a group without a prior, whose members other residuals determine: only as small as the
/// matrix needs it, and not in the evidence.
pub const FLAT: f64 = 1e-6;

/// The prior of increments of process noise, as [`NoisePrior`]: two pseudo-observations of 0.1.
const INCREMENTS: NoisePrior = NoisePrior { observations: 2.0, size: 0.1, least: 1e-4 };

/// A weak prior on noise: n₀ pseudo-observations with errors of σ₀.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoisePrior {
    /// n₀, default 1.
    pub observations: f64,
    /// σ₀ in units of the residuals, default 0.05.
    pub size: f64,
    /// Smallest noise, in units of the residuals, default 0.002.
    pub least: f64,
}

impl Default for NoisePrior {
    fn default() -> Self {
        Self { observations: 1.0, size: 0.05, least: 0.002 }
    }
}

/// The precisions of a fit.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Precisions {
    /// α of each group.
    pub alpha: Vec<f64>,
    /// β of each kind of measurement.
    pub beta: Vec<f64>,
}

/// Why a fit has no evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum EvidenceError {
    /// The matrix H is not positive definite.
    #[error("the curvature of the fit is not positive definite")]
    Curvature,
}

/// Largest factor by which a precision changes at once, and the range of α.
const LARGEST_CHANGE: f64 = 3.0;
const LEAST_ALPHA: f64 = 1e-3;
const LARGEST_ALPHA: f64 = 1e4;

/// Measures the evidence of points, with all buffers for that.
#[derive(Debug, Clone)]
pub struct Evidence {
    groups: Vec<Group>,
    /// Relative precision u of each parameter.
    relative: Vec<f64>,
    noise: Noise,
    /// Logarithm of the number of equivalent minima.
    copies: f64,
    /// Number of measurements of each kind.
    counts: Vec<usize>,
    /// `J_sᵀJ_s` of each kind, and `J_LᵀJ_L`.
    products: Vec<DMatrix<f64>>,
    rows: Vec<f64>,
    matrix: DMatrix<f64>,
    inverse: DMatrix<f64>,
    /// `E_s` and `E_k`.
    errors: Vec<f64>,
    sizes: Vec<f64>,
    /// The results of the last measurement.
    log: f64,
    effective: Vec<f64>,
    wanted: Precisions,
}

impl Evidence {
    /// The evidence of fits with these groups; `relative` is the relative precision of each parameter,
    /// above 0.
    ///
    /// # Panics
    /// If a parameter is in no group or in two.
    pub fn new(groups: Vec<Group>, relative: Vec<f64>, noise: Noise, copies: f64) -> Self {
        let mut covered = vec![0; relative.len()];
        groups.iter().flat_map(|group| &group.members).for_each(|&k| covered[k] += 1);
        assert!(covered.iter().all(|&times| times == 1), "every parameter is in one group");
        let count = |kind| noise.of.iter().filter(|&&of| of == kind).count();
        Self {
            counts: (0..noise.kinds).map(count).collect(),
            products: vec![DMatrix::default(); noise.kinds + 1],
            rows: Vec::new(),
            matrix: DMatrix::default(),
            inverse: DMatrix::default(),
            errors: Vec::new(),
            sizes: Vec::new(),
            log: f64::NEG_INFINITY,
            effective: vec![0.0; noise.kinds],
            wanted: Precisions::default(),
            groups,
            relative,
            noise,
            copies,
        }
    }

    /// Returns the logarithm of the number of equivalent minima of a network with hidden layers of these
    /// widths: units can be exchanged, and the signs of tanh units changed.
    pub fn copies(hidden: &[usize], activations: &[Activation]) -> f64 {
        let layers = hidden.iter().zip(activations);
        let log = |(&n, &activation): (&usize, &Activation)| {
            let signs = if activation == Activation::Tanh { n as f64 * 2_f64.ln() } else { 0.0 };
            (1..=n).map(|k| (k as f64).ln()).sum::<f64>() + signs
        };
        layers.map(log).sum()
    }

    /// Returns the number of kinds of measurement: the first kinds, before those of process noise.
    pub fn measured_kinds(&self) -> usize {
        self.noise.kinds - self.noise.increments.len()
    }

    /// Returns the number of free residuals of a kind.
    fn count(&self, kind: usize) -> f64 {
        let tied = kind.checked_sub(self.measured_kinds());
        self.counts[kind] as f64 * tied.map_or(1.0, |n| self.noise.increments[n])
    }

    /// Returns the prior of the noise of a kind.
    fn prior(&self, kind: usize) -> NoisePrior {
        if kind < self.measured_kinds() { self.noise.prior } else { INCREMENTS }
    }

    /// Returns the precisions at the start.
    pub fn start(&self) -> Precisions {
        Precisions {
            alpha: self.groups.iter().map(|group| group.precision).collect(),
            beta: vec![self.noise.precision; self.noise.kinds],
        }
    }

    /// Returns the groups.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Writes the weight of each residual and the precision of each parameter; residuals of laws have the
    /// weight ρ.
    pub fn weights(
        &self,
        precisions: &Precisions,
        law_weight: f64,
        weights: &mut [f64],
        priors: &mut [f64],
    ) {
        let (data, laws) = weights.split_at_mut(self.noise.of.len());
        data.iter_mut().zip(&self.noise.of).for_each(|(w, &kind)| *w = precisions.beta[kind]);
        laws.fill(law_weight);
        for (group, alpha) in self.groups.iter().zip(&precisions.alpha) {
            group.members.iter().for_each(|&k| priors[k] = alpha * self.relative[k]);
        }
    }

    /// Measures a point under these precisions, where residuals of laws have the weight ρ. Returns the log
    /// evidence. Allocates only at the first call.
    ///
    /// # Errors
    /// If the matrix is not positive definite.
    pub fn measure(
        &mut self,
        point: &Point,
        precisions: &Precisions,
        law_weight: f64,
    ) -> Result<f64, EvidenceError> {
        let n = self.relative.len();
        let (data, kinds) = (self.noise.of.len(), self.noise.kinds);
        for kind in 0..=kinds {
            self.rows.clear();
            for (i, row) in point.jacobian.chunks_exact(n).enumerate() {
                let of = if i < data { self.noise.of[i] } else { kinds };
                if of == kind && !row.iter().all(|slope| *slope == 0.0) {
                    self.rows.extend_from_slice(row);
                }
            }
            gram_of_columns(&self.rows, n, &mut self.products[kind]);
        }
        let has_laws = !self.rows.is_empty();

        let squares = |kind: usize| -> f64 {
            let own = point.residuals.iter().zip(&self.noise.of).filter(|&(_, &of)| of == kind);
            0.5 * own.map(|(r, _)| r * r).sum::<f64>()
        };
        self.errors.clear();
        self.errors.extend((0..kinds).map(squares));
        let mut log = self.copies;
        for (kind, (beta, error)) in precisions.beta.iter().zip(&self.errors).enumerate() {
            let unit = if kind < self.measured_kinds() { std::f64::consts::TAU } else { 1.0 };
            log += 0.5 * self.count(kind) * (beta / unit).ln() - beta * error;
        }
        self.sizes.clear();
        for (group, alpha) in self.groups.iter().zip(&precisions.alpha) {
            let relative = &self.relative;
            let members = group.members.iter();
            let size =
                0.5 * members.clone().map(|&k| relative[k] * point.x[k].powi(2)).sum::<f64>();
            if !group.is_flat() {
                let logs = members.map(|&k| (alpha * relative[k]).ln());
                log += 0.5 * logs.sum::<f64>() - alpha * size;
            }
            self.sizes.push(size);
        }

        self.set_matrix(precisions, 0.0);
        let mut factor = factorised(&mut self.matrix)?;
        log -= half_log_determinant(&factor);
        if has_laws && law_weight > 0.0 {
            self.matrix = factor.unpack_dirty();
            self.set_matrix(precisions, law_weight);
            factor = factorised(&mut self.matrix)?;
        }
        zeroed(&mut self.inverse, n);
        self.inverse.fill_diagonal(1.0);
        factor.solve_mut(&mut self.inverse);
        self.matrix = factor.unpack_dirty();

        self.wanted.alpha.clear();
        for ((group, &alpha), size) in self.groups.iter().zip(&precisions.alpha).zip(&self.sizes) {
            let trace: f64 =
                group.members.iter().map(|&k| self.relative[k] * self.inverse[(k, k)]).sum();
            let wanted = (group.members.len() as f64 - alpha * trace) / (2.0 * size);
            let wanted = if group.chosen && wanted.is_finite() {
                bounded(wanted, alpha).clamp(LEAST_ALPHA, LARGEST_ALPHA)
            } else {
                alpha
            };
            self.wanted.alpha.push(wanted);
        }
        self.wanted.beta.clear();
        for (kind, &beta) in precisions.beta.iter().enumerate() {
            let NoisePrior { observations, size, least } = self.prior(kind);
            self.effective[kind] = beta * trace_of_product(&self.inverse, &self.products[kind]);
            let count = self.count(kind);
            let wanted = (count - self.effective[kind] + observations)
                / (2.0 * self.errors[kind] + observations * size * size);
            self.wanted.beta.push(bounded(wanted, beta).min(1.0 / (least * least)));
        }
        self.log = log;
        Ok(log)
    }

    /// Returns the log evidence of the last point measured.
    pub fn log_evidence(&self) -> f64 {
        self.log
    }

    /// Returns the number of effective parameters γ that each kind of measurement has determined, at the
    /// last point measured.
    pub fn effective(&self) -> &[f64] {
        &self.effective[..self.measured_kinds()]
    }

    /// Returns the precisions to continue with from the last point measured: those of the formulas, at most
    /// a factor of 3 away from the current ones.
    pub fn wanted(&self) -> &Precisions {
        &self.wanted
    }

    /// Returns the lower triangle L of `H = L Lᵀ` at the last point [measured](Self::measure), row after row.
    /// Of the parameters, only those that are `kept` are in H, which is then the Schur complement: its inverse
    /// is their block of the inverse of the whole.
    ///
    /// # Errors
    /// If the matrix is not positive definite.
    pub fn curvature(
        &mut self,
        precisions: &Precisions,
        law_weight: f64,
        kept: &[usize],
    ) -> Result<Vec<f64>, EvidenceError> {
        self.set_matrix(precisions, law_weight);
        let n = self.relative.len();
        let others = n - kept.len();
        if others > 0 {
            let mut order: Vec<usize> = (0..n).filter(|k| !kept.contains(k)).collect();
            order.extend(kept);
            let whole = &self.matrix;
            let at = |i: usize, j: usize| whole[(order[i].max(order[j]), order[i].min(order[j]))];
            self.matrix = DMatrix::from_fn(n, n, at);
        }
        let factor = factorised(&mut self.matrix)?;
        let l = factor.l_dirty();
        let rows = (others..n).flat_map(|i| (others..=i).map(move |j| l[(i, j)]));
        let packed = rows.collect();
        self.matrix = factor.unpack_dirty();
        Ok(packed)
    }

    /// Returns the degrees of freedom of the noise of each kind at the last point measured: those that its
    /// measurements leave, `N_s − γ_s`, and the pseudo-observations n₀ of its prior.
    pub fn freedom(&self) -> Vec<f64> {
        let freedom = |(kind, effective): (usize, &f64)| {
            (self.count(kind) - effective).max(0.0) + self.prior(kind).observations
        };
        self.effective.iter().enumerate().map(freedom).collect()
    }

    /// Returns the kind of each residual of the data.
    pub fn kinds(&self) -> &[usize] {
        &self.noise.of
    }

    /// Sets the matrix to the lower triangle of `Σ β_s J_sᵀJ_s + A + ρ J_LᵀJ_L`.
    fn set_matrix(&mut self, precisions: &Precisions, law_weight: f64) {
        let n = self.relative.len();
        zeroed(&mut self.matrix, n);
        let weights = precisions.beta.iter().copied().chain([law_weight]);
        for (product, weight) in self.products.iter().zip(weights) {
            if weight > 0.0 {
                let pairs = self.matrix.as_mut_slice().iter_mut().zip(product.as_slice());
                pairs.for_each(|(sum, x)| *sum += weight * x);
            }
        }
        for (group, alpha) in self.groups.iter().zip(&precisions.alpha) {
            for &k in &group.members {
                self.matrix[(k, k)] += alpha * self.relative[k];
            }
        }
    }
}

impl Group {
    /// Returns whether it has no prior.
    fn is_flat(&self) -> bool {
        !self.chosen && self.precision <= FLAT
    }

    /// Returns whether draws of its members vary with the prior.
    pub(crate) fn has_prior(&self) -> bool {
        !self.is_flat()
    }
}

impl Precisions {
    /// Copies another one without allocation.
    pub fn copy_from(&mut self, other: &Self) {
        self.alpha.clone_from(&other.alpha);
        self.beta.clone_from(&other.beta);
    }
}

/// A new precision, at most a factor away from the old one.
fn bounded(wanted: f64, now: f64) -> f64 {
    wanted.clamp(now / LARGEST_CHANGE, now * LARGEST_CHANGE)
}

/// Factorises the matrix, whose buffer moves into the factor.
fn factorised(matrix: &mut DMatrix<f64>) -> Result<Cholesky<f64, Dyn>, EvidenceError> {
    Cholesky::new(std::mem::take(matrix)).ok_or(EvidenceError::Curvature)
}

/// `½ log|H|` from its factor.
fn half_log_determinant(factor: &Cholesky<f64, Dyn>) -> f64 {
    let l = factor.l_dirty();
    (0..l.nrows()).map(|k| l[(k, k)].ln()).sum()
}

/// `tr(A B)` of symmetric matrices, of which B is given by its lower triangle.
fn trace_of_product(a: &DMatrix<f64>, b: &DMatrix<f64>) -> f64 {
    let n = a.nrows();
    let mut sum = 0.0;
    for j in 0..n {
        sum += a[(j, j)] * b[(j, j)];
        sum += 2.0 * (j + 1..n).map(|i| a[(i, j)] * b[(i, j)]).sum::<f64>();
    }
    sum
}
