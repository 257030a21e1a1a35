//! The network in plain loops: slow, readable, and the oracle of the fast one.

use super::{LayerShape, MlpShape, ShapeError};
use crate::{Activation, Equations};

/// A multi-layer perceptron as the formulas say it, in double precision.
///
/// Forward, with `x₀ = [t, y, u]`: `z_l = W_l x_{l−1} + b_l`, `x_l = σ_l(z_l)`, `dy = z_L`.
///
/// Backward, with `δ_L = w`: `W̄_l += δ_l x_{l−1}ᵀ`, `b̄_l += δ_l`, `x̄_{l−1} = W_lᵀ δ_l`,
/// `δ_{l−1} = x̄_{l−1} ∘ σ′(z_{l−1})`, and `ȳ` is the middle part of `x̄₀`.
#[derive(Clone, Debug)]
pub struct ReferenceMlp {
    shape: MlpShape,
    layers: Vec<LayerShape>,
}

impl ReferenceMlp {
    /// Creates the network of this shape.
    ///
    /// # Errors
    /// If the shape does not pass [`MlpShape::check`].
    pub fn new(shape: MlpShape) -> Result<Self, ShapeError> {
        shape.check()?;
        Ok(Self { layers: shape.layers().collect(), shape })
    }

    /// `[x₀, …, x_{L−1}]` and `[z₁, …, z_L]`.
    fn forward(&self, theta: &[f64], t: f64, y: &[f64], u: &[f64]) -> (Vec<Row>, Vec<Row>) {
        let mut x: Row = if self.shape.time { vec![t] } else { vec![] };
        x.extend(y);
        x.extend(u);
        let (mut xs, mut zs) = (vec![], vec![]);
        for (l, layer) in self.layers.iter().enumerate() {
            let weights = &theta[layer.weights.clone()];
            let mut z = theta[layer.biases.clone()].to_vec();
            for (z, row) in z.iter_mut().zip(weights.chunks_exact(layer.inputs)) {
                *z += row.iter().zip(&x).map(|(w, x)| w * x).sum::<f64>();
            }
            xs.push(x);
            x = z.iter().map(|&z| self.activation(l).value(z)).collect();
            zs.push(z);
        }
        (xs, zs)
    }

    /// σ of layer `l`; the output is linear.
    fn activation(&self, l: usize) -> Activation {
        self.shape.activations.get(l).copied().unwrap_or(Activation::Identity)
    }
}

type Row = Vec<f64>;

impl Equations for ReferenceMlp {
    fn state_len(&self) -> usize {
        self.shape.state
    }

    fn output_len(&self) -> usize {
        self.shape.outputs
    }

    fn input_len(&self) -> usize {
        self.shape.inputs
    }

    fn parameter_len(&self) -> usize {
        self.shape.parameter_len()
    }

    fn eval(&mut self, theta: &[f64], t: f64, y: &[f64], u: &[f64], dy: &mut [f64]) {
        let (_, zs) = self.forward(theta, t, y, u);
        dy.copy_from_slice(&zs[zs.len() - 1]);
    }

    fn pull_back(
        &mut self,
        theta: &[f64],
        t: f64,
        y: &[f64],
        u: &[f64],
        w: &[f64],
        y_bar: &mut [f64],
        theta_bar: &mut [f64],
    ) {
        let (xs, zs) = self.forward(theta, t, y, u);
        let mut delta = w.to_vec();
        for (l, layer) in self.layers.iter().enumerate().rev() {
            let weights = &theta[layer.weights.clone()];
            let mut x_bar = vec![0.0; layer.inputs];
            for (o, delta) in delta.iter().enumerate() {
                theta_bar[layer.biases.start + o] += delta;
                for i in 0..layer.inputs {
                    theta_bar[layer.weights.start + o * layer.inputs + i] += delta * xs[l][i];
                    x_bar[i] += delta * weights[o * layer.inputs + i];
                }
            }
            if l > 0 {
                let slope = |z: &f64| self.activation(l - 1).slope(*z);
                delta = x_bar.iter().zip(&zs[l - 1]).map(|(x_bar, z)| x_bar * slope(z)).collect();
            } else {
                let y_part = &x_bar[usize::from(self.shape.time)..];
                y_bar.iter_mut().zip(y_part).for_each(|(sum, part)| *sum += part);
            }
        }
    }
}
