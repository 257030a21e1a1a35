//! The discrete adjoint is the exact gradient of a solve with a guard, for every tableau and control.

mod guards;
mod systems;

use guards::{BLENDED, CASES, Case};
use lawful_ode::{
    Adaptive, Control, InitialValueProblems, NoInputs, Path, Shifted, Solver, TABLEAUS,
    VectorField, pull_back, replay, solve,
};
use systems::{Forgetful, with_observations_between};

fn solvers() -> impl Iterator<Item = Solver> {
    let adaptive = Adaptive::with_tolerances(1e-3, 1e-4);
    let controls =
        [Control::Grid { substeps: 1 }, Control::Grid { substeps: 3 }, Control::Adaptive(adaptive)];
    TABLEAUS
        .iter()
        .flat_map(move |tableau| controls.map(|control| Solver::new(tableau, control)))
        .filter_map(Result::ok)
}

/// Three ragged columns for grids; one, with observations inside steps, for adaptive control.
fn ivps(case: &Case, control: Control) -> InitialValueProblems {
    let mut ivps = InitialValueProblems::new(2);
    let (columns, width) =
        if matches!(control, Control::Grid { .. }) { (3, 0.06) } else { (1, 0.12) };
    for (column, initial) in case.initial.iter().take(columns).enumerate() {
        let times = (0..=30 - column).map(|i| width * (i as f64 + 0.2 * (2.0 * i as f64).sin()));
        ivps.push(&times.collect::<Vec<_>>(), initial).expect("a valid problem");
    }
    ivps
}

/// The same, and on grids also with observations between the nodes.
fn all_ivps(case: &Case, control: Control) -> Vec<InitialValueProblems> {
    with_observations_between(ivps(case, control), control)
}

/// Gradient of `w · observed` with respect to initial states and θ, one after the other.
fn gradient(
    field: &mut dyn VectorField,
    solver: &Solver,
    ivps: &InitialValueProblems,
    path: &mut Path,
    w: &[f64],
) -> Vec<f64> {
    let mut initial_bar = vec![0.0; ivps.initial().len()];
    let mut theta_bar = vec![0.0; field.parameter_len()];
    pull_back(field, solver, ivps, &NoInputs, path, w, &mut initial_bar, &mut theta_bar);
    [initial_bar, theta_bar].concat()
}

fn covector(len: usize) -> Vec<f64> {
    (0..len).map(|i| (0.3 + 1.7 * (i as f64 + 1.0).powf(1.3)).sin()).collect()
}

/// Compares with fourth-order central differences of replays: same steps, moved start or parameters.
fn check(case: &Case, solver: &Solver, field: &mut dyn VectorField) {
    for ivps in all_ivps(case, solver.control()) {
        field.set_parameters(case.theta);
        check_problems(case, solver, field, &ivps);
    }
}

fn check_problems(
    case: &Case,
    solver: &Solver,
    field: &mut dyn VectorField,
    ivps: &InitialValueProblems,
) {
    let label = format!("{}, {} {:?}", case.name, solver.tableau().name, solver.control());
    let mut path = Path::new();
    solve(field, solver, ivps, &NoInputs, &mut path).expect(&label);
    if matches!(solver.control(), Control::Adaptive(_)) {
        let inside = |t: f64| path.steps(0).any(|step| step.start < t && t < step.end);
        assert!(ivps.times(0).iter().any(|&t| inside(t)), "{label}: no dense output");
    }
    let w = covector(path.all_observed().len());
    let exact = gradient(field, solver, ivps, &mut path, &w);

    let mut moved_path = Path::new();
    let initial = ivps.initial().len();
    for (i, &exact) in exact.iter().enumerate() {
        let mut at = |shift: f64| {
            let (mut ivps, mut theta) = (ivps.clone(), case.theta.to_vec());
            match i.checked_sub(initial) {
                None => ivps.initial_mut()[i] += shift,
                Some(i) => theta[i] += shift,
            }
            field.set_parameters(&theta);
            replay(field, solver, &ivps, &NoInputs, &path, &mut moved_path).expect(&label);
            moved_path.all_observed().iter().zip(&w).map(|(x, w)| x * w).sum::<f64>()
        };
        let e = 1e-4;
        let difference = (8.0 * (at(e) - at(-e)) - (at(2.0 * e) - at(-2.0 * e))) / (12.0 * e);
        let relative = (difference - exact).abs() / exact.abs().max(1e-1);
        assert!(relative < 1e-6, "{label} {i}: {exact} but differences give {difference}");
    }
}

#[test]
fn gradient_matches_central_differences_for_every_guard_tableau_and_control() {
    BLENDED.set(0);
    for case in &CASES {
        for solver in solvers() {
            check(case, &solver, &mut *case.field());
        }
    }
    assert!(BLENDED.get() > 0, "no dense output was blended");
}

#[test]
fn gradient_matches_central_differences_at_shifted_times() {
    // A sum that moves in time, counted from an origin at which it is the same.
    for solver in solvers() {
        let mut field = Shifted::new(CASES[1].field());
        field.set_origins([1.0, 0.0, 1.0]);
        check(&CASES[1], &solver, &mut field);
    }
}

#[test]
fn gradient_is_the_same_bit_for_bit_however_small_the_memory() {
    for case in &CASES {
        for (solver, ivps) in solvers().flat_map(|solver| {
            all_ivps(case, solver.control()).into_iter().map(move |ivps| (solver, ivps))
        }) {
            let label = format!("{}, {} {:?}", case.name, solver.tableau().name, solver.control());
            let bits = |solver: &Solver, path: &mut Path| {
                let mut field = Forgetful::new(case.field());
                solve(&mut field, solver, &ivps, &NoInputs, path).expect(&label);
                let (blocks, w) = (path.checkpoint_blocks(), covector(path.all_observed().len()));
                let first = gradient(&mut field, solver, &ivps, path, &w);
                // The second time everything is computed again.
                let second = gradient(&mut field, solver, &ivps, path, &w);
                assert_eq!(first, second, "{label}");
                let all = path.all_observed().iter().chain(&first).map(|x| x.to_bits());
                (all.collect::<Vec<_>>(), blocks)
            };
            let mut path = Path::new();
            bits(&solver, &mut path);
            let (ample, blocks) = bits(&solver, &mut path);
            assert_eq!(blocks, 1, "{label}");
            for memory in [0, 1000, 3000] {
                let (tiny, blocks) = bits(&solver.with_memory(memory), &mut Path::new());
                assert!(blocks > 1, "{label} {memory}");
                assert_eq!(ample, tiny, "{label} {memory}");
            }
        }
    }
}

#[test]
fn the_tape_of_a_guarded_solve_stays_within_its_memory() {
    // 100 000 steps in 64 kB: blocks of fewer steps than the field's tape alone would allow.
    let case = &CASES[2];
    let (mut field, mut path) = (case.field(), Path::new());
    let mut ivps = InitialValueProblems::new(2);
    ivps.push(&[0.0, 20.0, 40.0], &[1.0, 0.0]).expect("a valid problem");
    let control = Control::Grid { substeps: 50_000 };
    let memory = 1 << 16;
    let solver = Solver::new(&lawful_ode::tableaus::RK4, control).unwrap().with_memory(memory);
    solve(&mut *field, &solver, &ivps, &NoInputs, &mut path).unwrap();
    let steps_in_block = 100_000_usize.div_ceil(path.checkpoint_blocks());
    let bytes = steps_in_block * (4 * field.slot_bytes(1) + 3 * 2 * 8);
    assert!(path.checkpoint_blocks() > 1 && bytes <= memory, "{bytes}");
    let bar = gradient(&mut *field, &solver, &ivps, &mut path, &[0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    // On the circle from angle 0: x = cos(t + b sin t).
    let (t, b) = (40.0_f64, case.theta[1]);
    let expected = -(t + b * t.sin()).sin() * t.sin();
    assert!((bar[3] - expected).abs() < 1e-9, "{} {expected}", bar[3]);
}
