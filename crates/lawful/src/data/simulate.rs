//! Simulation: data from written equations.

use std::cell::RefCell;

use lawful_law::{Expression, Steps, Workspace};
use lawful_ode::{
    Adaptive, Control, Equations, InitialValueProblems, Inputs, Path, Recorded, Shifted,
    SolveError, Solver, Tableau, predict, times_since,
};

use super::Trajectory;
use crate::statistics::mean_and_variance;
use crate::{FormulaField, Random};

/// A system of equations from which data are simulated.
#[derive(Debug, Clone)]
pub struct Simulation {
    /// The right-hand side.
    pub field: FormulaField,
    /// Exogenous inputs as functions of t, one expression each, read with
    /// [`Expression::parse_of_time`] and the vocabulary of the equations.
    pub inputs: Vec<Expression>,
    /// A tableau that steps on the sampling grid. `None`, the default, is adaptive Dormand–Prince with
    /// tight tolerances (1e-12 relative, 1e-14 absolute), independent of the grid.
    pub tableau: Option<&'static Tableau>,
    /// Measurement noise, for [`disturb`](Self::disturb); none by default.
    pub noise: Option<Noise>,
}

/// Gaussian noise `y + σε`, `ε ~ N(0, 1)` independent for each cell, with its own seed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// Its size.
    pub level: NoiseLevel,
    /// Seed of the noise alone.
    pub seed: u64,
}

/// The size of noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NoiseLevel {
    /// σ itself, ≥ 0, in the units of the state.
    Std(f64),
    /// σ as a share, ≥ 0, of each state variable's standard deviation along its trajectory.
    Relative(f64),
}

/// Relative and absolute tolerance: close to the accuracy limit of double precision.
const TIGHT: (f64, f64) = (1e-12, 1e-14);

/// Most adaptive steps of a trajectory: some seconds of work. A system that needs more is stiff.
const MOST_STEPS: usize = 500_000;

impl Simulation {
    /// Solves from an initial state. Returns the trajectory at these times, without noise.
    ///
    /// # Panics
    /// If there are not as many inputs as the equations' vocabulary has, not as many initial values
    /// as equations, or the times are not strictly increasing.
    pub fn run(
        &self,
        name: &str,
        times: &[f64],
        initial: &[f64],
    ) -> Result<Trajectory, SolveError> {
        let control = match self.tableau {
            Some(_) => Control::Grid { substeps: 1 },
            None => Control::Adaptive(Adaptive {
                max_steps: MOST_STEPS,
                ..Adaptive::with_tolerances(TIGHT.0, TIGHT.1)
            }),
        };
        let tableau = self.tableau.unwrap_or(&lawful_ode::tableaus::DOPRI5);
        let solver = Solver::new(tableau, control).expect("dopri5 has an error estimate");
        let mut since = Vec::new();
        let origin = match times.first() {
            Some(&first) => times_since(first, times, &mut since),
            None => 0.0,
        };
        let mut field = Shifted::new(Box::new(Recorded::new(self.field.clone())));
        field.set_origins([origin]);
        let mut ivps = InitialValueProblems::new(self.field.state_len());
        ivps.push(&since, initial).expect("increasing times, and one value per equation");
        let mut path = Path::default();
        let mut signals = Signals::new(self);
        signals.origin = origin;
        let solved = predict(&mut field, &solver, &ivps, &signals, &mut path);
        solved.map_err(|error| field.at_user_times(error))?;
        let mut inputs = vec![0.0; times.len() * self.inputs.len()];
        if !self.inputs.is_empty() {
            for (row, &t) in inputs.chunks_exact_mut(self.inputs.len()).zip(times) {
                signals.at_user_time(t, row);
            }
        }
        Ok(Trajectory {
            name: name.to_owned(),
            times: times.to_vec().into(),
            states: path.observed(0).to_vec().into(),
            inputs: inputs.into(),
            scored_from: 0,
        })
    }

    /// Adds the noise of this simulation to a trajectory's states, including the initial state, which
    /// is measured too. The draws depend on the noise's seed and the trajectory's name.
    pub fn disturb(&self, trajectory: &mut Trajectory) {
        let Some(Noise { level, seed }) = self.noise else { return };
        let d = trajectory.states.len() / trajectory.len();
        let mut random = Random::new(seed, &format!("noise of {}", trajectory.name));
        let stds: Vec<f64> = (0..d)
            .map(|variable| match level {
                NoiseLevel::Std(std) => std,
                NoiseLevel::Relative(share) => {
                    share
                        * mean_and_variance(
                            trajectory.states.iter().copied().skip(variable).step_by(d),
                        )
                        .1
                        .sqrt()
                }
            })
            .collect();
        for row in trajectory.states.chunks_exact_mut(d) {
            for (value, std) in row.iter_mut().zip(&stds) {
                *value += std * random.normal();
            }
        }
    }
}

/// Inputs as functions of t.
struct Signals<'a> {
    expressions: &'a [Expression],
    /// One row of states and inputs, which functions of t do not use.
    row: Vec<f64>,
    states: usize,
    /// What the solver's times are counted from.
    origin: f64,
    workspace: RefCell<Workspace>,
}

impl<'a> Signals<'a> {
    fn new(simulation: &'a Simulation) -> Self {
        let (states, inputs) = (simulation.field.state_len(), simulation.field.input_len());
        assert_eq!(simulation.inputs.len(), inputs, "one expression per input");
        let row = vec![0.0; states + inputs];
        Self {
            expressions: &simulation.inputs,
            row,
            states,
            origin: 0.0,
            workspace: RefCell::default(),
        }
    }
}

impl Signals<'_> {
    fn at_user_time(&self, t: f64, u: &mut [f64]) {
        let (states, inputs) = self.row.split_at(self.states);
        let steps = Steps { times: &[t], states, inputs };
        let workspace = &mut *self.workspace.borrow_mut();
        for (expression, u) in self.expressions.iter().zip(u) {
            expression.values(&steps, workspace, std::slice::from_mut(u));
        }
    }
}

impl Inputs for Signals<'_> {
    fn at(&self, _: usize, t: f64, _: f64, u: &mut [f64]) {
        self.at_user_time(self.origin + t, u);
    }
}
