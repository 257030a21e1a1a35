//! The paper's four tables per system, with our and the published numbers in the same cell.

use super::mark::Mark;
use super::published::{self, Published, Spread};
use super::results::{self, Cell};
use super::statistics::spread;
use super::system::{System, Task};
use super::variant::{Kind, Variant};
use crate::document::Block;

/// Whether a table has a variant.
type Has = fn(Variant) -> bool;

/// The paper's tables: the name of each, and the variants in it.
const TABLES: [(&str, Has); 4] = [
    ("Vanilla", |variant| matches!(variant.kind, Kind::Vanilla)),
    ("L1 with best point", |variant| matches!(variant.kind, Kind::L1(_)) && variant.best_point),
    ("L1", |variant| matches!(variant.kind, Kind::L1(_)) && !variant.best_point),
    ("Self-adaptive, with and without best point", |variant| {
        matches!(variant.kind, Kind::SelfAdaptive)
    }),
];

/// Returns the tables of a system, and why some cells cannot be compared.
pub fn of_system(system: System, cells: &[Cell]) -> Vec<Block> {
    let published = published::published();
    let mut blocks = Vec::new();
    let mut reasons: Vec<String> = Vec::new();
    for (title, holds) in TABLES {
        let mut rows = Vec::new();
        for variant in Variant::all().filter(|variant| holds(*variant)) {
            for task in Task::ALL {
                let Some(cell) = results::find(cells, system, task, variant) else { continue };
                let theirs = published::find(&published, system, task, variant);
                rows.push(row(cell, theirs, &published, &mut reasons));
            }
        }
        if !rows.is_empty() {
            let header = ["method", "test", "MSE", "violation"].map(str::to_owned).to_vec();
            blocks.push(Block::Heading(4, title.to_owned()));
            blocks.push(Block::Table(header, rows));
        }
    }
    if !reasons.is_empty() {
        let numbered = reasons.iter().enumerate();
        let notes = numbered.map(|(n, reason)| format!("({}) {reason}", n + 1)).collect();
        blocks.push(Block::List(notes));
    }
    blocks
}

fn row(
    cell: &Cell,
    theirs: Option<&Published>,
    all: &[Published],
    reasons: &mut Vec<String>,
) -> Vec<String> {
    let failed = match cell.failed() {
        0 => String::new(),
        failed => format!(" ({failed} of {} seeds could not be solved)", cell.runs.len()),
    };
    let mut texts = vec![cell.variant.to_string(), format!("{}{failed}", cell.task.name())];
    let mse = spread(&cell.mse());
    // The report shows the violation of the equations and compares the one that the script reports.
    let (violation, reported) = (spread(&cell.violation()), spread(&cell.violation_as_reported()));
    let as_script = (violation != reported).then(|| text(reported));
    let compared = theirs.map(|theirs| {
        let marks = (Mark::of_mse(mse, theirs, all), Mark::of_violation(reported, theirs, all));
        ((theirs.mse, marks.0), (theirs.violation, marks.1))
    });
    let (of_mse, of_violation) = compared.unzip();
    texts.push(beside(&text(mse), None, of_mse, reasons));
    texts.push(beside(&text(violation), as_script, of_violation, reasons));
    texts
}

/// `ours; published theirs: mark`.
fn beside(
    ours: &str,
    as_script: Option<String>,
    theirs: Option<(Spread, Mark)>,
    reasons: &mut Vec<String>,
) -> String {
    let script = as_script.map(|text| format!(" (as the script: {text})")).unwrap_or_default();
    let Some((theirs, mark)) = theirs else { return format!("{ours}{script}") };
    let note = match &mark {
        Mark::NotComparable(reason) => {
            let known = reasons.iter().position(|known| known == reason);
            let n = known.unwrap_or_else(|| {
                reasons.push(reason.clone());
                reasons.len() - 1
            });
            format!(" ({})", n + 1)
        }
        _ => String::new(),
    };
    let theirs = text(Some(theirs));
    format!("{ours}{script}; published {theirs}: *{}*{note}", mark.word())
}

/// `8.3e-4 ± 2e-5`.
pub fn text(spread: Option<Spread>) -> String {
    match spread {
        None => "–".to_owned(),
        Some(Spread { mean, std: None }) => number(mean),
        Some(Spread { mean, std: Some(std) }) => format!("{} ± {}", number(mean), number(std)),
    }
}

/// Formats a number with two digits, as published.
pub fn number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let scientific = format!("{value:.1e}");
    match scientific.split_once('e').and_then(|(_, exponent)| exponent.parse::<i32>().ok()) {
        Some(exponent @ 1..=3) => format!("{value:.0}", value = round(value, exponent)),
        Some(0) => format!("{value:.1}"),
        Some(-1) => format!("{value:.2}"),
        Some(-2) => format!("{value:.3}"),
        _ => scientific,
    }
}

/// Rounds to two digits.
fn round(value: f64, exponent: i32) -> f64 {
    let unit = 10_f64.powi(exponent - 1);
    (value / unit).round() * unit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Dataset;
    use crate::measure::Measured;
    use crate::results::variant;

    #[test]
    fn numbers_have_two_digits_as_published() {
        for (value, text) in [
            (0.0, "0"),
            (8.32e-4, "8.3e-4"),
            (0.0123, "0.012"),
            (0.196, "0.20"),
            (3.33, "3.3"),
            (11.4, "11"),
            (726.0, "730"),
            (4.0e6, "4.0e6"),
        ] {
            assert_eq!(number(value), text);
        }
        let spread = Spread { mean: 0.001, std: Some(2e-5) };
        assert_eq!(super::text(Some(spread)), "1.0e-3 ± 2.0e-5");
    }

    #[test]
    fn a_cell_shows_ours_theirs_and_a_mark_with_its_reason() {
        let measured = |mse, script| Measured {
            mse,
            violation: 0.01,
            violation_max: 0.02,
            violation_script: script,
        };
        let cell = |system, kind, best_point, runs| Cell {
            dataset: Dataset { system, variation: None },
            variant: variant(kind, best_point),
            task: Task::Reconstruction,
            runs,
        };
        let cells = [
            cell(System::Population, Kind::Vanilla, false, vec![Ok(measured(0.19, None))]),
            cell(System::Reaction, Kind::L1(10), true, vec![Ok(measured(0.5, Some(0.001)))]),
        ];
        let text = crate::document::markdown(&of_system(System::Population, &cells));
        assert!(text.contains("| 0.19; published 0.19 ± 0.15: *reached* |"), "{text}");
        let text = crate::document::markdown(&of_system(System::Reaction, &cells));
        assert!(text.contains("published 0.035 ± 0.024: *cannot be compared* (1)"), "{text}");
        assert!(text.contains("0.010 (as the script: 1.0e-3); published"), "{text}");
        assert!(text.contains("- (1) the published cell equals the population's"), "{text}");
    }
}
