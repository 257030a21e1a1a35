//! Laws that are measured and not enforced.

use crate::support::{Place, TINY};

#[test]
fn a_monitored_law_is_measured_and_has_no_part_in_training() {
    let law = |strategy: &str| {
        TINY.replace("[[law]]\n", &format!("[[law]]\nstrategy = \"{strategy}\"\n"))
    };
    let scores_and_log = |text: &str| {
        let (place, run) = Place::trained(text);
        let said = place.lawful(["evaluate", &run, "--json"]);
        (
            serde_json::from_str::<serde_json::Value>(&said.out).unwrap()["sets"].clone(),
            place.text(&format!("{run}/log.csv")),
        )
    };
    let ((penalised, _), (monitored, log)) =
        (scores_and_log(&law("penalty")), scores_and_log(&law("monitor")));
    assert_ne!(penalised, monitored, "a penalty changes what is learned");
    let violation = &monitored["reconstruction"]["violation"];
    assert!(violation.as_f64().unwrap() > 0.0, "it is measured: {violation}");
    let weight = log.lines().next().unwrap().split(',').position(|cell| cell.contains("weight: "));
    let weights = log.lines().skip(1).map(|row| row.split(',').nth(weight.unwrap()).unwrap());
    assert!(weights.into_iter().all(|weight| weight == "0e0"), "{log}");
}

#[test]
fn check_says_which_laws_are_only_measured() {
    let text = TINY.replace("[[law]]\n", "[[law]]\nstrategy = \"monitor\"\n");
    let place = Place::with(&text);
    let said = place.lawful(["check", "experiment.toml"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains(", measured only)"), "{}", said.out);
    let place = Place::with(&text.replace("\"monitor\"", "\"hard\""));
    let said = place.lawful(["check", "experiment.toml"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains(", guaranteed)"), "{}", said.out);
    let place = Place::with(&text.replace("\"monitor\"", "\"harder\""));
    let said = place.lawful(["check", "experiment.toml"]);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("unknown strategy of a law `harder`"), "{}", said.err);
    assert!(said.err.contains("`hard`"), "{}", said.err);
}
