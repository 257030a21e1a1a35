//! How a path is computed and differentiated: vector fields, Runge–Kutta methods, exact adjoints.

mod activation;
mod field;
mod kernels;
mod mlp;

pub use activation::Activation;
pub use field::{Equations, Recorded, VectorField};
pub use kernels::dispatch::{Kernels, kernels};
pub use mlp::{LayerShape, Mlp, MlpShape, Precision, ReferenceMlp, ShapeError};
