//! From an experiment to the parts that train it.

use lawful::optimiser::{Adam, Lbfgs, Optimiser};
use lawful::strategy::{L1, L2, Strategy as LawStrategy, Vanilla};
use lawful::{
    Control, Dataset, FreeStarts, HybridField, KnownRates, Mlp, MlpShape, Objective, Problem,
    Sampler, Scaled, Scaling, Segment, Settings, Solver, Trainer, Trajectory, Units, Validation,
    VectorField,
};

use crate::experiment::{Experiment, OptimiserSettings, Phase, Shooting, Strategy, StrategyKind};
use crate::model::{FORMAT, KnownConstant, KnownMetadata, Metadata};
use crate::number::exact;

impl Experiment {
    /// The shape of the network; one without outputs where every rate is known.
    pub fn shape(&self) -> MlpShape {
        MlpShape {
            state: self.vocabulary.state().len(),
            outputs: self.field.learn.len(),
            inputs: self.vocabulary.inputs().len(),
            time: self.field.time_input,
            hidden: self.field.hidden.clone(),
            activations: self.field.activations.clone(),
        }
    }

    /// Length of the field's θ: the network's parameters, then the learned constants.
    pub fn parameter_len(&self) -> usize {
        self.shape().parameter_len() + self.constants.len()
    }

    /// The right-hand side: the network, in the data's units outside, beside what is known.
    pub fn network(&self) -> Box<dyn VectorField> {
        if self.field.learn.is_empty() {
            return Box::new(self.informed());
        }
        let learned = self.learned();
        let network = Mlp::new(self.shape(), self.field.precision);
        let network = network.expect("the config's check refuses layers without units");
        let network: Box<dyn VectorField> = Box::new(network);
        let network = match &self.scaling {
            Some(scaling) => {
                let rate = learned.iter().map(|&variable| scaling.rate[variable]).collect();
                let scaled = Scaled::new(network, Scaling { rate, ..scaling.clone() });
                Box::new(scaled.expect("one scale per variable of the data"))
            }
            None => network,
        };
        if self.field.known.is_empty() {
            return network;
        }
        Box::new(self.informed().with_network(network, &learned))
    }

    /// The known rates alone.
    fn informed(&self) -> HybridField {
        let rates = self.field.known.iter().map(|(name, text)| (self.number(name), text.as_str()));
        let rates: Vec<(usize, &str)> = rates.collect();
        let known = KnownRates::new(&rates, self.constants.clone(), &self.vocabulary);
        HybridField::new(known.expect("the config's check read every rate"))
    }

    /// Numbers of the state variables for which the network has an output.
    fn learned(&self) -> Vec<usize> {
        self.field.learn.iter().map(|name| self.number(name)).collect()
    }

    /// The number of a state variable.
    fn number(&self, name: &str) -> usize {
        let found = self.vocabulary.state().iter().position(|known| known == name);
        found.expect("the config's check knows every state variable")
    }

    /// Each learned constant's value at θ.
    pub fn constant_values(&self, theta: &[f64]) -> Vec<f64> {
        let raw = &theta[self.shape().parameter_len()..];
        self.constants.iter().zip(raw).map(|(constant, &raw)| constant.value(raw)).collect()
    }

    /// What is asked of these data, in the data's own units.
    pub fn problem(&self, dataset: Dataset) -> Problem {
        let (laws, loss, interpolation) =
            (self.laws.clone(), self.training.loss, self.interpolation);
        let units = Units::of_data(dataset.state().len(), laws.len());
        Problem { dataset, laws, loss, interpolation, units, constants: self.constants.clone() }
    }

    /// The initial parameters: drawn weights, and initial states as they were measured.
    pub fn initial_theta(&self) -> Vec<f64> {
        self.drawn_theta(0)
    }

    /// The same with other weights for every `draw`.
    pub(crate) fn drawn_theta(&self, draw: usize) -> Vec<f64> {
        // Seeds end below 2⁵⁴.
        let seed = self.training.seed + ((draw as u64) << 54);
        let mut theta = self.field.init.draw(&self.shape(), seed);
        theta.resize(self.theta_len(), 0.0);
        theta
    }

    /// Number of parameters of a model: the network's, and the initial states that are trained.
    pub fn theta_len(&self) -> usize {
        let states = self.training_set.trajectories().len() * self.vocabulary.state().len();
        self.parameter_len() + if self.training.initial_state { states } else { 0 }
    }

    /// The initial state of a trajectory: the trained one if it is one of the training set, or
    /// begins where one of them does, otherwise the measured one.
    pub fn initial_state(&self, theta: &[f64], trajectory: &Trajectory) -> Vec<f64> {
        let d = self.vocabulary.state().len();
        self.trained_state(theta, trajectory).unwrap_or_else(|| trajectory.states[..d].to_vec())
    }

    fn trained_state(&self, theta: &[f64], trajectory: &Trajectory) -> Option<Vec<f64>> {
        if !self.training.initial_state {
            return None;
        }
        let known = self.training_set.trajectories();
        let begins = |other: &Trajectory| {
            other.name == trajectory.name
                && (other.times[0] - trajectory.times[0]).abs() < f64::MIN_POSITIVE
        };
        let n = known.iter().position(begins)?;
        let z = &theta[self.parameter_len()..];
        Some(lawful::initial_states(&self.training_set, z).swap_remove(n))
    }

    /// Errors and violations of a model on these data, solved by this method.
    pub fn measure(&self, dataset: Dataset, solver: Solver, theta: &[f64]) -> Objective {
        let starts: Vec<_> = (dataset.trajectories().iter().enumerate())
            .filter_map(|(n, trajectory)| Some((n, self.trained_state(theta, trajectory)?)))
            .collect();
        let problem = self.problem(dataset);
        let objective = Objective::new(problem, self.network(), solver, Box::new(Vanilla));
        if starts.is_empty() { objective } else { objective.starting_from(starts) }
    }

    /// The strategy of a phase: its own, or the experiment's.
    pub(crate) fn strategy_of<'a>(&'a self, phase: &'a Phase) -> &'a Strategy {
        phase.strategy.as_ref().map_or(&self.strategy, |(strategy, _)| strategy)
    }

    /// The objective of a phase on these data.
    pub(crate) fn objective(&self, phase: &Phase, dataset: Dataset) -> Objective {
        let strategy = self.strategy_of(phase);
        let units = Units { margin: strategy.margin, ..self.units.clone() };
        let problem = Problem { units, ..self.problem(dataset) };
        let solver = finer(self.solver, phase.substeps);
        let segments = segments(phase.shooting, &problem.dataset);
        let free = matches!(phase.shooting, Shooting::Multiple { free: true, .. });
        let free_starts = FreeStarts { initial: self.training.initial_state, segments: free };
        let objective = Objective::new(problem, self.network(), solver, strategy.build())
            .with_decay(self.training.decay, self.shape().parameter_len());
        if free_starts == FreeStarts::default() {
            objective
        } else {
            objective.with_free_starts(free_starts, &segments)
        }
    }

    /// The training loop of a phase, which begins with what was kept of the one before.
    pub fn trainer(&self, phase: &Phase, kept: &[f64]) -> Trainer {
        let (trained, held_out) = self.split();
        let strategy = self.strategy_of(phase);
        let sampler = match phase.shooting {
            Shooting::Single => Sampler::new(phase.batch, &trained, self.training.seed)
                .expect("the config's check found a complete row to start from"),
            shooting @ Shooting::Multiple { .. } => Sampler::of(segments(shooting, &trained)),
        };
        let settings = Settings {
            iterations: phase.iterations,
            tolerance: strategy.tolerance,
            best_point: strategy.best_point,
            schedule: phase.schedule,
            ..Settings::default()
        };
        let objective = self.objective(phase, trained);
        let theta = objective.layout().take_up(kept);
        let optimiser = phase.optimiser.build(theta.len());
        let trainer = Trainer::new(objective, optimiser, settings, theta).with_sampler(sampler);
        match held_out {
            Some(held_out) if phase.shooting == Shooting::Single => {
                let objective = self.objective(phase, held_out);
                trainer.with_validation(Validation::new(objective, LOOK_EVERY, PATIENCE))
            }
            _ => trainer,
        }
    }

    /// The training set in what is trained on and what is held out: whole trajectories where there
    /// are enough of them, otherwise the tail of each.
    pub(crate) fn split(&self) -> (Dataset, Option<Dataset>) {
        let (data, share) = (&self.training_set, self.training.validation);
        if share <= 0.0 {
            return (data.clone(), None);
        }
        let trajectories = data.trajectories();
        let of = |trajectories| {
            let (state, inputs) = (data.state().to_vec(), data.inputs().to_vec());
            Dataset::with_open_starts(state, inputs, trajectories).expect("parts of checked data")
        };
        if trajectories.len() >= ENOUGH_TRAJECTORIES && !self.training.initial_state {
            let kept = trajectories.len() - held(share, trajectories.len());
            return (of(trajectories[..kept].to_vec()), Some(of(trajectories[kept..].to_vec())));
        }
        let (d, m) = (data.state().len(), data.inputs().len());
        let (mut trained, mut held_out) = (Vec::new(), Vec::new());
        for trajectory in trajectories {
            let rows = (trajectory.len() - held(share, trajectory.len())).max(2);
            let mut head = trajectory.clone();
            head.times.truncate(rows);
            head.states.truncate(rows * d);
            head.inputs.truncate(rows * m);
            trained.push(head);
            held_out.push(Trajectory { scored_from: rows, ..trajectory.clone() });
        }
        (of(trained), Some(of(held_out)))
    }

    /// What a model file of this experiment says about itself.
    pub fn metadata(&self, iteration: usize) -> Metadata {
        let names = |words: &[lawful::Activation]| {
            words.iter().map(|activation| activation.name().to_owned()).collect()
        };
        let known = (!self.field.known.is_empty()).then(|| KnownMetadata {
            rates: self.field.known.clone(),
            learn: self.field.learn.clone(),
            constants: self.known_constants(),
            definitions: self.vocabulary.definitions().to_vec(),
        });
        Metadata {
            format: FORMAT,
            state: self.vocabulary.state().to_vec(),
            inputs: self.vocabulary.inputs().to_vec(),
            time_input: self.field.time_input,
            hidden: self.field.hidden.clone(),
            activations: names(&self.field.activations),
            precision: self.field.precision.name().to_owned(),
            scaled: self.scaling.is_some(),
            starts: if self.training.initial_state {
                self.training_set.trajectories().len()
            } else {
                0
            },
            known,
            iteration,
            plan_state: None,
        }
    }

    /// Every constant as a model file says it.
    fn known_constants(&self) -> Vec<KnownConstant> {
        let constants = self.vocabulary.constants().iter().map(|(name, start)| {
            let learned = self.constants.iter().find(|constant| constant.name == *name);
            KnownConstant {
                name: name.clone(),
                start: exact(*start),
                learned: learned.is_some(),
                min: learned.and_then(|constant| constant.min).map(exact),
                max: learned.and_then(|constant| constant.max).map(exact),
            }
        });
        constants.collect()
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

/// Iterations between two looks at held-out data, and after how many without a lower error training
/// stops.
const LOOK_EVERY: usize = 5;
const PATIENCE: usize = 300;

/// Trajectories from which on some of them are held out, and not the tail of each.
const ENOUGH_TRAJECTORIES: usize = 5;

/// How many of `count` are held out: at least one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
fn held(share: f64, count: usize) -> usize {
    ((share * count as f64).round() as usize).clamp(1, count - 1)
}

/// What a phase looks at.
fn segments(shooting: Shooting, dataset: &Dataset) -> Vec<Segment> {
    match shooting {
        Shooting::Single => Segment::whole(dataset),
        Shooting::Multiple { steps, free } => Segment::cut(dataset, steps, !free),
    }
}

/// The same method with so many times the steps on the data's grid.
pub(crate) fn finer(solver: Solver, factor: usize) -> Solver {
    match solver.control() {
        Control::Grid { substeps } if factor > 1 => {
            let control = Control::Grid { substeps: factor * substeps };
            let finer = Solver::new(solver.tableau(), control).expect("as it was, but finer");
            finer.with_memory(solver.memory())
        }
        _ => solver,
    }
}

impl Strategy {
    /// The strategy with its settings.
    pub fn build(&self) -> Box<dyn LawStrategy> {
        match &self.kind {
            StrategyKind::Vanilla => Box::new(Vanilla),
            StrategyKind::L1(mu) => Box::new(L1 { mu: mu.clone() }),
            StrategyKind::L2(mu) => Box::new(L2 { mu: mu.clone() }),
            StrategyKind::SelfAdaptive(settings) => Box::new(*settings),
        }
    }
}

impl OptimiserSettings {
    /// The optimiser, at rest.
    pub fn build(&self, parameters: usize) -> Box<dyn Optimiser> {
        match *self {
            Self::Adam(settings) => Box::new(Adam::new(settings, parameters)),
            Self::Lbfgs(settings) => Box::new(Lbfgs::new(settings, parameters)),
        }
    }
}

/// A text in one line, with single spaces.
pub(crate) fn in_a_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
