//! The same experiment and seed give the same bytes.

use crate::support::{Place, TINY, assert_same, finish, tiny, with_data};

/// Several trajectories with missing cells: threads have something to share.
fn several() -> (String, String) {
    let data = "[data]\nfile = \"data.csv\"\ntrajectory = \"run\"\n";
    let held = "[test.held]\ntrajectories = [\"d\"]\n";
    let mut rows = vec!["run,t,x,v".to_owned()];
    for (n, name) in ["a", "b", "c", "d"].iter().enumerate() {
        for row in 0..10 + n {
            let t = 0.3 * row as f64 + 0.1 * n as f64;
            let v = if row == 4 { String::new() } else { (-t.sin()).to_string() };
            rows.push(format!("{name},{t},{},{v}", t.cos()));
        }
    }
    (with_data(&format!("{data}{held}")), rows.join("\n"))
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let (place, run) = Place::trained(TINY);
    let again = place.train(&[]);
    assert_same(&place.repeatable(&run), &place.repeatable(&again));
    let other = place.train(&["--seed", "4"]);
    let log = |run: &str| place.bytes(&format!("{run}/log.csv"));
    assert_ne!(log(&run), log(&other), "another seed gives another run");
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let (text, csv) = several();
    let place = Place::with(&text);
    place.write("data.csv", &csv);
    let with_threads = |threads: &str| {
        let mut command = place.command(["train", "experiment.toml", "--quiet", "--out", threads]);
        let said = finish(command.env("RAYON_NUM_THREADS", threads));
        assert_eq!(said.code, 0, "{}", said.err);
        place.repeatable(said.out.trim())
    };
    let one = with_threads("1");
    assert_same(&one, &with_threads("2"));
    assert_same(&one, &with_threads("5"));
}

#[test]
fn batches_repeat_too() {
    let windows = tiny("seed = 3", "seed = 3\nbatch = { windows = 2, rows = 5 }");
    let (place, run) = Place::trained(&windows);
    assert_same(&place.repeatable(&run), &place.repeatable(&place.train(&[])));
}
