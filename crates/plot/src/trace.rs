//! From the points of a series to lines inside a frame: gaps, decimation, clipping.

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
pub(super) fn decimate(points: &[Point], frame: &Frame) -> Vec<Point> {
    if points.len() <= most(frame.width) {
        points.to_vec()
    } else if points.is_sorted_by(|a, b| a.0 <= b.0) {
        extremes_of_slices(points)
    } else {
        spread(points)
    }
}

fn extremes_of_slices(points: &[Point]) -> Vec<Point> {
    let slice = |x: f64| (x / SLICE).floor();
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

/// The points that are at least [`CLOSE`] from the one kept before, and the last.
fn spread(points: &[Point]) -> Vec<Point> {
    let mut kept: Vec<Point> = Vec::new();
    for &(x, y) in points {
        let far = kept.last().is_none_or(|last| (x - last.0).hypot(y - last.1) >= CLOSE);
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
        let kept = decimate(&points, &FRAME);
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
        let kept = decimate(&points, &FRAME);
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
}
