//! Ridge regression whose strength leave-one-out chooses.
//!
//! With standardised features X of n rows, centred targets y and the hat matrix
//! `H = X (XᵀX + λI)⁻¹ Xᵀ + 1/n`, the error of row i without that row in the fit is
//!
//! ```text
//! (y_i − (H y)_i) / (1 − H_ii)
//! ```
//!
//! λ is the one of the least mean square of these, for each target; an infinite one leaves the mean alone.

use nalgebra::{DMatrix, DVector};

/// `target = coefficients · (1, x − centre)`.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Regression {
    /// The mean of each feature.
    pub(super) centre: Vec<f64>,
    /// For each target: its mean, then the coefficient of each feature.
    pub(super) coefficients: Vec<f64>,
    /// For each target: the mean squared error of leave-one-out.
    pub(super) variance: Vec<f64>,
}

/// Strengths that are tried, in units of the squared standardised features.
const STRENGTHS: std::ops::RangeInclusive<i32> = -6..=8;
/// A feature whose spread is a smaller share of its size is a constant.
const CONSTANT: f64 = 1e-9;

impl Regression {
    /// Returns the predicted targets. A feature that is NaN counts as the mean.
    pub(super) fn predict(&self, features: &[f64]) -> Vec<f64> {
        let deviations = features.iter().zip(&self.centre).map(|(x, centre)| {
            let deviation = x - centre;
            if deviation.is_nan() { 0.0 } else { deviation }
        });
        let deviations: Vec<f64> = deviations.collect();
        let rows = self.coefficients.chunks_exact(self.centre.len() + 1);
        let predicted = rows.map(|row| {
            let slopes = row[1..].iter().zip(&deviations);
            row[0] + slopes.map(|(slope, x)| slope * x).sum::<f64>()
        });
        predicted.collect()
    }
}

/// Fits targets to features, both row by row. A feature that is NaN counts as the mean.
pub(super) fn regress(features: &[Vec<f64>], targets: &[Vec<f64>]) -> Regression {
    let (n, p) = (features.len(), features.first().map_or(0, Vec::len));
    let count = targets.first().map_or(0, Vec::len);
    let column = |k: usize| features.iter().map(move |row| row[k]);
    let mut centre = vec![0.0; p];
    let mut scale = vec![0.0; p];
    for k in 0..p {
        let known = || column(k).filter(|x| x.is_finite());
        let rows = known().count().max(1) as f64;
        centre[k] = known().sum::<f64>() / rows;
        let spread = (known().map(|x| (x - centre[k]).powi(2)).sum::<f64>() / rows).sqrt();
        scale[k] = if spread > CONSTANT * centre[k].abs() { spread } else { 0.0 };
    }
    let x = DMatrix::from_fn(n, p, |i, k| {
        let z = (features[i][k] - centre[k]) / scale[k];
        if z.is_finite() { z } else { 0.0 }
    });
    let gram = x.tr_mul(&x);
    let fits: Vec<(DMatrix<f64>, DVector<f64>)> = STRENGTHS
        .filter_map(|power| {
            let mut matrix = gram.clone();
            let strength = 10.0_f64.powf(0.5 * f64::from(power));
            (0..p).for_each(|k| matrix[(k, k)] += strength);
            // (XᵀX + λI)⁻¹ Xᵀ, and the diagonal of the hat matrix.
            let solve = matrix.cholesky()?.solve(&x.transpose());
            let hat = (0..n).map(|i| x.row(i).dot(&solve.column(i).transpose()) + 1.0 / n as f64);
            let hat = DVector::from_iterator(n, hat);
            Some((solve, hat))
        })
        .collect();
    let (mut coefficients, mut variance) = (Vec::with_capacity(count * (p + 1)), Vec::new());
    for target in 0..count {
        let mean = targets.iter().map(|row| row[target]).sum::<f64>() / n as f64;
        let y = DVector::from_iterator(n, targets.iter().map(|row| row[target] - mean));
        // The mean alone.
        let alone = y.map(|y| y / (1.0 - 1.0 / n.max(2) as f64));
        let mut best = (mean_square(&alone), DVector::zeros(p));
        for (solve, hat) in &fits {
            let slopes = solve * &y;
            let errors = (&y - &x * &slopes).zip_map(hat, |error, hat| error / (1.0 - hat));
            let error = mean_square(&errors);
            if error < best.0 {
                best = (error, slopes);
            }
        }
        coefficients.push(mean);
        let slopes = best.1.iter().zip(&scale);
        coefficients.extend(slopes.map(|(b, s)| if *s > 0.0 { b / s } else { 0.0 }));
        variance.push(best.0);
    }
    for number in centre.iter_mut().chain(&mut coefficients).chain(&mut variance) {
        // Of a training that has diverged.
        *number = if number.is_finite() { *number } else { 0.0 };
    }
    Regression { centre, coefficients, variance }
}

fn mean_square(errors: &DVector<f64>) -> f64 {
    errors.norm_squared() / errors.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    fn rows(n: usize, noise: f64) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
        let mut random = Random::new(9, "ridge");
        let features: Vec<Vec<f64>> = (0..n)
            .map(|_| vec![5.0 + 2.0 * random.normal(), 1e-3 * random.normal(), 7.0])
            .collect();
        let targets = features.iter().map(|x| {
            vec![3.0 - 2.0 * x[0] + 400.0 * x[1] + noise * random.normal(), random.normal()]
        });
        (features.clone(), targets.collect())
    }

    #[test]
    fn a_linear_target_is_found_and_one_without_relation_is_its_mean() {
        let (features, targets) = rows(30, 1e-3);
        let regression = regress(&features, &targets);
        for (x, y) in features.iter().zip(&targets) {
            let predicted = regression.predict(x);
            assert!((predicted[0] - y[0]).abs() < 0.05, "{predicted:?} {y:?}");
        }
        let mean = targets.iter().map(|y| y[1]).sum::<f64>() / 30.0;
        let slopes = &regression.coefficients[5..];
        assert!((regression.coefficients[4] - mean).abs() < 1e-12);
        assert!(slopes[0].abs() < 0.1 && slopes[2] == 0.0, "{slopes:?}");
        assert!(regression.variance[0] < 0.01 && regression.variance[1] > 0.5);
    }

    #[test]
    fn the_error_of_leave_one_out_is_that_of_fits_without_each_row() {
        let (features, targets) = rows(8, 1.0);
        let y: Vec<Vec<f64>> = targets.iter().map(|row| vec![row[0]]).collect();
        let chosen = regress(&features, &y).variance[0];
        // By hand: ridge of the standardised features, with the mean of the rows that are left.
        let column = |k: usize| features.iter().map(move |row| row[k]);
        let mean = |k: usize| column(k).sum::<f64>() / 8.0;
        let spread =
            |k: usize| (column(k).map(|x| (x - mean(k)).powi(2)).sum::<f64>() / 8.0).sqrt();
        let z = |i: usize, k: usize| (features[i][k] - mean(k)) / spread(k);
        let least = STRENGTHS.map(|power| {
            let strength = 10.0_f64.powf(0.5 * f64::from(power));
            let errors = (0..8).map(|out| {
                let kept: Vec<usize> = (0..8).filter(|i| *i != out).collect();
                // An intercept without a penalty is a third column.
                let row = |i: usize| [z(i, 0), z(i, 1), 1.0];
                let mut matrix =
                    DMatrix::from_diagonal(&DVector::from_vec(vec![strength, strength, 0.0]));
                let mut right = DVector::zeros(3);
                for &i in &kept {
                    let row = DVector::from_row_slice(&row(i));
                    matrix += &row * row.transpose();
                    right += row * y[i][0];
                }
                let b = matrix.lu().solve(&right).unwrap();
                (y[out][0] - b.dot(&DVector::from_row_slice(&row(out)))).powi(2)
            });
            errors.sum::<f64>() / 8.0
        });
        let least = least.fold(f64::INFINITY, f64::min);
        assert!((chosen - least).abs() < 1e-9 * least, "{chosen} {least}");
    }

    #[test]
    fn few_rows_and_missing_features_give_the_mean() {
        let one = regress(&[vec![1.0, f64::NAN]], &[vec![4.0]]);
        assert_eq!(one.predict(&[3.0, 8.0]), [4.0]);
        let two = regress(&[vec![1.0], vec![2.0]], &[vec![4.0], vec![6.0]]);
        assert!((two.predict(&[f64::NAN])[0] - 5.0).abs() < 1e-12);
        assert!(two.coefficients.iter().all(|c| c.is_finite()));
    }
}
