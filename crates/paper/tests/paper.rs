//! The paper's matrix, run small: resumed, repeated, and written as promised.

#![expect(clippy::unwrap_used, reason = "a test whose folder cannot be written has failed")]

use std::ops::ControlFlow;

use std::path::Path;
use std::sync::Mutex;

use lawful_experiment::runner::StudyObserver;
use lawful_experiment::{Manifest, files};
use lawful_paper::{Options, Preset, System, Variant, reproduce};

/// Two variants of the population, a few iterations.
fn small() -> Options {
    Options {
        systems: vec![System::Population],
        variants: ["vanilla", "self-adaptive+best"]
            .map(|w| Variant::from_word(w).unwrap())
            .to_vec(),
        seeds: 2,
        iterations: 120,
        jobs: 2,
        ..Options::default()
    }
}

/// Counts what happens, and stops after so many words.
#[derive(Default)]
struct Witness {
    stop_after: Option<usize>,
    seen: Mutex<Seen>,
}

#[derive(Default, Clone, Debug, PartialEq)]
struct Seen {
    trainings: usize,
    finished_before: usize,
    work: f64,
    done: f64,
    words: usize,
    ended: Vec<String>,
}

impl StudyObserver for Witness {
    fn begin(&self, trainings: usize, finished: usize, work: f64) {
        let mut seen = self.seen.lock().unwrap();
        (seen.trainings, seen.finished_before, seen.work) = (trainings, finished, work);
    }

    fn advance(&self, work: f64) -> ControlFlow<()> {
        let mut seen = self.seen.lock().unwrap();
        seen.done += work;
        seen.words += 1;
        let stop = self.stop_after.is_some_and(|words| seen.words >= words);
        if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn ended(&self, label: &str, _: &Manifest) {
        self.seen.lock().unwrap().ended.push(label.to_owned());
    }
}

fn run(options: &Options, out: &Path, stop_after: Option<usize>) -> (bool, Seen) {
    let witness = Witness { stop_after, ..Witness::default() };
    let ended = reproduce(options, out, "lawful paper", &witness).unwrap();
    (ended.is_some(), witness.seen.into_inner().unwrap())
}

fn text(out: &Path, name: &str) -> String {
    files::read_text(&out.join(name)).unwrap()
}

/// Every model and prediction below the folder, with its bytes.
fn products(out: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for run in files::list(&out.join("runs")) {
        let folder = out.join("runs").join(&run);
        for name in files::list(&folder) {
            if name.ends_with(".safetensors") || name.starts_with("predictions") {
                all.push((format!("{run}/{name}"), files::read(&folder.join(&name)).unwrap()));
            }
        }
    }
    all
}

#[test]
fn interrupted_anywhere_and_run_again_it_gives_the_same_bytes() {
    let whole = tempfile::tempdir().unwrap();
    assert!(run(&small(), whole.path(), None).0);
    let expected = (text(whole.path(), "results.csv"), products(whole.path()));
    assert_eq!(expected.1.len(), 4 * 5);
    for words in [1, 7, 20] {
        let out = tempfile::tempdir().unwrap();
        let (done, _) = run(&small(), out.path(), Some(words));
        assert!(!done && !out.path().join("results.csv").exists(), "stopped after {words} words");
        // Again on one thread, and stopped once more on the way.
        let one = Options { jobs: 1, ..small() };
        run(&one, out.path(), Some(2));
        assert!(run(&one, out.path(), None).0);
        assert!(text(out.path(), "results.csv") == expected.0, "stopped after {words} words");
        assert!(products(out.path()) == expected.1, "stopped after {words} words");
    }
}

#[test]
fn a_finished_training_is_never_repeated() {
    let out = tempfile::tempdir().unwrap();
    let (done, seen) = run(&small(), out.path(), None);
    assert!(done);
    assert_eq!((seen.trainings, seen.finished_before, seen.ended.len()), (4, 0, 4));
    assert!((seen.done - seen.work).abs() < 1e-6 * seen.work, "{seen:?}");
    let results = text(out.path(), "results.csv");
    let (done, seen) = run(&small(), out.path(), None);
    assert!(done);
    assert_eq!((seen.trainings, seen.finished_before, seen.words), (4, 4, 0));
    assert!(seen.ended.is_empty());
    assert_eq!(text(out.path(), "results.csv"), results);
    // One more seed is the only new work.
    let (done, seen) = run(&Options { seeds: 3, ..small() }, out.path(), None);
    assert!(done);
    assert_eq!((seen.trainings, seen.finished_before, seen.ended.len()), (6, 4, 2));
}

#[test]
fn runs_of_another_version_are_not_mixed_in() {
    let out = tempfile::tempdir().unwrap();
    let options = Options { seeds: 1, iterations: 20, ..small() };
    assert!(run(&options, out.path(), None).0);
    let first = files::list(&out.path().join("runs")).remove(0);
    let path = out.path().join("runs").join(first).join("manifest.json");
    let mut manifest = Manifest::read(&path).unwrap();
    manifest.version = "0.0.1".to_owned();
    manifest.write(&path).unwrap();
    let error = reproduce(&options, out.path(), "lawful paper", &()).unwrap_err();
    assert!(error.message.contains("was written with the version `0.0.1`"), "{error}");
    assert!(error.hint.is_some());
}

#[test]
fn everything_promised_is_written() {
    let out = tempfile::tempdir().unwrap();
    let options = Options {
        systems: System::ALL.to_vec(),
        variants: Variant::all().collect(),
        seeds: 1,
        iterations: 4,
        truths: true,
        rates: true,
        ..Options::default()
    };
    assert!(run(&options, out.path(), None).0);
    let rows = |name: &str| text(out.path(), name).lines().count() - 1;
    assert_eq!((rows("results.csv"), rows("timings.csv"), rows("rates.csv")), (81, 54, 27));
    // Two trained truths, and four and three reference lines.
    assert_eq!(rows("truths.csv"), 54 + 4 + 3);
    let published = include_str!("../experiments/published.csv");
    let keys = |text: &str, columns: usize| -> Vec<String> {
        text.lines().map(|l| l.split(',').take(columns).collect::<Vec<_>>().join(",")).collect()
    };
    let results = text(out.path(), "results.csv");
    assert_eq!(keys(&results, 5), keys(published, 5), "the words of the published table");
    assert_eq!(keys(&results, 9)[0], keys(published, 9)[0], "its columns first");
    for system in System::ALL {
        for figure in ["curves", "learning"] {
            for ending in ["svg", "png"] {
                let name = format!("figures/{}-{figure}.{ending}", system.name());
                assert!(out.path().join(&name).is_file(), "{name}");
            }
        }
    }
    let page = text(out.path(), "report.html");
    assert_eq!(page.matches("<svg").count(), 6);
    assert!(!page.contains("src=") && !page.contains("href="), "it needs no other file");
    assert_eq!(page.matches("published ").count(), 2 * 81 + page.matches("the published ").count());
    assert!(text(out.path(), "tables.md").contains("| method | test | MSE | violation |"));
}

#[test]
fn the_script_preset_runs_every_method_on_every_system() {
    let out = tempfile::tempdir().unwrap();
    let options = Options { preset: Preset::Script, seeds: 1, iterations: 2, ..Options::default() };
    let (done, seen) = run(&options, out.path(), None);
    assert!(done);
    // Best point is no training of its own.
    assert_eq!(seen.trainings, 15);
    assert_eq!(text(out.path(), "results.csv").lines().count(), 82);
}
