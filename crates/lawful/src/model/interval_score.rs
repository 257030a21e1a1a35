//! How good intervals are: coverage and interval score on measurements, and laws over all draws.

use rayon::prelude::*;
use serde::Serialize;

use super::{IntervalError, Intervals, LawStatus};
use crate::Dataset;

/// Most draws in which laws are measured.
const MOST_MEASURED: usize = 100;

/// The intervals of a state variable on the measured cells of a set.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct IntervalScore {
    /// The state variable.
    #[serde(skip)]
    pub state: String,
    /// The cells that were measured, and are scored.
    pub cells: usize,
    /// The share of cells that lie within their interval.
    pub coverage: f64,
    /// The mean width of the intervals.
    pub width: f64,
    /// The mean interval score (Winkler 1972; Gneiting and Raftery 2007): the width, and `2/(1 − level)` times
    /// the distance to the interval where a cell is outside. Smaller is better.
    pub score: f64,
}

/// A law over the draws of a posterior.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct LawDraws {
    /// The law's name.
    pub law: String,
    /// The draws that were measured.
    pub draws: usize,
    /// The share of draws that violate the law by more than its tolerance, or have no value of it.
    pub broken: f64,
    /// The largest violation.
    pub largest: f64,
}

impl Intervals<'_> {
    /// Scores the intervals on the measured cells of a set.
    ///
    /// # Errors
    /// If the prediction along a trajectory fails, or too many draws of it.
    pub fn score(&self, data: &Dataset) -> Result<Vec<IntervalScore>, IntervalError> {
        let d = data.state().len();
        let mut scores: Vec<IntervalScore> = (data.state().iter())
            .map(|state| IntervalScore {
                state: state.clone(),
                cells: 0,
                coverage: 0.0,
                width: 0.0,
                score: 0.0,
            })
            .collect();
        for trajectory in data.trajectories() {
            let interval = self.along(trajectory, &trajectory.times)?;
            for (at, measured) in
                trajectory.states.iter().enumerate().skip(trajectory.scored_from * d)
            {
                if measured.is_nan() {
                    continue;
                }
                let (low, high) = (interval.low[at], interval.high[at]);
                let outside = (low - measured).max(measured - high).max(0.0);
                let score = &mut scores[at % d];
                score.cells += 1;
                score.coverage += f64::from(u8::from(outside <= 0.0));
                score.width += high - low;
                score.score += high - low + 2.0 / (1.0 - self.level()) * outside;
            }
        }
        for score in &mut scores {
            let count = score.cells.max(1) as f64;
            score.coverage /= count;
            score.width /= count;
            score.score /= count;
        }
        Ok(scores)
    }

    /// Measures the laws that are not guaranteed in up to 100 draws, as [`Model::measure`](crate::Model::measure)
    /// does in the model.
    ///
    /// # Panics
    /// If there is no set, or one has other variables than the model.
    pub fn laws(&self, sets: &[(&str, &Dataset)], horizon: Option<f64>) -> Vec<LawDraws> {
        let stride = self.draws().len().div_ceil(MOST_MEASURED).max(1);
        let reports = self.draws().par_iter().step_by(stride);
        let reports: Vec<_> = reports.map(|draw| draw.model().measure(sets, horizon)).collect();
        let laws = reports.first().map_or(0, |report| report.laws.len());
        let each = (0..laws).filter_map(|k| {
            let verdicts = reports.iter().map(|report| &report.laws[k]);
            let measured = verdicts.filter(|law| law.status != LawStatus::Unmeasured);
            let measured: Vec<_> = measured.collect();
            let first = measured.first().filter(|law| law.by.is_none())?;
            let broken = measured.iter().filter(|law| law.status.is_fault()).count();
            Some(LawDraws {
                law: first.name.clone(),
                draws: measured.len(),
                broken: broken as f64 / measured.len() as f64,
                largest: measured.iter().map(|law| law.violation).fold(0.0, f64::max),
            })
        });
        each.collect()
    }
}
