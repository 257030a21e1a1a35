//! A whole training by the library: what it reaches, what it refuses, and what it saves.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::ops::ControlFlow;
use std::path::PathBuf;

use common::bits;
use lawful::optimiser::{AdamSettings, LbfgsSettings};
use lawful::strategy::{AugmentedLagrangian, L1, StrategySettings};
use lawful::{
    Archive, Batch, Dataset, Enforcement, FORMAT, FieldSettings, Laws, LearnedConstant, Model,
    Observer, Phase, Random, Row, Shooting, StopReason, Trained, Training, Trajectory, short,
};

/// A damped oscillation, which loses energy all the time.
fn states(times: &[f64], start: f64) -> Vec<f64> {
    let decay = |t: f64| start * (-0.05 * t).exp();
    times
        .iter()
        .flat_map(|&t| [decay(t) * t.cos(), -decay(t) * (t.sin() + 0.05 * t.cos())])
        .collect()
}

fn times(rows: u32) -> Vec<f64> {
    (0..rows).map(|n| 0.2 * f64::from(n)).collect()
}

fn oscillation() -> Dataset {
    Dataset::single(&["x", "v"], times(40), states(&times(40), 1.0)).unwrap()
}

fn falling(data: &Dataset) -> Laws {
    let words = Laws::words(data).define("E", "x^2/2 + v^2/2").check().unwrap();
    Laws::new(words).law("energy never rises", "next(E) <= E").unwrap()
}

fn small(data: &Dataset) -> FieldSettings {
    FieldSettings::layers(&[8], data.state())
}

/// Few iterations of each optimiser, on segments and on the whole.
fn few() -> Vec<Phase> {
    let shooting = Shooting::Multiple { steps: 8, free: true };
    vec![
        Phase { shooting, ..Phase::new(AdamSettings { rate: 0.01, ..Default::default() }, 20) },
        Phase::new(LbfgsSettings::default(), 30),
    ]
}

/// A short training under the law, with the initial states trained.
fn short_training() -> Training {
    let data = oscillation();
    let (laws, field) = (falling(&data), small(&data));
    Training::new(data).laws(laws).field(field).phases(few()).initial_state(true)
}

fn bytes(model: &Model) -> Vec<u8> {
    model.archive().to_bytes()
}

/// A place for a file of one test.
fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn auto_reaches_a_small_error_on_noise_free_data_and_the_law_holds() {
    let data = oscillation();
    let (laws, field) = (falling(&data), FieldSettings::layers(&[16], data.state()));
    let trained = Training::new(data).laws(laws).field(field).seed(1).run().unwrap();
    let score = trained.score.as_ref().unwrap();
    assert!(score.mse < 1e-7, "{}", trained.summary());
    assert!(score.violation_max < 1e-9, "{}", trained.summary());
    assert_eq!(trained.recipe, Some("auto"));
    // Twice as far as the data go.
    let path = trained.model.predict(&[1.0, -0.05], &[0.0, 15.6]).unwrap();
    let truth = states(&[15.6], 1.0);
    assert!((path[2] - truth[0]).abs() < 0.05 && (path[3] - truth[1]).abs() < 0.05, "{path:?}");
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads_and_another_seed_others() {
    let run = |threads, seed| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let trajectories = (0..40_u32).map(|n| {
                let times = times(10 + n % 7);
                let states = states(&times, 1.0 + 0.01 * f64::from(n));
                Trajectory::new(n.to_string(), times, states)
            });
            let names = ["x", "v"].map(str::to_owned).to_vec();
            let data = Dataset::new(names, Vec::new(), trajectories.collect()).unwrap();
            let (laws, field) = (falling(&data), small(&data));
            let training = Training::new(data).laws(laws).field(field).phases(few()).seed(seed);
            bytes(&training.initial_state(true).run().unwrap().model)
        })
    };
    let one = run(1, 3);
    assert_eq!(one, run(2, 3));
    assert_ne!(one, run(1, 4));
}

#[test]
fn a_saved_model_is_the_same_in_predictions_bytes_and_description() {
    let model = short_training().run().unwrap().model;
    let path = file("round-trip.safetensors");
    model.save(&path).unwrap();
    let loaded = Model::load(&path).unwrap();
    assert_eq!(loaded.description(), model.description());
    assert_eq!(bits(loaded.theta()), bits(model.theta()));
    assert_eq!(bytes(&loaded), bytes(&model));
    assert_eq!(loaded.solver(), model.solver());
    let predicted = |model: &Model| bits(&model.predict(&[0.8, 0.1], &times(100)).unwrap());
    assert_eq!(predicted(&loaded), predicted(&model));
    let along =
        |model: &Model| bits(&model.along(&oscillation().trajectories()[0], &times(60)).unwrap());
    assert_eq!(along(&loaded), along(&model));
    assert_eq!(loaded.score(&oscillation()).unwrap(), model.score(&oscillation()).unwrap());
    // And it replaces a file that is there.
    loaded.save(&path).unwrap();
    assert_eq!(bytes(&Model::load(&path).unwrap()), bytes(&model));
}

/// Why a training is refused.
fn refused(training: Training) -> String {
    training.run().unwrap_err().to_string()
}

#[test]
fn what_cannot_be_trained_is_refused_with_the_reason() {
    let data = oscillation;
    let other = Dataset::single(&["a", "b"], times(3), vec![0.0; 6]).unwrap();
    assert_eq!(
        refused(Training::new(data()).laws(Laws::parse(&other, ["a <= 1"]).unwrap())),
        "the laws are written for the variables a, b, the data have x, v"
    );
    assert_eq!(
        refused(Training::new(data()).seed((1 << 53) + 1)),
        "`seed` is 9007199254740993, but must be at most 2⁵³ = 9007199254740992"
    );
    assert_eq!(
        refused(Training::new(data()).validation(1.0)),
        "`validation` is 1, but must be a number from 0 to below 1"
    );
    assert_eq!(
        refused(Training::new(data()).weight_decay(f64::NAN)),
        "`weight-decay` is NaN, but must be a number of at least 0"
    );
    assert_eq!(
        refused(Training::new(data()).phases(Vec::new())),
        "there is no phase, so nothing would be trained"
    );
    let batch = Batch::Windows { count: 3, rows: 5 };
    let phases = vec![Phase { batch, ..Phase::new(LbfgsSettings::default(), 10) }];
    assert_eq!(
        refused(Training::new(data()).phases(phases)),
        "phase 1: L-BFGS cannot be trained on batches: the objective differs between batches"
    );
    let phases = vec![Phase { batch, ..Phase::new(AdamSettings::default(), 10) }];
    let multipliers = StrategySettings::new(AugmentedLagrangian::default());
    assert_eq!(
        refused(Training::new(data()).strategy(multipliers).phases(phases)),
        "phase 1: `augmented-lagrangian` has a multiplier for each row, but the residual there \
         depends on where a window begins; windows are for `l1`, `l2`, `self-adaptive`, `dynamic`, `lemonge`, `barrier`, `balanced`"
    );
    let shooting = Shooting::Multiple { steps: 40, free: false };
    let long = Phase { shooting, ..Phase::new(AdamSettings::default(), 10) };
    let phases = vec![Phase::new(AdamSettings::default(), 10), long];
    assert_eq!(
        refused(Training::new(data()).phases(phases)),
        "phase 2: segments of 40 steps, but the longest trajectory has 39"
    );
    let mu = StrategySettings::new(L1 { mu: vec![1.0, 2.0] });
    assert_eq!(
        refused(Training::new(data()).laws(falling(&data())).strategy(mu)),
        "the strategy `l1` has 2 numbers in `mu`, but the number of laws is 1"
    );
    let rate = Phase::new(AdamSettings { rate: f64::NAN, ..AdamSettings::default() }, 10);
    let memory = Phase::new(LbfgsSettings { memory: 0, ..LbfgsSettings::default() }, 10);
    let negative = StrategySettings::new(L1 { mu: vec![-1.0] });
    let strategy = Some(negative.clone());
    let penalty = Phase { strategy, ..Phase::new(AdamSettings::default(), 10) };
    let range = "`mu` of `l1` is [-1], but must be one number or a list of numbers of at least 0";
    assert_eq!(refused(Training::new(data()).strategy(negative)), range);
    for (phase, reason) in [
        (rate, "`rate` of `adam` is NaN, but must be a number above 0"),
        (memory, "`memory` of `lbfgs` is 0, but must be a whole number from 1 to 10000"),
        (penalty, range),
    ] {
        let phases = vec![Phase::new(AdamSettings::default(), 10), phase];
        let text = refused(Training::new(data()).phases(phases));
        assert_eq!(text, format!("phase 2: {reason}"));
    }
    let widths = FieldSettings::layers(&[8, 0], data().state());
    assert_eq!(refused(Training::new(data()).field(widths)), "hidden layer 1 has no units");
    let nobody = FieldSettings::layers(&[8], &["y".to_owned()]);
    assert_eq!(refused(Training::new(data()).field(nobody)), "`y` is not a state variable");
    let nothing = FieldSettings::layers(&[8], &[]);
    assert_eq!(
        refused(Training::new(data()).field(nothing)),
        "a vector field needs a network or known rates"
    );
    let known = vec![("v".to_owned(), "-x*".to_owned())];
    let unfinished = FieldSettings { known, ..small(&data()) };
    let text = refused(Training::new(data()).field(unfinished));
    assert!(text.starts_with("the known rate of `v`: "), "{text}");
}

#[test]
fn numbers_per_law_are_counted_over_all_laws_and_not_over_the_penalised_ones() {
    let data = oscillation();
    let laws = |texts: &[(&str, Enforcement)]| {
        let laws = Laws::new(Laws::words(&data).check().unwrap());
        let add = |laws: Laws, &(text, enforcement): &(&str, Enforcement)| {
            laws.enforced(text, text, enforcement)
        };
        texts.iter().try_fold(laws, add).unwrap()
    };
    let three = [
        ("x <= 2", Enforcement::Penalty),
        ("v <= 2", Enforcement::Penalty),
        ("x + v <= 4", Enforcement::Monitor),
    ];
    let with = |mu: &[f64]| {
        let strategy = StrategySettings::new(L1 { mu: mu.to_vec() });
        let phases = vec![Phase::new(AdamSettings::default(), 1)];
        let training = Training::new(data.clone()).laws(laws(&three)).phases(phases);
        training.strategy(strategy).prepare().map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(with(&[1.0]), Ok(()));
    assert_eq!(with(&[1.0, 2.0, 3.0]), Ok(()));
    let text = "the strategy `l1` has 2 numbers in `mu`, but the number of laws is 3";
    assert_eq!(with(&[1.0, 2.0]), Err(text.to_owned()));
}

#[test]
fn a_network_that_does_not_compute_every_rate_is_refused() {
    let data = oscillation();
    let one = FieldSettings::layers(&[8], &["x".to_owned()]);
    let text = refused(Training::new(data.clone()).field(one));
    assert_eq!(text, "rates of the vector field: 1 instead of 2");
    for outputs in [["x", "x"], ["v", "x"]] {
        let field = FieldSettings::layers(&[8], &outputs.map(str::to_owned));
        let text = refused(Training::new(data.clone()).field(field));
        let expected = "the part `network` of a vector field must have outputs for different state \
                        variables, in their order";
        assert_eq!(text, expected);
    }
}

#[test]
fn a_law_that_no_field_can_guarantee_is_refused_with_the_reason() {
    let hard = |holds: &str, field: FieldSettings| {
        let data = oscillation();
        let laws = Laws::new(Laws::words(&data).check().unwrap());
        let laws = laws.enforced("a law", holds, Enforcement::Hard).unwrap();
        refused(Training::new(data).laws(laws).field(field))
    };
    let network = || small(&oscillation());
    for (law, reason) in [
        (
            "x + v <= initial(x + v)",
            "it is neither a linear sum, nor a bound or a direction of one state variable",
        ),
        ("abs(x) == initial(abs(x))", "the gradient of `abs`, `min` or `max` jumps"),
        ("rate(x) == v", "it states a rate that is not 0"),
        (
            "abs(x) + v^2 <= 4",
            "it is an inequality of states other than a bound of one state variable",
        ),
        ("x*v <= 9", "it is an inequality of states other than a bound of one state variable"),
        (
            "next(x^2 + t) <= x^2 + t",
            "its quantity depends on time, so that no state can keep it from rising",
        ),
    ] {
        let expected = format!("the law `a law` cannot be guaranteed: {reason}");
        assert_eq!(hard(law, network()), expected);
    }
    let known = vec![("x".to_owned(), "v".to_owned())];
    assert_eq!(
        hard("x + v == initial(x + v)", FieldSettings { known, ..network() }),
        "the law `a law` cannot be guaranteed: the rate of `x` is known, and known rates are never \
         altered"
    );
    // The data are a circle of radius 1.
    assert_eq!(
        hard("x^2 + v^2 == 4", network()),
        "the initial state of trajectory `1` is off the law `a law` by 3.00, and the accuracy of the \
         data explains 0"
    );
}

#[test]
fn hard_laws_that_contradict_each_other_are_refused() {
    let both = |first: &str, second: &str| {
        let data = oscillation();
        let laws = Laws::new(Laws::words(&data).check().unwrap());
        let laws = laws.enforced("first", first, Enforcement::Hard).unwrap();
        let laws = laws.enforced("second", second, Enforcement::Hard).unwrap();
        refused(Training::new(data).laws(laws).field(small(&oscillation())))
    };
    let text = both("x^2 + v^2 == 1", "2*x^2 + 2*v^2 == 2.5");
    assert!(
        text.starts_with(
            "the law `second` cannot be guaranteed: it contradicts `first`: where that holds, \
             `2*x^2 + 2*v^2 == 2.5` is off by 0.5"
        ),
        "{text}"
    );
    let text = both("next(x^2) <= x^2", "next(v^2) <= v^2");
    assert_eq!(
        text,
        "the law `second` cannot be guaranteed: one falling quantity can be guaranteed, and that of \
         `first` is"
    );
}

#[test]
fn hard_laws_that_leave_nothing_to_learn_are_refused() {
    let data = oscillation();
    let mut laws = Laws::new(Laws::words(&data).check().unwrap());
    for holds in ["x + v == initial(x + v)", "next(x) <= x", "next(v) <= v"] {
        laws = laws.enforced(holds, holds, Enforcement::Hard).unwrap();
    }
    let error = Training::new(data).laws(laws).field(small(&oscillation())).prepare().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the law `next(v) <= v` cannot be guaranteed: with the other laws it would leave nothing \
         that may change"
    );
    assert!(error.hint().unwrap().starts_with("correct one of the laws"), "{:?}", error.hint());
}

#[test]
fn what_cannot_be_predicted_is_refused_with_the_reason() {
    let model = short_training().run().unwrap().model;
    let refused =
        |initial: &[f64], times: &[f64]| model.predict(initial, times).unwrap_err().to_string();
    assert_eq!(
        refused(&[1.0], &[0.0, 1.0]),
        "an initial state of 1 numbers, for a model of 2 state variables"
    );
    for times in [&[][..], &[0.0, 0.0], &[1.0, 0.0], &[0.0, f64::NAN], &[f64::INFINITY]] {
        assert_eq!(
            refused(&[1.0, 0.0], times),
            "times must be finite and strictly increasing, and there must be at least one"
        );
    }
    let table = lawful::Table { times: &[0.0, 1.0], values: &[1.0, 2.0] };
    assert_eq!(
        model.predict_with(&[1.0, 0.0], &[0.0, 1.0], table).unwrap_err().to_string(),
        "a table of inputs with 1 numbers in a row, for a model of 0 inputs"
    );
    let error = Dataset::single(&["x"], vec![0.0, 2.0, 1.0], vec![0.0; 3]).unwrap_err();
    assert_eq!(error.to_string(), "trajectory `1`: time 1 in row 2 does not come after 2");
}

fn read(bytes: Vec<u8>) -> Result<Model, lawful::ModelError> {
    Model::from_archive(&Archive::from_bytes("model.safetensors", bytes)?)
}

#[test]
fn a_model_of_another_version_is_refused_with_a_hint() {
    let model = short_training().run().unwrap().model;
    for (found, age, hint) in [
        (FORMAT - 1, "older", "use the `lawful` that wrote it, or train again"),
        (FORMAT + 1, "newer", "use the newer `lawful` that wrote it"),
    ] {
        let mut archive = model.archive();
        archive.set("format", found.into());
        let error = read(archive.to_bytes()).unwrap_err();
        let expected = format!(
            "`model.safetensors` has format version {found}, of a{} {age} `lawful`; this one reads \
             {FORMAT}",
            if age == "older" { "n" } else { "" }
        );
        assert_eq!((error.to_string(), error.hint()), (expected, hint));
    }
}

#[test]
fn a_damaged_model_is_refused_and_never_panics() {
    let model = short_training().run().unwrap().model;
    let whole = bytes(&model);
    assert!(read(whole.clone()).is_ok());
    let path = file("no such folder").join("model.safetensors");
    let text = Model::load(&path).unwrap_err().to_string();
    assert!(text.starts_with("cannot read `") && text.contains("model.safetensors"), "{text}");
    let text = model.save(&path).unwrap_err().to_string();
    assert!(text.starts_with("cannot write `"), "{text}");
    for len in 0..whole.len() {
        let text = read(whole[..len].to_vec()).unwrap_err().to_string();
        assert!(text.starts_with("`model.safetensors` is damaged: "), "{text}");
    }
    // The header says everything but the numbers: every bit of it, and some of theirs.
    let header = u64::from_le_bytes(whole[..8].try_into().unwrap());
    let end = 8 + usize::try_from(header).unwrap();
    let numbers = (end..whole.len()).step_by(7);
    let mut refused = 0;
    for at in (0..end).chain(numbers) {
        for bit in 0..8 {
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << bit;
            let Ok(model) = read(flipped) else {
                refused += 1;
                continue;
            };
            // What can be read can be asked.
            let _ = model.summary_of_use();
        }
    }
    assert!(refused > end, "{refused} of {}", 8 * end);
}

/// What a reader does with a model.
trait Use {
    fn summary_of_use(&self) -> (usize, Vec<(String, f64, f64)>, bool);
}

impl Use for Model {
    fn summary_of_use(&self) -> (usize, Vec<(String, f64, f64)>, bool) {
        let state = vec![0.5; self.state().len()];
        let path = self.predict(&state, &[0.0, 0.01]);
        let data = Dataset::single(&["x", "v"], vec![0.0, 0.01], vec![0.5; 4]).unwrap();
        (self.laws().len(), self.constants(), path.is_ok() && self.score(&data).is_ok())
    }
}

#[test]
fn a_learned_constant_of_known_rates_is_found() {
    let times: Vec<f64> = (0..30).map(|n| 0.1 * f64::from(n)).collect();
    // x″ = −k x with k = 2.25.
    let states = times.iter().flat_map(|t| [(1.5 * t).cos(), -1.5 * (1.5 * t).sin()]).collect();
    let data = Dataset::single(&["x", "v"], times, states).unwrap();
    let words = Laws::words(&data).constant("k", 1.0).define("E", "k*x^2/2 + v^2/2");
    let k = LearnedConstant { name: "k".to_owned(), start: 1.0, min: Some(0.0), max: None };
    let laws = Laws::with_learned(words.check().unwrap(), vec![k]).unwrap();
    let laws = laws.law("energy", "E == initial(E)").unwrap();
    let rate = |variable: &str, text: &str| (variable.to_owned(), text.to_owned());
    let known = |rates: &[(String, String)], learn: &[String]| FieldSettings {
        known: rates.to_vec(),
        ..FieldSettings::layers(&[8], learn)
    };
    let whole = known(&[rate("x", "v"), rate("v", "-k*x")], &[]);
    let phases = vec![Phase::new(LbfgsSettings::default(), 200)];
    let training = Training::new(data.clone()).laws(laws.clone()).field(whole);
    let trained = training.phases(phases.clone()).run().unwrap();
    let constants = trained.model.constants();
    assert_eq!((constants.len(), constants[0].0.as_str(), constants[0].1), (1, "k", 1.0));
    assert!((constants[0].2 - 2.25).abs() < 1e-4, "{constants:?}");
    assert_eq!(trained.model.parameters().len(), 1);
    let line = format!("constant    k = {}, from 1.00", short(constants[0].2));
    assert!(trained.summary().contains(&line), "{}", trained.summary());
    let again = read(bytes(&trained.model)).unwrap();
    assert_eq!(bits(&[again.constants()[0].2]), bits(&[constants[0].2]));

    // What is known stays, and the network learns the rest.
    let hybrid = known(&[rate("x", "v")], &["v".to_owned()]);
    let laws = Laws::new(Laws::words(&data).check().unwrap());
    let training = Training::new(data).laws(laws).field(hybrid).phases(phases);
    let model = training.run().unwrap().model;
    assert!(model.constants().is_empty());
    let mut field = model.field();
    field.reserve(1, 1);
    let mut rates = [0.0; 2];
    // At a place of the path: elsewhere the network has seen nothing.
    let (x, v) = ((1.5_f64 * 0.75).cos(), -1.5 * (1.5_f64 * 0.75).sin());
    field.eval(0, &[0.0], &[x, v], &[], &mut rates);
    assert_eq!(bits(&rates[..1]), bits(&[v]));
    assert!((rates[1] + 2.25 * x).abs() < 0.05, "{rates:?}");
}

#[test]
fn a_learned_constant_without_a_place_or_outside_its_bounds_is_refused() {
    let data = oscillation();
    let constant =
        |name: &str, min| LearnedConstant { name: name.to_owned(), start: 1.0, min, max: None };
    let outside = |constant| {
        let words = Laws::words(&data).constant("k", 1.0).check().unwrap();
        Laws::with_learned(words, vec![constant]).unwrap_err().to_string()
    };
    assert_eq!(
        outside(constant("k", Some(2.0))),
        "the learned constant `k` does not start inside its bounds"
    );
    assert_eq!(
        outside(constant("m", None)),
        "the learned constant `m` is not a constant of the vocabulary"
    );
    let words = Laws::words(&data).constant("k", 1.0).check().unwrap();
    let laws = Laws::with_learned(words, vec![constant("k", None)]).unwrap();
    assert_eq!(
        refused(Training::new(data.clone()).laws(laws)),
        "the learned constant `k` needs known rates, of which it is a parameter"
    );
}

#[test]
fn initial_states_are_trained_where_the_first_row_is_off() {
    let mut measured = states(&times(40), 1.0);
    measured[0] = 1.2;
    let data = Dataset::single(&["x", "v"], times(40), measured).unwrap();
    let field = FieldSettings::layers(&[], data.state());
    let phases = vec![Phase::new(LbfgsSettings::default(), 300)];
    let train = |trained| {
        let training = Training::new(data.clone()).field(field.clone()).phases(phases.clone());
        training.initial_state(trained).run().unwrap().model
    };
    let (fixed, free) = (train(false), train(true));
    let trajectory = &data.trajectories()[0];
    assert_eq!(bits(&fixed.initial_state(trajectory)), bits(&[1.2, -0.05]));
    assert!(fixed.description().starts.is_empty());
    let found = free.initial_state(trajectory);
    // One cell of eighty is off by 0.2.
    assert!((found[0] - 1.0).abs() < 0.05 && (found[1] + 0.05).abs() < 0.05, "{found:?}");
    assert_eq!(free.description().starts.len(), 1);
    assert_eq!(free.theta().len(), free.parameters().len() + 2);
    let start = free.along(trajectory, &trajectory.times).unwrap();
    assert_eq!(bits(&start[..2]), bits(&found));
    // It belongs to that trajectory alone.
    let other = Trajectory { name: "other".to_owned(), ..trajectory.clone() };
    assert_eq!(bits(&free.initial_state(&other)), bits(&[1.2, -0.05]));
    let score = free.score(&data).unwrap();
    assert!(score.mse < fixed.score(&data).unwrap().mse);
    assert_eq!(bits(&score.predicted[0][..2]), bits(&found));
}

#[test]
fn the_summary_lists_how_training_went_line_by_line() {
    let trained = short_training().run().unwrap();
    let score = trained.score.as_ref().unwrap();
    let law = &score.laws[0];
    let expected = [
        "training    51 iterations: all iterations are done".to_owned(),
        format!("fit         MSE {}", short(score.mse)),
        format!(
            "law         energy never rises: violation {} on average, {} at most, at {} % of the \
             steps",
            short(law.mean),
            short(law.max),
            short(100.0 * law.share)
        ),
        format!("            it {}", trained.laws.laws[0].describe()),
        "phase 1     Adam, multiple shooting on segments of 8 steps with trained starts, 20 \
         iterations"
            .to_owned(),
        "phase 2     L-BFGS, full trajectories, 30 iterations".to_owned(),
    ];
    assert_eq!(trained.summary().lines().collect::<Vec<_>>(), expected);
    assert_eq!((trained.iterations, &trained.stop), (51, &StopReason::Finished));

    let data = oscillation();
    let mut stop = StopAt(3);
    let auto = Training::new(data.clone()).field(small(&data)).run_with(&mut stop).unwrap();
    let text = auto.summary();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "training    4 iterations: stopped by the user");
    assert_eq!(
        lines[2..],
        [
            "recipe      auto",
            "            – no noise found: L-BFGS",
            "            – 40 rows are too few to detect weak noise: L-BFGS with the settings for noisy data",
            "            – multiple shooting on 9-step segments first, then the full trajectory",
            "            – the rows are far apart: 3 solver steps per interval",
            "phase 1     L-BFGS, multiple shooting on segments of 9 steps, 3 times the solver steps, \
             999 iterations",
            "phase 2     L-BFGS, full trajectories, 3 times the solver steps, 3989 iterations",
        ]
    );
}

/// Asks to stop at an iteration.
struct StopAt(usize);

impl Observer for StopAt {
    fn iteration(&mut self, row: &Row) -> ControlFlow<()> {
        if row.iteration >= self.0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn an_observer_can_stop_a_training() {
    let run = |at| -> Trained { short_training().run_with(&mut StopAt(at)).unwrap() };
    let stopped = run(7);
    assert_eq!((stopped.iterations, stopped.stop.clone()), (8, StopReason::Interrupted));
    assert_eq!(stopped.model.description().iteration, 8);
    assert!(stopped.model.predict(&[1.0, 0.0], &[0.0, 1.0]).is_ok());
    // Between the iterations of the first phase and those of the second.
    let whole = short_training().run().unwrap();
    assert_ne!(bytes(&stopped.model), bytes(&whole.model));
    assert_eq!(bytes(&run(1000).model), bytes(&whole.model));
}

#[test]
fn without_laws_and_settings_a_training_has_the_stated_defaults() {
    let prepared = Training::new(oscillation()).prepare().unwrap();
    assert_eq!(prepared.field, FieldSettings::new(prepared.data.state()));
    assert_eq!((prepared.field.hidden.as_slice(), prepared.seed), (&[50, 50][..], 1));
    assert_eq!(
        (prepared.recipe, prepared.strategy.label().as_str()),
        (Some("auto"), "self-adaptive")
    );
    assert!(prepared.laws.is_empty() && prepared.strategy.is_smooth());
    // The iterations of an observer's rows count on over the phases.
    let mut random = Random::new(1, "another");
    let theta: Vec<f64> = (0..prepared.theta_len()).map(|_| random.normal()).collect();
    assert_eq!(bits(prepared.model(theta.clone(), 0).theta()), bits(&theta));
}
