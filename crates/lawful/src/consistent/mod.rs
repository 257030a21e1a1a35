//! Law-consistent tables: the states nearest to the measured cells, smooth in time, on which laws hold.
//!
//! No dynamics and no network take part. A state that nobody measured gets values that its laws allow: from
//! `S + I + R == 763`, falling S, rising R and a measured I follow S and R at every row. Such a table gives
//! hardly measured states a scale, rates and starts, and shows whether laws and measurements agree.

mod audit;
mod curvature;
mod depends;
mod lagrangian;
mod minimise;
mod spline;
mod thin;

use lawful_law::{Enforcement, Law, Steps, Workspace};
use lawful_ode::Scaling;

pub use audit::{Audit, Contradiction, Evidence, Finding, LawAudit, Place};
pub(crate) use lagrangian::{Effort, LawPoints, Rows, solve, violations};
pub(crate) use minimise::minimise;

use crate::data::completed;
use crate::{Dataset, LearnedConstant, Trajectory, Units, extend_rows};
use spline::Spline;

/// How a table is made.
///
/// | setting | default | purpose |
/// |---|---|---|
/// | `smoothness` | 1e-3 | weight of squared second differences beside the mean squared misfit, in standard deviations |
/// | `rows` | 96 | most rows of a trajectory that are computed; a spline fills the others |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TableSettings {
    /// Weight of squared second differences beside the mean squared misfit.
    pub smoothness: f64,
    /// Most rows of a trajectory that are computed.
    pub rows: usize,
}

impl Default for TableSettings {
    fn default() -> Self {
        Self { smoothness: 1e-3, rows: 96 }
    }
}

/// Most rows of all trajectories together, and the fewest of one.
const ALL_ROWS: usize = 2000;
const FEWEST_ROWS: usize = 12;

/// A table of states at every row of every trajectory.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsistentTable {
    /// The states and slopes of each trajectory.
    pub trajectories: Vec<TableRows>,
    /// Root mean square distance of each state variable's measured cells from the table, in standard
    /// deviations; 0 without cells.
    pub misfit: Vec<f64>,
    /// The same for all cells.
    pub total_misfit: f64,
    /// The largest violation of each law that is left on the table, in units of the law's size; `None` for
    /// laws that do not shape it: those that are only monitored, and those without a finite value.
    pub left: Vec<Option<f64>>,
    /// The units in which it was made.
    pub scaling: Scaling,
}

/// The table of one trajectory.
#[derive(Debug, Clone, PartialEq)]
pub struct TableRows {
    /// The times of the trajectory.
    pub times: Vec<f64>,
    /// States, row after row (`rows × state variables`).
    pub states: Vec<f64>,
    /// Their slopes in time: those of the natural cubic spline through the table.
    pub slopes: Vec<f64>,
}

impl ConsistentTable {
    /// Makes the table of these data under these laws; learned constants have their initial values. `units`
    /// and `scaling` are those of [`units`](crate::units) and [`scaling`](crate::scaling).
    ///
    /// Every trajectory is the minimum of
    ///
    /// ```text
    /// mean over measured cells of ((y − measured)/s)² + smoothness · Σ (second differences of y/s)²
    /// ```
    ///
    /// such that every law holds, except those that are only monitored. It depends on nothing else: the same
    /// data and laws give the same bytes.
    pub fn new(
        dataset: &Dataset,
        laws: &[Law],
        constants: &[LearnedConstant],
        (scaling, units): (&Scaling, &Units),
        settings: TableSettings,
    ) -> Self {
        let maker = TableMaker { dataset, laws, constants, scaling, units, settings };
        let shaping: Vec<bool> =
            laws.iter().map(|law| law.enforcement() != Enforcement::Monitor).collect();
        let d = dataset.state().len();
        let (mut squares, mut counts) = (vec![0.0; d], vec![0.0; d]);
        let mut left = vec![None; laws.len()];
        let mut trajectories = Vec::with_capacity(dataset.trajectories().len());
        let firsts = maker.firsts();
        for trajectory in dataset.trajectories() {
            let rows = maker.rows(trajectory, &firsts);
            let (points, of_law) = maker.points(trajectory, &rows, &shaping);
            let solution = solve(&rows, &points, settings.smoothness, Effort::default());
            for (&k, &violation) in of_law.iter().zip(&solution.left) {
                left[k] = Some(f64::max(left[k].unwrap_or(0.0), violation));
            }
            let table = expand(trajectory, &rows, &solution.z);
            for (cell, (state, measured)) in table.states.iter().zip(&trajectory.states).enumerate()
            {
                if measured.is_finite() {
                    squares[cell % d] += ((state - measured) / scaling.state[cell % d]).powi(2);
                    counts[cell % d] += 1.0;
                }
            }
            trajectories.push(table);
        }
        let root = |square: f64, count: f64| (square / f64::max(count, 1.0)).sqrt();
        Self {
            trajectories,
            misfit: squares.iter().zip(&counts).map(|(&s, &n)| root(s, n)).collect(),
            total_misfit: root(squares.iter().sum(), counts.iter().sum()),
            left,
            scaling: scaling.clone(),
        }
    }

    /// Returns whether every law that shapes the table holds on it, up to this violation in units of the
    /// law.
    pub fn holds(&self, violation: f64) -> bool {
        self.left.iter().flatten().all(|&left| left <= violation)
    }
}

/// What tables are made of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TableMaker<'a> {
    pub(crate) dataset: &'a Dataset,
    pub(crate) laws: &'a [Law],
    pub(crate) constants: &'a [LearnedConstant],
    pub(crate) scaling: &'a Scaling,
    pub(crate) units: &'a Units,
    pub(crate) settings: TableSettings,
}

impl<'a> TableMaker<'a> {
    /// Returns the initial values of learned constants.
    pub(crate) fn firsts(&self) -> Vec<f64> {
        self.constants.iter().map(|constant| constant.start).collect()
    }

    /// Returns the rows of a trajectory that are computed, with gaps filled as a first guess.
    pub(crate) fn rows(&self, trajectory: &Trajectory, firsts: &'a [f64]) -> Rows<'a> {
        let Self { dataset, laws, scaling, settings, .. } = *self;
        let (d, m) = (dataset.state().len(), dataset.inputs().len());
        let each = (ALL_ROWS / dataset.trajectories().len()).max(FEWEST_ROWS).min(settings.rows);
        let numbers = thin::rows(trajectory.len(), each, thin::width(laws));
        let filled = completed(trajectory, scaling);
        let in_units = |i: usize, y: f64| (y - scaling.state_centre[i]) / scaling.state[i];
        let (mut guess, mut cells, mut inputs) = (Vec::new(), Vec::new(), Vec::new());
        for &row in &numbers {
            for i in 0..d {
                let measured = trajectory.states[row * d + i];
                if measured.is_finite() {
                    cells.push((guess.len(), in_units(i, measured)));
                }
                guess.push(in_units(i, filled[row * d + i]));
            }
            inputs.extend_from_slice(&trajectory.inputs[row * m..][..m]);
        }
        Rows {
            times: numbers.iter().map(|&row| trajectory.times[row]).collect(),
            numbers,
            inputs,
            cells,
            weights: vec![1.0; d],
            guess,
            centre: &scaling.state_centre,
            scale: &scaling.state,
            constants: firsts,
        }
    }

    /// Returns the points of the laws that are `wanted` and have finite values on the first guess, and the
    /// number of each law.
    pub(crate) fn points(
        &self,
        trajectory: &Trajectory,
        rows: &Rows<'_>,
        wanted: &[bool],
    ) -> (Vec<LawPoints<'a>>, Vec<usize>) {
        let d = rows.scale.len();
        let guess: Vec<f64> = (rows.guess.iter().enumerate())
            .map(|(n, z)| rows.centre[n % d] + rows.scale[n % d] * z)
            .collect();
        let mut states = Vec::new();
        extend_rows(&guess, d, rows.constants, &mut states);
        let steps = Steps { times: &rows.times, states: &states, inputs: &rows.inputs };
        let (mut workspace, mut residuals) = (Workspace::new(), vec![0.0; rows.times.len()]);
        let (mut points, mut of_law) = (Vec::new(), Vec::new());
        for (k, law) in self.laws.iter().enumerate().filter(|&(k, _)| wanted[k]) {
            let at = thin::points(law, &rows.numbers, trajectory.len());
            law.residuals(&steps, &mut workspace, &mut residuals);
            if at.iter().all(|&n| residuals[n].is_finite()) && !at.is_empty() {
                points.push(LawPoints { law, size: self.units.law(k), points: at });
                of_law.push(k);
            }
        }
        (points, of_law)
    }
}

/// Returns the states and slopes at all rows of a trajectory.
fn expand(trajectory: &Trajectory, rows: &Rows<'_>, z: &[f64]) -> TableRows {
    let (d, n) = (rows.scale.len(), trajectory.len());
    let (mut states, mut slopes) = (vec![0.0; n * d], vec![0.0; n * d]);
    for i in 0..d {
        let column: Vec<f64> = z.iter().skip(i).step_by(d).copied().collect();
        let spline = Spline::new(&rows.times, &column);
        for (row, &t) in trajectory.times.iter().enumerate() {
            let (value, slope) = spline.at(t);
            states[row * d + i] = rows.centre[i] + rows.scale[i] * value;
            slopes[row * d + i] = rows.scale[i] * slope;
        }
    }
    TableRows { times: trajectory.times.to_vec(), states, slopes }
}
