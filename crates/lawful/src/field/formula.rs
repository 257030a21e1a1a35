//! A vector field of written expressions, for simulated data.

use lawful_law::{Expression, Steps, Vocabulary, Workspace};
use lawful_ode::Equations;

use super::FieldError;

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
    /// Reads one expression per state variable of the vocabulary, in its order.
    ///
    /// # Errors
    /// If there are not as many expressions as state variables, or one cannot be read.
    pub fn new(texts: &[&str], vocabulary: &Vocabulary) -> Result<Self, FieldError> {
        let (found, expected) = (texts.len(), vocabulary.state().len());
        if found != expected {
            return Err(FieldError::Length { what: "equations", found, expected });
        }
        let mut expressions = Vec::with_capacity(texts.len());
        for (rate, (text, variable)) in texts.iter().zip(vocabulary.state()).enumerate() {
            let expression = Expression::parse(text, vocabulary).map_err(|error| {
                let (variable, error) = (variable.clone(), Box::new(error));
                FieldError::Rate { variable, rate, error }
            })?;
            expressions.push(expression);
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
