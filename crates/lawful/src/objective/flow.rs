//! Solves the vector field along every segment: segments are the columns of groups, and groups are
//! solved in parallel.
//!
//! The groups depend only on the segments and the solver, not on the number of threads, and sums over
//! groups are taken in order: every number of threads gives the same bytes.

use std::marker::PhantomData;

use lawful_ode::{
    Control, InitialValueProblems, Path, Shifted, SolveError, Solver, VectorField, predict,
    pull_back, replay, sensitivities, sensitivities_len, solve, times_since,
};
use rayon::prelude::*;

use super::initial_states::InitialStates;
use crate::data::{Table, Tables};
use crate::{Dataset, Interpolation, Problem, Segment};

/// Rows of the data above which the tapes of all groups together are bounded by [`TAPES`] too: what does not fit is
/// computed twice, out of the processor's cache, which takes about as long as fetching it.
const MANY_ROWS: usize = 100_000;
/// Bytes of all tapes together, with many rows.
const TAPES: usize = 32 << 20;
/// Most and fewest lanes that groups share.
const MOST_LANES: usize = 256;
const FEWEST_LANES: usize = 16;

/// Columns of a group on a fixed grid: enough for an efficient matrix product, few enough that two
/// cores share a dozen trajectories.
const COLUMNS: usize = 16;

/// Segments that are solved together as the columns of one solve, with the buffers of that solve.
struct Group {
    /// Index of the segment of each column.
    segments: Vec<usize>,
    /// Columns whose initial state is not the measured one, each with the index of that state.
    free: Vec<(usize, usize)>,
    /// What the times of each column are counted from: its trajectory's start.
    origins: Vec<f64>,
    /// The effects of each column's trajectory, and their adjoints.
    effects: Vec<f64>,
    effects_bar: Vec<f64>,
    ivps: InitialValueProblems,
    /// The path of the last recording solve.
    recorded: Path,
    /// The path of the last solve that only observed or replayed.
    unrecorded: Path,
    /// The mode of the last solve.
    mode: Mode,
    /// Adjoints of the initial states.
    initial_bar: Vec<f64>,
    /// The sensitivities of the recorded path.
    sensitivities: Vec<f64>,
    outcome: Result<(), SolveError>,
}

/// A field with its tape, and the buffers of one pull-back. Group n uses lane n; many groups share lanes, and
/// then a group's tape is lost to the next.
struct Lane {
    field: Shifted,
    /// Adjoints of the observed states, in the path's own layout.
    observed_bar: Vec<f64>,
    /// θ's adjoint, if there are several groups.
    theta_bar: Vec<f64>,
}

/// All groups, with their buffers.
pub(crate) struct Flow {
    field: Box<dyn VectorField>,
    solver: Solver,
    /// The memory of the solver's settings.
    memory: usize,
    interpolation: Interpolation,
    groups: Vec<Group>,
    /// Number of groups in use.
    used: usize,
    lanes: Vec<Lane>,
    /// Number of lanes in use.
    lanes_used: usize,
    segments: Vec<Segment>,
    /// Group and column of each segment.
    places: Vec<(usize, usize)>,
    order: Vec<usize>,
    /// Whether every segment is a group of its own.
    separate: bool,
    /// Scratch: the times of a segment's rows and points, the place of each row in them, the same times
    /// since the trajectory's start, and those of the rows.
    merged: Vec<f64>,
    rows: Vec<usize>,
    since: Vec<f64>,
    nodes: Vec<f64>,
}

/// A failed solve, with its trajectory.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FailedSolve {
    /// Index of the trajectory in the dataset.
    pub(crate) trajectory: usize,
    /// What happened, when and where.
    pub(crate) error: SolveError,
}

impl Flow {
    pub(crate) fn new(
        field: Box<dyn VectorField>,
        solver: Solver,
        interpolation: Interpolation,
    ) -> Self {
        Self {
            field,
            memory: solver.memory(),
            solver,
            interpolation,
            groups: Vec::new(),
            used: 0,
            lanes: Vec::new(),
            lanes_used: 0,
            segments: Vec::new(),
            places: Vec::new(),
            order: Vec::new(),
            separate: false,
            merged: Vec::new(),
            rows: Vec::new(),
            since: Vec::new(),
            nodes: Vec::new(),
        }
    }

    /// Makes every segment a group of its own from the next selection on: rows of `∂f/∂θ` cannot be shared
    /// between columns.
    pub(crate) fn separate(&mut self) {
        self.separate = true;
    }

    /// Arranges segments into groups, sorted by length.
    pub(crate) fn select(
        &mut self,
        problem: &Problem,
        segments: &[Segment],
        starts: &InitialStates,
    ) {
        let Problem { dataset, points, .. } = problem;
        let d = self.field.state_len();
        self.segments.clear();
        self.segments.extend_from_slice(segments);
        self.order.clear();
        self.order.extend(0..segments.len());
        // Longest first, so that finished columns are at the end of a group.
        self.order.sort_unstable_by_key(|&n| (std::cmp::Reverse(segments[n].rows), n));
        self.places.clear();
        self.places.resize(segments.len(), (0, 0));
        let columns = match self.solver.control() {
            Control::Grid { .. } if !self.separate => COLUMNS,
            _ => 1,
        };
        self.used = segments.len().div_ceil(columns);
        while self.groups.len() < self.used {
            self.groups.push(Group {
                segments: Vec::new(),
                free: Vec::new(),
                origins: Vec::new(),
                effects: Vec::new(),
                effects_bar: Vec::new(),
                ivps: InitialValueProblems::new(d),
                recorded: Path::default(),
                unrecorded: Path::default(),
                mode: Mode::Record,
                initial_bar: Vec::new(),
                sensitivities: Vec::new(),
                outcome: Ok(()),
            });
        }
        for (g, (group, members)) in
            self.groups.iter_mut().zip(self.order.chunks(columns)).enumerate()
        {
            group.segments.clear();
            group.segments.extend_from_slice(members);
            group.ivps.clear();
            group.free.clear();
            group.origins.clear();
            for (column, &n) in members.iter().enumerate() {
                let segment = &segments[n];
                let Segment { trajectory, first, rows } = *segment;
                group.free.extend(starts.find(trajectory, first).map(|at| (column, at)));
                let trajectory = &dataset.trajectories()[trajectory];
                let initial = &trajectory.states[first * d..][..d];
                let origin = trajectory.times[0];
                let pushed = if points.of(segment.trajectory).is_empty() {
                    let times = &trajectory.times[first..first + rows];
                    group.origins.push(times_since(origin, times, &mut self.since));
                    group.ivps.push(&self.since, initial)
                } else {
                    points.merge(trajectory, segment, &mut self.merged, &mut self.rows);
                    group.origins.push(times_since(origin, &self.merged, &mut self.since));
                    self.nodes.clear();
                    self.nodes.extend(self.rows.iter().map(|&row| self.since[row]));
                    group.ivps.push_between(&self.nodes, &self.since, initial)
                };
                pushed.expect("a dataset's times increase, and segments are sorted by length");
                self.places[n] = (g, column);
            }
        }
        self.assign_lanes(dataset.rows());
    }

    /// Decides how many groups have a tape at the same time.
    fn assign_lanes(&mut self, rows: usize) {
        let groups = &self.groups[..self.used];
        let own = self.solver.tableau().own_stages();
        let bytes = |group: &Group| {
            let (columns, intervals) = (group.ivps.columns(), group.ivps.times(0).len() - 1);
            let slots = match self.solver.control() {
                Control::Grid { substeps } => intervals * substeps * own,
                // A guess: the tape grows with the steps.
                Control::Adaptive(_) => intervals * (own + 1),
            };
            // Weights are in memory twice: as they are, and packed.
            slots * self.field.slot_bytes(columns)
                + 2 * size_of::<f64>() * self.field.parameter_len()
        };
        let all: usize = groups.iter().map(bytes).sum();
        let largest = groups.iter().map(bytes).max().unwrap_or(0).max(1);
        let bound = if rows > MANY_ROWS { TAPES.min(self.memory) } else { self.memory };
        self.lanes_used = if all <= bound {
            groups.len()
        } else {
            (bound / largest).clamp(FEWEST_LANES, MOST_LANES).min(groups.len())
        };
        if rows > MANY_ROWS {
            self.solver = self.solver.with_memory(bound / self.lanes_used.max(1));
        } else {
            self.solver = self.solver.with_memory(self.memory);
        }
        while self.lanes.len() < self.lanes_used {
            self.lanes.push(Lane {
                field: Shifted::new(self.field.fork()),
                observed_bar: Vec::new(),
                theta_bar: Vec::new(),
            });
        }
    }

    /// Solves every segment at θ, from the trained initial states z where there are any, with the effects of
    /// each trajectory.
    pub(crate) fn solve(
        &mut self,
        dataset: &Dataset,
        (theta, effects): (&[f64], &[f64]),
        (starts, z): (&InitialStates, &[f64]),
        mode: Mode,
    ) -> Result<(), FailedSolve> {
        let each = self.field.effect_len();
        let Self { groups, solver, interpolation, segments, used, lanes, lanes_used, .. } = self;
        let (groups, lanes) = (&mut groups[..*used], &mut lanes[..*lanes_used]);
        for Group { free, ivps, segments: members, effects: own, .. } in &mut *groups {
            let d = ivps.state_len();
            own.clear();
            for &n in &*members {
                own.extend_from_slice(&effects[segments[n].trajectory * each..][..each]);
            }
            for &(column, at) in &*free {
                starts.write(at, z, &mut ivps.initial_mut()[column * d..][..d]);
            }
        }
        let (solver, interpolation, segments) = (&*solver, *interpolation, &*segments);
        let shared = groups.len() > lanes.len();
        for_each(groups, lanes, |group, lane| {
            group.solve(lane, dataset, solver, interpolation, segments, theta, mode);
            if shared {
                group.recorded.lose_tape();
            }
        });
        for group in groups {
            if let Err(error) = &group.outcome {
                let column = group.segments[error.at().column];
                let (trajectory, error) = (segments[column].trajectory, error.clone());
                return Err(FailedSolve { trajectory, error });
            }
        }
        Ok(())
    }

    /// Returns the predicted states of segment `n` at its rows and points, one after the other.
    pub(crate) fn observed(&self, n: usize) -> &[f64] {
        let (group, column) = self.places[n];
        self.groups[group].path().observed(column)
    }

    /// Computes `gradient = Σ (∂ states/∂θ)ᵀ bar` over all segments, where `bar` returns the adjoints of
    /// the predicted states of a segment, adds the adjoint of the trained initial states to `z_bar`, and that of
    /// the trajectories' effects to `effects_bar`, if these are trained.
    pub(crate) fn pull_back<'a>(
        &mut self,
        dataset: &Dataset,
        bar: impl Fn(usize) -> &'a [f64] + Sync,
        (gradient, effects_bar): (&mut [f64], &mut [f64]),
        (starts, z_bar): (&InitialStates, &mut [f64]),
    ) {
        let each = if effects_bar.is_empty() { 0 } else { self.field.effect_len() };
        let Self { groups, solver, interpolation, segments, used, lanes, lanes_used, .. } = self;
        let (groups, lanes) = (&mut groups[..*used], &mut lanes[..*lanes_used]);
        let (solver, interpolation, segments) = (&*solver, *interpolation, &*segments);
        gradient.fill(0.0);
        if let ([group], [lane]) = (&mut *groups, &mut *lanes) {
            group.gather_bar(lane, &bar);
            group.pull_back(lane, dataset, solver, interpolation, segments, gradient);
        } else {
            // Sums are in the order of the groups, however many have a lane at the same time.
            for groups in groups.chunks_mut(lanes.len().max(1)) {
                for_each(groups, lanes, |group, lane| {
                    group.gather_bar(lane, &bar);
                    let mut theta_bar = std::mem::take(&mut lane.theta_bar);
                    theta_bar.clear();
                    theta_bar.resize(gradient.len(), 0.0);
                    group.pull_back(lane, dataset, solver, interpolation, segments, &mut theta_bar);
                    lane.theta_bar = theta_bar;
                });
                for lane in &lanes[..groups.len()] {
                    for (sum, part) in gradient.iter_mut().zip(&lane.theta_bar) {
                        *sum += part;
                    }
                }
            }
        }
        for group in groups {
            let d = group.ivps.state_len();
            for &(column, at) in &group.free {
                starts.gather(at, &group.initial_bar[column * d..][..d], z_bar);
            }
            if each > 0 {
                for (&n, bars) in group.segments.iter().zip(group.effects_bar.chunks_exact(each)) {
                    let sums = &mut effects_bar[segments[n].trajectory * each..][..each];
                    sums.iter_mut().zip(bars).for_each(|(sum, bar)| *sum += bar);
                }
            }
        }
    }

    /// Computes the sensitivities of the last recording solve.
    pub(crate) fn sensitivities(&mut self, dataset: &Dataset) {
        let Self { groups, solver, interpolation, segments, used, lanes, lanes_used, .. } = self;
        let (groups, lanes) = (&mut groups[..*used], &mut lanes[..*lanes_used]);
        let (solver, interpolation, segments) = (&*solver, *interpolation, &*segments);
        for_each(groups, lanes, |group, lane| {
            let Group { ivps, recorded, sensitivities: matrix, origins, effects, .. } = group;
            let field = &mut lane.field;
            field.set_origins(origins.iter().copied());
            field.set_effects(effects);
            let inputs = tables(dataset, interpolation, segments, &group.segments, origins);
            matrix.resize(sensitivities_len(field, ivps), 0.0);
            sensitivities(field, solver, ivps, &inputs, recorded, matrix);
        });
    }

    /// Returns the sensitivities of the predicted values of segment `n`: a row for each, with a column for
    /// each parameter of the field, then for each effect of its trajectory, and then for each variable of the
    /// segment's initial state.
    pub(crate) fn sensitivity(&self, n: usize) -> &[f64] {
        let (group, column) = self.places[n];
        let Group { recorded, sensitivities, .. } = &self.groups[group];
        let width = sensitivities.len() / recorded.all_observed().len();
        &sensitivities[recorded.offset(column) * width..][..recorded.observed(column).len() * width]
    }

    /// Returns the number of right-hand side evaluations in the last solve.
    pub(crate) fn evaluations(&self) -> usize {
        self.groups[..self.used].iter().map(|group| group.path().counts().evaluations).sum()
    }
}

/// What a solve records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Everything that the pull-back needs.
    Record,
    /// The observed states only.
    Observe,
    /// The observed states only, by the steps of the last recording solve, at another θ.
    Replay,
}

impl Group {
    #[expect(clippy::too_many_arguments, reason = "a solve and the lane that it uses")]
    fn solve(
        &mut self,
        lane: &mut Lane,
        dataset: &Dataset,
        solver: &Solver,
        interpolation: Interpolation,
        segments: &[Segment],
        theta: &[f64],
        mode: Mode,
    ) {
        let Self { ivps, recorded, unrecorded, segments: members, origins, effects, .. } = self;
        let field = &mut lane.field;
        field.set_origins(origins.iter().copied());
        field.set_parameters(theta);
        field.set_effects(effects);
        let inputs = tables(dataset, interpolation, segments, members, origins);
        let outcome = match mode {
            Mode::Record => solve(field, solver, ivps, &inputs, recorded),
            Mode::Observe => predict(field, solver, ivps, &inputs, unrecorded),
            Mode::Replay => replay(field, solver, ivps, &inputs, recorded, unrecorded),
        };
        self.outcome = outcome.map_err(|error| field.at_user_times(error));
        self.mode = mode;
    }

    /// Returns the path of the last solve.
    fn path(&self) -> &Path {
        if self.mode == Mode::Record { &self.recorded } else { &self.unrecorded }
    }

    /// Gathers the adjoints of the observed states in the layout of the recorded path.
    fn gather_bar<'a>(&self, lane: &mut Lane, bar: impl Fn(usize) -> &'a [f64]) {
        let Self { recorded, segments, .. } = self;
        lane.observed_bar.resize(recorded.all_observed().len(), 0.0);
        for (column, &n) in segments.iter().enumerate() {
            let bar = bar(n);
            lane.observed_bar[recorded.offset(column)..][..bar.len()].copy_from_slice(bar);
        }
    }

    fn pull_back(
        &mut self,
        lane: &mut Lane,
        dataset: &Dataset,
        solver: &Solver,
        interpolation: Interpolation,
        segments: &[Segment],
        theta_bar: &mut [f64],
    ) {
        let Self { ivps, recorded, initial_bar, origins, effects, effects_bar, .. } = self;
        let Lane { field, observed_bar, .. } = lane;
        field.set_origins(origins.iter().copied());
        field.set_effects(effects);
        let members = &self.segments;
        let inputs = tables(dataset, interpolation, segments, members, origins);
        initial_bar.clear();
        initial_bar.resize(members.len() * field.state_len(), 0.0);
        pull_back(field, solver, ivps, &inputs, recorded, observed_bar, initial_bar, theta_bar);
        effects_bar.clear();
        effects_bar.resize(effects.len(), 0.0);
        field.flush_effects(effects_bar);
    }
}

/// Returns the input tables of the columns' trajectories.
fn tables<'a>(
    dataset: &'a Dataset,
    interpolation: Interpolation,
    segments: &'a [Segment],
    members: &'a [usize],
    origins: &'a [f64],
) -> Tables<'a, impl Fn(usize) -> (Table<'a>, f64)> {
    let table = move |column: usize| {
        let trajectory = &dataset.trajectories()[segments[members[column]].trajectory];
        (Table { times: &trajectory.times, values: &trajectory.inputs }, origins[column])
    };
    Tables { interpolation, table, lifetime: PhantomData }
}

/// Does the work for each group in its lane, in parallel if there are several.
fn for_each(
    groups: &mut [Group],
    lanes: &mut [Lane],
    work: impl Fn(&mut Group, &mut Lane) + Sync + Send,
) {
    for groups in groups.chunks_mut(lanes.len().max(1)) {
        match (groups, &mut *lanes) {
            ([group], [lane, ..]) => work(group, lane),
            (groups, lanes) => {
                let pairs = groups.par_iter_mut().zip(lanes.par_iter_mut());
                pairs.for_each(|(group, lane)| work(group, lane));
            }
        }
    }
}
