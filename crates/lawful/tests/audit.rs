//! The audit of laws: false laws are named, true ones are not accused.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod audit_support;

use audit_support::{alarms, systems};
use lawful::law::Words;
use lawful::{Audit, Dataset, Enforcement, Evidence, Finding, Laws, LearnedConstant, Random};

fn audit(data: &Dataset, texts: &[&str]) -> Audit {
    let laws = Laws::parse(data, texts.iter().copied()).unwrap();
    Audit::new(data, laws.laws(), laws.constants())
}

/// Returns the laws that contradict the data, each with its partners.
fn contradictions(audit: &Audit) -> Vec<(usize, Vec<usize>)> {
    let found = (0..audit.laws.len()).filter_map(|k| Some((k, audit.contradicts(k)?.with.clone())));
    found.collect()
}

/// Influenza in an English boarding school of 763 pupils, 1978: only the ill were counted.
fn influenza() -> Dataset {
    let ill = [1, 3, 8, 26, 76, 225, 298, 258, 233, 189, 128, 68, 29, 14, 4];
    let states = ill.iter().enumerate().flat_map(|(day, &ill)| {
        let first = |value: f64| if day == 0 { value } else { f64::NAN };
        [first(762.0), f64::from(ill), first(0.0)]
    });
    let times = (0..ill.len()).map(|day| day as f64).collect();
    Dataset::single(&["S", "I", "R"], times, states.collect()).unwrap()
}

const INFLUENZA: [&str; 6] =
    ["S + I + R == 763", "next(S) <= S", "next(R) >= R", "S >= 0", "I >= 0", "R >= 0"];

#[test]
fn true_laws_of_an_influenza_are_not_accused() {
    let data = influenza();
    for more in [&[][..], &["I <= 300"]] {
        let found = audit(&data, &[&INFLUENZA, more].concat());
        assert!(found.agrees(), "{:?}", found.warnings());
    }
}

#[test]
fn false_laws_of_an_influenza_are_named() {
    let data = influenza();
    for (first, more, expected) in [
        ("S + I + R == 700", None, vec![(0, vec![])]),
        ("S + I + R == 900", None, vec![(0, vec![])]),
        (INFLUENZA[0], Some("I <= 200"), vec![(6, vec![])]),
        (INFLUENZA[0], Some("next(I) <= I"), vec![(6, vec![])]),
        // Without either of the two all is well.
        (INFLUENZA[0], Some("S >= 600"), vec![(0, vec![6]), (6, vec![0])]),
    ] {
        let mut laws = vec![first];
        laws.extend(&INFLUENZA[1..]);
        laws.extend(more);
        let found = audit(&data, &laws);
        assert_eq!(contradictions(&found), expected, "{first}, {more:?}: {:?}", found.warnings());
    }
}

#[test]
fn no_true_law_is_accused_and_false_ones_are_found_in_noise() {
    for system in systems() {
        for share in [0.0, 0.05] {
            let found = alarms(&system, share, 1..3);
            assert!(found.wrong.is_empty(), "{}: {:?}", system.name, found.wrong);
            assert!(found.misled.is_empty(), "{}: {:?}", system.name, found.misled);
            assert_eq!(found.found, found.with, "{}: {:?} missed", system.name, found.missed);
        }
    }
}

#[test]
fn bounds_on_which_noisy_cells_lie_are_not_accused() {
    let mut random = Random::new(3, "noise at a bound");
    let times: Vec<f64> = (0..300).map(f64::from).collect();
    let states = times.iter().map(|t| (-t / 40.0).exp() + 0.05 * random.normal()).collect();
    let data = Dataset::single(&["y"], times, states).unwrap();
    let found = audit(&data, &["y >= 0", "next(y) <= y", "y >= 0.3"]);
    assert_eq!(contradictions(&found), [(2, vec![])], "{:?}", found.warnings());
    let Finding::Agrees { misfit, noise } = found.laws[0].finding else {
        panic!("{:?}", found.laws[0]);
    };
    assert!(misfit > 0.05 && misfit < noise, "{misfit} of {noise}");
}

#[test]
fn rounded_cells_obey_a_sum_to_their_last_digit() {
    let times: Vec<f64> = (0..40).map(f64::from).collect();
    let round = |x: f64| (100.0 * x).round() / 100.0;
    let states = times.iter().flat_map(|t| {
        let (a, b) = (0.33 + 0.2 * (0.2 * t).sin(), 0.33 + 0.1 * (0.3 * t).cos());
        [round(a), round(b), round(1.0 - a - b)]
    });
    let data = Dataset::single(&["a", "b", "c"], times.clone(), states.collect()).unwrap();
    let found = audit(&data, &["a + b + c == 1", "a + b + c == 1.1"]);
    assert_eq!(contradictions(&found), [(1, vec![])], "{:?}", found.warnings());
}

#[test]
fn noise_does_not_bias_curved_laws() {
    let mut random = Random::new(5, "noise on a circle");
    let times: Vec<f64> = (0..600).map(|n| 0.05 * f64::from(n)).collect();
    let states = times
        .iter()
        .flat_map(|t| [t.cos() + 0.15 * random.normal(), t.sin() + 0.15 * random.normal()]);
    let data = Dataset::single(&["x", "y"], times.clone(), states.collect()).unwrap();
    // The mean of x² + y² is 1.045; its standard error is 0.013.
    let found = audit(&data, &["x^2 + y^2 == 1"]);
    assert!(found.agrees(), "{:?}", found.warnings());
    let found = audit(&data, &["x^2 + y^2 == 0.9"]);
    let evidence = &found.contradicts(0).unwrap().evidence;
    assert!(matches!(evidence, Evidence::Mean { .. }), "{evidence:?}");
}

#[test]
fn a_lost_quantity_shows_in_its_trend() {
    let mut random = Random::new(7, "a leak");
    let times: Vec<f64> = (0..200).map(f64::from).collect();
    let states = times.iter().flat_map(|t| {
        let a = 0.5 + 0.3 * (0.1 * t).sin();
        [a + 0.03 * random.normal(), 1.0 - a - 4e-4 * t + 0.03 * random.normal()]
    });
    let data = Dataset::single(&["a", "b"], times.clone(), states.collect()).unwrap();
    let found = audit(&data, &["a + b == initial(a + b)"]);
    let Evidence::Trend { change, error } = found.contradicts(0).unwrap().evidence else {
        panic!("{:?}", found.warnings());
    };
    assert!((change + 0.08).abs() < 4.0 * error && error < 0.02, "{change} ± {error}");
}

#[test]
fn laws_that_no_states_obey_are_impossible_and_named_together() {
    let data = influenza();
    let found = audit(&data, &["R <= 100", "I <= 400", "R >= 200 + 0*t"]);
    let single: Vec<usize> = contradictions(&found).iter().map(|(k, _)| *k).collect();
    assert_eq!(single, [2], "R is 0 at first: {:?}", found.warnings());
    let found = audit(&data, &["S - 0.5*I <= 760 - t", "S - 0.5*I >= 765 - t", "I <= 400"]);
    assert_eq!(contradictions(&found), [(0, vec![1]), (1, vec![0])], "{:?}", found.warnings());
    let found = audit(&data, &["R^2 <= -1"]);
    assert_eq!(found.contradicts(0).unwrap().evidence, Evidence::Impossible);
    assert_eq!(found.warnings(), ["the law `R^2 <= -1` contradicts the data: no states obey it"]);
}

#[test]
fn what_cannot_be_audited_is_said() {
    let data = influenza();
    let words = Words::new().state(["S", "I", "R"]).constant("N", 700.0).check().unwrap();
    let constants = vec![LearnedConstant { name: "N".into(), start: 700.0, min: None, max: None }];
    let laws = Laws::with_learned(words, constants).unwrap();
    let laws = laws.law("all", "S + I + R == N").unwrap();
    let laws = laws.law("rate", "rate(R) >= 0").unwrap();
    let laws = laws.enforced("few", "I <= 200", Enforcement::Monitor).unwrap();
    let found = Audit::new(&data, laws.laws(), laws.constants());
    let words: Vec<&str> = found.laws.iter().map(|law| law.finding.word()).collect();
    assert_eq!(words, ["not audited"; 3]);
    assert!(found.agrees() && found.warnings().is_empty());
}

#[test]
fn several_trajectories_are_audited_together_and_the_same_way_every_time() {
    let system = &systems()[3];
    let parts: Vec<_> = (1..4)
        .map(|seed| {
            let mut trajectory = system.data(0.1, seed).trajectories()[0].clone();
            trajectory.name = seed.to_string();
            trajectory
        })
        .collect();
    let names = ["S", "I", "R"].map(str::to_owned).to_vec();
    let data = Dataset::new(names, vec![], parts).unwrap();
    let found = system.audit(&data, Some("I <= 0.3"));
    let last = found.laws.len() - 1;
    assert_eq!(contradictions(&found), [(last, vec![])], "{:?}", found.warnings());
    assert_eq!(found, system.audit(&data, Some("I <= 0.3")));
}
