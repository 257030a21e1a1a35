//! A least-squares problem with noise added to its measurements and to the means of its priors.

use crate::least_squares::{Damping, LevenbergMarquardt, Point, Residuals, Stepped};

/// Most steps of a draw, and the relative change of the sum of squares that ends it.
const STEPS: usize = 25;
const CHANGE: f64 = 1e-4;
/// Damping of the first step: the minimum is near, and directions that the data hardly determine count.
const DAMPING: f64 = 1e-4;

/// Residuals `r(x) + shift` as functions of `x − centre`, around which the priors have their means 0.
pub(super) struct Perturbed<'a> {
    residuals: &'a mut dyn Residuals,
    shifts: Vec<f64>,
    centre: Vec<f64>,
    x: Vec<f64>,
}

impl<'a> Perturbed<'a> {
    /// The residuals with a shift of each, and the means of the priors.
    pub(super) fn new(
        residuals: &'a mut dyn Residuals,
        shifts: Vec<f64>,
        centre: Vec<f64>,
    ) -> Self {
        Self { residuals, shifts, x: centre.clone(), centre }
    }

    /// Minimises from a point of the residuals without shifts. Returns x.
    pub(super) fn minimise(&mut self, from: &Point, weights: &[f64], priors: &[f64]) -> Vec<f64> {
        let mut point = from.clone();
        point.x.iter_mut().zip(&self.centre).for_each(|(x, centre)| *x -= centre);
        point.residuals.iter_mut().zip(&self.shifts).for_each(|(r, shift)| *r += shift);
        let mut method = LevenbergMarquardt::new(Damping { first: DAMPING, ..Damping::default() });
        for _ in 0..STEPS {
            let before = point.value(weights, priors);
            let stepped = method.step(self, &mut point, weights, priors);
            if stepped == Stepped::Stalled
                || before - point.value(weights, priors) < CHANGE * before
            {
                break;
            }
        }
        point.x.iter_mut().zip(&self.centre).for_each(|(x, centre)| *x += centre);
        point.x
    }
}

impl Residuals for Perturbed<'_> {
    fn residual_len(&self) -> usize {
        self.residuals.residual_len()
    }

    fn parameter_len(&self) -> usize {
        self.residuals.parameter_len()
    }

    fn evaluate(&mut self, x: &[f64], residuals: &mut [f64]) -> bool {
        let pairs = self.x.iter_mut().zip(x).zip(&self.centre);
        pairs.for_each(|((sum, x), centre)| *sum = x + centre);
        let exists = self.residuals.evaluate(&self.x, residuals);
        residuals.iter_mut().zip(&self.shifts).for_each(|(r, shift)| *r += shift);
        exists
    }

    fn jacobian(&mut self, jacobian: &mut [f64]) {
        self.residuals.jacobian(jacobian);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `r = (x − 2, 3x)`.
    struct Line;

    impl Residuals for Line {
        fn residual_len(&self) -> usize {
            2
        }

        fn parameter_len(&self) -> usize {
            1
        }

        fn evaluate(&mut self, x: &[f64], residuals: &mut [f64]) -> bool {
            residuals.copy_from_slice(&[x[0] - 2.0, 3.0 * x[0]]);
            true
        }

        fn jacobian(&mut self, jacobian: &mut [f64]) {
            jacobian.copy_from_slice(&[1.0, 3.0]);
        }
    }

    #[test]
    fn the_minimum_is_the_one_worked_by_hand() {
        // ½·5 (x − 2 + 0.5)² + ½·2 (3x − 1)² + ½·4 (x − 0.25)²: (5 + 18 + 4) x = 7.5 + 6 + 1.
        let from = Point::new(&mut Line, vec![1.0]).expect("it is finite");
        let mut line = Line;
        let mut perturbed = Perturbed::new(&mut line, vec![0.5, -1.0], vec![0.25]);
        let x = perturbed.minimise(&from, &[5.0, 2.0], &[4.0]);
        assert!((x[0] - 14.5 / 27.0).abs() < 1e-6, "{x:?}");
    }
}
