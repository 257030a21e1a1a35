//! Valid experiment files and the experiments that they describe.

mod config_support;

use config_support::Folder;
use config_support::samples::{MEASURED, OSCILLATOR, SIMULATED, experiment};
use lawful::strategy::StrategyKind;
use lawful::{Batch, Control, Dataset, GradientAt, Initialise, Interpolation, Loss, Precision};
use lawful_experiment::read;

#[test]
fn defaults_are_those_of_the_documentation() {
    let experiment = experiment(
        "[system]\nstate = [\"x\"]\n[data.simulate]\nequations = { x = \"-x\" }\n\
         initial = { x = 1 }\ngrid = { to = 1, points = 3 }\n",
    );
    assert_eq!(experiment.training.field.hidden, [50, 50]);
    assert_eq!(experiment.training.field.init, Initialise::Normal { std: 0.1 });
    assert_eq!(experiment.training.field.precision, Precision::Double);
    assert_eq!(experiment.training.solver.tableau().name, "rk4-38");
    assert_eq!(experiment.training.solver.control(), Control::Grid { substeps: 1 });
    assert_eq!(experiment.training.predict.tableau().name, "dopri5");
    let Control::Adaptive(predict) = experiment.training.predict.control() else {
        panic!("not adaptive")
    };
    assert_eq!((predict.rtol, predict.atol), (1e-9, 1e-11));
    assert!(matches!(experiment.training.strategy.kind, StrategyKind::SelfAdaptive(_)));
    assert_eq!(experiment.training.strategy.best_point, None);
    let training = &experiment.training;
    assert_eq!((training.loss, training.seed), (Loss::Mse, 1));
    assert_eq!((training.recipe, training.scale, training.remedies), (Some("auto"), true, true));
    assert!(training.phases.iter().all(|phase| phase.batch == Batch::Full));
    assert!(training.iterations() < 5_000);
}

#[test]
fn test_sets_are_held_out_of_training() {
    let experiment = experiment(MEASURED);
    let names = |set: &Dataset| {
        let names = set.trajectories().iter().map(|trajectory| trajectory.name.clone());
        names.collect::<Vec<_>>()
    };
    let set = |name: &str| &experiment.tests.iter().find(|(known, _)| known == name).unwrap().1;
    assert_eq!(names(&experiment.training.data), ["a", "b"]);
    let times: Vec<&[f64]> =
        experiment.training.data.trajectories().iter().map(|t| t.times.as_slice()).collect();
    assert_eq!(times, [&[0.0, 1.0][..], &[0.0, 0.5]]);
    assert_eq!(names(set("held")), ["c"]);
    assert_eq!(names(set("other")), ["a", "b", "c"]);
    let later = set("later").trajectories();
    assert_eq!(later[0].times, [0.0, 3.0]);
    assert_eq!(later[1].times, [0.0, 7.0]);
    assert_eq!((later[0].scored_from, later[1].scored_from), (1, 1));
    assert_eq!(later[0].states, [20.5, 22.0]);
    // Nothing of `a` comes after 6.5.
    assert_eq!(names(set("much-later")), ["b"]);
    assert_eq!(experiment.training.interpolation, Interpolation::Previous);
    let restore = experiment.training.strategy.best_point.unwrap();
    assert!(restore.backtrack && restore.gradient_at == GradientAt::Best);
}

#[test]
fn noise_is_for_training_alone_and_does_not_depend_on_the_test_sets() {
    let noisy = experiment(SIMULATED);
    let clean = experiment(&SIMULATED.replace("relative = 0.1", "relative = 0"));
    assert_ne!(noisy.training.data, clean.training.data);
    for ((_, a), (_, b)) in noisy.tests.iter().zip(&clean.tests) {
        assert_eq!(a, b);
    }
    let alone = experiment(&SIMULATED.replace("[test.end]\nafter = 0.5\n", ""));
    let (cut, whole) =
        (&noisy.training.data.trajectories()[0], &alone.training.data.trajectories()[0]);
    assert_eq!(whole.states[..cut.states.len()], cut.states[..]);
    let other = experiment(&SIMULATED.replace("seed = 7", "seed = 8"));
    assert_ne!(noisy.training.data, other.training.data);
}

#[test]
fn a_simulation_solves_its_equations() {
    let experiment = experiment(OSCILLATOR);
    let trajectory = &experiment.training.data.trajectories()[0];
    assert_eq!((trajectory.len(), trajectory.times[399].to_bits()), (400, 50_f64.to_bits()));
    // x(t) = e^(−t/20) (cos ωt + sin(ωt)/(20ω)), ω² = 1 − 1/400.
    let omega = (1.0 - 1.0 / 400.0_f64).sqrt();
    for (t, state) in trajectory.times.iter().zip(trajectory.states.chunks(2)) {
        let x = (-t / 20.0).exp() * ((omega * t).cos() + (omega * t).sin() / (20.0 * omega));
        assert!((state[0] - x).abs() < 1e-10, "{} at {t}", state[0]);
    }
}

#[test]
fn a_stated_method_steps_on_the_sampling_grid() {
    let experiment = experiment(
        "[system]\nstate = [\"x\"]\n[data.simulate]\nequations = { x = \"-x\" }\nmethod = \"euler\"\n\
         initial = { x = 1 }\ngrid = { step = 0.5, points = 4 }\n[test.coarse]\ngrid = { step = 1, points = 3 }\n",
    );
    assert_eq!(experiment.training.data.trajectories()[0].states, [1.0, 0.5, 0.25, 0.125]);
    assert_eq!(experiment.tests[0].1.trajectories()[0].states, [1.0, 0.0, 0.0]);
}

#[test]
fn an_experiment_without_a_name_is_called_after_its_file_or_folder() {
    let toml = OSCILLATOR.replace("name = \"oscillator\"\n", "");
    let folder = Folder::new(&[("spring/experiment.toml", &toml), ("mass.toml", &toml)]);
    assert_eq!(read(&folder.path("spring")).unwrap().experiment.name, "spring");
    assert_eq!(read(&folder.path("spring/experiment.toml")).unwrap().experiment.name, "spring");
    assert_eq!(read(&folder.path("mass.toml")).unwrap().experiment.name, "mass");
}
