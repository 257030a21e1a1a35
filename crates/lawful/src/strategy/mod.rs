//! How violations of laws enter the objective.
//!
//! A strategy takes a view of the misfit at one θ (the loss terms of the data and the residuals of each
//! law) and returns one value with its slopes. It separates its memory ([`State`]), the weights, through
//! which no gradient flows, and the results ([`Value`], [`Slopes`]). None of it depends on differential
//! equations: the training loop of any network can use it, see `examples/any_network.rs`.
//!
//! ```
//! use lawful::strategy::{Evaluator, LawRows, MisfitView, SelfAdaptive, fill_violations};
//! use lawful::Relation;
//!
//! // One loss of 1.0, and one inequality law with a residual at four points.
//! let laws = [LawRows { relation: Relation::AtMost, start: 0, len: 4, points: 4 }];
//! let (residuals, mut violations) = ([-1.0, -2.0, 1.0, 3.0], [0.0; 4]);
//! fill_violations(&laws, &residuals, 0.0, &mut violations);
//! assert_eq!(violations, [0.0, 0.0, 1.0, 3.0]);
//! let view = MisfitView {
//!     terms: &[1.0],
//!     residuals: &residuals,
//!     violations: &violations,
//!     points: &[0, 1, 2, 3],
//!     margin: 0.0,
//!     laws: &laws,
//! };
//! let mut evaluator = Evaluator::new(Box::new(SelfAdaptive::default()), &laws)?;
//! let value = evaluator.evaluate(&view, 0);
//! // ψ(1) = 1/2; μ = 2/4; P = (ψ(1) + ψ(3))/4 = (1/2 + 3/4)/4.
//! assert_eq!(value.value, 0.5 + 0.5 * 0.3125);
//! assert_eq!(evaluator.slopes().residuals[..3], [0.0, 0.0, 0.5 / 4.0 / 4.0]);
//! # Ok::<(), lawful::strategy::StrategyError>(())
//! ```

mod augmented_lagrangian;
mod balanced;
mod barrier;
mod dynamic;
mod evaluator;
mod filter;
mod l1;
mod l2;
mod lemonge;
mod list;
mod nu_pi;
mod penalty;
mod self_adaptive;
mod two_stage;
mod vanilla;
mod view;

pub use augmented_lagrangian::AugmentedLagrangian;
pub use balanced::{Balanced, Direction};
pub use barrier::Barrier;
pub use dynamic::{Dynamic, Growth};
pub use evaluator::{Evaluator, ObjectiveChange};
pub use filter::Filter;
pub use l1::L1;
pub use l2::L2;
pub use lemonge::Lemonge;
pub use list::{ListedStrategy, StrategyKind, StrategySettings};
pub use nu_pi::NuPi;
pub use penalty::Power;
pub use self_adaptive::{Normalise, Penalise, Penalty, Residual, SelfAdaptive, WeighBy};
pub use two_stage::TwoStage;
pub use vanilla::Vanilla;
pub use view::{LawRows, MisfitView, fill_violations};

use thiserror::Error;

/// Why a strategy cannot be used with the laws.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the strategy `{strategy}` {reason}")]
pub struct StrategyError {
    /// The strategy's word.
    pub strategy: &'static str,
    /// The end of the sentence.
    pub reason: String,
}

impl StrategyError {
    /// A setting with one number per law has `found` numbers.
    fn per_law(strategy: &'static str, key: &str, found: usize, laws: usize) -> Self {
        let reason = format!("has {found} numbers in `{key}`, but the number of laws is {laws}");
        Self { strategy, reason }
    }
}

/// The memory of a strategy between iterations; part of a checkpoint.
#[derive(Debug, PartialEq, Default)]
pub struct State {
    /// Numbers whose meaning is the strategy's own.
    pub numbers: Vec<f64>,
}

impl Clone for State {
    fn clone(&self) -> Self {
        Self { numbers: self.numbers.clone() }
    }

    /// Does not allocate if the capacity suffices: training calls this in every iteration.
    fn clone_from(&mut self, source: &Self) {
        self.numbers.clone_from(&source.numbers);
    }
}

/// The result of a strategy at one θ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Value {
    /// The objective that is minimised, φ(θ).
    pub value: f64,
    /// The strategy's own measure of fit, F.
    pub fit: f64,
    /// The strategy's own measure of violation, P.
    pub violation: f64,
}

/// Derivatives of [`Value::value`] with the weights and the state held fixed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Slopes {
    /// With respect to each loss term.
    pub terms: Vec<f64>,
    /// With respect to each signed residual `c`, in the order of [`MisfitView::residuals`].
    pub residuals: Vec<f64>,
}

/// The verdict of a strategy on the point of an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    /// Training continues from here, and returns here.
    Accepted,
    /// Training returns to the last accepted point, and evaluates it again: the objective may be another.
    Rejected,
    /// Training continues from here, but a later rejection returns to the point accepted before.
    Pending,
}

/// How violations enter the objective.
///
/// Only [`name`](Self::name), [`weights`](Self::weights) and [`value`](Self::value) are needed. The
/// other methods are for strategies with a memory: multipliers for each law and point, which are
/// updated in outer steps.
pub trait Strategy: Send + Sync {
    /// Returns the word of this strategy in an experiment file.
    fn name(&self) -> &'static str;

    /// Returns the strategy for the continuity of segments, which is one equality law of its own. The
    /// default is the smooth self-adaptive form.
    fn of_continuity(&self) -> Box<dyn Strategy> {
        Box::new(SelfAdaptive::smooth())
    }

    /// Checks that the settings fit these laws.
    fn check(&self, laws: &[LawRows]) -> Result<(), StrategyError> {
        let _ = laws;
        Ok(())
    }

    /// Returns the state at the start of a run. [`LawRows::points`] is the number of points of each law
    /// in all data: a state may hold one number for each law and point ([`LawRows::state_range`]),
    /// whatever part of the data a batch or a set of segments contains.
    fn start(&self, laws: &[LawRows]) -> State {
        let _ = laws;
        State::default()
    }

    /// Updates the state at the start of a phase that continues with the state of the previous phase.
    fn new_phase(&self, state: &mut State, laws: &[LawRows]) {
        let _ = (state, laws);
    }

    /// Updates the state at a point that the optimiser has accepted, before the weights of the next
    /// one are computed.
    fn new_point(&self, state: &mut State, view: &MisfitView) {
        let _ = (state, view);
    }

    /// Returns the iterations between outer steps; `None`, the default, for no scheduled outer steps.
    /// Whenever the optimiser stalls, an outer step is taken as well.
    fn outer_every(&self) -> Option<usize> {
        None
    }

    /// Updates the state in an outer step, for example multipliers. Returns how much the objective has
    /// changed.
    fn outer_step(&self, state: &mut State, view: &MisfitView) -> ObjectiveChange {
        let _ = (state, view);
        ObjectiveChange::Unchanged
    }

    /// Returns whether the strategy [judges](Self::judge) points.
    fn judges(&self) -> bool {
        false
    }

    /// Judges the point of the last evaluation, unless it is the accepted one again. Strategies that do
    /// are trained on all data at once, by optimisers that
    /// [return to the best point](crate::optimiser::OptimiserKind::returns_to_best_point).
    fn judge(&self, state: &mut State, view: &MisfitView, value: &Value) -> Judgement {
        let _ = (state, view, value);
        Judgement::Accepted
    }

    /// Returns the iterations between two calls of [`balance`](Self::balance); `None`, the default, if the
    /// strategy does not need the gradients of its terms.
    fn gram_every(&self) -> Option<usize> {
        None
    }

    /// Writes the slopes of one term alone: 0 is the fit, `k + 1` the penalty of law `k`. `slopes` arrive
    /// as zeros.
    fn term_slopes(&self, view: &MisfitView, term: usize, slopes: &mut Slopes) {
        let _ = (view, term, slopes);
    }

    /// Updates the state by the Gram matrix of the gradients of the terms, `gram[i * terms + j] = g_i·g_j`,
    /// at the point that is evaluated.
    fn balance(&self, state: &mut State, gram: &[f64]) {
        let _ = (state, gram);
    }

    /// Computes the weight of each law at this point. `weights` has one entry per law.
    fn weights(&self, state: &mut State, view: &MisfitView, iteration: usize, weights: &mut [f64]);

    /// Returns the objective under fixed weights and state. `slopes` arrive as zeros of the right
    /// lengths.
    fn value(
        &self,
        state: &State,
        view: &MisfitView,
        weights: &[f64],
        slopes: &mut Slopes,
    ) -> Value;
}

/// Returns the mean; 0 without values.
fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len();
    if n == 0 { 0.0 } else { values.sum::<f64>() / n as f64 }
}
