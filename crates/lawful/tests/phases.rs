//! What phases add: segments with free starts, trained initial states, units, decay, L-BFGS.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::watch::{Seen, Watch};
use common::{LAWS, bits, dataset, laws, network, ragged, theta, trajectory};
use lawful::optimiser::{Lbfgs, LbfgsSettings};
use lawful::strategy::{L1, L2, Penalise, Penalty, SelfAdaptive, Strategy, Vanilla};
use lawful::{
    FreeStarts, Objective, Problem, Random, Sampler, Scaled, Segment, Settings, Solver, StopReason,
    Trainer, TrainerError, Validation, initial_states, scaling, units,
};

/// Every form in which violations may enter.
fn strategies() -> Vec<Box<dyn Strategy>> {
    let form = |penalty, penalise| SelfAdaptive { penalty, penalise, ..SelfAdaptive::default() };
    vec![
        Box::new(Vanilla),
        Box::new(L1 { mu: vec![0.7] }),
        Box::new(L2 { mu: vec![0.7] }),
        Box::new(SelfAdaptive::default()),
        Box::new(SelfAdaptive::smooth()),
        Box::new(form(Penalty::Squared, Penalise::Tolerance)),
        Box::new(form(Penalty::Absolute, Penalise::Always)),
    ]
}

/// The problem of all laws, in units read off its data, with a margin.
fn problem() -> Problem {
    let problem = Problem::new(dataset(ragged()), laws(&LAWS));
    let scaling = scaling(&problem.dataset);
    let mut units = units(&problem.dataset, &problem.laws, &[], &scaling);
    units.margin = 0.01;
    Problem { units, ..problem }
}

/// The objective on stretches with this freedom, of a scaled network.
fn objective(
    strategy: Box<dyn Strategy>,
    free_starts: FreeStarts,
    segments: &[Segment],
) -> Objective {
    let problem = problem();
    let field = Scaled::new(Box::new(network()), scaling(&problem.dataset))
        .expect("scales of the field's lengths");
    let decayed = theta().len();
    Objective::new(problem, Box::new(field), Solver::default(), strategy)
        .unwrap()
        .with_decay(0.02, decayed)
        .with_free_starts(free_starts, segments)
}

/// θ of the network, and z at which nothing is special.
fn point(objective: &Objective) -> Vec<f64> {
    let mut random = Random::new(3, "free starts");
    let mut point = theta();
    point.resize_with(objective.parameter_len(), || 0.3 * random.normal());
    point
}

#[test]
fn gradients_match_central_differences_with_free_starts_units_margin_and_decay() {
    let data = dataset(ragged());
    for strategy in 0..strategies().len() {
        for (initial, within, steps) in
            [(true, false, 0), (false, true, 2), (true, true, 2), (true, true, 3)]
        {
            let segments = match steps {
                0 => Segment::whole(&data),
                steps => Segment::cut(&data, steps, false),
            };
            let free_starts = FreeStarts { initial, segments: within };
            let mut objective =
                objective(strategies().swap_remove(strategy), free_starts, &segments);
            let mut theta = point(&objective);
            let gradient = objective.evaluate(&theta, 0).unwrap().gradient.clone();
            let norm = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
            let mut squares = 0.0;
            for k in 0..theta.len() {
                let (h, kept) = (1e-6, theta[k]);
                theta[k] = kept + h;
                let above = objective.replay(&theta).unwrap().value;
                theta[k] = kept - h;
                let below = objective.replay(&theta).unwrap().value;
                theta[k] = kept;
                squares += (gradient[k] - (above - below) / (2.0 * h)).powi(2);
            }
            let error = squares.sqrt() / norm;
            assert!(error < 1e-6, "strategy {strategy}, {free_starts:?}, {steps} steps: {error:e}");
            let tail = &gradient[common::theta().len()..];
            assert!(tail.iter().all(|g| g.abs() > 0.0), "every start is moved by something");
        }
    }
}

#[test]
fn segments_cover_their_trajectory_and_share_their_ends() {
    let data = dataset(ragged());
    for steps in 1..8 {
        for complete in [false, true] {
            let segments = Segment::cut(&data, steps, complete);
            for (n, t) in data.trajectories().iter().enumerate() {
                let mut next = 0;
                for segment in segments.iter().filter(|segment| segment.trajectory == n) {
                    assert_eq!(segment.first, next);
                    assert!(complete || segment.rows <= steps + 1);
                    next = segment.first + segment.rows - 1;
                    let start = &t.states[segment.first * 2..][..2];
                    assert!(!complete || start.iter().all(|value| value.is_finite()));
                }
                assert_eq!(next, t.len() - 1);
            }
        }
    }
}

#[test]
fn continuity_counts_apart_from_laws_and_fit() {
    let data = dataset(vec![trajectory(5, 9)]);
    let segments = Segment::cut(&data, 4, false);
    let make = |free| {
        let strategy = Box::new(SelfAdaptive::smooth());
        let free_starts = FreeStarts { initial: false, segments: free };
        let problem = Problem::new(data.clone(), laws(&LAWS[..1]));
        let objective =
            Objective::new(problem, Box::new(network()), Solver::default(), strategy).unwrap();
        objective.with_free_starts(free_starts, &segments)
    };
    let (mut fixed, mut free) = (make(false), make(true));
    let theta = theta();
    let mut longer = theta.clone();
    longer.resize(free.parameter_len(), 0.0);
    let (fixed, free) = (fixed.evaluate(&theta, 0).unwrap(), free.evaluate(&longer, 0).unwrap());
    // At z = 0 the starts are the measured ones: the same fit, the same violation, another value.
    assert_eq!(fixed.value.fit.to_bits(), free.value.fit.to_bits());
    assert_eq!(fixed.value.violation.to_bits(), free.value.violation.to_bits());
    assert_eq!((fixed.laws.len(), free.laws.len()), (1, 1));
    assert!(free.value.value > fixed.value.value + 1e-3, "jumps cost something");
}

/// L-BFGS on segments with free starts, under this strategy.
fn trainer(strategy: Box<dyn Strategy>, iterations: usize) -> Trainer {
    let segments = Segment::cut(&dataset(ragged()), 2, false);
    let free_starts = FreeStarts { initial: true, segments: true };
    let objective = objective(strategy, free_starts, &segments);
    let theta = point(&objective);
    let lbfgs = Lbfgs::new(LbfgsSettings { memory: 5, ..LbfgsSettings::default() }, theta.len());
    let settings = Settings { iterations, ..Settings::default() };
    Trainer::new(objective, Box::new(lbfgs), settings, theta)
        .unwrap()
        .with_sampler(Sampler::of(segments))
}

#[test]
fn lbfgs_goes_on_from_every_checkpoint_bit_for_bit() {
    // The paper's form too, whose weights change between searches.
    for strategy in [SelfAdaptive::smooth(), SelfAdaptive::default()] {
        let mut watch = Watch::every(1);
        let whole = trainer(Box::new(strategy), 40).run(&mut watch);
        assert!(watch.checkpoints.len() > 10);
        for checkpoint in watch.checkpoints.iter().step_by(3) {
            let resumed = trainer(Box::new(strategy), 40)
                .from_checkpoint(checkpoint.clone())
                .unwrap()
                .run(&mut ());
            assert_eq!(resumed.stop, whole.stop);
            assert_eq!(bits(&resumed.last.theta), bits(&whole.last.theta));
        }
    }
}

#[test]
fn lbfgs_ends_at_its_best_point_and_not_at_a_trial() {
    // The objective that the observer saw.
    let value = |row: &Seen| row.found.as_ref().map_or(f64::INFINITY, |found| found.1);
    let mut watch = Watch::default();
    let mut trainer = trainer(Box::new(SelfAdaptive::smooth()), 60);
    let outcome = trainer.run(&mut watch);
    let end = trainer.objective_mut().evaluate(&outcome.last.theta, 0).unwrap().value.value;
    let least = watch.rows.iter().map(value).fold(f64::INFINITY, f64::min);
    assert!(end <= least * 1.05, "{end} against {least}");
    assert!(end < 0.5 * value(&watch.rows[0]), "{end} from {}", value(&watch.rows[0]));
}

#[test]
fn a_trained_initial_state_is_found_where_the_first_row_is_wrong() {
    // dx/dt = v, dv/dt = −x by a network without hidden layers is linear: learned exactly.
    let times: Vec<f64> = (0..30).map(|n| 0.2 * f64::from(n)).collect();
    let mut states: Vec<f64> = times.iter().flat_map(|t| [t.cos(), -t.sin()]).collect();
    states[0] = 1.4;
    let data = lawful::Dataset::single(&["x", "v"], times, states).unwrap();
    let shape = lawful::MlpShape::new(2, &[], lawful::Activation::Tanh);
    let field = lawful::Mlp::new(shape, lawful::Precision::Double).expect("the shape of a network");
    let free_starts = FreeStarts { initial: true, segments: false };
    let problem = Problem::new(data.clone(), Vec::new());
    let objective = Objective::new(problem, Box::new(field), Solver::default(), Box::new(Vanilla))
        .unwrap()
        .with_free_starts(free_starts, &Segment::whole(&data));
    let theta = vec![0.0; objective.parameter_len()];
    let lbfgs = Lbfgs::new(LbfgsSettings::default(), theta.len());
    let settings = Settings { iterations: 300, ..Settings::default() };
    let outcome = Trainer::new(objective, Box::new(lbfgs), settings, theta).unwrap().run(&mut ());
    let found = &initial_states(&data, None, &outcome.last.theta[6..])[0];
    // One cell of sixty is off by 0.4; the others are 1.
    assert!((found[0] - 1.0).abs() < 0.15 && found[1].abs() < 0.15, "{found:?}");
}

#[test]
fn validation_stops_and_gives_back_the_point_of_least_error() {
    let held_out = || {
        let problem = Problem::new(dataset(vec![trajectory(9, 6)]), Vec::new());
        let network = Box::new(network());
        Objective::new(problem, network, Solver::default(), Box::new(Vanilla)).unwrap()
    };
    let problem = Problem::new(dataset(vec![trajectory(8, 6)]), Vec::new());
    let objective =
        Objective::new(problem, Box::new(network()), Solver::default(), Box::new(Vanilla)).unwrap();
    let lbfgs = Lbfgs::new(LbfgsSettings::default(), theta().len());
    let settings = Settings { iterations: 5000, ..Settings::default() };
    let outcome = Trainer::new(objective, Box::new(lbfgs), settings, theta())
        .unwrap()
        .with_validation(Validation::new(held_out(), 1, 30).unwrap())
        .run(&mut ());
    assert_eq!(Validation::new(held_out(), 0, 30).err(), Some(TrainerError::NoInterval));
    assert_eq!(outcome.stop, StopReason::Validated);
    let least = outcome.last.validated;
    assert_eq!(bits(&outcome.last.theta), bits(&least.theta));
    let error = held_out().observe(&outcome.last.theta).unwrap().view().fit();
    assert_eq!(error.to_bits(), least.error.to_bits());
}
