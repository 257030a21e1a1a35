//! How training went: loss, violations and weights over the iterations.

use super::Figure;
use super::canvas::Point;
use super::legend::{self, Key, Sample};
use super::marks::Mark;
use super::panel::Panel;
use super::scale::{Scale, limits};
use super::sheet::Sheet;
use super::style::{INK, Pen};

/// Series shown in one panel; more are mentioned in a note.
const MOST_SERIES: usize = 12;
/// Kinds of events shown; more are mentioned in a note.
const MOST_EVENTS: usize = 8;
/// Decades that a logarithmic axis shows at most.
const DECADES: i32 = 16;

/// A number that was logged again and again.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    /// Name in the legend.
    pub name: String,
    /// One value for each of [`LearningFigure::iterations`]; `NaN` where none was logged.
    pub values: Vec<f64>,
}

/// Something that happened now and then.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Events {
    /// Name, such as `best point accepted` or `rate halved`.
    pub name: String,
    /// When it happened.
    pub iterations: Vec<f64>,
}

/// What [`learning`] shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LearningFigure {
    /// Title; may be empty.
    pub title: String,
    /// The iterations at which was logged.
    pub iterations: Vec<f64>,
    /// Loss, objective, validation error and the like.
    pub losses: Vec<History>,
    /// Violation of each law, or their sum.
    pub violations: Vec<History>,
    /// Weight μ of each law.
    pub weights: Vec<History>,
    /// Events, a row of strokes for each kind.
    pub events: Vec<Events>,
}

/// Loss and violations on logarithmic axes, weights on a linear one, events as rows of strokes.
///
/// A panel without series is left out. A logarithmic axis spans at most 16 decades below its largest
/// value; what is smaller, zeros above all, is drawn on the lower edge, and a note says so.
#[must_use]
pub fn learning(figure: &LearningFigure) -> Figure {
    let times = figure.iterations.iter().chain(figure.events.iter().flat_map(|e| &e.iterations));
    let x = Scale::linear(limits(times.copied()), 0.012);
    let mut notes = Vec::new();
    let mut panels = Vec::new();
    for (name, histories) in [("loss", &figure.losses), ("violation", &figure.violations)] {
        let shown = first(histories, MOST_SERIES, name, &mut notes);
        if !shown.is_empty() || name == "loss" {
            let values: Vec<f64> = shown.iter().flat_map(|h| h.values.iter().copied()).collect();
            let (y, below) = Scale::log(values, DECADES);
            if below {
                notes.push(format!(
                    "A {name} of zero, or too small for the axis, is drawn on its lower edge."
                ));
            }
            panels.push(panel(figure, name, shown, x, y));
        }
    }
    let weights = first(&figure.weights, MOST_SERIES, "weight", &mut notes);
    if !weights.is_empty() {
        let values = weights.iter().flat_map(|history| history.values.iter().copied());
        let y = Scale::linear(limits(values.chain([0.0])), 0.06);
        panels.push(panel(figure, "weight μ", weights, x, y));
    }
    let events = first(&figure.events, MOST_EVENTS, "event", &mut notes);
    if !events.is_empty() {
        panels.push(events_panel(events, x));
    }
    let title = figure.title.clone();
    Sheet { title, keys: Vec::new(), panels, columns: 1, shared: true, notes }.draw()
}

/// The first of many, with a note on the others.
fn first<'a, T>(all: &'a [T], most: usize, what: &str, notes: &mut Vec<String>) -> &'a [T] {
    if all.len() > most {
        notes.push(format!("Shown: the first {most} of {} ({what}).", all.len()));
    }
    &all[..all.len().min(most)]
}

fn panel(figure: &LearningFigure, name: &str, shown: &[History], x: Scale, y: Scale) -> Panel {
    let mut keys: Vec<Key> = Vec::new();
    let mut marks = Vec::new();
    for (index, history) in shown.iter().enumerate() {
        let pen = Pen::series(index);
        let values = history.values.iter().copied();
        let points: Vec<Point> = figure.iterations.iter().copied().zip(values).collect();
        marks.push(Mark::Curve { points, pen });
        legend::add(&mut keys, &history.name, Sample::Line(pen));
    }
    Panel { keys, marks, size: (600.0, 150.0), ..bare(name, x, y) }
}

fn events_panel(events: &[Events], x: Scale) -> Panel {
    let rows = events.len() as f64;
    let height = |row: usize| rows - row as f64;
    let y_words = events.iter().enumerate().map(|(row, kind)| (height(row), kind.name.clone()));
    let marks = events.iter().enumerate().map(|(row, kind)| Mark::Strokes {
        points: kind.iterations.iter().map(|&iteration| (iteration, height(row))).collect(),
        length: 9.0,
        colour: INK,
    });
    let y = Scale::linear(Some((0.4, rows + 0.6)), 0.0);
    Panel {
        y_words: y_words.collect(),
        marks: marks.collect(),
        size: (600.0, 16.0 * rows + 6.0),
        ..bare("", x, y)
    }
}

fn bare(name: &str, x: Scale, y: Scale) -> Panel {
    Panel {
        title: String::new(),
        x_name: "iteration".to_owned(),
        y_name: name.to_owned(),
        x,
        y,
        y_words: Vec::new(),
        spans: Vec::new(),
        names_spans: false,
        keys: Vec::new(),
        marks: Vec::new(),
        size: (0.0, 0.0),
    }
}
