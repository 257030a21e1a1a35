//! The inputs that are mutated: the corpus in the repository, and files of runs that are trained anew,
//! so that they always have the format of today.

use std::ops::ControlFlow;
use std::path::Path;

use lawful::Row;
use lawful_experiment::{
    Diagnostic, Manifest, RunFolder, RunObserver, files, read_embedded, train,
};

use crate::disk;
use crate::targets::TARGETS;

/// Experiments whose files are seeds: plain; with remedies, held-out data and free starts; with known
/// rates, a learned constant, inputs and trained initial states.
pub(crate) const EXPERIMENTS: &[&str] = &[PLAIN, PHASES, KNOWN];

const PLAIN: &str = r#"name = "plain"
[system]
state = ["x", "v"]
[data.simulate]
equations = { x = "v", v = "-x" }
initial = { x = 1, v = 0 }
grid = { from = 0, to = 3, points = 8 }
[field]
hidden = [3]
[training]
optimiser = "adam"
iterations = 5
"#;

const PHASES: &str = r#"name = "phases"
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
hidden = [4]
activations = "tanh"
[strategy]
kind = "self-adaptive"
[training]
seed = 3
remedies = true
validation = 0.2
phase = [
    { optimiser = { kind = "lbfgs", memory = 3 }, iterations = 8, segments = 4, starts = "free" },
    { optimiser = { rate = 1e-3 }, iterations = 8, substeps = 2 },
]
"#;

const KNOWN: &str = r#"name = "known"
[system]
state = ["x", "v"]
inputs = ["u"]
constants = { c = { start = 0.7, min = 0 }, k = 1.5 }
[data.simulate]
equations = { x = "v", v = "u - x" }
inputs = { u = "sin(t)" }
initial = [{ x = 1, v = 0 }, { x = 0, v = 1 }]
grid = { from = 0, to = 2, points = 6 }
[field]
hidden = [2]
known = { v = "u - c*x" }
learn = ["x", "v"]
[training]
initial-state = "train"
optimiser = "adam"
iterations = 3
"#;

/// Observes nothing.
struct Quiet;

impl RunObserver for Quiet {
    fn begin(&mut self, _: &RunFolder, _: usize, _: usize) {}

    fn iteration(&mut self, _: &Row) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn end(&mut self, _: &Manifest) {}

    fn wants_figures(&self) -> bool {
        false
    }
}

/// The folder of the corpus in the repository.
pub(crate) fn corpus() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/corpus"))
}

/// Writes the seeds of every target below a folder: the corpus, and files of new runs.
pub(crate) fn gather(folder: &Path) -> Result<(), Diagnostic> {
    let failed = |error: std::io::Error| Diagnostic::new(format!("cannot write seeds: {error}"));
    for target in TARGETS {
        let from = corpus().join(target.name);
        if from.is_dir() {
            disk::copy(&from, &folder.join(target.name)).map_err(failed)?;
        }
    }
    let runs = tempfile::tempdir().map_err(failed)?;
    for (n, text) in EXPERIMENTS.iter().enumerate() {
        let file = read_embedded("seed.toml", text)?;
        let run = train(&file, runs.path(), &mut Quiet)?.folder;
        for (target, name) in [
            ("experiment", "config.toml"),
            ("data", "data/reconstruction.csv"),
            ("table", "data/reconstruction.csv"),
            ("times", "data/reconstruction.csv"),
            ("log", "log.csv"),
            ("manifest", "manifest.json"),
            ("model", "best.safetensors"),
            ("model", "last.safetensors"),
            ("checkpoint", "last.safetensors"),
        ] {
            let bytes = files::read(&run.path().join(name))?;
            let name = format!("new-{n}-{}", name.replace('/', "-"));
            disk::write(&folder.join(target).join(name), &bytes).map_err(failed)?;
        }
    }
    Ok(())
}

/// Returns the seeds of a target that [`gather`] wrote, in the order of their names.
pub(crate) fn read(folder: &Path, target: &str) -> Vec<Vec<u8>> {
    disk::all(&folder.join(target)).iter().filter_map(|path| disk::read(path).ok()).collect()
}
