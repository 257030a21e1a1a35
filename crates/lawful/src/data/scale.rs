//! Scaling from data: the units in which the network and the objective work.

use std::borrow::Cow;

use lawful_law::Law;
use lawful_ode::Scaling;

use super::{Dataset, Interpolation, LawWindow, Trajectory, fill, noise};
use crate::ConsistentTable;
use crate::statistics::{mean_and_variance, mean_square};
use crate::{LearnedConstant, Units};

/// Largest number of rows of a trajectory at which the size of a law is evaluated: more would not change
/// it.
const EVALUATED_ROWS: usize = 64;

/// Returns the scaling that brings states, rates, inputs and time of these data to order one.
///
/// ```text
/// m, s   mean and standard deviation of a state's measured cells
/// rate   root mean square of (y_b − y_a)/(t_b − t_a) over neighbouring measured cells
/// a, b   mean and standard deviation of an input
/// t₀, T  the first time, and the longest duration
/// ```
///
/// If noise dominates the difference of neighbours, cells further apart are compared. The size of a
/// constant is its absolute value, or 1 for 0; a state variable with fewer than three measured cells gets
/// the size of the others.
pub fn scaling(dataset: &Dataset) -> Scaling {
    let trajectories = dataset.trajectories();
    let (d, m) = (dataset.state().len(), dataset.inputs().len());
    let duration = trajectories.iter().map(|t| t.times[t.len() - 1] - t.times[0]);
    let duration = duration.fold(0.0, f64::max);
    let first = trajectories.iter().map(|t| t.times[0]).fold(f64::INFINITY, f64::min);
    let (mut state_centre, mut state, mut rate) = (vec![0.0; d], vec![1.0; d], vec![1.0; d]);
    for variable in 0..d {
        let cells = || trajectories.iter().flat_map(move |t| column(&t.states, d, variable));
        (state_centre[variable], state[variable]) = centre_and_spread(cells);
        let noise = noise::of_variable(dataset, variable) * state[variable];
        let change = rate_of(trajectories, d, variable, noise);
        rate[variable] = if change > 0.0 { change } else { state[variable] / duration };
    }
    guess_unmeasured(dataset, &mut state, &mut rate);
    let (mut input_centre, mut input) = (vec![0.0; m], vec![1.0; m]);
    for n in 0..m {
        let cells = || trajectories.iter().flat_map(move |t| column(&t.inputs, m, n));
        (input_centre[n], input[n]) = centre_and_spread(cells);
    }
    Scaling { state_centre, state, rate, input_centre, input, time_centre: first, time: duration }
}

/// Fewest measured cells for which a state variable has its own scale.
const FEWEST: usize = 3;

/// Gives state variables with too few cells the geometric mean of the others' sizes and rates.
fn guess_unmeasured(dataset: &Dataset, state: &mut [f64], rate: &mut [f64]) {
    let (known, unknown): (Vec<usize>, Vec<usize>) =
        (0..state.len()).partition(|&variable| has_own_scale(dataset, variable));
    if known.is_empty() {
        return;
    }
    let mean = |values: &[f64]| {
        let sum: f64 = known.iter().map(|&variable| values[variable].ln()).sum();
        (sum / known.len() as f64).exp()
    };
    let (usual, usual_rate) = (mean(state), mean(rate));
    for variable in unknown {
        (state[variable], rate[variable]) = (usual, usual_rate);
    }
}

/// Returns whether a state variable has enough cells for a scale of its own.
pub(crate) fn has_own_scale(dataset: &Dataset, variable: usize) -> bool {
    let d = dataset.state().len();
    let cells = |t: &Trajectory| column(&t.states, d, variable).count();
    dataset.trajectories().iter().map(cells).sum::<usize>() >= FEWEST
}

/// Returns the scaling of these data, with that of a table for state variables that are hardly measured.
pub(crate) fn scaling_by(dataset: &Dataset, table: &ConsistentTable) -> Scaling {
    let mut scaling = scaling(dataset);
    let d = dataset.state().len();
    for variable in (0..d).filter(|&variable| !has_own_scale(dataset, variable)) {
        let (mean, spread) = spread_on(table, d, variable);
        let slopes = || table.trajectories.iter().flat_map(|t| column(&t.slopes, d, variable));
        let rate = mean_square(slopes()).sqrt();
        if spread > 0.0 && rate > 0.0 {
            scaling.state_centre[variable] = mean;
            (scaling.state[variable], scaling.rate[variable]) = (spread, rate);
        }
    }
    scaling
}

/// Returns mean and standard deviation of a state variable on a table.
pub(crate) fn spread_on(table: &ConsistentTable, d: usize, variable: usize) -> (f64, f64) {
    let cells = table.trajectories.iter().flat_map(|t| column(&t.states, d, variable));
    let (mean, variance) = mean_and_variance(cells);
    (mean, variance.sqrt())
}

/// Returns the measured cells of one column of a table.
fn column(values: &[f64], width: usize, n: usize) -> impl Iterator<Item = f64> + Clone + '_ {
    values.iter().skip(n).step_by(width).copied().filter(|value| value.is_finite())
}

/// Returns mean and standard deviation; of a constant, 0 and its size.
fn centre_and_spread<I: Iterator<Item = f64> + Clone>(cells: impl Fn() -> I) -> (f64, f64) {
    let (mean, variance) = mean_and_variance(cells());
    let spread = variance.sqrt();
    if spread > 1e-12 * mean.abs() {
        (mean, spread)
    } else if mean.abs() > 0.0 {
        (0.0, mean.abs())
    } else {
        (0.0, 1.0)
    }
}

/// Returns the root mean square of the rates between cells, at the least distance at which their
/// difference is more than noise; 0 if nothing changes.
fn rate_of(trajectories: &[Trajectory], d: usize, variable: usize, noise: f64) -> f64 {
    let mut apart = 1;
    loop {
        let (mut rates, mut changes, mut count) = (0.0, 0.0, 0.0);
        for trajectory in trajectories {
            let all = (trajectory.times.iter().copied())
                .zip(trajectory.states.iter().skip(variable).step_by(d).copied());
            let cells = all.filter(|(_, value)| value.is_finite());
            for (a, b) in cells.clone().zip(cells.skip(apart)) {
                rates += ((b.1 - a.1) / (b.0 - a.0)).powi(2);
                changes += (b.1 - a.1).powi(2);
                count += 1.0;
            }
        }
        if count < 1.0 {
            return 0.0;
        }
        let (rate, change) = (f64::sqrt(rates / count), f64::sqrt(changes / count));
        let longer = trajectories.iter().any(|t| t.len() > 2 * apart + 2);
        // The difference of two noisy values has √2 times the noise.
        if change >= 4.0 * std::f64::consts::SQRT_2 * noise || !longer {
            return rate;
        }
        apart *= 2;
    }
}

/// Returns the units of these data: errors in standard deviations, laws in their size on the data. The
/// size is the change of `c` when every state that it depends on changes by its standard deviation,
///
/// ```text
/// size² = mean over rows n of Σ_{m, i} (∂c_n/∂y_{m,i} s_i)²
/// ```
///
/// so that a law in joules and one in kilograms have the same weight, and a law that the data obey
/// exactly has a size too. Learned constants that laws use have their initial values.
pub fn units(
    dataset: &Dataset,
    laws: &[Law],
    constants: &[LearnedConstant],
    scaling: &Scaling,
) -> Units {
    let firsts: Vec<f64> = constants.iter().map(|constant| constant.start).collect();
    // Constants do not move along a path.
    let mut scale = scaling.state.clone();
    scale.resize(scale.len() + firsts.len(), 0.0);
    let (mut sizes, mut window) = (vec![(0.0, 0.0); laws.len()], LawWindow::default());
    for trajectory in dataset.trajectories() {
        let states = completed(trajectory, scaling);
        for (law, size) in laws.iter().zip(&mut sizes) {
            let (sum, count) =
                sensitivity(law, trajectory, (&states, &firsts), &scale, &mut window);
            *size = (size.0 + sum, size.1 + count);
        }
    }
    let laws = sizes.into_iter().map(|(sum, count): (f64, f64)| {
        let size = (sum / count).sqrt();
        if size > 0.0 && size.is_finite() { size } else { 1.0 }
    });
    Units { state: scaling.state.clone(), laws: laws.collect(), margin: 0.0 }
}

/// Returns the states of a trajectory with gaps filled: by linear interpolation between measured cells,
/// and by the centre for a variable without any.
pub(crate) fn completed<'a>(trajectory: &'a Trajectory, scaling: &Scaling) -> Cow<'a, [f64]> {
    if trajectory.states.iter().all(|value| value.is_finite()) {
        return Cow::Borrowed(&trajectory.states);
    }
    let d = scaling.state.len();
    let mut states = trajectory.states.to_vec();
    for variable in 0..d {
        let mut cells: Vec<f64> = states.iter().skip(variable).step_by(d).copied().collect();
        if !fill(Interpolation::Linear, &trajectory.times, &mut cells, 1) {
            cells.fill(scaling.state_centre[variable]);
        }
        for (state, cell) in states.iter_mut().skip(variable).step_by(d).zip(cells) {
            *state = cell;
        }
    }
    Cow::Owned(states)
}

/// Returns `Σ_n Σ_{m, i} (∂c_n/∂y_{m,i} s_i)²` over some rows, and the number of these rows. `states` are those
/// of the trajectory without gaps, and what follows each.
fn sensitivity(
    law: &Law,
    trajectory: &Trajectory,
    states: (&[f64], &[f64]),
    scale: &[f64],
    window: &mut LawWindow,
) -> (f64, f64) {
    let rows = law.reach().range(trajectory.len());
    let stride = rows.len().div_ceil(EVALUATED_ROWS).max(1);
    let (mut sum, mut count) = (0.0, 0.0);
    for row in rows.step_by(stride) {
        let at = window.gather(law, trajectory, states, row..row + 1);
        let square = window.square(law, at, scale);
        if square.is_finite() {
            sum += square;
            count += 1.0;
        }
    }
    (sum, count)
}
