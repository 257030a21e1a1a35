//! Rows between those of the training: `[test.NAME] every`.

mod config_support;

use config_support::{Folder, error_with};
use insta::assert_snapshot;

const EXPERIMENT: &str = "[system]\nstate = [\"x\"]\ninputs = [\"u\"]\n[data]\nfile = \"data.csv\"\ntrajectory = \"who\"\n\
                          [training]\noptimiser = \"adam\"\niterations = 1\n";

/// A trajectory of ten rows, and one of two.
fn rows() -> String {
    let long = (0..10).map(|n| format!("a,{n},{}.5,{}\n", n, 10 * n));
    let short = (0..2).map(|n| format!("b,{n},{n}.25,0\n"));
    std::iter::once("who,t,x,u\n".to_owned()).chain(long).chain(short).collect()
}

#[test]
fn every_fourth_row_between_the_ends_is_held_out_and_scored() {
    let text = format!("{EXPERIMENT}[test.held]\nevery = 4\n[test.late]\nafter = 7\n");
    let file = Folder::new(&[("experiment.toml", &text), ("data.csv", &rows())]).read();
    let file = file.unwrap_or_else(|error| panic!("{error}"));
    assert!(file.complete.contains("every = 4"));
    let trained = file.experiment.training.data.trajectories();
    assert_eq!(trained[0].times[..], [0.0, 1.0, 3.0, 4.0, 5.0, 7.0]);
    assert_eq!(trained[0].inputs[..], [0.0, 10.0, 30.0, 40.0, 50.0, 70.0]);
    assert_eq!(trained[1].len(), 2);
    let [(held, set), (late, _)] = &file.experiment.tests[..] else { panic!("two test sets") };
    assert_eq!((held.as_str(), late.as_str()), ("held", "late"));
    let [between] = set.trajectories() else { panic!("`b` has no row between its ends") };
    assert_eq!((between.len(), between.scored_from), (8, 1));
    let cells = between.states.iter().enumerate().filter(|(_, x)| x.is_finite());
    let cells: Vec<(usize, f64)> = cells.map(|(row, x)| (row, *x)).collect();
    assert_eq!(cells, [(0, 0.5), (2, 2.5), (6, 6.5)]);
    // The inputs of the other rows are those of the path.
    assert_eq!(between.inputs[1..2], [10.0]);
}

#[test]
fn rows_that_cannot_be_held_out_are_an_error() {
    assert_snapshot!(error_with("[test.held]\nevery = 1\n"), @"
    error: `every` in [test.held] is 1, but must be a whole number from 2 to 1000000
      experiment.toml:7:9
        every = 1
                ^
    hint: for example `every = 4`
    ");
    assert_snapshot!(error_with("[test.held]\nevery = 1000\n"), @"
    error: no trajectory has a row to hold out between its first and last
      experiment.toml:7:9
        every = 1000
                ^^^^
    hint: choose a smaller number, at least 2
    ");
}
