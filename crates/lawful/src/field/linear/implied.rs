//! What sums and bounds imply: the largest value of a linear function of the states.

use super::form::{Form, WrongLinear};
use crate::field::FieldError;

/// Bounds may be exceeded by this share of the largest of the numbers that imply them.
const ROUNDING: f64 = 1e-12;

/// A region of states: bounds of each, and sums with a value, which share no states.
#[derive(Debug, Clone, Default)]
pub(super) struct Region {
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    /// State variables and weights, and the value.
    pub(super) sums: Vec<(Vec<(usize, f64)>, f64)>,
}

impl Region {
    /// Returns the largest value of `c·y`, infinite if there is none.
    pub(super) fn largest(&self, c: &[f64]) -> f64 {
        let mut left: Vec<bool> = c.iter().map(|c| *c != 0.0).collect();
        let mut total = 0.0;
        for (terms, value) in &self.sums {
            if !terms.iter().any(|&(i, _)| left[i]) {
                continue;
            }
            total += self.largest_in_sum(terms, *value, c);
            for &(i, _) in terms {
                left[i] = false;
            }
        }
        for i in (0..c.len()).filter(|&i| left[i]) {
            total += c[i] * if c[i] > 0.0 { self.upper[i] } else { self.lower[i] };
        }
        if total.is_nan() { f64::INFINITY } else { total }
    }

    /// The least value of the dual, `λ value + Σ max (c_i − λ w_i) y_i`, which is at a breakpoint.
    fn largest_in_sum(&self, terms: &[(usize, f64)], value: f64, c: &[f64]) -> f64 {
        let dual = |multiplier: f64| {
            let of_state = |&(i, w): &(usize, f64)| {
                let (gain, cost) = (c[i], multiplier * w);
                let left = gain - cost;
                if left.abs() <= ROUNDING * (gain.abs() + cost.abs()) {
                    0.0
                } else {
                    left * if left > 0.0 { self.upper[i] } else { self.lower[i] }
                }
            };
            multiplier * value + terms.iter().map(of_state).sum::<f64>()
        };
        let duals = terms.iter().map(|&(i, w)| dual(c[i] / w));
        duals.filter(|dual| !dual.is_nan()).fold(f64::INFINITY, f64::min)
    }

    /// Whether `c·y ≤ bound` everywhere in the region.
    pub(super) fn implies(&self, c: &[f64], bound: f64) -> bool {
        let largest = self.largest(c);
        largest.is_finite() && largest - bound <= ROUNDING * largest.abs().max(bound.abs())
    }
}

/// Checks that bounds which flows do not carry follow from the others.
pub(super) fn check(form: &Form) -> Result<(), FieldError> {
    let sums = form.sums.iter();
    let region = Region {
        lower: form.states.iter().map(|s| own(s.lower.as_ref(), f64::NEG_INFINITY)).collect(),
        upper: form.states.iter().map(|s| own(s.upper.as_ref(), f64::INFINITY)).collect(),
        sums: sums.filter_map(|sum| Some((sum.terms.clone(), sum.value?))).collect(),
    };
    for (i, state) in form.states.iter().enumerate() {
        for edge in state.edges().filter(|edge| edge.implied) {
            let mut c = vec![0.0; form.states.len()];
            c[i] = -edge.sign;
            // What only falls stays below an upper bound.
            let kept = state.stays || state.direction == Some(edge.sign);
            if !kept && !region.implies(&c, -edge.sign * edge.at) {
                let why = "has a bound that its sum does not imply";
                return Err(WrongLinear::State { name: form.names[i].clone(), why }.into());
            }
        }
    }
    Ok(())
}

/// A bound that does not follow from others.
fn own(edge: Option<&super::form::Edge>, otherwise: f64) -> f64 {
    edge.filter(|edge| !edge.implied).map_or(otherwise, |edge| edge.at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_value_is_that_worked_by_hand() {
        let infinite = f64::INFINITY;
        let region = |lower: [f64; 3], upper: [f64; 3]| Region {
            lower: lower.to_vec(),
            upper: upper.to_vec(),
            sums: vec![(vec![(0, 1.0), (1, 2.0), (2, 1.0)], 6.0)],
        };
        // a + 2b + c = 6, all at least 0.
        let simplex = region([0.0; 3], [infinite; 3]);
        assert!((simplex.largest(&[1.0, 0.0, 0.0]) - 6.0).abs() < 1e-12);
        assert!((simplex.largest(&[1.0, 3.0, 0.0]) - 9.0).abs() < 1e-12);
        assert!((simplex.largest(&[1.0, 1.0, 0.0]) - 6.0).abs() < 1e-12);
        assert!(simplex.largest(&[-1.0, -1.0, 0.0]).abs() < 1e-12);
        // b up to 1 fills 2, the rest of 6 is a.
        let capped = region([0.0; 3], [infinite, 1.0, infinite]);
        assert!((capped.largest(&[1.0, 3.0, 0.0]) - 7.0).abs() < 1e-12);
        // Without a lower bound of c there is no largest a, but one of c.
        let open = region([0.0, 0.0, -infinite], [infinite; 3]);
        assert!(open.largest(&[1.0, 0.0, 0.0]).is_infinite());
        assert!((open.largest(&[0.0, 0.0, 1.0]) - 6.0).abs() < 1e-12);
        assert!((open.largest(&[2.0, 4.0, 2.0]) - 12.0).abs() < 1e-12);
        assert!(open.implies(&[0.0, 0.0, 1.0], 6.0) && !open.implies(&[0.0, 0.0, 1.0], 5.9));
        assert!(!open.implies(&[1.0, 0.0, 0.0], infinite));
    }
}
