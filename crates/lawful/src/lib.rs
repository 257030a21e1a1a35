//! Neural ODEs under laws: learn dynamics from data, subject to laws that are known.
//!
//! ```no_run
//! # use lawful::{Dataset, Laws, Training};
//! # let (times, states): (Vec<f64>, Vec<f64>) = Default::default();
//! let data = Dataset::single(&["x", "v"], times, states)?;
//! let laws = Laws::parse(&data, ["next(x^2 + v^2) <= x^2 + v^2"])?;
//! let trained = Training::new(data).laws(laws).seed(1).run()?;
//! println!("{}", trained.summary());
//!
//! let model = trained.model;
//! model.save("oscillator.safetensors")?;
//! let path = model.predict(&[1.0, 0.0], &[0.0, 5.0, 10.0])?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A network `f_θ` is the right-hand side of an ODE. Its solution is fitted to measurements, under laws
//! that must hold at every time step: by the form of the vector field where that can guarantee them, by an
//! augmented Lagrangian, or by the self-adaptive penalty method of Coelho, Costa and Ferrás (arXiv 2307.14940):
//!
//! ```text
//! dŷ/dt = f_θ(t, ŷ, u)     l(θ) = mean over measured cells of (ŷ − y)²
//! minimise l(θ) such that c_i(ŷ_n) = 0 and c_j(ŷ_n) ≤ 0 at every time step n
//! ```
//!
//! # The parts
//! | part | what it is |
//! |---|---|
//! | [`Dataset`], [`Simulation`] | measurements, ragged and with gaps; or data simulated from equations |
//! | [`Laws`], [`Law`] | the laws of a training; expressions that must hold, read from text; see [`law`] |
//! | [`Training`] | the builder of a training: data, laws, and settings that differ from the defaults |
//! | [`Prepared`] | a training in which recipes have chosen everything; runs, and resumes from checkpoints |
//! | [`Phase`], [`Plan`] | the parts of a training, and those that remedies add after a diagnosis |
//! | [`Trained`], [`Model`] | the result; a model that predicts, is scored and is saved |
//! | [`FieldSettings`], [`FieldDescription`] | the right-hand side as settings, and as a value in a model file |
//! | [`VectorField`], [`HybridField`] | the right-hand side itself: [`Mlp`], [`Recorded`] around your own [`Equations`], or [`KnownRates`] with learned constants and a network; see [`ode`] |
//! | [`Solver`] | a Runge–Kutta tableau with its step control |
//! | [`strategy`], [`StrategyKind`](strategy::StrategyKind) | how violations enter the objective; usable with any network, see `examples/any_network.rs` |
//! | [`optimiser`], [`OptimiserKind`](optimiser::OptimiserKind) | Adam and L-BFGS, with the rate schedule [`Schedule`] |
//! | [`least_squares`] | Levenberg–Marquardt, and the evidence that sets its weights |
//! | [`settings`] | settings of strategies and optimisers as data: keys, ranges, words |
//! | [`Objective`], [`Problem`] | φ(θ) and its gradient, exact for the steps taken |
//! | [`Trainer`], [`Observer`] | the training loop of one phase: best point, failures, checkpoints; and what observes it |
//!
//! The same seed gives the same bytes, on any number of threads, with or without a pause.
//!
//! # A complete example
//! ```
#![doc = include_str!("../examples/arrays.rs")]
//! ```

mod consistent;
mod data;
mod field;
mod fingerprint;
pub mod least_squares;
mod model;
mod number;
mod objective;
pub mod optimiser;
pub mod posterior;
mod random;
pub mod settings;
mod statistics;
pub mod strategy;
mod train;

pub use consistent::{
    Audit, ConsistentTable, Contradiction, Evidence, Finding, LawAudit, Place, TableRows,
    TableSettings,
};
pub use data::{
    Accuracy, Batch, DataError, Dataset, Interpolation, LawWindow, Noise, NoiseLevel, Numbers,
    Sampler, Segment, Simulation, Table, Trajectory, fill, noise, scaling, units,
};
pub use field::{
    BoundDescription, ConservingDescription, ConservingField, Constant, Coordinate, Coordinates,
    Coverage, Direction, FieldDescription, FieldError, FieldPart, FlowDescription, FormulaField,
    Guaranteed, GuaranteedLaws, HybridField, Initialise, KnownDescription, KnownRates,
    LearnedConstant, LinearDescription, LinearField, LinearForm, LinearTask, LogRange,
    MOST_EFFECTS, NetworkDescription, NotLinear, NotSmooth, SmoothDescription, SmoothField,
    SmoothLaw, SmoothLaws, StateDescription, StateOff, SumDescription, SumForm, WrongLinear,
    dissipation, extend_rows, smooth_equality, with_learned_as_variables,
};
pub use fingerprint::Fingerprint;
pub use lawful_law as law;
pub use lawful_law::{Enforcement, Law, Relation, Vocabulary};
pub use lawful_ode as ode;
pub use lawful_ode::{
    Activation, Adaptive, Control, Equations, Mlp, MlpShape, Precision, Recorded, Scaled, Scaling,
    Solver, Tableau, VectorField,
};
pub use model::{
    Archive, ConstantEstimate, Draw, Estimates, FORMAT, Fit, Interval, IntervalError, IntervalKind,
    IntervalScore, Intervals, LAW_TOLERANCE, LawDescription, LawDraws, LawPlace, LawReport,
    LawScore, LawStatus, LawVerdict, Measured, Model, ModelDescription, ModelError, OffLaw,
    PredictError, Score, SolverDescription, Subjects, TrainedStart, Unsolved, law_sizes,
};
pub use number::{exact, short};
pub use objective::{
    CountsAt, Evaluation, Failure, FreeStarts, LawPoints, Loss, Misfit, Objective, ObjectiveError,
    ParameterLayout, Problem, StrategyMemory, Units, initial_states,
};
pub use optimiser::{RateDecay, Schedule};
pub use random::Random;
pub use train::{
    BestModel, BestPoint, Event, Extension, FieldSettings, GradientAt, Kept, Laws,
    LeastSquaresSettings, Observer, Outcome, Phase, PhaseStart, Plan, PlanState, Prepared,
    Progress, RECIPES, Recipe, Remedy, Restore, Row, Run, STEP_LEAST, Settings, Shooting, Start,
    StopReason, Trained, Trainer, TrainerError, Training, TrainingError, Validated, Validation,
    Verdict, finer, scaled_mean_square, total,
};
