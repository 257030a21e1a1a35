//! A scaled field is the field in other units, and its gradient is that of its value.

mod mlp_support;

use lawful_ode::{Activation, Mlp, Precision, Scaled, Scaling, VectorField};
use mlp_support::{Numbers, bits, round, shape};

const STATE: usize = 3;

fn scaled(outputs: usize) -> (Scaled, usize) {
    let mut shape = shape(STATE, &[5], &[Activation::Tanh]);
    (shape.time, shape.inputs, shape.outputs) = (true, 2, outputs);
    let scaling = Scaling {
        state_centre: vec![0.5, -0.25, 0.0],
        state: vec![2.0, 0.5, 1.5],
        rate: [3.0, 0.25, 4.0][..outputs].to_vec(),
        input_centre: vec![0.25, -1.0],
        input: vec![0.5, 2.0],
        time_centre: 1.0,
        time: 4.0,
    };
    let parameters = shape.parameter_len();
    (
        Scaled::new(
            Box::new(Mlp::new(shape, Precision::Double).expect("the shape of a network")),
            scaling,
        )
        .expect("scales of the field's lengths"),
        parameters,
    )
}

#[test]
fn gradient_matches_central_differences_for_every_number_of_outputs() {
    for outputs in 1..=STATE {
        let (mut field, parameters) = scaled(outputs);
        assert_eq!((field.state_len(), field.output_len()), (STATE, outputs));
        let mut numbers = Numbers(3);
        let (theta, y) = (numbers.vec(parameters), numbers.vec(STATE));
        let (u, w) = (numbers.vec(2), numbers.vec(outputs));
        let mut value = |theta: &[f64], y: &[f64]| {
            let mut dy = vec![f64::NAN; outputs];
            field.set_parameters(theta);
            field.reserve(1, 1);
            field.eval(0, &[0.3], y, &u, &mut dy);
            dy.iter().zip(&w).map(|(dy, w)| dy * w).sum::<f64>()
        };
        let h = 1e-6;
        let mut expected = vec![];
        for i in 0..parameters + STATE {
            let [above, below] = [h, -h].map(|h| {
                let (mut theta, mut y) = (theta.clone(), y.clone());
                *theta.iter_mut().chain(&mut y).nth(i).expect("a number of θ or y") += h;
                value(&theta, &y)
            });
            expected.push((above - below) / (2.0 * h));
        }
        value(&theta, &y);
        let (mut theta_bar, mut y_bar) = (vec![0.0; parameters], [0.0; STATE]);
        field.pull_back(0, &w, &mut y_bar);
        field.flush(&mut theta_bar);
        for (i, bar) in theta_bar.iter().chain(&y_bar).enumerate() {
            let error = (bar - expected[i]).abs();
            assert!(error <= 1e-6, "{outputs} outputs, number {i}: {error:e}");
        }
    }
}

#[test]
fn no_scale_changes_nothing() {
    let shape = shape(STATE, &[5], &[Activation::Tanh]);
    let theta = Numbers(5).theta(&shape);
    let mut mlp = Mlp::new(shape.clone(), Precision::Double).expect("the shape of a network");
    let plain = round(&mut mlp, &theta, &[2, 1], 1);
    let mut field =
        Scaled::new(mlp.fork(), Scaling::none(STATE, 0)).expect("scales of the field's lengths");
    let same = round(&mut field, &theta, &[2, 1], 1);
    assert_eq!(bits(&plain.dy), bits(&same.dy));
    assert_eq!(bits(&plain.theta_bar), bits(&same.theta_bar));
}

#[test]
fn a_scaling_of_other_lengths_is_refused() {
    let field =
        || Mlp::new(shape(STATE, &[], &[]), Precision::Double).expect("the shape of a network");
    let error =
        |scaling| Scaled::new(Box::new(field()), scaling).err().map(|error| error.to_string());
    assert_eq!(error(Scaling::none(STATE, 0)), None);
    let rate = Scaling { rate: vec![1.0; 2], ..Scaling::none(STATE, 0) };
    assert_eq!(error(rate).unwrap(), "`rate` has 2 numbers, but the field needs 3");
    let input = error(Scaling::none(STATE, 1)).unwrap();
    assert_eq!(input, "`input_centre` has 1 numbers, but the field needs 0");
}
