//! Runs the phases of a training in order, including those that remedies add.

use super::diagnosis::{Diagnosis, diagnose};
use super::{
    Observer, Outcome, PhaseStart, Plan, Prepared, Progress, Remedy, Shooting, StopReason,
};
use crate::ParameterLayout;

/// The result of a training run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The outcome of its last phase; with remedies, at the best model of all phases.
    pub outcome: Outcome,
    /// The plan at the end.
    pub plan: Plan,
    /// The layout of θ in the last phase.
    pub layout: ParameterLayout,
    /// Whether it ends with an earlier model, the [best](Plan::best_model) of the plan.
    pub earlier: bool,
}

impl Prepared {
    /// Trains from the start.
    pub fn run(&self, observer: &mut dyn Observer) -> Run {
        self.resume(Plan::new(&self.phases), None, observer)
    }

    /// Resumes from a checkpoint: the plan, and the progress of its phase. The result has the same bytes
    /// as a run without a pause.
    ///
    /// # Panics
    /// If the progress is of another training.
    pub fn resume(
        &self,
        mut plan: Plan,
        mut progress: Option<Progress>,
        observer: &mut dyn Observer,
    ) -> Run {
        let mut kept = self.initial_theta();
        let mut strategy = None;
        loop {
            let mut trainer = self.trainer(plan.phase(), &kept);
            let layout = trainer.objective().layout();
            let resumed = progress.as_ref().is_some_and(|progress| progress.iteration > 0);
            observer.phase(&PhaseStart { plan: &plan, layout: &layout, resumed });
            if let Some(state) = strategy.take() {
                trainer = trainer.continuing(&state);
            }
            let mut outcome = if let Some(settings) = plan.phase().least_squares {
                drop(trainer);
                self.search(plan.phase(), settings, progress.take(), observer)
            } else {
                if let Some(progress) = progress.take() {
                    trainer = trainer.from_checkpoint(progress).expect("progress of this training");
                }
                // What judges and fixes the model has paths of its own: with many rows, both take gigabytes.
                let outcome = trainer.run(observer);
                drop(trainer);
                outcome
            };
            if outcome.stop == StopReason::Interrupted {
                return Run { outcome, plan, layout, earlier: false };
            }
            kept = layout.keep(&outcome.last.theta);
            let own = self.strategy_of(plan.phase()).clone();
            let single = plan.phase().shooting == Shooting::Single;
            let last = plan.at() + 1 == plan.len();
            // The last diagnosis is of the best model so far.
            // Searches are ranked by evidence, and the posterior is of the last one.
            let judged = plan.phase().least_squares.is_none();
            let mut offered = (plan.has_remedies() && (last || single) && judged)
                .then(|| self.offer(&mut plan, &outcome, &layout));
            let why = self.fix(&mut plan, &outcome, &mut kept, observer);
            let failed = matches!(outcome.stop, StopReason::Failed(_)) && why.is_none();
            let ends = failed || plan.at() + 1 == plan.len();
            if offered.is_none() && plan.has_remedies() && (ends || single) && judged {
                offered = Some(self.offer(&mut plan, &outcome, &layout));
            }
            let mut earlier = false;
            if ends
                && let Some((judgement, false)) = offered
                && let Some(best) = plan.best_model()
            {
                earlier = true;
                observer.warn(&self.ending_with(best, judgement, &mut outcome, plan.phase()));
            }
            if failed || !plan.next(outcome.last.iteration, why) {
                return Run { outcome, plan, layout, earlier };
            }
            if *self.strategy_of(plan.phase()) == own {
                strategy = Some(outcome.last.strategy.laws);
            }
        }
    }

    /// Judges the model of a phase and keeps it if it is the best. Returns its judgement, and whether it is.
    fn offer(&self, plan: &mut Plan, outcome: &Outcome, layout: &ParameterLayout) -> (f64, bool) {
        let model = self.candidate(plan, outcome, layout);
        (model.judgement, plan.offer(model))
    }

    /// Diagnoses the phase and adds a remedy to the plan if it needs one. Returns both in words.
    fn fix(
        &self,
        plan: &mut Plan,
        outcome: &Outcome,
        kept: &mut Vec<f64>,
        observer: &mut dyn Observer,
    ) -> Option<String> {
        let is_search = plan.phase().least_squares.is_some();
        for Diagnosis { what, remedy, from } in diagnose(self, plan, outcome, kept) {
            let Some((how, remedy)) = remedy.filter(|(_, remedy)| {
                // A search draws its starts itself; finer steps are what it can need.
                plan.may_try(remedy) && (!is_search || matches!(remedy, Remedy::Finer { .. }))
            }) else {
                observer.warn(&format!("{what}, and no remedy is left to try"));
                continue;
            };
            if !self.remedies {
                let try_it = "`remedies = true` under `[training]` would try";
                observer.warn(&format!("{what}; {try_it}: {how}"));
                return None;
            }
            if matches!(remedy, Remedy::MultipleShooting { afresh: true, .. }) {
                *kept = self.drawn_theta(plan.draws() + 1);
            }
            if let Some(from) = from {
                *kept = from;
            }
            plan.apply(remedy);
            return Some(format!("{what}: {how}"));
        }
        None
    }
}
