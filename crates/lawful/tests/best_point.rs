//! The best point in real trainings whose rate is too high: what a rejection goes back to, which
//! gradient it uses, and how it gets out of a dead end.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::sync::{Arc, Mutex};

use common::fence::{Fence, fenced, growth};
use common::watch::Watch;
use common::{LAWS, all_strategies, bits, objective, problem, theta};
use lawful::optimiser::{Adam, AdamSettings, Optimiser, Step as Move};
use lawful::strategy::{SelfAdaptive, Strategy, Vanilla};
use lawful::{Event, GradientAt, Outcome, Restore, Settings, Solver, Trainer, Verdict};

/// A step: where from, and along which gradient.
type Step = (Vec<f64>, Vec<f64>);

/// Adam that writes down its steps.
struct Recording {
    adam: Adam,
    steps: Arc<Mutex<Vec<Step>>>,
}

impl Optimiser for Recording {
    fn name(&self) -> &'static str {
        self.adam.name()
    }

    fn advance(&mut self, theta: &mut [f64], value: f64, gradient: &[f64], factor: f64) -> Move {
        self.steps.lock().expect("one thread").push((theta.to_vec(), gradient.to_vec()));
        self.adam.advance(theta, value, gradient, factor)
    }

    fn save(&self, row: &mut Vec<f64>) {
        self.adam.save(row);
    }

    fn restore(&mut self, row: &[f64]) -> bool {
        self.adam.restore(row)
    }
}

const ITERATIONS: usize = 60;

/// What happened, the steps, and what the observer saw, checkpoints of every iteration included.
fn train(
    strategy: Box<dyn Strategy>,
    rate: f64,
    best_point: Option<Restore>,
) -> (Outcome, Vec<Step>, Watch) {
    let objective = objective(problem(&LAWS), Solver::default(), strategy);
    let steps = Arc::new(Mutex::new(Vec::new()));
    let adam = Adam::new(AdamSettings { rate, ..AdamSettings::default() }, theta().len());
    let recording = Recording { adam, steps: Arc::clone(&steps) };
    let settings = Settings { iterations: ITERATIONS, best_point, ..Settings::default() };
    let mut watch = Watch::every(1);
    let outcome =
        Trainer::new(objective, Box::new(recording), settings, theta()).unwrap().run(&mut watch);
    let steps = std::mem::take(&mut *steps.lock().expect("one thread"));
    assert_eq!((steps.len(), watch.rows.len()), (ITERATIONS, ITERATIONS + 1));
    (outcome, steps, watch)
}

/// Every step starts where it must and uses the gradient that it must; how many trials were
/// accepted and rejected.
fn check(strategy: Box<dyn Strategy>, rate: f64, gradient_at: GradientAt) -> [u64; 2] {
    let name = strategy.name();
    let restore = Restore { gradient_at, backtrack: false };
    let (outcome, steps, watch) = train(strategy, rate, Some(restore));
    let gradient = |k: usize| bits(&watch.rows[k].found.as_ref().expect("no failures").2);
    let mut best = 0;
    for (k, (from, along)) in steps.iter().enumerate() {
        let trial = &watch.checkpoints[k].theta;
        if watch.rows[k].verdict == Some(Verdict::Accepted) {
            best = k;
            assert_eq!(bits(from), bits(trial), "{name}: accepted at {k}");
            assert_eq!(bits(along), gradient(k), "{name}: accepted at {k}");
        } else {
            assert_ne!(bits(from), bits(trial), "{name}: rejected at {k}");
            let restored = &watch.checkpoints[best].theta;
            assert_eq!(bits(from), bits(restored), "{name}: rejected at {k}");
            let used = if gradient_at == GradientAt::Best { best } else { k };
            assert_eq!(bits(along), gradient(used), "{name}: rejected at {k}");
            assert_ne!(gradient(best), gradient(k), "{name}: rejected at {k}");
        }
    }
    let counts = [Verdict::Accepted, Verdict::Rejected].map(|verdict| watch.count(verdict));
    assert_eq!([outcome.best.accepted(), outcome.best.rejected()], counts, "{name}");
    counts
}

#[test]
fn a_rejected_trial_goes_back_to_the_best_point_with_the_stated_gradient() {
    let mut rarely = Vec::new();
    for n in 0..all_strategies(LAWS.len()).len() {
        // Strategies that judge points return in their own way, see `rivals.rs`.
        if all_strategies(LAWS.len())[n].judges() {
            continue;
        }
        let (mut accepted, mut rejected) = (0, 0);
        for rate in [0.03, 0.1, 0.3] {
            for gradient_at in [GradientAt::Trial, GradientAt::Best] {
                let strategy = all_strategies(LAWS.len()).swap_remove(n);
                let counts = check(strategy, rate, gradient_at);
                accepted += counts[0] - 1;
                rejected += counts[1];
            }
        }
        assert!(rejected > 5, "strategy {n}: {accepted} and {rejected}");
        if accepted <= 5 {
            rarely.push(all_strategies(LAWS.len())[n].name());
        }
    }
    // Its penalty is as large as the fit, which laws in their own units hardly change here.
    assert_eq!(rarely, ["lemonge"]);
}

#[test]
fn both_gradients_lead_to_different_points() {
    let trained = |gradient_at| {
        let restore = Restore { gradient_at, backtrack: false };
        bits(train(Box::new(SelfAdaptive::default()), 0.1, Some(restore)).0.best.theta())
    };
    assert_ne!(trained(GradientAt::Trial), trained(GradientAt::Best));
}

#[test]
fn without_best_point_a_step_starts_from_the_trial_and_the_best_is_kept_aside() {
    assert_eq!(Settings::default().best_point, None);
    assert!(!Restore::default().backtrack);
    let (outcome, steps, watch) = train(Box::new(Vanilla), 0.3, None);
    for (k, (from, _)) in steps.iter().enumerate() {
        assert_eq!(bits(from), bits(&watch.checkpoints[k].theta));
    }
    assert!(watch.count(Verdict::Rejected) > 5);
    let losses = watch.rows.iter().map(|row| row.found.as_ref().unwrap().0);
    let lowest = losses.fold(f64::INFINITY, f64::min);
    assert_eq!(outcome.best.value().unwrap().fit.to_bits(), lowest.to_bits());
    let found = outcome.best.iteration();
    assert_eq!(bits(outcome.best.theta()), bits(&watch.checkpoints[found].theta));
}

/// Steps of a fixed length against the gradient's sign.
struct Leap;

impl Optimiser for Leap {
    fn name(&self) -> &'static str {
        "leap"
    }

    fn advance(&mut self, theta: &mut [f64], _: f64, gradient: &[f64], factor: f64) -> Move {
        theta[0] -= 100.0 * factor * gradient[0].signum();
        Move::Evaluate
    }

    fn save(&self, row: &mut Vec<f64>) {
        row.clear();
    }

    fn restore(&mut self, _: &[f64]) -> bool {
        true
    }
}

#[test]
fn backtracking_halves_the_step_after_twenty_rejections_until_one_is_accepted() {
    let train = |backtrack| {
        let fence = Fence { bound: f64::INFINITY, beyond: 0.0 };
        let objective = fenced(growth(), fence, Box::new(Vanilla));
        let restore = Restore { gradient_at: GradientAt::Best, backtrack };
        let settings =
            Settings { iterations: 145, best_point: Some(restore), ..Settings::default() };
        let mut watch = Watch::default();
        Trainer::new(objective, Box::new(Leap), settings, vec![0.0]).unwrap().run(&mut watch);
        watch
    };
    // θ = 0, the data want 1: steps of 100, 50, … 1.6 all lead further away, that of 0.8 does not.
    let watch = train(true);
    let halved = watch.events();
    let expected: Vec<_> = [20, 40, 60, 80, 100, 120, 140]
        .into_iter()
        .zip(1..)
        .map(|(at, n)| (at, 0.5_f64.powi(n)))
        .collect();
    assert_eq!(halved.len(), expected.len());
    for ((iteration, event), (at, factor)) in halved.iter().zip(&expected) {
        assert_eq!((*iteration, *event), (*at, &Event::Backtracked { factor: *factor }));
    }
    assert_eq!(watch.rows[140].factor.to_bits(), 0.5_f64.powi(7).to_bits());
    assert_eq!(watch.rows[141].verdict, Some(Verdict::Accepted));
    assert_eq!(
        watch.rows[141].factor.to_bits(),
        0.5_f64.powi(6).to_bits(),
        "an acceptance doubles"
    );
    let without = train(false);
    assert!(without.events().is_empty());
    assert_eq!((without.count(Verdict::Accepted), without.count(Verdict::Rejected)), (1, 145));
}
