//! The axes of measured and predicted curves.

use super::curve_marks::MOST_TRAJECTORIES;
use super::curves::{CurvesFigure, Trajectory};
use super::scale::{Scale, limits};
use super::style::Line;
use super::ticks::short_number;

/// The time axis of everything that is drawn.
pub(super) fn time_scale(figures: &[&CurvesFigure]) -> Scale {
    let times = figures.iter().flat_map(|figure| {
        let predicted = figure.predictions.iter().flat_map(|prediction| &prediction.trajectories);
        let sampled = figure.measured.iter().chain(predicted).flat_map(|trajectory| &trajectory.t);
        let ends = figure.ranges.iter().flat_map(|range| [&range.from, &range.to]);
        sampled.chain(ends).copied()
    });
    Scale::linear(limits(times), 0.012)
}

/// The axis of a state variable, and a note on each prediction that leaves it.
pub(super) fn state_scale(
    figures: &[&CurvesFigure],
    state: usize,
    notes: &mut Vec<String>,
) -> Scale {
    let heights = |figure: &CurvesFigure, trajectory: &Trajectory| -> Vec<f64> {
        let points = trajectory.series(state, figure.states.len());
        points.into_iter().map(|(_, y)| y).collect()
    };
    let (mut known, mut free) = (Vec::new(), Vec::new());
    for figure in figures {
        for trajectory in figure.measured.iter().take(MOST_TRAJECTORIES) {
            known.extend(heights(figure, trajectory));
        }
        for prediction in &figure.predictions {
            let drawn = prediction.trajectories.iter().take(MOST_TRAJECTORIES);
            let values: Vec<f64> = drawn.flat_map(|one| heights(figure, one)).collect();
            if prediction.line == Line::Truth {
                known.extend(values);
            } else if let Some(range) = limits(values) {
                let name = figure.states.get(state).cloned().unwrap_or_default();
                free.push((name, &prediction.name, range));
            }
        }
    }
    let all = limits(free.iter().flat_map(|(_, _, (low, high))| [*low, *high]));
    let Some((low, high)) = limits(known) else {
        return Scale::linear(all, 0.06);
    };
    let Some((lowest, highest)) = all else {
        return Scale::linear(Some((low, high)), 0.06);
    };
    let reach = if high > low { high - low } else { f64::INFINITY };
    for (state, name, (least, most)) in free {
        let reached: Vec<String> = [(least < low - reach, least), (most > high + reach, most)]
            .into_iter()
            .filter(|(leaves, _)| *leaves)
            .map(|(_, value)| short_number(value))
            .collect();
        if !reached.is_empty() {
            let reached = reached.join(" and ");
            notes.push(format!("“{name}” leaves the panel of {state}, as far as {reached}."));
        }
    }
    let limits = (lowest.max(low - reach).min(low), highest.min(high + reach).max(high));
    Scale::linear(Some(limits), 0.06)
}
