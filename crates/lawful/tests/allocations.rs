//! An iteration that needs no more room than any before allocates nothing.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;
#[path = "common/counting.rs"]
mod counting;

use std::ops::ControlFlow;

use common::{LAWS, dataset, dopri5, laws, objective, trajectory};
use counting::allocations;
use lawful::optimiser::{Lbfgs, LbfgsSettings};
use lawful::strategy::SelfAdaptive;
use lawful::{
    Batch, FreeStarts, Observer, Problem, Restore, Row, Sampler, Segment, Settings, Solver, Trainer,
};

/// The count at every iteration.
struct Counts(Vec<usize>);

impl Observer for Counts {
    fn iteration(&mut self, row: &Row) -> ControlFlow<()> {
        assert!(row.event.is_none() && self.0.len() < self.0.capacity());
        self.0.push(allocations());
        ControlFlow::Continue(())
    }
}

/// Allocations between the first and the iteration `warm`, and from there to the last.
fn train(
    count: u64,
    solver: Solver,
    rate: f64,
    batch: Batch,
    settings: Settings,
    warm: usize,
) -> [usize; 2] {
    let trajectories = (0..count).map(|n| trajectory(n, 4 + usize::try_from(n % 5).unwrap()));
    let problem = Problem::new(dataset(trajectories.collect()), laws(&LAWS));
    let sampler = Sampler::new(batch, &problem.dataset, 1).unwrap();
    let objective = objective(problem, solver, Box::new(SelfAdaptive::default()));
    let mut trainer = common::trainer(objective, rate, settings).with_sampler(sampler);
    let mut counts = Counts(Vec::with_capacity(settings.iterations + 1));
    let before = allocations();
    trainer.run(&mut counts);
    // What the last row saw was counted before the outcome was made.
    let (Some(last), warm) = (counts.0.last(), counts.0[warm]) else { panic!("no iteration") };
    [warm - before, last - warm]
}

/// L-BFGS on segments with free starts, after its memory is full.
fn train_lbfgs() -> [usize; 2] {
    let problem = Problem::new(dataset(vec![trajectory(1, 13)]), laws(&LAWS));
    let segments = Segment::cut(&problem.dataset, 3, false);
    let free_starts = FreeStarts { initial: true, segments: true };
    let objective = objective(problem, Solver::default(), Box::new(SelfAdaptive::smooth()));
    let objective = objective.with_free_starts(free_starts, &segments);
    let mut theta = common::theta();
    theta.resize(objective.parameter_len(), 0.0);
    let lbfgs = Lbfgs::new(LbfgsSettings { memory: 4, ..LbfgsSettings::default() }, theta.len());
    let settings = Settings { iterations: 40, ..Settings::default() };
    let mut trainer = Trainer::new(objective, Box::new(lbfgs), settings, theta)
        .unwrap()
        .with_sampler(Sampler::of(segments));
    let mut counts = Counts(Vec::with_capacity(settings.iterations + 1));
    let before = allocations();
    trainer.run(&mut counts);
    // The last row comes after the checkpoint of the end, whose row of pairs is longer than the first.
    let (warm, last) = (counts.0[10], counts.0[settings.iterations - 1]);
    [warm - before, last - warm]
}

/// The least of some counts: the test harness has a thread of its own, which allocates now and then.
fn quietest(count: impl Fn() -> [usize; 2]) -> [usize; 2] {
    let mut least = count();
    for _ in 0..10 {
        if least[1] == 0 {
            break;
        }
        let again = count();
        if again[1] < least[1] {
            least = again;
        }
    }
    least
}

/// One test, because the count is that of the whole process.
#[test]
fn an_iteration_allocates_nothing_once_there_is_room() {
    let plain = Settings { iterations: 100, ..Settings::default() };
    let best = Settings { best_point: Some(Restore::default()), ..plain };
    let long = Settings { iterations: 800, ..plain };
    let grid = Solver::default();
    let windows = Batch::Windows { count: 8, rows: 4 };
    let some = Batch::Trajectories { count: 5 };
    for (case, count, solver, rate, batch, settings, warm) in [
        ("full batch, one group", 12, grid, 1e-3, Batch::Full, plain, 2),
        ("best point", 12, grid, 0.3, Batch::Full, best, 2),
        // At rest the number of steps cannot grow.
        ("adaptive, one trajectory", 1, dopri5(1e-6), 0.0, Batch::Full, plain, 2),
        // Batches have seen their largest selection after a while.
        ("trajectories", 12, grid, 1e-3, some, long, 400),
        ("windows", 12, grid, 1e-3, windows, long, 400),
    ] {
        let [first, later] = quietest(|| train(count, solver, rate, batch, settings, warm));
        assert!(first > 0, "{case}: the count must count");
        assert_eq!(later, 0, "{case}");
    }
    let [first, later] = quietest(train_lbfgs);
    assert!(first > 0 && later == 0, "L-BFGS: {first}, {later}");
    // Several groups go to threads. Inside a pool that costs nothing; from outside, each of the two
    // calls of an iteration, forward and back, hands one job to the pool's queue, which grows by a
    // block for every 63 jobs.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    for (case, count, solver) in
        [("three groups on the grid", 40, grid), ("four adaptive solves", 4, dopri5(1e-4))]
    {
        let threaded = || train(count, solver, 0.0, Batch::Full, long, 100)[1];
        let inside = quietest(|| [0, pool.install(threaded)])[1];
        assert_eq!(inside, 0, "{case}, inside a pool");
        let few = 700 * 2 / 63 + 1;
        assert!((0..10).any(|_| threaded() <= few), "{case}, from outside");
    }
}
