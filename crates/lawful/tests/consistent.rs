//! Law-consistent tables.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use lawful::{
    ConsistentTable, Dataset, Enforcement, Laws, TableSettings, Trajectory, scaling, units,
};

const NAN: f64 = f64::NAN;

fn table(data: &Dataset, laws: &Laws, smoothness: f64) -> ConsistentTable {
    let scaling = scaling(data);
    let units = units(data, laws.laws(), laws.constants(), &scaling);
    let settings = TableSettings { smoothness, ..TableSettings::default() };
    ConsistentTable::new(data, laws.laws(), laws.constants(), (&scaling, &units), settings)
}

/// An epidemic of which only the infected are counted after the first row.
fn epidemic(rows: usize) -> (Dataset, Vec<f64>) {
    let (mut y, h) = ([0.99, 0.01, 0.0], 0.01);
    let (mut times, mut truth) = (Vec::new(), Vec::new());
    for n in 0..=(rows - 1) * 200 {
        if n % 200 == 0 {
            times.push(h * n as f64);
            truth.extend(y);
        }
        let (infected, recovered) = (1.2 * y[0] * y[1], 0.4 * y[1]);
        y = [y[0] - h * infected, y[1] + h * (infected - recovered), y[2] + h * recovered];
    }
    let mut measured = truth.clone();
    for row in measured.chunks_exact_mut(3).skip(1) {
        (row[0], row[2]) = (NAN, NAN);
    }
    let names = ["S", "I", "R"].map(str::to_owned).to_vec();
    let data = Dataset::new(names, vec![], vec![Trajectory::new("1", times, measured)]).unwrap();
    (data, truth)
}

const LAWS: [&str; 4] = ["S + I + R == 1", "next(S) <= S", "next(R) >= R", "S >= 0"];

#[test]
fn states_that_nobody_measured_follow_from_their_laws() {
    for rows in [14, 40] {
        let (data, truth) = epidemic(rows);
        let laws = Laws::parse(&data, LAWS).unwrap();
        let table = table(&data, &laws, 1e-3);
        assert!(table.holds(1e-6), "{:?}", table.left);
        assert!(table.total_misfit < 0.05, "{:?}", table.misfit);
        let states = &table.trajectories[0].states;
        for (n, row) in states.chunks_exact(3).enumerate() {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-6, "row {n}: {row:?}");
            assert!((row[1] - truth[3 * n + 1]).abs() < 0.02, "row {n}: {row:?}");
            let Some(next) = states.get(3 * (n + 1)..) else { continue };
            if let [susceptible, _, recovered, ..] = next {
                assert!(susceptible - row[0] < 1e-6 && row[2] - recovered < 1e-6, "row {n}");
            }
        }
        // The susceptible have a scale of their own, which no cell shows.
        let range = states[0] - states[states.len() - 3];
        assert!(range > 0.5, "S falls by {range}");
    }
}

#[test]
fn a_table_is_the_projection_that_is_worked_by_hand() {
    let data = Dataset::single(&["x", "y"], vec![0.0, 1.0], vec![1.0; 4]).unwrap();
    let laws = Laws::parse(&data, ["x + y == 1"]).unwrap();
    let found = table(&data, &laws, 1e-6);
    for state in &found.trajectories[0].states {
        assert!((state - 0.5).abs() < 1e-6, "{found:?}");
    }
    assert!((found.total_misfit - 0.5).abs() < 1e-6 && found.holds(1e-6), "{found:?}");
    let monitored = Laws::new(laws.vocabulary().clone());
    let monitored = monitored.enforced("sum", "x + y == 1", Enforcement::Monitor).unwrap();
    let found = table(&data, &monitored, 1e-6);
    assert!(found.total_misfit < 1e-9 && found.left == [None], "{found:?}");
}

#[test]
fn curved_laws_laws_between_rows_and_laws_with_inputs_hold_on_it() {
    let times: Vec<f64> = (0..30).map(|n| 0.3 * f64::from(n) + 0.05 * f64::from(n % 3)).collect();
    let states = times.iter().flat_map(|t| [t.cos() + 0.02 * (9.0 * t).sin(), -t.sin()]).collect();
    let inputs = times.iter().map(|t| 2.0 + t.sin()).collect();
    let mut trajectory = Trajectory::new("1", times, states);
    trajectory.inputs = inputs;
    let names = ["x", "v"].map(str::to_owned).to_vec();
    let data = Dataset::new(names, vec!["u".to_owned()], vec![trajectory]).unwrap();
    let laws = ["x^2 + v^2 == 1", "next(x^2 + v^2) <= x^2 + v^2", "x <= u", "v >= initial(v) - 2"];
    let laws = Laws::parse(&data, laws).unwrap();
    let found = table(&data, &laws, 1e-6);
    assert!(found.holds(1e-6), "{:?}", found.left);
    assert!(found.total_misfit < 0.03, "{:?}", found.misfit);
    let slopes = &found.trajectories[0].slopes;
    let inner = slopes.chunks_exact(2).zip(&found.trajectories[0].times).skip(2).take(26);
    for (slope, t) in inner {
        assert!((slope[1] + t.cos()).abs() < 0.2, "{t}: {slope:?}");
    }
    assert_eq!(found, table(&data, &laws, 1e-6));
}

#[test]
fn long_trajectories_are_thinned_and_filled_again() {
    let (data, truth) = epidemic(3000);
    let laws = Laws::parse(&data, LAWS).unwrap();
    let found = table(&data, &laws, 1e-6);
    assert_eq!(found.trajectories[0].states.len(), truth.len());
    assert!(found.left.iter().all(|left| left.is_some_and(|left| left < 1e-5)), "{:?}", found.left);
}
