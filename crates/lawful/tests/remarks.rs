//! The reasons of the recipe `auto` follow from what is used, and rows without a measurement do not count.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use lawful::ode::{Adaptive, tableaus};
use lawful::{Control, Dataset, FieldSettings, Prepared, Random, Solver, Training, Trajectory};

/// A noisy oscillation of `rows` rows, of which only every `every`-th one up to `until` is measured.
fn oscillation(rows: u32, every: u32, until: u32) -> Trajectory {
    let mut random = Random::new(3, "oscillation");
    let times: Vec<f64> = (0..rows).map(|n| 0.1 * f64::from(n)).collect();
    let state = |n: u32| {
        let noise = 0.1 * random.normal();
        if n.is_multiple_of(every) && n < until {
            (0.1 * f64::from(n)).cos() + noise
        } else {
            f64::NAN
        }
    };
    let states = (0..rows).map(state).collect();
    Trajectory::new("1", times, states)
}

fn data(trajectory: Trajectory) -> Training {
    let data = Dataset::new(vec!["x".to_owned()], Vec::new(), vec![trajectory]).unwrap();
    // With a network of one's own, noisy data are not trained by least squares.
    let field = FieldSettings::new(data.state());
    Training::new(data).field(field)
}

fn says(prepared: &Prepared, what: &str) -> bool {
    prepared.remarks.iter().any(|remark| remark.contains(what))
}

#[test]
fn rows_without_a_measurement_do_not_count_as_rows() {
    let prepared = data(oscillation(200, 4, 200)).prepare().unwrap();
    assert!(prepared.validation == 0.0 && prepared.decay > 0.0, "{:?}", prepared.remarks);
    assert!(says(&prepared, "50 rows are too few to hold some out: weight decay"));
    // Enough of them: the last fifth of those is held out, although the tail is empty.
    let prepared = data(oscillation(300, 1, 150)).prepare().unwrap();
    assert!(prepared.validation > 0.0, "{:?}", prepared.remarks);
    let run = data(oscillation(300, 1, 150))
        .phases(vec![lawful::Phase::new(lawful::optimiser::LbfgsSettings::default(), 20)]);
    let outcome = {
        let prepared = run.validation(0.2).prepare().unwrap();
        prepared.run(&mut ()).outcome
    };
    let error = outcome.last.validated.error;
    assert!(error.is_finite() && error > 0.0, "{error}");
}

#[test]
fn held_out_trajectories_without_a_measurement_are_no_validation() {
    let trajectories: Vec<Trajectory> = (0..6)
        .map(|n| {
            let until = if n < 4 { 40 } else { 1 };
            let name = format!("{n}");
            let mut trajectory = Trajectory { name, ..oscillation(40, 1, until) };
            if n >= 4 {
                trajectory.scored_from = 1;
            }
            trajectory
        })
        .collect();
    let data = Dataset::new(vec!["x".to_owned()], Vec::new(), trajectories).unwrap();
    let field = FieldSettings::new(data.state());
    let prepared = Training::new(data).field(field).initial_state(false).prepare().unwrap();
    assert!(prepared.validation == 0.0 && prepared.decay > 0.0, "{:?}", prepared.remarks);
    assert!(says(&prepared, "the rows to hold out have no measurement: weight decay"));
}

#[test]
fn remarks_follow_from_what_the_user_has_set() {
    let many = || data(oscillation(150, 1, 150));
    let few = || data(oscillation(60, 1, 60));
    let prepared = many().prepare().unwrap();
    assert!(says(&prepared, "the last 20.0 % of the rows are held out"), "{:?}", prepared.remarks);
    assert!(says(&prepared, "initial states are trained"));

    let prepared = many().validation(0.3).initial_state(false).prepare().unwrap();
    assert!(says(&prepared, "the last 30.0 % of the rows are held out"), "{:?}", prepared.remarks);
    assert!(!says(&prepared, "20.0 %") && !says(&prepared, "initial states"));

    let prepared = many().validation(0.0).prepare().unwrap();
    assert!(!says(&prepared, "are held out"), "{:?}", prepared.remarks);
    assert!(says(&prepared, "no row is held out: weight decay") && prepared.decay > 0.0);

    let prepared = few().weight_decay(0.0).prepare().unwrap();
    assert!(!says(&prepared, "weight decay"), "{:?}", prepared.remarks);
    let prepared = few().weight_decay(0.5).prepare().unwrap();
    assert!(says(&prepared, "weight decay 0.500"), "{:?}", prepared.remarks);
    let prepared = few().validation(0.25).prepare().unwrap();
    assert!(says(&prepared, "the last 25.0 %") && !says(&prepared, "weight decay"));
}

#[test]
fn steps_per_interval_are_those_of_the_solver() {
    let coarse = || {
        let mut trajectory = oscillation(30, 1, 30);
        for time in &mut trajectory.times {
            *time *= 8.0;
        }
        trajectory.states = trajectory.times.iter().map(|t| t.cos()).collect();
        data(trajectory)
    };
    let prepared = coarse().prepare().unwrap();
    let substeps = prepared.phases[0].substeps;
    assert!(substeps > 1 && says(&prepared, &format!(": {substeps} solver steps per interval")));
    let method = prepared.solver.tableau();
    let double = Solver::new(method, Control::Grid { substeps: 2 }).unwrap();
    let prepared = coarse().solver(double).prepare().unwrap();
    assert!(says(&prepared, &format!(": {} solver steps per interval", 2 * substeps)));
    let adaptive = Control::Adaptive(Adaptive::with_tolerances(1e-6, 1e-8));
    let adaptive = Solver::new(&tableaus::DOPRI5, adaptive).unwrap();
    let prepared = coarse().solver(adaptive).prepare().unwrap();
    assert!(!says(&prepared, "solver steps per interval"), "{:?}", prepared.remarks);
}
