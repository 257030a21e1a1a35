//! Named stretches of the horizontal axis: shaded, their ends marked, their names above.

use super::canvas::{Anchor, Canvas, Frame, Lettering};
use super::panel::TICK_SIZE;
use super::scale::Scale;
use super::style::{Pen, QUIET, SHADE};
use super::text::{shorten, width};

/// Height of a row of names.
const ROW: f64 = 15.0;
/// Between a bar and the name beside it.
const GAP: f64 = 6.0;

/// A named part of the horizontal axis.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Span {
    pub(super) name: String,
    pub(super) from: f64,
    pub(super) to: f64,
    /// Shaded in the frame; otherwise only its ends are marked.
    pub(super) shaded: bool,
}

/// Where a span and its name stand, measured from the left of a frame.
#[derive(Debug, Clone, PartialEq)]
struct Bar {
    name: String,
    left: f64,
    right: f64,
    /// Where the name stands, and which end of it that is.
    anchor: (f64, Anchor),
    /// What bar and name take up together.
    taken: (f64, f64),
    row: usize,
    shaded: bool,
}

/// Height that the names take above a frame of this width.
pub(super) fn head(spans: &[Span], axis: &Scale, width: f64) -> f64 {
    let rows = bars(spans, axis, width).iter().map(|bar| bar.row + 1).max().unwrap_or(0);
    rows as f64 * ROW
}

/// Draws the spans of a frame, with their names above it if `named`.
pub(super) fn draw(canvas: &mut Canvas, spans: &[Span], axis: &Scale, frame: &Frame, named: bool) {
    let bars = bars(spans, axis, frame.width);
    for bar in bars.iter().filter(|bar| bar.shaded) {
        let (left, width) = (frame.left + bar.left, bar.right - bar.left);
        canvas.rectangle(Frame { left, width, ..*frame }, SHADE);
    }
    let pen = Pen { dashes: &[3.0, 3.0], ..Pen::hairline(QUIET) };
    for x in bars.iter().flat_map(|bar| [bar.left, bar.right]) {
        // The ends of the whole axis need no mark.
        if x > 0.02 * frame.width && x < 0.98 * frame.width {
            let x = frame.left + x;
            canvas.polyline(&[(x, frame.top), (x, frame.bottom())], &pen);
        }
    }
    if named {
        for bar in &bars {
            draw_name(canvas, bar, frame);
        }
    }
}

fn draw_name(canvas: &mut Canvas, bar: &Bar, frame: &Frame) {
    let y = frame.top - 8.0 - bar.row as f64 * ROW;
    // Neighbours that share an end keep apart.
    let (left, right) = (frame.left + bar.left + 1.0, frame.left + bar.right - 1.0);
    let (at, anchor) = bar.anchor;
    let at = frame.left + at;
    for x in [left, right] {
        canvas.rule((x, y - 3.0), (x, y + 3.0), 1.0, QUIET);
    }
    if anchor == Anchor::Middle {
        let half = width(&bar.name, f64::from(TICK_SIZE)) / 2.0 + 5.0;
        canvas.rule((left, y), (at - half, y), 1.0, QUIET);
        canvas.rule((at + half, y), (right, y), 1.0, QUIET);
    } else {
        canvas.rule((left, y), (right, y), 1.0, QUIET);
    }
    let lettering = Lettering { size: TICK_SIZE, anchor, colour: QUIET, bold: false };
    canvas.text((at, y + 4.0), &bar.name, lettering);
}

/// Lays the spans out; those that overlap, with their names, stand in rows above each other.
fn bars(spans: &[Span], axis: &Scale, room: f64) -> Vec<Bar> {
    let size = f64::from(TICK_SIZE);
    let mut bars: Vec<Bar> = Vec::new();
    for span in spans {
        let [left, right] =
            [span.from, span.to].map(|x| (axis.fraction(x) * room).clamp(0.0, room));
        // A span that is empty, or not a number at an end, is none.
        if left.is_nan() || right.is_nan() || right <= left {
            continue;
        }
        let name = shorten(&span.name, size, room - 20.0);
        let length = width(&name, size);
        let (anchor, taken) = if length + 18.0 <= right - left {
            ((f64::midpoint(left, right), Anchor::Middle), (left, right))
        } else if right + GAP + length <= room {
            ((right + GAP, Anchor::Start), (left, right + GAP + length))
        } else {
            ((left - GAP, Anchor::End), (left - GAP - length, right))
        };
        let free = |row: &usize| {
            let overlaps = |bar: &Bar| bar.taken.0 < taken.1 && taken.0 < bar.taken.1;
            !bars.iter().any(|bar| bar.row == *row && overlaps(bar))
        };
        let row = (0..=bars.len()).find(free).unwrap_or(0);
        bars.push(Bar { name, left, right, anchor, taken, row, shaded: span.shaded });
    }
    bars
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(spans: &[(&str, f64, f64)]) -> Vec<usize> {
        let span = |&(name, from, to): &(&str, f64, f64)| Span {
            name: name.to_owned(),
            from,
            to,
            shaded: false,
        };
        let spans: Vec<Span> = spans.iter().map(span).collect();
        let axis = Scale::linear(Some((0.0, 100.0)), 0.0);
        bars(&spans, &axis, 500.0).iter().map(|bar| bar.row).collect()
    }

    #[test]
    fn spans_side_by_side_share_a_row() {
        assert_eq!(rows(&[("training", 0.0, 50.0), ("extrapolation", 50.0, 100.0)]), [0, 0]);
    }

    #[test]
    fn spans_that_overlap_stand_above_each_other() {
        assert_eq!(rows(&[("training", 0.0, 50.0), ("extrapolation", 0.0, 100.0)]), [0, 1]);
        // The short one's name needs the room of its neighbour.
        assert_eq!(rows(&[("training", 0.0, 95.0), ("extrapolation", 95.0, 100.0)]), [0, 1]);
    }

    #[test]
    fn an_empty_span_is_left_out() {
        assert_eq!(rows(&[("a", 5.0, 5.0), ("b", 9.0, 1.0), ("c", f64::NAN, 9.0)]).len(), 0);
    }
}
