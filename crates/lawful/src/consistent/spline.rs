//! The natural cubic spline through the rows of a table: values between them, and slopes.

/// A natural cubic spline through points at increasing times.
#[derive(Debug, Clone)]
pub(crate) struct Spline<'a> {
    times: &'a [f64],
    values: &'a [f64],
    /// Second derivatives at the points, 0 at both ends.
    bends: Vec<f64>,
}

impl<'a> Spline<'a> {
    /// Through these points, at least two.
    pub(crate) fn new(times: &'a [f64], values: &'a [f64]) -> Self {
        let n = times.len();
        let mut bends = vec![0.0; n];
        // h_k m_{k−1} + 2(h_k + h_{k+1}) m_k + h_{k+1} m_{k+1} = 6 (Δ_{k+1} − Δ_k), by elimination.
        let mut upper = vec![0.0; n];
        for k in 1..n.saturating_sub(1) {
            let (a, b) = (times[k] - times[k - 1], times[k + 1] - times[k]);
            let rise = (values[k + 1] - values[k]) / b - (values[k] - values[k - 1]) / a;
            let pivot = 2.0 * (a + b) - a * upper[k - 1];
            upper[k] = b / pivot;
            bends[k] = (6.0 * rise - a * bends[k - 1]) / pivot;
        }
        for k in (1..n.saturating_sub(1)).rev() {
            bends[k] -= upper[k] * bends[k + 1];
        }
        Self { times, values, bends }
    }

    /// Returns the value and the slope at `t`; beyond the ends, on the line through the end.
    pub(crate) fn at(&self, t: f64) -> (f64, f64) {
        let last = self.times.len() - 1;
        let k = self.times.partition_point(|&time| time <= t).clamp(1, last);
        let (t0, t1) = (self.times[k - 1], self.times[k]);
        let h = t1 - t0;
        let inside = t.clamp(t0, t1);
        let (a, b) = ((t1 - inside) / h, (inside - t0) / h);
        let (y0, y1, m0, m1) =
            (self.values[k - 1], self.values[k], self.bends[k - 1], self.bends[k]);
        let value =
            a * y0 + b * y1 + h * h / 6.0 * ((a * a - 1.0) * a * m0 + (b * b - 1.0) * b * m1);
        let slope = (y1 - y0) / h + h / 6.0 * ((3.0 * b * b - 1.0) * m1 - (3.0 * a * a - 1.0) * m0);
        (value + slope * (t - inside), slope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_reproduced_and_continued() {
        let times = [0.0, 1.0, 1.5, 4.0];
        let values = times.map(|t| 2.0 - 3.0 * t);
        let spline = Spline::new(&times, &values);
        for t in [-1.0, 0.0, 0.3, 1.5, 3.9, 6.0] {
            let (value, slope) = spline.at(t);
            assert!((value - (2.0 - 3.0 * t)).abs() < 1e-13 && (slope + 3.0).abs() < 1e-13);
        }
        let two = Spline::new(&times[..2], &values[..2]);
        assert!((two.at(0.5).0 - 0.5).abs() < 1e-15);
    }

    #[test]
    fn a_sine_is_followed_with_its_slope() {
        let times: Vec<f64> = (0..41).map(|n| f64::from(n) * std::f64::consts::PI / 20.0).collect();
        let values: Vec<f64> = times.iter().map(|t| t.sin()).collect();
        let spline = Spline::new(&times, &values);
        for t in [0.4, 1.0, 2.2, 5.0] {
            let (value, slope) = spline.at(t);
            assert!((value - t.sin()).abs() < 1e-5, "{t}: {value}");
            assert!((slope - t.cos()).abs() < 1e-4, "{t}: {slope}");
        }
    }
}
