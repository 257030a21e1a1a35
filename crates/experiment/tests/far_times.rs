//! Times whose digits do not fit into a double: nanoseconds since 1970.
#![expect(clippy::unwrap_used, reason = "what a test's helper cannot do fails the test")]

use lawful_experiment::{Diagnostic, ExperimentFile, files, read, summary};

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
fn times_that_doubles_do_not_tell_apart_are_counted_from_the_first() {
    // A distance that is rounded to a fortieth more would be learned as a wrong speed.
    let thousands = ["1700000000000000000", "1700000000000001000", "1700000000000002000"];
    for (times, since) in
        [(&NANOSECONDS[..], &[0.0, 1.0, 301.0, 1000.0][..]), (&thousands, &[0.0, 1e3, 2e3])]
    {
        let file = with_times(times, "").unwrap();
        assert_eq!(*file.experiment.training.data.trajectories()[0].times, *since);
        assert_eq!(file.experiment.time_origin.text(), Some(times[0]));
        let shown = since.iter().map(|t| file.experiment.time_origin.shown(*t));
        assert_eq!(shown.collect::<Vec<_>>(), times);
        assert!(
            file.complete.contains("time-origin = \"1700000000000000000\""),
            "{}",
            file.complete
        );
        assert!(summary(&file.experiment).contains("are counted from 1700000000000000000"));
    }
}

#[test]
fn times_of_the_experiment_file_keep_their_digits() {
    let more = "[test.later]\nafter = 1700000000000000300\n";
    let file = with_times(&NANOSECONDS, more).unwrap();
    assert_eq!(file.experiment.training.data.trajectories()[0].times, [0.0, 1.0]);
    assert_eq!(file.experiment.tests[0].1.trajectories()[0].times, [0.0, 301.0, 1000.0]);
    assert!(file.complete.contains("after = 1700000000000000300"), "{}", file.complete);
    let halves = [
        "1700000000.00000001",
        "1700000000.00000002",
        "1700000000.00000003",
        "1700000000.00000004",
    ];
    let more = "[test.later]\nafter = \"1700000000.00000002\"\n";
    let file = with_times(&halves, more).unwrap();
    assert_eq!(file.experiment.tests[0].1.trajectories()[0].times, [0.0, 2e-8, 3e-8]);
    assert!(file.complete.contains("after = \"1700000000.00000002\""), "{}", file.complete);
    let error =
        with_times(&NANOSECONDS, "[test.later]\nafter = 1700000000000001000\n").unwrap_err();
    let expected =
        "no row comes after t = 1700000000000001000: the data end at 1700000000000001000";
    assert_eq!(error.message, expected);
}

#[test]
fn laws_and_known_rates_that_use_t_need_an_origin_that_is_written() {
    for more in [
        "[[law]]\nholds = \"x <= 5 + t\"\n",
        "[field]\nknown = { x = \"1 + t\" }\nlearn = [\"x\"]\n",
    ] {
        let error = with_times(&NANOSECONDS, more).unwrap_err();
        assert!(error.message.contains("uses `t`"), "{}", error.message);
        let hint = error.hint.unwrap();
        assert!(hint.contains("`time-origin = \"1700000000000000000\"` in [data]"), "{hint}");
        let more = format!("time-origin = \"1700000000000000000\"\n{more}");
        assert!(with_times(&NANOSECONDS, &more).is_ok(), "{more}");
    }
}

#[test]
fn times_too_far_from_the_origin_are_refused() {
    let error = with_times(&NANOSECONDS, "time-origin = \"0\"").unwrap_err();
    assert_eq!(
        error.message,
        "the times in lines 2 and 3 are 1 apart, but 0 in double precision, whose numbers are \
         2.6e2 apart there"
    );
    assert!(error.hint.unwrap().contains("times are counted from 0, which is too far away"));
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
