//! How accurately states are measured: their noise, and the last digit that is written.

use serde::{Deserialize, Serialize};

use super::{Dataset, noise};
use crate::statistics::mean_and_variance;

/// How accurately each state variable is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Accuracy {
    /// Standard deviation of the noise, as [`noise`](crate::noise) estimates it.
    pub noise: Vec<f64>,
    /// The largest power of ten, at most 1, of which all measured values are multiples; 0 if there is
    /// none above 1e-12.
    pub resolution: Vec<f64>,
}

/// Standard deviations of noise that are explained by it.
const DEVIATIONS: f64 = 4.0;
/// Most digits behind the point that are the data's, not those of double precision.
const DIGITS: i32 = 12;
/// Numbers beyond this are whole in double precision whatever was measured.
const WHOLE: f64 = 1e14;

impl Accuracy {
    /// Estimates the accuracy of these data.
    pub fn of(dataset: &Dataset) -> Self {
        let d = dataset.state().len();
        let cells = |variable: usize| {
            let states = dataset.trajectories().iter().flat_map(|t| &t.states);
            let own = states.enumerate().filter(move |(cell, _)| cell % d == variable);
            own.map(|(_, value)| *value).filter(|value| value.is_finite())
        };
        let deviation = |variable: usize| mean_and_variance(cells(variable)).1.sqrt();
        Self {
            noise: (0..d).zip(noise(dataset)).map(|(i, share)| share * deviation(i)).collect(),
            resolution: (0..d).map(|i| resolution(&cells(i))).collect(),
        }
    }

    /// Returns the larger of two accuracies, variable by variable.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        let larger =
            |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a.max(*b)).collect::<Vec<_>>();
        Self {
            noise: larger(&self.noise, &other.noise),
            resolution: larger(&self.resolution, &other.resolution),
        }
    }

    /// Returns the largest change of a quantity with this gradient that the accuracy explains:
    ///
    /// ```text
    /// 4 √Σ (g_i σ_i)² + ½ Σ |g_i| r_i
    /// ```
    pub fn explains(&self, gradient: &[f64]) -> f64 {
        let noise: f64 = gradient.iter().zip(&self.noise).map(|(g, s)| (g * s).powi(2)).sum();
        let digits: f64 = gradient.iter().zip(&self.resolution).map(|(g, r)| (g * r).abs()).sum();
        DEVIATIONS * noise.sqrt() + 0.5 * digits
    }
}

/// Returns the largest power of ten, at most 1, of which all values are multiples.
fn resolution(values: &(impl Iterator<Item = f64> + Clone)) -> f64 {
    for digits in 0..=DIGITS {
        let power = 10.0_f64.powi(digits);
        let is_whole = |value: f64| {
            let scaled = value * power;
            scaled.abs() < WHOLE && (scaled - scaled.round()).abs() <= 1e-15 * scaled.abs() + 1e-13
        };
        if values.clone().all(is_whole) {
            return 1.0 / power;
        }
    }
    0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_resolution_is_that_of_the_last_digit() {
        for (values, expected) in [
            (vec![763.0, 0.0, 12.0], 1.0),
            (vec![0.5, 1.25, -3.0], 0.01),
            (vec![0.1 + 0.2, 0.7], 0.1),
            (vec![1e3, 1e-6], 1e-6),
            (vec![1.0 / 3.0], 0.0),
            (vec![1e20], 0.0),
        ] {
            let found = resolution(&values.iter().copied());
            assert!((found - expected).abs() <= 1e-12 * expected, "{values:?}: {found}");
        }
    }

    #[test]
    fn what_is_explained_is_the_number_worked_by_hand() {
        let accuracy = Accuracy { noise: vec![3.0, 4.0], resolution: vec![0.1, 0.2] };
        assert!((accuracy.explains(&[1.0, -1.0]) - 20.15).abs() < 1e-12);
    }
}
