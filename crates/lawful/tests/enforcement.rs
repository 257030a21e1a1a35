//! How laws are enforced: monitored ones are measured and nothing else, hard ones hold by the form of
//! the vector field.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::path::PathBuf;

use common::{LAWS, bits, dataset, laws, network, ragged, theta};
use lawful::law::Words;
use lawful::optimiser::{AdamSettings, LbfgsSettings};
use lawful::settings::{Setting, Values};
use lawful::strategy::StrategyKind;
use lawful::{
    Dataset, Enforcement, Evaluation, FieldPart, FieldSettings, FormulaField, Initialise, Law,
    Laws, Model, Objective, Phase, Prepared, Problem, Simulation, Solver, Training, Trajectory,
};

/// The strategy with one number per law where it takes them: 0.3, 0.6, … for these of the laws.
fn per_law(mut kind: StrategyKind, laws: &[usize]) -> StrategyKind {
    for key in kind.keys() {
        // Without a law there is no number for each of them.
        if matches!(key.values, Values::PerLaw(_)) && !laws.is_empty() {
            let each = laws.iter().map(|&k| 0.3 * (k + 1) as f64).collect();
            assert!(kind.set(key.name, Setting::PerLaw(each)));
        }
    }
    kind
}

fn evaluate(laws: Vec<Law>, kind: &StrategyKind) -> Evaluation {
    let penalised: Vec<bool> =
        laws.iter().map(|law| law.enforcement() == Enforcement::Penalty).collect();
    let problem = Problem::new(dataset(ragged()), laws);
    let strategy = kind.build(&penalised);
    let mut objective =
        Objective::new(problem, Box::new(network()), Solver::default(), strategy).unwrap();
    objective.evaluate(&theta(), 0).unwrap().clone()
}

#[test]
fn a_law_that_is_not_penalised_is_measured_and_has_neither_weight_nor_gradient() {
    let all: Vec<usize> = (0..LAWS.len()).collect();
    for enforcement in [Enforcement::Monitor, Enforcement::Hard] {
        // The first, some in the middle, the last, all but one, and all.
        for aside in [vec![0], vec![2, 5], vec![7], vec![0, 1, 2, 3, 4, 6, 7], all.clone()] {
            let kept: Vec<usize> = all.iter().copied().filter(|k| !aside.contains(k)).collect();
            for default in StrategyKind::all() {
                let kinds = [
                    (default.clone(), default.clone()),
                    (per_law(default.clone(), &all), per_law(default.clone(), &kept)),
                ];
                for (kind, alone) in kinds {
                    let law = |(k, law): (usize, Law)| {
                        if aside.contains(&k) { law.enforced(enforcement) } else { law }
                    };
                    let with = laws(&LAWS).into_iter().enumerate().map(law).collect();
                    let found = evaluate(with, &kind);
                    let texts: Vec<_> = kept.iter().map(|&k| LAWS[k]).collect();
                    let expected = evaluate(laws(&texts), &alone);
                    let case = format!("{kind:?}, {enforcement:?}, {aside:?}");
                    assert_eq!(found.value, expected.value, "{case}");
                    assert_eq!(bits(&found.gradient), bits(&expected.gradient), "{case}");
                    for (n, &k) in kept.iter().enumerate() {
                        let weights = [found.weights[k], expected.weights[n]];
                        assert_eq!(weights[0].to_bits(), weights[1].to_bits(), "{case}");
                    }
                    let measured = evaluate(laws(&LAWS), &default).laws;
                    assert_eq!(bits(&found.laws), bits(&measured), "{case}");
                    for &k in &aside {
                        assert!(found.laws[k] > 0.1, "{case}: law {k} is violated");
                        assert_eq!(found.weights[k].to_bits(), 0, "{case}");
                    }
                }
            }
        }
    }
}

/// A → B ⇄ C: what one loses the others gain.
fn reaction() -> Dataset {
    let words = Words::new().state(["A", "B", "C"]).check().unwrap();
    let equations = ["-0.5*A", "0.5*A - 0.4*B + 0.1*C", "0.4*B - 0.1*C"];
    let field = FormulaField::new(&equations, &words).unwrap();
    let simulation = Simulation { field, inputs: Vec::new(), tableau: None, noise: None };
    let times: Vec<f64> = (0..20).map(|n| 0.25 * f64::from(n)).collect();
    let runs = [[1.0, 0.2, 0.0], [0.4, 0.9, 0.3]];
    let trajectories = runs.iter().enumerate().map(|(n, initial)| {
        let run = simulation.run(&n.to_string(), &times, initial).unwrap();
        Trajectory { name: n.to_string(), ..run }
    });
    Dataset::new(words.state().to_vec(), Vec::new(), trajectories.collect()).unwrap()
}

fn training(law: &str, enforcement: Enforcement) -> Training {
    let data = reaction();
    let laws = Laws::new(Laws::words(&data).constant("w", 2.0).check().unwrap());
    let laws = laws.enforced("mass", law, enforcement).unwrap();
    let field = FieldSettings::layers(&[8], data.state());
    let adam = AdamSettings { rate: 0.02, ..AdamSettings::default() };
    let phases = vec![Phase::new(adam, 20), Phase::new(LbfgsSettings::default(), 60)];
    Training::new(data).laws(laws).field(field).phases(phases)
}

/// The largest change of a weighted sum on the way to ten times the horizon, relative to the size of
/// its parts.
fn drift(model: &Model, weights: [f64; 3]) -> f64 {
    let times: Vec<f64> = (0..=50).map(f64::from).collect();
    let mut largest = 0.0_f64;
    for initial in [[1.0, 0.2, 0.0], [0.4, 0.9, 0.3], [-0.7, 1.3, 0.1]] {
        let path = model.predict(&initial, &times).unwrap();
        let sum = |y: &[f64]| y.iter().zip(weights).map(|(y, w)| w * y).sum::<f64>();
        let size = |y: &[f64]| y.iter().zip(weights).map(|(y, w)| (w * y).abs()).sum::<f64>();
        for row in path.chunks_exact(3) {
            largest = largest.max((sum(row) - sum(&initial)).abs() / size(row).max(size(&initial)));
        }
    }
    largest
}

/// A model of this training that has learned nothing.
fn random(prepared: &Prepared) -> Model {
    let theta = Initialise::Normal { std: 0.5 }.draw(&prepared.shape(), 5);
    prepared.model(theta, 0)
}

#[test]
fn a_hard_sum_holds_in_every_prediction_of_trained_and_untrained_models() {
    for (law, weights, name) in [
        ("A + B + C == initial(A + B + C)", [1.0, 1.0, 1.0], "sum"),
        ("next(A + B + C) == A + B + C", [1.0, 1.0, 1.0], "next"),
        ("w*A + B + 0.5*C == initial(w*A + B + 0.5*C)", [2.0, 1.0, 0.5], "weights"),
    ] {
        let prepared = training(law, Enforcement::Hard).prepare().unwrap();
        let is_linear = |part: &FieldPart| matches!(part, FieldPart::Linear(_));
        assert!(is_linear(prepared.description().parts.last().unwrap()), "{law}");
        let trained = training(law, Enforcement::Hard).run().unwrap();
        let untrained = random(&prepared);
        let before = untrained.score(&reaction()).unwrap().mse;
        let score = trained.score.as_ref().unwrap();
        assert!(score.mse < 0.5 * before, "{law}: {} from {before}", score.mse);
        assert!(score.violation_max < 1e-12, "{law}: {}", score.violation_max);
        for (what, model) in [("trained", &trained.model), ("untrained", &untrained)] {
            let drift_of = drift(model, weights);
            assert!(drift_of <= 1e-12, "{law}, {what}: {drift_of:e}");
            let file = format!("hard-{name}-{what}.safetensors");
            let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(file);
            model.save(&path).unwrap();
            let loaded = Model::load(&path).unwrap();
            assert_eq!(loaded.laws()[0].enforcement(), Enforcement::Hard);
            assert_eq!(drift(&loaded, weights).to_bits(), drift_of.to_bits(), "{law}, {what}");
        }
        // Without the guarantee it is not kept.
        let free = training(law, Enforcement::Monitor).prepare().unwrap();
        assert!(!free.description().parts.iter().any(is_linear));
        assert!(drift(&random(&free), weights) > 1e-3, "{law}");
    }
}

#[test]
fn two_hard_sums_hold_together_also_where_one_follows_from_the_other() {
    let data = reaction();
    let laws = Laws::new(Laws::words(&data).check().unwrap())
        .enforced("mass", "A + B + C == initial(A + B + C)", Enforcement::Hard)
        .and_then(|laws| {
            laws.enforced("twice", "2*A + 2*B + 2*C == initial(2*A + 2*B + 2*C)", Enforcement::Hard)
        })
        .and_then(|laws| laws.enforced("rest", "A - C == initial(A - C)", Enforcement::Hard))
        .unwrap();
    let field = FieldSettings::layers(&[8], data.state());
    let prepared = Training::new(data).laws(laws).field(field).prepare().unwrap();
    let model = random(&prepared);
    for weights in [[1.0, 1.0, 1.0], [1.0, 0.0, -1.0]] {
        let drift = drift(&model, weights);
        assert!(drift <= 1e-12, "{weights:?}: {drift:e}");
    }
    // One direction is left in which states may move.
    let path = model.predict(&[1.0, 0.2, 0.0], &[0.0, 5.0]).unwrap();
    assert!((path[4] - 0.2).abs() > 1e-3, "{path:?}");
}
