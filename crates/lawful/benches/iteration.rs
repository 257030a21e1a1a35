//! One gradient and one full training iteration: `cargo bench -p lawful --bench iteration`.
#![expect(clippy::disallowed_methods, reason = "the weights are read from a file")]

mod workloads;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use lawful::ode::tableaus::{DOPRI5, TSIT5};
use lawful::strategy::StrategyKind;
use lawful::{Adaptive, Control, Precision, Solver};

const PRECISIONS: [Precision; 2] = [Precision::Single, Precision::Double];

/// φ and its gradient, without an optimiser.
fn gradient(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("gradient");
    for workload in workloads::systems() {
        for precision in PRECISIONS {
            let mut objective = workload.objective(precision, Solver::default(), 1);
            let theta = workload.initial();
            let id = BenchmarkId::new(workload.title, precision.name());
            group.bench_function(id, |bencher| {
                bencher.iter(|| objective.evaluate(&theta, 0).expect("a finite loss").value);
            });
        }
    }
}

/// φ and its gradient under every strategy, with laws at the rows and at three points between them.
fn strategies(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("strategies");
    for workload in workloads::systems() {
        let theta = workload.initial();
        for kind in StrategyKind::all() {
            for between in [0, 3] {
                let strategy = kind.build(&[true; 2]);
                let (precision, solver) = (Precision::Double, Solver::default());
                let mut objective =
                    workload.objective_with(strategy, between, precision, solver, 1);
                let id = BenchmarkId::new(workload.title, format!("{}/{between}", kind.name()));
                group.bench_function(id, |bencher| {
                    bencher.iter(|| objective.evaluate(&theta, 0).expect("a finite loss").value);
                });
            }
        }
    }
}

/// Everything that a training does in an iteration.
fn iteration(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("iteration");
    for workload in workloads::systems().into_iter().chain([workloads::wide()]) {
        for precision in PRECISIONS {
            for columns in [1, 8, 32] {
                let theta = workload.initial();
                let mut training = workload.training(precision, Solver::default(), columns, theta);
                // Two iterations are the fewest that a training does at a time.
                group.throughput(Throughput::Elements(2 * columns as u64));
                let id =
                    BenchmarkId::new(workload.title, format!("{}/{columns}", precision.name()));
                group.bench_function(id, |bencher| bencher.iter(|| training.run(2)));
            }
        }
    }
}

/// Adaptive solves on trained oscillator weights.
fn adaptive(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("adaptive");
    let workload = workloads::oscillator();
    for precision in PRECISIONS {
        for tableau in [&DOPRI5, &TSIT5] {
            for (rtol, atol) in [(1e-4, 1e-6), (1e-7, 1e-9)] {
                let control = Control::Adaptive(Adaptive::with_tolerances(rtol, atol));
                let solver = Solver::new(tableau, control).expect("it has an error estimate");
                let mut training = workload.training(precision, solver, 1, workload.trained());
                training.run(2);
                group.throughput(Throughput::Elements(2));
                let evaluations = training.field_evaluations();
                let id = format!("{}/{rtol:e}/{evaluations} evaluations", precision.name());
                let id = BenchmarkId::new(tableau.name, id);
                group.bench_function(id, |bencher| bencher.iter(|| training.run(2)));
            }
        }
    }
}

criterion_group!(benches, gradient, strategies, iteration, adaptive);
criterion_main!(benches);
