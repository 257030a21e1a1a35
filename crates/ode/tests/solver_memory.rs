//! A tape too small for the path changes neither a value nor a gradient.

mod systems;

use lawful_ode::tableaus::{DOPRI5, RK4};
use lawful_ode::{
    Adaptive, Control, InitialValueProblems, Inputs, NoInputs, Path, Solver, TABLEAUS, VectorField,
    predict, pull_back, solve,
};
use systems::{Driven, Forgetful, Held, LimitCycle, Smooth};

fn ivps(control: Control) -> InitialValueProblems {
    let mut ivps = InitialValueProblems::new(2);
    let times: Vec<f64> = (0..40).map(|i| 0.35 * f64::from(i)).collect();
    ivps.push(&times, &[0.6, -0.2]).expect("a valid problem");
    if matches!(control, Control::Grid { .. }) {
        ivps.push(&times[..17], &[0.1, 0.9]).expect("a valid problem");
    }
    ivps
}

/// Observed states and gradients, by their bits, and the number of checkpoint blocks.
fn bits(
    field: &mut dyn VectorField,
    solver: &Solver,
    path: &mut Path,
    inputs: &dyn Inputs,
) -> (Vec<u64>, usize) {
    let ivps = ivps(solver.control());
    solve(field, solver, &ivps, inputs, path).expect("the solve succeeds");
    let blocks = path.checkpoint_blocks();
    let w: Vec<f64> = (0..path.all_observed().len()).map(|i| (i as f64).cos()).collect();
    let (mut initial_bar, mut theta_bar) = (vec![0.0; ivps.initial().len()], vec![0.0; 4]);
    pull_back(field, solver, &ivps, inputs, path, &w, &mut initial_bar, &mut theta_bar);
    let all = path.all_observed().iter().chain(&initial_bar).chain(&theta_bar);
    (all.map(|x| x.to_bits()).collect(), blocks)
}

#[test]
fn gradient_is_the_same_bit_for_bit_however_small_the_memory() {
    let controls =
        [Control::Grid { substeps: 2 }, Control::Adaptive(Adaptive::with_tolerances(1e-4, 1e-6))];
    let held = Held { width: 0.4, announced: true };
    for inputs in [&Smooth as &dyn Inputs, &held] {
        for tableau in TABLEAUS {
            for control in controls {
                let Ok(solver) = Solver::new(tableau, control) else { continue };
                let mut path = Path::new();
                let mut field = Forgetful::new(Box::new(Driven::field()));
                // The first solve finds out how many steps there are, the second has room for all.
                let (growing, blocks) = bits(&mut field, &solver, &mut path, inputs);
                let adaptive = matches!(control, Control::Adaptive(_));
                assert_eq!(blocks > 1, adaptive, "{}: {blocks}", tableau.name);
                let (ample, blocks) = bits(&mut field, &solver, &mut path, inputs);
                assert_eq!(blocks, 1, "{}", tableau.name);
                assert_eq!(ample, growing, "{} {control:?}", tableau.name);
                for memory in [0, 700, 5000] {
                    let small = solver.with_memory(memory);
                    let mut field = Forgetful::new(Box::new(Driven::field()));
                    let (tiny, blocks) = bits(&mut field, &small, &mut Path::new(), inputs);
                    assert!(blocks > 1, "{} {memory}", tableau.name);
                    assert_eq!(ample, tiny, "{} {control:?} {memory}", tableau.name);
                }
            }
        }
    }
}

#[test]
fn going_back_twice_or_after_the_tape_is_lost_gives_the_same_bits() {
    for solver in [
        Solver::new(&RK4, Control::Grid { substeps: 2 }).unwrap().with_memory(3000),
        Solver::new(&DOPRI5, Control::Adaptive(Adaptive::default())).unwrap(),
    ] {
        let ivps = ivps(solver.control());
        let (mut field, mut path) = (Driven::field(), Path::new());
        solve(&mut field, &solver, &ivps, &Smooth, &mut path).unwrap();
        let w = vec![1.0; path.all_observed().len()];
        let mut gradients = Vec::new();
        for round in 0..3 {
            if round == 2 {
                solve(&mut field, &solver, &ivps, &Smooth, &mut Path::new()).unwrap();
                path.lose_tape();
            }
            let mut initial_bar = vec![0.0; ivps.initial().len()];
            let mut theta_bar = [0.0; 4];
            pull_back(
                &mut field,
                &solver,
                &ivps,
                &Smooth,
                &mut path,
                &w,
                &mut initial_bar,
                &mut theta_bar,
            );
            gradients.push((initial_bar, theta_bar));
        }
        assert_eq!(gradients[0], gradients[1]);
        assert_eq!(gradients[0], gradients[2]);
    }
}

#[test]
fn a_hundred_thousand_steps_go_back_on_a_tape_of_a_few_kilobytes() {
    let mut ivps = InitialValueProblems::new(2);
    ivps.push(&[0.0, 50.0, 100.0], &LimitCycle::solution(0.0)).expect("a valid problem");
    let memory = 4096;
    let solver = Solver::new(&RK4, Control::Grid { substeps: 50_000 }).unwrap().with_memory(memory);
    let mut field = LimitCycle::field();
    let mut path = Path::new();
    solve(&mut field, &solver, &ivps, &NoInputs, &mut path).unwrap();
    assert_eq!(path.counts().accepted, 100_000);
    let slots_on_tape = memory / field.slot_bytes(1);
    assert_eq!(path.checkpoint_blocks(), 100_000_usize.div_ceil(slots_on_tape / 4));
    let w = [0.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    let (mut initial_bar, mut theta_bar) = ([0.0; 2], [0.0; 2]);
    pull_back(
        &mut field,
        &solver,
        &ivps,
        &NoInputs,
        &mut path,
        &w,
        &mut initial_bar,
        &mut theta_bar,
    );
    // At t = 100 the radius is 1 and the angle 100 + b sin 100 + the initial angle:
    // ∂x/∂angle = −sin, ∂x/∂b = −sin(angle) sin(100), and the initial radius 1/4 is forgotten.
    let [_, y] = LimitCycle::solution(100.0);
    let expected = [0.0, -y / 0.25, 0.0, -y * 100.0_f64.sin()];
    for (got, expected) in initial_bar.iter().chain(&theta_bar).zip(expected) {
        assert!((got - expected).abs() < 1e-9, "{got} {expected}");
    }
}

#[test]
fn prediction_gives_the_same_values_and_keeps_no_steps() {
    for control in [Control::Grid { substeps: 3 }, Control::Adaptive(Adaptive::default())] {
        let solver = Solver::new(&DOPRI5, control).unwrap();
        let ivps = ivps(control);
        let mut field = Driven::field();
        let (mut solved, mut predicted) = (Path::new(), Path::new());
        solve(&mut field, &solver, &ivps, &Smooth, &mut solved).unwrap();
        predict(&mut field, &solver, &ivps, &Smooth, &mut predicted).unwrap();
        assert_eq!(solved.all_observed(), predicted.all_observed());
        assert_eq!(solved.counts(), predicted.counts());
        assert_eq!((predicted.steps(0).count(), predicted.checkpoint_blocks()), (0, 0));
    }
}

#[test]
#[should_panic(expected = "only a path from a finished `solve`")]
fn a_prediction_cannot_be_gone_back() {
    let solver = Solver::new(&RK4, Control::Grid { substeps: 1 }).unwrap();
    let ivps = ivps(solver.control());
    let (mut field, mut path) = (Driven::field(), Path::new());
    predict(&mut field, &solver, &ivps, &Smooth, &mut path).unwrap();
    let w = vec![1.0; path.all_observed().len()];
    pull_back(&mut field, &solver, &ivps, &Smooth, &mut path, &w, &mut [0.0; 4], &mut [0.0; 4]);
}
