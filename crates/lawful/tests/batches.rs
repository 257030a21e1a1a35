//! Mini-batches: what is judged on all data, and what the batches alone decide.

mod common;

use common::watch::Watch;
use common::{LAWS, bits, objective, problem};
use lawful::strategy::{LawRows, MisfitView, SelfAdaptive, Slopes, State, Strategy, Value};
use lawful::{Batch, Restore, Sampler, Settings, Solver, Trainer};

const BATCHES: [Batch; 2] =
    [Batch::Trajectories { count: 2 }, Batch::Windows { count: 3, rows: 3 }];

fn trainer(batch: Batch, strategy: Box<dyn Strategy>, settings: Settings) -> Trainer {
    let problem = problem(&LAWS);
    let sampler = Sampler::new(batch, &problem.dataset, 3).expect("something to draw");
    let objective = objective(problem, Solver::default(), strategy);
    common::trainer(objective, 1e-2, settings).with_sampler(sampler)
}

#[test]
fn the_best_point_is_judged_on_all_data_now_and_then_and_at_the_end() {
    for batch in BATCHES {
        for iterations in [130, 200] {
            let settings = Settings { iterations, ..Settings::default() };
            let mut watch = Watch::every(1);
            let strategy = Box::new(SelfAdaptive::default());
            let outcome = trainer(batch, strategy, settings).run(&mut watch);
            assert!(watch.rows.iter().all(|row| row.verdict.is_none()), "{batch:?}");
            let best = &outcome.best;
            let judged = if iterations == 130 { [0, 100, 130] } else { [0, 100, 200] };
            assert_eq!(best.accepted() + best.rejected(), 3, "{batch:?}");
            assert!(judged.contains(&best.iteration()), "{batch:?}");
            let theta = &watch.checkpoints[best.iteration()].theta;
            assert_eq!(bits(best.theta()), bits(theta), "{batch:?}");
            let mut whole =
                objective(problem(&LAWS), Solver::default(), Box::new(SelfAdaptive::default()));
            let value = whole.evaluate(best.theta(), 0).unwrap().value;
            assert_eq!(best.value(), Some(&value), "{batch:?}");
        }
    }
}

#[test]
fn going_back_to_the_best_point_is_for_full_batches() {
    for batch in BATCHES {
        let trained = |best_point| {
            let settings = Settings { iterations: 120, best_point, ..Settings::default() };
            let strategy = Box::new(SelfAdaptive::default());
            bits(&trainer(batch, strategy, settings).run(&mut ()).last.theta)
        };
        assert_eq!(trained(None), trained(Some(Restore::default())), "{batch:?}");
    }
}

/// Counts its evaluations, and uses the count as the weight of each law.
struct Counting;

impl Strategy for Counting {
    fn name(&self) -> &'static str {
        "counting"
    }

    fn start(&self, _: &[LawRows]) -> State {
        State { numbers: vec![0.0] }
    }

    fn weights(&self, state: &mut State, _: &MisfitView, _: usize, weights: &mut [f64]) {
        state.numbers[0] += 1.0;
        weights.fill(state.numbers[0]);
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
fn a_strategy_remembers_the_batches_and_not_the_judgements() {
    for batch in BATCHES {
        let settings = Settings { iterations: 130, ..Settings::default() };
        let outcome = trainer(batch, Box::new(Counting), settings).run(&mut ());
        assert_eq!(bits(&outcome.last.strategy.laws.numbers), bits(&[130.0]), "{batch:?}");
    }
}
