//! What laws cost: `cargo bench -p lawful --bench laws [ALTERNATIONS]`.
//!
//! Prints the time of one evaluation of the objective with its gradient as a multiple of the self-adaptive one
//! at the rows. All cases of a system are measured in turns on one thread, and the least time of each counts:
//! other work on the machine makes times longer, never shorter.
#![expect(clippy::print_stdout, reason = "it is a program")]
#![expect(
    clippy::disallowed_methods,
    reason = "the weights of other benchmarks are read from files"
)]

mod workloads;

use std::time::{Duration, Instant};

use lawful::strategy::{AugmentedLagrangian, SelfAdaptive, Vanilla};
use lawful::{Objective, Precision, Solver};

use workloads::Workload;

/// A case, its objective and initial weights.
type Case = (&'static str, Objective, Vec<f64>);

fn main() {
    // `cargo bench` adds `--bench`.
    let alternations = std::env::args().find_map(|word| word.parse().ok()).unwrap_or(400);
    println!("| | precision | ms | ratio |\n|---|---|---|---|");
    for workload in workloads::systems() {
        for precision in [Precision::Double, Precision::Single] {
            let mut cases = cases(&workload, precision);
            let least = least(&mut cases, alternations);
            for ((name, ..), time) in cases.iter().zip(&least) {
                let ratio = time.as_secs_f64() / least[0].as_secs_f64();
                let (title, word) = (workload.title, precision.name());
                let ms = 1e3 * time.as_secs_f64();
                println!("| {title}, {name} | {word} | {ms:.3} | {ratio:.2} |");
            }
        }
    }
}

fn cases(workload: &Workload, precision: Precision) -> Vec<Case> {
    let solver = Solver::default();
    let penalty = |name, strategy, between| {
        let objective = workload.objective_with(strategy, between, precision, solver, 1);
        (name, objective, workload.initial())
    };
    let (guaranteed, theta) = workload.guaranteed(precision);
    vec![
        penalty("self-adaptive", Box::<SelfAdaptive>::default(), 0),
        penalty("no laws", Box::new(Vanilla), 0),
        penalty("augmented Lagrangian", Box::<AugmentedLagrangian>::default(), 0),
        penalty("augmented Lagrangian, between = 3", Box::<AugmentedLagrangian>::default(), 3),
        penalty("self-adaptive, between = 3", Box::<SelfAdaptive>::default(), 3),
        ("guaranteed", guaranteed, theta),
    ]
}

/// Returns the least time of each case.
fn least(cases: &mut [Case], alternations: usize) -> Vec<Duration> {
    let mut least = vec![Duration::MAX; cases.len()];
    for _ in 0..alternations {
        for ((_, objective, theta), least) in cases.iter_mut().zip(&mut least) {
            let begun = Instant::now();
            let value = objective.evaluate(theta, 0).expect("a finite loss").value;
            *least = begun.elapsed().min(*least);
            assert!(value.value.is_finite());
        }
    }
    least
}
