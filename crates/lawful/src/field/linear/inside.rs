//! Values inside a step, exactly within the laws that the blended polynomial keeps to rounding.
//!
//! Of a state with a direction, two values close to each other must be in the right order too: its polynomial
//! is computed in twice the precision and rounded once, which keeps the order.

use super::guard::LinearGuard;

/// A number as the sum of two, the second below half a unit in the last place of the first.
#[derive(Clone, Copy)]
struct Double(f64, f64);

impl Double {
    /// The exact sum of two numbers.
    fn sum(a: f64, b: f64) -> Self {
        let sum = a + b;
        let part = sum - a;
        Self(sum, (a - (sum - part)) + (b - part))
    }

    fn plus(self, other: Self) -> Self {
        let Self(high, low) = Self::sum(self.0, other.0);
        Self::sum(high, low + self.1 + other.1)
    }

    fn times(self, other: Self) -> Self {
        let product = self.0 * other.0;
        let rest = self.0.mul_add(other.0, -product);
        Self::sum(product, rest + self.0 * other.1 + self.1 * other.0)
    }
}

/// `Σ_j B_j(ϑ) m_j` for the Bernstein polynomials of degree 4, of numbers that begin with 0.
fn bernstein(m: [f64; 5], theta: f64) -> f64 {
    let (t, r) = (Double(theta, 0.0), Double::sum(1.0, -theta));
    let (t2, r2) = (t.times(t), r.times(r));
    let powers = [r2.times(r).times(t), r2.times(t2), t2.times(t).times(r), t2.times(t2)];
    let mut value = Double(0.0, 0.0);
    for ((power, binomial), m) in powers.into_iter().zip([4.0, 6.0, 4.0, 1.0]).zip(&m[1..]) {
        value = value.plus(power.times(Double(binomial, 0.0)).times(Double(*m, 0.0)));
    }
    value.0
}

impl LinearGuard {
    /// Corrects a value inside a step by rounding.
    pub(super) fn put_inside(&self, curve: &[f64], theta: f64, value: &mut [f64]) {
        let d = value.len();
        for (i, state) in self.form.states.iter().enumerate() {
            let (start, end) = (curve[i], curve[4 * d + i]);
            if let Some(direction) = state.direction {
                // Coefficients that are in order, up to rounding: changes in the direction, from 0.
                let whole = (direction * (end - start)).max(0.0);
                let mut m = [0.0; 5];
                for j in 1..4 {
                    let change = direction * (curve[j * d + i] - start);
                    m[j] = change.max(m[j - 1]).min(whole);
                }
                m[4] = whole;
                let moved = start + direction * bernstein(m, theta);
                value[i] = if direction < 0.0 { moved.max(end) } else { moved.min(end) };
            } else if state.stays {
                value[i] = start;
            }
            if let Some(lower) = &state.lower {
                value[i] = value[i].max(lower.at);
            }
            if let Some(upper) = &state.upper {
                value[i] = value[i].min(upper.at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_close_to_each_other_are_in_order() {
        // A polynomial that is almost flat in the middle, at times a few roundings apart.
        for m in [[0.0, 0.5, 0.5, 0.5, 1.0], [0.0, 1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 1e-9, 1.0]]
        {
            for start in [0.1, 0.5, 0.9] {
                let mut before = 0.0;
                let mut theta: f64 = start;
                for _ in 0..20_000 {
                    let value = bernstein(m, theta);
                    assert!(value >= before, "{m:?} {theta}");
                    (before, theta) = (value, theta.next_up().next_up());
                }
            }
        }
    }

    #[test]
    fn it_is_the_polynomial() {
        let m = [0.0, 0.3, 0.4, 0.9, 1.0];
        for theta in [0.01, 0.3, 0.77] {
            let (t, r) = (theta, 1.0 - theta);
            let terms: [f64; 5] =
                [0.0, 4.0 * t * r * r * r, 6.0 * t * t * r * r, 4.0 * t * t * t * r, t * t * t * t];
            let expected: f64 = terms.iter().zip(m).map(|(b, m)| b * m).sum();
            assert!((bernstein(m, theta) - expected).abs() < 1e-15);
        }
    }
}
