//! From an experiment to the parts that train it.

use lawful::optimiser::{Adam, Optimiser};
use lawful::strategy::{L1, L2, Strategy as LawStrategy, Vanilla};
use lawful::{
    Dataset, Method, Mlp, MlpShape, Objective, Problem, Sampler, Settings, Trainer, VectorField,
};

use crate::experiment::{Experiment, StrategyKind};
use crate::model::{FORMAT, Metadata};

impl Experiment {
    /// The shape of the network.
    pub fn shape(&self) -> MlpShape {
        MlpShape {
            state: self.vocabulary.state().len(),
            inputs: self.vocabulary.inputs().len(),
            time: self.field.time_input,
            hidden: self.field.hidden.clone(),
            activations: self.field.activations.clone(),
        }
    }

    /// The network.
    pub fn network(&self) -> Box<dyn VectorField> {
        Box::new(Mlp::new(self.shape(), self.field.precision))
    }

    /// What is asked of these data.
    pub fn problem(&self, dataset: Dataset) -> Problem {
        let (laws, loss, hold) = (self.laws.clone(), self.training.loss, self.hold);
        Problem { dataset, laws, loss, hold }
    }

    /// The strategy with its settings.
    pub fn strategy(&self) -> Box<dyn LawStrategy> {
        match &self.strategy.kind {
            StrategyKind::Vanilla => Box::new(Vanilla),
            StrategyKind::L1(mu) => Box::new(L1 { mu: mu.clone() }),
            StrategyKind::L2(mu) => Box::new(L2 { mu: mu.clone() }),
            StrategyKind::SelfAdaptive(settings) => Box::new(*settings),
        }
    }

    /// The optimiser, at rest.
    pub fn optimiser(&self) -> Box<dyn Optimiser> {
        Box::new(Adam::new(self.training.optimiser, self.shape().parameter_len()))
    }

    /// Errors and violations on these data, solved by this method.
    pub fn measure(&self, dataset: Dataset, method: Method) -> Objective {
        Objective::new(self.problem(dataset), self.network(), method, Box::new(Vanilla))
    }

    /// The training loop, at its start, for this many iterations in all.
    pub fn trainer(&self, iterations: usize) -> Trainer {
        let (shape, training) = (self.shape(), &self.training);
        let theta = self.field.init.draw(&shape, training.seed);
        let problem = self.problem(self.training_set.clone());
        let objective = Objective::new(problem, self.network(), self.solver, self.strategy());
        let optimiser = self.optimiser();
        let settings = Settings {
            iterations,
            tolerance: self.strategy.tolerance,
            best_point: self.strategy.best_point,
            schedule: training.schedule,
            ..Settings::default()
        };
        let sampler = Sampler::new(training.batch, &self.training_set, training.seed)
            .expect("the config's check found a complete row to start from");
        Trainer::new(objective, optimiser, settings, theta).with_sampler(sampler)
    }

    /// What a model file of this experiment says about itself.
    pub fn metadata(&self, iteration: usize) -> Metadata {
        let names = |words: &[lawful::Activation]| {
            words.iter().map(|activation| activation.name().to_owned()).collect()
        };
        Metadata {
            format: FORMAT,
            state: self.vocabulary.state().to_vec(),
            inputs: self.vocabulary.inputs().to_vec(),
            time_input: self.field.time_input,
            hidden: self.field.hidden.clone(),
            activations: names(&self.field.activations),
            precision: self.field.precision.name().to_owned(),
            iteration,
        }
    }

    /// Names of the laws, in order, each in one line.
    pub fn law_names(&self) -> Vec<String> {
        self.laws.iter().map(|law| in_a_line(law.name())).collect()
    }

    /// Name and relation of each law, to stand beside each other: a law without a name of its own
    /// has an empty one, and a part of a chain has the chain's.
    pub fn law_titles(&self) -> Vec<(String, String)> {
        let titles = self.laws.iter().map(|law| {
            let (name, relation) = (in_a_line(law.name()), in_a_line(law.text()));
            let part = format!(" ({relation})");
            let name = name.strip_suffix(&part).unwrap_or(&name);
            (if name == relation { String::new() } else { name.to_owned() }, relation)
        });
        titles.collect()
    }
}

/// A text in one line, with single spaces.
fn in_a_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
