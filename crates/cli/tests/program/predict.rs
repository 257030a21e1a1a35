//! `lawful predict`.

use crate::support::{Place, TINY, numbers, tiny, with_data};

#[test]
fn the_header_is_t_and_the_states_and_both_ends_are_printed() {
    let (place, run) = Place::trained(TINY);
    let said = place.lawful(["predict", &run, "--from", "0", "--to", "10", "--points", "5"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert!(said.out.starts_with("t,x,v\n0,1,0\n2.5,"), "{}", said.out);
    let times: Vec<f64> = numbers(&said.out).iter().map(|row| row[0]).collect();
    assert_eq!(times, [0.0, 2.5, 5.0, 7.5, 10.0]);
}

#[test]
fn without_options_the_training_range_is_printed() {
    let (place, run) = Place::trained(TINY);
    let rows = numbers(&place.lawful(["predict", &run]).out);
    assert_eq!((rows.len(), rows[0][0], rows[499][0]), (500, 0.0, 5.0));
}

#[test]
fn more_output_points_change_no_value() {
    let (place, run) = Place::trained(TINY);
    let predict = |points: &str| {
        numbers(&place.lawful(["predict", &run, "--to", "30", "--points", points]).out)
    };
    let (few, many) = (predict("4"), predict("301"));
    for (n, row) in few.iter().enumerate() {
        assert_eq!(*row, many[100 * n], "row {n}");
    }
}

#[test]
fn times_come_from_a_file_too() {
    let (place, run) = Place::trained(TINY);
    place.write("times.csv", "t\n0\n0.3\n4\n9.5\n");
    place.write("other.csv", "note;t\na;0\nb;0.3\nc;4\nd;9.5\n");
    place.write("one.csv", "t\n9.5\n");
    let rows = numbers(&place.lawful(["predict", &run, "--at", "times.csv"]).out);
    assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), [0.0, 0.3, 4.0, 9.5]);
    let one = place.lawful(["predict", &run, "--at", "one.csv"]);
    assert_eq!(one.code, 0, "{}", one.err);
    assert_eq!(numbers(&one.out), [rows[3].clone()]);
    let single = place.lawful(["predict", &run, "--from", "9.5", "--points", "1"]);
    assert_eq!(numbers(&single.out), [rows[3].clone()]);
}

#[test]
fn a_later_start_follows_the_trajectory_from_its_initial_state() {
    let (place, run) = Place::trained(TINY);
    let whole = numbers(&place.lawful(["predict", &run, "--to", "8", "--points", "9"]).out);
    let part = ["predict", &run, "--from", "4", "--to", "8", "--points", "5"];
    assert_eq!(numbers(&place.lawful(part).out), whole[4..]);
}

#[test]
fn an_initial_state_stands_at_the_first_time() {
    let (place, run) = Place::trained(TINY);
    let from = |initial: &str| {
        let said =
            place.lawful(["predict", &run, "--initial", initial, "--from", "-3", "--points", "3"]);
        assert_eq!(said.code, 0, "{}", said.err);
        numbers(&said.out)
    };
    let rows = from("x=0.5, v=-1e-1");
    assert_eq!(rows[0], [-3.0, 0.5, -0.1]);
    assert_eq!(from("v=-0.1,x=0.5"), rows);
}

#[test]
fn a_fixed_method_steps_on_the_output_times() {
    let (place, run) = Place::trained(TINY);
    let predict = |options: &[&str]| {
        let fixed = ["predict", &run, "--to", "6", "--points", "13"];
        let said = place.lawful([&fixed, options].concat());
        assert_eq!(said.code, 0, "{}", said.err);
        numbers(&said.out)
    };
    let far = |a: &[Vec<f64>], b: &[Vec<f64>]| {
        let differences = a.iter().flatten().zip(b.iter().flatten()).map(|(a, b)| (a - b).abs());
        differences.fold(0.0, f64::max)
    };
    let exact = predict(&[]);
    let (euler, one) = (predict(&["--method", "euler"]), predict(&["--method", "rk4"]));
    let four = predict(&["--method", "rk4", "--substeps", "4"]);
    let errors = [&euler, &one, &four].map(|rows| far(rows, &exact));
    assert!(errors[0] > 10.0 * errors[1] && errors[1] > 50.0 * errors[2], "{errors:?}");
    let loose = predict(&["--method", "bosh3", "--rtol", "1e-3"]);
    assert!(far(&loose, &exact) > far(&predict(&["--method", "bosh3", "--rtol", "1e-6"]), &exact));
}

#[test]
fn a_trajectory_is_selected_by_name() {
    let data = "[data]\nfile = \"d.csv\"\ntrajectory = \"run\"\n";
    let held = "[test.held]\ntrajectories = [\"two words\"]\n";
    let text = with_data(&format!("{data}{held}"));
    let place = Place::with(&text);
    place.write(
        "d.csv",
        "run,t,x,v\na,0,1,0\na,1,0.5,-0.8\ntwo words,2,0.3,0.1\ntwo words,3,0.2,0\n",
    );
    let run = place.train(&[]);
    let first = |options: &[&str]| {
        let said = place.lawful([&["predict", &run, "--points", "2"], options].concat());
        (said.code, said.out.lines().nth(1).unwrap_or_default().to_owned(), said.err)
    };
    assert_eq!(first(&[]).1, "0,1,0");
    assert_eq!(first(&["--trajectory", "two words"]).1, "2,0.3,0.1");
    let (code, _, err) = first(&["--trajectory", "b"]);
    assert_eq!(code, 2);
    assert_eq!(
        err,
        "error: there is no trajectory `b`\nhint: the trajectories are `a`, `two words`\n"
    );
}

#[test]
fn a_solve_that_fails_says_when_and_prints_nothing() {
    let text = tiny(
        "activations = \"tanh\"",
        "activations = \"relu\"\ninit = { kind = \"normal\", std = 30.0 }",
    )
    .replace("iterations = 40", "iterations = 1\nscale = \"none\"")
    .replace("to = 5, ", "to = 1e-6, ")
    .replace("to = 8, ", "to = 1e-6, ");
    let (place, run) = Place::trained(&text);
    let said = place.lawful(["predict", &run, "--to", "1e6"]);
    assert_eq!((said.code, said.out.as_str()), (1, ""), "{}", said.err);
    assert!(said.err.starts_with("error: ") && said.err.contains("hint: "), "{}", said.err);
    assert!(said.err.contains("t = "), "{}", said.err);
}

#[test]
fn data_at_times_that_doubles_would_round_are_predicted_at_their_own_digits() {
    // Nanoseconds are rounded to 256 of them, microseconds of these seconds to quarters.
    for (before, step) in [("1700000000", 1000), ("1700000000.", 1)] {
        let place = Place::with(&with_data("[data]\nfile = \"d.csv\"\n"));
        let width = if step == 1 { 6 } else { 9 };
        let times: Vec<String> =
            (1..21).map(|n| format!("{before}{:0>width$}", step * n)).collect();
        let rows = (0..).zip(&times).map(|(n, t)| format!("{t},{},0.5\n", 1 + n % 3));
        place.write("d.csv", &format!("t,x,v\n{}", rows.collect::<String>()));
        place.write("times.csv", &format!("t\n{}\n", times.join("\n")));
        let said = place.lawful(["train", "experiment.toml", "-q"]);
        assert_eq!(said.code, 0, "{}", said.err);
        let run = said.out.trim();
        let column = |text: &str| -> Vec<String> {
            let cells = text.lines().skip(1).map(|line| line.split(',').next().unwrap_or_default());
            cells.map(|cell| cell.trim_end_matches('0').to_owned()).collect()
        };
        let shown: Vec<String> = times.iter().map(|t| t.trim_end_matches('0').to_owned()).collect();
        let predicted = |more: &[&str]| {
            let said = place.lawful(["predict", run].into_iter().chain(more.iter().copied()));
            assert_eq!(said.code, 0, "{}", said.err);
            column(&said.out)
        };
        assert_eq!(predicted(&["--at", "times.csv"]), shown);
        let part = predicted(&["--from", &times[1], "--to", &times[3], "--points", "3"]);
        // What is between is a share of the range, with all its digits.
        assert_eq!((part.len(), &part[0], &part[2]), (3, &shown[1], &shown[3]));
        let stored = place.text(&format!("{run}/data/reconstruction.csv"));
        assert!(times.iter().all(|t| stored.contains(t.trim_end_matches('0'))), "{stored}");
        let written = place.text(&format!("{run}/predictions-reconstruction.csv"));
        assert!(times.iter().all(|t| written.contains(t.trim_end_matches('0'))), "{written}");
        let said = place.lawful(["predict", run, "--from", "1700000000000000000e9"]);
        assert_eq!(said.code, 2, "{}", said.err);
        assert_eq!(place.lawful(["resume", run, "--iterations", "60", "-q"]).code, 0);
    }
}

#[test]
fn an_initial_state_off_a_guaranteed_law_is_an_error_unless_it_is_moved() {
    let circle = TINY
        .replace(
            "name = \"energy never rises\"\nholds = \"next(E) <= E\"",
            "holds = \"x^2 + v^2 == 1\"",
        )
        .replace("v = \"-0.1*v - x\"", "v = \"-x\"")
        .replace("kind = \"self-adaptive\"", "kind = \"auto\"");
    let (place, run) = Place::trained(&circle);
    let at = ["--initial", "x=0.6,v=0.9", "--to", "50", "--points", "30"];
    let predict = |more: &[&str]| {
        let options = ["predict", &run].into_iter().chain(at).chain(more.iter().copied());
        place.lawful(options.collect::<Vec<_>>())
    };
    let said = predict(&[]);
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert!(said.err.contains("is off the law `x^2 + v^2 == 1` by 0.170"), "{}", said.err);
    assert!(
        said.err.contains("hint: correct it, or move it to the laws: `--project`"),
        "{}",
        said.err
    );
    let said = predict(&["--project"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    for row in numbers(&said.out) {
        assert!((row[1].hypot(row[2]) - 1.0).abs() < 1e-12, "{row:?}");
    }
}

#[test]
fn a_model_without_guarantees_is_brought_to_its_laws() {
    let (place, run) = Place::trained(TINY);
    let said = place.lawful(["predict", &run, "--project", "--to", "100", "--points", "400"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    let energy: Vec<f64> =
        numbers(&said.out).iter().map(|row| row[1].powi(2) + row[2].powi(2)).collect();
    assert!(energy.windows(2).all(|pair| pair[1] <= pair[0] + 1e-12), "{energy:?}");
}

#[test]
fn a_model_without_guarantees_is_brought_to_bounds_directions_and_sums_or_it_is_said() {
    let epidemic = r#"
[system]
state = ["S", "I", "R"]

[[law]]
holds = "S + I + R == initial(S + I + R)"

[[law]]
holds = "next(S) <= S"

[[law]]
holds = "next(R) >= R"

[[law]]
holds = "S >= 0"

[[law]]
holds = "I >= 0"

[data.simulate]
equations = { S = "-0.8*S*I", I = "0.8*S*I - 0.2*I", R = "0.2*I" }
initial = { S = 0.99, I = 0.01, R = 0 }
grid = { from = 0, to = 30, points = 20 }

[field]
hidden = [6]

[strategy]
kind = "vanilla"

[training]
optimiser = "lbfgs"
iterations = 30
"#;
    let (place, run) = Place::trained(epidemic);
    let far = ["--from", "0", "--to", "300", "--points", "301"];
    let predict = |more: &[&str]| {
        let options = ["predict", &run].into_iter().chain(far).chain(more.iter().copied());
        place.lawful(options.collect::<Vec<_>>())
    };
    let breaks = |rows: &[Vec<f64>]| {
        let sum = |row: &Vec<f64>| row[1] + row[2] + row[3];
        let total = sum(&rows[0]);
        rows.windows(2).any(|pair| pair[1][1] > pair[0][1] || pair[1][3] < pair[0][3])
            || rows.iter().any(|row| row[1] < 0.0 || row[2] < 0.0)
            || rows.iter().any(|row| (sum(row) - total).abs() > 1e-12 * total)
    };
    assert!(breaks(&numbers(&predict(&[]).out)), "the model must break a law");
    for more in [&[][..], &["--initial", "S=0.5,I=0.5,R=0"], &["--initial", "S=0,I=0.3,R=2"]] {
        let options: Vec<&str> = ["--project"].into_iter().chain(more.iter().copied()).collect();
        let said = predict(&options);
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{more:?}");
        assert!(!breaks(&numbers(&said.out)), "{more:?}: {}", said.out);
    }
    // A bound beside two equalities of the other kind is not added, and it is said.
    let circle = epidemic
        .replace("S + I + R == initial(S + I + R)", "S^2 + I^2 == initial(S^2 + I^2)")
        .replace("next(S) <= S", "I*R == initial(I*R)")
        .replace("[[law]]\nholds = \"next(R) >= R\"\n", "")
        .replace("[[law]]\nholds = \"I >= 0\"\n", "");
    let (place, run) = Place::trained(&circle);
    let said =
        place.lawful(["predict", &run, "--project", "--to", "1", "--initial", "S=1,I=1,R=1"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(
        said.err.starts_with(
            "warning: the law `S >= 0` is not guaranteed: bounds and directions are not"
        ),
        "{}",
        said.err
    );
}
