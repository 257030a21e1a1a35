//! The nonlinearities between the layers of a network, in one list.
//!
//! | word | value `a = σ(x)` | slope `σ′` |
//! |---|---|---|
//! | `tanh` | tanh x | 1 − a² |
//! | `elu` | x if x > 0, else eˣ − 1 | 1 if a > 0, else a + 1 |
//! | `relu` | max(x, 0) | 1 if a > 0, else 0 |
//! | `softplus` | ln(1 + eˣ) | 1 − e⁻ᵃ |
//! | `silu` | x s(x) with s(x) = 1/(1 + e⁻ˣ) | s(x) (1 + x s(−x)) |
//! | `sin` | sin x | cos x |
//! | `identity` | x | 1 |
//!
//! The functions here are the readable ones, with the standard library's mathematics; the fast
//! ones under `kernels` are tested against them.

/// A nonlinearity that is applied to every output of a hidden layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Activation {
    /// Hyperbolic tangent.
    Tanh,
    /// Exponential linear unit with α = 1.
    Elu,
    /// Rectified linear unit; its slope at 0 is 0.
    Relu,
    /// A smooth `relu`: ln(1 + eˣ).
    Softplus,
    /// Sigmoid-weighted linear unit: x / (1 + e⁻ˣ).
    Silu,
    /// Sine.
    Sin,
    /// No nonlinearity.
    Identity,
}

impl Activation {
    /// All activations.
    pub const ALL: [Self; 7] =
        [Self::Tanh, Self::Elu, Self::Relu, Self::Softplus, Self::Silu, Self::Sin, Self::Identity];

    /// Returns its name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tanh => "tanh",
            Self::Elu => "elu",
            Self::Relu => "relu",
            Self::Softplus => "softplus",
            Self::Silu => "silu",
            Self::Sin => "sin",
            Self::Identity => "identity",
        }
    }

    /// Returns the activation with this [`name`](Self::name).
    ///
    /// ```
    /// use lawful_ode::Activation;
    /// assert_eq!(Activation::from_name("elu"), Some(Activation::Elu));
    /// assert_eq!(Activation::from_name("swish"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|activation| activation.name() == name)
    }

    /// σ(x).
    pub fn value(self, x: f64) -> f64 {
        match self {
            Self::Tanh => x.tanh(),
            Self::Elu | Self::Relu if x > 0.0 => x,
            Self::Elu => x.exp_m1(),
            Self::Relu if x <= 0.0 => 0.0,
            Self::Softplus => x.max(0.0) + (-x.abs()).exp().ln_1p(),
            Self::Silu => x * sigmoid(x),
            Self::Sin => x.sin(),
            Self::Relu | Self::Identity => x, // NaN stays NaN
        }
    }

    /// σ′(x).
    pub fn slope(self, x: f64) -> f64 {
        match self {
            Self::Tanh => 1.0 - x.tanh().powi(2),
            Self::Elu if x > 0.0 => 1.0,
            Self::Elu => x.exp(),
            Self::Relu => f64::from(u8::from(x > 0.0)),
            Self::Softplus => sigmoid(x),
            Self::Silu => sigmoid(x) * (1.0 + x * sigmoid(-x)),
            Self::Sin => x.cos(),
            Self::Identity => 1.0,
        }
    }

    /// Returns whether σ′ is a function of σ alone, so that a tape need not store the argument.
    pub(crate) fn slope_follows_from_value(self) -> bool {
        !matches!(self, Self::Silu | Self::Sin)
    }
}

impl std::fmt::Display for Activation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// 1 / (1 + e⁻ˣ), without overflow on either side.
fn sigmoid(x: f64) -> f64 {
    let e = (-x.abs()).exp();
    (if x < 0.0 { e } else { 1.0 }) / (1.0 + e)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_finds_its_activation() {
        for activation in Activation::ALL {
            assert_eq!(Activation::from_name(activation.name()), Some(activation));
        }
    }

    #[test]
    fn every_slope_is_the_derivative_of_its_value() {
        let h = 1e-5;
        for activation in Activation::ALL {
            for x in [-6.3, -1.7, -0.4, -0.01, 0.01, 0.4, 1.7, 6.3] {
                let difference = (activation.value(x + h) - activation.value(x - h)) / (2.0 * h);
                let error = (activation.slope(x) - difference).abs();
                assert!(error < 1e-9, "{activation} at {x}: {error:e}");
            }
        }
    }
}
