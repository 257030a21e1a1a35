//! How much a table bends: second divided differences at any times.

/// Second divided differences at the inner rows, in units of the mean interval.
///
/// ```text
/// D_k = √w_k · 2h²/(h_k + h_{k+1}) · ((z_{k+1} − z_k)/h_{k+1} − (z_k − z_{k−1})/h_k)
/// w_k = (h_k + h_{k+1})/2h,    h the mean interval
/// ```
///
/// On equal intervals these are `z_{k+1} − 2z_k + z_{k−1}`; on others `Σ D²` still approximates the
/// integral of the squared second derivative, in units of `h`.
#[derive(Debug, Clone)]
pub(crate) struct Curvature {
    /// The weights of three neighbours.
    stencils: Vec<[f64; 3]>,
}

/// The least interval, as a share of the mean one, whose rates count in full: cells measured almost at
/// the same time would have arbitrary ones.
const LEAST_INTERVAL: f64 = 0.05;

impl Curvature {
    /// At these times, which increase.
    pub(crate) fn new(times: &[f64]) -> Self {
        let n = times.len();
        if n < 3 {
            return Self { stencils: Vec::new() };
        }
        let mean = (times[n - 1] - times[0]) / (n - 1) as f64;
        let interval = |k: usize| (times[k] - times[k - 1]).max(LEAST_INTERVAL * mean) / mean;
        let stencil = |k: usize| {
            let (a, b) = (interval(k), interval(k + 1));
            let factor = f64::sqrt(0.5 * (a + b)) * 2.0 / (a + b);
            [factor / a, -factor * (1.0 / a + 1.0 / b), factor / b]
        };
        Self { stencils: (1..n - 1).map(stencil).collect() }
    }

    /// Adds `weight · Σ D²` of every column of `z` (rows of `width` values) to a value, and its gradient
    /// to `z_bar`.
    pub(crate) fn add(&self, z: &[f64], width: usize, weight: f64, z_bar: &mut [f64]) -> f64 {
        let mut sum = 0.0;
        for (k, stencil) in self.stencils.iter().enumerate() {
            for at in k * width..(k + 1) * width {
                let cells = [at, at + width, at + 2 * width];
                let bend: f64 = cells.iter().zip(stencil).map(|(&cell, w)| w * z[cell]).sum();
                sum += bend * bend;
                for (&cell, w) in cells.iter().zip(stencil) {
                    z_bar[cell] += 2.0 * weight * bend * w;
                }
            }
        }
        weight * sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_intervals_have_plain_second_differences_and_a_line_has_none() {
        let curvature = Curvature::new(&[1.0, 3.0, 5.0, 7.0]);
        for (found, expected) in curvature.stencils[0].iter().zip([1.0, -2.0, 1.0]) {
            assert!((found - expected).abs() < 1e-15);
        }
        // (1, 4, 9, 16) bends by 2 and 2; (0, 1, 0, 0) by −2 and 1.
        let (z, mut bar) = ([1.0, 0.0, 4.0, 1.0, 9.0, 0.0, 16.0, 0.0], [0.0; 8]);
        let value = curvature.add(&z, 2, 0.5, &mut bar);
        assert!((value - 0.5 * (8.0 + 5.0)).abs() < 1e-12, "{value}");
        let times = [0.0, 0.5, 2.0, 2.1, 7.0];
        let line = times.map(|t| 3.0 - 0.4 * t);
        let value = Curvature::new(&times).add(&line, 1, 1.0, &mut [0.0; 5]);
        assert!(value < 1e-24, "{value}");
    }

    #[test]
    fn gradients_match_differences() {
        let times = [0.0, 0.5, 2.0, 2.3, 7.0, 7.5];
        let curvature = Curvature::new(&times);
        let z: Vec<f64> = (0..12).map(|n| f64::from(n * n % 7)).collect();
        let mut bar = vec![0.0; 12];
        curvature.add(&z, 2, 0.7, &mut bar);
        for n in 0..12 {
            let at = |shift: f64| {
                let mut z = z.clone();
                z[n] += shift;
                curvature.add(&z, 2, 0.7, &mut [0.0; 12])
            };
            let difference = (at(1e-3) - at(-1e-3)) / 2e-3;
            assert!((difference - bar[n]).abs() <= 1e-6 * (1.0 + bar[n].abs()), "{n}");
        }
    }
}
