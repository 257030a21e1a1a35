//! Laws written as text: parses a relation, and computes its residual and its exact gradient.
//!
//! ```
//! use lawful_law::{Law, Relation, Steps, Words, Workspace};
//!
//! // A damped oscillator loses energy: E must not increase from one time step to the next.
//! let vocabulary = Words::new().state(["x", "v"]).define("E", "x^2/2 + v^2/2").check()?;
//! let laws = Law::parse("energy falls", "next(E) <= E", &vocabulary)?;
//! let law = &laws[0];
//! assert_eq!(law.relation(), Relation::AtMost);
//!
//! // Three time steps (x, v). The residual is next(E) − E, which the last step does not have.
//! let states = [2.0, 0.0, 0.0, 1.0, 2.0, 1.0];
//! let steps = Steps { times: &[0.0, 1.0, 2.0], states: &states, inputs: &[] };
//! let (mut workspace, mut residuals) = (Workspace::new(), [0.0; 3]);
//! law.residuals(&steps, &mut workspace, &mut residuals);
//! assert_eq!(law.reach().range(3), 0..2);
//! assert_eq!(residuals, [-1.5, 2.0, 0.0]);
//!
//! // The gradient of the violated residual c₁ = E₂ − E₁: (−x₁, −v₁) in row 1, (x₂, v₂) in row 2.
//! let mut state_bar = [0.0; 6];
//! law.pull_back(&steps, &mut workspace, &[0.0, 1.0, 0.0], &mut state_bar);
//! assert_eq!(state_bar, [0.0, 0.0, 0.0, -1.0, 2.0, 1.0]);
//! # Ok::<(), lawful_law::LawError>(())
//! ```
//!
//! # The language
//! - Numbers: `1`, `1.5`, `.5`, `1e-3`, `2.E+4`. Names: a letter of any script or `_`, then
//!   letters, digits and `_`; upper and lower case differ.
//! - `+ - * / ^` and brackets. `^` is right-associative and binds more tightly than a sign before
//!   it: `-x^2` is `-(x^2)`, `2^3^2` is `2^9`, `2^-x` needs no brackets.
//! - The [`FUNCTIONS`], the constant `pi` and the time `t`.
//! - `next(e)`, `previous(e)`, `initial(e)` and `final(e)` are `e` at another time step of the
//!   trajectory. A law has a residual only where all these time steps exist ([`Reach`]).
//! - `rate(e)` is the derivative of `e` along the vector field, `∇e·f + ∂e/∂t`. Only laws may use it.
//!   `e` has no inputs and no rates; `rate(initial(e))` is 0.
//! - A law is a relation `==`, `<=`, `>=`, `<` or `>` (also `≤`, `≥`), or a chain of them:
//!   `0 <= S <= 1` is two laws. `<` means the same as `<=`, and `>` the same as `>=`.
//!
//! # Simplification
//! Constants are folded, and equal subexpressions are computed once. `0*a`, `a - a`, `0/a`, `a/a`
//! and `a^0` are replaced by their algebraic value, even where `a` is not finite. A law that does
//! not depend on any state variable after that is an error.
//!
//! # Stages
//! ```text
//! text ─ lexer ─► tokens ─ parser ─► syntax ─ compile ─► graph ─► tape ─► values, gradients
//!                                      │                 (subexpressions shared, constants folded)
//!                                      └─► printed text
//! ```
//! No text can overflow the stack: [`MAX_TEXT_BYTES`] and [`MAX_DEPTH`] limit what the parser
//! accepts, and no later stage recurses.

#![forbid(unsafe_code)]

mod compile;
mod definitions;
mod derivative;
mod enforcement;
mod error;
mod expression;
mod forms;
mod functions;
mod graph;
mod hints;
mod law;
mod lexer;
mod linear;
mod magnitude;
mod nearest;
mod operations;
mod parser;
mod quantity;
mod rate;
mod reach;
mod relation;
#[cfg(test)]
mod round_trip;
mod single;
mod steps;
mod syntax;
mod tape;
mod vocabulary;

pub use enforcement::Enforcement;
pub use error::{ErrorKind, LawError, Origin};
pub use expression::Expression;
pub use forms::{Conserved, NotOfThisForm};
pub use functions::{FUNCTIONS, Function};
pub use law::Law;
pub use lexer::MAX_TEXT_BYTES;
pub use linear::{Invariant, Linear, LinearTerm, TimeStep};
pub use nearest::nearest;
pub use parser::MAX_DEPTH;
pub use quantity::Quantity;
pub use reach::Reach;
pub use relation::Relation;
pub use single::{Bound, Monotone};
pub use steps::{Steps, Workspace};
pub use vocabulary::{Vocabulary, Words};
