//! Finds the form of a field that guarantees a list of linear laws.

use lawful_law::Law;
use lawful_ode::Scaling;

use super::coordinate::LogRange;
use super::coverage::{Coverage, Guaranteed, NotLinear};
use super::description::{
    BoundDescription, Coordinate, Direction, LinearDescription, StateDescription, SumDescription,
    SumForm,
};
use super::flows::flows;
use super::independent::{Sum, Sums, Verdict};
use super::read::{Says, read};

/// Laws to guarantee, and what is known about the states.
#[derive(Debug, Clone, Copy)]
pub struct LinearTask<'a> {
    /// Names of the state variables. Variables of the laws behind them are learned constants.
    pub state: &'a [String],
    /// Indices of the state variables with known rates, which are never altered.
    pub known: &'a [usize],
    /// The laws, in any order.
    pub laws: &'a [Law],
    /// The sizes of states and rates; those of inputs and time are passed on to the network.
    pub scaling: &'a Scaling,
    /// For each state variable the range of its data, if they are strictly inside of its bounds and it is to
    /// have log coordinates; empty for none.
    pub logs: &'a [Option<LogRange>],
}

/// A form that guarantees laws, and what becomes of each law.
///
/// ```
/// use lawful::law::{Law, Words};
/// use lawful::{LinearForm, LinearTask, Scaling};
///
/// let vocabulary = Words::new().state(["S", "I", "R"]).check()?;
/// let texts = ["S + I + R == 763", "next(S) <= S", "next(R) >= R", "S >= 0", "I >= 0", "I <= 763"];
/// let laws = texts.map(|text| Law::parse(text, text, &vocabulary).unwrap().remove(0));
/// let form = LinearForm::choose(&LinearTask {
///     state: vocabulary.state(),
///     known: &[],
///     laws: &laws,
///     scaling: &Scaling::none(3, 0),
///     logs: &[],
/// });
/// assert!(form.laws.iter().all(|law| law.is_covered()));
/// // No flow into S, none out of R.
/// assert_eq!(form.description.outputs(), ["S to I", "S to R", "I to R"]);
/// # Ok::<(), lawful::law::LawError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LinearForm {
    /// The description of the field. Without any covered law it is that of a plain network.
    pub description: LinearDescription,
    /// What becomes of each law, in their order.
    pub laws: Vec<Coverage>,
}

impl LinearForm {
    /// Finds the form. Laws that it does not cover change nothing in it.
    pub fn choose(task: &LinearTask<'_>) -> Self {
        let mut choice = Choice::new(task);
        // Laws that contradict each other count for nothing: what is left is chosen anew.
        while !(choice.bounds_and_directions() && choice.sums() && choice.blocks()) {
            choice.start_again();
        }
        choice.implied_bounds();
        choice.what_follows();
        choice.finish()
    }

    /// Returns whether any law is guaranteed.
    pub fn guarantees_any(&self) -> bool {
        self.laws.iter().any(Coverage::is_covered)
    }
}

/// A form in the making.
pub(super) struct Choice<'a> {
    pub(super) task: &'a LinearTask<'a>,
    pub(super) says: Vec<Option<Says>>,
    pub(super) laws: Vec<Option<Coverage>>,
    pub(super) states: Vec<StateDescription>,
    /// The laws of the bounds that hold, lower and upper, and those of the directions.
    pub(super) bounds: Vec<[Option<usize>; 2]>,
    pub(super) directions: Vec<Vec<usize>>,
    pub(super) kept: Vec<Sum>,
    pub(super) forms: Vec<SumForm>,
}

/// Most states of a sum that is kept by flows.
const MOST_STATES: usize = 12;

/// Values that differ by less than this share of them are the same.
const ROUNDING: f64 = 1e-12;

impl<'a> Choice<'a> {
    fn new(task: &'a LinearTask<'a>) -> Self {
        let d = task.state.len();
        let (mut says, mut laws) = (Vec::new(), Vec::new());
        for law in task.laws {
            match read(law, task.state, task.known) {
                Ok(read) => {
                    says.push(Some(read));
                    laws.push(None);
                }
                Err(why) => {
                    says.push(None);
                    laws.push(Some(Coverage::NotCovered(why)));
                }
            }
        }
        Self {
            task,
            says,
            laws,
            states: vec![StateDescription::default(); d],
            bounds: vec![[None; 2]; d],
            directions: vec![Vec::new(); d],
            kept: Vec::new(),
            forms: Vec::new(),
        }
    }

    /// Forgets everything but the laws that cannot be read, and those that contradict each other.
    fn start_again(&mut self) {
        let d = self.task.state.len();
        for (says, law) in self.says.iter_mut().zip(&mut self.laws) {
            match law {
                Some(Coverage::Contradicts(_)) => *says = None,
                law if says.is_some() => *law = None,
                _ => {}
            }
        }
        self.states = vec![StateDescription::default(); d];
        self.bounds = vec![[None; 2]; d];
        self.directions = vec![Vec::new(); d];
        self.kept.clear();
        self.forms.clear();
    }

    fn name(&self, law: usize) -> String {
        self.task.laws[law].name().to_owned()
    }

    fn contradict(&mut self, laws: &[usize]) {
        for &law in laws {
            let others = laws.iter().filter(|&&other| other != law);
            let others = others.map(|&other| self.name(other)).collect();
            self.laws[law] = Some(Coverage::Contradicts(others));
        }
    }

    /// The tightest bounds, and all directions. Returns whether none contradict each other.
    fn bounds_and_directions(&mut self) -> bool {
        for (law, says) in self.says.iter().enumerate() {
            match says {
                Some(Says::Bound(bound)) => {
                    let side = usize::from(bound.is_upper);
                    let state = &mut self.states[bound.variable];
                    let edge = if bound.is_upper { &mut state.upper } else { &mut state.lower };
                    let sign = if bound.is_upper { -1.0 } else { 1.0 };
                    if edge.is_none_or(|edge| sign * (bound.at - edge.at) > 0.0) {
                        let (at, implied) = (bound.at, false);
                        *edge = Some(BoundDescription { at, distance: 1.0, implied });
                        self.bounds[bound.variable][side] = Some(law);
                    }
                }
                Some(Says::Direction(monotone)) => {
                    let direction = &mut self.states[monotone.variable].direction;
                    let found = if monotone.falls { Direction::Falls } else { Direction::Rises };
                    *direction = match direction {
                        Some(other) if *other != found => Some(Direction::Stays),
                        _ => Some(found),
                    };
                    self.directions[monotone.variable].push(law);
                }
                _ => {}
            }
        }
        for i in 0..self.states.len() {
            let state = &self.states[i];
            if let (Some(lower), Some(upper)) = (state.lower, state.upper)
                && lower.at > upper.at
                && let [Some(low), Some(high)] = self.bounds[i]
            {
                self.contradict(&[low, high]);
                return false;
            }
        }
        true
    }

    /// Independent sums, those with a stated value first. Returns whether none contradict each other.
    fn sums(&mut self) -> bool {
        let mut sums = Sums::default();
        for stated in [true, false] {
            for law in 0..self.says.len() {
                let Some(Says::Sum(invariant)) = &self.says[law] else { continue };
                if invariant.value.is_some() != stated {
                    continue;
                }
                match sums.add(law, invariant, &self.task.scaling.state) {
                    Verdict::Independent => {}
                    Verdict::Follows => {
                        self.laws[law] = Some(Coverage::Covered(Guaranteed::Implied));
                    }
                    Verdict::Contradicts(mut others) => {
                        others.push(law);
                        self.contradict(&others);
                        return false;
                    }
                }
            }
        }
        self.kept = sums.kept;
        true
    }

    /// Whether a state has bounds or a direction.
    fn is_limited(&self, state: usize) -> bool {
        let StateDescription { lower, upper, direction, .. } = &self.states[state];
        lower.is_some() || upper.is_some() || direction.is_some()
    }

    /// Chooses for each group of sums that share states whether flows keep it, or a projection. Returns
    /// whether no sum contradicts the bounds of its states.
    fn blocks(&mut self) -> bool {
        let members: Vec<Vec<usize>> = self.kept.iter().map(members).collect();
        let mut group: Vec<usize> = (0..members.len()).collect();
        for a in 0..members.len() {
            for b in 0..a {
                if members[a].iter().any(|i| members[b].contains(i)) {
                    let (from, to) = (group[a], group[b]);
                    group.iter_mut().filter(|g| **g == from).for_each(|g| *g = to);
                }
            }
        }
        self.forms = vec![SumForm::Projection; members.len()];
        for of in 0..members.len() {
            let sums: Vec<usize> = (0..members.len()).filter(|&k| group[k] == of).collect();
            let mut states: Vec<usize> = sums.iter().flat_map(|&k| members[k].clone()).collect();
            states.sort_unstable();
            states.dedup();
            if !states.iter().any(|&i| self.is_limited(i)) {
                continue;
            }
            let names = || -> Vec<String> {
                sums.iter().map(|&k| format!("`{}`", self.name(self.kept[k].law))).collect()
            };
            let name = || self.name(self.kept[sums[0]].law);
            let why = if sums.len() > 1 {
                NotLinear::SharedStates(names().join(", "))
            } else if self.kept[sums[0]].weights.iter().any(|w| *w < 0.0) {
                NotLinear::MixedSigns(name())
            } else if states.len() > MOST_STATES {
                NotLinear::ManyStates(name())
            } else {
                if !self.fits(sums[0], &states) {
                    return false;
                }
                self.forms[sums[0]] = SumForm::Flows;
                continue;
            };
            self.release(&states, &Coverage::NotCovered(why));
        }
        true
    }

    /// Gives up the bounds and directions of states.
    fn release(&mut self, states: &[usize], coverage: &Coverage) {
        for &i in states {
            for law in 0..self.says.len() {
                let variable = match &self.says[law] {
                    Some(Says::Bound(bound)) => bound.variable,
                    Some(Says::Direction(monotone)) => monotone.variable,
                    _ => continue,
                };
                if variable == i && self.laws[law].is_none() {
                    self.laws[law] = Some(coverage.clone());
                }
            }
            self.states[i] = StateDescription::default();
            self.bounds[i] = [None; 2];
            self.directions[i].clear();
        }
    }

    /// Whether a sum's value is one that its states can have within their bounds; otherwise they contradict
    /// each other.
    fn fits(&mut self, sum: usize, states: &[usize]) -> bool {
        let Sum { law, weights, value: Some(value) } = self.kept[sum].clone() else { return true };
        for (side, sign) in [(0, 1.0), (1, -1.0)] {
            let edge = |i: usize| {
                if side == 0 { self.states[i].lower } else { self.states[i].upper }
            };
            let all: Option<Vec<f64>> =
                states.iter().map(|&i| Some(weights[i] * edge(i)?.at)).collect();
            let Some(all) = all else { continue };
            let (least, size): (f64, f64) =
                (all.iter().sum(), all.iter().map(|x| x.abs()).sum::<f64>());
            if sign * (least - value) > ROUNDING * (size + value.abs()) {
                let bounds = states.iter().filter_map(|&i| self.bounds[i][side]);
                let laws: Vec<usize> = bounds.chain([law]).collect();
                self.contradict(&laws);
                return false;
            }
        }
        true
    }

    /// Sizes, coordinates and flows; and what remains to be said of each law.
    fn finish(mut self) -> LinearForm {
        let LinearTask { scaling, logs, .. } = self.task;
        let in_flows: Vec<bool> = (0..self.states.len())
            .map(|i| {
                let mut sums = self.kept.iter().zip(&self.forms);
                sums.any(|(sum, form)| *form == SumForm::Flows && sum.weights[i] != 0.0)
            })
            .collect();
        let widest = self.region();
        for i in 0..self.states.len() {
            let (centre, size) = (scaling.state_centre[i], scaling.state[i]);
            let mut c = vec![0.0; self.states.len()];
            c[i] = 1.0;
            let most = if in_flows[i] { widest.largest(&c) } else { f64::INFINITY };
            let state = &mut self.states[i];
            let lower = state.lower.map_or(f64::NEG_INFINITY, |lower| lower.at);
            let upper = state.upper.map_or(most, |upper| upper.at.min(most));
            for bound in [&mut state.lower, &mut state.upper].into_iter().flatten() {
                let usual = (centre - bound.at).abs().max(size);
                let width = upper - lower;
                bound.distance = if width > 0.0 { usual.min(width) } else { usual };
            }
            let Some(Some(LogRange { middle, spread })) = logs.get(i) else { continue };
            let log = |bound: Option<BoundDescription>| bound.map_or(0.0, |b| b.distance.ln());
            if state.lower.is_some() || state.upper.is_some() {
                let centre = middle - log(state.lower) + log(state.upper);
                state.coordinate = Coordinate::Log { centre, spread: *spread };
            }
        }
        self.say_the_rest();
        let sums = self.kept.iter().zip(&self.forms).map(|(sum, &by)| SumDescription {
            law: self.name(sum.law),
            weights: sum.weights.clone(),
            value: sum.value,
            by,
        });
        let sums: Vec<SumDescription> = sums.collect();
        let flows = flows(self.task, &self.states, &sums);
        let states = self.states;
        let scaling = Scaling::clone(scaling);
        let description = LinearDescription { scaling, states, sums, flows };
        let laws = self.laws.into_iter().map(|law| law.expect("every law is said")).collect();
        LinearForm { description, laws }
    }

    fn say_the_rest(&mut self) {
        for law in 0..self.says.len() {
            if self.laws[law].is_some() {
                continue;
            }
            let how = match self.says[law].as_ref().expect("others are said") {
                Says::Sum(_) => {
                    let k = self.kept.iter().position(|sum| sum.law == law);
                    let form = self.forms[k.expect("others are said")];
                    if form == SumForm::Flows { Guaranteed::Flows } else { Guaranteed::Projection }
                }
                Says::Bound(bound) => {
                    let i = bound.variable;
                    let state = &self.states[i];
                    let edge = if bound.is_upper { state.upper } else { state.lower };
                    let decides = self.bounds[i][usize::from(bound.is_upper)] == Some(law);
                    if !decides || edge.is_some_and(|edge| edge.implied) {
                        Guaranteed::Implied
                    } else if matches!(state.coordinate, Coordinate::Log { .. }) {
                        Guaranteed::Logarithm
                    } else {
                        Guaranteed::Inwards
                    }
                }
                _ => Guaranteed::Sign,
            };
            self.laws[law] = Some(Coverage::Covered(how));
        }
    }
}

/// The states of a sum.
pub(super) fn members(sum: &Sum) -> Vec<usize> {
    (0..sum.weights.len()).filter(|&i| sum.weights[i] != 0.0).collect()
}
