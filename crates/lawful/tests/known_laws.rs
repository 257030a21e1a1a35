//! Laws that use a constant which is learned with the field.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{all_strategies, dataset, ragged, relative_error};
use lawful::law::Words;
use lawful::strategy::{L2, Strategy, Vanilla};
use lawful::{
    FreeStarts, HybridField, KnownRates, Law, LearnedConstant, Objective, Problem, Random, Segment,
    Solver, with_learned_as_variables,
};

/// Laws of each reach, all violated; the last does not use a learned constant.
const LAWS: [&str; 5] = [
    "k*x^2 + v == -0.7",
    "next(E) <= E - 4",
    "E == initial(E) + c + 6",
    "final(k*x) >= x + 9*k",
    "x + v <= -9",
];

/// A spring under these laws, and a point at which nothing is special.
fn objective(laws: &[&str], strategy: Box<dyn Strategy>) -> (Objective, Vec<f64>) {
    let words = Words::new().state(["x", "v"]).inputs(["u"]).constant("k", 0.7).constant("c", -0.2);
    let vocabulary = words.constant("m", 1.3).define("E", "k*x^2/2 + m*v^2/2").check().unwrap();
    let constants = vec![
        LearnedConstant { name: "k".to_owned(), start: 0.7, min: Some(0.0), max: None },
        LearnedConstant { name: "c".to_owned(), start: -0.2, min: None, max: None },
    ];
    let rates = [(0, "v"), (1, "-k*x/m + c*v + u")];
    let known = KnownRates::new(&rates, constants.clone(), &vocabulary).unwrap();
    let reading = with_learned_as_variables(&vocabulary, &constants).unwrap();
    let laws = laws.iter().flat_map(|text| Law::parse(text, text, &reading).unwrap()).collect();
    let problem = Problem { constants, ..Problem::new(dataset(ragged()), laws) };
    let field = HybridField::new(known).with_network(Box::new(common::network()), &[0, 1]).unwrap();
    let mut random = Random::new(3, "known laws");
    let mut theta = common::theta();
    theta.extend([0.3, -0.4].map(|raw| raw + 0.01 * random.normal()));
    let objective = Objective::new(problem, Box::new(field), Solver::default(), strategy).unwrap();
    (objective, theta)
}

fn check(what: &str, mut objective: Objective, mut theta: Vec<f64>) {
    theta.resize(objective.parameter_len(), 0.1);
    let gradient = objective.evaluate(&theta, 0).unwrap().gradient.clone();
    let differences: Vec<f64> = (0..theta.len())
        .map(|i| {
            let h = 1e-5;
            let mut at = |shift: f64| {
                let mut theta = theta.clone();
                theta[i] += shift;
                objective.replay(&theta).unwrap().value
            };
            // Of fourth order: −f(2h) + 8 f(h) − 8 f(−h) + f(−2h) over 12 h.
            let (near, far) = (at(h) - at(-h), at(2.0 * h) - at(-2.0 * h));
            (8.0 * near - far) / (12.0 * h)
        })
        .collect();
    let error = relative_error(&gradient, &differences);
    assert!(error <= 1e-6, "{what}: {error:e}");
}

#[test]
fn the_gradient_has_the_constants_part_for_every_strategy_and_reach() {
    for strategy in all_strategies(LAWS.len()) {
        let name = strategy.name();
        let (objective, theta) = objective(&LAWS, strategy);
        check(name, objective, theta);
    }
    for law in LAWS {
        let (objective, theta) = objective(&[law], Box::<L2>::default());
        check(law, objective, theta);
    }
}

#[test]
fn the_gradient_is_exact_on_segments_with_free_starts() {
    let (objective, theta) = objective(&LAWS, Box::<L2>::default());
    let segments = Segment::cut(&objective.problem().dataset, 2, true);
    let free_starts = FreeStarts { initial: true, segments: true };
    check("segments", objective.with_free_starts(free_starts, &segments), theta);
}

#[test]
fn a_law_moves_a_constant_that_nothing_else_would_move_so() {
    let of = |strategy: Box<dyn Strategy>| {
        let (mut objective, theta) = objective(&LAWS[..1], strategy);
        let gradient = objective.evaluate(&theta, 0).unwrap().gradient.clone();
        gradient[theta.len() - 2]
    };
    let (without, with) = (of(Box::new(Vanilla)), of(Box::<L2>::default()));
    assert!((with - without).abs() > 1e-3 * without.abs(), "{without} and {with}");
}

#[test]
fn residuals_use_what_the_constants_are_now() {
    let (mut objective, theta) = objective(&["k*x + c <= 0"], Box::new(Vanilla));
    let (k, c) = (0.7 * theta[theta.len() - 2].exp(), -0.2 + 0.2 * theta[theta.len() - 1]);
    let residuals = objective.observe(&theta).unwrap().residuals(0).to_vec();
    for (row, residual) in residuals[..3].iter().enumerate() {
        let x = objective.predicted(0)[2 * row];
        assert!((residual - (k * x + c)).abs() < 1e-12, "{residual} at {row}");
    }
}
