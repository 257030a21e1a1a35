//! Widths and activations of a network, and the layout of its parameters in θ.

use std::ops::Range;

use crate::Activation;

/// Widths and activations of an [`Mlp`](crate::Mlp).
///
/// The network's input is `[t, y, u]` (`t` only with a time input); each hidden layer is
/// `σ(W x + b)`; the output is linear, and as wide as the state unless the network is a part of a
/// field. Without hidden layers the field is affine; without outputs there are no layers.
///
/// θ holds the layers one after the other, from input to output: the weights `W` row by row
/// (`W[output][input]`), then the biases `b`.
///
/// ```
/// use lawful_ode::{Activation, MlpShape};
/// let shape = MlpShape {
///     state: 2,
///     outputs: 2,
///     inputs: 0,
///     time: false,
///     hidden: vec![50, 50],
///     activations: vec![Activation::Tanh, Activation::Elu],
/// };
/// assert_eq!(shape.parameter_len(), (2 + 1) * 50 + (50 + 1) * 50 + (50 + 1) * 2);
/// let last = shape.layers().last().expect("there is always an output layer");
/// assert_eq!((last.inputs, last.outputs), (50, 2));
/// assert_eq!(last.biases.end, shape.parameter_len());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MlpShape {
    /// Number of state variables.
    pub state: usize,
    /// Number of rates that the network computes.
    pub outputs: usize,
    /// Number of exogenous inputs `u(t)`.
    pub inputs: usize,
    /// Whether the time `t` is an input of the network.
    pub time: bool,
    /// Width of each hidden layer.
    pub hidden: Vec<usize>,
    /// Activation of each hidden layer.
    pub activations: Vec<Activation>,
}

/// One affine map `x ↦ W x + b` and its place in θ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerShape {
    /// Length of `x`.
    pub inputs: usize,
    /// Length of `b`.
    pub outputs: usize,
    /// Range of `W` in θ, row by row: `W[output][input]` at `output * inputs + input`.
    pub weights: Range<usize>,
    /// Range of `b` in θ.
    pub biases: Range<usize>,
}

/// Why a shape is not the shape of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShapeError {
    /// There is no state variable.
    NoState,
    /// There is no output.
    NoOutput,
    /// The hidden layer with this number, counted from 0, has no units.
    EmptyLayer(usize),
    /// It has too many parameters.
    TooLarge,
    /// There must be one activation for each hidden layer.
    Activations {
        /// Number of hidden layers.
        layers: usize,
        /// Number of activations.
        activations: usize,
    },
}

impl MlpShape {
    /// Returns the shape of an autonomous field without inputs, with one activation for all hidden
    /// layers.
    pub fn new(state: usize, hidden: &[usize], activation: Activation) -> Self {
        let activations = vec![activation; hidden.len()];
        let hidden = hidden.to_vec();
        Self { state, outputs: state, inputs: 0, time: false, hidden, activations }
    }

    /// Length of the network's input `[t, y, u]`.
    pub fn input_len(&self) -> usize {
        usize::from(self.time) + self.state + self.inputs
    }

    /// Length of θ.
    pub fn parameter_len(&self) -> usize {
        self.layers().last().map_or(0, |layer| layer.biases.end)
    }

    /// The affine maps from input to output: one per hidden layer and one for the output.
    pub fn layers(&self) -> impl Iterator<Item = LayerShape> + '_ {
        let mut inputs = self.input_len();
        let mut start = 0;
        let count = if self.outputs == 0 { 0 } else { self.hidden.len() + 1 };
        let widths = self.hidden.iter().copied().chain([self.outputs]).take(count);
        widths.map(move |outputs| {
            let middle = start + inputs * outputs;
            let end = middle + outputs;
            let layer = LayerShape { inputs, outputs, weights: start..middle, biases: middle..end };
            (inputs, start) = (outputs, end);
            layer
        })
    }

    /// Most parameters of a network: 800 MB, and the memory of an optimiser is a multiple.
    pub const MOST_PARAMETERS: usize = 100_000_000;

    /// Returns whether a network of these widths has more than the [most](Self::MOST_PARAMETERS) parameters.
    fn is_too_large(&self) -> bool {
        let mut inputs = self.input_len();
        let mut all = 0_usize;
        for &outputs in self.hidden.iter().chain([&self.outputs]) {
            let Some(own) = inputs.checked_add(1).and_then(|inputs| inputs.checked_mul(outputs))
            else {
                return true;
            };
            all = all.saturating_add(own);
            inputs = outputs;
        }
        all > Self::MOST_PARAMETERS
    }

    /// Checks that this is the shape of a network: at least one state variable and one output, no
    /// empty layer, one activation per hidden layer, and not too many parameters.
    pub fn check(&self) -> Result<(), ShapeError> {
        if self.state == 0 {
            return Err(ShapeError::NoState);
        }
        if self.outputs == 0 {
            return Err(ShapeError::NoOutput);
        }
        if let Some(layer) = self.hidden.iter().position(|&width| width == 0) {
            return Err(ShapeError::EmptyLayer(layer));
        }
        if self.hidden.len() != self.activations.len() {
            return Err(ShapeError::Activations {
                layers: self.hidden.len(),
                activations: self.activations.len(),
            });
        }
        if self.is_too_large() {
            return Err(ShapeError::TooLarge);
        }
        Ok(())
    }
}

impl std::fmt::Display for ShapeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoState => write!(f, "a network needs at least one state variable"),
            Self::NoOutput => write!(f, "a network needs at least one output"),
            Self::TooLarge => {
                let most = MlpShape::MOST_PARAMETERS;
                write!(f, "a network has at most {most} parameters: the layers are too wide")
            }
            Self::EmptyLayer(layer) => write!(f, "hidden layer {layer} has no units"),
            Self::Activations { layers, activations } => {
                write!(f, "{layers} hidden layers need as many activations, not {activations}")
            }
        }
    }
}

impl std::error::Error for ShapeError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(hidden: Vec<usize>, activations: Vec<Activation>) -> MlpShape {
        MlpShape { state: 3, outputs: 2, inputs: 2, time: true, hidden, activations }
    }

    #[test]
    fn layers_cover_theta_without_gap_or_overlap() {
        let shape = shape(vec![5, 7], vec![Activation::Tanh; 2]);
        let mut end = 0;
        let mut inputs = 6;
        for layer in shape.layers() {
            assert_eq!(layer.inputs, inputs);
            assert_eq!(layer.weights.start, end);
            assert_eq!(layer.weights.len(), layer.inputs * layer.outputs);
            assert_eq!(layer.biases.start, layer.weights.end);
            assert_eq!(layer.biases.len(), layer.outputs);
            (inputs, end) = (layer.outputs, layer.biases.end);
        }
        assert_eq!((inputs, end), (2, shape.parameter_len()));
        assert_eq!(end, 7 * 5 + 6 * 7 + 8 * 2);
    }

    #[test]
    fn impossible_shapes_are_refused() {
        assert_eq!(shape(vec![], vec![]).check(), Ok(()));
        assert_eq!(
            shape(vec![4, 0], vec![Activation::Sin; 2]).check(),
            Err(ShapeError::EmptyLayer(1))
        );
        assert_eq!(
            shape(vec![4, 4], vec![Activation::Sin]).check(),
            Err(ShapeError::Activations { layers: 2, activations: 1 })
        );
        let none = MlpShape { state: 0, ..shape(vec![], vec![]) };
        assert_eq!(none.check(), Err(ShapeError::NoState));
        let wide = |width| shape(vec![width, width], vec![Activation::Sin; 2]).check();
        assert_eq!(wide(9900), Ok(()));
        for width in [10_100, 1 << 40, usize::MAX] {
            assert_eq!(wide(width), Err(ShapeError::TooLarge));
        }
        let none = MlpShape { outputs: 0, ..shape(vec![4], vec![Activation::Sin]) };
        assert_eq!(none.check(), Err(ShapeError::NoOutput));
        assert_eq!((none.layers().count(), none.parameter_len()), (0, 0));
    }
}
