//! Dots, lines and legend of measured and predicted curves.

use super::canvas::Point;
use super::curves::{CurvesFigure, Prediction, Trajectory};
use super::legend::{self, Key, Sample};
use super::marks::Mark;
use super::style::{
    Colour, INK, Line, MEASURED, Marker, Pen, trajectory_colour, trajectory_marker,
};
use super::trace;

/// Trajectories shown; more are mentioned in a note.
pub(super) const MOST_TRAJECTORIES: usize = 6;

/// Dots and lines of a figure, seen through `series`.
pub(super) fn marks(
    figure: &CurvesFigure,
    series: impl Fn(&Trajectory) -> Vec<Point>,
) -> Vec<Mark> {
    let several = trajectories(figure) > 1;
    let mut marks = Vec::new();
    for (index, trajectory) in figure.measured.iter().take(MOST_TRAJECTORIES).enumerate() {
        let points = series(trajectory);
        let (marker, colour) = dot(index, several);
        let radius = match points.len() {
            0..=150 => 2.6,
            151..=500 => 2.0,
            _ => 1.4,
        };
        marks.push(Mark::Dots { points, marker, colour, radius });
    }
    let mut predictions: Vec<&Prediction> = figure.predictions.iter().collect();
    predictions.sort_by_key(|prediction| prediction.line);
    for prediction in predictions {
        for (index, trajectory) in
            prediction.trajectories.iter().take(MOST_TRAJECTORIES).enumerate()
        {
            let pen = pen(prediction.line, index, several);
            marks.push(Mark::Curve { points: series(trajectory), pen });
        }
    }
    marks
}

/// The areas of intervals, behind dots and lines.
pub(super) fn bands(
    figure: &CurvesFigure,
    series: impl Fn(&Trajectory) -> Vec<Point>,
) -> Vec<Mark> {
    let several = trajectories(figure) > 1;
    let band = figure.band.iter().flat_map(|band| band.low.iter().zip(&band.high));
    let band = band.take(MOST_TRAJECTORIES).enumerate().map(|(index, (low, high))| {
        let colour = pen(Line::Solid, index, several).colour.light();
        Mark::Band { low: series(low), high: series(high), colour }
    });
    band.collect()
}

/// The entries of the legend.
pub(super) fn keys(figure: &CurvesFigure) -> Vec<Key> {
    let several = trajectories(figure) > 1;
    let mut keys = Vec::new();
    for (index, trajectory) in figure.measured.iter().take(MOST_TRAJECTORIES).enumerate() {
        let (marker, colour) = dot(index, several);
        let name = match (several, trajectory.name.is_empty()) {
            (false, _) => "measured".to_owned(),
            (true, true) => format!("measured, trajectory {}", index + 1),
            (true, false) => format!("measured, {}", trajectory.name),
        };
        legend::add(&mut keys, &name, Sample::Dot(marker, colour));
    }
    for prediction in &figure.predictions {
        let pen = prediction.line.pen();
        let pen = if several { Pen { colour: INK, ..pen } } else { pen };
        legend::add(&mut keys, &prediction.name, Sample::Line(pen));
    }
    if let Some(band) = &figure.band {
        let colour = pen(Line::Solid, 0, several).colour.light();
        legend::add(&mut keys, &band.name, Sample::Area(colour));
    }
    keys
}

/// What of the trajectories does not fit into panels of this width, in words.
pub(super) fn notes(figure: &CurvesFigure, width: f64) -> Vec<String> {
    let mut notes = Vec::new();
    let all = trajectories(figure);
    if all > MOST_TRAJECTORIES {
        notes.push(format!("Shown: the first {MOST_TRAJECTORIES} of {all} trajectories."));
    }
    let most = trace::most(width);
    if figure.measured.iter().any(|trajectory| trajectory.t.len() > most) {
        notes.push(String::from(
            "More points were measured than can be told apart: of those on top of each other only \
             some are drawn, the extremes among them.",
        ));
    }
    notes
}

/// The number of trajectories in the figure.
fn trajectories(figure: &CurvesFigure) -> usize {
    let predicted = figure.predictions.iter().map(|prediction| prediction.trajectories.len());
    predicted.chain([figure.measured.len()]).max().unwrap_or(0)
}

fn dot(index: usize, several: bool) -> (Marker, Colour) {
    if several {
        (trajectory_marker(index), trajectory_colour(index))
    } else {
        (Marker::Disc, MEASURED)
    }
}

fn pen(line: Line, index: usize, several: bool) -> Pen {
    let pen = line.pen();
    if several && line != Line::Truth {
        Pen { colour: trajectory_colour(index), width: 1.5, ..pen }
    } else {
        pen
    }
}
