//! An expression: a formula of the state, the inputs and time at one time step.

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
/// Examples are the right-hand side of an ODE, a prescribed input, and a quantity to plot.
/// `Display` writes the expression with as few brackets as possible.
#[derive(Debug, Clone)]
pub struct Expression {
    syntax: Syntax,
    pub(crate) tape: Tape,
}

impl Expression {
    /// Parses an expression that may use every name, but not `next`, `previous`, `initial` and
    /// `final`.
    pub fn parse(text: &str, vocabulary: &Vocabulary) -> Result<Self, LawError> {
        Self::within(Scope::Point, text, vocabulary)
    }

    /// Parses an expression of `t` and constants only, such as a prescribed input `sin(t)`.
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

    /// Returns whether the value depends on time other than through the state.
    pub fn depends_on_time(&self) -> bool {
        self.tape.has_time()
    }

    /// Computes the value at every time step, and records it in `workspace` for
    /// [`pull_back`](Self::pull_back).
    ///
    /// # Panics
    /// If a length in `steps` or that of `values` is wrong.
    pub fn values(&self, steps: &Steps<'_>, workspace: &mut Workspace, values: &mut [f64]) {
        self.tape.forward(steps, None, workspace, values);
    }

    /// Adds the gradient: `state_bar += Σ value_bar[row] · ∂value[row]/∂state`.
    ///
    /// `steps` must be those of the last call of [`values`](Self::values) with this workspace. A
    /// row where `value_bar` is 0 adds nothing, even where a derivative is infinite.
    ///
    /// # Panics
    /// If a length is wrong. With debug assertions, also if the last forward sweep in `workspace`
    /// is that of another expression or of other steps.
    pub fn pull_back(
        &self,
        steps: &Steps<'_>,
        workspace: &mut Workspace,
        value_bar: &[f64],
        state_bar: &mut [f64],
    ) {
        self.tape.backward(steps, workspace, value_bar, state_bar, None);
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.syntax.fmt(f)
    }
}
