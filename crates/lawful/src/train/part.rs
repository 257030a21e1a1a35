//! A part of the data, for phases that need not see all of it.

use crate::Segment;

/// Neighbouring segments that stay together, so that they continue each other.
const TOGETHER: usize = 8;

/// Returns about `rows` rows of these segments, spread evenly over all of them: runs of eight neighbouring
/// segments, or whole trajectories. All segments if they have no more rows; at least one run, whose segments
/// are shortened to `rows` rows each if they are longer.
///
/// The choice depends on nothing else, so that a resumed run makes it again.
///
/// # Panics
/// If `rows` is below 2.
pub(super) fn part_of(segments: &[Segment], rows: usize) -> Vec<Segment> {
    assert!(rows > 1, "a part of {rows} rows");
    let all: usize = segments.iter().map(|segment| segment.rows).sum();
    if all <= rows {
        return segments.to_vec();
    }
    let of_one_trajectory = segments.chunk_by(|a, b| a.trajectory == b.trajectory);
    let runs: Vec<&[Segment]> = of_one_trajectory.flat_map(|own| own.chunks(TOGETHER)).collect();
    let count = (runs.len() * rows / all).max(1);
    // The middle run of each of `count` equal parts.
    let chosen = (0..count).map(|n| runs[(2 * n + 1) * runs.len() / (2 * count)]);
    let mut left = rows;
    let mut part: Vec<Segment> = Vec::new();
    for segment in chosen.flatten() {
        let rows = segment.rows.min(left);
        // Runs are not all of one length.
        if rows < 2 {
            break;
        }
        part.push(Segment { rows, ..*segment });
        left -= rows;
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(segments: &[Segment]) -> usize {
        segments.iter().map(|segment| segment.rows).sum()
    }

    /// Segments of 11 rows in trajectories with these numbers of segments.
    fn segments(counts: &[usize]) -> Vec<Segment> {
        let of = |(trajectory, &count): (usize, &usize)| {
            (0..count).map(move |n| Segment { trajectory, first: 10 * n, rows: 11 })
        };
        counts.iter().enumerate().flat_map(of).collect()
    }

    #[test]
    fn a_part_is_spread_over_the_data_and_no_larger_than_asked_for() {
        for counts in [&[1000][..], &[400, 600], &[1; 700], &[3, 90, 1, 200, 7]] {
            let all = segments(counts);
            for wanted in [2, 11, 50, 500, 2000] {
                let part = part_of(&all, wanted);
                assert!(!part.is_empty() && rows(&part) <= wanted, "{counts:?}, {wanted}");
                let within = |own: &&Segment| {
                    all.iter().any(|of| {
                        (of.trajectory, of.first) == (own.trajectory, own.first)
                            && own.rows <= of.rows
                    })
                };
                assert!(part.iter().all(|own| within(&own)), "{counts:?}, {wanted}");
                if wanted >= 500 {
                    assert!(rows(&part) > wanted / 2, "{counts:?}, {wanted}: {}", rows(&part));
                }
            }
        }
        let part = part_of(&segments(&[1000]), 1000);
        let gaps = part.windows(2).filter(|pair| pair[1].first != pair[0].first + 10);
        let firsts: Vec<usize> = gaps.map(|pair| pair[1].first).collect();
        assert!(firsts.len() > 5, "several runs of neighbours: {firsts:?}");
        let (least, most) = (part[0].first, part[part.len() - 1].first);
        assert!(least < 1500 && most > 8500, "from {least} to {most}");
    }

    #[test]
    fn what_is_small_enough_is_not_cut_and_one_long_path_is() {
        let all = segments(&[5, 4]);
        assert_eq!(part_of(&all, 99), all);
        let whole = [Segment { trajectory: 0, first: 0, rows: 1_000_000 }];
        assert_eq!(part_of(&whole, 300), [Segment { rows: 300, ..whole[0] }]);
    }
}
