//! The augmented Lagrangian on convex problems with known multipliers, and what strategies with a memory
//! need of the training loop: points that keep their identity, outer steps, resume.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::collections::HashMap;

use common::watch::Watch;
use common::{LAWS, bits, dataset, laws, network, progress_bytes, ragged, relative_error, theta};
use lawful::law::Words;
use lawful::optimiser::{AdamSettings, Lbfgs, LbfgsSettings, Optimiser, OptimiserKind, Step};
use lawful::strategy::{
    AugmentedLagrangian, Evaluator, LawRows, MisfitView, ObjectiveChange, Slopes, State, Strategy,
    Value, fill_violations,
};
use lawful::{
    Batch, Dataset, Equations, FreeStarts, Law, Misfit, Objective, Problem, RateDecay, Recorded,
    Relation, Sampler, Schedule, Segment, Settings, Solver, StopReason, Trainer,
};

/// Rounds of so many iterations, or only where the optimiser stalls; with a constant penalty, so that
/// multipliers alone bring the digits.
fn augmented(rho: f64, every: Option<usize>) -> AugmentedLagrangian {
    let round = every.unwrap_or(usize::MAX >> 1);
    AugmentedLagrangian { rho, rho_growth: 1.0, round, ..AugmentedLagrangian::default() }
}

const EVERY: [Option<usize>; 2] = [Some(5), None];

/// Half the squared distance of (x, y, z) from (3, 4, 3), under
///
/// | law | rows |
/// |---|---|
/// | equality | x + y − 4 = 0 and z − 1 = 0 |
/// | inequality | 2x − 2 ≤ 0, which is active, and y − 10 ≤ 0, which is not |
///
/// The optimum is (1, 3, 1). There x − 3 = −2, y − 4 = −1, z − 3 = −2, so that with N = 2 rows in each
/// law: λ₁/2 = 1 (from y), λ₂/2 = 2 (from z), λ₁/2 + 2λ₃/2 = 2 (from x), λ₄ = 0.
mod quadratic {
    use super::{LawRows, MisfitView, Relation, fill_violations};

    pub(super) const TARGET: [f64; 3] = [3.0, 4.0, 3.0];
    pub(super) const ROWS: [([f64; 3], f64); 4] = [
        ([1.0, 1.0, 0.0], -4.0),
        ([0.0, 0.0, 1.0], -1.0),
        ([2.0, 0.0, 0.0], -2.0),
        ([0.0, 1.0, 0.0], -10.0),
    ];
    /// Points in an order of their own, of five that each law has in some larger set of data.
    pub(super) const POINTS: [usize; 4] = [2, 0, 1, 3];
    pub(super) const LAWS: [LawRows; 2] = [
        LawRows { relation: Relation::Equality, start: 0, len: 2, points: 5 },
        LawRows { relation: Relation::AtMost, start: 2, len: 2, points: 5 },
    ];
    pub(super) const OPTIMUM: [f64; 3] = [1.0, 3.0, 1.0];
    /// The multipliers of all points, the first law's before the second's.
    pub(super) const MULTIPLIERS: [f64; 10] = [4.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];

    /// Evaluates a point: the mean of the three terms is half the squared distance.
    pub(super) fn evaluate<T>(theta: &[f64], use_view: impl FnOnce(&MisfitView) -> T) -> T {
        let terms = [0, 1, 2].map(|i| 1.5 * (theta[i] - TARGET[i]).powi(2));
        let residuals = ROWS.map(|(a, b)| a.iter().zip(theta).map(|(a, x)| a * x).sum::<f64>() + b);
        let mut violations = [0.0; 4];
        fill_violations(&LAWS, &residuals, 0.0, &mut violations);
        use_view(&MisfitView {
            terms: &terms,
            residuals: &residuals,
            violations: &violations,
            points: &POINTS,
            laws: &LAWS,
            margin: 0.0,
        })
    }

    /// The chain rule from slopes to θ.
    pub(super) fn gradient(theta: &[f64], slopes: &super::Slopes) -> Vec<f64> {
        let of_data = |i: usize| slopes.terms[i] * 3.0 * (theta[i] - TARGET[i]);
        let of_laws = |i: usize| {
            ROWS.iter().zip(&slopes.residuals).map(|((a, _), slope)| a[i] * slope).sum::<f64>()
        };
        (0..3).map(|i| of_data(i) + of_laws(i)).collect()
    }
}

#[test]
fn multipliers_of_a_convex_quadratic_problem_are_those_worked_by_hand() {
    for every in EVERY {
        let strategy = augmented(10.0, every);
        let mut evaluator = Evaluator::new(Box::new(strategy), &quadratic::LAWS).unwrap();
        assert_eq!(evaluator.state().numbers[..10], [0.0; 10]);
        let mut lbfgs = Lbfgs::new(LbfgsSettings::default(), 3);
        let mut theta = vec![0.0; 3];
        let (mut outer_steps, mut accepted) = (0, 0);
        for iteration in 0..2000 {
            let frozen = lbfgs.freezes_weights();
            let value = quadratic::evaluate(&theta, |view| {
                if frozen {
                    evaluator.evaluate_frozen(view)
                } else {
                    evaluator.evaluate(view, iteration)
                }
            });
            let gradient = quadratic::gradient(&theta, evaluator.slopes());
            let step = match lbfgs.advance(&mut theta, value.value, &gradient, 1.0) {
                Step::Accepted => {
                    accepted += 1;
                    // A round is over after some accepted steps, or when nothing is left to gain.
                    if evaluator.strategy().outer_every().is_none_or(|every| accepted % every > 0) {
                        lbfgs.advance(&mut theta, value.value, &gradient, 1.0)
                    } else {
                        Step::Stalled("a round is over")
                    }
                }
                step => step,
            };
            if let Step::Stalled(_) = step {
                let change = quadratic::evaluate(&theta, |view| evaluator.outer_step(view));
                if change == ObjectiveChange::Unchanged && every.is_none() {
                    break;
                }
                outer_steps += 1;
                lbfgs.objective_changed();
            }
        }
        assert!(outer_steps > 3, "{outer_steps}");
        let largest = |found: &[f64], expected: &[f64]| {
            found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        let error = largest(&theta, &quadratic::OPTIMUM);
        assert!(error < 1e-7, "{every:?}: {theta:?} is off by {error:e}");
        let multipliers = &evaluator.state().numbers[..10];
        let error = largest(multipliers, &quadratic::MULTIPLIERS);
        assert!(error < 1e-6, "{every:?}: {multipliers:?} are off by {error:e}");
    }
}

#[test]
fn slopes_are_the_multipliers_where_laws_hold_and_match_central_differences_elsewhere() {
    let strategy = augmented(10.0, None);
    let mut evaluator = Evaluator::new(Box::new(strategy), &quadratic::LAWS).unwrap();
    let mut state = evaluator.state().clone();
    state.numbers[..10].copy_from_slice(&quadratic::MULTIPLIERS);
    evaluator.set_state(&state);
    // At the optimum equalities are exactly 0, and one inequality holds with room to spare.
    quadratic::evaluate(&quadratic::OPTIMUM, |view| {
        assert_eq!(view.residuals, [0.0, 0.0, 0.0, -7.0]);
        evaluator.evaluate(view, 0);
    });
    assert_eq!(evaluator.slopes().residuals, [1.0, 2.0, 0.5, 0.0]);
    let gradient = quadratic::gradient(&quadratic::OPTIMUM, evaluator.slopes());
    assert!(gradient.iter().all(|g| g.abs() < 1e-14), "{gradient:?}");
    assert_eq!(evaluator.weights(), [10.0; 2]);
    // An inequality that holds still has a slope while λ + ρc > 0: here λ = 1, c = −0.05.
    let theta = [0.975, 3.1, 0.7];
    quadratic::evaluate(&theta, |view| evaluator.evaluate(view, 0));
    assert!((evaluator.slopes().residuals[2] - 0.25).abs() < 1e-12);
    let gradient = quadratic::gradient(&theta, evaluator.slopes());
    let differences: Vec<f64> = (0..3)
        .map(|i| {
            let h = 1e-5;
            let mut at = |shift: f64| {
                let mut theta = theta;
                theta[i] += shift;
                quadratic::evaluate(&theta, |view| evaluator.evaluate_frozen(view).value)
            };
            (at(h) - at(-h)) / (2.0 * h)
        })
        .collect();
    assert!(relative_error(&gradient, &differences) < 1e-8, "{gradient:?}, {differences:?}");
}

#[test]
fn settings_that_do_not_fit_are_refused_when_the_objective_is_built() {
    let strategy =
        || Box::new(AugmentedLagrangian { rho_max: 1.0, ..AugmentedLagrangian::default() });
    let text = "the strategy `augmented-lagrangian` has `rho-max` 1, which is below `rho` 10";
    let error = Evaluator::new(strategy(), &quadratic::LAWS).err().unwrap();
    assert_eq!(error.to_string(), text);
    let problem = Problem::new(dataset(ragged()), laws(&LAWS));
    let objective = Objective::new(problem, Box::new(network()), Solver::default(), strategy());
    assert_eq!(objective.err().unwrap().to_string(), text);
}

/// `y′ = θ` from y = 0: the solution is θt, so that the problem is convex in θ.
#[derive(Clone)]
struct Slope;

impl Equations for Slope {
    fn state_len(&self) -> usize {
        1
    }

    fn parameter_len(&self) -> usize {
        1
    }

    fn eval(&mut self, theta: &[f64], _: f64, _: &[f64], _: &[f64], dy: &mut [f64]) {
        dy[0] = theta[0];
    }

    fn pull_back(
        &mut self,
        _: &[f64],
        _: f64,
        _: &[f64],
        _: &[f64],
        w: &[f64],
        _: &mut [f64],
        theta_bar: &mut [f64],
    ) {
        theta_bar[0] += w[0];
    }
}

/// Data y = t at t = 0, 1, 2, under a law.
fn slope(law: &str, strategy: AugmentedLagrangian) -> Objective {
    let times = vec![0.0, 1.0, 2.0];
    let data = Dataset::single(&["y"], times.clone(), times).unwrap();
    let words = Words::new().state(["y"]).check().unwrap();
    let problem = Problem::new(data, Law::parse("a law", law, &words).unwrap());
    let field = Box::new(Recorded::new(Slope));
    Objective::new(problem, field, Solver::default(), Box::new(strategy)).unwrap()
}

#[test]
fn trainer_finds_the_multipliers_worked_by_hand_with_every_optimiser() {
    // l(θ) = (0 + (θ − 1)² + (2θ − 2)²)/3 has the slope 10/3 (θ − 1), which is −5/3 at θ = 1/2.
    let cases = [
        // Rows −1, θ − 1, 2θ − 1, of which the last is active: λ · 2/3 = 5/3.
        ("y <= 1", 0.5, [0.0, 0.0, 2.5]),
        // At t = 2 alone, known at every row: (λ₀ + λ₁ + λ₂) 2/3 = 5/3 in equal shares.
        ("final(y) == 1", 0.5, [2.5 / 3.0; 3]),
        // Rows 0, θ − 1/2, 2θ − 1: (λ₁ + 2λ₂)/3 = 5/3 with λ₂ = 2λ₁, for both grow with c.
        ("y == t/2", 0.5, [0.0, 1.0, 2.0]),
        // Data that hold a law by themselves leave its multipliers at 0.
        ("y >= -1", 1.0, [0.0; 3]),
    ];
    let rate = 0.02;
    for (law, optimum, multipliers) in cases {
        for (optimiser, iterations, every, tolerance) in [
            (OptimiserKind::Lbfgs(LbfgsSettings::default()), 400, Some(5), 1e-8),
            // The optimiser stalls at each minimum, where an outer step gives it something to do.
            (OptimiserKind::Lbfgs(LbfgsSettings::default()), 400, None, 1e-8),
            (
                OptimiserKind::Adam(AdamSettings { rate, ..Default::default() }),
                6000,
                Some(200),
                1e-4,
            ),
        ] {
            let strategy = augmented(10.0, every);
            let schedule =
                Schedule { iterations, decay: RateDecay::Cosine, ..Schedule::constant() };
            let settings = Settings { iterations, schedule, ..Settings::default() };
            let optimiser_word = optimiser.name();
            let trainer =
                Trainer::new(slope(law, strategy), optimiser.build(1), settings, vec![0.0]);
            let outcome = trainer.unwrap().run(&mut ());
            let case = format!("{law}, {optimiser_word}, {every:?}: {:?}", outcome.stop);
            assert!(!matches!(outcome.stop, StopReason::Failed(_)), "{case}");
            let theta = outcome.last.theta[0];
            assert!((theta - optimum).abs() < tolerance, "{case}: θ = {theta}");
            let found = &outcome.last.strategy.laws.numbers[..3];
            for (found, expected) in found.iter().zip(multipliers) {
                assert!(
                    (found - expected).abs() < 100.0 * tolerance,
                    "{case}: λ = {found}, not {expected}"
                );
            }
            assert!(outcome.last.outer_step > 0 || multipliers[2] < 0.1, "{case}");
        }
    }
}

#[test]
fn resume_in_the_middle_gives_the_same_bytes_with_multipliers_and_outer_steps() {
    for optimiser in OptimiserKind::all() {
        for every in EVERY {
            let make = || {
                let strategy = augmented(2.0, every);
                let strategy = Box::new(AugmentedLagrangian { rho_growth: 4.0, ..strategy });
                let problem = Problem::new(dataset(ragged()), laws(&LAWS));
                let field = Box::new(network());
                let objective =
                    Objective::new(problem, field, Solver::default(), strategy).unwrap();
                let settings = Settings { iterations: 60, ..Settings::default() };
                let optimiser = optimiser.build(theta().len());
                Trainer::new(objective, optimiser, settings, theta()).unwrap()
            };
            let mut whole = Watch::every(7);
            let end = make().run(&mut whole);
            let case = format!("{} {every:?}", optimiser.name());
            if every.is_some() {
                assert!(end.last.outer_step > 40, "{case}: {}", end.last.outer_step);
                assert!(end.last.strategy.laws.numbers.iter().any(|x| x.abs() > 0.1), "{case}");
            }
            assert!(whole.checkpoints.len() > 8, "{case}");
            for checkpoint in &whole.checkpoints {
                let start = checkpoint.iteration;
                let mut rest = Watch::every(7);
                let resumed = make().from_checkpoint(checkpoint.clone()).unwrap().run(&mut rest);
                assert_eq!(
                    progress_bytes(&resumed.last),
                    progress_bytes(&end.last),
                    "{case}, {start}"
                );
                assert_eq!(
                    (&resumed.stop, &resumed.best),
                    (&end.stop, &end.best),
                    "{case}, {start}"
                );
                let rows = whole.rows.iter().filter(|row| row.iteration >= start);
                assert!(rows.eq(&rest.rows), "{case}, from {start}: other rows");
            }
        }
    }
}

/// Laws of each reach.
const REACHES: [(&str, &str); 5] = [
    ("here", "x + v == -0.7"),
    ("next", "next(x*v) <= x*v - 4"),
    ("previous", "previous(x)*v == 5 + x"),
    ("initial", "x + v == initial(x - 2*v) + 6"),
    ("final", "x >= final(x*v) + 5"),
];

fn reaches(strategy: AugmentedLagrangian) -> Objective {
    let problem = Problem::new(dataset(ragged()), laws(&REACHES));
    Objective::new(problem, Box::new(network()), Solver::default(), Box::new(strategy)).unwrap()
}

/// The point of each residual of a law, with the time of its row. No two rows have the same time.
fn points(misfit: &Misfit, laws: &[Law], k: usize) -> Vec<(u64, usize)> {
    let times = bits(&misfit.residual_times(&laws[k]));
    let points = misfit.view().points_of(k).to_vec();
    assert_eq!(times.len(), points.len());
    times.into_iter().zip(points).collect()
}

#[test]
fn a_row_is_the_same_point_in_trajectories_segments_and_windows() {
    let mut objective = reaches(augmented(1.0, None));
    let laws = objective.problem().laws.clone();
    let data = objective.problem().dataset.clone();
    let rows = data.rows();
    // Every row of the data, by its time, counted over the trajectories.
    let times = data.trajectories().iter().flat_map(|t| bits(&t.times));
    let numbers: HashMap<u64, usize> = times.zip(0..).collect();
    assert_eq!(numbers.len(), rows);
    let mut seen = [0; 5];
    let mut check = |objective: &Objective, what: &str| {
        let misfit = objective.misfit();
        for (k, law) in misfit.view().laws.iter().enumerate() {
            assert_eq!(law.points, rows, "{what}");
            for (time, point) in points(misfit, &laws, k) {
                assert_eq!(numbers.get(&time), Some(&point), "{what}, {}", laws[k].name());
                seen[k] += 1;
            }
        }
    };
    objective.observe(&theta()).unwrap();
    check(&objective, "whole trajectories");
    for steps in 1..7 {
        for complete in [false, true] {
            let segments = Segment::cut(&data, steps, complete);
            // A segment that starts without a state has nothing to start from.
            if complete {
                objective.select(&segments);
                objective.observe(&theta()).unwrap();
                check(&objective, &format!("segments of {steps} steps"));
            } else {
                for initial in [false, true] {
                    let free_starts = FreeStarts { initial, segments: true };
                    let objective = reaches(augmented(1.0, None));
                    let mut objective = objective.with_free_starts(free_starts, &segments);
                    let mut theta = theta();
                    theta.resize(objective.parameter_len(), 0.0);
                    objective.observe(&theta).unwrap();
                    check(&objective, &format!("segments of {steps} steps with free starts"));
                }
            }
        }
    }
    for batch in [Batch::Windows { count: 4, rows: 3 }, Batch::Trajectories { count: 2 }] {
        let sampler = Sampler::new(batch, &data, 5).unwrap();
        let mut segments = Vec::new();
        for iteration in 0..20 {
            sampler.draw(iteration, &mut segments);
            objective.select(&segments);
            objective.observe(&theta()).unwrap();
            check(&objective, &format!("{batch:?}"));
        }
    }
    assert!(seen.iter().all(|&count| count > 50), "{seen:?}");
}

#[test]
fn multipliers_of_segments_belong_to_the_same_rows_of_the_whole_path() {
    let strategy = augmented(2.0, Some(4));
    let data = dataset(ragged());
    let segments = Segment::cut(&data, 2, false);
    let free_starts = FreeStarts { initial: false, segments: true };
    let on_segments = reaches(strategy).with_free_starts(free_starts, &segments);
    let start = on_segments.layout().extend(&theta());
    let settings = Settings { iterations: 40, ..Settings::default() };
    let lbfgs = Box::new(Lbfgs::new(LbfgsSettings::default(), start.len()));
    let trainer = Trainer::new(on_segments, lbfgs, settings, start).unwrap();
    let mut trainer = trainer.with_sampler(Sampler::of(segments));
    let first = trainer.run(&mut ());
    let multipliers = &first.last.strategy.laws;
    let len = REACHES.len() * data.rows();
    assert_eq!(multipliers.numbers.len(), len + 2 * REACHES.len());
    assert!(multipliers.numbers[..len].iter().filter(|x| x.abs() > 0.0).count() > 20);

    // Single shooting begins with them: nothing is lost, and nothing is done to them yet.
    let theta = trainer.objective().layout().keep(&first.last.theta);
    let settings = Settings { iterations: 0, ..Settings::default() };
    let lbfgs = Box::new(Lbfgs::new(LbfgsSettings::default(), theta.len()));
    let trainer = Trainer::new(reaches(strategy), lbfgs, settings, theta.clone()).unwrap();
    let mut trainer = trainer.continuing(multipliers);
    let second = trainer.run(&mut ());
    let numbers = &second.last.strategy.laws.numbers;
    assert_eq!(bits(&numbers[..len]), bits(&multipliers.numbers[..len]));
    // Violations on segments and on trajectories cannot be compared.
    assert!(numbers[len + REACHES.len()..].iter().all(|x| x.is_infinite()));

    // φ by hand: each residual with the multiplier of its row.
    let misfit = trainer.objective().misfit();
    let view = misfit.view();
    let mut expected = view.fit();
    for (k, law) in view.laws.iter().enumerate() {
        let mut sum = 0.0;
        for (point, c) in view.points_of(k).iter().zip(view.residuals_of(k)) {
            let lambda = multipliers.numbers[k * data.rows() + point];
            sum += match law.relation {
                Relation::Equality => lambda * c + c * c,
                Relation::AtMost => ((lambda + 2.0 * c).max(0.0).powi(2) - lambda * lambda) / 4.0,
            };
        }
        expected += sum / law.len as f64;
    }
    let found = trainer.objective().evaluation().value.value;
    assert!((found / expected - 1.0).abs() < 1e-12, "{found} is not {expected}");
    let without = {
        let mut objective = reaches(strategy);
        objective.evaluate(&theta, 0).unwrap().value.value
    };
    assert!((found / without - 1.0).abs() > 1e-3, "multipliers matter");
}

/// Records the residuals in an outer step, and counts the outer steps at another point than the next
/// evaluation, which is at θ again.
struct Witness;

impl Strategy for Witness {
    fn name(&self) -> &'static str {
        "witness"
    }

    /// Outer steps, those at another point, whether one has just been taken, and its residuals.
    fn start(&self, laws: &[LawRows]) -> State {
        State { numbers: vec![0.0; 3 + laws.iter().map(|law| law.len).sum::<usize>()] }
    }

    fn outer_step(&self, state: &mut State, view: &MisfitView) -> ObjectiveChange {
        state.numbers[0] += 1.0;
        state.numbers[2] = 1.0;
        state.numbers[3..].copy_from_slice(view.residuals);
        ObjectiveChange::Substantial
    }

    fn weights(&self, state: &mut State, view: &MisfitView, _: usize, weights: &mut [f64]) {
        let (counts, seen) = state.numbers.split_at_mut(3);
        if std::mem::take(&mut counts[2]) > 0.0 && bits(seen) != bits(view.residuals) {
            counts[1] += 1.0;
        }
        weights.fill(1.0);
    }

    fn value(
        &self,
        state: &State,
        view: &MisfitView,
        weights: &[f64],
        slopes: &mut Slopes,
    ) -> Value {
        lawful::strategy::L1::default().value(state, view, weights, slopes)
    }
}

#[test]
fn an_outer_step_after_a_failed_line_search_is_taken_at_the_point_of_the_optimiser() {
    let affine = lawful::MlpShape::new(2, &[], lawful::Activation::Tanh);
    let field = lawful::Mlp::new(affine, lawful::Precision::Double);
    let times: Vec<f64> = (0..12).map(|n| 0.3 * f64::from(n)).collect();
    let states = times.iter().flat_map(|t| [t.cos(), 0.1 - t.sin()]).collect();
    let data = Dataset::single(&["x", "v"], times, states).unwrap();
    let words = Words::new().state(["x", "v"]).check().unwrap();
    let problem = Problem::new(data, Law::parse("a law", "x^2 + v^2 == 1", &words).unwrap());
    let objective =
        Objective::new(problem, Box::new(field.unwrap()), Solver::default(), Box::new(Witness));
    let lbfgs = Box::new(Lbfgs::new(LbfgsSettings::default(), 6));
    let settings = Settings { iterations: 3000, ..Settings::default() };
    let trainer = Trainer::new(objective.unwrap(), lbfgs, settings, vec![0.1; 6]);
    let outcome = trainer.unwrap().run(&mut ());
    let [taken, elsewhere] = [0, 1].map(|n| outcome.last.strategy.laws.numbers[n]);
    assert!(taken > 1.0, "{:?}", outcome.stop);
    assert!(elsewhere < 1.0, "{elsewhere} of {taken} were at another point");
}
