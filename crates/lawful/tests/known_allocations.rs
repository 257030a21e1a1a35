//! Known rates beside a network allocate nothing once they have been evaluated.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "common/counting.rs"]
mod counting;

use counting::allocations;
use lawful::law::Words;
use lawful::{
    Activation, HybridField, KnownRates, LearnedConstant, Mlp, MlpShape, Precision, VectorField,
};

#[test]
fn nothing_is_allocated_after_the_first_round() {
    let vocabulary = Words::new().state(["x", "v"]).constant("k", 2.0).check().unwrap();
    let k = LearnedConstant { name: "k".to_owned(), start: 2.0, min: Some(0.0), max: None };
    let known = KnownRates::new(&[(0, "v"), (1, "-k*x^3")], vec![k], &vocabulary).unwrap();
    let mut shape = MlpShape::new(2, &[9], Activation::Tanh);
    shape.outputs = 1;
    let network = Box::new(Mlp::new(shape, Precision::Double).expect("the shape of a network"));
    let mut field = HybridField::new(known).with_network(network, &[1]).unwrap();
    let theta = vec![0.1; field.parameter_len()];
    let mut theta_bar = vec![0.0; theta.len()];
    let (y, mut dy, mut y_bar) = ([0.3; 14], [0.0; 14], [0.0; 14]);
    let mut jacobian = [0.0; 28];
    let mut counts = [0; 3];
    for count in &mut counts {
        field.set_parameters(&theta);
        field.reserve(50, 7);
        for slot in 0..50 {
            let columns = 7 - slot % 7;
            let values = ..2 * columns;
            field.eval(slot, &[0.0; 7][..columns], &y[values], &[], &mut dy[values]);
        }
        for slot in (0..50).rev() {
            let values = ..2 * (7 - slot % 7);
            field.pull_back(slot, &y[values], &mut y_bar[values]);
            field.pull_back_state(slot, &y[values], &mut y_bar[values]);
            field.pull_back_parameters(slot, &y[values]);
            field.jacobian(slot, &mut jacobian[..4 * (7 - slot % 7)]);
        }
        field.flush(&mut theta_bar);
        *count = allocations();
    }
    assert_eq!(counts[1], counts[2]);
}
