//! How far the nearest table on which laws hold is from the measurements, in units of their noise.

use rayon::prelude::*;

use super::Place;
use super::noise_level::NoiseLevels;
use crate::Trajectory;
use crate::consistent::{Effort, Rows, TableMaker, solve, violations};

/// Weight of squared second differences: they fill gaps, and shift no measured cell.
pub(super) const SMOOTHNESS: f64 = 1e-8;
/// Most trajectories that are audited, evenly spaced.
pub(super) const TRAJECTORIES: usize = 32;
/// How closely tables are computed: to a part of the least noise.
const EFFORT: Effort = Effort { evaluations: 1000, held: 1e-6, flat: 1e-8 };
/// A cell is moved if it is shifted by more than this part of its noise.
const MOVED: f64 = 0.3;
/// Largest ratio of the noise of two state variables, in standard deviations, that a table resolves.
const RATIO: f64 = 30.0;
/// Violations, in units of the law, above which no table was found.
const IMPOSSIBLE: f64 = 1e-2;
/// Violations, in units of the law, up to which measurements obey a law.
const OBEYED: f64 = 1e-9;
/// How much larger than estimated noise may be.
const MARGIN: f64 = 1.1;

/// What tables of different laws have in common.
#[derive(Debug)]
pub(super) struct Tables<'a> {
    maker: TableMaker<'a>,
    trajectories: Vec<(&'a Trajectory, Rows<'a>)>,
    noise: &'a NoiseLevels,
    /// Whether each law depends on each state variable.
    pub(super) touched: Vec<Vec<bool>>,
}

/// The distance of the nearest table from the measurements.
#[derive(Debug, Clone, Default)]
pub(super) struct Distance {
    /// Sum of `(shift/noise)²` over moved cells.
    pub(super) square: f64,
    /// Sum of `(shift/s)²` over moved cells, with standard deviations `s`.
    squares: f64,
    /// Number of moved cells.
    moved: f64,
    /// The largest violation that is left, in units of the laws.
    left: f64,
    /// The cell that is shifted most, and by how much of its noise.
    pub(super) worst: Option<(f64, Place)>,
}

impl Distance {
    /// Returns the largest square of noise that obeys the laws: with r moved cells,
    ///
    /// ```text
    /// MARGIN² (r + 4.5 √2r + 12)
    /// ```
    ///
    /// The table nearest to noisy measurements is as near as the true states at least, and every law in
    /// action takes one dimension from the noise: the square is at most χ² with r degrees of freedom.
    fn allowed(&self) -> f64 {
        MARGIN * MARGIN * (self.moved + 4.5 * (2.0 * self.moved).sqrt() + 12.0)
    }

    /// Returns whether it is more than noise.
    pub(super) fn is_above_noise(&self) -> bool {
        self.is_impossible() || self.square > self.allowed()
    }

    /// Returns whether there is no table on which the laws hold.
    pub(super) fn is_impossible(&self) -> bool {
        self.left > IMPOSSIBLE
    }

    /// Returns the root mean square shift of moved cells in standard deviations, and the largest that is
    /// noise.
    pub(super) fn misfit_and_noise(&self) -> (f64, f64) {
        if self.square <= 0.0 {
            return (0.0, 0.0);
        }
        let misfit = (self.squares / self.moved).sqrt();
        (misfit, misfit * (self.allowed() / self.square).sqrt())
    }

    fn join(mut self, other: Self) -> Self {
        self.square += other.square;
        self.squares += other.squares;
        self.moved += other.moved;
        self.left = self.left.max(other.left);
        let size = |worst: &Option<(f64, Place)>| worst.as_ref().map_or(0.0, |(size, _)| *size);
        if size(&other.worst) > size(&self.worst) {
            self.worst = other.worst;
        }
        self
    }
}

impl<'a> Tables<'a> {
    pub(super) fn new(maker: TableMaker<'a>, firsts: &'a [f64], noise: &'a NoiseLevels) -> Self {
        let all = maker.dataset.trajectories();
        let stride = all.len().div_ceil(TRAJECTORIES);
        let trajectories: Vec<_> = all
            .iter()
            .step_by(stride)
            .map(|trajectory| (trajectory, maker.rows(trajectory, firsts)))
            .collect();
        let of_law = |k| maker.depends(k, trajectories.iter().map(|(_, rows)| rows));
        let touched = (0..maker.laws.len()).map(of_law).collect();
        Self { maker, trajectories, noise, touched }
    }

    /// Returns whether a law has a point on the tables.
    pub(super) fn has_points(&self, k: usize) -> bool {
        let wanted: Vec<bool> = (0..self.maker.laws.len()).map(|law| law == k).collect();
        self.trajectories
            .iter()
            .any(|(trajectory, rows)| !self.maker.points(trajectory, rows, &wanted).0.is_empty())
    }

    /// Returns the distance of the nearest table on which these laws hold.
    pub(super) fn distance(&self, wanted: &[bool]) -> Distance {
        let levels = self.levels(wanted);
        let each: Vec<Distance> = (self.trajectories.par_iter())
            .map(|(trajectory, rows)| self.of_trajectory(trajectory, rows, wanted, &levels))
            .collect();
        each.into_iter().fold(Distance::default(), Distance::join)
    }

    /// Returns the noise of each state variable in standard deviations, as far as one table can resolve
    /// the differences between those that the laws depend on; and the largest of these.
    fn levels(&self, wanted: &[bool]) -> (Vec<f64>, f64) {
        let scale = &self.maker.scaling.state;
        let levels: Vec<f64> = self.noise.sigma.iter().zip(scale).map(|(n, s)| n / s).collect();
        let touched = |i: usize| {
            let laws = self.touched.iter().zip(wanted).filter(|(_, wanted)| **wanted);
            laws.into_iter().any(|(touched, _)| touched[i])
        };
        let most = (0..levels.len()).filter(|&i| touched(i)).map(|i| levels[i]);
        let most = most.fold(f64::MIN_POSITIVE, f64::max);
        (levels.into_iter().map(|level| level.max(most / RATIO)).collect(), most)
    }

    fn of_trajectory(
        &self,
        trajectory: &Trajectory,
        rows: &Rows<'a>,
        wanted: &[bool],
        (sigma, most): &(Vec<f64>, f64),
    ) -> Distance {
        let (points, _) = self.maker.points(trajectory, rows, wanted);
        if points.is_empty() || violations(rows, &points, &rows.guess).iter().all(|&v| v <= OBEYED)
        {
            return Distance::default();
        }
        let weights = sigma.iter().map(|sigma| (most / sigma).powi(2)).collect();
        let rows = Rows { weights, ..rows.clone() };
        let solution = solve(&rows, &points, SMOOTHNESS, EFFORT);
        let left = solution.left.iter().copied().fold(0.0, f64::max);
        self.measure(trajectory, &rows, &solution.z, sigma, left)
    }

    fn measure(
        &self,
        trajectory: &Trajectory,
        rows: &Rows<'_>,
        z: &[f64],
        sigma: &[f64],
        left: f64,
    ) -> Distance {
        let d = rows.scale.len();
        let mut distance = Distance { left, ..Distance::default() };
        for &(cell, measured) in &rows.cells {
            let (row, i) = (cell / d, cell % d);
            let value = |z: f64| rows.centre[i] + rows.scale[i] * z;
            let noise = sigma[i].max(self.noise.of_cell(i, value(measured)) / rows.scale[i]);
            let shift = (z[cell] - measured).abs();
            if shift <= MOVED * noise {
                continue;
            }
            distance.square += (shift / noise).powi(2);
            distance.squares += shift * shift;
            distance.moved += 1.0;
            if distance.worst.as_ref().is_none_or(|(size, _)| shift / noise > *size) {
                let place = Place {
                    trajectory: trajectory.name.clone(),
                    time: rows.times[row],
                    variable: i,
                    measured: value(measured),
                    nearest: value(z[cell]),
                };
                distance.worst = Some((shift / noise, place));
            }
        }
        distance
    }
}
