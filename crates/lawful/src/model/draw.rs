//! Models drawn from the posterior.

use std::sync::Arc;

use lawful_law::{Enforcement, Relation, TimeStep};

use super::Model;
use super::jumps::Process;
use crate::posterior::{DrawnTheta, Posterior};
use crate::{Random, Trajectory};

/// A model drawn from the posterior, with a draw of the measurement noise. The field has the same form, so
/// that it obeys every law that the form guarantees.
#[derive(Debug, Clone)]
pub struct Draw {
    model: Model,
    noise: Vec<f64>,
    seed: u64,
}

impl Draw {
    /// Returns the model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Returns the standard deviation of the noise of each state variable; 0 where nobody measured.
    pub fn noise(&self) -> &[f64] {
        &self.noise
    }

    /// Returns the initial state of a trajectory in this draw: a trained one is drawn with the model. A
    /// measured one has the noise of measurements around it, within the bounds and on the laws that the
    /// field guarantees.
    pub fn initial_state(&self, trajectory: &Trajectory) -> Vec<f64> {
        let mut state = self.model.initial_state(trajectory);
        if self.model.trained_state(trajectory).is_some() {
            return state;
        }
        let measured = state.clone();
        let mut random = Random::new(self.seed, &trajectory.name);
        state.iter_mut().zip(&self.noise).for_each(|(y, noise)| *y += noise * random.normal());
        for (y, (lower, upper)) in state.iter_mut().zip(self.model.bounds()) {
            *y = y.max(lower).min(upper);
        }
        match self.model.project(trajectory.times[0], &mut state) {
            Ok(()) => state,
            Err(_) => measured,
        }
    }
}

impl Model {
    /// Returns the posterior; `None` if training gave none.
    pub fn posterior(&self) -> Option<&Posterior> {
        self.posterior.as_deref()
    }

    /// Sets the posterior, of components with as many numbers as this model.
    ///
    /// # Panics
    /// If a component has another number of parameters or states.
    #[must_use]
    pub fn with_posterior(self, posterior: Option<Posterior>) -> Self {
        let lengths = (self.theta.len(), self.state().len());
        let components = posterior.iter().flat_map(Posterior::components);
        for component in components {
            assert_eq!((component.theta.len(), component.noise.len()), lengths, "of this model");
        }
        let process = posterior.as_ref().and_then(Process::of);
        Self { posterior: posterior.map(Arc::new), process, ..self }
    }

    /// Returns the model and the noise of a draw.
    pub(super) fn drawn(&self, posterior: &Posterior, number: usize, drawn: &DrawnTheta) -> Draw {
        let seed = drawn.seed();
        let process = self.process.as_ref();
        let process = process.and_then(|process| process.drawn(posterior, number, seed));
        let DrawnTheta { theta, noise } = drawn.clone();
        let mut model = Self { theta, posterior: None, process, jumps: None, ..self.clone() };
        let d = self.state().len();
        let units = posterior.starts();
        let z = model.theta[self.field_len..].chunks_exact(d.max(1));
        let states = z.zip(units.guesses.chunks_exact(d.max(1))).map(|(z, guess)| {
            let state = guess.iter().zip(z).zip(&units.scale);
            state.map(|((guess, z), scale)| guess + scale * z).collect::<Vec<f64>>()
        });
        let states: Vec<Vec<f64>> = states.collect();
        let mut laws = self.guaranteed();
        for (start, mut state) in model.description.starts.iter_mut().zip(states) {
            if let Some(laws) = &mut laws {
                // One that cannot be moved stays off the laws, and its path cannot be solved.
                let _ = laws.project(start.time, &mut state);
            }
            start.state = state;
        }
        model.redraw_newcomers(seed);
        Draw { model, noise, seed }
    }

    /// Returns the bounds of each state variable by laws that are guaranteed.
    pub(super) fn bounds(&self) -> Vec<(f64, f64)> {
        let mut bounds = vec![(f64::NEG_INFINITY, f64::INFINITY); self.state().len()];
        for law in &self.laws {
            if (law.enforcement(), law.relation()) != (Enforcement::Hard, Relation::AtMost) {
                continue;
            }
            let Some(linear) = law.linear() else { continue };
            // Learned constants are variables behind the states.
            let [term] = linear.terms[..] else { continue };
            let Some((lower, upper)) = bounds.get_mut(term.variable) else { continue };
            if term.at != TimeStep::Offset(0) {
                continue;
            }
            let at = -linear.constant / term.coefficient;
            if term.coefficient > 0.0 {
                *upper = upper.min(at);
            } else {
                *lower = lower.max(at);
            }
        }
        bounds
    }
}
