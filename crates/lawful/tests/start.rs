//! Trainings that start at the table on which their laws hold.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::bits;
use common::watch::Watch;
use lawful::optimiser::LbfgsSettings;
use lawful::strategy::{SelfAdaptive, StrategySettings};
use lawful::{Dataset, FieldSettings, Laws, Phase, Plan, Prepared, Shooting, Start, Training};

const LAWS: [&str; 5] = ["S + I + R == 1", "next(S) <= S", "next(R) >= R", "S >= 0", "R >= 0"];

/// An epidemic of which only the infected are measured after the first row.
fn epidemic() -> Dataset {
    let (mut y, h) = ([0.99, 0.01, 0.0], 0.005);
    let (mut times, mut states) = (Vec::new(), Vec::new());
    for n in 0..=3000 {
        if n % 200 == 0 {
            times.push(h * f64::from(n));
            let measured = |y: f64| if n == 0 { y } else { f64::NAN };
            states.extend([measured(y[0]), y[1], measured(y[2])]);
        }
        let (infected, recovered) = (1.7 * y[0] * y[1], 0.45 * y[1]);
        y = [y[0] - h * infected, y[1] + h * (infected - recovered), y[2] + h * recovered];
    }
    Dataset::single(&["S", "I", "R"], times, states).unwrap()
}

fn training(data: Dataset, laws: &[&str]) -> Training {
    let laws = Laws::parse(&data, laws.iter().copied()).unwrap();
    let field = FieldSettings::layers(&[10], data.state());
    Training::new(data).laws(laws).field(field).seed(3)
}

fn prepared(training: Training) -> Prepared {
    training.prepare().unwrap()
}

#[test]
fn complete_clean_data_start_as_before() {
    let times: Vec<f64> = (0..150).map(|n| 0.1 * f64::from(n)).collect();
    let states = times.iter().flat_map(|t| [0.6 + 0.3 * t.sin(), 0.4 - 0.3 * t.sin()]).collect();
    let data = Dataset::single(&["a", "b"], times, states).unwrap();
    let chosen = prepared(training(data.clone(), &["a + b == 1"]));
    let random = prepared(training(data, &["a + b == 1"]).start(Start::Random));
    assert_eq!((chosen.start, &chosen.table), (Start::Random, &None));
    assert_eq!(bits(&chosen.initial_theta()), bits(&random.initial_theta()));
    assert_eq!((chosen.scaling, chosen.remarks), (random.scaling, random.remarks));
}

#[test]
fn gaps_start_at_the_table_and_only_enforced_laws_make_one() {
    let data = epidemic();
    let chosen = prepared(training(data.clone(), &LAWS));
    assert_eq!(chosen.start, Start::Table);
    assert!(chosen.table.as_ref().unwrap().holds(1e-3));
    let remark = "training starts at the states nearest to the data on which the laws hold";
    assert!(chosen.remarks.iter().any(|text| text == remark), "{:?}", chosen.remarks);
    let vanilla = training(data.clone(), &LAWS).strategy(StrategySettings::vanilla());
    assert!(prepared(vanilla).table.is_none());
    // Nothing says how S and R move, or no states obey.
    for laws in [&["I >= 0"][..], &["S + I + R == 1", "S + I + R == 1.2"]] {
        let penalised = || {
            let strategy = StrategySettings::new(SelfAdaptive::smooth());
            training(data.clone(), laws).strategy(strategy)
        };
        let open = prepared(penalised());
        assert!(open.table.is_none(), "{laws:?}");
        let random = prepared(penalised().start(Start::Random));
        assert_eq!(bits(&open.initial_theta()), bits(&random.initial_theta()));
    }
}

#[test]
fn a_start_at_the_table_resumes_to_the_same_bytes() {
    let segments = Shooting::Multiple { steps: 5, free: true };
    let phase = Phase::new(LbfgsSettings::default(), 40);
    let phases = vec![Phase { shooting: segments, ..phase.clone() }, phase];
    let training = training(epidemic(), &LAWS).phases(phases).initial_state(true);
    let prepared = prepared(training.start(Start::Table));
    assert!(prepared.table.is_some());
    let whole = prepared.run(&mut ());
    let mut watched = Watch::every(15);
    let _ = prepared.trainer(&prepared.phases[0], &prepared.initial_theta()).run(&mut watched);
    assert!(watched.checkpoints.len() > 1);
    for progress in watched.checkpoints {
        let resumed = prepared.resume(Plan::new(&prepared.phases), Some(progress), &mut ());
        assert_eq!(bits(&resumed.outcome.last.theta), bits(&whole.outcome.last.theta));
    }
}

#[test]
fn states_that_nobody_measured_are_learned_with_their_laws() {
    for seed in 1..=3 {
        let trained = training(epidemic(), &LAWS).seed(seed).run().unwrap();
        let score = trained.score.unwrap();
        assert!(score.mse < 1e-4 && score.violation_max < 3e-3, "seed {seed}: {score:?}");
        // S falls to a few per cent, as it did.
        let last = score.predicted[0][45];
        assert!((-0.01..0.1).contains(&last), "seed {seed}: {last}");
    }
}
