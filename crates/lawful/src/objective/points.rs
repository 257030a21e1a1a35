//! The times at which laws are measured beside the rows of the data, and which laws count there.

use lawful_law::Law;

use crate::{Dataset, Segment, Trajectory};

/// Times beside the measured rows at which laws count; none by default.
///
/// *Points* lie between rows: their states are dense output of the solver, whose steps they do not change.
/// *Rows beyond* the measured ones are rows of the dataset without measurements, at which the solver takes
/// its steps as at any other row.
///
/// | law | counts at |
/// |---|---|
/// | without `next`, `previous` and `final`; `initial(…)` of one row | rows, rows beyond, points |
/// | `next(e) <= e`, `>=`, `==` and the same with `previous` | the same, where neighbours are the nearest of all these |
/// | another one with `next` or `previous` | rows and rows beyond: between other neighbours it would say something else |
/// | with `final` | measured rows: it speaks of the last one |
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LawPoints {
    /// For each trajectory the times of its points, ascending.
    points: Vec<Vec<f64>>,
    /// For each trajectory the number of its rows beyond.
    beyond: Vec<usize>,
}

/// Where a law counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountsAt {
    /// At rows, at rows beyond, and at the points between them.
    Points,
    /// At rows, and at rows beyond.
    Rows,
    /// At measured rows.
    MeasuredRows,
}

impl CountsAt {
    /// All of them, in the order of their numbers.
    pub(crate) const ALL: [Self; 3] = [Self::Points, Self::Rows, Self::MeasuredRows];

    /// Returns where a law counts.
    pub fn of(law: &Law) -> Self {
        let reach = law.reach();
        if reach.final_.is_some() {
            return Self::MeasuredRows;
        }
        let neighbours = reach.back + reach.ahead > 0;
        let one_row = reach.initial.is_none_or(|ahead| ahead == 0);
        let compares = || law.never_rising().is_ok() || law.conserved().is_ok();
        if one_row && (!neighbours || compares()) { Self::Points } else { Self::Rows }
    }
}

impl LawPoints {
    /// Points at these times, of which those at rows or outside of them are left out, and at `between` equal
    /// fractions of each interval between rows. The last rows of a trajectory, as many as `beyond` says, are
    /// not measured.
    ///
    /// # Panics
    /// If there is not one list of times and one number for each trajectory.
    pub fn new(dataset: &Dataset, between: usize, times: &[Vec<f64>], beyond: Vec<usize>) -> Self {
        let trajectories = dataset.trajectories();
        assert_eq!(times.len(), trajectories.len(), "one list of times for each trajectory");
        assert_eq!(beyond.len(), trajectories.len(), "one number for each trajectory");
        let points = trajectories.iter().zip(times).map(|(trajectory, own)| {
            let rows = &trajectory.times;
            let mut points = Vec::with_capacity(between * (rows.len() - 1) + own.len());
            let inside = |t: &f64| rows[0] < *t && *t < rows[rows.len() - 1];
            points.extend(own.iter().copied().filter(inside));
            for pair in rows.windows(2) {
                let share = |j: usize| j as f64 / (between + 1) as f64;
                points.extend((1..=between).map(|j| pair[0] + (pair[1] - pair[0]) * share(j)));
            }
            points.sort_unstable_by(f64::total_cmp);
            // Far from zero, doubles may not tell a fraction from the row before.
            points.dedup_by(|a, b| a <= b);
            let at_row = |t: &f64| rows.binary_search_by(|row| row.total_cmp(t)).is_ok();
            points.retain(|t| !at_row(t));
            points
        });
        Self { points: points.collect(), beyond }
    }

    /// Returns whether laws count at measured rows only.
    pub fn is_empty(&self) -> bool {
        self.points.iter().all(Vec::is_empty) && self.beyond.iter().all(|&rows| rows == 0)
    }

    /// Returns the times of the points of a trajectory.
    pub fn of(&self, trajectory: usize) -> &[f64] {
        self.points.get(trajectory).map_or(&[], Vec::as_slice)
    }

    /// Returns the number of measured rows of a trajectory with this many rows.
    pub(crate) fn measured(&self, trajectory: usize, rows: usize) -> usize {
        rows - self.beyond.get(trajectory).copied().unwrap_or(0)
    }

    /// Returns segments of measured rows of which the last one of each trajectory goes on to its last row.
    #[must_use]
    pub fn stretched(&self, dataset: &Dataset, mut segments: Vec<Segment>) -> Vec<Segment> {
        for segment in &mut segments {
            let rows = dataset.trajectories()[segment.trajectory].len();
            if segment.first + segment.rows == self.measured(segment.trajectory, rows) {
                segment.rows = rows - segment.first;
            }
        }
        segments
    }

    /// Returns the number of points of a trajectory before a time.
    pub(crate) fn before(&self, trajectory: usize, t: f64) -> usize {
        self.of(trajectory).partition_point(|&point| point < t)
    }

    /// Writes the times of the rows and points of a segment to `times`, in order, and the place of each row
    /// in them to `rows`.
    pub(crate) fn merge(
        &self,
        trajectory: &Trajectory,
        segment: &Segment,
        times: &mut Vec<f64>,
        rows: &mut Vec<usize>,
    ) {
        let own = &trajectory.times[segment.first..][..segment.rows];
        times.clear();
        rows.clear();
        let points = self.of(segment.trajectory);
        if points.is_empty() {
            times.extend_from_slice(own);
            rows.extend(0..own.len());
            return;
        }
        let mut points = points[self.before(segment.trajectory, own[0])..].iter();
        let mut next = points.next();
        for &t in own {
            while let Some(&point) = next.filter(|&&point| point < t) {
                times.push(point);
                next = points.next();
            }
            rows.push(times.len());
            times.push(t);
        }
    }
}
