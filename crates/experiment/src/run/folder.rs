//! The folder of a run.
//!
//! ```text
//! runs/<name>-<strategy>-s<seed>-<id>/
//!   config.toml              the experiment with every key written out
//!   data/*.csv               the training set (`reconstruction`) and the test sets
//!   manifest.json            version, kernels, machine, timings, how the run ended
//!   log.csv                  one row per iteration
//!   best.safetensors         the best model
//!   last.safetensors         the last model, with everything needed to resume
//!   predictions-<set>.csv    predictions at the times of each set; of more than 100 000, at every n-th
//!   figures/*.svg, *.png     figures
//! ```

use std::path::{Path, PathBuf};

use super::digest;
use super::log::Log;
use super::manifest::{Manifest, ModelChoice};
use crate::config::ExperimentFile;
use crate::diagnostic::Diagnostic;
use crate::files::{self, PART};
use crate::table;

/// The folder of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// Creates the folder of a new run, with the config, the data, the manifest and the header of the
    /// log. It appears with all of its files or not at all; an error leaves nothing behind.
    pub fn create(parent: &Path, file: &ExperimentFile) -> Result<Self, Diagnostic> {
        let named = |path: &&Path| !path.as_os_str().is_empty();
        let missing: Vec<&Path> =
            parent.ancestors().take_while(named).take_while(|path| !path.exists()).collect();
        let made = files::create_folder(parent).and_then(|()| Self::make(parent, file));
        made.map_err(|error| {
            for folder in missing {
                // What cannot be removed was not made, or another run is in it.
                let _ = files::remove_empty_folder(folder);
            }
            let hint = "choose another folder for runs: `--out FOLDER`".to_owned();
            Diagnostic { hint: error.hint.clone().or(Some(hint)), ..error }
        })
    }

    fn make(parent: &Path, file: &ExperimentFile) -> Result<Self, Diagnostic> {
        let base = Self::name_of(file);
        let part = Self { path: parent.join(format!(".{base}.{}{PART}", std::process::id())) };
        let named = part.fill(file).and_then(|()| part.rename(parent, &base));
        named.inspect_err(|_| {
            // What cannot be removed could not be written either.
            let _ = files::remove_folder(&part.path);
        })
    }

    /// Returns the name of the folder of a first run, which depends on the experiment and its data.
    pub fn name_of(file: &ExperimentFile) -> String {
        let (name, training) = (&file.experiment.name, &file.experiment.training);
        let (strategy, seed) = (training.strategy.label(), training.seed);
        format!("{name}-{strategy}-s{seed}-{}", digest::of_experiment(file))
    }

    /// Gives the folder the first free name among `base`, `base-2`, `base-3`, …
    fn rename(&self, parent: &Path, base: &str) -> Result<Self, Diagnostic> {
        let mut path = parent.join(base);
        let mut number = 1;
        loop {
            // Another run may take the name between the question and the answer.
            if !path.exists() {
                match files::rename_folder(&self.path, &path) {
                    Ok(()) => return Ok(Self { path }),
                    Err(error) if !path.exists() => return Err(error),
                    Err(_) => {}
                }
            }
            number += 1;
            path = parent.join(format!("{base}-{number}"));
        }
    }

    fn fill(&self, file: &ExperimentFile) -> Result<(), Diagnostic> {
        let ExperimentFile { experiment, complete } = file;
        files::create_folder(&self.path.join("data"))?;
        files::create_folder(&self.path.join("figures"))?;
        files::write(&self.config(), complete.as_bytes())?;
        for (name, dataset) in experiment.sets() {
            table::write_dataset(dataset, &experiment.time_origin, &self.data(name))?;
        }
        Log::create(&self.log(), &experiment.law_names())?;
        Manifest::new(file).write(&self.manifest())
    }

    /// Removes incomplete files that a killed program left.
    pub fn remove_parts(&self) -> Result<(), Diagnostic> {
        files::remove_parts(&self.path)?;
        files::remove_parts(&self.path.join("figures"))
    }

    /// Opens an existing run folder.
    pub fn open(path: &Path) -> Result<Self, Diagnostic> {
        let folder = Self { path: path.to_owned() };
        if !path.is_dir() {
            let error = Diagnostic::new(format!("there is no run folder `{}`", path.display()));
            return Err(error.with_hint(Self::suggestion(path)));
        }
        for (file, what) in [(folder.config(), "config.toml"), (folder.manifest(), "manifest.json")]
        {
            if !file.is_file() {
                let message =
                    format!("`{}` is not a run folder: it has no `{what}`", path.display());
                return Err(Diagnostic::new(message).with_hint(Self::suggestion(path)));
            }
        }
        Ok(folder)
    }

    /// Returns a hint with the runs near a path.
    fn suggestion(path: &Path) -> String {
        let parents = [path.parent().unwrap_or(Path::new("")), Path::new("runs"), path];
        for parent in parents {
            let runs: Vec<String> = files::list(parent)
                .into_iter()
                .map(|name| parent.join(name))
                .filter(|path| path.join("manifest.json").is_file())
                .map(|path| format!("`{}`", path.display()))
                .collect();
            if !runs.is_empty() {
                let more = if runs.len() > 4 { ", …" } else { "" };
                return format!("runs here: {}{more}", runs[..runs.len().min(4)].join(", "));
            }
        }
        "`lawful train experiment.toml` creates one and prints its name".to_owned()
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `config.toml`.
    pub fn config(&self) -> PathBuf {
        self.path.join("config.toml")
    }

    /// `manifest.json`.
    pub fn manifest(&self) -> PathBuf {
        self.path.join("manifest.json")
    }

    /// `log.csv`.
    pub fn log(&self) -> PathBuf {
        self.path.join("log.csv")
    }

    /// `best.safetensors` or `last.safetensors`.
    pub fn model(&self, which: ModelChoice) -> PathBuf {
        self.path.join(format!("{}.safetensors", which.name()))
    }

    /// The data of a set.
    pub fn data(&self, set: &str) -> PathBuf {
        self.path.join("data").join(format!("{set}.csv"))
    }

    /// The predictions at the times of a set.
    pub fn predictions(&self, set: &str) -> PathBuf {
        self.path.join(format!("predictions-{set}.csv"))
    }

    /// A figure: its SVG and its PNG file.
    pub fn figure(&self, name: &str) -> [PathBuf; 2] {
        let figures = self.path.join("figures");
        // Not `with_extension`: a name may have a dot in it.
        ["svg", "png"].map(|ending| figures.join(format!("{name}.{ending}")))
    }
}
