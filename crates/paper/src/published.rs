//! The 81 published cells.

use super::system::{System, Task};
use super::variant::Variant;

/// The published tables, as a file.
const FILE: &str = include_str!("../experiments/published.csv");

/// One published cell: mean and standard deviation over three runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Published {
    /// The system.
    pub system: System,
    /// The test.
    pub task: Task,
    /// The variant.
    pub variant: Variant,
    /// Mean squared error, mean and standard deviation.
    pub mse: Spread,
    /// Total violation, mean and standard deviation.
    pub violation: Spread,
}

/// A mean with its standard deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Mean over runs.
    pub mean: f64,
    /// Standard deviation over runs; `None` for a single run.
    pub std: Option<f64>,
}

/// Returns all cells, in the order of the tables.
///
/// # Panics
/// If the embedded file is not the one that was committed.
pub fn published() -> Vec<Published> {
    let mut reader = csv::Reader::from_reader(FILE.as_bytes());
    let rows = reader.records().map(|row| cell(&row.expect("the committed table")));
    rows.map(|cell| cell.expect("the committed table")).collect()
}

fn cell(row: &csv::StringRecord) -> Option<Published> {
    let cells: Vec<&str> = row.iter().collect();
    let &[system, task, strategy, best_point, mu, mse, mse_std, violation, violation_std] =
        cells.as_slice()
    else {
        return None;
    };
    let spread = |mean: &str, std: &str| {
        Some(Spread { mean: mean.parse().ok()?, std: Some(std.parse().ok()?) })
    };
    let is_method = |variant: &Variant| {
        variant.strategy() == strategy
            && variant.mu() == mu
            && variant.best_point == (best_point == "yes")
    };
    Some(Published {
        system: System::from_name(system)?,
        task: Task::ALL.into_iter().find(|known| known.name() == task)?,
        variant: Variant::all().find(is_method)?,
        mse: spread(mse, mse_std)?,
        violation: spread(violation, violation_std)?,
    })
}

/// Returns the published cell of a system, a task and a variant.
pub fn find(
    cells: &[Published],
    system: System,
    task: Task,
    variant: Variant,
) -> Option<&Published> {
    cells.iter().find(|cell| (cell.system, cell.task, cell.variant) == (system, task, variant))
}

impl Published {
    /// Returns the system that has the same four numbers in its own cell, if there is one: a copying
    /// mistake, since two systems do not agree to the digit.
    pub fn twin(&self, cells: &[Self]) -> Option<System> {
        let same = |other: &&Self| {
            other.system != self.system
                && (other.task, other.variant) == (self.task, self.variant)
                && (other.mse, other.violation) == (self.mse, self.violation)
        };
        cells.iter().find(same).map(|other| other.system)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variant::{Kind, VARIANTS};

    #[test]
    fn there_are_81_cells_one_for_each_system_task_and_method() {
        let cells = published();
        assert_eq!(cells.len(), 81);
        for system in System::ALL {
            for task in Task::ALL {
                for variant in Variant::all() {
                    assert!(find(&cells, system, task, variant).is_some(), "{system:?} {variant}");
                }
            }
        }
        assert_eq!(VARIANTS.len() * Task::ALL.len() * System::ALL.len(), 81);
    }

    #[test]
    fn numbers_are_those_of_the_table() {
        let cells = published();
        let variant = Variant { kind: Kind::SelfAdaptive, best_point: false };
        let cell = find(&cells, System::Oscillator, Task::Extrapolation, variant).unwrap();
        assert_eq!(cell.mse, Spread { mean: 4e-6, std: Some(1e-6) });
        assert_eq!(cell.violation, Spread { mean: 0.00078, std: Some(1e-6) });
    }

    #[test]
    fn cells_that_were_copied_between_systems_are_found() {
        let cells = published();
        let copied: Vec<&Published> =
            cells.iter().filter(|cell| cell.twin(&cells).is_some()).collect();
        // L1 + best point with μ = 10 and 100, three tasks, population and reaction.
        assert_eq!(copied.len(), 12);
        assert!(copied.iter().all(|cell| cell.variant.best_point
            && matches!(cell.variant.kind, Kind::L1(10 | 100))
            && cell.system != System::Oscillator));
    }
}
