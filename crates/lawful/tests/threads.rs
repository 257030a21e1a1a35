//! The number of threads does not change a byte.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{LAWS, adaptive, bits, dataset, laws, objective, trajectory};
use lawful::ode::tableaus::{DOPRI5, RK4};
use lawful::strategy::SelfAdaptive;
use lawful::{Batch, Control, Problem, Sampler, Settings, Solver};

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

/// Gradient at the start and θ after twenty iterations.
fn run(solver: Solver, batch: Batch) -> (Vec<u64>, Vec<u64>) {
    // More than two groups of columns on the grid, of many lengths.
    let trajectories = (0..40).map(|n| trajectory(n, 3 + usize::try_from(n % 7).unwrap()));
    let problem = Problem::new(dataset(trajectories.collect()), laws(&LAWS));
    let sampler = Sampler::new(batch, &problem.dataset, 1).unwrap();
    let mut objective = objective(problem, solver, Box::new(SelfAdaptive::default()));
    let gradient = bits(&objective.evaluate(&common::theta(), 0).unwrap().gradient);
    let settings = Settings { iterations: 20, ..Settings::default() };
    let mut trainer = common::trainer(objective, 1e-2, settings).with_sampler(sampler);
    (gradient, bits(&trainer.run(&mut ()).last.theta))
}

#[test]
fn thread_count_does_not_change_a_byte() {
    let grid = Solver::new(&RK4, Control::Grid { substeps: 2 }).unwrap();
    let adaptive = Solver::new(&DOPRI5, adaptive(1e-4)).unwrap();
    for solver in [grid, adaptive] {
        for batch in
            [Batch::Full, Batch::Trajectories { count: 20 }, Batch::Windows { count: 20, rows: 3 }]
        {
            let one = on_threads(1, || run(solver, batch));
            for threads in [2, 3] {
                assert_eq!(on_threads(threads, || run(solver, batch)), one, "{batch:?}");
            }
        }
    }
}
