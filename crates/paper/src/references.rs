//! Reference lines: scores of the true systems, without any training.

use lawful::law::{Steps, Workspace};
use lawful::{Dataset, Law};

use super::preset::script_measure;
use super::system::{System, Task};
use lawful_experiment::runner::changes;
use lawful_experiment::{CsvWriter, Diagnostic, Experiment, exact};

/// The score of a true system.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    /// The system.
    pub system: System,
    /// The test.
    pub task: Task,
    /// What is scored.
    pub says: &'static str,
    /// Its mean squared error; `None` where it has none.
    pub mse: Option<f64>,
    /// Its violation of the published laws; `None` where they hold.
    pub violation: Option<f64>,
    /// The same as the authors' script reports it.
    pub violation_script: Option<f64>,
}

/// A perfect model of the reaction's published training data.
pub const PERFECT: &str = "perfect model of the published training data";
/// The reaction's exact flow.
pub const EXACT: &str = "exact flow";
/// The true oscillator.
pub const TRUTH: &str = "true system";

/// Returns the reference lines of a system.
pub fn references(system: System) -> Result<Vec<Reference>, Diagnostic> {
    match system {
        System::Population => Ok(Vec::new()),
        System::Reaction => reaction(),
        System::Oscillator => oscillator(),
    }
}

fn data(experiment: &Experiment, task: Task) -> &Dataset {
    let mut sets = experiment.sets();
    sets.find(|(name, _)| *name == task.name()).map_or(&experiment.training.data, |(_, set)| set)
}

/// Each published grid has Euler steps of its own width. What was trained on has steps of width 1:
/// its rows at the times of another grid, against that grid's.
fn reaction() -> Result<Vec<Reference>, Diagnostic> {
    let table = System::Reaction.table()?;
    let experiment = changes::experiment("reaction", &table)?.experiment;
    let mut fine = table.clone();
    // Steps of width 1 up to the end of the longest test.
    let grid = changes::parse("grid", "data.simulate.grid = { from = 0, step = 1, points = 199 }")?;
    changes::set(&mut fine, &grid);
    let trained = changes::experiment("reaction", &fine)?.experiment.training.data;
    let mut exact = table;
    changes::remove(&mut exact, "data.simulate.method");
    let exact = changes::experiment("reaction", &exact)?.experiment;
    let mut lines = Vec::new();
    for task in [Task::Extrapolation, Task::Completion] {
        let test = data(&experiment, task);
        for (says, other) in [(PERFECT, &trained), (EXACT, data(&exact, task))] {
            lines.push(Reference {
                system: System::Reaction,
                task,
                says,
                mse: Some(difference(test, other)),
                violation: None,
                violation_script: None,
            });
        }
    }
    Ok(lines)
}

/// Returns the mean squared difference at the times that both have.
fn difference(a: &Dataset, b: &Dataset) -> f64 {
    let d = a.state().len();
    let (a, b) = (&a.trajectories()[0], &b.trajectories()[0]);
    let (mut sum, mut count) = (0.0, 0_u32);
    for (row, t) in a.times.iter().enumerate() {
        let Some(same) = b.times.iter().position(|other| (other - t).abs() < 1e-9) else {
            continue;
        };
        for (x, y) in a.states[row * d..][..d].iter().zip(&b.states[same * d..][..d]) {
            sum += (x - y).powi(2);
            count += 1;
        }
    }
    sum / f64::from(count.max(1))
}

/// Scores the data themselves as if they were predictions.
fn oscillator() -> Result<Vec<Reference>, Diagnostic> {
    let experiment = changes::experiment("oscillator", &System::Oscillator.table()?)?.experiment;
    let script = match script_measure(System::Oscillator)? {
        Some((table, _)) => Some(changes::experiment("script", &table)?.experiment),
        None => None,
    };
    let line = |task| Reference {
        system: System::Oscillator,
        task,
        says: TRUTH,
        mse: None,
        violation: Some(violation(&experiment.training.laws, data(&experiment, task))),
        violation_script: script
            .as_ref()
            .map(|script| violation(&script.training.laws, data(script, task))),
    };
    Ok(Task::ALL.map(line).to_vec())
}

/// Returns the sum over laws of the mean violation, of the data of one trajectory.
fn violation(laws: &[Law], dataset: &Dataset) -> f64 {
    let trajectory = &dataset.trajectories()[0];
    let steps =
        Steps { times: &trajectory.times, states: &trajectory.states, inputs: &trajectory.inputs };
    let mean = |law: &Law| {
        let mut residuals = vec![0.0; trajectory.len()];
        law.residuals(&steps, &mut Workspace::default(), &mut residuals);
        let rows = &residuals[law.reach().range(trajectory.len())];
        let violation = |&c: &f64| law.relation().violation(c, 0.0);
        rows.iter().map(violation).sum::<f64>() / rows.len().max(1) as f64
    };
    laws.iter().map(mean).sum()
}

/// Returns rows of `truths.csv`: what is scored is in the column `method`.
pub fn rows(references: &[Reference]) -> String {
    let number = |value: Option<f64>| value.map(exact).unwrap_or_default();
    let mut csv = CsvWriter::new();
    for line in references {
        csv.row([
            line.system.name(),
            line.task.name(),
            line.says,
            "no",
            "",
            &number(line.mse),
            "",
            &number(line.violation),
            "",
            "",
            "",
            &number(line.violation_script),
        ]);
    }
    csv.into_text()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(system: System, task: Task, says: &str) -> Reference {
        let all = references(system).unwrap();
        all.into_iter().find(|line| line.task == task && line.says == says).unwrap()
    }

    fn near(found: Option<f64>, stated: f64) {
        let found = found.unwrap();
        assert!((found / stated - 1.0).abs() < 0.02, "{found:e} is not {stated:e}");
    }

    #[test]
    fn the_reactions_grids_sample_three_different_systems() {
        near(line(System::Reaction, Task::Extrapolation, PERFECT).mse, 9.5e-6);
        near(line(System::Reaction, Task::Completion, PERFECT).mse, 3.8e-6);
        near(line(System::Reaction, Task::Extrapolation, EXACT).mse, 3.3e-5);
        near(line(System::Reaction, Task::Completion, EXACT).mse, 3.4e-6);
    }

    #[test]
    fn the_true_oscillator_violates_the_published_law() {
        let stated = [
            (Task::Reconstruction, 1.59e-3, 6.36e-3),
            (Task::Extrapolation, 1.34e-3, 7.87e-4),
            (Task::Completion, 1.06e-3, 6.37e-3),
        ];
        for (task, published, script) in stated {
            let line = line(System::Oscillator, task, TRUTH);
            near(line.violation, published);
            near(line.violation_script, script);
        }
    }
}
