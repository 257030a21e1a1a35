//! Expressions as a graph, in which equal subexpressions share a node and constants are folded.
//!
//! Operands have lower positions than the nodes that use them. These are simplified as well, which
//! detects laws that do not depend on the state:
//! `a + 0`, `a - 0`, `a*1`, `a/1`, `a^1` and `-(-a)` are `a`; `a - a`, `0*a` and `0/a` are 0;
//! `a/a` and `a^0` are 1; `a^2` is `a*a`. `a + b` and `b + a` are the same node, as are `a*b` and
//! `b*a`.

use std::collections::HashMap;

use crate::functions::{Function, Rule, Step};
use crate::reach::Reach;
use crate::syntax::Operator;
use crate::tape::Tape;

/// The position of a node. Operands have lower positions.
pub(crate) type Id = usize;

/// What a node computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    Constant(Bits),
    Time,
    State(usize),
    Input(usize),
    /// The rate of a state variable along the vector field.
    Rate(usize),
    Negate(Id),
    Binary(Operator, Id, Id),
    /// `a^k` with a constant whole number `k`.
    WholePower(Id, i32),
    Map(&'static Function, Id),
    Fold(&'static Function, Id, Id),
    At(Step, Id),
}

/// A number that can be compared and hashed by its bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Bits(u64);

impl Bits {
    pub(crate) fn value(self) -> f64 {
        f64::from_bits(self.0)
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    pub(crate) op: Op,
    pub(crate) reach: Reach,
    /// Whether it depends on a state variable or its rate. Only then does it have an adjoint.
    pub(crate) of_state: bool,
    /// Whether it depends on an input.
    pub(crate) of_input: bool,
    /// Whether it depends on a rate.
    pub(crate) of_rate: bool,
}

/// Nodes in an order in which they can be computed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
    known: HashMap<Op, Id>,
}

impl Op {
    pub(crate) fn operands(self) -> impl Iterator<Item = Id> {
        let (first, second) = match self {
            Self::Constant(_) | Self::Time | Self::State(_) | Self::Input(_) | Self::Rate(_) => {
                (None, None)
            }
            Self::Negate(a) | Self::WholePower(a, _) | Self::Map(_, a) | Self::At(_, a) => {
                (Some(a), None)
            }
            Self::Binary(_, a, b) | Self::Fold(_, a, b) => (Some(a), Some(b)),
        };
        first.into_iter().chain(second)
    }

    /// Returns the same operation with other operands.
    fn with_operands(self, new: impl Fn(Id) -> Id) -> Self {
        match self {
            Self::Constant(_) | Self::Time | Self::State(_) | Self::Input(_) | Self::Rate(_) => {
                self
            }
            Self::Negate(a) => Self::Negate(new(a)),
            Self::WholePower(a, k) => Self::WholePower(new(a), k),
            Self::Map(function, a) => Self::Map(function, new(a)),
            Self::At(step, a) => Self::At(step, new(a)),
            Self::Binary(operator, a, b) => Self::Binary(operator, new(a), new(b)),
            Self::Fold(function, a, b) => Self::Fold(function, new(a), new(b)),
        }
    }
}

impl Graph {
    /// Returns the graph of the nodes of a tape, at the same positions.
    pub(crate) fn of(tape: &Tape) -> Self {
        let nodes = tape.nodes().to_vec();
        let known = nodes.iter().enumerate().map(|(id, node)| (node.op, id)).collect();
        Self { nodes, known }
    }

    pub(crate) fn node(&self, id: Id) -> &Node {
        &self.nodes[id]
    }

    /// Returns the value of a node if it is constant.
    pub(crate) fn constant_value(&self, id: Id) -> Option<f64> {
        match self.nodes[id].op {
            Op::Constant(bits) => Some(bits.value()),
            _ => None,
        }
    }

    pub(crate) fn constant(&mut self, value: f64) -> Id {
        self.insert(Op::Constant(Bits(value.to_bits())), Reach::default())
    }

    /// Returns the node of time, a state variable, an input or a rate.
    pub(crate) fn leaf(&mut self, op: Op) -> Id {
        self.insert(op, Reach::default())
    }

    pub(crate) fn negate(&mut self, a: Id) -> Id {
        match self.nodes[a].op {
            Op::Constant(bits) => self.constant(-bits.value()),
            Op::Negate(inner) => inner,
            _ => self.insert(Op::Negate(a), self.nodes[a].reach),
        }
    }

    pub(crate) fn binary(&mut self, operator: Operator, a: Id, b: Id) -> Id {
        use Operator::{Add, Divide, Multiply, Power, Subtract};
        let (left, right) = (self.constant_value(a), self.constant_value(b));
        if let (Some(left), Some(right)) = (left, right) {
            return self.constant(operator.value(left, right));
        }
        #[expect(clippy::float_cmp, reason = "only exactly 0, 1 and 2 simplify")]
        let is = |side: Option<f64>, value: f64| side.is_some_and(|side| side == value);
        match operator {
            Add if is(left, 0.0) => b,
            Add | Subtract if is(right, 0.0) => a,
            Subtract if a == b => self.constant(0.0),
            Multiply if is(left, 0.0) || is(right, 0.0) => self.constant(0.0),
            Multiply if is(left, 1.0) => b,
            Multiply | Divide | Power if is(right, 1.0) => a,
            Divide if is(left, 0.0) => self.constant(0.0),
            Divide if a == b => self.constant(1.0),
            Power if is(right, 0.0) => self.constant(1.0),
            Power if is(right, 2.0) => self.binary(Multiply, a, a),
            Power => match right.and_then(whole) {
                Some(k) => self.insert(Op::WholePower(a, k), self.nodes[a].reach),
                None => self.insert_binary(Power, a, b),
            },
            Add | Multiply => self.insert_binary(operator, a.min(b), a.max(b)),
            Subtract | Divide => self.insert_binary(operator, a, b),
        }
    }

    /// Returns the node of a function call, or `None` if its time step never exists.
    pub(crate) fn call(&mut self, function: &'static Function, arguments: &[Id]) -> Option<Id> {
        let (&first, others) = arguments.split_first()?;
        match function.rule() {
            Rule::Map { value, .. } => Some(match self.constant_value(first) {
                Some(x) => self.constant(value(x)),
                None => self.insert(Op::Map(function, first), self.nodes[first].reach),
            }),
            Rule::Fold { value, .. } => {
                Some(others.iter().fold(first, |a, &b| self.fold(function, value, a, b)))
            }
            Rule::Rate => unreachable!("`Graph::rate` makes the nodes of a rate"),
            Rule::At(_) if self.constant_value(first).is_some() => Some(first),
            Rule::At(step) => {
                let reach = self.nodes[first].reach;
                let reach = match step {
                    Step::Next => reach.next(),
                    Step::Previous => reach.previous(),
                    Step::Initial => reach.initial()?,
                    Step::Final => reach.final_()?,
                };
                Some(self.insert(Op::At(step, first), reach))
            }
        }
    }

    /// Returns the node of the same operation with other operands, simplified.
    ///
    /// # Panics
    /// If the operation takes a value from another time step.
    pub(crate) fn rebuilt(&mut self, op: Op, new: &[Id]) -> Id {
        match op {
            Op::Negate(a) => self.negate(new[a]),
            Op::Binary(operator, a, b) => self.binary(operator, new[a], new[b]),
            Op::WholePower(a, k) => {
                let k = self.constant(f64::from(k));
                self.binary(Operator::Power, new[a], k)
            }
            Op::Map(function, a) => self.call(function, &[new[a]]).expect("a map exists"),
            Op::Fold(function, a, b) => {
                self.call(function, &[new[a], new[b]]).expect("a fold exists")
            }
            Op::Constant(_) | Op::Time | Op::State(_) | Op::Input(_) | Op::Rate(_) => {
                self.insert(op, Reach::default())
            }
            Op::At(..) => panic!("a value at another time step"),
        }
    }

    fn fold(
        &mut self,
        function: &'static Function,
        value: fn(f64, f64) -> f64,
        a: Id,
        b: Id,
    ) -> Id {
        if let (Some(left), Some(right)) = (self.constant_value(a), self.constant_value(b)) {
            return self.constant(value(left, right));
        }
        let reach = self.nodes[a].reach.join(self.nodes[b].reach);
        self.insert(Op::Fold(function, a, b), reach)
    }

    fn insert_binary(&mut self, operator: Operator, a: Id, b: Id) -> Id {
        let reach = self.nodes[a].reach.join(self.nodes[b].reach);
        self.insert(Op::Binary(operator, a, b), reach)
    }

    /// Returns the node of `op`, and adds it if there is none.
    fn insert(&mut self, op: Op, reach: Reach) -> Id {
        if let Some(&id) = self.known.get(&op) {
            return id;
        }
        let any = |of: fn(&Node) -> bool| op.operands().any(|operand| of(&self.nodes[operand]));
        let of_state = matches!(op, Op::State(_) | Op::Rate(_)) || any(|node| node.of_state);
        let of_input = matches!(op, Op::Input(_)) || any(|node| node.of_input);
        let of_rate = matches!(op, Op::Rate(_)) || any(|node| node.of_rate);
        self.nodes.push(Node { op, reach, of_state, of_input, of_rate });
        self.known.insert(op, self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    /// Returns a tape of the nodes that `root` depends on.
    pub(crate) fn tape(&self, root: Id, state_len: usize, input_len: usize) -> Tape {
        let mut needed = vec![false; root + 1];
        needed[root] = true;
        for id in (0..=root).rev() {
            if needed[id] {
                self.nodes[id].op.operands().for_each(|operand| needed[operand] = true);
            }
        }
        let mut moved = vec![0; root + 1];
        let mut nodes = Vec::new();
        for id in (0..=root).filter(|&id| needed[id]) {
            moved[id] = nodes.len();
            let node = self.nodes[id];
            nodes.push(Node { op: node.op.with_operands(|operand| moved[operand]), ..node });
        }
        Tape::new(nodes, state_len, input_len)
    }
}

/// Returns the exponent as a whole number `k`, if it is one and both `k` and `k − 1` are `i32`s.
fn whole(exponent: f64) -> Option<i32> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "checked: converts back to the same number"
    )]
    let k = exponent as i32;
    (k > i32::MIN && f64::from(k).to_bits() == exponent.to_bits()).then_some(k)
}

impl Operator {
    /// Returns `a ∘ b`.
    pub(crate) fn value(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => a * b,
            Self::Divide => a / b,
            Self::Power => a.powf(b),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_subexpressions_are_one_node() {
        let mut graph = Graph::default();
        let (x, v) = (graph.leaf(Op::State(0)), graph.leaf(Op::State(1)));
        let sum = graph.binary(Operator::Add, x, v);
        assert_eq!(graph.binary(Operator::Add, v, x), sum);
        assert_ne!(graph.binary(Operator::Subtract, x, v), graph.binary(Operator::Subtract, v, x));
        let two = graph.constant(2.0);
        let square = graph.binary(Operator::Power, x, two);
        assert_eq!(graph.binary(Operator::Multiply, x, x), square);
    }

    #[test]
    fn the_tape_holds_only_what_the_root_needs() {
        let mut graph = Graph::default();
        let x = graph.leaf(Op::State(0));
        let unused = graph.negate(x);
        let v = graph.leaf(Op::State(1));
        let root = graph.binary(Operator::Multiply, v, v);
        assert!(unused < root);
        assert_eq!(graph.tape(root, 2, 0).len(), 2);
    }

    #[test]
    fn whole_exponents_are_found() {
        assert_eq!(whole(3.0), Some(3));
        assert_eq!(whole(-2.0), Some(-2));
        assert_eq!(whole(0.5), None);
        assert_eq!(whole(1e10), None);
        assert_eq!(whole(f64::from(i32::MIN)), None);
        assert_eq!(whole(f64::NAN), None);
    }
}
