//! Known physics beside the network, from the experiment file to the learned constant.

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::{Place, TINY, assert_same};

/// A spring with k = 2.5 that is known but for k.
const SPRING: &str = r#"name = "spring"
[system]
state = ["x", "v"]
constants = { m = 1.0, k = { start = 1.0, min = 0 } }
[data.simulate]
equations = { x = "v", v = "-2.5*x" }
initial = { x = 1, v = 0 }
grid = { from = 0, to = 4, points = 41 }
[field]
known = { x = "v", v = "-k*x/m" }
[solver]
method = "dopri5"
[training]
optimiser = { rate = 0.05, schedule = "cosine" }
iterations = 300
"#;

/// The same spring, of whose force only a part is known: the network learns what is missing.
fn corrected() -> String {
    SPRING
        .replace("k = { start = 1.0, min = 0 }", "k = 1.0")
        .replace("v = \"-k*x/m\" }", "v = \"-k*x/m\" }\nlearn = [\"v\"]\nhidden = [6]")
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_learned_constant_is_recovered() {
    let place = Place::with(SPRING);
    let said = place.lawful(["train", "experiment.toml", "--json"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let trained = json(&said.out);
    let k = trained["constants"]["k"].as_f64().unwrap();
    assert!((k - 2.5).abs() < 1e-4, "{k}");
    assert!(trained["sets"]["reconstruction"]["mse"].as_f64().unwrap() < 1e-8);
    let table = |text: &str| {
        let lines = text.lines().skip_while(|line| !line.starts_with("constant"));
        lines.take(2).collect::<Vec<_>>().join("\n")
    };
    assert_snapshot!(table(&said.err), @"
    constant  learned  start
    k             2.5      1
    ");
    let run = trained["run"].as_str().unwrap();
    let evaluated = place.lawful(["evaluate", run]);
    assert_eq!((evaluated.code, table(&evaluated.out)), (0, table(&said.err)));
    let evaluated = place.lawful(["evaluate", run, "--json"]);
    assert_eq!(json(&evaluated.out)["constants"], trained["constants"]);
    // Half a period: x(π/√2.5) = −1.
    let predicted =
        place.lawful(["predict", run, "--from", "0", "--to", "1.9869", "--points", "2"]);
    let last = crate::support::numbers(&predicted.out).pop().unwrap();
    assert!((last[1] + 1.0).abs() < 1e-4, "{last:?}");
}

#[test]
fn a_law_may_use_a_learned_constant() {
    // The network knows nothing but that x is the integral of v; the law alone says what k is.
    let text = SPRING
        .replace("[data.simulate]", "define = { E = \"m*v^2/2 + k*x^2/2\" }\n[[law]]\nholds = \"E == initial(E)\"\n[data.simulate]")
        .replace("v = \"-k*x/m\" }", "v = \"-k*x/m\" }\nlearn = [\"v\"]\nhidden = [6]");
    let (before, _) = text.split_once("[training]").unwrap();
    let place = Place::with(before);
    let said = place.lawful(["check", "experiment.toml"]);
    assert_eq!(said.code, 0, "{}", said.err);
    // With k = 1, where learning begins, the data of k = 2.5 do not conserve it.
    assert!(said.out.contains("the data themselves violate it at 40 of 41 steps"), "{}", said.out);
    let said = place.lawful(["train", "experiment.toml", "--json"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let trained = json(&said.out);
    let k = trained["constants"]["k"].as_f64().unwrap();
    assert!((k - 2.5).abs() < 1e-3, "{k}");
    let reconstruction = &trained["sets"]["reconstruction"];
    assert!(reconstruction["violation"].as_f64().unwrap() < 1e-3, "{reconstruction}");
    // What is read back from the run folder has the learned k, too.
    let run = trained["run"].as_str().unwrap();
    let evaluated = json(&place.lawful(["evaluate", run, "--json"]).out);
    assert_eq!(evaluated["sets"], trained["sets"]);
}

#[test]
fn check_prints_what_is_known_and_what_is_learned() {
    let said = Place::with(SPRING).lawful(["check", "experiment.toml"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_snapshot!(said.out, @"
    experiment  spring
    state       x, v
    constant    m = 1
    constant    k = 1 initially, learned, above 0
    laws        none
    data        reconstruction (the training set): 41 rows, t from 0 to 4
    known       dx/dt = v
    known       dv/dt = -k*x/m
    network     none
    solver      dopri5, one step per data interval
    prediction  dopri5, adaptive, rtol 1e-9, atol 1e-11
    strategy    self-adaptive, tolerance 1e-4
    training    loss mse, scaled to order one, seed 1
    phase       Adam, full trajectories, 300 iterations, rate 0.05, falling as a cosine to 5.00e-4
    ");
    let said = Place::with(&corrected()).lawful(["check", "experiment.toml"]);
    assert!(said.out.contains("known       dv/dt = -k*x/m + network\n"), "{}", said.out);
    assert!(said.out.contains("network     2 – 6 tanh – 1, 25 parameters"), "{}", said.out);
}

#[test]
fn a_network_learns_what_is_missing_in_a_known_rate() {
    let place = Place::with(&corrected());
    let said = place.lawful(["train", "experiment.toml", "--json", "--quiet"]);
    let trained = json(&said.out);
    let mse = trained["sets"]["reconstruction"]["mse"].as_f64().unwrap();
    assert!(mse < 1e-3, "{mse}");
    assert!(trained.get("constants").is_none());
}

#[test]
fn a_run_with_known_rates_is_resumed_to_the_same_bytes() {
    let constant = |text: &str| text.replace(", schedule = \"cosine\"", "");
    let both =
        SPRING.replace("v = \"-k*x/m\" }", "v = \"-k*x/m\" }\nlearn = [\"v\"]\nhidden = [4]");
    for text in [constant(SPRING), constant(&both)] {
        let (long, run) = Place::trained(&text);
        let (short, part) = Place::trained(&text.replace("= 300", "= 200"));
        let said = short.lawful(["resume", &part, "--iterations", "300", "--quiet"]);
        assert_eq!((said.code, said.err.as_str()), (0, ""));
        let kept = |files: Vec<(String, Vec<u8>)>| {
            files.into_iter().filter(|(name, _)| name != "/config.toml").collect::<Vec<_>>()
        };
        assert_same(&kept(long.repeatable(&run)), &kept(short.repeatable(&part)));
    }
}

#[test]
fn a_model_of_other_known_rates_is_refused() {
    let (place, run) = Place::trained(SPRING);
    // As if the config had not been changed, but the model.
    let path = format!("{run}/manifest.json");
    let mut manifest = place.manifest(&run);
    manifest["config"] = "".into();
    place.write(&path, &manifest.to_string());
    let config = place.text(&format!("{run}/config.toml"));
    for (part, with) in [
        ("v = \"-k*x/m\"", "v = \"-k*x*m\""),
        ("m = 1.0", "m = 2.0"),
        ("min = 0.0", "min = 0.5"),
        ("start = 1.0", "start = 1.5"),
    ] {
        assert!(config.contains(part), "{part}");
        place.write(&format!("{run}/config.toml"), &config.replace(part, with));
        let said = place.lawful(["evaluate", &run]);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{part}");
        assert_eq!(
            said.err,
            format!(
                "error: the model in `{run}/last.safetensors` is of another training than \
                 `config.toml`\nhint: one of the two files was changed: restore it, or train \
                 again\n"
            )
        );
    }
}

#[test]
fn models_without_constants_have_no_table_of_constants() {
    let header = |text: &str| {
        let (place, run) = Place::trained(text);
        let bytes = place.bytes(&format!("{run}/last.safetensors"));
        let end = 8 + usize::try_from(u64::from_le_bytes(bytes[..8].try_into().unwrap())).unwrap();
        let header = json(std::str::from_utf8(&bytes[8..end]).unwrap());
        let about = json(header["__metadata__"]["lawful"].as_str().unwrap());
        (header.get("constants.raw").is_some(), about)
    };
    let (has_constants, about) = header(TINY);
    let parts = |about: &serde_json::Value| -> Vec<String> {
        let parts = about["field"]["parts"].as_array().unwrap().iter();
        parts.map(|part| part["part"].as_str().unwrap().to_owned()).collect()
    };
    assert!(!has_constants && !parts(&about).contains(&"known".to_owned()), "{about}");
    assert_eq!(about["format"], 3);
    let (has_constants, about) = header(SPRING);
    assert!(has_constants, "{about}");
    assert_eq!((&about["format"], parts(&about)), (&3.into(), vec!["known".to_owned()]));
    let known = &about["field"]["parts"][0];
    assert_eq!(known["rates"], serde_json::json!([["x", "v"], ["v", "-k*x/m"]]));
}

#[test]
fn what_cannot_be_learned_is_refused() {
    let refused = |part: &str, with: &str| {
        assert!(SPRING.contains(part), "{part}");
        let place = Place::with(&SPRING.replace(part, with));
        let checked = place.lawful(["check", "experiment.toml"]);
        let said = place.lawful(["train", "experiment.toml"]);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{with}: {}", said.err);
        assert_eq!((checked.code, checked.err), (2, said.err.clone()), "check says the same");
        assert_eq!(place.names(""), ["experiment.toml"], "nothing is left behind");
        said.err
    };
    assert_snapshot!(refused("k = { start = 1.0, min = 0 }", "k = 1.0"), @r#"
    error: there is nothing to learn: all rates and all constants are known
      experiment.toml:10:9
        known = { x = "v", v = "-k*x/m" }
                ^^^^^^^^^^^^^^^^^^^^^^^^^
    hint: list in `learn` the variables whose known rates need a correction, or learn a constant: `constants = { k = { start = 1.0 } }`
    "#);
    assert_snapshot!(refused("v = \"-2.5*x\"", "v = \"-k*x\""), @r#"
    error: the equation of `v` uses the constant `k`, which is learned
      experiment.toml:6:30
        equations = { x = "v", v = "-k*x" }
                                     ^
    hint: simulated data need fixed values: write the number
    "#);
    assert_snapshot!(refused("start = 1.0, min = 0", "start = 0, min = 0"), @"
    error: `k` starts at 0, which is not above its `min`, 0
      experiment.toml:4:38
        constants = { m = 1.0, k = { start = 0, min = 0 } }
                                             ^
    hint: choose a `start` strictly between `min` and `max`
    ");
    assert_snapshot!(refused("[solver]", "hidden = [6]\n[solver]"), @"
    error: `hidden` has no effect: every rate is known, so there is no network
      experiment.toml:11:10
        hidden = [6]
                 ^^^
    hint: leave it out, or list in `learn` the variables whose known rates need a correction
    ");
}
