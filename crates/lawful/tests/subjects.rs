//! Trajectories that differ: effects, constants with one value for each, and new trajectories.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::watch::Watch;
use common::{bits, progress_bytes};
use lawful::{
    Dataset, FieldSettings, Laws, LearnedConstant, LeastSquaresSettings, Model, Phase, Plan,
    Prepared, Random, Training, TrainingError, Trajectory,
};

/// Subjects that eliminate a drug, `dx/dt = −k x/(1 + x/4)`, each at a rate of its own, which depends on its
/// weight: `k = 0.5 exp(spread (weight + 0.3 z))`. So does its initial state. Every subject is measured ten
/// times, with noise.
fn subjects(seed: u64, count: usize, spread: f64) -> Vec<Trajectory> {
    let mut random = Random::new(seed, "subjects");
    let of = |n: usize| {
        let (weight, own) = (random.normal(), random.normal());
        let k = 0.5 * (spread * (weight + 0.3 * own)).exp();
        let mut x = 8.0 + weight;
        let (mut times, mut states) = (Vec::new(), Vec::new());
        for row in 0..10 {
            times.push(0.5 * f64::from(row));
            states.push(x + 0.1 * random.normal());
            for _ in 0..200 {
                x -= 0.0025 * k * x / (1.0 + 0.25 * x);
            }
        }
        let inputs = vec![weight; times.len()];
        Trajectory {
            inputs: inputs.into(),
            ..Trajectory::new(format!("{seed}-{n}"), times, states)
        }
    };
    (0..count).map(of).collect()
}

fn dataset(trajectories: Vec<Trajectory>) -> Dataset {
    Dataset::with_open_starts(vec!["x".to_owned()], vec!["weight".to_owned()], trajectories)
        .unwrap()
}

/// Without the weight, which the network does not see: it explains effects of new subjects only.
fn without_inputs(trajectories: &[Trajectory]) -> Dataset {
    let bare =
        trajectories.iter().map(|own| Trajectory { inputs: Vec::new().into(), ..own.clone() });
    Dataset::with_open_starts(vec!["x".to_owned()], Vec::new(), bare.collect()).unwrap()
}

/// The same trajectories twice: for training without every third row, to be scored on these rows.
fn split(trajectories: &[Trajectory]) -> (Vec<Trajectory>, Vec<Trajectory>) {
    let keep = |own: &Trajectory, held_out: bool| {
        let states = own.states.iter().enumerate();
        let states = states.map(|(n, x)| if (n % 3 == 2) == held_out { *x } else { f64::NAN });
        Trajectory { states: states.collect::<Vec<f64>>().into(), ..own.clone() }
    };
    let of = |held_out| trajectories.iter().map(|own| keep(own, held_out)).collect();
    (of(false), of(true))
}

fn search() -> Vec<Phase> {
    let settings = LeastSquaresSettings { starts: 4, screening: 15, kept: 2, rounds: 1, round: 1 };
    let mut phase = Phase::new(lawful::optimiser::OptimiserKind::default(), 60);
    phase.least_squares = Some(settings);
    vec![phase]
}

fn prepared(data: Dataset, field: FieldSettings) -> Prepared {
    let training = Training::new(data).field(field).phases(search()).initial_state(true);
    training.prepare().unwrap()
}

fn with_effects(effects: usize) -> FieldSettings {
    FieldSettings { effects, ..FieldSettings::layers(&[4], &["x".to_owned()]) }
}

/// The root mean square error on some data.
fn error(model: &Model, data: &Dataset) -> f64 {
    model.score(data).unwrap().mse.sqrt()
}

fn trained(data: Dataset, field: FieldSettings) -> Model {
    let prepared = prepared(data, field);
    prepared.model_of(&prepared.run(&mut ()))
}

#[test]
fn effects_of_known_subjects_predict_their_held_out_rows() {
    let (kept, held_out) = split(&subjects(1, 10, 0.5));
    let (kept, held_out) = (without_inputs(&kept), without_inputs(&held_out));
    let [none, one] = [0, 1].map(|n| trained(kept.clone(), with_effects(n)));
    let zero = one.clone().with_effects(vec![0.0]).unwrap();
    let [none, one, zero] = [&none, &one, &zero].map(|model| error(model, &held_out));
    assert!(one < 0.5 * none && one < 0.5 * zero, "{none} {one} {zero}");
}

#[test]
fn effects_of_new_subjects_are_predicted_from_what_is_known_of_them() {
    // The network does not see the weight: the initial state alone tells of it.
    let [known, new] = [(1, 12), (2, 20)].map(|(seed, n)| without_inputs(&subjects(seed, n, 0.5)));
    let [none, model] = [0, 1].map(|n| trained(known.clone(), with_effects(n)));
    assert_eq!(model.effects_of("1-3").unwrap().len(), 1);
    assert_eq!(model.effects_of("2-3"), None);
    let zero = model.clone().with_effects(vec![0.0]).unwrap();
    let [none, own, zero] = [&none, &model, &zero].map(|model| error(model, &new));
    assert!(own < 0.7 * none && own < 0.7 * zero, "{none} {own} {zero}");
    assert!(model.with_effects(vec![0.0, 1.0]).is_err());
}

/// Elimination with a rate constant that each subject has of its own.
fn elimination(data: &Dataset, varies: bool) -> (Laws, FieldSettings) {
    let words = Laws::words(data).constant("k", 1.0).check().unwrap();
    let k = LearnedConstant { name: "k".to_owned(), start: 1.0, min: Some(0.0), max: None };
    let varying = if varies { vec!["k".to_owned()] } else { Vec::new() };
    let known = vec![("x".to_owned(), "-k*x/(1 + x/4)".to_owned())];
    let field = FieldSettings { known, varying, ..FieldSettings::new(&[]) };
    (Laws::with_learned(words, vec![k]).unwrap(), field)
}

#[test]
fn a_constant_of_each_trajectory_is_found_and_pooled() {
    let (known, new) = (dataset(subjects(1, 12, 0.5)), dataset(subjects(2, 20, 0.5)));
    let fit = |varies| {
        let (laws, field) = elimination(&known, varies);
        let training = Training::new(known.clone()).laws(laws).field(field);
        let prepared = training.phases(search()).initial_state(true).prepare().unwrap();
        prepared.model_of(&prepared.run(&mut ()))
    };
    let [shared, own] = [false, true].map(fit);
    // The truth: k = 0.5 exp(0.5 (weight + 0.3 z)) from the same numbers.
    let mut random = Random::new(1, "subjects");
    for n in 0..12 {
        let (weight, z) = (random.normal(), random.normal());
        let truth = 0.5 * (0.5 * (weight + 0.3 * z)).exp();
        let _noise = [0; 10].map(|_| random.normal());
        let effects = own.effects_of(&format!("1-{n}")).unwrap();
        let constants = own.constants_under(effects);
        let (name, value) = &constants[0];
        assert_eq!((name.as_str(), constants.len()), ("k", 1));
        assert!((value / truth - 1.0).abs() < 0.1, "{n}: {value}, truth {truth}");
    }
    let zero = own.clone().with_effects(vec![0.0]).unwrap();
    let [shared, own, zero] = [&shared, &own, &zero].map(|model| error(model, &new));
    assert!(own < 0.6 * shared && own < 0.6 * zero, "{shared} {own} {zero}");
}

#[test]
fn a_model_with_effects_is_saved_and_loaded() {
    let data = dataset(subjects(1, 3, 0.5));
    let model = trained(data.clone(), with_effects(2));
    let bytes = model.archive().to_bytes();
    let archive = lawful::Archive::from_bytes("model", bytes.clone()).unwrap();
    let loaded = Model::from_archive(&archive).unwrap();
    assert_eq!(loaded.archive().to_bytes(), bytes);
    for trajectory in data.trajectories() {
        let [a, b] = [&model, &loaded].map(|m| m.along(trajectory, &trajectory.times).unwrap());
        assert_eq!(bits(&a), bits(&b));
    }
    let new = &subjects(7, 1, 0.5)[0];
    let [a, b] = [&model, &loaded].map(|m| m.along(new, &new.times).unwrap());
    assert_eq!(bits(&a), bits(&b));
}

#[test]
fn resume_and_threads_give_the_same_bytes() {
    let prepared = prepared(dataset(subjects(1, 3, 0.5)), with_effects(1));
    let mut whole = Watch::every(1);
    let end = prepared.run(&mut whole);
    for start in [0, 7, 15, 40] {
        let mut rest = Watch::every(1);
        let checkpoint = Some(whole.checkpoints[start].clone());
        let resumed = prepared.resume(Plan::new(&prepared.phases), checkpoint, &mut rest);
        assert_eq!(progress_bytes(&resumed.outcome.last), progress_bytes(&end.outcome.last));
    }
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let alone = one.install(|| prepared.run(&mut ()));
    assert_eq!(bits(&alone.outcome.last.theta), bits(&end.outcome.last.theta));
}

#[test]
fn each_mistake_has_an_error_that_says_what_to_do() {
    let (one, several) = (dataset(subjects(1, 1, 0.5)), dataset(subjects(1, 3, 0.5)));
    let error = |data: &Dataset, field: FieldSettings, phases| {
        let training = Training::new(data.clone()).field(field).phases(phases);
        let error = training.initial_state(true).prepare().unwrap_err();
        assert!(matches!(&error, TrainingError::Subjects { .. }), "{error}");
        assert!(error.hint().is_some_and(|hint| !hint.is_empty()), "{error}");
        error.to_string()
    };
    let adam = || vec![Phase::new(lawful::optimiser::OptimiserKind::default(), 60)];
    let many = with_effects(17);
    let known = FieldSettings { effects: 1, ..elimination(&several, false).1 };
    let strange = FieldSettings { varying: vec!["q".to_owned()], ..with_effects(0) };
    for (found, expected) in [
        (
            error(&one, with_effects(1), search()),
            "effects of trajectories need several trajectories, and the data have one",
        ),
        (
            error(&several, with_effects(1), adam()),
            "effects of trajectories need a prior whose width the evidence chooses, and these phases have none",
        ),
        (
            error(&several, many, search()),
            "effects of trajectories are too many: at most 16 are possible",
        ),
        (
            error(&several, known, search()),
            "effects of trajectories are inputs of the network, but every rate is known",
        ),
        (
            error(&several, strange, search()),
            "values of `q` for each trajectory need learned constants, and `q` is not one",
        ),
    ] {
        assert_eq!(found, expected);
    }
    let (laws, field) = elimination(&several, true);
    let laws = laws.law("slow", "k*x <= 30").unwrap();
    let training = Training::new(several).laws(laws).field(field).phases(search());
    let error = training.initial_state(true).prepare().unwrap_err().to_string();
    assert!(error.contains("cannot be used beside the law `slow`"), "{error}");
}

#[test]
fn the_evidence_gives_effects_to_subjects_that_differ_and_to_no_others() {
    let prepare = |spread: f64, field: Option<usize>| {
        let data = without_inputs(&subjects(4, 10, spread));
        let training = Training::new(data);
        let training = match field {
            Some(effects) => training.field(with_effects(effects)).open_width(true),
            None => training,
        };
        training.prepare().unwrap()
    };
    let [differ, same, by_hand] =
        [(0.5, None), (0.0, None), (0.5, Some(0))].map(|(spread, field)| prepare(spread, field));
    assert_eq!(differ.field.effects, 1, "{:?}", differ.remarks);
    assert!(differ.remarks.iter().any(|remark| remark.contains("an effect of its own")));
    assert_eq!(same.field.effects, 0, "{:?}", same.remarks);
    assert!(same.remarks.iter().any(|remark| remark.contains("no effects of their own")));
    // What is set by hand is used.
    assert_eq!(by_hand.field.effects, 0);
    assert!(!by_hand.remarks.iter().any(|remark| remark.contains("of their own")));
    // The choice does not depend on the number of threads.
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(one.install(|| prepare(0.5, None)).remarks, differ.remarks);
}

#[test]
fn the_intervals_of_new_subjects_hold_what_nobody_knows_of_them() {
    let [known, new] = [(5, 12), (6, 30)].map(|(seed, n)| without_inputs(&subjects(seed, n, 0.5)));
    let trained = Training::new(known).field(with_effects(1)).phases(search());
    let trained = trained.initial_state(true).run().unwrap();
    let score = |data: &Dataset| trained.model.intervals(0.9).unwrap().score(data).unwrap();
    let [score] = &score(&new)[..] else { panic!("one state variable") };
    assert!((0.8..0.99).contains(&score.coverage), "{score:?}");
    // The file holds all that draws of new subjects need.
    let read = Model::from_archive(&trained.model.archive()).unwrap();
    assert_eq!(&read.intervals(0.9).unwrap().score(&new).unwrap()[0], score);
}
