//! The best model of a training with remedies, across its phases.

use super::{Outcome, Plan, Prepared, Shooting, StopReason, Validated};
use crate::number::short;
use crate::{BestPoint, ParameterLayout, Phase};

/// A model at the end of a phase, and its judgement. A remedy may end in a worse fit than the phase that
/// it was to fix: a run with remedies ends with the best model of all its phases.
#[derive(Debug, Clone, PartialEq)]
pub struct BestModel {
    /// The part of θ that the next phase would [continue with](ParameterLayout::keep).
    pub kept: Vec<f64>,
    /// Its iteration, counted over the whole training.
    pub iteration: usize,
    /// Its phase, counted from 0.
    pub phase: usize,
    /// Its error on held-out data, or the objective of the last phase without weight decay; infinite if
    /// the trajectories cannot be solved. Both are computed by the prediction solver.
    pub judgement: f64,
}

impl BestModel {
    /// Returns everything but its θ as numbers, for a checkpoint and [`restore`](Self::restore).
    pub fn numbers(&self) -> [f64; 3] {
        [self.iteration as f64, self.phase as f64, self.judgement]
    }

    /// Restores the best model of a checkpoint.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts below 2^53 that `numbers` made"
    )]
    pub fn restore(kept: Vec<f64>, numbers: &[f64; 3]) -> Self {
        let &[iteration, phase, judgement] = numbers;
        Self { kept, iteration: iteration as usize, phase: phase as usize, judgement }
    }
}

impl Prepared {
    /// Returns θ of the model that an outcome stands for, and its iteration in the phase: the best point
    /// if the strategy returns to it or training failed, otherwise the last point.
    pub(super) fn selected<'a>(&self, outcome: &'a Outcome) -> (&'a [f64], usize) {
        let known = outcome.best.value().is_some();
        let failed = matches!(outcome.stop, StopReason::Failed(_));
        if known && (failed || self.strategy.best_point.is_some()) {
            (outcome.best.theta(), outcome.best.iteration())
        } else {
            (&outcome.last.theta, outcome.last.iteration)
        }
    }

    /// Judges a phase's model, for [`Plan::offer`].
    pub(super) fn candidate(
        &self,
        plan: &Plan,
        outcome: &Outcome,
        layout: &ParameterLayout,
    ) -> BestModel {
        let (theta, iteration) = self.selected(outcome);
        let kept = layout.keep(theta);
        let judgement = self.judge(plan, &kept).filter(|judgement| !judgement.is_nan());
        BestModel {
            judgement: judgement.unwrap_or(f64::INFINITY),
            kept,
            iteration: plan.start() + iteration,
            phase: plan.at(),
        }
    }

    /// Returns the error on held-out data, or the objective of the plan's last phase without decay, both
    /// by the prediction solver on full trajectories; `None` if they cannot be solved.
    fn judge(&self, plan: &Plan, kept: &[f64]) -> Option<f64> {
        let phase = &Phase { shooting: Shooting::Single, part: None, ..plan.last_phase().clone() };
        let (data, held_out) = self.split();
        if let Some(held_out) = held_out {
            let mut objective = self.validation(phase, held_out, self.predict).with_decay(0.0, 0);
            let theta = objective.layout().extend(kept);
            return Some(objective.observe(&theta).ok()?.view().fit());
        }
        let objective = self.objective_with(phase, data, self.predict);
        let mut objective = objective.expect("`prepare` has made one before").with_decay(0.0, 0);
        let theta = objective.layout().extend(kept);
        Some(objective.evaluate(&theta, 0).ok()?.value.value)
    }

    /// Returns the outcome of a run that ends with an earlier model, which is better by its judgement
    /// than the `last` one; and that in words.
    pub(super) fn ending_with(
        &self,
        best: &BestModel,
        last: f64,
        outcome: &mut Outcome,
        phase: &Phase,
    ) -> String {
        let (trained, held_out) = self.split();
        let mut objective = self.objective(phase, trained).expect("`prepare` has made one before");
        let theta = objective.layout().extend(&best.kept);
        let value = objective.evaluate(&theta, 0).map(|evaluation| evaluation.value);
        let progress = &mut outcome.last;
        // The memory of the optimiser belongs to the path that is left.
        phase.optimiser.build(theta.len()).save(&mut progress.optimiser);
        if !progress.validated.theta.is_empty() {
            let (error, iteration) = (best.judgement, progress.iteration);
            progress.validated = Validated { theta: theta.clone(), error, iteration };
        }
        let mut numbers = outcome.best.numbers();
        if let Ok(value) = value {
            numbers[..4].copy_from_slice(&[1.0, value.value, value.fit, value.violation]);
        }
        let tolerance = self.strategy_of(phase).tolerance;
        outcome.best = BestPoint::restore(tolerance, theta.clone(), &numbers);
        progress.best = outcome.best.clone();
        progress.theta = theta;
        outcome.after_last_evaluation = true;
        let what = if held_out.is_some() { "error on held-out data" } else { "objective" };
        let of_last =
            if last.is_finite() { short(last) } else { "a diverging solution".to_owned() };
        format!(
            "the run ends with the model of phase {}, which is better than the last one ({what} {} instead of \
             {of_last}, by the prediction solver)",
            best.phase + 1,
            short(best.judgement),
        )
    }
}
