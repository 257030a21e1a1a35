//! Whether one row of numbers is lower than another: rank tests, and many of them at once.

/// The median; of an even count, the mean of the two in the middle. `NaN` without any.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        // Halves of two infinities have a mean.
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

/// Probability, by chance alone, of a difference between two rows that is at least as large: the
/// two-sided Mann–Whitney (Wilcoxon rank-sum) test, exact by counting all ways to part the ranks.
///
/// Equal numbers share the mean of their ranks, and the count is made with these ranks. `None` if
/// one of the rows is empty.
pub fn rank_test(a: &[f64], b: &[f64]) -> Option<f64> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let ranks = doubled_ranks(a, b);
    let observed: usize = ranks[..a.len()].iter().sum();
    // ways[k][s]: in how many ways k of the ranks sum to s.
    let largest: usize = ranks.iter().sum();
    let mut ways = vec![vec![0.0_f64; largest + 1]; a.len() + 1];
    ways[0][0] = 1.0;
    for &rank in &ranks {
        for k in (0..a.len()).rev() {
            for sum in (0..=largest - rank).rev() {
                let from = ways[k][sum];
                ways[k + 1][sum + rank] += from;
            }
        }
    }
    let ways = &ways[a.len()];
    let all: f64 = ways.iter().sum();
    // Twice the mean of the sum, so that it is a whole number.
    let middle = a.len() * (ranks.len() + 1) * 2;
    let distance = (2 * observed).abs_diff(middle);
    let as_far = ways.iter().enumerate().filter(|(sum, _)| (2 * sum).abs_diff(middle) >= distance);
    Some(as_far.map(|(_, ways)| ways).sum::<f64>() / all)
}

/// Twice the rank of each number of `a`, then of `b`, among all; equal ones share their mean.
fn doubled_ranks(a: &[f64], b: &[f64]) -> Vec<usize> {
    let all: Vec<f64> = a.iter().chain(b).copied().collect();
    let rank = |x: &f64| {
        let below = all.iter().filter(|y| y.total_cmp(x).is_lt()).count();
        let equal = all.iter().filter(|y| y.total_cmp(x).is_eq()).count();
        2 * below + equal + 1
    };
    all.iter().map(rank).collect()
}

/// The smallest probability that [`rank_test`] can give for rows of these lengths.
pub fn smallest_probability(a: usize, b: usize) -> f64 {
    // 2 / (a + b choose a).
    (1..=a).fold(2.0, |p, k| p * k as f64 / (b + k) as f64).min(1.0)
}

/// Corrects the probabilities of several tests of one family by Holm's step-down method, so that the
/// probability of one false alarm or more stays below the level to which they are compared.
///
/// The k-th smallest of m is multiplied by m − k + 1, raised to the largest of those before it, and is
/// at most 1. The order stays.
pub fn holm(probabilities: &[f64]) -> Vec<f64> {
    let m = probabilities.len();
    let mut order: Vec<usize> = (0..m).collect();
    order.sort_by(|&a, &b| probabilities[a].total_cmp(&probabilities[b]));
    let (mut corrected, mut largest) = (vec![0.0; m], 0.0_f64);
    for (k, n) in order.into_iter().enumerate() {
        largest = largest.max((m - k) as f64 * probabilities[n]).min(1.0);
        corrected[n] = largest;
    }
    corrected
}

/// The fewest numbers in each of two rows with which one of `tests` [rank tests](rank_test) can give less
/// than `level` after [Holm's correction](holm).
pub fn fewest_for(level: f64, tests: usize) -> usize {
    let reaches = |n: &usize| tests as f64 * smallest_probability(*n, *n) < level;
    // 2 / C(2n, n) falls by a factor of about four for each n.
    (1..1000).find(reaches).unwrap_or(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-12, "{a} is not {b}");
    }

    #[test]
    fn the_median_is_the_middle_or_between_the_two_middles() {
        close(median(&[3.0, 1.0, 2.0]), 2.0);
        close(median(&[4.0, 1.0, f64::INFINITY, 2.0]), 3.0);
        assert!(median(&[f64::INFINITY; 2]).is_infinite() && median(&[]).is_nan());
    }

    #[test]
    fn holm_multiplies_the_smallest_by_all_the_next_by_one_less() {
        // Sorted 0.005, 0.01, 0.03, 0.04: times 4, 3, 2, 1 are 0.02, 0.03, 0.06, 0.04, of which the last
        // is raised to 0.06.
        for (found, expected) in
            holm(&[0.01, 0.04, 0.03, 0.005]).into_iter().zip([0.03, 0.06, 0.06, 0.02])
        {
            close(found, expected);
        }
        assert_eq!(holm(&[0.6, 0.7]), [1.0, 1.0]);
        assert_eq!(holm(&[0.04]), [0.04]);
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn more_tests_need_longer_rows() {
        // 2/C(6, 3) = 0.1, 2/C(8, 4) = 0.0286, 2/C(10, 5) = 0.0079, 2/C(12, 6) = 0.0022.
        for (tests, fewest) in [(1, 4), (2, 5), (6, 5), (7, 6), (12, 6)] {
            assert_eq!(fewest_for(0.05, tests), fewest, "{tests}");
        }
    }

    #[test]
    fn the_rank_test_gives_the_tabulated_probabilities() {
        // Fully parted rows of n and n: 2/C(2n, n).
        close(rank_test(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]).unwrap(), 0.1);
        let (low, high): (Vec<f64>, Vec<f64>) =
            ((0..10).map(f64::from).collect(), (10..20).map(f64::from).collect());
        close(rank_test(&low, &high).unwrap(), 2.0 / 184_756.0);
        close(rank_test(&high, &low).unwrap(), 2.0 / 184_756.0);
        // U = 3 of n = 4, m = 5 (ranks 1, 2, 3, 7): 7 of 126 partings lie as low, twice that.
        let p = rank_test(&[1.0, 2.0, 3.0, 7.0], &[4.0, 5.0, 6.0, 8.0, 9.0]).unwrap();
        close(p, 14.0 / 126.0);
        // Rows that sit in each other's middle are as likely as anything.
        close(rank_test(&[1.0, 4.0], &[2.0, 3.0]).unwrap(), 1.0);
    }

    #[test]
    fn equal_numbers_share_their_ranks() {
        close(rank_test(&[1.0, 1.0, 1.0], &[1.0, 1.0]).unwrap(), 1.0);
        // Ranks 1.5, 1.5 | 3, 4: one of six partings is as low, one as high.
        close(rank_test(&[0.0, 0.0], &[1.0, 2.0]).unwrap(), 2.0 / 6.0);
        assert_eq!(rank_test(&[], &[1.0]), None);
    }

    #[test]
    fn the_smallest_probability_is_that_of_parted_rows() {
        close(smallest_probability(3, 3), 0.1);
        close(smallest_probability(10, 10), 2.0 / 184_756.0);
        close(smallest_probability(1, 1), 1.0);
    }
}
