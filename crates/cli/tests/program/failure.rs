//! Training that fails: exit code 1, a reason, and the best model is kept.

use serde_json::Value;

use crate::support::{Place, TINY, tiny};

/// Trains an experiment that fails. Returns the run folder and the messages.
fn fails(place: &Place) -> (String, String) {
    let said = place.lawful(["train", "experiment.toml"]);
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(said.err.contains("error: training failed: "), "{}", said.err);
    assert!(said.err.contains("hint: try a smaller `rate`"), "{}", said.err);
    let quiet = place.lawful(["train", "experiment.toml", "--quiet"]);
    assert_eq!(quiet.code, 1);
    assert!(quiet.err.starts_with("error: training failed: "), "{}", quiet.err);
    (said.out.trim().to_owned(), said.err)
}

#[test]
fn a_huge_rate_stops_with_a_reason_and_keeps_the_best_model() {
    let text = tiny("rate = 1e-2", "rate = 1e150")
        .replace("activations = \"tanh\"", "activations = \"relu\"")
        .replace("iterations = 40", "iterations = 200");
    let place = Place::with(&text);
    let (run, err) = fails(&place);
    let manifest = place.manifest(&run);
    assert_eq!((&manifest["status"], &manifest["model"]), (&"failed".into(), &"best".into()));
    let reason = manifest["reason"].as_str().unwrap();
    assert!(reason.starts_with("too many evaluations failed in a row; the last one: "), "{reason}");
    assert!(err.contains(reason));
    assert_eq!(manifest["failures"], 20);
    assert!(err.contains("step taken back, rate now times 0.5: "), "{err}");
    assert!(err.contains("further events are in `log.csv`"), "{err}");
    let log = place.text(&format!("{run}/log.csv"));
    assert_eq!(log.matches("step taken back").count(), 20);
    let said = place.lawful(["evaluate", &run]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.starts_with("best model, iteration 0\n"), "{}", said.err);
    assert_eq!(place.lawful(["evaluate", &run, "--model", "last"]).code, 0);
    assert!(place.exists(&format!("{run}/figures/learning.png")));
}

#[test]
fn a_run_that_failed_can_be_resumed_at_its_lower_rate() {
    let text = tiny("rate = 1e-2", "rate = 3e4")
        .replace("activations = \"tanh\"", "activations = \"relu\"")
        .replace("hidden = [6]", "hidden = [6, 6, 6]")
        .replace("schedule = \"cosine\"", "schedule = \"constant\"")
        .replace("iterations = 40", "iterations = 300");
    let place = Place::with(&text);
    let first = place.lawful(["train", "experiment.toml", "-q"]);
    assert!([0, 1].contains(&first.code), "{}", first.err);
    let run = first.out.trim();
    let mut status = place.manifest(run)["status"].clone();
    for _ in 0..5 {
        if status == "finished" {
            break;
        }
        let said = place.lawful(["resume", run, "-q"]);
        assert!([0, 1].contains(&said.code), "{}", said.err);
        status = place.manifest(run)["status"].clone();
        assert_eq!(said.code == 0, status == "finished");
    }
    assert_eq!(status, "finished");
    assert_eq!(place.manifest(run)["model"], "last", "the usual model is selected again");
}

#[test]
fn an_initial_point_that_cannot_be_solved_is_reported_and_can_be_evaluated() {
    let wild = "activations = \"relu\"\ninit = { kind = \"normal\", std = 1e60 }";
    let text = tiny("activations = \"tanh\"", wild).replace("hidden = [6]", "hidden = [6, 6, 6]");
    let place = Place::with(&text);
    let (run, _) = fails(&place);
    let manifest = place.manifest(&run);
    let reason = manifest["reason"].as_str().unwrap();
    assert!(reason.starts_with("the initial weights cannot be evaluated: "), "{reason}");
    let names = place.names(&run);
    assert!(!names.contains(&"best.safetensors".to_owned()), "no point was the best");
    let said = place.lawful(["evaluate", &run, "--json"]);
    assert_eq!(said.code, 1);
    let value: Value = serde_json::from_str(&said.out).unwrap();
    assert!(value["sets"]["reconstruction"]["mse"].is_null());
    assert!(value["sets"]["later"]["failed"].is_string());
    assert!(said.err.contains("error: reconstruction could not be solved: "), "{}", said.err);
}

#[test]
fn a_test_set_that_cannot_be_solved_leaves_the_others() {
    // One weight matrix with positive eigenvalues grows without bound: only the long test overflows.
    let grown = "activations = \"identity\"\ninit = { kind = \"normal\", std = 3.0 }";
    let text = tiny("activations = \"tanh\"", grown)
        .replace("iterations = 40", "iterations = 1")
        .replace("to = 5, ", "to = 0.1, ")
        .replace("to = 8, ", "to = 1e4, ");
    let place = Place::with(&text);
    let said = place.lawful(["train", "experiment.toml", "--quiet"]);
    assert_eq!(said.code, 1, "a test failed");
    assert!(said.err.contains("error: later could not be solved: "), "{}", said.err);
    let run = said.out.trim();
    assert_eq!(place.manifest(run)["status"], "finished", "training did not fail");
    assert!(place.exists(&format!("{run}/predictions-reconstruction.csv")));
    assert!(!place.exists(&format!("{run}/predictions-later.csv")));
    let picture = place.text(&format!("{run}/figures/curves-later.svg"));
    assert!(picture.contains("predicted (could not be solved)"), "the picture says so");
    assert!(!place.exists(&format!("{run}/figures/residuals-later.png")));
    let said = place.lawful(["evaluate", run]);
    assert_eq!(said.code, 1);
    let row = said.out.lines().find(|line| line.starts_with("later")).unwrap();
    assert!(row.contains("failed"), "{row}");
    assert!(said.err.contains("error: later could not be solved: "), "{}", said.err);
}

#[test]
fn a_run_that_failed_under_lbfgs_is_not_told_to_change_the_rate() {
    let adam = "optimiser = { kind = \"adam\", rate = 1e-2, schedule = \"cosine\" }";
    let wild = "activations = \"relu\"\ninit = { kind = \"normal\", std = 1e60 }";
    let text = tiny("activations = \"tanh\"", wild)
        .replace("hidden = [6]", "hidden = [6, 6, 6]")
        .replace(adam, "optimiser = \"lbfgs\"")
        .replace("kind = \"self-adaptive\"", "kind = \"vanilla\"");
    let place = Place::with(&text);
    let said = place.lawful(["train", "experiment.toml", "-q"]);
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(
        said.err.contains("hint: try a first phase with `optimiser = \"adam\""),
        "{}",
        said.err
    );
    assert!(!said.err.contains("`rate`") && !said.err.contains("`clip`"), "{}", said.err);
}

#[test]
fn no_setting_within_range_makes_the_program_panic() {
    for (part, with) in [
        ("rate = 1e-2", "rate = 1e300"),
        ("rate = 1e-2", "rate = 1e6"),
        ("to = 5, ", "to = 1e4, "),
        ("x = 1, v = 0", "x = 1e200, v = 0"),
        ("next(E) <= E", "exp(exp(10*x)) <= 0"),
        ("next(E) <= E", "1/(x - x) <= ln(-1 - v^2)"),
    ] {
        let place = Place::with(&TINY.replace(part, with));
        let said = place.lawful(["train", "experiment.toml"]);
        assert!([0, 1, 2].contains(&said.code), "{part} → {with}: {}", said.err);
        assert!(!said.err.contains("panicked"), "{part} → {with}: {}", said.err);
    }
}
