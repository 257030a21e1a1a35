//! How long a training will take, from the time of one evaluation.

use std::time::{Duration, Instant};

use super::{Phase, Prepared};

/// Rows of the evaluation that is measured.
const ROWS: usize = 5_000;
/// Times that it is measured, of which the least counts.
const TIMES: usize = 3;

impl Prepared {
    /// Estimates the time of the planned phases on this machine, if the data are so many that the plan begins
    /// on a part of them: evaluations times rows, times the measured time of one evaluation per row. It is
    /// for the user only: no choice depends on it.
    pub fn expected_time(&self) -> Option<Duration> {
        self.phases.iter().find(|phase| phase.part.is_some())?;
        self.phases.iter().map(|phase| self.expected_time_of(phase)).sum()
    }

    /// `None` if the initial parameters cannot be evaluated.
    fn expected_time_of(&self, phase: &Phase) -> Option<Duration> {
        let rows = |phase: &Phase| -> usize {
            phase.segments(&self.data).iter().map(|segment| segment.rows).sum()
        };
        let part = Phase { part: Some(phase.part.unwrap_or(ROWS).min(ROWS)), ..phase.clone() };
        let mut objective = self.objective(&part, self.data.clone()).ok()?;
        let mut theta = self.initial_theta();
        theta.truncate(self.parameter_len());
        theta.resize(objective.parameter_len(), 0.0);
        // The first evaluation allocates.
        objective.evaluate(&theta, 0).ok()?;
        let mut least = Duration::MAX;
        for _ in 0..TIMES {
            let begun = Instant::now();
            objective.evaluate(&theta, 0).ok()?;
            least = least.min(begun.elapsed());
        }
        let factor = rows(phase) as f64 / rows(&part) as f64 * (phase.iterations + 1) as f64;
        Some(least.mul_f64(factor))
    }
}
