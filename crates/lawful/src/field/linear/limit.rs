//! How far a step may go: at most to the bounds, and not the wrong way.
//!
//! ```text
//! y_{n+1} = y_n + a (ỹ − y_n)
//! a = gap(y_n)/(gap(y_n) − gap(ỹ))        of the bound that ỹ is farthest beyond
//! ```
//!
//! The states of a sum share one factor, so that the sum is kept; a state alone has its own. Open bounds, of
//! log coordinates, leave a thousandth of the gap.

use std::sync::Arc;

use lawful_ode::Refused;

use super::form::{FlowSum, Form, StateForm};
use super::guard::ROUNDING;

/// Share of the gap to an open bound that a step must leave.
const LEFT: f64 = 1e-3;

/// What limits the states of a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    /// `a`
    pub(super) factor: f64,
    /// The state that decides on it, and the derivatives by its start and its computed end.
    pub(super) slopes: Option<(usize, f64, f64)>,
}

impl Default for Limit {
    fn default() -> Self {
        Self { factor: 1.0, slopes: None }
    }
}

impl Limit {
    /// The end of a step.
    pub(super) fn applied(&self, y: f64, computed: f64) -> f64 {
        if self.slopes.is_some() { y + self.factor * (computed - y) } else { computed }
    }
}

/// What is rounding for numbers of these sizes.
fn rounding(numbers: [f64; 3]) -> f64 {
    ROUNDING * numbers.iter().map(|x| x.abs()).sum::<f64>()
}

/// Finds the limits of all blocks. Returns whether there are any.
///
/// # Errors
/// If no factor above 0 is admissible, or a state goes the wrong way.
pub(super) fn limit(
    form: &Form,
    texts: &Texts,
    (y, computed): (&[f64], &[f64]),
    limits: &mut [Limit],
) -> Result<bool, Refused> {
    limits.fill(Limit::default());
    let mut any = false;
    for (i, state) in form.states.iter().enumerate() {
        if !state.is_limited() {
            continue;
        }
        let (y, computed) = (y[i], computed[i]);
        let change = computed - y;
        let wrong = match state.direction {
            Some(direction) => -direction * change,
            None if state.stays => change.abs(),
            None => 0.0,
        };
        if wrong > rounding([y, computed, 0.0]) {
            return Err(texts.wrong_way(i));
        }
        for edge in state.edges() {
            let (start, end) = (edge.gap(y), edge.gap(computed));
            let tolerance = rounding([y, computed, edge.at]);
            if start < -tolerance {
                return Err(texts.outside(i, edge.sign > 0.0));
            }
            let left = if state.is_open() { LEFT } else { 0.0 };
            if end >= left * start - tolerance {
                continue;
            }
            let share = 1.0 - left;
            let factor = share * start / (start - end);
            if factor <= ROUNDING || factor.is_nan() {
                return Err(texts.on_bound(i, edge.sign > 0.0));
            }
            any = true;
            let limit = &mut limits[state.block];
            if factor < limit.factor {
                // gap = sign·(y − at): the signs cancel.
                let apart = y - computed;
                let slopes = Some((i, (share - factor) / apart, factor / apart));
                *limit = Limit { factor, slopes };
            }
        }
    }
    Ok(any)
}

impl StateForm {
    /// An end that breaks laws by rounding only, within the laws.
    pub(super) fn clamped(&self, y: f64, mut next: f64) -> f64 {
        if let Some(lower) = &self.lower {
            next = next.max(lower.at);
        }
        if let Some(upper) = &self.upper {
            next = next.min(upper.at);
        }
        match self.direction {
            Some(direction) if direction < 0.0 => next.min(y),
            Some(_) => next.max(y),
            None if self.stays => y,
            None => next,
        }
    }

    /// How far the state may move up or down from `next`, in a step from `y`.
    pub(super) fn room(&self, up: bool, y: f64, next: f64) -> f64 {
        if self.stays {
            return 0.0;
        }
        let held = if up { -1.0 } else { 1.0 };
        let by_direction = if self.direction.is_some_and(|d| d * held > 0.0) {
            (y - next).abs()
        } else {
            f64::INFINITY
        };
        let edge = if up { &self.upper } else { &self.lower };
        let by_bound = edge.as_ref().map_or(f64::INFINITY, |edge| edge.gap(next));
        by_direction.min(by_bound)
    }
}

/// The reasons of refusals, ready so that none allocates.
#[derive(Debug, Clone)]
pub(super) struct Texts {
    wrong_way: Vec<Refused>,
    /// At the lower and at the upper bound.
    outside: Vec<[Refused; 2]>,
    on_bound: Vec<[Refused; 2]>,
    sums: Vec<(usize, Refused)>,
}

impl Texts {
    pub(super) fn new(form: &Form) -> Self {
        let states = || form.names.iter().zip(&form.states);
        let wrong_way = states().map(|(name, state)| {
            let what = match state.direction {
                Some(direction) if direction < 0.0 => "lets `{}` rise, which only falls",
                Some(_) => "lets `{}` fall, which only rises",
                None => "changes `{}`, which stays",
            };
            Refused::new(what.replace("{}", name))
        });
        let of_bounds = |text: &dyn Fn(&str, &str, f64) -> String| -> Vec<[Refused; 2]> {
            let both = states().map(|(name, state)| {
                [("lower", &state.lower), ("upper", &state.upper)].map(|(word, edge)| {
                    let at = edge.as_ref().map_or(f64::NAN, |edge| edge.at);
                    Refused::new(text(name, word, at))
                })
            });
            both.collect()
        };
        let sums = form.sums.iter().map(|sum| {
            let names: Vec<String> =
                sum.terms.iter().map(|&(i, _)| format!("`{}`", form.names[i])).collect();
            let why = format!("cannot keep the sum of {} within their bounds", names.join(", "));
            (sum.terms[0].0, Refused::new(Arc::from(why)))
        });
        Self {
            wrong_way: wrong_way.collect(),
            outside: of_bounds(&|name, word, at| {
                format!("starts where `{name}` is not within its {word} bound {at}")
            }),
            on_bound: of_bounds(&|name, word, at| {
                format!("leaves the {word} bound {at} of `{name}`, on which it starts")
            }),
            sums: sums.collect(),
        }
    }

    fn wrong_way(&self, state: usize) -> Refused {
        self.wrong_way[state].clone()
    }

    fn outside(&self, state: usize, lower: bool) -> Refused {
        self.outside[state][usize::from(!lower)].clone()
    }

    fn on_bound(&self, state: usize, lower: bool) -> Refused {
        self.on_bound[state][usize::from(!lower)].clone()
    }

    pub(super) fn sum(&self, sum: &FlowSum) -> Refused {
        let found = self.sums.iter().find(|(first, _)| *first == sum.terms[0].0);
        found.expect("a text for every sum").1.clone()
    }
}
