//! The state's and the parameters' pull-back are the two halves of the joint one, and the Jacobian
//! is the derivative of the rate: for every field.

mod mlp_support;
mod systems;

use lawful_ode::{
    Activation, Kernels, Mlp, MlpShape, Precision, Recorded, Scaled, Scaling, VectorField,
};
use mlp_support::{Numbers, bits, distance, reference, round, shape, shapes};
use systems::{BlowUp, DRIVEN, Driven, Forgetful, Integral, LIMIT_CYCLE, LimitCycle, Linear};

/// A field and a θ for it.
struct Case {
    name: String,
    field: Box<dyn VectorField>,
    theta: Vec<f64>,
    precision: Precision,
}

/// A field with the required methods only, so with the trait's joint pull-back and Jacobian.
struct Required(Box<dyn VectorField>);

impl VectorField for Required {
    fn state_len(&self) -> usize {
        self.0.state_len()
    }

    fn output_len(&self) -> usize {
        self.0.output_len()
    }

    fn input_len(&self) -> usize {
        self.0.input_len()
    }

    fn parameter_len(&self) -> usize {
        self.0.parameter_len()
    }

    fn set_parameters(&mut self, theta: &[f64]) {
        self.0.set_parameters(theta);
    }

    fn reserve(&mut self, slots: usize, columns: usize) {
        self.0.reserve(slots, columns);
    }

    fn slot_bytes(&self, columns: usize) -> usize {
        self.0.slot_bytes(columns)
    }

    fn eval(&mut self, slot: usize, t: &[f64], y: &[f64], u: &[f64], dy: &mut [f64]) {
        self.0.eval(slot, t, y, u, dy);
    }

    fn pull_back_state(&mut self, slot: usize, w: &[f64], y_bar: &mut [f64]) {
        self.0.pull_back_state(slot, w, y_bar);
    }

    fn pull_back_parameters(&mut self, slot: usize, w: &[f64]) {
        self.0.pull_back_parameters(slot, w);
    }

    fn flush(&mut self, theta_bar: &mut [f64]) {
        self.0.flush(theta_bar);
    }

    fn fork(&self) -> Box<dyn VectorField> {
        Box::new(Self(self.0.fork()))
    }
}

/// Scales unlike each other around a field.
fn scaled(field: Box<dyn VectorField>) -> Scaled {
    let scales = |len: usize| (0..len).map(|i| 0.5 + 0.75 * (i % 3) as f64).collect::<Vec<_>>();
    let centres = |len: usize| (0..len).map(|i| 0.25 * (i % 4) as f64 - 0.5).collect::<Vec<_>>();
    let (d, m, outputs) = (field.state_len(), field.input_len(), field.output_len());
    let scaling = Scaling {
        state_centre: centres(d),
        state: scales(d),
        rate: scales(outputs + 1).split_off(1),
        input_centre: centres(m),
        input: scales(m),
        time_centre: 1.0,
        time: 4.0,
    };
    Scaled::new(field, scaling).expect("scales of the field's lengths")
}

/// Networks of all shapes and of fewer outputs than state variables, in both precisions.
fn networks() -> Vec<(MlpShape, Mlp, Precision)> {
    let mut shapes = shapes();
    for outputs in 1..4 {
        let mut shape = shape(4, &[17, 9], &[Activation::Silu, Activation::Tanh]);
        (shape.time, shape.inputs, shape.outputs) = (true, 2, outputs);
        shapes.push(shape);
    }
    let mut networks = Vec::new();
    for shape in shapes {
        for precision in Precision::ALL {
            for kernels in Kernels::available() {
                let mlp = Mlp::with_kernels(shape.clone(), precision, kernels)
                    .expect("the shape of a network");
                networks.push((shape.clone(), mlp, precision));
            }
        }
    }
    networks
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (n, (shape, mlp, precision)) in networks().into_iter().enumerate() {
        let theta = Numbers(n as u64).theta(&shape);
        let mut push = |what, field| {
            let name = format!("{what}, {}, {shape:?}", precision.name());
            cases.push(Case { name, field, theta: theta.clone(), precision });
        };
        push("scaled", Box::new(scaled(mlp.fork())) as Box<dyn VectorField>);
        push("required", Box::new(Required(mlp.fork())));
        push("network", Box::new(mlp));
    }
    let mut push = |name: &str, field: Box<dyn VectorField>, theta: &[f64]| {
        let (name, theta) = (name.to_owned(), theta.to_vec());
        cases.push(Case { name, field, theta, precision: Precision::Double });
    };
    push("limit cycle", Box::new(LimitCycle::field()), &LIMIT_CYCLE);
    push("driven", Box::new(Driven::field()), &DRIVEN);
    push("forgetful", Box::new(Forgetful::new(Box::new(Driven::field()))), &DRIVEN);
    push("scaled driven", Box::new(scaled(Box::new(Driven::field()))), &DRIVEN);
    push("linear", Box::new(Recorded::new(Linear)), &[0.3, -0.4]);
    push("blow-up", Box::new(Recorded::new(BlowUp)), &[0.7]);
    push("integral", Box::new(Recorded::new(Integral)), &[0.7]);
    let shape = MlpShape { time: true, ..MlpShape::new(3, &[5, 4], Activation::Sin) };
    push("reference", Box::new(reference(&shape)), &Numbers(4).theta(&shape));
    cases
}

/// The calls of [`round`] by halves, with what must not disturb them in between.
fn round_by_halves(
    field: &mut dyn VectorField,
    theta: &[f64],
    columns: &[usize],
    seed: u64,
) -> (Vec<f64>, Vec<f64>) {
    let mut numbers = Numbers(seed);
    let (d, m, outputs) = (field.state_len(), field.input_len(), field.output_len());
    field.set_parameters(theta);
    field.reserve(columns.len(), columns.iter().copied().max().unwrap_or(0));
    let mut points = vec![];
    for (slot, &columns) in columns.iter().enumerate() {
        let point = (numbers.vec(columns), numbers.vec(columns * d), numbers.vec(columns * m));
        let mut dy = vec![f64::NAN; columns * outputs];
        field.eval(slot, &point.0, &point.1, &point.2, &mut dy);
        points.push(point);
    }
    let (mut all, mut theta_bar) = (vec![], vec![0.5; theta.len()]);
    for (slot, &columns) in columns.iter().enumerate().rev() {
        let w = numbers.vec(columns * outputs);
        let (mut before, mut after) = (vec![0.25; columns * d], vec![0.25; columns * d]);
        field.pull_back_state(slot, &w, &mut before);
        field.pull_back_parameters(slot, &w);
        let mut other = vec![0.0; columns * d];
        field.pull_back_state(slot, &vec![1.5; columns * outputs], &mut other);
        if slot == 0 {
            field.jacobian(slot, &mut vec![f64::NAN; columns * outputs * d]);
        }
        field.pull_back_state(slot, &w, &mut after);
        assert_eq!(bits(&before), bits(&after));
        all.extend(before);
    }
    // What is pending does not need its slots.
    let (t, y, u) = &points[0];
    let elsewhere: Vec<f64> = y.iter().map(|y| y + 1.0).collect();
    field.eval(0, t, &elsewhere, u, &mut vec![0.0; columns[0] * outputs]);
    field.pull_back_state(0, &vec![1.0; columns[0] * outputs], &mut vec![0.0; columns[0] * d]);
    field.flush(&mut theta_bar);
    (all, theta_bar)
}

#[test]
fn both_halves_are_the_joint_pull_back_bit_for_bit() {
    for Case { name, mut field, theta, .. } in cases() {
        for columns in [&[1][..], &[3, 1, 7, 2, 5]] {
            let joint = round(&mut *field, &theta, columns, 3);
            let (y_bar, theta_bar) = round_by_halves(&mut *field, &theta, columns, 3);
            assert_eq!(bits(&joint.y_bar), bits(&y_bar), "{name}");
            assert_eq!(bits(&joint.theta_bar), bits(&theta_bar), "{name}");
        }
    }
}

#[test]
fn both_halves_are_the_joint_pull_back_when_the_queue_fills_many_times() {
    let shape = shape(2, &[17, 9], &[Activation::Elu, Activation::Sin]);
    let theta = Numbers(4).theta(&shape);
    for precision in Precision::ALL {
        let mut mlp = Mlp::new(shape.clone(), precision).expect("the shape of a network");
        for columns in [vec![1; 5000], vec![33; 140], vec![150, 40, 200]] {
            let joint = round(&mut mlp, &theta, &columns, 3);
            let (y_bar, theta_bar) = round_by_halves(&mut mlp, &theta, &columns, 3);
            assert_eq!(bits(&joint.y_bar), bits(&y_bar));
            assert_eq!(bits(&joint.theta_bar), bits(&theta_bar));
        }
    }
}

/// The Jacobian of all columns, evaluated in slot 1 of 2.
fn jacobian(field: &mut dyn VectorField, t: &[f64], y: &[f64], u: &[f64]) -> Vec<f64> {
    let (d, outputs) = (field.state_len(), field.output_len());
    let mut jacobian = vec![f64::NAN; t.len() * outputs * d];
    field.eval(1, t, y, u, &mut vec![0.0; t.len() * outputs]);
    field.jacobian(1, &mut jacobian);
    jacobian
}

#[test]
fn jacobian_matches_central_differences_for_every_field_and_number_of_columns() {
    for Case { name, mut field, theta, precision } in cases() {
        let (d, m, outputs) = (field.state_len(), field.input_len(), field.output_len());
        if precision == Precision::Single || d > 100 {
            continue;
        }
        field.set_parameters(&theta);
        for columns in [1, 3, 5] {
            field.reserve(2, columns);
            let mut numbers = Numbers(8);
            let (t, y, u) =
                (numbers.vec(columns), numbers.vec(columns * d), numbers.vec(columns * m));
            let found = jacobian(&mut *field, &t, &y, &u);
            let mut expected = vec![f64::NAN; found.len()];
            let h = 1e-6;
            for i in 0..d {
                let [above, below] = [h, -h].map(|h| {
                    let (mut y, mut dy) = (y.clone(), vec![f64::NAN; columns * outputs]);
                    y.iter_mut().skip(i).step_by(d).for_each(|y| *y += h);
                    field.eval(0, &t, &y, &u, &mut dy);
                    dy
                });
                for (row, (above, below)) in above.iter().zip(&below).enumerate() {
                    expected[row * d + i] = (above - below) / (2.0 * h);
                }
            }
            let error = distance(&found, &expected);
            assert!(error <= 1e-6, "{name}, {columns} columns: {error:e}");
        }
    }
}

#[test]
fn jacobian_of_the_network_is_the_oracles_in_both_precisions() {
    for (n, (shape, mut mlp, precision)) in networks().into_iter().enumerate() {
        let mut numbers = Numbers(n as u64);
        let (theta, mut oracle) = (numbers.theta(&shape), reference(&shape));
        let point = (numbers.vec(5), numbers.vec(5 * shape.state), numbers.vec(5 * shape.inputs));
        let [expected, found] = [&mut oracle as &mut dyn VectorField, &mut mlp].map(|field| {
            field.set_parameters(&theta);
            field.reserve(2, 5);
            jacobian(field, &point.0, &point.1, &point.2)
        });
        let tolerance = if precision == Precision::Double { 1e-13 } else { 2e-5 };
        let error = distance(&found, &expected);
        assert!(error <= tolerance, "{}, {shape:?}: {error:e}", precision.name());
    }
}

#[test]
#[should_panic(expected = "one matrix of outputs × state per column")]
fn a_jacobian_of_another_length_is_refused() {
    let mut field = LimitCycle::field();
    field.reserve(1, 1);
    field.eval(0, &[0.0], &[0.1, 0.2], &[], &mut [0.0; 2]);
    field.jacobian(0, &mut [0.0; 5]);
}
