//! An expression: a formula of the values at one time step.

use std::fmt;

use crate::compile::Scope;
use crate::error::LawError;
use crate::parser::parse_expression;
use crate::steps::{Steps, Workspace};
use crate::syntax::Syntax;
use crate::tape::Tape;
use crate::vocabulary::Vocabulary;

/// A formula of the state, the inputs and time at one time step.
///
/// It serves as a right-hand side of an ODE, as a prescribed input, or as a quantity to plot.
/// `Display` gives its normal text: as few brackets as possible.
#[derive(Debug, Clone)]
pub struct Expression {
    syntax: Syntax,
    tape: Tape,
}

impl Expression {
    /// Reads a formula of all names; `next`, `previous`, `initial` and `final` are errors.
    pub fn parse(text: &str, vocabulary: &Vocabulary) -> Result<Self, LawError> {
        Self::within(Scope::Point, text, vocabulary)
    }

    /// Reads a formula of `t` and constants alone, such as a prescribed input `u(t) = sin(t)`.
    pub fn parse_of_time(text: &str, vocabulary: &Vocabulary) -> Result<Self, LawError> {
        Self::within(Scope::Time, text, vocabulary)
    }

    fn within(scope: Scope, text: &str, vocabulary: &Vocabulary) -> Result<Self, LawError> {
        let syntax = parse_expression(text)?;
        let mut graph = vocabulary.graph();
        let root = vocabulary.compile(&syntax, scope, &mut graph)?;
        let tape = vocabulary.tape(&graph, root);
        Ok(Self { syntax, tape })
    }

    /// Returns whether the value depends on the state variable at this position in a row of states.
    pub fn depends_on(&self, variable: usize) -> bool {
        self.tape.has_state(variable)
    }

    /// The value at every time step, recorded in `workspace`.
    ///
    /// # Panics
    /// If the lengths in `steps` or of `values` do not fit.
    pub fn values(&self, steps: &Steps<'_>, workspace: &mut Workspace, values: &mut [f64]) {
        self.tape.forward(steps, workspace, values);
    }

    /// `state_bar += Σ value_bar[row] · ∂value[row]/∂state`.
    ///
    /// The steps must be those of the last call of [`values`](Self::values) with this workspace.
    /// A row with `value_bar` 0 adds nothing, also where a derivative is infinite.
    ///
    /// # Panics
    /// If the lengths do not fit; with debug assertions also if the forward sweep in `workspace`
    /// is another one.
    pub fn pull_back(
        &self,
        steps: &Steps<'_>,
        workspace: &mut Workspace,
        value_bar: &[f64],
        state_bar: &mut [f64],
    ) {
        self.tape.backward(steps, workspace, value_bar, state_bar);
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.syntax.fmt(f)
    }
}
