//! Messages about where data come from: files, simulations, test sets.

mod config_support;

use config_support::{Folder, error, error_with};
use insta::assert_snapshot;

/// A simulation, some of whose lines are others.
fn simulate(changes: &[(&str, &str)], more: &str) -> String {
    let mut lines = vec![
        ("equations", "{ x = \"v\", v = \"-x\" }"),
        ("initial", "{ x = 1, v = 0 }"),
        ("grid", "{ from = 0, to = 5, points = 6 }"),
    ];
    for change in changes {
        lines.retain(|(key, _)| *key != change.0);
        lines.push(*change);
    }
    let lines = lines.iter().filter(|(_, value)| !value.is_empty());
    let lines: Vec<String> = lines.map(|(key, value)| format!("{key} = {value}")).collect();
    let lines = lines.join("\n");
    error(&format!("[system]\nstate = [\"x\", \"v\"]\n[data.simulate]\n{lines}\n{more}"))
}

#[test]
fn data_come_from_one_source() {
    assert_snapshot!(error_with("[data.simulate]\nequations = { x = \"-x\" }\n"), @r#"
    error: `file` and `[data.simulate]` cannot both be given
      experiment.toml:5:8
        file = "data.csv"
               ^^^^^^^^^^
    hint: keep one of the two
    "#);
    assert_snapshot!(error_with("interpolation = \"previous\"\n"), @r#"
    error: `interpolation` has no effect: `[system] inputs` is empty
      experiment.toml:6:17
        interpolation = "previous"
                        ^^^^^^^^^^
    hint: leave it out, or write `inputs = ["u"]` in `[system]`
    "#);
    assert_snapshot!(simulate(&[], "[data]\ntime = \"s\"\n"), @r#"
    error: `time` has no effect: no data are read from a file
      experiment.toml:8:8
        time = "s"
               ^^^
    hint: leave it out
    "#);
}

#[test]
fn a_missing_data_file_is_shown_where_it_is_named() {
    let toml = "[system]\nstate = [\"x\"]\n[data]\nfile = [\"data.csv\", \"dat.csv\"]\n";
    assert_snapshot!(error(toml), @r#"
    error: there is no file `dat.csv`
      experiment.toml:4:21
        file = ["data.csv", "dat.csv"]
                            ^^^^^^^^^
    hint: did you mean `data.csv`?
    "#);
    assert_snapshot!(error("[system]\nstate = [\"x\"]\n[data]\nfile = \"measured/x.csv\"\n"), @r#"
    error: there is no file `measured/x.csv`
      experiment.toml:4:8
        file = "measured/x.csv"
               ^^^^^^^^^^^^^^^^
    hint: there is no folder `measured` either
    "#);
}

#[test]
fn a_file_has_a_name() {
    assert_snapshot!(error("[system]\nstate = [\"x\"]\n[data]\nfile = \"\"\n"), @r#"
    error: a file name is empty
      experiment.toml:4:8
        file = ""
               ^^
    hint: write `file = "data.csv"`
    "#);
    assert_snapshot!(error("[system]\nstate = [\"x\"]\n[data]\nfile = []\n"), @r#"
    error: `file` is an empty list
      experiment.toml:4:8
        file = []
               ^^
    hint: write `file = "data.csv"`
    "#);
    assert_snapshot!(error("[system]\nstate = [\"x\"]\n[data]\nfile = \".\"\n"), @r#"
    error: cannot read `.`: it is a folder, not a file
      experiment.toml:4:8
        file = "."
               ^^^
    "#);
}

#[test]
fn columns_are_those_of_variables() {
    assert_snapshot!(error_with("columns = { y = \"b\" }\n"), @r#"
    error: `y` in `columns` is not a state variable or an input
      experiment.toml:6:13
        columns = { y = "b" }
                    ^
    hint: the names are `x`
    "#);
    assert_snapshot!(error_with("columns = { t = \"b\" }\n"), @r#"
    error: `t` in `columns` is not a state variable or an input
      experiment.toml:6:13
        columns = { t = "b" }
                    ^
    hint: write `time = "…"` for the column with the times
    "#);
    assert_snapshot!(error_with("separator = \";;\"\n"), @r#"
    error: `separator` in [data] is the text ";;", but must be one character, or "tab"
      experiment.toml:6:13
        separator = ";;"
                    ^^^^
    hint: for example `separator = ";"`
    "#);
}

#[test]
fn a_simulation_needs_an_equation_and_a_start_for_each_state() {
    assert_snapshot!(simulate(&[("equations", "{ x = \"v\" }")], ""), @r#"
    error: [data.simulate.equations] lacks the state variable `v`
      experiment.toml:6:13
        equations = { x = "v" }
                    ^^^^^^^^^^^
    hint: it needs one for each of `x`, `v`: add `v = "…"`
    "#);
    assert_snapshot!(simulate(&[("equations", "{ x = \"v\", w = \"-x\" }")], ""), @r#"
    error: unknown state variable `w` in [data.simulate.equations]
      experiment.toml:6:24
        equations = { x = "v", w = "-x" }
                               ^
    hint: the state variables are `x`, `v`
    "#);
    assert_snapshot!(simulate(&[("equations", "{ x = \"v\", v = \"-y\" }")], ""), @r#"
    error: the equation of `v` uses `y`, which is not known
      experiment.toml:6:30
        equations = { x = "v", v = "-y" }
                                     ^
    hint: the state variables are `x`, `v`
    "#);
    assert_snapshot!(simulate(&[("equations", "{ x = \"next(v)\", v = \"-x\" }")], ""), @r#"
    error: the equation of `x` cannot be read: `next` refers to another time step, which is only allowed in a law
      experiment.toml:6:20
        equations = { x = "next(v)", v = "-x" }
                           ^^^^^^^
    "#);
    assert_snapshot!(simulate(&[("initial", "{ x = 1 }")], ""), @"
    error: [data.simulate.initial] lacks the state variable `v`
      experiment.toml:6:11
        initial = { x = 1 }
                  ^^^^^^^^^
    hint: it needs one for each of `x`, `v`: add `v = 1.0`
    ");
    assert_snapshot!(simulate(&[("initial", "")], ""), @"
    error: `[data.simulate] initial` is needed because it is the initial state of the simulation
      experiment.toml:3:1
        [data.simulate]
        ^^^^^^^^^^^^^^^
    hint: write `initial = { x = 1.0 }`
    ");
    assert_snapshot!(simulate(&[("method", "\"eular\"")], ""), @r#"
    error: unknown method `eular`
      experiment.toml:7:10
        method = "eular"
                 ^^^^^^^
    hint: did you mean `euler`?
    "#);
    assert_snapshot!(simulate(&[("inputs", "{ u = \"1\" }")], ""), @r#"
    error: unknown input `u` in [data.simulate.inputs]
      experiment.toml:7:12
        inputs = { u = "1" }
                   ^
    hint: [system] has no inputs
    "#);
    assert_snapshot!(simulate(&[("noise", "{ seed = 1 }")], ""), @"
    error: `noise` needs either `std` or `relative`
      experiment.toml:7:9
        noise = { seed = 1 }
                ^^^^^^^^^^^^
    hint: for example `noise = { std = 0.01, seed = 1 }`
    ");
    assert_snapshot!(simulate(&[("noise", "{ std = -1 }")], ""), @"
    error: `std` in [data.simulate.noise] is -1, but must be a number of at least 0
      experiment.toml:7:17
        noise = { std = -1 }
                        ^^
    hint: for example `std = 0.01`
    ");
}

#[test]
fn a_grid_has_a_beginning_an_end_and_points() {
    assert_snapshot!(simulate(&[("grid", "")], ""), @"
    error: `[data.simulate] grid` is needed because it gives the times of the simulation
      experiment.toml:3:1
        [data.simulate]
        ^^^^^^^^^^^^^^^
    hint: write `grid = { from = 0, to = 50, points = 400 }`
    ");
    assert_snapshot!(simulate(&[("grid", "{ from = 0, to = 5 }")], ""), @"
    error: `[data.simulate.grid] points` is needed because it is the number of times
      experiment.toml:6:8
        grid = { from = 0, to = 5 }
               ^^^^^^^^^^^^^^^^^^^^
    hint: write `points = 200`
    ");
    assert_snapshot!(simulate(&[("grid", "{ from = 0, points = 5 }")], ""), @"
    error: this grid has no end
      experiment.toml:6:8
        grid = { from = 0, points = 5 }
               ^^^^^^^^^^^^^^^^^^^^^^^^
    hint: add `to = 50` or `step = 0.5`
    ");
    assert_snapshot!(simulate(&[("grid", "{ from = 5, to = 1, points = 5 }")], ""), @"
    error: the grid ends at 1, which is not after its start, 5
      experiment.toml:6:25
        grid = { from = 5, to = 1, points = 5 }
                                ^
    hint: `to` must be larger than `from`
    ");
    assert_snapshot!(simulate(&[("grid", "{ to = 1, step = 1, points = 5 }")], ""), @"
    error: a grid has `to` or `step`, not both
      experiment.toml:6:25
        grid = { to = 1, step = 1, points = 5 }
                                ^
    hint: the other one follows from `points`
    ");
    assert_snapshot!(simulate(&[("grid", "{ to = 1, points = 1 }")], ""), @"
    error: `points` in [data.simulate.grid] is 1, but must be a whole number from 2 to 10000000
      experiment.toml:6:27
        grid = { to = 1, points = 1 }
                                  ^
    hint: for example `points = 200`
    ");
    assert_snapshot!(simulate(&[("grid", "{ from = 1e16, step = 0.1, points = 5 }")], ""), @"
    error: the times of this grid are so close that some round to the same number
      experiment.toml:6:30
        grid = { from = 1e16, step = 0.1, points = 5 }
                                     ^^^
    hint: use fewer points, a larger step, or times nearer to 0
    ");
    assert_snapshot!(simulate(&[("grid", ""), ("grids", "[{ to = 1, points = 5 }, { to = 2, points = 5 }]")], ""), @"
    error: `grids` has 2 grids for 1 initial state
      experiment.toml:6:9
        grids = [{ to = 1, points = 5 }, { to = 2, points = 5 }]
                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    hint: write one grid for each initial state, or one `grid` for all
    ");
}

#[test]
fn a_simulation_that_fails_says_where() {
    let blow_up = [("equations", "{ x = \"x^2\", v = \"0\" }")];
    assert_snapshot!(simulate(&blow_up, ""), @r#"
    error: the simulation of trajectory `1` failed: the step size 4.951594689828198e-14 fell below its floor 5e-14 at t = 0.9999999999944246, y = [1.8839163684695898e11, 0]
      experiment.toml:6:13
        equations = { x = "x^2", v = "0" }
                    ^^^^^^^^^^^^^^^^^^^^^^
    hint: the solution may blow up there, or the system may be stiff for an explicit method
    "#);
}

#[test]
fn a_test_set_has_one_source() {
    assert_snapshot!(error_with("[test.a]\n"), @r#"
    error: this test set has no data
      experiment.toml:6:1
        [test.a]
        ^^^^^^^^
    hint: write one of `file = "test.csv"`, `grid = { from = 0, to = 100, points = 200 }` (simulated data), `after = 40.0`, `every = 4`, `trajectories = ["a"]`
    "#);
    assert_snapshot!(error_with("[test.a]\nafter = 5\nfile = \"b.csv\"\n"), @r#"
    error: this test set has `file`, `after`, but can have only one of them
      experiment.toml:6:1
        [test.a]
        ^^^^^^^^
    hint: write one of `file = "test.csv"`, `grid = { from = 0, to = 100, points = 200 }` (simulated data), `after = 40.0`, `every = 4`, `trajectories = ["a"]`
    "#);
    assert_snapshot!(error_with("[test.a]\ngrid = { to = 1, points = 5 }\n"), @r#"
    error: `grid` needs simulated data, but these are read from a file
      experiment.toml:7:8
        grid = { to = 1, points = 5 }
               ^^^^^^^^^^^^^^^^^^^^^^
    hint: give a file of measurements: `file = "test.csv"`
    "#);
    assert_snapshot!(error_with("[[test]]\nafter = 5\n"), @"
    error: each test set has a name
      experiment.toml:6:1
        [[test]]
        ^^^^^^^^
    hint: write a line `[test.later]`, and its keys below it
    ");
    assert_snapshot!(error_with("[test.reconstruction]\nafter = 5\n"), @"
    error: the name `reconstruction` is reserved for the training set
      experiment.toml:6:7
        [test.reconstruction]
              ^^^^^^^^^^^^^^
    hint: give the test set another name
    ");
    assert_snapshot!(error_with("[test.\"a/b\"]\nafter = 5\n"), @r#"
    error: a test set cannot be called `a/b`: a file name cannot contain `/`
      experiment.toml:6:7
        [test."a/b"]
              ^^^^^
    hint: it is used as a file name: use letters, digits, `-` and `_`
    "#);
    assert_snapshot!(error_with("[test.later]\nafter = 5\n[test.Later]\nafter = 6\n"), @"
    error: another test set has the same name as `Later`, apart from upper and lower case
      experiment.toml:8:7
        [test.Later]
              ^^^^^
    hint: give it another name: some file systems ignore case
    ");
}

#[test]
fn what_is_held_out_must_exist_and_leave_something() {
    assert_snapshot!(error_with("[test.a]\nafter = 50\n"), @"
    error: no row comes after t = 50: the data end at 9
      experiment.toml:7:9
        after = 50
                ^^
    hint: choose an earlier time
    ");
    assert_snapshot!(error_with("[test.a]\nafter = 0.5\n"), @r#"
    error: trajectory `data` has 1 row up to t = 0.5, too few to train on
      experiment.toml:7:9
        after = 0.5
                ^^^
    hint: choose a later time, or hold the trajectory out: `trajectories = ["…"]`
    "#);
    assert_snapshot!(error_with("[test.a]\ntrajectories = [\"Data\"]\n"), @r#"
    error: there is no trajectory `Data`
      experiment.toml:7:17
        trajectories = ["Data"]
                        ^^^^^^
    hint: did you mean `data`?
    "#);
    assert_snapshot!(error_with("[test.a]\ntrajectories = [\"data\"]\n"), @r#"
    error: every trajectory is held out: none is left for training
      experiment.toml:7:16
        trajectories = ["data"]
                       ^^^^^^^^
    hint: remove a name from the list
    "#);
}

#[test]
fn a_test_file_that_is_missing_is_shown_where_it_is_named() {
    assert_snapshot!(error_with("[test.a]\nfile = \"test.csv\"\n"), @r#"
    error: there is no file `test.csv`
      experiment.toml:7:8
        file = "test.csv"
               ^^^^^^^^^^
    hint: the folder has `data.csv`
    "#);
}

#[test]
fn an_input_needs_a_signal() {
    let folder = Folder::new(&[(
        "experiment.toml",
        "[system]\nstate = [\"x\"]\ninputs = [\"u\"]\n[data.simulate]\nequations = { x = \"u\" }\n\
         initial = { x = 0 }\ngrid = { to = 1, points = 5 }\n",
    )]);
    assert_snapshot!(folder.error(), @r#"
    error: `[data.simulate] inputs` is needed because `[system] inputs` names some
      experiment.toml:4:1
        [data.simulate]
        ^^^^^^^^^^^^^^^
    hint: write `inputs = { u = "sin(t)" }`, an expression of `t` for each
    "#);
}

/// A line measured up to t = 9, with a horizon.
fn horizon(value: &str, more: &str) -> String {
    let system = format!("[system]\nstate = [\"x\"]\nhorizon = {value}\n");
    error(&format!("{system}[data]\nfile = \"data.csv\"\n{more}"))
}

#[test]
fn a_horizon_is_a_time_after_the_data() {
    let law = "[[law]]\nholds = \"x >= 0\"\n";
    assert_snapshot!(horizon("8.5", law), @r#"
    error: `horizon` has no effect: no trajectory of the training data ends before t = 8.5
      experiment.toml:3:11
        horizon = 8.5
                  ^^^
    hint: give 9 or a later time, or leave it out
    "#);
    assert_snapshot!(horizon("20", ""), @r#"
    error: `horizon` has no effect: there is no law
      experiment.toml:3:11
        horizon = 20
                  ^^
    hint: leave it out, or add a [[law]]
    "#);
    assert_snapshot!(horizon("\"late\"", law), @r#"
    error: `horizon` in [system] is the text "late", but must be a finite number
      experiment.toml:3:11
        horizon = "late"
                  ^^^^^^
    hint: for example `horizon = 20.0`
    "#);
    assert_snapshot!(horizon("inf", law), @r#"
    error: `horizon` in [system] is inf, but must be a finite number
      experiment.toml:3:11
        horizon = inf
                  ^^^
    hint: for example `horizon = 20.0`
    "#);
}
