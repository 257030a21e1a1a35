//! The size of a law: what its violations are a share of.
//!
//! | law | size |
//! |---|---|
//! | an equality that compares terms, `S + I + R == 763`, `E == initial(E)` | half of the sum of the absolute values of its terms: 763, `E` |
//! | a bound or another inequality, `y >= 0`; `(x - 1)*(y - 2) == 0` | the change of `c` when every state that it depends on changes by its size |
//! | `next(e) <= e`, `next(e) >= e` | the same change of `e` |
//! | a law with `rate(…)` | the same with the sizes of the rates |
//!
//! ```text
//! change² = Σ_i (∂c/∂y_i s_i)² + Σ_i (∂c/∂f_i r_i)²       s_i, r_i  the size of a state and of its rate
//! ```
//!
//! Each is the largest one over the rows of the data, so that a system at rest for most of the time does
//! not make it small. The size of a state is the standard deviation of its measured cells, and at least
//! a hundredth of the largest of them: data that sit still have a size, too. With fewer than four cells
//! it is the largest of them; without any but 0, the largest size of the other states. The size of a rate
//! is that of [`scaling`].

use std::borrow::Cow;

use lawful_law::{Law, Relation, Steps, Workspace};

use super::measure::Form;
use crate::data::completed;
use crate::statistics::mean_and_variance;
use crate::{Dataset, Trajectory, extend_rows, scaling};

/// Fewest measured cells whose standard deviation is the size of a state.
const FEWEST: usize = 4;
/// The least size of a state, as a share of the largest absolute value.
const LEAST: f64 = 0.01;
/// Largest number of rows of a trajectory at which laws are evaluated: more would not change a size.
const MOST_ROWS: usize = 4096;

/// Returns the size of each law on these data, in the law's own units; above 0. `constants` are the values of
/// the learned constants, which the laws read as variables behind the state.
///
/// ```
/// use lawful::{Dataset, Laws, law_sizes};
/// let data = Dataset::single(&["A", "B"], vec![0.0, 1.0], vec![1.0, 4.0, 2.0, 3.0])?;
/// let laws = Laws::parse(&data, ["A + B == 5"])?;
/// assert_eq!(law_sizes(&data, laws.laws(), &[]), [5.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn law_sizes(dataset: &Dataset, laws: &[Law], constants: &[f64]) -> Vec<f64> {
    if laws.is_empty() {
        return Vec::new();
    }
    let (scaling, state_len) = (scaling(dataset), dataset.state().len());
    let mut state = state_sizes(dataset);
    let mut rate = scaling.rate.clone();
    // Constants do not move along a path.
    state.resize(state_len + constants.len(), 0.0);
    rate.resize(state.len(), 0.0);
    let mut sizes = vec![0.0_f64; laws.len()];
    let (mut filled, mut rates) = (Vec::new(), Vec::new());
    for trajectory in dataset.trajectories() {
        let trajectory = &thinned(trajectory, state_len);
        let states = completed(trajectory, &scaling);
        extend_rows(&states, state_len, constants, &mut filled);
        slopes(&trajectory.times, &filled, state.len(), &mut rates);
        let rows = Rows { trajectory, states: &filled, rates: &rates };
        for (law, size) in laws.iter().zip(&mut sizes) {
            *size = size.max(rows.size(law, &state, &rate));
        }
    }
    for size in &mut sizes {
        if *size <= 0.0 {
            *size = 1.0;
        }
    }
    sizes
}

/// Returns at most [`MOST_ROWS`] rows of a trajectory, the first among them.
fn thinned(trajectory: &Trajectory, d: usize) -> Cow<'_, Trajectory> {
    let n = trajectory.len();
    let stride = n.div_ceil(MOST_ROWS);
    if stride == 1 {
        return Cow::Borrowed(trajectory);
    }
    let rows = |values: &[f64], width: usize| -> Vec<f64> {
        let rows = (0..n).step_by(stride);
        rows.flat_map(|row| values[row * width..][..width].iter().copied()).collect()
    };
    let Trajectory { name, times, states, inputs, .. } = trajectory;
    Cow::Owned(Trajectory {
        inputs: rows(inputs, inputs.len() / n).into(),
        ..Trajectory::new(name, rows(times, 1), rows(states, d))
    })
}

/// Returns the size of each state variable.
fn state_sizes(dataset: &Dataset) -> Vec<f64> {
    let d = dataset.state().len();
    let mut sizes = vec![0.0; d];
    for (variable, size) in sizes.iter_mut().enumerate() {
        let trajectories = dataset.trajectories().iter();
        let cells = trajectories.flat_map(|t| t.states.iter().skip(variable).step_by(d));
        let cells = cells.copied().filter(|value| value.is_finite());
        let largest = cells.clone().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        let (_, variance) = mean_and_variance(cells.clone());
        let spread = variance.sqrt();
        *size = if cells.count() >= FEWEST && spread > f64::EPSILON * largest {
            spread.max(LEAST * largest)
        } else {
            largest
        };
    }
    let largest = sizes.iter().copied().fold(0.0, f64::max);
    let others = if largest > 0.0 { largest } else { 1.0 };
    sizes.iter().map(|size| if *size > 0.0 { *size } else { others }).collect()
}

/// Writes the slopes through the neighbours of each row.
fn slopes(times: &[f64], states: &[f64], d: usize, rates: &mut Vec<f64>) {
    rates.clear();
    let last = times.len() - 1;
    for row in 0..=last {
        let (before, after) = (row.saturating_sub(1), (row + 1).min(last));
        let span = times[after] - times[before];
        rates.extend((0..d).map(|i| (states[after * d + i] - states[before * d + i]) / span));
    }
}

/// The rows of a trajectory without gaps, with learned constants behind each.
struct Rows<'a> {
    trajectory: &'a Trajectory,
    states: &'a [f64],
    rates: &'a [f64],
}

impl Rows<'_> {
    /// Returns the size of a law on these rows, 0 where it has none.
    fn size(&self, law: &Law, state: &[f64], rate: &[f64]) -> f64 {
        let steps = self.steps();
        let mut workspace = Workspace::default();
        if law.relation() == Relation::Equality {
            let mut magnitudes = vec![0.0; steps.times.len()];
            let rates = law.uses_rates().then_some(self.rates);
            if law.magnitudes(&steps, rates, &mut workspace, &mut magnitudes) {
                let complete = self.complete_rows(law);
                let over = |rows: &mut dyn Iterator<Item = usize>| {
                    let finite = rows.map(|row| magnitudes[row]).filter(|m| m.is_finite());
                    finite.fold(0.0, f64::max)
                };
                let size = over(&mut complete.iter().copied());
                let size = if size > 0.0 { size } else { over(&mut (0..magnitudes.len())) };
                if size > 0.0 {
                    return size;
                }
            }
        }
        self.change(law, state, rate)
    }

    fn steps(&self) -> Steps<'_> {
        let Trajectory { times, inputs, .. } = self.trajectory;
        Steps { times, states: self.states, inputs }
    }

    /// Returns the rows at which every state that a law may need was measured.
    fn complete_rows(&self, law: &Law) -> Vec<usize> {
        let n = self.trajectory.len();
        let d = self.trajectory.states.len() / n;
        let (reach, measured) = (law.reach(), &self.trajectory.states);
        let complete = |row: &usize| {
            let near = (row - reach.back) * d..(row + reach.ahead + 1) * d;
            measured[near].iter().all(|value| value.is_finite())
        };
        reach.range(n).filter(complete).collect()
    }

    /// Returns the largest change of the residual, or of the quantity that the law compares with itself,
    /// when states and rates change by their sizes.
    fn change(&self, law: &Law, state: &[f64], rate: &[f64]) -> f64 {
        let steps = self.steps();
        let (n, d) = (steps.times.len(), state.len());
        let mut workspace = Workspace::default();
        let (mut values, mut bars) = (vec![0.0; n], vec![0.0; n]);
        let (mut state_bar, mut rate_bar) = (vec![0.0; n * d], vec![0.0; n * d]);
        let (mut back, mut ahead, mut rows) = (0, 0, 0..n);
        if let Form::Rise(quantity) | Form::Drift(quantity) = Form::of(law) {
            quantity.values(&steps, &mut workspace, &mut values);
            bars.fill(1.0);
            quantity.pull_back(&steps, &mut workspace, &bars, &mut state_bar);
        } else {
            let reach = law.reach();
            (back, ahead, rows) = (reach.back, reach.ahead, reach.range(n));
            // Terms at the ends depend on every row: what all of them add there says nothing.
            if let Some(first) = reach.initial {
                rows.start = rows.start.max((first + 1 + back).min(rows.end));
            }
            if let Some(last) = reach.final_ {
                rows.end = rows.end.min(n.saturating_sub(last + 1 + ahead)).max(rows.start);
            }
            // Rows so far apart that none has an adjoint of two residuals.
            rows.clone().step_by(back + ahead + 1).for_each(|row| bars[row] = 1.0);
            if law.uses_rates() {
                law.residuals_with_rates(&steps, self.rates, &mut workspace, &mut values);
                let (states, rates) = (&mut state_bar, &mut rate_bar);
                law.pull_back_with_rates(&steps, &mut workspace, &bars, states, rates);
            } else {
                law.residuals(&steps, &mut workspace, &mut values);
                law.pull_back(&steps, &mut workspace, &bars, &mut state_bar);
            }
        }
        let mut largest = 0.0_f64;
        for row in rows.step_by(back + ahead + 1) {
            let near = (row - back) * d..(row + ahead + 1) * d;
            let squares = |bars: &[f64], sizes: &[f64]| -> f64 {
                bars[near.clone()]
                    .iter()
                    .zip(sizes.iter().cycle())
                    .map(|(b, s)| (b * s).powi(2))
                    .sum()
            };
            let change = (squares(&state_bar, state) + squares(&rate_bar, rate)).sqrt();
            if change.is_finite() {
                largest = largest.max(change);
            }
        }
        largest
    }
}
