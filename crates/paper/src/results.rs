//! The results: one cell for each dataset, variant and test, over all seeds.

use super::matrix::Dataset;
use super::measure::{Measured, Outcome};
use super::published::Spread;
use super::statistics::spread;
use super::system::{System, Task};
use super::variant::{Kind, Variant};
use lawful_experiment::{CsvWriter, exact};

/// A cell of the tables.
#[derive(Debug, Clone)]
pub struct Cell {
    /// The system as published, or a variation of it.
    pub dataset: Dataset,
    /// The variant.
    pub variant: Variant,
    /// The test.
    pub task: Task,
    /// The outcome of each seed, in order.
    pub runs: Vec<Outcome>,
}

/// The columns of the published table, and further ones.
const HEADER: [&str; 12] = [
    "dataset",
    "task",
    "method",
    "best_point",
    "mu",
    "mse_mean",
    "mse_std",
    "violation_mean",
    "violation_std",
    "seeds",
    "violation_max",
    "violation_script",
];

impl Cell {
    /// Returns one score of each seed that could be solved.
    pub fn numbers(&self, of: impl Fn(&Measured) -> f64) -> Vec<f64> {
        self.runs.iter().flatten().map(of).collect()
    }

    /// Returns the mean squared errors of the seeds.
    pub fn mse(&self) -> Vec<f64> {
        self.numbers(|measured| measured.mse)
    }

    /// Returns the violations of the seeds.
    pub fn violation(&self) -> Vec<f64> {
        self.numbers(|measured| measured.violation)
    }

    /// Returns the violations of the seeds as the authors' script reports them.
    pub fn violation_as_reported(&self) -> Vec<f64> {
        self.numbers(|measured| measured.violation_script.unwrap_or(measured.violation))
    }

    /// Returns the number of seeds whose model could not be solved on this test.
    pub fn failed(&self) -> usize {
        self.runs.iter().filter(|run| run.is_err()).count()
    }

    fn row(&self) -> [String; 12] {
        let number = |value: Option<f64>| value.map(exact).unwrap_or_default();
        let both = |spread: Option<Spread>| {
            [number(spread.map(|s| s.mean)), number(spread.and_then(|s| s.std))]
        };
        let scripts: Vec<f64> =
            self.runs.iter().flatten().filter_map(|measured| measured.violation_script).collect();
        let largest = self.numbers(|measured| measured.violation_max);
        let largest = largest.into_iter().reduce(f64::max);
        let [mse, mse_std] = both(spread(&self.mse()));
        let [violation, violation_std] = both(spread(&self.violation()));
        [
            self.dataset.name().to_owned(),
            self.task.name().to_owned(),
            self.variant.strategy().to_owned(),
            if self.variant.best_point { "yes" } else { "no" }.to_owned(),
            self.variant.mu(),
            mse,
            mse_std,
            violation,
            violation_std,
            (self.runs.len() - self.failed()).to_string(),
            number(largest),
            number(spread(&scripts).map(|s| s.mean)),
        ]
    }
}

/// Returns the cells as a CSV file with the columns and words of the published table.
pub fn csv<'a>(cells: impl IntoIterator<Item = &'a Cell>) -> String {
    let mut csv = CsvWriter::new();
    csv.row(HEADER);
    for cell in cells {
        csv.row(cell.row());
    }
    csv.into_text()
}

/// Finds a cell of a system as published.
pub fn find(cells: &[Cell], system: System, task: Task, variant: Variant) -> Option<&Cell> {
    cells.iter().find(|cell| {
        cell.dataset.variation.is_none()
            && (cell.dataset.system, cell.task, cell.variant) == (system, task, variant)
    })
}

/// A variant by its kind and best point.
pub const fn variant(kind: Kind, best_point: bool) -> Variant {
    Variant { kind, best_point }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(runs: Vec<Outcome>) -> Cell {
        Cell {
            dataset: Dataset { system: System::Reaction, variation: None },
            variant: variant(Kind::L1(10), true),
            task: Task::Completion,
            runs,
        }
    }

    fn run(mse: f64, violation_script: Option<f64>) -> Measured {
        Measured { mse, violation: mse / 2.0, violation_max: mse, violation_script }
    }

    #[test]
    fn rows_have_the_words_of_the_published_table() {
        let text = csv([&cell(vec![Ok(run(1.0, Some(0.5))), Ok(run(3.0, Some(0.25)))])]);
        let (header, row) = text.split_once('\n').unwrap();
        assert!(header.starts_with(
            "dataset,task,method,best_point,mu,mse_mean,mse_std,violation_mean,violation_std,seeds"
        ));
        let root = 2.0_f64.sqrt();
        assert_eq!(
            row,
            format!("reaction,completion,l1,yes,10,2,{root},1,{},2,3,0.375\n", root / 2.0)
        );
    }

    #[test]
    fn a_single_seed_has_no_spread_and_failed_seeds_do_not_count() {
        let text = csv([&cell(vec![Ok(run(1.0, None))])]);
        assert!(text.ends_with("\nreaction,completion,l1,yes,10,1,,0.5,,1,1,\n"), "{text}");
        let text = csv([&cell(vec![Ok(run(1.0, None)), Err("diverged".to_owned())])]);
        assert!(text.ends_with("\nreaction,completion,l1,yes,10,1,,0.5,,1,1,\n"), "{text}");
        let text = csv([&cell(vec![Err("diverged".to_owned())])]);
        assert!(text.ends_with("\nreaction,completion,l1,yes,10,,,,,0,,\n"), "{text}");
    }
}
