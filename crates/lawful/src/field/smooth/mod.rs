//! Smooth laws that a field guarantees: equalities, and a quantity that never rises.
//!
//! | law | in the rate | in a step |
//! |---|---|---|
//! | `E == initial(E)`, `x^2 + y^2 == 1`, several, also with `t` | projected on the tangent space, `tangent.rs` | Newton's iteration to the surface, `newton.rs` |
//! | `next(E) <= E` | what raises `E` is removed, `falling.rs` | the same iteration, where `E` rose |
//! | inside a step | | the same iteration, to a monotone cubic for `E`, `monotone.rs` |
//!
//! Linear sums may be among the equalities. The falling quantity falls on the surface of the equalities,
//! which must not depend on time then. The gradients of all equalities must be independent of each other
//! wherever a path goes; where they are not, no direction obeys the laws for certain, the solve fails, and
//! the message names them.

mod basis;
mod falling;
mod field;
mod guard;
mod laws;
mod lost;
mod monotone;
mod newton;
mod recognise;
mod surface;
mod tangent;

pub use field::SmoothField;
pub use laws::{SmoothDescription, SmoothLaw, SmoothLaws};
pub use recognise::{NotSmooth, dissipation, smooth_equality};
