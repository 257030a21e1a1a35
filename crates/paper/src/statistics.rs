//! Means, spreads, and whether one row of numbers is lower than another.

use super::published::Spread;

/// Mean and standard deviation (with n − 1; none for a single number) of these numbers.
pub fn spread(values: &[f64]) -> Option<Spread> {
    let n = values.len() as f64;
    if values.is_empty() {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    Some(Spread { mean, std: (values.len() > 1).then(|| (squares / (n - 1.0)).sqrt()) })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-12, "{a} is not {b}");
    }

    #[test]
    fn the_spread_divides_by_one_less_than_the_count_and_a_single_number_has_none() {
        let Spread { mean, std } = spread(&[1.0, 2.0, 6.0]).unwrap();
        close(mean, 3.0);
        close(std.unwrap(), 7.0_f64.sqrt());
        assert_eq!(spread(&[4.0]), Some(Spread { mean: 4.0, std: None }));
        assert_eq!(spread(&[]), None);
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
