//! A field that blows up where its parameter exceeds a bound.

use lawful::ode::tableaus::RK4;
use lawful::optimiser::{Adam, AdamSettings};
use lawful::strategy::{Strategy, Vanilla};
use lawful::{
    Control, Dataset, Equations, Objective, Problem, Recorded, Settings, Solver, Trainer,
};

/// `x' = θ x`, and beyond `θ > bound` the derivative is `beyond`.
#[derive(Clone)]
pub(crate) struct Fence {
    pub(crate) bound: f64,
    pub(crate) beyond: f64,
}

impl Equations for Fence {
    fn state_len(&self) -> usize {
        1
    }

    fn parameter_len(&self) -> usize {
        1
    }

    fn eval(&mut self, theta: &[f64], _: f64, y: &[f64], _: &[f64], dy: &mut [f64]) {
        dy[0] = if theta[0] > self.bound { self.beyond } else { theta[0] * y[0] };
    }

    fn pull_back(
        &mut self,
        theta: &[f64],
        _: f64,
        y: &[f64],
        _: &[f64],
        w: &[f64],
        y_bar: &mut [f64],
        theta_bar: &mut [f64],
    ) {
        y_bar[0] += theta[0] * w[0];
        theta_bar[0] += y[0] * w[0];
    }
}

/// Data of `x' = x`, which pull θ to 1, over whatever fence there is.
pub(crate) fn growth() -> Problem {
    let times: Vec<f64> = (0..5).map(|n| 0.25 * f64::from(n)).collect();
    let states = times.iter().map(|t| t.exp()).collect();
    Problem::new(Dataset::single(&["x"], times, states).unwrap(), Vec::new())
}

/// An objective on a problem of one variable, with a fenced field.
pub(crate) fn fenced(problem: Problem, fence: Fence, strategy: Box<dyn Strategy>) -> Objective {
    let solver = Solver::new(&RK4, Control::Grid { substeps: 1 }).unwrap();
    Objective::new(problem, Box::new(Recorded::new(fence)), solver, strategy).unwrap()
}

/// Training from θ = 0 towards 1 with steps of about 0.1; NaN beyond the bound.
pub(crate) fn towards(bound: f64, settings: Settings) -> Trainer {
    let fence = Fence { bound, beyond: f64::NAN };
    let objective = fenced(growth(), fence, Box::new(Vanilla));
    let adam = Adam::new(AdamSettings { rate: 0.1, ..AdamSettings::default() }, 1);
    Trainer::new(objective, Box::new(adam), settings, vec![0.0]).unwrap()
}
