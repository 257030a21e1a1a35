//! What is drawn inside a frame: lines, dots, areas, strokes.

use super::canvas::{Canvas, Frame, Point};
use super::scale::Scale;
use super::style::{Colour, Marker, Pen};
use super::trace::{Covered, clip, contains, decimate, first_windings, join, most, segment_rows};

/// Something drawn inside a frame, in the units of the data.
#[derive(Debug, Clone)]
pub(super) enum Mark {
    /// A line through points; one that is not finite leaves a gap.
    Curve { points: Vec<Point>, pen: Pen },
    /// A dot at each finite point.
    Dots { points: Vec<Point>, marker: Marker, colour: Colour, radius: f64 },
    /// The area between a curve and a level.
    Area { points: Vec<Point>, level: f64, colour: Colour },
    /// The area between two curves at the same places; where either is not finite there is a gap.
    Band { low: Vec<Point>, high: Vec<Point>, colour: Colour },
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
    /// How coarsely curves and dots are drawn: 1, or more where that would be too large.
    pub(super) coarseness: f64,
}

/// Most dots of one series that are drawn one by one if they are more than can be told apart.
const MOST_DOTS: usize = 600;

/// Length of a thinned curve, in widths of its frame, above which it fills areas in which dashes are not seen.
const DENSE: f64 = 30.0;

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
            piece.iter().map(|&point| self.point(point)).collect()
        };
        let pieces = segment_rows(points).into_iter().map(placed).collect();
        let pieces = join(pieces, &self.frame, self.coarseness);
        let thinned = pieces.iter().map(|piece| decimate(piece, &self.frame, self.coarseness));
        thinned.collect()
    }

    /// Returns the pen of a curve of this many points, now `pieces`: solid if it fills areas.
    fn visible(&self, pen: &Pen, points: usize, pieces: &[Vec<Point>]) -> Pen {
        let length = |piece: &Vec<Point>| -> f64 {
            piece.windows(2).map(|p| (p[1].0 - p[0].0).hypot(p[1].1 - p[0].1)).sum()
        };
        let dense = points > most(self.frame.width)
            && pieces.iter().map(length).sum::<f64>() > DENSE * self.frame.width;
        if dense { Pen { dashes: &[], ..*pen } } else { *pen }
    }

    /// Draws the area between two curves, piece by piece.
    fn band(&self, canvas: &mut Canvas, (low, high): (&[Point], &[Point]), colour: Colour) {
        let Self { frame, .. } = self;
        let inside = |(x, y): Point| {
            (x.clamp(frame.left, frame.right()), y.clamp(frame.top, frame.bottom()))
        };
        let ends: Vec<(Point, Point)> = low.iter().copied().zip(high.iter().copied()).collect();
        let finite = |((x, low), (_, high)): &(Point, Point)| {
            x.is_finite() && low.is_finite() && high.is_finite()
        };
        for piece in ends.split(|pair| !finite(pair)).filter(|piece| piece.len() > 1) {
            let below = piece.iter().map(|(low, _)| *low);
            let above = piece.iter().rev().map(|(_, high)| *high);
            let around = below.chain(above).map(|point| inside(self.point(point)));
            canvas.polygon(&around.collect::<Vec<_>>(), colour);
        }
    }

    /// Draws a dot at each point; where they are too many, the area that they cover.
    fn dots(
        &self,
        canvas: &mut Canvas,
        points: &[Point],
        (marker, radius, colour): (Marker, f64, Colour),
    ) {
        let Self { frame, coarseness, .. } = self;
        let mut dots = decimate(points, frame, *coarseness);
        dots.retain(|&point| contains(frame, point));
        if points.len() > most(frame.width / coarseness) && dots.len() > MOST_DOTS {
            // Half a dot apart.
            let side = 0.5 * radius * coarseness;
            let mut covered = Covered::new(frame, side);
            dots.retain(|&point| covered.cover(point));
            if dots.len() > MOST_DOTS {
                return canvas.runs(&covered.runs(), side, 2.0 * radius, colour);
            }
        }
        for point in dots {
            canvas.dot(marker, point, radius, colour);
        }
    }
}

impl Mark {
    /// Draws the mark in its place; what lies outside the frame is cut off.
    pub(super) fn draw(&self, canvas: &mut Canvas, place: &Place) {
        let frame = &place.frame;
        match self {
            Mark::Curve { points, pen } => {
                let pieces = place.lines(points);
                let pen = &place.visible(pen, points.len(), &pieces);
                for piece in pieces {
                    if let [alone] = piece[..] {
                        // A value between two gaps is no line, but it is there.
                        if contains(frame, alone) {
                            canvas.dot(Marker::Disc, alone, pen.width * 0.75, pen.colour);
                        }
                    }
                    let windings = first_windings(piece, frame, place.coarseness);
                    if let [winding] = &windings[..] {
                        for part in clip(winding, frame) {
                            canvas.polyline(&part, pen);
                        }
                    } else {
                        let clipped = windings.iter().flat_map(|winding| clip(winding, frame));
                        canvas.polylines(&clipped.collect::<Vec<_>>(), pen);
                    }
                }
            }
            Mark::Dots { points, marker, colour, radius } => {
                let finite = segment_rows(points).concat();
                let placed: Vec<Point> = finite.iter().map(|&point| place.point(point)).collect();
                place.dots(canvas, &placed, (*marker, *radius, *colour));
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
            Mark::Band { low, high, colour } => place.band(canvas, (low, high), *colour),
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
                    if contains(frame, (x, y)) && (x - drawn).abs() >= 0.5 * place.coarseness {
                        canvas.rule((x, y - length / 2.0), (x, y + length / 2.0), 0.8, *colour);
                        drawn = x;
                    }
                }
            }
        }
    }
}
