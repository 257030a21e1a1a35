//! The best point so far, as an owned copy, and the rules by which a trial point replaces it.

use crate::strategy::Value;

/// The verdict on a trial point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is the best point now.
    Accepted,
    /// The best point stays.
    Rejected,
}

/// The best point seen so far, by the paper's rules.
///
/// The first point is always accepted. A later one is accepted when
/// 1. both are feasible and its F is lower,
/// 2. both are infeasible and its P is lower,
/// 3. both are infeasible with equal P and its F is lower,
/// 4. it is feasible and the best is not.
///
/// Feasible means `P ≤ tolerance`. F and P are the strategy's own (see [`Value`]). θ is copied, so that
/// later changes of the trial point do not affect it.
#[derive(Debug, Clone, PartialEq)]
pub struct BestPoint {
    tolerance: f64,
    theta: Vec<f64>,
    value: Option<Value>,
    iteration: usize,
    accepted: u64,
    rejected: u64,
    rejected_in_a_row: u64,
}

impl BestPoint {
    /// Creates an empty best point; `tolerance` is the P up to which a point is feasible.
    pub fn new(tolerance: f64, parameters: usize) -> Self {
        Self {
            tolerance,
            theta: vec![0.0; parameters],
            value: None,
            iteration: 0,
            accepted: 0,
            rejected: 0,
            rejected_in_a_row: 0,
        }
    }

    /// Judges a trial point, and copies it if it is accepted.
    pub fn judge(&mut self, theta: &[f64], trial: &Value, iteration: usize) -> Verdict {
        let accepted = self.value.as_ref().is_none_or(|best| self.beats(trial, best));
        let verdict = if accepted { Verdict::Accepted } else { Verdict::Rejected };
        self.take(verdict, theta, trial, iteration);
        verdict
    }

    /// Takes the verdict of a strategy on a trial point, and copies it if it is accepted.
    pub fn take(&mut self, verdict: Verdict, theta: &[f64], trial: &Value, iteration: usize) {
        if verdict == Verdict::Accepted {
            self.theta.copy_from_slice(theta);
            self.value = Some(*trial);
            self.iteration = iteration;
            self.accepted += 1;
            self.rejected_in_a_row = 0;
        } else {
            self.rejected += 1;
            self.rejected_in_a_row += 1;
        }
    }

    fn beats(&self, trial: &Value, best: &Value) -> bool {
        let feasible = |value: &Value| value.violation <= self.tolerance;
        match (feasible(trial), feasible(best)) {
            (true, true) => trial.fit < best.fit,
            (false, false) => {
                trial.violation < best.violation
                    || (trial.violation <= best.violation && trial.fit < best.fit)
            }
            (trial_is_feasible, _) => trial_is_feasible,
        }
    }

    /// Returns θ of the best point.
    pub fn theta(&self) -> &[f64] {
        &self.theta
    }

    /// Returns its objective, fit and violation; `None` before the first point.
    pub fn value(&self) -> Option<&Value> {
        self.value.as_ref()
    }

    /// Returns its iteration.
    pub fn iteration(&self) -> usize {
        self.iteration
    }

    /// Returns the number of accepted trial points.
    pub fn accepted(&self) -> u64 {
        self.accepted
    }

    /// Returns the number of rejected trial points.
    pub fn rejected(&self) -> u64 {
        self.rejected
    }

    /// Returns the number of rejected trial points since the last accepted one.
    pub fn rejected_in_a_row(&self) -> u64 {
        self.rejected_in_a_row
    }

    /// Copies another one without allocation.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        let mut theta = std::mem::take(&mut self.theta);
        theta.clone_from(&other.theta);
        *self = Self { theta, ..*other };
    }

    /// Returns its state as numbers, for a checkpoint and [`restore`](Self::restore).
    pub fn numbers(&self) -> [f64; 8] {
        let value = self.value.unwrap_or(Value { value: 0.0, fit: 0.0, violation: 0.0 });
        [
            f64::from(u8::from(self.value.is_some())),
            value.value,
            value.fit,
            value.violation,
            self.iteration as f64,
            self.accepted as f64,
            self.rejected as f64,
            self.rejected_in_a_row as f64,
        ]
    }

    /// Restores the best point of a checkpoint.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts below 2^53 that `numbers` made"
    )]
    pub fn restore(tolerance: f64, theta: Vec<f64>, numbers: &[f64; 8]) -> Self {
        let &[known, value, fit, violation, iteration, accepted, rejected, in_a_row] = numbers;
        Self {
            tolerance,
            theta,
            value: (known > 0.0).then_some(Value { value, fit, violation }),
            iteration: iteration as usize,
            accepted: accepted as u64,
            rejected: rejected as u64,
            rejected_in_a_row: in_a_row as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(fit: f64, violation: f64) -> Value {
        Value { value: fit + violation, fit, violation }
    }

    #[test]
    fn rules_decide_as_the_paper_states_them() {
        let tolerance = 1e-4;
        let cases = [
            ("both feasible, F lower", at(0.5, 0.0), at(0.4, 1e-4), Verdict::Accepted),
            ("both feasible, F equal", at(0.5, 0.0), at(0.5, 0.0), Verdict::Rejected),
            ("both feasible, F higher", at(0.5, 1e-4), at(0.6, 0.0), Verdict::Rejected),
            ("both infeasible, P lower", at(0.1, 0.5), at(0.9, 0.4), Verdict::Accepted),
            ("both infeasible, P higher", at(0.9, 0.4), at(0.1, 0.5), Verdict::Rejected),
            ("both infeasible, P equal, F lower", at(0.5, 0.4), at(0.4, 0.4), Verdict::Accepted),
            ("both infeasible, P and F equal", at(0.5, 0.4), at(0.5, 0.4), Verdict::Rejected),
            ("it is feasible, the best is not", at(0.1, 0.5), at(0.9, 1e-4), Verdict::Accepted),
            ("the best is feasible, it is not", at(0.9, 0.0), at(0.1, 2e-4), Verdict::Rejected),
        ];
        for (case, best, trial, expected) in cases {
            let mut point = BestPoint::new(tolerance, 1);
            assert_eq!(point.judge(&[1.0], &best, 0), Verdict::Accepted, "first point: {case}");
            assert_eq!(point.judge(&[2.0], &trial, 1), expected, "{case}");
            let kept = if expected == Verdict::Accepted { [2.0] } else { [1.0] };
            assert_eq!(point.theta(), kept, "{case}");
        }
    }

    #[test]
    fn restored_point_is_the_one_that_was_best_and_not_the_rejected_one() {
        let mut point = BestPoint::new(1e-4, 2);
        let mut theta = vec![1.0, 2.0];
        point.judge(&theta, &at(0.5, 0.0), 0);
        theta[0] = 7.0;
        assert_eq!(point.judge(&theta, &at(0.6, 0.0), 1), Verdict::Rejected);
        assert_eq!(point.theta(), [1.0, 2.0]);
        assert_ne!(point.theta(), theta);
    }

    #[test]
    fn a_checkpoint_brings_everything_back() {
        let mut point = BestPoint::new(1e-4, 1);
        point.judge(&[1.0], &at(0.5, 0.3), 4);
        point.judge(&[2.0], &at(0.6, 0.4), 5);
        let back = BestPoint::restore(1e-4, point.theta().to_vec(), &point.numbers());
        assert_eq!(back, point);
    }
}
