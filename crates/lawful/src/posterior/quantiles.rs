//! Quantiles of what was drawn, with and without measurement noise.

use super::distributions::normal_below;

/// Halvings of the bracket of a quantile: to 1e-9 of its width.
const HALVINGS: usize = 30;
/// Standard deviations beyond which noise has no probability.
const FAR: f64 = 9.0;

/// Returns the quantile `p` of sorted numbers, between neighbours by a line: number `k` of `n` stands for
/// the probability `(k − ½)/n`.
pub(crate) fn of_sorted(sorted: &[f64], p: f64) -> f64 {
    let last = sorted.len() - 1;
    let at = (p * sorted.len() as f64 - 0.5).clamp(0.0, last as f64);
    let below = floor(at);
    let share = at - below as f64;
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    low + share * (high - low)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in a slice")]
fn floor(at: f64) -> usize {
    at as usize
}

/// Returns the quantile `p` of a draw plus noise: of the mean of normal distributions around `values` with
/// the standard deviations `noise`. It is smooth along a curve, as no noise is drawn.
pub(crate) fn with_noise(values: &[f64], noise: &[f64], p: f64) -> f64 {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for (value, noise) in values.iter().zip(noise) {
        low = low.min(value - FAR * noise);
        high = high.max(value + FAR * noise);
    }
    let below = |y: f64| -> f64 {
        let each = values.iter().zip(noise).map(|(value, noise)| normal_below((y - value) / noise));
        each.sum::<f64>() / values.len() as f64
    };
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if below(middle) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_numbers_are_those_worked_by_hand() {
        let sorted = [1.0, 2.0, 4.0, 8.0];
        for (p, expected) in [(0.0, 1.0), (0.125, 1.0), (0.25, 1.5), (0.5, 3.0), (1.0, 8.0)] {
            assert!((of_sorted(&sorted, p) - expected).abs() < 1e-12, "{p}");
        }
        assert!((of_sorted(&[7.0], 0.3) - 7.0).abs() < 1e-15);
    }

    #[test]
    fn noise_alone_has_the_quantiles_of_the_normal_distribution() {
        for (p, expected) in [(0.05, -1.644_853_626_951), (0.5, 0.0), (0.975, 1.959_963_984_540)] {
            let found = with_noise(&[3.0, 3.0], &[2.0, 2.0], p);
            assert!((found - (3.0 + 2.0 * expected)).abs() < 1e-5, "{p}: {found}");
        }
    }

    #[test]
    fn two_far_draws_share_the_probability() {
        // Of each of two narrow peaks, the quantile 0.1 of both is the quantile 0.2 of the first.
        let found = with_noise(&[0.0, 100.0], &[1.0, 1.0], 0.1);
        assert!((found + 0.841_621_233_573).abs() < 1e-5, "{found}");
    }
}
