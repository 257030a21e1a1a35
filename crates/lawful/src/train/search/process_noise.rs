//! Process noise in a search: its residuals, and its part of the posterior.

use crate::Trajectory;
use crate::least_squares::{Evidence, Noise, NoisePrior, Precisions};
use crate::objective::PathResiduals;
use crate::posterior::{OwnTimes, ProcessNoise, Realisation};
use crate::train::Prepared;

/// Returns the noise of these kinds of measurement, and of one kind of increments for each state variable.
pub(super) fn noise(
    residuals: &mut PathResiduals,
    (mut of, measured): (Vec<usize>, usize),
    precision: f64,
    prior: NoisePrior,
) -> Noise {
    let increments = residuals.free_increments();
    let d = increments.len();
    of.extend((0..residuals.increments().len() * d).map(|n| measured + n % d));
    let kinds = measured + d;
    Noise { of, kinds, precision, prior, increments }
}

/// Returns the standard deviation of an increment of each state variable, per square root of time, in the data's
/// units.
pub(super) fn sizes(
    residuals: &PathResiduals,
    evidence: &Evidence,
    precisions: &Precisions,
) -> Vec<f64> {
    let units = &residuals.objective().problem().units.state;
    let of_increments = &precisions.beta[evidence.measured_kinds()..];
    let mean = residuals.increments().mean_duration();
    units.iter().zip(of_increments).map(|(unit, beta)| unit / (beta * mean).sqrt()).collect()
}

/// Returns the increments at x with these precisions; `None` if there are none, or x has no path.
pub(super) fn realisation(
    residuals: &mut PathResiduals,
    evidence: &Evidence,
    precisions: &Precisions,
    x: &[f64],
) -> Option<Realisation> {
    if residuals.increments().is_empty() {
        return None;
    }
    let sizes = sizes(residuals, evidence, precisions);
    Some(Realisation { increments: residuals.increments_at(x)?, sizes })
}

impl Prepared {
    /// Returns the process noise of a posterior with these components and draws, if it has any.
    pub(super) fn process_noise(
        &self,
        residuals: &PathResiduals,
        components: Vec<Option<Realisation>>,
        draws: Vec<Option<Realisation>>,
    ) -> Option<ProcessNoise> {
        let components = components.into_iter().collect::<Option<Vec<_>>>()?;
        let draws = draws.into_iter().collect::<Option<Vec<_>>>()?;
        let places: Vec<_> = residuals.increments().places(residuals.objective()).collect();
        let own = |(n, trajectory): (usize, &Trajectory)| OwnTimes {
            trajectory: trajectory.name.clone(),
            start: trajectory.times[0],
            times: (places.iter().filter(|place| place.0 == n))
                .map(|&(_, row)| trajectory.times[row])
                .collect(),
        };
        let trajectories = self.data.trajectories().iter().enumerate().map(own).collect();
        let every = residuals.increments().mean_duration();
        Some(ProcessNoise { every, trajectories, components, draws })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::least_squares::{Damping, FLAT, Group, LevenbergMarquardt, Point};
    use crate::train::Phase;
    use crate::{Dataset, FieldSettings, Shooting, Training};

    /// `x' = −a x` with a known a, measured at uneven times with a gap: the numbers of `tests/kalman.py`.
    fn prepared() -> Prepared {
        let times = vec![0.0, 0.4, 1.1, 1.5, 2.4, 2.9, 3.7, 4.0];
        let states = vec![1.0, 0.9, f64::NAN, -0.2, 0.5, 0.8, 0.1, -0.6];
        let names = vec!["x".to_owned()];
        let own = vec![Trajectory::new("a".to_owned(), times, states)];
        let data = Dataset::with_open_starts(names, Vec::new(), own).unwrap();
        let known = vec![("x".to_owned(), "-0.8*x".to_owned())];
        let mut phase = Phase::new(crate::optimiser::OptimiserKind::default(), 60);
        phase.least_squares = Some(crate::LeastSquaresSettings {
            starts: 1,
            screening: 1,
            kept: 1,
            ..crate::LeastSquaresSettings::default()
        });
        phase.shooting = Shooting::Multiple { steps: 1, free: true };
        phase.substeps = 16;
        let field = FieldSettings { known, ..FieldSettings::new(&[]) };
        let training = Training::new(data).field(field).phases(vec![phase]);
        training.initial_state(true).scale(true).process_noise(true).prepare().unwrap()
    }

    #[test]
    fn a_linear_system_has_the_states_and_the_likelihood_of_the_kalman_smoother() {
        let prepared = prepared();
        let phase = &prepared.phases[0];
        let objective = prepared.objective(phase, prepared.data.clone()).unwrap();
        let layout = objective.layout();
        let centre = prepared.centre(&layout);
        let mut residuals = PathResiduals::new(objective, centre.clone());
        assert_eq!((centre.len(), residuals.cell_len(), residuals.data_len()), (8, 7, 14));
        let noise = noise(&mut residuals, (vec![0; 7], 1), 25.0, NoisePrior::default());
        let group = |name: &str, members: Vec<usize>, precision| Group {
            name: name.to_owned(),
            members,
            precision,
            chosen: false,
        };
        let groups = vec![
            group("initial states", layout.initial_states().collect(), 1.0),
            group("states between segments", (1..8).collect(), FLAT),
        ];
        let constant = residuals.increments().log_of_durations(&noise.increments);
        let mut evidence = Evidence::new(groups, vec![1.0; 8], noise, constant);
        let precisions = Precisions { beta: vec![25.0, 4.0], ..evidence.start() };
        let (mut weights, mut priors) = (vec![0.0; 14], vec![0.0; 8]);
        evidence.weights(&precisions, 0.0, &mut weights, &mut priors);
        let mut point = Point::new(&mut residuals, vec![0.3; 8]).unwrap();
        let mut method = LevenbergMarquardt::new(Damping::default());
        for _ in 0..30 {
            method.step(&mut residuals, &mut point, &weights, &priors);
        }
        let log = evidence.measure(&point, &precisions, 0.0).unwrap();
        assert!((log - -11.329_061_054).abs() < 1e-4, "{log}");
        // The increments lead from each smoothed state to the next one.
        let expected = [
            1.017_885_394_55,
            0.851_205_153_13,
            0.175_532_299_98,
            -0.117_023_838_02,
            0.490_960_003_69,
            0.709_461_060_23,
            0.025_826_427_74,
            -0.455_108_721_14,
        ];
        let times = &prepared.data.trajectories()[0].times;
        let found = realisation(&mut residuals, &evidence, &precisions, &point.x).unwrap();
        for (k, increment) in found.increments.iter().enumerate() {
            let flow = expected[k] * (-0.8 * (times[k + 1] - times[k])).exp();
            assert!((flow + increment - expected[k + 1]).abs() < 1e-5, "{k}: {increment}");
        }
        // Q of a standard deviation s: s²/(4 τ), here with s² = 0.3477… and τ = 4/7.
        let s = residuals.objective().problem().units.state[0];
        assert!((found.sizes[0] - s / (4.0 * 4.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        // What is kept is the initial state, with the variance of the smoother.
        let factor = evidence.curvature(&precisions, 0.0, &layout.kept()).unwrap();
        let whole = evidence.curvature(&precisions, 0.0, &(0..8).collect::<Vec<_>>()).unwrap();
        assert_eq!((factor.len(), whole.len()), (1, 36));
        assert!(factor[0] < whole[0], "{factor:?} {whole:?}");
    }
}
