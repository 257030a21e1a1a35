//! Laws with `rate(…)` in a training: the rates are those of the field with all that belongs to it, and the
//! gradient is exact.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::relative_error;
use lawful::ode::tableaus::DOPRI5;
use lawful::optimiser::LbfgsSettings;
use lawful::strategy::{AugmentedLagrangian, L2, StrategySettings};
use lawful::{
    Adaptive, Control, Dataset, Enforcement, FieldSettings, Laws, LearnedConstant, Phase, Prepared,
    Shooting, Solver, Training, Trajectory,
};

/// Two irregular trajectories of four states.
fn data() -> Dataset {
    let trajectory = |name: &str, shift: f64, rows: usize| {
        let times: Vec<f64> = (0..rows).map(|n| 0.3 * n as f64 + 0.05 * (n as f64).sin()).collect();
        let states = times.iter().flat_map(|t| {
            let p = t + shift;
            [p.cos(), -p.sin(), 2.0 + 0.5 * (-t).exp(), 1.0 - 0.5 * (-t).exp() + shift]
        });
        Trajectory::new(name, times.clone(), states.collect())
    };
    let state = ["x", "v", "a", "b"].map(str::to_owned).to_vec();
    let trajectories = vec![trajectory("1", 0.0, 6), trajectory("2", 0.4, 5)];
    Dataset::new(state, Vec::new(), trajectories).unwrap()
}

/// Laws of rates that no path here obeys; `k` is learned beside known rates.
const LAWS: [&str; 4] = [
    "rate(x*v) <= a - 9 - t",
    "rate(a^2 + t*b) == k*v + 7",
    "initial(rate(x)) + rate(v) >= 5 + k",
    "next(x) - x == 3 + rate(b)",
];

/// A name, hard laws, known rates, and the states that the network learns.
type Case<'a> = (&'a str, &'a [&'a str], &'a [(&'a str, &'a str)], &'a [&'a str]);

fn constant() -> LearnedConstant {
    LearnedConstant { name: "k".to_owned(), start: 0.4, min: Some(0.0), max: None }
}

/// A scaled network with three points between rows and a horizon, and more of these.
fn prepare(hard: &[&str], known: &[(&str, &str)], learn: &[&str], solver: Solver) -> Prepared {
    let data = data();
    let words = Laws::words(&data).constant("k", 0.4).check().unwrap();
    // Only known rates have constants to learn.
    let learned = if known.is_empty() { Vec::new() } else { vec![constant()] };
    let mut laws = Laws::with_learned(words, learned).unwrap();
    for text in hard {
        laws = laws.enforced(text, text, Enforcement::Hard).unwrap();
    }
    for text in LAWS {
        laws = laws.law(text, text).unwrap();
    }
    let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    let mut field = FieldSettings::layers(&[4], &owned(learn));
    field.known = known.iter().map(|(name, rate)| (name.to_string(), rate.to_string())).collect();
    field.time_input = true;
    let strategy = StrategySettings { between: 3, ..StrategySettings::new(L2::default()) };
    let phase = Phase::new(LbfgsSettings::default(), 10);
    let free = Shooting::Multiple { steps: 2, free: true };
    let phases = vec![phase.clone(), Phase { shooting: free, ..phase }];
    let training = Training::new(data).laws(laws).field(field).strategy(strategy).phases(phases);
    training.scale(true).solver(solver).horizon(2.1).prepare().unwrap()
}

#[test]
fn gradient_matches_central_differences_with_known_rates_guarantees_and_scaling() {
    let adaptive = Control::Adaptive(Adaptive::with_tolerances(1e-4, 1e-6));
    let all = ["x", "v", "a", "b"];
    let cases: [Case; 4] = [
        ("network", &[], &[], &all),
        ("known rates", &[], &[("x", "v"), ("v", "-k*x")], &all[1..]),
        ("a sum", &["a + b == initial(a + b)"], &[], &all),
        ("a circle", &["x^2 + v^2 == initial(x^2 + v^2)"], &[], &all),
    ];
    for (case, hard, known, learn) in cases {
        for solver in [Solver::default(), Solver::new(&DOPRI5, adaptive).unwrap()] {
            let prepared = prepare(hard, known, learn, solver);
            for (n, phase) in prepared.phases.iter().enumerate() {
                let label = format!("{case}, phase {n}, {:?}", solver.control());
                let mut objective = prepared.objective(phase, prepared.data.clone()).unwrap();
                let segments = phase.shooting.segments(&prepared.data);
                let problem = objective.problem();
                objective.select(&problem.points.clone().stretched(&problem.dataset, segments));
                let mut theta = objective.layout().extend(&prepared.initial_theta());
                for (n, x) in theta.iter_mut().enumerate() {
                    *x += 0.2 * (1.3 * n as f64).sin();
                }
                let gradient = objective.evaluate(&theta, 0).expect(&label).gradient.clone();
                for k in hard.len()..prepared.laws.len() {
                    let residuals = objective.misfit().residuals(k);
                    assert!(residuals.iter().all(|c| c.abs() > 1e-3), "{label}: law {k}");
                }
                let h = 1e-5;
                let mut at = |i: usize, step: f64| {
                    let centre = theta[i];
                    theta[i] += step;
                    let value = objective.replay(&theta).unwrap().value;
                    theta[i] = centre;
                    value
                };
                let difference = |i| {
                    let near = at(i, h) - at(i, -h);
                    (8.0 * near - (at(i, 2.0 * h) - at(i, -2.0 * h))) / (12.0 * h)
                };
                let differences: Vec<f64> = (0..gradient.len()).map(difference).collect();
                let error = relative_error(&gradient, &differences);
                assert!(error <= 1e-6, "{label}: relative error {error:e}");
            }
        }
    }
}

#[test]
fn the_rates_of_a_guaranteed_law_are_those_that_obey_it() {
    // `a + b` does not change, so that rate(a) = −rate(b) at every point, to rounding.
    let mut prepared =
        prepare(&["a + b == initial(a + b)"], &[], &["x", "v", "a", "b"], Solver::default());
    let words = Laws::words(&prepared.data).constant("k", 0.4).check().unwrap();
    let law = Laws::new(words).law("power", "rate(a) + rate(b) == 0*x").unwrap().laws()[0].clone();
    prepared.laws[1] = law;
    let phase = &prepared.phases[0];
    let mut objective = prepared.objective(phase, prepared.data.clone()).unwrap();
    let theta = objective.layout().extend(&prepared.initial_theta());
    let residuals = objective.observe(&theta).unwrap().residuals(1);
    assert!(residuals.len() > 40 && residuals.iter().all(|c| c.abs() < 1e-13), "{residuals:?}");
}

#[test]
fn a_training_learns_the_true_law_of_the_oscillator_from_few_rows() {
    // A damped oscillation with a wave on it, half a second between rows.
    let times: Vec<f64> = (0..13).map(|n| 0.5 * f64::from(n)).collect();
    let w = 0.99_f64.sqrt();
    let states = times.iter().flat_map(|t| {
        let (e, noise) = ((-0.1 * t).exp(), 0.02 * (11.0 * t).sin());
        let (sin, cos) = (w * t).sin_cos();
        [e * (cos + 0.1 / w * sin) + noise, -e / w * sin - noise]
    });
    let data = Dataset::single(&["x", "v"], times.clone(), states.collect()).unwrap();
    let words = Laws::words(&data).constant("c", 0.2).define("E", "(x^2 + v^2)/2");
    let laws = Laws::new(words.check().unwrap());
    let laws = laws.law("power", "rate(E) == -c*v^2").unwrap();
    let worst = |strategy: StrategySettings| {
        let phase = |shooting| Phase { shooting, ..Phase::new(LbfgsSettings::default(), 150) };
        let phases =
            vec![phase(Shooting::Multiple { steps: 3, free: true }), phase(Shooting::Single)];
        let training = Training::new(data.clone()).laws(laws.clone()).scale(true);
        let training = training.field(FieldSettings::layers(&[10], data.state()));
        let trained = training.strategy(strategy).phases(phases).run().unwrap();
        trained.score.unwrap().laws[0].max
    };
    let augmented = AugmentedLagrangian { round: 50, ..AugmentedLagrangian::default() };
    let between = StrategySettings { between: 3, ..StrategySettings::new(augmented) };
    let [kept, free] = [between, StrategySettings::vanilla()].map(worst);
    assert!(kept < 2e-3 && free > 20.0 * kept, "{kept:e} with the law, {free:e} without");
}
