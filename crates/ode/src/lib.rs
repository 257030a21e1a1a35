//! How a path is computed and differentiated: vector fields, Runge–Kutta methods, exact adjoints.

mod field;

pub use field::{Equations, Recorded, VectorField};
