//! Models and checkpoints: safetensors files whose metadata say what they are.
//!
//! A model has the tensors `layers.N.weight` (`outputs × inputs`) and `layers.N.bias`,
//! `constants.raw` where constants are learned, `scaling.*` if the network does not work in the
//! data's units (see [`Scaling`]), and `starts` if initial states were trained. A checkpoint has,
//! beside them, everything a run needs to go on. The metadata are one JSON text under the key
//! `lawful`, with a format version.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use lawful::{BestPoint, MlpShape, ParameterLayout, Progress, Scaling, StrategyMemory, Validated};
use safetensors::tensor::{Dtype, SafeTensors, View};
use serde::{Deserialize, Serialize};

use crate::diagnostic::Diagnostic;
use crate::experiment::Experiment;
use crate::files;
use crate::manifest::Ending;
use crate::plan::{Plan, PlanState};

/// Version of the file format; a file with another one is refused.
pub const FORMAT: u32 = 2;

/// What the metadata of a model say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Metadata {
    /// Version of the file format.
    pub format: u32,
    /// Names of the state variables.
    pub state: Vec<String>,
    /// Names of the inputs.
    pub inputs: Vec<String>,
    /// Whether time is an input of the network.
    pub time_input: bool,
    /// Width of each hidden layer.
    pub hidden: Vec<usize>,
    /// One per hidden layer.
    pub activations: Vec<String>,
    /// Of the arithmetic inside the network.
    pub precision: String,
    /// Whether the network works in units of its own: the tensors `scaling.*`.
    pub scaled: bool,
    /// Number of trajectories whose initial state was trained.
    pub starts: usize,
    /// What is known beside the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<KnownMetadata>,
    /// The iteration at which this θ stood.
    pub iteration: usize,
    /// Of a checkpoint, where the training stood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_state: Option<PlanState>,
}

/// What the metadata say about known rates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownMetadata {
    /// State variable and expression of each.
    pub rates: Vec<(String, String)>,
    /// The state variable of each output of the network.
    pub learn: Vec<String>,
    /// The constants that rates may use.
    pub constants: Vec<KnownConstant>,
    /// Names and texts of the definitions that rates may use.
    pub definitions: Vec<(String, String)>,
}

/// What the metadata say about a constant; numbers are texts, which read back the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownConstant {
    /// Its name.
    pub name: String,
    /// Its value, or its first one if it is learned.
    pub start: String,
    /// Whether its raw number is in `constants.raw`, in this order.
    pub learned: bool,
    /// What it stays above.
    pub min: Option<String>,
    /// What it stays below.
    pub max: Option<String>,
}

/// A row of numbers with a name and a shape.
struct Tensor<'a> {
    shape: Vec<usize>,
    values: Cow<'a, [f64]>,
}

impl View for Tensor<'_> {
    fn dtype(&self) -> Dtype {
        Dtype::F64
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        self.values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    fn data_len(&self) -> usize {
        size_of_val(&*self.values)
    }
}

fn row(values: &[f64]) -> Tensor<'_> {
    Tensor { shape: vec![values.len()], values: values.into() }
}

/// The tensor with the raw numbers of learned constants, the last part of θ.
const CONSTANTS: &str = "constants.raw";

/// The tensors of θ.
fn layers<'a>(shape: &MlpShape, theta: &'a [f64]) -> Vec<(String, Tensor<'a>)> {
    let mut tensors = Vec::new();
    for (n, layer) in shape.layers().enumerate() {
        let values = Cow::Borrowed(&theta[layer.weights.clone()]);
        let weight = Tensor { shape: vec![layer.outputs, layer.inputs], values };
        tensors.push((format!("layers.{n}.weight"), weight));
        tensors.push((format!("layers.{n}.bias"), row(&theta[layer.biases.clone()])));
    }
    let constants = &theta[shape.parameter_len()..];
    if !constants.is_empty() {
        tensors.push((CONSTANTS.to_owned(), row(constants)));
    }
    tensors
}

fn save(
    path: &Path,
    tensors: Vec<(String, Tensor)>,
    metadata: &Metadata,
) -> Result<(), Diagnostic> {
    let text = serde_json::to_string(metadata).expect("plain data");
    // One entry only: the order of several would change from run to run.
    let information = HashMap::from([("lawful".to_owned(), text)]);
    let bytes = safetensors::serialize(tensors, Some(information)).expect("well-formed tensors");
    files::write(path, &bytes)
}

/// The tensors of a model: θ, and the units of the network.
fn model<'a>(experiment: &'a Experiment, theta: &'a [f64]) -> Vec<(String, Tensor<'a>)> {
    let shape = experiment.shape();
    let (field, starts) = theta.split_at(experiment.parameter_len());
    let mut tensors = layers(&shape, field);
    if !starts.is_empty() {
        tensors.push(("starts".to_owned(), row(starts)));
    }
    if let Some(scaling) = &experiment.scaling {
        let time = Cow::Owned(vec![scaling.time_centre, scaling.time]);
        tensors.push(("scaling.time".to_owned(), Tensor { shape: vec![2], values: time }));
        for (name, values) in [
            ("state-centre", &scaling.state_centre),
            ("state", &scaling.state),
            ("rate", &scaling.rate),
            ("input-centre", &scaling.input_centre),
            ("input", &scaling.input),
        ] {
            tensors.push((format!("scaling.{name}"), row(values)));
        }
    }
    tensors
}

/// Writes a model: θ on the whole path, as it stood at this iteration.
pub fn save_model(
    path: &Path,
    experiment: &Experiment,
    iteration: usize,
    theta: &[f64],
) -> Result<(), Diagnostic> {
    save(path, model(experiment, theta), &experiment.metadata(iteration))
}

/// Writes a model with everything that going on from it needs.
pub(crate) fn save_checkpoint(
    path: &Path,
    experiment: &Experiment,
    plan: &Plan,
    layout: &ParameterLayout,
    progress: &Progress,
    ended: Option<&Ending>,
) -> Result<(), Diagnostic> {
    let theta = layout.keep(&progress.theta);
    let mut tensors = model(experiment, &theta);
    let best = progress.best.numbers();
    let factors = [progress.failure_factor, progress.backtrack_factor];
    let validated = [progress.validated.error, progress.validated.iteration as f64];
    for (name, values) in [
        ("theta", &*progress.theta),
        ("optimiser", &progress.optimiser),
        ("strategy", &progress.strategy.laws.numbers),
        ("continuity", &progress.strategy.continuity.numbers),
        ("weights", &progress.strategy.weights),
        ("best.theta", progress.best.theta()),
        ("best.numbers", &best),
        ("best.gradient", &progress.best_gradient),
        ("factors", &factors),
        ("validated.theta", &progress.validated.theta),
        ("validated.numbers", &validated),
    ] {
        tensors.push((format!("training.{name}"), row(values)));
    }
    let mut metadata = experiment.metadata(plan.start() + progress.iteration);
    metadata.plan_state = Some(plan.plan_state(ended));
    save(path, tensors, &metadata)
}

/// A file that was read and whose version is known to be readable.
pub struct ModelFile {
    path: String,
    bytes: Vec<u8>,
    metadata: Metadata,
}

impl ModelFile {
    /// Reads a model or a checkpoint.
    pub fn read(path: &Path) -> Result<Self, Diagnostic> {
        let bytes = files::read(path)?;
        let shown = path.display().to_string();
        let damaged = |what: &str| damaged(&shown, what);
        let (_, header) = SafeTensors::read_metadata(&bytes)
            .map_err(|error| damaged(&format!("it is not a safetensors file ({error})")))?;
        let text = header.metadata().as_ref().and_then(|entries| entries.get("lawful"));
        let text = text.ok_or_else(|| damaged("it was not written by `lawful`"))?;
        let version: serde_json::Value =
            serde_json::from_str(text).map_err(|_| damaged("its metadata are not JSON"))?;
        match version.get("format").and_then(serde_json::Value::as_u64) {
            Some(format) if format > u64::from(FORMAT) => {
                return Err(Diagnostic::new(format!(
                    "`{shown}` has format version {format}; this `lawful` reads {FORMAT}"
                ))
                .with_hint("use the newer `lawful` that wrote it"));
            }
            Some(format) if format < u64::from(FORMAT) => {
                return Err(Diagnostic::new(format!(
                    "`{shown}` has format version {format}, of an older `lawful`; this one reads {FORMAT}"
                ))
                .with_hint("use the `lawful` that wrote it, or train again"));
            }
            Some(_) => {}
            None => return Err(damaged("its metadata have no format version")),
        }
        let metadata =
            serde_json::from_str(text).map_err(|error| damaged(&format!("metadata: {error}")))?;
        Ok(Self { path: shown, bytes, metadata })
    }

    /// What the metadata say.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// θ of a model of this experiment: the network's parameters, and trained initial states.
    pub fn theta(&self, experiment: &Experiment) -> Result<Vec<f64>, Diagnostic> {
        let expected = experiment.metadata(self.metadata.iteration);
        if (Metadata { plan_state: None, ..self.metadata.clone() }) != expected {
            return Err(Diagnostic::new(format!(
                "`{}` is a model of another network than the one in `config.toml`",
                self.path
            ))
            .with_hint("one of the two was changed by hand: restore it, or train again"));
        }
        let shape = experiment.shape();
        let mut theta = vec![0.0; experiment.theta_len()];
        for (n, layer) in shape.layers().enumerate() {
            let (weight, bias) = (format!("layers.{n}.weight"), format!("layers.{n}.bias"));
            self.fill(&weight, &mut theta[layer.weights.clone()])?;
            self.fill(&bias, &mut theta[layer.biases.clone()])?;
        }
        let (field, starts) = theta.split_at_mut(experiment.parameter_len());
        if !experiment.constants.is_empty() {
            self.fill(CONSTANTS, &mut field[shape.parameter_len()..])?;
        }
        if !starts.is_empty() {
            self.fill("starts", starts)?;
        }
        Ok(theta)
    }

    /// The units of the network, if they are not the data's.
    pub fn scaling(&self) -> Result<Option<Scaling>, Diagnostic> {
        if !self.metadata.scaled {
            return Ok(None);
        }
        let (states, inputs) = (self.metadata.state.len(), self.metadata.inputs.len());
        let mut scaling = Scaling::none(states, inputs);
        let mut time = [0.0; 2];
        for (name, values) in [
            ("state-centre", &mut scaling.state_centre),
            ("state", &mut scaling.state),
            ("rate", &mut scaling.rate),
            ("input-centre", &mut scaling.input_centre),
            ("input", &mut scaling.input),
        ] {
            self.fill(&format!("scaling.{name}"), values)?;
        }
        self.fill("scaling.time", &mut time)?;
        [scaling.time_centre, scaling.time] = time;
        Ok(Some(scaling))
    }

    /// Everything that going on from a checkpoint of this experiment needs.
    pub(crate) fn progress(&self, experiment: &Experiment) -> Result<(Plan, Progress), Diagnostic> {
        self.theta(experiment)?;
        let plan_state = self.metadata.plan_state.clone().unwrap_or_default();
        let plan = Plan::restore(experiment, &plan_state)
            .ok_or_else(|| damaged(&self.path, "its phase is not one of `config.toml`"))?;
        let trainer = experiment.trainer(plan.phase(), &experiment.initial_theta());
        let layout = trainer.objective().layout();
        let mut theta = layout.take_up(&experiment.initial_theta());
        self.fill("training.theta", &mut theta)?;
        let (mut best_theta, mut best_gradient) = (vec![0.0; theta.len()], vec![0.0; theta.len()]);
        self.fill("training.best.theta", &mut best_theta)?;
        self.fill("training.best.gradient", &mut best_gradient)?;
        let optimiser = self.values("training.optimiser")?;
        if !plan.phase().optimiser.build(theta.len()).restore(&optimiser) {
            return Err(damaged(&self.path, "`training.optimiser` has another length"));
        }
        let mut strategy = StrategyMemory::default();
        trainer.objective().save_strategy(&mut strategy);
        self.fill("training.strategy", &mut strategy.laws.numbers)?;
        self.fill("training.continuity", &mut strategy.continuity.numbers)?;
        self.fill("training.weights", &mut strategy.weights)?;
        let (mut numbers, mut factors, mut validated) = ([0.0; 8], [0.0; 2], [0.0; 2]);
        self.fill("training.best.numbers", &mut numbers)?;
        self.fill("training.factors", &mut factors)?;
        self.fill("training.validated.numbers", &mut validated)?;
        let held = self.values("training.validated.theta")?;
        if !held.is_empty() && held.len() != theta.len() {
            return Err(damaged(&self.path, "`training.validated.theta` has another length"));
        }
        let progress = Progress {
            iteration: self.metadata.iteration.saturating_sub(plan.start()),
            theta,
            optimiser,
            strategy,
            best: BestPoint::restore(
                experiment.strategy_of(plan.phase()).tolerance,
                best_theta,
                &numbers,
            ),
            best_gradient,
            failure_factor: factors[0],
            backtrack_factor: factors[1],
            validated: validated_of(held, validated),
        };
        Ok((plan, progress))
    }

    fn values(&self, name: &str) -> Result<Vec<f64>, Diagnostic> {
        let damaged = |what: String| damaged(&self.path, &what);
        let tensors = SafeTensors::deserialize(&self.bytes)
            .map_err(|error| damaged(format!("it is not a safetensors file ({error})")))?;
        let tensor =
            tensors.tensor(name).map_err(|_| damaged(format!("it has no tensor `{name}`")))?;
        if tensor.dtype() != Dtype::F64 {
            return Err(damaged(format!("`{name}` is not in double precision")));
        }
        let (numbers, _) = tensor.data().as_chunks::<8>();
        Ok(numbers.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect())
    }

    fn fill(&self, name: &str, into: &mut [f64]) -> Result<(), Diagnostic> {
        let values = self.values(name)?;
        if values.len() != into.len() {
            return Err(damaged(
                &self.path,
                &format!("`{name}` has {} numbers instead of {}", values.len(), into.len()),
            ));
        }
        into.copy_from_slice(&values);
        Ok(())
    }
}

/// The point of least error on held-out data.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an iteration that a checkpoint holds"
)]
fn validated_of(theta: Vec<f64>, [error, iteration]: [f64; 2]) -> Validated {
    Validated { theta, error, iteration: iteration as usize }
}

fn damaged(path: &str, what: &str) -> Diagnostic {
    Diagnostic::new(format!("`{path}` is damaged: {what}")).with_hint(
        "take another model of this run (`--model last` or `--model best`), or train again",
    )
}
