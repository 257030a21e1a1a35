//! A run as it happened: one folder with everything in it.
//!
//! ```text
//! runs/<name>-<strategy>-s<seed>-<id>/
//!   config.toml              the experiment with every key written out
//!   data/*.csv               the data as used: training (`reconstruction`) and test sets
//!   manifest.json            version, kernels, machine, timings, why training stopped
//!   log.csv                  one row per iteration
//!   best.safetensors         the best model
//!   last.safetensors         the last model, with everything that resuming needs
//!   predictions-<set>.csv    predictions at the times of each set
//!   figures/*.svg, *.png     figures
//! ```

use std::path::{Path, PathBuf};

use lawful::Dataset;

use crate::diagnostic::Diagnostic;
use crate::experiment::Experiment;
use crate::log::Log;
use crate::manifest::{Manifest, ModelChoice};
use crate::{digest, files, table};

/// The name of the training set in files and reports.
pub const RECONSTRUCTION: &str = "reconstruction";

/// How the names of what is half written end.
const PART: &str = ".part";

/// Where a run is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// Makes the folder of a run that begins, with what is known: config, data, manifest, and the
    /// header of the log. It appears whole or not at all, and if it cannot be made nothing is left
    /// behind.
    pub fn create(parent: &Path, experiment: &Experiment) -> Result<Self, Diagnostic> {
        let named = |path: &&Path| !path.as_os_str().is_empty();
        let missing: Vec<&Path> =
            parent.ancestors().take_while(named).take_while(|path| !path.exists()).collect();
        let made = files::create_folder(parent).and_then(|()| Self::make(parent, experiment));
        made.map_err(|error| {
            for folder in missing {
                // What cannot be removed was not made, or another run is in it.
                let _ = files::remove_empty_folder(folder);
            }
            let hint = "name another folder for runs: `--out FOLDER`".to_owned();
            Diagnostic { hint: error.hint.clone().or(Some(hint)), ..error }
        })
    }

    fn make(parent: &Path, experiment: &Experiment) -> Result<Self, Diagnostic> {
        let base = Self::name_of(experiment);
        let part = Self { path: parent.join(format!(".{base}.{}{PART}", std::process::id())) };
        let named = part.fill(experiment).and_then(|()| part.rename(parent, &base));
        named.inspect_err(|_| {
            // What cannot be removed could not be written either.
            let _ = files::remove_folder(&part.path);
        })
    }

    /// The name of the folder of a first run: it follows from the experiment and its data.
    pub fn name_of(experiment: &Experiment) -> String {
        let (name, strategy) = (&experiment.name, experiment.strategy.label());
        format!(
            "{name}-{strategy}-s{}-{}",
            experiment.training.seed,
            digest::of_experiment(experiment)
        )
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

    fn fill(&self, experiment: &Experiment) -> Result<(), Diagnostic> {
        files::create_folder(&self.path.join("data"))?;
        files::create_folder(&self.path.join("figures"))?;
        files::write(&self.config(), experiment.complete_text().as_bytes())?;
        for (name, dataset) in sets(experiment) {
            table::write_dataset(dataset, &self.data(name))?;
        }
        Log::create(&self.log(), &experiment.law_names())?;
        Manifest::new(experiment).write(&self.manifest())
    }

    /// Removes what a killed program left half written.
    pub fn remove_parts(&self) -> Result<(), Diagnostic> {
        for folder in [self.path.clone(), self.path.join("figures")] {
            for name in files::list(&folder) {
                if name.starts_with('.') && name.ends_with(PART) {
                    files::remove(&folder.join(name))?;
                }
            }
        }
        Ok(())
    }

    /// The folder of a run that exists.
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

    /// The runs that there are, where one was looked for.
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
        "`lawful train experiment.toml` makes one and prints its name".to_owned()
    }

    /// The folder itself.
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

    /// The data of a set as used.
    pub fn data(&self, set: &str) -> PathBuf {
        self.path.join("data").join(format!("{set}.csv"))
    }

    /// What the model says at the times of a set.
    pub fn predictions(&self, set: &str) -> PathBuf {
        self.path.join(format!("predictions-{set}.csv"))
    }

    /// A picture: its SVG and its PNG file.
    pub fn figure(&self, name: &str) -> [PathBuf; 2] {
        let figures = self.path.join("figures");
        // Not `with_extension`: a name may have a point in it.
        ["svg", "png"].map(|ending| figures.join(format!("{name}.{ending}")))
    }
}

/// The training set and the test sets, with their names.
pub fn sets(experiment: &Experiment) -> impl Iterator<Item = (&str, &Dataset)> {
    let tests = experiment.tests.iter().map(|(name, dataset)| (name.as_str(), dataset));
    std::iter::once((RECONSTRUCTION, &experiment.training_set)).chain(tests)
}
