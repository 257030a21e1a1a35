//! The measured order of every tableau is its stated one, at the steps' ends and between them.

mod systems;

use lawful_ode::{
    Adaptive, Control, InitialValueProblems, Inputs, NoInputs, Path, Solver, TABLEAUS, Tableau,
    solve,
};
use systems::{Integral, LimitCycle, with_parameters};

/// Largest error at the last observation of three columns with different starts, ends and steps.
fn error_on_grid(tableau: &'static Tableau, substeps: usize) -> f64 {
    let grids = [vec![0.0, 0.9, 1.7, 2.0], vec![0.3, 1.0, 1.5], vec![-0.2, 0.6]];
    let mut ivps = InitialValueProblems::new(2);
    for times in &grids {
        ivps.push(times, &LimitCycle::solution(times[0])).expect("a valid problem");
    }
    let solver = Solver::new(tableau, Control::Grid { substeps }).expect("a valid solver");
    let mut path = Path::new();
    solve(&mut LimitCycle::field(), &solver, &ivps, &NoInputs, &mut path)
        .expect("the solve succeeds");
    let mut largest = 0.0_f64;
    for (column, times) in grids.iter().enumerate() {
        let observed = path.observed(column).chunks_exact(2);
        for (observed, &t) in observed.zip(times) {
            largest = largest.max(distance(observed, LimitCycle::solution(t)));
        }
    }
    largest
}

fn distance(y: &[f64], exact: [f64; 2]) -> f64 {
    (y[0] - exact[0]).hypot(y[1] - exact[1])
}

#[test]
fn measured_order_is_the_stated_order_for_every_tableau() {
    for tableau in TABLEAUS {
        // Steps this small because the leading error of tsit5 is: coarser, it looks like order 6.
        let measured = (error_on_grid(tableau, 64) / error_on_grid(tableau, 128)).log2();
        assert!(
            (measured - tableau.order as f64).abs() < 0.2,
            "{}: stated {}, measured {measured:.2}",
            tableau.name,
            tableau.order
        );
    }
}

/// Largest error at many points between steps of a fixed size.
///
/// The step size is held by an adaptive control that may neither grow nor shrink it.
fn error_between_steps(tableau: &'static Tableau, h: f64) -> f64 {
    let control = Adaptive {
        first_step: Some(h),
        rtol: 1e30,
        max_factor: 1.0 + f64::EPSILON,
        ..Adaptive::default()
    };
    let solver = Solver::new(tableau, Control::Adaptive(control)).expect("a valid solver");
    let times: Vec<f64> = (0..=997).map(|i| f64::from(i) * 2.0 / 997.0).collect();
    let mut ivps = InitialValueProblems::new(2);
    ivps.push(&times, &LimitCycle::solution(0.0)).expect("a valid problem");
    let mut path = Path::new();
    solve(&mut LimitCycle::field(), &solver, &ivps, &NoInputs, &mut path)
        .expect("the solve succeeds");
    let observed = path.observed(0).chunks_exact(2);
    observed.zip(&times).map(|(y, &t)| distance(y, LimitCycle::solution(t))).fold(0.0, f64::max)
}

/// The same on a grid, in three columns of different length.
fn error_between_nodes(tableau: &'static Tableau, intervals: usize) -> f64 {
    let mut ivps = InitialValueProblems::new(2);
    for less in [0, 1, 2] {
        let at = |i: usize, of: usize| 2.0 * i as f64 / (of * intervals) as f64;
        let nodes: Vec<f64> = (0..=intervals - less).map(|i| at(i, 1)).collect();
        let times: Vec<f64> = (0..=5 * (intervals - less)).map(|i| at(i, 5)).collect();
        let initial = LimitCycle::solution(0.0);
        ivps.push_between(&nodes, &times, &initial).expect("a valid problem");
    }
    let solver = Solver::new(tableau, Control::Grid { substeps: 1 }).expect("a valid solver");
    let mut path = Path::new();
    solve(&mut LimitCycle::field(), &solver, &ivps, &NoInputs, &mut path)
        .expect("the solve succeeds");
    let errors = (0..3).flat_map(|column| {
        let states = path.observed(column).chunks_exact(2).zip(ivps.times(column));
        states.map(|(y, &t)| distance(y, LimitCycle::solution(t)))
    });
    errors.fold(0.0, f64::max)
}

#[test]
fn measured_order_between_the_nodes_of_a_grid_is_the_dense_order_plus_one_up_to_the_tableaus() {
    for tableau in TABLEAUS {
        let stated = tableau.order.min(tableau.dense.order + 1);
        let measured =
            (error_between_nodes(tableau, 128) / error_between_nodes(tableau, 256)).log2();
        assert!(
            (measured - stated as f64).abs() < 0.2,
            "{}: stated {stated}, measured {measured:.2}",
            tableau.name
        );
    }
}

#[test]
fn measured_order_between_the_steps_is_the_dense_order_plus_one_up_to_the_tableaus() {
    for tableau in TABLEAUS.iter().filter(|tableau| tableau.embedded.is_some()) {
        let stated = tableau.order.min(tableau.dense.order + 1);
        let h = 1.0 / 64.0;
        let errors = [h, h / 2.0].map(|h| error_between_steps(tableau, h));
        let measured = (errors[0] / errors[1]).log2();
        assert!(
            (measured - stated as f64).abs() < 0.2,
            "{}: stated {stated}, measured {measured:.2}",
            tableau.name
        );
    }
}

/// Panics when a column is evaluated after its end.
struct Watched<'a>(&'a InitialValueProblems);

impl Inputs for Watched<'_> {
    fn at(&self, column: usize, t: f64, step_start: f64, u: &mut [f64]) {
        let end = self.0.times(column)[1];
        assert!(step_start <= t && t <= end, "{t} is outside [{step_start}, {end}]");
        u[0] = 1.0;
    }
}

#[test]
fn no_stage_looks_beyond_the_end_of_its_interval_and_the_last_step_ends_there() {
    let mut ivps = InitialValueProblems::new(1);
    for i in 1..=50 {
        ivps.push(&[-0.1 * f64::from(i), 0.01 * f64::from(i)], &[0.0]).expect("a valid problem");
    }
    let rounds_up = |t: &[f64]| t[0] + (t[1] - t[0]) > t[1];
    assert!((0..50).any(|column| rounds_up(ivps.times(column))), "rounding matters here");
    for tableau in TABLEAUS {
        for substeps in [1, 3] {
            let solver = Solver::new(tableau, Control::Grid { substeps }).unwrap();
            let mut field = with_parameters(Integral, &[1.0]);
            let mut path = Path::new();
            solve(&mut field, &solver, &ivps, &Watched(&ivps), &mut path).unwrap();
            for column in 0..50 {
                let last = path.steps(column).last().unwrap();
                assert_eq!(last.end.to_bits(), ivps.times(column)[1].to_bits());
                assert_eq!(path.steps(column).count(), substeps);
            }
        }
    }
}
