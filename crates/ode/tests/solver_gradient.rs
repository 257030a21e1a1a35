//! The discrete adjoint is the exact gradient of the solve, for every tableau and step-size
//! control.

mod systems;

use lawful_ode::{
    Adaptive, Control, InitialValueProblems, Inputs, NoInputs, Path, Solver, TABLEAUS, VectorField,
    pull_back, replay, solve,
};
use systems::{DRIVEN, Driven, Held, Linear, Smooth, with_observations_between, with_parameters};

/// Every tableau with every control that it allows.
fn tableaus() -> impl Iterator<Item = Solver> {
    let adaptive = Adaptive::with_tolerances(1e-3, 1e-4);
    let controls =
        [Control::Grid { substeps: 1 }, Control::Grid { substeps: 3 }, Control::Adaptive(adaptive)];
    TABLEAUS
        .iter()
        .flat_map(move |tableau| controls.map(|control| Solver::new(tableau, control)))
        .filter_map(Result::ok)
}

/// Three ragged columns for grids; one, with observations inside steps, for adaptive control.
fn ivps(control: Control) -> InitialValueProblems {
    let mut ivps = InitialValueProblems::new(2);
    ivps.push(&[0.0, 0.03, 0.05, 0.4, 0.8, 1.3, 1.31, 2.0], &[0.6, -0.2]).expect("a valid problem");
    if matches!(control, Control::Grid { .. }) {
        ivps.push(&[0.5, 0.8, 1.2, 1.6], &[0.1, 0.9]).expect("a valid problem");
        ivps.push(&[-1.0, -0.7, -0.5, -0.4], &[-0.7, 0.4]).expect("a valid problem");
        ivps.push(&[0.2], &[0.5, 0.5]).expect("a valid problem");
    }
    ivps
}

/// Fixed numbers of size one without pattern.
fn covector(len: usize, seed: f64) -> Vec<f64> {
    (0..len).map(|i| (seed + 1.7 * (i as f64 + 1.0).powf(1.3)).sin()).collect()
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// Gradient of `w · observed` with respect to initial states and θ.
fn gradient(
    field: &mut dyn VectorField,
    solver: &Solver,
    ivps: &InitialValueProblems,
    inputs: &dyn Inputs,
    path: &mut Path,
    w: &[f64],
) -> (Vec<f64>, Vec<f64>) {
    let mut initial_bar = vec![0.0; ivps.initial().len()];
    let mut theta_bar = vec![0.0; field.parameter_len()];
    pull_back(field, solver, ivps, inputs, path, w, &mut initial_bar, &mut theta_bar);
    (initial_bar, theta_bar)
}

/// The same, and on grids also with observations between the nodes.
fn all_ivps(control: Control) -> Vec<InitialValueProblems> {
    with_observations_between(ivps(control), control)
}

fn check_against_differences(solver: &Solver, inputs: &dyn Inputs, ivps: &InitialValueProblems) {
    let label = format!("{} {:?}", solver.tableau().name, solver.control());
    let mut field = Driven::field();
    let mut path = Path::new();
    solve(&mut field, solver, ivps, inputs, &mut path).expect("the solve succeeds");
    if let Control::Adaptive(settings) = solver.control() {
        let inside = |t: f64| path.steps(0).any(|step| step.start < t && t < step.end);
        assert!(ivps.times(0).iter().any(|&t| inside(t)), "{label}: no dense output");
        assert!(settings.first_step.is_none() || path.counts().rejected > 0, "{label}");
    }
    let w = covector(path.all_observed().len(), 0.3);
    let (initial_bar, theta_bar) = gradient(&mut field, solver, ivps, inputs, &mut path, &w);

    // Fourth-order central differences of replays: same steps, moved start or parameters.
    let mut moved_path = Path::new();
    let mut value = |ivps: &InitialValueProblems, theta: &[f64]| {
        field.set_parameters(theta);
        replay(&mut field, solver, ivps, inputs, &path, &mut moved_path)
            .expect("the solve succeeds");
        dot(moved_path.all_observed(), &w)
    };
    let mut compare =
        |exact: f64, what: &str, moved: &mut dyn FnMut(f64) -> (InitialValueProblems, Vec<f64>)| {
            let mut at = |shift: f64| {
                let (ivps, theta) = moved(shift);
                value(&ivps, &theta)
            };
            let e = 1e-3;
            let difference = (8.0 * (at(e) - at(-e)) - (at(2.0 * e) - at(-2.0 * e))) / (12.0 * e);
            let relative = (difference - exact).abs() / exact.abs().max(1e-2);
            assert!(relative < 1e-6, "{label} {what}: {exact} but differences give {difference}");
        };
    for (i, &exact) in initial_bar.iter().enumerate() {
        compare(exact, "initial", &mut |shift| {
            let mut ivps = ivps.clone();
            ivps.initial_mut()[i] += shift;
            (ivps, DRIVEN.to_vec())
        });
    }
    for (i, &exact) in theta_bar.iter().enumerate() {
        compare(exact, "theta", &mut |shift| {
            let mut theta = DRIVEN.to_vec();
            theta[i] += shift;
            (ivps.clone(), theta)
        });
    }
}

#[test]
fn gradient_matches_central_differences_for_every_tableau_and_control() {
    for solver in tableaus() {
        for ivps in all_ivps(solver.control()) {
            check_against_differences(&solver, &Smooth, &ivps);
        }
    }
}

#[test]
fn gradient_matches_central_differences_when_inputs_jump() {
    for announced in [false, true] {
        for solver in tableaus() {
            for ivps in all_ivps(solver.control()) {
                check_against_differences(&solver, &Held { width: 0.4, announced }, &ivps);
            }
        }
    }
}

/// `⟨Jv, w⟩ = ⟨v, Jᵀw⟩`; for a linear field `Jv` is the solution itself, exact to rounding.
#[test]
fn adjoint_of_a_linear_field_passes_the_dot_product_test_to_rounding() {
    for solver in tableaus() {
        let mut ivps = ivps(solver.control());
        let v: Vec<f64> = covector(ivps.initial().len() + 2, 2.0);
        let (initial, theta) = v.split_at(ivps.initial().len());
        ivps.initial_mut().copy_from_slice(initial);
        let mut field = with_parameters(Linear, theta);
        let mut path = Path::new();
        solve(&mut field, &solver, &ivps, &NoInputs, &mut path).unwrap();
        let w = covector(path.all_observed().len(), 1.0);
        let forward = dot(path.all_observed(), &w);
        let (initial_bar, theta_bar) =
            gradient(&mut field, &solver, &ivps, &NoInputs, &mut path, &w);
        let back = dot(initial, &initial_bar) + dot(theta, &theta_bar);
        let label = format!("{} {:?}", solver.tableau().name, solver.control());
        assert!(
            (forward - back).abs() < 1e-13 * forward.abs().max(1.0),
            "{label}: {forward} {back}"
        );
    }
}

#[test]
fn gradient_is_added_and_does_not_depend_on_what_was_there() {
    let solver = Solver::new(&lawful_ode::tableaus::RK4, Control::Grid { substeps: 2 }).unwrap();
    let ivps = ivps(solver.control());
    let mut field = Driven::field();
    let mut path = Path::new();
    solve(&mut field, &solver, &ivps, &Smooth, &mut path).unwrap();
    let w = covector(path.all_observed().len(), 0.3);
    let (initial_bar, theta_bar) = gradient(&mut field, &solver, &ivps, &Smooth, &mut path, &w);
    let (mut initial_sum, mut theta_sum) = (vec![1.0; initial_bar.len()], vec![1.0; 4]);
    pull_back(&mut field, &solver, &ivps, &Smooth, &mut path, &w, &mut initial_sum, &mut theta_sum);
    for (sum, part) in
        initial_sum.iter().chain(&theta_sum).zip(initial_bar.iter().chain(&theta_bar))
    {
        assert!((sum - 1.0 - part).abs() < 1e-14, "{sum} {part}");
    }
}

#[test]
fn replay_of_unchanged_parameters_gives_the_same_bits() {
    for solver in tableaus() {
        for ivps in all_ivps(solver.control()) {
            let mut field = Driven::field();
            let (mut path, mut again) = (Path::new(), Path::new());
            solve(&mut field, &solver, &ivps, &Smooth, &mut path).unwrap();
            replay(&mut field, &solver, &ivps, &Smooth, &path, &mut again).unwrap();
            assert_eq!(path.all_observed(), again.all_observed(), "{}", solver.tableau().name);
            assert!(path.steps(0).eq(again.steps(0)));
        }
    }
}

#[test]
fn observations_between_nodes_change_neither_the_steps_nor_the_states_at_nodes() {
    let inputs: [&dyn Inputs; 2] = [&Smooth, &Held { width: 0.4, announced: true }];
    for (solver, inputs) in tableaus().flat_map(|solver| inputs.map(|inputs| (solver, inputs))) {
        let [plain, between] = &all_ivps(solver.control())[..] else { continue };
        let (mut field, mut coarse, mut fine) = (Driven::field(), Path::new(), Path::new());
        solve(&mut field, &solver, plain, inputs, &mut coarse).unwrap();
        solve(&mut field, &solver, between, inputs, &mut fine).unwrap();
        let label = format!("{} {:?}", solver.tableau().name, solver.control());
        for column in 0..plain.columns() {
            assert!(coarse.steps(column).eq(fine.steps(column)), "{label}");
            let states = fine.observed(column).chunks_exact(2).zip(between.times(column));
            let at_nodes = states.filter(|(_, t)| plain.times(column).contains(t));
            let at_nodes: Vec<f64> = at_nodes.flat_map(|(y, _)| y).copied().collect();
            assert_eq!(coarse.observed(column), at_nodes, "{label}");
        }
        // The end of a step is where the next one begins.
        let more = fine.counts().evaluations as f64 / coarse.counts().evaluations as f64;
        let (own, fsal) = (solver.tableau().own_stages(), solver.tableau().is_fsal());
        assert!(more < 1.0 + 0.3 / own as f64 || inputs.next_break(0, 0.0) < 9.0, "{label} {fsal}");
    }
}

#[test]
fn columns_together_give_the_bits_of_each_column_alone() {
    for tableau in TABLEAUS {
        let solver = Solver::new(tableau, Control::Grid { substeps: 2 }).unwrap();
        let together = ivps(solver.control());
        // The input of a column depends on its index, so here there is none.
        let mut field = with_parameters(Linear, &[0.3, -0.2]);
        let mut path = Path::new();
        solve(&mut field, &solver, &together, &NoInputs, &mut path).unwrap();
        let w = covector(path.all_observed().len(), 0.3);
        let (initial_bar, theta_bar) =
            gradient(&mut field, &solver, &together, &NoInputs, &mut path, &w);

        let mut theta_sum = [0.0; 2];
        for column in 0..together.columns() {
            let mut alone = InitialValueProblems::new(2);
            alone
                .push(together.times(column), &together.initial()[2 * column..][..2])
                .expect("a valid problem");
            let mut path_alone = Path::new();
            solve(&mut field, &solver, &alone, &NoInputs, &mut path_alone).unwrap();
            assert_eq!(path_alone.all_observed(), path.observed(column), "{}", tableau.name);
            assert!(path_alone.steps(0).eq(path.steps(column)));
            let w = &w[path.offset(column)..][..path.observed(column).len()];
            let (initial_alone, theta_alone) =
                gradient(&mut field, &solver, &alone, &NoInputs, &mut path_alone, w);
            assert_eq!(initial_alone, initial_bar[2 * column..][..2], "{}", tableau.name);
            theta_sum[0] += theta_alone[0];
            theta_sum[1] += theta_alone[1];
        }
        for (sum, bar) in theta_sum.iter().zip(&theta_bar) {
            assert!((sum - bar).abs() < 1e-12 * bar.abs().max(1.0), "{}", tableau.name);
        }
    }
}
