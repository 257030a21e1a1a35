//! Messages about the experiment file as a text: missing, not TOML, unknown keys, wrong types.

mod config_support;

use config_support::{Folder, error, error_with};
use insta::assert_snapshot;
use lawful_experiment::{files, read, read_run};

#[test]
fn a_missing_file_is_named_with_its_neighbours() {
    let folder = Folder::new(&[("oscillator.toml", "")]);
    assert_snapshot!(folder.relative(&read(&folder.path("oscilator.toml")).unwrap_err()), @"
    error: there is no file `oscilator.toml`
    hint: did you mean `oscillator.toml`?
    ");
    assert_snapshot!(folder.relative(&read(&folder.path("pendulum.toml")).unwrap_err()), @"
    error: there is no file `pendulum.toml`
    hint: the folder has `oscillator.toml`
    ");
}

#[test]
fn a_folder_stands_for_the_experiment_in_it() {
    let folder = Folder::new(&[("a/other.toml", ""), ("b/notes.txt", "")]);
    assert_snapshot!(folder.relative(&read(&folder.path("a")).unwrap_err()), @"
    error: the folder `a` has no `experiment.toml`
    hint: did you mean `a/other.toml`?
    ");
    assert_snapshot!(folder.relative(&read(&folder.path("b")).unwrap_err()), @"
    error: the folder `b` has no `experiment.toml`
    hint: `lawful init b` writes one
    ");
}

#[test]
fn a_run_folder_must_exist_and_be_one() {
    let folder = Folder::new(&[("a/other.toml", "")]);
    assert_snapshot!(folder.relative(&read_run(&folder.path("runs/x")).unwrap_err()), @"
    error: there is no run folder `runs/x`
    hint: `lawful train` creates run folders, by default in `runs/`
    ");
    assert_snapshot!(folder.relative(&read_run(&folder.path("a")).unwrap_err()), @"
    error: `a` is not a run folder: it has no `config.toml`
    hint: `lawful train` creates run folders, by default in `runs/`
    ");
}

#[test]
fn a_file_in_another_encoding_says_how_to_save_it() {
    let folder = Folder::new(&[]);
    files::write(&folder.path("experiment.toml"), b"name = \"Gr\xf6\xdfe\"\n").unwrap();
    assert_snapshot!(folder.error(), @r#"
    error: `experiment.toml` is not encoded in UTF-8: it seems to be Latin-1 (Windows-1252), where `ö` is one byte
      experiment.toml:1:11
        name = "Größe"
                  ^
    hint: save it as UTF-8 (in an editor or a spreadsheet: Save as, encoding `UTF-8`)
    "#);
}

#[test]
fn text_that_is_not_toml_is_explained() {
    assert_snapshot!(error("name = oscillator\n"), @r#"
    error: a text needs quotes
      experiment.toml:1:8
        name = oscillator
               ^^^^^^^^^^
    hint: write `"oscillator"`
    "#);
    assert_snapshot!(error("name = “oscillator”\n"), @r#"
    error: TOML does not have these quotes
      experiment.toml:1:8
        name = “oscillator”
               ^^^^^^^^^^^^
    hint: use straight quotes: `"…"`
    "#);
    assert_snapshot!(error("name =\n"), @r#"
    error: a value is missing after `=`
      experiment.toml:1:7
        name =
              ^
    hint: a text is written in quotes: `"…"`
    "#);
    assert_snapshot!(error("name: oscillator\n"), @"
    error: a key is followed by `=`, not by `:`
      experiment.toml:1:5
        name: oscillator
            ^
    hint: write `name = …`
    ");
}

#[test]
fn brackets_quotes_and_numbers_that_are_not_toml_are_explained() {
    assert_snapshot!(error("[system\nstate = [\"x\"]\n"), @"
    error: the bracket `[` of this header is never closed
      experiment.toml:1:8
        [system
               ^
    hint: write `]` at its end
    ");
    assert_snapshot!(error("[system]\nstate = [\"x\", \"v]\n"), @r#"
    error: the closing quote of this text is missing
      experiment.toml:2:15
        state = ["x", "v]
                      ^^^
    hint: end it with `"`
    "#);
    assert_snapshot!(error("[system]\nstate = [\"x\", \"v\"\ninputs = []\n"), @"
    error: a `,` or a closing bracket is missing before this
      experiment.toml:3:1
        inputs = []
        ^^^^^^
    ");
    assert_snapshot!(error("[system]\n[system]\n"), @"
    error: `system` is given twice, first in line 1
      experiment.toml:2:2
        [system]
         ^^^^^^
    hint: keep one of them
    ");
    assert_snapshot!(error("[training]\nseed = 1\nseed = 2\n"), @"
    error: `seed` is given twice, first in line 2
      experiment.toml:3:1
        seed = 2
        ^^^^
    hint: keep one of them
    ");
    assert_snapshot!(error("[data]\nfile = \"C:\\data\\a.csv\"\n"), @r#"
    error: `\d` is not an escape in double quotes
      experiment.toml:2:11
        file = "C:\data\a.csv"
                  ^^
    hint: use `/` in paths, or single quotes: `'C:\data\a.csv'`
    "#);
    assert_snapshot!(error("[test.later]\nafter = 1,5\n"), @"
    error: unexpected `,`
      experiment.toml:2:10
        after = 1,5
                 ^
    hint: write `1.5` for a number, or `[1, 5]` for a list
    ");
    assert_snapshot!(error("[test.later]\nafter = .5\n"), @"
    error: a number needs digits on both sides of the decimal point
      experiment.toml:2:9
        after = .5
                ^^
    hint: write `0.5`
    ");
    assert_snapshot!(error("[field]\ntime-input = True\n"), @"
    error: `True` is not a value
      experiment.toml:2:14
        time-input = True
                     ^^^^
    hint: write `true`
    ");
    assert_snapshot!(error("{\"name\": \"oscillator\"}"), @r#"
    error: this is JSON, and an experiment file is TOML
      experiment.toml:1:1
        {"name": "oscillator"}
        ^
    hint: write lines `key = value` below headers `[section]`
    "#);
    assert_snapshot!(error("[system]\nconstants = { größe = 1 }\n"), @r#"
    error: letters like these need quotes in a key
      experiment.toml:2:17
        constants = { größe = 1 }
                        ^^
    hint: write the key in quotes: `"größe"`
    "#);
}

#[test]
fn an_unknown_key_is_an_error_with_a_suggestion() {
    assert_snapshot!(error_with("[training]\noptimizer = \"adam\"\n"), @r#"
    error: unknown key `optimizer` in [training]
      experiment.toml:7:1
        optimizer = "adam"
        ^^^^^^^^^
    hint: did you mean `optimiser`?
    "#);
    assert_snapshot!(error_with("[traning]\nseed = 1\n"), @"
    error: unknown section `[traning]`
      experiment.toml:6:2
        [traning]
         ^^^^^^^
    hint: did you mean `training`?
    ");
    assert_snapshot!(error_with("[field]\ncolour = 50\n"), @"
    error: unknown key `colour` in [field]
      experiment.toml:7:1
        colour = 50
        ^^^^^^
    hint: the keys here are `hidden`, `activations`, `init`, `time-input`, `precision`, `coordinates`, `known`, `learn`, `effects`
    ");
    assert_snapshot!(error_with("[training]\nhidden = [50]\n"), @"
    error: unknown key `hidden` in [training]
      experiment.toml:7:1
        hidden = [50]
        ^^^^^^
    hint: `hidden` belongs in `[field]`
    ");
    assert_snapshot!(error_with("[training]\noptimiser = { kind = \"adam\", lr = 0.1 }\n"), @r#"
    error: unknown key `lr` in [training.optimiser]
      experiment.toml:7:30
        optimiser = { kind = "adam", lr = 0.1 }
                                     ^^
    hint: it is called `rate` here
    "#);
    assert_snapshot!(error("seed = 1\n"), @"
    error: unknown key `seed` at the top of the file
      experiment.toml:1:1
        seed = 1
        ^^^^
    hint: `seed` belongs in `[training]`
    ");
    assert_snapshot!(error_with("[[laws]]\nholds = \"x <= 1\"\n"), @"
    error: unknown section `[[laws]]`
      experiment.toml:6:3
        [[laws]]
          ^^^^
    hint: did you mean `law`?
    ");
}

#[test]
fn what_other_programs_call_a_key_is_understood() {
    assert_snapshot!(error_with("[training]\nlr = 0.1\n"), @"
    error: unknown key `lr` in [training]
      experiment.toml:7:1
        lr = 0.1
        ^^
    hint: it is called `rate` and belongs in `[training.optimiser]`
    ");
    assert_snapshot!(error_with("[training]\noptimiser = { lr = 0.1 }\n"), @"
    error: unknown key `lr` in [training.optimiser]
      experiment.toml:7:15
        optimiser = { lr = 0.1 }
                      ^^
    hint: it is called `rate` here
    ");
    assert_snapshot!(error_with("[training]\nepochs = 100\n"), @"
    error: unknown key `epochs` in [training]
      experiment.toml:7:1
        epochs = 100
        ^^^^^^
    hint: it is called `iterations` here
    ");
    assert_snapshot!(error_with("[model]\nlayers = [50]\n"), @"
    error: unknown section `[model]`
      experiment.toml:6:2
        [model]
         ^^^^^
    hint: it is called `field` here
    ");
    assert_snapshot!(error_with("law = \"x <= 1\"\n"), @r#"
    error: unknown key `law` in [data]
      experiment.toml:6:1
        law = "x <= 1"
        ^^^
    hint: write a line `[[law]]`, and its keys below it
    "#);
}

#[test]
fn a_key_of_a_later_version_is_unknown() {
    for more in [
        "[training]\nrecipe = \"fast\"\n",
        "[strategy]
lagrangian = true
",
        "[[law]]\nholds = \"x <= 9\"\npriority = 2\n",
        "[compare]\nseeds = [1, 2]\n",
    ] {
        assert!(error_with(more).starts_with("error: unknown "), "{more}");
    }
}

#[test]
fn a_wrong_type_says_what_was_found_and_what_is_needed() {
    assert_snapshot!(error_with("[training]\nseed = \"one\"\n"), @r#"
    error: `seed` in [training] is the text "one", but must be a whole number of at least 0
      experiment.toml:7:8
        seed = "one"
               ^^^^^
    hint: for example `seed = 1`
    "#);
    assert_snapshot!(error_with("[training]\nbatch = 4\n"), @"
    error: `batch` in [training] is 4, but must be a table
      experiment.toml:7:9
        batch = 4
                ^
    hint: for example `batch = { trajectories = 4 }` or `batch = { windows = 8, rows = 20 }`
    ");
    assert_snapshot!(error_with("[field]\nhidden = 50\n"), @"
    error: `hidden` in [field] is 50, but must be a list with the width of each hidden layer
      experiment.toml:7:10
        hidden = 50
                 ^^
    hint: for example `hidden = [50, 50]`
    ");
    assert_snapshot!(error_with("[field]\ntime-input = 1\n"), @"
    error: `time-input` in [field] is 1, but must be `true` or `false`
      experiment.toml:7:14
        time-input = 1
                     ^
    hint: for example `time-input = true`
    ");
    assert_snapshot!(error_with("[field]\ninit = 0.1\n"), @r#"
    error: `init` in [field] is 0.1, but must be a name or a table
      experiment.toml:7:8
        init = 0.1
               ^^^
    hint: for example `init = "normal"`
    "#);
    assert_snapshot!(error("training = 5\n[system]\nstate = [\"x\"]\n[data]\nfile=\"data.csv\"\n"), @"
    error: `training` is 5, but must be a table
      experiment.toml:1:12
        training = 5
                   ^
    hint: write its keys below a line `[training]`
    ");
    assert_snapshot!(error("[system]\nstate = \"x\"\n"), @r#"
    error: `state` in [system] is the text "x", but must be a list of names
      experiment.toml:2:9
        state = "x"
                ^^^
    hint: for example `state = ["x", "v"]`
    "#);
    assert_snapshot!(error("[system]\nstate = [\"x\", 2]\n"), @r#"
    error: an entry of `state` in [system] is 2, but must be a text
      experiment.toml:2:15
        state = ["x", 2]
                      ^
    hint: for example `"x"`
    "#);
    assert_snapshot!(error("[system]\nstate = [\"x\"]\nconstants = { k = \"1\" }\n"), @r#"
    error: `k` in [system.constants] is the text "1", but must be a finite number
      experiment.toml:3:19
        constants = { k = "1" }
                          ^^^
    hint: for example `k = 1.0`
    "#);
    assert_snapshot!(error("[system]\nstate = [\"x\"]\nconstants = { k = inf }\n"), @"
    error: `k` in [system.constants] is inf, but must be a finite number
      experiment.toml:3:19
        constants = { k = inf }
                          ^^^
    hint: for example `k = 1.0`
    ");
    assert_snapshot!(error_with("[test]\nafter = 5.0\n"), @"
    error: `after` must be in a test set with a name
      experiment.toml:7:1
        after = 5.0
        ^^^^^
    hint: write `[test.later]`, and `after = …` below it
    ");
    assert_snapshot!(error_with("[law]\nholds = \"x <= 1\"\n"), @r#"
    error: laws are a list, each with a header in double brackets
      experiment.toml:6:1
        [law]
        ^^^^^
    hint: write a line `[[law]]`, and `holds = "…"` below it
    "#);
    assert_snapshot!(error_with("[solver]\nmemory = \"much\"\n"), @r#"
    error: `memory` in [solver] is the text "much", but must be bytes, or a number with one of the units kB, MB, GB, KiB, MiB, GiB
      experiment.toml:7:10
        memory = "much"
                 ^^^^^^
    hint: for example `memory = "1 GiB"`
    "#);
}

#[test]
fn a_missing_key_is_an_error_with_its_reason() {
    assert_snapshot!(error(""), @r#"
    error: `[system] state` is needed because it names the state variables
      experiment.toml
    hint: write `state = ["x", "v"]` below a line `[system]`, with your names
    "#);
    assert_snapshot!(error("[system]\ninputs = [\"u\"]\n"), @r#"
    error: `[system] state` is needed because it names the state variables
      experiment.toml:1:1
        [system]
        ^^^^^^^^
    hint: write `state = ["x", "v"]` below a line `[system]`, with your names
    "#);
    assert_snapshot!(error("[system]\nstate = []\n"), @r#"
    error: `state` is empty: there must be at least one state variable
      experiment.toml:2:9
        state = []
                ^^
    hint: for example `state = ["x", "v"]`
    "#);
    assert_snapshot!(error("[system]\nstate = [\"x\", \"v\"]\n"), @r#"
    error: there are no training data
      experiment.toml
    hint: write `file = "measurements.csv"` below `[data]`, with the columns t, x, v; or equations below `[data.simulate]`
    "#);
    assert_snapshot!(error("[system]\nstate = [\"x\"]\n[data]\ntime = \"s\"\n"), @r#"
    error: there are no training data
      experiment.toml:3:1
        [data]
        ^^^^^^
    hint: write `file = "measurements.csv"` below `[data]`, with the columns t, x; or equations below `[data.simulate]`
    "#);
    assert_snapshot!(error_with("[[law]]\nname = \"bound\"\n"), @r#"
    error: `[[law]] holds` is needed because it is the law itself
      experiment.toml:6:1
        [[law]]
        ^^^^^^^
    hint: write `holds = "x <= 1"`
    "#);
}

#[test]
fn a_name_must_be_usable_for_a_folder() {
    assert_snapshot!(error("name = \"a/b\"\n"), @r#"
    error: the experiment cannot be named "a/b": a file name cannot contain `/`
      experiment.toml:1:8
        name = "a/b"
               ^^^^^
    hint: it is used as a folder name: use letters, digits, `-` and `_`
    "#);
    assert_snapshot!(error("name = \"\"\n"), @r#"
    error: the experiment cannot be named "": it is empty
      experiment.toml:1:8
        name = ""
               ^^
    hint: it is used as a folder name: use letters, digits, `-` and `_`
    "#);
}
