//! Cutting a curve into dashes that run on over its points.

use super::canvas::Point;

/// The inked pieces of a polyline; `pattern` holds lengths of ink and of paper in turn.
///
/// A pattern of lengths that are not positive inks the whole line.
pub(super) fn dashes(points: &[Point], pattern: &[f64]) -> Vec<Vec<Point>> {
    if pattern.is_empty() || pattern.iter().any(|&length| length <= 0.0) {
        return vec![points.to_vec()];
    }
    let mut segment_rows = Vec::new();
    let mut piece: Vec<Point> = points.first().copied().into_iter().collect();
    let (mut turn, mut left) = (0, pattern[0]);
    for pair in points.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        loop {
            let (dx, dy) = (to.0 - from.0, to.1 - from.1);
            let length = dx.hypot(dy);
            let inked = turn % 2 == 0;
            if length <= left {
                left -= length;
                if inked {
                    piece.push(to);
                }
                break;
            }
            from = (from.0 + dx * left / length, from.1 + dy * left / length);
            if inked {
                piece.push(from);
                segment_rows.push(std::mem::take(&mut piece));
            } else {
                piece.push(from);
            }
            turn += 1;
            left = pattern[turn % pattern.len()];
        }
    }
    if piece.len() > 1 {
        segment_rows.push(piece);
    }
    segment_rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(piece: &[Point]) -> f64 {
        piece.windows(2).map(|p| (p[1].0 - p[0].0).hypot(p[1].1 - p[0].1)).sum()
    }

    #[test]
    fn dashes_do_not_depend_on_how_many_points_carry_the_line() {
        let coarse = dashes(&[(0.0, 0.0), (100.0, 0.0)], &[7.0, 4.0]);
        let many: Vec<Point> = (0..=1000).map(|i| (f64::from(i) * 0.1, 0.0)).collect();
        let fine = dashes(&many, &[7.0, 4.0]);
        assert_eq!(coarse.len(), fine.len());
        for (a, b) in coarse.iter().zip(&fine) {
            assert!((length(a) - length(b)).abs() < 1e-9);
        }
    }

    #[test]
    fn ink_and_paper_share_the_line_as_the_pattern_says() {
        let segment_rows = dashes(&[(0.0, 0.0), (30.0, 40.0), (30.0, 110.0)], &[8.0, 4.0]);
        let ink: f64 = segment_rows.iter().map(|piece| length(piece)).sum();
        assert!((ink - 80.0).abs() < 1e-9, "{ink}");
    }

    #[test]
    fn a_single_point_and_a_bad_pattern_end() {
        assert!(dashes(&[(1.0, 1.0)], &[2.0, 2.0]).is_empty());
        assert_eq!(dashes(&[(0.0, 0.0), (9.0, 0.0)], &[0.0, 1.0]).len(), 1);
    }
}
