//! One look at θ: solve, measure, weigh, and go back.

use lawful_ode::{Solver, VectorField, vectorised};
use thiserror::Error;

use crate::flow::{FailedSolve, Flow, Mode};
use crate::initial_states::{FreeStarts, InitialStates, ParameterLayout};
use crate::misfit::Misfit;
use crate::strategy::{Evaluator, State, Strategy, Value, WeightChange};
use crate::{Problem, Segment, scale};

/// What one look at θ found.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// The objective φ with the strategy's own fit F and violation P.
    pub value: Value,
    /// The fit `l(θ)` in the units of the data.
    pub loss: f64,
    /// The raw total violation: the sum over laws of the mean violation.
    pub violation: f64,
    /// The mean violation of each law, in its own units.
    pub laws: Vec<f64>,
    /// The weight of each law.
    pub weights: Vec<f64>,
    /// The gradient of φ with the weights held fixed.
    pub gradient: Vec<f64>,
}

/// What strategies remember and have decided: everything about the objective that a checkpoint needs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StrategyMemory {
    /// What the strategy remembers of the laws.
    pub laws: State,
    /// What it remembers of the continuity of segments.
    pub continuity: State,
    /// The weights of the laws, and that of continuity.
    pub weights: Vec<f64>,
}

impl StrategyMemory {
    /// Becomes a copy, without allocation.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.laws.clone_from(&other.laws);
        self.continuity.clone_from(&other.continuity);
        self.weights.clone_from(&other.weights);
    }
}

/// Why a point could not be evaluated.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Failure {
    /// The solve did not reach the end.
    #[error("trajectory `{trajectory}`: {error}")]
    Solve {
        /// The trajectory's name.
        trajectory: String,
        /// What happened, when and where.
        error: lawful_ode::SolveError,
    },
    /// The solve reached the end, but the loss is infinite or not a number.
    #[error("the loss is {0}")]
    Loss(f64),
    /// A law is infinite or not a number somewhere on the path, such as the logarithm of a negative
    /// state.
    #[error("law `{law}` is {residual} at t = {t} of trajectory `{trajectory}`, where {state}")]
    Law {
        /// The law's name.
        law: String,
        /// Its residual there.
        residual: f64,
        /// When.
        t: f64,
        /// The trajectory's name.
        trajectory: String,
        /// The state there: `x = 1.2, y = -0.1`.
        state: String,
    },
    /// The loss and all laws are finite, but not the objective.
    #[error("the objective is {0}")]
    Value(f64),
    /// The objective is a number, its gradient is not.
    #[error("the gradient is not finite")]
    Gradient,
}

/// A problem, a vector field, a method and a strategy: φ and its gradient as functions of θ.
pub struct Objective {
    problem: Problem,
    flow: Flow,
    misfit: Misfit,
    evaluator: Evaluator,
    /// What holds segments together, under the same strategy and counted apart.
    continuity: Evaluator,
    evaluation: Evaluation,
    segments: Vec<Segment>,
    /// Trained initial states; their z stand behind the field's parameters in θ.
    starts: InitialStates,
    /// Number of parameters of the field.
    fields: usize,
    decay: f64,
    /// Number of parameters that decay.
    decayed: usize,
}

impl Objective {
    /// On all data of the problem.
    ///
    /// # Panics
    /// If the field has another number of state variables than the data, or takes another number of
    /// inputs than the data have (none is fine), or has fewer parameters than there are learned
    /// constants.
    pub fn new(
        problem: Problem,
        field: Box<dyn VectorField>,
        solver: Solver,
        strategy: Box<dyn Strategy>,
    ) -> Self {
        let (laws, parameters) = (problem.laws.len(), field.parameter_len());
        let (states, inputs) = (problem.dataset.state().len(), problem.dataset.inputs().len());
        assert_eq!(field.state_len(), states, "the field's state variables are not the data's");
        let taken = field.input_len();
        assert!(taken == inputs || taken == 0, "the field takes {taken} inputs of {inputs}");
        assert!(problem.constants.len() <= parameters, "learned constants that the field has not");
        let flow = Flow::new(field, solver, problem.interpolation);
        let evaluation = Evaluation {
            value: Value { value: 0.0, fit: 0.0, violation: 0.0 },
            loss: 0.0,
            violation: 0.0,
            laws: vec![0.0; laws],
            weights: vec![0.0; laws],
            gradient: vec![0.0; parameters],
        };
        let segments = Segment::whole(&problem.dataset);
        let mut objective = Self {
            problem,
            flow,
            misfit: Misfit::default(),
            continuity: Evaluator::new(strategy.of_continuity(), 1),
            evaluator: Evaluator::new(strategy, laws),
            evaluation,
            segments: Vec::new(),
            starts: InitialStates::default(),
            fields: parameters,
            decay: 0.0,
            decayed: 0,
        };
        objective.select(&segments);
        objective
    }

    /// Trains initial states of these segments along with the field: θ gets as many more numbers,
    /// which start at 0, where each state is what was measured, or a guess between neighbours.
    #[must_use]
    pub fn with_free_starts(mut self, free_starts: FreeStarts, segments: &[Segment]) -> Self {
        let scaling = scale::scaling(&self.problem.dataset);
        self.starts = InitialStates::new(&self.problem.dataset, &scaling, free_starts, segments);
        self.evaluation.gradient.resize(self.fields + self.starts.len(), 0.0);
        self.segments.clear();
        self.select(segments);
        self
    }

    /// Starts these trajectories, by their index, from these states instead of the measured ones.
    #[must_use]
    pub fn starting_from(mut self, states: Vec<(usize, Vec<f64>)>) -> Self {
        self.starts = InitialStates::fixed(states, self.problem.dataset.state().len());
        let segments = std::mem::take(&mut self.segments);
        self.select(&segments);
        self
    }

    /// Where the numbers of θ are.
    pub fn layout(&self) -> ParameterLayout {
        self.starts.layout(self.fields)
    }

    /// Adds `decay/2 · Σ θ²` over the first so many parameters, those of a network, to the objective.
    #[must_use]
    pub fn with_decay(mut self, decay: f64, parameters: usize) -> Self {
        self.decay = decay;
        self.decayed = parameters;
        self
    }

    /// Chooses the segments that the next evaluations look at.
    ///
    /// # Panics
    /// If a segment is not part of a trajectory.
    pub fn select(&mut self, segments: &[Segment]) {
        if self.segments != segments {
            self.segments.clear();
            self.segments.extend_from_slice(segments);
            self.flow.lay_out(&self.problem.dataset, segments, &self.starts);
            self.misfit.lay_out(&self.problem, segments, &self.starts);
        }
    }

    /// φ and its gradient at θ, with renewed weights.
    pub fn evaluate(&mut self, theta: &[f64], iteration: usize) -> Result<&Evaluation, Failure> {
        self.measure(theta, Mode::Record)?;
        self.update_weights(iteration);
        self.weigh(theta)
    }

    /// φ and its gradient at θ, under the weights of the last evaluation.
    pub fn evaluate_frozen(&mut self, theta: &[f64]) -> Result<&Evaluation, Failure> {
        self.measure(theta, Mode::Record)?;
        self.weigh(theta)
    }

    /// Renews the weights at the point of the last evaluation, which stays what it was; what has
    /// become of them.
    pub fn update_weights(&mut self, iteration: usize) -> WeightChange {
        let of_laws = self.evaluator.update_weights(&self.misfit.view(), iteration);
        let of_continuity = self.continuity.update_weights(&self.misfit.continuity(), iteration);
        match (of_laws, of_continuity) {
            (WeightChange::Large, _) | (_, WeightChange::Large) => WeightChange::Large,
            (WeightChange::Unchanged, WeightChange::Unchanged) => WeightChange::Unchanged,
            _ => WeightChange::Slight,
        }
    }

    /// What the strategy makes of what was measured at θ, and the gradient of that.
    fn weigh(&mut self, theta: &[f64]) -> Result<&Evaluation, Failure> {
        let value = self.value(theta);
        self.evaluation.value = value;
        self.evaluation.weights.copy_from_slice(&self.evaluator.weights().laws);
        // ψ is finite even where its argument is not, so the objective alone does not tell.
        if !self.evaluation.loss.is_finite() {
            return Err(Failure::Loss(self.evaluation.loss));
        }
        if !value.value.is_finite() {
            let law = self.misfit.undefined(&self.problem, &self.segments);
            return Err(law.unwrap_or(Failure::Value(value.value)));
        }
        let Self { problem, flow, misfit, evaluator, continuity, evaluation, starts, .. } = self;
        let (field_bar, z_bar) = evaluation.gradient.split_at_mut(self.fields);
        z_bar.fill(0.0);
        let slopes = (evaluator.slopes(), continuity.slopes());
        misfit.pull_back(slopes, problem, flow, (starts, z_bar));
        flow.pull_back(&problem.dataset, field_bar, (starts, z_bar));
        misfit.add_constants(&problem.constants, &theta[..self.fields], field_bar);
        if self.decay > 0.0 {
            for (sum, theta) in field_bar[..self.decayed].iter_mut().zip(theta) {
                *sum += self.decay * theta;
            }
        }
        if !all_finite(&evaluation.gradient) {
            return Err(Failure::Gradient);
        }
        Ok(&self.evaluation)
    }

    /// The objective under the weights as they are.
    fn value(&mut self, theta: &[f64]) -> Value {
        let mut value = self.evaluator.evaluate_frozen(&self.misfit.view());
        // Neither F nor P: it belongs to the way, not to the result.
        value.value += self.continuity.evaluate_frozen(&self.misfit.continuity()).value;
        if self.decay > 0.0 {
            let squares = theta[..self.decayed].iter().map(|theta| theta * theta).sum::<f64>();
            value.value += 0.5 * self.decay * squares;
        }
        value
    }

    /// φ at another θ, by the steps and under the weights of the last
    /// [`evaluate`](Self::evaluate): the function whose exact gradient that was.
    ///
    /// # Panics
    /// If that evaluation failed, or looked at other segments.
    pub fn replay(&mut self, theta: &[f64]) -> Result<Value, Failure> {
        self.measure(theta, Mode::Replay)?;
        Ok(self.value(theta))
    }

    /// Solves and measures, without a gradient and without touching the strategy.
    pub fn observe(&mut self, theta: &[f64]) -> Result<&Misfit, Failure> {
        self.measure(theta, Mode::Observe)?;
        Ok(&self.misfit)
    }

    fn measure(&mut self, theta: &[f64], mode: Mode) -> Result<(), Failure> {
        let Self { problem, flow, misfit, evaluation, starts, .. } = self;
        let (theta, z) = theta.split_at(self.fields);
        flow.solve(&problem.dataset, theta, (starts, z), mode).map_err(
            |FailedSolve { trajectory, error }| {
                let trajectory = problem.dataset.trajectories()[trajectory].name.clone();
                Failure::Solve { trajectory, error }
            },
        )?;
        misfit.measure(flow, problem, (starts, z), theta);
        evaluation.loss = misfit.loss();
        evaluation.violation = 0.0;
        for (k, mean) in evaluation.laws.iter_mut().enumerate() {
            *mean = misfit.mean_violation(k) * problem.units.law(k);
            evaluation.violation += *mean;
        }
        Ok(())
    }

    /// The predicted states of segment `n` of the last evaluation, row after row.
    pub fn predicted(&self, n: usize) -> &[f64] {
        self.flow.observed(n)
    }

    /// The last evaluation.
    pub fn evaluation(&self) -> &Evaluation {
        &self.evaluation
    }

    /// Takes the gradient of the last evaluation, for a vector that the next one writes over.
    pub(crate) fn swap_gradient(&mut self, other: &mut Vec<f64>) {
        let gradient = &mut self.evaluation.gradient;
        other.resize(gradient.len(), 0.0);
        std::mem::swap(gradient, other);
    }

    /// The problem.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Copies the strategy's memory, for a checkpoint.
    pub fn save_strategy(&self, into: &mut StrategyMemory) {
        let StrategyMemory { laws, continuity, weights } = into;
        laws.clone_from(self.evaluator.state());
        continuity.clone_from(self.continuity.state());
        weights.clear();
        weights.extend_from_slice(&self.evaluator.weights().laws);
        weights.extend_from_slice(&self.continuity.weights().laws);
    }

    /// Goes on from a checkpoint.
    ///
    /// # Panics
    /// If it is of an objective with another number of laws.
    pub fn restore_strategy(&mut self, memory: &StrategyMemory) {
        self.evaluator.set_state(&memory.laws);
        self.continuity.set_state(&memory.continuity);
        let (laws, continuity) = memory.weights.split_at(self.problem.laws.len());
        self.evaluator.set_weights(laws);
        self.continuity.set_weights(continuity);
    }

    /// Number of parameters θ.
    pub fn parameter_len(&self) -> usize {
        self.evaluation.gradient.len()
    }

    /// Evaluations of the right-hand side in the last solve.
    pub fn field_evaluations(&self) -> usize {
        self.flow.evaluations()
    }
}

/// Whether every number is finite: all of them are looked at, which goes in packs.
fn all_finite(numbers: &[f64]) -> bool {
    let mut finite = true;
    vectorised(|| finite = numbers.iter().fold(true, |all, x| all & x.is_finite()));
    finite
}
