//! The mean residual of an equality on the measurements against its standard error.

use lawful_law::{Law, Relation, Steps, Workspace};

use super::noise_level::NoiseLevels;
use crate::{Dataset, Trajectory, extend_rows};

/// Standard errors from which the mean of many residuals is not 0 …
const ERRORS: f64 = 4.0;
/// … and of few: N residuals need (1 + FEW/N) times as many, as Student's distribution does.
const FEW: f64 = 7.0;
/// Fewest residuals whose scatter is their standard error.
const FEWEST: usize = 8;
/// Share of the bias of curved laws that the estimate of the noise leaves unknown.
const UNKNOWN_BIAS: f64 = 0.3;
/// Largest correlation of neighbouring residuals that counts.
const MOST_CORRELATED: f64 = 0.9;
/// Most rows of a trajectory whose residuals count, and about the most of all.
const MOST_ROWS: usize = 10_000;
const ALL_ROWS: usize = 50_000;
/// Mean residuals up to this, in units of the law, contradict nothing.
const LEAST: f64 = 1e-4;

/// The mean residual of a law; for a law with `initial(…)` or `final(…)`, their trend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct MeanResidual {
    /// The mean, in the law's units; of a trend, the change over the longest trajectory.
    pub(super) mean: f64,
    /// Its standard error.
    pub(super) error: f64,
    /// Whether it is more than noise, bias and resolution.
    pub(super) is_above_noise: bool,
    /// Whether it is a trend.
    pub(super) is_trend: bool,
}

/// The residuals of one trajectory where all states that they depend on are measured.
#[derive(Debug, Default)]
struct Residuals {
    /// Times, and residuals without bias.
    rows: Vec<(f64, f64)>,
    /// Sum of the biases `½ tr(c″Σ)` that were subtracted.
    bias: f64,
    /// Sum of the largest errors by rounding to the data's resolution.
    rounding: f64,
}

/// Returns the mean residual of an equality; `None` for other laws and without residuals.
///
/// Noise of variance Σ in the states biases curved residuals by `½ tr(c″Σ)`, which is subtracted. The
/// standard error is that of the residuals' own scatter, with the correlation ρ of neighbours,
///
/// ```text
/// error² = variance (1 + ρ)/(1 − ρ) / N
/// ```
///
/// and eight residuals are needed for it. With `initial(…)`, the noise of the first row is in all residuals:
/// their mean is fitted, and what is tested is their slope in time.
pub(super) fn mean_residual(
    dataset: &Dataset,
    law: &Law,
    firsts: &[f64],
    (noise, size): (&NoiseLevels, f64),
) -> Option<MeanResidual> {
    if law.relation() != Relation::Equality {
        return None;
    }
    let reach = law.reach();
    let is_trend = reach.initial.is_some() || reach.final_.is_some();
    let each = dataset.rows().div_ceil(dataset.trajectories().len());
    let trajectories: Vec<Residuals> = (dataset.trajectories().iter())
        .take((ALL_ROWS / each).max(1))
        .map(|trajectory| residuals(dataset, trajectory, law, firsts, noise))
        .filter(|residuals| residuals.rows.len() >= if is_trend { 3 } else { 1 })
        .collect();
    let count: usize = trajectories.iter().map(|residuals| residuals.rows.len()).sum();
    if count < FEWEST {
        return None;
    }
    let n = count as f64;
    let of = |value: fn(&Residuals) -> f64| trajectories.iter().map(value).sum::<f64>() / n;
    let (bias, rounding) = (of(|r| r.bias), of(|r| r.rounding));
    let all = || trajectories.iter().flat_map(|residuals| &residuals.rows);
    // What is left without the mean, or without mean and slope of each trajectory.
    let (mean, spread, left) = if is_trend {
        trend(&trajectories)
    } else {
        let mean = all().map(|(_, c)| c).sum::<f64>() / n;
        let left = trajectories.iter().map(|t| t.rows.iter().map(|(_, c)| c - mean).collect());
        (mean, 1.0 / n, left.collect::<Vec<Vec<f64>>>())
    };
    let unknown = if is_trend { 0.0 } else { UNKNOWN_BIAS * bias };
    let error = (scatter(&left) * spread + unknown * unknown).sqrt();
    let floor = rounding + LEAST * size;
    let is_above_noise = mean.abs() > ERRORS * (1.0 + FEW / n) * error + floor;
    mean.is_finite().then_some(MeanResidual { mean, error, is_above_noise, is_trend })
}

/// Returns the common slope of all trajectories times the longest duration, the square of its standard
/// error for residuals of variance 1, and what is left of the residuals.
fn trend(trajectories: &[Residuals]) -> (f64, f64, Vec<Vec<f64>>) {
    let (mut products, mut squares, mut longest) = (0.0, 0.0, 0.0_f64);
    let mut centred = Vec::with_capacity(trajectories.len());
    for Residuals { rows, .. } in trajectories {
        let n = rows.len() as f64;
        let t_mean = rows.iter().map(|(t, _)| t).sum::<f64>() / n;
        let c_mean = rows.iter().map(|(_, c)| c).sum::<f64>() / n;
        let rows: Vec<(f64, f64)> = rows.iter().map(|(t, c)| (t - t_mean, c - c_mean)).collect();
        products += rows.iter().map(|(t, c)| t * c).sum::<f64>();
        squares += rows.iter().map(|(t, _)| t * t).sum::<f64>();
        longest = longest.max(rows[rows.len() - 1].0 - rows[0].0);
        centred.push(rows);
    }
    let slope = products / squares;
    let left = centred.iter().map(|rows| rows.iter().map(|(t, c)| c - slope * t).collect());
    (slope * longest, longest * longest / squares, left.collect())
}

/// Returns the variance of these residuals, larger where neighbours are correlated.
fn scatter(left: &[Vec<f64>]) -> f64 {
    let (mut squares, mut products, mut count) = (0.0, 0.0, 0.0);
    for left in left {
        squares += left.iter().map(|c| c * c).sum::<f64>();
        products += left.iter().zip(&left[1..]).map(|(a, b)| a * b).sum::<f64>();
        count += left.len() as f64;
    }
    let correlation = (products / squares.max(f64::MIN_POSITIVE)).clamp(0.0, MOST_CORRELATED);
    squares / f64::max(count - 1.0, 1.0) * (1.0 + correlation) / (1.0 - correlation)
}

/// Returns the first rows of a trajectory, [`MOST_ROWS`] at most, without a copy.
fn first_rows(trajectory: &Trajectory, d: usize, m: usize) -> Trajectory {
    let mut head = trajectory.clone();
    head.times.truncate(MOST_ROWS);
    head.states.truncate(MOST_ROWS * d);
    head.inputs.truncate(MOST_ROWS * m);
    head
}

/// Computes the residuals of one trajectory, their biases and rounding errors, by differences over one standard
/// deviation of the noise of each cell.
fn residuals(
    dataset: &Dataset,
    trajectory: &Trajectory,
    law: &Law,
    firsts: &[f64],
    noise: &NoiseLevels,
) -> Residuals {
    let (d, reach) = (dataset.state().len(), law.reach());
    let head = first_rows(trajectory, d, dataset.inputs().len());
    if head.len() < trajectory.len() && reach.final_.is_some() {
        return Residuals::default();
    }
    let (trajectory, n) = (&head, head.len());
    let mut states = Vec::new();
    extend_rows(&trajectory.states, d, firsts, &mut states);
    let mut workspace = Workspace::new();
    let mut at = |states: &[f64]| {
        let steps = Steps { times: &trajectory.times, states, inputs: &trajectory.inputs };
        let mut residuals = vec![0.0; n];
        law.residuals(&steps, &mut workspace, &mut residuals);
        residuals
    };
    // The rows of `initial` and `final` are constants here, whose noise the fitted mean takes.
    let first = reach.initial.map_or(0, |ahead| ahead + 1);
    let last = n.saturating_sub(reach.final_.map_or(0, |back| back + 1));
    let range = reach.range(n);
    let range =
        (range.start.max(first + reach.back))..(range.end.min(last.saturating_sub(reach.ahead)));
    let here = at(&states);
    let (mut biases, mut rounding) = (vec![0.0; n], vec![0.0; n]);
    let (width, stride) = (d + firsts.len(), reach.back + reach.ahead + 1);
    for i in 0..d {
        for class in 0..stride {
            // No residual depends on two cells of a class.
            let cells: Vec<usize> = (first..last).skip(class).step_by(stride).collect();
            let steps: Vec<(f64, f64)> = (cells.iter())
                .map(|row| states[row * width + i])
                .map(|value| (noise.of_cell(i, value), noise.resolution(i, value)))
                .collect();
            let mut shifted = states.clone();
            for (row, (step, _)) in cells.iter().zip(&steps) {
                shifted[row * width + i] += step;
            }
            let above = at(&shifted);
            for (row, (step, _)) in cells.iter().zip(&steps) {
                shifted[row * width + i] -= 2.0 * step;
            }
            let below = at(&shifted);
            let largest = steps.iter().map(|(step, unit)| 0.5 * unit / step).fold(0.0, f64::max);
            for n in range.clone() {
                biases[n] += 0.5 * (above[n] + below[n]) - here[n];
                rounding[n] += 0.5 * (above[n] - below[n]).abs() * largest;
            }
        }
    }
    let mut found = Residuals::default();
    for n in range {
        let c = here[n] - biases[n];
        if c.is_finite() {
            found.rows.push((trajectory.times[n], c));
            found.bias += biases[n];
            found.rounding += rounding[n];
        }
    }
    found
}
