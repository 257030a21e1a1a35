//! Experiment files in temporary folders, and their messages.
#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod samples;

use std::path::{Path, PathBuf};

use lawful_experiment::{Diagnostic, Experiment, ExperimentFile, files, read};

/// Ten rows of a line, for experiments in which the data do not matter.
pub(crate) const LINE: &str = "t,x\n0,0\n1,1\n2,2\n3,3\n4,4\n5,5\n6,6\n7,7\n8,8\n9,9\n";

/// One state variable, measured in `data.csv`; the name does not change with the folder.
pub(crate) const BASE: &str =
    "name = \"line\"\n[system]\nstate = [\"x\"]\n[data]\nfile = \"data.csv\"\n";

/// A temporary folder with files.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new(contents: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (name, text) in contents {
            let path = folder.path().join(name);
            files::create_folder(path.parent().expect("it is in the folder")).expect("a folder");
            files::write(&path, text.as_bytes()).expect("a file");
        }
        Self(folder)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn root(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn read(&self) -> Result<ExperimentFile, Diagnostic> {
        read(&self.path("experiment.toml"))
    }

    /// Returns the error of the experiment, with paths relative to this folder.
    pub(crate) fn error(&self) -> String {
        match self.read() {
            Err(error) => self.relative(&error),
            Ok(file) => panic!("there should be an error: {}", file.complete),
        }
    }

    pub(crate) fn relative(&self, error: &Diagnostic) -> String {
        let folder = format!("{}{}", self.0.path().display(), std::path::MAIN_SEPARATOR);
        error.to_string().replace(&folder, "").replace(folder.trim_end_matches('/'), "FOLDER")
    }
}

/// Returns the error of an experiment file with a valid `data.csv`.
pub(crate) fn error(toml: &str) -> String {
    Folder::new(&[("experiment.toml", toml), ("data.csv", LINE)]).error()
}

/// Returns the error of a valid experiment file with this text added.
pub(crate) fn error_with(more: &str) -> String {
    error(&format!("{BASE}{more}"))
}

/// A file beside a good `data.csv`, read.
pub(crate) fn file(toml: &str) -> ExperimentFile {
    let folder = Folder::new(&[("experiment.toml", toml), ("data.csv", LINE)]);
    folder.read().unwrap_or_else(|error| panic!("{error}"))
}

/// A good file with something added to it, every key written out.
pub(crate) fn complete_with(more: &str) -> String {
    file(&format!("{BASE}{more}")).complete
}

/// The experiment of a file beside a good `data.csv`.
pub(crate) fn experiment(toml: &str) -> Experiment {
    file(toml).experiment
}

/// The experiment of a good file with something added to it.
pub(crate) fn experiment_with(more: &str) -> Experiment {
    experiment(&format!("{BASE}{more}"))
}
