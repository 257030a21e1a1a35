//! Adaptive steps keep their promise: tolerance, budget of evaluations, independence of the output.

mod systems;

use lawful_ode::tableaus::{BOSH3, DOPRI5, HEUN};
use lawful_ode::{
    Adaptive, Control, InitialValueProblems, Inputs, NoInputs, Path, Solver, TABLEAUS, Tableau,
    VectorField, pull_back, solve,
};
use systems::{Driven, Held, Integral, LIMIT_CYCLE, LimitCycle, with_parameters};

fn adaptive(tableau: &'static Tableau, rtol: f64) -> Solver {
    let settings = Adaptive::with_tolerances(rtol, rtol);
    Solver::new(tableau, Control::Adaptive(settings)).expect("a valid solver")
}

fn solved(solver: &Solver, times: &[f64]) -> Path {
    let mut ivps = InitialValueProblems::new(2);
    ivps.push(times, &LimitCycle::solution(times[0])).expect("a valid problem");
    let mut path = Path::new();
    solve(&mut LimitCycle::field(), solver, &ivps, &NoInputs, &mut path)
        .expect("the solve succeeds");
    path
}

fn times(count: u32, end: f64) -> Vec<f64> {
    (0..=count).map(|i| end * f64::from(i) / f64::from(count)).collect()
}

#[test]
fn global_error_follows_the_tolerance_for_every_adaptive_tableau() {
    let times = times(37, 10.0);
    for tableau in TABLEAUS.iter().filter(|tableau| tableau.embedded.is_some()) {
        let mut before = f64::INFINITY;
        for rtol in [1e-3, 1e-4, 1e-5, 1e-6] {
            let path = solved(&adaptive(tableau, rtol), &times);
            let exact = times.iter().map(|&t| LimitCycle::solution(t));
            let errors = path.observed(0).chunks_exact(2).zip(exact);
            let error = errors
                .map(|(y, exact)| (y[0] - exact[0]).hypot(y[1] - exact[1]))
                .fold(0.0, f64::max);
            assert!(error < 50.0 * rtol, "{} {rtol}: {error}", tableau.name);
            assert!(error < 0.5 * before, "{} {rtol}: {error} after {before}", tableau.name);
            before = error;
        }
    }
}

#[test]
fn observations_denser_or_coarser_than_the_steps_give_the_same_bits_at_shared_times() {
    for tableau in TABLEAUS.iter().filter(|tableau| tableau.embedded.is_some()) {
        let solver = adaptive(tableau, 1e-5);
        let (coarse, dense) = (times(4, 8.0), times(4000, 8.0));
        let (few, many) = (solved(&solver, &coarse), solved(&solver, &dense));
        assert!(few.counts().accepted > 4 && many.counts().accepted < 4000, "{}", tableau.name);
        assert!(few.steps(0).eq(many.steps(0)), "{}", tableau.name);
        for (i, y) in few.observed(0).chunks_exact(2).enumerate() {
            assert_eq!(y, &many.observed(0)[i * 2000..][..2], "{} {i}", tableau.name);
        }
    }
}

#[test]
fn steps_join_without_gaps_and_end_at_the_last_observation() {
    let path = solved(&adaptive(&DOPRI5, 1e-6), &[0.5, 1.0, 7.3]);
    let steps: Vec<_> = path.steps(0).collect();
    assert!(steps.windows(2).all(|pair| pair[0].end.to_bits() == pair[1].start.to_bits()));
    assert_eq!((steps[0].start, steps[steps.len() - 1].end), (0.5, 7.3));
}

#[test]
fn the_last_stage_of_a_fsal_step_is_not_evaluated_again() {
    for (tableau, per_step) in [(&DOPRI5, 6), (&BOSH3, 3)] {
        for first_step in [None, Some(5.0)] {
            let settings = Adaptive { first_step, ..Adaptive::default() };
            let solver = Solver::new(tableau, Control::Adaptive(settings)).unwrap();
            let counts = solved(&solver, &times(300, 8.0)).counts();
            // One evaluation for the first stage of all, one to choose the first step.
            let before = 1 + usize::from(first_step.is_none());
            let expected = before + per_step * (counts.accepted + counts.rejected);
            assert_eq!(counts.evaluations, expected, "{}", tableau.name);
            assert!(first_step.is_none() || counts.rejected > 0);
        }
    }
}

#[test]
fn the_end_stage_for_dense_output_is_the_next_first_stage() {
    let counts = |times: &[f64]| solved(&adaptive(&HEUN, 1e-3), times).counts();
    let (without, with) = (counts(&[0.0, 8.0]), counts(&times(3000, 8.0)));
    // Only the last step needs an evaluation that no other step uses.
    assert_eq!(with.evaluations, without.evaluations + 1);
    assert_eq!(with.accepted, without.accepted);
}

/// Step sizes move with θ, so the whole solve is not differentiable to rounding; but its
/// differences agree with the gradient up to the size of the tolerance.
#[test]
fn differences_of_whole_adaptive_solves_agree_with_the_gradient_to_their_tolerance() {
    let times = times(10, 5.0);
    let mut ivps = InitialValueProblems::new(2);
    ivps.push(&times, &LimitCycle::solution(0.0)).expect("a valid problem");
    let solver = adaptive(&DOPRI5, 1e-9);
    let mut field = LimitCycle::field();
    let mut path = Path::new();
    solve(&mut field, &solver, &ivps, &NoInputs, &mut path).unwrap();
    let w = vec![1.0; path.all_observed().len()];
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
    let mut value = |shift: [f64; 2]| {
        field.set_parameters(&[LIMIT_CYCLE[0] + shift[0], LIMIT_CYCLE[1] + shift[1]]);
        solve(&mut field, &solver, &ivps, &NoInputs, &mut path).unwrap();
        path.all_observed().iter().sum::<f64>()
    };
    let e = 1e-4;
    for (i, exact) in theta_bar.into_iter().enumerate() {
        let (mut plus, mut minus) = ([0.0; 2], [0.0; 2]);
        (plus[i], minus[i]) = (e, -e);
        let difference = (value(plus) - value(minus)) / (2.0 * e);
        assert!((difference - exact).abs() < 1e-5 * exact.abs(), "{i}: {difference} {exact}");
    }
}

#[test]
fn announced_jumps_of_the_inputs_are_step_ends_and_cost_no_rejection() {
    // y' = u with u = 0, 1, 2, … on intervals of 1/2: y(3.25) = (0 + … + 5)/2 + 6/4.
    let mut ivps = InitialValueProblems::new(1);
    ivps.push(&[0.0, 1.75, 3.25], &[0.0]).expect("a valid problem");
    let solver = adaptive(&DOPRI5, 1e-8);
    let solve_with = |inputs: &dyn Inputs| {
        let mut path = Path::new();
        let mut field = with_parameters(Integral, &[1.0]);
        solve(&mut field, &solver, &ivps, inputs, &mut path).unwrap();
        let error = (path.observed(0)[2] - 9.0).abs().max((path.observed(0)[1] - 2.25).abs());
        (error, path.counts())
    };
    let (error, counts) = solve_with(&Held { width: 0.5, announced: true });
    assert!(error < 1e-14, "{error}");
    assert_eq!(counts.rejected, 0);
    let (error, unannounced) = solve_with(&Held { width: 0.5, announced: false });
    assert!(error > 1e-8, "{error}");
    assert!(unannounced.rejected > 0 && unannounced.evaluations > counts.evaluations);
}

#[test]
fn a_given_first_step_is_the_first_step() {
    let settings = Adaptive { first_step: Some(1e-3), ..Adaptive::default() };
    let solver = Solver::new(&DOPRI5, Control::Adaptive(settings)).unwrap();
    let first = solved(&solver, &[0.0, 5.0]).steps(0).next().unwrap();
    assert_eq!((first.start, first.end), (0.0, 1e-3));
}

#[test]
fn a_problem_with_a_start_only_is_its_initial_state() {
    let path = solved(&adaptive(&DOPRI5, 1e-6), &[2.0]);
    assert_eq!(path.observed(0), LimitCycle::solution(2.0));
    assert_eq!(path.counts().evaluations, 0);
}

/// No input, and two breaks close to each other.
struct CloseBreaks;

impl Inputs for CloseBreaks {
    fn at(&self, _column: usize, _t: f64, _step_start: f64, u: &mut [f64]) {
        u[0] = 0.0;
    }

    fn next_break(&self, _column: usize, t: f64) -> f64 {
        [1.0, 1.0 + 1e-9].into_iter().find(|&at| at > t).unwrap_or(f64::INFINITY)
    }
}

#[test]
fn a_step_cut_short_by_a_break_does_not_shorten_the_next() {
    let mut ivps = InitialValueProblems::new(2);
    ivps.push(&[0.0, 5.0], &[0.6, -0.2]).expect("a valid problem");
    let mut path = Path::new();
    let solver = adaptive(&DOPRI5, 1e-6);
    solve(&mut Driven::field(), &solver, &ivps, &CloseBreaks, &mut path).unwrap();
    let steps: Vec<_> = path.steps(0).collect();
    let short = steps.iter().position(|step| step.size() < 2e-9).unwrap();
    assert_eq!((steps[short].start, steps[short].end), (1.0, 1.0 + 1e-9));
    assert!(steps[short + 1].size() > 1e-2, "{:?}", steps[short + 1]);
}
