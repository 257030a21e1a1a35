//! Initial states on the laws that a field guarantees.
//!
//! A path obeys such a law only from where it holds. The initial state of a trajectory is moved to the laws
//! that state their value, and every other start to the laws of the trajectory's initial state: those of
//! segments that start in its middle, measured or trained. The adjoint of a trained state goes through the
//! move, and where a law keeps its initial value, to the initial state.

use lawful_ode::Refused;

use crate::{Dataset, GuaranteedLaws};

/// Starts that are moved to laws: trained ones anew for every z, measured ones once.
#[derive(Debug, Clone)]
pub(super) struct OnLaws {
    laws: GuaranteedLaws,
    d: usize,
    /// Trajectory, time, and index in `states` of the trajectory's initial state, of each trained start.
    trained: Vec<(usize, f64, usize)>,
    /// The first time of each trajectory.
    first_times: Vec<f64>,
    /// Trajectory and row of each measured start, sorted.
    measured: Vec<(usize, usize)>,
    /// The moved states: of trained starts, then of measured ones.
    states: Vec<f64>,
    /// The trained states before they are moved.
    before: Vec<f64>,
    /// An adjoint.
    bar: Vec<f64>,
}

/// A trajectory whose start cannot be moved to the laws.
#[derive(Debug)]
pub(crate) struct NoStart {
    pub(crate) trajectory: usize,
    pub(crate) why: Refused,
}

impl OnLaws {
    /// Moves every row in which all states are measured, beside the trained `places`, trajectory and row,
    /// sorted. A row that cannot be moved stays where it is.
    pub(super) fn new(
        mut laws: GuaranteedLaws,
        dataset: &Dataset,
        places: &[(usize, usize)],
    ) -> Self {
        let d = dataset.state().len();
        let trajectories = dataset.trajectories();
        let (mut measured, mut of_measured) = (Vec::new(), Vec::new());
        for (n, trajectory) in trajectories.iter().enumerate() {
            let initial = of_measured.len();
            for (row, state) in trajectory.states.chunks_exact(d).enumerate() {
                if places.binary_search(&(n, row)).is_ok() || state.iter().any(|y| y.is_nan()) {
                    continue;
                }
                let (t, mut moved) = (trajectory.times[row], state.to_vec());
                let arrived = if row == 0 {
                    laws.project(t, &mut moved)
                } else if measured.get(initial / d.max(1)) == Some(&(n, 0)) {
                    let initial = &of_measured[initial..][..d];
                    laws.project_to((t, &mut moved), (trajectory.times[0], initial))
                } else {
                    // The initial state is trained: nothing is started from here.
                    Ok(false)
                };
                of_measured.extend_from_slice(if arrived.is_ok() { &moved } else { state });
                measured.push((n, row));
            }
        }
        let initial_of = |n: usize| {
            let trained = places.binary_search(&(n, 0)).ok();
            let found = trained
                .or_else(|| measured.binary_search(&(n, 0)).ok().map(|at| places.len() + at));
            found.unwrap_or_default() * d
        };
        let trained = places.iter().map(|&(n, row)| (n, trajectories[n].times[row], initial_of(n)));
        let trained: Vec<_> = trained.collect();
        let mut states = vec![0.0; places.len() * d];
        states.extend(of_measured);
        Self {
            laws,
            d,
            before: vec![0.0; trained.len() * d],
            trained,
            first_times: trajectories.iter().map(|trajectory| trajectory.times[0]).collect(),
            measured,
            states,
            bar: vec![0.0; d],
        }
    }

    /// Returns the index of the start at this row of a trajectory, which is measured.
    pub(super) fn find(&self, trajectory: usize, row: usize) -> Option<usize> {
        let found = self.measured.binary_search(&(trajectory, row)).ok()?;
        Some((self.trained.len() + found) * self.d)
    }

    /// Returns the state at this index.
    pub(super) fn state(&self, at: usize) -> &[f64] {
        &self.states[at..][..self.d]
    }

    /// Moves the trained states, which `write` writes, at their index.
    pub(super) fn place(&mut self, write: impl Fn(usize, &mut [f64])) -> Result<(), NoStart> {
        let Self { laws, d, trained, first_times, states, before, .. } = self;
        for (n, &(trajectory, t, initial)) in trained.iter().enumerate() {
            let at = n * *d;
            write(at, &mut before[at..][..*d]);
            let (others, own) = states.split_at_mut(at);
            let (own, later) = own.split_at_mut(*d);
            own.copy_from_slice(&before[at..][..*d]);
            let moved = if initial == at {
                laws.project(t, own)
            } else {
                let through = match initial.checked_sub(at + *d) {
                    Some(later_at) => &later[later_at..][..*d],
                    None => &others[initial..][..*d],
                };
                laws.project_to((t, own), (first_times[trajectory], through))
            };
            moved.map_err(|why| NoStart { trajectory, why })?;
        }
        Ok(())
    }

    /// Turns the adjoints of the moved states into those of the trained ones, in place.
    pub(super) fn pull_back(&mut self, bars: &mut [f64]) {
        let Self { laws, d, trained, first_times, states, before, bar, .. } = self;
        for (n, &(trajectory, t, initial)) in trained.iter().enumerate().rev() {
            let at = n * *d;
            bar.fill(0.0);
            let own = &mut bars[at..][..*d];
            let y = &before[at..][..*d];
            if initial == at {
                laws.pull_back((t, y), (t, y), own, bar);
            } else {
                let through = &states[initial..][..*d];
                laws.pull_back((t, y), (first_times[trajectory], through), own, bar);
            }
            if initial < trained.len() * *d {
                let sum = bars[initial..][..*d].iter_mut();
                sum.zip(&*bar).for_each(|(sum, bar)| *sum += bar);
            }
        }
    }
}
