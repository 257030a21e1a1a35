//! `rate(e)`: the derivative of `e` along the vector field `f`, and rates by differences of rows.
//!
//! ```text
//! rate(e) = Σ_i ∂e/∂y_i · f_i(t, y, u) + ∂e/∂t
//! ```
//!
//! It is built as nodes of the graph, by symbolic differentiation; the rates `f_i` are leaves, as state
//! variables are. Learned constants, variables behind the state, have the rate 0.

use crate::compile::Scope;
use crate::error::LawError;
use crate::graph::{Graph, Id, Op};
use crate::quantity::Quantity;
use crate::syntax::{Comparison, Syntax};
use crate::vocabulary::Vocabulary;

/// Why an expression has no rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoRate {
    /// It depends on this input.
    Input(usize),
    /// It depends on a rate.
    Rate,
}

impl Graph {
    /// Returns the node of the rate of another node. `initial` and `final` stay, `next` is taken at
    /// the next time step.
    pub(crate) fn rate(&mut self, of: Id) -> Result<Id, NoRate> {
        let mut reason = None;
        let differential = self.differential(of, |graph, op| match op {
            Op::State(variable) => Some(graph.leaf(Op::Rate(variable))),
            Op::Time => Some(graph.constant(1.0)),
            Op::Input(input) => {
                reason.get_or_insert(NoRate::Input(input));
                None
            }
            _ => {
                reason.get_or_insert(NoRate::Rate);
                None
            }
        });
        match reason {
            Some(reason) => Err(reason),
            None => Ok(differential.unwrap_or_else(|| self.constant(0.0))),
        }
    }
}

impl Vocabulary {
    /// Returns the quantity of which a law's residual is the rate: `rate(e)` on one side, and 0 on the
    /// other. Its sign is that of the residual.
    pub(crate) fn rate_of(
        &self,
        left: (&Syntax, Id),
        right: (&Syntax, Id),
        comparison: Comparison,
        graph: &mut Graph,
    ) -> Result<Option<Quantity>, LawError> {
        let is_zero = |graph: &Graph, id: Id| graph.constant_value(id) == Some(0.0);
        let (side, on_the_left) = match (is_zero(graph, left.1), is_zero(graph, right.1)) {
            (false, true) => (left.0, true),
            (true, false) => (right.0, false),
            _ => return Ok(None),
        };
        let Some(argument) = side.argument_of("rate") else { return Ok(None) };
        let mut e = self.compile(&argument, Scope::Trajectory, graph)?;
        if !graph.node(e).reach.is_pointwise() {
            return Ok(None);
        }
        let flipped = matches!(comparison, Comparison::AtLeast | Comparison::Greater);
        if on_the_left == flipped {
            e = graph.negate(e);
        }
        Ok(Some(Quantity::new(graph, e, self.state().len(), self.inputs().len())))
    }
}

/// Returns rows and weights such that `Σ weight · y(row)` is the slope at `row` of the parabola through
/// the rows around it, or of the line through two rows. A single row has no slope: NaN.
pub(crate) fn difference(times: &[f64], row: usize) -> [(usize, f64); 3] {
    match *times {
        [] | [_] => [(row, f64::NAN); 3],
        [first, last] => {
            let weight = (last - first).recip();
            [(0, -weight), (1, weight), (1, 0.0)]
        }
        _ => {
            let first = row.saturating_sub(1).min(times.len() - 3);
            let t = |n: usize| times[first + n];
            let weight = |n: usize, a: usize, b: usize| {
                let slope = (times[row] - t(a)) + (times[row] - t(b));
                (first + n, slope / ((t(n) - t(a)) * (t(n) - t(b))))
            };
            [weight(0, 1, 2), weight(1, 0, 2), weight(2, 0, 1)]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_of_parabolas_are_exact_at_every_row() {
        let times = [0.0, 0.3, 1.0, 1.2, 2.5];
        let parabola = |t: f64| 2.0 - t + 3.0 * t * t;
        for (row, t) in times.iter().enumerate() {
            let slope: f64 =
                difference(&times, row).map(|(n, w)| w * parabola(times[n])).iter().sum();
            assert!((slope - (6.0 * t - 1.0)).abs() < 1e-12, "{row}: {slope}");
        }
        let line: f64 = difference(&[1.0, 3.0], 1).map(|(n, w)| w * [5.0, 9.0][n]).iter().sum();
        assert!((line - 2.0).abs() < 1e-15);
        assert!(difference(&[1.0], 0)[0].1.is_nan());
    }
}
