//! Stretches that start in the middle of a trajectory, and trajectories scored from a later row:
//! what counts there, and the gradient of what counts.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{LAWS, all_strategies, dataset, laws, objective, ragged, relative_error, theta};
use lawful::ode::tableaus::RK4;
use lawful::{Control, Dataset, Misfit, Objective, Problem, Segment, Solver, Trajectory};

fn rk4() -> Solver {
    Solver::new(&RK4, Control::Grid { substeps: 1 }).unwrap()
}

/// Windows from the start, from the middle, to the end, and one of two rows.
fn windows() -> [Segment; 4] {
    [(0, 0, 4), (0, 1, 3), (2, 3, 4), (2, 4, 2)].map(|(trajectory, first, rows)| Segment {
        trajectory,
        first,
        rows,
    })
}

fn later(mut trajectories: Vec<Trajectory>) -> Vec<Trajectory> {
    trajectories[0].scored_from = 2;
    trajectories[2].scored_from = 4;
    trajectories
}

#[test]
fn gradient_on_windows_and_later_rows_matches_central_differences() {
    for (trajectories, segments) in
        [(ragged(), windows().to_vec()), (later(ragged()), windows().to_vec()), {
            let later = later(ragged());
            let whole = Segment::whole(&dataset(later.clone()));
            (later, whole)
        }]
    {
        for solver in [rk4(), common::dopri5(1e-3)] {
            for strategy in all_strategies(LAWS.len()) {
                let problem = Problem::new(dataset(trajectories.clone()), laws(&LAWS));
                let name = strategy.name();
                let mut objective = objective(problem, solver, strategy);
                objective.select(&segments);
                let gradient = objective.evaluate(&theta(), 0).unwrap().gradient.clone();
                let differences = differences(&mut objective);
                let error = relative_error(&gradient, &differences);
                assert!(error <= 1e-6, "{name} {segments:?}: relative error {error:e}");
            }
        }
    }
}

fn differences(objective: &mut Objective) -> Vec<f64> {
    let h = 1e-5;
    let mut at = |i: usize, step: f64| {
        let mut theta = theta();
        theta[i] += step;
        objective.replay(&theta).unwrap().value
    };
    (0..theta().len()).map(|i| (at(i, h) - at(i, -h)) / (2.0 * h)).collect()
}

/// Laws that tell apart all that a residual may need.
const REACHES: [(&str, &str); 9] = [
    ("here", "x <= 0"),
    ("next", "next(x) <= x"),
    ("previous", "x <= previous(x)"),
    ("two ahead", "next(next(x)) <= x"),
    ("initial", "x <= initial(x)"),
    ("second", "x <= initial(next(x))"),
    ("final", "x <= final(x)"),
    ("last but one", "x <= final(previous(x))"),
    ("both sides", "previous(x) <= next(x)"),
];

/// Residuals of each law, and the number of measured cells, where the solution is x = (0, 1, 2, …).
fn counts(scored_from: usize, first: usize, rows: usize) -> (Vec<usize>, usize) {
    let times: Vec<f64> = (0..6).map(f64::from).collect();
    let trajectory = Trajectory { scored_from, ..Trajectory::new("1", times.clone(), times) };
    let data = Dataset::new(vec!["x".into()], Vec::new(), vec![trajectory]).unwrap();
    let words = lawful::law::Words::new().state(["x"]).check().unwrap();
    let laws =
        REACHES.iter().flat_map(|(name, text)| lawful::Law::parse(name, text, &words).unwrap());
    let laws: Vec<_> = laws.collect();
    let affine = lawful::MlpShape::new(1, &[], lawful::Activation::Tanh);
    let field = Box::new(
        lawful::Mlp::new(affine, lawful::Precision::Double).expect("the shape of a network"),
    );
    let vanilla = Box::new(lawful::strategy::Vanilla);
    let mut objective =
        Objective::new(Problem::new(data, laws.clone()), field, rk4(), vanilla).unwrap();
    objective.select(&[Segment { trajectory: 0, first, rows }]);
    // θ = (W, b) = (0, 1): the solution runs through the data.
    let misfit = objective.observe(&[0.0, 1.0]).unwrap();
    values_are_right(misfit, &laws);
    let count = |law| misfit.residual_counts(law)[0];
    (laws.iter().map(count).collect(), misfit.view().terms.len())
}

/// Each residual as a function of x = t.
fn values_are_right(misfit: &Misfit, laws: &[lawful::Law]) {
    for (k, law) in laws.iter().enumerate() {
        for (c, t) in misfit.residuals(k).iter().zip(misfit.residual_times(law)) {
            let expected = match law.name() {
                "here" | "initial" => t,
                "next" | "previous" => 1.0,
                "two ahead" => 2.0,
                "second" => t - 1.0,
                "final" => t - 5.0,
                "last but one" => t - 4.0,
                _ => -2.0,
            };
            assert!((c - expected).abs() < 1e-12, "{} at {t}: {c}, not {expected}", law.name());
        }
    }
}

#[test]
fn a_law_has_a_residual_only_where_the_path_tells_what_it_needs() {
    // here, next, previous, two ahead, initial, second, final, last but one, both sides; cells
    let cases = [
        // The whole trajectory.
        ((0, 0, 6), [6, 5, 5, 4, 6, 6, 6, 6, 4], 6),
        // A window from its start: it never comes to the end.
        ((0, 0, 4), [4, 3, 3, 2, 4, 4, 0, 0, 2], 4),
        // A window in the middle: its first row is measured, and known from the path only together
        // with what comes later; the initial state is known, the row after it is not.
        ((0, 2, 3), [2, 2, 2, 1, 2, 0, 0, 0, 1], 2),
        // A window to the end.
        ((0, 3, 3), [2, 2, 2, 1, 2, 0, 3, 3, 1], 2),
        // Two rows: one step of the solution, and still a residual of every law with two steps.
        ((0, 2, 2), [1, 1, 1, 0, 1, 0, 0, 0, 0], 1),
        // Scored from row 2: predicted rows before it are neither scored nor neighbours.
        ((2, 0, 6), [4, 3, 3, 2, 4, 4, 4, 4, 2], 4),
        ((2, 1, 5), [4, 3, 3, 2, 4, 0, 4, 4, 2], 4),
        // Scored from the last row, and from beyond the window.
        ((5, 0, 6), [1, 0, 0, 0, 1, 1, 1, 0, 0], 1),
        ((4, 0, 3), [0, 0, 0, 0, 0, 0, 0, 0, 0], 0),
    ];
    for ((scored_from, first, rows), expected, cells) in cases {
        let found = counts(scored_from, first, rows);
        assert_eq!(found, (expected.to_vec(), cells), "rows {first}..{rows} from {scored_from}");
    }
}
