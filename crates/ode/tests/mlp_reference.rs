//! The fast network is the readable one, for every shape, precision and instruction set.

mod mlp_support;

use lawful_ode::{Activation, Kernels, Mlp, Precision, ReferenceMlp, ShapeError, VectorField};
use mlp_support::{Numbers, assert_agrees, bits, reference, round, shape, shapes};

fn tolerance(precision: Precision) -> f64 {
    match precision {
        Precision::Double => 1e-12,
        Precision::Single => 1e-5,
    }
}

#[test]
fn shapes_that_are_no_networks_are_refused_with_the_reason() {
    let empty = shape(2, &[3, 0], &[Activation::Tanh; 2]);
    for precision in Precision::ALL {
        let error = Mlp::new(empty.clone(), precision).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some("hidden layer 1 has no units"));
    }
    assert_eq!(ReferenceMlp::new(empty).err(), Some(ShapeError::EmptyLayer(1)));
}

#[test]
fn mlp_equals_the_reference_for_every_shape() {
    for (seed, shape) in (0..).zip(shapes()) {
        for precision in Precision::ALL {
            for kernels in Kernels::available() {
                let mut mlp = Mlp::with_kernels(shape.clone(), precision, kernels)
                    .expect("the shape of a network");
                assert_agrees(&mut mlp, &[1], seed, tolerance(precision));
                assert_agrees(&mut mlp, &[3, 1, 7, 2, 5], seed, tolerance(precision));
            }
        }
    }
}

#[test]
fn mlp_equals_the_reference_for_every_number_of_outputs() {
    for state in [1, 4, 9] {
        for hidden in [&[][..], &[7], &[50, 9]] {
            let mut shape = shape(state, hidden, &vec![Activation::Tanh; hidden.len()]);
            (shape.time, shape.inputs) = (true, 2);
            for outputs in 1..=state {
                shape.outputs = outputs;
                for precision in Precision::ALL {
                    for kernels in Kernels::available() {
                        let mut mlp = Mlp::with_kernels(shape.clone(), precision, kernels)
                            .expect("the shape of a network");
                        assert_eq!((mlp.state_len(), mlp.output_len()), (state, outputs));
                        assert_agrees(&mut mlp, &[3, 1, 7], outputs as u64, tolerance(precision));
                    }
                }
            }
        }
    }
}

#[test]
fn mlp_equals_the_reference_for_every_number_of_columns() {
    let shape = shape(3, &[50, 9], &[Activation::Tanh, Activation::Silu]);
    for columns in 1..=33 {
        for precision in Precision::ALL {
            let mut mlp = Mlp::new(shape.clone(), precision).expect("the shape of a network");
            assert_agrees(&mut mlp, &[columns, columns], columns as u64, tolerance(precision));
        }
    }
}

#[test]
fn gradients_stay_right_when_the_queue_fills_many_times() {
    let shape = shape(2, &[17, 9], &[Activation::Elu, Activation::Sin]);
    for precision in Precision::ALL {
        let mut mlp = Mlp::new(shape.clone(), precision).expect("the shape of a network");
        assert_agrees(&mut mlp, &vec![1; 5000], 3, tolerance(precision));
        assert_agrees(&mut mlp, &[33; 140], 4, tolerance(precision));
        assert_agrees(&mut mlp, &[150, 40, 200], 5, tolerance(precision));
    }
}

#[test]
fn reference_gradient_matches_central_differences_for_every_activation() {
    for (activation, outputs) in Activation::ALL.into_iter().flat_map(|a| [(a, 1), (a, 2)]) {
        let mut shape = shape(2, &[5, 3], &[activation, activation]);
        (shape.time, shape.inputs, shape.outputs) = (true, 2, outputs);
        let mut field = reference(&shape);
        let mut numbers = Numbers(11);
        let theta = numbers.theta(&shape);
        let (t, y, u, w) = ([0.3], numbers.vec(2), numbers.vec(2), numbers.vec(outputs));
        let mut value = |theta: &[f64], y: &[f64]| {
            let mut dy = vec![0.0; outputs];
            field.set_parameters(theta);
            field.reserve(1, 1);
            field.eval(0, &t, y, &u, &mut dy);
            dy.iter().zip(&w).map(|(dy, w)| dy * w).sum::<f64>()
        };
        let h = 1e-6;
        let mut expected = vec![];
        for i in 0..theta.len() + 2 {
            let [above, below] = [h, -h].map(|h| {
                let (mut theta, mut y) = (theta.clone(), y.clone());
                *theta.iter_mut().chain(&mut y).nth(i).expect("a number of θ or y") += h;
                value(&theta, &y)
            });
            expected.push((above - below) / (2.0 * h));
        }
        value(&theta, &y);
        let (mut theta_bar, mut y_bar) = (vec![0.0; theta.len()], [0.0; 2]);
        field.pull_back(0, &w, &mut y_bar);
        field.flush(&mut theta_bar);
        for (i, bar) in theta_bar.iter().chain(&y_bar).enumerate() {
            let error = (bar - expected[i]).abs();
            assert!(error <= 1e-6, "{activation}, {outputs} outputs, number {i}: {error:e}");
        }
    }
}

#[test]
fn a_fork_gives_the_same_bytes() {
    for shape in shapes().into_iter().step_by(9) {
        for precision in Precision::ALL {
            let theta = Numbers(2).theta(&shape);
            let mut mlp = Mlp::new(shape.clone(), precision).expect("the shape of a network");
            let first = round(&mut mlp, &theta, &[1, 6], 2);
            // A pull-back that is not flushed belongs to the field, not to its fork.
            mlp.pull_back(0, &vec![1.0; shape.state], &mut vec![0.0; shape.state]);
            let again = round(&mut *mlp.fork(), &theta, &[1, 6], 2);
            assert_eq!(bits(&first.dy), bits(&again.dy));
            assert_eq!(bits(&first.y_bar), bits(&again.y_bar));
            assert_eq!(bits(&first.theta_bar), bits(&again.theta_bar));
        }
    }
}

#[test]
fn a_column_does_not_depend_on_its_neighbours() {
    let shape = shape(5, &[50, 64], &[Activation::Tanh, Activation::Elu]);
    for precision in Precision::ALL {
        let mut numbers = Numbers(3);
        let mut mlp = Mlp::new(shape.clone(), precision).expect("the shape of a network");
        mlp.set_parameters(&numbers.theta(&shape));
        mlp.reserve(2, 13);
        let (y, w) = (numbers.vec(13 * 5), numbers.vec(13 * 5));
        let (mut dy, mut y_bar) = (vec![0.0; 13 * 5], vec![0.0; 13 * 5]);
        mlp.eval(0, &[0.0; 13], &y, &[], &mut dy);
        mlp.pull_back(0, &w, &mut y_bar);
        for column in 0..13 {
            let part = column * 5..column * 5 + 5;
            let (mut dy_one, mut y_bar_one) = ([0.0; 5], [0.0; 5]);
            mlp.eval(1, &[0.0], &y[part.clone()], &[], &mut dy_one);
            mlp.pull_back(1, &w[part.clone()], &mut y_bar_one);
            assert_eq!(bits(&dy[part.clone()]), bits(&dy_one));
            assert_eq!(bits(&y_bar[part]), bits(&y_bar_one));
        }
    }
}

#[test]
fn a_slot_holds_its_last_evaluation() {
    let shape = shape(2, &[9, 9], &[Activation::Sin, Activation::Softplus]);
    let mut numbers = Numbers(5);
    let mut mlp = Mlp::new(shape.clone(), Precision::Double).expect("the shape of a network");
    mlp.set_parameters(&numbers.theta(&shape));
    mlp.reserve(3, 4);
    let (y, w) = (numbers.vec(2), numbers.vec(2));
    let mut dy = [0.0; 2];
    mlp.eval(1, &[0.0], &y, &[], &mut dy);
    let mut expected = [0.0; 2];
    mlp.pull_back(1, &w, &mut expected);

    mlp.eval(2, &[0.0; 4], &numbers.vec(8), &[], &mut [0.0; 8]);
    mlp.eval(0, &[0.0], &y, &[], &mut dy);
    mlp.eval(2, &[0.0], &y, &[], &mut dy);
    for slot in [2, 0] {
        let mut y_bar = [0.0; 2];
        mlp.pull_back(slot, &w, &mut y_bar);
        assert_eq!(bits(&y_bar), bits(&expected), "slot {slot}");
    }
}
