//! The vector field solved along every segment: in groups of columns, groups on threads.
//!
//! How segments are grouped depends on them and the method alone, never on the number of threads,
//! and sums over groups are taken in their order: every thread count gives the same bytes.

use std::marker::PhantomData;
use std::ops::Range;

use lawful_ode::{
    Control, InitialValueProblems, Path, SolveError, Solver, VectorField, predict, pull_back,
    replay, solve,
};
use rayon::prelude::*;

use crate::initial_states::InitialStates;
use crate::interpolation::{Table, Tables};
use crate::{Dataset, Interpolation, Segment};

/// Columns of a group on a fixed grid: enough for the matrix product to be one, few enough that two
/// cores share a dozen trajectories.
const COLUMNS: usize = 16;

/// Segments that are solved together.
struct Group {
    field: Box<dyn VectorField>,
    /// The segment of each column.
    segments: Vec<usize>,
    /// Columns whose initial state is trained, and where it is in z.
    free: Vec<(usize, usize)>,
    ivps: InitialValueProblems,
    /// The path of the last recording solve.
    recorded: Path,
    /// The path of the last solve that did not record, or replayed the recorded steps.
    unrecorded: Path,
    /// Which of the two was solved last.
    mode: Mode,
    /// Adjoints of the observed states, in the path's own layout, and of the initial states.
    observed_bar: Vec<f64>,
    initial_bar: Vec<f64>,
    /// θ's adjoint, where there are other groups to add it to.
    theta_bar: Vec<f64>,
    outcome: Result<(), SolveError>,
}

/// All groups, with their buffers.
pub(crate) struct Flow {
    field: Box<dyn VectorField>,
    solver: Solver,
    interpolation: Interpolation,
    groups: Vec<Group>,
    /// How many of the groups are in use.
    used: usize,
    segments: Vec<Segment>,
    /// Group and column of each segment.
    places: Vec<(usize, usize)>,
    order: Vec<usize>,
    /// Adjoints of all predicted states, in the layout of the misfit that filled it.
    pub(crate) state_bar: Vec<f64>,
}

/// A solve that failed, and for which trajectory.
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
            solver,
            interpolation,
            groups: Vec::new(),
            used: 0,
            segments: Vec::new(),
            places: Vec::new(),
            order: Vec::new(),
            state_bar: Vec::new(),
        }
    }

    /// Arranges segments into groups; those of equal length come to stand together.
    pub(crate) fn lay_out(
        &mut self,
        dataset: &Dataset,
        segments: &[Segment],
        starts: &InitialStates,
    ) {
        let d = self.field.state_len();
        self.segments.clear();
        self.segments.extend_from_slice(segments);
        self.order.clear();
        self.order.extend(0..segments.len());
        // Longest first, so that columns that have ended drop off the end of a group.
        self.order.sort_unstable_by_key(|&n| (std::cmp::Reverse(segments[n].rows), n));
        self.places.clear();
        self.places.resize(segments.len(), (0, 0));
        let columns = match self.solver.control() {
            Control::Grid { .. } => COLUMNS,
            Control::Adaptive(_) => 1,
        };
        self.used = segments.len().div_ceil(columns);
        while self.groups.len() < self.used {
            self.groups.push(Group {
                field: self.field.fork(),
                segments: Vec::new(),
                free: Vec::new(),
                ivps: InitialValueProblems::new(d),
                recorded: Path::default(),
                unrecorded: Path::default(),
                mode: Mode::Record,
                observed_bar: Vec::new(),
                initial_bar: Vec::new(),
                theta_bar: Vec::new(),
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
            for (column, &n) in members.iter().enumerate() {
                let Segment { trajectory, first, rows } = segments[n];
                group.free.extend(starts.find(trajectory, first).map(|at| (column, at)));
                let trajectory = &dataset.trajectories()[trajectory];
                let times = &trajectory.times[first..first + rows];
                let pushed = group.ivps.push(times, &trajectory.states[first * d..][..d]);
                pushed.expect("a dataset's times increase, and segments are sorted by length");
                self.places[n] = (g, column);
            }
        }
    }

    /// Solves every segment at θ, from the trained initial states z where they are.
    pub(crate) fn solve(
        &mut self,
        dataset: &Dataset,
        theta: &[f64],
        (starts, z): (&InitialStates, &[f64]),
        mode: Mode,
    ) -> Result<(), FailedSolve> {
        let Self { groups, solver, interpolation, segments, used, .. } = self;
        let groups = &mut groups[..*used];
        for Group { free, ivps, .. } in &mut *groups {
            let d = ivps.state_len();
            for &(column, at) in &*free {
                starts.write(at, z, &mut ivps.initial_mut()[column * d..][..d]);
            }
        }
        let (solver, interpolation, segments) = (&*solver, *interpolation, &*segments);
        for_each(groups, |group| {
            group.solve(dataset, solver, interpolation, segments, theta, mode);
        });
        for group in groups {
            if let Err(error) = &group.outcome {
                let column = group.segments[error.at().column];
                let trajectory = segments[column].trajectory;
                return Err(FailedSolve { trajectory, error: error.clone() });
            }
        }
        Ok(())
    }

    /// The predicted states of segment `n`, row after row.
    pub(crate) fn observed(&self, n: usize) -> &[f64] {
        let (group, column) = self.places[n];
        self.groups[group].path().observed(column)
    }

    /// Takes the adjoint of the predicted states of segment `n` from its place in `state_bar`.
    pub(crate) fn take_bar(&mut self, n: usize, at: Range<usize>) {
        let (group, column) = self.places[n];
        let Group { recorded, observed_bar, .. } = &mut self.groups[group];
        observed_bar.resize(recorded.all_observed().len(), 0.0);
        observed_bar[recorded.offset(column)..][..at.len()].copy_from_slice(&self.state_bar[at]);
    }

    /// `gradient = Σ (∂ states/∂θ)ᵀ bar` over all segments, for the bars that were taken; adds the
    /// adjoint of the trained initial states to `z_bar`.
    pub(crate) fn pull_back(
        &mut self,
        dataset: &Dataset,
        gradient: &mut [f64],
        (starts, z_bar): (&InitialStates, &mut [f64]),
    ) {
        let Self { groups, solver, interpolation, segments, used, .. } = self;
        let groups = &mut groups[..*used];
        let (solver, interpolation, segments) = (&*solver, *interpolation, &*segments);
        gradient.fill(0.0);
        if let [group] = groups {
            group.pull_back(dataset, solver, interpolation, segments, gradient);
        } else {
            groups.par_iter_mut().for_each(|group| {
                let mut theta_bar = std::mem::take(&mut group.theta_bar);
                theta_bar.clear();
                theta_bar.resize(gradient.len(), 0.0);
                group.pull_back(dataset, solver, interpolation, segments, &mut theta_bar);
                group.theta_bar = theta_bar;
            });
            for group in &*groups {
                for (sum, part) in gradient.iter_mut().zip(&group.theta_bar) {
                    *sum += part;
                }
            }
        }
        for group in groups {
            let d = group.ivps.state_len();
            for &(column, at) in &group.free {
                starts.gather(at, &group.initial_bar[column * d..][..d], z_bar);
            }
        }
    }

    /// Right-hand side evaluations of the last solve.
    pub(crate) fn evaluations(&self) -> usize {
        self.groups[..self.used].iter().map(|group| group.path().counts().evaluations).sum()
    }
}

/// What a solve keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Everything that going back needs.
    Record,
    /// Nothing but the observed states.
    Observe,
    /// The steps of the last recording solve are taken again, at another θ.
    Replay,
}

impl Group {
    fn solve(
        &mut self,
        dataset: &Dataset,
        solver: &Solver,
        interpolation: Interpolation,
        segments: &[Segment],
        theta: &[f64],
        mode: Mode,
    ) {
        let Self { field, ivps, recorded, unrecorded, segments: members, .. } = self;
        field.set_parameters(theta);
        let inputs = tables(dataset, interpolation, segments, members);
        self.outcome = match mode {
            Mode::Record => solve(&mut **field, solver, ivps, &inputs, recorded),
            Mode::Observe => predict(&mut **field, solver, ivps, &inputs, unrecorded),
            Mode::Replay => replay(&mut **field, solver, ivps, &inputs, recorded, unrecorded),
        };
        self.mode = mode;
    }

    /// The path that was solved last.
    fn path(&self) -> &Path {
        if self.mode == Mode::Record { &self.recorded } else { &self.unrecorded }
    }

    fn pull_back(
        &mut self,
        dataset: &Dataset,
        solver: &Solver,
        interpolation: Interpolation,
        segments: &[Segment],
        theta_bar: &mut [f64],
    ) {
        let Self { field, ivps, recorded, observed_bar, initial_bar, .. } = self;
        let members = &self.segments;
        let inputs = tables(dataset, interpolation, segments, members);
        initial_bar.clear();
        initial_bar.resize(members.len() * field.state_len(), 0.0);
        pull_back(
            &mut **field,
            solver,
            ivps,
            &inputs,
            recorded,
            observed_bar,
            initial_bar,
            theta_bar,
        );
    }
}

/// The input tables of the trajectories behind each column.
fn tables<'a>(
    dataset: &'a Dataset,
    interpolation: Interpolation,
    segments: &'a [Segment],
    members: &'a [usize],
) -> Tables<'a, impl Fn(usize) -> Table<'a>> {
    let table = move |column: usize| {
        let trajectory = &dataset.trajectories()[segments[members[column]].trajectory];
        Table { times: &trajectory.times, values: &trajectory.inputs }
    };
    Tables { interpolation, table, lifetime: PhantomData }
}

/// On threads where there is more than one group.
fn for_each(groups: &mut [Group], work: impl Fn(&mut Group) + Sync + Send) {
    match groups {
        [group] => work(group),
        groups => groups.par_iter_mut().for_each(work),
    }
}
