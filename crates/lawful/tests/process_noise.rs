//! Process noise: its size, forecasts with it, files, and what it cannot be combined with.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::watch::Watch;
use common::{bits, progress_bytes};
use lawful::{
    Archive, Dataset, Enforcement, FORMAT, FieldSettings, Laws, LearnedConstant,
    LeastSquaresSettings, Model, Phase, Plan, Prepared, RECIPES, Random, Shooting, Training,
    TrainingError, Trajectory,
};

/// `dx = −a (x − m) dt + q dW` with a = 0.5, m = 2 and q = 0.6, measured with noise of 0.1 every half unit of
/// time.
const SIZE: f64 = 0.6;
const ROWS: usize = 60;
const LATER: usize = 12;

fn wanders(seed: u64, rows: usize) -> Trajectory {
    let mut random = Random::new(seed, "wanders");
    let (decay, step) = ((-0.5_f64 * 0.5).exp(), 0.5);
    // The exact transition of the process.
    let size = SIZE * ((1.0 - decay * decay) / (2.0 * 0.5)).sqrt();
    let mut x = 2.0 + SIZE * random.normal();
    let (mut times, mut states) = (Vec::new(), Vec::new());
    for row in 0..rows {
        times.push(step * row as f64);
        states.push(x + 0.1 * random.normal());
        x = 2.0 + decay * (x - 2.0) + size * random.normal();
    }
    Trajectory::new("a".to_owned(), times, states)
}

fn dataset(trajectory: Trajectory) -> Dataset {
    Dataset::with_open_starts(vec!["x".to_owned()], Vec::new(), vec![trajectory]).unwrap()
}

/// The training of these data with known physics whose constants are learned.
fn training(data: Dataset, iterations: usize) -> Training {
    let words = Laws::words(&data).constant("a", 1.0).constant("m", 1.0).check().unwrap();
    let constant =
        |name: &str, min| LearnedConstant { name: name.to_owned(), start: 1.0, min, max: None };
    let constants = vec![constant("a", Some(0.0)), constant("m", None)];
    let laws = Laws::with_learned(words, constants).unwrap();
    let known = vec![("x".to_owned(), "-a*(x - m)".to_owned())];
    let field = FieldSettings { known, ..FieldSettings::new(&[]) };
    let settings = LeastSquaresSettings { starts: 3, screening: 12, kept: 2, ..Default::default() };
    let mut phase = Phase::new(lawful::optimiser::OptimiserKind::default(), iterations);
    phase.least_squares = Some(settings);
    phase.shooting = Shooting::Multiple { steps: 1, free: true };
    phase.substeps = 2;
    let training = Training::new(data).laws(laws).field(field).phases(vec![phase]);
    training.initial_state(true).process_noise(true)
}

fn trained(prepared: &Prepared) -> Model {
    prepared.model_of(&prepared.run(&mut ()))
}

#[test]
fn the_size_is_estimated_and_intervals_of_forecasts_hold_their_share() {
    let (mut ratios, mut paths, mut inside, mut cells) = (Vec::new(), Vec::new(), 0, 0);
    for seed in 1..=20 {
        let whole = wanders(seed, ROWS + LATER);
        let mut known = whole.clone();
        known.times.truncate(ROWS);
        known.states.truncate(ROWS);
        let model = trained(&training(dataset(known.clone()), 60).prepare().unwrap());
        ratios.push((model.process_noise().unwrap()[0] / SIZE).powi(2));
        let band = model.intervals(0.9).unwrap().along(&known, &whole.times).unwrap();
        for row in ROWS..ROWS + LATER {
            inside += usize::from((band.low[row]..band.high[row]).contains(&whole.states[row]));
            cells += 1;
        }
        // The smoothed path is closer to the measurements than the path of the vector field.
        let central = model.along(&known, &known.times).unwrap();
        let error = |path: &[f64]| {
            let squares = path.iter().zip(&*known.states).map(|(a, b)| (a - b).powi(2));
            (squares.sum::<f64>() / ROWS as f64).sqrt()
        };
        let alone = model.predict(&[central[0]], &known.times).unwrap();
        paths.push(error(&central) / error(&alone));
        assert!(
            (model.score(&dataset(known.clone())).unwrap().mse.sqrt() - error(&central)).abs()
                < 1e-9
        );
    }
    assert!(paths.iter().all(|share| *share < 0.8), "{paths:?}");
    paths.sort_by(f64::total_cmp);
    assert!(paths[10] < 0.1, "{paths:?}");
    ratios.sort_by(f64::total_cmp);
    let median = 0.5 * (ratios[9] + ratios[10]);
    assert!((0.5..2.0).contains(&median), "{median}: {ratios:?}");
    let share =
        f64::from(u32::try_from(inside).unwrap()) / f64::from(u32::try_from(cells).unwrap());
    assert!((0.80..0.97).contains(&share), "{share}; Q {median}");
}

#[test]
fn forecasts_widen_to_the_spread_of_the_process() {
    let known = wanders(3, ROWS);
    let model = trained(&training(dataset(known.clone()), 60).prepare().unwrap());
    let intervals = model.intervals(0.9).unwrap();
    let last = known.times[ROWS - 1];
    let width = |after: f64| {
        let band = intervals.along(&known, &[0.0, last + after]).unwrap();
        band.high[1] - band.low[1]
    };
    let [soon, later, late] = [0.05, 1.0, 20.0].map(width);
    assert!(soon < 0.7 * later && later < late, "{soon} {later} {late}");
    // 3.3 standard deviations of q/√2a, the stationary spread, and noise.
    assert!((1.0..4.0).contains(&late), "{late}");
    // The same at any times between.
    let far = intervals.along(&known, &[0.0, last + 0.3, last + 1.0, last + 20.0]).unwrap();
    assert!((far.high[3] - far.low[3] - late).abs() < 1e-6 * late);
    // From an exact state, too, and for a trajectory of another name.
    let exact = intervals.from(&[2.0], &[0.0, 20.0], lawful::Table { times: &[], values: &[] });
    let exact = exact.unwrap();
    assert!((exact.high[1] - exact.low[1]) > 0.6 * late);
    let other = Trajectory { name: "b".to_owned(), ..known };
    let other = intervals.along(&other, &[0.0, 20.0]).unwrap();
    assert!((other.high[1] - other.low[1]) > 0.6 * late);
}

#[test]
fn resume_and_any_number_of_threads_give_the_same_bytes() {
    let prepared = training(dataset(wanders(1, 20)), 16).prepare().unwrap();
    let mut whole = Watch::every(1);
    let end = prepared.run(&mut whole);
    let model = prepared.model_of(&end).archive().to_bytes();
    for checkpoint in whole.checkpoints.iter().step_by(3) {
        let plan = Plan::new(&prepared.phases);
        let resumed = prepared.resume(plan, Some(checkpoint.clone()), &mut ());
        let same = progress_bytes(&resumed.outcome.last) == progress_bytes(&end.outcome.last);
        assert!(same && prepared.model_of(&resumed).archive().to_bytes() == model);
    }
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let found = pool.install(|| trained(&prepared).archive().to_bytes());
        assert!(found == model, "{threads} threads");
    }
}

#[test]
fn a_file_keeps_it_and_has_a_version_of_its_own() {
    let known = wanders(2, 20);
    let model = trained(&training(dataset(known.clone()), 16).prepare().unwrap());
    let bytes = model.archive().to_bytes();
    let archive = Archive::from_bytes("a", bytes).unwrap();
    assert_eq!(archive.get("format").unwrap().as_u64(), Some(u64::from(FORMAT) + 1));
    let read = Model::from_archive(&archive).unwrap();
    let times = [0.0, 3.3, 9.5, 14.0];
    let band = |model: &Model| {
        let band = model.intervals(0.8).unwrap().along(&known, &times).unwrap();
        bits(&[band.central, band.low, band.high].concat())
    };
    assert_eq!(band(&model), band(&read));
    assert_eq!(model.process_noise(), read.process_noise());
    // Another program's file, or a damaged one.
    let mut older = archive.clone();
    older.set("format", FORMAT.into());
    let error = Model::from_archive(&older).unwrap_err().to_string();
    assert!(error.contains("process noise, which its format does not have"), "{error}");
    let mut damaged = archive;
    damaged.add("other", &[]);
    let entry =
        damaged.get("process-noise").unwrap().to_string().replace("\"every\":", "\"every\":-");
    damaged.set("process-noise", serde_json::from_str(&entry).unwrap());
    assert!(Model::from_archive(&damaged).unwrap_err().to_string().contains("do not increase"));
}

#[test]
fn guaranteed_sums_hold_on_paths_that_jump() {
    let one = wanders(5, 30);
    let mut random = Random::new(5, "other");
    let both = |x: &f64| [*x, 5.0 - x + 0.05 * random.normal()];
    let states: Vec<f64> = one.states.iter().flat_map(both).collect();
    let own = Trajectory::new("a".to_owned(), one.times.to_vec(), states);
    let names = ["x", "y"].map(str::to_owned).to_vec();
    let data = Dataset::with_open_starts(names.clone(), Vec::new(), vec![own.clone()]).unwrap();
    let laws = Laws::new(Laws::words(&data).check().unwrap());
    let laws = laws.enforced("sum", "x + y == 5", Enforcement::Hard).unwrap();
    let phases = training(dataset(wanders(5, 30)), 40).prepare().unwrap().phases;
    let training = Training::new(data).laws(laws).initial_state(true).process_noise(true);
    let field = FieldSettings::layers(&[3], &names);
    let model = trained(&training.field(field).phases(phases).prepare().unwrap());
    let times = [0.0, 3.25, 14.5, 16.0, 30.0];
    let off = |states: &[f64]| {
        states.chunks_exact(2).map(|y| (y[0] + y[1] - 5.0).abs()).fold(0.0, f64::max)
    };
    assert!(off(&model.along(&own, &times).unwrap()) < 1e-9);
    let intervals = model.intervals(0.9).unwrap();
    for draw in intervals.draws() {
        let path = draw.model().along(&own, &times).unwrap();
        assert!(off(&path) < 1e-9, "{path:?}");
    }
    // The two increments are one number: both have the size of the process.
    for size in model.process_noise().unwrap() {
        assert!((0.5..2.0).contains(&(size / SIZE).powi(2)), "{size}");
    }
}

#[test]
fn auto_trains_it_by_least_squares_beside_a_network() {
    let data = dataset(wanders(4, 30));
    let prepared = Training::new(data).process_noise(true).prepare().unwrap();
    assert_eq!(prepared.recipe, Some("auto"));
    assert_eq!(prepared.phases[0].shooting, Shooting::Multiple { steps: 1, free: true });
    assert!(prepared.phases[0].least_squares.is_some() && prepared.field.hidden == [8]);
    assert!(prepared.remarks.iter().any(|text| text.contains("jump every row")));
    // Many rows have longer segments.
    let many = Training::new(dataset(wanders(4, 400))).process_noise(true).prepare().unwrap();
    assert_eq!(many.phases[0].shooting, Shooting::Multiple { steps: 2, free: true });
}

#[test]
fn what_it_cannot_be_combined_with_is_an_error_that_says_what_to_do() {
    let data = || dataset(wanders(1, 20));
    let law = |text: &str, how| {
        let laws = Laws::new(Laws::words(&data()).check().unwrap());
        laws.enforced(text, text, how).unwrap()
    };
    let recipe = |name: &str| RECIPES.iter().find(|recipe| recipe.name == name).unwrap();
    let short = {
        let mut own = wanders(1, 2);
        own.name = "short".to_owned();
        dataset(own)
    };
    for (training, said) in [
        (Training::new(data()).recipe(recipe("lbfgs")), "these phases have none"),
        (Training::new(data()).recipe(recipe("adam")), "these phases have none"),
        (Training::new(short), "at least 3 rows, and the longest has 2"),
        (
            Training::new(data()).laws(law("x >= -9", Enforcement::Hard)),
            "the guaranteed law `x >= -9`: an increment can break it",
        ),
        (
            Training::new(data()).laws(law("next(x) <= x + 9", Enforcement::Penalty)),
            "the penalised law `next(x) <= x + 9`: an increment can break it",
        ),
    ] {
        let error = training.process_noise(true).prepare().unwrap_err();
        assert!(matches!(error, TrainingError::ProcessNoise { .. }), "{error}");
        assert!(error.to_string().contains(said), "{error}");
        assert!(error.hint().is_some_and(|hint| !hint.is_empty()));
    }
    let monitored = Training::new(data()).laws(law("x >= -9", Enforcement::Monitor));
    assert!(monitored.process_noise(true).prepare().is_ok());
}
