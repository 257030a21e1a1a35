//! Places that cannot be written to, and readers that go away.

use std::path::Path;
use std::process::Stdio;

use lawful_experiment::files;

use crate::support::{Place, TINY, finish};

#[test]
fn an_output_folder_that_cannot_be_created_is_reported_before_training() {
    let place = Place::with(TINY);
    place.write("occupied", "a file");
    for out in ["occupied", "occupied/below", "new/er/experiment.toml/../../../occupied"] {
        let said = place.lawful(["train", "experiment.toml", "--out", out]);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{}", said.err);
        assert!(said.err.starts_with("error: cannot create the folder `"), "{}", said.err);
        assert!(
            said.err.contains("hint: choose another folder for runs: `--out FOLDER`"),
            "{}",
            said.err
        );
    }
    assert_eq!(place.text("occupied"), "a file");
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_system_without_folders_is_reported() {
    let place = Place::with(TINY);
    let said = place.lawful(["train", "experiment.toml", "--out", "/proc/lawful/runs"]);
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert!(
        said.err.starts_with("error: cannot create the folder `/proc/lawful/runs`"),
        "{}",
        said.err
    );
}

/// Runs with stdout (or stderr too) into a pipe whose reader is gone.
#[cfg(unix)]
fn with_closed_pipe(place: &Place, arguments: &[&str], stderr: bool) -> (i32, String) {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = place.command(arguments);
    command.stdout(writer.try_clone().unwrap());
    command.stderr(if stderr { Stdio::from(writer) } else { Stdio::piped() });
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let (place, run) = Place::trained(TINY);
    for arguments in [
        &["predict", &run, "--points", "100000"][..],
        &["evaluate", &run],
        &["evaluate", &run, "--json"],
        &["check", "experiment.toml"],
        &["train", "experiment.toml"],
        &["resume", &run],
        &["init", "oscillator"],
        &["--help"],
    ] {
        let (code, err) = with_closed_pipe(&place, arguments, false);
        assert_eq!(code, 0, "{arguments:?}: {err}");
    }
    let (code, _) = with_closed_pipe(&place, &["train", "experiment.toml"], true);
    assert_eq!(code, 0, "training continues when stderr is closed");
    assert_eq!(with_closed_pipe(&place, &["evaluate", "nothing"], true).0, 2);
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_could_not_be_written_is_an_error() {
    let (place, run) = Place::trained(TINY);
    let full = files::append(Path::new("/dev/full")).unwrap();
    let said = finish(place.command(["predict", &run]).stdout(full));
    assert_eq!(said.code, 2);
    assert!(said.err.starts_with("error: cannot write to stdout: "), "{}", said.err);
}

#[test]
fn escapes_in_names_do_not_reach_the_terminal_and_stay_in_results() {
    let red = "name = \"\\u001b[31mred\\u202e\"";
    let place = Place::with(&crate::support::tiny("name = \"energy never rises\"", red));
    let said = place.lawful(["check", "experiment.toml"]);
    assert!(said.out.contains("\u{1b}[31mred\u{202e}"), "piped results are exact: {}", said.out);
    let said = place.lawful(["train", "experiment.toml"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("\u{fffd}[31mred\u{fffd}"), "{}", said.err);
    assert!(!said.err.contains(['\u{1b}', '\u{202e}']), "{}", said.err);
    place
        .write("experiment.toml", &place.text("experiment.toml").replace("next(E) <= E", "Q <= 1"));
    let said = place.lawful(["check", "experiment.toml"]);
    assert_eq!(said.code, 2);
    assert!(said.err.starts_with("error: the law `\u{fffd}[31mred\u{fffd}` uses"), "{}", said.err);
}
