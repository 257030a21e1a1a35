//! Experiment files that cannot run: exit code 2, one message with place and hint, no run folder.

use insta::assert_snapshot;

use crate::support::{Place, tiny};

/// What is said about the tiny experiment with a part replaced.
fn refused(part: &str, with: &str) -> String {
    let place = Place::with(&tiny(part, with));
    let checked = place.lawful(["check", "experiment.toml"]);
    let said = place.lawful(["train", "experiment.toml"]);
    assert_eq!((said.code, said.out.as_str()), (2, ""), "{with}: {}", said.err);
    assert_eq!((checked.code, checked.err), (2, said.err.clone()), "check says the same");
    assert_eq!(place.names(""), ["experiment.toml"], "nothing is left behind");
    said.err
}

#[test]
fn a_file_that_is_not_there_is_refused() {
    let place = Place::new();
    place.write("experimant.toml", "");
    let said = place.lawful(["train", "experiment.toml"]);
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert_snapshot!(said.err, @"
    error: there is no file `experiment.toml`
    hint: did you mean `experimant.toml`?
    ");
    assert_eq!(place.names(""), ["experimant.toml"]);
    let said = place.lawful(["train", "."]);
    assert_snapshot!(said.err, @"
    error: the folder `.` has no `experiment.toml`
    hint: did you mean `./experimant.toml`?
    ");
}

#[test]
fn a_file_with_wrong_words_is_refused() {
    assert_snapshot!(refused("name = \"tiny\"", "name = \"tiny"), @r#"
    error: the closing quote of this text is missing
      experiment.toml:1:8
        name = "tiny
               ^^^^^
    hint: end it with `"`
    "#);
    assert_snapshot!(refused("hidden = [6]", "hiden = [6]"), @"
    error: unknown key `hiden` in [field]
      experiment.toml:15:1
        hiden = [6]
        ^^^^^
    hint: did you mean `hidden`?
    ");
    assert_snapshot!(refused("[training]", "[trainig]"), @"
    error: unknown section `[trainig]`
      experiment.toml:19:2
        [trainig]
         ^^^^^^^
    hint: did you mean `training`?
    ");
    assert_snapshot!(refused("hidden = [6]", "hidden = \"six\""), @r#"
    error: `hidden` in [field] is the text "six", but must be a list with the width of each hidden layer
      experiment.toml:15:10
        hidden = "six"
                 ^^^^^
    hint: for example `hidden = [50, 50]`
    "#);
    assert_snapshot!(refused("iterations = 40", "iterations = 40.5"), @"
    error: `iterations` in [training] is 40.5, but must be a whole number of at least 1
      experiment.toml:21:14
        iterations = 40.5
                     ^^^^
    hint: for example `iterations = 10000`
    ");
    assert_snapshot!(refused("[strategy]", "[solver]\nmethod = \"rk5\"\n[strategy]"), @r#"
    error: unknown method `rk5`
      experiment.toml:18:10
        method = "rk5"
                 ^^^^^
    hint: did you mean `rk4`?
    "#);
    assert_snapshot!(refused("kind = \"self-adaptive\"", "kind = \"self-adaptiv\""), @r#"
    error: unknown strategy `self-adaptiv`
      experiment.toml:18:8
        kind = "self-adaptiv"
               ^^^^^^^^^^^^^^
    hint: did you mean `self-adaptive`?
    "#);
    assert_snapshot!(refused("activations = \"tanh\"", "activations = \"tahn\""), @r#"
    error: unknown activation `tahn`
      experiment.toml:16:15
        activations = "tahn"
                      ^^^^^^
    hint: did you mean `tanh`?
    "#);
}

#[test]
fn an_unclear_law_is_an_error() {
    assert_snapshot!(refused("holds = \"next(E) <= E\"", "holds = \"next(E) <= * E\""), @r#"
    error: the law `energy never rises` cannot be read: an expression is missing before `*`
      experiment.toml:7:21
        holds = "next(E) <= * E"
                            ^
    "#);
    assert_snapshot!(refused("holds = \"next(E) <= E\"", "holds = \"next(F) <= E\""), @r#"
    error: the law `energy never rises` uses `F`, which is not known
      experiment.toml:7:15
        holds = "next(F) <= E"
                      ^
    hint: the state variables are `x`, `v`; the definition is `E`
    "#);
    assert_snapshot!(refused("holds = \"next(E) <= E\"", "holds = \"next(E <= E\""), @r#"
    error: the law `energy never rises` cannot be read: the relation `<=` is not allowed in an expression
      experiment.toml:7:17
        holds = "next(E <= E"
                        ^^
    hint: move the relation outside all brackets
    "#);
    assert_snapshot!(refused("holds = \"next(E) <= E\"", "holds = \"max() <= E\""), @r#"
    error: the law `energy never rises` cannot be read: `max` takes at least 2 arguments, found 0
      experiment.toml:7:10
        holds = "max() <= E"
                 ^^^^^
    "#);
    assert_snapshot!(refused("holds = \"next(E) <= E\"", "holds = \"sin(x, v) <= E\""), @r#"
    error: the law `energy never rises` cannot be read: `sin` takes 1 argument, found 2
      experiment.toml:7:10
        holds = "sin(x, v) <= E"
                 ^^^^^^^^^
    "#);
    assert_snapshot!(refused("holds = \"next(E) <= E\"", "holds = \"next(E) - E\""), @r#"
    error: the law `energy never rises` cannot be read: a law needs a relation
      experiment.toml:7:10
        holds = "next(E) - E"
                 ^^^^^^^^^^^
    hint: write a relation, for example `x <= 1` or `a + b == 1`
    "#);
    assert_snapshot!(refused("holds = \"next(E) <= E\"", "holds = \"1 <= 2\""), @r#"
    error: the law `energy never rises` does not depend on any state variable
      experiment.toml:7:10
        holds = "1 <= 2"
                 ^^^^^^
    hint: a law must depend on the state: use a state variable in it
    "#);
    assert_snapshot!(refused("E = \"v^2/2 + x^2/2\"", "E = \"F + v\", F = \"2*E\""), @r#"
    error: the definition of `F` cannot be read: the definitions are circular: E → F → E
      experiment.toml:4:32
        define = { E = "F + v", F = "2*E" }
                                       ^
    "#);
}

#[test]
fn numbers_outside_their_range_are_refused() {
    assert_snapshot!(refused("hidden = [6]", "hidden = [0]"), @"
    error: an entry of `hidden` in [field] is 0, but must be a whole number from 1 to 1000000
      experiment.toml:15:11
        hidden = [0]
                  ^
    hint: for example `50`
    ");
    assert_snapshot!(refused("hidden = [6]", "hidden = [4000000000]"), @"
    error: an entry of `hidden` in [field] is 4000000000, but must be a whole number from 1 to 1000000
      experiment.toml:15:11
        hidden = [4000000000]
                  ^^^^^^^^^^
    hint: for example `50`
    ");
    assert_snapshot!(refused("hidden = [6]", "hidden = [60000, 60000]"), @"
    error: this network would have 3.6e9 parameters
      experiment.toml:15:10
        hidden = [60000, 60000]
                 ^^^^^^^^^^^^^^
    hint: use smaller layers; at most 1e8 are possible
    ");
    assert_snapshot!(refused("activations = \"tanh\"", "activations = [\"tanh\", \"elu\"]"), @r#"
    error: `activations` has 2 words for 1 hidden layer
      experiment.toml:16:15
        activations = ["tanh", "elu"]
                      ^^^^^^^^^^^^^^^
    hint: write one word for all layers, or one for each of `hidden`
    "#);
    assert_snapshot!(refused("kind = \"self-adaptive\"", "kind = \"self-adaptive\"\ntolerance = -1e-4"), @"
    error: `tolerance` in [strategy] is -1e-4, but must be a number of at least 0
      experiment.toml:19:13
        tolerance = -1e-4
                    ^^^^^
    hint: for example `tolerance = 1e-4`
    ");
    assert_snapshot!(refused("kind = \"self-adaptive\"", "kind = \"l1\"\nmu = [1, 2]"), @"
    error: `mu` has 2 weights for 1 law
      experiment.toml:19:6
        mu = [1, 2]
             ^^^^^^
    hint: write one number for all laws, or a list with one for each `[[law]]`
    ");
    assert_snapshot!(refused("rate = 1e-2", "rate = -1e-2"), @r#"
    error: `rate` in [training.optimiser] is -1e-2, but must be a number above 0
      experiment.toml:20:37
        optimiser = { kind = "adam", rate = -1e-2, schedule = "cosine" }
                                            ^^^^^
    hint: for example `rate = 1e-3`
    "#);
    assert_snapshot!(refused("iterations = 40", "iterations = -1"), @"
    error: `iterations` in [training] is -1, but must be a whole number of at least 1
      experiment.toml:21:14
        iterations = -1
                     ^^
    hint: for example `iterations = 10000`
    ");
    assert_snapshot!(refused("points = 20", "points = 1"), @"
    error: `points` in [data.simulate.grid] is 1, but must be a whole number from 2 to 10000000
      experiment.toml:11:37
        grid = { from = 0, to = 5, points = 1 }
                                            ^
    hint: for example `points = 200`
    ");
}

#[test]
fn data_from_two_places_are_refused() {
    assert_snapshot!(refused("[data.simulate]", "[data]\nfile = \"a.csv\"\n[data.simulate]"), @r#"
    error: `file` and `[data.simulate]` cannot both be given
      experiment.toml:9:8
        file = "a.csv"
               ^^^^^^^
    hint: keep one of the two
    "#);
}
