//! A falling quantity inside a step: the monotone cubic between its values at the ends.
//!
//! ```text
//! W(ϑ) = E₀ + (E₁ − E₀) ϑ²(3 − 2ϑ) + m₀ ϑ(1 − ϑ)² − m₁ ϑ²(1 − ϑ)
//! ```
//!
//! with the slopes `m` of `E` along the dense output at the ends, limited to `[3(E₁ − E₀), 0]`: it falls
//! then (Fritsch and Carlson, *Monotone Piecewise Cubic Interpolation*, SIAM J. Numer. Anal. 17, 1980),
//! and where nothing is limited, its error is that of a cubic, `O(h⁴)`.

/// Values of a quantity at the ends of a step, and its slopes by ϑ there.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Ends {
    pub(super) values: [f64; 2],
    pub(super) slopes: [f64; 2],
}

impl Ends {
    /// `E₁ − E₀`; 0 if it rises by rounding.
    fn change(&self) -> f64 {
        (self.values[1] - self.values[0]).min(0.0)
    }

    /// `W(ϑ)`
    pub(super) fn at(&self, theta: f64) -> f64 {
        let change = self.change();
        let [start, end] = self.slopes.map(|slope| slope.min(0.0).max(3.0 * change));
        let [step, first, last] = weights(theta);
        self.values[0] + change * step + start * first + end * last
    }

    /// The derivatives of `W(ϑ)`, times `bar`.
    pub(super) fn pull_back(&self, theta: f64, bar: f64) -> Self {
        let change = self.change();
        let [step, first, last] = weights(theta);
        let mut change_bar = step * bar;
        let slopes = [(self.slopes[0], first), (self.slopes[1], last)].map(|(slope, weight)| {
            if slope < 3.0 * change {
                change_bar += 3.0 * weight * bar;
                0.0
            } else if slope > 0.0 {
                0.0
            } else {
                weight * bar
            }
        });
        let change_bar = if self.values[1] < self.values[0] { change_bar } else { 0.0 };
        Self { values: [bar - change_bar, change_bar], slopes }
    }
}

/// The weights of the change and of both slopes.
fn weights(theta: f64) -> [f64; 3] {
    let rest = 1.0 - theta;
    [theta * theta * (3.0 - 2.0 * theta), theta * rest * rest, -theta * theta * rest]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Falling ends with slopes inside and outside of their limits.
    fn ends() -> impl Iterator<Item = Ends> {
        let slopes = [-20.0, -3.0, -0.4, 0.0, 5.0];
        slopes
            .into_iter()
            .flat_map(move |a| slopes.map(|b| Ends { values: [2.0, 0.5], slopes: [a, b] }))
    }

    #[test]
    fn it_has_the_ends_and_never_rises_between_them() {
        for ends in ends() {
            assert!((ends.at(0.0) - 2.0).abs() < 1e-15 && (ends.at(1.0) - 0.5).abs() < 1e-15);
            let values: Vec<f64> = (0..=1000).map(|i| ends.at(f64::from(i) / 1000.0)).collect();
            let rises = values.windows(2).filter(|pair| pair[1] > pair[0] + 1e-15).count();
            assert_eq!(rises, 0, "{ends:?}");
        }
    }

    #[test]
    fn a_cubic_that_falls_is_itself() {
        let cubic = |x: f64| 1.0 - x - 0.2 * x * x - 0.3 * x * x * x;
        let slope = |x: f64| -1.0 - 0.4 * x - 0.9 * x * x;
        let ends = Ends { values: [cubic(0.0), cubic(1.0)], slopes: [slope(0.0), slope(1.0)] };
        for theta in [0.1, 0.5, 0.77] {
            assert!((ends.at(theta) - cubic(theta)).abs() < 1e-15);
        }
    }

    #[test]
    fn its_adjoint_is_that_of_differences() {
        let h = 1e-6;
        for ends in ends().filter(|ends| ends.slopes.iter().all(|slope| slope.abs() > 1e-3)) {
            let found = ends.pull_back(0.3, 1.7);
            for i in 0..2 {
                let slope = |change: &dyn Fn(&mut Ends, f64)| {
                    let [mut plus, mut minus] = [ends; 2];
                    change(&mut plus, h);
                    change(&mut minus, -h);
                    1.7 * (plus.at(0.3) - minus.at(0.3)) / (2.0 * h)
                };
                let by_value = slope(&|ends, h| ends.values[i] += h);
                let by_slope = slope(&|ends, h| ends.slopes[i] += h);
                assert!((found.values[i] - by_value).abs() < 1e-8, "{ends:?}: {found:?}");
                assert!((found.slopes[i] - by_slope).abs() < 1e-8, "{ends:?}: {found:?}");
            }
        }
    }
}
