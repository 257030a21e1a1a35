//! Invalid commands and options: exit code 2 and a message with a hint.

use insta::assert_snapshot;

use crate::support::{Place, Said, TINY};

fn refused(said: &Said) -> &str {
    assert_eq!((said.code, said.out.as_str()), (2, ""), "{}", said.err);
    &said.err
}

#[test]
fn mistyped_commands_and_options_are_refused_with_a_tip() {
    let place = Place::new();
    for (words, tip) in [
        (&["tarin", "x"][..], "a similar subcommand exists: 'train'"),
        (&["train", "x", "--sed", "1"], "a similar argument exists: '--seed'"),
        (&["predict", "x", "--method", "rk5"], "a similar value exists: 'rk4'"),
        (&["init", "--example", "osc"], "possible values: oscillator, population, reaction"),
        (&["train"], "<EXPERIMENT>"),
        (&["evaluate", "x", "--model", "bset"], "a similar value exists: 'best'"),
        (&["predict", "x", "--points", "-1"], "unexpected argument '-1'"),
        (&["predict", "x", "--at", "a.csv", "--to", "3"], "cannot be used with"),
    ] {
        let said = place.lawful(words);
        assert!(refused(&said).contains(tip), "{}", said.err);
    }
    assert!(place.names("").is_empty());
}

#[test]
fn no_command_shows_the_help() {
    let said = Place::new().lawful::<&str>([]);
    assert!(refused(&said).contains("lawful demo"), "{}", said.err);
    let help = Place::new().lawful(["--help"]);
    assert_eq!((help.code, help.err.as_str()), (0, ""));
}

#[test]
fn predictions_that_make_no_sense_are_refused() {
    let (place, run) = Place::trained(TINY);
    let predict = |options: &str| {
        let words = ["predict", &run].into_iter().chain(options.split(' '));
        refused(&place.lawful(words)).to_owned()
    };
    assert_snapshot!(predict("--from 5 --to 2"), @"
    error: `--to 2` is not after `--from 5`
    hint: give a larger `--to`, or swap the two
    ");
    assert_snapshot!(predict("--to inf"), @"
    error: `--to inf` is not a time
    hint: give a number, for example `--to 5`
    ");
    assert_snapshot!(predict("--points 0"), @"
    error: `--points 0` prints nothing
    hint: give at least 1, for example `--points 500`
    ");
    assert_snapshot!(predict("--from -1"), @"
    error: the data start at t = 0, after the first requested time, -1
    hint: request times from 0 on, or give the initial state: `--initial x=1,v=1`
    ");
    assert_snapshot!(predict("--initial x=1"), @"
    error: `--initial` does not give `v`
    hint: write it like `--initial x=1,v=1`
    ");
    assert_snapshot!(predict("--initial x=1,v=a"), @"
    error: `a` in `--initial` is not a number
    hint: write it like `--initial x=1,v=1`
    ");
    assert_snapshot!(predict("--initial x=1,v=0,x=2"), @"
    error: `x` is given twice in `--initial`
    hint: write it like `--initial x=1,v=1`
    ");
    assert_snapshot!(predict("--initial x=1,w=0"), @"
    error: `w` in `--initial` is not a state variable
    hint: write it like `--initial x=1,v=1`
    ");
    assert_snapshot!(predict("--initial 1,0"), @"
    error: `1` in `--initial` is not `name=number`
    hint: write it like `--initial x=1,v=1`
    ");
    assert_snapshot!(predict("--method rk4 --substeps 0"), @"
    error: `substeps` must be at least 1, but it is 0
    hint: for example `--substeps 4`
    ");
    assert_snapshot!(predict("--method rk4 --rtol 1e-6"), @"
    error: `rk4` has no error estimate, so it cannot choose its steps
    hint: leave out `--rtol` and `--atol`, or use `--method dopri5`
    ");
    assert_snapshot!(predict("--rtol -1"), @"
    error: `rtol` must be at least 0, but it is -1
    hint: for example `--rtol 1e-9`
    ");
    assert_snapshot!(predict("--method rk4 --substeps 1000000000000"), @"
    error: `--substeps 1000000000000` is too many
    hint: give at most 1000000, for example `--substeps 4`
    ");
    assert_snapshot!(predict("--from 1 --to 1.0000000000000004"), @"
    error: 500 times from 1 to 1.0000000000000004 are too close to be told apart in double precision, whose numbers are 2.2e-16 apart there
    hint: request fewer, for example `--points 2`, or count the time of the data from a later origin
    ");
    assert_snapshot!(predict("--initial x=1,v=0 --from -1e308 --to 1e308 --points 3"), @"
    error: the range from t = -1e308 to 1e308 overflows: it is longer than 1.8e308
    hint: request times that are closer together
    ");
    assert_snapshot!(predict("--at nowhere.csv"), @"
    error: there is no file `nowhere.csv`
    ");
    place.write("times.csv", "t\n1\n0.5\n");
    assert_snapshot!(predict("--at times.csv"), @"
    error: time 0.5 comes after 1
      times.csv:3:1
        0.5
        ^^^
    hint: sort the times, and remove repeated ones
    ");
    place.write("text.csv", "t\n1\nlater\n");
    assert_snapshot!(predict("--at text.csv"), @"
    error: `later` is not a time
      text.csv:3:1
        later
        ^^^^^
    hint: write it like `2.5` or `1e-3`
    ");
}
