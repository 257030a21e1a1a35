//! A custom vector field: the unknown rates of a predator–prey model, learned from data.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use lawful::law::Words;
use lawful::optimiser::{Adam, AdamSettings};
use lawful::strategy::Vanilla;
use lawful::{Batch, Sampler, Settings, Simulation, Trainer};
use lawful::{Dataset, Equations, FormulaField, Objective, Problem, Recorded, Solver};

/// Lotka and Volterra: `x' = θ₀ x − θ₁ x y`, `y' = θ₂ x y − θ₃ y`.
#[derive(Clone)]
struct LotkaVolterra;

impl Equations for LotkaVolterra {
    fn state_len(&self) -> usize {
        2
    }

    fn parameter_len(&self) -> usize {
        4
    }

    fn eval(&mut self, theta: &[f64], _t: f64, y: &[f64], _u: &[f64], dy: &mut [f64]) {
        let (x, y) = (y[0], y[1]);
        dy[0] = theta[0] * x - theta[1] * x * y;
        dy[1] = theta[2] * x * y - theta[3] * y;
    }

    fn pull_back(
        &mut self,
        theta: &[f64],
        _t: f64,
        y: &[f64],
        _u: &[f64],
        w: &[f64],
        y_bar: &mut [f64],
        theta_bar: &mut [f64],
    ) {
        let (x, y) = (y[0], y[1]);
        // (∂f/∂y)ᵀ w
        y_bar[0] += (theta[0] - theta[1] * y) * w[0] + theta[2] * y * w[1];
        y_bar[1] += -theta[1] * x * w[0] + (theta[2] * x - theta[3]) * w[1];
        // (∂f/∂θ)ᵀ w
        theta_bar[0] += x * w[0];
        theta_bar[1] -= x * y * w[0];
        theta_bar[2] += x * y * w[1];
        theta_bar[3] -= y * w[1];
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words = Words::new().state(["x", "y"]).check()?;
    let field = FormulaField::new(&["1.1*x - 0.4*x*y", "0.1*x*y - 0.4*y"], &words)?;
    let truth = Simulation { field, inputs: Vec::new(), tableau: None, noise: None };
    let times: Vec<f64> = (0..150).map(|n| 0.1 * f64::from(n)).collect();
    let hares_and_lynxes = truth.run("1", &times, &[10.0, 5.0])?;
    let names = words.state().to_vec();
    let data = Dataset::new(names, Vec::new(), vec![hares_and_lynxes])?;

    // Short windows, each from the data at its start, converge from a distant initial guess.
    let windows = Batch::Windows { count: 16, rows: 10 };
    let sampler = Sampler::new(windows, &data, 1).ok_or("no window to draw")?;
    let field = Box::new(Recorded::new(LotkaVolterra));
    let problem = Problem::new(data, Vec::new());
    let objective = Objective::new(problem, field, Solver::default(), Box::new(Vanilla))?;
    let adam = Adam::new(AdamSettings { rate: 0.01, ..Default::default() }, 4);
    let settings = Settings { iterations: 3000, ..Settings::default() };
    let mut trainer =
        Trainer::new(objective, Box::new(adam), settings, vec![0.7; 4])?.with_sampler(sampler);
    let outcome = trainer.run(&mut ());
    println!("true rates  [1.100, 0.400, 0.100, 0.400]");
    println!("found rates {:.3?}", outcome.best.theta());
    Ok(())
}
