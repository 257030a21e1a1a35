//! Minimises a function of an array by L-BFGS, without a training loop.

use crate::optimiser::{Lbfgs, LbfgsScaling, LbfgsSettings, Optimiser as _, Step};

/// Pairs of the memory.
const MEMORY: usize = 30;

/// Minimises `f`, which returns its value and writes its gradient, from `x`. Returns the value at the
/// end and the number of evaluations.
///
/// It ends where no derivative is larger than `tolerance`, after `most` evaluations, or where no step
/// lowers the value. Where `f` is not finite, steps are shortened.
pub(crate) fn minimise(
    x: &mut [f64],
    most: usize,
    tolerance: f64,
    mut f: impl FnMut(&[f64], &mut [f64]) -> f64,
) -> (f64, usize) {
    let settings = LbfgsSettings { memory: MEMORY, scaling: LbfgsScaling::Newest };
    let mut lbfgs = Lbfgs::new(settings, x.len());
    let mut gradient = vec![0.0; x.len()];
    let mut least = f64::INFINITY;
    for evaluation in 1..=most {
        let value = f(x, &mut gradient);
        let finite = value.is_finite() && gradient.iter().all(|bar| bar.is_finite());
        if finite {
            least = least.min(value);
        }
        if evaluation == most {
            lbfgs.finish(x, if finite { value } else { f64::INFINITY });
            return (least, evaluation);
        }
        let mut step =
            if finite { lbfgs.advance(x, value, &gradient, 1.0) } else { lbfgs.shorten(x) };
        while step == Step::Accepted {
            if gradient.iter().all(|bar| bar.abs() <= tolerance) {
                return (value, evaluation);
            }
            step = lbfgs.advance(x, value, &gradient, 1.0);
        }
        if let Step::Stalled(_) = step {
            return (least, evaluation);
        }
    }
    (least, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minimum_of_a_parabola_is_found_and_the_count_is_kept() {
        let parabola = |x: &[f64], gradient: &mut [f64]| {
            let mut value = 0.0;
            for (n, (x, bar)) in x.iter().zip(gradient).enumerate() {
                let weight = 10.0_f64.powi(i32::try_from(n).unwrap());
                value += 0.5 * weight * (x - 1.0).powi(2);
                *bar = weight * (x - 1.0);
            }
            value
        };
        let mut x = [5.0, -3.0, 2.0, 0.0];
        let (value, evaluations) = minimise(&mut x, 200, 1e-10, parabola);
        assert!(value < 1e-18 && evaluations < 60, "{value} after {evaluations}");
        assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-9), "{x:?}");
        let mut x = [5.0; 4];
        assert_eq!(minimise(&mut x, 7, 0.0, parabola).1, 7);
    }

    #[test]
    fn a_wall_is_not_crossed() {
        let wall = |x: &[f64], gradient: &mut [f64]| {
            gradient[0] = 1.0 - 1.0 / x[0];
            x[0] - x[0].ln()
        };
        let mut x = [1e-3];
        minimise(&mut x, 100, 1e-12, wall);
        assert!((x[0] - 1.0).abs() < 1e-9, "{x:?}");
    }
}
