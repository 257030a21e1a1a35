//! The Butcher tableau of a Runge–Kutta method, with embedded error estimate and dense output.
//!
//! ```text
//! Y_i = y_n + h Σ_{j<i} a_ij k_j        k_i = f(t_n + c_i h, Y_i)        y_{n+1} = y_n + h Σ_i b_i k_i
//! ```
//!
//! One stepper and one adjoint run every tableau, so a new tableau is one constant in
//! [`tableaus`](crate::tableaus) and one line in [`TABLEAUS`](crate::TABLEAUS). A tableau whose
//! coefficients do not add up does not compile, see [`Tableau::checked`].

use crate::dense::Dense;

/// The tableau of an explicit Runge–Kutta method.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tableau {
    /// The word in configuration files, such as `rk4-38`.
    pub name: &'static str,
    /// One line for help texts: name and publication.
    pub title: &'static str,
    /// Order p: the error at a fixed time is `O(h^p)`.
    pub order: usize,
    /// Nodes `c_i`; `c_0 = 0`.
    pub c: &'static [f64],
    /// Rows `a_i`, of which row i has the i entries `a_i0 … a_i(i−1)`.
    pub a: &'static [&'static [f64]],
    /// Weights `b_i`.
    pub b: &'static [f64],
    /// Error estimate for adaptive steps, if there is one.
    pub embedded: Option<Embedded>,
    /// Solution between the ends of a step.
    pub dense: Dense,
}

/// Second weights b̂ for the same stages; the difference to b estimates the error of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Embedded {
    /// Order of b̂; the estimate is `O(h^{order + 1})`.
    pub order: usize,
    /// `e_i = b_i − b̂_i`; the estimate is `h Σ e_i k_i`.
    pub error: &'static [f64],
}

impl Tableau {
    /// Number of stages.
    pub const fn stages(&self) -> usize {
        self.c.len()
    }

    /// Returns whether the last stage is the derivative at the step's end, and so the next step's
    /// first stage ("first same as last"): `c_s = 1`, `a_sj = b_j`, `b_s = 0`.
    pub const fn is_fsal(&self) -> bool {
        let last = self.stages() - 1;
        if last == 0 || !same(self.c[last], 1.0) || !same(self.b[last], 0.0) {
            return false;
        }
        let mut j = 0;
        while j < last {
            if !same(self.a[last][j], self.b[j]) {
                return false;
            }
            j += 1;
        }
        true
    }

    /// Number of stages that `y_{n+1}` depends on: all but the last one of an FSAL tableau.
    pub const fn own_stages(&self) -> usize {
        self.stages() - self.is_fsal() as usize
    }

    /// Returns the tableau after checking its shape and sums:
    /// `Σ_j a_ij = c_i`, `Σ b_i = 1`, `Σ e_i = 0`.
    ///
    /// Evaluated at compile time for the constants of this crate.
    ///
    /// # Panics
    /// If a length is wrong, or a sum is off by more than rounding.
    #[must_use]
    pub const fn checked(self) -> Self {
        let s = self.stages();
        assert!(s >= 1 && self.a.len() == s && self.b.len() == s, "one row and weight per stage");
        let mut i = 0;
        while i < s {
            assert!(self.a[i].len() == i, "row i of an explicit tableau has i entries");
            assert!(near(sum(self.a[i]), self.c[i]), "a row sums to its node");
            i += 1;
        }
        assert!(near(sum(self.b), 1.0), "the weights sum to one");
        if let Some(embedded) = self.embedded {
            assert!(embedded.error.len() == s, "one error weight per stage");
            assert!(near(sum(embedded.error), 0.0), "the error weights sum to zero");
            assert!(embedded.order < self.order, "the embedded weights are of lower order");
        }
        let quartic = self.dense.quartic;
        assert!(quartic.is_empty() || quartic.len() == self.own_stages() + 1);
        assert!(near(sum(quartic), 0.0), "the dense output keeps constants");
        self
    }

    /// Weights `b_i(ϑ)` of the dense output `y(t_n + ϑh) = y_n + h Σ_i b_i(ϑ) k_i`.
    ///
    /// `weights` has [`own_stages`](Self::own_stages) + 1 entries; the last one belongs to the
    /// derivative at the step's end, `f(t_{n+1}, y_{n+1})`.
    pub fn dense_weights(&self, theta: f64, weights: &mut [f64]) {
        self.dense.weights(self.b, theta, weights);
    }
}

const fn sum(values: &[f64]) -> f64 {
    let (mut sum, mut i) = (0.0, 0);
    while i < values.len() {
        sum += values[i];
        i += 1;
    }
    sum
}

/// Equal up to the rounding of a sum of a few coefficients of size ten.
const fn near(x: f64, y: f64) -> bool {
    (x - y).abs() < 2e-14
}

const fn same(x: f64, y: f64) -> bool {
    x.to_bits() == y.to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tableaus::{DOPRI5, RK4, TABLEAUS};

    #[test]
    fn only_the_three_embedded_pairs_of_their_kind_are_fsal() {
        let fsal: Vec<_> = TABLEAUS.iter().filter(|m| m.is_fsal()).map(|m| m.name).collect();
        assert_eq!(fsal, ["bosh3", "dopri5", "tsit5"]);
        assert_eq!((DOPRI5.stages(), DOPRI5.own_stages()), (7, 6));
        assert_eq!((RK4.stages(), RK4.own_stages()), (4, 4));
    }

    #[test]
    #[should_panic(expected = "a row sums to its node")]
    fn a_wrong_coefficient_is_refused() {
        let _ = Tableau { c: &[0.0, 0.5, 0.5, 0.9], ..RK4 }.checked();
    }

    #[test]
    #[should_panic(expected = "the weights sum to one")]
    fn a_wrong_weight_is_refused() {
        let _ = Tableau { b: &[0.25, 0.25, 0.25, 0.2], ..RK4 }.checked();
    }
}
