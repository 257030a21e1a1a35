//! How far a path breaks a law.
//!
//! | law | violation |
//! |---|---|
//! | at one time, also with `initial(…)` and `rate(…)` | the largest one at any point |
//! | `next(e) <= e`, `next(e) >= e` | the sum of all rises (of all falls) of `e` from point to point |
//! | `next(e) == e`, `e == final(e)` | the largest difference of `e` between any two points |
//! | anything else with `next`, `previous` or `final` | the largest one at the rows |
//!
//! The second and the third do not depend on how dense the points are: a law that is broken a little in
//! each of 2000 steps is broken by the sum. A law of the last kind, such as `next(x) - x <= 0.1`, means
//! another thing on other rows, so that it is measured on those of the data only.

use lawful_law::{Law, Quantity, Steps, Workspace};

use super::dense::Predicted;

/// What a law says about a path.
#[derive(Debug, Clone)]
pub(super) enum Form {
    /// Something about every point by itself.
    Point,
    /// A quantity never rises.
    Rise(Quantity),
    /// A quantity never changes.
    Drift(Quantity),
    /// Something about neighbouring rows.
    Rows,
}

/// The violation of a law by a path.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Violation {
    /// How much, in the law's units; never NaN.
    pub(super) amount: f64,
    /// Where: the largest violation, or the end of the largest rise.
    pub(super) time: f64,
    /// Where the largest rise or difference begins.
    pub(super) from: Option<f64>,
    /// The first point at which the law has no finite value.
    pub(super) undefined: Option<f64>,
    /// How many points were measured.
    pub(super) points: usize,
}

impl Form {
    pub(super) fn of(law: &Law) -> Self {
        let reach = law.reach();
        let at_a_point = reach.back == 0
            && reach.ahead == 0
            && reach.final_.is_none()
            && reach.initial.is_none_or(|ahead| ahead == 0);
        if at_a_point {
            return Self::Point;
        }
        if !law.uses_rates() {
            if let Ok(quantity) = law.never_rising() {
                return Self::Rise(quantity);
            }
            if let Some(conserved) = law.conserved().ok().filter(|conserved| !conserved.is_zero) {
                return Self::Drift(conserved.quantity);
            }
        }
        Self::Rows
    }

    /// Measures a law at all points of a path.
    pub(super) fn measure(
        &self,
        law: &Law,
        path: &Predicted,
        workspace: &mut Workspace,
    ) -> Violation {
        let Predicted { times, states, inputs, rates, .. } = path;
        let steps = Steps { times, states, inputs };
        let mut values = vec![0.0; times.len()];
        match self {
            Self::Rise(quantity) => {
                quantity.values(&steps, workspace, &mut values);
                rises(times, &values)
            }
            Self::Drift(quantity) => {
                quantity.values(&steps, workspace, &mut values);
                drift(times, &values)
            }
            Self::Point | Self::Rows => {
                if law.uses_rates() {
                    law.residuals_with_rates(&steps, rates, workspace, &mut values);
                } else {
                    law.residuals(&steps, workspace, &mut values);
                }
                let relation = law.relation();
                let violations = law.reach().range(times.len()).map(|row| {
                    let violation = relation.violation(values[row], 0.0);
                    // An inequality holds at −∞, but nobody means that.
                    (times[row], if values[row].is_finite() { violation } else { f64::NAN })
                });
                largest(violations)
            }
        }
    }
}

/// The largest of some violations at their times.
fn largest(violations: impl Iterator<Item = (f64, f64)>) -> Violation {
    let mut found = Violation::default();
    for (t, violation) in violations {
        if !violation.is_finite() {
            found.undefined.get_or_insert(t);
            continue;
        }
        if found.points == 0 || violation > found.amount {
            (found.amount, found.time) = (violation, t);
        }
        found.points += 1;
    }
    found
}

/// The sum of all rises of a quantity, and where the largest one is, however many points it takes.
fn rises(times: &[f64], values: &[f64]) -> Violation {
    let mut found = Violation::default();
    let (mut low, mut largest, mut before) = ((0.0, f64::INFINITY), 0.0, None);
    for (&t, &value) in times.iter().zip(values) {
        if !value.is_finite() {
            found.undefined.get_or_insert(t);
            continue;
        }
        if found.points == 0 {
            found.time = t;
        }
        found.points += 1;
        if let Some(before) = before.replace(value) {
            found.amount += f64::max(value - before, 0.0);
        }
        if value < low.1 {
            low = (t, value);
        }
        if value - low.1 > largest {
            largest = value - low.1;
            (found.from, found.time) = (Some(low.0), t);
        }
    }
    Violation { amount: found.amount.min(f64::MAX), ..found }
}

/// The largest difference of a quantity between two points.
fn drift(times: &[f64], values: &[f64]) -> Violation {
    let mut found = Violation::default();
    let (mut low, mut high) = ((0.0, f64::INFINITY), (0.0, f64::NEG_INFINITY));
    for (&t, &value) in times.iter().zip(values) {
        if !value.is_finite() {
            found.undefined.get_or_insert(t);
            continue;
        }
        found.points += 1;
        if value < low.1 {
            low = (t, value);
        }
        if value > high.1 {
            high = (t, value);
        }
    }
    if found.points > 0 {
        found.amount = (high.1 - low.1).min(f64::MAX);
        found.time = high.0.max(low.0);
        found.from = Some(high.0.min(low.0)).filter(|from| *from < found.time);
    }
    found
}

impl Predicted {
    /// Returns the largest terms that a law compares along the path.
    pub(super) fn magnitude(&self, law: &Law, workspace: &mut Workspace) -> f64 {
        let Self { times, states, inputs, rates, .. } = self;
        let steps = Steps { times, states, inputs };
        let rates = law.uses_rates().then_some(&**rates);
        let mut magnitudes = vec![0.0; times.len()];
        law.magnitudes(&steps, rates, workspace, &mut magnitudes);
        magnitudes.into_iter().filter(|magnitude| magnitude.is_finite()).fold(0.0, f64::max)
    }

    /// Returns the path at its rows only.
    pub(super) fn at_rows(&self) -> Self {
        self.at(&self.rows)
    }

    /// Returns the first point of the path.
    pub(super) fn first(&self) -> Self {
        self.at(&[0])
    }

    fn at(&self, points: &[usize]) -> Self {
        let n = self.times.len();
        let take = |values: &[f64]| -> Vec<f64> {
            let width = values.len() / n;
            points.iter().flat_map(|point| &values[point * width..][..width]).copied().collect()
        };
        Self {
            times: take(&self.times),
            rows: (0..points.len()).collect(),
            states: take(&self.states),
            rates: take(&self.rates),
            inputs: take(&self.inputs),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_small_rises_count_as_their_sum() {
        let times: Vec<f64> = (0..7).map(f64::from).collect();
        let found = rises(&times, &[5.0, 4.0, 4.5, 3.0, 4.0, 3.5, 4.25]);
        assert_eq!((found.amount, found.from, found.time), (2.25, Some(3.0), 6.0));
        let falling = rises(&times, &[5.0, 4.0, 3.0, 3.0, 2.0, 1.0, 0.0]);
        assert_eq!((falling.amount, falling.from, falling.points), (0.0, None, 7));
    }

    #[test]
    fn a_drift_is_the_difference_of_the_extremes() {
        let found = drift(&[0.0, 1.0, 2.0], &[2.0, 3.0, 1.5]);
        assert_eq!((found.amount, found.from, found.time), (1.5, Some(1.0), 2.0));
        assert!(drift(&[0.0, 1.0], &[2.0, 2.0]).amount.abs() < f64::MIN_POSITIVE);
    }

    #[test]
    fn points_without_a_value_are_named_and_left_out() {
        let times = [0.0, 1.0, 2.0, 3.0];
        let values = [1.0, f64::NAN, 3.0, f64::INFINITY];
        for found in [rises(&times, &values), drift(&times, &values)] {
            assert_eq!((found.amount, found.undefined, found.points), (2.0, Some(1.0), 2));
        }
        let found = largest(times.into_iter().zip(values));
        assert_eq!((found.amount, found.undefined, found.time), (3.0, Some(1.0), 2.0));
        let nothing = largest(std::iter::empty());
        assert_eq!((nothing.points, nothing.undefined), (0, None));
    }
}
