//! The objective φ(θ): solves, measures errors and violations, applies the strategy, differentiates.

mod effects;
mod flow;
mod gram;
mod increments;
mod initial_states;
mod loss;
mod misfit;
mod on_laws;
mod path_residuals;
mod points;
mod problem;

pub use initial_states::{FreeStarts, ParameterLayout, initial_states};
pub(crate) use initial_states::{initial_z, start_units};
pub use loss::Loss;
pub use misfit::Misfit;
pub(crate) use path_residuals::PathResiduals;
pub use points::{CountsAt, LawPoints};
pub use problem::{Problem, Units};

use lawful_ode::{Solver, VectorField, vectorised};
use thiserror::Error;

use crate::strategy::{
    Evaluator, Judgement, ObjectiveChange, Slopes, State, Strategy, StrategyError, Value,
};
use crate::{GuaranteedLaws, Segment, data};
use effects::Effects;
use flow::{FailedSolve, Flow, Mode};
use gram::Gram;
use initial_states::InitialStates;
use on_laws::NoStart;

/// The objective at one θ, with its parts.
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

/// The state and the weights of the strategy: all that a checkpoint needs of the objective.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StrategyMemory {
    /// The strategy's state for the laws.
    pub laws: State,
    /// Its state for the continuity of segments.
    pub continuity: State,
    /// The weights of the penalised laws, and that of continuity.
    pub weights: Vec<f64>,
}

impl StrategyMemory {
    /// Copies another one without allocation.
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
    /// A path with process noise cannot be predicted.
    #[error("trajectory `{trajectory}`: {error}")]
    Predict {
        /// The trajectory's name.
        trajectory: String,
        /// What happened.
        error: String,
    },
    /// A start cannot be moved to the laws that the field guarantees.
    #[error("trajectory `{trajectory}` has no start on the guaranteed laws: the start {why}")]
    Start {
        /// The trajectory's name.
        trajectory: String,
        /// Why, as the end of the sentence "the start …".
        why: String,
    },
    /// The solve succeeded, but the loss is infinite or NaN.
    #[error("the loss is {0}")]
    Loss(f64),
    /// A law is infinite or NaN somewhere on the path, for example the logarithm of a negative state.
    #[error("law `{law}` is {residual} at t = {t} of trajectory `{trajectory}`, where {state}")]
    Law {
        /// The law's name.
        law: String,
        /// Its residual there.
        residual: f64,
        /// The time.
        t: f64,
        /// The trajectory's name.
        trajectory: String,
        /// The state there: `x = 1.2, y = -0.1`.
        state: String,
    },
    /// The loss and all laws are finite, but the objective is not.
    #[error("the objective is {0}")]
    Value(f64),
    /// The objective is finite, but its gradient is not.
    #[error("the gradient is not finite")]
    Gradient,
}

/// Why an objective cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ObjectiveError {
    /// The field is for other data.
    #[error("the vector field has {found} {what}, the data have {expected}")]
    Field {
        /// `state variables` or `inputs`.
        what: &'static str,
        /// How many the field has.
        found: usize,
        /// How many the data have.
        expected: usize,
    },
    /// Laws use learned constants that the field does not have.
    #[error("{constants} learned constants, but the vector field has {parameters} parameters")]
    Constants {
        /// How many constants laws use.
        constants: usize,
        /// How many parameters the field has.
        parameters: usize,
    },
    /// The strategy's settings do not fit the laws.
    #[error(transparent)]
    Strategy(#[from] StrategyError),
}

/// A problem, a vector field, a solver and a strategy: φ and its gradient as functions of θ.
pub struct Objective {
    problem: Problem,
    flow: Flow,
    misfit: Misfit,
    evaluator: Evaluator,
    /// The continuity of segments, under the same strategy but with its own state.
    continuity: Evaluator,
    evaluation: Evaluation,
    segments: Vec<Segment>,
    /// Trained initial states; their z stand behind the field's parameters in θ.
    starts: InitialStates,
    /// The effects of trajectories, behind the trained initial states in θ.
    effects: Effects,
    /// Number of parameters of the field.
    field_len: usize,
    decay: f64,
    /// Number of parameters that decay.
    decayed: usize,
    gram: Gram,
}

impl Objective {
    /// Creates the objective on all data of the problem.
    ///
    /// # Errors
    /// If the field has another number of state variables than the data, or takes another number of
    /// inputs than the data have (none is fine), or has fewer parameters than there are learned
    /// constants; if the strategy's settings do not fit the laws.
    pub fn new(
        problem: Problem,
        field: Box<dyn VectorField>,
        solver: Solver,
        strategy: Box<dyn Strategy>,
    ) -> Result<Self, ObjectiveError> {
        let segments = Segment::whole(&problem.dataset);
        Self::on(segments, problem, field, solver, strategy)
    }

    /// Creates the objective on these segments of the data; buffers are for them alone.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn on(
        segments: Vec<Segment>,
        problem: Problem,
        field: Box<dyn VectorField>,
        solver: Solver,
        strategy: Box<dyn Strategy>,
    ) -> Result<Self, ObjectiveError> {
        let (laws, parameters) = (problem.laws.len(), field.parameter_len());
        let (states, inputs) = (problem.dataset.state().len(), problem.dataset.inputs().len());
        for (what, found, expected, fits) in [
            ("state variables", field.state_len(), states, field.state_len() == states),
            ("inputs", field.input_len(), inputs, [0, inputs].contains(&field.input_len())),
        ] {
            if !fits {
                return Err(ObjectiveError::Field { what, found, expected });
            }
        }
        let constants = problem.constants.len();
        if constants > parameters {
            return Err(ObjectiveError::Constants { constants, parameters });
        }
        let field_effects = field.effect_len();
        let mut misfit = Misfit::new(&problem, &*field);
        let mut flow = Flow::new(field, solver, problem.interpolation);
        let evaluation = Evaluation {
            value: Value { value: 0.0, fit: 0.0, violation: 0.0 },
            loss: 0.0,
            violation: 0.0,
            laws: vec![0.0; laws],
            weights: vec![0.0; laws],
            gradient: Vec::new(),
        };
        let effects = Effects::new(field_effects, problem.dataset.trajectories().len());
        let starts = InitialStates::default();
        flow.select(&problem, &segments, &starts);
        misfit.lay_out(&problem, &segments, &starts);
        let continuity = Evaluator::new(strategy.of_continuity(), misfit.continuity().laws)?;
        let evaluator = Evaluator::new(strategy, misfit.view().laws)?;
        let mut objective = Self {
            problem,
            flow,
            misfit,
            continuity,
            evaluator,
            evaluation,
            segments,
            starts,
            effects,
            field_len: parameters,
            decay: 0.0,
            decayed: 0,
            gram: Gram::default(),
        };
        objective.resize_gradient();
        Ok(objective)
    }

    fn resize_gradient(&mut self) {
        let len = self.field_len + self.starts.len() + self.effects.len();
        self.evaluation.gradient.resize(len, 0.0);
    }

    /// Fixes the effects of all trajectories, one after the other, instead of training them.
    ///
    /// # Panics
    /// If their number is another.
    #[must_use]
    pub fn with_effects(mut self, values: Vec<f64>) -> Self {
        self.effects = self.effects.fixed(values);
        self.resize_gradient();
        self
    }

    /// Trains initial states of these segments along with the field. θ gets one more number for each
    /// trained value; at 0 each state is the measured one, or a guess from the neighbouring rows.
    #[must_use]
    pub fn with_free_starts(mut self, free_starts: FreeStarts, segments: &[Segment]) -> Self {
        let scaling = data::scaling(&self.problem.dataset);
        self.starts = InitialStates::new(&self.problem.dataset, &scaling, free_starts, segments);
        self.resize_gradient();
        self.segments.clear();
        self.select(segments);
        self
    }

    /// The same for process noise: the states at the last rows of trajectories are trained, too, and paths
    /// jump to the trained states.
    #[must_use]
    pub(crate) fn with_increments(mut self, free_starts: FreeStarts, segments: &[Segment]) -> Self {
        let dataset = &self.problem.dataset;
        let scaling = data::scaling(dataset);
        self.starts = InitialStates::with_ends(dataset, &scaling, free_starts, segments);
        self.resize_gradient();
        self.segments.clear();
        self.select(segments);
        self
    }

    /// Starts trajectories, given by their index, from these states instead of the measured ones.
    #[must_use]
    pub fn starting_from(mut self, states: Vec<(usize, Vec<f64>)>) -> Self {
        self.starts = InitialStates::fixed(states, self.problem.dataset.state().len());
        let segments = std::mem::take(&mut self.segments);
        self.select(&segments);
        self
    }

    /// Starts every trajectory and segment on these laws, which the field guarantees: trained states are
    /// moved to them, and measured ones. Call it after [`with_free_starts`](Self::with_free_starts).
    #[must_use]
    pub fn on_laws(mut self, laws: GuaranteedLaws) -> Self {
        self.starts.on_laws(laws, &self.problem.dataset);
        let segments = std::mem::take(&mut self.segments);
        self.select(&segments);
        self
    }

    /// Moves trained starts in θ to the states given for their trajectory and row; others stay.
    pub(crate) fn start_at<'s>(
        &self,
        theta: &mut [f64],
        state: impl Fn(usize, usize) -> Option<&'s [f64]>,
    ) {
        let (_, z, _) = self.effects.parts_mut(theta, self.field_len);
        self.starts.start_at(z, state);
    }

    /// Returns the layout of θ.
    pub fn layout(&self) -> ParameterLayout {
        self.starts.layout(self.field_len, self.effects.len())
    }

    /// Adds weight decay to the objective: `decay/2 · Σ θ²` over the first `parameters` parameters,
    /// those of the network.
    #[must_use]
    pub fn with_decay(mut self, decay: f64, parameters: usize) -> Self {
        self.decay = decay;
        self.decayed = parameters;
        self
    }

    /// Selects the segments of the next evaluations.
    ///
    /// # Panics
    /// If a segment is not part of a trajectory.
    pub fn select(&mut self, segments: &[Segment]) {
        if self.segments != segments {
            self.segments.clear();
            self.segments.extend_from_slice(segments);
            self.flow.select(&self.problem, segments, &self.starts);
            let joints = self.misfit.continuity().points.len();
            self.misfit.lay_out(&self.problem, segments, &self.starts);
            let continuity = self.misfit.continuity();
            // Its points are those of the segments.
            if continuity.points.len() != joints {
                self.continuity.restart(continuity.laws);
            }
        }
    }

    /// Evaluates φ and its gradient at θ, with weights computed there.
    pub fn evaluate(&mut self, theta: &[f64], iteration: usize) -> Result<&Evaluation, Failure> {
        if self.evaluator.gram_is_due(iteration) {
            self.balance(theta)?;
        }
        self.measure(theta, Mode::Record)?;
        self.update_weights(iteration);
        self.apply_strategy(theta)
    }

    /// Evaluates φ and its gradient at θ, under the weights of the last evaluation.
    pub fn evaluate_frozen(&mut self, theta: &[f64]) -> Result<&Evaluation, Failure> {
        self.measure(theta, Mode::Record)?;
        self.apply_strategy(theta)
    }

    /// Updates the weights at the point of the last evaluation, whose results do not change. Returns
    /// how much the weights have changed.
    pub fn update_weights(&mut self, iteration: usize) -> ObjectiveChange {
        let of_laws = self.evaluator.update_weights(&self.misfit.view(), iteration);
        let of_continuity = self.continuity.update_weights(&self.misfit.continuity(), iteration);
        of_laws.max(of_continuity)
    }

    /// Notifies the strategy that the optimiser has accepted the point of the last evaluation.
    pub fn new_point(&mut self) {
        self.evaluator.new_point(&self.misfit.view());
        self.continuity.new_point(&self.misfit.continuity());
    }

    /// Returns the iterations between outer steps of the strategy, if it schedules any.
    pub fn outer_every(&self) -> Option<usize> {
        self.evaluator.strategy().outer_every()
    }

    /// Takes an outer step of the strategy at the point of the last evaluation. Returns how much the
    /// objective has changed.
    pub fn outer_step(&mut self) -> ObjectiveChange {
        let of_laws = self.evaluator.outer_step(&self.misfit.view());
        of_laws.max(self.continuity.outer_step(&self.misfit.continuity()))
    }

    /// Returns whether the strategy judges points.
    pub fn judges(&self) -> bool {
        self.evaluator.strategy().judges()
    }

    /// Returns the strategy's judgement of the point of the last evaluation.
    pub fn judge(&mut self) -> Judgement {
        self.evaluator.judge(&self.misfit.view(), &self.evaluation.value)
    }

    /// Continues with the strategy's state for the laws from the end of another phase.
    pub fn continue_phase(&mut self, laws: &State) {
        self.evaluator.new_phase(laws, self.misfit.view().laws);
    }

    /// Applies the strategy to the misfit measured at θ, and differentiates.
    fn apply_strategy(&mut self, theta: &[f64]) -> Result<&Evaluation, Failure> {
        let value = self.value(theta);
        self.evaluation.value = value;
        for (&k, weight) in self.misfit.penalised().iter().zip(self.evaluator.weights()) {
            self.evaluation.weights[k] = *weight;
        }
        // ψ is finite even where its argument is not, so a finite objective is not enough.
        if !self.evaluation.loss.is_finite() {
            return Err(Failure::Loss(self.evaluation.loss));
        }
        if !value.value.is_finite() {
            let law = self.misfit.undefined(&self.problem, &self.segments);
            return Err(law.unwrap_or(Failure::Value(value.value)));
        }
        let Self { problem, flow, misfit, evaluator, continuity, evaluation, starts, .. } = self;
        let slopes = (evaluator.slopes(), continuity.slopes());
        let field = &theta[..self.field_len];
        let bars = self.effects.parts_mut(&mut evaluation.gradient, self.field_len);
        pull_back((problem, starts), (flow, misfit), slopes, field, bars);
        let field_bar = &mut evaluation.gradient[..self.field_len];
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

    /// Returns the objective under the current weights.
    fn value(&mut self, theta: &[f64]) -> Value {
        let mut value = self.evaluator.evaluate_frozen(&self.misfit.view());
        // Continuity is in neither F nor P: it exists in training only.
        value.value += self.continuity.evaluate_frozen(&self.misfit.continuity()).value;
        if self.decay > 0.0 {
            let squares = theta[..self.decayed].iter().map(|theta| theta * theta).sum::<f64>();
            value.value += 0.5 * self.decay * squares;
        }
        value
    }

    /// Returns φ at another θ, by the steps and under the weights of the last
    /// [`evaluate`](Self::evaluate): the function of which that evaluation is the exact gradient.
    ///
    /// # Panics
    /// If that evaluation failed, or had other segments.
    pub fn replay(&mut self, theta: &[f64]) -> Result<Value, Failure> {
        self.measure(theta, Mode::Replay)?;
        Ok(self.value(theta))
    }

    /// Solves and measures, without a gradient and without changing the strategy's state.
    pub fn observe(&mut self, theta: &[f64]) -> Result<&Misfit, Failure> {
        self.measure(theta, Mode::Observe)?;
        Ok(&self.misfit)
    }

    fn measure(&mut self, theta: &[f64], mode: Mode) -> Result<(), Failure> {
        let Self { problem, flow, misfit, evaluation, starts, effects, .. } = self;
        let (theta, z, effects) = effects.parts(theta, self.field_len);
        starts.place(z).map_err(|NoStart { trajectory, why }| {
            let trajectory = problem.dataset.trajectories()[trajectory].name.clone();
            Failure::Start { trajectory, why: why.why.to_string() }
        })?;
        flow.solve(&problem.dataset, (theta, effects), (starts, z), mode).map_err(
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

    /// Returns the predicted states of segment `n` in the last evaluation, row after row, with those at the
    /// problem's [points](LawPoints) between them.
    pub fn predicted(&self, n: usize) -> &[f64] {
        self.flow.observed(n)
    }

    /// Returns the errors and residuals of the last evaluation.
    pub fn misfit(&self) -> &Misfit {
        &self.misfit
    }

    /// Returns the last evaluation.
    pub fn evaluation(&self) -> &Evaluation {
        &self.evaluation
    }

    /// Swaps the gradient of the last evaluation with a vector that the next evaluation overwrites.
    pub(crate) fn swap_gradient(&mut self, other: &mut Vec<f64>) {
        let gradient = &mut self.evaluation.gradient;
        other.resize(gradient.len(), 0.0);
        std::mem::swap(gradient, other);
    }

    /// Returns the problem.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Copies the strategy's state and weights, for a checkpoint.
    pub fn save_strategy(&self, into: &mut StrategyMemory) {
        let StrategyMemory { laws, continuity, weights } = into;
        laws.clone_from(self.evaluator.state());
        continuity.clone_from(self.continuity.state());
        weights.clear();
        weights.extend_from_slice(self.evaluator.weights());
        weights.extend_from_slice(self.continuity.weights());
    }

    /// Restores the strategy's state and weights from a checkpoint.
    ///
    /// # Panics
    /// If it is of an objective with another number of laws.
    pub fn restore_strategy(&mut self, memory: &StrategyMemory) {
        self.evaluator.set_state(&memory.laws);
        self.continuity.set_state(&memory.continuity);
        let (laws, continuity) = memory.weights.split_at(self.misfit.penalised().len());
        self.evaluator.set_weights(laws);
        self.continuity.set_weights(continuity);
    }

    /// Returns the number of parameters θ.
    pub fn parameter_len(&self) -> usize {
        self.evaluation.gradient.len()
    }

    /// Returns the number of right-hand side evaluations in the last solve.
    pub fn field_evaluations(&self) -> usize {
        self.flow.evaluations()
    }
}

/// Writes the gradient at θ, whose field's part is `field`, of an objective with these slopes for laws and
/// continuity: the adjoints of the field's parameters, of the trained initial states and of the effects.
fn pull_back(
    (problem, starts): (&Problem, &mut InitialStates),
    (flow, misfit): (&mut Flow, &mut Misfit),
    slopes: (&Slopes, &Slopes),
    field: &[f64],
    (field_bar, z_bar, effects_bar): (&mut [f64], &mut [f64], &mut [f64]),
) {
    z_bar.fill(0.0);
    effects_bar.fill(0.0);
    misfit.pull_back(slopes, problem, (starts, z_bar));
    let bars = (&mut *field_bar, effects_bar);
    flow.pull_back(&problem.dataset, misfit.observed_bars(), bars, (starts, z_bar));
    starts.pull_back(z_bar);
    misfit.add_parameters(&problem.constants, field, field_bar);
}

/// Returns whether every number is finite. Without early exit, so that the loop vectorises.
fn all_finite(numbers: &[f64]) -> bool {
    let mut finite = true;
    vectorised(|| finite = numbers.iter().fold(true, |all, x| all & x.is_finite()));
    finite
}
