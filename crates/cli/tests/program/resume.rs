//! `lawful resume` of runs that have ended.

use lawful_experiment::files;
use serde_json::Value;

use crate::support::{Place, TINY, assert_same, beside_laws, tiny};

#[test]
fn a_finished_run_is_reported_and_unchanged() {
    let (place, run) = Place::trained(TINY);
    let before = (place.repeatable(&run), place.manifest(&run));
    let said = place.lawful(["resume", &run]);
    assert_eq!((said.code, said.out), (0, format!("{run}\n")));
    assert_eq!(
        beside_laws(&said.err),
        "this run is finished: 40 iterations are done\nhint: `--iterations 80` extends it\n"
    );
    assert_eq!((place.repeatable(&run), place.manifest(&run)), before);
    let same = place.lawful(["resume", &run, "--iterations", "40", "--quiet", "--json"]);
    assert_eq!((same.code, beside_laws(&same.err).as_str()), (0, ""));
    let value: Value = serde_json::from_str(&same.out).unwrap();
    assert_eq!(value["status"], "finished");
    assert!(value["sets"]["reconstruction"]["mse"].is_f64());
}

#[test]
fn an_extension_is_recorded_and_continues_at_the_last_rate() {
    let (place, run) = Place::trained(TINY);
    let said = place.lawful(["resume", &run, "--iterations", "60"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("at iteration 40, in "), "{}", said.err);
    let extended = place.manifest(&run);
    assert_eq!(extended["extended-from"], serde_json::json!([40]));
    assert_eq!((&extended["iterations"], &extended["done"]), (&60.into(), &60.into()));
    let log = place.text(&format!("{run}/log.csv"));
    let factors: Vec<f64> =
        log.lines().skip(1).map(|row| row.split(',').nth(7).unwrap().parse().unwrap()).collect();
    assert_eq!(factors.len(), 61);
    assert!((factors[39] - 0.01).abs() > 1e-4, "before the end the cosine still falls");
    assert!(factors[40..].iter().all(|factor| (factor - 0.01).abs() < 1e-15), "{factors:?}");
    let config = place.text(&format!("{run}/config.toml"));
    assert!(config.contains("iterations = 40"), "the experiment stays as it was");
}

#[test]
fn extensions_in_steps_equal_one_extension() {
    let (place, one) = Place::trained(TINY);
    let steps = place.train(&[]);
    for (run, iterations) in [(&one, "70"), (&steps, "55"), (&steps, "70")] {
        let said = place.lawful(["resume", run, "--iterations", iterations, "-q"]);
        assert_eq!((said.code, beside_laws(&said.err).as_str()), (0, ""));
    }
    assert_same(&place.repeatable(&one), &place.repeatable(&steps));
    assert_eq!(place.manifest(&steps)["extended-from"], serde_json::json!([40, 55]));
}

#[test]
fn with_batches_and_best_point_an_extension_equals_a_longer_constant_run() {
    for change in ["batch = { windows = 2, rows = 5 }\n", "", "[strategy]\nbest-point = true\n"] {
        let text = tiny(", schedule = \"cosine\"", "");
        let text = match change {
            "" => text,
            change if change.starts_with('[') => text.replace("[strategy]\n", change),
            change => text.replace("iterations = 40", &format!("{change}iterations = 40")),
        };
        let (place, short) = Place::trained(&text);
        let said = place.lawful(["resume", &short, "--iterations", "90", "-q"]);
        assert_eq!(said.code, 0, "{}", said.err);
        place.write("experiment.toml", &text.replace("iterations = 40", "iterations = 90"));
        let long = place.train(&[]);
        for file in ["log.csv", "best.safetensors", "last.safetensors", "predictions-later.csv"] {
            let bytes = |run: &str| place.bytes(&format!("{run}/{file}"));
            assert!(bytes(&short) == bytes(&long), "{file} differs with `{change}`");
        }
    }
}

#[test]
fn fewer_iterations_than_planned_are_refused() {
    let (place, run) = Place::trained(TINY);
    let said = place.lawful(["resume", &run, "--iterations", "10"]);
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert_eq!(
        said.err,
        "error: this run has 40 iterations; 10 is less\n\
         hint: give the total number of iterations, for example twice as many\n"
    );
}

/// What a kill between the last checkpoint and the last manifest leaves.
fn unfinish(place: &Place, run: &str) {
    let manifest = place.text(&format!("{run}/manifest.json"));
    let running = manifest.replace("\"finished\"", "\"running\"");
    assert_ne!(running, manifest);
    place.write_manifest(run, &running);
}

#[test]
fn the_same_extension_again_trains_nothing() {
    let remedies = tiny("seed = 3", "seed = 3\nremedies = true");
    let validated = tiny("seed = 3", "seed = 3\nvalidation = 0.2");
    // It ends at 430.
    let early = validated.replace("iterations = 40", "iterations = 3000");
    let plain = TINY.to_owned();
    for (text, asked) in [(plain, "60"), (remedies, "300"), (validated, "3000"), (early, "1500")] {
        let (place, run) = Place::trained(&text);
        let said = place.lawful(["resume", &run, "--iterations", asked, "-q"]);
        assert_eq!(said.code, 0, "{}", said.err);
        let (files, manifest) = (place.repeatable(&run), place.manifest(&run));
        for killed in [false, true] {
            if killed {
                unfinish(&place, &run);
            }
            let said = place.lawful(["resume", &run, "--iterations", asked, "-q"]);
            assert_eq!(said.code, 0, "{}", said.err);
            assert_same(&place.repeatable(&run), &files);
            for key in ["extended-by", "extended-from", "iterations", "done", "status"] {
                assert_eq!(place.manifest(&run)[key], manifest[key], "{key}, killed: {killed}");
            }
        }
    }
}

#[test]
fn an_extension_of_a_run_that_ended_early_plans_what_was_asked_for() {
    // It ends at 430 of 3000.
    let text = tiny("seed = 3", "seed = 3\nvalidation = 0.2");
    let (place, run) = Place::trained(&text.replace("iterations = 40", "iterations = 3000"));
    let done = place.manifest(&run)["done"].as_u64().unwrap();
    assert!(done < 2000, "{done}");
    let said = place.lawful(["resume", &run, "--iterations", &(done + 7).to_string()]);
    assert_eq!(said.code, 0, "{}", said.err);
    let manifest = place.manifest(&run);
    assert_eq!(manifest["extended-last"], done + 7, "not 3000");
    assert_eq!(
        (&manifest["extended-to"], &manifest["extended-by"]),
        (&(done + 7).into(), &0.into())
    );
    assert!(manifest["done"].as_u64().unwrap() <= done + 7);
}

#[test]
fn an_extension_that_was_killed_before_its_first_checkpoint_begins_again() {
    let (place, run) = Place::trained(TINY);
    let last = place.path(&format!("{run}/last.safetensors"));
    let before = files::read(&last).unwrap();
    assert_eq!(place.lawful(["resume", &run, "--iterations", "60", "-q"]).code, 0);
    let whole = place.repeatable(&run);
    unfinish(&place, &run);
    files::write(&last, &before).unwrap();
    assert_eq!(place.lawful(["resume", &run, "--iterations", "60", "-q"]).code, 0);
    assert_same(&place.repeatable(&run), &whole);
}

#[test]
fn a_run_without_its_checkpoint_is_not_extended() {
    let (place, run) = Place::trained(TINY);
    files::remove(&place.path(&format!("{run}/last.safetensors"))).unwrap();
    let said = place.lawful(["resume", &run, "--iterations", "60", "-q"]);
    assert_eq!((said.code, said.out.as_str()), (2, ""), "{}", said.err);
    assert!(said.err.contains("has no `last.safetensors`"), "{}", said.err);
}
