//! A checked description, with indices instead of names.

use lawful_ode::Scaling;
use thiserror::Error;

use super::description::{
    BoundDescription, Coordinate, Direction, FlowDescription, LinearDescription, SumForm,
};
use super::implied;
use super::projection::Projection;
use crate::field::FieldError;

/// Why a description does not guarantee its laws.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum WrongLinear {
    /// A number is not finite, or a size not above 0.
    #[error("{what} of `{name}` is {value}")]
    Number {
        /// What the number is.
        what: &'static str,
        /// The state variable, flow or sum.
        name: String,
        /// The number.
        value: f64,
    },
    /// A lower bound above the upper one.
    #[error("the lower bound of `{0}` is above its upper bound")]
    Bounds(String),
    /// A flow that would break a law.
    #[error("the flow `{flow}` {why}")]
    Flow {
        /// Its output.
        flow: String,
        /// The end of the sentence.
        why: &'static str,
    },
    /// A sum that is not kept.
    #[error("the sum with {names} {why}")]
    Sum {
        /// Its state variables.
        names: String,
        /// The end of the sentence.
        why: &'static str,
    },
    /// A state variable whose laws do not fit each other.
    #[error("`{name}` {why}")]
    State {
        /// The state variable.
        name: String,
        /// The end of the sentence.
        why: &'static str,
    },
}

/// A bound: `q = sign·(y − at)/distance ≥ 0`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Edge {
    pub(super) at: f64,
    pub(super) distance: f64,
    /// 1 for a lower bound, −1 for an upper one.
    pub(super) sign: f64,
    pub(super) implied: bool,
}

impl Edge {
    /// The distance of a state to the bound, negative outside.
    pub(super) fn gap(&self, y: f64) -> f64 {
        self.sign * (y - self.at)
    }

    /// `q`
    pub(super) fn q(&self, y: f64) -> f64 {
        self.gap(y) / self.distance
    }
}

/// The laws of a state variable.
#[derive(Debug, Clone)]
pub(super) struct StateForm {
    pub(super) lower: Option<Edge>,
    pub(super) upper: Option<Edge>,
    /// −1 if it falls, 1 if it rises.
    pub(super) direction: Option<f64>,
    /// Neither falls nor rises.
    pub(super) stays: bool,
    pub(super) coordinate: Coordinate,
    /// Its weight in the sum of its block; 1 otherwise.
    pub(super) weight: f64,
    /// The states that are limited together: those of a sum, or one alone.
    pub(super) block: usize,
}

impl StateForm {
    pub(super) fn edges(&self) -> impl Iterator<Item = &Edge> {
        self.lower.iter().chain(&self.upper)
    }

    /// Whether its bounds are open: no step may end on them.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.coordinate, Coordinate::Log { .. })
    }

    /// Whether a step or a value inside one could break a law of it.
    pub(super) fn is_limited(&self) -> bool {
        self.lower.is_some() || self.upper.is_some() || self.direction.is_some() || self.stays
    }
}

/// A flow, with the bounds whose distances it carries.
#[derive(Debug, Clone)]
pub(super) struct Flow {
    pub(super) from: Option<usize>,
    pub(super) to: Option<usize>,
    pub(super) signed: bool,
    pub(super) rate: f64,
    pub(super) factors: Vec<(usize, Edge)>,
}

/// A sum that flows keep.
#[derive(Debug, Clone)]
pub(super) struct FlowSum {
    /// State variables and their weights.
    pub(super) terms: Vec<(usize, f64)>,
    pub(super) value: Option<f64>,
}

/// A checked description.
#[derive(Debug, Clone)]
pub(super) struct Form {
    pub(super) names: Vec<String>,
    /// The state variable of each rate.
    pub(super) learned: Vec<usize>,
    pub(super) states: Vec<StateForm>,
    pub(super) flows: Vec<Flow>,
    pub(super) sums: Vec<FlowSum>,
    pub(super) projection: Projection,
    pub(super) scaling: Scaling,
}

fn number(
    what: &'static str,
    name: &str,
    value: f64,
    is_right: impl Fn(f64) -> bool,
) -> Result<f64, FieldError> {
    let name = name.to_owned();
    if is_right(value) { Ok(value) } else { Err(WrongLinear::Number { what, name, value }.into()) }
}

fn is_size(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

fn edge(
    bound: Option<&BoundDescription>,
    sign: f64,
    name: &str,
) -> Result<Option<Edge>, FieldError> {
    let Some(&BoundDescription { at, distance, implied }) = bound else { return Ok(None) };
    number("a bound", name, at, f64::is_finite)?;
    number("the distance to a bound", name, distance, is_size)?;
    Ok(Some(Edge { at, distance, sign, implied }))
}

impl Form {
    /// Checks a description. `known` are the indices of the state variables with known rates.
    pub(super) fn new(
        description: &LinearDescription,
        names: &[String],
        known: &[usize],
    ) -> Result<Self, FieldError> {
        let LinearDescription { scaling, states, sums, flows } = description;
        let d = names.len();
        for (what, found) in [
            ("states of the linear laws", states.len()),
            ("centres of states", scaling.state_centre.len()),
            ("sizes of states", scaling.state.len()),
        ] {
            if found != d {
                return Err(FieldError::Length { what, found, expected: d });
            }
        }
        for (name, size) in names.iter().zip(&scaling.state) {
            number("the size", name, *size, is_size)?;
        }
        let mut forms = Vec::with_capacity(d);
        for (i, (name, state)) in names.iter().zip(states).enumerate() {
            let lower = edge(state.lower.as_ref(), 1.0, name)?;
            let upper = edge(state.upper.as_ref(), -1.0, name)?;
            if lower.is_some_and(|l| upper.is_some_and(|u| l.at > u.at)) {
                return Err(WrongLinear::Bounds(name.clone()).into());
            }
            let wrong = |why| WrongLinear::State { name: name.clone(), why };
            if let Coordinate::Log { centre, spread } = state.coordinate {
                number("the centre of the log", name, centre, f64::is_finite)?;
                number("the spread of the log", name, spread, is_size)?;
                if lower.is_none() && upper.is_none() {
                    return Err(wrong("has log coordinates without a bound").into());
                }
            }
            let is_free = lower.is_none() && upper.is_none() && state.direction.is_none();
            if known.contains(&i) && !is_free {
                return Err(wrong("has a known rate, which laws do not alter").into());
            }
            let (direction, stays) = match state.direction {
                Some(Direction::Falls) => (Some(-1.0), false),
                Some(Direction::Rises) => (Some(1.0), false),
                Some(Direction::Stays) => (None, true),
                None => (None, false),
            };
            let coordinate = state.coordinate;
            forms.push(StateForm {
                lower,
                upper,
                direction,
                stays,
                coordinate,
                weight: 1.0,
                block: i,
            });
        }
        let mut form = Self {
            names: names.to_vec(),
            learned: (0..d).filter(|i| !known.contains(i)).collect(),
            states: forms,
            flows: Vec::with_capacity(flows.len()),
            sums: Vec::new(),
            projection: Projection::new(&scaling.state),
            scaling: scaling.clone(),
        };
        for sum in sums {
            form.add_sum(&sum.weights, sum.value, sum.by, known)?;
        }
        implied::check(&form)?;
        for flow in flows {
            form.add_flow(flow, known)?;
        }
        Ok(form)
    }

    fn add_sum(
        &mut self,
        weights: &[f64],
        value: Option<f64>,
        by: SumForm,
        known: &[usize],
    ) -> Result<(), FieldError> {
        let (found, expected) = (weights.len(), self.states.len());
        if found != expected {
            return Err(FieldError::Length { what: "weights of a sum", found, expected });
        }
        let terms: Vec<(usize, f64)> =
            weights.iter().copied().enumerate().filter(|(_, w)| *w != 0.0).collect();
        let names: Vec<String> =
            terms.iter().map(|&(i, _)| format!("`{}`", self.names[i])).collect();
        let names = names.join(", ");
        let wrong = |why| WrongLinear::Sum { names: names.clone(), why };
        if terms.is_empty() || !terms.iter().all(|(_, w)| w.is_finite()) {
            return Err(wrong("needs finite weights that are not all 0").into());
        }
        if value.is_some_and(|value| !value.is_finite()) {
            return Err(wrong("needs a finite value").into());
        }
        if terms.iter().any(|(i, _)| known.contains(i)) {
            return Err(wrong("contains a known rate, which laws do not alter").into());
        }
        match by {
            SumForm::Projection => {
                if terms.iter().any(|&(i, _)| self.states[i].is_limited() || self.sum_of(i)) {
                    let why = "is projected, but its states have bounds, directions or flows";
                    return Err(wrong(why).into());
                }
                if !self.projection.add(weights, value) {
                    return Err(wrong("follows from the sums before it").into());
                }
            }
            SumForm::Flows => {
                if terms.iter().any(|&(_, w)| w <= 0.0) {
                    return Err(wrong("is kept by flows, but has weights below 0").into());
                }
                let projected = |i: usize| self.projection.has(i);
                if terms.iter().any(|&(i, _)| self.sum_of(i) || projected(i)) {
                    return Err(wrong("is kept by flows, but shares states with another").into());
                }
                let block = terms[0].0;
                for &(i, weight) in &terms {
                    (self.states[i].weight, self.states[i].block) = (weight, block);
                }
                self.sums.push(FlowSum { terms, value });
            }
        }
        Ok(())
    }

    /// Whether a state is in a sum that flows keep.
    fn sum_of(&self, state: usize) -> bool {
        self.sums.iter().any(|sum| sum.terms.iter().any(|&(i, _)| i == state))
    }

    fn add_flow(&mut self, flow: &FlowDescription, known: &[usize]) -> Result<(), FieldError> {
        let name = flow.output();
        let wrong = |why| WrongLinear::Flow { flow: name.clone(), why };
        let rate = number("the rate", &name, flow.rate, is_size)?;
        let find = |end: &Option<String>| {
            let find = |name: &String| {
                let found = self.names.iter().position(|known| known == name);
                found.ok_or_else(|| FieldError::NotAState(name.clone()))
            };
            end.as_ref().map(find).transpose()
        };
        let (from, to) = (find(&flow.from)?, find(&flow.to)?);
        let ends = || from.iter().chain(&to);
        if ends().any(|i| known.contains(i)) {
            return Err(wrong("touches a known rate").into());
        }
        match (from, to) {
            (None, None) => return Err(wrong("has no ends").into()),
            (Some(from), Some(to)) => {
                let (a, b) = (&self.states[from], &self.states[to]);
                if from == to || a.block != b.block {
                    return Err(wrong("is not between two states of one sum").into());
                }
            }
            _ if ends().any(|&i| self.sum_of(i)) => {
                return Err(wrong("changes a sum that flows keep").into());
            }
            _ => {}
        }
        let breaks = |end: Option<usize>, sign: f64| {
            end.is_some_and(|i| {
                let state = &self.states[i];
                let against = state.direction.is_some_and(|direction| direction * sign < 0.0);
                state.stays || against || (flow.signed && state.direction.is_some())
            })
        };
        if breaks(to, 1.0) || breaks(from, -1.0) {
            return Err(wrong("goes against a direction").into());
        }
        let mut factors = Vec::new();
        for (end, leaves) in [(from, true), (to, false)] {
            let Some(i) = end else { continue };
            for edge in self.states[i].edges().filter(|edge| !edge.implied) {
                if flow.signed || leaves == (edge.sign > 0.0) {
                    factors.push((i, *edge));
                }
            }
        }
        self.flows.push(Flow { from, to, signed: flow.signed, rate, factors });
        Ok(())
    }
}
