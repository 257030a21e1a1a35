//! One look at θ: solve, measure, weigh, and go back.

use lawful_ode::{Method, VectorField};
use thiserror::Error;

use crate::flow::{FailedSolve, Flow, Mode};
use crate::misfit::Misfit;
use crate::strategy::{Evaluator, State, Strategy, Value};
use crate::{Problem, Stretch};

/// What one look at θ found.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// The objective φ with the strategy's own fit F and violation P.
    pub value: Value,
    /// The fit `l(θ)` in the units of the loss.
    pub loss: f64,
    /// The raw total violation: the sum over laws of the mean violation.
    pub violation: f64,
    /// The mean violation of each law.
    pub laws: Vec<f64>,
    /// The weight of each law.
    pub weights: Vec<f64>,
    /// The gradient of φ with the weights held fixed.
    pub gradient: Vec<f64>,
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
    /// The loss is finite, but the objective with its laws is infinite or not a number.
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
    evaluation: Evaluation,
    stretches: Vec<Stretch>,
}

impl Objective {
    /// On all data of the problem.
    ///
    /// # Panics
    /// If the field has another number of state variables than the data, or takes another number of
    /// inputs than the data have (none is fine).
    pub fn new(
        problem: Problem,
        field: Box<dyn VectorField>,
        method: Method,
        strategy: Box<dyn Strategy>,
    ) -> Self {
        let (laws, parameters) = (problem.laws.len(), field.parameter_len());
        let (states, inputs) = (problem.dataset.state().len(), problem.dataset.inputs().len());
        assert_eq!(field.state_len(), states, "the field's state variables are not the data's");
        let taken = field.input_len();
        assert!(taken == inputs || taken == 0, "the field takes {taken} inputs of {inputs}");
        let flow = Flow::new(field, method, problem.hold);
        let evaluation = Evaluation {
            value: Value { value: 0.0, fit: 0.0, violation: 0.0 },
            loss: 0.0,
            violation: 0.0,
            laws: vec![0.0; laws],
            weights: vec![0.0; laws],
            gradient: vec![0.0; parameters],
        };
        let stretches = Stretch::whole(&problem.dataset);
        let mut objective = Self {
            problem,
            flow,
            misfit: Misfit::default(),
            evaluator: Evaluator::new(strategy, laws),
            evaluation,
            stretches: Vec::new(),
        };
        objective.look_at(&stretches);
        objective
    }

    /// Chooses the stretches that the next evaluations look at.
    ///
    /// # Panics
    /// If a stretch is not part of a trajectory.
    pub fn look_at(&mut self, stretches: &[Stretch]) {
        if self.stretches != stretches {
            self.stretches.clear();
            self.stretches.extend_from_slice(stretches);
            self.flow.lay_out(&self.problem.dataset, stretches);
            self.misfit.lay_out(&self.problem.dataset, &self.problem.laws, stretches);
        }
    }

    /// φ and its gradient at θ, with renewed weights.
    pub fn evaluate(&mut self, theta: &[f64], iteration: usize) -> Result<&Evaluation, Failure> {
        self.measure(theta, Mode::Record)?;
        let value = self.evaluator.evaluate(&self.misfit.leftover(), iteration);
        self.evaluation.value = value;
        self.evaluation.weights.copy_from_slice(&self.evaluator.weights().laws);
        // ψ is finite even where its argument is not, so the objective alone does not tell.
        if !self.evaluation.loss.is_finite() {
            return Err(Failure::Loss(self.evaluation.loss));
        }
        if !value.value.is_finite() {
            return Err(Failure::Value(value.value));
        }
        let Self { problem, flow, misfit, evaluator, evaluation, .. } = self;
        misfit.pull_back(evaluator.slopes(), &problem.laws, problem.loss, flow);
        flow.pull_back(&problem.dataset, &mut evaluation.gradient);
        if !evaluation.gradient.iter().all(|g| g.is_finite()) {
            return Err(Failure::Gradient);
        }
        Ok(&self.evaluation)
    }

    /// φ at another θ, by the steps and under the weights of the last
    /// [`evaluate`](Self::evaluate): the function whose exact gradient that was.
    ///
    /// # Panics
    /// If that evaluation failed, or looked at other stretches.
    pub fn replay(&mut self, theta: &[f64]) -> Result<Value, Failure> {
        self.measure(theta, Mode::Replay)?;
        Ok(self.evaluator.evaluate_frozen(&self.misfit.leftover()))
    }

    /// Solves and measures, without a gradient and without touching the strategy.
    pub fn observe(&mut self, theta: &[f64]) -> Result<&Misfit, Failure> {
        self.measure(theta, Mode::Observe)?;
        Ok(&self.misfit)
    }

    fn measure(&mut self, theta: &[f64], mode: Mode) -> Result<(), Failure> {
        let Self { problem, flow, misfit, evaluation, .. } = self;
        flow.solve(&problem.dataset, theta, mode).map_err(
            |FailedSolve { trajectory, error }| {
                let trajectory = problem.dataset.trajectories()[trajectory].name.clone();
                Failure::Solve { trajectory, error }
            },
        )?;
        misfit.measure(flow, &problem.laws, problem.loss);
        let leftover = misfit.leftover();
        evaluation.loss = leftover.fit();
        evaluation.violation = leftover.violation();
        for (k, mean) in evaluation.laws.iter_mut().enumerate() {
            let violations = leftover.of(k);
            *mean = violations.iter().sum::<f64>() / violations.len().max(1) as f64;
        }
        Ok(())
    }

    /// The predicted states of stretch `n` of the last evaluation, row after row.
    pub fn predicted(&self, n: usize) -> &[f64] {
        self.flow.observed(n)
    }

    /// The last evaluation.
    pub fn evaluation(&self) -> &Evaluation {
        &self.evaluation
    }

    /// The problem.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The strategy's memory, for a checkpoint.
    pub fn strategy_state(&self) -> &State {
        self.evaluator.state()
    }

    /// Goes on from a checkpoint.
    pub fn set_strategy_state(&mut self, state: &State) {
        self.evaluator.set_state(state);
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
