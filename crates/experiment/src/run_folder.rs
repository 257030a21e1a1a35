//! A run as it happened: one folder with everything in it.
//!
//! ```text
//! runs/<name>-<strategy>-s<seed>-<id>/
//!   config.toml              as meant, every key written out
//!   data/*.csv               the data as used: training (`reconstruction`) and test sets
//!   manifest.json            version, kernels, machine, timings, why it ended
//!   log.csv                  one row per iteration
//!   best.safetensors         the best model
//!   last.safetensors         the last model, with everything that going on needs
//!   predictions-<set>.csv    what the model says at the times of each set
//!   figures/*.svg, *.png     pictures
//! ```

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use lawful::Dataset;

use crate::diagnostic::Diagnostic;
use crate::experiment::Experiment;
use crate::manifest::{Manifest, Which};
use crate::{files, table};

/// The name of the training set in files and reports.
pub const RECONSTRUCTION: &str = "reconstruction";

/// Where a run is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// Makes the folder of a run that begins, and writes what is known: config, data, manifest. If
    /// anything of this fails, nothing is left behind.
    pub fn create(parent: &Path, experiment: &Experiment) -> Result<Self, Diagnostic> {
        let made_parent = !parent.exists();
        files::create_folder(parent)?;
        let base = format!(
            "{}-{}-s{}-{}",
            experiment.name,
            experiment.strategy.label(),
            experiment.training.seed,
            identity(experiment)
        );
        let mut path = parent.join(&base);
        let mut number = 1;
        while path.exists() {
            number += 1;
            path = parent.join(format!("{base}-{number}"));
        }
        let folder = Self { path };
        folder.fill(experiment).inspect_err(|_| {
            // What cannot be removed could not be written either.
            let _ = files::remove_folder(&folder.path);
            if made_parent {
                let _ = files::remove_folder(parent);
            }
        })?;
        Ok(folder)
    }

    fn fill(&self, experiment: &Experiment) -> Result<(), Diagnostic> {
        files::create_folder(&self.path.join("data"))?;
        files::create_folder(&self.path.join("figures"))?;
        files::write(&self.config(), experiment.complete_text().as_bytes())?;
        for (name, dataset) in sets(experiment) {
            table::write_dataset(dataset, &self.data(name))?;
        }
        Manifest::new(experiment).write(&self.manifest())
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
    pub fn model(&self, which: Which) -> PathBuf {
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

    /// A picture, without its ending.
    pub fn figure(&self, name: &str) -> PathBuf {
        self.path.join("figures").join(name)
    }
}

/// The training set and the test sets, with their names.
pub fn sets(experiment: &Experiment) -> impl Iterator<Item = (&str, &Dataset)> {
    let tests = experiment.tests.iter().map(|(name, dataset)| (name.as_str(), dataset));
    std::iter::once((RECONSTRUCTION, &experiment.training_set)).chain(tests)
}

/// Six digits that depend on config and data alone (FNV-1a).
fn identity(experiment: &Experiment) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        for &byte in bytes {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    };
    add(experiment.complete_text().as_bytes());
    for (_, dataset) in sets(experiment) {
        for trajectory in dataset.trajectories() {
            for number in
                trajectory.times.iter().chain(&trajectory.states).chain(&trajectory.inputs)
            {
                add(&number.to_bits().to_le_bytes());
            }
        }
    }
    let mut text = String::new();
    write!(text, "{:06x}", hash >> 40).expect("writing to a string");
    text
}
