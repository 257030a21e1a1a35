//! Learn dynamics from data that obey the laws you already know.
//!
//! A network `f_θ` is the right-hand side of an ODE. Its solution is fitted to measurements, under
//! laws that must hold at every time step, by the self-adaptive penalty method of Coelho, Costa and
//! Ferrás (arXiv 2307.14940) or one of its rivals:
//!
//! ```text
//! dŷ/dt = f_θ(t, ŷ, u)     l(θ) = mean over measured cells of (ŷ − y)²
//! minimise l(θ) such that c_i(ŷ_n) = 0 and c_j(ŷ_n) ≤ 0 at every time step n
//! ```
//!
//! ```
#![doc = include_str!("../examples/arrays.rs")]
//! ```
//!
//! # The parts
//! | part | what it is |
//! |---|---|
//! | [`Dataset`], [`Simulation`] | measurements, ragged and with gaps; or data made from equations |
//! | [`Law`] | an expression that must hold, read from text; see [`law`] |
//! | [`VectorField`] | the right-hand side: [`Mlp`], or [`Recorded`] around your own [`Equations`]; see [`ode`] |
//! | [`Informed`] | known rates with learned constants, and a network for what is not [`Known`] |
//! | [`Method`] | a Runge–Kutta method with its step control |
//! | [`strategy`] | how violations enter the objective; usable with any network, see `examples/any_network.rs` |
//! | [`Objective`] | φ(θ) and its gradient, exact for the steps taken |
//! | [`optimiser`], [`Schedule`] | what moves θ, and how fast |
//! | [`Trainer`] | the loop: best point, failures, checkpoints; an [`Observer`] looks on |
//!
//! The same seed gives the same bytes: on any number of threads, with or without a pause.

mod best_point;
mod constant;
mod dataset;
mod flow;
mod formula;
mod hold;
mod initialise;
mod known;
mod loss;
mod misfit;
mod noise;
mod objective;
mod observer;
pub mod optimiser;
mod problem;
mod random;
mod scale;
mod schedule;
mod simulate;
mod starts;
pub mod strategy;
mod stretch;
mod trainer;

pub use best_point::{BestPoint, Verdict};
pub use constant::{LearnedConstant, extend_rows};
pub use dataset::{DataError, Dataset, Trajectory};
pub use formula::FormulaField;
pub use hold::{Hold, Table, fill};
pub use initialise::Initialise;
pub use known::{Informed, Known, freed};
pub use lawful_law as law;
pub use lawful_law::{Law, Relation, Vocabulary};
pub use lawful_ode as ode;
pub use lawful_ode::{
    Activation, Adaptive, Control, Equations, Method, Mlp, MlpShape, Precision, Recorded, Scaled,
    Scaling, Tableau, VectorField,
};
pub use loss::Loss;
pub use misfit::Misfit;
pub use noise::noise;
pub use objective::{Evaluation, Failure, Memory, Objective};
pub use observer::{Event, Observer, Row, Stop, Wish};
pub use problem::{Problem, Units};
pub use random::Random;
pub use scale::{scaling, units};
pub use schedule::{Course, Schedule};
pub use simulate::{Noise, NoiseLevel, Simulation};
pub use starts::{Freedom, Layout, initial_states};
pub use stretch::{Batch, Sampler, Stretch};
pub use trainer::{
    GradientAt, Outcome, Progress, Restore, Settings, Trainer, Validated, Validation,
};
