//! A training in which every setting has a value: what the library and the program run.

use lawful_law::{Enforcement, Law, Vocabulary};
use lawful_ode::{Activation, Control, MlpShape, Precision, Scaling, Solver, VectorField};

use super::phase::total;
use super::{Kept, Phase, Settings, Shooting, Start, Trainer, Validation};
use crate::data::Sampler;
use crate::model::{
    LawDescription, ModelDescription, OffLaw, SolverDescription, Subjects, TrainedStart, starts,
};
use crate::strategy::{StrategySettings, Vanilla};
use crate::{
    Accuracy, ConsistentTable, Coordinates, Dataset, FieldDescription, FieldError, FieldPart,
    FreeStarts, GuaranteedLaws, Initialise, Interpolation, KnownDescription, LawPoints,
    LearnedConstant, Loss, Model, NetworkDescription, Objective, ObjectiveError, ParameterLayout,
    Problem, Random, Segment, Trajectory, Units, initial_states,
};

/// A training in which every setting has a value. [`Training::prepare`](super::Training::prepare)
/// returns it.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "settings that are independent")]
pub struct Prepared {
    /// The training data.
    pub data: Dataset,
    /// The names in laws and rates; learned constants have their initial values.
    pub vocabulary: Vocabulary,
    /// The constants that are learned.
    pub constants: Vec<LearnedConstant>,
    /// The laws, chained ones split; those that the vector field guarantees are hard.
    pub laws: Vec<Law>,
    /// How each law is kept, and why.
    pub kept: Vec<Kept>,
    /// The part of the vector field that guarantees laws, if there are such laws.
    pub guarantee: Option<FieldPart>,
    /// The loss of one cell.
    pub loss: Loss,
    /// How inputs are interpolated between rows.
    pub interpolation: Interpolation,
    /// The right-hand side.
    pub field: FieldSettings,
    /// Solver of the training.
    pub solver: Solver,
    /// Solver of predictions and scores.
    pub predict: Solver,
    /// How violations enter the objective.
    pub strategy: StrategySettings,
    /// The time up to which laws count, beyond the last row; `None` for the rows only.
    pub horizon: Option<f64>,
    /// Times of test sets at which laws count, beyond the rows of the trajectory of each name, where the
    /// strategy has points between rows or there is a horizon.
    pub test_times: Vec<(String, Vec<f64>)>,
    /// Whether the network and the objective work in units estimated from the data.
    pub scale: bool,
    /// Whether the initial states of trajectories are trained.
    pub initial_state: bool,
    /// Whether paths have process noise, which the evidence estimates: increments between segments.
    pub process_noise: bool,
    /// Where the training starts.
    pub start: Start,
    /// The table at which it starts; `None` for [`Start::Random`], and where there is no such table.
    pub table: Option<ConsistentTable>,
    /// Weight decay: half of it, times the sum of the network's squared parameters, is added to the
    /// objective.
    pub decay: f64,
    /// Share of the data that is held out for early stopping.
    pub validation: f64,
    /// Whether remedies add phases after a diagnosis.
    pub remedies: bool,
    /// Seed of initial weights and batches.
    pub seed: u64,
    /// The phases, in order; at least one.
    pub phases: Vec<Phase>,
    /// The recipe that chose the phases, if one did.
    pub recipe: Option<&'static str>,
    /// Its reasons.
    pub remarks: Vec<String>,
    /// The units of the network, if they are not the data's.
    pub scaling: Option<Scaling>,
    /// The units in which errors and violations enter the objective.
    pub units: Units,
}

/// Settings of the right-hand side: a network and known rates.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldSettings {
    /// Width of each hidden layer.
    pub hidden: Vec<usize>,
    /// Activation of each hidden layer.
    pub activations: Vec<Activation>,
    /// Distribution of the initial weights.
    pub init: Initialise,
    /// Whether time is an input of the network.
    pub time_input: bool,
    /// Precision of the arithmetic inside the network.
    pub precision: Precision,
    /// Known rates: state variable and expression, in the order of the state.
    pub known: Vec<(String, String)>,
    /// The state variables for which the network has an output, in the order of the state; if empty,
    /// there is no network.
    pub learn: Vec<String>,
    /// Number of effects: inputs of the network that each trajectory has of its own, constant along its path.
    /// They are trained by least squares and evidence, with a normal prior (partial pooling).
    pub effects: usize,
    /// Learned constants that have one value for each trajectory: deviations of their raw numbers from the
    /// shared ones have a normal prior, too.
    pub varying: Vec<String>,
    /// State variables that the network sees in log coordinates.
    pub coordinates: Vec<(String, Coordinates)>,
}

impl FieldSettings {
    /// Two hidden layers of 50 tanh units, with outputs for these state variables.
    pub fn new(learn: &[String]) -> Self {
        Self::layers(&[50, 50], learn)
    }

    /// Hidden layers of these widths with tanh, and outputs for these state variables.
    pub fn layers(hidden: &[usize], learn: &[String]) -> Self {
        Self {
            hidden: hidden.to_vec(),
            activations: vec![Activation::Tanh; hidden.len()],
            init: Initialise::default(),
            time_input: false,
            precision: Precision::Double,
            known: Vec::new(),
            learn: learn.to_vec(),
            effects: 0,
            varying: Vec::new(),
            coordinates: Vec::new(),
        }
    }
}

impl Prepared {
    /// Returns the vector field as a value.
    pub fn description(&self) -> FieldDescription {
        let FieldSettings { hidden, activations, time_input, precision, known, learn, .. } =
            &self.field;
        let mut parts = Vec::new();
        if !learn.is_empty() {
            parts.push(FieldPart::Network(NetworkDescription {
                hidden: hidden.clone(),
                activations: activations.iter().map(|known| known.name().to_owned()).collect(),
                time_input: *time_input,
                precision: precision.name().to_owned(),
                outputs: self.outputs(),
                effects: self.field.effects,
            }));
            match &self.guarantee {
                Some(linear @ FieldPart::Linear(_)) => parts.push(linear.clone()),
                _ => parts.extend(self.scaling.clone().map(FieldPart::Scaling)),
            }
        }
        if !known.is_empty() {
            let (rates, learn) = (known.clone(), learn.clone());
            parts.push(FieldPart::Known(KnownDescription { rates, learn }));
        }
        let is_outer = |part: &&FieldPart| !matches!(part, FieldPart::Linear(_));
        parts.extend(self.guarantee.as_ref().filter(is_outer).cloned());
        let mut names = FieldDescription::of_names(&self.vocabulary, &self.constants);
        for constant in &mut names.constants {
            constant.per_trajectory = self.field.varying.contains(&constant.name);
        }
        FieldDescription { parts, ..names }
    }

    /// Returns the names of the network's outputs: state variables, or the flows of linear laws.
    fn outputs(&self) -> Vec<String> {
        match &self.guarantee {
            Some(FieldPart::Linear(linear)) if self.has_network() => linear.outputs(),
            _ => self.field.learn.clone(),
        }
    }

    /// Builds the right-hand side, at θ = 0.
    pub(super) fn build_field(&self) -> Box<dyn VectorField> {
        self.description().build().expect("`prepare` has built it before")
    }

    /// Returns the shape of the network; without outputs if every rate is known.
    pub fn shape(&self) -> MlpShape {
        MlpShape {
            state: self.vocabulary.state().len() + self.effects_of_network(),
            outputs: self.outputs().len(),
            inputs: self.vocabulary.inputs().len(),
            time: self.field.time_input,
            hidden: self.field.hidden.clone(),
            activations: self.field.activations.clone(),
        }
    }

    /// Returns the length of the field's θ: the network's parameters, then the learned constants.
    pub fn parameter_len(&self) -> usize {
        self.shape().parameter_len() + self.constants.len()
    }

    /// Returns the number of parameters of a model: the field's, the trained initial states, and the effects
    /// of trajectories.
    pub fn theta_len(&self) -> usize {
        self.parameter_len() + self.starts_len() + self.effects_len()
    }

    /// Returns the number of trained initial states, all variables of all trajectories.
    pub(super) fn starts_len(&self) -> usize {
        let states = self.data.trajectories().len() * self.vocabulary.state().len();
        if self.initial_state { states } else { 0 }
    }

    /// Returns the iteration of the last evaluation if no phase ends early: the number of evaluations
    /// minus 1.
    pub fn iterations(&self) -> usize {
        total(&self.phases)
    }

    /// Returns the problem on these data, in the data's own units.
    pub fn problem(&self, dataset: Dataset) -> Problem {
        let (laws, loss) = (self.laws.clone(), self.loss);
        let units = Units::of_data(dataset.state().len(), laws.len());
        let (interpolation, constants) = (self.interpolation, self.constants.clone());
        let points = LawPoints::default();
        Problem { dataset, laws, loss, interpolation, units, constants, points }
    }

    /// Returns the initial parameters: drawn weights, matched to the table if there is one, and the initial
    /// states that are measured or on the table.
    pub fn initial_theta(&self) -> Vec<f64> {
        self.drawn_theta(0)
    }

    /// Returns initial parameters with different weights for every `draw`; without a network, with
    /// different constants.
    pub(super) fn drawn_theta(&self, draw: usize) -> Vec<f64> {
        // Seeds are below 2⁵⁴.
        let seed = self.seed + ((draw as u64) << 54);
        let mut theta = self.field.init.draw(&self.shape(), seed);
        if draw > 0 && !self.has_network() {
            // Fits of known rates have no weights: constants start elsewhere.
            let mut random = Random::new(seed, "constants");
            theta.extend((0..self.constants.len()).map(|_| random.normal()));
        }
        theta.resize(self.theta_len(), 0.0);
        if let Some(table) = &self.table {
            self.match_slopes(table, &mut theta);
            if self.initial_state {
                let starts = self.parameter_len()..self.parameter_len() + self.starts_len();
                theta[starts].copy_from_slice(&self.starts_on(table));
            }
        }
        theta
    }

    /// Returns whether a network computes any rate.
    pub(super) fn has_network(&self) -> bool {
        !self.field.learn.is_empty()
    }

    /// Returns the model with this θ, reached at this iteration.
    ///
    /// # Panics
    /// If θ is of another training.
    pub fn model(&self, theta: Vec<f64>, iteration: usize) -> Model {
        let z = &theta[self.parameter_len()..];
        let starts: Vec<TrainedStart> = if self.initial_state {
            let states = initial_states(&self.data, self.guaranteed(), z);
            let starts = self.data.trajectories().iter().zip(states);
            let starts = starts.map(|(trajectory, state)| TrainedStart {
                trajectory: trajectory.name.clone(),
                time: trajectory.times[0],
                state,
            });
            starts.collect()
        } else {
            Vec::new()
        };
        let states: Vec<Vec<f64>> = starts.iter().map(|start| start.state.clone()).collect();
        let description = ModelDescription {
            field: self.description(),
            laws: self.laws.iter().map(LawDescription::of).collect(),
            interpolation: self.interpolation,
            solver: SolverDescription::of(&self.predict),
            starts,
            count_above: self.strategy.kind.count_above(),
            accuracy: self.guarantee.as_ref().map(|_| Accuracy::of(&self.data)),
            subjects: Subjects::of(&self.data, self.effects_each()),
            iteration,
        };
        let model = Model::new(description, theta).expect("`prepare` has built it before");
        model.with_newcomers(&self.data, &states)
    }

    /// Returns an objective on the training data at θ, in the data's own units.
    pub(super) fn measure(&self, solver: Solver, theta: &[f64]) -> Objective {
        let problem = self.problem(self.data.clone());
        let objective = Objective::new(problem, self.build_field(), solver, Box::new(Vanilla));
        let objective = objective.expect("`prepare` has made one before");
        let objective = objective.with_effects(self.effects_at(theta).to_vec());
        match (self.initial_state, self.guaranteed()) {
            (false, None) => objective,
            (false, Some(laws)) => objective.on_laws(laws),
            (true, laws) => {
                let states = initial_states(&self.data, laws, &theta[self.parameter_len()..]);
                objective.starting_from(states.into_iter().enumerate().collect())
            }
        }
    }

    /// Checks that every measured initial state is on the laws that the field guarantees, as far as the
    /// data are accurate. Returns what is moved, in words.
    pub(super) fn check_starts_on_laws(&self) -> Result<Vec<String>, OffLaw> {
        let Some(mut laws) = self.guaranteed() else { return Ok(Vec::new()) };
        let accuracy = Accuracy::of(&self.data);
        let d = self.data.state().len();
        let moved = self.data.trajectories().iter();
        let moved = moved.map(|trajectory| {
            let moved = starts::moved(&mut laws, trajectory, d, &accuracy);
            moved.map_err(|off| OffLaw { law: starts::name_of(&self.laws, &off.law), ..off })
        });
        Ok(starts::in_words(&self.data, &moved.collect::<Result<Vec<_>, _>>()?))
    }

    /// Returns the laws that the field guarantees and that states can be moved to.
    pub(super) fn guaranteed(&self) -> Option<GuaranteedLaws> {
        self.guarantee.as_ref()?;
        self.description().guaranteed().expect("`prepare` has built the field before")
    }

    /// Returns the strategy of a phase: its own, or the training's.
    pub fn strategy_of<'a>(&'a self, phase: &'a Phase) -> &'a StrategySettings {
        phase.strategy.as_ref().unwrap_or(&self.strategy)
    }

    /// Returns the objective of a phase on these data.
    ///
    /// # Errors
    /// If the field or the strategy does not fit the problem.
    pub fn objective(&self, phase: &Phase, dataset: Dataset) -> Result<Objective, ObjectiveError> {
        self.objective_with(phase, dataset, finer(self.solver, phase.substeps))
    }

    /// Returns the objective of a phase on held-out data, where only the fit counts.
    pub(super) fn validation(&self, phase: &Phase, held_out: Dataset, solver: Solver) -> Objective {
        let objective = self.objective_on(phase, (held_out, LawPoints::default()), None, solver);
        objective.expect("`prepare` has made one before")
    }

    /// Returns the objective of a phase on these data, by this solver.
    pub(super) fn objective_with(
        &self,
        phase: &Phase,
        dataset: Dataset,
        solver: Solver,
    ) -> Result<Objective, ObjectiveError> {
        let segments = phase.segments(&dataset);
        self.objective_on(phase, self.with_points(phase, dataset), Some(segments), solver)
    }

    /// Returns the objective of a phase on data with points; `segments` are those of the measured rows.
    fn objective_on(
        &self,
        phase: &Phase,
        (dataset, points): (Dataset, LawPoints),
        segments: Option<Vec<Segment>>,
        solver: Solver,
    ) -> Result<Objective, ObjectiveError> {
        let strategy = self.strategy_of(phase);
        let units = Units { margin: strategy.margin, ..self.units.clone() };
        let problem = Problem { units, points, ..self.problem(dataset) };
        let segments = match segments {
            Some(segments) => problem.points.stretched(&problem.dataset, segments),
            None => phase.segments(&problem.dataset),
        };
        let free_starts = self.free_starts(phase);
        let laws = self.laws.iter();
        let penalised: Vec<bool> =
            laws.map(|law| law.enforcement() == Enforcement::Penalty).collect();
        let field = self.build_field();
        let strategy = strategy.kind.build(&penalised);
        let objective = if phase.part.is_some() {
            Objective::on(segments.clone(), problem, field, solver, strategy)?
        } else {
            Objective::new(problem, field, solver, strategy)?
        };
        let objective = objective.with_decay(self.decay, self.shape().parameter_len());
        let objective = if free_starts == FreeStarts::default() {
            objective
        } else if self.process_noise {
            objective.with_increments(free_starts, &segments)
        } else {
            objective.with_free_starts(free_starts, &segments)
        };
        Ok(match self.guaranteed() {
            Some(laws) => objective.on_laws(laws),
            None => objective,
        })
    }

    /// Returns the layout of θ in a phase, without the buffers of its objective.
    pub fn layout(&self, phase: &Phase) -> ParameterLayout {
        let free_starts = self.free_starts(phase);
        let (trained, _) = self.split();
        let segments = phase.segments(&trained);
        let of_field = (self.parameter_len(), self.effects_len());
        ParameterLayout::new(of_field, &trained, free_starts, &segments, self.process_noise)
    }

    fn free_starts(&self, phase: &Phase) -> FreeStarts {
        let free = matches!(phase.shooting, Shooting::Multiple { free: true, .. });
        FreeStarts { initial: self.initial_state, segments: free }
    }

    /// Returns the training loop of a phase that continues with what was kept of the previous one.
    ///
    /// # Panics
    /// If the phase is not one of this training's plan.
    pub fn trainer(&self, phase: &Phase, kept: &[f64]) -> Trainer {
        let (trained, held_out) = self.split();
        let strategy = self.strategy_of(phase);
        let settings = Settings {
            iterations: phase.iterations,
            tolerance: strategy.tolerance,
            best_point: strategy.best_point,
            schedule: phase.schedule,
            ..Settings::default()
        };
        let segments = phase.segments(&trained);
        let objective = self.objective(phase, trained).expect("`prepare` has made one before");
        let Problem { dataset, points, .. } = objective.problem();
        let sampler = match (phase.shooting, phase.part) {
            (Shooting::Single, None) => Sampler::new(phase.batch, dataset, self.seed)
                .expect("`prepare` has found a complete row to start from"),
            _ => Sampler::of(points.stretched(dataset, segments)),
        };
        let mut theta = objective.layout().extend(kept);
        self.place_segments(&objective, &mut theta);
        let optimiser = phase.optimiser.build(theta.len());
        let trainer = Trainer::new(objective, optimiser, settings, theta);
        let trainer = trainer.expect("θ of its own objective").with_sampler(sampler);
        match held_out {
            Some(held_out) if phase.shooting == Shooting::Single && phase.part.is_none() => {
                let solver = finer(self.solver, phase.substeps);
                let objective = self.validation(phase, held_out, solver);
                let validation = Validation::new(objective, VALIDATE_EVERY, PATIENCE);
                trainer.with_validation(validation.expect("the interval is not 0"))
            }
            _ => trainer,
        }
    }

    /// Splits the data into training data and held-out data.
    pub(super) fn split(&self) -> (Dataset, Option<Dataset>) {
        split(&self.data, self.validation, self.initial_state || self.effects_len() > 0)
    }

    /// Checks that the vector field can be built.
    pub(super) fn check(&self) -> Result<(), FieldError> {
        self.description().build().map(|_| ())
    }
}

/// Iterations between two evaluations on held-out data.
const VALIDATE_EVERY: usize = 5;
/// Iterations without a lower error on held-out data after which training stops.
const PATIENCE: usize = 300;

/// Fewest trajectories for which full trajectories are held out, not the tail of each.
const ENOUGH_TRAJECTORIES: usize = 5;

/// Splits the data into training data and held-out data: full trajectories if there are enough of them and
/// no initial states are trained, otherwise the tail of each. Nothing is held out if it had no measurement.
pub(super) fn split(data: &Dataset, share: f64, initial_state: bool) -> (Dataset, Option<Dataset>) {
    if share <= 0.0 {
        return (data.clone(), None);
    }
    let trajectories = data.trajectories();
    let of = |trajectories| {
        let (state, inputs) = (data.state().to_vec(), data.inputs().to_vec());
        Dataset::with_open_starts(state, inputs, trajectories).expect("parts of checked data")
    };
    let (trained, held_out) = if holds_out_trajectories(data, initial_state) {
        let kept = trajectories.len() - held(share, trajectories.len());
        (of(trajectories[..kept].to_vec()), of(trajectories[kept..].to_vec()))
    } else {
        let (d, m) = (data.state().len(), data.inputs().len());
        let (mut trained, mut held_out) = (Vec::new(), Vec::new());
        for trajectory in trajectories {
            // A share of the measured rows; rows without a measurement would validate nothing.
            let measured: Vec<usize> = trajectory.measured(d).collect();
            let rows = match measured.len() {
                0 | 1 => trajectory.len(),
                count => measured[count - held(share, count)].max(2),
            };
            let mut head = trajectory.clone();
            head.times.truncate(rows);
            head.states.truncate(rows * d);
            head.inputs.truncate(rows * m);
            trained.push(head);
            held_out.push(Trajectory { scored_from: rows, ..trajectory.clone() });
        }
        (of(trained), of(held_out))
    };
    if held_out.has_scored_cells() { (trained, Some(held_out)) } else { (data.clone(), None) }
}

/// Returns whether full trajectories are held out, not the tail of each.
pub(super) fn holds_out_trajectories(data: &Dataset, initial_state: bool) -> bool {
    data.trajectories().len() >= ENOUGH_TRAJECTORIES && !initial_state
}

/// Returns how many of `count` are held out: at least one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
pub(super) fn held(share: f64, count: usize) -> usize {
    ((share * count as f64).round() as usize).clamp(1, count - 1)
}

/// Returns the same solver with `factor` times the steps on the data's grid.
pub fn finer(solver: Solver, factor: usize) -> Solver {
    match solver.control() {
        Control::Grid { substeps } if factor > 1 => {
            let control = Control::Grid { substeps: factor * substeps };
            let finer = Solver::new(solver.tableau(), control).expect("as it was, but finer");
            finer.with_memory(solver.memory())
        }
        _ => solver,
    }
}
