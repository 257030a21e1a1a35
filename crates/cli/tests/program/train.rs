//! `lawful train`.

use serde_json::Value;

use crate::support::{Place, TINY, beside_laws, tiny, with_data};

#[test]
fn stdout_is_the_run_folder_and_stderr_the_talk() {
    let place = Place::with(TINY);
    let said = place.lawful(["train", "experiment.toml"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let run = said.out.strip_suffix('\n').unwrap();
    assert!(run.starts_with("runs/tiny-self-adaptive-s3-"), "{run}");
    assert!(said.err.contains(&format!("training tiny, self-adaptive, seed 3 into {run}\n")));
    assert!(said.err.contains("  20/40  "), "{}", said.err);
    assert!(said.err.contains("violation"), "{}", said.err);
    assert!(said.err.contains(&format!("figures: {run}/figures")), "{}", said.err);
}

#[test]
fn the_run_folder_holds_everything_and_nothing_else() {
    let (place, run) = Place::trained(TINY);
    assert_eq!(
        place.names(&run),
        [
            "best.safetensors",
            "config.toml",
            "data",
            "figures",
            "last.safetensors",
            "log.csv",
            "manifest.json",
            "predictions-later.csv",
            "predictions-reconstruction.csv",
        ]
    );
    assert_eq!(place.names(&format!("{run}/data")), ["later.csv", "reconstruction.csv"]);
    let pictures = ["curves-later", "curves-reconstruction", "learning", "phase"];
    let pictures = pictures.iter().chain(&["residuals-later", "residuals-reconstruction"]);
    let expected: Vec<String> =
        pictures.flat_map(|name| [format!("{name}.png"), format!("{name}.svg")]).collect();
    assert_eq!(place.names(&format!("{run}/figures")), expected);
    assert_eq!(place.names("runs").len(), 1, "nothing hidden is left beside it");
}

#[test]
fn sets_whose_names_have_points_and_spaces_have_files_of_their_own() {
    let sets = "[test.\"noise 0.1\"]\ngrid = { from = 0, to = 2, points = 5 }\n\
                [test.\"noise 0.2\"]\ngrid = { from = 0, to = 3, points = 5 }\n[field]";
    let (place, run) = Place::trained(&tiny("[field]", sets));
    for set in ["noise 0.1", "noise 0.2"] {
        for file in ["figures/curves-SET.svg", "figures/residuals-SET.png", "predictions-SET.csv"] {
            assert!(
                place.exists(&format!("{run}/{}", file.replace("SET", set))),
                "{file} of {set}"
            );
        }
    }
}

#[test]
fn the_log_has_a_row_per_iteration_and_the_point_after_the_last() {
    let (place, run) = Place::trained(TINY);
    let log = place.text(&format!("{run}/log.csv"));
    let mut lines = log.lines();
    assert_eq!(
        lines.next().unwrap(),
        "iteration,value,fit,loss,violation,violation: energy never rises,\
         weight: energy never rises,rate-factor,verdict,event"
    );
    let first_cells: Vec<&str> = lines.map(|line| line.split(',').next().unwrap()).collect();
    let expected: Vec<String> = (0..=40).map(|n| n.to_string()).collect();
    assert_eq!(first_cells, expected);
}

#[test]
fn the_manifest_has_the_versions_and_how_the_run_ended() {
    let (place, run) = Place::trained(TINY);
    let manifest = place.manifest(&run);
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(manifest["status"], "finished");
    assert_eq!(manifest["reason"], "all iterations are done");
    assert_eq!((&manifest["iterations"], &manifest["done"]), (&40.into(), &40.into()));
    assert_eq!((&manifest["seed"], &manifest["model"]), (&3.into(), &"last".into()));
    assert!(manifest["seconds"].as_f64().unwrap() > 0.0);
    assert!(!manifest["kernels"].as_str().unwrap().is_empty());
    assert!(manifest["machine"]["cores"].as_u64().unwrap() > 0);
}

#[test]
fn the_config_in_the_run_folder_is_complete_and_trains_the_same() {
    let (place, run) = Place::trained(TINY);
    let config = place.text(&format!("{run}/config.toml"));
    assert!(config.contains("rtol = 1e-9"), "{config}");
    let other = Place::with(&config);
    let again = other.train(&[]);
    assert_eq!(other.repeatable(&again), place.repeatable(&run));
}

#[test]
fn a_second_run_has_a_folder_of_its_own() {
    let (place, run) = Place::trained(TINY);
    assert_eq!(place.train(&[]), format!("{run}-2"));
    assert_eq!(place.train(&[]), format!("{run}-3"));
}

#[test]
fn seed_and_folder_can_be_set() {
    let place = Place::with(TINY);
    let run = place.train(&["--seed", "12", "--out", "my runs/höhle"]);
    assert!(run.starts_with("my runs/höhle/tiny-self-adaptive-s12-"), "{run}");
    assert!(place.text(&format!("{run}/config.toml")).contains("seed = 12"));
    assert_eq!(place.lawful(["evaluate", &run]).code, 0);
    let said = place.lawful(["train", "experiment.toml", "--seed", "-1"]);
    assert_eq!(said.code, 2);
    assert!(!place.exists("runs"));
}

#[test]
fn json_has_the_scores_and_where_the_run_is() {
    let place = Place::with(TINY);
    let said = place.lawful(["train", "experiment.toml", "--json", "--quiet"]);
    assert_eq!((said.code, beside_laws(&said.err).as_str()), (0, ""));
    let value: Value = serde_json::from_str(&said.out).unwrap();
    let run = value["run"].as_str().unwrap();
    assert_eq!(value["status"], "finished");
    let evaluated = place.lawful(["evaluate", run, "--json"]);
    let evaluated: Value = serde_json::from_str(&evaluated.out).unwrap();
    assert_eq!(evaluated["sets"], value["sets"]);
}

#[test]
fn a_folder_stands_for_the_experiment_in_it_and_data_lie_beside_it() {
    let place = Place::new();
    let text = with_data("[data]\nfile = \"tables/some data.csv\"\n");
    place.write("deep/er/experiment.toml", &text);
    place.write("deep/er/tables/some data.csv", "t,x,v\n0,1,0\n0.5,0.9,-0.4\n1,,-0.8\n");
    let said = place.lawful(["train", "deep/er", "--quiet"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.starts_with("runs/tiny-"), "runs go to the current folder: {}", said.out);
}

#[test]
fn one_iteration_and_no_laws_are_fine() {
    let law = "[[law]]\nname = \"energy never rises\"\nholds = \"next(E) <= E\"\n";
    for text in [
        tiny("iterations = 40", "iterations = 1"),
        tiny(law, "").replace("self-adaptive", "vanilla"),
    ] {
        let (place, run) = Place::trained(&text);
        let said = place.lawful(["evaluate", &run]);
        assert_eq!(said.code, 0, "{}", said.err);
        assert!(said.out.contains("reconstruction"));
    }
}
