//! Trains on arrays held in memory: a damped oscillation whose energy never rises.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use lawful::optimiser::{Adam, AdamSettings};
use lawful::{Activation, Dataset, Initialise, Law, Mlp, MlpShape, Objective, Solver};
use lawful::{Precision, Problem, Settings, Trainer, law::Words, strategy::SelfAdaptive};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let times: Vec<f64> = (0..100).map(|n| 0.1 * f64::from(n)).collect();
    let decay = |t: f64| (-0.05 * t).exp();
    let states = times.iter().flat_map(|&t| [decay(t) * t.cos(), -decay(t) * t.sin()]).collect();
    let data = Dataset::single(&["x", "v"], times, states)?;
    let words = Words::new().state(["x", "v"]).define("E", "x^2/2 + v^2/2").check()?;
    let laws = Law::parse("energy never rises", "next(E) <= E", &words)?;
    let shape = MlpShape::new(2, &[32, 32], Activation::Tanh);
    let theta = Initialise::default().draw(&shape, 1);
    let adam = Adam::new(AdamSettings { rate: 3e-3, ..Default::default() }, theta.len());
    let network = Box::new(Mlp::new(shape, Precision::Double)?);
    let strategy = Box::new(SelfAdaptive::default());
    let objective = Objective::new(Problem::new(data, laws), network, Solver::default(), strategy);
    let settings = Settings { iterations: 1500, ..Settings::default() };
    let mut trainer = Trainer::new(objective, Box::new(adam), settings, theta);
    let outcome = trainer.run(&mut ());
    let found = trainer.objective().evaluation();
    println!("{:?}: loss {:.1e}, violation {:.1e}", outcome.stop, found.loss, found.violation);
    Ok(())
}
