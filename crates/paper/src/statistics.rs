//! Means, spreads, and whether one row of numbers is lower than another.

pub use lawful_experiment::statistics::{rank_test, smallest_probability};

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
}
