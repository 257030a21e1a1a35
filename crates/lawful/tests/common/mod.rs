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
    L1, L2, Normalise, Residual, STRATEGIES, SelfAdaptive, Strategy, Vanilla, WeighBy,
};
use lawful::{
    Activation, Adaptive, Control, Dataset, Law, Mlp, MlpShape, Objective, Precision, Problem,
    Random, Settings, Solver, Trainer, Trajectory,
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
    Trajectory { name: seed.to_string(), times, states, inputs, scored_from: 0 }
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

/// Every strategy of [`STRATEGIES`], with its variants, for `laws` laws. A strategy in the list that
/// is not made here fails every test that loops.
pub(crate) fn all_strategies(laws: usize) -> Vec<Box<dyn Strategy>> {
    let mut all: Vec<Box<dyn Strategy>> = Vec::new();
    for &(name, _) in STRATEGIES {
        match name {
            "vanilla" => all.push(Box::new(Vanilla)),
            "l1" => {
                all.push(Box::new(L1 { mu: (1..=laws).map(|k| 0.3 * k as f64).collect() }));
                all.push(Box::new(L1::default()));
            }
            "l2" => all.push(Box::new(L2 { mu: vec![0.7] })),
            "self-adaptive" => {
                all.push(Box::new(SelfAdaptive::default()));
                let normalise = Normalise::Elementwise;
                all.push(Box::new(SelfAdaptive { normalise, ..SelfAdaptive::default() }));
                let (weigh_by, weight_every) = (WeighBy::Mean, 100);
                let script =
                    SelfAdaptive { normalise, weigh_by, weight_every, ..Default::default() };
                all.push(Box::new(script));
                let residual = Residual::Signed;
                all.push(Box::new(SelfAdaptive { residual, ..SelfAdaptive::default() }));
            }
            _ => panic!("`{name}` is listed, but not tested"),
        }
        assert_eq!(all.last().unwrap().name(), name);
    }
    all
}

/// An objective on a problem with the network of [`shape`].
pub(crate) fn objective(
    problem: Problem,
    solver: Solver,
    strategy: Box<dyn Strategy>,
) -> Objective {
    Objective::new(problem, Box::new(network()), solver, strategy)
}

/// Training of that objective with Adam, from [`theta`].
pub(crate) fn trainer(objective: Objective, rate: f64, settings: Settings) -> Trainer {
    let adam = Adam::new(AdamSettings { rate, ..AdamSettings::default() }, theta().len());
    Trainer::new(objective, Box::new(adam), settings, theta())
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
