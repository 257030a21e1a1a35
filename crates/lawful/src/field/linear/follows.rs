//! What follows from the laws of a choice: bounds that flows need not carry, and other laws.

use super::choose::{Choice, members};
use super::coverage::{Coverage, Guaranteed, NotLinear};
use super::description::{BoundDescription, Direction, SumForm};
use super::implied::Region;
use super::independent::Sum;
use super::read::Says;

impl Choice<'_> {
    /// Where states can be by the laws that are guaranteed and not implied themselves.
    pub(super) fn region(&self) -> Region {
        let at = |bound: Option<BoundDescription>, otherwise: f64| {
            bound.filter(|bound| !bound.implied).map_or(otherwise, |bound| bound.at)
        };
        let lower = self.states.iter().map(|state| at(state.lower, f64::NEG_INFINITY));
        let upper = self.states.iter().map(|state| at(state.upper, f64::INFINITY));
        let mut region =
            Region { lower: lower.collect(), upper: upper.collect(), ..Region::default() };
        for (k, sum) in self.kept.iter().enumerate() {
            let own = members(sum);
            let shares = |other: &Sum| members(other).iter().any(|i| own.contains(i));
            let shared = self.kept.iter().enumerate().any(|(j, other)| j != k && shares(other));
            if let (Some(value), false) = (sum.value, shared) {
                let terms = own.into_iter().map(|i| (i, sum.weights[i]));
                region.sums.push((terms.collect(), value));
            }
        }
        region
    }

    /// Upper bounds that a sum and lower bounds imply.
    pub(super) fn implied_bounds(&mut self) {
        for i in 0..self.states.len() {
            let Some(upper) = self.states[i].upper.take() else { continue };
            let in_flows = (0..self.kept.len())
                .any(|k| self.forms[k] == SumForm::Flows && self.kept[k].weights[i] != 0.0);
            let mut c = vec![0.0; self.states.len()];
            c[i] = 1.0;
            let implied = in_flows && self.region().implies(&c, upper.at);
            self.states[i].upper = Some(BoundDescription { implied, ..upper });
        }
    }

    /// Laws that follow from those that are guaranteed.
    pub(super) fn what_follows(&mut self) {
        let region = self.region();
        for law in 0..self.says.len() {
            if self.laws[law].is_some() {
                continue;
            }
            let is_implied = match &self.says[law] {
                Some(Says::AtMost(c, bound)) => region.implies(c, *bound),
                Some(Says::Falls(c)) => self.falls(c),
                Some(Says::Start(start)) => {
                    let direction = self.states[start.variable].direction;
                    let asked = if start.falls { Direction::Falls } else { Direction::Rises };
                    direction == Some(asked) || direction == Some(Direction::Stays)
                }
                _ => continue,
            };
            let start = matches!(&self.says[law], Some(Says::Start(_)));
            let why = if start { NotLinear::Form } else { NotLinear::SeveralStates };
            self.laws[law] = Some(if is_implied {
                Coverage::Covered(Guaranteed::Implied)
            } else {
                Coverage::NotCovered(why)
            });
        }
    }

    /// Whether `c·y` never rises, by directions and sums.
    fn falls(&self, c: &[f64]) -> bool {
        let by_directions = |c: &dyn Fn(usize) -> f64| {
            (0..self.states.len()).all(|i| match self.states[i].direction {
                Some(Direction::Stays) => true,
                Some(Direction::Falls) => c(i) >= 0.0,
                Some(Direction::Rises) => c(i) <= 0.0,
                None => c(i) == 0.0,
            })
        };
        let with_sum = |sum: &Sum| {
            members(sum).into_iter().any(|j| {
                let times = c[j] / sum.weights[j];
                by_directions(&|i| c[i] - times * sum.weights[i])
            })
        };
        by_directions(&|i| c[i]) || self.kept.iter().any(with_sum)
    }
}
