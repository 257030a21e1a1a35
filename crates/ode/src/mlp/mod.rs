//! The learned right-hand side: a multi-layer perceptron.
//!
//! [`MlpShape`] defines widths, activations and the layout of θ; [`ReferenceMlp`] is the formula in
//! plain loops; [`Mlp`] is the fast implementation, tested against it.

mod network;
mod passes;
mod queue;
mod reference;
mod shape;
mod tape;
mod weights;

use network::Network;
pub use reference::ReferenceMlp;
pub use shape::{LayerShape, MlpShape, ShapeError};

use crate::VectorField;
use crate::kernels::dispatch::Kernels;

/// The precision of the arithmetic inside a network. θ, states and gradients are `f64` outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Precision {
    /// 64-bit numbers.
    #[default]
    Double,
    /// 32-bit numbers: about half the time and half the memory.
    Single,
}

impl Precision {
    /// All precisions.
    pub const ALL: [Self; 2] = [Self::Double, Self::Single];

    /// Returns its name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Double => "double",
            Self::Single => "single",
        }
    }

    /// Returns the precision with this [`name`](Self::name).
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|precision| precision.name() == name)
    }
}

/// A multi-layer perceptron as the right-hand side of an ODE.
///
/// ```
/// use lawful_ode::{Activation, Mlp, MlpShape, Precision, VectorField};
/// // dy/dt = W₂ tanh(W₁ y + b₁) + b₂ with one hidden unit: θ = [W₁, b₁, W₂, b₂].
/// let shape = MlpShape {
///     state: 1,
///     outputs: 1,
///     inputs: 0,
///     time: false,
///     hidden: vec![1],
///     activations: vec![Activation::Tanh],
/// };
/// let mut field = Mlp::new(shape, Precision::Double)?;
/// field.set_parameters(&[2.0, 0.5, 3.0, 1.0]);
/// field.reserve(1, 1);
/// let mut dy = [0.0];
/// field.eval(0, &[0.0], &[0.25], &[], &mut dy);
/// assert!((dy[0] - (3.0 * 1.0_f64.tanh() + 1.0)).abs() < 1e-14);
/// # Ok::<(), lawful_ode::ShapeError>(())
/// ```
pub struct Mlp {
    shape: MlpShape,
    network: Box<dyn VectorField>,
}

impl Mlp {
    /// Creates the network of this shape, at θ = 0, with the fastest kernels of this machine.
    ///
    /// # Errors
    /// If the shape does not pass [`MlpShape::check`].
    pub fn new(shape: MlpShape, precision: Precision) -> Result<Self, ShapeError> {
        Self::with_kernels(shape, precision, Kernels::chosen())
    }

    /// Creates the network of this shape, at θ = 0, with the given kernels.
    ///
    /// # Errors
    /// If the shape does not pass [`MlpShape::check`].
    pub fn with_kernels(
        shape: MlpShape,
        precision: Precision,
        kernels: Kernels,
    ) -> Result<Self, ShapeError> {
        shape.check()?;
        let network: Box<dyn VectorField> = match precision {
            Precision::Double => Box::new(Network::<f64, 4>::new(&shape, kernels)),
            Precision::Single => Box::new(Network::<f32, 8>::new(&shape, kernels)),
        };
        Ok(Self { shape, network })
    }

    /// Returns the widths, the activations, and the layout of θ.
    pub fn shape(&self) -> &MlpShape {
        &self.shape
    }
}

impl VectorField for Mlp {
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

    fn set_parameters(&mut self, theta: &[f64]) {
        self.network.set_parameters(theta);
    }

    fn reserve(&mut self, slots: usize, columns: usize) {
        self.network.reserve(slots, columns);
    }

    fn slot_bytes(&self, columns: usize) -> usize {
        self.network.slot_bytes(columns)
    }

    fn eval(&mut self, slot: usize, t: &[f64], y: &[f64], u: &[f64], dy: &mut [f64]) {
        self.network.eval(slot, t, y, u, dy);
    }

    fn pull_back(&mut self, slot: usize, w: &[f64], y_bar: &mut [f64]) {
        self.network.pull_back(slot, w, y_bar);
    }

    fn pull_back_state(&mut self, slot: usize, w: &[f64], y_bar: &mut [f64]) {
        self.network.pull_back_state(slot, w, y_bar);
    }

    fn pull_back_parameters(&mut self, slot: usize, w: &[f64]) {
        self.network.pull_back_parameters(slot, w);
    }

    fn jacobian(&mut self, slot: usize, jacobian: &mut [f64]) {
        self.network.jacobian(slot, jacobian);
    }

    fn flush(&mut self, theta_bar: &mut [f64]) {
        self.network.flush(theta_bar);
    }

    fn fork(&self) -> Box<dyn VectorField> {
        self.network.fork()
    }
}
