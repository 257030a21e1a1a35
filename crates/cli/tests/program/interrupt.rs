//! Runs that are stopped half-way: by Ctrl-C, by kill −9, before, during and after training.
#![cfg(unix)]

use std::io::Read;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::Duration;

use lawful_experiment::files;

use crate::support::{Place, TINY, assert_same, tiny};

/// Long enough to be interrupted.
fn longer() -> String {
    tiny("iterations = 40", "iterations = 20000")
}

/// Waits until a file is in the newest run folder. Returns the folder.
fn wait_for(place: &Place, file: &str) -> String {
    for _ in 0..2000 {
        let runs = place.names("runs");
        let runs: Vec<&String> = runs.iter().filter(|name| !name.starts_with('.')).collect();
        if let Some(run) = runs.last()
            && place.exists(&format!("runs/{run}/{file}"))
        {
            return format!("runs/{run}");
        }
        sleep(Duration::from_millis(5));
    }
    panic!("`{file}` does not come");
}

fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

fn rows(place: &Place, run: &str) -> usize {
    place.text(&format!("{run}/log.csv")).lines().count() - 1
}

#[test]
fn resume_gives_the_same_bytes_as_no_pause() {
    let place = Place::with(&longer());
    let whole = place.train(&["--out", "whole"]);
    let mut child = place.start(&["train", "experiment.toml"]);
    let run = wait_for(&place, "last.safetensors");
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let (mut out, mut err) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!(out, format!("{run}\n"));
    assert!(err.contains(&format!("to resume: lawful resume {run}\n")), "{err}");
    let manifest = place.manifest(&run);
    assert_eq!(
        (&manifest["status"], &manifest["reason"]),
        (&"interrupted".into(), &"stopped by the user".into())
    );
    let done = usize::try_from(manifest["done"].as_u64().unwrap()).unwrap();
    assert!(done < 20_000 && rows(&place, &run) == done + 1, "{done}");
    assert_eq!(place.lawful(["evaluate", &run]).code, 0, "its models can be used");
    assert_eq!(place.lawful(["evaluate", &run, "--model", "best"]).code, 0);
    let said = place.lawful(["resume", &run, "--quiet"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert_same(&place.repeatable(&run), &place.repeatable(&whole));
}

#[test]
fn runs_killed_at_any_moment_end_with_the_same_bytes() {
    for (number, change) in [
        longer(),
        longer().replace("seed = 3", "seed = 3\nbatch = { windows = 3, rows = 6 }"),
        longer().replace("[training]", "best-point = true\nbacktrack = true\n[training]"),
    ]
    .into_iter()
    .enumerate()
    {
        let place = Place::with(&change);
        let whole = place.train(&["--out", "whole"]);
        let mut child = place.start(&["train", "experiment.toml", "--quiet"]);
        let run = wait_for(&place, "manifest.json");
        for pause in [0, 30, 90, 170, 260] {
            sleep(Duration::from_millis(pause + 7 * number as u64));
            child.kill().unwrap();
            child.wait().unwrap();
            child = place.start(&["resume", &run, "--quiet"]);
        }
        assert!(child.wait().unwrap().success());
        assert_eq!(place.lawful(["resume", &run]).code, 0);
        assert_same(&place.repeatable(&run), &place.repeatable(&whole));
    }
}

#[test]
fn a_run_killed_before_its_first_checkpoint_starts_again() {
    let (place, run) = Place::trained(TINY);
    let whole = place.repeatable(&run);
    for file in ["last.safetensors", "best.safetensors"] {
        files::remove(&place.path(&format!("{run}/{file}"))).unwrap();
    }
    let manifest = place.text(&format!("{run}/manifest.json"));
    place.write_manifest(&run, &manifest.replace("\"finished\"", "\"running\""));
    let log = place.text(&format!("{run}/log.csv"));
    place.write(&format!("{run}/log.csv"), &log[..log.len() / 2]);
    assert_eq!(place.lawful(["evaluate", &run]).code, 2, "there is no model yet");
    assert_eq!(place.lawful(["resume", &run, "-q"]).code, 0);
    assert_same(&place.repeatable(&run), &whole);
}

#[test]
fn a_run_killed_before_its_pictures_gets_them_from_resume() {
    let place = Place::with(&longer());
    let whole = place.train(&["--out", "whole"]);
    let mut child = place.start(&["train", "experiment.toml", "--quiet"]);
    let run = wait_for(&place, "predictions-reconstruction.csv");
    child.kill().unwrap();
    child.wait().unwrap();
    let pictures = place.names(&format!("{run}/figures")).len();
    assert!(pictures < place.names(&format!("{whole}/figures")).len(), "killed too late");
    let said = place.lawful(["resume", &run, "-q"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert_same(&place.repeatable(&run), &place.repeatable(&whole));
}

#[test]
fn what_a_killed_program_left_half_written_is_removed() {
    let (place, run) = Place::trained(TINY);
    place.write(&format!("{run}/.last.safetensors.123.part"), "half");
    place.write(&format!("{run}/figures/.phase.png.123.part"), "half");
    assert_eq!(place.lawful(["resume", &run, "--iterations", "45", "-q"]).code, 0);
    let hidden = |folder: &str| place.names(folder).iter().any(|name| name.starts_with('.'));
    assert!(!hidden(&run) && !hidden(&format!("{run}/figures")));
}
