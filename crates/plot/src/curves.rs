//! Measured and predicted curves over time, one panel per state variable.

use super::Figure;
use super::canvas::Point;
use super::curve_axes::{state_scale, time_scale};
use super::curve_marks::{self, bands, keys, marks};
use super::legend::{self, Key, Sample};
use super::panel::Panel;
use super::scale::Scale;
use super::sheet::Sheet;
use super::spans::Span;
use super::style::Line;

/// State variables shown; more are mentioned in a note.
const MOST_STATES: usize = 12;
/// States along a time grid.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trajectory {
    /// Name in the legend, used where there are several; may be empty.
    pub name: String,
    /// Times.
    pub t: Vec<f64>,
    /// States, one time after the other: `values[step * states + state]`; `NaN` is missing.
    pub values: Vec<f64>,
}

impl Trajectory {
    /// One state variable over time.
    pub(super) fn series(&self, state: usize, states: usize) -> Vec<Point> {
        if state >= states {
            return Vec::new();
        }
        let value = |step: usize| self.values.get(step * states + state).copied();
        self.t.iter().enumerate().filter_map(|(step, &t)| Some((t, value(step)?))).collect()
    }
}

/// The predictions of one model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prediction {
    /// Name in the legend.
    pub name: String,
    /// How it is drawn.
    pub line: Line,
    /// In the order of the measured trajectories, on whatever times it was computed.
    pub trajectories: Vec<Trajectory>,
}

/// Intervals around the predictions of a model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Band {
    /// Name in the legend: `90 % interval`.
    pub name: String,
    /// The lower ends, in the order of the measured trajectories; one without values has no band.
    pub low: Vec<Trajectory>,
    /// The upper ends, at the same times.
    pub high: Vec<Trajectory>,
}

/// A named stretch of time, such as the one trained on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TimeRange {
    /// Name above the first panel.
    pub name: String,
    /// First time.
    pub from: f64,
    /// Last time.
    pub to: f64,
}

/// What [`curves`] shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CurvesFigure {
    /// Title; may be empty.
    pub title: String,
    /// Name of the time axis, with its unit if it has one: `t`.
    pub time: String,
    /// Names of the state variables.
    pub states: Vec<String>,
    /// What was measured, drawn as dots.
    pub measured: Vec<Trajectory>,
    /// What was predicted, drawn as lines.
    pub predictions: Vec<Prediction>,
    /// The interval around the first of them, drawn as an area.
    pub band: Option<Band>,
    /// Ranges of time; the first, the training range, is shaded in the panels, of the others the
    /// ends are marked.
    pub ranges: Vec<TimeRange>,
}

/// Measured and predicted curves over time.
///
/// Up to four state variables are stacked, more stand in two or three columns; twelve are shown.
/// With several trajectories, of which six are shown, the colour and the shape of the dots tell the
/// trajectory and the dashes tell the prediction.
///
/// A prediction may leave its panel: the vertical axis follows what was measured and known, and
/// predictions up to one measured range beyond. How far one went is said in a note.
#[must_use]
pub fn curves(figure: &CurvesFigure) -> Figure {
    let shown = figure.states.len().min(MOST_STATES);
    let (columns, size) = match shown {
        0..=1 => (1, (600.0, 240.0)),
        2 => (1, (600.0, 165.0)),
        3..=4 => (1, (600.0, 130.0)),
        5..=8 => (2, (370.0, 125.0)),
        _ => (3, (270.0, 120.0)),
    };
    let mut notes = Vec::new();
    let time = time_scale(&[figure]);
    let mut panels = Vec::new();
    for state in 0..shown {
        let y = state_scale(&[figure], state, &mut notes);
        panels.push(panel(figure, state, time, y, size, state < columns));
    }
    notes.extend(note_on_states(figure.states.len()));
    notes.extend(curve_marks::notes(figure, size.0));
    let (title, keys) = (figure.title.clone(), keys(figure));
    Sheet { title, keys, panels, columns, shared: true, notes }.draw()
}

/// The same system seen several ways, such as without and with a law, in columns side by side.
///
/// Each column is headed by the title of its figure. All columns share the time axis, and each
/// state variable, in rows, its vertical axis, so that heights can be compared across.
#[must_use]
pub fn side_by_side(title: &str, figures: &[CurvesFigure]) -> Figure {
    let all: Vec<&CurvesFigure> = figures.iter().collect();
    let states = figures.iter().map(|figure| figure.states.len()).max().unwrap_or(0);
    let shown = states.min(MOST_STATES);
    let size =
        (if figures.len() > 2 { 260.0 } else { 370.0 }, if shown > 2 { 110.0 } else { 150.0 });
    let (mut notes, mut panels, mut all_keys) = (Vec::new(), Vec::new(), Vec::new());
    let time = time_scale(&all);
    for state in 0..shown {
        let y = state_scale(&all, state, &mut notes);
        for figure in figures {
            let mut panel = panel(figure, state, time, y, size, state == 0);
            if state == 0 {
                panel.title.clone_from(&figure.title);
            }
            panels.push(panel);
        }
    }
    notes.extend(note_on_states(states));
    for figure in figures {
        for note in curve_marks::notes(figure, size.0) {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        for key in keys(figure) {
            legend::add(&mut all_keys, &key.name, key.sample);
        }
    }
    // Models first, then what they are held against.
    all_keys.sort_by_key(|key: &Key| key.sample == Sample::Line(Line::Truth.pen()));
    let (title, columns) = (title.to_owned(), figures.len());
    Sheet { title, keys: all_keys, panels, columns, shared: true, notes }.draw()
}

fn note_on_states(states: usize) -> Option<String> {
    let note = || format!("Shown: the first {MOST_STATES} of {states} state variables.");
    (states > MOST_STATES).then(note)
}

fn panel(
    figure: &CurvesFigure,
    state: usize,
    x: Scale,
    y: Scale,
    size: (f64, f64),
    names_spans: bool,
) -> Panel {
    let states = figure.states.len();
    let series = |trajectory: &Trajectory| trajectory.series(state, states);
    let spans = figure.ranges.iter().enumerate().map(|(index, range)| Span {
        name: range.name.clone(),
        from: range.from,
        to: range.to,
        shaded: index == 0,
    });
    Panel {
        title: String::new(),
        x_name: figure.time.clone(),
        y_name: figure.states.get(state).cloned().unwrap_or_default(),
        x,
        y,
        y_words: Vec::new(),
        spans: spans.collect(),
        names_spans,
        keys: Vec::new(),
        marks: bands(figure, series).into_iter().chain(marks(figure, series)).collect(),
        size,
    }
}
