//! Evaluations that fail: the step is taken back, the rate halved, the event reported; only too
//! many of them in a row end a training.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::fence::{Fence, fenced, growth, towards};
use common::watch::Watch;
use lawful::law::Words;
use lawful::ode::SolveError;
use lawful::optimiser::{Adam, AdamSettings, Lbfgs, LbfgsSettings};
use lawful::strategy::{
    L1, LawRows, MisfitView, ObjectiveChange, SelfAdaptive, Slopes, State, Strategy, Value, Vanilla,
};
use lawful::{Event, Failure, Law, Problem, Settings, StopReason, Trainer};

fn iterations(iterations: usize) -> Settings {
    Settings { iterations, ..Settings::default() }
}

#[test]
fn a_failed_step_is_taken_back_and_tried_at_half_its_length() {
    let mut watch = Watch::every(1);
    let outcome = towards(0.37, iterations(40)).run(&mut watch);
    assert_eq!(outcome.stop, StopReason::Finished);
    let events = watch.events();
    assert!(events.len() > 2, "the fence must be met more than once");
    for (n, (_, event)) in events.iter().enumerate() {
        let Event::TakenBack { failure, factor } = event else { panic!("{event:?}") };
        let expected = 0.5_f64.powi(i32::try_from(n).unwrap() + 1);
        assert_eq!(factor.to_bits(), expected.to_bits());
        let Failure::Solve { trajectory, error } = failure else { panic!("{failure:?}") };
        assert_eq!(trajectory, "1");
        assert!(matches!(error, SolveError::DerivativeNotFinite(_)), "{error}");
        assert_eq!(error.at().t.to_bits(), 0.0_f64.to_bits());
    }
    // θ before the failed step, and the one tried instead: half as far.
    let at = |k: usize| watch.checkpoints.iter().find(|c| c.iteration == k).unwrap().theta[0];
    let (failed, _) = events[0];
    let step = at(failed - 1) - at(failed - 2);
    let half = at(failed + 1) - at(failed - 1);
    assert!((half / step - 0.5).abs() < 0.02, "{half} is not half of {step}");
    assert!(watch.rows[failed].found.is_none() && watch.rows[failed + 1].found.is_some());
    // Adam's memory was taken back too: it counts only the steps that were kept.
    let steps = outcome.last.optimiser[0];
    assert_eq!(steps.to_bits(), ((40 - events.len()) as f64).to_bits());
    // Nothing beyond the fence is kept; the rate stays halved.
    assert!(watch.checkpoints.iter().all(|c| c.theta[0] <= 0.37));
    assert!(outcome.last.theta[0] > 0.3 && outcome.best.theta()[0] > 0.3);
    let count = i32::try_from(events.len()).unwrap();
    assert_eq!(outcome.last.failure_factor.to_bits(), 0.5_f64.powi(count).to_bits());
}

#[test]
fn repeated_failures_stop_training_and_keep_the_best_point() {
    for failures in [1, 5, 20] {
        let mut watch = Watch::every(1);
        let settings = Settings { failures, ..iterations(100) };
        let outcome = towards(1e-9, settings).run(&mut watch);
        assert!(
            matches!(outcome.stop, StopReason::Failed(Failure::Solve { .. })),
            "{:?}",
            outcome.stop
        );
        assert_eq!(watch.events().len(), failures as usize);
        assert_eq!(outcome.last.theta, [0.0]);
        assert_eq!((outcome.best.theta(), outcome.best.iteration()), (&[0.0][..], 0));
        assert_eq!(
            outcome.best.value(),
            Some(&Value {
                value: watch.rows[0].found.as_ref().unwrap().1,
                fit: watch.rows[0].found.as_ref().unwrap().0,
                violation: 0.0,
            })
        );
        assert_eq!(watch.checkpoints.len(), 1, "no checkpoint of a point that fails");
    }
}

#[test]
fn failure_at_the_initial_point_ends_training_at_once() {
    let mut watch = Watch::default();
    let outcome = towards(-1.0, iterations(100)).run(&mut watch);
    assert!(
        matches!(outcome.stop, StopReason::Failed(Failure::Solve { .. })),
        "{:?}",
        outcome.stop
    );
    assert_eq!(watch.rows.len(), 1);
    assert_eq!(outcome.best.value(), None);
    assert_eq!(outcome.last.theta, [0.0]);
}

#[test]
fn a_failure_after_the_last_step_leaves_the_point_before_it() {
    let mut watch = Watch::every(1);
    towards(0.37, iterations(40)).run(&mut watch);
    let (failed, _) = watch.events()[0];
    let before = watch.checkpoints[failed - 1].theta.clone();
    let mut watch = Watch::default();
    let outcome = towards(0.37, iterations(failed)).run(&mut watch);
    assert_eq!(outcome.stop, StopReason::Finished);
    assert_eq!(common::bits(&outcome.last.theta), common::bits(&before));
    assert_eq!(watch.events().len(), 1);
    assert_eq!((outcome.last.iteration, outcome.best.iteration()), (failed, failed - 1));
}

#[test]
fn a_loss_that_overflows_fails_under_every_strategy() {
    // ψ(∞) = 1 is finite, and its slope is 0: only a check of the loss itself detects the overflow.
    let strategies: [Box<dyn Strategy>; 3] =
        [Box::new(Vanilla), Box::new(L1::default()), Box::new(SelfAdaptive::default())];
    for strategy in strategies {
        let fence = Fence { bound: -1.0, beyond: 1e200 };
        let mut objective = fenced(growth(), fence, strategy);
        assert_eq!(objective.evaluate(&[0.0], 0).unwrap_err(), Failure::Loss(f64::INFINITY));
    }
}

#[test]
fn a_law_that_is_not_a_number_fails_where_it_counts() {
    let words = Words::new().state(["x"]).check().unwrap();
    let laws = Law::parse("undefined", "ln(x - 10) <= 0", &words).unwrap();
    let fence = || Fence { bound: 10.0, beyond: 0.0 };
    let problem = || Problem { laws: laws.clone(), ..growth() };
    let strategies: [Box<dyn Strategy>; 2] =
        [Box::new(L1::default()), Box::new(SelfAdaptive::default())];
    for strategy in strategies {
        let failure = fenced(problem(), fence(), strategy).evaluate(&[0.5], 0).unwrap_err();
        let text = "law `undefined` is NaN at t = 0 of trajectory `1`, where x = 1";
        assert_eq!(failure.to_string(), text);
    }
    let mut objective = fenced(problem(), fence(), Box::new(Vanilla));
    assert!(objective.evaluate(&[0.5], 0).is_ok());
}

#[test]
fn a_gradient_that_is_not_finite_fails() {
    let words = Words::new().state(["x"]).check().unwrap();
    // At θ = 0 the solution stays at x = 1, where the root has no slope.
    let laws = Law::parse("root", "x <= sqrt(x - 1)", &words).unwrap();
    let fence = Fence { bound: 10.0, beyond: 0.0 };
    let mut objective =
        fenced(Problem { laws, ..growth() }, fence, Box::new(SelfAdaptive::default()));
    assert_eq!(objective.evaluate(&[0.0], 0).unwrap_err(), Failure::Gradient);
}

/// Counts its evaluations; from the third on its value is NaN.
struct Tired;

impl Strategy for Tired {
    fn name(&self) -> &'static str {
        "tired"
    }

    fn start(&self, _: &[LawRows]) -> State {
        State { numbers: vec![0.0] }
    }

    fn weights(&self, state: &mut State, _: &MisfitView, _: usize, weights: &mut [f64]) {
        state.numbers[0] += 1.0;
        weights.fill(if state.numbers[0] > 2.0 { f64::NAN } else { 0.0 });
    }

    fn value(
        &self,
        state: &State,
        view: &MisfitView,
        weights: &[f64],
        slopes: &mut Slopes,
    ) -> Value {
        let value = Vanilla.value(state, view, weights, slopes);
        Value { value: value.value + weights.iter().sum::<f64>(), ..value }
    }
}

#[test]
fn a_failed_evaluation_leaves_no_mark_in_the_strategy() {
    let words = Words::new().state(["x"]).check().unwrap();
    let laws = Law::parse("a law", "x <= 0", &words).unwrap();
    let fence = Fence { bound: 10.0, beyond: 0.0 };
    let objective = fenced(Problem { laws, ..growth() }, fence, Box::new(Tired));
    let adam = Adam::new(AdamSettings::default(), 1);
    let mut trainer = Trainer::new(objective, Box::new(adam), iterations(10), vec![0.0]).unwrap();
    let outcome = trainer.run(&mut ());
    assert!(matches!(outcome.stop, StopReason::Failed(Failure::Value(_))), "{:?}", outcome.stop);
    assert_eq!(outcome.last.strategy.laws.numbers, [2.0]);
}

/// Counts its outer steps, of which the first two change the objective, and those at another point than
/// the initial one, where every residual is 1.
struct TwoRounds;

impl Strategy for TwoRounds {
    fn name(&self) -> &'static str {
        "two-rounds"
    }

    fn start(&self, _: &[LawRows]) -> State {
        State { numbers: vec![0.0; 2] }
    }

    fn outer_step(&self, state: &mut State, view: &MisfitView) -> ObjectiveChange {
        state.numbers[0] += 1.0;
        if view.residuals.iter().any(|c| (c - 1.0).abs() > 1e-12) {
            state.numbers[1] += 1.0;
        }
        if state.numbers[0] > 2.0 {
            ObjectiveChange::Unchanged
        } else {
            ObjectiveChange::Substantial
        }
    }

    fn weights(&self, _: &mut State, _: &MisfitView, _: usize, weights: &mut [f64]) {
        weights.fill(0.0);
    }

    fn value(
        &self,
        state: &State,
        view: &MisfitView,
        weights: &[f64],
        slopes: &mut Slopes,
    ) -> Value {
        Vanilla.value(state, view, weights, slopes)
    }
}

#[test]
fn a_line_search_that_fails_by_failed_evaluations_is_followed_by_an_outer_step() {
    let words = Words::new().state(["x"]).check().unwrap();
    let laws = Law::parse("a law", "x <= 0", &words).unwrap();
    // Every trial is beyond the fence, however short its step.
    let fence = Fence { bound: 0.0, beyond: f64::NAN };
    let objective = fenced(Problem { laws, ..growth() }, fence, Box::new(TwoRounds));
    let lbfgs = Lbfgs::new(LbfgsSettings::default(), 1);
    let mut trainer =
        Trainer::new(objective, Box::new(lbfgs), iterations(1000), vec![0.0]).unwrap();
    let outcome = trainer.run(&mut ());
    assert!(matches!(outcome.stop, StopReason::Stalled(_)), "{:?}", outcome.stop);
    // The third outer step changes nothing, so that the run ends with the state before it.
    assert_eq!(outcome.last.strategy.laws.numbers, [2.0, 0.0]);
    assert_eq!(outcome.last.theta, [0.0]);
    assert!(outcome.last.outer_step > 0);
}
