//! Reads a run folder: its experiment and one of its models.

use std::path::Path;

use lawful::Model;

use super::checkpoint::{iteration, read_archive, read_model};
use super::folder::RunFolder;
use super::manifest::{Manifest, ModelChoice};
use crate::config;
use crate::diagnostic::Diagnostic;
use crate::experiment::Experiment;

/// A run and one of its models.
#[derive(Debug)]
pub struct LoadedRun {
    /// The run folder.
    pub folder: RunFolder,
    /// The experiment.
    pub experiment: Experiment,
    /// The manifest.
    pub manifest: Manifest,
    /// Which of its models was read.
    pub choice: ModelChoice,
    /// That model.
    pub model: Model,
}

impl LoadedRun {
    /// Reads a run folder with this model. `None` reads the one that the run selected: the best if
    /// the best-point strategy is on or training failed, otherwise the last.
    pub fn open(path: &Path, choice: Option<ModelChoice>) -> Result<Self, Diagnostic> {
        let folder = RunFolder::open(path)?;
        let manifest = Manifest::read(&folder.manifest())?;
        manifest.check_config(&folder.config())?;
        let experiment = config::read_run(path)?.experiment;
        manifest.check_data(&experiment)?;
        manifest.check_numbers(&folder.manifest(), &experiment)?;
        let choice = choice.unwrap_or(manifest.model);
        let file = folder.model(choice);
        if !file.is_file() {
            let message = format!("`{}` has no {} model yet", path.display(), choice.name());
            let hint = format!("finish the run first: `lawful resume {}`", path.display());
            return Err(Diagnostic::new(message).with_hint(hint));
        }
        let archive = read_archive(&file)?;
        let model = read_model(&archive, &experiment.training)?;
        let (found, expected) = (iteration(&archive, &model), manifest.iteration_of(choice));
        if expected.is_some_and(|expected| found != Some(expected)) {
            let message = format!(
                "`{}` is of another iteration than its run's {} model",
                file.display(),
                choice.name()
            );
            return Err(Diagnostic::new(message).with_hint(
                "one of the files in the folder was changed: restore it, or train again",
            ));
        }
        Ok(Self { folder, experiment, manifest, choice, model })
    }
}
