//! How the cost of a training iteration grows: with steps, width, columns and threads.
//!
//! `cargo bench -p lawful --bench scaling` prints CSV: vary,value,precision,milliseconds per iteration
//! (for threads: iterations per second of all trainings together).
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark prints its rows; the shared module reads weights"
)]

mod workloads;

use std::time::{Duration, Instant};

use lawful::{Precision, Solver};
use workloads::{Workload, oscillator_of};

/// The best of several slices in each of several rounds: what the machine can do when it is left alone.
const ROUNDS: usize = 8;
const SLICES: usize = 4;
const SLICE: Duration = Duration::from_millis(40);

/// One row of the result.
struct Case {
    vary: &'static str,
    value: usize,
    precision: Precision,
    workload: Workload,
    columns: usize,
    milliseconds: f64,
}

fn main() {
    let mut cases = Vec::new();
    for precision in [Precision::Single, Precision::Double] {
        let mut add = |vary, value, workload, columns| {
            let milliseconds = f64::INFINITY;
            cases.push(Case { vary, value, precision, workload, columns, milliseconds });
        };
        for steps in [50, 100, 200, 400, 800, 1600, 3200, 6400] {
            add("steps", steps, oscillator_of(&[50, 50], steps), 1);
        }
        for width in [4, 8, 16, 32, 64, 128, 256, 512] {
            add("width", width, oscillator_of(&[width, width], 100), 1);
        }
        for columns in [1, 2, 4, 8, 16, 32, 64] {
            add("columns", columns, oscillator_of(&[50, 50], 100), columns);
        }
    }
    // All cases in every round, since a neighbour on the machine stays for some seconds.
    let mut throughputs = [0.0_f64; 2];
    for _ in 0..ROUNDS {
        for case in &mut cases {
            let time = time(&case.workload, case.precision, case.columns);
            case.milliseconds = case.milliseconds.min(time);
        }
        for (i, best) in throughputs.iter_mut().enumerate() {
            *best = best.max(throughput(i + 1));
        }
    }
    println!("vary,value,precision,milliseconds");
    for Case { vary, value, precision, milliseconds, .. } in cases {
        print(vary, value, precision, milliseconds);
    }
    for (i, best) in throughputs.into_iter().enumerate() {
        print("threads", i + 1, Precision::Double, best);
    }
}

fn print(vary: &str, value: usize, precision: Precision, number: f64) {
    println!("{vary},{value},{},{number:.6}", precision.name());
}

/// Milliseconds of one iteration.
fn time(workload: &Workload, precision: Precision, columns: usize) -> f64 {
    let theta = workload.initial();
    let mut training = workload.training(precision, Solver::default(), columns, theta);
    training.run(2);
    let slice = |training: &mut workloads::Training| {
        let (start, mut done) = (Instant::now(), 0);
        while done == 0 || start.elapsed() < SLICE {
            done += training.run(2);
        }
        start.elapsed().as_secs_f64() / done as f64 * 1e3
    };
    (0..SLICES).map(|_| slice(&mut training)).fold(f64::INFINITY, f64::min)
}

/// Iterations per second of independent trainings, one thread each.
fn throughput(trainings: usize) -> f64 {
    let work = || {
        let workload = workloads::oscillator();
        let theta = workload.initial();
        let mut training = workload.training(Precision::Double, Solver::default(), 1, theta);
        training.run(2);
        let (start, mut done) = (Instant::now(), 0);
        while start.elapsed() < Duration::from_secs(1) {
            done += training.run(8);
        }
        done as f64 / start.elapsed().as_secs_f64()
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..trainings).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    })
}
