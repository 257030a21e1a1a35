//! Two processes in one folder: the second one is refused and changes nothing.
#![cfg(unix)]

use std::thread::sleep;
use std::time::Duration;

use lawful_experiment::files;

use crate::support::{Place, TINY, tiny};

fn longer() -> String {
    tiny("iterations = 40", "iterations = 2000000")
}

/// Waits until a file is in a folder below `parent`. Returns the folder's name.
fn wait_for(place: &Place, parent: &str, file: &str) -> String {
    for _ in 0..4000 {
        let names = place.names(parent);
        let found = names.iter().find(|name| place.exists(&format!("{parent}/{name}/{file}")));
        if let Some(name) = found.filter(|name| !name.starts_with('.')) {
            return format!("{parent}/{name}");
        }
        sleep(Duration::from_millis(5));
    }
    panic!("`{file}` does not come");
}

#[test]
fn a_run_in_training_is_not_resumed_by_a_second_process() {
    let place = Place::with(&longer());
    let mut child = place.start(&["train", "experiment.toml", "--quiet"]);
    let run = wait_for(&place, "runs", "last.safetensors");
    let said = place.lawful(["resume", &run]);
    assert_eq!((said.code, said.out.as_str()), (2, ""), "{}", said.err);
    let expected = format!("error: `{run}` is in use by process {}", child.id());
    assert!(said.err.starts_with(&expected), "{}", said.err);
    assert!(said.err.contains(" UTC\nhint: wait until it ends"), "{}", said.err);
    assert_eq!(place.lawful(["evaluate", &run]).code, 0, "it can be read");
    child.kill().unwrap();
    child.wait().unwrap();
    let rows = || -> Vec<usize> {
        let log = place.text(&format!("{run}/log.csv"));
        let whole = &log[..=log.rfind('\n').unwrap()];
        whole.lines().skip(1).map(|row| row.split(',').next().unwrap().parse().unwrap()).collect()
    };
    let found = rows();
    assert!(found.iter().copied().eq(0..found.len()), "one process wrote the log");

    // The lock of the killed process is taken over, and released at the end.
    assert!(place.exists(&format!("{run}/.lock")));
    let mut child = place.start(&["resume", &run, "--quiet"]);
    let holder = format!("process {}", child.id());
    let holds = |_: &u32| {
        sleep(Duration::from_millis(5));
        place.text(&format!("{run}/.lock")).starts_with(&holder)
    };
    assert!((0..2000).any(|n| holds(&n)));
    let said = place.lawful(["resume", &run]);
    assert!(said.code == 2 && said.err.contains(&holder), "{}", said.err);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_lock_is_gone_when_its_run_ends() {
    let (place, run) = Place::trained(TINY);
    assert!(!place.exists(&format!("{run}/.lock")));
    place.write(&format!("{run}/.lock"), "process 1 on `here`, since long ago\n");
    assert_eq!(place.lawful(["resume", &run, "--iterations", "50", "-q"]).code, 0);
    assert!(!place.exists(&format!("{run}/.lock")));
}

#[test]
fn a_comparison_refuses_a_second_one_in_its_folder() {
    let place = Place::with(&longer());
    let compare = ["compare", "experiment.toml", "--seeds", "1", "--jobs", "1", "--quiet"];
    let mut child = place.start(&compare);
    wait_for(&place, "compare/runs", "last.safetensors");
    let said = place.lawful(compare);
    assert_eq!((said.code, said.out.as_str()), (2, ""), "{}", said.err);
    let expected = format!("error: `compare` is in use by process {}", child.id());
    assert!(said.err.starts_with(&expected), "{}", said.err);
    child.kill().unwrap();
    child.wait().unwrap();
    place.write("experiment.toml", TINY);
    let said = place.lawful(compare);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(!place.exists("compare/.lock") && !place.exists("compare/runs/.lock"));
}

#[test]
fn a_reproduction_refuses_a_second_one_until_its_report_is_written() {
    let place = Place::new();
    let paper = |iterations| {
        let few = [
            "paper",
            "--system",
            "population",
            "--method",
            "vanilla",
            "--seeds",
            "1",
            "--jobs",
            "1",
        ];
        [&few[..], &["--iterations", iterations, "--quiet"]].concat()
    };
    let mut child = place.start(&paper("4000000000"));
    wait_for(&place, "paper/runs", "last.safetensors");
    let said = place.lawful(paper("3"));
    assert_eq!((said.code, said.out.as_str()), (2, ""), "{}", said.err);
    let expected = format!("error: `paper` is in use by process {}", child.id());
    assert!(said.err.starts_with(&expected), "{}", said.err);
    child.kill().unwrap();
    child.wait().unwrap();
    place.write("paper/.report.html.7.part", "half");
    assert_eq!(place.lawful(paper("3")).code, 0);
    assert!(!place.names("paper").iter().any(|name| name.starts_with('.')));
}

#[test]
fn a_lock_that_is_a_link_is_not_written_through() {
    let place = Place::with(TINY);
    place.write("elsewhere.txt", "kept");
    files::create_folder(&place.path("compare")).unwrap();
    std::os::unix::fs::symlink("../elsewhere.txt", place.path("compare/.lock")).unwrap();
    let said = place.lawful(["compare", "experiment.toml", "--seeds", "1", "-q"]);
    assert_eq!((said.code, said.out.as_str()), (2, ""), "{}", said.err);
    assert!(said.err.starts_with("error: `compare/.lock` is not a file"), "{}", said.err);
    assert_eq!(place.text("elsewhere.txt"), "kept");
}
