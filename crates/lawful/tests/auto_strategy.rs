//! `auto`: the form of the vector field guarantees what it can, and the strategy enforces the rest.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use lawful::optimiser::AdamSettings;
use lawful::{
    Batch, Dataset, Enforcement, FieldSettings, Kept, Law, Laws, Phase, Prepared, RECIPES,
    Training, Trajectory,
};

/// A damped oscillation, of which `s` and `1 − s` are shares.
fn data() -> Dataset {
    let times: Vec<f64> = (0..40).map(|n| 0.15 * f64::from(n)).collect();
    let states = times.iter().flat_map(|t| {
        let (size, share) = ((-0.1 * t).exp(), 0.5 + 0.4 * (-0.3 * t).exp());
        [size * t.cos(), size * t.sin(), share, 1.0 - share]
    });
    let trajectory = Trajectory::new("1", times.clone(), states.collect());
    let state = ["x", "v", "s", "q"].map(str::to_owned).to_vec();
    Dataset::new(state, Vec::new(), vec![trajectory]).unwrap()
}

fn training(laws: &[&str]) -> Training {
    let data = data();
    let laws = Laws::parse(&data, laws.iter().copied()).unwrap();
    let field = FieldSettings::layers(&[8], data.state());
    Training::new(data).laws(laws).field(field).auto_strategy()
}

fn says(prepared: &Prepared, what: &str) -> bool {
    prepared.remarks.iter().any(|remark| remark.contains(what))
}

#[test]
fn each_law_is_guaranteed_penalised_or_measured_and_it_is_said() {
    let laws = [
        "next(x^2 + v^2) <= x^2 + v^2",
        "s + q == 1",
        "abs(x) <= 1.1",
        "s + q == 1.5",
        "2*s + 2*q == initial(2*s + 2*q)",
    ];
    let prepared = training(&laws).prepare().unwrap();
    let found: Vec<Enforcement> = prepared.laws.iter().map(lawful::Law::enforcement).collect();
    let expected = [
        Enforcement::Hard,
        Enforcement::Hard,
        Enforcement::Penalty,
        Enforcement::Monitor,
        Enforcement::Hard,
    ];
    assert_eq!(found, expected, "{:?}", prepared.kept);
    assert_eq!(prepared.strategy.kind.name(), "augmented-lagrangian");
    for (law, word) in laws.iter().zip(["guaranteed", "guaranteed", "penalised", "measured only"]) {
        assert!(says(&prepared, &format!("the law `{law}` is {word}")), "{:?}", prepared.remarks);
    }
    assert!(matches!(&prepared.kept[3], Kept::Monitored(Some(why)) if why.contains("contradict")));
}

#[test]
fn what_was_chosen_and_is_written_out_gives_the_same_training() {
    let laws = ["next(x^2 + v^2) <= x^2 + v^2", "s + q == 1", "abs(x) <= 1.1"];
    let adam = AdamSettings { rate: 0.01, ..AdamSettings::default() };
    let phases = || vec![Phase::new(adam, 6)];
    let chosen = training(&laws).phases(phases()).prepare().unwrap();
    let mut written = Laws::new(Laws::words(&data()).check().unwrap());
    for law in &chosen.laws {
        written = written.enforced(law.name(), law.text(), law.enforcement()).unwrap();
    }
    let again = training(&[])
        .laws(written)
        .strategy(chosen.strategy.clone())
        .phases(phases())
        .prepare()
        .unwrap();
    assert_eq!(again.description(), chosen.description());
    let theta = |prepared: &Prepared| {
        let run = prepared.run(&mut ());
        prepared.trained(&run).model.theta().iter().map(|x| x.to_bits()).collect::<Vec<_>>()
    };
    assert_eq!(theta(&again), theta(&chosen));
}

#[test]
fn an_equality_is_guaranteed_before_any_number_of_bounds() {
    let circle = "x^2 + v^2 == initial(x^2 + v^2)";
    let times: Vec<f64> = (0..40).map(|n| 0.2 * f64::from(n)).collect();
    let rows = times.iter().flat_map(|t| [t.cos(), t.sin()]).collect();
    let data = Dataset::single(&["x", "v"], times, rows).unwrap();
    let [above, below] = ["x >= -2", "v <= 2"];
    for (laws, guaranteed) in [
        (vec![above, below, circle], vec![circle]),
        (vec![above, below, "next(x^2 + v^2) <= x^2 + v^2"], vec![above, below]),
        (vec![above, "next(x^2 + v^2) <= x^2 + v^2"], vec![above]),
    ] {
        let training = Training::new(data.clone()).laws(Laws::parse(&data, laws).unwrap());
        let prepared = training.auto_strategy().prepare().unwrap();
        let hard = prepared.laws.iter().filter(|law| law.enforcement() == Enforcement::Hard);
        assert_eq!(hard.map(Law::text).collect::<Vec<_>>(), guaranteed);
        assert!(says(&prepared, "beside energies"), "{:?}", prepared.remarks);
    }
}

#[test]
fn laws_with_an_enforcement_of_their_own_keep_it() {
    let data = data();
    let laws = Laws::new(Laws::words(&data).check().unwrap())
        .enforced("shares", "s + q == 1", Enforcement::Penalty)
        .and_then(|laws| laws.enforced("wrong", "s + q == 2", Enforcement::Penalty))
        .unwrap();
    let prepared = Training::new(data).laws(laws).auto_strategy().prepare().unwrap();
    assert!(prepared.laws.iter().all(|law| law.enforcement() == Enforcement::Penalty));
    assert!(prepared.guarantee.is_none());
}

#[test]
fn batches_of_windows_use_the_self_adaptive_penalty_and_say_so() {
    let adam = AdamSettings { rate: 0.01, ..AdamSettings::default() };
    let phase = Phase { batch: Batch::Windows { count: 2, rows: 5 }, ..Phase::new(adam, 4) };
    let prepared = training(&["abs(x) <= 1.1"]).phases(vec![phase]).prepare().unwrap();
    assert_eq!(prepared.strategy.kind.name(), "self-adaptive");
    assert!(says(&prepared, "batches of windows"), "{:?}", prepared.remarks);
    prepared.run(&mut ());
}

#[test]
fn every_recipe_can_be_prepared_with_auto() {
    for recipe in RECIPES {
        let prepared = training(&["s + q == 1"]).recipe(recipe).prepare().unwrap();
        assert_eq!(prepared.laws[0].enforcement(), Enforcement::Hard, "{}", recipe.name);
    }
}
