//! Tables in memory in the place of files.

mod config_support;

use config_support::Folder;
use lawful_experiment::{Cells, Columns, Diagnostic, ExperimentFile, Grouped, read_with_table};

const TEXT: &str = "[system]\nstate = [\"x\", \"v\"]\n[data]\n";

fn columns<'a>(columns: &[(&str, &'a [f64])]) -> Columns<'a> {
    let rows = columns.first().map_or(0, |(_, cells)| cells.len());
    let named = columns.iter().map(|&(name, values)| {
        let cells: Cells = Box::new(move |row| values[row]);
        (name.to_owned(), cells)
    });
    Columns { rows, columns: named.collect(), grouped: None }
}

fn grouped<'a>(of: &[(&str, &'a [f64])], names: &[&str], rows: &[usize]) -> Columns<'a> {
    let names = names.iter().map(|&name| name.to_owned()).collect();
    let rows = rows.iter().map(|&row| Some(row)).collect();
    Columns { grouped: Some(Grouped { column: "who".to_owned(), names, rows }), ..columns(of) }
}

fn read(more: &str, table: &Columns) -> Result<ExperimentFile, Diagnostic> {
    read_with_table("fit", &format!("{TEXT}{more}"), table)
}

#[test]
fn a_table_is_trained_as_the_same_file_would_be() {
    let (t, x, v) = ([0.0, 1.0, 2.5, 3.0], [1.0, 0.5, f64::NAN, 0.25], [0.1, 0.2, 0.3, -1e-3]);
    let table = columns(&[("v", &v), ("extra", &t), ("t", &t), ("x", &x)]);
    let rest = "[test.late]\nafter = 2.6\n[training]\noptimiser = \"adam\"\niterations = 3\n";
    let from_table = read(rest, &table).unwrap().experiment;
    let toml = format!("{TEXT}file = \"1.csv\"\n{rest}");
    let csv = "t,x,v\n0,1,0.1\n1,0.5,0.2\n2.5,,0.3\n3,0.25,-1e-3\n";
    let folder = Folder::new(&[("experiment.toml", &toml), ("1.csv", csv)]);
    let from_file = folder.read().unwrap().experiment;
    // NaN is not itself.
    let data = |e: &lawful_experiment::Experiment| format!("{:?} {:?}", e.training.data, e.tests);
    assert_eq!(data(&from_table), data(&from_file));
    let model = |e: &lawful_experiment::Experiment| {
        let run = e.training.run(&mut ());
        e.training.trained(&run).model.archive().to_bytes()
    };
    assert_eq!(model(&from_table), model(&from_file));
}

#[test]
fn trajectories_are_told_apart_by_a_column_and_may_be_mixed() {
    let (t, x) = ([0.0, 5.0, 1.0, 6.0, 2.0], [1.0, 2.0, 3.0, 4.0, 5.0]);
    let table = grouped(&[("t", &t), ("x", &x), ("v", &x)], &["b", "a"], &[0, 1, 0, 1, 0]);
    let file =
        read("trajectory = \"who\"\n[test.other]\ntrajectories = [\"a\"]\n", &table).unwrap();
    let data = &file.experiment.training.data;
    assert_eq!((data.trajectories().len(), data.trajectories()[0].name.as_str()), (1, "b"));
    assert_eq!(data.trajectories()[0].states, [1.0, 1.0, 3.0, 3.0, 5.0, 5.0]);
    assert_eq!(file.experiment.tests[0].1.trajectories()[0].times, [5.0, 6.0]);
}

#[test]
fn what_is_completed_reads_back_with_the_table() {
    let t = [0.0, 1.0, 2.0];
    let table = columns(&[("time", &t), ("position", &t), ("v", &t)]);
    let more = "time = \"time\"\ncolumns = { x = \"position\" }\n";
    let complete = read(more, &table).unwrap().complete;
    let again = read_with_table("fit", &complete, &table).unwrap();
    assert_eq!(again.complete, complete);
}

#[test]
fn each_mistake_is_named() {
    let (t, x) = ([0.0, 1.0, 2.0], [1.0, 2.0, 3.0]);
    let nan = [f64::NAN, 1.0, 2.0];
    let inf = [1.0, f64::INFINITY, 2.0];
    let with = |t: &[f64], x: &[f64], more: &str| {
        read(more, &columns(&[("t", t), ("x", x), ("v", &[1.0; 3])])).unwrap_err()
    };
    for (t, x, more, message, hint) in [
        (&t, &x, "time = \"tt\"", "no column `tt` with the times", "did you mean `t`?"),
        (&t, &x, "columns = { x = \"q\" }", "no column `q` for `x`", "are `t`, `x`, `v`"),
        (&[0.0, 2.0, 1.0], &x, "", "time goes back: 1 in row 2 comes after 2 in row 1", "sort"),
        (&[0.0, 1.0, 1.0], &x, "", "time 1 appears twice: in row 1 and in row 2", "one row"),
        (&nan, &x, "", "row 0 has no time: `t` is NaN", "drop the row"),
        (&t, &nan, "", "has no initial value of `x`", "initial-state = \"train\""),
        (&t, &inf, "", "`x` is infinite in row 1", "NaN"),
        (&t, &x, "trajectory = \"who\"", "no column `who` with names", "add the column"),
        (&t, &x, "file = \"a.csv\"", "`file` has no effect: the data are in memory", "leave"),
        (&t, &x, "separator = \";\"", "`separator` has no effect", "leave it out"),
        (&t, &x, "time-origin = \"5\"", "`time-origin` has no effect", "subtract it"),
        (&t, &x, "[test.a]\ngrid = { to = 1, points = 5 }", "these are in memory", "file"),
    ] {
        let error = with(t, x, more);
        assert!(error.message.contains(message), "{error}");
        assert!(error.hint.as_ref().is_some_and(|found| found.contains(hint)), "{error}");
    }
    let twice = columns(&[("t", &t), ("x", &x), ("x", &x), ("v", &x)]);
    assert!(read("", &twice).unwrap_err().message.contains("two columns named `x`"));
    let empty = columns(&[("t", &[]), ("x", &[]), ("v", &[])]);
    assert!(read("", &empty).unwrap_err().message.contains("no rows"));
    let table = grouped(&[("t", &t), ("x", &x), ("v", &x)], &["a", "b"], &[0, 0, 1]);
    let error = read("trajectory = \"who\"", &table).unwrap_err();
    assert!(error.message.contains("trajectory `b` has only one row"), "{error}");
}

#[test]
fn a_mistake_in_a_law_has_its_place_in_the_text_of_the_law() {
    let t = [0.0, 1.0, 2.0];
    let table = columns(&[("t", &t), ("x", &t), ("v", &t)]);
    let error = read("[[law]]\nholds = \"x + größe <= 1\"\n", &table).unwrap_err();
    let formula = error.formula.expect("it is in a formula");
    assert_eq!(&formula.text[formula.span], "größe");
}
