//! A strategy with the buffers of its results, for training loops of any kind.

use super::{Judgement, LawRows, MisfitView, Slopes, State, Strategy, StrategyError, Value};

/// A strategy with its state, its weights and the buffers of its results.
pub struct Evaluator {
    strategy: Box<dyn Strategy>,
    state: State,
    weights: Vec<f64>,
    /// The weights before the last update.
    before: Vec<f64>,
    slopes: Slopes,
}

/// How much the objective has changed as a function of θ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObjectiveChange {
    /// It is the same function, to the last bit.
    Unchanged,
    /// Weights have changed, none by more than a factor of 2.
    Slight,
    /// A weight has changed by more than a factor of 2, or to or from 0, or multipliers have changed:
    /// an optimiser's memory of the old function is of no use.
    Substantial,
}

impl Evaluator {
    /// Creates an evaluator at the start of a run with these laws.
    ///
    /// # Errors
    /// If the strategy's settings do not fit the laws.
    pub fn new(strategy: Box<dyn Strategy>, laws: &[LawRows]) -> Result<Self, StrategyError> {
        strategy.check(laws)?;
        let state = strategy.start(laws);
        let (weights, before) = (vec![0.0; laws.len()], vec![0.0; laws.len()]);
        Ok(Self { strategy, state, weights, before, slopes: Slopes::default() })
    }

    /// Updates the weights, then returns the value. Its slopes are in [`slopes`](Self::slopes).
    pub fn evaluate(&mut self, view: &MisfitView, iteration: usize) -> Value {
        let Self { strategy, state, weights, .. } = self;
        strategy.weights(state, view, iteration, weights);
        self.evaluate_frozen(view)
    }

    /// Returns the value under the weights of the last [`evaluate`](Self::evaluate).
    pub fn evaluate_frozen(&mut self, view: &MisfitView) -> Value {
        self.slopes.reset(view);
        self.strategy.value(&self.state, view, &self.weights, &mut self.slopes)
    }

    /// Updates the weights at the point of the last evaluation. Returns how much they have changed. The
    /// value and its slopes remain those under the old weights.
    pub fn update_weights(&mut self, view: &MisfitView, iteration: usize) -> ObjectiveChange {
        let Self { strategy, state, weights, before, .. } = self;
        before.clone_from(weights);
        strategy.weights(state, view, iteration, weights);
        let pairs = || before.iter().zip(weights.iter());
        // Also where one is 0 and the other is not.
        let jumped = |(old, new): (&f64, &f64)| *new > 2.0 * old || *old > 2.0 * new;
        if pairs().all(|(old, new)| old.to_bits() == new.to_bits()) {
            ObjectiveChange::Unchanged
        } else if pairs().any(jumped) {
            ObjectiveChange::Substantial
        } else {
            ObjectiveChange::Slight
        }
    }

    /// Starts a phase that continues with this state of the previous phase. A state of another
    /// strategy, which has another length, is ignored.
    pub fn new_phase(&mut self, state: &State, laws: &[LawRows]) {
        if state.numbers.len() == self.state.numbers.len() {
            self.state.clone_from(state);
            self.strategy.new_phase(&mut self.state, laws);
        }
    }

    /// Starts anew with these laws, whose points are others.
    pub(crate) fn restart(&mut self, laws: &[LawRows]) {
        self.state = self.strategy.start(laws);
    }

    /// Notifies the strategy that the optimiser has accepted the point of the last evaluation.
    pub fn new_point(&mut self, view: &MisfitView) {
        self.strategy.new_point(&mut self.state, view);
    }

    /// Takes an outer step at the point of the last evaluation. Returns how much the objective has
    /// changed. The value and its slopes remain those before the step.
    pub fn outer_step(&mut self, view: &MisfitView) -> ObjectiveChange {
        self.strategy.outer_step(&mut self.state, view)
    }

    /// Judges the point of the last evaluation, which had this value.
    pub fn judge(&mut self, view: &MisfitView, value: &Value) -> Judgement {
        self.strategy.judge(&mut self.state, view, value)
    }

    /// Returns whether the gradients of the terms are needed before this iteration's evaluation.
    pub fn gram_is_due(&self, iteration: usize) -> bool {
        self.strategy.gram_every().is_some_and(|every| iteration.is_multiple_of(every))
    }

    /// Writes the slopes of one term alone: 0 is the fit, `k + 1` the penalty of law `k`. They are in
    /// [`slopes`](Self::slopes).
    pub fn evaluate_term(&mut self, view: &MisfitView, term: usize) {
        self.slopes.reset(view);
        self.strategy.term_slopes(view, term, &mut self.slopes);
    }

    /// Updates the state by the Gram matrix of the gradients of the terms.
    pub fn balance(&mut self, gram: &[f64]) {
        self.strategy.balance(&mut self.state, gram);
    }

    /// Returns the strategy.
    pub fn strategy(&self) -> &dyn Strategy {
        &*self.strategy
    }

    /// Returns the memory of the strategy, for a checkpoint.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Continues from a checkpoint.
    pub fn set_state(&mut self, state: &State) {
        self.state.clone_from(state);
    }

    /// Returns the weight of each law at the last evaluation, the paper's μ. No gradient flows through
    /// it; 0 means that the law does not count at this point.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Continues with the weights of a checkpoint.
    ///
    /// # Panics
    /// If there is not one weight for each law.
    pub fn set_weights(&mut self, weights: &[f64]) {
        self.weights.copy_from_slice(weights);
    }

    /// Returns the slopes of the last evaluation.
    pub fn slopes(&self) -> &Slopes {
        &self.slopes
    }
}

impl Slopes {
    /// Sets all slopes to 0, in the lengths of the view; allocates only to grow.
    fn reset(&mut self, view: &MisfitView) {
        for (slopes, len) in
            [(&mut self.terms, view.terms.len()), (&mut self.residuals, view.residuals.len())]
        {
            slopes.clear();
            slopes.resize(len, 0.0);
        }
    }
}
