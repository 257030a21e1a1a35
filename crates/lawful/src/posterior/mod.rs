//! What the data leave open: a posterior of θ, which a model file keeps beside the model.
//!
//! A search by least squares ends at several minima. Each kept one is a component with its curvature, from
//! which standard errors follow,
//!
//! ```text
//! covariance = H⁻¹,    L Lᵀ = H = β JᵀJ + A + ρ J_LᵀJ_L,    ν = N − γ + n₀
//! ```
//!
//! with N measurements, γ effective parameters and the n₀ pseudo-observations of the noise's prior. The
//! components' weights are their evidences, [tempered](TEMPERATURE).
//!
//! Intervals come from draws, which are minima too: of the same sum of squares with noise added to the
//! measurements and to the means of the priors ("randomise, then optimise", Bardsley and others 2014),
//!
//! ```text
//! θ = argmin ½ Σ β' (r + ε/√β')² + ½ Σ a (x − ξ/√a)² + ½ Σ ρ r_L²,    ε, ξ ~ N(0, 1),    β' = β χ²_ν/ν
//! ```
//!
//! Where r is linear, that is Student's t around θ̂ with the covariance above. Where it is not, as in a
//! network, draws from that distribution itself would not fit the data, and these do.
//!
//! An [ensemble](Posterior::is_ensemble) has members without curvatures, and its members are its draws.

mod distributions;
mod file;
mod process_noise;
mod quantiles;

use nalgebra::DMatrix;

pub(crate) use distributions::{draw_chi_square, t_quantile};
pub use process_noise::{OwnTimes, ProcessNoise, Realisation};
pub(crate) use quantiles::{of_sorted, with_noise};

use crate::Fingerprint;

/// The log evidence of a Laplace approximation is uncertain itself, by about this per effective parameter:
/// weights are `exp(Δ/T)` with `T = max(1, TEMPERATURE · γ)`.
pub const TEMPERATURE: f64 = 0.25;
/// Components of a smaller weight are dropped.
const NEGLIGIBLE: f64 = 0.01;
/// Most numbers of all factors together: 32 MiB.
pub const MOST_NUMBERS: usize = 1 << 22;

/// One minimum, with what is known around it.
#[derive(Debug, Clone, PartialEq)]
pub struct Component {
    /// Its share of the draws; all shares add up to 1.
    pub weight: f64,
    /// The field's parameters, then the numbers of trained initial states.
    pub theta: Vec<f64>,
    /// The rows of the lower triangle L of `H = L Lᵀ`; empty for a member of an ensemble.
    pub factor: Vec<f64>,
    /// Standard deviation of the noise of each state variable in the data's units; 0 where nobody measured.
    pub noise: Vec<f64>,
    /// Degrees of freedom ν of each state variable's noise.
    pub freedom_of_noise: Vec<f64>,
    /// Degrees of freedom ν of θ.
    pub freedom: f64,
}

/// A posterior of θ.
#[derive(Debug, Clone, PartialEq)]
pub struct Posterior {
    components: Vec<Component>,
    draws: Vec<DrawnTheta>,
    starts: StartUnits,
    process_noise: Option<ProcessNoise>,
}

/// What the numbers of trained initial states mean: `y₀ = guess + scale ∘ z`, moved to the laws that the
/// field guarantees.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StartUnits {
    /// The guess of each trained initial state, one after the other.
    pub guesses: Vec<f64>,
    /// The scale of each state variable.
    pub scale: Vec<f64>,
}

/// Some functions of θ: their values, and the gradient of each.
pub(crate) type Differentiated = (Vec<f64>, Vec<Vec<f64>>);

/// A draw of θ and of the noise.
#[derive(Debug, Clone, PartialEq)]
pub struct DrawnTheta {
    /// The field's parameters, then the numbers of trained initial states.
    pub theta: Vec<f64>,
    /// Standard deviation of the noise of each state variable in the data's units; 0 where nobody measured.
    pub noise: Vec<f64>,
}

impl Posterior {
    /// A posterior of these components, whose weights add up to 1, with draws.
    ///
    /// # Panics
    /// If there is no component or no draw, or lengths differ.
    pub fn new(components: Vec<Component>, draws: Vec<DrawnTheta>, starts: StartUnits) -> Self {
        let (n, d) = (components[0].theta.len(), components[0].noise.len());
        let lengths = |theta: &[f64], noise: &[f64]| (theta.len(), noise.len()) == (n, d);
        let whole = |c: &Component| c.factor.is_empty() || c.factor.len() == packed_len(n);
        assert!(components.iter().all(|c| lengths(&c.theta, &c.noise) && whole(c)), "components");
        assert!(!draws.is_empty() && draws.iter().all(|draw| lengths(&draw.theta, &draw.noise)));
        Self { components, draws, starts, process_noise: None }
    }

    /// Sets the process noise of these components and draws.
    ///
    /// # Panics
    /// If lengths differ.
    #[must_use]
    pub fn with_process_noise(self, process_noise: Option<ProcessNoise>) -> Self {
        let d = self.components[0].noise.len();
        let fits = |own: &ProcessNoise| own.fits(self.components.len(), self.draws.len(), d);
        assert!(process_noise.as_ref().is_none_or(fits), "process noise of this posterior");
        Self { process_noise, ..self }
    }

    /// Returns the process noise; `None` if paths have none.
    pub fn process_noise(&self) -> Option<&ProcessNoise> {
        self.process_noise.as_ref()
    }

    /// Returns the components, the one of the greatest weight first.
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    /// Returns what the numbers of trained initial states mean.
    pub fn starts(&self) -> &StartUnits {
        &self.starts
    }

    /// Returns whether its spread is that of the members of an ensemble, without curvatures.
    pub fn is_ensemble(&self) -> bool {
        self.components.iter().all(|component| component.factor.is_empty())
    }

    /// Returns the draws.
    pub fn draws(&self) -> &[DrawnTheta] {
        &self.draws
    }

    /// Returns mean and covariance (row-major) of some functions of θ, given their values and gradients at
    /// the θ of each component: within the components by their curvatures, and between them.
    pub(crate) fn moments(&self, of: &dyn Fn(&[f64]) -> Differentiated) -> (Vec<f64>, Vec<f64>) {
        let each: Vec<_> = self.components.iter().map(|c| (c, of(&c.theta))).collect();
        let count = each[0].1.0.len();
        let mut mean = vec![0.0; count];
        for (component, (values, _)) in &each {
            mean.iter_mut().zip(values).for_each(|(sum, value)| *sum += component.weight * value);
        }
        // The spread of a sample, as members are.
        let between = match self.components.len() {
            1 => 0.0,
            members if self.is_ensemble() => members as f64 / (members - 1) as f64,
            _ => 1.0,
        };
        let mut covariance = vec![0.0; count * count];
        for (component, (values, gradients)) in &each {
            let solved = component.lower().map(|factor| {
                let matrix = DMatrix::from_fn(component.theta.len(), count, |i, k| gradients[k][i]);
                factor.solve_lower_triangular(&matrix).unwrap_or(matrix)
            });
            for i in 0..count {
                for j in 0..count {
                    let within = solved
                        .as_ref()
                        .map_or(0.0, |solved| solved.column(i).dot(&solved.column(j)));
                    let apart = (values[i] - mean[i]) * (values[j] - mean[j]);
                    covariance[i * count + j] += component.weight * (within + between * apart);
                }
            }
        }
        (mean, covariance)
    }
}

impl DrawnTheta {
    /// Returns the seed of what is drawn with it.
    pub(crate) fn seed(&self) -> u64 {
        let mut fingerprint = Fingerprint::new();
        for value in self.theta.iter().chain(&self.noise) {
            fingerprint.add(&value.to_le_bytes());
        }
        fingerprint.value()
    }
}

/// Tempers log evidences, of which the first is the greatest, into weights that add up to 1, for fits with
/// this many effective parameters; the negligible ones are 0.
pub(crate) fn weights(log_evidences: &[f64], effective: f64) -> Vec<f64> {
    let temperature = (TEMPERATURE * effective).max(1.0);
    let relative = log_evidences.iter().map(|log| ((log - log_evidences[0]) / temperature).exp());
    let kept = relative.map(|weight| if weight >= NEGLIGIBLE { weight } else { 0.0 });
    let kept: Vec<f64> = kept.collect();
    let sum: f64 = kept.iter().sum();
    kept.iter().map(|weight| weight / sum).collect()
}

/// Divides draws among components by their weights: as near as whole numbers are.
pub(crate) fn shares(weights: &[f64], draws: usize) -> Vec<usize> {
    let (mut before, mut taken) = (0.0, 0);
    let last = weights.len() - 1;
    let share = |(k, weight): (usize, &f64)| {
        before += weight;
        let until = if k == last { draws } else { nearest(before * draws as f64).min(draws) };
        let share = until - taken;
        taken = until;
        share
    };
    weights.iter().enumerate().map(share).collect()
}

impl Component {
    /// Returns the factor L of H.
    fn lower(&self) -> Option<DMatrix<f64>> {
        let n = self.theta.len();
        let at = |i: usize, j: usize| if j <= i { self.factor[packed_len(i) + j] } else { 0.0 };
        (!self.factor.is_empty()).then(|| DMatrix::from_fn(n, n, at))
    }
}

/// Returns the length of a packed lower triangle.
pub(crate) fn packed_len(n: usize) -> usize {
    n * (n + 1) / 2
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
fn nearest(count: f64) -> usize {
    count.round() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn component(weight: f64, theta: &[f64], factor: &[f64]) -> Component {
        Component {
            weight,
            theta: theta.to_vec(),
            factor: factor.to_vec(),
            noise: vec![0.5],
            freedom_of_noise: vec![30.0],
            freedom: 30.0,
        }
    }

    fn posterior(components: Vec<Component>) -> Posterior {
        let of = |c: &Component| DrawnTheta { theta: c.theta.clone(), noise: c.noise.clone() };
        let draws = components.iter().map(of).collect();
        Posterior::new(components, draws, StartUnits::default())
    }

    #[test]
    fn weights_are_tempered_and_draws_divided_by_them() {
        // T = 0.25 · 8 = 2.
        let found = weights(&[10.0, 10.0 - 2.0 * 3.0_f64.ln(), 0.0], 8.0);
        for (found, expected) in found.iter().zip([0.75, 0.25, 0.0]) {
            assert!((found - expected).abs() < 1e-12, "{found}");
        }
        // With few effective parameters they are the evidences.
        let found = weights(&[0.0, -(4.0_f64.ln())], 2.0);
        assert!((found[1] - 0.2).abs() < 1e-12);
        assert_eq!(shares(&[0.75, 0.25, 0.0], 10), [8, 2, 0]);
        assert_eq!(shares(&[0.3, 0.3, 0.4], 3), [1, 1, 1]);
        assert_eq!(shares(&[1.0], 7), [7]);
    }

    #[test]
    fn moments_are_those_worked_by_hand() {
        // Two components of variance 1/4 at 0 and 2: ½·(¼ + 1) + ½·(¼ + 1) = 1.25; of 3θ nine times that.
        let two = posterior(vec![component(0.5, &[0.0], &[2.0]), component(0.5, &[2.0], &[2.0])]);
        let both = |theta: &[f64]| (vec![theta[0], 3.0 * theta[0]], vec![vec![1.0], vec![3.0]]);
        let (mean, covariance) = two.moments(&both);
        assert_eq!(mean, [1.0, 3.0]);
        for (found, expected) in covariance.iter().zip([1.25, 3.75, 3.75, 11.25]) {
            assert!((found - expected).abs() < 1e-12, "{covariance:?}");
        }
        // Of a sample of two members at 0 and 2: the variance with n − 1 is 2.
        let members = posterior(vec![component(0.5, &[0.0], &[]), component(0.5, &[2.0], &[])]);
        assert!(members.is_ensemble());
        let one = |theta: &[f64]| (vec![theta[0]], vec![vec![1.0]]);
        assert_eq!(members.moments(&one).1, [2.0]);
    }
}
