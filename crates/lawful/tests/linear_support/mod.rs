//! Fields of random networks that guarantee linear laws.

#![allow(dead_code, clippy::unwrap_used, reason = "helpers of tests; every file uses some of them")]

use lawful::law::{Law, Relation, Steps, Vocabulary, Words, Workspace};
use lawful::{
    FieldDescription, FieldPart, LinearForm, LinearTask, LogRange, NetworkDescription, Random,
    Scaling, VectorField,
};

/// A system with linear laws, and states that obey them.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) state: &'static [&'static str],
    pub(crate) laws: &'static [&'static str],
    /// Centres and sizes of the states.
    pub(crate) centre: &'static [f64],
    pub(crate) scale: &'static [f64],
    /// Whether states with bounds have log coordinates.
    pub(crate) logs: bool,
    /// Three states on the laws, also on bounds; none of those with log coordinates.
    pub(crate) initial: [&'static [f64]; 3],
}

/// Flows, projections, bounds and directions alone and together; sizes unlike each other.
pub(crate) const CASES: [Case; 14] = [
    Case {
        name: "influenza",
        state: &["S", "I", "R"],
        laws: &[
            "S + I + R == 763",
            "next(S) <= S",
            "next(R) >= R",
            "S >= 0",
            "I >= 0",
            "R >= 0",
            "I <= 763",
        ],
        centre: &[400.0, 100.0, 260.0],
        scale: &[300.0, 90.0, 250.0],
        logs: false,
        initial: [&[762.0, 1.0, 0.0], &[763.0, 0.0, 0.0], &[0.0, 700.0, 63.0]],
    },
    Case {
        name: "reaction",
        state: &["A", "B", "C", "D"],
        laws: &["A + B + C + D == initial(A + B + C + D)", "A >= 0", "B >= 0", "C >= 0", "D >= 0"],
        centre: &[0.3, 0.3, 0.2, 0.2],
        scale: &[0.3, 0.2, 0.1, 0.2],
        logs: false,
        initial: [&[1.0, 0.0, 0.0, 0.0], &[0.25, 0.25, 0.25, 0.25], &[0.0, 2.0, 0.0, 0.1]],
    },
    Case {
        name: "weighted, with upper bounds and a direction",
        state: &["A", "B", "C"],
        laws: &["A + 2*B + C/3 == 3", "0 <= A <= 2", "B <= 1.2", "next(C) <= C", "B >= 0.1"],
        centre: &[1.0, 0.5, 3.0],
        scale: &[1.0, 0.3, 2.0],
        logs: false,
        initial: [&[2.0, 0.1, 2.4], &[0.0, 0.1, 8.4], &[0.6, 1.2, 0.0]],
    },
    Case {
        name: "directions without bounds in a sum",
        state: &["A", "B", "C", "D"],
        laws: &["A + B + C + D == initial(A + B + C + D)", "rate(A) <= 0"],
        centre: &[0.0; 4],
        scale: &[1.0, 2.0, 0.5, 1.0],
        logs: false,
        initial: [&[1.0, -1.0, 0.3, 2.0], &[0.0; 4], &[-5.0, 3.0, 1.0, 0.1]],
    },
    Case {
        name: "two sums",
        state: &["A", "B", "C", "D", "E"],
        laws: &["A + B == 1", "A >= 0", "B >= 0", "2*C + D == initial(2*C + D)", "C >= 0"],
        centre: &[0.5, 0.5, 1.0, 2.0, 10.0],
        scale: &[0.3, 0.3, 1.0, 2.0, 30.0],
        logs: false,
        initial: [
            &[1.0, 0.0, 0.0, 4.0, -3.0],
            &[0.5, 0.5, 1.0, 2.0, 0.0],
            &[0.0, 1.0, 3.0, -1.0, 60.0],
        ],
    },
    Case {
        name: "overlapping sums",
        state: &["A", "B", "C", "D"],
        laws: &[
            "A + B - C == initial(A + B - C)",
            "B + 2*C + 1000*D == 3000",
            "next(A + D) == A + D",
        ],
        centre: &[0.0, 500.0, 500.0, 1.5],
        scale: &[900.0, 1000.0, 700.0, 1.0],
        logs: false,
        initial: [&[5.0, 1000.0, 500.0, 1.0], &[0.0, 0.0, 0.0, 3.0], &[-9.0, 300.0, -150.0, 3.0]],
    },
    Case {
        name: "lower bounds",
        state: &["x", "y"],
        laws: &["x >= 0", "y >= -2"],
        centre: &[1.0, 0.0],
        scale: &[1.0, 1.0],
        logs: false,
        initial: [&[0.0, -2.0], &[1.0, 0.5], &[0.0, 3.0]],
    },
    Case {
        name: "upper bounds",
        state: &["x", "y"],
        laws: &["x <= 0", "y <= 12"],
        centre: &[-1.0, 6.0],
        scale: &[1.0, 3.0],
        logs: false,
        initial: [&[0.0, 12.0], &[-1.0, 0.5], &[-3.0, 12.0]],
    },
    Case {
        name: "both bounds",
        state: &["x", "y"],
        laws: &["0 <= x <= 1", "-1e-3 <= y <= 1e-3"],
        centre: &[0.5, 0.0],
        scale: &[0.3, 5e-4],
        logs: false,
        initial: [&[0.0, 1e-3], &[1.0, -1e-3], &[0.5, 0.0]],
    },
    Case {
        name: "cooling",
        state: &["T"],
        laws: &["T >= 20", "next(T) <= T"],
        centre: &[50.0],
        scale: &[20.0],
        logs: false,
        initial: [&[90.0], &[20.0], &[20.0 + 1e-13]],
    },
    Case {
        name: "directions alone",
        state: &["x", "y", "z"],
        laws: &["next(x) >= x", "rate(y) <= 0", "next(z) <= z", "next(z) >= z"],
        centre: &[3.0, 0.0, 1.0],
        scale: &[2.0, 1.0, 1.0],
        logs: false,
        initial: [&[0.0, 0.0, 7.0], &[1e3, -5.0, 0.1], &[-3.0, 5.0, 0.0]],
    },
    Case {
        name: "falling to a bound and rising to one",
        state: &["gut", "conc", "full"],
        laws: &["gut >= 0", "next(gut) <= gut", "conc >= 0", "full <= 1", "next(full) >= full"],
        centre: &[150.0, 5.0, 0.5],
        scale: &[100.0, 3.0, 0.3],
        logs: false,
        initial: [&[300.0, 0.0, 0.0], &[0.0, 7.0, 1.0], &[1e-9, 0.0, 0.999]],
    },
    Case {
        name: "log coordinates",
        state: &["hare", "lynx"],
        laws: &["hare >= 0", "lynx >= 0"],
        centre: &[34.0, 20.0],
        scale: &[20.0, 16.0],
        logs: true,
        initial: [&[30.0, 4.0], &[0.5, 60.0], &[80.0, 1e-3]],
    },
    Case {
        name: "logit coordinates, and falling in logs",
        state: &["x", "y", "z"],
        laws: &["0 <= x <= 10", "y >= 0", "next(y) <= y", "z <= 0"],
        centre: &[5.0, 2.0, -5.0],
        scale: &[3.0, 2.0, 2.0],
        logs: true,
        initial: [&[9.0, 7.0, -1.0], &[0.01, 1e-3, -35.0], &[5.0, 1.0, -1e-3]],
    },
];

pub(crate) fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

pub(crate) fn parse(vocabulary: &Vocabulary, texts: &[&str]) -> Vec<Law> {
    texts.iter().flat_map(|text| Law::parse(text, text, vocabulary).unwrap()).collect()
}

impl Case {
    pub(crate) fn d(&self) -> usize {
        self.state.len()
    }

    pub(crate) fn parsed(&self) -> Vec<Law> {
        let vocabulary = Words::new().state(self.state.iter().copied()).check().unwrap();
        parse(&vocabulary, self.laws)
    }

    pub(crate) fn scaling(&self) -> Scaling {
        Scaling {
            state_centre: self.centre.to_vec(),
            state: self.scale.to_vec(),
            rate: self.scale.iter().map(|s| 0.7 * s).collect(),
            time: 5.0,
            ..Scaling::none(self.d(), 0)
        }
    }

    pub(crate) fn form(&self) -> LinearForm {
        let (state, laws) = (names(self.state), self.parsed());
        let ranges = |i: usize| {
            let bound = |upper| {
                let mut bounds = laws.iter().filter_map(Law::bound);
                bounds.find(|b| b.variable == i && b.is_upper == upper).map(|b| b.at)
            };
            LogRange::of(self.initial.iter().map(|y| y[i]), bound(false), bound(true))
        };
        let logs: Vec<_> = if self.logs { (0..self.d()).map(ranges).collect() } else { Vec::new() };
        LinearForm::choose(&LinearTask {
            state: &state,
            known: &[],
            laws: &laws,
            scaling: &self.scaling(),
            logs: &logs,
        })
    }

    pub(crate) fn description(&self) -> FieldDescription {
        let linear = self.form().description;
        let network = NetworkDescription {
            hidden: vec![6],
            activations: names(&["tanh"]),
            time_input: true,
            ..NetworkDescription::new(&[], &linear.outputs())
        };
        FieldDescription {
            parts: vec![FieldPart::Network(network), FieldPart::Linear(linear)],
            ..FieldDescription::new(&names(self.state))
        }
    }

    /// A field with random weights of this size, and these.
    pub(crate) fn field(&self, seed: u64, amplitude: f64) -> (Box<dyn VectorField>, Vec<f64>) {
        let mut field = self.description().build().unwrap();
        let mut random = Random::new(seed, self.name);
        let theta: Vec<f64> =
            (0..field.parameter_len()).map(|_| amplitude * random.normal()).collect();
        field.set_parameters(&theta);
        (field, theta)
    }

    /// The laws that a path breaks, and by how much: sums by more than 1e-12 of their terms, bounds and
    /// directions at all.
    pub(crate) fn broken(&self, times: &[f64], states: &[f64]) -> Vec<(String, f64)> {
        let mut broken = Vec::new();
        for law in self.parsed().iter().filter(|law| !law.uses_rates()) {
            let mut residuals = vec![0.0; times.len()];
            let steps = Steps { times, states, inputs: &[] };
            law.residuals(&steps, &mut Workspace::new(), &mut residuals);
            let violations = residuals.iter().map(|c| law.relation().violation(*c, 0.0));
            let worst = violations.fold(0.0, |worst: f64, v| if v <= worst { worst } else { v });
            let allowed = match (law.relation(), law.invariant()) {
                (Relation::Equality, Some(sum)) => {
                    let terms = sum.weights.iter().zip(self.scale.iter().zip(&states[..self.d()]));
                    1e-12 * terms.map(|(w, (s, y))| (w * s).abs() + (w * y).abs()).sum::<f64>()
                }
                _ => 0.0,
            };
            if worst > allowed || worst.is_nan() {
                broken.push((law.text().to_owned(), worst));
            }
        }
        broken
    }
}
