//! The noise that a law may not be accused of: that of each state variable, and the resolution of its
//! written digits.

use std::collections::BTreeMap;

use lawful_ode::Scaling;

use crate::Dataset;
use crate::data::noise_at_most;

/// Misfits up to this share of a standard deviation contradict nothing: errors of solvers and of
/// arithmetic.
const LEAST: f64 = 1e-4;
/// Most digits behind the point that are taken for written ones.
const MOST_DIGITS: i32 = 9;
/// Cells of a state variable whose digits are read, evenly spaced.
const READ_CELLS: usize = 5000;

/// The noise of measured cells.
#[derive(Debug, Clone)]
pub(super) struct NoiseLevels {
    /// Standard deviation of each state variable's noise, in the data's units.
    pub(super) sigma: Vec<f64>,
    digits: Vec<Digits>,
}

impl NoiseLevels {
    /// Returns the noise of these data. A state variable with too few cells for an estimate has the mean
    /// share of the others.
    pub(super) fn new(dataset: &Dataset, scaling: &Scaling) -> Self {
        let d = dataset.state().len();
        let shares: Vec<Option<f64>> =
            (0..d).map(|i| Some(noise_at_most(dataset, i)? / scaling.state[i])).collect();
        let known: Vec<f64> = shares.iter().copied().flatten().collect();
        let usual = known.iter().sum::<f64>() / known.len().max(1) as f64;
        let sigma = shares.iter().zip(&scaling.state);
        let sigma = sigma.map(|(share, s)| s * share.unwrap_or(usual).max(LEAST)).collect();
        let cells = |i: usize| {
            let cells = dataset.trajectories().iter().flat_map(move |t| &t.states[i..]);
            cells.step_by(d).copied().filter(|value| value.is_finite())
        };
        let digits = (0..d).map(|i| {
            let stride = dataset.rows().div_ceil(READ_CELLS);
            Digits::new(cells(i).step_by(stride))
        });
        Self { sigma, digits: digits.collect() }
    }

    /// Returns the standard deviation of a cell's noise; at least half the unit of its last digit.
    pub(super) fn of_cell(&self, variable: usize, value: f64) -> f64 {
        self.sigma[variable].max(0.5 * self.digits[variable].unit(value))
    }

    /// Returns the unit of a cell's last digit; 0 for full precision.
    pub(super) fn resolution(&self, variable: usize, value: f64) -> f64 {
        self.digits[variable].unit(value)
    }
}

/// The digits behind the point with which the cells of each decade are written. Three significant digits
/// are more of them for small cells than for large ones.
#[derive(Debug, Clone)]
struct Digits {
    /// For a decade, and all below it: the digits; `None` for full precision.
    of_decade: BTreeMap<i32, Option<i32>>,
}

impl Digits {
    fn new(cells: impl Iterator<Item = f64>) -> Self {
        let mut of_decade: BTreeMap<i32, Option<i32>> = BTreeMap::new();
        for value in cells {
            let digits = written(value);
            let most = of_decade.entry(decade(value)).or_insert(Some(0));
            *most = most.zip(digits).map(|(most, digits)| most.max(digits));
        }
        // What is written for large cells is written for small ones.
        let mut most = Some(0);
        for digits in of_decade.values_mut().rev() {
            most = most.zip(*digits).map(|(most, digits)| most.max(digits));
            *digits = most;
        }
        Self { of_decade }
    }

    fn unit(&self, value: f64) -> f64 {
        let above = self.of_decade.range(decade(value)..).next();
        match above.or_else(|| self.of_decade.iter().next_back()) {
            Some((_, Some(digits))) => 10.0_f64.powi(-digits),
            _ => 0.0,
        }
    }
}

/// Returns the decade of a number; that of 0 is below all others.
#[expect(clippy::cast_possible_truncation, reason = "logarithms of doubles are small")]
fn decade(value: f64) -> i32 {
    if value.abs() > 0.0 { value.abs().log10().floor() as i32 } else { i32::MIN }
}

/// Returns the digits behind the point of a number; `None` for full precision.
fn written(value: f64) -> Option<i32> {
    (0..=MOST_DIGITS).find(|&digits| {
        let shifted = value * 10.0_f64.powi(digits);
        // Rounding of the product.
        (shifted - shifted.round()).abs() <= 4.0 * f64::EPSILON * shifted.abs()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_that_were_written() {
        for (value, digits) in
            [(3.0, Some(0)), (70.2, Some(1)), (0.25, Some(2)), (-1e-3, Some(3)), (0.0, Some(0))]
        {
            assert_eq!(written(value), digits, "{value}");
        }
        assert_eq!(written(1.0 / 3.0), None);
    }

    #[test]
    fn large_cells_of_three_digits_have_a_coarse_unit() {
        let digits = Digits::new([3.93, 5.31, 76.0, 62.9, 105.0, 1790.0].into_iter());
        for (value, unit) in [(0.0, 0.01), (4.0, 0.01), (50.0, 0.1), (300.0, 1.0), (9e4, 1.0)] {
            assert!((digits.unit(value) - unit).abs() < 1e-12, "{value}: {}", digits.unit(value));
        }
        let full = Digits::new([1.0 / 3.0, 2.0, 20.0].into_iter());
        assert!(full.unit(0.5) < 1e-300 && full.unit(2.0) >= 1.0);
    }

    #[test]
    fn a_hardly_measured_state_has_the_noise_of_the_others() {
        let states = (0..20).flat_map(|n| {
            let x = f64::from(n * n % 7) / 3.0;
            [x, if n == 0 { 1.0 } else { f64::NAN }]
        });
        let times = (0..20).map(f64::from).collect();
        let data = Dataset::single(&["x", "y"], times, states.collect()).unwrap();
        let scaling = crate::scaling(&data);
        let noise = NoiseLevels::new(&data, &scaling);
        let shares: Vec<f64> = noise.sigma.iter().zip(&scaling.state).map(|(n, s)| n / s).collect();
        assert!(shares[0] > 0.3 && (shares[0] - shares[1]).abs() < 1e-12, "{shares:?}");
    }
}
