//! The priors of a search: where they have their means, their relative precisions, and their groups.

use super::{constants, process_noise};
use crate::ParameterLayout;
use crate::least_squares::{Evidence, FLAT, Group, NoisePrior};
use crate::objective::PathResiduals;
use crate::train::Prepared;

/// Precision of weights and measurements at the start.
const ALPHA: f64 = 0.3;
const BETA: f64 = 100.0;
/// Precision of the raw numbers of learned constants beside a network.
const CONSTANTS: f64 = 0.25;

impl Prepared {
    /// Returns θ where the priors have their means: weights 0, initial states where training starts.
    pub(super) fn centre(&self, layout: &ParameterLayout) -> Vec<f64> {
        let mut centre = self.initial_theta();
        centre[..self.parameter_len()].fill(0.0);
        layout.extend(&centre)
    }

    /// Returns the relative precision of each parameter: weights of a layer by its inputs, so that the
    /// prior of a unit's sum does not depend on the width; initial states by their standard deviation.
    pub(super) fn relative_precisions(
        &self,
        layout: &ParameterLayout,
        parameters: usize,
    ) -> Vec<f64> {
        let mut relative = vec![1.0; parameters];
        if self.has_network() {
            for layer in self.shape().layers().skip(1) {
                relative[layer.weights].fill(layer.inputs as f64);
            }
        }
        if !self.has_network() {
            let of = relative.iter_mut().zip(&self.constants);
            of.for_each(|(relative, constant)| *relative = constants::relative(constant));
        }
        let scale = crate::scaling(&self.data).state;
        let shares = scale.iter().zip(&self.units.state).map(|(s, unit)| (s / unit).powi(2));
        let shares: Vec<f64> = shares.collect();
        let states = self.parameter_len()..self.parameter_len() + layout.starts_len();
        let states = relative[states].iter_mut().zip(shares.iter().cycle());
        states.for_each(|(relative, share)| *relative = *share);
        relative
    }

    /// Returns what is halved where a start cannot be solved: the parameters of the network's output layer;
    /// without a network, the raw numbers of constants.
    pub(super) fn output_layer(&self) -> std::ops::Range<usize> {
        if !self.has_network() {
            return 0..self.parameter_len();
        }
        self.shape().layers().last().map_or(0..0, |layer| layer.weights.start..layer.biases.end)
    }

    /// Returns the evidence of fits of these residuals.
    pub(super) fn evidence(
        &self,
        residuals: &mut PathResiduals,
        layout: &ParameterLayout,
        relative: &[f64],
    ) -> Evidence {
        let (fields, count) = (self.parameter_len(), self.constants.len());
        let shape = self.shape();
        let group = |name: &str, members: Vec<usize>, precision, chosen| Group {
            name: name.to_owned(),
            members,
            precision,
            chosen,
        };
        let starts = fields..fields + layout.starts_len();
        let initial: Vec<usize> = layout.initial_states().collect();
        let between = starts.clone().filter(|at| !initial.contains(at)).collect();
        let prior = if self.has_network() { CONSTANTS } else { constants::PRECISION };
        let groups = [
            group("weights", (0..fields - count).collect(), ALPHA, true),
            group("constants", (fields - count..fields).collect(), prior, false),
            group("initial states", initial, 1.0, false),
            // The increments are their prior.
            group("states between segments", between, FLAT, false),
        ];
        let groups = groups.into_iter().chain(self.groups_of_effects(starts.end));
        let groups = groups.filter(|group| !group.members.is_empty()).collect();
        // Each state variable has its own noise. Known physics alone has one, in standard deviations: its fit is
        // that of least squares, as elsewhere.
        let kinds =
            if self.has_network() || self.process_noise { self.data.state().len() } else { 1 };
        let of = residuals.cell_states().map(|state| state.min(kinds - 1)).collect();
        let noise = process_noise::noise(residuals, (of, kinds), BETA, NoisePrior::default());
        let copies = if self.has_network() {
            Evidence::copies(&shape.hidden, &shape.activations) + self.copies_of_effects()
        } else {
            0.0
        };
        let durations = residuals.increments().log_of_durations(&noise.increments);
        Evidence::new(groups, relative.to_vec(), noise, copies + durations)
    }
}
