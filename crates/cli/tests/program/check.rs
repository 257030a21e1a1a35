//! `lawful check`.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::{Place, TINY, tiny, with_data};

#[test]
fn check_prints_a_summary_and_writes_nothing() {
    let place = Place::with(TINY);
    let said = place.lawful(["check", "experiment.toml"]);
    assert_eq!(said.code, 0);
    assert_snapshot!(said.out, @"
    experiment  tiny
    state       x, v
    define      E = v^2/2 + x^2/2
    law         energy never rises: next(E) <= E (inequality)
                holds at all 19 steps of the data
    data        reconstruction (the training set): 20 rows, t from 0 to 5
    test        later: 30 rows, t from 0 to 8
    network     2 – 6 tanh – 2, 32 parameters, double precision
    solver      rk4-38, one step per data interval
    prediction  dopri5, adaptive, rtol 1e-9, atol 1e-11
    strategy    self-adaptive, tolerance 1e-4
    training    loss mse, scaled to order one, seed 3
    phase       Adam, full trajectories, 40 iterations, rate 0.01, falling as a cosine to 1.00e-4
    audit       energy never rises: agrees with the data
    ");
    assert_eq!(said.err, "\nno errors found; to train: lawful train experiment.toml\n");
    assert_eq!(place.names(""), ["experiment.toml"]);
}

#[test]
fn check_prints_how_far_the_data_violate_a_law() {
    let law = "[[law]]\nname = \"b\"\nholds = \"-2 <= x <= 2\"\n[[law]]\nholds = \"x >= 0\"\n[[law]]\nname = \"a\"\nholds = \"x == x*x/x\"\n[data";
    let place = Place::with(&TINY.replace("[data", law));
    let said = place.lawful(["check", "."]);
    assert_eq!(said.code, 0, "{}", said.err);
    let about = said.out.lines().filter(|line| line.starts_with("law  ") || line.starts_with(' '));
    assert_snapshot!(about.collect::<Vec<_>>().join("\n"), @"
    law         energy never rises: next(E) <= E (inequality)
                holds at all 19 steps of the data
    law         b: -2 <= x (inequality)
                holds at all 20 steps of the data
    law         b: x <= 2 (inequality)
                holds at all 20 steps of the data
    law         x >= 0 (inequality)
                the data themselves violate it at 12 of 20 steps, by 0.324 on average and 0.854 at most
    law         a: x == x*x/x (equality)
                holds at all 20 steps of the data, up to rounding
    ");
}

#[test]
fn the_complete_experiment_means_the_same() {
    let place = Place::with(TINY);
    let complete = place.lawful(["check", "experiment.toml", "--complete"]);
    assert_eq!((complete.code, complete.err.as_str()), (0, ""));
    place.write("complete.toml", &complete.out);
    let again = place.lawful(["check", "complete.toml", "--complete"]);
    assert_eq!(again.out, complete.out);
    let words = |file: &str| place.lawful(["check", file]).out;
    assert_eq!(words("complete.toml"), words("experiment.toml"));
}

#[test]
fn a_law_without_a_value_on_the_data_is_refused_where_it_stands() {
    for (law, what) in [("v/0 <= 1", "infinite"), ("sqrt(x - 2) <= 1", "not a number")] {
        let place = Place::with(&tiny("next(E) <= E", law));
        for command in ["check", "train"] {
            let said = place.lawful([command, "experiment.toml"]);
            assert_eq!((said.code, said.out.as_str()), (2, ""), "{law}: {}", said.err);
            let begin = "error: the law `energy never rises` has no finite value on the data \
                         (20 complete steps): it is ";
            assert!(said.err.starts_with(begin), "{}", said.err);
            let first = [what, "not a number"].map(|what| format!("{what} at t = 0, x = 1, v = 0"));
            assert!(first.iter().any(|first| said.err.contains(first)), "{}", said.err);
            assert!(said.err.contains("experiment.toml:7:"), "{}", said.err);
            assert!(said.err.contains("hint: check where it is defined"), "{}", said.err);
        }
        assert_eq!(place.names(""), ["experiment.toml"]);
    }
}

#[test]
fn a_law_without_a_value_on_some_rows_is_a_warning() {
    let place = Place::with(&tiny("next(E) <= E", "sqrt(x) <= 1"));
    let said = place.lawful(["check", "experiment.toml"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let warning = "            warning: it has no finite value at 12 steps, first at t = ";
    assert!(said.out.contains(warning), "{}", said.out);
}

#[test]
fn a_law_on_a_state_that_is_not_measured_is_not_refused() {
    let data = "[data]\nfile = \"d.csv\"\n";
    let text = with_data(data).replace("next(E) <= E", "sqrt(v - 2) <= 1");
    let place = Place::with(&text.replace("seed = 3", "seed = 3\ninitial-state = true"));
    place.write("d.csv", "t,x,v\n0,1,\n1,0.5,\n2,0.2,\n3,0.3,\n4,0.1,\n");
    let said = place.lawful(["check", "experiment.toml"]);
    assert!(!said.err.contains("no finite value"), "{}", said.err);
}

#[test]
fn states_whose_squares_overflow_or_vanish_are_refused() {
    for (size, how) in [("1e300", "overflow"), ("4e-310", "vanish")] {
        let place = Place::with(&with_data("[data]\nfile = \"d.csv\"\n"));
        let rows: Vec<String> = (0..9).map(|n| format!("{n},{size},1\n")).collect();
        place.write("d.csv", &format!("t,x,v\n{}", rows.concat()));
        let said = place.lawful(["check", "experiment.toml"]);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{}", said.err);
        let power = if how == "overflow" { "1e300" } else { "1e-310" };
        for part in [
            "error: the values of `x` are so ".to_owned(),
            format!("that their squares {how} in double precision: the largest is at t = 0, x = "),
            "experiment.toml:".to_owned(),
            format!("units: divide it by {power}, also in laws and equations"),
        ] {
            assert!(said.err.contains(&part), "{part}: {}", said.err);
        }
    }
}

#[test]
fn a_stiff_simulation_fails_with_time_state_and_a_way_out() {
    let place = Place::with(&tiny("-0.1*v - x", "-1e9*(v - cos(t))"));
    let said = place.lawful(["check", "experiment.toml"]);
    assert_eq!((said.code, said.out.as_str()), (2, ""), "{}", said.err);
    for part in [
        "the simulation of trajectory `1` failed: 500000 steps did not reach t = 5",
        "they ended at t = ",
        "y = [",
        "experiment.toml:9:",
        "hint: the equations may be stiff: ",
        "a shorter `grid`",
        "`method = \"rk4\"`",
    ] {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }
}

#[test]
fn strict_fails_for_a_law_without_a_value_on_some_rows() {
    let place = Place::with(&tiny("next(E) <= E", "sqrt(x) <= 1"));
    let said = place.lawful(["check", "experiment.toml", "--strict"]);
    assert_eq!(said.code, 1);
    let fault =
        "error: the law `energy never rises` has no finite value at 12 steps, first at t = ";
    assert!(said.err.starts_with(fault), "{}", said.err);
    assert!(!said.err.contains("no errors found"), "{}", said.err);
    let place = Place::with(TINY);
    let said = place.lawful(["check", "experiment.toml", "--strict"]);
    assert_eq!(said.code, 0, "{}", said.err);
}

#[test]
fn json_has_what_the_summary_says() {
    let place = Place::with(&tiny("next(E) <= E", "sqrt(x) <= 1"));
    let said = place.lawful(["check", "experiment.toml", "--json"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    let value: Value = serde_json::from_str(&said.out).unwrap();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(
        keys(&value),
        [
            "experiment",
            "state",
            "inputs",
            "laws",
            "sets",
            "parameters",
            "recipe",
            "remarks",
            "phases",
            "faults",
            "settings"
        ]
    );
    let law = &value["laws"][0];
    assert_eq!(law["name"], "energy never rises");
    assert_eq!((&law["data"]["steps"], &law["data"]["undefined"]), (&json!(8), &json!(12)));
    assert_eq!(law["data"]["violated"], 0);
    assert_eq!(value["faults"].as_array().map(Vec::len), Some(1));
    assert_eq!(keys(&value["sets"]), ["reconstruction", "later"]);
    assert_eq!(value["sets"]["later"]["rows"], 30);
    assert_eq!(value["parameters"], 32);
    assert_eq!(value["settings"]["training"]["seed"], 3);
    let both = place.lawful(["check", "experiment.toml", "--json", "--complete"]);
    assert_eq!(both.code, 2, "{}", both.err);
}

#[test]
fn a_law_that_contradicts_the_data_is_a_warning_and_an_error_when_strict() {
    let place = Place::with(&tiny("next(E) <= E", "x <= 0.5"));
    let said = place.lawful(["check", "experiment.toml"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let line = "audit       energy never rises: contradicts the data (misfit 0.578, noise up to ";
    assert!(said.out.contains(line), "{}", said.out);
    let warning = "warning: the law `energy never rises` contradicts the data: at t = 0, `x` is 1.00 and \
                   would have to be 0.500";
    assert!(said.err.starts_with(warning), "{}", said.err);
    assert!(said.err.contains("\nhint: correct the law or the data"), "{}", said.err);
    let strict = place.lawful(["check", "experiment.toml", "--strict"]);
    assert_eq!(strict.code, 1);
    assert!(
        strict
            .err
            .starts_with("error: the law `energy never rises` contradicts the data: at t = 0"),
        "{}",
        strict.err
    );
    let value = place.lawful(["check", "experiment.toml", "--json"]).out;
    let value: Value = serde_json::from_str(&value).unwrap();
    let audit = &value["laws"][0]["audit"];
    assert_eq!((&audit["finding"], &audit["with"]), (&json!("contradicted"), &json!([])));
    assert_eq!(audit["evidence"]["place"]["variable"], "x");
    let train = place.lawful(["train", "experiment.toml", "--quiet"]);
    assert!(
        train.err.starts_with("warning: the law `energy never rises` contradicts the data"),
        "{}",
        train.err
    );
}
