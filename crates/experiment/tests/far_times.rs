//! Times whose digits do not fit into a double: nanoseconds since 1970.
#![expect(clippy::unwrap_used, reason = "what a test's helper cannot do fails the test")]

use lawful_experiment::{Diagnostic, ExperimentFile, files, read};

/// Reads an experiment with these times; `origin` is a line of `[data]`.
fn with_times(times: &[&str], origin: &str) -> Result<ExperimentFile, Diagnostic> {
    let folder = tempfile::tempdir().unwrap();
    let rows: Vec<String> = (0..).zip(times).map(|(n, t)| format!("{t},{n}\n")).collect();
    let text = format!("[system]\nstate = [\"x\"]\n[data]\nfile = \"data.csv\"\n{origin}\n");
    files::write(&folder.path().join("experiment.toml"), text.as_bytes()).unwrap();
    files::write(&folder.path().join("data.csv"), format!("t,x\n{}", rows.concat()).as_bytes())
        .unwrap();
    read(folder.path())
}

const NANOSECONDS: [&str; 4] =
    ["1700000000000000000", "1700000000000000001", "1700000000000000301", "1700000000000001000"];

#[test]
fn times_that_doubles_do_not_tell_apart_are_refused_with_the_key_that_helps() {
    let error = with_times(&NANOSECONDS, "").unwrap_err();
    assert_eq!(
        error.message,
        "the times in lines 2 and 3 are 1 apart, but 0 in double precision, whose numbers are \
         2.6e2 apart there"
    );
    let hint = error.hint.unwrap();
    assert!(hint.contains("`time-origin = \"1700000000000000000\"` in [data]"), "{hint}");
    // A distance that is rounded to a quarter more would be learned as a wrong speed.
    let thousands = ["1700000000000000000", "1700000000000001000", "1700000000000002000"];
    let error = with_times(&thousands, "").unwrap_err();
    assert!(error.message.contains("are 1000 apart, but 1024 in"), "{}", error.message);
}

#[test]
fn times_are_subtracted_before_they_are_rounded() {
    let file = with_times(&NANOSECONDS, "time-origin = \"1700000000000000000\"").unwrap();
    let times = &file.experiment.training.data.trajectories()[0].times;
    assert_eq!(*times, [0.0, 1.0, 301.0, 1000.0]);
    assert!(file.complete.contains("time-origin = \"1700000000000000000\""), "{}", file.complete);
    let tenths = ["1700000000.1", "1700000000.2", "1700000000.3"];
    let file = with_times(&tenths, "time-origin = \"1.7e9\"").unwrap();
    assert_eq!(file.experiment.training.data.trajectories()[0].times, [0.1, 0.2, 0.3]);
}

#[test]
fn what_the_digits_of_the_file_do_not_tell_apart_is_refused() {
    let same = ["1700000000000000000", "1700000000000000000.0", "1700000000000001000"];
    let error = with_times(&same, "time-origin = \"1700000000000000000\"").unwrap_err();
    assert!(error.message.contains("time 0 appears twice"), "{}", error.message);
    let error = with_times(&same, "").unwrap_err();
    assert!(error.message.contains("appears twice"), "{}", error.message);
    let error = with_times(&NANOSECONDS, "time-origin = \"noon\"").unwrap_err();
    assert!(error.message.contains("`noon` is not a time"), "{}", error.message);
}

#[test]
fn epoch_milliseconds_and_coarse_microseconds_need_no_origin() {
    for times in [
        ["1700000000000", "1700000001000", "1700000002000"],
        ["1700000000000000", "1700000000000100", "1700000000000300"],
        ["1700000000", "1700000000.0001", "1700000000.0002"],
    ] {
        assert!(with_times(&times, "").is_ok(), "{times:?}");
    }
}
