//! Dense output: the solution between the ends of a step, as a polynomial in `ϑ ∈ [0, 1]`.
//!
//! ```text
//! y(t_n + ϑh) = y_n + h Σ_i b_i(ϑ) k_i
//! b_i(ϑ) = b_i ϑ²(3 − 2ϑ)  +  d_i ϑ²(1 − ϑ)²
//!          + [i is the start]  ϑ(1 − ϑ)²
//!          − [i is the end]    ϑ²(1 − ϑ)
//! ```
//!
//! The stages are those of the step and, as the last one, the *end* `f(t_{n+1}, y_{n+1})`. Without
//! `d` this is the cubic Hermite interpolant of both ends' values and slopes. Every quartic whose
//! slopes at both ends are right has the form with `d`, and the published continuous extensions of
//! Dormand–Prince and Tsitouras are such quartics: `d_i` is the coefficient of `ϑ⁴` of theirs.

/// The interpolating polynomial of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dense {
    /// Order q of the polynomial: its own error within a step is `O(h^{q+1})`.
    ///
    /// So values between the steps converge with order `min(q + 1, p)`, p the order of the tableau.
    pub order: usize,
    /// The quartic part `d_i`, the end's last; empty for the cubic Hermite interpolant.
    pub quartic: &'static [f64],
}

impl Dense {
    /// Returns cubic Hermite interpolation for a tableau of this order.
    ///
    /// It keeps the order of the step up to 3, because it is made of the step's own weights.
    pub const fn hermite(order: usize) -> Self {
        Self { order: if order < 3 { order } else { 3 }, quartic: &[] }
    }

    /// `b_i(ϑ)` for the step's own stages and the end, see the module's formula.
    pub(crate) fn weights(&self, b: &[f64], theta: f64, weights: &mut [f64]) {
        let rest = 1.0 - theta;
        let end = weights.len() - 1;
        let step = theta * theta * (3.0 - 2.0 * theta);
        for (weight, b) in weights[..end].iter_mut().zip(b) {
            *weight = b * step;
        }
        weights[0] += theta * rest * rest;
        weights[end] = -theta * theta * rest;
        let bubble = theta * theta * rest * rest;
        for (weight, d) in weights.iter_mut().zip(self.quartic) {
            *weight += d * bubble;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tableaus::TABLEAUS;

    #[test]
    fn dense_weights_are_zero_at_the_start_and_the_weights_at_the_end() {
        for tableau in TABLEAUS {
            let own = tableau.own_stages();
            let mut weights = vec![f64::NAN; own + 1];
            tableau.dense_weights(0.0, &mut weights);
            assert!(weights.iter().all(|w| w.abs() < 1e-300), "{}", tableau.name);
            tableau.dense_weights(1.0, &mut weights);
            assert_eq!(weights[..own], tableau.b[..own], "{}", tableau.name);
            assert!(weights[own].abs() < 1e-300, "{}", tableau.name);
        }
    }

    #[test]
    fn slopes_at_both_ends_are_the_first_and_the_end_stage() {
        for tableau in TABLEAUS {
            let own = tableau.own_stages();
            for (theta, stage) in [(0.0, 0), (1.0, own)] {
                let (mut plus, mut minus) = (vec![0.0; own + 1], vec![0.0; own + 1]);
                tableau.dense_weights(theta + 1e-5, &mut plus);
                tableau.dense_weights(theta - 1e-5, &mut minus);
                for i in 0..=own {
                    let slope = (plus[i] - minus[i]) / 2e-5;
                    let expected = f64::from(u8::from(i == stage));
                    assert!((slope - expected).abs() < 1e-7, "{} {theta} {i}", tableau.name);
                }
            }
        }
    }
}
