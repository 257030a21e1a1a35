//! Fields of random networks that guarantee smooth laws.

#![allow(dead_code, clippy::unwrap_used, reason = "helpers of tests; every file uses some of them")]

use lawful::law::{Law, Steps, Words, Workspace};
use lawful::{
    FieldDescription, FieldPart, NetworkDescription, Random, SmoothDescription, SmoothLaw,
    VectorField,
};

/// A system with smooth laws, and states that obey them.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) state: &'static [&'static str],
    pub(crate) definitions: &'static [(&'static str, &'static str)],
    pub(crate) equalities: &'static [&'static str],
    pub(crate) falling: Option<&'static str>,
    pub(crate) scale: &'static [f64],
    /// Three states on the laws.
    pub(crate) initial: [&'static [f64]; 3],
    /// The size of the network's rates.
    pub(crate) rate: f64,
}

const CASE: Case = Case {
    name: "",
    state: &["x", "y"],
    definitions: &[],
    equalities: &[],
    falling: None,
    scale: &[1.0, 1.0],
    initial: [&[0.6, -0.8], &[1.0, 0.0], &[-0.28, 0.96]],
    rate: 1.0,
};

/// Energies, angular momenta, surfaces, also moving ones, several at once, with linear sums, and falling
/// quantities that are bounded below or not, alone and on surfaces; scales unlike each other.
pub(crate) const CASES: [Case; 12] = [
    Case { name: "circle", equalities: &["x^2 + y^2 == 1"], ..CASE },
    Case {
        name: "pendulum",
        state: &["q", "p"],
        definitions: &[("E", "p^2/2 - cos(q)")],
        equalities: &["E == initial(E)"],
        scale: &[2.0, 1.3],
        initial: [&[0.9, 0.0], &[0.1, 1.1], &[-2.0, 0.7]],
        ..CASE
    },
    Case { name: "moving circle", equalities: &["(x - sin(t))^2 + y^2 == 1 + t/20"], ..CASE },
    Case {
        name: "growing with each path's own energy",
        equalities: &["x^2 + 3*y^2 + t*y/5 == initial(x^2 + 3*y^2 + t*y/5)"],
        initial: [&[0.6, -0.8], &[2.0, 0.0], &[0.4, 1.5]],
        ..CASE
    },
    Case {
        name: "rigid body",
        state: &["x", "y", "z"],
        equalities: &[
            "x^2 + y^2 + z^2 == initial(x^2 + y^2 + z^2)",
            "next(x^2 + 2*y^2 + 3.5*z^2) == x^2 + 2*y^2 + 3.5*z^2",
        ],
        scale: &[1.0, 0.7, 2.0],
        initial: [&[0.4, 0.9, 0.8], &[0.1, 0.5, 1.2], &[-0.7, 0.4, 0.6]],
        ..CASE
    },
    Case {
        name: "Kepler",
        state: &["x", "y", "u", "v"],
        definitions: &[("E", "(u^2 + v^2)/2 - 1/sqrt(x^2 + y^2)"), ("L", "x*v - y*u")],
        equalities: &["E == initial(E)", "L == initial(L)"],
        scale: &[1.0, 1.0, 1.2, 0.8],
        initial: [&[1.0, 0.0, 0.1, 1.0], &[0.0, 1.2, -0.8, 0.2], &[-1.0, 0.5, 0.1, -0.9]],
        rate: 0.2,
        ..CASE
    },
    Case {
        name: "a sum and a sphere",
        state: &["a", "b", "c", "d"],
        equalities: &["a + b + c + 2*d == 3000", "a^2 + b^2 == initial(a^2 + b^2)"],
        scale: &[1000.0, 500.0, 1000.0, 700.0],
        initial: [
            &[800.0, 600.0, 600.0, 500.0],
            &[100.0, -900.0, 1800.0, 1000.0],
            &[500.0, 0.0, 500.0, 1000.0],
        ],
        rate: 300.0,
        ..CASE
    },
    Case {
        name: "damped oscillator",
        definitions: &[("E", "x^2/2 + y^2")],
        falling: Some("next(E) <= E"),
        initial: [&[0.6, -0.8], &[2.0, 0.0], &[0.4, 1.5]],
        ..CASE
    },
    Case {
        name: "unbounded below",
        falling: Some("x*y - y + sin(x) <= previous(x*y - y + sin(x))"),
        scale: &[1.0, 3.0],
        initial: [&[0.6, -0.8], &[2.0, 0.0], &[0.4, 1.5]],
        rate: 0.3,
        ..CASE
    },
    Case {
        name: "rising",
        state: &["x", "y", "z"],
        falling: Some("next(x + tanh(y) + z^2/9) >= x + tanh(y) + z^2/9"),
        scale: &[1.0, 2.0, 1.0],
        initial: [&[1.0, 0.2, 0.3], &[0.1, 0.5, 1.2], &[-0.7, 0.4, 0.6]],
        ..CASE
    },
    Case {
        name: "falling on a sphere",
        state: &["x", "y", "z"],
        equalities: &["x^2 + y^2 + z^2 == initial(x^2 + y^2 + z^2)"],
        falling: Some("next(z + x^2/5) <= z + x^2/5"),
        scale: &[1.0, 0.7, 2.0],
        initial: [&[1.0, 0.2, 0.3], &[0.1, 0.5, 1.2], &[-0.7, 0.4, 0.6]],
        ..CASE
    },
    Case {
        name: "falling where two laws hold",
        state: &["x", "y", "z", "w"],
        equalities: &["x + y + z + w == 1", "x^2 + y^2 == initial(x^2 + y^2)"],
        falling: Some("next(x*z - w) <= x*z - w"),
        scale: &[1.0, 1.0, 0.5, 0.8],
        initial: [&[0.8, 0.6, -0.6, 0.2], &[0.5, 0.0, 0.25, 0.25], &[0.3, 0.9, 0.4, -0.6]],
        rate: 0.3,
        ..CASE
    },
];

pub(crate) fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

pub(crate) fn smooth_law(name: &str, holds: &str, size: f64) -> SmoothLaw {
    SmoothLaw { name: name.to_owned(), holds: holds.to_owned(), size }
}

impl Case {
    pub(crate) fn d(&self) -> usize {
        self.state.len()
    }

    /// The size of all quantities: they are squares of states.
    pub(crate) fn size(&self) -> f64 {
        self.scale.iter().fold(0.0_f64, |size, s| size.max(s * s)).min(1e6)
    }

    pub(crate) fn smooth(&self) -> SmoothDescription {
        let law = |holds: &&str| smooth_law(holds, holds, self.size());
        SmoothDescription {
            scale: self.scale.to_vec(),
            equalities: self.equalities.iter().map(law).collect(),
            falling: self.falling.as_ref().map(law),
            softness: SmoothDescription::softness_of(1.0),
        }
    }

    pub(crate) fn description(&self) -> FieldDescription {
        let state = names(self.state);
        let network = NetworkDescription {
            hidden: vec![6],
            activations: names(&["tanh"]),
            time_input: true,
            ..NetworkDescription::new(&[], &state)
        };
        let scaling = lawful::Scaling {
            state: self.scale.to_vec(),
            rate: self.scale.iter().map(|s| s * self.rate.min(1.0)).collect(),
            ..lawful::Scaling::none(self.d(), 0)
        };
        let definitions = self.definitions.iter();
        FieldDescription {
            parts: vec![
                FieldPart::Network(network),
                FieldPart::Scaling(scaling),
                FieldPart::Smooth(self.smooth()),
            ],
            definitions: definitions
                .map(|&(name, text)| (name.to_owned(), text.to_owned()))
                .collect(),
            ..FieldDescription::new(&state)
        }
    }

    /// A field with random weights, and these.
    pub(crate) fn field(&self, seed: u64) -> (Box<dyn VectorField>, Vec<f64>) {
        self.built(seed, &self.description())
    }

    /// The same field whose removal of what raises a quantity sets in slowly, so that differences see no
    /// kink.
    pub(crate) fn soft_field(&self, seed: u64) -> (Box<dyn VectorField>, Vec<f64>) {
        let mut description = self.description();
        let Some(FieldPart::Smooth(smooth)) = description.parts.last_mut() else {
            unreachable!("the last part")
        };
        smooth.softness *= 100.0;
        self.built(seed, &description)
    }

    fn built(&self, seed: u64, description: &FieldDescription) -> (Box<dyn VectorField>, Vec<f64>) {
        let mut field = description.build().unwrap();
        let mut random = Random::new(seed, self.name);
        let theta: Vec<f64> = (0..field.parameter_len()).map(|_| 0.8 * random.normal()).collect();
        field.set_parameters(&theta);
        (field, theta)
    }

    /// The worst violation of each law along a path, in sizes of the law.
    pub(crate) fn violations(&self, times: &[f64], states: &[f64]) -> Vec<(String, f64)> {
        let mut words = Words::new().state(self.state.iter().copied());
        for (name, text) in self.definitions {
            words = words.define(*name, *text);
        }
        let vocabulary = words.check().unwrap();
        let texts = self.equalities.iter().chain(self.falling.as_ref());
        let worst = texts.map(|text| {
            let law = Law::parse("law", text, &vocabulary).unwrap().remove(0);
            let mut residuals = vec![0.0; times.len()];
            let steps = Steps { times, states, inputs: &[] };
            law.residuals(&steps, &mut Workspace::new(), &mut residuals);
            let violations = residuals.iter().map(|c| law.relation().violation(*c, 0.0));
            let worst = violations.fold(0.0, |worst: f64, v| if v <= worst { worst } else { v });
            ((*text).to_owned(), worst / self.size())
        });
        worst.collect()
    }
}
