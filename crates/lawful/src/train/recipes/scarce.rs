//! Whether data are scarce or noisy, so that `auto` trains by least squares and evidence.

use super::auto::NOISE;
use crate::number::short;
use crate::{Accuracy, Dataset, scaling};

/// Most rows of all trajectories together: the time of least squares grows with their square where laws are
/// penalised.
pub(crate) const MOST_ROWS: usize = 500;
/// Digits are those of a measurement if their last unit is above this share of a standard deviation.
const RESOLUTION: f64 = 1e-4;

/// Returns why these data are trained by the recipe `evidence`; `None` if they are many, or show no noise and
/// have the digits of a simulation.
pub(crate) fn scarce(dataset: &Dataset) -> Option<String> {
    let rows = dataset.rows();
    if rows > MOST_ROWS {
        return None;
    }
    let what = blurred(dataset)?;
    Some(format!(
        "{rows} rows, and {what}: least squares and evidence, as by the recipe `evidence`"
    ))
}

/// Returns the state that shows noise or the digits of a measurement, in words, if one does.
pub(super) fn blurred(dataset: &Dataset) -> Option<String> {
    let (names, spread) = (dataset.state(), scaling(dataset).state);
    let largest = |of: &[f64]| -> (usize, f64) {
        let all = of.iter().copied().enumerate();
        all.fold((0, 0.0), |most, one| if one.1 > most.1 { one } else { most })
    };
    let (noisiest, noise) = largest(&crate::noise(dataset));
    let resolution = Accuracy::of(dataset).resolution;
    let units: Vec<f64> = resolution.iter().zip(&spread).map(|(unit, s)| unit / s).collect();
    let (coarsest, unit) = largest(&units);
    if noise > NOISE {
        let share = short(100.0 * noise);
        Some(format!(
            "`{}` has noise of about {share} % of its standard deviation",
            names[noisiest]
        ))
    } else if unit > RESOLUTION {
        let share = short(100.0 * unit);
        Some(format!(
            "the digits of `{}` end at {share} % of its standard deviation",
            names[coarsest]
        ))
    } else {
        None
    }
}
