//! What is drawn inside a frame: lines, dots, areas, strokes.

use super::canvas::{Canvas, Frame, Point};
use super::scale::Scale;
use super::style::{Colour, Marker, Pen};
use super::trace::{clip, contains, decimate, segment_rows};

/// Something drawn inside a frame, in the units of the data.
#[derive(Debug, Clone)]
pub(super) enum Mark {
    /// A line through points; one that is not finite leaves a gap.
    Curve { points: Vec<Point>, pen: Pen },
    /// A dot at each finite point.
    Dots { points: Vec<Point>, marker: Marker, colour: Colour, radius: f64 },
    /// The area between a curve and a level.
    Area { points: Vec<Point>, level: f64, colour: Colour },
    /// A horizontal line from edge to edge.
    Level { value: f64, pen: Pen },
    /// Short vertical strokes: when something happened.
    Strokes { points: Vec<Point>, length: f64, colour: Colour },
}

/// A frame and the two axes that lead into it.
pub(super) struct Place {
    pub(super) frame: Frame,
    pub(super) x: Scale,
    pub(super) y: Scale,
}

impl Place {
    /// How far to the right a value of the horizontal axis lies.
    pub(super) fn across(&self, x: f64) -> f64 {
        self.frame.left + self.frame.width * self.x.fraction(x)
    }

    /// How far down a value of the vertical axis lies.
    pub(super) fn height(&self, y: f64) -> f64 {
        self.frame.bottom() - self.frame.height * self.y.fraction(y)
    }

    fn point(&self, (x, y): Point) -> Point {
        (self.across(x), self.height(y))
    }

    /// Unbroken pieces of a series on the canvas.
    fn lines(&self, points: &[Point]) -> Vec<Vec<Point>> {
        let placed = |piece: Vec<Point>| -> Vec<Point> {
            let piece: Vec<Point> = piece.iter().map(|&point| self.point(point)).collect();
            decimate(&piece, &self.frame)
        };
        segment_rows(points).into_iter().map(placed).collect()
    }
}

impl Mark {
    /// Draws the mark in its place; what lies outside the frame is cut off.
    pub(super) fn draw(&self, canvas: &mut Canvas, place: &Place) {
        let frame = &place.frame;
        match self {
            Mark::Curve { points, pen } => {
                for piece in place.lines(points) {
                    if let [alone] = piece[..] {
                        // A value between two gaps is no line, but it is there.
                        if contains(frame, alone) {
                            canvas.dot(Marker::Disc, alone, pen.width * 0.75, pen.colour);
                        }
                    }
                    for part in clip(&piece, frame) {
                        canvas.polyline(&part, pen);
                    }
                }
            }
            Mark::Dots { points, marker, colour, radius } => {
                let finite = segment_rows(points).concat();
                let placed: Vec<Point> = finite.iter().map(|&point| place.point(point)).collect();
                for point in decimate(&placed, frame) {
                    if contains(frame, point) {
                        canvas.dot(*marker, point, *radius, *colour);
                    }
                }
            }
            Mark::Area { points, level, colour } => {
                for mut piece in place.lines(points) {
                    let base = place.height(*level);
                    let (first, last) = (piece[0].0, piece[piece.len() - 1].0);
                    piece.extend([(last, base), (first, base)]);
                    let inside = |(x, y): Point| {
                        (x.clamp(frame.left, frame.right()), y.clamp(frame.top, frame.bottom()))
                    };
                    canvas.polygon(&piece.into_iter().map(inside).collect::<Vec<_>>(), *colour);
                }
            }
            Mark::Level { value, pen } => {
                let height = place.height(*value);
                let ends = [(frame.left, height), (frame.right(), height)];
                for part in clip(&ends, frame) {
                    canvas.polyline(&part, pen);
                }
            }
            Mark::Strokes { points, length, colour } => {
                let mut drawn = f64::NEG_INFINITY;
                for point in segment_rows(points).concat() {
                    let (x, y) = place.point(point);
                    // Strokes closer than half a unit are one stroke on paper.
                    if contains(frame, (x, y)) && (x - drawn).abs() >= 0.5 {
                        canvas.rule((x, y - length / 2.0), (x, y + length / 2.0), 0.8, *colour);
                        drawn = x;
                    }
                }
            }
        }
    }
}
