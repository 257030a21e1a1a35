//! Trainings whose laws count between rows, up to a horizon and at the times of test sets.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::watch::Watch;
use common::{bits, progress_bytes};
use lawful::optimiser::LbfgsSettings;
use lawful::strategy::{AugmentedLagrangian, StrategySettings};
use lawful::{
    Batch, CountsAt, Dataset, FieldSettings, Laws, Phase, Prepared, Schedule, Shooting, Training,
    TrainingError, Trajectory,
};

/// Decay that is measured early: rows from 0 to 1, the second trajectory with a wave on it.
fn data() -> Dataset {
    let times: Vec<f64> = (0..11).map(|n| 0.1 * f64::from(n)).collect();
    let trajectory = |name: &str, wave: f64| {
        let states = times.iter().map(|t| (-t).exp() + wave * (9.0 * t).sin());
        Trajectory::new(name, times.clone(), states.collect())
    };
    Dataset::new(vec!["x".into()], vec![], vec![trajectory("a", 0.0), trajectory("b", 0.01)])
        .unwrap()
}

fn training(between: usize) -> Training {
    let data = data();
    let laws = Laws::parse(&data, ["x >= 0", "next(x) <= x", "next(x) - x >= -0.2"]).unwrap();
    let kind = AugmentedLagrangian { round: 40, ..AugmentedLagrangian::default() };
    let strategy = StrategySettings { between, ..StrategySettings::new(kind) };
    let field = FieldSettings { time_input: true, ..FieldSettings::layers(&[8], data.state()) };
    let lbfgs = || Phase::new(LbfgsSettings::default(), 200);
    let first = Phase { shooting: Shooting::Multiple { steps: 3, free: true }, ..lbfgs() };
    Training::new(data).laws(laws).field(field).strategy(strategy).phases(vec![first, lbfgs()])
}

/// The largest violation of the first two laws on a fine grid from 0 to 4: of the state, and of its slope.
fn violation(training: Training) -> f64 {
    let trained = training.run().unwrap();
    let times: Vec<f64> = (0..=400).map(|n| 0.01 * f64::from(n)).collect();
    let predicted = trained.model.predict(&[1.0], &times).unwrap();
    let rises = predicted.windows(2).map(|pair| (pair[1] - pair[0]) / 0.01);
    predicted.iter().map(|x| -x).chain(rises).fold(0.0, f64::max)
}

/// Other data of the first trajectory, up to t = 4.05.
fn test_set(value: f64) -> Dataset {
    let times: Vec<f64> = (0..10).map(|n| 0.45 * f64::from(n)).collect();
    let states = vec![value; times.len()];
    Dataset::new(vec!["x".into()], vec![], vec![Trajectory::new("a", times, states)]).unwrap()
}

#[test]
fn laws_hold_up_to_the_horizon_and_to_test_times_but_not_by_rows_alone() {
    let by_rows = violation(training(0).test_times(&test_set(1.0)));
    let to_horizon = violation(training(3).horizon(4.0));
    let to_tests = violation(training(3).test_times(&test_set(1.0)));
    assert!(by_rows > 0.5, "{by_rows:e}");
    assert!(to_horizon < 0.02, "{to_horizon:e}");
    assert!(to_tests < 0.02, "{to_tests:e}");
}

#[test]
fn values_of_test_sets_are_not_used() {
    let theta = |value: f64| {
        let mut prepared = training(3).test_times(&test_set(value)).prepare().unwrap();
        prepared.phases.iter_mut().for_each(|phase| phase.iterations = 10);
        bits(&prepared.run(&mut ()).outcome.last.theta)
    };
    assert_eq!(theta(1.0), theta(-7.0));
}

#[test]
fn paths_go_on_in_steps_of_the_rows_and_test_times_are_points() {
    let rows = |prepared: &Prepared, n: usize| {
        let objective = prepared.objective(&prepared.phases[1], prepared.data.clone()).unwrap();
        let problem = objective.problem();
        (problem.dataset.trajectories()[n].times.clone(), problem.points.of(n).to_vec())
    };
    let prepared = training(1).horizon(1.5).test_times(&test_set(1.0)).prepare().unwrap();
    // A test set speaks of the trajectory of its name.
    let ((a, of_a), (b, of_b)) = (rows(&prepared, 0), rows(&prepared, 1));
    assert_eq!((a.len(), a[41], b.len(), b[15]), (42, 0.45 * 9.0, 16, 1.5));
    // The middle of each interval, and 6 test times: 0.9 is not beyond the rows, and the last one is a row.
    assert_eq!((of_a.len(), of_b.len()), (41 + 6, 15));
    assert!([3.0, 8.0].iter().all(|n| of_a.contains(&(0.45 * n))) && !of_a.contains(&0.9));
    let measured = prepared.data.trajectories();
    assert_eq!(
        (bits(&a[..11]), bits(&b[..11])),
        (bits(&measured[0].times), bits(&measured[1].times))
    );
    // Without points and a horizon, laws count at the rows.
    let plain = training(0).test_times(&test_set(1.0)).prepare().unwrap();
    assert_eq!(rows(&plain, 0), (measured[0].times.clone(), Vec::new()));
    // Test times very far away do not count.
    let far = Trajectory::new("a", vec![0.0, 20.9, 21.1], vec![1.0; 3]);
    let far = Dataset::new(vec!["x".into()], vec![], vec![far]).unwrap();
    let prepared = training(1).test_times(&far).prepare().unwrap();
    assert_eq!(rows(&prepared, 0).0.last(), Some(&20.9));
}

#[test]
fn resume_gives_the_same_bytes_as_no_pause_in_every_phase_and_on_any_number_of_threads() {
    let mut prepared = training(3).horizon(2.0).prepare().unwrap();
    prepared.phases.iter_mut().for_each(|phase| phase.iterations = 90);
    let adam = lawful::optimiser::AdamSettings::default();
    let batch = Batch::Trajectories { count: 1 };
    let mut last = Phase { batch, ..Phase::new(adam, 90) };
    last.strategy = Some(StrategySettings {
        between: 2,
        ..StrategySettings::new(lawful::strategy::L2::default())
    });
    prepared.phases.push(last);
    let mut kept = prepared.initial_theta();
    for phase in &prepared.phases {
        let mut watch = Watch::every(25);
        let end = prepared.trainer(phase, &kept).run(&mut watch);
        assert!(watch.checkpoints.len() > 2);
        for checkpoint in watch.checkpoints {
            let trainer = prepared.trainer(phase, &kept).from_checkpoint(checkpoint).unwrap();
            let resumed = { trainer }.run(&mut ());
            assert_eq!(progress_bytes(&resumed.last), progress_bytes(&end.last));
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let threaded = pool.install(|| prepared.trainer(phase, &kept).run(&mut ()));
        assert_eq!(progress_bytes(&threaded.last), progress_bytes(&end.last));
        let layout = prepared.trainer(phase, &kept).objective().layout();
        kept = layout.keep(&end.last.theta);
    }
}

#[test]
fn multipliers_of_segments_are_those_of_full_trajectories() {
    let mut prepared = training(3).horizon(2.0).prepare().unwrap();
    prepared.phases.iter_mut().for_each(|phase| phase.iterations = 90);
    // Obeyed laws have no multipliers.
    prepared.strategy.margin = 0.5;
    let first = prepared.trainer(&prepared.phases[0], &prepared.initial_theta()).run(&mut ());
    let multipliers = first.last.strategy.laws;
    let laws = prepared.laws.iter().map(CountsAt::of).collect::<Vec<_>>();
    assert_eq!(laws, [CountsAt::Points, CountsAt::Points, CountsAt::Rows]);
    // 21 rows of each trajectory, 20 intervals with three points each; ρ and a violation of each law.
    let (fine, rows) = (2 * (21 + 60), 2 * 21);
    assert_eq!(multipliers.numbers.len(), 2 * fine + rows + 6);
    let kept = prepared.initial_theta();
    let trainer = prepared.trainer(&prepared.phases[1], &kept).continuing(&multipliers);
    let mut memory = lawful::StrategyMemory::default();
    trainer.objective().save_strategy(&mut memory);
    let own = ..2 * fine + rows;
    assert_eq!(bits(&memory.laws.numbers[own]), bits(&multipliers.numbers[own]));
    assert!(multipliers.numbers[own].iter().any(|lambda| lambda.abs() > 0.0));
}

#[test]
fn a_horizon_that_cannot_be_reached_is_refused() {
    let reason = |training: Training| training.prepare().unwrap_err().to_string();
    let after = "`horizon` is 0.9, but must be the time of the last row of a trajectory, or later";
    assert_eq!(reason(training(0).horizon(0.9)), after);
    assert!(reason(training(0).horizon(f64::NAN)).contains("is NaN, but must be the time of"));
    assert!(reason(training(0).horizon(1e9)).contains("at most a million row intervals"));
    let windows = Phase {
        batch: Batch::Windows { count: 2, rows: 3 },
        schedule: Schedule::constant(),
        strategy: Some(StrategySettings::new(lawful::strategy::L2::default())),
        ..Phase::new(lawful::optimiser::AdamSettings::default(), 10)
    };
    assert_eq!(
        reason(training(0).horizon(2.0).phases(vec![windows])),
        "phase 1: batches of windows do not reach the horizon: use trajectories"
    );
    let many = training(101).prepare();
    assert!(matches!(many, Err(TrainingError::Phase { number: 1, .. })), "{many:?}");
}
