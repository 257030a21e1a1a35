//! Estimates the measurement noise from the data alone.

use crate::Dataset;
use crate::statistics::mean_and_variance;

/// Orders of the divided differences.
const ORDERS: std::ops::RangeInclusive<usize> = 2..=6;
/// Cells of the highest order.
const MOST_CELLS: usize = *ORDERS.end() + 1;
/// If the size falls by more than this factor from the second last order to the last, it is not noise.
const STILL_FALLING: f64 = 1.7;
/// Fewest differences for an estimate.
const FEWEST: u32 = 4;

/// Estimates the noise of each state variable, as a share of its standard deviation.
///
/// A smooth signal, sampled often enough, is a polynomial over a few neighbouring cells; noise is
/// not. For each order k, the k-th divided difference of k + 1 neighbours, normalised so that
/// independent noise of variance 1 gives variance 1,
///
/// ```text
/// e = Σ_i w_i y_i / √(Σ_i w_i²),    w_i = 1/Π_{j≠i} (t_i − t_j)
/// ```
///
/// has the size of the noise for every k, while the contribution of the signal shrinks with each order.
/// The least root mean square over the orders 2 to 6 is the estimate. If it still falls at the last
/// order, it is the signal, sampled too coarsely to distinguish noise from it: the estimate is then 0.
pub fn noise(dataset: &Dataset) -> Vec<f64> {
    (0..dataset.state().len()).map(|variable| of_variable(dataset, variable)).collect()
}

/// Estimates the noise of one state variable as a share of its standard deviation; 0 if there are too
/// few cells for an estimate, or the variable is constant.
pub(crate) fn of_variable(dataset: &Dataset, variable: usize) -> f64 {
    let all = || cells(dataset, variable).flatten().map(|(_, value)| value);
    let (mean, variance) = mean_and_variance(all());
    let spread = variance.sqrt();
    if spread <= 1e-12 * mean.abs() {
        return 0.0;
    }
    let sizes = sizes(dataset, variable);
    let least = sizes.iter().copied().fold(f64::INFINITY, f64::min);
    match sizes[..] {
        [] => 0.0,
        [.., before, last] if before > STILL_FALLING * last && least >= last => 0.0,
        _ => (least / spread).min(1.0),
    }
}

/// Returns the most that the noise of one state variable can be, in its own units: the least root mean
/// square of its divided differences, even if it is that of a signal sampled too coarsely. `None` if there
/// are too few cells.
pub(crate) fn at_most(dataset: &Dataset, variable: usize) -> Option<f64> {
    sizes(dataset, variable).into_iter().reduce(f64::min)
}

/// Returns times and values of the measured cells of one state variable, of each trajectory.
fn cells(
    dataset: &Dataset,
    variable: usize,
) -> impl Iterator<Item = impl Iterator<Item = (f64, f64)> + Clone> + Clone {
    let d = dataset.state().len();
    dataset.trajectories().iter().map(move |t| {
        let values = t.states.iter().skip(variable).step_by(d).copied();
        t.times.iter().copied().zip(values).filter(|(_, value)| value.is_finite())
    })
}

/// Returns the root mean squares of the divided differences of each order that has enough of them.
fn sizes(dataset: &Dataset, variable: usize) -> Vec<f64> {
    let of_order = |order: usize| {
        let (mut sum, mut count) = (0.0, 0);
        for cells in cells(dataset, variable) {
            // The last cells, the newest at the end.
            let (mut window, mut known) = ([(0.0, 0.0); MOST_CELLS], 0);
            for cell in cells {
                window.rotate_left(1);
                window[MOST_CELLS - 1] = cell;
                known += 1;
                if known > order {
                    sum += difference(&window[MOST_CELLS - 1 - order..]).powi(2);
                    count += 1;
                }
            }
        }
        (count >= FEWEST).then(|| (sum / f64::from(count)).sqrt())
    };
    ORDERS.filter_map(of_order).collect()
}

/// Returns the normalised divided difference of neighbouring cells.
fn difference(cells: &[(f64, f64)]) -> f64 {
    // In units of the window, so that no weight overflows.
    let unit = (cells[cells.len() - 1].0 - cells[0].0) / cells.len() as f64;
    let (mut sum, mut squares) = (0.0, 0.0);
    for (i, &(t, value)) in cells.iter().enumerate() {
        let others = cells.iter().enumerate().filter(|&(j, _)| j != i);
        let weight = 1.0 / others.map(|(_, other)| (t - other.0) / unit).product::<f64>();
        sum += weight * (value - cells[0].1);
        squares += weight * weight;
    }
    sum / squares.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    /// An oscillation of three periods, at uneven times, with this much noise.
    fn data(rows: usize, noise: f64) -> Dataset {
        let mut random = Random::new(1, "noise test");
        let times: Vec<f64> = (0..rows).map(|n| n as f64 + 0.2 * random.uniform()).collect();
        let turn = 3.0 * std::f64::consts::TAU / rows as f64;
        let signal = times.iter().map(|t| 7.0 + (turn * t).sin());
        // A sine's standard deviation is 1/√2.
        let states = signal.map(|y| y + noise / 2.0_f64.sqrt() * random.normal()).collect();
        Dataset::single(&["x"], times, states).unwrap()
    }

    #[test]
    fn noise_is_estimated_and_a_smooth_signal_has_none() {
        for (rows, share) in [(50, 0.1), (200, 0.05), (200, 0.01), (1000, 0.001), (1000, 0.3)] {
            let estimate = noise(&data(rows, share))[0];
            // The standard deviation that it is a share of has the noise in it.
            let true_share = share / (1.0 + share * share).sqrt();
            assert!((estimate / true_share - 1.0).abs() < 0.35, "{rows}, {share}: {estimate}");
        }
        for rows in [20, 50, 200, 1000] {
            let estimate = noise(&data(rows, 0.0))[0];
            assert!(estimate < 1e-3, "{rows} rows without noise: {estimate}");
        }
    }

    #[test]
    fn too_few_cells_and_constants_have_no_noise() {
        let few = Dataset::single(&["x"], vec![0.0, 1.0, 2.0], vec![1.0, 5.0, 2.0]).unwrap();
        assert_eq!(noise(&few), [0.0]);
        let same =
            Dataset::single(&["x"], (0..20).map(f64::from).collect(), vec![3.0; 20]).unwrap();
        assert_eq!(noise(&same), [0.0]);
    }
}
