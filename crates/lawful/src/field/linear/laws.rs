//! The linear laws of a field on single states: checks them, and moves states to them.
//!
//! The nearest state within the laws, in sizes of the states `s`, changes those that no bound holds along the
//! weights of their sum:
//!
//! ```text
//! y′_i = y_i + λ w_i s_i²  within its bounds,      Σ w_i y′_i = b
//! λ = (b − Σ_held w_i y′_i − Σ_free w_i y_i)/D,    D = Σ_free w_i² s_i²
//! ```

use lawful_ode::Refused;

use super::form::{FlowSum, Form};
use super::projection::Projection;
use crate::field::StateOff;

/// Linear laws, with which states can be checked and moved.
#[derive(Debug, Clone)]
pub(in crate::field) struct LinearLaws {
    form: Form,
    projection: Projection,
    /// Names of the laws of the sums by flows, and of those by the projection.
    names: [Vec<String>; 2],
    /// A state within its laws, its limits, and what holds each value.
    y: Vec<f64>,
    limits: Vec<[f64; 2]>,
    held: Vec<bool>,
    gradient: Vec<f64>,
    /// The name of the law that a state was farthest off.
    farthest: String,
}

/// Rounds of the search for the states that bounds hold: each holds one more, or lets one go.
const ROUNDS: usize = 100;

/// Changes below this share of the numbers are rounding.
const ROUNDING: f64 = 1e-13;

impl LinearLaws {
    pub(super) fn new(form: Form, names: [Vec<String>; 2]) -> Self {
        let d = form.states.len();
        Self {
            projection: form.projection.clone(),
            names,
            y: vec![0.0; d],
            limits: vec![[f64::NEG_INFINITY, f64::INFINITY]; d],
            held: vec![false; d],
            gradient: vec![0.0; d],
            farthest: String::new(),
            form,
        }
    }

    /// Moves a state to the bounds and to the sums with stated values; the value of others is its own.
    pub(in crate::field) fn project(&mut self, y: &mut [f64]) -> Result<bool, Refused> {
        self.place(y, None)?;
        Ok(self.take_over(y))
    }

    /// Moves a state to the laws of a path through another one, which obeys them: also to the values of its
    /// sums, and to the side of it that directions allow.
    pub(in crate::field) fn project_to(
        &mut self,
        y: &mut [f64],
        initial: &[f64],
    ) -> Result<bool, Refused> {
        self.place(y, other(y, initial))?;
        Ok(self.take_over(y))
    }

    fn take_over(&self, y: &mut [f64]) -> bool {
        let mut moved = false;
        for (y, new) in y.iter_mut().zip(&self.y) {
            moved |= (*y - new).abs() > ROUNDING * (y.abs() + new.abs());
            *y = *new;
        }
        moved
    }

    /// Writes the nearest state within the laws to `self.y`.
    fn place(&mut self, y: &[f64], initial: Option<&[f64]>) -> Result<(), Refused> {
        for (i, state) in self.form.states.iter().enumerate() {
            let at = initial.map(|initial| initial[i]);
            let lower = state.lower.as_ref();
            let lower = lower.map_or(f64::NEG_INFINITY, |edge| state.nearest_to(edge));
            let upper = state.upper.as_ref();
            let upper = upper.map_or(f64::INFINITY, |edge| state.nearest_to(edge));
            let direction = state.direction.unwrap_or(0.0);
            let rises = at.filter(|_| direction > 0.0 || state.stays);
            let falls = at.filter(|_| direction < 0.0 || state.stays);
            self.limits[i] =
                [rises.map_or(lower, |at| lower.max(at)), falls.map_or(upper, |at| upper.min(at))];
            self.y[i] = y[i].max(self.limits[i][0]).min(self.limits[i][1]);
            self.held[i] = y[i] < self.limits[i][0] || y[i] > self.limits[i][1];
        }
        let Self { form, y: placed, limits, held, .. } = self;
        for sum in &form.sums {
            let Some(level) = level(sum, initial) else { continue };
            if !fill(form, sum, level, (y, limits), (placed, held)) {
                let names: Vec<String> =
                    sum.terms.iter().map(|&(i, _)| format!("`{}`", form.names[i])).collect();
                return Err(Refused::new(format!(
                    "cannot have the sum of {} that its laws ask for, within its bounds",
                    names.join(", ")
                )));
            }
        }
        self.projection.state(initial.unwrap_or(y), placed);
        Ok(())
    }

    /// The adjoint of [`project_to`](Self::project_to): turns the adjoint of the moved state into that of
    /// `y`, and adds that of the initial state.
    ///
    /// # Panics
    /// If the state cannot be moved.
    pub(in crate::field) fn pull_back(
        &mut self,
        y: &[f64],
        initial: &[f64],
        bar: &mut [f64],
        initial_bar: &mut [f64],
    ) {
        let initial = other(y, initial);
        self.place(y, initial).expect("a state that was moved before");
        // What a projection does with held states is nothing: it has none.
        let mut own = std::mem::take(&mut self.gradient);
        own.fill(0.0);
        self.projection.state_bar(bar, &mut own);
        let target = if initial.is_some() { &mut *initial_bar } else { &mut *bar };
        target.iter_mut().zip(&own).for_each(|(sum, own)| *sum += own);
        self.gradient = own;
        let Self { form, held, y: placed, .. } = self;
        for sum in &form.sums {
            let Some(_) = level(sum, initial) else { continue };
            let free = || sum.terms.iter().filter(|(i, _)| !held[*i]);
            let along = |i: usize, w: f64| w * form.scaling.state[i].powi(2);
            let whole: f64 = free().map(|&(i, w)| w * along(i, w)).sum();
            if whole <= 0.0 {
                continue;
            }
            let level_bar = free().map(|&(i, w)| bar[i] * along(i, w)).sum::<f64>() / whole;
            for &(i, w) in &sum.terms {
                bar[i] -= w * level_bar;
                if sum.value.is_none() {
                    initial_bar[i] += w * level_bar;
                }
            }
        }
        for i in 0..bar.len() {
            if held[i] {
                // Held by a bound, or by the initial state.
                let state = &form.states[i];
                let at = |edge| (placed[i] - state.nearest_to(edge)).abs() <= 0.0;
                let by_bound = state.edges().any(at);
                let is_directed = form.states[i].direction.is_some() || form.states[i].stays;
                if initial.is_some() && is_directed && !by_bound {
                    initial_bar[i] += bar[i];
                }
                bar[i] = 0.0;
            }
        }
    }

    /// Calls `visit` with each sum that states its value, and each bound.
    pub(in crate::field) fn each_off(&mut self, y: &[f64], visit: &mut dyn FnMut(StateOff<'_>)) {
        let Self { form, names, gradient, .. } = self;
        let scale = &form.scaling.state;
        let mut sum_off = |name: &str, value: f64, gradient: &[f64]| {
            let sum: f64 = gradient.iter().zip(y).map(|(w, y)| w * y).sum();
            let sizes = gradient.iter().zip(scale).map(|(w, s)| (w * s).powi(2));
            let size = sizes.sum::<f64>().sqrt();
            visit(StateOff { name, off: sum - value, size, gradient });
        };
        for (sum, name) in form.sums.iter().zip(&names[0]) {
            let Some(value) = sum.value else { continue };
            gradient.fill(0.0);
            sum.terms.iter().for_each(|&(i, w)| gradient[i] = w);
            sum_off(name, value, gradient);
        }
        for ((value, weights), name) in form.projection.sums().zip(&names[1]) {
            if let Some(value) = value {
                sum_off(name, value, weights);
            }
        }
        for (i, state) in form.states.iter().enumerate() {
            for edge in state.edges() {
                gradient.fill(0.0);
                gradient[i] = 1.0;
                let sign = if edge.sign > 0.0 { ">=" } else { "<=" };
                let name = format!("{} {sign} {}", form.names[i], edge.at);
                // Within the bound there is nothing off.
                let off = edge.sign * edge.gap(y[i]).min(0.0);
                visit(StateOff { name: &name, off, size: scale[i], gradient });
            }
        }
    }

    /// Returns the name of a state variable on or beyond a bound of which the network sees the distance's logarithm, and
    /// the bound.
    pub(in crate::field) fn on_open_bound(&self, y: &[f64]) -> Option<(&str, f64)> {
        let mut states = self.form.names.iter().zip(&self.form.states).zip(y);
        states.find_map(|((name, state), y)| {
            let edge = state.edges().find(|edge| state.is_open() && edge.gap(*y) <= 0.0)?;
            Some((name.as_str(), edge.at))
        })
    }

    /// Returns the law that a state is farthest off, in sizes of the law.
    pub(in crate::field) fn worst(&mut self, y: &[f64]) -> Option<(&str, f64)> {
        let mut worst: Option<(String, f64)> = None;
        self.each_off(y, &mut |law| {
            let share = (law.off / law.size).abs();
            if worst.as_ref().is_none_or(|(_, most)| share > *most || share.is_nan()) {
                worst = Some((law.name.to_owned(), share));
            }
        });
        let (name, share) = worst?;
        self.farthest = name;
        Some((&self.farthest, share))
    }
}

/// The initial state of a path, if it is another one.
fn other<'a>(y: &[f64], initial: &'a [f64]) -> Option<&'a [f64]> {
    let is_same = y.iter().zip(initial).all(|(a, b)| a.to_bits() == b.to_bits());
    (!is_same).then_some(initial)
}

/// The value of a sum: stated, or that of the initial state.
fn level(sum: &FlowSum, initial: Option<&[f64]>) -> Option<f64> {
    sum.value.or_else(|| initial.map(|initial| sum.of(initial)))
}

/// Moves the states of a sum to a value of it within their limits. Returns whether it was found.
fn fill(
    form: &Form,
    sum: &FlowSum,
    level: f64,
    (y, limits): (&[f64], &[[f64; 2]]),
    (placed, held): (&mut [f64], &mut [bool]),
) -> bool {
    let along = |i: usize, w: f64| w * form.scaling.state[i].powi(2);
    let size = level.abs() + sum.terms.iter().map(|&(i, w)| (w * y[i]).abs()).sum::<f64>();
    let mut multiplier = 0.0;
    let mut between = [f64::NEG_INFINITY, f64::INFINITY];
    for _ in 0..ROUNDS {
        for &(i, w) in &sum.terms {
            let moved = y[i] + multiplier * along(i, w);
            placed[i] = moved.max(limits[i][0]).min(limits[i][1]);
            held[i] = moved < limits[i][0] || moved > limits[i][1];
        }
        let off = level - sum.of(placed);
        if off.abs() <= f64::EPSILON * size {
            return true;
        }
        between[usize::from(off < 0.0)] = multiplier;
        // Newton's step on a function that rises by pieces of straight lines.
        let free = sum.terms.iter().filter(|(i, _)| !held[*i]);
        let slope: f64 = free.map(|&(i, w)| w * along(i, w)).sum();
        let step = if slope > 0.0 {
            multiplier + off / slope
        } else {
            // Only states at their limits: the next one that would let go.
            let reach = |&(i, w): &(usize, f64)| {
                let limit = limits[i][usize::from(off < 0.0)];
                let at = (limit - y[i]) / along(i, w);
                (at.is_finite() && (at - multiplier) * off > 0.0).then_some(at)
            };
            let reached = sum.terms.iter().filter_map(reach);
            let Some(next) = reached.reduce(|a, b| if (b - a) * off < 0.0 { b } else { a }) else {
                return off.abs() <= ROUNDING * size;
            };
            next + off.signum() * ROUNDING * next.abs().max(f64::MIN_POSITIVE)
        };
        let [low, high] = between;
        let next = if low < step && step < high { step } else { 0.5 * (low + high) };
        if !next.is_finite() || (next - multiplier).abs() <= 0.0 {
            break;
        }
        multiplier = next;
    }
    (level - sum.of(placed)).abs() <= ROUNDING * size
}

#[cfg(test)]
mod tests {
    use lawful_law::{Law, Words};
    use lawful_ode::Scaling;

    use super::*;
    use crate::{LinearForm, LinearTask};

    fn laws(state: &[&str], texts: &[&str], scale: &[f64]) -> LinearLaws {
        let vocabulary = Words::new().state(state.iter().copied()).check().expect("names");
        let read =
            texts.iter().flat_map(|text| Law::parse(text, text, &vocabulary).expect("a law"));
        let scaling = Scaling { state: scale.to_vec(), ..Scaling::none(state.len(), 0) };
        let form = LinearForm::choose(&LinearTask {
            state: vocabulary.state(),
            known: &[],
            laws: &read.collect::<Vec<_>>(),
            scaling: &scaling,
            logs: &[],
        });
        form.description.on_states(vocabulary.state()).expect("a form that was chosen")
    }

    fn assert_near(found: &[f64], expected: &[f64]) {
        let near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12 * (1.0 + b.abs()));
        assert!(near, "{found:?} {expected:?}");
    }

    #[test]
    fn the_nearest_state_is_that_worked_by_hand() {
        let texts = ["A + B + C == 6", "A >= 0", "B >= 0", "C <= 3", "next(A) <= A"];
        let mut laws = laws(&["A", "B", "C"], &texts, &[1.0; 3]);
        let mut y = [2.0, 2.0, 2.0];
        assert!(!laws.project(&mut y).expect("a state on its laws"));
        assert_near(&y, &[2.0; 3]);
        // 3 more than 6, one from each.
        y = [2.0, 4.0, 3.0];
        assert!(laws.project(&mut y).expect("a state near its laws"));
        assert_near(&y, &[1.0, 3.0, 2.0]);
        // A would be −1: it stays at 0, and B and C take the rest.
        y = [0.0, 4.0, 5.0];
        laws.project(&mut y).expect("a state near its laws");
        assert_near(&y, &[0.0, 3.0, 3.0]);
        // A is not above its initial value.
        y = [2.0, 2.0, -1.0];
        laws.project_to(&mut y, &[1.0, 2.0, 3.0]).expect("a state near its laws");
        assert_near(&y, &[1.0, 4.0, 1.0]);
        assert_eq!(laws.worst(&[2.0, -5.0, 2.0]).map(|worst| worst.0), Some("B >= 0"));
        // Sizes 1 and 3: of the 10 too much, B takes nine tenths.
        let mut sum = self::laws(&["A", "B"], &["A + B == 0", "A >= -100"], &[1.0, 3.0]);
        let mut y = [4.0, 6.0];
        sum.project(&mut y).expect("a state near its laws");
        assert_near(&y, &[3.0, -3.0]);
        let mut sum = self::laws(&["A", "B"], &["A + B == 0"], &[1.0, 3.0]);
        let mut y = [4.0, 6.0];
        sum.project(&mut y).expect("a state near its laws");
        assert_near(&y, &[3.0, -3.0]);
    }

    #[test]
    fn states_without_a_place_are_refused() {
        // Two parts that only fall, from 1 and 2, cannot sum up to 4.
        let texts = ["A + B == initial(A + B)", "A >= 0", "B >= 0", "A <= 1", "B <= 1"];
        let mut laws = laws(&["A", "B"], &texts, &[1.0; 2]);
        let mut y = [0.5, 0.5];
        let refused = laws.project_to(&mut y, &[3.0, 2.0]).expect_err("no such state");
        assert!(refused.why.starts_with("cannot have the sum of `A`, `B`"), "{}", refused.why);
    }

    #[test]
    fn random_states_arrive_and_their_adjoints_are_those_of_differences() {
        let systems: [(&[&str], &[&str]); 4] = [
            (&["A", "B", "C"], &["A + 2*B + C/3 == 3", "A >= 0", "B >= 0", "C >= 0", "A <= 1"]),
            (
                &["A", "B", "C"],
                &["A + B + C == initial(A + B + C)", "A >= 0", "next(A) <= A", "next(C) >= C"],
            ),
            (&["A", "B", "C"], &["A - B == 1", "B + C == initial(B + C)"]),
            (&["A", "B"], &["0 <= A <= 1", "next(B) >= B"]),
        ];
        let mut random = crate::Random::new(3, "states");
        for (state, texts) in systems {
            let d = state.len();
            let mut laws = laws(state, texts, &[1.0, 0.5, 3.0][..d]);
            for _ in 0..50 {
                let mut draw = || -> Vec<f64> { (0..d).map(|_| 1.0 + random.normal()).collect() };
                let (mut initial, y, w) = (draw(), draw(), draw());
                laws.project(&mut initial).expect("a place");
                let value = |laws: &mut LinearLaws, y: &[f64], initial: &[f64]| -> f64 {
                    let mut moved = y.to_vec();
                    laws.project_to(&mut moved, initial).expect("a place");
                    moved.iter().zip(&w).map(|(y, w)| y * w).sum()
                };
                let mut moved = y.clone();
                laws.project_to(&mut moved, &initial).expect("a place");
                assert!(laws.worst(&moved).is_none_or(|(_, off)| off < 1e-14), "{moved:?}");
                let (mut bar, mut initial_bar) = (w.clone(), vec![0.0; d]);
                laws.pull_back(&y, &initial, &mut bar, &mut initial_bar);
                // An initial state on a bound has no derivative where a direction starts from it.
                let on_bound = |i: usize| [0.0, 1.0].contains(&initial[i]);
                for i in (0..2 * d).filter(|&i| i < d || !on_bound(i - d)) {
                    let mut at = |shift: f64| {
                        let (mut y, mut initial) = (y.clone(), initial.clone());
                        let mut both = y.iter_mut().chain(&mut initial);
                        *both.nth(i).expect("a number") += shift;
                        value(&mut laws, &y, &initial)
                    };
                    let e = 1e-7;
                    let difference = (at(e) - at(-e)) / (2.0 * e);
                    let found = if i < d { bar[i] } else { initial_bar[i - d] };
                    assert!(
                        (found - difference).abs() < 1e-6,
                        "{texts:?} {i}: {found} {difference}"
                    );
                }
            }
        }
    }
}
