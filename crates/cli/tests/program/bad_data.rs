//! Tables that cannot be learned from: exit code 2, one message with place and hint, no run folder.

use insta::assert_snapshot;

use crate::support::{Place, with_data};

/// What is said about measurements; without any, the file is not there.
fn refused(csv: Option<&str>) -> String {
    let place = Place::with(&with_data("[data]\nfile = \"data.csv\"\n"));
    if let Some(csv) = csv {
        place.write("data.csv", csv);
    }
    let before = place.names("");
    let said = place.lawful(["train", "experiment.toml"]);
    assert_eq!((said.code, said.out.as_str()), (2, ""), "{}", said.err);
    assert_eq!(place.names(""), before, "nothing is left behind");
    said.err
}

#[test]
fn a_table_that_cannot_be_read_is_refused() {
    assert_snapshot!(refused(None), @r#"
    error: there is no file `data.csv`
      experiment.toml:9:8
        file = "data.csv"
               ^^^^^^^^^^
    "#);
    assert_snapshot!(refused(Some("")), @"
    error: `data.csv` is empty
      data.csv
    hint: write the names of the columns in the first line
    ");
    assert_snapshot!(refused(Some("t,x,v\n")), @"
    error: `data.csv` has a header, but no rows
      data.csv
    hint: at least two rows are needed
    ");
    assert_snapshot!(refused(Some("t,x\n0,1\n1,2\n")), @r#"
    error: `data.csv` has no column `v`
      data.csv:1:1
        t,x
        ^^^
    hint: the columns are `t`, `x`; name the right one with `columns = { v = "…" }` in [data]
    "#);
    assert_snapshot!(refused(Some("t,x,v\n0,1,0\n1,abc,0\n")), @r#"
    error: `x` in line 3 is `abc`, which is not a number
      data.csv:3:3
        1,abc,0
          ^^^
    hint: to count it as missing, write `missing = ["", "NA", "NaN", "abc"]` in [data]
    "#);
    assert_snapshot!(refused(Some("t,x,v\n0,1,0\n1,inf,0\n")), @r#"
    error: `x` in line 3 is infinite (`inf`)
      data.csv:3:3
        1,inf,0
          ^^^
    hint: correct or delete it; to count it as missing, write `missing = ["", "NA", "NaN", "inf"]` in [data]
    "#);
    assert_snapshot!(refused(Some("t,x,v\n0,1,0\n1,2\n")), @"
    error: line 3 has 2 cells, but the header has 3
      data.csv:3:4
        1,2
           ^
    hint: a missing cell still needs its `,`
    ");
    assert_snapshot!(refused(Some("t;x;v\n0;1;0\n1;2;0\n")), @r#"
    error: `data.csv` has only one column: its cells are not separated by `,`
      data.csv:1:1
        t;x;v
        ^^^^^
    hint: write `separator = ";"` in [data]
    "#);
}

#[test]
fn times_and_initial_states_that_make_no_sense_are_refused() {
    assert_snapshot!(refused(Some("t,x,v\n0,1,0\n2,1,0\n1,1,0\n")), @r#"
    error: time goes back: 1 in line 4 comes after 2 in line 3
      data.csv:4:1
        1,1,0
        ^
    hint: sort the rows by time; if these are several trajectories, add a column with their names, and `trajectory = "…"` in [data]
    "#);
    assert_snapshot!(refused(Some("t,x,v\n0,1,0\n1,1,0\n1,1,0\n")), @r#"
    error: time 1 appears twice: in line 3 and in line 4
      data.csv:4:1
        1,1,0
        ^
    hint: keep one row per time; if these are several trajectories, add a column with their names, and `trajectory = "…"` in [data]
    "#);
    assert_snapshot!(refused(Some("t,x,v\n0,1,0\n")), @"
    error: trajectory `data` has only one row
      data.csv:2:1
        0,1,0
        ^^^^^
    hint: at least two are needed: the initial state and one to predict
    ");
    assert_snapshot!(refused(Some("t,x,v\n0,,0\n1,1,0\n")), @r#"
    error: trajectory `data` has no initial value of `x`
      data.csv:2:3
        0,,0
          ^
    hint: its first row is its initial state: fill the cell in, delete the rows before the first complete one, or add `initial-state = "train"` to `[training]`
    "#);
}
