//! The table of a comparison: the median and the worst score over the seeds.

use std::fmt::Write as _;

use lawful::short;

use super::Line;

/// Returns a Markdown table of the median and the worst score over the seeds, for each experiment,
/// combination of levels and set.
pub fn markdown(lines: &[Line], axes: &[String]) -> String {
    let mut text = String::from("| experiment |");
    for name in axes {
        let _ = write!(text, " {name} |");
    }
    text += " set | seeds | MSE, median | MSE, worst | violation, median | violation, worst | most evaluations |\n|";
    text += &"---|".repeat(axes.len() + 8);
    text.push('\n');
    let mut rest: &[Line] = lines;
    while let Some(first) = rest.first() {
        let same =
            |line: &&Line| line.experiment == first.experiment && line.levels == first.levels;
        let group: Vec<&Line> = rest.iter().take_while(same).collect();
        rest = &rest[group.len()..];
        let mut sets: Vec<&str> = Vec::new();
        for line in &group {
            if !sets.contains(&line.set.as_str()) {
                sets.push(&line.set);
            }
        }
        for set in sets {
            let of_set: Vec<&Line> = group.iter().copied().filter(|line| line.set == set).collect();
            let _ = write!(text, "| {} |", first.experiment);
            for level in &first.levels {
                let _ = write!(text, " {level} |");
            }
            let mses = sorted(of_set.iter().map(|line| line.mse));
            let violations = sorted(of_set.iter().map(|line| line.violation));
            let most = of_set.iter().map(|line| line.evaluations).max().unwrap_or(0);
            let _ = writeln!(
                text,
                " {set} | {} | {} | {} | {} | {} | {most} |",
                of_set.len(),
                short(median(&mses)),
                short(mses.last().copied().unwrap_or(f64::NAN)),
                short(median(&violations)),
                short(violations.last().copied().unwrap_or(f64::NAN)),
            );
        }
    }
    text
}

/// Sorts scores in increasing order; a set that could not be solved counts as infinite.
fn sorted(values: impl Iterator<Item = Option<f64>>) -> Vec<f64> {
    let mut values: Vec<f64> = values.map(|value| value.unwrap_or(f64::INFINITY)).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The median of sorted numbers.
fn median(sorted: &[f64]) -> f64 {
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}
