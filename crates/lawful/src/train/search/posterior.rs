//! The posterior that a search ends with: the kept starts, weighted by evidence, and draws around them.

use rayon::prelude::*;

use super::Search;
use super::minimum::Minimum;
use crate::Random;
use crate::objective::{PathResiduals, start_units};
use crate::posterior::{MOST_NUMBERS, Posterior, StartUnits, shares, weights};
use crate::train::{Plan, Prepared, Progress};

/// Draws in a posterior: an even number.
const DRAWS: usize = 100;

impl Prepared {
    /// Returns the posterior at the end of the last phase, if that is a search by least squares. It is a
    /// function of the checkpoint, so that a resumed run ends with the same bytes.
    pub fn posterior(&self, plan: &Plan, progress: &Progress) -> Option<Posterior> {
        let phase = plan.phase();
        let settings = phase.least_squares?;
        let ended = plan.at() + 1 == plan.len() && progress.iteration >= phase.iterations;
        if !ended
            || progress.optimiser.is_empty()
            || progress.theta.len() != self.layout(phase).len()
        {
            return None;
        }
        let mut search = Search::new(self, phase, settings, Some(progress));
        search.restore(progress.iteration, &progress.optimiser);
        // The model comes first, also among equals.
        let leader = search.leader();
        search.candidates.swap(0, leader);
        search.candidates[1..].sort_by(|a, b| b.log_evidence.total_cmp(&a.log_evidence));
        search.candidates.retain(|candidate| candidate.log_evidence.is_finite());
        let parameters = self.theta_len();
        let most = MOST_NUMBERS / (parameters * (parameters + 1) / 2).max(1);
        search.candidates.truncate(most.max(1));
        let found = search.candidates.par_iter_mut().map(|candidate| {
            Some((candidate.minimum()?, candidate.log_evidence, candidate.effective()))
        });
        let found: Vec<(Minimum, f64, f64)> = found.collect::<Option<_>>()?;
        let logs: Vec<f64> = found.iter().map(|(_, log, _)| *log).collect();
        let weights = weights(&logs, found.first()?.2);
        let (mut draws, mut components) = (Vec::with_capacity(DRAWS), Vec::new());
        let mut noise_of_components = Vec::new();
        for (k, share) in shares(&weights, DRAWS).into_iter().enumerate() {
            let minimum = &found[k].0;
            if weights[k] > 0.0 {
                components.push(minimum.component(weights[k]));
                noise_of_components.push(minimum.process_noise.clone());
            }
            let buffers = || {
                let objective = self.objective(phase, self.data.clone());
                let objective = objective.expect("`prepare` has made one before");
                let centre = self.centre(&objective.layout());
                PathResiduals::new(objective, centre)
            };
            draws.par_extend((0..share).into_par_iter().map_init(buffers, |residuals, k| {
                // Pairs of opposite noise: where residuals are linear, the mean of a pair is θ̂.
                let purpose = format!("draw {} {}", minimum.number, k / 2);
                let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
                minimum.draw(residuals, sign, &mut Random::new(self.seed, &purpose))
            }));
        }
        let starts =
            if self.initial_state { start_units(&self.data) } else { StartUnits::default() };
        let (draws, noise_of_draws): (Vec<_>, Vec<_>) = draws.into_iter().unzip();
        let first = search.candidates[0].residuals();
        let process_noise = self.process_noise(first, noise_of_components, noise_of_draws);
        let posterior = Posterior::new(components, draws, starts);
        Some(posterior.with_process_noise(process_noise))
    }
}
