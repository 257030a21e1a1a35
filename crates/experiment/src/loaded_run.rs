//! A run that is read back: its experiment and one of its models.

use std::path::Path;

use crate::config;
use crate::diagnostic::Diagnostic;
use crate::experiment::Experiment;
use crate::manifest::{Manifest, ModelChoice};
use crate::model::ModelFile;
use crate::run_folder::RunFolder;

/// A run and the model that stands for it.
#[derive(Debug)]
pub struct LoadedRun {
    /// Where it is.
    pub folder: RunFolder,
    /// What was asked.
    pub experiment: Experiment,
    /// How it went.
    pub manifest: Manifest,
    /// Which of its models was read.
    pub which: ModelChoice,
    /// The model's θ.
    pub theta: Vec<f64>,
    /// The iteration at which that θ stood.
    pub iteration: usize,
}

impl LoadedRun {
    /// Reads a run folder with the model asked for, or else the one that stands for the run: the
    /// best where the best-point strategy is on or training failed, otherwise the last.
    pub fn open(path: &Path, which: Option<ModelChoice>) -> Result<Self, Diagnostic> {
        let folder = RunFolder::open(path)?;
        let manifest = Manifest::read(&folder.manifest())?;
        let mut experiment = config::read_run(path)?;
        manifest.check_data(&experiment)?;
        let which = which.unwrap_or(manifest.model);
        let file = folder.model(which);
        if !file.is_file() {
            let message = format!("`{}` has no {} model yet", path.display(), which.name());
            let hint = format!("finish it first: `lawful resume {}`", path.display());
            return Err(Diagnostic::new(message).with_hint(hint));
        }
        let model = ModelFile::read(&file)?;
        let theta = model.theta(&experiment)?;
        experiment.scaling = model.scaling()?;
        let iteration = model.metadata().iteration;
        Ok(Self { folder, experiment, manifest, which, theta, iteration })
    }
}
