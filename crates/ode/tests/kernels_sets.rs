//! The instruction sets agree, give the same bytes every time, and can be chosen.

mod mlp_support;

use lawful_ode::{Kernels, Mlp, Precision, kernels};
use mlp_support::{Numbers, bits, distance, round, shapes};

#[test]
fn every_set_gives_the_portable_results_up_to_rounding() {
    for (seed, shape) in (0..).zip(shapes()) {
        for (precision, tolerance) in [(Precision::Double, 1e-13), (Precision::Single, 1e-5)] {
            let theta = Numbers(seed).theta(&shape);
            let rounds = Kernels::available().into_iter().map(|kernels| {
                let mut mlp = Mlp::with_kernels(shape.clone(), precision, kernels)
                    .expect("the shape of a network");
                let round = round(&mut mlp, &theta, &[1, 5, 2], seed);
                [round.dy, round.y_bar, round.theta_bar].concat()
            });
            let rounds: Vec<_> = rounds.collect();
            for results in &rounds {
                assert!(distance(results, &rounds[0]) <= tolerance, "{precision:?} {shape:?}");
            }
        }
    }
}

#[test]
fn equal_calls_give_equal_bytes() {
    for shape in shapes().into_iter().step_by(5) {
        for precision in Precision::ALL {
            let theta = Numbers(4).theta(&shape);
            let mut mlp = Mlp::new(shape.clone(), precision).expect("the shape of a network");
            let mut results = || {
                let round = round(&mut mlp, &theta, &[1, 9, 3, 70], 4);
                bits(&[round.dy, round.y_bar, round.theta_bar].concat())
            };
            assert_eq!(results(), results());
        }
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "the test below reads it")]
fn kernels_in_use_are_named() {
    assert!(Kernels::available().iter().any(|set| set.name() == kernels()));
    println!("in use: {}.", kernels());
}

#[test]
fn the_environment_can_ask_for_portable_kernels() {
    let program = std::env::current_exe().expect("the path of this test");
    let said = |word: &str| {
        let output = std::process::Command::new(&program)
            .args(["--exact", "kernels_in_use_are_named", "--nocapture"])
            .env("LAWFUL_KERNELS", word)
            .output()
            .expect("the output of this test");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(said("portable").contains("in use: portable."));
    let fastest = Kernels::available().pop().map_or("", Kernels::name);
    assert!(said("").contains(&format!("in use: {fastest}.")));
}
