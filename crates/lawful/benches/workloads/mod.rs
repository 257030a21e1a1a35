//! The work that benchmarks measure: the paper's three systems, a wide network, trained weights.
//!
//! The names and the data are those of `benches/peers/problems.py`.
#![allow(dead_code, reason = "each benchmark uses its part")]

use std::ops::ControlFlow;

use lawful::law::{Enforcement, Words};
use lawful::optimiser::{Adam, AdamSettings};
use lawful::strategy::{AugmentedLagrangian, SelfAdaptive, Strategy};
use lawful::{
    Activation, Dataset, FieldDescription, FieldPart, Initialise, Law, LawPoints, LinearForm,
    LinearTask, Mlp, MlpShape, NetworkDescription, Objective, Observer, Precision, Problem, Row,
    Settings, SmoothDescription, SmoothLaw, Solver, Trainer, Trajectory, scaling,
};

/// One kind of work.
pub(crate) struct Workload {
    /// Its short name, as the peers call it.
    pub(crate) name: &'static str,
    /// Its name in the paper, or what it is.
    pub(crate) title: &'static str,
    shape: MlpShape,
    trajectory: (Vec<f64>, Vec<f64>),
    state: &'static [&'static str],
    laws: Vec<Law>,
}

/// The paper's three systems.
pub(crate) fn systems() -> [Workload; 3] {
    [population(), reaction(), oscillator()]
}

/// `n` times from 0 to `to`, both included.
fn linspace(to: f64, n: usize) -> Vec<f64> {
    (0..n).map(|i| to * i as f64 / (n - 1) as f64).collect()
}

fn laws(words: Words, texts: &[&str]) -> Vec<Law> {
    let vocabulary = words.check().expect("names are fine");
    let parse = |text: &&str| Law::parse(text, text, &vocabulary).expect("a law");
    texts.iter().flat_map(parse).collect()
}

fn shape(state: usize, hidden: &[usize], activations: &[Activation]) -> MlpShape {
    let mut shape = MlpShape::new(state, hidden, Activation::Tanh);
    shape.activations = activations.to_vec();
    shape
}

/// Logistic growth, 200 points, `y <= 12`.
pub(crate) fn population() -> Workload {
    let times = linspace(300.0, 200);
    let value = |t: f64| 12.0 / (1.0 + (12.0 / 2.518_629 - 1.0) * (-0.026 * t).exp());
    Workload {
        name: "wpg",
        title: "population",
        shape: shape(1, &[50, 50], &[Activation::Tanh, Activation::Elu]),
        state: &["y"],
        laws: laws(Words::new().state(["y"]), &["y <= 12"]),
        trajectory: (times.clone(), times.into_iter().map(value).collect()),
    }
}

/// The chemical reaction by Euler steps of its grid, 100 points, conserved mass.
pub(crate) fn reaction() -> Workload {
    let mut states = vec![0.5, 0.5, 0.0, 0.0];
    for n in 0..99 {
        let (a, b, c, d) = (states[4 * n], states[4 * n + 1], states[4 * n + 2], states[4 * n + 3]);
        let (forth, back) = (0.2 * a * b, 0.05 * c);
        states.extend([a - forth, b - forth + back, c + forth - back, d + forth]);
    }
    let activations = [Activation::Tanh, Activation::Elu, Activation::Tanh];
    Workload {
        name: "cr",
        title: "reaction",
        shape: shape(4, &[50, 64, 50], &activations),
        state: &["A", "B", "C", "D"],
        laws: laws(Words::new().state(["A", "B", "C", "D"]), &["A + B + C + D == 1"]),
        trajectory: ((0..100).map(f64::from).collect(), states),
    }
}

/// The damped oscillator, 400 points, both of the paper's laws.
pub(crate) fn oscillator() -> Workload {
    let times = linspace(50.0, 400);
    let (w, g) = ((1.0 - 0.0025_f64).sqrt(), 0.05);
    let state = |t: f64| {
        let e = (-g * t).exp();
        [e * ((w * t).cos() + g / w * (w * t).sin()), -e * (w * t).sin() / w]
    };
    let words = Words::new().state(["x", "v"]).define("E", "v^2/2 + x^2/2").define("P", "-0.1*v*x");
    Workload {
        name: "dho",
        title: "oscillator",
        shape: shape(2, &[50, 50], &[Activation::Tanh, Activation::Elu]),
        state: &["x", "v"],
        laws: laws(words, &["next(P) == P", "next(E) <= E"]),
        trajectory: (times.clone(), times.into_iter().flat_map(state).collect()),
    }
}

/// The oscillator with another network and another number of steps.
pub(crate) fn oscillator_of(hidden: &[usize], steps: usize) -> Workload {
    let mut workload = oscillator();
    workload.shape = MlpShape::new(2, hidden, Activation::Tanh);
    let (times, states) = &mut workload.trajectory;
    *times = (0..=steps).map(|n| 0.125 * n as f64).collect();
    states.resize(2 * times.len(), 0.0);
    workload
}

/// State 64, hidden 512–512, 100 steps, no law.
pub(crate) fn wide() -> Workload {
    let times = linspace(1.0, 101);
    let rates = (0..64).map(|i| 0.5 + f64::from(i) / 64.0);
    let states = times.iter().flat_map(|t| rates.clone().map(move |rate| (-t * rate).exp()));
    Workload {
        name: "wide",
        title: "wide (64–512–512–64)",
        shape: shape(64, &[512, 512], &[Activation::Tanh, Activation::Elu]),
        state: &[],
        laws: Vec::new(),
        trajectory: (times.clone(), states.collect()),
    }
}

impl Workload {
    /// Initial weights from N(0, 0.1²).
    pub(crate) fn initial(&self) -> Vec<f64> {
        Initialise::default().draw(&self.shape, 0)
    }

    /// Trained weights from `benches/peers/weights`: there adaptive step counts are comparable.
    pub(crate) fn trained(&self) -> Vec<f64> {
        let file =
            format!("{}/../../benches/peers/weights/{}.f32", env!("CARGO_MANIFEST_DIR"), self.name);
        let bytes = std::fs::read(&file).expect("the weights are in the repository");
        let (numbers, _) = bytes.as_chunks::<4>();
        let mut row = numbers.iter().map(|bytes| f64::from(f32::from_le_bytes(*bytes)));
        let mut theta = vec![0.0; self.shape.parameter_len()];
        for layer in self.shape.layers() {
            // The file has inputs × outputs, θ has outputs × inputs.
            for input in 0..layer.inputs {
                for output in 0..layer.outputs {
                    let at = layer.weights.start + output * layer.inputs + input;
                    theta[at] = row.next().expect("as many weights as the network has");
                }
            }
            for bias in &mut theta[layer.biases.clone()] {
                *bias = row.next().expect("as many biases as the network has");
            }
        }
        theta
    }

    /// The self-adaptive objective on so many trajectories, which differ a little in their start.
    pub(crate) fn objective(
        &self,
        precision: Precision,
        solver: Solver,
        columns: usize,
    ) -> Objective {
        self.objective_with(Box::new(SelfAdaptive::default()), 0, precision, solver, columns)
    }

    /// The objective of a field whose form guarantees the law, on one trajectory, and initial weights: a bound by
    /// flows, a sum by a linear projection, or the energy, which never rises, by a nonlinear one.
    pub(crate) fn guaranteed(&self, precision: Precision) -> (Objective, Vec<f64>) {
        let names: Vec<String> = self.state.iter().map(|&name| name.to_owned()).collect();
        let (times, states) = self.trajectory.clone();
        let dataset = Dataset::single(self.state, times, states).expect("good data");
        let scaling = scaling(&dataset);
        let task = LinearTask {
            state: &names,
            known: &[],
            laws: &self.laws,
            scaling: &scaling,
            logs: &[],
        };
        let linear = LinearForm::choose(&task);
        let mut network = NetworkDescription::new(&self.shape.hidden, &names);
        network.activations =
            self.shape.activations.iter().map(|activation| activation.name().to_owned()).collect();
        precision.name().clone_into(&mut network.precision);
        let parts = if linear.guarantees_any() {
            network.outputs = linear.description.outputs();
            vec![FieldPart::Network(network), FieldPart::Linear(linear.description)]
        } else {
            let energy = "next(v^2/2 + x^2/2) <= v^2/2 + x^2/2".to_owned();
            let smooth = SmoothDescription {
                scale: scaling.state.clone(),
                equalities: Vec::new(),
                falling: Some(SmoothLaw { name: energy.clone(), holds: energy, size: 0.5 }),
                softness: SmoothDescription::softness_of(scaling.time),
            };
            let scaling = FieldPart::Scaling(scaling);
            vec![FieldPart::Network(network), scaling, FieldPart::Smooth(smooth)]
        };
        let description = FieldDescription { parts, ..FieldDescription::new(&names) };
        let field = description.build().expect("a field for these laws");
        let shape = description.shape().expect("it has a network");
        let laws = self.laws.iter().map(|law| law.clone().enforced(Enforcement::Hard)).collect();
        let problem = Problem::new(dataset, laws);
        let strategy = Box::new(AugmentedLagrangian::default());
        let objective = Objective::new(problem, field, Solver::default(), strategy);
        (objective.expect("a field for the data"), Initialise::default().draw(&shape, 0))
    }

    /// The objective of a strategy with so many points between rows.
    pub(crate) fn objective_with(
        &self,
        strategy: Box<dyn Strategy>,
        between: usize,
        precision: Precision,
        solver: Solver,
        columns: usize,
    ) -> Objective {
        let (times, states) = &self.trajectory;
        let d = self.shape.state;
        let trajectories = (0..columns).map(|column| {
            let mut states = states.clone();
            for value in &mut states[..d] {
                *value *= 1.0 + 0.01 * column as f64 / columns as f64;
            }
            Trajectory::new(column.to_string(), times.clone(), states)
        });
        let names = (0..d).map(|n| format!("y{n}")).collect();
        let dataset = Dataset::new(names, Vec::new(), trajectories.collect()).expect("good data");
        let network =
            Box::new(Mlp::new(self.shape.clone(), precision).expect("the shape of a network"));
        let none = (vec![Vec::new(); columns], vec![0; columns]);
        let points = LawPoints::new(&dataset, between, &none.0, none.1);
        let problem = Problem { points, ..Problem::new(dataset, self.laws.clone()) };
        Objective::new(problem, network, solver, strategy).expect("a field for the data")
    }

    /// Full training iterations, from these weights, without an end.
    pub(crate) fn training(
        &self,
        precision: Precision,
        solver: Solver,
        columns: usize,
        theta: Vec<f64>,
    ) -> Training {
        let settings = Settings { iterations: usize::MAX, ..Settings::default() };
        let adam = Adam::new(AdamSettings { rate: 1e-5, ..AdamSettings::default() }, theta.len());
        let objective = self.objective(precision, solver, columns);
        let trainer = Trainer::new(objective, Box::new(adam), settings, theta);
        Training { trainer: trainer.expect("weights of this network") }
    }
}

/// A training that does some iterations at a time.
pub(crate) struct Training {
    trainer: Trainer,
}

struct Count {
    done: usize,
    wanted: usize,
}

impl Observer for Count {
    fn iteration(&mut self, _: &Row) -> ControlFlow<()> {
        self.done += 1;
        if self.done + 1 >= self.wanted {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

impl Training {
    /// Does at least two iterations, and says how many.
    pub(crate) fn run(&mut self, iterations: usize) -> usize {
        let mut count = Count { done: 0, wanted: iterations };
        self.trainer.run(&mut count);
        count.done
    }

    /// Evaluations of the right-hand side in one solve.
    pub(crate) fn field_evaluations(&self) -> usize {
        self.trainer.objective().field_evaluations()
    }
}
