//! The monotone cubic through measured cells: slopes for a first guess, without overshoot.

/// A cubic Hermite spline that is monotone where its points are (Fritsch and Butland 1984).
///
/// The slope at an inner point is the weighted harmonic mean of the slopes of its chords, and 0 where they
/// differ in sign.
#[derive(Debug, Clone)]
pub(super) struct Monotone {
    points: Vec<(f64, f64)>,
    slopes: Vec<f64>,
}

impl Monotone {
    /// Through these points, at least two, at increasing times.
    pub(super) fn new(points: Vec<(f64, f64)>) -> Self {
        let steps: Vec<f64> = points.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
        let chords: Vec<f64> =
            (points.windows(2).zip(&steps)).map(|(pair, h)| (pair[1].1 - pair[0].1) / h).collect();
        let n = points.len();
        let slopes = (0..n).map(|k| match k {
            0 => end(&steps, &chords, 0, 1),
            k if k + 1 == n => end(&steps, &chords, n - 2, n.saturating_sub(3)),
            k if chords[k - 1] * chords[k] <= 0.0 => 0.0,
            k => {
                let (a, b) = (2.0 * steps[k] + steps[k - 1], steps[k] + 2.0 * steps[k - 1]);
                (a + b) / (a / chords[k - 1] + b / chords[k])
            }
        });
        Self { slopes: slopes.collect(), points }
    }

    /// Returns the value and the slope at `t`; beyond the ends, the end's value and 0.
    pub(super) fn at(&self, t: f64) -> (f64, f64) {
        let last = self.points.len() - 1;
        if t < self.points[0].0 || t > self.points[last].0 {
            return (self.points[if t < self.points[0].0 { 0 } else { last }].1, 0.0);
        }
        let k = self.points.partition_point(|&(time, _)| time <= t).clamp(1, last);
        let ((t0, y0), (t1, y1)) = (self.points[k - 1], self.points[k]);
        let (m0, m1, h) = (self.slopes[k - 1], self.slopes[k], t1 - t0);
        let x = (t - t0) / h;
        let chord = (y1 - y0) / h;
        let (square, cube) = (3.0 * chord - 2.0 * m0 - m1, m0 + m1 - 2.0 * chord);
        (y0 + h * x * (m0 + x * (square + x * cube)), m0 + x * (2.0 * square + 3.0 * x * cube))
    }
}

/// The slope at an end, by the parabola through three points, kept monotone.
fn end(steps: &[f64], chords: &[f64], near: usize, far: usize) -> f64 {
    if chords.len() == 1 {
        return chords[0];
    }
    let (a, b) = (steps[near], steps[far]);
    let slope = ((2.0 * a + b) * chords[near] - a * chords[far]) / (a + b);
    if slope * chords[near] <= 0.0 {
        0.0
    } else if chords[near] * chords[far] < 0.0 && slope.abs() > 3.0 * chords[near].abs() {
        3.0 * chords[near]
    } else {
        slope
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of `scipy.interpolate.PchipInterpolator` at the same points.
    #[test]
    fn values_and_slopes_are_those_of_scipy() {
        let points = vec![(0.0, 1.0), (1.0, 2.0), (2.5, 2.5), (3.0, 1.0), (5.0, 0.8)];
        let spline = Monotone::new(points);
        let scipy = [
            (0.25, 1.310_129_310_344_827_7, 1.200_862_068_965_517_2),
            (0.5, 1.593_678_160_919_54, 1.054_022_988_505_747_3),
            (1.0, 2.0, 0.517_241_379_310_344_9),
            (1.7, 2.328_025_542_784_163_6, 0.387_432_950_191_570_8),
            (2.6, 2.347_809_523_809_523_6, -2.813_333_333_333_335_7),
            (3.0, 1.0, -0.238_095_238_095_238_03),
            (4.5, 0.808_928_571_428_571_6, -0.038_095_238_095_238_1),
        ];
        for (t, value, slope) in scipy {
            let found = spline.at(t);
            assert!((found.0 - value).abs() < 1e-12, "{t}: {found:?}");
            assert!((found.1 - slope).abs() < 1e-12, "{t}: {found:?}");
        }
    }

    #[test]
    fn two_points_are_joined_by_a_line() {
        let spline = Monotone::new(vec![(1.0, 3.0), (3.0, 7.0)]);
        assert_eq!(
            [spline.at(2.0), spline.at(0.0), spline.at(9.0)],
            [(5.0, 2.0), (3.0, 0.0), (7.0, 0.0)]
        );
    }
}
