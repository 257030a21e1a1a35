//! `lawful paper` on a small scale: killed, repeated, and with options that do not exist.
#![expect(clippy::unwrap_used, reason = "what a test's helper cannot do fails the test")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lawful_experiment::files;

/// Two methods of the reaction and the population, a few iterations.
const SMALL: [&str; 12] = [
    "--system",
    "population",
    "--system",
    "reaction",
    "--method",
    "l1:10",
    "--method",
    "self-adaptive+best",
    "--seeds",
    "1",
    "--iterations",
    "400",
];

fn lawful(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("lawful"));
    command.current_dir(folder).arg("paper").args(arguments).stdin(Stdio::null());
    command
}

fn said(mut command: Command) -> (i32, String, String) {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

fn results(folder: &Path) -> Vec<u8> {
    files::read(&folder.join("paper/results.csv")).unwrap()
}

#[test]
fn killed_at_a_random_moment_and_run_again_it_gives_the_same_results() {
    let whole = tempfile::tempdir().unwrap();
    let (code, out, err) = said(lawful(whole.path(), &SMALL));
    assert_eq!((code, out.as_str()), (0, "paper/report.html\n"), "{err}");
    assert!(err.contains("4 trainings\n") && err.contains("torchdiffeq would take"), "{err}");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    for round in 0..3 {
        let moment = Duration::from_millis(20 + u64::from(now.subsec_micros()) * (round + 1) % 400);
        let folder = tempfile::tempdir().unwrap();
        let mut child = lawful(folder.path(), &SMALL).stderr(Stdio::null()).spawn().unwrap();
        sleep(moment);
        child.kill().unwrap();
        child.wait().unwrap();
        let (code, _, err) = said(lawful(folder.path(), &SMALL));
        assert_eq!(code, 0, "killed after {moment:?}: {err}");
        assert!(results(folder.path()) == results(whole.path()), "killed after {moment:?}");
    }
}

#[test]
fn quiet_prints_only_the_report() {
    let folder = tempfile::tempdir().unwrap();
    let few = ["--system", "population", "--method", "vanilla", "--seeds", "1"];
    let command = [&few[..], &["--iterations", "3", "--quiet", "--out", "a/b"]].concat();
    let (code, out, err) = said(lawful(folder.path(), &command));
    assert_eq!((code, out.as_str(), err.as_str()), (0, "a/b/report.html\n", ""));
    let page = files::read_text(&folder.path().join("a/b/report.html")).unwrap();
    assert!(page.contains("<code>lawful paper --system population --method vanilla --seeds 1 "));
}

#[test]
fn words_that_the_paper_does_not_have_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, hint) in [
        (["--method", "l3"], "l1:1"),
        (["--method", "vanilla+best"], "self-adaptive+best"),
        (["--system", "oscilator"], "oscillator"),
        (["--as", "tables"], "script"),
        (["--seeds", "0"], "1..=1000"),
        (["--iterations", "0"], "1.."),
        (["--precision", "half"], "single"),
        (["--jobs", "0"], "1.."),
    ] {
        let (code, out, err) = said(lawful(folder.path(), &arguments));
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}");
        assert!(err.contains(arguments[1]) && err.contains(hint), "{err}");
    }
    assert!(files::list(folder.path()).is_empty(), "nothing is written");
}

#[test]
fn a_folder_that_cannot_be_created_is_reported_before_any_work() {
    let folder = tempfile::tempdir().unwrap();
    files::write(&folder.path().join("paper"), b"a file").unwrap();
    let (code, out, err) = said(lawful(folder.path(), &["--seeds", "1"]));
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("there is a file where a folder should be"), "{err}");
    assert!(err.contains("hint: choose another folder: `--out FOLDER`"), "{err}");
}
