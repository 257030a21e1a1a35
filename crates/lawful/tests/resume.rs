//! A resumed run gives the same bytes as one without a pause.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::fence::towards;
use common::watch::Watch;
use common::{LAWS, all_strategies, dopri5, objective, problem, progress_bytes as bytes};
use lawful::strategy::{LawRows, MisfitView, SelfAdaptive, Slopes, State, Strategy, Value};
use lawful::{
    Batch, GradientAt, Restore, Sampler, Schedule, Settings, Solver, StopReason, Trainer,
    TrainerError, Verdict,
};

/// Runs once without a pause, then again from every checkpoint, each time with all things new.
fn check(case: &str, every: usize, make: impl Fn() -> Trainer) -> Watch {
    let mut whole = Watch::every(every);
    let end = make().run(&mut whole);
    assert!(whole.checkpoints.len() > 2, "{case}");
    for checkpoint in &whole.checkpoints {
        let start = checkpoint.iteration;
        let mut rest = Watch::every(every);
        let resumed = make().from_checkpoint(checkpoint.clone()).unwrap().run(&mut rest);
        assert_eq!(bytes(&resumed.last), bytes(&end.last), "{case}, from {start}");
        assert_eq!((&resumed.stop, &resumed.best), (&end.stop, &end.best), "{case}, from {start}");
        // A failure after the last step comes before the checkpoint of the same iteration.
        let rows = whole.rows.iter().filter(|row| row.iteration >= start);
        let rows = rows.skip_while(|row| row.found.is_none());
        assert!(rows.eq(&rest.rows), "{case}, from {start}: other rows");
    }
    whole
}

fn settings(iterations: usize, best_point: Option<Restore>) -> Settings {
    let schedule = Schedule::from_name("cosine", iterations).expect("a schedule");
    Settings { iterations, best_point, schedule, ..Settings::default() }
}

#[test]
fn resume_gives_the_same_bytes_as_no_pause_for_every_strategy_and_best_point() {
    let restores = [
        None,
        Some(Restore::default()),
        Some(Restore { gradient_at: GradientAt::Best, backtrack: true }),
    ];
    let (mut rejected, mut backtracked) = (0, 0);
    for restore in restores {
        for n in 0..all_strategies(LAWS.len()).len() {
            let strategy = || all_strategies(LAWS.len()).swap_remove(n);
            let watch = check(&format!("{restore:?} {}", strategy().name()), 9, || {
                let objective = objective(problem(&LAWS), Solver::default(), strategy());
                // A rate high enough for rejections, and for backtracking.
                common::trainer(objective, 0.2, settings(60, restore))
            });
            rejected += watch.count(Verdict::Rejected);
            backtracked += watch.events().len();
        }
    }
    assert!(rejected > 100 && backtracked > 2, "{rejected} and {backtracked}");
}

#[test]
fn resume_gives_the_same_bytes_as_no_pause_for_every_batch() {
    for batch in [Batch::Trajectories { count: 2 }, Batch::Windows { count: 3, rows: 3 }] {
        check(&format!("{batch:?}"), 25, || {
            let problem = problem(&LAWS);
            let sampler = Sampler::new(batch, &problem.dataset, 3).unwrap();
            let strategy = Box::new(SelfAdaptive::default());
            let objective = objective(problem, Solver::default(), strategy);
            // Past the iteration at which the best point is judged on all data.
            common::trainer(objective, 1e-2, settings(130, None)).with_sampler(sampler)
        });
    }
}

#[test]
fn resume_gives_the_same_bytes_as_no_pause_for_adaptive_steps() {
    // Tight enough for more steps than a new tape has room for: it grows in the first solve only.
    let make = || {
        let strategy = Box::new(SelfAdaptive::default());
        common::trainer(objective(problem(&LAWS), dopri5(1e-13), strategy), 0.05, settings(6, None))
    };
    let mut trainer = make();
    trainer.run(&mut ());
    // Six new evaluations in each of at least 33 steps of each trajectory.
    assert!(trainer.objective().field_evaluations() > 3 * 33 * 6);
    check("adaptive", 2, make);
}

#[test]
fn resume_gives_the_same_bytes_as_no_pause_through_failures() {
    check("failures", 1, || towards(0.37, settings(40, None)));
    let hopeless = Settings { failures: 3, ..settings(40, None) };
    let mut watch = Watch::every(1);
    let end = towards(1e-9, hopeless).run(&mut watch);
    let resumed =
        towards(1e-9, hopeless).from_checkpoint(watch.checkpoints[0].clone()).unwrap().run(&mut ());
    assert!(matches!(end.stop, StopReason::Failed(_)));
    assert_eq!((bytes(&resumed.last), resumed.stop), (bytes(&end.last), end.stop));
}

/// Multipliers that grow with the violation: a strategy with a memory.
struct Remembering;

impl Strategy for Remembering {
    fn name(&self) -> &'static str {
        "remembering"
    }

    fn start(&self, laws: &[LawRows]) -> State {
        State { numbers: vec![0.0; laws.len()] }
    }

    fn weights(&self, state: &mut State, view: &MisfitView, _: usize, weights: &mut [f64]) {
        for (k, (memory, weight)) in state.numbers.iter_mut().zip(weights).enumerate() {
            *memory += 0.1 * view.violations_of(k).iter().sum::<f64>();
            *weight = *memory;
        }
    }

    fn value(
        &self,
        state: &State,
        view: &MisfitView,
        weights: &[f64],
        slopes: &mut Slopes,
    ) -> Value {
        lawful::strategy::L1::default().value(state, view, weights, slopes)
    }
}

#[test]
fn resume_gives_the_same_bytes_as_no_pause_for_a_strategy_with_a_memory() {
    for batch in [Batch::Full, Batch::Windows { count: 3, rows: 3 }] {
        check(&format!("{batch:?}"), 21, || {
            let problem = problem(&LAWS);
            let sampler = Sampler::new(batch, &problem.dataset, 3).unwrap();
            let objective = objective(problem, Solver::default(), Box::new(Remembering));
            common::trainer(objective, 1e-2, settings(105, None)).with_sampler(sampler)
        });
    }
}

#[test]
fn a_wish_to_stop_is_granted_after_a_checkpoint_from_which_the_run_goes_on() {
    let make = || {
        let strategy = Box::new(SelfAdaptive::default());
        common::trainer(
            objective(problem(&LAWS), Solver::default(), strategy),
            0.01,
            settings(20, None),
        )
    };
    let end = make().run(&mut ());
    let mut watch = Watch { stop_at: Some(7), ..Watch::default() };
    let interrupted = make().run(&mut watch);
    assert_eq!((interrupted.stop, interrupted.last.iteration), (StopReason::Interrupted, 8));
    assert_eq!(watch.checkpoints, std::slice::from_ref(&interrupted.last));
    let resumed = make().from_checkpoint(interrupted.last).unwrap().run(&mut ());
    assert_eq!(bytes(&resumed.last), bytes(&end.last));
}

#[test]
fn a_look_elsewhere_between_runs_does_not_change_what_is_trained_on() {
    let make = || {
        let strategy = Box::new(SelfAdaptive::default());
        let objective = objective(problem(&LAWS), Solver::default(), strategy);
        common::trainer(objective, 0.01, settings(5, None))
    };
    let mut trainer = make();
    trainer.objective_mut().select(&[lawful::Segment { trajectory: 1, first: 0, rows: 2 }]);
    assert_eq!(bytes(&trainer.run(&mut ()).last), bytes(&make().run(&mut ()).last));
}

#[test]
fn an_extension_holds_the_last_value_of_the_schedule() {
    for name in Schedule::NAMES {
        let make = |iterations| {
            let strategy = Box::new(SelfAdaptive::default());
            let objective = objective(problem(&LAWS), Solver::default(), strategy);
            let schedule = Schedule::from_name(name, 10).unwrap();
            let settings = Settings { iterations, schedule, ..Settings::default() };
            common::trainer(objective, 0.01, settings)
        };
        let first = make(10).run(&mut ());
        let mut rest = Watch::default();
        let extended = make(25).from_checkpoint(first.last).unwrap().run(&mut rest);
        let straight = make(25).run(&mut ());
        assert_eq!(bytes(&extended.last), bytes(&straight.last), "{name}");
        let last = Schedule::from_name(name, 10).unwrap().factor(10);
        assert_eq!(rest.rows.len(), 16);
        assert!(rest.rows.iter().all(|row| row.factor.to_bits() == last.to_bits()), "{name}");
    }
}

#[test]
fn a_checkpoint_of_other_laws_or_another_strategy_is_refused() {
    let settings = Settings { iterations: 3, ..Settings::default() };
    let make = |laws: usize, weight_every| {
        let strategy = SelfAdaptive { weight_every, ..SelfAdaptive::default() };
        let problem = problem(&LAWS[..laws]);
        let objective = objective(problem, Solver::default(), Box::new(strategy));
        common::trainer(objective, 1e-2, settings)
    };
    let checkpoint = make(3, 1).run(&mut ()).last;
    let refused = |trainer: Trainer| trainer.from_checkpoint(checkpoint.clone()).err();
    assert_eq!(refused(make(3, 1)), None);
    let error = refused(make(2, 1)).unwrap();
    assert_eq!(error, TrainerError::Laws { found: 3, expected: 2 });
    assert_eq!(
        error.to_string(),
        "the checkpoint is of a run with 3 penalised laws, but the objective has 2"
    );
    assert_eq!(refused(make(3, 5)), Some(TrainerError::Strategy));
}
