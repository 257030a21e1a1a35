//! Preparing a training needs little more memory than its table.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "common/peak.rs"]
mod peak;

use lawful::{Dataset, Laws, Training, Trajectory};

const ROWS: usize = 200_000;

fn table(trajectories: usize) -> Dataset {
    let rows = ROWS / trajectories;
    let trajectory = |n: usize| {
        let times: Vec<f64> = (0..rows).map(|row| 0.05 * row as f64).collect();
        let states = times.iter().flat_map(|t| [(t + n as f64).cos(), -(t + n as f64).sin()]);
        Trajectory::new(n.to_string(), times.clone(), states.collect())
    };
    let names = vec!["x".to_owned(), "v".to_owned()];
    Dataset::new(names, Vec::new(), (0..trajectories).map(trajectory).collect()).unwrap()
}

/// One test, because the peak is that of the whole process.
#[test]
fn a_training_is_prepared_in_less_than_the_size_of_its_table() {
    for trajectories in [1, 4000] {
        let data = table(trajectories);
        let laws =
            Laws::parse(&data, ["next(x^2 + v^2) <= x^2 + v^2", "x == initial(x) + 0*final(v)"]);
        let laws = laws.unwrap();
        let size = ROWS * 3 * size_of::<f64>();
        let mut prepared = None;
        let more = peak::above(|| {
            prepared = Some(Training::new(data.clone()).laws(laws.clone()).prepare().unwrap());
        });
        assert!(more < size, "{trajectories} trajectories: {more} bytes for a table of {size}");
        let prepared = prepared.unwrap();
        assert!(prepared.data.trajectories()[0].states.shares(&data.trajectories()[0].states));
        // A phase on a part has buffers for the part.
        let phase = prepared.phases[0].clone();
        assert!(phase.part.is_some());
        let theta = prepared.initial_theta();
        let more = peak::above(|| {
            let mut trainer = prepared.trainer(&phase, &theta);
            trainer.objective_mut().evaluate(&theta, 0).unwrap();
        });
        // The memory of the optimiser, 400 pairs of 2752 parameters, and the tapes with their weights are
        // not of the table. Multipliers, at the rows and three points in each interval, are in the objective
        // and in the checkpoint.
        let multipliers = 2 * 4 * ROWS * size_of::<f64>();
        let fixed = (48 << 20) + 400 * 2 * 8 * theta.len() + multipliers;
        assert!(more < 2 * size + fixed, "{trajectories} trajectories: {more} bytes");
    }
}
