//! Predictions on a dense grid: between the rows, over the test ranges, and up to the horizon.

use lawful_ode::{
    Control, InitialValueProblems, Path as Solution, Shifted, SolveError, VectorField, times_since,
};

use super::{Model, Signal};
use crate::data::Table;
use crate::{Trajectory, extend_rows};

/// Points of an interval between two rows.
const PER_INTERVAL: usize = 20;
/// Fewest points of a trajectory, approximately.
const FEWEST: usize = 200;
/// Most points of a trajectory that are not rows, approximately.
const MOST: usize = 2000;
/// Most points of all trajectories, approximately.
const MOST_IN_ALL: usize = 400_000;
/// Most trajectories that are solved: of more, every so many.
const MOST_PATHS: usize = 2000;
/// How often the end of a solve that fails is moved to an earlier time.
const CUTS: usize = 8;

/// The times of a prediction, and the positions of the rows among them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Grid {
    pub(super) times: Vec<f64>,
    pub(super) rows: Vec<usize>,
}

/// How dense grids are: this many points a trajectory, for every `stride`th trajectory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Density {
    pub(super) points: usize,
    pub(super) stride: usize,
    /// Whether all rows are points; otherwise long trajectories are thinned.
    pub(super) all_rows: bool,
}

impl Density {
    /// Returns the density for this number of trajectories.
    pub(super) fn of(trajectories: usize, all_rows: bool) -> Self {
        let stride = trajectories.div_ceil(MOST_PATHS).max(1);
        let points = (MOST_IN_ALL / trajectories.div_ceil(stride).max(1)).min(MOST);
        Self { points, stride, all_rows }
    }
}

impl Grid {
    /// Returns the rows alone.
    pub(super) fn of_rows(rows: &[f64]) -> Self {
        Self { times: rows.to_vec(), rows: (0..rows.len()).collect() }
    }

    /// Returns the rows, points between them, and points up to the time `until`, at the rows' mean
    /// distance and between.
    pub(super) fn new(rows: &[f64], until: Option<f64>, density: Density) -> Self {
        let (last, n) = (rows[rows.len() - 1], rows.len());
        let stride = if density.all_rows { 1 } else { n.div_ceil(density.points.max(2)) };
        let mut knots: Vec<f64> = rows[..n - 1].iter().copied().step_by(stride).collect();
        knots.push(last);
        let of_rows = knots.len();
        if let Some(until) = until.filter(|until| *until > last) {
            let distance = (last - rows[0]) / (of_rows - 1).max(1) as f64;
            let more = intervals((until - last) / distance, density.points);
            let share = |n: usize| n as f64 / more as f64;
            knots.extend((1..more).map(|n| last + share(n) * (until - last)));
            knots.push(until);
        }
        let between = knots.len() - 1;
        let wanted = PER_INTERVAL.max(FEWEST.div_ceil(between.max(1)));
        let each = wanted.min(density.points / between.max(1)).max(1);
        let mut grid = Self { times: Vec::with_capacity(between * each + 1), rows: Vec::new() };
        for (k, pair) in knots.windows(2).enumerate() {
            if k < of_rows {
                grid.rows.push(grid.times.len());
            }
            grid.times.push(pair[0]);
            for n in 1..each {
                let t = pair[0] + (pair[1] - pair[0]) * n as f64 / each as f64;
                // Rows may be neighbours in double precision.
                if grid.times[grid.times.len() - 1] < t && t < pair[1] {
                    grid.times.push(t);
                }
            }
        }
        if of_rows == knots.len() {
            grid.rows.push(grid.times.len());
        }
        grid.times.push(knots[knots.len() - 1]);
        grid
    }
}

/// Returns a number of intervals: at least 1, at most `most`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is clamped")]
fn intervals(wanted: f64, most: usize) -> usize {
    wanted.ceil().clamp(1.0, most.max(1) as f64) as usize
}

/// A predicted path, with everything that laws may depend on.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Predicted {
    pub(super) times: Vec<f64>,
    /// The positions of the rows among the times.
    pub(super) rows: Vec<usize>,
    /// States, with the learned constants behind each row.
    pub(super) states: Vec<f64>,
    /// Rates of the field, laid out as the states; empty if they were not asked for.
    pub(super) rates: Vec<f64>,
    pub(super) inputs: Vec<f64>,
}

/// Solves a model along many trajectories.
pub(super) struct Paths<'a> {
    model: &'a Model,
    field: Shifted,
    constants: Vec<f64>,
    /// The effects of the trajectory.
    effects: Vec<f64>,
    solution: Solution,
}

impl<'a> Paths<'a> {
    pub(super) fn new(model: &'a Model) -> Self {
        let constants = model.constants().into_iter().map(|(_, _, value)| value).collect();
        let field = Shifted::new(model.field());
        Self { model, field, constants, effects: Vec::new(), solution: Solution::default() }
    }

    /// Returns whether every output time ends a step, so that other times are other steps.
    pub(super) fn ends_steps_at_times(&self) -> bool {
        matches!(self.model.solver().control(), Control::Grid { .. })
    }

    /// Returns the prediction along a trajectory on a grid, as far as the solver comes, and why it does not
    /// reach the end.
    pub(super) fn along(
        &mut self,
        trajectory: &Trajectory,
        grid: &Grid,
        with_rates: bool,
    ) -> (Option<Predicted>, Option<SolveError>) {
        let initial = self.model.initial_state(trajectory);
        self.effects = self.model.effects_along(trajectory);
        let (mut points, mut failure) = (grid.times.len(), None);
        for _ in 0..CUTS {
            let times = &grid.times[..points];
            match self.solve(trajectory, &initial, times) {
                Ok(states) => {
                    let mut predicted = self.complete(trajectory, times, &states, with_rates);
                    predicted.rows =
                        grid.rows.iter().copied().take_while(|n| *n < points).collect();
                    return (Some(predicted), failure);
                }
                Err(error) => {
                    let reached = times.partition_point(|t| *t < error.at().t);
                    points = if reached < points { reached } else { points * 9 / 10 };
                    failure.get_or_insert(error);
                    if points < 2 {
                        break;
                    }
                }
            }
        }
        (None, failure)
    }

    fn signal<'t>(&self, trajectory: &'t Trajectory, origin: f64) -> Signal<'t> {
        let table = Table { times: &trajectory.times, values: &trajectory.inputs };
        Signal { interpolation: self.model.description.interpolation, table, origin }
    }

    fn solve(
        &mut self,
        trajectory: &Trajectory,
        initial: &[f64],
        times: &[f64],
    ) -> Result<Vec<f64>, SolveError> {
        let mut since = Vec::new();
        let origin = times_since(times[0], times, &mut since);
        self.field.set_origins([origin]);
        self.field.set_effects(&self.effects);
        let mut problems = InitialValueProblems::new(initial.len());
        problems.push(&since, initial).expect("times of a grid increase");
        let signal = self.signal(trajectory, origin);
        let (solver, solution) = (self.model.solver, &mut self.solution);
        let solved = lawful_ode::predict(&mut self.field, &solver, &problems, &signal, solution);
        solved.map_err(|error| self.field.at_user_times(error))?;
        Ok(self.solution.observed(0).to_vec())
    }

    /// Adds to the states of a path what else laws may depend on.
    fn complete(
        &mut self,
        trajectory: &Trajectory,
        times: &[f64],
        states: &[f64],
        with_rates: bool,
    ) -> Predicted {
        let (d, m) = (self.model.state().len(), self.model.inputs().len());
        let interpolation = self.model.description.interpolation;
        let table = Table { times: &trajectory.times, values: &trajectory.inputs };
        let mut inputs = vec![0.0; times.len() * m];
        if m > 0 {
            for (t, u) in times.iter().zip(inputs.chunks_exact_mut(m)) {
                // A held input has the value of the step that begins there.
                table.at(interpolation, *t, *t, u);
            }
        }
        let (mut extended, mut rates) = (Vec::new(), Vec::new());
        extend_rows(states, d, &self.constants, &mut extended);
        if with_rates {
            self.field.set_origins([]);
            self.field.reserve(1, 1);
            rates.resize(extended.len(), 0.0);
            let rows = rates.chunks_exact_mut(d + self.constants.len());
            for (n, rates) in rows.enumerate() {
                let (y, u) = (&states[n * d..][..d], &inputs[n * m..][..m]);
                self.field.eval(0, &times[n..=n], y, u, &mut rates[..d]);
            }
        }
        Predicted { times: times.to_vec(), rows: Vec::new(), states: extended, rates, inputs }
    }
}
