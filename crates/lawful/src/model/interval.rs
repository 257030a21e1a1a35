//! Intervals around predictions, from draws of the posterior.

use rayon::prelude::*;

use super::{Draw, Model, PredictError};
use crate::Trajectory;
use crate::data::Table;
use crate::number::exact;
use crate::posterior::{of_sorted, t_quantile, with_noise};

/// The greatest level: one draw of 100 lies beyond each end.
const HIGHEST: f64 = 0.98;
/// Fewest draws that must be solved.
const FEWEST_SOLVED: usize = 20;
/// A share of failed draws that is worth a warning.
const MANY: f64 = 0.05;

/// What an interval holds with its probability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IntervalKind {
    /// A new measurement: the curve's uncertainty, and the noise of measurements. A prediction interval.
    #[default]
    Prediction,
    /// The curve itself, without noise. A credible interval.
    Credible,
}

/// An interval around the states at some times, row after row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Interval {
    /// The prediction of the model itself.
    pub central: Vec<f64>,
    /// The lower ends.
    pub low: Vec<f64>,
    /// The upper ends.
    pub high: Vec<f64>,
    /// Draws that were solved.
    pub draws: usize,
    /// Draws that could not be solved, and are left out.
    pub failed: usize,
}

/// Why there is no interval.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum IntervalError {
    /// The model has no posterior.
    #[error("this model has no intervals: its training kept no posterior")]
    NoPosterior,
    /// The level is not a probability.
    #[error("{} is not the level of an interval: it is above 0 and at most {HIGHEST}", exact(*.0))]
    Level(f64),
    /// The prediction itself failed.
    #[error(transparent)]
    Predict(#[from] PredictError),
    /// Too few draws could be solved.
    #[error("only {solved} of {of} draws from the posterior can be solved")]
    Draws {
        /// Draws that were solved.
        solved: usize,
        /// All draws.
        of: usize,
    },
}

impl IntervalError {
    /// Returns a hint on what to do.
    pub fn hint(&self) -> String {
        match self {
            Self::NoPosterior => {
                "train with `recipe = \"evidence\"` under `[training]`, which gives intervals"
                    .to_owned()
            }
            Self::Level(_) => "give a probability, for example `--interval 0.9`".to_owned(),
            Self::Predict(error) => error.hint(),
            Self::Draws { .. } => "request times that are closer to the data".to_owned(),
        }
    }
}

/// Draws of the posterior for intervals of one level; see [`Model::intervals`].
#[derive(Debug, Clone)]
pub struct Intervals<'a> {
    model: &'a Model,
    level: f64,
    kind: IntervalKind,
    draws: Vec<Draw>,
    /// Bounds of each state variable by guaranteed laws.
    bounds: Vec<(f64, f64)>,
    is_ensemble: bool,
}

impl Model {
    /// Returns the interval of this level, such as 0.9, around the path from an exact initial state: a
    /// measurement lies within it with this probability. It is an [`IntervalKind::Prediction`].
    ///
    /// # Errors
    /// If the model has no posterior, or a prediction fails.
    pub fn interval(
        &self,
        initial: &[f64],
        times: &[f64],
        level: f64,
    ) -> Result<Interval, IntervalError> {
        let none = Table { times: &[], values: &[] };
        self.intervals(level)?.from(initial, times, none)
    }

    /// Returns the draws of the posterior for intervals of this level, at most 0.98. They are always the same
    /// ones.
    ///
    /// Bands are quantiles of all draws that can be solved, plus the noise of measurements, within the bounds
    /// that laws guarantee; the central curve lies within them. For the members of an ensemble, which are
    /// few, they are the mean ± `t √(s² (1 + 1/M) + σ²)`, with the spread s of M members and Student's t
    /// with M − 1 degrees of freedom.
    ///
    /// # Errors
    /// If the model has no posterior, or the level is not above 0 and at most 0.98.
    pub fn intervals(&self, level: f64) -> Result<Intervals<'_>, IntervalError> {
        if !(level > 0.0 && level <= HIGHEST) {
            return Err(IntervalError::Level(level));
        }
        let posterior = self.posterior().ok_or(IntervalError::NoPosterior)?;
        let draws = posterior.draws().iter();
        Ok(Intervals {
            model: self,
            level,
            kind: IntervalKind::default(),
            draws: draws.enumerate().map(|(n, drawn)| self.drawn(posterior, n, drawn)).collect(),
            bounds: self.bounds(),
            is_ensemble: posterior.is_ensemble(),
        })
    }
}

impl Interval {
    /// Returns a warning if many draws could not be solved.
    pub fn warning(&self) -> Option<String> {
        let Self { draws, failed, .. } = self;
        let of = draws + failed;
        (*failed as f64 > MANY * of as f64).then(|| {
            format!("{failed} of {of} draws from the posterior cannot be solved and are left out")
        })
    }
}

impl Intervals<'_> {
    /// Sets what the intervals hold.
    #[must_use]
    pub fn kind(self, kind: IntervalKind) -> Self {
        Self { kind, ..self }
    }

    /// Returns the level.
    pub fn level(&self) -> f64 {
        self.level
    }

    /// Returns the draws.
    pub fn draws(&self) -> &[Draw] {
        &self.draws
    }

    /// Calls `visit` with each draw and what belongs to it, on threads. Returns the results in order.
    ///
    /// # Panics
    /// If there is not one item for each draw.
    pub fn each_draw<T: Send, R: Send>(
        &self,
        items: &mut [T],
        visit: impl Fn(&Draw, &mut T) -> R + Sync + Send,
    ) -> Vec<R> {
        assert_eq!(items.len(), self.draws.len(), "an item of each draw");
        let pairs = self.draws.par_iter().zip(items);
        pairs.map(|(draw, item)| visit(draw, item)).collect()
    }

    /// Returns the interval around the path from an exact initial state at the first time.
    ///
    /// # Errors
    /// If the prediction or too many draws of it fail.
    pub fn from(
        &self,
        initial: &[f64],
        times: &[f64],
        inputs: Table<'_>,
    ) -> Result<Interval, IntervalError> {
        let central = self.model.predict_with(initial, times, inputs)?;
        self.around(central, |draw| draw.model().predict_with(initial, times, inputs).ok())
    }

    /// Returns the interval along a trajectory of the data, from its initial state, which is drawn too, and
    /// with its inputs.
    ///
    /// # Errors
    /// If the prediction or too many draws of it fail.
    pub fn along(&self, trajectory: &Trajectory, times: &[f64]) -> Result<Interval, IntervalError> {
        let central = self.model.along(trajectory, times)?;
        let inputs = Table { times: &trajectory.times, values: &trajectory.inputs };
        self.around(central, |draw| {
            let own = draw.model().of_trajectory(trajectory);
            own.predict_with(&draw.initial_state(trajectory), times, inputs).ok()
        })
    }

    fn around(
        &self,
        central: Vec<f64>,
        path: impl Fn(&Draw) -> Option<Vec<f64>> + Sync + Send,
    ) -> Result<Interval, IntervalError> {
        let paths: Vec<Option<Vec<f64>>> = self.draws.par_iter().map(path).collect();
        self.band(central, &paths)
    }

    /// Returns the interval of these paths, one for each draw, `None` where it cannot be solved.
    ///
    /// # Errors
    /// If too few are solved.
    ///
    /// # Panics
    /// If there is not one path for each draw, or a length differs.
    pub fn band(
        &self,
        central: Vec<f64>,
        paths: &[Option<Vec<f64>>],
    ) -> Result<Interval, IntervalError> {
        assert_eq!(paths.len(), self.draws.len(), "a path of each draw");
        let d = self.bounds.len();
        let solved: Vec<(&[f64], &[f64])> = (paths.iter().zip(&self.draws))
            .filter_map(|(path, draw)| Some((path.as_deref()?, draw.noise())))
            .filter(|(path, _)| path.iter().all(|value| value.is_finite()))
            .collect();
        let (draws, of) = (solved.len(), paths.len());
        let fewest = if self.is_ensemble { 2 } else { FEWEST_SOLVED };
        if draws < fewest {
            return Err(IntervalError::Draws { solved: draws, of });
        }
        let ends = (0..central.len()).into_par_iter().map(|at| {
            let values: Vec<f64> = solved.iter().map(|(path, _)| path[at]).collect();
            let noise: Vec<f64> = solved.iter().map(|(_, noise)| noise[at % d]).collect();
            let (low, high) = self.ends(values, &noise);
            let (lower, upper) = self.bounds[at % d];
            let within = |end: f64| end.max(lower).min(upper);
            (within(low).min(central[at]), within(high).max(central[at]))
        });
        let (low, high) = ends.collect::<Vec<_>>().into_iter().unzip();
        Ok(Interval { central, low, high, draws, failed: of - draws })
    }

    /// Returns both ends for the values of all draws at one place.
    fn ends(&self, mut values: Vec<f64>, noise: &[f64]) -> (f64, f64) {
        let tail = (1.0 - self.level) / 2.0;
        let has_noise =
            self.kind == IntervalKind::Prediction && noise.iter().all(|noise| *noise > 0.0);
        if self.is_ensemble {
            let count = values.len() as f64;
            let (mean, variance) = crate::statistics::mean_and_variance(values.iter().copied());
            let spread = variance * count / (count - 1.0) * (1.0 + 1.0 / count);
            let squares = noise.iter().map(|noise| noise * noise).sum::<f64>() / count;
            let size = (spread + if has_noise { squares } else { 0.0 }).sqrt();
            let reach = t_quantile(1.0 - tail, count - 1.0) * size;
            (mean - reach, mean + reach)
        } else if has_noise {
            (with_noise(&values, noise, tail), with_noise(&values, noise, 1.0 - tail))
        } else {
            values.sort_by(f64::total_cmp);
            (of_sorted(&values, tail), of_sorted(&values, 1.0 - tail))
        }
    }
}
