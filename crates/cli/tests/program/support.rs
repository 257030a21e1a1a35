//! A folder of its own for each test, and the program run in it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use lawful_experiment::{Manifest, files};
use serde_json::Value;
use tempfile::TempDir;

/// An oscillator that trains in a blink.
pub(crate) const TINY: &str = r#"name = "tiny"
[system]
state = ["x", "v"]
define = { E = "v^2/2 + x^2/2" }
[[law]]
name = "energy never rises"
holds = "next(E) <= E"
[data.simulate]
equations = { x = "v", v = "-0.1*v - x" }
initial = { x = 1, v = 0 }
grid = { from = 0, to = 5, points = 20 }
[test.later]
grid = { from = 0, to = 8, points = 30 }
[field]
hidden = [6]
activations = "tanh"
[strategy]
kind = "self-adaptive"
[training]
optimiser = { kind = "adam", rate = 1e-2, schedule = "cosine" }
iterations = 40
seed = 3
"#;

/// What the program said.
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A temporary folder in which the program runs.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// With `experiment.toml`.
    pub(crate) fn with(experiment: &str) -> Self {
        let place = Self::new();
        place.write("experiment.toml", experiment);
        place
    }

    /// With an experiment that is trained already; the second is the run folder's name.
    pub(crate) fn trained(experiment: &str) -> (Self, String) {
        let place = Self::with(experiment);
        let run = place.train(&[]);
        (place, run)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        files::create_folder(path.parent().unwrap()).unwrap();
        files::write(&path, text.as_bytes()).unwrap();
    }

    /// Writes a manifest that was changed, without its fingerprint.
    pub(crate) fn write_manifest(&self, run: &str, text: &str) {
        self.write(&format!("{run}/manifest.json"), &Manifest::unsealed(text));
    }

    pub(crate) fn text(&self, name: &str) -> String {
        files::read_text(&self.path(name)).unwrap()
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        files::read(&self.path(name)).unwrap()
    }

    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        files::list(&self.path(folder))
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    pub(crate) fn command<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
    ) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("lawful"));
        command.current_dir(self.folder.path()).args(arguments).stdin(Stdio::null());
        command
    }

    /// Runs the program to its end.
    pub(crate) fn lawful<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Said {
        finish(&mut self.command(arguments))
    }

    /// Trains `experiment.toml`. Returns the run folder.
    pub(crate) fn train(&self, options: &[&str]) -> String {
        let said = self.lawful([&["train", "experiment.toml", "--quiet"], options].concat());
        assert_eq!((said.code, beside_laws(&said.err).as_str()), (0, ""));
        said.out.trim().to_owned()
    }

    /// Starts the program and lets it run.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    pub(crate) fn manifest(&self, run: &str) -> Value {
        serde_json::from_str(&self.text(&format!("{run}/manifest.json"))).unwrap()
    }

    /// Everything below a run folder that the same experiment and seed must repeat, with its bytes:
    /// all but the manifest, which has the time.
    pub(crate) fn repeatable(&self, run: &str) -> Vec<(String, Vec<u8>)> {
        let mut found = Vec::new();
        for folder in ["", "data", "figures"] {
            for name in self.names(&Path::new(run).join(folder).to_string_lossy()) {
                let path = Path::new(run).join(folder).join(&name);
                if self.path(&path.to_string_lossy()).is_file() && name != "manifest.json" {
                    found.push((format!("{folder}/{name}"), self.bytes(&path.to_string_lossy())));
                }
            }
        }
        found
    }
}

/// Runs to the end.
pub(crate) fn finish(command: &mut Command) -> Said {
    let output = command.output().unwrap();
    Said {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Returns messages without the warnings about broken and false laws: a training of a blink keeps none.
pub(crate) fn beside_laws(err: &str) -> String {
    let mut of_laws = false;
    let lines = err.lines().filter(|line| {
        let begins = ["warning: this model breaks ", "warning: the law `"];
        let follows = of_laws && (line.starts_with("  `") || line.starts_with("hint: "));
        of_laws = follows || begins.iter().any(|begin| line.starts_with(begin));
        !of_laws
    });
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// The same files with the same bytes; names the first difference without printing the bytes.
pub(crate) fn assert_same(one: &[(String, Vec<u8>)], other: &[(String, Vec<u8>)]) {
    let names = |files: &[(String, Vec<u8>)]| files.iter().map(|f| f.0.clone()).collect::<Vec<_>>();
    assert_eq!(names(one), names(other));
    for ((name, one), (_, other)) in one.iter().zip(other) {
        assert!(one == other, "`{name}` differs");
    }
}

/// `TINY` with a part replaced, which must be there.
pub(crate) fn tiny(part: &str, with: &str) -> String {
    assert!(TINY.contains(part), "`{part}` is not in the experiment");
    TINY.replace(part, with)
}

/// `TINY` with other data: the sections between `[system]` with its laws and `[field]`.
pub(crate) fn with_data(sections: &str) -> String {
    let (start, end) = (TINY.find("[data").unwrap(), TINY.find("[field]").unwrap());
    format!("{}{sections}{}", &TINY[..start], &TINY[end..])
}

/// Numbers of a CSV text, row after row, without its header.
pub(crate) fn numbers(csv: &str) -> Vec<Vec<f64>> {
    let row = |line: &str| line.split(',').map(|cell| cell.parse().unwrap()).collect();
    csv.lines().skip(1).map(row).collect()
}
