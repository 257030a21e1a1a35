//! Laws between rows and beyond them: where they count, with which identity, and the exact gradient.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::collections::HashMap;

use common::{
    LAWS, all_methods, all_strategies, bits, dataset, laws, objective, ragged, relative_error,
    theta,
};
use lawful::law::Words;
use lawful::ode::tableaus::{DOPRI5, RK4_38};
use lawful::strategy::{L2, Vanilla};
use lawful::{
    Adaptive, Batch, Control, CountsAt, Dataset, Equations, FreeStarts, Law, LawPoints, Misfit,
    Mlp, MlpShape, Objective, Precision, Problem, Recorded, Sampler, Segment, Solver, Trajectory,
};

/// Data that go on after their measured rows, with three points in each interval and others beyond.
fn continued(trajectories: Vec<Trajectory>) -> (Dataset, LawPoints) {
    let (mut times, mut beyond) = (Vec::new(), Vec::new());
    let mut continued = Vec::new();
    for (n, mut trajectory) in trajectories.into_iter().enumerate() {
        let last = *trajectory.times.last().unwrap();
        beyond.push(n);
        times.push(vec![last + 0.05, last + 0.23, last + 9.0]);
        let later: Vec<f64> = (1..=n).map(|row| last + 0.2 * row as f64).collect();
        trajectory.times = [&*trajectory.times, &later].concat().into();
        trajectory.states = [&*trajectory.states, &[f64::NAN; 2].repeat(n)].concat().into();
        trajectory.inputs = [&*trajectory.inputs, &[0.4].repeat(n)].concat().into();
        continued.push(trajectory);
    }
    let data = dataset(continued);
    let points = LawPoints::new(&data, 3, &times, beyond);
    (data, points)
}

/// Laws of every kind, and those that see the rates of the field.
const RATES: [(&str, &str); 3] = [
    ("rate", "rate(x*v) <= -9 - t"),
    ("rate of neighbours", "next(x) - x == 5 + rate(v)"),
    ("rate at the start", "initial(rate(x)) + rate(v)^2 == -3 + x"),
];

fn all_laws() -> Vec<Law> {
    laws(&[&LAWS[..], &RATES].concat())
}

fn problem() -> Problem {
    let (data, points) = continued(ragged());
    Problem { points, ..Problem::new(data, all_laws()) }
}

fn differences(objective: &mut Objective, theta: &[f64]) -> Vec<f64> {
    let (h, len, mut theta) = (1e-5, theta.len(), theta.to_vec());
    let mut at = |i: usize, step: f64| {
        let centre = theta[i];
        theta[i] += step;
        let value = objective.replay(&theta).unwrap().value;
        theta[i] = centre;
        value
    };
    // Of fourth order: some penalties bend sharply.
    let difference =
        |i: usize| (8.0 * (at(i, h) - at(i, -h)) - (at(i, 2.0 * h) - at(i, -2.0 * h))) / (12.0 * h);
    (0..len).map(difference).collect()
}

fn check(objective: &mut Objective, theta: &[f64], case: &str) {
    let gradient = objective.evaluate(theta, 0).unwrap().gradient.clone();
    let error = relative_error(&gradient, &differences(objective, theta));
    assert!(error <= 1e-6, "{case}: relative error {error:e}");
}

#[test]
fn gradient_matches_central_differences_for_every_method_and_strategy() {
    let count = all_laws().len();
    for solver in all_methods() {
        for strategy in all_strategies(count) {
            let case = format!("{} {:?}", solver.tableau().name, solver.control());
            let case = format!("{case} {}", strategy.name());
            check(&mut objective(problem(), solver, strategy), &theta(), &case);
        }
    }
}

#[test]
fn gradient_matches_central_differences_on_segments_windows_and_batches() {
    let data = problem().dataset;
    let adaptive = Solver::new(&DOPRI5, common::adaptive(1e-3)).unwrap();
    for solver in [Solver::default(), adaptive] {
        for strategy in all_strategies(all_laws().len()) {
            let name = strategy.name();
            let mut objective = objective(problem(), solver, strategy);
            for batch in [Batch::Windows { count: 3, rows: 3 }, Batch::Trajectories { count: 2 }] {
                let mut segments = Vec::new();
                Sampler::new(batch, &data, 3).unwrap().draw(4, &mut segments);
                objective.select(&segments);
                check(&mut objective, &theta(), &format!("{name} {batch:?}"));
            }
            objective.select(&Segment::cut(&data, 2, true));
            check(&mut objective, &theta(), &format!("{name}, fixed starts"));
        }
        let segments = Segment::cut(&data, 2, false);
        for initial in [false, true] {
            for strategy in all_strategies(all_laws().len()) {
                let free_starts = FreeStarts { initial, segments: true };
                let name = strategy.name();
                let objective = objective(problem(), solver, strategy);
                let mut objective = objective.with_free_starts(free_starts, &segments);
                let mut theta = theta();
                let start = theta.len();
                theta.resize(objective.parameter_len(), 0.0);
                for (n, z) in theta[start..].iter_mut().enumerate() {
                    *z = (0.3 * n as f64).sin();
                }
                check(&mut objective, &theta, &format!("{name}, free starts"));
            }
        }
    }
}

/// A law of each place at which laws count, by the time of the path x = t.
const PLACES: [(&str, CountsAt); 12] = [
    ("x <= 0", CountsAt::Points),
    ("x <= initial(x)", CountsAt::Points),
    ("rate(x) == 1", CountsAt::Points),
    ("next(x) <= x", CountsAt::Points),
    ("next(x) >= x", CountsAt::Points),
    ("x == previous(x)", CountsAt::Points),
    ("next(x) - x == 1", CountsAt::Rows),
    ("next(x) <= 2*x", CountsAt::Rows),
    ("next(next(x)) <= x", CountsAt::Rows),
    ("x <= initial(next(x))", CountsAt::Rows),
    ("x <= final(x)", CountsAt::MeasuredRows),
    ("next(x) <= final(x)", CountsAt::MeasuredRows),
];

/// One trajectory x = t with measured rows 0, 1, 2, 4, rows beyond at 5 and 6, points at the thirds of each
/// interval, and one at 4.5.
fn line(law: &str) -> Objective {
    let times = vec![0.0, 1.0, 2.0, 4.0, 5.0, 6.0];
    let states = vec![0.0, 1.0, 2.0, 4.0, f64::NAN, f64::NAN];
    let data = Dataset::single(&["x"], times, states).unwrap();
    let points = LawPoints::new(&data, 2, &[vec![4.5, 2.0, 77.0]], vec![2]);
    let words = Words::new().state(["x"]).check().unwrap();
    let laws = Law::parse("law", law, &words).unwrap();
    let affine = MlpShape::new(1, &[], lawful::Activation::Tanh);
    let field = Box::new(Mlp::new(affine, Precision::Double).unwrap());
    let problem = Problem { points, ..Problem::new(data, laws) };
    Objective::new(problem, field, Solver::default(), Box::new(Vanilla)).unwrap()
}

fn near(found: &[f64], expected: &[f64]) -> bool {
    found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12)
}

#[test]
fn a_law_counts_where_refining_does_not_change_its_meaning() {
    let third = |n: i32| f64::from(n) / 3.0;
    let fine: Vec<f64> = (0..=6)
        .map(third)
        .chain([8, 10, 12, 13].map(third))
        .chain([4.5])
        .chain([14, 15, 16, 17, 18].map(third))
        .collect();
    let rows = [0.0, 1.0, 2.0, 4.0, 5.0, 6.0];
    for (text, at) in PLACES {
        let mut objective = line(text);
        let law = objective.problem().laws[0].clone();
        assert_eq!(CountsAt::of(&law), at, "{text}");
        let all = match at {
            CountsAt::Points => &fine[..],
            CountsAt::Rows => &rows,
            CountsAt::MeasuredRows => &rows[..4],
        };
        // θ = (W, b) = (0, 1): the solution runs through the data.
        let misfit = objective.observe(&[0.0, 1.0]).unwrap();
        let expected = &all[law.reach().range(all.len())];
        assert!(near(&misfit.residual_times(&law), expected), "{text}");
        assert_eq!(misfit.residual_counts(&law), [expected.len()], "{text}");
        assert_eq!(misfit.view().laws[0].points, all.len(), "{text}");
        assert_eq!(misfit.view().terms.len(), 4, "{text}: only measured cells count");
        let here = |n: usize| all[n];
        let value = |n: usize| match text {
            "x <= 0" | "x <= initial(x)" => here(n),
            "rate(x) == 1" => 0.0,
            "next(x) <= x" => here(n + 1) - here(n),
            "next(x) >= x" => here(n) - here(n + 1),
            "x == previous(x)" => here(n) - here(n - 1),
            "next(x) - x == 1" => here(n + 1) - here(n) - 1.0,
            "next(x) <= 2*x" => here(n + 1) - 2.0 * here(n),
            "next(next(x)) <= x" => here(n + 2) - here(n),
            "x <= initial(next(x))" => here(n) - 1.0,
            // The last measured row, wherever the path ends.
            "x <= final(x)" => here(n) - 4.0,
            _ => here(n + 1) - 4.0,
        };
        let expected: Vec<f64> = law.reach().range(all.len()).map(value).collect();
        assert!(near(misfit.residuals(0), &expected), "{text}: {:?}", misfit.residuals(0));
    }
}

/// The number of each residual's point, by its time.
fn points(misfit: &Misfit, law: &Law, k: usize) -> Vec<(u64, usize)> {
    let times = bits(&misfit.residual_times(law));
    times.into_iter().zip(misfit.view().points_of(k).iter().copied()).collect()
}

#[test]
fn a_point_is_the_same_in_trajectories_segments_and_windows() {
    let laws = all_laws();
    let (data, points_of_data) = continued(ragged());
    let mut numbers: Vec<HashMap<u64, usize>> = vec![HashMap::new(); laws.len()];
    let mut seen = vec![0; laws.len()];
    let mut check = |objective: &Objective, what: &str| {
        let misfit = objective.misfit();
        for (k, law) in laws.iter().enumerate() {
            for (time, point) in points(misfit, law, k) {
                assert!(point < misfit.view().laws[k].points, "{what}");
                let known = *numbers[k].entry(time).or_insert(point);
                assert_eq!(known, point, "{what}, {}", law.name());
                seen[k] += 1;
            }
        }
    };
    let new = || objective(problem(), Solver::default(), Box::new(L2::default()));
    let mut objective = new();
    objective.observe(&theta()).unwrap();
    check(&objective, "whole trajectories");
    for steps in 1..7 {
        objective.select(&Segment::cut(&data, steps, true));
        objective.observe(&theta()).unwrap();
        check(&objective, &format!("segments of {steps} steps"));
        let measured = Segment::cut(&dataset(ragged()), steps, false);
        let segments = points_of_data.stretched(&data, measured);
        let free_starts = FreeStarts { initial: true, segments: true };
        let mut free = new().with_free_starts(free_starts, &segments);
        let mut theta = theta();
        theta.resize(free.parameter_len(), 0.0);
        free.observe(&theta).unwrap();
        check(&free, &format!("segments of {steps} steps with free starts"));
    }
    let sampler = Sampler::new(Batch::Windows { count: 4, rows: 3 }, &data, 5).unwrap();
    let mut segments = Vec::new();
    for iteration in 0..20 {
        sampler.draw(iteration, &mut segments);
        objective.select(&segments);
        objective.observe(&theta()).unwrap();
        check(&objective, "windows");
    }
    assert!(seen.iter().all(|&count| count > 50), "{seen:?}");
    // Different times are different points.
    for numbers in numbers {
        let mut all: Vec<usize> = numbers.values().copied().collect();
        all.sort_unstable();
        let count = all.len();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}

#[test]
fn points_change_neither_the_steps_nor_the_fit() {
    for solver in all_methods() {
        let plain = Problem::new(dataset(ragged()), all_laws());
        let (data, mut points) = continued(ragged());
        let mut objective = objective(plain.clone(), solver, Box::new(Vanilla));
        let value = objective.evaluate(&theta(), 0).unwrap().clone();
        // With rows beyond, an adaptive solve may end its last steps elsewhere.
        let grid = matches!(solver.control(), Control::Grid { .. });
        let data = if grid { data } else { plain.dataset.clone() };
        if !grid {
            points = LawPoints::new(&data, 3, &[vec![], vec![], vec![]], vec![0; 3]);
        }
        let more = Problem { points, ..Problem::new(data, all_laws()) };
        let mut objective = common::objective(more, solver, Box::new(Vanilla));
        let with_points = objective.evaluate(&theta(), 0).unwrap();
        let label = format!("{} {:?}", solver.tableau().name, solver.control());
        assert_eq!(value.loss.to_bits(), with_points.loss.to_bits(), "{label}");
        let error = relative_error(&value.gradient, &with_points.gradient);
        assert!(error < 1e-13, "{label}: {error:e}");
    }
}

/// `x' = v, v' = −x − c v`, with c learned.
#[derive(Clone)]
struct Oscillator;

impl Equations for Oscillator {
    fn state_len(&self) -> usize {
        2
    }

    fn parameter_len(&self) -> usize {
        1
    }

    fn eval(&mut self, theta: &[f64], _: f64, y: &[f64], _: &[f64], dy: &mut [f64]) {
        (dy[0], dy[1]) = (y[1], -y[0] - theta[0] * y[1]);
    }

    fn pull_back(
        &mut self,
        theta: &[f64],
        _: f64,
        y: &[f64],
        _: &[f64],
        w: &[f64],
        y_bar: &mut [f64],
        theta_bar: &mut [f64],
    ) {
        y_bar[0] -= w[1];
        y_bar[1] += w[0] - theta[0] * w[1];
        theta_bar[0] -= w[1] * y[1];
    }
}

#[test]
fn the_true_law_of_the_oscillator_holds_along_its_field_however_coarse_the_rows() {
    let times: Vec<f64> = (0..5).map(f64::from).collect();
    let data = Dataset::single(&["x", "v"], times, [1.0, 0.0].repeat(5)).unwrap();
    let words = Words::new().state(["x", "v"]).constant("c", 0.3).define("E", "(x^2 + v^2)/2");
    let laws = Law::parse("power", "rate(E) == -c*v^2", &words.check().unwrap()).unwrap();
    let points = LawPoints::new(&data, 3, &[vec![]], vec![0]);
    for points in [LawPoints::default(), points] {
        let problem = Problem { points, ..Problem::new(data.clone(), laws.clone()) };
        let field = Box::new(Recorded::new(Oscillator));
        let l2 = Box::new(L2::default());
        let mut objective = Objective::new(problem, field, Solver::default(), l2).unwrap();
        let misfit = objective.observe(&[0.3]).unwrap();
        assert!(misfit.residuals(0).iter().all(|c| c.abs() < 1e-14), "{:?}", misfit.residuals(0));
        // With another friction, dE/dt + 0.3 v² = −0.2 v².
        objective.observe(&[0.5]).unwrap();
        let v: Vec<f64> = objective.predicted(0).chunks_exact(2).map(|y| y[1]).collect();
        let expected: Vec<f64> = v.iter().map(|v| -0.2 * v * v).collect();
        assert!(near(objective.misfit().residuals(0), &expected));
    }
}

#[test]
fn adaptive_and_grid_solves_see_the_same_law_between_rows() {
    let control = Control::Adaptive(Adaptive::with_tolerances(1e-10, 1e-12));
    let fine = Solver::new(&RK4_38, Control::Grid { substeps: 40 }).unwrap();
    let values = [Solver::new(&DOPRI5, control).unwrap(), fine].map(|solver| {
        let mut objective = objective(problem(), solver, Box::new(Vanilla));
        let misfit = objective.observe(&theta()).unwrap();
        (0..all_laws().len()).flat_map(|k| misfit.residuals(k).to_vec()).collect::<Vec<_>>()
    });
    let error = relative_error(&values[0], &values[1]);
    assert!(error < 1e-5, "{error:e}");
}
