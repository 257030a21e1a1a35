//! One training iteration's work of the network: all evaluations and pull-backs of a path.
//!
//! `cargo bench -p lawful-ode --bench kernels`; the paper's three systems with four stages per
//! step and one column, and a wide network with one and with 32 columns.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lawful_ode::Activation::{Elu, Tanh};
use lawful_ode::{Activation, Mlp, MlpShape, Precision, VectorField};

struct Case {
    name: &'static str,
    state: usize,
    hidden: &'static [usize],
    activations: &'static [Activation],
    slots: usize,
    columns: usize,
}

const CASES: [Case; 5] = [
    Case {
        name: "population",
        state: 1,
        hidden: &[50, 50],
        activations: &[Tanh, Elu],
        slots: 4 * 200,
        columns: 1,
    },
    Case {
        name: "reaction",
        state: 4,
        hidden: &[50, 64, 50],
        activations: &[Tanh, Elu, Tanh],
        slots: 4 * 99,
        columns: 1,
    },
    Case {
        name: "oscillator",
        state: 2,
        hidden: &[50, 50],
        activations: &[Tanh, Elu],
        slots: 4 * 399,
        columns: 1,
    },
    Case {
        name: "wide",
        state: 64,
        hidden: &[512, 512],
        activations: &[Tanh, Elu],
        slots: 4 * 100,
        columns: 1,
    },
    Case {
        name: "wide-32-columns",
        state: 64,
        hidden: &[512, 512],
        activations: &[Tanh, Elu],
        slots: 4 * 100,
        columns: 32,
    },
];

fn iterations(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("iteration");
    group.sample_size(10);
    for case in CASES {
        let shape = MlpShape {
            state: case.state,
            outputs: case.state,
            inputs: 0,
            time: false,
            hidden: case.hidden.to_vec(),
            activations: case.activations.to_vec(),
        };
        // Forward, backward and gradient: three products of two operations each.
        let products: usize = shape.layers().map(|layer| layer.weights.len()).sum();
        group.throughput(Throughput::Elements((6 * products * case.slots * case.columns) as u64));
        let theta: Vec<f64> =
            (0..shape.parameter_len()).map(|i| 0.1 * (i as f64 * 0.7).sin()).collect();
        for precision in Precision::ALL {
            let mut field = Mlp::new(shape.clone(), precision).expect("the shape of a network");
            field.reserve(case.slots, case.columns);
            let len = case.columns * case.state;
            let t = vec![0.0; case.columns];
            let (mut y, mut dy, mut y_bar) = (vec![0.3; len], vec![0.0; len], vec![0.0; len]);
            let mut theta_bar = vec![0.0; theta.len()];
            group.bench_function(format!("{}/{}", case.name, precision.name()), |bencher| {
                bencher.iter(|| {
                    field.set_parameters(&theta);
                    for slot in 0..case.slots {
                        field.eval(slot, &t, &y, &[], &mut dy);
                        // The next stage waits for this one, as it does in a solve.
                        y.iter_mut().zip(&dy).for_each(|(y, dy)| *y = 0.3 + 0.01 * dy);
                    }
                    for slot in (0..case.slots).rev() {
                        field.pull_back(slot, &y, &mut y_bar);
                        y.iter_mut().zip(&y_bar).for_each(|(y, bar)| *y = 0.3 + 0.01 * bar);
                        y_bar.fill(0.0);
                    }
                    field.flush(&mut theta_bar);
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, iterations);
criterion_main!(benches);
