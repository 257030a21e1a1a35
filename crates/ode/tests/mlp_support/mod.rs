//! What the tests of the network share: numbers, shapes, and one round of all results.
#![allow(dead_code, reason = "each test file is a program of its own and uses a part of it")]

use lawful_ode::{Activation, Mlp, MlpShape, Recorded, ReferenceMlp, VectorField};

/// Numbers in [−1, 1), the same in every run (splitmix64).
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn next(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    pub(crate) fn vec(&mut self, len: usize) -> Vec<f64> {
        (0..len).map(|_| self.next()).collect()
    }

    pub(crate) fn of<T: Copy>(&mut self, list: &[T]) -> T {
        let len = list.len() as u64;
        list[usize::try_from(self.bits() % len).expect("an index of the list")]
    }

    /// θ with weights of the size 1/√inputs, so that no layer saturates.
    pub(crate) fn theta(&mut self, shape: &MlpShape) -> Vec<f64> {
        let mut theta = self.vec(shape.parameter_len());
        for layer in shape.layers() {
            let size = 1.0 / (layer.inputs as f64).sqrt();
            theta[layer.weights].iter_mut().for_each(|w| *w *= 2.0 * size);
        }
        theta
    }
}

/// A shape without time and inputs.
pub(crate) fn shape(state: usize, hidden: &[usize], activations: &[Activation]) -> MlpShape {
    MlpShape {
        state,
        outputs: state,
        inputs: 0,
        time: false,
        hidden: hidden.to_vec(),
        activations: activations.to_vec(),
    }
}

/// Every width, activation and option in turn, and no more work than a test should have.
pub(crate) fn shapes() -> Vec<MlpShape> {
    let mut numbers = Numbers(1);
    let widths = [1, 2, 3, 7, 8, 9, 50, 64, 100];
    let mut shapes = vec![
        shape(1, &[], &[]),
        shape(9, &[], &[]),
        shape(1, &[50, 50], &[Activation::Tanh, Activation::Elu]),
        shape(4, &[50, 64, 50], &[Activation::Tanh, Activation::Elu, Activation::Tanh]),
        shape(2, &[513], &[Activation::Tanh]),
        shape(513, &[3], &[Activation::Elu]),
        shape(64, &[130, 130], &[Activation::Elu, Activation::Tanh]),
    ];
    for (i, &first) in widths.iter().enumerate() {
        for activation in Activation::ALL {
            let other = numbers.of(&Activation::ALL);
            let state = numbers.of(&[1, 2, 4, 5, 9]);
            shapes.push(MlpShape {
                state,
                outputs: state,
                inputs: i % 3,
                time: numbers.of(&[false, true]),
                hidden: vec![first, numbers.of(&widths)],
                activations: vec![activation, other],
            });
        }
    }
    shapes
}

/// Everything that a field returns for one call sequence.
pub(crate) struct Round {
    pub(crate) dy: Vec<f64>,
    pub(crate) y_bar: Vec<f64>,
    pub(crate) theta_bar: Vec<f64>,
}

/// Evaluates one slot for each entry of `columns`, then pulls all back in reverse order.
pub(crate) fn round(
    field: &mut dyn VectorField,
    theta: &[f64],
    columns: &[usize],
    seed: u64,
) -> Round {
    let mut numbers = Numbers(seed);
    let (d, m, outputs) = (field.state_len(), field.input_len(), field.output_len());
    field.set_parameters(theta);
    field.reserve(columns.len(), columns.iter().copied().max().unwrap_or(0));
    let mut round =
        Round { dy: vec![], y_bar: vec![], theta_bar: vec![0.5; field.parameter_len()] };
    for (slot, &columns) in columns.iter().enumerate() {
        let mut dy = vec![f64::NAN; columns * outputs];
        let (t, y) = (numbers.vec(columns), numbers.vec(columns * d));
        field.eval(slot, &t, &y, &numbers.vec(columns * m), &mut dy);
        round.dy.extend(dy);
    }
    for (slot, &columns) in columns.iter().enumerate().rev() {
        let mut y_bar = vec![0.25; columns * d];
        field.pull_back(slot, &numbers.vec(columns * outputs), &mut y_bar);
        round.y_bar.extend(y_bar);
    }
    field.flush(&mut round.theta_bar);
    round
}

/// ‖a − b‖ / ‖b‖.
pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let norm = |x: &mut dyn Iterator<Item = f64>| x.map(|x| x * x).sum::<f64>().sqrt();
    norm(&mut a.iter().zip(b).map(|(a, b)| a - b)) / norm(&mut b.iter().copied()).max(1e-300)
}

/// Bits, to compare without tolerance.
pub(crate) fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|x| x.to_bits()).collect()
}

/// The oracle as a field.
pub(crate) fn reference(shape: &MlpShape) -> Recorded<ReferenceMlp> {
    Recorded::new(ReferenceMlp::new(shape.clone()).expect("the shape of a network"))
}

/// Asserts that the fast network agrees with the oracle.
pub(crate) fn assert_agrees(mlp: &mut Mlp, columns: &[usize], seed: u64, tolerance: f64) {
    let shape = mlp.shape().clone();
    let theta = Numbers(seed + 7).theta(&shape);
    let fast = round(mlp, &theta, columns, seed);
    let slow = round(&mut reference(&shape), &theta, columns, seed);
    for (what, fast, slow) in [
        ("dy", fast.dy, slow.dy),
        ("y_bar", fast.y_bar, slow.y_bar),
        ("theta_bar", fast.theta_bar, slow.theta_bar),
    ] {
        let error = distance(&fast, &slow);
        assert!(error <= tolerance, "{what}: {error:e} for {columns:?} columns of {shape:?}");
    }
}
