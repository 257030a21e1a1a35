//! `lawful evaluate`.

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::{Place, TINY, beside_laws, tiny};

#[test]
fn the_table_has_every_set_every_law_and_the_solver() {
    let (place, run) = Place::trained(TINY);
    let said = place.lawful(["evaluate", &run]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(beside_laws(&said.err), "last model, iteration 40\n\n");
    // Only the layout: digits differ between processors.
    let digits = |c: char| if c.is_ascii_digit() { '0' } else { c };
    assert_snapshot!(said.out.chars().map(digits).collect::<String>(), @"
    set             rows  from  to    mse  violation  largest
    reconstruction    00     0   0  0.000     0.0000   0.0000
    later             00     0   0  0.000     0.0000   0.0000

    law                 set             mean violation  largest  steps violated
    energy never rises  reconstruction          0.0000   0.0000          00.0 %
                        later                   0.0000   0.0000          00.0 %

    law                 verdict  where                                                         violation  of its size
    energy never rises  broken   from t = 0.000 to t = 0 on `later`, beyond the training data      0.000        000 %

    MSE with the training solver: 0.000; mean squared difference between the training and the prediction solver: 0.00e-00 (both on reconstruction)
    ");
}

#[test]
fn json_is_as_documented_with_the_training_set_first() {
    let (place, run) = Place::trained(TINY);
    let said = place.lawful(["evaluate", &run, "--json"]);
    assert_eq!((said.code, beside_laws(&said.err).as_str()), (0, ""));
    let value: Value = serde_json::from_str(&said.out).unwrap();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&value), ["sets", "laws", "unsolved", "discretisation"]);
    assert_eq!(
        keys(&value["laws"][0]),
        [
            "name",
            "holds",
            "status",
            "violation",
            "percent",
            "size",
            "tolerance",
            "start",
            "rows",
            "measured",
            "points",
            "place"
        ]
    );
    assert_eq!(keys(&value["sets"]), ["reconstruction", "later"]);
    for (_, set) in value["sets"].as_object().unwrap() {
        assert_eq!(keys(set), ["mse", "violation", "violation_max", "laws"]);
        assert_eq!(keys(&set["laws"]), ["energy never rises"]);
        let law = &set["laws"]["energy never rises"];
        assert_eq!(keys(law), ["mean", "max", "share"]);
        assert_eq!(law["mean"], set["violation"], "one law is the whole violation");
        assert_eq!(law["max"], set["violation_max"]);
        assert!(set["mse"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn the_violation_is_the_sum_over_laws_of_the_mean() {
    let more = "[[law]]\nname = \"in bounds\"\nholds = \"-0.1 <= x <= 0.1\"\n[data";
    let (place, run) = Place::trained(&TINY.replacen("[data", more, 1));
    let said = place.lawful(["evaluate", &run, "--json"]);
    let value: Value = serde_json::from_str(&said.out).unwrap();
    let set = &value["sets"]["reconstruction"];
    let laws = set["laws"].as_object().unwrap();
    let names: Vec<&String> = laws.keys().collect();
    assert_eq!(names, ["energy never rises", "in bounds (-0.1 <= x)", "in bounds (x <= 0.1)"]);
    let sum: f64 = laws.values().map(|law| law["mean"].as_f64().unwrap()).sum();
    assert!((sum - set["violation"].as_f64().unwrap()).abs() < 1e-15);
    let largest = laws.values().map(|law| law["max"].as_f64().unwrap()).fold(0.0, f64::max);
    assert_eq!(set["violation_max"].as_f64(), Some(largest));
}

#[test]
fn the_error_is_that_of_the_written_predictions() {
    let (place, run) = Place::trained(TINY);
    let said = place.lawful(["evaluate", &run, "--json"]);
    let value: Value = serde_json::from_str(&said.out).unwrap();
    for set in ["reconstruction", "later"] {
        let cells = |file: String| -> Vec<f64> {
            let text = place.text(&file);
            let rows = text.lines().skip(1);
            rows.flat_map(|row| {
                row.split(',').skip(2).take(2).map(|x| x.parse().unwrap()).collect::<Vec<f64>>()
            })
            .collect()
        };
        let measured = cells(format!("{run}/data/{set}.csv"));
        let predicted = cells(format!("{run}/predictions-{set}.csv"));
        assert_eq!(measured.len(), predicted.len());
        let squares = measured.iter().zip(&predicted).map(|(m, p)| (m - p).powi(2));
        let mse = squares.sum::<f64>() / measured.len() as f64;
        let said = value["sets"][set]["mse"].as_f64().unwrap();
        assert!((mse - said).abs() <= 1e-12 * mse, "{set}: {mse} is not {said}");
    }
}

#[test]
fn a_model_that_learned_its_coarse_steps_is_warned_about() {
    // Data made with Euler steps are learned by Euler steps: the exact flow of that model is another.
    let text = tiny("[strategy]", "[solver]\nmethod = \"euler\"\n[strategy]")
        .replace("[test", "method = \"euler\"\n[test")
        .replace("activations = \"tanh\"", "activations = \"identity\"")
        .replace("iterations = 40", "iterations = 400");
    let place = Place::with(&text);
    let trained = place.lawful(["train", "experiment.toml"]);
    assert_eq!(trained.code, 0);
    let said = place.lawful(["evaluate", trained.out.trim()]);
    assert_eq!(said.code, 0);
    for err in [&said.err, &trained.err] {
        assert!(
            err.contains("warning: the difference between the two solvers is larger than the MSE"),
            "{err}"
        );
        assert!(err.contains("hint: train with `substeps = 2`"), "{err}");
    }
    let (place, run) = Place::trained(TINY);
    let said = place.lawful(["evaluate", &run]);
    assert!(!beside_laws(&said.err).contains("warning"), "{}", said.err);
}

#[test]
fn each_model_can_be_selected_and_best_point_makes_the_best_the_default() {
    let (place, run) = Place::trained(TINY);
    let which = |run: &str, options: &[&str]| {
        let said = place.lawful([&["evaluate", run], options].concat());
        assert_eq!(said.code, 0, "{}", said.err);
        said.err.lines().next().unwrap().split(" model").next().unwrap().to_owned()
    };
    assert_eq!(which(&run, &[]), "last");
    assert_eq!(which(&run, &["--model", "best"]), "best");
    assert_eq!(which(&run, &["--model", "last"]), "last");
    place.write("best.toml", &tiny("[training]", "best-point = true\n[training]"));
    let said = place.lawful(["train", "best.toml"]);
    assert!(said.err.contains("best point: iteration "), "{}", said.err);
    let run = said.out.trim();
    assert!(run.contains("-self-adaptive-best-s3-"), "{run}");
    assert_eq!(which(run, &[]), "best");
}
