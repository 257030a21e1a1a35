//! Trains on a simulated epidemic of which only the infected are counted, from random weights and from the
//! table on which the laws hold; ten seeds each.
//!
//! `cargo run --release -p lawful --example table_start` prints the numbers behind `docs/recipes.md`. Its arguments are a
//! number of seeds, and `auto` for the strategy that is chosen for every law.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use lawful::law::{Steps, Words, Workspace};
use lawful::{Dataset, FormulaField, Laws, Simulation, Start, Trained, Training};

/// Pupils, rates of infection and recovery per day, and days.
const PUPILS: f64 = 763.0;
const DAYS: u32 = 15;

const LAWS: [&str; 6] =
    ["S + I + R == 763", "next(S) <= S", "next(R) >= R", "S >= 0", "I >= 0", "R >= 0"];

/// Returns the data, in whole pupils; S and R are known on the first day only.
fn data() -> Result<Dataset, Box<dyn std::error::Error>> {
    let words = Words::new().state(["S", "I", "R"]).constant("b", 1.7 / PUPILS).constant("c", 0.45);
    let equations = ["-b*S*I", "b*S*I - c*I", "c*I"];
    let field = FormulaField::new(&equations, &words.check()?)?;
    let simulation = Simulation { field, inputs: Vec::new(), tableau: None, noise: None };
    let times: Vec<f64> = (0..DAYS).map(f64::from).collect();
    let mut path = simulation.run("1", &times, &[762.0, 1.0, 0.0])?;
    for (cell, state) in path.states.iter_mut().enumerate() {
        let counted = cell < 3 || cell % 3 == 1;
        *state = if counted { state.round() } else { f64::NAN };
    }
    Ok(Dataset::new(["S", "I", "R"].map(str::to_owned).to_vec(), Vec::new(), vec![path])?)
}

/// Returns the root mean square error of I at the rows, and the largest violation of a law on 500 times, as a share
/// of all pupils.
fn measure(
    trained: &Trained,
    laws: &Laws,
    data: &Dataset,
) -> Result<(f64, f64), Box<dyn std::error::Error>> {
    let score = trained.model.score(data)?;
    let rows =
        score.predicted[0].chunks_exact(3).zip(data.trajectories()[0].states.chunks_exact(3));
    let square: f64 = rows.map(|(found, counted)| (found[1] - counted[1]).powi(2)).sum();
    let times: Vec<f64> = (0..500).map(|n| f64::from(DAYS - 1) * f64::from(n) / 499.0).collect();
    let start = &score.predicted[0][..3];
    let states = trained.model.predict(start, &times)?;
    let steps = Steps { times: &times, states: &states, inputs: &[] };
    let (mut workspace, mut residuals, mut worst) = (Workspace::new(), vec![0.0; 500], 0.0_f64);
    for law in laws.laws() {
        law.residuals(&steps, &mut workspace, &mut residuals);
        let violations = residuals.iter().map(|&c| law.relation().violation(c, 0.0));
        worst = worst.max(violations.fold(0.0, f64::max));
    }
    Ok(((square / f64::from(DAYS)).sqrt(), worst / PUPILS))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seeds: u64 = std::env::args().nth(1).map_or(Ok(10), |text| text.parse())?;
    let data = data()?;
    let laws = Laws::parse(&data, LAWS)?;
    println!("| start | seed | RMSE of I | violation / N | iterations |");
    println!("|---|---|---|---|---|");
    for (name, start) in Start::NAMES {
        for seed in 1..=seeds {
            let training = Training::new(data.clone()).laws(laws.clone());
            let auto = std::env::args().nth(2).is_some_and(|word| word == "auto");
            let training = if auto { training.auto_strategy() } else { training };
            let trained = training.start(start).seed(seed).run()?;
            let (error, violation) = measure(&trained, &laws, &data)?;
            println!("| {name} | {seed} | {error:.2} | {violation:.1e} | {} |", trained.iterations);
        }
    }
    Ok(())
}
