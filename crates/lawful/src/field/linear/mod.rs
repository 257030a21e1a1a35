//! Linear laws that a field guarantees: sums, bounds and directions of single states.
//!
//! The network computes *flows*, each between two states, or between a state and the outside:
//!
//! ```text
//! w_i f_i = Σ_e in φ_e − Σ_e out φ_e
//! φ_e = r_e · softplus(o_e)/ln 2 · Π q          one way
//! φ_e = r_e · o_e · Π q                         signed
//! q = (y_i − l_i)/D_i,  (u_i − y_i)/D_i         distances to bounds, of order one on the data
//! ```
//!
//! A one-way flow carries the distance of its source to that state's lower bound, and of its target to that
//! state's upper bound; a signed one carries those of both ends to all of their bounds. So the rate points
//! inwards at every bound, and away from it any rate is a value of the network.
//!
//! | law | in the rate | in a step |
//! |---|---|---|
//! | `S + I + R == 763` with bounds or directions | flows between the states, `w` the weights | rounding goes to the state with most room |
//! | other sums | flows from outside, then projected in scaled coordinates, `projection.rs` | projected to their values |
//! | `y >= l`, `y <= u` | flows from and to the outside; or one signed flow, in log coordinates | shortened, `limit.rs` |
//! | `next(S) <= S`, `rate(S) <= 0` | no flow into `S` | refused if `S` rises |
//! | inside a step | | blended with the chord, `blend.rs` |
//!
//! A trained network that computes rates, not flows, gets the nearest rate within the laws instead, `nearest.rs`, and
//! the same guard of its steps.
//!
//! [`LinearForm::choose`] finds which of these a list of laws allows, and what is not covered.

mod blend;
mod choose;
mod coordinate;
mod coverage;
mod description;
mod field;
mod flows;
mod follows;
mod form;
mod guard;
mod implied;
mod independent;
mod inside;
mod laws;
mod limit;
mod nearest;
mod projection;
mod rate;
mod read;
mod sums;

pub use choose::{LinearForm, LinearTask};
pub use coordinate::{Coordinates, LogRange};
pub use coverage::{Coverage, Guaranteed, NotLinear};
pub use description::{
    BoundDescription, Coordinate, Direction, FlowDescription, LinearDescription, StateDescription,
    SumDescription, SumForm,
};
pub use field::LinearField;
pub use form::WrongLinear;
pub(super) use laws::LinearLaws;
