//! The word about laws that a model does not keep: where it is said, and where it is not.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::Place;

/// A wave, x = sin t, of which everything is known: 1 at t = π/2, between two rows.
const WAVE: &str = r#"name = "wave"
[system]
state = ["x"]
constants = { k = { start = 1.0 } }
[[law]]
name = "below"
holds = "x <= 0.998"
[[law]]
holds = "x >= -1.1"
[[law]]
name = "falls"
strategy = "monitor"
holds = "next(x) <= x"
[data.simulate]
equations = { x = "cos(t)" }
initial = { x = 0 }
grid = { from = 0, to = 4, points = 9 }
[field]
known = { x = "k*cos(t)" }
[solver]
substeps = 50
[strategy]
kind = "vanilla"
[training]
optimiser = { kind = "adam", rate = 1e-9 }
iterations = 1
"#;

/// The same with laws that it keeps.
fn kept() -> String {
    WAVE.replace("0.998", "1.01").replace("next(x) <= x", "x <= 2")
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn broken_laws_are_named_with_where_how_much_and_what_to_try() {
    let place = Place::with(WAVE);
    let said = place.lawful(["train", "experiment.toml", "--quiet"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_snapshot!(said.err, @r#"
    warning: this model breaks 2 of its 3 laws
      `below` (x <= 0.998) is broken by 1.96e-3 (0.343 % of its size) at t = 1.58 on `reconstruction`
      `falls` (next(x) <= x) is broken by 1.00 (175 % of its size) in all, most of it from t = 0 to t = 1.58 on `reconstruction`
    hint: for `below`: `kind = "auto"` under `[strategy]` guarantees laws, or enforces them by multipliers
    hint: for `falls`: it is measured only: leave out `strategy = "monitor"` under its `[[law]]`, unless the data contradict it (`lawful check` says)
    "#);
    let json = place.lawful(["train", "experiment.toml", "--quiet", "--json"]);
    assert_eq!((json.code, json.err), (0, said.err));
}

#[test]
fn the_same_word_is_said_after_training_resuming_and_evaluating() {
    let place = Place::with(WAVE);
    let trained = place.lawful(["train", "experiment.toml", "--quiet"]);
    let run = trained.out.trim();
    for arguments in [&["evaluate", run][..], &["resume", run, "--quiet"]] {
        let said = place.lawful(arguments);
        assert_eq!(said.code, 0, "{}", said.err);
        assert!(said.err.ends_with(&trained.err), "{}", said.err);
        let strict = place.lawful([arguments, &["--strict"]].concat());
        assert_eq!((strict.code, strict.out), (1, said.out));
    }
    let strict = place.lawful(["train", "experiment.toml", "--quiet", "--strict"]);
    assert_eq!((strict.code, strict.err), (1, trained.err));
}

#[test]
fn nothing_is_said_of_laws_that_are_kept() {
    let place = Place::with(&kept());
    let trained = place.lawful(["train", "experiment.toml", "--quiet", "--strict"]);
    assert_eq!((trained.code, trained.err.as_str()), (0, ""));
    let run = trained.out.trim();
    for command in ["evaluate", "resume"] {
        let said = place.lawful([command, run, "--strict"]);
        assert_eq!(said.code, 0, "{}", said.err);
        assert!(!said.err.contains("law"), "{}", said.err);
    }
}

#[test]
fn the_table_has_the_verdict_on_each_law() {
    let place = Place::with(WAVE);
    let said = place.lawful(["train", "experiment.toml", "--quiet"]);
    let said = place.lawful(["evaluate", said.out.trim()]);
    let table: Vec<&str> = said.out.lines().skip_while(|line| !line.contains("verdict")).collect();
    assert_snapshot!(table[..4].join("\n"), @"
    law        verdict  where                                       violation  of its size
    below      broken   at t = 1.58 on `reconstruction`               1.96e-3      0.343 %
    x >= -1.1  kept                                                         0          0 %
    falls      broken   from t = 0 to t = 1.58 on `reconstruction`       1.00        175 %
    ");
}

#[test]
fn json_and_manifest_have_the_verdicts() {
    let place = Place::with(WAVE);
    let said = place.lawful(["train", "experiment.toml", "--quiet", "--json"]);
    let trained = parse(&said.out);
    let run = trained["run"].as_str().unwrap();
    let laws = trained["laws"].as_array().unwrap();
    let of = |key: &str| laws.iter().map(|law| law[key].clone()).collect::<Vec<_>>();
    assert_eq!(of("name"), ["below", "x >= -1.1", "falls"]);
    assert_eq!(of("status"), ["broken", "kept", "broken"]);
    assert_eq!(of("measured"), ["everywhere", "everywhere", "added-up"]);
    assert_eq!(laws[0]["place"]["set"], "reconstruction");
    assert!((laws[0]["violation"].as_f64().unwrap() - 1.96e-3).abs() < 1e-5, "{}", laws[0]);
    assert_eq!(trained["unsolved"], json!([]));
    assert_eq!(place.manifest(run)["laws"], trained["laws"]);
    let evaluated = parse(&place.lawful(["evaluate", run, "--json"]).out);
    assert_eq!(evaluated["laws"], trained["laws"]);
}

#[test]
fn runs_of_earlier_versions_without_verdicts_are_read() {
    let place = Place::with(WAVE);
    let said = place.lawful(["train", "experiment.toml", "--quiet"]);
    let run = said.out.trim();
    let mut manifest = place.manifest(run);
    assert!(manifest.as_object_mut().unwrap().remove("laws").is_some());
    place.write(&format!("{run}/manifest.json"), &manifest.to_string());
    let resumed = place.lawful(["resume", run, "--quiet"]);
    assert_eq!((resumed.code, resumed.err.as_str()), (0, said.err.as_str()));
}

#[test]
fn a_tolerance_is_in_the_laws_own_units() {
    let with = |tolerance: &str| {
        WAVE.replace("name = \"below\"", &format!("name = \"below\"\ntolerance = {tolerance}"))
    };
    for (tolerance, broken) in [("0.01", false), ("0.001", true)] {
        let place = Place::with(&with(tolerance));
        let said = place.lawful(["train", "experiment.toml", "--quiet"]);
        assert_eq!(said.err.contains("`below`"), broken, "{}", said.err);
        let run = said.out.trim();
        let complete = place.text(&format!("{run}/config.toml"));
        assert!(complete.contains(&format!("tolerance = {tolerance}")), "{complete}");
    }
    let said = Place::with(&with("0")).lawful(["check", "experiment.toml"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("is 0, but must be a number above 0"), "{}", said.err);
}

#[test]
fn test_ranges_and_the_horizon_count() {
    // x is 1 at t = π/2, and −1 at t = 3π/2, after the last row at t = 4.
    let text = kept().replace("x >= -1.1", "x >= -0.9");
    let place = Place::with(&text);
    let said = place.lawful(["train", "experiment.toml", "--quiet", "--strict"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    let test = "[test.later]\ngrid = { from = 0, to = 8, points = 17 }\n[field]";
    let with_test = text.replace("[field]", test);
    let with_horizon = text.replace("[system]", "[system]\nhorizon = 8");
    for (text, set) in [(with_test, "later"), (with_horizon, "reconstruction")] {
        let place = Place::with(&text);
        let said = place.lawful(["train", "experiment.toml", "--quiet"]);
        let verdict = "  `x >= -0.9` is broken by 0.0999 (17.5 % of its size) at t = 4.7 on ";
        let verdict = format!("{verdict}`{set}`, beyond the training data");
        assert!(said.err.contains(&verdict), "{}", said.err);
    }
}

#[test]
fn a_comparison_counts_the_models_that_break_a_law() {
    let place = Place::with(WAVE);
    let said =
        place.lawful(["compare", "experiment.toml", "--seeds", "2", "--jobs", "1", "--quiet"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_snapshot!(said.err, @"
    warning: models break laws; `lawful evaluate` says where, and what to try next
      wave: `below` by 2 of 2 models, by up to 0.343 % of its size
      wave: `falls` by 2 of 2 models, by up to 175 % of its size
    ");
    let place = Place::with(&kept());
    let said =
        place.lawful(["compare", "experiment.toml", "--seeds", "1", "--jobs", "1", "--quiet"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
}

#[test]
fn laws_are_measured_up_to_a_horizon_that_is_asked_for() {
    // x = sin t is 1 at t = π/2 only before 4, and −1 after it.
    let place = Place::with(&WAVE.replace("x >= -1.1", "x >= -0.9"));
    let said = place.lawful(["train", "experiment.toml", "--quiet"]);
    let run = said.out.trim();
    let below = |said: &str| parse(said)["laws"][1].clone();
    let law = below(&place.lawful(["evaluate", run, "--json"]).out);
    assert_eq!((&law["status"], &law["violation"]), (&json!("kept"), &json!(0.0)));
    let said = place.lawful(["evaluate", run, "--json", "--horizon", "6"]);
    let law = below(&said.out);
    assert_eq!(law["status"], "broken");
    assert!((law["violation"].as_f64().unwrap() - 0.1).abs() < 1e-3, "{law}");
    assert!((law["place"]["time"].as_f64().unwrap() - 4.71).abs() < 0.1, "{law}");
    for (horizon, error) in [
        (
            "4",
            "`--horizon 4` has no effect: no trajectory of the training data ends before it\nhint: give a time after 4\n",
        ),
        ("inf", "`--horizon inf` is not a time\nhint: give a time after 4\n"),
    ] {
        let said = place.lawful(["evaluate", run, "--horizon", horizon]);
        assert_eq!((said.code, said.err), (2, format!("error: {error}")));
    }
}
