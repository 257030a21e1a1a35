//! Intervals: exact where there is an exact answer, calibrated on simulations, and within the laws.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::watch::Watch;
use lawful::law::Words;
use lawful::{
    Dataset, Enforcement, FieldSettings, FormulaField, IntervalError, IntervalKind, Laws,
    LeastSquaresSettings, Model, Phase, Plan, Prepared, Random, Simulation, Table, Training,
    Trajectory,
};

const NOTHING: Table<'static> = Table { times: &[], values: &[] };

/// A short search by least squares.
fn phase(iterations: usize, starts: usize) -> Phase {
    let kept = starts.min(3);
    let settings = LeastSquaresSettings { starts, screening: 15, kept, rounds: 2, round: 10 };
    let optimiser = lawful::optimiser::OptimiserKind::default();
    Phase { least_squares: Some(settings), ..Phase::new(optimiser, iterations) }
}

/// Known rates of one state variable, with these learned constants and their starts.
fn known(rate: &str, constants: &[(&str, f64)], data: &Dataset) -> Training {
    let mut words = Words::new().state(["x"]);
    for (name, start) in constants {
        words = words.constant(*name, *start);
    }
    let names: Vec<&str> = constants.iter().map(|(name, _)| *name).collect();
    let learned = names.iter().zip(constants).map(|(name, (_, start))| lawful::LearnedConstant {
        name: (*name).to_owned(),
        start: *start,
        min: None,
        max: None,
    });
    let laws = Laws::with_learned(words.check().unwrap(), learned.collect()).unwrap();
    let field = FieldSettings {
        known: vec![("x".to_owned(), rate.to_owned())],
        ..FieldSettings::layers(&[], &[])
    };
    Training::new(data.clone()).laws(laws).field(field).initial_state(true)
}

/// The data of `intervals/linear.py`, which prints the numbers below.
fn line() -> Prepared {
    let y = [1.02, 1.41, 2.13, 2.44, 2.91, 3.68, 3.94, 4.46, 5.12, 5.43, 6.05, 6.41];
    let times = (0..12).map(f64::from).collect();
    let data = Dataset::single(&["x"], times, y.to_vec()).unwrap();
    known("a", &[("a", 0.3)], &data).phases(vec![phase(60, 1)]).prepare().unwrap()
}

#[test]
fn a_linear_model_has_the_exact_posterior() {
    let prepared = line();
    let model = prepared.model_of(&prepared.run(&mut ()));
    let estimates = model.estimates();
    let near = |found: f64, expected: f64, share: f64| {
        assert!((found / expected - 1.0).abs() < share, "{found}, expected {expected}");
    };
    near(estimates.constants[0].value, 0.498_110_609_729_336_6, 1e-6);
    near(estimates.constants[0].standard_error.unwrap(), 0.008_415_955_237_280_533, 1e-4);
    let component = &model.posterior().unwrap().components()[0];
    near(component.noise[0], 0.100_676_557_842_882_5, 1e-4);
    near(component.freedom, 11.001_006_944_492_069, 1e-4);
    // Quantiles of 100 draws; without noise they are rough.
    let start = &prepared.data.trajectories()[0];
    let intervals = model.intervals(0.9).unwrap();
    assert_eq!(intervals.draws().len(), 100);
    let band = intervals.along(start, &[0.0, 5.5, 20.0]).unwrap();
    let curve = intervals.kind(IntervalKind::Credible).along(start, &[0.0, 5.5, 20.0]).unwrap();
    for (at, centre, with_noise, without) in [
        (1, 3.750_002_736_024_09, 0.188_182_615_391_976_14, 0.052_185_611_788_030_28),
        (2, 10.972_606_577_099_47, 0.288_878_612_411_362_8, 0.225_303_115_936_378),
    ] {
        near(band.central[at], centre, 1e-6);
        near((band.high[at] - band.low[at]) / 2.0, with_noise, 0.1);
        near((curve.high[at] - curve.low[at]) / 2.0, without, 0.2);
    }
    assert_eq!((band.draws, band.failed), (100, 0));
}

#[test]
fn an_exact_initial_state_has_no_interval_and_a_trained_one_has() {
    let prepared = line();
    let model = prepared.model_of(&prepared.run(&mut ()));
    let intervals = model.intervals(0.9).unwrap().kind(IntervalKind::Credible);
    let exact = intervals.from(&[1.0], &[0.0, 4.0], NOTHING).unwrap();
    assert_eq!(
        (exact.low[0].to_bits(), exact.high[0].to_bits()),
        (1.0_f64.to_bits(), 1.0_f64.to_bits())
    );
    assert!(exact.high[1] - exact.low[1] > 0.01);
    let trained = intervals.along(&prepared.data.trajectories()[0], &[0.0, 4.0]).unwrap();
    assert!(trained.high[0] - trained.low[0] > 0.05);
    // The measured state of another trajectory is as noisy as any measurement.
    let other = Trajectory { name: "other".to_owned(), ..prepared.data.trajectories()[0].clone() };
    let measured = intervals.along(&other, &[0.0, 4.0]).unwrap();
    let width = measured.high[0] - measured.low[0];
    assert!((0.2..0.5).contains(&width), "{width}");
}

#[test]
fn a_saved_posterior_is_read_back_and_a_resumed_run_has_the_same_bytes() {
    let prepared = line();
    let mut watch = Watch::every(1);
    let run = prepared.run(&mut watch);
    let model = prepared.model_of(&run);
    let bytes = model.archive().to_bytes();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    model.save(&path).unwrap();
    let read = Model::load(&path).unwrap();
    assert_eq!(read.posterior(), model.posterior());
    assert_eq!(read.interval(&[1.0], &[0.0, 3.0], 0.9), model.interval(&[1.0], &[0.0, 3.0], 0.9));
    for checkpoint in watch.checkpoints.iter().step_by(17).chain(watch.checkpoints.last()) {
        let plan = Plan::new(&prepared.phases);
        let resumed = prepared.resume(plan, Some(checkpoint.clone()), &mut ());
        assert_eq!(prepared.model_of(&resumed).archive().to_bytes(), bytes);
    }
    // Without its posterior the file is that of a model without one.
    let bare = prepared.model(run.outcome.last.theta.clone(), model.description().iteration);
    assert_eq!(model.with_posterior(None).archive().to_bytes(), bare.archive().to_bytes());
}

#[test]
fn a_damaged_posterior_is_refused() {
    let prepared = line();
    let model = prepared.model_of(&prepared.run(&mut ()));
    let bare = model.clone().with_posterior(None);
    let change = |name: &str, values: &[f64]| {
        let mut archive = bare.archive();
        archive.set("posterior", 1.into());
        for (tensor, own) in [
            ("weights", vec![1.0]),
            ("freedom", vec![9.0]),
            ("theta", vec![0.0; 2]),
            ("factors", vec![1.0, 0.0, 1.0]),
            ("noise", vec![0.1]),
            ("freedom-of-noise", vec![9.0]),
            ("draws", vec![0.0; 4]),
            ("noise-of-draws", vec![0.1, 0.2]),
            ("start-guesses", vec![1.0]),
            ("start-scale", vec![1.0]),
        ] {
            archive.add(&format!("posterior.{tensor}"), if tensor == name { values } else { &own });
        }
        Model::from_archive(&archive).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(change("none", &[]), Ok(()));
    for (name, values) in [
        ("weights", &[0.0][..]),
        ("weights", &[1.0, 1.0]),
        ("freedom", &[-1.0]),
        ("theta", &[0.0; 3]),
        ("theta", &[f64::NAN, 0.0]),
        ("factors", &[1.0, 0.0]),
        ("factors", &[1.0, 0.0, 0.0]),
        ("factors", &[1.0, f64::INFINITY, 1.0]),
        ("noise", &[-0.1]),
        ("freedom-of-noise", &[0.0]),
        ("draws", &[0.0; 3]),
        ("draws", &[0.0, 0.0, f64::NAN, 0.0]),
        ("noise-of-draws", &[]),
        ("noise-of-draws", &[0.1, -0.2]),
        ("start-guesses", &[]),
        ("start-scale", &[f64::NAN]),
    ] {
        let error = change(name, values).unwrap_err();
        assert!(
            error.contains(&format!("`posterior.{name}`")) || name.starts_with("start"),
            "{error}"
        );
    }
    for count in [serde_json::json!(0), serde_json::json!(u64::MAX), serde_json::json!("2")] {
        let mut archive = bare.archive();
        archive.set("posterior", count);
        assert!(Model::from_archive(&archive).is_err());
    }
}

#[test]
fn what_has_no_interval_says_so() {
    let prepared = line();
    let model = prepared.model_of(&prepared.run(&mut ()));
    for level in [0.0, 1.0, -0.5, f64::NAN] {
        assert!(matches!(model.interval(&[1.0], &[0.0], level), Err(IntervalError::Level(_))));
    }
    let bare = model.with_posterior(None);
    let error = bare.interval(&[1.0], &[0.0], 0.9).unwrap_err();
    assert_eq!(error, IntervalError::NoPosterior);
    assert!(error.hint().contains("evidence"));
}

/// Coverage of 90 % intervals for new measurements inside of the training range and beyond, over many seeds.
fn coverage(
    seeds: u64,
    training: &dyn Fn(&Dataset, u64) -> Training,
    rates: &[&str],
    initial: f64,
) -> [f64; 2] {
    let words = Words::new().state(["x"]).check().unwrap();
    let (mut inside, mut cells) = ([0.0; 2], [0.0; 2]);
    for seed in 0..seeds {
        let field = FormulaField::new(rates, &words).unwrap();
        let simulation = Simulation { field, inputs: Vec::new(), tableau: None, noise: None };
        let times: Vec<f64> = (0..45).map(|n| f64::from(n) / 5.0).collect();
        let truth = simulation.run("truth", &times, &[initial]).unwrap();
        let mut random = Random::new(seed, "noise of the test");
        let noisy: Vec<f64> = truth.states.iter().map(|x| x + 0.05 * random.normal()).collect();
        // Every second row up to t = 6 is measured.
        let rows: Vec<usize> = (0..30).step_by(2).collect();
        let of = |values: &[f64]| rows.iter().map(|&n| values[n]).collect::<Vec<f64>>();
        let data = Dataset::single(&["x"], of(&times), of(&noisy)).unwrap();
        let prepared = training(&data, seed).prepare().unwrap();
        let model = prepared.model_of(&prepared.run(&mut ()));
        let intervals = model.intervals(0.9).unwrap();
        let band = intervals.along(&data.trajectories()[0], &times).unwrap();
        for (n, y) in noisy.iter().enumerate().filter(|(n, _)| !rows.contains(n)) {
            let task = usize::from(n > 28);
            cells[task] += 1.0;
            inside[task] += f64::from(u8::from(band.low[n] <= *y && *y <= band.high[n]));
        }
    }
    [inside[0] / cells[0], inside[1] / cells[1]]
}

#[test]
fn intervals_of_known_physics_are_calibrated() {
    let training = |data: &Dataset, seed: u64| {
        let constants = [("r", 0.7), ("k", 2.0)];
        known("r*x*(1 - x/k)", &constants, data).phases(vec![phase(40, 2)]).seed(seed)
    };
    let found = coverage(40, &training, &["0.9*x*(1 - x/1.5)"], 0.2);
    assert!(found.iter().all(|share| (0.85..0.95).contains(share)), "{found:?}");
}

#[test]
fn intervals_of_networks_are_calibrated() {
    let training = |data: &Dataset, seed: u64| {
        let field = FieldSettings::layers(&[6], data.state());
        Training::new(data.clone())
            .field(field)
            .initial_state(true)
            .phases(vec![phase(60, 6)])
            .seed(seed)
    };
    let found = coverage(24, &training, &["0.9*x*(1 - x/1.5)"], 0.2);
    assert!(found.iter().all(|share| (0.75..0.98).contains(share)), "{found:?}");
}

#[test]
fn guaranteed_laws_hold_in_every_draw_and_bound_the_interval() {
    let words = Words::new().state(["x", "y"]).check().unwrap();
    let field = FormulaField::new(&["-0.8*x", "0.8*x"], &words).unwrap();
    let simulation = Simulation { field, inputs: Vec::new(), tableau: None, noise: None };
    let times: Vec<f64> = (0..16).map(|n| 0.4 * f64::from(n)).collect();
    let mut measured = simulation.run("decay", &times, &[1.0, 0.0]).unwrap();
    let mut random = Random::new(3, "noise");
    measured.states.iter_mut().for_each(|y| *y += 0.05 * random.normal());
    let names = ["x", "y"].map(str::to_owned).to_vec();
    let data = Dataset::with_open_starts(names, Vec::new(), vec![measured]).unwrap();
    let mut laws = Laws::parse(&data, []).unwrap();
    for text in ["x + y == 1", "x >= 0", "y >= 0"] {
        laws = laws.enforced(text, text, Enforcement::Hard).unwrap();
    }
    let training = Training::new(data)
        .laws(laws)
        .field(FieldSettings::layers(&[4], &["x".into(), "y".into()]));
    let prepared = training.initial_state(true).phases(vec![phase(60, 4)]).prepare().unwrap();
    let model = prepared.model_of(&prepared.run(&mut ()));
    let trajectory = &prepared.data.trajectories()[0];
    let later: Vec<f64> = (0..30).map(|n| 0.4 * f64::from(n)).collect();
    let intervals = model.intervals(0.9).unwrap();
    for draw in intervals.draws() {
        let path = draw.model().predict(&draw.initial_state(trajectory), &later).unwrap();
        for row in path.chunks_exact(2) {
            assert!(
                (row[0] + row[1] - 1.0).abs() < 1e-9 && row[0] >= 0.0 && row[1] >= 0.0,
                "{row:?}"
            );
        }
    }
    let band = intervals.along(trajectory, &later).unwrap();
    assert!(band.low.iter().all(|low| *low >= 0.0));
    // Noise alone would lead below 0, where x has decayed.
    assert!(band.low[2 * 29] <= 0.0 && band.high[2 * 29] > 0.02, "{:?}", band.low);
    assert!(intervals.laws(&[("training", &prepared.data)], None).is_empty());
}

#[test]
fn the_interval_score_is_the_one_worked_by_hand() {
    let prepared = line();
    let model = prepared.model_of(&prepared.run(&mut ()));
    let trajectory = &prepared.data.trajectories()[0];
    let intervals = model.intervals(0.8).unwrap();
    let band = intervals.along(trajectory, &trajectory.times).unwrap();
    // One cell 0.3 above its interval, one without a measurement.
    let mut states = trajectory.states.to_vec();
    states[3] = band.high[3] + 0.3;
    states[5] = f64::NAN;
    let moved = Trajectory { states: states.into(), ..trajectory.clone() };
    let data = Dataset::with_open_starts(vec!["x".to_owned()], Vec::new(), vec![moved]).unwrap();
    let score = &intervals.score(&data).unwrap()[0];
    let cells: Vec<usize> = (0..12).filter(|n| *n != 5).collect();
    let width = cells.iter().map(|&n| band.high[n] - band.low[n]).sum::<f64>() / 11.0;
    let outside = |n: usize| {
        let y = data.trajectories()[0].states[n];
        (band.low[n] - y).max(y - band.high[n]).max(0.0)
    };
    let misses = cells.iter().filter(|&&n| outside(n) > 0.0).count();
    assert!(misses >= 1);
    let expected = width + 10.0 * cells.iter().map(|&n| outside(n)).sum::<f64>() / 11.0;
    assert_eq!(score.cells, 11);
    assert!((score.width - width).abs() < 1e-12 && (score.score - expected).abs() < 1e-12);
    assert!((score.coverage - (1.0 - misses as f64 / 11.0)).abs() < 1e-12);
}
