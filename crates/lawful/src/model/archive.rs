//! Model files: safetensors with the description of the model as metadata.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, View};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use thiserror::Error;

use super::ModelDescription;
use crate::Fingerprint;

/// Version of the file format; a file with another one is refused.
pub const FORMAT: u32 = 3;

/// Version of files of models with process noise, which others must not read as models without it.
pub(crate) const WITH_PROCESS_NOISE: u32 = FORMAT + 1;

/// The key of the metadata: one JSON text, for the order of several would change from run to run.
const KEY: &str = "lawful";

/// The end of the metadata: the fingerprint of the metadata before it and of the tensors.
const SEAL: &str = ",\"fingerprint\":\"";

/// Why a model file cannot be read or written.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ModelError {
    /// The file cannot be read or written.
    #[error("cannot {verb} `{path}`: {reason}")]
    File {
        /// `read` or `write`.
        verb: &'static str,
        /// The file.
        path: String,
        /// The error of the operating system.
        reason: String,
    },
    /// It is not a valid model file.
    #[error("`{path}` is damaged: {what}")]
    Damaged {
        /// The file.
        path: String,
        /// What is wrong with it.
        what: String,
    },
    /// It was written by another version.
    #[error("`{path}` has format version {found}{}; this one reads {FORMAT}", whose(*found))]
    Version {
        /// The file.
        path: String,
        /// The version of its format.
        found: u64,
    },
}

fn whose(found: u64) -> &'static str {
    if found < u64::from(FORMAT) { ", of an older `lawful`" } else { ", of a newer `lawful`" }
}

impl ModelError {
    pub(super) fn cannot(verb: &'static str, path: &Path, error: &std::io::Error) -> Self {
        Self::File { verb, path: path.display().to_string(), reason: error.to_string() }
    }

    /// Returns a hint on what to do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::File { .. } => "check the path and its permissions",
            Self::Damaged { .. } => {
                "use another model of this run (`--model last` or `--model best`), or train again"
            }
            Self::Version { found, .. } if *found > u64::from(FORMAT) => {
                "use the newer `lawful` that wrote it"
            }
            Self::Version { .. } => "use the `lawful` that wrote it, or train again",
        }
    }
}

/// Named vectors and matrices, with metadata.
#[derive(Debug, Clone)]
pub struct Archive {
    /// Its name in messages.
    name: String,
    metadata: Map<String, Value>,
    tensors: Vec<(String, Tensor)>,
}

/// A vector or a matrix.
#[derive(Debug, Clone)]
struct Tensor {
    shape: Vec<usize>,
    values: Vec<f64>,
}

impl View for &Tensor {
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

/// Returns the bytes of all tensors of a safetensors file: they follow the header, whose length is in
/// the first eight bytes.
fn tensors(file: &[u8]) -> &[u8] {
    let header = file.first_chunk().map_or(0, |length| u64::from_le_bytes(*length));
    let start = usize::try_from(header).ok().and_then(|header| header.checked_add(8));
    start.and_then(|start| file.get(start..)).unwrap_or_default()
}

impl Archive {
    /// Creates an archive without tensors, of a model with this description.
    pub(super) fn new(description: &ModelDescription) -> Self {
        let mut metadata = Map::new();
        metadata.insert("format".to_owned(), FORMAT.into());
        if let Value::Object(entries) = serde_json::to_value(description).expect("plain data") {
            metadata.extend(entries);
        }
        Self { name: "model".to_owned(), metadata, tensors: Vec::new() }
    }

    /// Returns its name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Adds a vector.
    pub fn add(&mut self, name: &str, values: &[f64]) {
        let tensor = Tensor { shape: vec![values.len()], values: values.to_vec() };
        self.tensors.push((name.to_owned(), tensor));
    }

    /// Adds a matrix, row after row.
    pub fn add_matrix(&mut self, name: &str, shape: [usize; 2], values: &[f64]) {
        let tensor = Tensor { shape: shape.to_vec(), values: values.to_vec() };
        self.tensors.push((name.to_owned(), tensor));
    }

    /// Adds an entry to the metadata.
    pub fn set(&mut self, key: &str, value: Value) {
        self.metadata.insert(key.to_owned(), value);
    }

    /// Returns an entry of the metadata.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.metadata.get(key)
    }

    /// Returns the archive as the bytes of a safetensors file, with a fingerprint of its contents.
    pub fn to_bytes(&self) -> Vec<u8> {
        let text = serde_json::to_string(&self.metadata).expect("plain data");
        let serialize = |text: String| {
            let information = HashMap::from([(KEY.to_owned(), text)]);
            let tensors = self.tensors.iter().map(|(name, tensor)| (name, tensor));
            safetensors::serialize(tensors, Some(information)).expect("well-formed tensors")
        };
        // The tensors in the order of the file, which safetensors decides.
        let sealed = Self::sealed(&text, tensors(&serialize(text.clone())));
        serialize(sealed)
    }

    /// Returns metadata, a JSON object, with a fingerprint of it and of the bytes of all tensors as its last
    /// entry.
    ///
    /// ```
    /// use lawful::Archive;
    /// let sealed = Archive::sealed(r#"{"format":3}"#, &[]);
    /// assert_eq!(sealed, r#"{"format":3,"fingerprint":"3dff22bf3ba807f7"}"#);
    /// assert_eq!(Archive::unsealed(&sealed), r#"{"format":3}"#);
    /// ```
    pub fn sealed(metadata: &str, tensors: &[u8]) -> String {
        let mut fingerprint = Fingerprint::new();
        fingerprint.add(metadata.as_bytes());
        fingerprint.add(tensors);
        let open = metadata.strip_suffix('}').unwrap_or(metadata);
        format!("{open}{SEAL}{:016x}\"}}", fingerprint.value())
    }

    /// Returns metadata without their fingerprint.
    pub fn unsealed(metadata: &str) -> String {
        match metadata.rfind(SEAL) {
            Some(end) => format!("{}}}", &metadata[..end]),
            None => metadata.to_owned(),
        }
    }

    /// Reads a safetensors file; `name` is its name in messages.
    ///
    /// # Errors
    /// If it is not one that `lawful` wrote, in this version of the format.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "the bytes of a file are not needed after this"
    )]
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<Self, ModelError> {
        let damaged = |what: String| ModelError::Damaged { path: name.to_owned(), what };
        let not_safetensors = |error| damaged(format!("it is not a safetensors file ({error})"));
        let (_, header) = SafeTensors::read_metadata(&bytes).map_err(not_safetensors)?;
        let text = header.metadata().as_ref().and_then(|entries| entries.get(KEY));
        let text = text.ok_or_else(|| damaged("it was not written by `lawful`".to_owned()))?;
        let metadata: Map<String, Value> = serde_json::from_str(text)
            .map_err(|_| damaged("its metadata are not a JSON object".to_owned()))?;
        match metadata.get("format").and_then(Value::as_u64) {
            Some(found)
                if found == u64::from(WITH_PROCESS_NOISE)
                    && metadata.contains_key("process-noise") => {}
            Some(found) if found != u64::from(FORMAT) => {
                return Err(ModelError::Version { path: name.to_owned(), found });
            }
            Some(_) => {}
            None => return Err(damaged("its metadata have no format version".to_owned())),
        }
        // Files of earlier versions have none.
        let unsealed = Self::unsealed(text);
        if unsealed != *text && Self::sealed(&unsealed, tensors(&bytes)) != *text {
            return Err(damaged("it has changed since it was written".to_owned()));
        }
        let file = SafeTensors::deserialize(&bytes).map_err(not_safetensors)?;
        let mut tensors = Vec::new();
        for (tensor, view) in file.iter() {
            if view.dtype() != Dtype::F64 {
                return Err(damaged(format!("`{tensor}` is not in double precision")));
            }
            let (numbers, _) = view.data().as_chunks::<8>();
            let values = numbers.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
            tensors.push((tensor.to_owned(), Tensor { shape: view.shape().to_vec(), values }));
        }
        Ok(Self { name: name.to_owned(), metadata, tensors })
    }

    /// Returns the description of the model.
    pub(super) fn description<T: DeserializeOwned>(&self) -> Result<T, ModelError> {
        serde_json::from_value(Value::Object(self.metadata.clone()))
            .map_err(|error| self.damaged(&format!("metadata: {error}")))
    }

    /// Returns the numbers of a tensor.
    ///
    /// # Errors
    /// If there is no such tensor.
    pub fn values(&self, name: &str) -> Result<&[f64], ModelError> {
        let found = self.tensors.iter().find(|(known, _)| known == name);
        let missing = || self.damaged(&format!("it has no tensor `{name}`"));
        found.map(|(_, tensor)| &*tensor.values).ok_or_else(missing)
    }

    /// Copies the numbers of a tensor.
    ///
    /// # Errors
    /// If there is no such tensor, or it has another length.
    pub fn fill(&self, name: &str, into: &mut [f64]) -> Result<(), ModelError> {
        let values = self.values(name)?;
        if values.len() != into.len() {
            let what = format!("`{name}` has {} numbers instead of {}", values.len(), into.len());
            return Err(self.damaged(&what));
        }
        into.copy_from_slice(values);
        Ok(())
    }

    /// Returns the error that this archive is damaged.
    pub fn damaged(&self, what: &str) -> ModelError {
        ModelError::Damaged { path: self.name.clone(), what: what.to_owned() }
    }
}
