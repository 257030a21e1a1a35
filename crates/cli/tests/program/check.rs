//! `lawful check`.

use insta::assert_snapshot;

use crate::support::{Place, TINY};

#[test]
fn check_prints_a_summary_and_writes_nothing() {
    let place = Place::with(TINY);
    let said = place.lawful(["check", "experiment.toml"]);
    assert_eq!(said.code, 0);
    assert_snapshot!(said.out, @"
    experiment  tiny
    state       x, v
    define      E = v^2/2 + x^2/2
    law         energy never rises: next(E) <= E (inequality)
                holds at all 19 steps of the data
    data        reconstruction (the training set): 20 rows, t from 0 to 5
    test        later: 30 rows, t from 0 to 8
    network     2 – 6 tanh – 2, 32 parameters, double precision
    solver      rk4-38, one step per data interval
    prediction  dopri5, adaptive, rtol 1e-9, atol 1e-11
    strategy    self-adaptive, tolerance 1e-4
    training    loss mse, scaled to order one, seed 3
    phase       Adam, full trajectories, 40 iterations, rate 0.01, falling as a cosine to 1.00e-4
    ");
    assert_eq!(said.err, "\nno errors found; to train: lawful train experiment.toml\n");
    assert_eq!(place.names(""), ["experiment.toml"]);
}

#[test]
fn check_prints_how_far_the_data_violate_a_law() {
    let law = "[[law]]\nname = \"b\"\nholds = \"-2 <= x <= 2\"\n[[law]]\nholds = \"x >= 0\"\n[[law]]\nname = \"a\"\nholds = \"x == x*x/x\"\n[data";
    let place = Place::with(&TINY.replace("[data", law));
    let said = place.lawful(["check", "."]);
    assert_eq!(said.code, 0, "{}", said.err);
    let about = said.out.lines().filter(|line| line.starts_with("law  ") || line.starts_with(' '));
    assert_snapshot!(about.collect::<Vec<_>>().join("\n"), @"
    law         energy never rises: next(E) <= E (inequality)
                holds at all 19 steps of the data
    law         b: -2 <= x (inequality)
                holds at all 20 steps of the data
    law         b: x <= 2 (inequality)
                holds at all 20 steps of the data
    law         x >= 0 (inequality)
                the data themselves violate it at 12 of 20 steps, by 0.324 on average and 0.854 at most
    law         a: x == x*x/x (equality)
                holds at all 20 steps of the data, up to rounding
    ");
}

#[test]
fn the_complete_experiment_means_the_same() {
    let place = Place::with(TINY);
    let complete = place.lawful(["check", "experiment.toml", "--complete"]);
    assert_eq!((complete.code, complete.err.as_str()), (0, ""));
    place.write("complete.toml", &complete.out);
    let again = place.lawful(["check", "complete.toml", "--complete"]);
    assert_eq!(again.out, complete.out);
    let words = |file: &str| place.lawful(["check", file]).out;
    assert_eq!(words("complete.toml"), words("experiment.toml"));
}
