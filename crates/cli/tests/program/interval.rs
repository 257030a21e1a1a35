//! `lawful predict --interval` and the intervals of `lawful evaluate`.

use crate::support::{Place, TINY, numbers};

/// A learned constant from noisy data, in a moment.
const NOISY: &str = r#"name = "noisy"
[system]
state = ["x", "y"]
constants = { k = { start = 0.5, min = 0 }, c = { start = 0.1 } }
[[law]]
name = "x has a bound"
holds = "x <= 5"
[data.simulate]
equations = { x = "-0.8*x", y = "0.2" }
initial = { x = 1, y = 0 }
grid = { from = 0, to = 4, points = 16 }
noise = { std = 0.02, seed = 4 }
[test.later]
grid = { from = 0, to = 6, points = 24 }
[field]
known = { x = "-k*x", y = "c" }
[training]
initial-state = "train"
seed = 3
[[training.phase]]
iterations = 40
least-squares = { starts = 2, screening = 5, kept = 2, rounds = 1, round = 3 }
"#;

#[test]
fn intervals_have_two_columns_beside_each_state() {
    let (place, run) = Place::trained(NOISY);
    let predict = |options: &[&str]| {
        let times = ["predict", &run, "--to", "6", "--points", "7"];
        let said = place.lawful([&times, options].concat());
        assert_eq!((said.code, said.err.as_str()), (0, ""));
        said.out
    };
    let with = predict(&["--interval", "0.9"]);
    assert!(with.starts_with("t,x,x.low,x.high,y,y.low,y.high\n0,"), "{with}");
    let (rows, central) = (numbers(&with), numbers(&predict(&[])));
    assert_eq!(rows.len(), 7);
    for (row, central) in rows.iter().zip(&central) {
        let own: Vec<f64> = [0, 1, 4].map(|column: usize| row[column]).to_vec();
        assert_eq!(own, *central);
        assert!(row[2] < row[1] && row[1] < row[3] && row[5] < row[4] && row[4] < row[6]);
    }
    // Always the same draws; wider with a greater level, narrower without noise.
    assert_eq!(predict(&["--interval", "0.9"]), with);
    let width = |text: &str| numbers(text).iter().map(|row| row[3] - row[2]).sum::<f64>();
    assert!(width(&predict(&["--interval", "0.5"])) < 0.6 * width(&with));
    assert!(width(&predict(&["--interval", "0.9", "--without-noise"])) < 0.9 * width(&with));
    // An initial state that is given is exact.
    let given = predict(&["--interval", "0.9", "--without-noise", "--initial", "x=1,y=0.5"]);
    assert_eq!(numbers(&given)[0], [0.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.5]);

    let said = place.lawful(["evaluate", &run]);
    for text in ["90 % interval", "coverage", "standard error", "correlation", "that break it"] {
        assert!(said.out.contains(text), "{text}: {}", said.out);
    }
    let json = place.lawful(["evaluate", &run, "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    let later = &json["intervals"]["sets"]["later"]["x"];
    assert_eq!(later["cells"], 24);
    assert!((0.5..=1.0).contains(&later["coverage"].as_f64().unwrap()), "{later}");
    assert!(later["score"].as_f64() >= later["width"].as_f64());
    let error = json["standard-errors"]["k"].as_f64().unwrap();
    let off = (json["constants"]["k"].as_f64().unwrap() - 0.8).abs();
    assert!(error < 0.1 && off < 4.0 * error, "{off} {error}");
    assert_eq!(json["correlations"][0]["between"], serde_json::json!(["k", "c"]));
    assert_eq!(json["intervals"]["laws"][0]["broken"], 0.0);

    for level in ["0", "1", "-0.5", "nan", "0.999"] {
        let said = place.lawful(["predict", &run, "--interval", level]);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{level}");
        assert!(said.err.contains("is not the level of an interval"), "{}", said.err);
        assert!(said.err.contains("hint: give a probability"), "{}", said.err);
    }
}

#[test]
fn a_model_without_a_posterior_says_how_to_get_one() {
    let (place, run) = Place::trained(TINY);
    let said = place.lawful(["predict", &run, "--interval", "0.9"]);
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert!(said.err.contains("error: this model has no intervals"), "{}", said.err);
    assert!(said.err.contains("hint: train with `recipe = \"evidence\"`"), "{}", said.err);
    let said = place.lawful(["predict", &run, "--without-noise"]);
    assert_eq!(said.code, 2);
}
