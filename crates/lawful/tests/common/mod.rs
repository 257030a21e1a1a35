//! A small problem with everything in it: ragged trajectories, missing cells, inputs, laws of all
//! kinds, all violated.

#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test whose problem cannot be made has failed")]

pub(crate) mod fence;
pub(crate) mod watch;

use lawful::law::Words;
use lawful::ode::{TABLEAUS, tableaus};
use lawful::optimiser::{Adam, AdamSettings};
use lawful::strategy::{
    L1, L2, Normalise, Residual, SelfAdaptive, Strategy, StrategyKind, WeighBy,
};
use lawful::{
    Activation, Adaptive, Control, Dataset, Law, Mlp, MlpShape, Objective, Precision, Problem,
    Progress, Random, Settings, Solver, Trainer, Trajectory,
};

/// One law of each kind, written so that it is violated all along the paths of [`dataset`].
pub(crate) const LAWS: [(&str, &str); 8] = [
    ("equality", "x + v == -0.7"),
    ("inequality", "x^2 + v^2 <= -0.5"),
    ("next", "next(x*v) <= x*v - 4"),
    ("previous", "previous(x)*v == 5 + x"),
    ("initial", "x + v == initial(x - 2*v) + 6"),
    ("final", "x >= final(x*v) + 5"),
    ("inputs", "x*u <= -6 - u"),
    ("time", "t + x <= -3 - t*v^2"),
];

/// The laws of these texts, in the names of [`dataset`].
pub(crate) fn laws(texts: &[(&str, &str)]) -> Vec<Law> {
    let words = Words::new().state(["x", "v"]).inputs(["u"]).check().unwrap();
    texts.iter().flat_map(|(name, text)| Law::parse(name, text, &words).unwrap()).collect()
}

/// A trajectory of `rows` rows at irregular times; the data are far from anything a small network
/// computes, so that no error is near a kink of the loss.
pub(crate) fn trajectory(seed: u64, rows: usize) -> Trajectory {
    let mut random = Random::new(seed, "test data");
    let mut t = random.normal();
    let (mut times, mut states, mut inputs) = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..rows {
        times.push(t);
        t += 0.1 + 0.3 * random.uniform();
        let far = if row == 0 { 0.0 } else { 3.0 };
        states.extend([0.5 * random.normal() + far, 0.5 * random.normal() - far]);
        inputs.push(random.normal());
    }
    Trajectory { inputs: inputs.into(), ..Trajectory::new(seed.to_string(), times, states) }
}

/// Trajectories as the data of a problem with states x, v and the input u.
pub(crate) fn dataset(trajectories: Vec<Trajectory>) -> Dataset {
    Dataset::new(vec!["x".into(), "v".into()], vec!["u".into()], trajectories).unwrap()
}

/// Three trajectories of different lengths, with missing cells.
pub(crate) fn ragged() -> Vec<Trajectory> {
    let mut trajectories: Vec<_> =
        [(1, 6), (2, 4), (3, 7)].map(|(seed, rows)| trajectory(seed, rows)).into();
    for (n, cell) in [(0, 4), (0, 7), (1, 7), (2, 2), (2, 3), (2, 13)] {
        trajectories[n].states[cell] = f64::NAN;
    }
    trajectories
}

/// The problem of [`ragged`] under these laws.
pub(crate) fn problem(texts: &[(&str, &str)]) -> Problem {
    Problem::new(dataset(ragged()), laws(texts))
}

/// A network that sees time, state and input.
pub(crate) fn shape() -> MlpShape {
    MlpShape {
        state: 2,
        outputs: 2,
        inputs: 1,
        time: true,
        hidden: vec![5, 4],
        activations: vec![Activation::Tanh, Activation::Elu],
    }
}

/// The network of [`shape`], in double precision.
pub(crate) fn network() -> Mlp {
    Mlp::new(shape(), Precision::Double).expect("the shape of a network")
}

/// A point at which nothing is special.
pub(crate) fn theta() -> Vec<f64> {
    let mut random = Random::new(7, "test weights");
    (0..shape().parameter_len()).map(|_| 0.4 * random.normal()).collect()
}

/// Every method on the grid with one and with two substeps, and adaptively where it can.
pub(crate) fn all_methods() -> Vec<Solver> {
    let mut all = Vec::new();
    for tableau in TABLEAUS {
        for substeps in [1, 2] {
            all.push(Solver::new(tableau, Control::Grid { substeps }).unwrap());
        }
        if tableau.embedded.is_some() {
            all.push(Solver::new(tableau, adaptive(1e-3)).unwrap());
        }
    }
    all
}

/// Adaptive control with this relative tolerance, and a hundredth of it as the absolute one.
pub(crate) fn adaptive(rtol: f64) -> Control {
    Control::Adaptive(Adaptive::with_tolerances(rtol, 0.01 * rtol))
}

/// Adaptive Dormand–Prince.
pub(crate) fn dopri5(rtol: f64) -> Solver {
    Solver::new(&tableaus::DOPRI5, adaptive(rtol)).unwrap()
}

/// Every listed strategy with its default settings, so that a new one is tested at once, and the
/// variants of each, for `laws` laws.
pub(crate) fn all_strategies(laws: usize) -> Vec<Box<dyn Strategy>> {
    let penalised = vec![true; laws];
    let mut all = Vec::new();
    for kind in StrategyKind::all() {
        all.push(kind.build(&penalised));
        assert_eq!(all.last().unwrap().name(), kind.name());
        all.extend(variants(&kind, laws).iter().map(|kind| kind.build(&penalised)));
    }
    all
}

/// Other settings of a strategy than its default ones.
#[allow(
    clippy::match_wildcard_for_single_variants,
    reason = "a strategy that joins the list has none yet"
)]
fn variants(kind: &StrategyKind, laws: usize) -> Vec<StrategyKind> {
    let each = || (1..=laws).map(|k| 0.3 * k as f64).collect();
    let normalise = Normalise::Elementwise;
    let (weigh_by, weight_every) = (WeighBy::Mean, 100);
    let default = SelfAdaptive::default();
    match kind {
        StrategyKind::L1(_) => vec![L1 { mu: each() }.into()],
        StrategyKind::L2(_) => vec![L2 { mu: vec![0.7] }.into(), L2 { mu: each() }.into()],
        StrategyKind::SelfAdaptive(_) => vec![
            SelfAdaptive { normalise, ..default }.into(),
            SelfAdaptive { normalise, weigh_by, weight_every, ..default }.into(),
            SelfAdaptive { residual: Residual::Signed, ..default }.into(),
            SelfAdaptive::smooth().into(),
        ],
        _ => Vec::new(),
    }
}

/// An objective on a problem with the network of [`shape`].
pub(crate) fn objective(
    problem: Problem,
    solver: Solver,
    strategy: Box<dyn Strategy>,
) -> Objective {
    Objective::new(problem, Box::new(network()), solver, strategy).unwrap()
}

/// Training of that objective with Adam, from [`theta`].
pub(crate) fn trainer(objective: Objective, rate: f64, settings: Settings) -> Trainer {
    let adam = Adam::new(AdamSettings { rate, ..AdamSettings::default() }, theta().len());
    Trainer::new(objective, Box::new(adam), settings, theta()).unwrap()
}

/// The largest difference, relative to the largest number of the first.
pub(crate) fn relative_error(expected: &[f64], found: &[f64]) -> f64 {
    assert_eq!(expected.len(), found.len());
    let largest = expected.iter().fold(0.0, |max: f64, x| max.max(x.abs()));
    let differences = expected.iter().zip(found).map(|(a, b)| (a - b).abs());
    // Not `fold(max)` on the differences, which would overlook NaN.
    differences
        .map(|difference| difference / largest)
        .fold(0.0, |max, error| if error <= max { max } else { error })
}

/// The bytes of numbers, to be compared as such.
pub(crate) fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

/// Everything that a checkpoint holds, as bytes.
pub(crate) fn progress_bytes(progress: &Progress) -> Vec<u64> {
    let mut numbers = vec![progress.failure_factor, progress.backtrack_factor];
    numbers.extend(&progress.theta);
    numbers.extend(&progress.optimiser);
    numbers.extend(&progress.strategy.laws.numbers);
    numbers.extend(progress.best.theta());
    numbers.extend(progress.best.numbers());
    numbers.extend(&progress.best_gradient);
    numbers.extend(&progress.strategy.continuity.numbers);
    numbers.extend(&progress.strategy.weights);
    let mut bytes = bits(&numbers);
    bytes.extend([progress.iteration as u64, progress.outer_step as u64]);
    bytes
}
