//! The vector field solved along every stretch: in groups of columns, groups on threads.
//!
//! How stretches are grouped depends on them and the method alone, never on the number of threads,
//! and sums over groups are taken in their order: every thread count gives the same bytes.

use std::marker::PhantomData;
use std::ops::Range;

use lawful_ode::{
    Control, Courses, Method, Path, SolveError, VectorField, predict, pull_back, replay, solve,
};
use rayon::prelude::*;

use crate::hold::{Table, Tables};
use crate::starts::Starts;
use crate::{Dataset, Hold, Stretch};

/// Columns of a group on a fixed grid: enough for the matrix product to be one, few enough that two
/// cores share a dozen trajectories.
const COLUMNS: usize = 16;

/// Stretches that are solved together.
struct Group {
    field: Box<dyn VectorField>,
    /// The stretch of each column.
    stretches: Vec<usize>,
    /// Columns whose initial state is trained, and where it is in z.
    free: Vec<(usize, usize)>,
    courses: Courses,
    /// The path of the last recording solve.
    recorded: Path,
    /// The path of the last solve that did not record, or replayed the recorded steps.
    glanced: Path,
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
    method: Method,
    hold: Hold,
    groups: Vec<Group>,
    /// How many of the groups are in use.
    used: usize,
    stretches: Vec<Stretch>,
    /// Group and column of each stretch.
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
    pub(crate) fn new(field: Box<dyn VectorField>, method: Method, hold: Hold) -> Self {
        Self {
            field,
            method,
            hold,
            groups: Vec::new(),
            used: 0,
            stretches: Vec::new(),
            places: Vec::new(),
            order: Vec::new(),
            state_bar: Vec::new(),
        }
    }

    /// Arranges stretches into groups; those of equal length come to stand together.
    pub(crate) fn lay_out(&mut self, dataset: &Dataset, stretches: &[Stretch], starts: &Starts) {
        let d = self.field.state_len();
        self.stretches.clear();
        self.stretches.extend_from_slice(stretches);
        self.order.clear();
        self.order.extend(0..stretches.len());
        // Longest first, so that columns that have ended drop off the end of a group.
        self.order.sort_unstable_by_key(|&n| (std::cmp::Reverse(stretches[n].rows), n));
        self.places.clear();
        self.places.resize(stretches.len(), (0, 0));
        let columns = match self.method.control() {
            Control::Grid { .. } => COLUMNS,
            Control::Adaptive(_) => 1,
        };
        self.used = stretches.len().div_ceil(columns);
        while self.groups.len() < self.used {
            self.groups.push(Group {
                field: self.field.fork(),
                stretches: Vec::new(),
                free: Vec::new(),
                courses: Courses::new(d),
                recorded: Path::default(),
                glanced: Path::default(),
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
            group.stretches.clear();
            group.stretches.extend_from_slice(members);
            group.courses.clear();
            group.free.clear();
            for (column, &n) in members.iter().enumerate() {
                let Stretch { trajectory, first, rows } = stretches[n];
                group.free.extend(starts.find(trajectory, first).map(|at| (column, at)));
                let trajectory = &dataset.trajectories()[trajectory];
                group.courses.push(
                    &trajectory.times[first..first + rows],
                    &trajectory.states[first * d..][..d],
                );
                self.places[n] = (g, column);
            }
        }
    }

    /// Solves every stretch at θ, from the trained initial states z where they are.
    pub(crate) fn solve(
        &mut self,
        dataset: &Dataset,
        theta: &[f64],
        (starts, z): (&Starts, &[f64]),
        mode: Mode,
    ) -> Result<(), FailedSolve> {
        let Self { groups, method, hold, stretches, used, .. } = self;
        let groups = &mut groups[..*used];
        for Group { free, courses, .. } in &mut *groups {
            let d = courses.state_len();
            for &(column, at) in &*free {
                starts.write(at, z, &mut courses.initial_mut()[column * d..][..d]);
            }
        }
        let (method, hold, stretches) = (&*method, *hold, &*stretches);
        for_each(groups, |group| group.solve(dataset, method, hold, stretches, theta, mode));
        for group in groups {
            if let Err(error) = &group.outcome {
                let column = group.stretches[error.at().column];
                let trajectory = stretches[column].trajectory;
                return Err(FailedSolve { trajectory, error: error.clone() });
            }
        }
        Ok(())
    }

    /// The predicted states of stretch `n`, row after row.
    pub(crate) fn observed(&self, n: usize) -> &[f64] {
        let (group, column) = self.places[n];
        self.groups[group].path().observed(column)
    }

    /// Takes the adjoint of the predicted states of stretch `n` from its place in `state_bar`.
    pub(crate) fn take_bar(&mut self, n: usize, at: Range<usize>) {
        let (group, column) = self.places[n];
        let Group { recorded, observed_bar, .. } = &mut self.groups[group];
        observed_bar.resize(recorded.all_observed().len(), 0.0);
        observed_bar[recorded.offset(column)..][..at.len()].copy_from_slice(&self.state_bar[at]);
    }

    /// `gradient = Σ (∂ states/∂θ)ᵀ bar` over all stretches, for the bars that were taken; adds the
    /// adjoint of the trained initial states to `z_bar`.
    pub(crate) fn pull_back(
        &mut self,
        dataset: &Dataset,
        gradient: &mut [f64],
        (starts, z_bar): (&Starts, &mut [f64]),
    ) {
        let Self { groups, method, hold, stretches, used, .. } = self;
        let groups = &mut groups[..*used];
        let (method, hold, stretches) = (&*method, *hold, &*stretches);
        gradient.fill(0.0);
        if let [group] = groups {
            group.pull_back(dataset, method, hold, stretches, gradient);
        } else {
            groups.par_iter_mut().for_each(|group| {
                let mut theta_bar = std::mem::take(&mut group.theta_bar);
                theta_bar.clear();
                theta_bar.resize(gradient.len(), 0.0);
                group.pull_back(dataset, method, hold, stretches, &mut theta_bar);
                group.theta_bar = theta_bar;
            });
            for group in &*groups {
                for (sum, part) in gradient.iter_mut().zip(&group.theta_bar) {
                    *sum += part;
                }
            }
        }
        for group in groups {
            let d = group.courses.state_len();
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
        method: &Method,
        hold: Hold,
        stretches: &[Stretch],
        theta: &[f64],
        mode: Mode,
    ) {
        let Self { field, courses, recorded, glanced, stretches: members, .. } = self;
        field.set_parameters(theta);
        let inputs = tables(dataset, hold, stretches, members);
        self.outcome = match mode {
            Mode::Record => solve(&mut **field, method, courses, &inputs, recorded),
            Mode::Observe => predict(&mut **field, method, courses, &inputs, glanced),
            Mode::Replay => replay(&mut **field, method, courses, &inputs, recorded, glanced),
        };
        self.mode = mode;
    }

    /// The path that was solved last.
    fn path(&self) -> &Path {
        if self.mode == Mode::Record { &self.recorded } else { &self.glanced }
    }

    fn pull_back(
        &mut self,
        dataset: &Dataset,
        method: &Method,
        hold: Hold,
        stretches: &[Stretch],
        theta_bar: &mut [f64],
    ) {
        let Self { field, courses, recorded, observed_bar, initial_bar, .. } = self;
        let members = &self.stretches;
        let inputs = tables(dataset, hold, stretches, members);
        initial_bar.clear();
        initial_bar.resize(members.len() * field.state_len(), 0.0);
        pull_back(
            &mut **field,
            method,
            courses,
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
    hold: Hold,
    stretches: &'a [Stretch],
    members: &'a [usize],
) -> Tables<'a, impl Fn(usize) -> Table<'a>> {
    let table = move |column: usize| {
        let trajectory = &dataset.trajectories()[stretches[members[column]].trajectory];
        Table { times: &trajectory.times, values: &trajectory.inputs }
    };
    Tables { hold, table, lifetime: PhantomData }
}

/// On threads where there is more than one group.
fn for_each(groups: &mut [Group], work: impl Fn(&mut Group) + Sync + Send) {
    match groups {
        [group] => work(group),
        groups => groups.par_iter_mut().for_each(work),
    }
}
