//! The program as a process: killed, run twice at once, given damaged files and full disks.

pub(crate) mod damages;
pub(crate) mod full_disk;
pub(crate) mod kills;
mod program;

use std::path::PathBuf;

use clap::Args;

/// Options of the crash drivers.
#[derive(Debug, Clone, Args)]
pub(crate) struct Options {
    /// The program; by default the `lawful` beside this one
    #[arg(long)]
    program: Option<PathBuf>,
    /// Seconds after which the driver ends
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Kills, damages or disks after which it ends
    #[arg(long, default_value_t = u64::MAX)]
    count: u64,
    /// Seed of the moments and damages
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print a line after every so many kills or damages
    #[arg(long, default_value_t = 250)]
    every: u64,
    /// Where what was found is kept
    #[arg(long, default_value = "target/crash-found")]
    found: PathBuf,
}

/// A small training, with laws, remedies and held-out data.
const PLAIN: &str = r#"name = "plain"
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
"#;

/// Endings of [`PLAIN`]: a name, and `[training]`.
const TRAININGS: &[(&str, &str)] = &[
    (
        "adam",
        "optimiser = { kind = \"adam\", rate = 1e-2, schedule = \"cosine\" }\niterations = 6000\nseed = 3\n",
    ),
    (
        "phases",
        "seed = 3\ninitial-state = \"train\"\nvalidation = 0.2\nweight-decay = 1e-6\nphase = [\n\
         { optimiser = { kind = \"lbfgs\", memory = 5 }, iterations = 400, segments = 4, starts = \"free\" },\n\
         { optimiser = \"lbfgs\", iterations = 400, strategy = { kind = \"vanilla\" } },\n\
         { optimiser = { rate = 1e-3 }, iterations = 3000, substeps = 2 },\n]\n",
    ),
    ("remedies", "optimiser = \"adam\"\niterations = 700\nseed = 3\nremedies = true\n"),
];

/// Returns the text of a training of [`TRAININGS`].
fn experiment(training: &str) -> String {
    format!("{PLAIN}{training}")
}
