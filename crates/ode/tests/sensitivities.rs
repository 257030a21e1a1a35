//! Forward sensitivities are the exact derivatives of a solve, for every tableau, control and guard.

mod guards;
mod systems;

use guards::CASES;
use lawful_ode::{
    Activation, Adaptive, Control, InitialValueProblems, Inputs, Mlp, MlpShape, NoInputs, Path,
    Precision, Solver, TABLEAUS, VectorField, pull_back, replay, sensitivities, sensitivities_len,
    solve,
};
use systems::{DRIVEN, Driven, Forgetful, Held, Smooth, with_observations_between};

/// Every tableau with every control that it allows.
fn solvers() -> impl Iterator<Item = Solver> {
    let adaptive = Adaptive::with_tolerances(1e-3, 1e-4);
    let controls =
        [Control::Grid { substeps: 1 }, Control::Grid { substeps: 3 }, Control::Adaptive(adaptive)];
    TABLEAUS
        .iter()
        .flat_map(move |tableau| controls.map(|control| Solver::new(tableau, control)))
        .filter_map(Result::ok)
}

/// Ragged columns for grids; one, with observations inside steps, for adaptive control.
fn ivps(initial: &[[f64; 2]], control: Control) -> InitialValueProblems {
    let mut ivps = InitialValueProblems::new(2);
    let (columns, width) =
        if matches!(control, Control::Grid { .. }) { (initial.len(), 0.06) } else { (1, 0.12) };
    for (column, initial) in initial.iter().take(columns).enumerate() {
        let times = (0..=20 - column).map(|i| width * (i as f64 + 0.2 * (2.0 * i as f64).sin()));
        ivps.push(&times.collect::<Vec<_>>(), initial).expect("a valid problem");
    }
    ivps
}

/// Fixed numbers of size one without pattern.
fn covector(len: usize, seed: f64) -> Vec<f64> {
    (0..len).map(|i| (seed + 1.7 * (i as f64 + 1.0).powf(1.3)).sin()).collect()
}

/// A field, its θ, its inputs and its initial states.
type Setting<'a> = (&'a mut dyn VectorField, &'a [f64], &'a dyn Inputs, &'a [[f64; 2]]);

fn matrix(
    field: &mut dyn VectorField,
    solver: &Solver,
    ivps: &InitialValueProblems,
    inputs: &dyn Inputs,
    path: &mut Path,
) -> Vec<f64> {
    let mut matrix = vec![f64::NAN; sensitivities_len(field, ivps)];
    sensitivities(field, solver, ivps, inputs, path, &mut matrix);
    matrix
}

/// Compares all rows with the adjoint of unit covectors, and a direction with differences of replays.
fn check(label: &str, solver: &Solver, (field, theta, inputs, initial): Setting<'_>) {
    let label = format!("{label}, {} {:?}", solver.tableau().name, solver.control());
    let ivps = ivps(initial, solver.control());
    for ivps in with_observations_between(ivps, solver.control()) {
        check_problems(&label, solver, (field, theta, inputs), ivps);
    }
}

fn check_problems(
    label: &str,
    solver: &Solver,
    (field, theta, inputs): (&mut dyn VectorField, &[f64], &dyn Inputs),
    mut ivps: InitialValueProblems,
) {
    field.set_parameters(theta);
    let mut path = Path::new();
    solve(field, solver, &ivps, inputs, &mut path).expect(label);
    let exact = matrix(field, solver, &ivps, inputs, &mut path);
    let (d, p) = (2, theta.len());
    let rows = path.all_observed().len();
    let column_of = |row: usize| {
        (0..ivps.columns()).find(|&column| ivps.rows(column).contains(&(row / d))).expect(label)
    };
    for row in 0..rows {
        let mut w = vec![0.0; rows];
        w[row] = 1.0;
        let (mut initial_bar, mut theta_bar) = (vec![0.0; ivps.initial().len()], vec![0.0; p]);
        pull_back(field, solver, &ivps, inputs, &mut path, &w, &mut initial_bar, &mut theta_bar);
        let own = initial_bar[column_of(row) * d..][..d].iter();
        let expected = theta_bar.iter().chain(own);
        let size = theta_bar.iter().chain(&initial_bar).fold(1e-3, |m: f64, x| m.max(x.abs()));
        for (found, expected) in exact[row * (p + d)..][..p + d].iter().zip(expected) {
            let error = (found - expected).abs();
            assert!(error < 1e-12 * size, "{label}, row {row}: {found}, adjoint {expected}");
        }
    }

    let v = covector(p + ivps.initial().len(), 0.9);
    let mut moved = Path::new();
    let start = ivps.initial().to_vec();
    let mut at = |shift: f64| {
        let theta: Vec<f64> = theta.iter().zip(&v).map(|(x, v)| x + shift * v).collect();
        let moves = start.iter().zip(&v[p..]).map(|(x, v)| x + shift * v);
        ivps.initial_mut().iter_mut().zip(moves).for_each(|(x, moved)| *x = moved);
        field.set_parameters(&theta);
        replay(field, solver, &ivps, inputs, &path, &mut moved).expect(label);
        moved.all_observed().to_vec()
    };
    let e = 1e-4;
    let [far_back, back, front, far_front] = [-2.0 * e, -e, e, 2.0 * e].map(&mut at);
    let columns: Vec<usize> = (0..rows)
        .map(|row| {
            (0..ivps.columns()).find(|&column| ivps.rows(column).contains(&(row / d))).expect(label)
        })
        .collect();
    for row in 0..rows {
        let own = &exact[row * (p + d)..][..p + d];
        let of_start = &v[p + columns[row] * d..][..d];
        let along: f64 = own.iter().zip(v[..p].iter().chain(of_start)).map(|(x, v)| x * v).sum();
        let difference =
            (8.0 * (front[row] - back[row]) - (far_front[row] - far_back[row])) / (12.0 * e);
        let error = (along - difference).abs() / along.abs().max(0.1);
        assert!(error < 1e-6, "{label}, row {row}: {along}, differences {difference}");
    }
}

#[test]
fn sensitivities_match_the_adjoint_and_differences_for_every_tableau_and_control() {
    let initial = [[0.6, -0.2], [0.1, 0.9], [-0.7, 0.4]];
    let inputs: [&dyn Inputs; 2] = [&Smooth, &Held { width: 0.4, announced: true }];
    for inputs in inputs {
        for solver in solvers() {
            check("driven", &solver, (&mut Driven::field(), &DRIVEN, inputs, &initial));
        }
    }
}

#[test]
fn sensitivities_match_the_adjoint_and_differences_for_every_guard() {
    for case in &CASES {
        for solver in solvers() {
            let field = &mut *case.field();
            check(case.name, &solver, (field, case.theta, &NoInputs, &case.initial));
        }
    }
}

#[test]
fn sensitivities_of_a_network_match_the_adjoint_and_differences() {
    let shape = MlpShape {
        state: 2,
        outputs: 2,
        inputs: 0,
        time: true,
        hidden: vec![5, 4],
        activations: vec![Activation::Tanh; 2],
    };
    let mut field = Mlp::new(shape, Precision::Double).unwrap();
    let theta = covector(field.parameter_len(), 0.2);
    let initial = [[0.6, -0.2], [0.1, 0.9]];
    for solver in solvers() {
        check("network", &solver, (&mut field, &theta, &NoInputs, &initial));
    }
}

#[test]
fn sensitivities_are_the_same_bit_for_bit_however_small_the_memory() {
    for case in &CASES {
        for solver in solvers() {
            let label = format!("{}, {} {:?}", case.name, solver.tableau().name, solver.control());
            let ivps = ivps(&case.initial, solver.control());
            let bits = |solver: &Solver, path: &mut Path| {
                let mut field = Forgetful::new(case.field());
                solve(&mut field, solver, &ivps, &NoInputs, path).expect(&label);
                let first = matrix(&mut field, solver, &ivps, &NoInputs, path);
                let blocks = path.checkpoint_blocks();
                // The adjoint finds its tape again, and so do the sensitivities after it.
                let (mut initial, mut theta) = (vec![0.0; ivps.initial().len()], vec![0.0; 2]);
                let w = covector(path.all_observed().len(), 0.1);
                pull_back(&mut field, solver, &ivps, &NoInputs, path, &w, &mut initial, &mut theta);
                assert_eq!(first, matrix(&mut field, solver, &ivps, &NoInputs, path), "{label}");
                (first, blocks)
            };
            let mut path = Path::new();
            bits(&solver, &mut path);
            let (ample, _) = bits(&solver, &mut path);
            for memory in [0, 3000] {
                let (tiny, blocks) = bits(&solver.with_memory(memory), &mut Path::new());
                assert!(blocks > 1, "{label} {memory}");
                assert_eq!(ample, tiny, "{label} {memory}");
            }
        }
    }
}
