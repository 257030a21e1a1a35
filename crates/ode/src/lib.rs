//! Solves initial value problems with explicit Runge–Kutta solvers, and differentiates the
//! solutions by the discrete adjoint.
//!
//! A [`VectorField`] is the right-hand side `dy/dt = f(t, y, u; θ)`; a [`Solver`] is a Runge–Kutta
//! [`Tableau`] with step-size [`Control`]; [`InitialValueProblems`] are initial states with
//! observation times. [`solve()`] returns a [`Path`], and [`pull_back`] is its discrete adjoint
//! along the same steps: the gradient of the computed numbers, exact to rounding.
//!
//! ```
//! use lawful_ode::{Control, InitialValueProblems, Equations, Solver, NoInputs, Path, Recorded, VectorField};
//! use lawful_ode::{tableaus, pull_back, solve};
//!
//! /// `y' = −θ y`
//! #[derive(Clone)]
//! struct Decay;
//!
//! impl Equations for Decay {
//!     fn state_len(&self) -> usize {
//!         1
//!     }
//!     fn parameter_len(&self) -> usize {
//!         1
//!     }
//!     fn eval(&mut self, theta: &[f64], _t: f64, y: &[f64], _u: &[f64], dy: &mut [f64]) {
//!         dy[0] = -theta[0] * y[0];
//!     }
//!     fn pull_back(
//!         &mut self, theta: &[f64], _t: f64, y: &[f64], _u: &[f64], w: &[f64],
//!         y_bar: &mut [f64], theta_bar: &mut [f64],
//!     ) {
//!         y_bar[0] -= theta[0] * w[0];
//!         theta_bar[0] -= y[0] * w[0];
//!     }
//! }
//!
//! let mut field = Recorded::new(Decay);
//! field.set_parameters(&[0.5]);
//! let solver = Solver::new(&tableaus::RK4, Control::Grid { substeps: 10 })?;
//! let mut ivps = InitialValueProblems::new(1);
//! ivps.push(&[0.0, 1.0, 2.0], &[3.0])?;
//! let mut path = Path::new();
//! solve(&mut field, &solver, &ivps, &NoInputs, &mut path)?;
//! assert!((path.observed(0)[2] - 3.0 * (-1.0_f64).exp()).abs() < 1e-6);
//!
//! // The gradient of y(2) = y_0 e^{−2θ} with respect to y_0 and θ.
//! let (mut initial_bar, mut theta_bar) = ([0.0], [0.0]);
//! let w = [0.0, 0.0, 1.0];
//! pull_back(
//!     &mut field, &solver, &ivps, &NoInputs, &mut path, &w, &mut initial_bar, &mut theta_bar,
//! );
//! assert!((initial_bar[0] - (-1.0_f64).exp()).abs() < 1e-6);
//! assert!((theta_bar[0] + 6.0 * (-1.0_f64).exp()).abs() < 1e-5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod activation;
mod adjoint;
mod control;
mod dense;
mod error;
mod field;
mod guard;
mod initial_value_problems;
mod inputs;
mod kernels;
mod mlp;
mod path;
mod scaled;
mod sensitivity;
mod shifted;
mod solve;
mod tableau;
pub mod tableaus;
mod with_effects;

pub use activation::Activation;
pub use adjoint::pull_back;
pub use control::{Adaptive, Control};
pub use dense::Dense;
pub use error::{InvalidSolver, Moment, SolveError};
pub use field::{Equations, Recorded, VectorField};
pub use guard::{GuardedStep, InsideBars, Refused, StepGuard};
pub use initial_value_problems::{InitialValueProblems, InvalidProblem};
pub use inputs::{Inputs, NoInputs};
pub use kernels::dispatch::{Kernels, kernels, vectorised};
pub use mlp::{LayerShape, Mlp, MlpShape, Precision, ReferenceMlp, ShapeError};
pub use path::{Counts, Path, Step};
pub use scaled::{Scaled, Scaling, ScalingError};
pub use sensitivity::{sensitivities, sensitivities_len};
pub use shifted::{Shifted, times_since};
pub use solve::{Solver, predict, replay, solve};
pub use tableau::{Embedded, Tableau};
pub use tableaus::TABLEAUS;
pub use with_effects::WithEffects;
