//! The tape: computes all nodes at all time steps, and their gradient in a reverse sweep.
//!
//! A node has a row of values, one for each time step. The forward sweep computes one node after
//! the other, each over its whole row. The adjoint `w̄` of a node is the derivative of the weighted
//! sum of the results with respect to its value `w`. The reverse sweep visits the nodes from last
//! to first, and adds the contribution of each `w̄` to the adjoints of the operands.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use crate::graph::{Node, Op};
use crate::operations::{Backward, Forward};
use crate::rate::difference;
use crate::reach::Reach;
use crate::steps::{Steps, Workspace};

/// Nodes in the order in which they are computed. The last one is the result.
#[derive(Debug, Clone)]
pub(crate) struct Tape {
    nodes: Vec<Node>,
    state_len: usize,
    input_len: usize,
    /// A hash of the nodes, which identifies the tape in a workspace.
    fingerprint: u64,
}

impl Tape {
    pub(crate) fn new(nodes: Vec<Node>, state_len: usize, input_len: usize) -> Self {
        let mut hasher = DefaultHasher::new();
        for node in &nodes {
            node.op.hash(&mut hasher);
        }
        Self { nodes, state_len, input_len, fingerprint: hasher.finish() }
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(crate) fn state_len(&self) -> usize {
        self.state_len
    }

    pub(crate) fn input_len(&self) -> usize {
        self.input_len
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn root(&self) -> &Node {
        self.nodes.last().expect("a tape has a node")
    }

    /// Returns whether the result depends on this state variable.
    pub(crate) fn has_state(&self, variable: usize) -> bool {
        self.nodes.iter().any(|node| node.op == Op::State(variable))
    }

    /// Returns whether the result depends on time other than through the state.
    pub(crate) fn has_time(&self) -> bool {
        self.nodes.iter().any(|node| node.op == Op::Time)
    }

    /// Returns whether the result depends on a rate.
    pub(crate) fn has_rates(&self) -> bool {
        self.root().of_rate
    }

    pub(crate) fn reach(&self) -> Reach {
        self.root().reach
    }

    /// Computes the result at every time step, 0 where it does not exist. Rates are differences of the
    /// states if none are given.
    ///
    /// # Panics
    /// If a length in `steps` or that of `rates` or `result` is wrong.
    pub(crate) fn forward(
        &self,
        steps: &Steps<'_>,
        rates: Option<&[f64]>,
        workspace: &mut Workspace,
        result: &mut [f64],
    ) {
        let n = steps.check(self.state_len, self.input_len);
        assert!(
            rates.is_none_or(|rates| rates.len() == steps.states.len()),
            "a rate for each state"
        );
        assert_eq!(result.len(), n, "one result for each time step");
        let values = workspace.record(self.fingerprint, self.len(), n);
        result.fill(0.0);
        let exists = self.reach().range(n);
        if exists.is_empty() {
            return;
        }
        for (id, node) in self.nodes.iter().enumerate() {
            let (earlier, rest) = values.split_at_mut(id * n);
            let rows = node.reach.range(n);
            Forward { steps, rates, earlier, rows: rows.clone() }.compute(node.op, &mut rest[rows]);
        }
        let root = &values[(self.len() - 1) * n..];
        result[exists.clone()].copy_from_slice(&root[exists]);
    }

    /// Adds `Σ result_bar[row] · ∂result[row]/∂state`, over the rows that exist, to `state_bar`, and
    /// the same by the rates, if they were given, to theirs.
    ///
    /// # Panics
    /// If a length is wrong. With debug assertions, also if the last forward sweep in `workspace`
    /// is that of another tape or of other steps.
    pub(crate) fn backward(
        &self,
        steps: &Steps<'_>,
        workspace: &mut Workspace,
        result_bar: &[f64],
        state_bar: &mut [f64],
        mut rates_bar: Option<&mut [f64]>,
    ) {
        let n = steps.check(self.state_len, self.input_len);
        assert_eq!(result_bar.len(), n, "one adjoint for each time step");
        assert_eq!(state_bar.len(), steps.states.len(), "one adjoint for each state");
        let exists = self.reach().range(n);
        if exists.is_empty() {
            return;
        }
        let (values, bars) = workspace.recorded(self.fingerprint, self.len(), n);
        debug_assert!(self.states_match(steps, values), "the steps of the forward sweep");
        bars[(self.len() - 1) * n..][exists.clone()].copy_from_slice(&result_bar[exists]);
        for (id, node) in self.nodes.iter().enumerate().rev().filter(|(_, node)| node.of_state) {
            let (earlier, rest) = bars.split_at_mut(id * n);
            let column = |bars: &mut [f64], variable: usize, bar: &[f64]| {
                let column = bars.iter_mut().skip(variable).step_by(self.state_len);
                column.zip(bar).for_each(|(sum, bar)| *sum += *bar);
            };
            match (node.op, &mut rates_bar) {
                (Op::State(variable), _) => column(state_bar, variable, rest),
                (Op::Rate(variable), Some(rates_bar)) => column(rates_bar, variable, rest),
                (Op::Rate(variable), None) => {
                    for (row, bar) in rest[..n].iter().enumerate().filter(|(_, bar)| **bar != 0.0) {
                        for (n, weight) in difference(steps.times, row) {
                            state_bar[n * self.state_len + variable] += weight * bar;
                        }
                    }
                }
                (op, _) => {
                    let rows = node.reach.range(n);
                    let value = &values[id * n..][..n];
                    Backward { nodes: &self.nodes, values, value, bar: &rest[..n], earlier, rows }
                        .pull(op);
                }
            }
        }
    }

    /// Returns whether `values` were computed from these states, compared bit by bit.
    fn states_match(&self, steps: &Steps<'_>, values: &[f64]) -> bool {
        let n = steps.times.len();
        self.nodes.iter().enumerate().all(|(id, node)| match node.op {
            Op::State(variable) => {
                let column = steps.states.iter().skip(variable).step_by(self.state_len);
                column.zip(&values[id * n..]).all(|(a, b)| a.to_bits() == b.to_bits())
            }
            _ => true,
        })
    }
}
