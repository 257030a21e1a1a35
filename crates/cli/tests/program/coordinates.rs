//! `coordinates` in `[field]`: the network sees logarithms of distances to bounds.

use crate::support::{Place, numbers};

/// A population over three decades, and a share between two bounds.
const DECADES: &str = r#"
name = "decades"

[system]
state = ["x", "p"]

[[law]]
holds = "x >= 0"

[[law]]
holds = "0 <= p <= 1"

[data.simulate]
equations = { x = "-0.7*x", p = "p*(1 - p)" }
initial = { x = 1000, p = 0.01 }
grid = { from = 0, to = 9, points = 25 }

[field]
hidden = [6]
coordinates = { x = "log", p = "logit" }

[strategy]
kind = "auto"

[training]
optimiser = "lbfgs"
iterations = 60
"#;

#[test]
fn log_coordinates_are_printed_stored_and_keep_states_strictly_inside() {
    let (place, run) = Place::trained(DECADES);
    let said = place.lawful(["check", "experiment.toml"]);
    assert_eq!(said.code, 0, "{}", said.err);
    for line in ["sees `x` in log coordinates", "sees `p` in logit coordinates"] {
        assert!(said.out.contains(line), "{}", said.out);
    }
    let complete = place.lawful(["check", "experiment.toml", "--complete"]).out;
    for line in ["x = \"log\"", "p = \"logit\""] {
        assert!(complete.contains(line), "{complete}");
    }
    // The completed file is an experiment too, and says the same.
    place.write("complete.toml", &complete);
    let again = place.lawful(["check", "complete.toml", "--complete"]);
    assert_eq!((again.code, again.out), (0, complete), "{}", again.err);
    // Ten times the horizon, from the data's start and from near the bounds.
    for initial in ["x=1000,p=0.01", "x=1e-9,p=0.999999", "x=1e6,p=1e-12"] {
        let said = place.lawful([
            "predict",
            &run,
            "--initial",
            initial,
            "--from",
            "0",
            "--to",
            "90",
            "--points",
            "901",
        ]);
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{initial}");
        for row in numbers(&said.out) {
            // Below 1 the distance is rounded away in the end.
            assert!(row[1] > 0.0 && 0.0 < row[2] && row[2] <= 1.0, "{initial}: {row:?}");
        }
    }
    let said = place.lawful(["evaluate", &run, "--horizon", "90", "--strict"]);
    assert_eq!(said.code, 0, "{}", said.err);
    // On the bound there is no logarithm.
    let on_bound = ["predict", &run, "--initial", "x=0,p=0.5", "--to", "1"];
    let said = place.lawful(on_bound);
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert!(said.err.contains("the initial state has `x` on its bound 0"), "{}", said.err);
    let said = place.lawful(on_bound.into_iter().chain(["--project"]));
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert!(numbers(&said.out).iter().all(|row| row[1] > 0.0), "{}", said.out);
}

#[test]
fn what_has_no_logarithm_is_an_error_that_names_the_cell() {
    let file = DECADES
        .replace(
            "[data.simulate]\nequations = { x = \"-0.7*x\", p = \"p*(1 - p)\" }\n",
            "[data]\nfile = \"d.csv\"\n",
        )
        .replace(
            "initial = { x = 1000, p = 0.01 }\ngrid = { from = 0, to = 9, points = 25 }\n",
            "",
        );
    let place = Place::with(&file);
    let rows = |x: [f64; 4]| {
        let rows = x.iter().enumerate().map(|(n, x)| format!("{n},{x},0.{}\n", n + 1));
        format!("t,x,p\n{}", rows.collect::<String>())
    };
    place.write("d.csv", &rows([5.0, 3.0, 0.0, 1.0]));
    let said = place.lawful(["check", "experiment.toml"]);
    assert_eq!((said.code, said.out.as_str()), (2, ""), "{}", said.err);
    let text = "`x` cannot have log coordinates: column `x` is 0 in row 3, at t = 2, which is not strictly \
                inside of its bound 0";
    assert!(said.err.contains(text), "{}", said.err);
    assert!(
        said.err.contains("experiment.toml:18:15") && said.err.contains("hint: "),
        "{}",
        said.err
    );
    place.write("d.csv", &rows([5.0, 3.0, 2.0, 1.0]));
    assert_eq!(place.lawful(["check", "experiment.toml"]).code, 0);
}

#[test]
fn coordinates_without_their_bounds_or_an_effect_are_errors() {
    for (what, with, error) in [
        (
            "holds = \"x >= 0\"",
            "holds = \"x >= -1000\"\nstrategy = \"penalty\"",
            "no bound of it is guaranteed",
        ),
        (
            "x = \"log\"",
            "x = \"logit\"",
            "`x` cannot have logit coordinates: it has no upper bound",
        ),
        ("p = \"logit\"", "p = \"log\"", "`p` cannot have log coordinates: it has two bounds"),
        ("x = \"log\"", "y = \"log\"", "unknown state variable `y`"),
        ("x = \"log\"", "x = \"ln\"", "unknown coordinates `ln`"),
        ("kind = \"auto\"", "kind = \"l2\"", "no bound of it is guaranteed"),
        ("hidden = [6]", "hidden = [6]\nknown = { x = \"-0.7*x\" }", "its rate is known"),
        // The form for nonlinear laws has none.
        (
            "[data.simulate]",
            "[[law]]\nholds = \"x*p == initial(x*p)\"\nstrategy = \"hard\"\n\n[data.simulate]",
            "no bound of it is guaranteed",
        ),
    ] {
        let place = Place::with(&DECADES.replace(what, with));
        let said = place.lawful(["check", "experiment.toml"]);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{with}: {}", said.err);
        assert!(said.err.contains(error) && said.err.contains("hint: "), "{with}: {}", said.err);
    }
    // `linear` is the default, and needs nothing.
    let place =
        Place::with(&DECADES.replace("\"logit\"", "\"linear\"").replace("\"log\"", "\"linear\""));
    let said = place.lawful(["check", "experiment.toml"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(!said.out.contains("coordinates"), "{}", said.out);
}
