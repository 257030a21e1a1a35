//! Least squares from several starts: reproducible, resumable, and right about noise.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::watch::Watch;
use common::{bits, progress_bytes};
use lawful::law::Words;
use lawful::{
    Control, Dataset, Event, FormulaField, Laws, LeastSquaresSettings, Phase, Plan, Prepared,
    RECIPES, Random, Recipe, Simulation, Solver, StopReason, Training, TrainingError,
};

/// The recipe of this test.
fn evidence() -> &'static Recipe {
    RECIPES.iter().find(|recipe| recipe.name == "evidence").unwrap()
}

/// Hares and lynxes by the equations of Lotka and Volterra, measured with this noise.
fn predators(noise: f64) -> (Dataset, Vec<f64>, Vec<f64>) {
    let words = Words::new().state(["x", "y"]).check().unwrap();
    let field = FormulaField::new(&["x*(1 - 0.5*y)", "y*(0.3*x - 0.7)"], &words).unwrap();
    let simulation = Simulation { field, inputs: Vec::new(), tableau: None, noise: None };
    let times: Vec<f64> = (0..25).map(|n| 0.75 * f64::from(n)).collect();
    let truth = simulation.run("truth", &times, &[4.0, 1.0]).unwrap();
    let mut random = Random::new(11, "noise");
    let mut noisy = truth.clone();
    let spread = [1.2, 1.0];
    for (k, value) in noisy.states.iter_mut().enumerate() {
        *value += noise * spread[k % 2] * random.normal();
    }
    let names = ["x", "y"].map(str::to_owned).to_vec();
    let data = Dataset::new(names, Vec::new(), vec![noisy]).unwrap();
    (data, times, truth.states.to_vec())
}

/// A search that is over in a moment, under laws that its starts break.
fn small() -> Prepared {
    let (data, ..) = predators(0.1);
    let laws = Laws::parse(&data, ["x <= 3.5", "next(x + y) <= x + y + 1"]).unwrap();
    let settings = LeastSquaresSettings { starts: 4, screening: 3, kept: 2, rounds: 2, round: 3 };
    let phase = Phase { least_squares: Some(settings), ..Phase::new(adam(), 22) };
    let training = Training::new(data).laws(laws).initial_state(true).seed(5);
    training
        .field(lawful::FieldSettings::layers(&[4], &names()))
        .phases(vec![phase])
        .prepare()
        .unwrap()
}

fn adam() -> lawful::optimiser::OptimiserKind {
    lawful::optimiser::OptimiserKind::default()
}

fn names() -> Vec<String> {
    ["x", "y"].map(str::to_owned).to_vec()
}

#[test]
fn resume_gives_the_same_bytes_as_no_pause() {
    let prepared = small();
    let mut whole = Watch::every(1);
    let end = prepared.run(&mut whole);
    assert_eq!(end.outcome.stop, StopReason::Finished);
    assert_eq!((whole.rows.len(), whole.checkpoints.len()), (23, 23));
    for checkpoint in &whole.checkpoints {
        let mut rest = Watch::every(1);
        let plan = Plan::new(&prepared.phases);
        let resumed = prepared.resume(plan, Some(checkpoint.clone()), &mut rest);
        let start = checkpoint.iteration;
        let same = progress_bytes(&resumed.outcome.last) == progress_bytes(&end.outcome.last);
        assert!(same && resumed.outcome.best == end.outcome.best, "from {start}");
        assert_eq!(whole.rows[start..], rest.rows, "from {start}");
        assert_eq!(whole.checkpoints[start..], rest.checkpoints, "from {start}");
    }
}

#[test]
fn thread_count_does_not_change_a_byte() {
    let on_threads = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| progress_bytes(&small().run(&mut ()).outcome.last))
    };
    let one = on_threads(1);
    for threads in [2, 3] {
        assert_eq!(on_threads(threads), one);
    }
}

#[test]
fn a_stopped_search_ends_at_the_next_row() {
    let prepared = small();
    let mut watch = Watch { stop_at: Some(7), ..Watch::default() };
    let run = prepared.run(&mut watch);
    assert_eq!(run.outcome.stop, StopReason::Interrupted);
    assert_eq!((run.outcome.last.iteration, watch.checkpoints.len()), (8, 1));
    assert_eq!(watch.checkpoints[0], run.outcome.last);
}

#[test]
fn a_row_of_another_search_is_no_memory() {
    let prepared = small();
    let progress = prepared.run(&mut ()).outcome.last;
    let n = progress.theta.len();
    let phase = &prepared.phases[0];
    assert!(prepared.reads_memory(phase, n, &progress.optimiser));
    assert!(prepared.reads_memory(phase, n, &[]));
    assert!(!prepared.reads_memory(phase, n, &progress.optimiser[1..]));
    let mut damaged = progress.optimiser;
    damaged[3] = f64::NAN;
    assert!(!prepared.reads_memory(phase, n, &damaged));
}

#[test]
fn noise_is_estimated_and_the_curve_is_closer_to_the_truth_than_the_measurements() {
    let noise = 0.1;
    let (data, times, truth) = predators(noise);
    let laws = Laws::parse(&data, ["x >= 0", "y >= 0"]).unwrap();
    let prepared = Training::new(data).laws(laws).recipe(evidence()).prepare().unwrap();
    assert_eq!((prepared.field.hidden.as_slice(), prepared.initial_state), (&[8][..], true));
    let mut watch = Watch::default();
    let run = prepared.run(&mut watch);
    let notes: Vec<&str> = (watch.events().into_iter())
        .filter_map(
            |(_, event)| if let Event::Note(text) = event { Some(text.as_str()) } else { None },
        )
        .collect();
    assert_eq!(notes.len(), 2, "{notes:?}");
    let of_state = |name: &str| -> f64 {
        let found = notes[1].split(&format!("of `{name}` ")).nth(1).unwrap();
        found.split([' ', ',']).next().unwrap().parse().unwrap()
    };
    let found = of_state("x").hypot(of_state("y")) / 2.0_f64.sqrt();
    assert!((0.6 * noise..1.4 * noise).contains(&found), "{}", notes[1]);
    let trained = prepared.trained(&run);
    let start = &trained.model.description().starts[0].state;
    let predicted = trained.model.predict(start, &times).unwrap();
    let squares: f64 = predicted.iter().zip(&truth).map(|(a, b)| (a - b).powi(2)).sum();
    let error = (squares / truth.len() as f64).sqrt();
    assert!(error < 0.9 * noise, "{error}");
}

#[test]
fn a_law_that_data_do_not_decide_is_kept_by_its_multipliers() {
    // Only I is measured; the sum holds nowhere without the law.
    let words = Words::new().state(["S", "I", "R"]).check().unwrap();
    let rates = ["-0.0022*S*I", "0.0022*S*I - 0.45*I", "0.45*I"];
    let field = FormulaField::new(&rates, &words).unwrap();
    let simulation = Simulation { field, inputs: Vec::new(), tableau: None, noise: None };
    let times: Vec<f64> = (0..15).map(f64::from).collect();
    let mut measured = simulation.run("flu", &times, &[760.0, 3.0, 0.0]).unwrap();
    let mut random = Random::new(2, "noise");
    for row in measured.states.chunks_exact_mut(3) {
        row[0] = f64::NAN;
        row[1] += 5.0 * random.normal();
        row[2] = f64::NAN;
    }
    let names = ["S", "I", "R"].map(str::to_owned).to_vec();
    let data = Dataset::with_open_starts(names, Vec::new(), vec![measured]).unwrap();
    let laws = Laws::parse(&data, ["S + I + R == 763", "next(S) <= S"]).unwrap();
    let trained = Training::new(data).laws(laws).recipe(evidence()).run().unwrap();
    let score = trained.score.unwrap();
    assert!(score.laws[0].max < 1e-3 * 763.0, "{}", score.laws[0].max);
    assert!(score.laws[1].max < 1e-3 * 763.0, "{}", score.laws[1].max);
}

#[test]
fn what_the_evidence_chooses_cannot_be_set_beside_it() {
    let (data, ..) = predators(0.1);
    let training = || Training::new(data.clone()).recipe(evidence());
    for (training, text) in [
        (training().weight_decay(1e-4), "leave `weight-decay` out"),
        (training().validation(0.2), "leave `validation` out"),
        (training().loss(lawful::Loss::Mae), "`loss` must be \"mse\""),
    ] {
        let error = training.prepare().unwrap_err();
        assert!(matches!(error, TrainingError::Phase { number: 1, .. }), "{error}");
        assert!(error.to_string().contains(text), "{error}");
    }
    let wide = training().field(lawful::FieldSettings::new(&names())).prepare().unwrap_err();
    assert!(wide.to_string().contains("at most 500 parameters, and these are 2804"), "{wide}");
    let settings = LeastSquaresSettings::default();
    let phase = Phase { least_squares: Some(settings), ..Phase::new(adam(), 20) };
    let error = training().phases(vec![phase]).prepare().unwrap_err().to_string();
    assert!(error.contains("20 iterations, but screening and rounds alone are 30"), "{error}");
}

#[test]
fn another_seed_draws_other_starts() {
    let theta = |seed: u64| {
        let (data, ..) = predators(0.1);
        let settings =
            LeastSquaresSettings { starts: 2, screening: 1, kept: 1, rounds: 1, round: 1 };
        let phase = Phase { least_squares: Some(settings), ..Phase::new(adam(), 1) };
        let field = lawful::FieldSettings::layers(&[4], &names());
        let training = Training::new(data).field(field).phases(vec![phase]);
        let prepared = training.seed(seed).prepare().unwrap();
        bits(&prepared.run(&mut ()).outcome.last.theta)
    };
    assert_eq!(theta(1), theta(1));
    assert_ne!(theta(1), theta(2));
}

#[test]
fn a_search_whose_steps_are_too_coarse_is_repeated_with_finer_ones() {
    let (data, ..) = predators(0.02);
    let euler = Solver::new(&lawful::ode::tableaus::EULER, Control::Grid { substeps: 1 }).unwrap();
    let training = Training::new(data).recipe(evidence()).solver(euler);
    let prepared = training.prepare().unwrap();
    let mut watch = Watch::default();
    let run = prepared.run(&mut watch);
    assert_eq!(prepared.phases.len(), 1);
    assert!(run.plan.len() > 1 && run.plan.at() + 1 == run.plan.len());
    let [coarse, fine] = [&prepared.phases[0], run.plan.phase()].map(|phase| phase.substeps);
    assert!(fine >= 2 * coarse, "{coarse} {fine}");
    // The posterior is that of the model that the run ends with.
    let model = prepared.model_of(&run);
    assert_eq!(model.posterior().unwrap().components()[0].theta, model.theta());
    let interval = model.intervals(0.9).unwrap();
    assert!(interval.along(&prepared.data.trajectories()[0], &[0.0, 5.0]).is_ok());
}
