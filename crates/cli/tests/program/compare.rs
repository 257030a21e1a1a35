//! `lawful compare --strategies`: strategies side by side.

use insta::assert_snapshot;
use lawful_experiment::files;
use serde_json::Value;

use crate::support::{Place, TINY};

/// An oscillator that L-BFGS trains in a blink.
fn smooth() -> String {
    TINY.replace(
        "optimiser = { kind = \"adam\", rate = 1e-2, schedule = \"cosine\" }\niterations = 40",
        "phase = [{ optimiser = \"lbfgs\", iterations = 12 }]",
    )
}

/// The options of a comparison.
fn options<'a>(strategies: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let few = ["compare", "experiment.toml", "--seeds", "2", "--quiet", "--strategies"];
    [&few[..], &[strategies], more].concat()
}

/// Replaces every number by `#`.
fn redacted(text: &str) -> String {
    let word = |word: &str| {
        let number = word.trim_matches(|c: char| "[](),.;".contains(c));
        let is_number = number.parse::<f64>().is_ok();
        if is_number { word.replace(number, "#") } else { word.to_owned() }
    };
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ") + "\n";
    text.lines().map(line).collect()
}

#[test]
fn strategies_are_ranked_and_one_that_cannot_be_trained_is_left_out_with_its_reason() {
    let place = Place::with(&smooth());
    let said = place.lawful(options("l2,filter,vanilla", &[]));
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(place.text("compare/table.md"), said.out);
    assert_snapshot!(redacted(&said.out), @r"
    ## tiny

    | set | strategy | seeds | MSE, median [min – max] | largest violation, median [min – max] | evaluations | seconds | p | |
    |---|---|---|---|---|---|---|---|---|
    | reconstruction | `l2` | # | # [# – #] | # [# – #] | # | # |  | best |
    | reconstruction | `vanilla` | # | # [# – #] | # [# – #] | # | # | # | violates more |
    | later | `l2` | # | # [# – #] | # [# – #] | # | # |  | best |
    | later | `vanilla` | # | # [# – #] | # [# – #] | # | # | # | violates more |

    tiny: no strategy keeps all laws; `l2` violates them least (largest violation #), with an error of #.

    `filter` is left out: L-BFGS never takes a worse point than the best one.

    The largest violation is that of any law that the data do not contradict, as a share of its size, on a dense grid over all sets and up to the horizon. The best strategy has the lowest median error (mean of the MSE on the test sets, or the MSE of the training set without any) of those that keep the laws: largest violation at most # in the median. p is of the rank test of the MSE against the best, with Holm's correction. Evaluations and seconds are medians.
    ");
    let runs = place.text("compare/runs.csv");
    let header = "experiment,strategy,seed,set,mse,violation,largest_violation,evaluations,run\n";
    assert!(runs.starts_with(header), "{runs}");
    assert_eq!(runs.lines().count(), 1 + 2 * 2 * 2, "{runs}");
    assert!(place.text("compare/front.svg").contains("none is better in both"));
    assert!(place.bytes("compare/front.png").starts_with(b"\x89PNG"));
}

#[test]
fn a_comparison_of_strategies_resumes_to_the_same_bytes_and_prints_json() {
    let place = Place::with(TINY);
    let strategies = "auto,self-adaptive,filter";
    let first = place.lawful(options(strategies, &[]));
    assert_eq!(first.code, 0, "{}", first.err);
    // As after a kill: one training has to be repeated, and no table was written.
    let runs = place.names("compare/runs");
    let of_filter = runs.iter().find(|name| name.contains("filter")).unwrap();
    let written = ["compare/table.md", "compare/runs.csv", "compare/front.svg"];
    let before = written.map(|file| place.text(file));
    for file in written {
        files::remove(&place.path(file)).unwrap();
    }
    files::remove_folder(&place.path(&format!("compare/runs/{of_filter}"))).unwrap();
    let json = place.lawful(options(strategies, &["--json"]));
    assert_eq!(json.code, 0, "{}", json.err);
    assert_eq!(place.text("compare/runs.csv"), before[1]);
    assert_eq!(place.text("compare/front.svg"), before[2]);
    let value: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(value["runs"].as_array().unwrap().len(), 3 * 2 * 2);
    let ranking = &value["rankings"][0];
    let names: Vec<&str> = (ranking["strategies"].as_array().unwrap().iter())
        .map(|contender| contender["strategy"].as_str().unwrap())
        .collect();
    assert_eq!(names.join(","), strategies);
    assert!(names.contains(&ranking["best"].as_str().unwrap()), "{ranking}");
    let sentence = ranking["recommendation"].as_str().unwrap();
    assert!(before[0].contains(sentence), "{sentence}");
    assert_eq!(ranking["fewest_seeds"], 5);
}

#[test]
fn a_law_that_the_data_contradict_decides_nothing() {
    let false_law = "[[law]]\nname = \"below\"\nholds = \"x <= 0.5\"\n[data";
    let experiment = smooth().replacen("[data", false_law, 1);
    for experiment in [experiment.clone(), experiment.replace("self-adaptive", "auto")] {
        let place = Place::with(&experiment);
        let said = place.lawful(options("auto,l2", &["--json"]));
        assert_eq!(said.code, 0, "{}", said.err);
        let value: Value = serde_json::from_str(&said.out).unwrap();
        let [found] = &value["false_laws"].as_array().unwrap()[..] else { panic!("{value}") };
        assert_eq!((&found["experiment"], &found["law"]), (&"tiny".into(), &"below".into()));
        // The path begins at x = 1, half a unit above it.
        let of_auto = &value["rankings"][0]["strategies"][0]["largest_violation"];
        assert!(of_auto["max"].as_f64().unwrap() < 1e-9, "{of_auto}");
        let table = place.text("compare/table.md");
        assert!(
            table.contains("\nNot counted as a violation: the law `below` contradicts the data")
        );
    }
}

#[test]
fn what_cannot_be_compared_is_an_error_that_says_what_to_type() {
    let place = Place::with(&smooth());
    for (strategies, more, message) in [
        ("filtr", &[][..], "hint: did you mean `filter`?"),
        ("gradient-descent", &[], "hint: the strategies are `all`, `auto`, `vanilla`"),
        ("filter", &[], "error: `filter` "),
        ("l2", &["--seeds", "101"], "hint: write `--seeds 100`"),
    ] {
        let mut options = options(strategies, more);
        if more.contains(&"--seeds") {
            options.drain(2..4);
        }
        let said = place.lawful(options);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{strategies}: {}", said.err);
        assert!(said.err.contains(message), "{strategies}: {}", said.err);
        assert!(!place.exists("compare"), "{strategies}");
    }
    place.write("same.toml", &smooth());
    let said = place.lawful(["compare", "experiment.toml", "same.toml", "--strategies", "all"]);
    assert!(said.err.contains("`same.toml` is called `tiny`, as an experiment before it"));
    let lawless =
        smooth().replace("[[law]]\nname = \"energy never rises\"\nholds = \"next(E) <= E\"\n", "");
    place.write("experiment.toml", &lawless);
    let said = place.lawful(options("all", &[]));
    assert!(said.err.contains("`experiment.toml` has no law"), "{}", said.err);
    place.write("experiment.toml", TINY);
    place.write("axes.toml", "[[axis]]\nname = \"strategy\"\nlevel = [{ name = \"a\" }]\n");
    let said = place.lawful(options("all", &["--vary", "axes.toml"]));
    assert!(said.err.contains("the axes have one called `strategy` already"), "{}", said.err);
}
