//! Means and variances.

/// Returns mean and variance of some numbers; both 0 without any.
pub(crate) fn mean_and_variance(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count = values.clone().count().max(1) as f64;
    let mean = values.clone().sum::<f64>() / count;
    (mean, values.map(|value| (value - mean).powi(2)).sum::<f64>() / count)
}

/// Returns the mean of the squares of some numbers; 0 without any.
pub(crate) fn mean_square(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for value in values {
        sum += value * value;
        count += 1.0;
    }
    sum / f64::max(count, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_variances_are_those_worked_by_hand() {
        assert_eq!(mean_and_variance([1.0, 2.0, 6.0].into_iter()), (3.0, 14.0 / 3.0));
        assert_eq!(mean_and_variance(std::iter::empty()), (0.0, 0.0));
        assert!((mean_square([1.0, -2.0].into_iter()) - 2.5).abs() < 1e-15);
        assert!(mean_square(std::iter::empty()).abs() < f64::MIN_POSITIVE);
    }
}
