//! The operations over a row of time steps: values, then derivatives.
//!
//! For a node `w = f(a, b)` the reverse sweep adds `ā += w̄ ∂f/∂a` and `b̄ += w̄ ∂f/∂b`:
//!
//! | `w` | `∂w/∂a` | `∂w/∂b` |
//! |---|---|---|
//! | `a + b`, `a - b` | 1 | 1, −1 |
//! | `a*b` | `b` | `a` |
//! | `a/b` | `1/b` | `−w/b` |
//! | `a^k` | `k·a^(k−1)` | – |
//! | `a^b` | `b·a^(b−1)`, 0 where `b = 0` | `w·ln a`, 0 where `w = 0` |
//!
//! Where `w̄` is 0 nothing is added, which avoids `0·∞`. An operand that does not depend on the
//! state has no adjoint.

use std::ops::Range;

use crate::functions::{Function, Rule, Step};
use crate::graph::{Id, Node, Op};
use crate::rate::difference;
use crate::steps::Steps;
use crate::syntax::Operator;

/// The forward sweep at one node.
pub(crate) struct Forward<'a> {
    pub(crate) steps: &'a Steps<'a>,
    /// The rates of the states, row after row, or none: they are differences of the states.
    pub(crate) rates: Option<&'a [f64]>,
    /// The values of all nodes before this one.
    pub(crate) earlier: &'a [f64],
    /// The time steps at which the node exists.
    pub(crate) rows: Range<usize>,
}

impl<'a> Forward<'a> {
    /// Writes the values at `rows` into `result`.
    pub(crate) fn compute(&self, op: Op, result: &mut [f64]) {
        let Steps { times, states, inputs } = *self.steps;
        let n = times.len();
        match op {
            Op::Constant(bits) => result.fill(bits.value()),
            Op::Time => result.copy_from_slice(times),
            Op::State(variable) => gather(result, states, variable),
            Op::Input(input) => gather(result, inputs, input),
            Op::Rate(variable) => {
                if let Some(rates) = self.rates {
                    gather(result, rates, variable);
                } else {
                    let width = states.len() / n.max(1);
                    let state = |n: usize| states[n * width + variable];
                    for (row, result) in result.iter_mut().enumerate() {
                        let terms = difference(times, row);
                        *result = terms.map(|(n, weight)| weight * state(n)).iter().sum();
                    }
                }
            }
            Op::Negate(a) => self.map(a, result, |a| -a),
            Op::Binary(Operator::Add, a, b) => self.zip(a, b, result, |a, b| a + b),
            Op::Binary(Operator::Subtract, a, b) => self.zip(a, b, result, |a, b| a - b),
            Op::Binary(Operator::Multiply, a, b) => self.zip(a, b, result, |a, b| a * b),
            Op::Binary(Operator::Divide, a, b) => self.zip(a, b, result, |a, b| a / b),
            Op::Binary(Operator::Power, a, b) => self.zip(a, b, result, f64::powf),
            Op::WholePower(a, k) => self.map(a, result, |a| a.powi(k)),
            Op::Map(function, a) => self.map(a, result, map_rule(function).0),
            Op::Fold(function, a, b) => self.zip(a, b, result, fold_rule(function).0),
            Op::At(step, a) => {
                let (a, Range { start, end }) = (&self.earlier[a * n..][..n], self.rows.clone());
                match step {
                    Step::Next => result.copy_from_slice(&a[start + 1..=end]),
                    Step::Previous => result.copy_from_slice(&a[start - 1..end - 1]),
                    Step::Initial => result.fill(a[0]),
                    Step::Final => result.fill(a[n - 1]),
                }
            }
        }
    }

    /// Returns the values of an operand at the rows of this node.
    fn operand(&self, id: Id) -> &'a [f64] {
        &self.earlier[id * self.steps.times.len()..][self.rows.clone()]
    }

    fn map(&self, a: Id, result: &mut [f64], value: impl Fn(f64) -> f64) {
        for (result, &a) in result.iter_mut().zip(self.operand(a)) {
            *result = value(a);
        }
    }

    fn zip(&self, a: Id, b: Id, result: &mut [f64], value: impl Fn(f64, f64) -> f64) {
        for ((result, &a), &b) in result.iter_mut().zip(self.operand(a)).zip(self.operand(b)) {
            *result = value(a, b);
        }
    }
}

/// The reverse sweep at one node.
pub(crate) struct Backward<'a> {
    pub(crate) nodes: &'a [Node],
    /// The values of all nodes.
    pub(crate) values: &'a [f64],
    /// The values of this node, `w`.
    pub(crate) value: &'a [f64],
    /// The adjoint of this node, `w̄`.
    pub(crate) bar: &'a [f64],
    /// The adjoints of all nodes before this one.
    pub(crate) earlier: &'a mut [f64],
    /// The time steps at which the node exists.
    pub(crate) rows: Range<usize>,
}

impl Backward<'_> {
    /// Adds the contribution of this node to the adjoints of its operands.
    pub(crate) fn pull(&mut self, op: Op) {
        let (values, w, n) = (self.values, self.value, self.value.len());
        let row = |id: Id| &values[id * n..][..n];
        match op {
            Op::Constant(_) | Op::Time | Op::State(_) | Op::Input(_) | Op::Rate(_) => {}
            Op::Negate(a) => self.add(a, |_| -1.0),
            Op::Binary(Operator::Add, a, b) => {
                self.add(a, |_| 1.0);
                self.add(b, |_| 1.0);
            }
            Op::Binary(Operator::Subtract, a, b) => {
                self.add(a, |_| 1.0);
                self.add(b, |_| -1.0);
            }
            Op::Binary(Operator::Multiply, a, b) => {
                self.add(a, |i| row(b)[i]);
                self.add(b, |i| row(a)[i]);
            }
            Op::Binary(Operator::Divide, a, b) => {
                self.add(a, |i| 1.0 / row(b)[i]);
                self.add(b, |i| -w[i] / row(b)[i]);
            }
            Op::Binary(Operator::Power, a, b) => {
                self.add(a, |i| power_slope(row(a)[i], row(b)[i]));
                self.add(b, |i| if w[i] == 0.0 { 0.0 } else { w[i] * row(a)[i].ln() });
            }
            Op::WholePower(a, k) => self.add(a, |i| f64::from(k) * row(a)[i].powi(k - 1)),
            Op::Map(function, a) => {
                let slope = map_rule(function).1;
                self.add(a, |i| slope(row(a)[i], w[i]));
            }
            Op::Fold(function, a, b) => {
                let slopes = fold_rule(function).1;
                self.add(a, |i| slopes(row(a)[i], row(b)[i]).0);
                self.add(b, |i| slopes(row(a)[i], row(b)[i]).1);
            }
            Op::At(step, a) => self.add_at(step, a),
        }
    }

    /// Adds `w̄[i] · slope(i)` to `ā[i]` at the rows of this node.
    fn add(&mut self, a: Id, slope: impl Fn(usize) -> f64) {
        if !self.nodes[a].of_state {
            return;
        }
        let a_bar = &mut self.earlier[a * self.bar.len()..][..self.bar.len()];
        for i in self.rows.clone() {
            if self.bar[i] != 0.0 {
                a_bar[i] += self.bar[i] * slope(i);
            }
        }
    }

    /// Adds the adjoint at the time step that the value was taken from.
    fn add_at(&mut self, step: Step, a: Id) {
        let n = self.bar.len();
        let (a_bar, Range { start, end }) = (&mut self.earlier[a * n..][..n], self.rows.clone());
        let bar = &self.bar[start..end];
        let add = |(sum, bar): (&mut f64, &f64)| *sum += *bar;
        match step {
            Step::Next => a_bar[start + 1..=end].iter_mut().zip(bar).for_each(add),
            Step::Previous => a_bar[start - 1..end - 1].iter_mut().zip(bar).for_each(add),
            Step::Initial => a_bar[0] += bar.iter().sum::<f64>(),
            Step::Final => a_bar[n - 1] += bar.iter().sum::<f64>(),
        }
    }
}

/// Returns `∂(a^b)/∂a`.
fn power_slope(a: f64, b: f64) -> f64 {
    if b == 0.0 { 0.0 } else { b * a.powf(b - 1.0) }
}

/// Copies one column of a table with `result.len()` rows.
fn gather(result: &mut [f64], table: &[f64], column: usize) {
    let width = table.len() / result.len().max(1);
    for (result, row) in result.iter_mut().zip(table.chunks_exact(width)) {
        *result = row[column];
    }
}

type OfTwo = fn(f64, f64) -> f64;
type Slopes = fn(f64, f64) -> (f64, f64);

/// Returns the value and the slope of a function of one argument.
fn map_rule(function: &Function) -> (fn(f64) -> f64, OfTwo) {
    match function.rule() {
        Rule::Map { value, slope, .. } => (value, slope),
        Rule::Fold { .. } | Rule::At(_) | Rule::Rate => {
            unreachable!("`{function:?}` is not a map")
        }
    }
}

/// Returns the value and the slopes of a function of two arguments.
fn fold_rule(function: &Function) -> (OfTwo, Slopes) {
    match function.rule() {
        Rule::Fold { value, slopes, .. } => (value, slopes),
        Rule::Map { .. } | Rule::At(_) | Rule::Rate => {
            unreachable!("`{function:?}` is not a fold")
        }
    }
}
