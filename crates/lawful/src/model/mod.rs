//! A trained model: it predicts, is scored, and is saved.
#![expect(clippy::disallowed_methods, reason = "models are the one thing that the library writes")]

mod archive;
mod dense;
mod description;
mod draw;
mod estimates;
mod guarantee;
mod interval;
mod interval_score;
mod jumps;
mod measure;
mod report;
mod ridge;
mod score;
mod size;
pub(crate) mod starts;
mod subjects;
mod verdict;

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use lawful_law::Law;
use lawful_ode::{
    InitialValueProblems, Inputs, Path as Solution, Shifted, SolveError, Solver, VectorField,
    times_since,
};

pub(crate) use archive::WITH_PROCESS_NOISE;
pub use archive::{Archive, FORMAT, ModelError};
pub use description::{LawDescription, ModelDescription, SolverDescription, TrainedStart};
pub use draw::Draw;
pub use estimates::{ConstantEstimate, Estimates};
pub use interval::{Interval, IntervalError, IntervalKind, Intervals};
pub use interval_score::{IntervalScore, LawDraws};
pub use score::{Fit, LawScore, Score};
pub use size::law_sizes;
pub use starts::OffLaw;
pub use subjects::Subjects;
pub use verdict::{LAW_TOLERANCE, LawPlace, LawReport, LawStatus, LawVerdict, Measured, Unsolved};

use crate::data::Table;
use crate::number::{exact, short};
use crate::posterior::Posterior;
use crate::strategy::Vanilla;
use crate::{
    Accuracy, Dataset, Failure, FieldError, FieldPart, GuaranteedLaws, Interpolation, LawPoints,
    Loss, Objective, Problem, Trajectory, Units,
};
use jumps::{Jumps, Process};
use subjects::Newcomers;

/// A vector field with its learned parameters, the laws it was trained under, and the solver of its
/// predictions.
///
/// ```no_run
/// let model = lawful::Model::load("oscillator.safetensors")?;
/// // Two rows: the states at t = 0, which are the initial ones, and at t = 10.
/// let path = model.predict(&[1.0, 0.0], &[0.0, 10.0])?;
/// assert_eq!(path.len(), 2 * model.state().len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Model {
    description: ModelDescription,
    laws: Vec<Law>,
    /// The field's parameters, then the numbers of trained initial states, and the effects of trajectories.
    theta: Vec<f64>,
    field_len: usize,
    solver: Solver,
    newcomers: Newcomers,
    /// The effects of every path, if they are given.
    effects: Option<Vec<f64>>,
    posterior: Option<Arc<Posterior>>,
    /// The process noise, and the jumps of every path, if they are those of a trajectory.
    process: Option<Arc<Process>>,
    jumps: Option<Arc<Jumps>>,
}

/// Why a prediction failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PredictError {
    /// The initial state has another length than the model's state.
    #[error("an initial state of {found} numbers, for a model of {expected} state variables")]
    Initial {
        /// Length of the given state.
        found: usize,
        /// Number of state variables of the model.
        expected: usize,
    },
    /// The times are not strictly increasing, or there are none.
    #[error("times must be finite and strictly increasing, and there must be at least one")]
    Times,
    /// The model needs inputs, and the table does not have them.
    #[error("a table of inputs with {found} numbers in a row, for a model of {expected} inputs")]
    Inputs {
        /// Numbers in a row of the table.
        found: usize,
        /// Inputs of the model.
        expected: usize,
    },
    /// The initial state is off a law that the field guarantees along the path from it.
    #[error("the initial state is off the law `{law}` by {}, and the path from it would be too", short(*.off))]
    OffLaw {
        /// The law's name.
        law: String,
        /// By how much, in units of the law.
        off: f64,
    },
    /// The initial state is on a bound of which the network sees the distance's logarithm.
    #[error("the initial state has `{variable}` on its bound {}, and the network sees the logarithm of the distance to it", exact(*.bound))]
    OnBound {
        /// The state variable.
        variable: String,
        /// The bound.
        bound: f64,
    },
    /// The initial state cannot be moved to the laws.
    #[error("the initial state cannot be moved to the laws: it {0}")]
    NoProjection(String),
    /// The solver did not reach the last time.
    #[error(transparent)]
    Solve(#[from] SolveError),
}

impl PredictError {
    /// Returns a hint on what to do.
    pub fn hint(&self) -> String {
        match self {
            Self::Initial { .. } => "give one number for each state variable".to_owned(),
            Self::Times => "sort the times, and give each only once".to_owned(),
            Self::Inputs { .. } => "give a value of each input in every row".to_owned(),
            Self::OffLaw { .. } => {
                "correct it, or move it to the laws: `--project`, in the library `Model::project`"
                    .to_owned()
            }
            Self::OnBound { variable, .. } => {
                format!("give a value of `{variable}` that is strictly inside")
            }
            Self::NoProjection(_) => "give a state that is nearer to the laws".to_owned(),
            Self::Solve(error) => error.hint().to_string(),
        }
    }
}

impl Model {
    /// Creates a model with these parameters.
    ///
    /// # Errors
    /// If the description is not valid, or the number of parameters is another.
    pub fn new(description: ModelDescription, theta: Vec<f64>) -> Result<Self, FieldError> {
        let field = description.field.build()?;
        let field_len = field.parameter_len();
        let starts = description.starts.len() * description.field.state.len();
        let expected = field_len + starts + subjects::check(&description)?;
        if theta.len() != expected {
            let (what, found) = ("parameters of a model", theta.len());
            return Err(FieldError::Length { what, found, expected });
        }
        let d = description.field.state.len();
        if let Some(start) = description.starts.iter().find(|start| start.state.len() != d) {
            let (what, found) = ("numbers of a trained initial state", start.state.len());
            return Err(FieldError::Length { what, found, expected: d });
        }
        let laws = description.laws()?;
        let solver = description.solver()?;
        let (newcomers, effects) = (Newcomers::default(), None);
        Ok(Self {
            description,
            laws,
            theta,
            field_len,
            solver,
            newcomers,
            effects,
            posterior: None,
            process: None,
            jumps: None,
        })
    }

    /// Returns the same model with another description of its field or its laws.
    ///
    /// # Errors
    /// If the description is not valid, or needs another number of parameters.
    pub(crate) fn described(self, description: ModelDescription) -> Result<Self, FieldError> {
        let Self { theta, newcomers, effects, posterior, process, jumps, .. } = self;
        let new = Self::new(description, theta)?;
        Ok(Self { newcomers, effects, posterior, process, jumps, ..new })
    }

    /// Returns the description of the model.
    pub fn description(&self) -> &ModelDescription {
        &self.description
    }

    /// Returns the names of the state variables.
    pub fn state(&self) -> &[String] {
        &self.description.field.state
    }

    /// Returns the names of the inputs.
    pub fn inputs(&self) -> &[String] {
        &self.description.field.inputs
    }

    /// Returns the laws, in the order of every list with one entry per law.
    pub fn laws(&self) -> &[Law] {
        &self.laws
    }

    /// Returns the solver of predictions.
    pub fn solver(&self) -> &Solver {
        &self.solver
    }

    /// Sets the solver of predictions.
    #[must_use]
    pub fn with_solver(mut self, solver: Solver) -> Self {
        self.description.solver = SolverDescription::of(&solver);
        Self { solver, ..self }
    }

    /// Sets the laws that are scored; they must be written in the names of the model.
    #[must_use]
    pub fn with_laws(mut self, laws: Vec<Law>) -> Self {
        self.description.laws = laws.iter().map(LawDescription::of).collect();
        Self { laws, ..self }
    }

    /// Returns the field's parameters, then the numbers of trained initial states, and the effects of
    /// trajectories.
    pub fn theta(&self) -> &[f64] {
        &self.theta
    }

    /// Returns the parameters of the vector field.
    pub fn parameters(&self) -> &[f64] {
        &self.theta[..self.field_len]
    }

    /// Returns name, initial value and learned value of each learned constant; of one with a value for each
    /// trajectory, the shared one.
    pub fn constants(&self) -> Vec<(String, f64, f64)> {
        let learned = self.description.field.learned();
        let raw = &self.parameters()[self.field_len - learned.len()..];
        let values = learned
            .iter()
            .zip(raw)
            .map(|(constant, &raw)| (constant.name.clone(), constant.start, constant.value(raw)));
        values.collect()
    }

    /// Returns the vector field, at its learned parameters.
    pub fn field(&self) -> Box<dyn VectorField> {
        let field = self.description.field.build();
        let mut field = field.expect("it was built when the model was made");
        field.set_parameters(self.parameters());
        field
    }

    /// Returns the states at `times`, row after row, from `initial` at the first time. It is the path of a new
    /// trajectory, whose effects are predicted, unless [`with_effects`](Self::with_effects) gives them.
    ///
    /// # Errors
    /// If the arguments do not fit the model, or the solver fails.
    pub fn predict(&self, initial: &[f64], times: &[f64]) -> Result<Vec<f64>, PredictError> {
        self.predict_with(initial, times, Table { times: &[], values: &[] })
    }

    /// Returns the same with inputs from a table.
    ///
    /// # Errors
    /// If the arguments do not fit the model, or the solver fails.
    pub fn predict_with(
        &self,
        initial: &[f64],
        times: &[f64],
        inputs: Table<'_>,
    ) -> Result<Vec<f64>, PredictError> {
        self.predict_since(times.first().copied().unwrap_or(0.0), initial, times, inputs)
    }

    /// The same with the solver's time counted from `origin`, which the parts of one long prediction
    /// share: then they give the same values as the whole.
    ///
    /// # Errors
    /// If the arguments do not fit the model, or the solver fails.
    pub fn predict_since(
        &self,
        origin: f64,
        initial: &[f64],
        times: &[f64],
        inputs: Table<'_>,
    ) -> Result<Vec<f64>, PredictError> {
        let (found, expected) = (initial.len(), self.state().len());
        if found != expected {
            return Err(PredictError::Initial { found, expected });
        }
        let increasing = times.windows(2).all(|pair| pair[0] < pair[1]);
        if times.is_empty() || !increasing || times.iter().any(|t| !t.is_finite()) {
            return Err(PredictError::Times);
        }
        let expected = self.inputs().len();
        let found = inputs.values.len().checked_div(inputs.times.len()).unwrap_or(0);
        if found != expected || found * inputs.times.len() != inputs.values.len() {
            return Err(PredictError::Inputs { found, expected });
        }
        let mut initial = initial.to_vec();
        let at_start = self.inputs_at(times[0], inputs);
        self.complete_start(&mut initial, &at_start);
        self.put_on_laws(times[0], &mut initial)?;
        let mut field = Shifted::new(self.field());
        field.set_effects(&self.effects_from(&initial, &at_start));
        let new = || self.process.as_ref().map(|process| Arc::new(process.since(origin)));
        match self.jumps.clone().or_else(new) {
            None => self.solve(&mut field, origin, &initial, times, inputs),
            Some(jumps) => self.solve_with(&jumps, &mut field, origin, initial, times, inputs),
        }
    }

    /// Solves the field from an initial state at the first time.
    fn solve(
        &self,
        field: &mut Shifted,
        origin: f64,
        initial: &[f64],
        times: &[f64],
        inputs: Table<'_>,
    ) -> Result<Vec<f64>, PredictError> {
        let mut since = Vec::new();
        let origin = times_since(origin, times, &mut since);
        field.set_origins([origin]);
        let mut problems = InitialValueProblems::new(initial.len());
        problems.push(&since, initial).expect("times were checked to increase");
        let mut path = Solution::default();
        let signal =
            Signal { interpolation: self.description.interpolation, table: inputs, origin };
        let solved = lawful_ode::predict(field, &self.solver, &problems, &signal, &mut path);
        solved.map_err(|error| field.at_user_times(error))?;
        Ok(path.observed(0).to_vec())
    }

    /// Solves the field from jump to jump. At the time of a jump the state is that after it.
    fn solve_with(
        &self,
        jumps: &Jumps,
        field: &mut Shifted,
        origin: f64,
        mut state: Vec<f64>,
        times: &[f64],
        inputs: Table<'_>,
    ) -> Result<Vec<f64>, PredictError> {
        let (d, last) = (state.len(), times[times.len() - 1]);
        let mut states = state.clone();
        let (mut at, mut row) = (times[0], 1);
        while row < times.len() {
            let jump = jumps.after(at).filter(|(t, _)| *t <= last);
            let end = jump.as_ref().map_or(last, |(t, _)| *t);
            let rows = times[row..].iter().take_while(|t| **t <= end).count();
            let mut piece = vec![at];
            piece.extend(&times[row..row + rows]);
            if piece[piece.len() - 1] < end {
                piece.push(end);
            }
            let found = self.solve(field, origin, &state, &piece, inputs)?;
            states.extend_from_slice(&found[d..(rows + 1) * d]);
            state.copy_from_slice(&found[found.len() - d..]);
            row += rows;
            at = end;
            let Some((_, increments)) = jump else { break };
            state.iter_mut().zip(&increments).for_each(|(y, increment)| *y += increment);
            self.project(at, &mut state)?;
            if rows > 0 && times[row - 1] >= end {
                let place = states.len() - d;
                states[place..].copy_from_slice(&state);
            }
        }
        Ok(states)
    }

    /// Returns the laws that the field guarantees and that states can be moved to.
    fn guaranteed(&self) -> Option<GuaranteedLaws> {
        self.description.field.guaranteed().expect("it was built when the model was made")
    }

    /// Checks that an initial state at time `t` is on the laws that the field guarantees, up to rounding,
    /// which it removes.
    ///
    /// # Errors
    /// If it is off a law.
    pub fn put_on_laws(&self, t: f64, state: &mut [f64]) -> Result<(), PredictError> {
        let Some(mut laws) = self.guaranteed() else { return Ok(()) };
        let mut worst: Option<(f64, String, f64)> = None;
        laws.each_off(t, state, &mut |law| {
            let share = (law.off / law.size).abs();
            let is_off = share.is_nan() || share > starts::ROUNDING;
            if is_off && worst.as_ref().is_none_or(|(most, ..)| share > *most) {
                worst = Some((share, law.name.to_owned(), law.off.abs()));
            }
        });
        if let (None, Some((variable, bound))) = (&worst, laws.on_open_bound(state)) {
            return Err(PredictError::OnBound { variable: variable.to_owned(), bound });
        }
        match worst {
            Some((_, law, off)) => {
                Err(PredictError::OffLaw { law: starts::name_of(&self.laws, &law), off })
            }
            None => self.project(t, state),
        }
    }

    /// Moves an initial state at time `t` to the laws that the field guarantees and that state their value,
    /// by the shortest way in sizes of the states to first order. Without such laws nothing changes.
    ///
    /// # Errors
    /// If no such state is found.
    pub fn project(&self, t: f64, state: &mut [f64]) -> Result<(), PredictError> {
        let Some(mut laws) = self.guaranteed() else { return Ok(()) };
        let moved = laws.project(t, state).map(|_| ());
        moved.map_err(|refused| PredictError::NoProjection(refused.why.to_string()))
    }

    /// Returns the prediction along a trajectory of the data, from its initial state and with its inputs,
    /// at other times.
    ///
    /// # Errors
    /// If the trajectory does not fit the model, or the solver fails.
    pub fn along(&self, trajectory: &Trajectory, times: &[f64]) -> Result<Vec<f64>, PredictError> {
        let inputs = Table { times: &trajectory.times, values: &trajectory.inputs };
        let own = self.of_trajectory(trajectory);
        own.predict_with(&self.initial_state(trajectory), times, inputs)
    }

    /// Returns this model with the effects of a trajectory for every path, and its process noise.
    pub fn of_trajectory(&self, trajectory: &Trajectory) -> Cow<'_, Self> {
        let jumps = self.jumping_along(trajectory);
        if self.effect_len() == 0 && jumps.is_none() {
            return Cow::Borrowed(self);
        }
        let effects = (self.effect_len() > 0).then(|| self.effects_along(trajectory));
        Cow::Owned(Self { effects, jumps, ..self.clone() })
    }

    /// Returns the initial state of a trajectory: the trained one if a training trajectory has the same
    /// name and first time, otherwise the measured one. A measured state is moved to the laws that the
    /// field guarantees, if it is off them by no more than the accuracy of the training data explains.
    pub fn initial_state(&self, trajectory: &Trajectory) -> Vec<f64> {
        let measured = || {
            let moved = self.guaranteed().and_then(|mut laws| {
                let accuracy = self.description.accuracy.clone()?;
                let d = self.state().len();
                starts::moved(&mut laws, trajectory, d, &accuracy).ok().flatten()
            });
            let first = || {
                let mut first = trajectory.states[..self.state().len()].to_vec();
                self.complete_start(&mut first, &trajectory.inputs[..self.inputs().len()]);
                first
            };
            moved.map_or_else(first, |moved| moved.state)
        };
        self.trained_state(trajectory).unwrap_or_else(measured)
    }

    fn trained_state(&self, trajectory: &Trajectory) -> Option<Vec<f64>> {
        let begins = |start: &&TrainedStart| {
            start.trajectory == trajectory.name
                && (start.time - trajectory.times[0]).abs() < f64::MIN_POSITIVE
        };
        self.description.starts.iter().find(begins).map(|start| start.state.clone())
    }

    /// Returns errors and violations on some data, with the model's own solver.
    ///
    /// # Errors
    /// If the solver fails, or a law has no finite value.
    pub fn score(&self, data: &Dataset) -> Result<Score, Failure> {
        self.score_by(data, self.solver)
    }

    /// Returns errors and violations on some data, with another solver. A training trajectory with process noise
    /// is compared with its smoothed path.
    ///
    /// # Errors
    /// If the solver fails.
    ///
    /// # Panics
    /// If the data have other variables than the model.
    pub fn score_by(&self, data: &Dataset, solver: Solver) -> Result<Score, Failure> {
        let mut objective = self.objective(data, solver)?;
        let score = score::score(&mut objective, self.parameters(), &self.count_above(data))?;
        let jumps = |own: &Trajectory| self.jumping_along(own).is_some_and(|own| own.are_known());
        if !data.trajectories().iter().any(jumps) {
            return Ok(score);
        }
        // Laws are measured on the path of the vector field, errors on the smoothed one.
        let model = self.clone().with_solver(solver);
        let mut predicted = Vec::with_capacity(data.trajectories().len());
        for trajectory in data.trajectories() {
            let along = model.along(trajectory, &trajectory.times);
            predicted.push(along.map_err(|error| Failure::Predict {
                trajectory: trajectory.name.clone(),
                error: error.to_string(),
            })?);
        }
        Ok(score.with_predicted(data, predicted))
    }

    /// Returns the fit to some data by another solver: what [`score_by`](Self::score_by) says of it, without the
    /// laws.
    ///
    /// # Errors
    /// If the solver fails.
    ///
    /// # Panics
    /// If the data have other variables than the model.
    pub fn fit_by(&self, data: &Dataset, solver: Solver) -> Result<Fit, Failure> {
        let mut objective = self.objective(data, solver)?;
        score::fit(&mut objective, self.parameters())
    }

    /// Returns, for each law, the violation above which a step of some data counts as violated.
    fn count_above(&self, data: &Dataset) -> Vec<f64> {
        let constants: Vec<f64> = self.constants().into_iter().map(|(_, _, value)| value).collect();
        let sizes = law_sizes(data, &self.laws, &constants);
        let above = |(law, size): (&Law, f64)| {
            let by = guarantee::guarantee(&self.description.field, law);
            self.description.count_above.max(by.map_or(0.0, |_| guarantee::STEP_ROUNDING * size))
        };
        self.laws.iter().zip(sizes).map(above).collect()
    }

    /// Returns the model as an objective on some data, in their own units and without a strategy.
    fn objective(&self, data: &Dataset, solver: Solver) -> Result<Objective, Failure> {
        let mut laws = self.guaranteed();
        let accuracy = laws.as_ref().map(|_| {
            let own = Accuracy::of(data);
            self.description.accuracy.as_ref().map_or(own.clone(), |other| own.or(other))
        });
        let mut starts = Vec::new();
        for (n, trajectory) in data.trajectories().iter().enumerate() {
            let mut state = self.trained_state(trajectory);
            if let (None, Some(laws), Some(accuracy)) = (&state, &mut laws, &accuracy) {
                let moved = starts::moved(laws, trajectory, self.state().len(), accuracy);
                state = moved.map_err(Failure::from)?.map(|moved| moved.state);
            }
            if state.is_none() && self.description.subjects.is_some() {
                state = Some(self.initial_state(trajectory));
            }
            starts.extend(state.map(|state| (n, state)));
        }
        let effects = data.trajectories().iter().flat_map(|own| self.effects_along(own)).collect();
        let problem = Problem {
            dataset: data.clone(),
            laws: self.laws.clone(),
            loss: Loss::Mse,
            interpolation: self.description.interpolation,
            units: Units::of_data(self.state().len(), self.laws.len()),
            constants: self.description.field.learned(),
            points: LawPoints::default(),
        };
        let objective = Objective::new(problem, self.field(), solver, Box::new(Vanilla));
        let objective = objective.expect("data with the variables of the model");
        let objective = objective.with_effects(effects);
        Ok(if starts.is_empty() { objective } else { objective.starting_from(starts) })
    }

    /// Writes the model as a safetensors file: as a whole or not at all.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), ModelError> {
        let path = path.as_ref();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let part = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
        let bytes = self.archive().to_bytes();
        let written = std::fs::write(&part, bytes).and_then(|()| std::fs::rename(&part, path));
        written.map_err(|error| {
            // If the partial file cannot be removed either, the first error is the one to report.
            let _ = std::fs::remove_file(&part);
            ModelError::cannot("write", path, &error)
        })
    }

    /// Reads a model that [`save`](Self::save) or the program wrote.
    ///
    /// # Errors
    /// If the file cannot be read, is damaged, or was written by another version.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ModelError> {
        let path = path.as_ref();
        let bytes =
            std::fs::read(path).map_err(|error| ModelError::cannot("read", path, &error))?;
        Self::from_archive(&Archive::from_bytes(&path.display().to_string(), bytes)?)
    }

    /// Returns the model as tensors and metadata, to which more can be added before they are written.
    ///
    /// The tensors are `layers.N.weight` (`outputs × inputs`) and `layers.N.bias`, `constants.raw`
    /// where constants are learned, `starts` where initial states were trained, `scaling.*` if the network does
    /// not work in the data's units, `effects` (trajectories × effects) and `subjects.*` where trajectories
    /// have numbers of their own, and `posterior.*` if training gave a posterior, with `process-noise.*`.
    pub fn archive(&self) -> Archive {
        let shape = self.description.field.shape().expect("it was read when the model was made");
        let (field, rest) = self.theta.split_at(self.field_len);
        let starts = &rest[..self.description.starts.len() * self.state().len()];
        let mut archive = Archive::new(&self.description);
        for (n, layer) in shape.layers().enumerate() {
            let (weights, biases) = (&field[layer.weights.clone()], &field[layer.biases.clone()]);
            archive.add_matrix(
                &format!("layers.{n}.weight"),
                [layer.outputs, layer.inputs],
                weights,
            );
            archive.add(&format!("layers.{n}.bias"), biases);
        }
        for (name, values) in
            [("constants.raw", &field[shape.parameter_len()..]), ("starts", starts)]
        {
            if !values.is_empty() {
                archive.add(name, values);
            }
        }
        if let Some(scaling) = self.description.field.scaling() {
            archive.add("scaling.time", &[scaling.time_centre, scaling.time]);
            for (name, values) in [
                ("state-centre", &scaling.state_centre),
                ("state", &scaling.state),
                ("rate", &scaling.rate),
                ("input-centre", &scaling.input_centre),
                ("input", &scaling.input),
            ] {
                archive.add(&format!("scaling.{name}"), values);
            }
        }
        self.archive_subjects(&mut archive);
        if let Some(posterior) = self.posterior() {
            posterior.write(&mut archive);
        }
        archive
    }

    /// Reads the model in an archive.
    ///
    /// # Errors
    /// If a tensor is missing, has another size, or contradicts the metadata.
    pub fn from_archive(archive: &Archive) -> Result<Self, ModelError> {
        let description: ModelDescription = archive.description()?;
        check_sizes(archive, &description)?;
        let field =
            description.field.build().map_err(|error| archive.damaged(&error.to_string()))?;
        let shape =
            description.field.shape().map_err(|error| archive.damaged(&error.to_string()))?;
        let field_len = field.parameter_len();
        let starts = description.starts.len() * description.field.state.len();
        let own = subjects::check(&description);
        let own = own.map_err(|error| archive.damaged(&error.to_string()))?;
        let newcomers = Self::read_subjects(archive, &description)?;
        let mut theta = vec![0.0; field_len + starts + own];
        for (n, layer) in shape.layers().enumerate() {
            archive.fill(&format!("layers.{n}.weight"), &mut theta[layer.weights.clone()])?;
            archive.fill(&format!("layers.{n}.bias"), &mut theta[layer.biases.clone()])?;
        }
        if field_len > shape.parameter_len() {
            archive.fill("constants.raw", &mut theta[shape.parameter_len()..field_len])?;
        }
        if starts > 0 {
            archive.fill("starts", &mut theta[field_len..field_len + starts])?;
        }
        if own > 0 {
            archive.fill("effects", &mut theta[field_len + starts..])?;
        }
        let lengths = (theta.len(), description.field.state.len(), description.starts.len());
        let posterior = Posterior::read(archive, lengths)?;
        let model = Self::new(description, theta);
        let model = model.map_err(|error| archive.damaged(&error.to_string()))?;
        Ok(Self { newcomers, ..model }.with_posterior(posterior))
    }

    /// Returns whether another model has the same description, whatever the numbers of its scaling, its
    /// trained initial states and its iteration: the same field, laws and solver.
    pub fn is_like(&self, other: &Self) -> bool {
        let alike = |model: &Self| {
            let mut description = model.description.clone();
            let scaled = description.field.scaling().is_some();
            let parts = &mut description.field.parts;
            parts.retain(|part| !matches!(part, FieldPart::Scaling(_)));
            for part in parts {
                if let FieldPart::Linear(linear) = part {
                    *linear = linear.clone().without_sizes();
                }
            }
            for start in &mut description.starts {
                (start.time, start.state) = (0.0, Vec::new());
            }
            description.iteration = 0;
            (description, scaled)
        };
        alike(self) == alike(other)
    }
}

/// Checks that an archive has the numbers of the network that its metadata describe, before memory is
/// reserved for them.
fn check_sizes(archive: &Archive, description: &ModelDescription) -> Result<(), ModelError> {
    let shape = description.field.shape().map_err(|error| archive.damaged(&error.to_string()))?;
    if description.field.network().is_none() {
        return Ok(());
    }
    shape.check().map_err(|error| archive.damaged(&error.to_string()))?;
    for (n, layer) in shape.layers().enumerate() {
        for (name, expected) in [("weight", layer.weights.len()), ("bias", layer.biases.len())] {
            let name = format!("layers.{n}.{name}");
            let found = archive.values(&name)?.len();
            if found != expected {
                let what = format!("`{name}` has {found} numbers instead of {expected}");
                return Err(archive.damaged(&what));
            }
        }
    }
    Ok(())
}

/// The inputs of one trajectory.
struct Signal<'a> {
    interpolation: Interpolation,
    table: Table<'a>,
    /// What the solver's times are counted from.
    origin: f64,
}

impl Inputs for Signal<'_> {
    fn at(&self, _: usize, t: f64, step_start: f64, u: &mut [f64]) {
        if !u.is_empty() {
            self.table.at_since(self.origin, self.interpolation, t, step_start, u);
        }
    }

    fn next_break(&self, _: usize, t: f64) -> f64 {
        self.table.next_break_since(self.origin, t)
    }
}
