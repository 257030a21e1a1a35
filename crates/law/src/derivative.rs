//! Symbolic differentiation: the differential of a node as nodes of the same graph.
//!
//! ```text
//! d(a ± b) = da ± db                  d(a^k) = k a^(k−1) da
//! d(a b)   = b da + a db              d(a^b) = b a^(b−1) da + a^b ln(a) db
//! d(a/b)   = da/b − (a/b) db/b        d(f(a)) = f′(a) da
//! d(next(a)) = next(da), previous alike;  d(initial(a)) = d(final(a)) = 0: they stay
//! ```
//!
//! What the leaves differ by is the caller's: 1 for one variable gives a partial derivative, a rate
//! for each variable gives the derivative along a path. A value that does not differ has no node, so
//! that nothing is computed for it. Derivatives of derivatives need no rules of their own: they are
//! derivatives of nodes.

use crate::functions::{AT_MOST, Function, Rule, SIGN, Step};
use crate::graph::{Graph, Id, Op};
use crate::syntax::Operator::{self, Add, Divide, Multiply, Power, Subtract};

/// Returns the node of `dy/dx` for the node `y` of a function of `x`.
pub(crate) type MapSlope = fn(graph: &mut Graph, x: Id, y: Id) -> Id;

/// Returns the nodes of both partial derivatives of a function of two arguments.
pub(crate) type Slopes = fn(graph: &mut Graph, a: Id, b: Id) -> (Id, Id);

impl Graph {
    /// Returns the node of the differential of `root`, or `None` if it is 0 for certain.
    ///
    /// `leaf` returns the differential of time, a state variable, an input or a rate; `None` is 0.
    pub(crate) fn differential(
        &mut self,
        root: Id,
        mut leaf: impl FnMut(&mut Self, Op) -> Option<Id>,
    ) -> Option<Id> {
        let mut needed = vec![false; root + 1];
        needed[root] = true;
        for id in (0..=root).rev() {
            if needed[id] {
                match self.node(id).op {
                    // It stays: nothing that it depends on differs.
                    Op::At(Step::Initial | Step::Final, _) => {}
                    op => op.operands().for_each(|operand| needed[operand] = true),
                }
            }
        }
        let mut differentials: Vec<Option<Id>> = vec![None; root + 1];
        for id in 0..=root {
            if needed[id] {
                let op = self.node(id).op;
                differentials[id] = match op {
                    Op::Time | Op::State(_) | Op::Input(_) | Op::Rate(_) => leaf(self, op),
                    _ => self.differential_of(id, op, &differentials),
                };
            }
        }
        differentials[root]
    }

    /// Returns the differential of a node from those of its operands.
    fn differential_of(&mut self, id: Id, op: Op, differentials: &[Option<Id>]) -> Option<Id> {
        let d = |id: Id| differentials[id];
        match op {
            Op::Negate(a) => d(a).map(|da| self.negate(da)),
            Op::Binary(Add, a, b) => self.sum(d(a), d(b)),
            Op::Binary(Subtract, a, b) => {
                let db = d(b).map(|db| self.negate(db));
                self.sum(d(a), db)
            }
            Op::Binary(Multiply, a, b) => self.chain((a, b), (b, a), differentials),
            Op::Binary(Divide, a, b) => {
                let da = d(a).map(|da| self.binary(Divide, da, b));
                let db = d(b).map(|db| {
                    let share = self.binary(Divide, db, b);
                    let product = self.binary(Multiply, id, share);
                    self.negate(product)
                });
                self.sum(da, db)
            }
            Op::Binary(Power, a, b) => {
                let da = d(a).map(|da| {
                    let one = self.constant(1.0);
                    let less = self.binary(Subtract, b, one);
                    let power = self.binary(Power, a, less);
                    let slope = self.binary(Multiply, b, power);
                    self.binary(Multiply, slope, da)
                });
                let db = d(b).map(|db| {
                    let ln = self.map("ln", a);
                    let slope = self.binary(Multiply, id, ln);
                    self.binary(Multiply, slope, db)
                });
                self.sum(da, db)
            }
            Op::WholePower(a, k) => d(a).map(|da| {
                let (k, less) = (self.constant(f64::from(k)), self.constant(f64::from(k - 1)));
                let power = self.binary(Power, a, less);
                let slope = self.binary(Multiply, k, power);
                self.binary(Multiply, slope, da)
            }),
            Op::Map(function, a) => d(a).map(|da| {
                let Rule::Map { derivative, .. } = function.rule() else {
                    unreachable!("`{function:?}` is not a map")
                };
                let slope = derivative(self, a, id);
                self.binary(Multiply, slope, da)
            }),
            Op::Fold(function, a, b) => {
                if d(a).is_none() && d(b).is_none() {
                    return None;
                }
                let Rule::Fold { derivatives, .. } = function.rule() else {
                    unreachable!("`{function:?}` has not two arguments")
                };
                let (by_a, by_b) = derivatives(self, a, b);
                self.chain((a, by_a), (b, by_b), differentials)
            }
            Op::At(Step::Initial | Step::Final, _)
            | Op::Constant(_)
            | Op::Time
            | Op::State(_)
            | Op::Input(_)
            | Op::Rate(_) => None,
            Op::At(step, a) => d(a).and_then(|da| self.call(at(step), std::slice::from_ref(&da))),
        }
    }

    /// Returns `da` times its slope plus `db` times its slope.
    fn chain(
        &mut self,
        (a, by_a): (Id, Id),
        (b, by_b): (Id, Id),
        differentials: &[Option<Id>],
    ) -> Option<Id> {
        let da = differentials[a].map(|da| self.binary(Multiply, by_a, da));
        let db = differentials[b].map(|db| self.binary(Multiply, by_b, db));
        self.sum(da, db)
    }

    fn sum(&mut self, a: Option<Id>, b: Option<Id>) -> Option<Id> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.binary(Add, a, b)),
            (a, b) => a.or(b),
        }
    }

    /// Returns the node of a function of one argument.
    fn map(&mut self, name: &str, a: Id) -> Id {
        let function = Function::named(name).expect("a function of the list");
        self.call(function, &[a]).expect("a function at the same time step")
    }

    /// Returns the node of `number ∘ a`.
    fn with_number(&mut self, number: f64, operator: Operator, a: Id) -> Id {
        let number = self.constant(number);
        self.binary(operator, number, a)
    }
}

fn at(step: Step) -> &'static Function {
    let name = match step {
        Step::Next => "next",
        Step::Previous => "previous",
        Step::Initial => "initial",
        Step::Final => "final",
    };
    Function::named(name).expect("a function of the list")
}

pub(crate) fn sin(graph: &mut Graph, x: Id, _: Id) -> Id {
    graph.map("cos", x)
}

pub(crate) fn cos(graph: &mut Graph, x: Id, _: Id) -> Id {
    let sin = graph.map("sin", x);
    graph.negate(sin)
}

/// `1 + y²`
pub(crate) fn tan(graph: &mut Graph, _: Id, y: Id) -> Id {
    let square = graph.binary(Multiply, y, y);
    graph.with_number(1.0, Add, square)
}

pub(crate) fn exp(_: &mut Graph, _: Id, y: Id) -> Id {
    y
}

pub(crate) fn ln(graph: &mut Graph, x: Id, _: Id) -> Id {
    graph.with_number(1.0, Divide, x)
}

pub(crate) fn log10(graph: &mut Graph, x: Id, _: Id) -> Id {
    graph.with_number(std::f64::consts::LOG10_E, Divide, x)
}

pub(crate) fn sqrt(graph: &mut Graph, _: Id, y: Id) -> Id {
    graph.with_number(0.5, Divide, y)
}

pub(crate) fn abs(graph: &mut Graph, x: Id, _: Id) -> Id {
    graph.call(&SIGN, &[x]).expect("a function at the same time step")
}

/// `1 − y²`
pub(crate) fn tanh(graph: &mut Graph, _: Id, y: Id) -> Id {
    let square = graph.binary(Multiply, y, y);
    graph.with_number(1.0, Subtract, square)
}

pub(crate) fn min(graph: &mut Graph, a: Id, b: Id) -> (Id, Id) {
    shares(graph, a, b)
}

/// `max(a, b)` takes `a` where `b <= a`.
pub(crate) fn max(graph: &mut Graph, a: Id, b: Id) -> (Id, Id) {
    shares(graph, b, a)
}

/// 1 for `a` and 0 for `b` where `smaller <= larger`, otherwise 0 and 1.
fn shares(graph: &mut Graph, smaller: Id, larger: Id) -> (Id, Id) {
    let first = graph.call(&AT_MOST, &[smaller, larger]).expect("a function at the same time step");
    let second = graph.with_number(1.0, Subtract, first);
    (first, second)
}
