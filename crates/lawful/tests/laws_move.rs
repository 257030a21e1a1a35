//! Every law moves θ, under every strategy that is meant to obey it, and under no other.

mod common;

use common::{LAWS, all_strategies, bits, objective, problem};
use lawful::strategy::{Judgement, LawRows, MisfitView, Slopes, State, Strategy, Value};
use lawful::{Settings, Solver};

/// A strategy whose slopes of one law are set to zero.
struct Deaf {
    inner: Box<dyn Strategy>,
    law: usize,
}

impl Strategy for Deaf {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn start(&self, laws: &[LawRows]) -> State {
        self.inner.start(laws)
    }

    fn new_point(&self, state: &mut State, view: &MisfitView) {
        self.inner.new_point(state, view);
    }

    fn judges(&self) -> bool {
        self.inner.judges()
    }

    fn judge(&self, state: &mut State, view: &MisfitView, value: &Value) -> Judgement {
        self.inner.judge(state, view, value)
    }

    fn weights(&self, state: &mut State, view: &MisfitView, k: usize, weights: &mut [f64]) {
        self.inner.weights(state, view, k, weights);
    }

    fn value(
        &self,
        state: &State,
        view: &MisfitView,
        weights: &[f64],
        slopes: &mut Slopes,
    ) -> Value {
        let value = self.inner.value(state, view, weights, slopes);
        let rows = view.laws[self.law];
        slopes.residuals[rows.start..][..rows.len].fill(0.0);
        value
    }
}

fn trained(laws: &[(&str, &str)], strategy: Box<dyn Strategy>) -> Vec<u64> {
    let objective = objective(problem(laws), Solver::default(), strategy);
    // Strategies that judge points count laws after the first rejection.
    let (iterations, rate) = if objective.judges() { (60, 0.1) } else { (5, 1e-2) };
    let settings = Settings { iterations, ..Settings::default() };
    bits(&common::trainer(objective, rate, settings).run(&mut ()).last.theta)
}

#[test]
fn every_law_moves_the_parameters() {
    for n in 0..all_strategies(LAWS.len()).len() {
        let strategy = || all_strategies(LAWS.len()).swap_remove(n);
        let heard = trained(&LAWS, strategy());
        for (law, (kind, _)) in LAWS.iter().enumerate() {
            let unheard = trained(&LAWS, Box::new(Deaf { inner: strategy(), law }));
            let name = strategy().name();
            assert_eq!(heard == unheard, name == "vanilla", "{name}, {kind}");
        }
    }
}

#[test]
fn vanilla_gives_the_same_bytes_with_and_without_laws() {
    let vanilla = || all_strategies(0).swap_remove(0);
    assert_eq!(vanilla().name(), "vanilla");
    assert_eq!(trained(&LAWS, vanilla()), trained(&[], vanilla()));
}
