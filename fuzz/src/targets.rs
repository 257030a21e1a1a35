//! What is fuzzed: everything that the program reads and did not write itself a moment ago.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use lawful::law::{Expression, Steps, Words, Workspace};
use lawful::{
    Archive, Dataset, Interpolation, Law, Model, Observer, Random, Row, Table, Vocabulary,
};
use lawful_experiment::table::{self, Format, Variables};
use lawful_experiment::{
    Diagnostic, Experiment, Manifest, Record, TimeOrigin, read_checkpoint, read_dataset,
    read_embedded, read_times,
};

use crate::archive::mutate_archive;
use crate::mutate::mutate;
use crate::{disk, seeds};

/// What is fuzzed.
pub(crate) struct Target {
    /// Its name, and that of its folder in the corpus.
    pub(crate) name: &'static str,
    /// Tokens of its format.
    pub(crate) words: &'static [&'static str],
    /// Reads an input. Returns whether it was accepted.
    pub(crate) run: fn(&[u8]) -> bool,
    /// Whether inputs are model files.
    pub(crate) archive: bool,
    /// Seconds that a case may take.
    pub(crate) seconds: u64,
    /// Megabytes that a case may allocate, beyond a thousand times its input.
    pub(crate) megabytes: usize,
}

const LAW_WORDS: &[&str] = &[
    "x",
    "v",
    "u",
    "k",
    "E",
    "rise",
    "t",
    "next(",
    "previous(",
    "initial(",
    "final(",
    "rate(",
    "sum(",
    "mean(",
    "min(",
    "max(",
    "abs(",
    "sqrt(",
    "log(",
    "exp(",
    "sin(",
    "pi",
    "==",
    "<=",
    ">=",
    "<",
    " = ",
    "^",
    "**",
    "≤",
    "²",
    "&&",
    "and",
    "(",
    ")",
    ",",
];
const EXPERIMENT_WORDS: &[&str] = &[
    "[system]",
    "[[law]]",
    "[data]",
    "[data.simulate]",
    "[test.a]",
    "[field]",
    "[solver]",
    "[solver.predict]",
    "[strategy]",
    "[training]",
    "[[training.phase]]",
    "state = [\"x\"]",
    "inputs = [\"u\"]",
    "constants = { k = 1 }",
    "define = { E = \"x\" }",
    "holds = ",
    "name = ",
    "strategy = \"monitor\"",
    "kind = \"l1\"",
    "kind = \"augmented-lagrangian\"",
    "true",
    "false",
    "hidden = [3]",
    "known = { x = \"-x\" }",
    "learn = [\"x\"]",
    "substeps = 2",
    "rtol = 1e-6",
    "remedies = true",
    "validation = 0.2",
    "initial-state = \"train\"",
    "batch = { windows = 2, rows = 3 }",
    "phase = [{ optimiser = \"lbfgs\", iterations = 9, segments = 3 }]",
    "recipe = \"auto\"",
    "grid = { from = 0, to = 1, points = 5 }",
    "missing = { share = 0.5 }",
    "noise = { std = 0.1 }",
];
const TABLE_WORDS: &[&str] = &[
    "t",
    "x",
    "v",
    "u",
    "id",
    "scored",
    "trajectory",
    ",",
    ";",
    "\t",
    "\"",
    "\n",
    "NA",
    "NaN",
    "a",
    "\u{feff}",
    "\r\n",
    "#",
    "2024-05-01",
    "1.5 kg",
];
const MODEL_WORDS: &[&str] = &[
    "null",
    "[]",
    "{}",
    "\"\"",
    "true",
    "\"part\":\"scaling\"",
    "\"part\":\"known\"",
    "\"part\":\"conserving\"",
    "\"part\":\"network\"",
    "\"substeps\":9",
    "\"adaptive\":null",
    "\"tanh\"",
    "\"sin\"",
    "\"x\"",
    "\"hidden\":[9,9]",
    "\"learned\":true",
    "\"starts\":[]",
    "\"remedy\":\"finer\",\"after\":1",
    "\"remedy\":\"multiple-shooting\",\"after\":0,\"steps\":0",
    "\"phase\":1",
    "\"start\":7",
    "\"ended\":{}",
    "\"iteration\":3",
    "\"laws\":[]",
    "[1,1]",
    "F64",
];
const MANIFEST_WORDS: &[&str] = &[
    "null",
    "[]",
    "{}",
    "\"\"",
    "\"running\"",
    "\"finished\"",
    "\"failed\"",
    "\"interrupted\"",
    "\"last\"",
    "\"best\"",
    "\"extended-by\": 9,",
    "\"extended-to\": 9,",
    "\"substeps\": 2,",
];

/// All of them.
pub(crate) const TARGETS: &[Target] = &[
    Target { name: "law", words: LAW_WORDS, run: law, archive: false, seconds: 10, megabytes: 64 },
    Target {
        name: "experiment",
        words: EXPERIMENT_WORDS,
        run: experiment,
        archive: false,
        seconds: 60,
        // Ten million simulated times are allowed.
        megabytes: 4000,
    },
    Target {
        name: "table",
        words: TABLE_WORDS,
        run: table,
        archive: false,
        seconds: 10,
        megabytes: 64,
    },
    Target {
        name: "data",
        words: TABLE_WORDS,
        run: data,
        archive: false,
        seconds: 10,
        megabytes: 64,
    },
    Target {
        name: "times",
        words: TABLE_WORDS,
        run: times,
        archive: false,
        seconds: 10,
        megabytes: 64,
    },
    Target {
        name: "log",
        words: TABLE_WORDS,
        run: log,
        archive: false,
        seconds: 10,
        megabytes: 64,
    },
    Target {
        name: "manifest",
        words: MANIFEST_WORDS,
        run: manifest,
        archive: false,
        seconds: 10,
        megabytes: 64,
    },
    Target {
        name: "model",
        words: MODEL_WORDS,
        run: model,
        archive: true,
        seconds: 20,
        megabytes: 256,
    },
    Target {
        name: "checkpoint",
        words: MODEL_WORDS,
        run: checkpoint,
        archive: true,
        seconds: 20,
        megabytes: 256,
    },
];

impl Target {
    /// Returns the target of this name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        TARGETS.iter().find(|target| target.name == name)
    }

    /// Returns case `n` of a seed: a mutation of one of the inputs, and of nothing else.
    pub(crate) fn case(&self, inputs: &[Vec<u8>], seed: u64, n: u64) -> Vec<u8> {
        let mut random = Random::new(seed.wrapping_mul(0x9e37_79b9).wrapping_add(n), self.name);
        let input = &inputs[random.below(inputs.len())];
        let other = &inputs[random.below(inputs.len())];
        let mutation = if self.archive { mutate_archive } else { mutate };
        mutation(&mut random, input, other, self.words)
    }
}

fn text(input: &[u8]) -> String {
    String::from_utf8_lossy(input).into_owned()
}

/// Errors must be printable: their places are in their file.
fn accepted<T>(result: Result<T, Diagnostic>) -> Option<T> {
    result.inspect_err(|error| assert!(error.to_string().starts_with("error: "))).ok()
}

fn vocabulary() -> &'static Vocabulary {
    static VOCABULARY: OnceLock<Vocabulary> = OnceLock::new();
    VOCABULARY.get_or_init(|| {
        let words = Words::new().state(["x", "v"]).inputs(["u"]).constant("k", 2.0);
        let words = words.define("rise", "next(E) - E").define("E", "k*x^2/2 + v^2/2");
        words.check().expect("a good vocabulary")
    })
}

/// Parses a law, prints and parses it again, evaluates and differentiates it.
fn law(input: &[u8]) -> bool {
    let text = text(input);
    let vocabulary = vocabulary();
    if let Err(error) = Expression::parse(&text, vocabulary) {
        assert!(text.get(error.span()).is_some(), "a place outside of the text");
    }
    let laws = match Law::parse("law", &text, vocabulary) {
        Ok(laws) => laws,
        Err(error) => {
            assert!(text.get(error.span()).is_some(), "a place outside of the text");
            return false;
        }
    };
    let (times, states, inputs) =
        ([0.0, 1.0, 2.5], [1.0, -2.0, 0.0, 3.0, f64::NAN, 1e300], [0.5, 0.0, -1.0]);
    let steps = Steps { times: &times, states: &states, inputs: &inputs };
    for law in laws.iter().take(8) {
        let printed =
            Law::parse("printed", law.text(), vocabulary).expect("a law is read as printed");
        assert_eq!(printed.len(), 1);
        let (mut workspace, mut residuals) = (Workspace::new(), [0.0; 3]);
        if law.uses_rates() {
            let rates = [1.0; 6];
            law.residuals_with_rates(&steps, &rates, &mut workspace, &mut residuals);
        } else {
            law.residuals(&steps, &mut workspace, &mut residuals);
            let mut bars = [0.0; 6];
            law.pull_back(&steps, &mut workspace, &[1.0; 3], &mut bars);
        }
        let _ = (law.linear(), law.invariant(), law.conserved(), law.never_rising());
    }
    true
}

/// Reads an experiment, and its completed text again. Data files are not read.
fn experiment(input: &[u8]) -> bool {
    let text = text(input);
    let Some(file) = accepted(read_embedded("experiment.toml", &text)) else { return false };
    let _ = lawful_experiment::summary(&file.experiment);
    let again = read_embedded("complete.toml", &file.complete);
    let again = again.unwrap_or_else(|error| panic!("the completed text is refused: {error}"));
    assert_eq!(again.complete, file.complete, "the completed text is not complete");
    true
}

/// Writes an input to a file and calls `read` with its path.
fn in_a_file<T>(name: &str, input: &[u8], read: impl FnOnce(&Path) -> T) -> T {
    thread_local! {
        static FOLDER: RefCell<Option<tempfile::TempDir>> = const { RefCell::new(None) };
    }
    let path: PathBuf = FOLDER.with_borrow_mut(|folder| {
        let folder = folder.get_or_insert_with(|| disk::temporary().expect("a temporary folder"));
        folder.path().join(name)
    });
    disk::write(&path, input).expect("the temporary folder can be written");
    read(&path)
}

/// Nanoseconds since 1970.
fn epoch() -> TimeOrigin {
    TimeOrigin::at("1700000000000000000").expect("digits")
}

const NO_NAMES: &[String] = &[];

/// Reads a table with and without trajectories, inputs and gaps in its first rows.
fn table(input: &[u8]) -> bool {
    let state = ["x".to_owned(), "v".to_owned()];
    let inputs = ["u".to_owned()];
    let mut any = false;
    for (trajectory, inputs, open, separator, interpolation) in [
        (None, NO_NAMES, false, b',', Interpolation::default()),
        (Some("id".to_owned()), &inputs, true, b';', Interpolation::default()),
    ] {
        // One of the two counts times from an origin.
        let origin = trajectory.as_ref().map(|_| epoch()).unwrap_or_default();
        let format = Format { trajectory, separator, origin, ..Format::default() };
        let variables = Variables { state: &state, inputs, open };
        let read = in_a_file("data.csv", input, |path| {
            table::read(&[path.to_owned()], &format, variables, interpolation)
        });
        let Some(trajectories) = accepted(read.map_err(|error| error.error)) else { continue };
        let made = Dataset::with_open_starts(state.to_vec(), inputs.to_vec(), trajectories);
        made.expect("a table that was read is a dataset");
        any = true;
    }
    any
}

/// Reads a data file of a run folder.
fn data(input: &[u8]) -> bool {
    let state = ["x".to_owned(), "v".to_owned()];
    let inputs = ["u".to_owned()];
    let with = Variables { state: &state, inputs: &inputs, open: true };
    let without = Variables { inputs: NO_NAMES, open: false, ..with };
    in_a_file("reconstruction.csv", input, |path| {
        let none = TimeOrigin::default();
        let read = [(with, &none), (without, &none), (without, &epoch())];
        let read = read.map(|(variables, origin)| read_dataset(path, variables, origin));
        read.into_iter().filter_map(accepted).count() > 0
    })
}

fn times(input: &[u8]) -> bool {
    in_a_file("times.csv", input, |path| {
        let none = accepted(read_times(path, "t", &TimeOrigin::default()));
        accepted(read_times(path, "t", &epoch())).is_some() | none.is_some()
    })
}

fn log(input: &[u8]) -> bool {
    in_a_file("log.csv", input, |path| accepted(Record::read(path)).is_some())
}

/// The experiments of the seeds, against which manifests and checkpoints are read.
fn experiments() -> &'static [Experiment] {
    static EXPERIMENTS: OnceLock<Vec<Experiment>> = OnceLock::new();
    EXPERIMENTS.get_or_init(|| {
        let read = |text: &&str| read_embedded("seed.toml", text).map(|file| file.experiment);
        let read: Result<_, Diagnostic> = seeds::EXPERIMENTS.iter().map(read).collect();
        read.unwrap_or_else(|error| panic!("{error}"))
    })
}

fn manifest(input: &[u8]) -> bool {
    // Without its fingerprint, so that what is behind it is reached.
    let text = Manifest::unsealed(&text(input));
    in_a_file("manifest.json", text.as_bytes(), |path| {
        let Some(manifest) = accepted(Manifest::read(path)) else { return false };
        let fits = |experiment| accepted(manifest.check_numbers(path, experiment)).is_some();
        experiments().iter().any(fits)
    })
}

/// Reads a model, and predicts with it.
fn model(input: &[u8]) -> bool {
    let Ok(archive) = Archive::from_bytes("model.safetensors", input.to_vec()) else {
        return false;
    };
    let Ok(model) = Model::from_archive(&archive) else { return false };
    let values = vec![0.5; 2 * model.inputs().len()];
    let table = Table { times: &[0.0, 1.0], values: &values };
    let table = if values.is_empty() { Table { times: &[], values: &[] } } else { table };
    let initial = vec![0.1; model.state().len()];
    // Any result is fine; a long prediction is stopped by the limits of what a file may ask for.
    let _ = model.predict_with(&initial, &[0.0, 0.01], table);
    assert!(Model::from_archive(&model.archive()).is_ok(), "a model is read as it is written");
    true
}

/// Reads a checkpoint, and trains a few iterations from it.
fn checkpoint(input: &[u8]) -> bool {
    let resumes = |path: &Path, experiment: &Experiment| {
        let Some((plan, progress)) = accepted(read_checkpoint(path, experiment)) else {
            return false;
        };
        experiment.training.resume(plan, Some(progress), &mut Few(3));
        true
    };
    in_a_file("last.safetensors", input, |path| {
        experiments().iter().filter(|experiment| resumes(path, experiment)).count() > 0
    })
}

/// Stops a training after this many iterations.
struct Few(usize);

impl Observer for Few {
    fn iteration(&mut self, _: &Row) -> ControlFlow<()> {
        self.0 = self.0.saturating_sub(1);
        if self.0 == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
