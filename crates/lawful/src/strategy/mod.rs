//! How violations of laws enter the objective.
//!
//! A strategy sees what is left over at one θ, the loss terms of the data and the violations of
//! each law, and turns it into one value with its slopes. It keeps apart what it remembers
//! ([`State`]), what it decides and no gradient flows through ([`Weights`]), and what it computes
//! ([`Value`], [`Slopes`]). None of it knows about differential equations: any training loop of any
//! network can use it.
//!
//! ```
//! use lawful::strategy::{Evaluator, MisfitView, LawRows, SelfAdaptive, Strategy};
//! use lawful::Relation;
//!
//! // One loss of 1.0, and one inequality law looked at in four places.
//! let laws = [LawRows { relation: Relation::AtMost, start: 0, len: 4 }];
//! let violations = &[0.0, 0.0, 1.0, 3.0];
//! let leftover = MisfitView { terms: &[1.0], violations, residuals: &[], laws: &laws };
//! let mut evaluator = Evaluator::new(Box::new(SelfAdaptive::default()), 1);
//! let value = evaluator.evaluate(&leftover, 0);
//! // ψ(1) = 1/2; μ = 2/4; P = (ψ(1) + ψ(3))/4 = (1/2 + 3/4)/4.
//! assert_eq!(value.value, 0.5 + 0.5 * 0.3125);
//! assert_eq!(evaluator.slopes().violations[2], 0.5 / 4.0 / 4.0);
//! ```

mod l1;
mod l2;
mod self_adaptive;
mod vanilla;

pub use l1::L1;
pub use l2::L2;
pub use self_adaptive::{Normalise, Penalise, Penalty, Residual, SelfAdaptive, WeighBy};
pub use vanilla::Vanilla;

use crate::Relation;

/// The words of `kind` under `[strategy]` in an experiment file, each with one line of help.
pub const STRATEGIES: &[(&str, &str)] = &[
    ("vanilla", "the fit alone; laws are measured, not enforced"),
    ("l1", "fit + mu × mean violation, with fixed mu"),
    ("l2", "fit + mu × mean squared violation, with fixed mu"),
    ("self-adaptive", "the paper's: weights follow the share of steps that violate a law"),
];

/// Where the violations of one law stand in [`MisfitView::violations`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LawRows {
    /// Whether the law is an equality or an inequality.
    pub relation: Relation,
    /// The first of its violations.
    pub start: usize,
    /// How many there are: the N of this law.
    pub len: usize,
}

/// What is left over at one θ.
#[derive(Debug, Clone, Copy)]
pub struct MisfitView<'a> {
    /// Loss terms whose mean is the fit `l(θ)`, one per measured cell (or one number, the loss).
    pub terms: &'a [f64],
    /// Violations `v ≥ 0` of all laws: `|c|` of an equality, `max(c, 0)` of an inequality.
    pub violations: &'a [f64],
    /// Residuals `c` of all laws, in the same places, before their sign is lost. Only
    /// [`Residual::Signed`] looks at them: without it they may be empty.
    pub residuals: &'a [f64],
    /// Which of the violations belong to which law.
    pub laws: &'a [LawRows],
}

impl<'a> MisfitView<'a> {
    /// The fit `l(θ)`, equation (1): the mean of the loss terms, 0 without any.
    pub fn fit(&self) -> f64 {
        mean(self.terms.iter().copied())
    }

    /// The violations of law `k`.
    pub fn of(&self, k: usize) -> &'a [f64] {
        let rows = &self.laws[k];
        &self.violations[rows.start..][..rows.len]
    }

    /// The residuals of law `k`.
    pub fn residuals_of(&self, k: usize) -> &'a [f64] {
        let rows = &self.laws[k];
        &self.residuals[rows.start..][..rows.len]
    }

    /// The raw total violation: the sum over laws of the mean violation.
    pub fn violation(&self) -> f64 {
        (0..self.laws.len()).map(|k| mean(self.of(k).iter().copied())).sum()
    }

    /// How many laws are of this kind: the paper's `#E` and `#I`.
    pub fn count(&self, relation: Relation) -> usize {
        self.laws.iter().filter(|law| law.relation == relation).count()
    }
}

/// What a strategy remembers from one iteration to the next; part of a checkpoint.
#[derive(Debug, PartialEq, Default)]
pub struct State {
    /// Numbers whose meaning is the strategy's own.
    pub numbers: Vec<f64>,
}

impl Clone for State {
    fn clone(&self) -> Self {
        Self { numbers: self.numbers.clone() }
    }

    /// Without allocation where there is room: training does this in every iteration.
    fn clone_from(&mut self, source: &Self) {
        self.numbers.clone_from(&source.numbers);
    }
}

/// The weight of each law, through which no gradient flows. Zero means: does not count now.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Weights {
    /// One weight per law, the paper's μ.
    pub laws: Vec<f64>,
}

/// What a strategy makes of a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Value {
    /// The objective that is minimised, φ(θ).
    pub value: f64,
    /// The strategy's own measure of fit, F.
    pub fit: f64,
    /// The strategy's own measure of violation, P.
    pub violation: f64,
}

/// Derivatives of [`Value::value`] with the weights held fixed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Slopes {
    /// With respect to each loss term.
    pub terms: Vec<f64>,
    /// With respect to each violation.
    pub violations: Vec<f64>,
}

impl Slopes {
    /// All zero, as long as `leftover` needs; allocates only to grow.
    fn reset(&mut self, view: &MisfitView) {
        for (slopes, len) in
            [(&mut self.terms, view.terms.len()), (&mut self.violations, view.violations.len())]
        {
            slopes.clear();
            slopes.resize(len, 0.0);
        }
    }
}

/// How violations enter the objective.
pub trait Strategy: Send + Sync {
    /// The word of this strategy in an experiment file.
    fn name(&self) -> &'static str;

    /// What it makes of the continuity of segments, which is one equality law of its own. The
    /// default is the smooth self-adaptive form.
    fn of_continuity(&self) -> Box<dyn Strategy> {
        Box::new(SelfAdaptive::smooth())
    }

    /// What it remembers at the start of a run with this many laws.
    fn start(&self, laws: usize) -> State {
        let _ = laws;
        State::default()
    }

    /// Decides the weight of each law at this point. `weights` has one entry per law.
    fn weights(&self, state: &mut State, view: &MisfitView, iteration: usize, weights: &mut [f64]);

    /// The objective under fixed weights. `slopes` arrive as zeros of the right lengths.
    fn value(&self, view: &MisfitView, weights: &[f64], slopes: &mut Slopes) -> Value;
}

/// A strategy with the buffers of its results, for training loops of any kind.
pub struct Evaluator {
    strategy: Box<dyn Strategy>,
    state: State,
    weights: Weights,
    /// The weights before the last renewal.
    before: Vec<f64>,
    slopes: Slopes,
}

/// What has become of the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WeightChange {
    /// They are what they were, to the last bit.
    Unchanged,
    /// They have changed, none more than twofold.
    Slight,
    /// One has come or gone, or has changed more than twofold.
    Large,
}

impl Evaluator {
    /// At the start of a run with this many laws.
    pub fn new(strategy: Box<dyn Strategy>, laws: usize) -> Self {
        let state = strategy.start(laws);
        let weights = Weights { laws: vec![0.0; laws] };
        let (before, slopes) = (vec![0.0; laws], Slopes::default());
        Self { strategy, state, weights, before, slopes }
    }

    /// Renews the weights, then gives the value; its slopes are in [`slopes`](Self::slopes).
    pub fn evaluate(&mut self, view: &MisfitView, iteration: usize) -> Value {
        let Self { strategy, state, weights, .. } = self;
        strategy.weights(state, view, iteration, &mut weights.laws);
        self.evaluate_frozen(view)
    }

    /// The value under the weights of the last [`evaluate`](Self::evaluate).
    pub fn evaluate_frozen(&mut self, view: &MisfitView) -> Value {
        self.slopes.reset(view);
        self.strategy.value(view, &self.weights.laws, &mut self.slopes)
    }

    /// The strategy.
    pub fn strategy(&self) -> &dyn Strategy {
        &*self.strategy
    }

    /// What it remembers, for a checkpoint.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Goes on from a checkpoint.
    pub fn set_state(&mut self, state: &State) {
        self.state.clone_from(state);
    }

    /// The weights of the last evaluation.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// Renews the weights at the point of the last evaluation; what has become of them. The value
    /// and its slopes stay those under the old ones.
    pub fn update_weights(&mut self, view: &MisfitView, iteration: usize) -> WeightChange {
        let Self { strategy, state, weights, before, .. } = self;
        before.clone_from(&weights.laws);
        strategy.weights(state, view, iteration, &mut weights.laws);
        let pairs = || before.iter().zip(&weights.laws);
        // Also where one is 0 and the other is not.
        let jumped = |(old, new): (&f64, &f64)| *new > 2.0 * old || *old > 2.0 * new;
        if pairs().all(|(old, new)| old.to_bits() == new.to_bits()) {
            WeightChange::Unchanged
        } else if pairs().any(jumped) {
            WeightChange::Large
        } else {
            WeightChange::Slight
        }
    }

    /// Goes on with the weights of a checkpoint.
    pub fn set_weights(&mut self, weights: &[f64]) {
        self.weights.laws.copy_from_slice(weights);
    }

    /// The slopes of the last evaluation.
    pub fn slopes(&self) -> &Slopes {
        &self.slopes
    }
}

/// The mean, 0 of nothing.
fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = values.len();
    if n == 0 { 0.0 } else { values.sum::<f64>() / n as f64 }
}
