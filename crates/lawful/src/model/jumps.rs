//! Paths with process noise: they jump by increments.
//!
//! The model itself follows the smoothed increments of a training trajectory, and no others: beyond the last row,
//! and from any other initial state, its path is that of the vector field alone. A draw of the posterior goes on
//! with increments that are drawn, at the spacing of the training's.

use std::sync::Arc;

use super::Model;
use crate::posterior::{OwnTimes, Posterior, Realisation};
use crate::{Random, Trajectory};

/// The process noise of a model.
#[derive(Debug, Clone)]
pub(super) struct Process {
    trajectories: Arc<[OwnTimes]>,
    every: f64,
    realisation: Realisation,
    /// The seed of new increments; `None` if there are none.
    seed: Option<u64>,
}

/// The jumps along one path.
#[derive(Debug, Clone)]
pub(super) struct Jumps {
    process: Arc<Process>,
    /// Where new increments begin.
    from: f64,
    /// The times of known increments, and the place of the first among all.
    known: Vec<f64>,
    first: usize,
    name: String,
}

impl Process {
    /// The process noise of the model that a posterior belongs to.
    pub(super) fn of(posterior: &Posterior) -> Option<Arc<Self>> {
        let noise = posterior.process_noise()?;
        let trajectories = noise.trajectories.clone().into();
        let realisation = noise.components[0].clone();
        Some(Arc::new(Self { trajectories, every: noise.every, realisation, seed: None }))
    }

    /// That of a draw.
    pub(super) fn drawn(&self, posterior: &Posterior, draw: usize, seed: u64) -> Option<Arc<Self>> {
        let realisation = posterior.process_noise()?.draws.get(draw)?.clone();
        let trajectories = Arc::clone(&self.trajectories);
        Some(Arc::new(Self { trajectories, every: self.every, realisation, seed: Some(seed) }))
    }

    /// Returns the jumps along the path of a trajectory.
    fn along(self: &Arc<Self>, trajectory: &Trajectory) -> Jumps {
        let start = trajectory.times[0];
        let mut first = 0;
        for own in &*self.trajectories {
            if own.trajectory == trajectory.name && (own.start - start).abs() < f64::MIN_POSITIVE {
                let from = own.times.last().copied().unwrap_or(start);
                let known = own.times.clone();
                let name = trajectory.name.clone();
                return Jumps { process: Arc::clone(self), from, known, first, name };
            }
            first += own.times.len();
        }
        Jumps { name: trajectory.name.clone(), ..self.since(start) }
    }

    /// Returns the jumps along a path from this time, all of them new.
    pub(super) fn since(self: &Arc<Self>, from: f64) -> Jumps {
        let (process, name) = (Arc::clone(self), String::new());
        Jumps { process, from, known: Vec::new(), first: 0, name }
    }
}

impl Jumps {
    /// Returns whether any increment of this path is known.
    pub(super) fn are_known(&self) -> bool {
        !self.known.is_empty()
    }

    /// Returns the time of the first jump after this one, and its increments.
    pub(super) fn after(&self, t: f64) -> Option<(f64, Vec<f64>)> {
        let Process { every, realisation: Realisation { increments, sizes }, seed, .. } =
            &*self.process;
        let d = sizes.len();
        let next = self.known.partition_point(|known| *known <= t);
        if let Some(at) = self.known.get(next) {
            return Some((*at, increments[(self.first + next) * d..][..d].to_vec()));
        }
        let seed = (*seed)?;
        let mut number = ((t - self.from) / every).floor().max(0.0) + 1.0;
        if self.from + number * every <= t {
            number += 1.0;
        }
        let mut random = Random::new(seed, &format!("increment {number} of {}", self.name));
        let increments = sizes.iter().map(|size| size * every.sqrt() * random.normal());
        Some((self.from + number * every, increments.collect()))
    }
}

impl Model {
    /// Returns this model with the jumps of a trajectory for its path.
    pub(super) fn jumping_along(&self, trajectory: &Trajectory) -> Option<Arc<Jumps>> {
        self.process.as_ref().map(|process| Arc::new(process.along(trajectory)))
    }

    /// Returns this model without the increments of a trajectory: from an initial state of one's own, its path
    /// is that of the vector field.
    #[must_use]
    pub fn without_increments(self) -> Self {
        Self { jumps: None, ..self }
    }

    /// Returns whether paths have process noise.
    pub fn has_process_noise(&self) -> bool {
        self.process.is_some()
    }

    /// Returns the standard deviation of process noise of each state variable, per square root of time; `None`
    /// if paths have none.
    pub fn process_noise(&self) -> Option<&[f64]> {
        self.process.as_ref().map(|process| &*process.realisation.sizes)
    }
}
