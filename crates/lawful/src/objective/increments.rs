//! Increments of process noise: between segments, a path jumps to a state of its own.
//!
//! ```text
//! x_{k+1} = flow(x_k) + w_{k+1},     w ~ N(0, Q Δt),     y_k = x_k + v_k
//! ```
//!
//! The states x at the ends of segments are trained, those of trajectories' last rows included. Cells at such
//! rows are compared with them, all other cells with the path; an increment is a residual in units of its state
//! and of the square root of its segment's share of the mean duration:
//!
//! ```text
//! r = (x_{k+1} − flow(x_k)) / (s √(Δt/τ)),     τ the mean duration of segments
//! ```

use super::Objective;
use super::initial_states::InitialStates;
use super::path_residuals::Cell;

/// The increments of an objective whose segments end at trained states; none otherwise.
#[derive(Debug, Clone, Default)]
pub(crate) struct Increments {
    joins: Vec<Join>,
    cells: Vec<StateCell>,
    /// The mean duration of segments.
    mean: f64,
    /// Scratch: a state, and its adjoint.
    state: Vec<f64>,
}

/// An increment: the segment that ends there, and the index of the state after it in z.
#[derive(Debug, Clone, Copy)]
struct Join {
    segment: usize,
    to: usize,
    /// `√(Δt/τ)`.
    root: f64,
}

/// A measured cell of a trained state: the state's index in z, and the variable.
#[derive(Debug, Clone, Copy)]
struct StateCell {
    at: usize,
    variable: usize,
    measured: f64,
}

/// Where an increment is: index of the trajectory, and row.
pub(crate) type Place = (usize, usize);

impl Increments {
    /// The increments of an objective. Takes the cells at the ends of segments.
    pub(super) fn of(objective: &Objective, cells: &mut Vec<Cell>) -> Self {
        let Objective { problem, segments, starts, .. } = objective;
        if !starts.has_ends() {
            return Self::default();
        }
        let d = problem.units.state.len();
        let trajectories = problem.dataset.trajectories();
        let long = || segments.iter().enumerate().filter(|(_, segment)| segment.rows > 1);
        let duration = |segment: &crate::Segment| {
            let times = &trajectories[segment.trajectory].times;
            times[segment.first + segment.rows - 1] - times[segment.first]
        };
        let mean = long().map(|(_, s)| duration(s)).sum::<f64>() / long().count().max(1) as f64;
        let end = |s: usize| starts.find_trained(segments[s].trajectory, last_row(segments[s]));
        let joins = long().filter_map(|(s, segment)| {
            Some(Join { segment: s, to: end(s)?, root: (duration(segment) / mean).sqrt() })
        });
        let joins = joins.collect();
        let mut own = Vec::new();
        cells.retain(|&Cell { segment, place, measured }| {
            let (row, variable) = (place / d, place % d);
            let at = end(segment).filter(|_| row > 0 && row + 1 == segments[segment].rows);
            own.extend(at.map(|at| StateCell { at, variable, measured }));
            at.is_none()
        });
        Self { joins, cells: own, mean, state: vec![0.0; d] }
    }

    /// Returns whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.joins.is_empty()
    }

    /// Returns the number of increments, each of all state variables.
    pub(crate) fn len(&self) -> usize {
        self.joins.len()
    }

    /// Returns the part of the log evidence that durations have, with these shares of free increments: each
    /// residual is an increment divided by `√(Δt/τ)`.
    pub(crate) fn log_of_durations(&self, free: &[f64]) -> f64 {
        -free.iter().sum::<f64>() * self.joins.iter().map(|join| join.root.ln()).sum::<f64>()
    }

    /// Returns the mean duration of segments.
    pub(crate) fn mean_duration(&self) -> f64 {
        self.mean
    }

    /// Returns for each state variable the share of increments that are free, at these z: the mean of the
    /// diagonal of the projection by which states are moved to guaranteed laws. Nothing without increments.
    pub(super) fn free(&self, starts: &mut InitialStates, z: &[f64]) -> Vec<f64> {
        if self.is_empty() {
            return Vec::new();
        }
        let d = self.state.len();
        // A state that cannot be moved fails where paths are solved.
        if !starts.has_laws() || starts.place(z).is_err() {
            return vec![1.0; d];
        }
        let (mut shares, mut bar) = (vec![0.0; d], vec![0.0; d]);
        for join in &self.joins {
            for (i, share) in shares.iter_mut().enumerate() {
                let mut z_bar = vec![0.0; starts.len()];
                bar.fill(0.0);
                bar[i] = 1.0;
                starts.gather(join.to, &bar, &mut z_bar);
                starts.pull_back(&mut z_bar);
                *share += z_bar[join.to + i] / starts.scale()[i] / self.joins.len() as f64;
            }
        }
        shares.into_iter().map(|share| share.clamp(0.0, 1.0)).collect()
    }

    /// Returns where the increments are.
    pub(crate) fn places<'s>(
        &'s self,
        objective: &'s Objective,
    ) -> impl Iterator<Item = Place> + 's {
        let segments = &objective.segments;
        self.joins.iter().map(|join| segments[join.segment]).map(|s| (s.trajectory, last_row(s)))
    }

    /// Returns the state variable of each cell at the end of a segment.
    pub(super) fn cell_variables(&self) -> impl Iterator<Item = usize> + '_ {
        self.cells.iter().map(|cell| cell.variable)
    }

    /// Writes the residuals of the cells at the ends of segments, then those of the increments, on the paths
    /// that the objective has solved last.
    pub(super) fn residuals(&mut self, objective: &Objective, z: &[f64], residuals: &mut [f64]) {
        let Self { joins, cells, state, .. } = self;
        let units = &objective.problem.units.state;
        let (of_cells, of_joins) = residuals.split_at_mut(cells.len());
        for (r, cell) in of_cells.iter_mut().zip(&*cells) {
            objective.starts.write(cell.at, z, state);
            *r = (state[cell.variable] - cell.measured) / units[cell.variable];
        }
        for (rows, join) in of_joins.chunks_exact_mut(units.len()).zip(&*joins) {
            objective.starts.write(join.to, z, state);
            let before = end_of(objective, join.segment);
            for (i, r) in rows.iter_mut().enumerate() {
                *r = (state[i] - before[i]) / (units[i] * join.root);
            }
        }
    }

    /// Writes the rows of the Jacobian in the order of [`residuals`](Self::residuals); the sensitivities are
    /// those of the same paths.
    pub(super) fn jacobian(&mut self, objective: &mut Objective, n: usize, jacobian: &mut [f64]) {
        let Self { joins, cells, state: bar, .. } = self;
        let Objective { problem, flow, starts, segments, field_len, effects, .. } = objective;
        let (units, p, each) = (&problem.units.state, *field_len, effects.each);
        let d = units.len();
        let width = p + each + d;
        jacobian.fill(0.0);
        let (of_cells, of_joins) = jacobian.split_at_mut(cells.len() * n);
        for (row, cell) in of_cells.chunks_exact_mut(n).zip(&*cells) {
            let (_, of_starts, _) = effects.parts_mut(row, p);
            bar.fill(0.0);
            bar[cell.variable] = 1.0 / units[cell.variable];
            starts.gather(cell.at, bar, of_starts);
            starts.pull_back(of_starts);
        }
        for (k, row) in of_joins.chunks_exact_mut(n).enumerate() {
            let (join, i) = (joins[k / d], k % d);
            let segment = segments[join.segment];
            let unit = 1.0 / (units[i] * join.root);
            let place = (segment.rows - 1) * d + i;
            let sensitivity = &flow.sensitivity(join.segment)[place * width..][..width];
            let (of_field, of_starts, of_effects) = effects.parts_mut(row, p);
            of_field.iter_mut().zip(sensitivity).for_each(|(slope, s)| *slope = -unit * s);
            let own = if of_effects.is_empty() { 0..0 } else { 0..each };
            for k in own {
                of_effects[segment.trajectory * each + k] = -unit * sensitivity[p + k];
            }
            bar.fill(0.0);
            bar[i] = unit;
            starts.gather(join.to, bar, of_starts);
            if let Some(at) = starts.find(segment.trajectory, segment.first) {
                let of_initial = bar.iter_mut().zip(&sensitivity[p + each..]);
                of_initial.for_each(|(bar, s)| *bar = -unit * s);
                starts.gather(at, bar, of_starts);
            }
            starts.pull_back(of_starts);
        }
    }

    /// Returns the increments on the paths that the objective has solved last, in the data's units.
    pub(super) fn values(&self, objective: &Objective, z: &[f64]) -> Vec<f64> {
        let mut state = self.state.clone();
        let mut values = Vec::with_capacity(self.joins.len() * state.len());
        for join in &self.joins {
            objective.starts.write(join.to, z, &mut state);
            let before = end_of(objective, join.segment);
            values.extend(state.iter().zip(before).map(|(after, before)| after - before));
        }
        values
    }
}

/// Returns the row at which a segment ends.
fn last_row(segment: crate::Segment) -> usize {
    segment.first + segment.rows - 1
}

/// Returns the state at the end of a segment's path.
fn end_of(objective: &Objective, segment: usize) -> &[f64] {
    let (observed, d) = (objective.flow.observed(segment), objective.problem.units.state.len());
    &observed[(objective.segments[segment].rows - 1) * d..][..d]
}

#[cfg(test)]
mod tests {
    use crate::least_squares::Residuals;
    use crate::objective::PathResiduals;
    use crate::strategy::Vanilla;
    use crate::{
        Activation, Control, Dataset, FreeStarts, Mlp, MlpShape, Objective, Precision, Problem,
        Random, Segment, Solver, Trajectory, Units,
    };
    use lawful_ode::tableaus::RK4;
    use lawful_ode::{VectorField, WithEffects};

    /// Two trajectories of different lengths with gaps, on segments of two rows, and effects of each.
    fn objective(effects: usize, initial: bool) -> Objective {
        let mut random = Random::new(3, "increments");
        let trajectories = [6_u8, 4].map(|rows| Trajectory {
            name: rows.to_string(),
            times: (0..rows).map(|n| 0.3 * f64::from(n) + 0.1 * random.uniform()).collect(),
            states: (0..2 * rows)
                .map(|k| if k % 5 == 3 { f64::NAN } else { 0.4 * random.normal() })
                .collect(),
            inputs: Vec::new().into(),
            scored_from: 0,
        });
        let names = ["x", "v"].map(str::to_owned).to_vec();
        let data = Dataset::with_open_starts(names, Vec::new(), trajectories.to_vec()).unwrap();
        let base = Problem::new(data, Vec::new());
        let mut units = Units::of_data(2, 0);
        units.state = vec![0.5, 2.0];
        let problem = Problem { units, ..base };
        let mut shape = MlpShape::new(2 + effects, &[4], Activation::Tanh);
        shape.outputs = 2;
        let network: Box<dyn VectorField> = Box::new(Mlp::new(shape, Precision::Double).unwrap());
        let field: Box<dyn VectorField> =
            if effects > 0 { Box::new(WithEffects::new(network, effects)) } else { network };
        let solver = Solver::new(&RK4, Control::Grid { substeps: 2 }).unwrap();
        let segments = Segment::cut(&problem.dataset, 2, false);
        let objective = Objective::new(problem, field, solver, Box::new(Vanilla)).unwrap();
        objective.with_increments(FreeStarts { initial, segments: true }, &segments)
    }

    #[test]
    fn the_jacobian_matches_central_differences() {
        for (effects, initial) in [(0, true), (2, true), (1, false)] {
            let objective = objective(effects, initial);
            let n = objective.parameter_len();
            // Segments of 3 and 2: as many states after them, and two initial ones.
            let states = 2 * (3 + 2 + if initial { 2 } else { 0 });
            assert_eq!(n, 4 * (3 + effects) + 2 * 4 + 2 + states + 2 * effects);
            let mut residuals = PathResiduals::new(objective, vec![0.1; n]);
            let m = residuals.residual_len();
            assert_eq!((residuals.increments().len(), m - residuals.cell_len()), (5, 10));
            let mut random = Random::new(5, "x");
            let x: Vec<f64> = (0..n).map(|_| 0.5 * random.normal()).collect();
            let (mut r, mut jacobian) = (vec![0.0; m], vec![0.0; m * n]);
            assert!(residuals.evaluate(&x, &mut r));
            residuals.jacobian(&mut jacobian);
            for k in 0..n {
                let mut at = |shift: f64| {
                    let mut moved = x.clone();
                    moved[k] += shift;
                    let mut r = vec![0.0; m];
                    assert!(residuals.evaluate(&moved, &mut r));
                    r
                };
                let e = 1e-3;
                let [a, b, c, d] = [-2.0 * e, -e, e, 2.0 * e].map(&mut at);
                for i in 0..m {
                    let expected = (a[i] - 8.0 * b[i] + 8.0 * c[i] - d[i]) / (12.0 * e);
                    let found = jacobian[i * n + k];
                    let error = (found - expected).abs() / expected.abs().max(1.0);
                    assert!(error < 1e-8, "{effects} effects, row {i}, column {k}: {error:e}");
                }
            }
            // Every number moves something.
            for k in 0..n {
                assert!((0..m).any(|i| jacobian[i * n + k] != 0.0), "column {k}");
            }
        }
    }
}
