//! The library and the program train the same model, to the byte.

use lawful::optimiser::{AdamSettings, LbfgsSettings};
use lawful::strategy::{SelfAdaptive, StrategySettings};
use lawful::{Dataset, FieldSettings, Laws, Model, Phase, Shooting, Trained, Training, Trajectory};
use lawful_experiment::{LoadedRun, ModelChoice, exact};
use serde_json::json;

use crate::support::{Place, numbers, with_data};

/// The tiny experiment with the data of [`measurements`] and this `[training]`.
fn experiment(settings: &str) -> String {
    let text = with_data("[data]\nfile = \"data.csv\"\n");
    let (before, _) = text.split_once("[training]").unwrap();
    format!("{before}{settings}")
}

/// An oscillator with errors of a few percent and missing cells; `open` leaves out an initial value.
fn measurements(rows: u32, open: bool) -> Dataset {
    let (mut times, mut states) = (Vec::new(), Vec::new());
    for n in 0..rows {
        let t = 0.25 * f64::from(n);
        let error = 0.02 * (37.0 * f64::from(n)).sin();
        let missing = if n == 0 { open } else { n % 4 == 2 };
        times.push(t);
        states.push(t.cos() + error);
        states.push(if missing { f64::NAN } else { error - t.sin() });
    }
    let state = ["x", "v"].map(str::to_owned).to_vec();
    let trajectory = Trajectory::new("data", times, states);
    Dataset::with_open_starts(state, Vec::new(), vec![trajectory]).unwrap()
}

/// Numbers as a CSV text; a missing one is an empty cell.
fn csv(times: &[f64], states: &[f64]) -> String {
    let cell = |x: &f64| if x.is_nan() { String::new() } else { exact(*x) };
    let lines = times.iter().zip(states.chunks_exact(2)).map(|(t, row)| {
        let [x, v] = [&row[0], &row[1]].map(cell);
        format!("{},{x},{v}\n", exact(*t))
    });
    std::iter::once("t,x,v\n".to_owned()).chain(lines).collect()
}

/// The same as [`experiment`] in the library, without the settings of `[training]`.
fn training(data: &Dataset) -> Training {
    let words = Laws::words(data).define("E", "v^2/2 + x^2/2").check().unwrap();
    let laws = Laws::new(words).law("energy never rises", "next(E) <= E").unwrap();
    Training::new(data.clone()).laws(laws).field(FieldSettings::layers(&[6], data.state()))
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

/// The bytes that a model is saved as.
fn saved(place: &Place, model: &Model) -> Vec<u8> {
    model.save(place.path("saved.safetensors")).unwrap();
    place.bytes("saved.safetensors")
}

/// Trains the experiment in the program, and compares the model with the library's.
fn assert_same_training(settings: &str, data: &Dataset, library: &Trained) {
    let [trajectory] = data.trajectories() else { panic!("one trajectory") };
    let place = Place::with(&experiment(settings));
    place.write("data.csv", &csv(&trajectory.times, &trajectory.states));
    let run = place.train(&[]);

    let last = Model::load(place.path(&format!("{run}/last.safetensors"))).unwrap();
    assert_eq!(bits(last.theta()), bits(library.model.theta()));
    assert!(saved(&place, &last) == saved(&place, &library.model), "the saved models differ");

    let score = library.score.as_ref().unwrap();
    let predictions =
        numbers(&place.text(&format!("{run}/predictions-reconstruction.csv")).replace("data,", ""));
    let states: Vec<f64> = predictions.iter().flat_map(|row| row[1..].to_vec()).collect();
    assert_eq!(bits(&states), bits(&score.predicted[0]));

    let opened = LoadedRun::open(&place.path(&run), None).unwrap();
    assert_eq!(opened.model.score(data).as_ref(), Ok(score));
    let evaluated = place.lawful(["evaluate", &run, "--json"]).out;
    for number in [("mse", score.mse), ("violation", score.violation)] {
        let line = format!("\"{}\": {}", number.0, json!(number.1));
        assert!(evaluated.contains(&line), "{line}: {evaluated}");
    }

    for choice in [ModelChoice::Last, ModelChoice::Best] {
        let path = place.path(&format!("{run}/{}.safetensors", choice.name()));
        let model = Model::load(&path).unwrap();
        let opened = LoadedRun::open(&place.path(&run), Some(choice)).unwrap();
        assert!(saved(&place, &model) == saved(&place, &opened.model), "{}", choice.name());
        let times: Vec<f64> = (0..9).map(|n| 0.5 * f64::from(n)).collect();
        let options = ["--from", "0", "--to", "4", "--points", "9", "--model", choice.name()];
        let printed = place.lawful(["predict", &run].into_iter().chain(options));
        assert_eq!(printed.out, csv(&times, &model.along(trajectory, &times).unwrap()));
    }
}

#[test]
fn phases_give_the_same_bytes_as_in_the_library() {
    let data = measurements(24, true);
    let settings = r#"[training]
seed = 5
initial-state = "train"
validation = 0.2
weight-decay = 1e-6
phase = [
    { optimiser = { kind = "lbfgs", memory = 5 }, iterations = 30, segments = 4, starts = "free" },
    { optimiser = { rate = 1e-3 }, iterations = 30, substeps = 2 },
]
"#;
    let segments = Shooting::Multiple { steps: 4, free: true };
    let lbfgs = LbfgsSettings { memory: 5, ..LbfgsSettings::default() };
    let adam = AdamSettings { rate: 1e-3, ..AdamSettings::default() };
    let library = training(&data)
        .seed(5)
        .initial_state(true)
        .validation(0.2)
        .weight_decay(1e-6)
        .phases(vec![
            Phase { shooting: segments, ..Phase::new(lbfgs, 30) },
            Phase { substeps: 2, ..Phase::new(adam, 30) },
        ])
        .run();
    assert_same_training(settings, &data, &library.unwrap());
}

#[test]
fn the_recipe_auto_gives_the_same_bytes_as_in_the_library() {
    let data = measurements(16, false);
    let strategy = StrategySettings::new(SelfAdaptive::smooth());
    let library = training(&data).strategy(strategy).seed(2).run().unwrap();
    assert_eq!(library.recipe, Some("auto"));
    let phases = library.phases.join("\n");
    assert!(phases.contains("multiple shooting"), "{phases}");
    assert_same_training("[training]\nseed = 2\n", &data, &library);
}
