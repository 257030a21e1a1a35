//! A minimum of a search as plain data: what its component of the posterior and draws around it need.

use super::perturbed::Perturbed;
use super::process_noise::realisation;
use crate::Random;
use crate::least_squares::{Evidence, Point, Precisions, Residuals};
use crate::objective::PathResiduals;
use crate::posterior::{Component, DrawnTheta, Realisation, draw_chi_square};

/// A start at its end.
pub(super) struct Minimum {
    /// Its number among the starts.
    pub(super) number: usize,
    /// Of the model.
    pub(super) theta: Vec<f64>,
    /// The increments of process noise, if it has any.
    pub(super) process_noise: Option<Realisation>,
    pub(super) point: Point,
    pub(super) precisions: Precisions,
    /// Measured at the point.
    pub(super) evidence: Evidence,
    /// ρ of laws, and their `λ/ρ`.
    pub(super) law_weight: f64,
    pub(super) shifts: Vec<f64>,
    /// The factor of the curvature.
    pub(super) factor: Vec<f64>,
    pub(super) noise: NoiseOfStates,
}

/// Which states the measured cells have, and their units.
pub(super) struct NoiseOfStates {
    states: Vec<usize>,
    units: Vec<f64>,
}

impl NoiseOfStates {
    pub(super) fn new(residuals: &PathResiduals) -> Self {
        let units = residuals.objective().problem().units.state.clone();
        Self { states: residuals.cell_states().collect(), units }
    }

    /// Returns for each state variable the number of its kind of measurement; `other` where nobody measured.
    fn each<T: Clone>(&self, kinds: &[usize], of_kind: &[T], other: &T) -> Vec<T> {
        let mut each = vec![other.clone(); self.units.len()];
        for (&state, &kind) in self.states.iter().zip(kinds) {
            each[state] = of_kind[kind].clone();
        }
        each
    }

    /// Returns the noise of each state variable in the data's units.
    fn sizes(&self, kinds: &[usize], beta: &[f64]) -> Vec<f64> {
        let of_kind: Vec<f64> = beta.iter().map(|beta| beta.powf(-0.5)).collect();
        let shares = self.each(kinds, &of_kind, &0.0);
        shares.iter().zip(&self.units).map(|(share, unit)| share * unit).collect()
    }
}

impl Minimum {
    /// Returns the component of the posterior with this weight.
    pub(super) fn component(&self, weight: f64) -> Component {
        let (kinds, of_kind) = (self.evidence.kinds(), self.evidence.freedom());
        // Of the kinds of measurement, without those of process noise.
        let freedom = of_kind.iter().take(self.evidence.measured_kinds()).sum();
        Component {
            weight,
            theta: self.theta.clone(),
            factor: self.factor.clone(),
            noise: self.noise.sizes(kinds, &self.precisions.beta),
            freedom_of_noise: self.noise.each(kinds, &of_kind, &freedom),
            freedom,
        }
    }

    /// Draws from the posterior, with the increments of process noise if it has any: solves the problem with noise added to the measurements and to the means of
    /// the priors, from this minimum, in these buffers.
    pub(super) fn draw(
        &self,
        residuals: &mut PathResiduals,
        sign: f64,
        random: &mut Random,
    ) -> (DrawnTheta, Option<Realisation>) {
        let mut scaled =
            |precision: f64, freedom: f64| precision * draw_chi_square(random, freedom) / freedom;
        let Precisions { alpha, beta } = &self.precisions;
        let beta = beta.iter().zip(self.evidence.freedom()).map(|(&b, freedom)| scaled(b, freedom));
        let beta = beta.collect();
        // The weights that the data determine are the observations of their prior's precision.
        let effective = self.evidence.effective().iter().sum::<f64>().max(1.0);
        let alpha = alpha.iter().zip(self.evidence.groups());
        let alpha = alpha.map(|(&a, group)| if group.chosen { scaled(a, effective) } else { a });
        let precisions = Precisions { beta, alpha: alpha.collect() };
        let (mut weights, mut priors) =
            (vec![0.0; residuals.residual_len()], vec![0.0; residuals.parameter_len()]);
        self.evidence.weights(&precisions, self.law_weight, &mut weights, &mut priors);
        let mut shifts = vec![0.0; weights.len()];
        for (shift, weight) in shifts.iter_mut().zip(&weights).take(residuals.data_len()) {
            *shift = sign * random.normal() / weight.sqrt();
        }
        let mut centre: Vec<f64> =
            priors.iter().map(|a| sign * random.normal() / a.sqrt()).collect();
        for group in self.evidence.groups().iter().filter(|group| !group.has_prior()) {
            group.members.iter().for_each(|&k| centre[k] = 0.0);
        }
        residuals.shifts_mut().copy_from_slice(&self.shifts);
        let x = Perturbed::new(residuals, shifts, centre).minimise(&self.point, &weights, &priors);
        let noise = self.noise.sizes(self.evidence.kinds(), &precisions.beta);
        let theta = residuals.objective().layout().keep(&residuals.theta(&x));
        let process_noise = realisation(residuals, &self.evidence, &precisions, &x);
        (DrawnTheta { theta, noise }, process_noise)
    }
}
