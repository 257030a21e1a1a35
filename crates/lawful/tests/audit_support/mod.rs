//! Simulated systems with true and false laws, and what their audit finds.

#![allow(dead_code, reason = "each user takes a part of it")]
#![allow(clippy::unwrap_used, reason = "a system that cannot be simulated has failed")]

use lawful::law::Words;
use lawful::{
    Audit, Dataset, FormulaField, Laws, Noise, NoiseLevel, Simulation, Trajectory, Vocabulary,
};

/// A system, its true laws, and false ones.
pub(crate) struct System {
    pub(crate) name: &'static str,
    vocabulary: Vocabulary,
    equations: Vec<&'static str>,
    initial: Vec<f64>,
    /// Last time, and rows.
    grid: (f64, u32),
    /// How many rows separate two measurements of a state variable after the first row; 0: none.
    every: Vec<usize>,
    pub(crate) truths: Vec<&'static str>,
    pub(crate) falsehoods: Vec<&'static str>,
}

/// The systems of `experiments/recipes`, and others with curved laws, few rows and gaps.
pub(crate) fn systems() -> Vec<System> {
    let mut systems = vec![
        System {
            name: "population",
            vocabulary: Words::new().state(["y"]).check().unwrap(),
            equations: vec!["0.026*y*(1 - y/12)"],
            initial: vec![2.518_629],
            grid: (300.0, 200),
            every: vec![1],
            truths: vec!["y <= 12", "y >= 0", "next(y) >= y"],
            falsehoods: vec!["y <= 10", "y >= 3.5", "next(y) <= y"],
        },
        System {
            name: "reaction",
            vocabulary: Words::new().state(["A", "B", "C", "D"]).check().unwrap(),
            equations: vec!["-2*0.1*A*B", "-2*0.1*A*B + 0.05*C", "2*0.1*A*B - 0.05*C", "2*0.1*A*B"],
            initial: vec![0.5, 0.5, 0.0, 0.0],
            grid: (99.0, 100),
            every: vec![1; 4],
            truths: vec![
                "A + B + C + D == 1",
                "A + B + C + D == initial(A + B + C + D)",
                "A >= 0",
                "C >= 0",
                "next(A) <= A",
                "next(D) >= D",
                "B + C == 0.5",
            ],
            falsehoods: vec!["A + B + C + D == 1.1", "B + C + D == initial(B + C + D)", "A >= 0.2"],
        },
        System {
            name: "oscillator",
            vocabulary: {
                let words = Words::new().state(["x", "v"]).define("E", "v^2/2 + x^2/2");
                words.check().unwrap()
            },
            equations: vec!["v", "-(0.1*v + x)"],
            initial: vec![1.0, 0.0],
            grid: (50.0, 400),
            every: vec![1; 2],
            truths: vec!["next(E) <= E", "x <= 1", "E <= initial(E)"],
            falsehoods: vec!["E == initial(E)", "next(E) >= E", "x <= 0.5", "x^2 + v^2 == 0.5"],
        },
        epidemic("epidemic", 100.0, 200, [1; 3]),
        epidemic("epidemic, 40 rows", 100.0, 40, [1; 3]),
        epidemic("epidemic, only I", 100.0, 40, [0, 1, 0]),
        System {
            name: "predators",
            vocabulary: {
                let words = Words::new().state(["x", "y"]);
                words.define("V", "x - ln(x) + y - 1.5*ln(y)").check().unwrap()
            },
            equations: vec!["1.5*x - x*y", "x*y - y"],
            initial: vec![1.5, 1.5],
            grid: (20.0, 150),
            every: vec![1; 2],
            truths: vec!["V == initial(V)", "x >= 0", "y >= 0"],
            falsehoods: vec!["V == 1.7", "x <= 1.2", "next(x) <= x"],
        },
        System {
            name: "rigid body",
            vocabulary: {
                let words = Words::new().state(["x", "y", "z"]).define("L", "x^2 + y^2 + z^2");
                words.define("H", "x^2/2 + y^2/4 + z^2*0.75").check().unwrap()
            },
            equations: vec!["0.833333*y*z", "-0.5*x*z", "-0.333333*x*y"],
            initial: vec![0.8, 0.1, 0.591_608],
            grid: (40.0, 120),
            every: vec![1; 3],
            truths: vec!["L == 1", "L == initial(L)", "next(L) == L"],
            falsehoods: vec!["L == 1.15", "x^2 + y^2 == initial(x^2 + y^2)", "x^2 + y^2 <= 0.55"],
        },
        System {
            name: "decay, 12 rows",
            vocabulary: Words::new().state(["a", "b"]).check().unwrap(),
            equations: vec!["-0.5*a", "0.5*a"],
            initial: vec![1.0, 0.0],
            grid: (6.0, 12),
            every: vec![1; 2],
            truths: vec!["a + b == 1", "next(a) <= a", "a >= 0", "b >= 0", "b <= 1"],
            falsehoods: vec!["a + b == 1.3", "next(a) >= a", "b <= 0.5"],
        },
    ];
    for system in &mut systems {
        system.every.resize(system.initial.len(), 1);
    }
    systems
}

/// The SIR model. Of variables with `every` 0, only the first row is measured.
fn epidemic(name: &'static str, to: f64, rows: u32, every: [usize; 3]) -> System {
    System {
        name,
        vocabulary: Words::new().state(["S", "I", "R"]).check().unwrap(),
        equations: vec!["-0.4*S*I", "0.4*S*I - 0.1*I", "0.1*I"],
        initial: vec![0.99, 0.01, 0.0],
        grid: (to, rows),
        every: every.to_vec(),
        truths: vec![
            "S + I + R == 1",
            "next(S) <= S",
            "next(R) >= R",
            "S >= 0",
            "I >= 0",
            "R >= 0",
            "I <= 0.42",
        ],
        falsehoods: vec![
            "S + I + R == 0.9",
            "S + I + R == 1.1",
            "I <= 0.25",
            "S >= 0.75",
            "next(I) <= I",
        ],
    }
}

impl System {
    /// Returns the data with noise of this share of each standard deviation.
    pub(crate) fn data(&self, share: f64, seed: u64) -> Dataset {
        let field = FormulaField::new(&self.equations, &self.vocabulary).unwrap();
        let noise = (share > 0.0).then_some(Noise { level: NoiseLevel::Relative(share), seed });
        let simulation = Simulation { field, inputs: Vec::new(), tableau: None, noise };
        let (to, rows) = self.grid;
        let times: Vec<f64> = (0..rows).map(|n| to * f64::from(n) / f64::from(rows - 1)).collect();
        let mut trajectory: Trajectory = simulation.run("1", &times, &self.initial).unwrap();
        simulation.disturb(&mut trajectory);
        let d = self.initial.len();
        for (cell, state) in trajectory.states.iter_mut().enumerate() {
            let (row, every) = (cell / d, self.every[cell % d]);
            let measured = row == 0 || (every > 0 && row % every == 0);
            if !measured {
                *state = f64::NAN;
            }
        }
        let names = self.vocabulary.state().to_vec();
        Dataset::new(names, Vec::new(), vec![trajectory]).unwrap()
    }

    /// Returns the audit of the true laws, and of this false one behind them; a false equality stands
    /// instead of a true one with the same left side.
    pub(crate) fn audit(&self, data: &Dataset, falsehood: Option<&str>) -> Audit {
        let mut laws = Laws::new(self.vocabulary.clone());
        let left = falsehood.and_then(|text| text.split_once(" == ")).map(|(left, _)| left);
        let replaced =
            |text: &str| text.split_once(" == ").is_some_and(|sides| Some(sides.0) == left);
        let truths = self.truths.iter().copied().filter(|text| !replaced(text));
        let texts = truths.chain(falsehood);
        for text in texts {
            laws = laws.law(text, text).unwrap();
        }
        Audit::new(data, laws.laws(), laws.constants())
    }
}

/// Alarms among audits.
#[derive(Debug, Default, Clone)]
pub(crate) struct Alarms {
    /// Audits of true laws alone, and those that accuse one, in words.
    pub(crate) audits: usize,
    pub(crate) wrong: Vec<String>,
    /// Audits with a false law, those that name it, and those that name it alone.
    pub(crate) with: usize,
    pub(crate) found: usize,
    pub(crate) alone: usize,
    /// Those that accuse a true law without the false one.
    pub(crate) misled: Vec<String>,
    /// False laws that were not found.
    pub(crate) missed: Vec<String>,
}

/// Counts the alarms of a system with this noise.
pub(crate) fn alarms(system: &System, share: f64, seeds: std::ops::Range<u64>) -> Alarms {
    let mut alarms = Alarms::default();
    for seed in seeds {
        let data = system.data(share, seed);
        let audit = system.audit(&data, None);
        alarms.audits += 1;
        alarms.wrong.extend(audit.warnings().into_iter().take(1));
        for falsehood in &system.falsehoods {
            let audit = system.audit(&data, Some(falsehood));
            let last = audit.laws.len() - 1;
            alarms.with += 1;
            match audit.contradicts(last) {
                Some(contradiction) => {
                    alarms.found += 1;
                    alarms.alone += usize::from(contradiction.with.is_empty());
                }
                None => alarms.missed.push((*falsehood).to_owned()),
            }
            let misled = (0..last)
                .filter(|&k| audit.contradicts(k).is_some_and(|found| !found.with.contains(&last)));
            alarms.misled.extend(misled.filter_map(|k| audit.describe(k)).take(1));
        }
    }
    alarms
}
