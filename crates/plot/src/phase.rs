//! One state variable against another: the phase plane.

use super::Figure;
use super::canvas::Point;
use super::curve_axes::state_scale;
use super::curve_marks::{self, keys, marks};
use super::curves::{CurvesFigure, Trajectory};
use super::panel::Panel;
use super::sheet::Sheet;

/// The state variable `horizontal` against `vertical`: measured dots and predicted lines.
///
/// Takes what [`curves`](super::curves()) takes; ranges of time have no place here. A
/// prediction that runs away leaves the panel, as there. A state variable that does not exist gives
/// an empty panel.
#[must_use]
pub fn phase(figure: &CurvesFigure, horizontal: usize, vertical: usize) -> Figure {
    let states = figure.states.len();
    let series = |trajectory: &Trajectory| -> Vec<Point> {
        let xs = trajectory.series(horizontal, states);
        let ys = trajectory.series(vertical, states);
        // A step without one of the two is a gap.
        xs.into_iter().zip(ys).map(|((_, x), (_, y))| (x, y)).collect()
    };
    let size = (430.0, 400.0);
    let mut notes = Vec::new();
    let x = state_scale(&[figure], horizontal, &mut notes);
    let y = state_scale(&[figure], vertical, &mut notes);
    let name = |state: usize| figure.states.get(state).cloned().unwrap_or_default();
    let panel = Panel {
        title: String::new(),
        x_name: name(horizontal),
        y_name: name(vertical),
        x,
        y,
        y_words: Vec::new(),
        spans: Vec::new(),
        names_spans: false,
        keys: Vec::new(),
        marks: marks(figure, series),
        size,
    };
    notes.extend(curve_marks::notes(figure, size.0));
    let (title, keys) = (figure.title.clone(), keys(figure));
    Sheet { title, keys, panels: vec![panel], columns: 1, shared: true, notes }.draw()
}
