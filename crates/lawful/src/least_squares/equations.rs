//! The damped Gauss–Newton equations, in the form that is smaller.
//!
//! ```text
//! (H + μ diag H) step = −(JᵀWr + Ax),    H = JᵀWJ + A
//! ```
//!
//! With D = A + μ diag H, which is diagonal, and G = √W J, this is also
//!
//! ```text
//! step = −D⁻¹ (Ax + Gᵀ (1 + G D⁻¹ Gᵀ)⁻¹ (√W r − G D⁻¹ A x))
//! ```
//!
//! a system as large as the number of residuals: the dual form, taken if they are fewer than the
//! parameters. It needs μ > 0, or a prior on every parameter.

use lawful_ode::vectorised;
use nalgebra::{Cholesky, DMatrix, DVector};

/// The Gauss–Newton matrix at a point, and the buffers to solve its equations.
#[derive(Debug, Clone, Default)]
pub struct Equations {
    parameters: usize,
    dual: bool,
    /// `G = √W J` and `√W r`.
    scaled: Vec<f64>,
    errors: Vec<f64>,
    /// Diagonal of `JᵀWJ`.
    diagonal: Vec<f64>,
    /// `JᵀWJ` if the form is primal; lower triangle.
    product: DMatrix<f64>,
    /// `JᵀWr` if the form is primal.
    gradient: Vec<f64>,
    /// The system and its right-hand side.
    system: DMatrix<f64>,
    right: DVector<f64>,
    /// `D`, and rows of `G D⁻¹` for the dual form.
    damped: Vec<f64>,
    rows: Vec<f64>,
}

impl Equations {
    /// Sets the equations at a point with these residuals, Jacobian (row-major) and weights.
    pub fn set(&mut self, residuals: &[f64], jacobian: &[f64], weights: &[f64], parameters: usize) {
        let m = residuals.len();
        (self.parameters, self.dual) = (parameters, m < parameters);
        self.scaled.clear();
        self.errors.clear();
        self.diagonal.clear();
        self.diagonal.resize(parameters, 0.0);
        for ((row, r), weight) in jacobian.chunks_exact(parameters).zip(residuals).zip(weights) {
            let root = weight.sqrt();
            self.scaled.extend(row.iter().map(|slope| root * slope));
            self.errors.push(root * r);
        }
        for row in self.scaled.chunks_exact(parameters) {
            self.diagonal.iter_mut().zip(row).for_each(|(sum, slope)| *sum += slope * slope);
        }
        if !self.dual {
            gram_of_columns(&self.scaled, parameters, &mut self.product);
            self.gradient.clear();
            self.gradient.resize(parameters, 0.0);
            for (row, error) in self.scaled.chunks_exact(parameters).zip(&self.errors) {
                self.gradient.iter_mut().zip(row).for_each(|(sum, slope)| *sum += error * slope);
            }
        }
    }

    /// Solves for the step from x under these precisions with damping μ. Returns `false` if the matrix is
    /// not positive definite.
    pub fn solve(&mut self, x: &[f64], precisions: &[f64], damping: f64, step: &mut [f64]) -> bool {
        self.damped.clear();
        self.damped.extend(self.diagonal.iter().zip(precisions).map(|(h, a)| {
            // A parameter on which nothing depends stays where it is.
            let curvature = if h + a > 0.0 { h + a } else { 1.0 };
            a + damping * curvature
        }));
        if self.dual {
            self.solve_dual(x, precisions, step)
        } else {
            self.solve_primal(x, precisions, step)
        }
    }

    fn solve_primal(&mut self, x: &[f64], precisions: &[f64], step: &mut [f64]) -> bool {
        zeroed(&mut self.system, self.parameters);
        self.system.copy_from(&self.product);
        for (k, damped) in self.damped.iter().enumerate() {
            self.system[(k, k)] += damped;
        }
        sized(&mut self.right, self.parameters);
        for (k, right) in self.right.iter_mut().enumerate() {
            *right = -(self.gradient[k] + precisions[k] * x[k]);
        }
        if !solve_in_place(&mut self.system, &mut self.right) {
            return false;
        }
        step.copy_from_slice(self.right.as_slice());
        true
    }

    fn solve_dual(&mut self, x: &[f64], precisions: &[f64], step: &mut [f64]) -> bool {
        let (n, m) = (self.parameters, self.errors.len());
        let Self { scaled, errors, damped, rows, system, right, .. } = self;
        rows.clear();
        for row in scaled.chunks_exact(n) {
            rows.extend(row.iter().zip(&*damped).map(|(slope, d)| slope / d.sqrt()));
        }
        gram_of_rows(rows, n, m, system);
        sized(right, m);
        for ((right, row), error) in right.iter_mut().zip(scaled.chunks_exact(n)).zip(&*errors) {
            let pulls = row.iter().zip(&*damped).zip(x).zip(precisions);
            *right = error - pulls.map(|(((slope, d), x), a)| slope / d * a * x).sum::<f64>();
        }
        if !solve_in_place(system, right) {
            return false;
        }
        for (k, step) in step.iter_mut().enumerate() {
            *step = precisions[k] * x[k];
        }
        for (row, error) in scaled.chunks_exact(n).zip(right.iter()) {
            step.iter_mut().zip(row).for_each(|(sum, slope)| *sum += slope * error);
        }
        step.iter_mut().zip(&*damped).for_each(|(step, d)| *step /= -d);
        true
    }
}

/// Sets a vector to a length, without allocation if it has it.
fn sized(vector: &mut DVector<f64>, len: usize) {
    if vector.len() != len {
        *vector = DVector::zeros(len);
    }
}

/// Sets a square matrix to zeros, without allocation if it has the size.
pub(super) fn zeroed(matrix: &mut DMatrix<f64>, n: usize) {
    if matrix.nrows() == n {
        matrix.fill(0.0);
    } else {
        *matrix = DMatrix::zeros(n, n);
    }
}

/// Writes the lower triangle of `GᵀG` for row-major G with n columns.
pub(super) fn gram_of_columns(rows: &[f64], n: usize, product: &mut DMatrix<f64>) {
    zeroed(product, n);
    let target = product.as_mut_slice();
    vectorised(|| {
        // Column j of the lower triangle is a row of the upper one; four rows of G at a time, so that a
        // target is read and written once for four products.
        let mut blocks = rows.chunks_exact(4 * n);
        for block in &mut blocks {
            let (a, rest) = block.split_at(n);
            let (b, rest) = rest.split_at(n);
            let (c, d) = rest.split_at(n);
            for j in 0..n {
                let target = &mut target[j * n + j..(j + 1) * n];
                let four = a[j..].iter().zip(&b[j..]).zip(&c[j..]).zip(&d[j..]);
                for (sum, (((x, y), z), w)) in target.iter_mut().zip(four) {
                    *sum += a[j] * x + b[j] * y + c[j] * z + d[j] * w;
                }
            }
        }
        for row in blocks.remainder().chunks_exact(n) {
            for j in 0..n {
                let target = &mut target[j * n + j..(j + 1) * n];
                target.iter_mut().zip(&row[j..]).for_each(|(sum, x)| *sum += row[j] * x);
            }
        }
    });
}

/// Writes the lower triangle of `1 + GGᵀ` for row-major G with n columns and m rows.
fn gram_of_rows(rows: &[f64], n: usize, m: usize, product: &mut DMatrix<f64>) {
    zeroed(product, m);
    for (j, right) in rows.chunks_exact(n).enumerate() {
        for (i, left) in rows.chunks_exact(n).enumerate().skip(j) {
            product[(i, j)] = left.iter().zip(right).map(|(x, y)| x * y).sum();
        }
        product[(j, j)] += 1.0;
    }
}

/// Solves in place by Cholesky; the matrix keeps its allocation unless it is not positive definite.
fn solve_in_place(matrix: &mut DMatrix<f64>, right: &mut DVector<f64>) -> bool {
    let Some(factor) = Cholesky::new(std::mem::take(matrix)) else { return false };
    factor.solve_mut(right);
    *matrix = factor.unpack_dirty();
    right.iter().all(|x| x.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_give_the_same_step() {
        let number = |i: usize| ((i * 7 + 3) % 11) as f64 / 5.0 - 1.0;
        // Few residuals with few parameters: the dual form by force.
        for (m, n) in [(3, 5), (5, 5), (9, 4), (1, 1)] {
            let jacobian: Vec<f64> = (0..m * n).map(|i| number(i * i + 2)).collect();
            let residuals: Vec<f64> = (0..m).map(|i| number(3 * i + 1)).collect();
            let weights: Vec<f64> = (0..m).map(|i| 0.5 + i as f64).collect();
            let x: Vec<f64> = (0..n).map(|k| number(5 * k)).collect();
            let precisions: Vec<f64> = (0..n).map(|k| 0.1 + 0.2 * k as f64).collect();
            let mut steps = [vec![0.0; n], vec![0.0; n]];
            for (dual, step) in [false, true].into_iter().zip(&mut steps) {
                let mut equations = Equations::default();
                equations.set(&residuals, &jacobian, &weights, n);
                equations.dual = dual;
                gram_of_columns(&equations.scaled, n, &mut equations.product);
                equations.gradient = vec![0.0; n];
                for (row, e) in equations.scaled.chunks_exact(n).zip(&equations.errors) {
                    for (sum, slope) in equations.gradient.iter_mut().zip(row) {
                        *sum += e * slope;
                    }
                }
                assert!(equations.solve(&x, &precisions, 0.03, step));
            }
            for (a, b) in steps[0].iter().zip(&steps[1]) {
                assert!((a - b).abs() < 1e-12, "{m} × {n}: {steps:?}");
            }
        }
    }

    #[test]
    fn the_step_of_one_residual_is_the_one_worked_by_hand() {
        // r = 3, J = 2, w = 5, a = 1, x = 4: H = 21, gradient = 30 + 4 = 34, μ = 0.5: step = −34/31.5.
        let mut equations = Equations::default();
        equations.set(&[3.0], &[2.0], &[5.0], 1);
        let mut step = [0.0];
        assert!(equations.solve(&[4.0], &[1.0], 0.5, &mut step));
        assert!((step[0] + 34.0 / 31.5).abs() < 1e-14);
    }

    #[test]
    fn a_parameter_without_effect_stays() {
        let mut equations = Equations::default();
        equations.set(&[1.0, 2.0], &[1.0, 0.0, 1.0, 0.0], &[1.0, 1.0], 2);
        let mut step = [f64::NAN; 2];
        assert!(equations.solve(&[0.0, 0.0], &[0.0, 0.0], 0.0, &mut step) || step[1].is_nan());
        assert!(equations.solve(&[0.0, 0.0], &[0.0, 0.0], 1e-3, &mut step));
        assert!(step[1].abs() < 1e-300 && step[0] < 0.0);
    }
}
