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
//! | [`HybridField`] | known rates with learned constants, and a network for what is not [`KnownRates`] |
//! | [`Solver`] | a Runge–Kutta method with its step control |
//! | [`strategy`] | how violations enter the objective; usable with any network, see `examples/any_network.rs` |
//! | [`Objective`] | φ(θ) and its gradient, exact for the steps taken |
//! | [`optimiser`], [`Schedule`] | what moves θ, and how fast |
//! | [`Trainer`] | the loop: best point, failures, checkpoints; an [`Observer`] looks on |
//!
//! The same seed gives the same bytes: on any number of threads, with or without a pause.

mod best_point;
mod constant;
mod dataset;
mod fingerprint;
mod flow;
mod formula;
mod initial_states;
mod initialise;
mod interpolation;
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
mod segment;
mod simulate;
pub mod strategy;
mod trainer;

pub use best_point::{BestPoint, Verdict};
pub use constant::{LearnedConstant, extend_rows};
pub use dataset::{DataError, Dataset, Trajectory};
pub use fingerprint::Fingerprint;
pub use formula::FormulaField;
pub use initial_states::{FreeStarts, ParameterLayout, initial_states};
pub use initialise::Initialise;
pub use interpolation::{Interpolation, Table, fill};
pub use known::{HybridField, KnownRates, with_learned_as_variables};
pub use lawful_law as law;
pub use lawful_law::{Law, Relation, Vocabulary};
pub use lawful_ode as ode;
pub use lawful_ode::{
    Activation, Adaptive, Control, Equations, Mlp, MlpShape, Precision, Recorded, Scaled, Scaling,
    Solver, Tableau, VectorField,
};
pub use loss::Loss;
pub use misfit::Misfit;
pub use noise::noise;
pub use objective::{Evaluation, Failure, Objective, StrategyMemory};
pub use observer::{Event, Observer, Row, StopReason};
pub use problem::{Problem, Units};
pub use random::Random;
pub use scale::{scaling, units};
pub use schedule::{RateDecay, Schedule};
pub use segment::{Batch, Sampler, Segment};
pub use simulate::{Noise, NoiseLevel, Simulation};
pub use trainer::{
    GradientAt, Outcome, Progress, Restore, Settings, Trainer, Validated, Validation,
};
