//! The relation of a law: what its residual must be, and how a violation is measured.

/// What the residual `c` of a law must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Relation {
    /// `c = 0`, from `==`.
    Equality,
    /// `c ≤ 0`, from `<=` and `>=`. `<` and `>` mean the same: the set of violating residuals
    /// differs only by the boundary, where the violation is 0.
    AtMost,
}

impl Relation {
    /// Returns the violation of a residual `c`: `|c|` for an equality, `max(c + margin, 0)` for an
    /// inequality. NaN stays NaN.
    ///
    /// A positive `margin` tightens an inequality, so that `c ≤ −margin` counts as satisfied. An
    /// equality ignores it.
    ///
    /// ```
    /// use lawful_law::Relation;
    ///
    /// assert_eq!(Relation::Equality.violation(-0.5, 0.0), 0.5);
    /// assert_eq!(Relation::AtMost.violation(-0.5, 0.0), 0.0);
    /// assert_eq!(Relation::AtMost.violation(-0.5, 0.75), 0.25);
    /// ```
    #[inline]
    pub fn violation(self, residual: f64, margin: f64) -> f64 {
        match self {
            Self::Equality => residual.abs(),
            // Not `f64::max`, which would return 0 for NaN.
            Self::AtMost if residual + margin <= 0.0 => 0.0,
            Self::AtMost => residual + margin,
        }
    }

    /// Returns the derivative of [`violation`](Self::violation) with respect to the residual.
    ///
    /// This is the sign of `c` for an equality, and 1 where `c + margin > 0`, otherwise 0, for an
    /// inequality. The derivative is 0 at the kink of both. For NaN it is NaN for an equality and
    /// 0 for an inequality.
    #[inline]
    pub fn slope(self, residual: f64, margin: f64) -> f64 {
        match self {
            Self::Equality if residual == 0.0 => 0.0,
            Self::Equality => residual.signum(),
            Self::AtMost => f64::from(u8::from(residual + margin > 0.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::float_cmp, reason = "the expected numbers are exact")]

    use super::Relation::{AtMost, Equality};
    use proptest::prelude::*;

    #[test]
    fn violations_and_slopes_are_those_worked_by_hand() {
        // Relation, residual, margin, violation, slope.
        let table = [
            (Equality, 2.5, 0.0, 2.5, 1.0),
            (Equality, -2.5, 0.0, 2.5, -1.0),
            (Equality, 0.0, 0.0, 0.0, 0.0),
            (Equality, -0.0, 0.0, 0.0, 0.0),
            (Equality, -2.5, 4.0, 2.5, -1.0),
            (Equality, f64::INFINITY, 0.0, f64::INFINITY, 1.0),
            (Equality, f64::NEG_INFINITY, 0.0, f64::INFINITY, -1.0),
            (AtMost, 2.5, 0.0, 2.5, 1.0),
            (AtMost, -2.5, 0.0, 0.0, 0.0),
            (AtMost, 0.0, 0.0, 0.0, 0.0),
            (AtMost, -0.0, 0.0, 0.0, 0.0),
            (AtMost, 0.0, 0.5, 0.5, 1.0),
            (AtMost, -0.25, 0.5, 0.25, 1.0),
            (AtMost, -0.5, 0.5, 0.0, 0.0),
            (AtMost, 0.25, -0.5, 0.0, 0.0),
            (AtMost, f64::INFINITY, 0.5, f64::INFINITY, 1.0),
            (AtMost, f64::NEG_INFINITY, 0.5, 0.0, 0.0),
        ];
        for (relation, residual, margin, violation, slope) in table {
            let case = format!("{relation:?}, c = {residual}, margin {margin}");
            assert_eq!(relation.violation(residual, margin), violation, "{case}");
            assert!(relation.violation(residual, margin).is_sign_positive(), "{case}");
            assert_eq!(relation.slope(residual, margin), slope, "{case}");
        }
    }

    #[test]
    fn the_violation_of_nan_is_nan() {
        for (residual, margin) in [(f64::NAN, 0.0), (-f64::NAN, 1.0)] {
            assert!(Equality.violation(residual, margin).is_nan());
            assert!(AtMost.violation(residual, margin).is_nan());
            assert!(Equality.slope(residual, margin).is_nan());
            assert_eq!(AtMost.slope(residual, margin), 0.0);
        }
        assert!(AtMost.violation(1.0, f64::NAN).is_nan());
        assert_eq!(Equality.violation(1.0, f64::NAN), 1.0);
    }

    proptest! {
        #[test]
        fn the_slope_is_the_derivative_away_from_kinks(
            relation in prop::sample::select(vec![Equality, AtMost]),
            residual in -10.0..10.0_f64,
            margin in -2.0..2.0_f64,
        ) {
            let h = 1e-3;
            let kink = if relation == Equality { 0.0 } else { -margin };
            prop_assume!((residual - kink).abs() > 2.0 * h);
            let at = |residual| relation.violation(residual, margin);
            let difference = (at(residual + h) - at(residual - h)) / (2.0 * h);
            prop_assert!((difference - relation.slope(residual, margin)).abs() <= 1e-9);
        }

        #[test]
        fn a_violation_is_never_negative(residual in any::<f64>(), margin in -2.0..2.0_f64) {
            for relation in [Equality, AtMost] {
                let violation = relation.violation(residual, margin);
                prop_assert!(violation >= 0.0 || residual.is_nan());
            }
        }
    }
}
