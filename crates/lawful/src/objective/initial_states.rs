//! Initial states that are trained along with the field.

use std::borrow::Cow;

use lawful_ode::Scaling;

use super::on_laws::{NoStart, OnLaws};
use crate::data::completed;
use crate::posterior::StartUnits;
use crate::{Dataset, GuaranteedLaws, Segment};

/// Which initial states are trained along with the field, instead of taken from the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FreeStarts {
    /// Those of trajectories, for noisy or incomplete first rows.
    pub initial: bool,
    /// Those of segments, which continuity then joins, for noise and gaps.
    pub segments: bool,
}

/// Returns the trained initial states of all trajectories, from the z behind the field's parameters in
/// a θ that was trained with [`FreeStarts::initial`] on full trajectories; moved to the laws that the field
/// guarantees.
pub fn initial_states(dataset: &Dataset, laws: Option<GuaranteedLaws>, z: &[f64]) -> Vec<Vec<f64>> {
    let free_starts = FreeStarts { initial: true, segments: false };
    let scaling = crate::scaling(dataset);
    let mut starts = InitialStates::new(dataset, &scaling, free_starts, &Segment::whole(dataset));
    if let Some(laws) = laws {
        starts.on_laws(laws, dataset);
        // A state that cannot be moved stays where it is; its path cannot be solved.
        let _ = starts.place(z);
    }
    let d = dataset.state().len();
    let state = |at: usize| {
        let mut state = vec![0.0; d];
        starts.write(at, z, &mut state);
        state
    };
    (0..dataset.trajectories().len()).map(|trajectory| state(trajectory * d)).collect()
}

/// Returns the guess of each trained initial state of full trajectories, and the scale of z.
pub(crate) fn start_units(dataset: &Dataset) -> StartUnits {
    let free_starts = FreeStarts { initial: true, segments: false };
    let scaling = crate::scaling(dataset);
    let starts = InitialStates::new(dataset, &scaling, free_starts, &Segment::whole(dataset));
    StartUnits { guesses: starts.guesses, scale: starts.scale }
}

/// Returns the z at which trained initial states of all trajectories are the first rows of these states.
pub(crate) fn initial_z(dataset: &Dataset, states: &[&[f64]]) -> Vec<f64> {
    let free_starts = FreeStarts { initial: true, segments: false };
    let scaling = crate::scaling(dataset);
    let starts = InitialStates::new(dataset, &scaling, free_starts, &Segment::whole(dataset));
    let mut z = vec![0.0; starts.len()];
    let d = dataset.state().len();
    starts.start_at(&mut z, |trajectory, _| Some(&states[trajectory][..d]));
    z
}

/// The layout of θ: the field's parameters, the z of trained initial states, and the effects of trajectories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterLayout {
    /// Number of parameters of the field.
    pub fields: usize,
    /// Index in z of each trained initial state of a trajectory.
    initial: Vec<usize>,
    state_len: usize,
    /// Number of effects of all trajectories.
    effects: usize,
    len: usize,
}

impl ParameterLayout {
    /// Returns the layout of an objective with these free starts on these segments, and with trained states at
    /// the last rows of trajectories, if so asked. A field has this many parameters, and effects of all
    /// trajectories.
    pub(crate) fn new(
        (fields, effects): (usize, usize),
        dataset: &Dataset,
        free_starts: FreeStarts,
        segments: &[Segment],
        with_ends: bool,
    ) -> Self {
        let starts = if free_starts == FreeStarts::default() {
            InitialStates::default()
        } else if with_ends {
            InitialStates::with_ends(dataset, &crate::scaling(dataset), free_starts, segments)
        } else {
            InitialStates::new(dataset, &crate::scaling(dataset), free_starts, segments)
        };
        starts.layout(fields, effects)
    }

    /// Returns the length of θ.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the number of all trained initial states' numbers.
    pub(crate) fn starts_len(&self) -> usize {
        self.len - self.fields - self.effects
    }

    /// Returns the indices in θ of the numbers of trajectories' trained initial states.
    pub(crate) fn initial_states(&self) -> impl Iterator<Item = usize> + '_ {
        let first = self.fields;
        self.initial.iter().flat_map(move |at| first + at..first + at + self.state_len)
    }

    /// Returns the indices in θ of what [`keep`](Self::keep) returns.
    pub(crate) fn kept(&self) -> Vec<usize> {
        (0..self.fields)
            .chain(self.initial_states())
            .chain(self.len - self.effects..self.len)
            .collect()
    }

    /// Returns the part of θ that the next phase continues with: the field's parameters, the initial states
    /// of trajectories, and their effects.
    pub fn keep(&self, theta: &[f64]) -> Vec<f64> {
        let mut kept = theta[..self.fields].to_vec();
        for &at in &self.initial {
            kept.extend_from_slice(&theta[self.fields + at..][..self.state_len]);
        }
        kept.extend_from_slice(&theta[self.len - self.effects..]);
        kept
    }

    /// Returns the θ of this layout that continues with what another layout [kept](Self::keep). All
    /// other initial states start at their guess.
    ///
    /// # Panics
    /// If `kept` is of another field.
    pub fn extend(&self, kept: &[f64]) -> Vec<f64> {
        let mut theta = vec![0.0; self.len];
        let (kept, effects) = kept.split_at(kept.len() - self.effects);
        let (field, initial) = kept.split_at(self.fields);
        theta[..self.fields].copy_from_slice(field);
        theta[self.len - self.effects..].copy_from_slice(effects);
        for (&at, z) in self.initial.iter().zip(initial.chunks_exact(self.state_len)) {
            theta[self.fields + at..][..self.state_len].copy_from_slice(z);
        }
        theta
    }
}

/// The trained initial states behind the field's parameters: `y₀ = guess + s ∘ z`, z of order one.
///
/// The guess is the measured state, with gaps filled from the neighbouring rows; z starts at 0.
#[derive(Debug, Clone, Default)]
pub(crate) struct InitialStates {
    /// Whether the states are the guesses, without z.
    fixed: bool,
    /// Whether the states at the last rows of trajectories are trained, too.
    ends: bool,
    /// Trajectory and row of each, sorted.
    places: Vec<(usize, usize)>,
    guesses: Vec<f64>,
    scale: Vec<f64>,
    /// Starts on the laws that the field guarantees.
    on_laws: Option<OnLaws>,
}

impl InitialStates {
    /// Creates the free starts of these segments.
    pub(crate) fn new(
        dataset: &Dataset,
        scaling: &Scaling,
        free_starts: FreeStarts,
        segments: &[Segment],
    ) -> Self {
        let free =
            |first: usize| if first == 0 { free_starts.initial } else { free_starts.segments };
        let mut places: Vec<(usize, usize)> = (segments.iter())
            .map(|segment| (segment.trajectory, segment.first))
            // Laws on a segment may use the trajectory's initial state too, and the next phase may use
            // trajectories of which this one has no segment.
            .chain((0..dataset.trajectories().len()).map(|trajectory| (trajectory, 0)))
            .filter(|&(_, first)| free(first))
            .collect();
        places.sort_unstable();
        places.dedup();
        let d = dataset.state().len();
        let mut guesses = Vec::with_capacity(places.len() * d);
        let mut filled = (usize::MAX, Cow::default());
        for &(trajectory, row) in &places {
            if filled.0 != trajectory {
                let states = completed(&dataset.trajectories()[trajectory], scaling);
                filled = (trajectory, states);
            }
            guesses.extend_from_slice(&filled.1[row * d..][..d]);
        }
        let scale = scaling.state.clone();
        Self { fixed: false, ends: false, places, guesses, scale, on_laws: None }
    }

    /// Creates the free starts of these segments, and free states at the last rows of trajectories.
    pub(crate) fn with_ends(
        dataset: &Dataset,
        scaling: &Scaling,
        free_starts: FreeStarts,
        segments: &[Segment],
    ) -> Self {
        let trajectories = dataset.trajectories().iter().enumerate();
        let ends = trajectories.map(|(trajectory, own)| Segment {
            trajectory,
            first: own.len() - 1,
            rows: 1,
        });
        let all: Vec<Segment> = segments.iter().copied().chain(ends).collect();
        Self { ends: true, ..Self::new(dataset, scaling, free_starts, &all) }
    }

    /// Returns whether the states at the last rows of trajectories are trained, too.
    pub(crate) fn has_ends(&self) -> bool {
        self.ends
    }

    /// Fixes these states for these trajectories, instead of the measured ones.
    pub(crate) fn fixed(mut states: Vec<(usize, Vec<f64>)>, d: usize) -> Self {
        states.sort_by_key(|&(trajectory, _)| trajectory);
        let places = states.iter().map(|&(trajectory, _)| (trajectory, 0)).collect();
        let guesses = states.into_iter().flat_map(|(_, state)| state).collect();
        Self { fixed: true, ends: false, places, guesses, scale: vec![1.0; d], on_laws: None }
    }

    /// Returns the scale of each state variable.
    pub(crate) fn scale(&self) -> &[f64] {
        &self.scale
    }

    /// Returns whether starts are moved to laws.
    pub(crate) fn has_laws(&self) -> bool {
        self.on_laws.is_some()
    }

    /// Moves all starts to the laws that the field guarantees.
    pub(crate) fn on_laws(&mut self, laws: GuaranteedLaws, dataset: &Dataset) {
        if self.scale.is_empty() {
            self.scale = vec![1.0; dataset.state().len()];
        }
        self.on_laws = Some(OnLaws::new(laws, dataset, &self.places));
    }

    /// Computes the states that are moved to laws, before they are written.
    pub(crate) fn place(&mut self, z: &[f64]) -> Result<(), NoStart> {
        let Self { fixed, guesses, scale, on_laws, .. } = self;
        let Some(on_laws) = on_laws else { return Ok(()) };
        on_laws.place(|at, state| write(*fixed, guesses, scale, (at, z), state))
    }

    /// Turns the gathered adjoints into those of z, once all are gathered.
    pub(crate) fn pull_back(&mut self, z_bar: &mut [f64]) {
        let Some(on_laws) = self.on_laws.as_mut().filter(|_| !self.fixed) else { return };
        on_laws.pull_back(z_bar);
        for (bar, scale) in z_bar.iter_mut().zip(self.scale.iter().cycle()) {
            *bar *= scale;
        }
    }

    /// Writes the z at which trained states are those given for their trajectory and row; others stay.
    pub(crate) fn start_at<'s>(
        &self,
        z: &mut [f64],
        state: impl Fn(usize, usize) -> Option<&'s [f64]>,
    ) {
        let d = self.scale.len();
        for (n, &(trajectory, row)) in self.places.iter().enumerate().filter(|_| !self.fixed) {
            let Some(state) = state(trajectory, row) else { continue };
            let cells = n * d..(n + 1) * d;
            let guesses = self.guesses[cells.clone()].iter();
            for ((z, state), (guess, scale)) in
                z[cells].iter_mut().zip(state).zip(guesses.zip(&self.scale))
            {
                *z = (state - guess) / scale;
            }
        }
    }

    /// Returns the layout of θ.
    pub(crate) fn layout(&self, fields: usize, effects: usize) -> ParameterLayout {
        let d = self.scale.len();
        let initial = self.places.iter().enumerate().filter(|(_, (_, row))| *row == 0);
        ParameterLayout {
            fields,
            initial: initial.map(|(n, _)| n * d).collect(),
            state_len: d.max(1),
            effects,
            len: fields + self.len() + effects,
        }
    }

    /// Returns the length of z.
    pub(crate) fn len(&self) -> usize {
        if self.fixed { 0 } else { self.guesses.len() }
    }

    /// Returns the index of the state at this row of a trajectory, if it is not the measured one. It is the
    /// index in z if the state is trained.
    pub(crate) fn find(&self, trajectory: usize, row: usize) -> Option<usize> {
        let moved = || self.on_laws.as_ref()?.find(trajectory, row);
        self.find_trained(trajectory, row).or_else(moved)
    }

    /// Returns the index in z of the state at this row of a trajectory, if it is trained.
    pub(crate) fn find_trained(&self, trajectory: usize, row: usize) -> Option<usize> {
        let found = self.places.binary_search(&(trajectory, row)).ok()?;
        Some(found * self.scale.len())
    }

    /// Writes the state at index `at`.
    pub(crate) fn write(&self, at: usize, z: &[f64], state: &mut [f64]) {
        match &self.on_laws {
            Some(on_laws) => state.copy_from_slice(on_laws.state(at)),
            None => write(self.fixed, &self.guesses, &self.scale, (at, z), state),
        }
    }

    /// Adds the adjoint of the state at index `at` to that of z.
    pub(crate) fn gather(&self, at: usize, state_bar: &[f64], z_bar: &mut [f64]) {
        if self.fixed || at >= self.guesses.len() {
            return;
        }
        if self.on_laws.is_some() {
            // In units of the data, until all are gathered.
            z_bar[at..].iter_mut().zip(state_bar).for_each(|(sum, bar)| *sum += bar);
            return;
        }
        for ((sum, bar), scale) in z_bar[at..].iter_mut().zip(state_bar).zip(&self.scale) {
            *sum += scale * bar;
        }
    }
}

/// Writes the state at index `at` of z.
fn write(fixed: bool, guesses: &[f64], scale: &[f64], (at, z): (usize, &[f64]), state: &mut [f64]) {
    let guesses = &guesses[at..];
    if fixed {
        state.copy_from_slice(&guesses[..state.len()]);
        return;
    }
    for (((state, guess), z), scale) in state.iter_mut().zip(guesses).zip(&z[at..]).zip(scale) {
        *state = guess + scale * z;
    }
}
