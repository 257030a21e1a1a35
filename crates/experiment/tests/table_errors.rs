//! Messages about tables: each has the line, the column and a hint.

mod config_support;

use config_support::Folder;
use insta::assert_snapshot;
use lawful_experiment::files;

/// Returns the error of a table with the states `x` and `v`.
fn table(csv: &str, settings: &str) -> String {
    let toml = format!("[system]\nstate = [\"x\", \"v\"]\n[data]\nfile = \"data.csv\"\n{settings}");
    Folder::new(&[("experiment.toml", &toml), ("data.csv", csv)]).error()
}

#[test]
fn a_table_needs_a_header_and_rows() {
    assert_snapshot!(table("", ""), @"
    error: `data.csv` is empty
      data.csv
    hint: write the names of the columns in the first line
    ");
    assert_snapshot!(table("\n\n", ""), @"
    error: `data.csv` is empty
      data.csv
    hint: write the names of the columns in the first line
    ");
    assert_snapshot!(table("t,x,v\n", ""), @"
    error: `data.csv` has a header, but no rows
      data.csv
    hint: at least two rows are needed
    ");
    assert_snapshot!(table("0,1,2\n1,2,3\n", ""), @"
    error: the first line of `data.csv` has numbers, but must have the names of the columns
      data.csv:1:1
        0,1,2
        ^^^^^
    hint: add a first line with a name for each column, such as `t,x,v`
    ");
    assert_snapshot!(table("t,x,v\n0,1,2\n", ""), @"
    error: trajectory `data` has only one row
      data.csv:2:1
        0,1,2
        ^^^^^
    hint: at least two are needed: the initial state and one to predict
    ");
}

#[test]
fn a_column_that_is_not_there_is_named_with_those_that_are() {
    assert_snapshot!(table("t,x,w\n0,1,2\n1,2,3\n", ""), @r#"
    error: `data.csv` has no column `v`
      data.csv:1:1
        t,x,w
        ^^^^^
    hint: the columns are `t`, `x`, `w`; name the right one with `columns = { v = "…" }` in [data]
    "#);
    assert_snapshot!(table("t,x,velocity\n0,1,2\n1,2,3\n", ""), @r#"
    error: `data.csv` has no column `v`
      data.csv:1:1
        t,x,velocity
        ^^^^^^^^^^^^
    hint: the columns are `t`, `x`, `velocity`; name the right one with `columns = { v = "…" }` in [data]
    "#);
    assert_snapshot!(table("t,X,v\n0,1,2\n1,2,3\n", ""), @r#"
    error: `data.csv` has no column `x`
      data.csv:1:1
        t,X,v
        ^^^^^
    hint: to use `X`, write `columns = { x = "X" }` in [data]
    "#);
    assert_snapshot!(table("Time (s),x,v\n0,1,2\n1,2,3\n", ""), @r#"
    error: `data.csv` has no column `t` for the time
      data.csv:1:1
        Time (s),x,v
        ^^^^^^^^^^^^
    hint: to use `Time (s)`, write `time = "Time (s)"` in [data]
    "#);
    assert_snapshot!(table("t,x [m],v\n0,1,2\n1,2,3\n", ""), @r#"
    error: `data.csv` has no column `x`
      data.csv:1:1
        t,x [m],v
        ^^^^^^^^^
    hint: to use `x [m]`, write `columns = { x = "x [m]" }` in [data]
    "#);
    assert_snapshot!(table("t,x,v\n0,1,2\n1,2,3\n", "trajectory = \"id\"\n"), @r#"
    error: `data.csv` has no column `id` for the trajectory
      data.csv:1:1
        t,x,v
        ^^^^^
    hint: the columns are `t`, `x`, `v`; name the right one with `trajectory = "…"` in [data]
    "#);
    let folder = Folder::new(&[
        ("experiment.toml", "[system]\nstate = [\"größe\"]\n[data]\nfile = \"data.csv\"\n"),
        ("data.csv", "t,Größe [m]\n0,1\n1,2\n"),
    ]);
    assert_snapshot!(folder.error(), @r#"
    error: `data.csv` has no column `größe`
      data.csv:1:1
        t,Größe [m]
        ^^^^^^^^^^^
    hint: to use `Größe [m]`, write `columns = { "größe" = "Größe [m]" }` in [data]
    "#);
    assert_snapshot!(table("t,x,v,x\n0,1,2,3\n1,2,3,4\n", ""), @"
    error: there are two columns `x`
      data.csv:1:7
        t,x,v,x
              ^
    hint: rename or delete one of them
    ");
}

#[test]
fn another_separator_is_recognised() {
    assert_snapshot!(table("t;x;v\n0;1;2\n1;2;3\n", ""), @r#"
    error: `data.csv` has only one column: its cells are not separated by `,`
      data.csv:1:1
        t;x;v
        ^^^^^
    hint: write `separator = ";"` in [data]
    "#);
    assert_snapshot!(table("t x v\n0 1 2\n1 2 3\n", ""), @r#"
    error: `data.csv` has only one column: its cells are not separated by `,`
      data.csv:1:1
        t x v
        ^^^^^
    hint: write `separator = " "` in [data]
    "#);
    assert_snapshot!(table("# t,x,v\n0,1,2\n1,2,3\n", ""), @"
    error: the first line of `data.csv` is a comment, but must have the names of the columns
      data.csv:1:1
        # t,x,v
        ^^^^^^^
    hint: delete the `#` before the names
    ");
    assert_snapshot!(table("# made by hand\nt,x,v\n0,1,2\n1,2,3\n", ""), @"
    error: the first line of `data.csv` is a comment, but must have the names of the columns
      data.csv:1:1
        # made by hand
        ^^^^^^^^^^^^^^
    hint: delete the lines before the one with the names
    ");
    assert_snapshot!(table("t\tx\tv\n0\t1\t2\n1\t2\t3\n", ""), @r#"
    error: `data.csv` has only one column: its cells are not separated by `,`
      data.csv:1:1
        t x v
        ^^^^^
    hint: write `separator = "tab"` in [data]
    "#);
    assert_snapshot!(table("t,x,v\n0,1,2\n1,2,3\n", "separator = \"tab\"\n"), @r#"
    error: `data.csv` has only one column: its cells are not separated by `tab`
      data.csv:1:1
        t,x,v
        ^^^^^
    hint: write `separator = ","` in [data]
    "#);
}

#[test]
fn a_row_has_as_many_cells_as_the_header() {
    assert_snapshot!(table("t,x,v\n0,1,2\n1,2\n", ""), @"
    error: line 3 has 2 cells, but the header has 3
      data.csv:3:4
        1,2
           ^
    hint: a missing cell still needs its `,`
    ");
    assert_snapshot!(table("t,x,v\n0,0,1,0,2,0\n", ""), @"
    error: line 2 has 6 cells, but the header has 3
      data.csv:2:7
        0,0,1,0,2,0
              ^
    hint: if numbers have decimal commas, save them with decimal points
    ");
    assert_snapshot!(table("t,x,v\n0,1,2,\n1,2,3,\n", ""), @"
    error: line 2 has 4 cells, but the header has 3
      data.csv:2:7
        0,1,2,
              ^
    hint: delete the `,` at its end, or add one to the header
    ");
}

#[test]
fn a_cell_that_is_not_a_number_has_a_hint() {
    assert_snapshot!(table("t,x,v\n0,1,2\n1,broken,3\n", ""), @r#"
    error: `x` in line 3 is `broken`, which is not a number
      data.csv:3:3
        1,broken,3
          ^^^^^^
    hint: to count it as missing, write `missing = ["", "NA", "NaN", "broken"]` in [data]
    "#);
    assert_snapshot!(table("t;x;v\n0;1;2\n1;2,5;3\n", "separator = \";\"\n"), @"
    error: `x` in line 3 is `2,5`, which is not a number
      data.csv:3:3
        1;2,5;3
          ^^^
    hint: numbers have a decimal point: write `2.5`
    ");
    assert_snapshot!(table("t,x,v\n0,1,2\n1,inf,3\n", ""), @r#"
    error: `x` in line 3 is infinite (`inf`)
      data.csv:3:3
        1,inf,3
          ^^^
    hint: correct or delete it; to count it as missing, write `missing = ["", "NA", "NaN", "inf"]` in [data]
    "#);
    assert_snapshot!(table("t,x,v\n0,1,2\n1,2,1e999\n", ""), @"
    error: `v` in line 3 is `1e999`, too large for a number
      data.csv:3:5
        1,2,1e999
            ^^^^^
    hint: change the units so that numbers stay below 1.8e308
    ");
    assert_snapshot!(table("t,x,v\n2024-05-01 12:00,1,2\n", ""), @"
    error: the time in line 2 is `2024-05-01 12:00`, which is not a number
      data.csv:2:1
        2024-05-01 12:00,1,2
        ^^^^^^^^^^^^^^^^
    hint: write times as numbers, for example seconds since the start
    ");
    assert_snapshot!(table("t,x,v\n0,1,2\n1,,3\n", "missing = [\"NA\"]\n"), @r#"
    error: `x` in line 3 is empty, but empty cells do not count as missing
      data.csv:3:3
        1,,3
          ^
    hint: fill it in, or count empty cells as missing: `missing = [""]` in [data]
    "#);
    assert_snapshot!(table("t,x,v\n0,1,2\n1,\"2,3\n2,3,4\n", ""), @r#"
    error: a quote `"` is opened here and closed some lines later
      data.csv:3:3
        1,"2,3
          ^^^^
    hint: delete it, or write another at the end of the cell
    "#);
}

#[test]
fn times_increase_within_a_trajectory() {
    assert_snapshot!(table("t,x,v\n0,1,2\n2,2,3\n1,2,3\n", ""), @r#"
    error: time goes back: 1 in line 4 comes after 2 in line 3
      data.csv:4:1
        1,2,3
        ^
    hint: sort the rows by time; if these are several trajectories, add a column with their names, and `trajectory = "…"` in [data]
    "#);
    assert_snapshot!(table("t,x,v\n0,1,2\n\n0,2,3\n", ""), @r#"
    error: time 0 appears twice: in line 2 and in line 4
      data.csv:4:1
        0,2,3
        ^
    hint: keep one row per time; if these are several trajectories, add a column with their names, and `trajectory = "…"` in [data]
    "#);
    assert_snapshot!(table("id,t,x,v\na,0,1,2\na,1,2,3\nb,0,1,2\n", ""), @r#"
    error: time goes back: 0 in line 4 comes after 1 in line 3
      data.csv:4:3
        b,0,1,2
          ^
    hint: sort the rows by time; if these are several trajectories, give the column with their names: `trajectory = "id"` in [data]
    "#);
    assert_snapshot!(table("id,t,x,v\na,0,1,2\nb,0,1,2\na,0,2,3\n", "trajectory = \"id\"\n"), @"
    error: time 0 appears twice in trajectory `a`: in line 2 and in line 4
      data.csv:4:3
        a,0,2,3
          ^
    hint: within a trajectory, times must increase from row to row
    ");
    assert_snapshot!(table("t,x,v\n0,1,2\n,2,3\n", ""), @"
    error: this row has no time
      data.csv:3:1
        ,2,3
        ^
    hint: fill it in, or delete the row
    ");
}

#[test]
fn a_trajectory_begins_with_a_complete_row() {
    assert_snapshot!(table("t,x,v\n0,1,NA\n1,2,3\n", ""), @r#"
    error: trajectory `data` has no initial value of `v`
      data.csv:2:5
        0,1,NA
            ^^
    hint: its first row is its initial state: fill the cell in, delete the rows before the first complete one, or add `initial-state = "train"` to `[training]`
    "#);
    assert_snapshot!(table("id,t,x,v\na,0,1,2\nb,0,,2\n", "trajectory = \"id\"\n"), @r#"
    error: trajectory `b` has no initial value of `x`
      data.csv:3:5
        b,0,,2
            ^
    hint: its first row is its initial state: fill the cell in, delete the rows before the first complete one, or add `initial-state = "train"` to `[training]`
    "#);
    assert_snapshot!(table("id,t,x,v\na,0,1,2\n,0,1,2\n", "trajectory = \"id\"\n"), @"
    error: this row has no trajectory name
      data.csv:3:1
        ,0,1,2
        ^
    hint: fill it in, or delete the row
    ");
    assert_snapshot!(table("id,t,x,v\na,0,1,2\na,1,1,2\nb,0,1,2\n", "trajectory = \"id\"\n"), @"
    error: trajectory `b` has only one row
      data.csv:4:1
        b,0,1,2
        ^^^^^^^
    hint: at least two are needed: the initial state and one to predict
    ");
}

#[test]
fn times_go_on_in_the_next_file() {
    let folder = Folder::new(&[
        (
            "experiment.toml",
            "[system]\nstate = [\"x\"]\n[data]\nfile = [\"a.csv\", \"b.csv\"]\ntrajectory = \"id\"\n",
        ),
        ("a.csv", "id,t,x\none,0,1\none,1,2\n"),
        ("b.csv", "id,t,x\none,1,2\none,2,3\n"),
    ]);
    assert_snapshot!(folder.error(), @"
    error: time 1 appears twice in trajectory `one`: in line 3 of `a.csv` and in line 2
      b.csv:2:5
        one,1,2
            ^
    hint: within a trajectory, times must increase from row to row
    ");
}

#[test]
fn an_input_must_be_measured_once() {
    let folder = Folder::new(&[
        (
            "experiment.toml",
            "[system]\nstate = [\"x\"]\ninputs = [\"u\"]\n[data]\nfile = \"a.csv\"\n",
        ),
        ("a.csv", "t,x,u\n0,1,\n1,2,NA\n"),
    ]);
    assert_snapshot!(folder.error(), @"
    error: trajectory `a` has no value of the input `u`
      a.csv:2:5
        0,1,
            ^
    hint: an input needs at least one value
    ");
}

#[test]
fn a_file_that_is_no_utf8_text_says_how_to_save_it() {
    let folder = Folder::new(&[(
        "experiment.toml",
        "[system]\nstate = [\"x\"]\n[data]\nfile = \"data.csv\"\n",
    )]);
    let said = |bytes: &[u8]| {
        files::write(&folder.path("data.csv"), bytes).unwrap();
        folder.error()
    };
    let utf16: Vec<u8> = "\u{feff}t,x\n0,1\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_snapshot!(said(&utf16), @"
    error: `data.csv` is encoded in UTF-16, not in UTF-8
      data.csv
    hint: save it as UTF-8 (in an editor or a spreadsheet: Save as, encoding `UTF-8`)
    ");
    assert_snapshot!(said(b"t,x,Temp \xb0C\n0,1,2\n"), @"
    error: `data.csv` is not encoded in UTF-8: it seems to be Latin-1 (Windows-1252), where `°` is one byte
      data.csv:1:10
        t,x,Temp °C
                 ^
    hint: save it as UTF-8 (in an editor or a spreadsheet: Save as, encoding `UTF-8`)
    ");
    assert_snapshot!(said(b"PK\x03\x04\x14\x00"), @"
    error: `data.csv` is a spreadsheet or a zip archive, not a text file
      data.csv
    hint: export the table as CSV (in a spreadsheet: Save as, `CSV UTF-8`)
    ");
    assert_snapshot!(said(b"\x00\x01\x02\x03 something"), @"
    error: `data.csv` is a binary file, not a text file
      data.csv
    hint: export the table as CSV (in a spreadsheet: Save as, `CSV UTF-8`)
    ");
}
