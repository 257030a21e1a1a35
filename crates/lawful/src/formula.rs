//! A vector field written down as expressions: simulated data, known physics.

use lawful_law::{Expression, LawError, Steps, Vocabulary, Workspace};
use lawful_ode::Equations;

/// `dy_i/dt = expression_i(t, y, u)`, without parameters.
///
/// Wrap it in [`Recorded`](crate::Recorded) to solve it.
#[derive(Debug, Clone)]
pub struct FormulaField {
    expressions: Vec<Expression>,
    inputs: usize,
    workspaces: Vec<Workspace>,
}

impl FormulaField {
    /// One expression per state variable of the vocabulary, in its order.
    ///
    /// # Panics
    /// If there are not as many expressions as state variables.
    pub fn new(texts: &[&str], vocabulary: &Vocabulary) -> Result<Self, (usize, LawError)> {
        assert_eq!(texts.len(), vocabulary.state().len(), "one equation per state variable");
        let mut expressions = Vec::with_capacity(texts.len());
        for (variable, text) in texts.iter().enumerate() {
            let expression = Expression::parse(text, vocabulary);
            expressions.push(expression.map_err(|error| (variable, error))?);
        }
        let workspaces = vec![Workspace::default(); expressions.len()];
        Ok(Self { expressions, inputs: vocabulary.inputs().len(), workspaces })
    }
}

impl Equations for FormulaField {
    fn state_len(&self) -> usize {
        self.expressions.len()
    }

    fn input_len(&self) -> usize {
        self.inputs
    }

    fn parameter_len(&self) -> usize {
        0
    }

    fn eval(&mut self, _: &[f64], t: f64, y: &[f64], u: &[f64], dy: &mut [f64]) {
        let steps = Steps { times: &[t], states: y, inputs: u };
        for ((expression, workspace), dy) in
            self.expressions.iter().zip(&mut self.workspaces).zip(dy)
        {
            expression.values(&steps, workspace, std::slice::from_mut(dy));
        }
    }

    fn pull_back(
        &mut self,
        _: &[f64],
        t: f64,
        y: &[f64],
        u: &[f64],
        w: &[f64],
        y_bar: &mut [f64],
        _: &mut [f64],
    ) {
        let steps = Steps { times: &[t], states: y, inputs: u };
        let mut value = [0.0];
        for ((expression, workspace), w) in self.expressions.iter().zip(&mut self.workspaces).zip(w)
        {
            expression.values(&steps, workspace, &mut value);
            expression.pull_back(&steps, workspace, std::slice::from_ref(w), y_bar);
        }
    }
}
