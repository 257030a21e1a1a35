//! Good experiment files, written out in full and read back.

mod config_support;

use config_support::Folder;
use config_support::samples::{ALL_KNOWN, KNOWN, MEASURED, OSCILLATOR, SIMULATED, file, folder};
use insta::assert_snapshot;
use lawful::{Dataset, Prepared};
use lawful_experiment::{Experiment, ExperimentFile, files, read, read_run, write_dataset};

/// Everything but the laws' inner form, which is made from their text. What a recipe has selected is
/// written out; that it was a recipe is not part of the experiment.
fn assert_same(a: &ExperimentFile, b: &ExperimentFile) {
    assert_eq!(a.complete, b.complete);
    let (a, b) = (&a.experiment, &b.experiment);
    assert_eq!((&a.name, &a.time_column), (&b.name, &b.time_column));
    let laws = |experiment: &Experiment| {
        let laws = experiment.training.laws.iter();
        let laws = laws.map(|law| (law.name().to_owned(), law.to_string(), law.enforcement()));
        laws.collect::<Vec<_>>()
    };
    assert_eq!(laws(a), laws(b));
    assert_eq!(a.tests.len(), b.tests.len());
    for ((name, set), (other, same)) in a.tests.iter().zip(&b.tests) {
        assert_eq!(name, other);
        assert_bits(set, same);
    }
    let (a, b) = (&a.training, &b.training);
    assert_bits(&a.data, &b.data);
    assert_eq!(
        (a.interpolation, &a.field, a.solver, a.predict),
        (b.interpolation, &b.field, b.solver, b.predict)
    );
    assert_eq!((a.loss, a.scale, a.seed), (b.loss, b.scale, b.seed));
    assert_eq!((a.initial_state, a.remedies), (b.initial_state, b.remedies));
    assert_eq!(a.horizon.map(f64::to_bits), b.horizon.map(f64::to_bits));
    let bits = |of: &Prepared| [of.decay, of.validation].map(f64::to_bits);
    assert_eq!((&a.phases, bits(a)), (&b.phases, bits(b)));
    assert_eq!((&a.strategy, &a.scaling, &a.units), (&b.strategy, &b.scaling, &b.units));
    assert_eq!(a.constants, b.constants);
    assert_eq!(a.vocabulary.constants(), b.vocabulary.constants());
}

fn assert_bits(a: &Dataset, b: &Dataset) {
    assert_eq!((a.state(), a.inputs()), (b.state(), b.inputs()));
    assert_eq!(a.trajectories().len(), b.trajectories().len());
    for (a, b) in a.trajectories().iter().zip(b.trajectories()) {
        assert_eq!((&a.name, a.scored_from), (&b.name, b.scored_from));
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&a.times), bits(&b.times));
        assert_eq!(bits(&a.states), bits(&b.states));
        assert_eq!(bits(&a.inputs), bits(&b.inputs));
    }
}

#[test]
fn an_experiment_written_out_in_full_reads_back_the_same() {
    let forecast = OSCILLATOR.replacen("[[law]]", "horizon = 60.5\n[[law]]", 1);
    assert_eq!(file(&forecast).experiment.training.horizon, Some(60.5));
    let on_a_part = ALL_KNOWN.to_owned()
        + "[training]\nphase = [{ iterations = 5, segments = 2, part = 4 }, { iterations = 2 }]\n";
    for toml in [OSCILLATOR, &forecast, MEASURED, SIMULATED, KNOWN, ALL_KNOWN, &on_a_part] {
        let folder = folder(toml);
        let original = folder.read().unwrap_or_else(|error| panic!("{error}"));
        let text = &original.complete;
        files::write(&folder.path("complete.toml"), text.as_bytes()).unwrap();
        let again = read(&folder.path("complete.toml")).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_same(&original, &again);
    }
}

#[test]
fn a_run_folder_needs_no_sources_any_more() {
    for toml in [OSCILLATOR, MEASURED, SIMULATED, KNOWN, ALL_KNOWN] {
        let original = file(toml);
        let run = Folder::new(&[("config.toml", &original.complete), ("data/x", "")]);
        let write = |set, name: &str| {
            write_dataset(
                set,
                &original.experiment.time_origin,
                &run.path(&format!("data/{name}.csv")),
            )
        };
        write(&original.experiment.training.data, "reconstruction").unwrap();
        for (name, set) in &original.experiment.tests {
            write(set, name).unwrap();
        }
        let again = read_run(run.root()).unwrap_or_else(|error| panic!("{error}"));
        assert_same(&original, &again);
    }
}

#[test]
fn a_damaged_run_folder_says_what_is_damaged() {
    let original = file(MEASURED);
    let run = Folder::new(&[("config.toml", &original.complete)]);
    assert_snapshot!(run.relative(&read_run(run.root()).unwrap_err()), @"
    error: the run folder `FOLDER` has no `data/reconstruction.csv`
    hint: restore the file, or train again
    ");
    files::create_folder(&run.path("data")).unwrap();
    let said = |text: &str| {
        files::write(&run.path("data/reconstruction.csv"), text.as_bytes()).unwrap();
        run.relative(&read_run(run.root()).unwrap_err())
    };
    assert_snapshot!(said("trajectory,t,T,scored\n"), @"
    error: this file does not have the columns of this run, which are trajectory,t,T,u,scored
      data/reconstruction.csv:1:1
        trajectory,t,T,scored
        ^^^^^^^^^^^^^^^^^^^^^
    hint: the run folder was changed by hand; train again, or restore the file
    ");
    assert_snapshot!(said("trajectory,t,T,u,scored\na,0,1,1,1\na,1,1,1,0\n"), @"
    error: `scored` must be 0 in the first rows, then 1
      data/reconstruction.csv:3:9
        a,1,1,1,0
                ^
    ");
    assert_snapshot!(said("trajectory,t,T,u,scored\na,0,1,1,1\n"), @"
    error: trajectory `a` has only one row
      data/reconstruction.csv:2:1
        a,0,1,1,1
        ^^^^^^^^^
    hint: at least two are needed: the initial state and one to predict
    ");
}

#[test]
fn every_default_is_written_out() {
    let experiment = Folder::new(&[
        ("experiment.toml", config_support::BASE),
        ("data.csv", config_support::LINE),
    ])
    .read()
    .unwrap();
    assert_snapshot!(experiment.complete, @r#"
    name = "line"
    law = []

    [system]
    state = ["x"]
    inputs = []
    constants = {}
    define = {}

    [data]
    file = "data.csv"
    time = "t"
    columns = {}
    missing = ["", "NA", "NaN"]
    separator = ","

    [test]

    [field]
    hidden = [8]
    activations = ["tanh"]
    init = { kind = "normal", std = 0.1 }
    time-input = false
    precision = "double"

    [solver]
    method = "rk4-38"
    substeps = 1
    memory = 1073741824
    predict = { method = "dopri5", rtol = 1e-9, atol = 1e-11, max-steps = 100000, min-step = 1e-14 }

    [strategy]
    kind = "self-adaptive"
    normalise = "mean"
    penalty = "squared"
    penalise = "always"
    margin = 1e-6
    best-point = false

    [training]
    loss = "mse"
    scale = "auto"
    initial-state = "train"
    weight-decay = 0.0
    validation = 0.0
    remedies = true
    seed = 1
    start = "table"
    phase = [{ least-squares = { starts = 15, screening = 30, kept = 4, rounds = 3, round = 30 }, iterations = 180, substeps = 2 }]
    "#);
}

#[test]
fn the_oscillator_is_written_out_as_one_would_write_it() {
    assert_snapshot!(file(OSCILLATOR).complete, @r#"
    name = "oscillator"

    [system]
    state = ["x", "v"]
    inputs = []
    constants = { m = 1.0, k = 1.0, c = 0.1 }
    define = { E = "m*v^2/2 + k*x^2/2" }

    [[law]]
    name = "energy never rises"
    strategy = "penalty"
    holds = "next(E) <= E"

    [data.simulate]
    equations = { x = "v", v = "-(c*v + k*x)/m" }
    initial = { x = 1.0, v = 0.0 }
    grid = { from = 0.0, to = 50.0, points = 400 }

    [test.extrapolation]
    grid = { from = 0.0, to = 400.0, points = 400 }

    [field]
    hidden = [50, 50]
    activations = ["tanh", "elu"]
    init = { kind = "normal", std = 0.1 }
    time-input = false
    precision = "double"

    [solver]
    method = "rk4-38"
    substeps = 1
    memory = 1073741824
    predict = { method = "dopri5", rtol = 1e-9, atol = 1e-11, max-steps = 100000, min-step = 1e-14 }

    [strategy]
    kind = "self-adaptive"
    tolerance = 0.0001
    count-above = 0.0
    normalise = "mean"
    weigh-by = "share"
    weight-every = 1
    penalty = "absolute"
    penalise = "tolerance"
    margin = 0.0
    best-point = false

    [training]
    loss = "mse"
    scale = "auto"
    initial-state = "data"
    weight-decay = 0.0
    validation = 0.0
    remedies = false
    seed = 1
    iterations = 5000

    [training.optimiser]
    kind = "adam"
    rate = 0.001
    beta1 = 0.9
    beta2 = 0.999
    epsilon = 1e-8
    schedule = "cosine"
    last-rate = 0.01
    warm-up = 0
    "#);
}
