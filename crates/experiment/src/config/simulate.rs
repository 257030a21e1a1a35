//! `[data.simulate]`: data simulated from equations, instead of measurements.
//!
//! | key | default | range | purpose |
//! |---|---|---|---|
//! | `equations` | required | one expression per state variable | right-hand sides: `{ x = "v", v = "-x" }` |
//! | `initial` | required | one number per state variable | the initial state, or a list of them for several trajectories |
//! | `grid` | required, or `grids` | see [`super::grid`] | the times of every trajectory |
//! | `grids` | none | a list of grids | instead of `grid`: the times of each trajectory, one grid per initial state |
//! | `method` | adaptive Dormand–Prince with tight tolerances | [`TABLEAUS`] | a Runge–Kutta method that takes one step per grid interval instead |
//! | `inputs` | required with `[system] inputs` | expressions of `t` | the inputs: `{ u = "sin(t)" }` |
//! | `noise` | none | `{ std, seed }` or `{ relative, seed }` | Gaussian noise on the training data; test sets have none |
//! | `missing` | none | `{ share, states, seed }` | cells of the training data to leave out |
//!
//! Keys of `noise`: `std` (≥ 0, in the units of the state) or `relative` (≥ 0, a fraction of the
//! standard deviation of each state variable along its trajectory), and `seed` (default 1, 0 to 2⁵³).
//! Trajectories have the names `1`, `2`, ….
//!
//! Keys of `missing`: `share` (required, 0 to 1), the probability that a cell is missing; `states`,
//! the state variables that can be missing (default: all); and `seed` (default 1, 0 to 2⁵³). The first
//! row of each trajectory is always complete.

use lawful::law::Expression;
use lawful::ode::{SolveError, TABLEAUS};
use lawful::{
    FieldError, FormulaField, Noise, NoiseLevel, Random, Simulation, Tableau, Trajectory,
};

use super::complete::{self, Table};
use super::grid::{self, Grid};
use super::section::Section;
use super::system::System;
use super::value::{FINITE, LARGEST, Mark, NOT_NEGATIVE, SHARE, Text, Value};
use crate::diagnostic::{Diagnostic, Place};
use crate::phrases::counted;
use crate::toml_quote::key;

/// The keys of this section.
pub(crate) const KEYS: &[&str] =
    &["equations", "initial", "grid", "grids", "method", "inputs", "noise", "missing"];
/// The keys of `missing`.
pub(crate) const MISSING_KEYS: &[&str] = &["share", "states", "seed"];
/// The keys of `noise`.
pub(crate) const NOISE_KEYS: &[&str] = &["std", "relative", "seed"];

/// The hint for an equation that uses a learned constant.
const NUMBER: &str = "simulated data need fixed values: write the number";

/// A checked simulation.
#[derive(Debug)]
pub(crate) struct Simulate<'s> {
    simulation: Simulation,
    /// Name and text of each equation and of each input.
    equations: Vec<(String, String)>,
    inputs: Vec<(String, String)>,
    /// Names of the state variables.
    state: Vec<String>,
    initial: Vec<Vec<f64>>,
    grids: Grids,
    missing: Option<Missing>,
    /// Where the equations are, for a solve that fails.
    mark: Mark<'s>,
}

/// Cells that are not measured.
#[derive(Debug, Clone)]
struct Missing {
    share: f64,
    /// Indices of the state variables.
    states: Vec<usize>,
    seed: u64,
}

#[derive(Debug)]
enum Grids {
    All(Grid),
    Each(Vec<Grid>),
}

/// Reads the section.
pub(crate) fn read<'s>(
    mut section: Section<'s>,
    system: &System,
) -> Result<Simulate<'s>, Diagnostic> {
    section.only(KEYS)?;
    let vocabulary = &system.fixed;
    let state = vocabulary.state();
    let example = "{ x = \"v\", v = \"-x\" }";
    let equations = section.need("equations", "because the data are simulated from it", example)?;
    let mark = equations.mark();
    let texts = texts(equations.table(example)?, state, "state variable")?;
    let bare: Vec<&str> = texts.iter().map(|text| text.value.as_str()).collect();
    let field = FormulaField::new(&bare, vocabulary).map_err(|error| match error {
        FieldError::Rate { rate, error, variable } => {
            let subject = format!("the equation of `{variable}`");
            system.explain(&texts[rate], &subject, &error, NUMBER)
        }
        error => mark.error(error.to_string()),
    })?;
    let (inputs, signals) = inputs(&mut section, system)?;
    let initial = initial(&mut section, state)?;
    let grids = grids(&mut section, initial.len())?;
    let tableaus: Vec<_> = TABLEAUS.iter().map(|&tableau| (tableau.name, tableau)).collect();
    let tableau =
        section.take("method").map(|value| value.word("method", &tableaus)).transpose()?;
    let noise = section.take("noise").map(noise).transpose()?;
    let missing = section.take("missing").map(|value| missing(value, state)).transpose()?;
    let paired = |names: &[String], texts: &[Text]| {
        let pairs = names.iter().zip(texts);
        pairs.map(|(name, text)| (name.clone(), text.value.clone())).collect()
    };
    Ok(Simulate {
        simulation: Simulation { field, inputs: signals, tableau, noise },
        equations: paired(state, &texts),
        inputs: paired(vocabulary.inputs(), &inputs),
        state: state.to_vec(),
        initial,
        grids,
        missing,
        mark,
    })
}

/// One text for each name.
fn texts<'s>(
    section: Section<'s>,
    names: &[String],
    noun: &str,
) -> Result<Vec<Text<'s>>, Diagnostic> {
    let values = section.one_each(names, noun, "\"…\"")?;
    values.iter().map(|value| value.text("-x")).collect()
}

fn inputs<'s>(
    section: &mut Section<'s>,
    system: &System,
) -> Result<(Vec<Text<'s>>, Vec<Expression>), Diagnostic> {
    let names = system.fixed.inputs();
    let texts = match section.take("inputs") {
        Some(value) => texts(value.table("{ u = \"sin(t)\" }")?, names, "input")?,
        None if names.is_empty() => Vec::new(),
        None => {
            let why = "because `[system] inputs` names some";
            let example = format!("{{ {} = \"sin(t)\" }}", key(&names[0]));
            return Err(section
                .lacks("inputs", why)
                .with_hint(format!("write `inputs = {example}`, an expression of `t` for each")));
        }
    };
    let signals = texts.iter().zip(names).map(|(text, name)| {
        Expression::parse_of_time(&text.value, &system.fixed)
            .map_err(|error| system.explain(text, &format!("the input `{name}`"), &error, NUMBER))
    });
    let signals = signals.collect::<Result<_, _>>()?;
    Ok((texts, signals))
}

fn initial(section: &mut Section, state: &[String]) -> Result<Vec<Vec<f64>>, Diagnostic> {
    let example = format!("{{ {} = 1.0 }}", key(&state[0]));
    let value =
        section.need("initial", "because it is the initial state of the simulation", &example)?;
    let mark = value.mark();
    let values = value.one_or_more()?;
    if values.is_empty() {
        let error = mark.error("`initial` is an empty list, so there is no trajectory");
        return Err(error.with_hint(format!("for example `initial = {example}`")));
    }
    let read_one = |value: Value| {
        let numbers = value.table(&example)?.one_each(state, "state variable", "1.0")?;
        numbers.iter().map(|number| number.number(FINITE, "1.0")).collect()
    };
    values.into_iter().map(read_one).collect()
}

fn grids(section: &mut Section, trajectories: usize) -> Result<Grids, Diagnostic> {
    let example = "{ from = 0, to = 50, points = 400 }";
    match (section.take("grid"), section.take("grids")) {
        (Some(value), None) => Ok(Grids::All(grid::read(value.table(example)?)?)),
        (None, Some(value)) => {
            let mark = value.mark();
            let values = value.list("a list of grids", &format!("[{example}]"))?;
            let grids: Vec<Grid> = (values.into_iter())
                .map(|value| grid::read(value.table(example)?))
                .collect::<Result<_, _>>()?;
            if grids.len() != trajectories {
                let grids = counted(grids.len(), "grid");
                let states = counted(trajectories, "initial state");
                return Err(mark
                    .error(format!("`grids` has {grids} for {states}"))
                    .with_hint("write one grid for each initial state, or one `grid` for all"));
            }
            Ok(Grids::Each(grids))
        }
        (Some(_), Some(grids)) => {
            let error = grids.error("`grid` and `grids` cannot both be given");
            Err(error.with_hint("`grid` is for all trajectories, `grids` has one for each"))
        }
        (None, None) => Err(section
            .lacks("grid", "because it gives the times of the simulation")
            .with_hint(format!("write `grid = {example}`"))),
    }
}

fn noise(value: Value) -> Result<Noise, Diagnostic> {
    let example = "{ std = 0.01, seed = 1 }";
    let mut section = value.table(example)?;
    section.only(NOISE_KEYS)?;
    let level = match (section.take("std"), section.take("relative")) {
        (Some(std), None) => NoiseLevel::Std(std.number(NOT_NEGATIVE, "0.01")?),
        (None, Some(share)) => NoiseLevel::Relative(share.number(NOT_NEGATIVE, "0.01")?),
        _ => {
            let error = section.error("`noise` needs either `std` or `relative`");
            return Err(error.with_hint(format!("for example `noise = {example}`")));
        }
    };
    let seed = section.take("seed").map_or(Ok(1), |value| value.whole(0..=LARGEST, "1"))?;
    Ok(Noise { level, seed })
}

fn missing(value: Value, state: &[String]) -> Result<Missing, Diagnostic> {
    let mut section = value.table("{ share = 0.5 }")?;
    section.only(MISSING_KEYS)?;
    let why = "because it is the share of missing cells";
    let share = section.need("share", why, "0.5")?.number(SHARE, "0.5")?;
    let states = match section.take("states") {
        None => (0..state.len()).collect(),
        Some(value) => {
            let words: Vec<_> = state.iter().enumerate().map(|(n, s)| (s.as_str(), n)).collect();
            let values = value.list("a list of state variables", &format!("[\"{}\"]", state[0]))?;
            values
                .iter()
                .map(|value| value.word("state variable", &words))
                .collect::<Result<_, _>>()?
        }
    };
    let seed = section.take("seed").map_or(Ok(1), |value| value.whole(0..=LARGEST, "1"))?;
    Ok(Missing { share, states, seed })
}

impl Missing {
    /// Removes cells; never from the first row.
    fn apply(&self, trajectory: &mut Trajectory, d: usize) {
        let mut random = Random::new(self.seed, &format!("missing cells of {}", trajectory.name));
        for row in trajectory.states.chunks_exact_mut(d).skip(1) {
            for &variable in &self.states {
                if random.uniform() < self.share {
                    row[variable] = f64::NAN;
                }
            }
        }
    }
}

impl Simulate<'_> {
    /// The place of the equations.
    pub(crate) fn place(&self) -> Place {
        self.mark.place()
    }

    /// The trajectories on their own grids, without noise.
    pub(crate) fn trajectories(&self) -> Result<Vec<Trajectory>, Diagnostic> {
        let starts = self.initial.iter().enumerate();
        let run = |(n, initial): (usize, &Vec<f64>)| match &self.grids {
            Grids::All(grid) => self.run(n, initial, grid),
            Grids::Each(grids) => self.run(n, initial, &grids[n]),
        };
        starts.map(run).collect()
    }

    /// The trajectories on another grid, without noise.
    pub(crate) fn on(&self, grid: &Grid) -> Result<Vec<Trajectory>, Diagnostic> {
        let starts = self.initial.iter().enumerate();
        starts.map(|(n, initial)| self.run(n, initial, grid)).collect()
    }

    /// Adds the noise and removes cells, if the section has `noise` or `missing`.
    pub(crate) fn disturb(&self, trajectories: &mut [Trajectory]) {
        for trajectory in trajectories {
            self.simulation.disturb(trajectory);
            if let Some(missing) = &self.missing {
                missing.apply(trajectory, self.state.len());
            }
        }
    }

    fn run(&self, n: usize, initial: &[f64], grid: &Grid) -> Result<Trajectory, Diagnostic> {
        let (name, times) = ((n + 1).to_string(), grid.times());
        self.simulation.run(&name, &times, initial).map_err(|error| {
            let message = format!("the simulation of trajectory `{name}` failed: {error}");
            let hint = match error {
                SolveError::TooManySteps { .. } => {
                    "the equations may be stiff: check the constants and their units, simulate a \
                     shorter `grid`, or take one step per interval of a finer one: `method = \"rk4\"`"
                }
                error => error.hint(),
            };
            self.mark.error(message).with_hint(hint)
        })
    }

    /// The section with every key.
    pub(crate) fn write(&self) -> Table {
        let text = |text: &String| text.as_str().into();
        let state = |initial: &Vec<f64>| -> complete::Value {
            let numbers = self.state.iter().cloned().zip(initial.iter().map(|&x| x.into()));
            numbers.collect::<Table>().into()
        };
        let initial = match self.initial.as_slice() {
            [one] => state(one),
            several => several.iter().map(state).collect::<Vec<_>>().into(),
        };
        let grids = match &self.grids {
            Grids::All(grid) => ("grid", grid.write().into()),
            Grids::Each(grids) => {
                ("grids", grids.iter().map(Grid::write).collect::<Vec<_>>().into())
            }
        };
        let mut table = complete::table([
            ("equations", complete::named(&self.equations, text)),
            ("initial", initial),
            grids,
        ]);
        if let Some(Tableau { name, .. }) = self.simulation.tableau {
            table.insert("method".to_owned(), (*name).into());
        }
        if !self.inputs.is_empty() {
            table.insert("inputs".to_owned(), complete::named(&self.inputs, text));
        }
        if let Some(Noise { level, seed }) = self.simulation.noise {
            let level = match level {
                NoiseLevel::Std(std) => ("std", std.into()),
                NoiseLevel::Relative(share) => ("relative", share.into()),
            };
            let noise = complete::table([level, ("seed", complete::whole(seed))]);
            table.insert("noise".to_owned(), noise.into());
        }
        if let Some(Missing { share, states, seed }) = &self.missing {
            let missing = complete::table([
                ("share", (*share).into()),
                ("states", complete::texts(states.iter().map(|&n| &self.state[n]))),
                ("seed", complete::whole(*seed)),
            ]);
            table.insert("missing".to_owned(), missing.into());
        }
        table
    }
}
