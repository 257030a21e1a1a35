//! Models and checkpoints: safetensors files whose metadata say what they are.
//!
//! A model has the tensors `layers.N.weight` (`outputs × inputs`) and `layers.N.bias`. A checkpoint
//! has, beside them, everything a run needs to go on. The metadata are one JSON text under the key
//! `lawful`, with a format version.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use lawful::{BestPoint, MlpShape, Progress};
use safetensors::tensor::{Dtype, SafeTensors, View};
use serde::{Deserialize, Serialize};

use crate::diagnostic::Diagnostic;
use crate::experiment::Experiment;
use crate::files;

/// Version of the file format; a file with a larger one is refused.
pub const FORMAT: u32 = 1;

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
    /// The iteration at which this θ stood.
    pub iteration: usize,
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

/// The tensors of θ.
fn layers<'a>(shape: &MlpShape, theta: &'a [f64]) -> Vec<(String, Tensor<'a>)> {
    let mut tensors = Vec::new();
    for (n, layer) in shape.layers().enumerate() {
        let values = Cow::Borrowed(&theta[layer.weights.clone()]);
        let weight = Tensor { shape: vec![layer.outputs, layer.inputs], values };
        tensors.push((format!("layers.{n}.weight"), weight));
        tensors.push((format!("layers.{n}.bias"), row(&theta[layer.biases.clone()])));
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

/// Writes a model.
pub fn save_model(
    path: &Path,
    shape: &MlpShape,
    metadata: &Metadata,
    theta: &[f64],
) -> Result<(), Diagnostic> {
    save(path, layers(shape, theta), metadata)
}

/// Writes a model with everything that going on from it needs.
pub fn save_checkpoint(
    path: &Path,
    shape: &MlpShape,
    metadata: &Metadata,
    progress: &Progress,
) -> Result<(), Diagnostic> {
    let mut tensors = layers(shape, &progress.theta);
    let best = progress.best.numbers();
    let factors = [progress.failure_factor, progress.backtrack_factor];
    for (name, values) in [
        ("training.optimiser", &*progress.optimiser),
        ("training.strategy", &progress.strategy.numbers),
        ("training.best.theta", progress.best.theta()),
        ("training.best.numbers", &best),
        ("training.best.gradient", &progress.best_gradient),
        ("training.factors", &factors),
    ] {
        tensors.push((name.to_owned(), row(values)));
    }
    save(path, tensors, metadata)
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
                    "`{shown}` has format version {format}; this `lawful` reads up to {FORMAT}"
                ))
                .with_hint("use the newer `lawful` that wrote it"));
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

    /// θ of the network of this experiment.
    pub fn theta(&self, experiment: &Experiment) -> Result<Vec<f64>, Diagnostic> {
        if self.metadata != experiment.metadata(self.metadata.iteration) {
            return Err(Diagnostic::new(format!(
                "`{}` is a model of another network than the one in `config.toml`",
                self.path
            ))
            .with_hint("one of the two was changed by hand: restore it, or train again"));
        }
        let shape = experiment.shape();
        let mut theta = vec![0.0; shape.parameter_len()];
        for (n, layer) in shape.layers().enumerate() {
            let (weight, bias) = (format!("layers.{n}.weight"), format!("layers.{n}.bias"));
            self.fill(&weight, &mut theta[layer.weights.clone()])?;
            self.fill(&bias, &mut theta[layer.biases.clone()])?;
        }
        Ok(theta)
    }

    /// Everything that going on from a checkpoint of this experiment needs.
    pub fn progress(&self, experiment: &Experiment) -> Result<Progress, Diagnostic> {
        let theta = self.theta(experiment)?;
        let (mut best_theta, mut best_gradient) = (vec![0.0; theta.len()], vec![0.0; theta.len()]);
        self.fill("training.best.theta", &mut best_theta)?;
        self.fill("training.best.gradient", &mut best_gradient)?;
        let mut optimiser = experiment.optimiser().state().to_vec();
        self.fill("training.optimiser", &mut optimiser)?;
        let mut strategy = experiment.strategy().start(experiment.laws.len());
        self.fill("training.strategy", &mut strategy.numbers)?;
        let (mut numbers, mut factors) = ([0.0; 8], [0.0; 2]);
        self.fill("training.best.numbers", &mut numbers)?;
        self.fill("training.factors", &mut factors)?;
        Ok(Progress {
            iteration: self.metadata.iteration,
            theta,
            optimiser,
            strategy,
            best: BestPoint::restore(experiment.strategy.tolerance, best_theta, &numbers),
            best_gradient,
            failure_factor: factors[0],
            backtrack_factor: factors[1],
        })
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

fn damaged(path: &str, what: &str) -> Diagnostic {
    Diagnostic::new(format!("`{path}` is damaged: {what}")).with_hint(
        "take another model of this run (`--model last` or `--model best`), or train again",
    )
}
