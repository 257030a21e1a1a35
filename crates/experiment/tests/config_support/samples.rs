//! Good experiment files that use everything there is.

use lawful_experiment::{Experiment, ExperimentFile};

use super::Folder;

/// The file that the README shows.
pub(crate) const OSCILLATOR: &str = r#"
name = "oscillator"
[system]
state = ["x", "v"]
constants = { m = 1.0, k = 1.0, c = 0.1 }
define = { E = "m*v^2/2 + k*x^2/2" }
[[law]]
name = "energy never rises"
holds = "next(E) <= E"
[data.simulate]
equations = { x = "v", v = "-(c*v + k*x)/m" }
initial = { x = 1, v = 0 }
grid = { from = 0, to = 50, points = 400 }
[test.extrapolation]
grid = { from = 0, to = 400, points = 400 }
[field]
hidden = [50, 50]
activations = ["tanh", "elu"]
[solver]
method = "rk4-38"
[strategy]
kind = "self-adaptive"
[training]
optimiser = { kind = "adam", rate = 1e-3, schedule = "cosine" }
iterations = 5000
seed = 1
"#;

pub(crate) const TABLE: &str = "who,Time,Temp (°C),power,note\na,0,20.5,1,x\nb,0,18,,y\na,1,,0.5,\nb,0.5,19,2,\n\
                     a,3,22,NA,\"z, z\"\nb,7,21,3,\nc,0,1,1,\nc,5,2,1,\nc,6,3,1,\n";

/// Every kind of test set and every key that files have.
pub(crate) const MEASURED: &str = r#"
name = "heater"
[system]
state = ["T"]
inputs = ["u"]
constants = { k = 1 }
define = { D = "T - 15", F = "k*D" }
[[law]]
holds = "0 <= T <= 100"
[[law]]
name = "warm"
holds = "F >= 0"
[data]
file = "heater.csv"
time = "Time"
trajectory = "who"
columns = { T = "Temp (°C)", u = "power" }
interpolation = "previous"
[test.other]
file = ["heater.csv"]
[test.later]
after = 2
[test.much-later]
after = 6.5
[test.held]
trajectories = ["c"]
[field]
hidden = [8]
init = { kind = "normal", std = 0.05 }
time-input = true
precision = "single"
[solver]
method = "bosh3"
rtol = 1e-5
atol = 1e-6
max-steps = 1000
min-step = 1e-10
first-step = 0.1
memory = "64 MiB"
[solver.predict]
method = "rk4"
substeps = 8
[strategy]
kind = "l1"
mu = [1, 10]
tolerance = 1e-3
best-point = true
gradient-at = "best"
backtrack = true
[training]
loss = { kind = "huber", delta = 2 }
optimiser = { rate = 0.01, beta1 = 0.8, beta2 = 0.99, epsilon = 1e-7, clip = 1, schedule = "warm-up" }
iterations = 25
seed = 9007199254740992
"#;

/// Everything a simulation can have.
pub(crate) const SIMULATED: &str = r#"
name = "driven"
[system]
state = ["x", "v"]
inputs = ["u"]
constants = { w = 2.0 }
[data]
interpolation = "linear"
[data.simulate]
equations = { v = "u - x", x = "v" }
initial = [{ x = 1, v = 0 }, { v = 1, x = 0.5 }]
grids = [{ to = 1, points = 5 }, { from = 1, step = 0.25, points = 4 }]
method = "heun"
inputs = { u = "sin(w*t)" }
noise = { relative = 0.1, seed = 7 }
[test.fine]
grid = { from = 0, to = 1, points = 9 }
[test.second]
trajectories = ["2"]
[test.end]
after = 0.5
[strategy]
kind = "vanilla"
[training]
batch = { windows = 3, rows = 2 }
"#;

/// Known rates beside a network, and constants of every kind.
pub(crate) const KNOWN: &str = r#"
name = "spring"
[system]
state = ["x", "v", "w"]
inputs = ["u"]
define = { spring = "-k*x/m" }
[system.constants]
m = 1.0
k = { start = 2, min = 0 }
c = { start = -0.1, learn = true, max = 0.0 }
g = { start = 0.5, min = -1, max = 1e3 }
f = { start = 0 }
h = { start = 4, learn = false }
[data.simulate]
equations = { x = "v", v = "-2*x + u", w = "0" }
initial = { x = 1, v = 0, w = 0.5 }
grid = { to = 1, points = 5 }
inputs = { u = "sin(h*t)" }
[field]
learn = ["w", "v"]
known = { v = "spring + c*v + g*u + f*sin(t)", x = "v" }
hidden = [3]
"#;

/// Known rates alone.
pub(crate) const ALL_KNOWN: &str = r#"
name = "decay"
[system]
state = ["x"]
constants = { k = { start = 1.0, min = 0.0 } }
[data.simulate]
equations = { x = "-2*x" }
initial = { x = 1 }
grid = { to = 1, points = 5 }
[field]
known = { x = "-k*x" }
"#;

pub(crate) fn folder(toml: &str) -> Folder {
    Folder::new(&[("experiment.toml", toml), ("heater.csv", TABLE)])
}

pub(crate) fn file(toml: &str) -> ExperimentFile {
    folder(toml).read().unwrap_or_else(|error| panic!("{error}"))
}

/// What a sample means.
pub(crate) fn experiment(toml: &str) -> Experiment {
    file(toml).experiment
}
