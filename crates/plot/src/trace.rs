//! From the points of a series to lines inside a frame: gaps, decimation, clipping.
//!
//! Widths and distances are for a coarseness of 1; where a figure becomes too large with it, it is drawn with
//! a larger one, see [`Sheet`](super::sheet::Sheet).

use super::canvas::{Frame, Point};

/// Width of the slices of a decimated curve; each keeps at most four points.
const SLICE: f64 = 1.5;

/// Points of a winding curve that are closer than this are one.
const CLOSE: f64 = 0.4;

/// The unbroken pieces of a series; a point that is not finite ends a piece.
pub(super) fn segment_rows(points: &[Point]) -> Vec<Vec<Point>> {
    points
        .split(|(x, y)| !(x.is_finite() && y.is_finite()))
        .filter(|piece| !piece.is_empty())
        .map(<[Point]>::to_vec)
        .collect()
}

/// As many points of a curve as can be told apart in a frame of this width.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some hundreds")]
pub(super) fn most(width: f64) -> usize {
    (4.0 * width / SLICE) as usize
}

/// The same curve with fewer points, if it has more than four for each narrow vertical slice.
///
/// Of a curve that runs from left to right, the points in one slice are replaced by the first, the
/// lowest, the highest and the last of them, in their order. A curve that turns back, as in a phase
/// plane, loses the points that lie on the one before.
pub(super) fn decimate(points: &[Point], frame: &Frame, coarseness: f64) -> Vec<Point> {
    if points.len() <= most(frame.width / coarseness) {
        points.to_vec()
    } else if points.is_sorted_by(|a, b| a.0 <= b.0) {
        extremes_of_slices(points, SLICE * coarseness)
    } else {
        spread(points, CLOSE * coarseness)
    }
}

/// Joins the pieces of a curve that runs from left to right over gaps narrower than a slice, if they have
/// more points than can be told apart: what crosses a level at every step is thousands of pieces.
pub(super) fn join(pieces: Vec<Vec<Point>>, frame: &Frame, coarseness: f64) -> Vec<Vec<Point>> {
    let count: usize = pieces.iter().map(Vec::len).sum();
    let sorted = pieces.is_sorted_by(|a, b| a[a.len() - 1].0 <= b[0].0);
    if pieces.len() == 1 || !sorted || count <= most(frame.width / coarseness) {
        return pieces;
    }
    let mut joined: Vec<Vec<Point>> = Vec::new();
    for piece in pieces {
        match joined.last_mut() {
            Some(last) if piece[0].0 - last[last.len() - 1].0 < SLICE * coarseness => {
                last.extend(piece);
            }
            _ => joined.push(piece),
        }
    }
    joined
}

/// Squares of the canvas on which something is drawn.
pub(super) struct Covered {
    frame: Frame,
    side: f64,
    columns: usize,
    rows: usize,
    squares: Vec<bool>,
}

impl Covered {
    /// Nothing yet, in squares of this side.
    pub(super) fn new(frame: &Frame, side: f64) -> Self {
        let count = |length: f64| whole(length / side) + 1;
        let (columns, rows) = (count(frame.width), count(frame.height));
        Self { frame: *frame, side, columns, rows, squares: vec![false; columns * rows] }
    }

    /// Covers the square of a point. Returns whether it was free; `false` outside the frame.
    pub(super) fn cover(&mut self, (x, y): Point) -> bool {
        if !contains(&self.frame, (x, y)) {
            return false;
        }
        let (column, row) = (
            whole((x - self.frame.left) / self.side).min(self.columns - 1),
            whole((y - self.frame.top) / self.side).min(self.rows - 1),
        );
        let square = &mut self.squares[row * self.columns + column];
        !std::mem::replace(square, true)
    }

    /// Returns left, top and width of each row of neighbouring covered squares.
    pub(super) fn runs(&self) -> Vec<(f64, f64, f64)> {
        let mut runs = Vec::new();
        for (row, squares) in self.squares.chunks(self.columns).enumerate() {
            let mut column = 0;
            for same in squares.chunk_by(|a, b| a == b) {
                if same[0] {
                    let left = self.frame.left + column as f64 * self.side;
                    let top = self.frame.top + row as f64 * self.side;
                    runs.push((left, top, same.len() as f64 * self.side));
                }
                column += same.len();
            }
        }
        runs
    }
}

/// A length as a count.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some hundreds")]
fn whole(length: f64) -> usize {
    length.max(0.0) as usize
}

/// The parts of a winding curve that are not drawn over an earlier part of it, if it has more points than
/// can be told apart; what leaves the frame is left out.
pub(super) fn first_windings(
    points: Vec<Point>,
    frame: &Frame,
    coarseness: f64,
) -> Vec<Vec<Point>> {
    let sorted = points.is_sorted_by(|a, b| a.0 <= b.0);
    if sorted || points.len() <= most(frame.width / coarseness) {
        return vec![points];
    }
    let mut covered = Covered::new(frame, 2.0 * CLOSE * coarseness);
    let mut parts: Vec<Vec<Point>> = Vec::new();
    let (mut before, mut drawing) = (None, false);
    for point in points {
        if covered.cover(point) {
            match parts.last_mut() {
                Some(part) if drawing => part.push(point),
                _ => parts.push(before.into_iter().chain([point]).collect()),
            }
            drawing = true;
        } else if std::mem::take(&mut drawing) {
            // It reaches what is drawn already.
            parts.last_mut().expect("it was being drawn").push(point);
        }
        before = Some(point);
    }
    parts
}

fn extremes_of_slices(points: &[Point], width: f64) -> Vec<Point> {
    let slice = |x: f64| (x / width).floor();
    let mut kept = Vec::new();
    for group in points.chunk_by(|a, b| slice(a.0).total_cmp(&slice(b.0)).is_eq()) {
        let by_height = |a: &usize, b: &usize| group[*a].1.total_cmp(&group[*b].1);
        let (lowest, highest) = (
            (0..group.len()).min_by(by_height).unwrap_or(0),
            (0..group.len()).max_by(by_height).unwrap_or(0),
        );
        let mut chosen = [0, lowest, highest, group.len() - 1];
        chosen.sort_unstable();
        let different = chosen.chunk_by(|a, b| a == b).map(|same| group[same[0]]);
        kept.extend(different);
    }
    kept
}

/// The points that are at least this far from the one kept before, and the last.
fn spread(points: &[Point], distance: f64) -> Vec<Point> {
    let mut kept: Vec<Point> = Vec::new();
    for &(x, y) in points {
        let far = kept.last().is_none_or(|last| (x - last.0).hypot(y - last.1) >= distance);
        if far {
            kept.push((x, y));
        }
    }
    if kept.last() != points.last() {
        kept.extend(points.last());
    }
    kept
}

/// The parts of a polyline that lie inside the frame.
pub(super) fn clip(points: &[Point], frame: &Frame) -> Vec<Vec<Point>> {
    let mut parts: Vec<Vec<Point>> = Vec::new();
    let mut joined = false;
    for pair in points.windows(2) {
        let Some((from, to, reaches_end)) = clip_segment(pair[0], pair[1], frame) else {
            joined = false;
            continue;
        };
        match parts.last_mut() {
            Some(part) if joined => part.push(to),
            _ => parts.push(vec![from, to]),
        }
        joined = reaches_end;
    }
    parts
}

/// Liang–Barsky: the part of `from + s (to − from)`, `0 ≤ s ≤ 1`, on the inner side of all edges,
/// and whether it reaches `to`.
fn clip_segment(from: Point, to: Point, frame: &Frame) -> Option<(Point, Point, bool)> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let edges = [
        (-dx, from.0 - frame.left),
        (dx, frame.right() - from.0),
        (-dy, from.1 - frame.top),
        (dy, frame.bottom() - from.1),
    ];
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for (outward, room) in edges {
        if outward < 0.0 {
            enter = enter.max(room / outward);
        } else if outward > 0.0 {
            leave = leave.min(room / outward);
        } else if room < 0.0 {
            return None;
        }
    }
    let at = |s: f64| (from.0 + s * dx, from.1 + s * dy);
    (enter <= leave).then(|| (at(enter), at(leave), leave >= 1.0))
}

/// Whether a point lies in the frame.
pub(super) fn contains(frame: &Frame, (x, y): Point) -> bool {
    let slack = 1e-6;
    (frame.left - slack..=frame.right() + slack).contains(&x)
        && (frame.top - slack..=frame.bottom() + slack).contains(&y)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Frame = Frame { left: 0.0, top: 0.0, width: 100.0, height: 50.0 };

    #[test]
    fn a_missing_value_parts_the_curve() {
        let points = [(0.0, 1.0), (1.0, f64::NAN), (2.0, 1.0), (3.0, 2.0), (f64::INFINITY, 0.0)];
        let lengths: Vec<usize> = segment_rows(&points).iter().map(Vec::len).collect();
        assert_eq!(lengths, [1, 2]);
    }

    #[test]
    fn decimation_keeps_ends_and_every_spike() {
        let mut points: Vec<Point> = (0..100_000).map(|i| (f64::from(i) * 1e-3, 25.0)).collect();
        points[43_211].1 = 3.0;
        points[43_215].1 = 49.0;
        let kept = decimate(&points, &FRAME, 1.0);
        assert!(kept.len() <= 4 * 67, "{}", kept.len());
        assert!(kept.contains(&points[43_211]) && kept.contains(&points[43_215]));
        assert_eq!((kept.first(), kept.last()), (points.first(), points.last()));
        assert!(kept.windows(2).all(|pair| pair[0].0 <= pair[1].0));
    }

    #[test]
    fn decimation_keeps_a_winding_curve_within_its_line() {
        let angle = |i: i32| f64::from(i) * 1e-3;
        let points: Vec<Point> = (0..20_000)
            .map(|i| (50.0 + 20.0 * angle(i).cos(), 25.0 + 20.0 * angle(i).sin()))
            .collect();
        let kept = decimate(&points, &FRAME, 1.0);
        assert!(kept.len() < 2000, "{}", kept.len());
        for pair in kept.windows(2) {
            let middle = (f64::midpoint(pair[0].0, pair[1].0), f64::midpoint(pair[0].1, pair[1].1));
            let radius = (middle.0 - 50.0).hypot(middle.1 - 25.0);
            assert!((radius - 20.0).abs() < 0.01, "{radius}");
        }
    }

    #[test]
    fn what_leaves_the_frame_and_returns_becomes_two_lines() {
        let points = [(0.0, 25.0), (50.0, -1e9), (60.0, 1e9), (100.0, 25.0)];
        let parts = clip(&points, &FRAME);
        assert_eq!(parts.len(), 3);
        for point in parts.iter().flatten() {
            assert!(contains(&FRAME, *point), "{point:?}");
        }
    }

    #[test]
    fn a_curve_inside_the_frame_is_left_alone() {
        let points: Vec<Point> = (0..50).map(|i| (f64::from(i), f64::from(i % 7))).collect();
        assert_eq!(clip(&points, &FRAME), [points]);
    }

    #[test]
    fn a_coarser_curve_has_fewer_points_and_every_spike() {
        let mut points: Vec<Point> =
            (0..100_000).map(|i| (f64::from(i) * 1e-3, 25.0 + f64::from(i % 3))).collect();
        points[43_211].1 = 3.0;
        let (fine, coarse) = (decimate(&points, &FRAME, 1.0), decimate(&points, &FRAME, 4.0));
        assert!(4 * coarse.len() <= fine.len() + 16, "{} of {}", coarse.len(), fine.len());
        assert!(coarse.contains(&points[43_211]));
    }

    #[test]
    fn a_curve_that_retraces_itself_is_drawn_once() {
        let angle = |i: i32| f64::from(i) * 0.02;
        let circle = |count: i32| -> Vec<Point> {
            (0..count)
                .map(|i| (50.0 + 20.0 * angle(i).cos(), 25.0 + 20.0 * angle(i).sin()))
                .collect()
        };
        let parts = first_windings(circle(100_000), &FRAME, 1.0);
        let count: usize = parts.iter().map(Vec::len).sum();
        assert!(count < 700, "{count}");
        // Every place of the circle is near a drawn point.
        for (x, y) in circle(315) {
            let near = parts.iter().flatten().any(|p| (p.0 - x).hypot(p.1 - y) < 1.0);
            assert!(near, "({x}, {y}) is missing");
        }
        assert_eq!(first_windings(circle(100), &FRAME, 1.0), [circle(100)], "few points stay");
    }

    #[test]
    fn pieces_between_narrow_gaps_are_joined_and_wide_gaps_stay() {
        let pieces: Vec<Vec<Point>> = (0..5000)
            .map(|n| if n < 2500 { 0.01 } else { 0.012 } * f64::from(n))
            .map(|x| vec![(x, 1.0), (x + 0.004, 2.0)])
            .collect();
        let joined = join(pieces.clone(), &FRAME, 1.0);
        assert_eq!(joined.len(), 2);
        assert_eq!(joined.concat(), pieces.concat());
        assert_eq!(join(pieces[..9].to_vec(), &FRAME, 1.0).len(), 9, "few pieces stay");
    }

    #[test]
    fn covered_squares_are_merged_row_by_row() {
        let mut covered = Covered::new(&FRAME, 2.0);
        for point in [(1.0, 1.0), (3.0, 0.5), (5.5, 1.9), (9.0, 1.0), (9.0, 49.0)] {
            assert!(covered.cover(point));
            assert!(!covered.cover(point));
        }
        assert!(!covered.cover((-5.0, 1.0)), "outside");
        assert_eq!(covered.runs(), [(0.0, 0.0, 6.0), (8.0, 0.0, 2.0), (8.0, 48.0, 2.0)]);
    }
}
