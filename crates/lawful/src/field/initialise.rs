//! Initial weights of a network.

use lawful_ode::MlpShape;

use crate::Random;

/// Distribution of the initial weights; biases start at 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Initialise {
    /// `N(0, std²)`: the paper's with `std = 0.1`, the default.
    Normal {
        /// Standard deviation, > 0.
        std: f64,
    },
    /// `N(0, 2/(inputs + outputs))` per layer (Glorot and Bengio 2010).
    Xavier,
    /// `N(0, 2/inputs)` per layer (He et al. 2015).
    He,
}

impl Default for Initialise {
    fn default() -> Self {
        Self::Normal { std: 0.1 }
    }
}

impl Initialise {
    /// The words of `init` in an experiment file.
    pub const NAMES: [&'static str; 3] = ["normal", "xavier", "he"];

    /// Draws θ for a network of this shape.
    pub fn draw(&self, shape: &MlpShape, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed, "weights");
        let mut theta = vec![0.0; shape.parameter_len()];
        for layer in shape.layers() {
            let (inputs, outputs) = (layer.inputs as f64, layer.outputs as f64);
            let std = match *self {
                Self::Normal { std } => std,
                Self::Xavier => (2.0 / (inputs + outputs)).sqrt(),
                Self::He => (2.0 / inputs).sqrt(),
            };
            for weight in &mut theta[layer.weights.clone()] {
                *weight = std * random.normal();
            }
        }
        theta
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lawful_ode::Activation;

    #[test]
    fn weights_have_the_stated_spread_and_biases_are_zero() {
        let shape = MlpShape {
            state: 40,
            outputs: 40,
            inputs: 0,
            time: false,
            hidden: vec![200],
            activations: vec![Activation::Tanh],
        };
        for (init, expected) in [
            (Initialise::default(), 0.1),
            (Initialise::Normal { std: 0.5 }, 0.5),
            (Initialise::Xavier, (2.0_f64 / 240.0).sqrt()),
            (Initialise::He, (2.0_f64 / 40.0).sqrt()),
        ] {
            let theta = init.draw(&shape, 1);
            let layer = shape.layers().next().unwrap();
            let weights = &theta[layer.weights.clone()];
            let square = weights.iter().map(|w| w * w).sum::<f64>() / weights.len() as f64;
            assert!((square.sqrt() / expected - 1.0).abs() < 0.03, "{init:?}: {}", square.sqrt());
            assert!(theta[layer.biases.clone()].iter().all(|b| b.abs() < f64::MIN_POSITIVE));
            assert_ne!(theta, init.draw(&shape, 2));
            assert_eq!(theta, init.draw(&shape, 1));
        }
    }
}
