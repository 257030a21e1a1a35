//! Laws that the form of the vector field guarantees, in whole trainings.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::watch::Watch;
use common::{bits, progress_bytes as bytes};
use lawful::law::{Steps, Workspace};
use lawful::optimiser::{AdamSettings, LbfgsSettings};
use lawful::{
    Control, Dataset, Enforcement, FieldPart, FieldSettings, Initialise, Kept, Laws, Model, Phase,
    Prepared, Random, Shooting, SmoothDescription, Solver, Training, Trajectory,
};

/// A system with its laws, and its path from a number.
struct Case {
    name: &'static str,
    state: &'static [&'static str],
    laws: &'static [&'static str],
    path: fn(f64, f64) -> Vec<f64>,
}

const CASES: [Case; 8] = [
    Case {
        name: "a circle",
        state: &["x", "v"],
        laws: &["x^2 + v^2 == 1"],
        path: |a, t| vec![(t + a).cos(), (t + a).sin()],
    },
    Case {
        name: "an energy",
        state: &["x", "v"],
        laws: &["x^2 + v^2 == initial(x^2 + v^2)"],
        path: |a, t| vec![(1.0 + a) * t.cos(), (1.0 + a) * t.sin()],
    },
    Case {
        name: "a moving circle",
        state: &["x", "v"],
        laws: &["x^2 + v^2 == (1 + t/10)^2"],
        path: |a, t| vec![(1.0 + t / 10.0) * (t + a).cos(), (1.0 + t / 10.0) * (t + a).sin()],
    },
    Case {
        name: "friction",
        state: &["x", "v"],
        laws: &["next(x^2 + v^2) <= x^2 + v^2"],
        path: |a, t| {
            let size = (1.0 + a) * (-0.2 * t).exp();
            vec![size * t.cos(), size * t.sin()]
        },
    },
    Case {
        name: "shares",
        state: &["A", "B", "C"],
        laws: &["A + B + C == 1"],
        path: |a, t| {
            let (first, second) = ((0.6 + a / 5.0) * (-0.5 * t).exp(), 0.3 * (-0.2 * t).exp());
            vec![first, second, 1.0 - first - second]
        },
    },
    Case {
        name: "an epidemic",
        state: &["S", "I", "R"],
        laws: &[
            "S + I + R == 1",
            "next(S) <= S",
            "next(R) >= R",
            "0 <= S <= 1",
            "I >= 0",
            "R >= 0",
        ],
        path: |a, t| {
            let (s, r) = (0.3 + 0.6 * (-0.5 * t).exp(), (0.3 + a / 5.0) * (1.0 - (-0.2 * t).exp()));
            vec![s, 1.0 - s - r, r]
        },
    },
    Case {
        name: "a bound",
        state: &["x", "y"],
        laws: &["x >= 0", "y <= 2"],
        path: |a, t| vec![(1.0 + a) * (-0.3 * t).exp(), 1.5 + 0.4 * t.sin()],
    },
    Case {
        name: "a circle and shares",
        state: &["x", "v", "p", "q"],
        laws: &["x^2 + v^2 == initial(x^2 + v^2)", "p + 2*q == 1", "2*p + 4*q == 2"],
        path: |a, t| {
            let q = 0.5 * (-0.3 * t).exp();
            vec![(1.0 + a) * t.cos(), (1.0 + a) * t.sin(), 1.0 - 2.0 * q, q]
        },
    },
];

/// The length of the data.
const HORIZON: f64 = 3.0;

impl Case {
    /// Two trajectories with this much noise.
    fn data(&self, noise: f64) -> Dataset {
        let mut random = Random::new(7, self.name);
        let trajectories = [0.0, 0.4].map(|a| {
            let times: Vec<f64> = (0..=24).map(|n| HORIZON * f64::from(n) / 24.0).collect();
            let states = times.iter().flat_map(|t| (self.path)(a, *t));
            let states = states.map(|y| y + noise * random.normal()).collect();
            Trajectory::new(format!("{a}"), times, states)
        });
        let state = self.state.iter().map(|&name| name.to_owned()).collect();
        Dataset::new(state, Vec::new(), trajectories.to_vec()).unwrap()
    }

    fn training(&self, noise: f64) -> Training {
        let data = self.data(noise);
        let mut laws = Laws::new(Laws::words(&data).check().unwrap());
        for law in self.laws {
            laws = laws.enforced(law, law, Enforcement::Hard).unwrap();
        }
        let field = FieldSettings::layers(&[6], data.state());
        Training::new(data).laws(laws).field(field).phases(phases()).scale(true)
    }

    /// Checks that the laws hold along the predictions of a model, in the largest value of their quantity.
    fn check(&self, what: &str, model: &Model, initial: &[f64]) {
        let times: Vec<f64> = (0..=400).map(|n| 10.0 * HORIZON * f64::from(n) / 400.0).collect();
        let states = model.predict(initial, &times).unwrap();
        let steps = Steps { times: &times, states: &states, inputs: &[] };
        let (mut workspace, mut residuals) = (Workspace::new(), vec![0.0; times.len()]);
        let size = 1.0 + states.iter().fold(0.0_f64, |size, y| size.max(y * y));
        for law in model.laws() {
            assert_eq!(law.enforcement(), Enforcement::Hard);
            law.residuals(&steps, &mut workspace, &mut residuals);
            for (t, c) in times.iter().zip(&residuals) {
                let off = law.relation().violation(*c, 0.0) / size;
                assert!(off <= 1e-10, "{} {what}, t = {t}: {off:e}", self.name);
            }
        }
    }

    /// An initial state on the laws.
    fn initial(&self, model: &Model, a: f64) -> Vec<f64> {
        let mut initial = (self.path)(a, 0.0);
        if let Some(mut laws) = model.description().field.guaranteed().unwrap() {
            laws.project(0.0, &mut initial).unwrap();
        }
        initial
    }
}

/// Every way in which segments start.
fn phases() -> Vec<Phase> {
    let adam = AdamSettings { rate: 0.01, ..AdamSettings::default() };
    let segments = |free| Shooting::Multiple { steps: 6, free };
    vec![
        Phase { shooting: segments(false), ..Phase::new(adam, 8) },
        Phase { shooting: segments(true), ..Phase::new(LbfgsSettings::default(), 10) },
        Phase::new(LbfgsSettings::default(), 12),
    ]
}

fn random(prepared: &Prepared, std: f64) -> Vec<f64> {
    let mut theta = Initialise::Normal { std }.draw(&prepared.shape(), 5);
    theta.resize(prepared.theta_len(), 0.0);
    theta
}

#[test]
fn guaranteed_laws_hold_to_ten_times_the_horizon_in_trained_and_untrained_models() {
    for case in &CASES {
        for noise in [0.0, 0.01] {
            let prepared = case.training(noise).prepare().unwrap();
            assert!(prepared.kept.iter().all(|kept| matches!(kept, Kept::Guaranteed(_))));
            let trained = case.training(noise).run().unwrap();
            let before = prepared.model(random(&prepared, 0.1), 0);
            let error = before.score(&prepared.data).unwrap().mse;
            let score = trained.score.as_ref().unwrap();
            assert!(score.mse < 0.7 * error, "{}: {} from {error}", case.name, score.mse);
            assert!(score.violation_max < 1e-10, "{}: {:e}", case.name, score.violation_max);
            let wild = prepared.model(random(&prepared, 0.6), 0);
            for (what, model) in [("trained", &trained.model), ("untrained", &wild)] {
                for a in [0.0, 0.2] {
                    let initial = case.initial(model, a);
                    case.check(what, model, &initial);
                    let grid = Control::Grid { substeps: 4 };
                    let tableau = lawful::Tableau::from_name("rk4").unwrap();
                    let solver = Solver::new(tableau, grid).unwrap();
                    case.check(what, &model.clone().with_solver(solver), &initial);
                }
            }
            let path = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
                .join(format!("guaranteed-{}.safetensors", case.name));
            trained.model.save(&path).unwrap();
            let loaded = Model::load(&path).unwrap();
            let initial = case.initial(&loaded, 0.1);
            let predict = |model: &Model| bits(&model.predict(&initial, &[0.0, 5.0]).unwrap());
            assert_eq!(predict(&loaded), predict(&trained.model), "{}", case.name);
        }
    }
}

#[test]
fn gradients_match_central_differences_with_starts_on_laws() {
    for case in &CASES {
        for trained_initial in [false, true] {
            let training = case.training(0.01).initial_state(trained_initial);
            let mut prepared = training.prepare().unwrap();
            if let Some(FieldPart::Smooth(smooth)) = &mut prepared.guarantee {
                // Slow removal, so that differences see no kink.
                let softness = 3.0;
                *smooth = SmoothDescription { softness, ..smooth.clone() };
            }
            for (n, phase) in prepared.phases.iter().enumerate() {
                let mut objective = prepared.objective(phase, prepared.data.clone()).unwrap();
                objective.select(&phase.shooting.segments(&prepared.data));
                let mut theta = random(&prepared, 0.3);
                let fields = prepared.parameter_len();
                theta.truncate(fields);
                let mut starts = Random::new(3, "starts");
                theta.resize_with(objective.parameter_len(), || 0.05 * starts.normal());
                let gradient = objective.evaluate(&theta, 0).unwrap().gradient.clone();
                let size = gradient.iter().fold(0.0_f64, |size, g| size.max(g.abs()));
                let step = 3e-6;
                let indices = (0..theta.len()).step_by(7).chain(fields..theta.len());
                for k in indices {
                    let mut at = |sign: f64| {
                        let mut moved = theta.clone();
                        moved[k] += sign * step;
                        objective.replay(&moved).unwrap().value
                    };
                    let difference = (at(1.0) - at(-1.0)) / (2.0 * step);
                    let error = (difference - gradient[k]).abs() / size;
                    assert!(
                        error <= 1e-6,
                        "{}, phase {n}, initial {trained_initial}, parameter {k} of {fields}: {} \
                         against {difference}",
                        case.name,
                        gradient[k]
                    );
                }
            }
        }
    }
}

#[test]
fn a_resumed_phase_with_guaranteed_laws_gives_the_same_bytes() {
    for case in &CASES {
        let prepared = case.training(0.01).initial_state(true).prepare().unwrap();
        for phase in &prepared.phases {
            let kept = random(&prepared, 0.1);
            let mut whole = Watch::every(3);
            let end = prepared.trainer(phase, &kept).run(&mut whole);
            for checkpoint in &whole.checkpoints {
                let trainer = prepared.trainer(phase, &kept);
                let resumed = trainer.from_checkpoint(checkpoint.clone()).unwrap().run(&mut ());
                assert_eq!(bytes(&resumed.last), bytes(&end.last), "{}", case.name);
            }
        }
    }
}

#[test]
fn the_number_of_threads_changes_no_byte_of_a_training_with_guaranteed_laws() {
    for case in &CASES {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| bits(case.training(0.01).run().unwrap().model.theta()))
        };
        assert_eq!(run(1), run(3), "{}", case.name);
    }
}

#[test]
fn a_model_trained_without_guarantees_is_brought_to_its_laws() {
    for case in &CASES {
        let data = case.data(0.0);
        let laws = Laws::parse(&data, case.laws.iter().copied()).unwrap();
        let field = FieldSettings::layers(&[6], data.state());
        let training = Training::new(data.clone()).laws(laws).field(field).phases(phases());
        let free = training.prepare().unwrap();
        let model = free.model(random(&free, 0.5), 0);
        let (projected, kept) = model.clone().projected(&data).unwrap();
        assert_eq!(kept.len(), model.laws().len());
        let guaranteed: Vec<_> = projected
            .laws()
            .iter()
            .filter(|law| law.enforcement() == Enforcement::Hard)
            .cloned()
            .collect();
        let by_kept = kept.iter().filter(|kept| matches!(kept, Kept::Guaranteed(_))).count();
        assert_eq!(guaranteed.len(), by_kept);
        assert_eq!(guaranteed.len(), model.laws().len(), "{}", case.name);
        let projected = projected.with_laws(guaranteed);
        let mut initial: Vec<f64> = (case.path)(0.1, 0.0).iter().map(|y| y + 0.05).collect();
        projected.project(0.0, &mut initial).unwrap();
        case.check("projected", &projected, &initial);
    }
}

#[test]
fn an_initial_state_off_a_law_is_refused_until_it_is_moved() {
    let case = &CASES[0];
    let prepared = case.training(0.0).prepare().unwrap();
    let model = prepared.model(random(&prepared, 0.3), 0);
    let mut initial = vec![0.6, 0.9];
    let error = model.predict(&initial, &[0.0, 1.0]).unwrap_err();
    let text = "the initial state is off the law `x^2 + v^2 == 1` by 0.170, and the path from it would \
                be too";
    assert_eq!(error.to_string(), text);
    assert!(error.hint().contains("Model::project"), "{}", error.hint());
    model.project(0.0, &mut initial).unwrap();
    assert!((initial[0].hypot(initial[1]) - 1.0).abs() < 1e-15);
    case.check("moved", &model, &initial);
}
