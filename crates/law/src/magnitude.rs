//! How large the parts are that a residual compares.

use crate::graph::Op;
use crate::law::Law;
use crate::steps::{Steps, Workspace};
use crate::syntax::Operator::{Add, Subtract};

impl Law {
    /// Computes half of the sum of the absolute values of the residual's terms at every time step: what
    /// an error of the residual is compared with. For `A + B == 5` it is about 5, however the terms are
    /// placed on the two sides. Returns `false`, and computes nothing, for a residual of one term.
    ///
    /// The other arguments are those of [`residuals_with_rates`](Self::residuals_with_rates).
    ///
    /// ```
    /// # use lawful_law::{Law, Steps, Words, Workspace};
    /// let vocabulary = Words::new().state(["A", "B"]).check()?;
    /// let law = &Law::parse("sum", "A - 5 + B == 0", &vocabulary)?[0];
    /// let steps = Steps { times: &[0.0], states: &[1.0, 4.0], inputs: &[] };
    /// let (mut workspace, mut magnitude) = (Workspace::new(), [f64::NAN]);
    /// assert!(law.magnitudes(&steps, None, &mut workspace, &mut magnitude));
    /// assert_eq!(magnitude, [5.0]);
    /// # Ok::<(), lawful_law::LawError>(())
    /// ```
    ///
    /// # Panics
    /// If a length in `steps` or that of `rates` or `magnitudes` is wrong.
    pub fn magnitudes(
        &self,
        steps: &Steps<'_>,
        rates: Option<&[f64]>,
        workspace: &mut Workspace,
        magnitudes: &mut [f64],
    ) -> bool {
        let mut terms = Vec::new();
        let mut stack = vec![self.tape.len() - 1];
        while let Some(id) = stack.pop() {
            match self.tape.nodes()[id].op {
                Op::Binary(Add | Subtract, a, b) => stack.extend([b, a]),
                Op::Negate(a) => stack.push(a),
                // `x >= 0` compares x with nothing.
                Op::Constant(number) if number.value() == 0.0 => {}
                _ => terms.push(id),
            }
        }
        if terms.len() < 2 {
            return false;
        }
        self.tape.forward(steps, rates, workspace, magnitudes);
        let n = steps.times.len();
        let values = workspace.values(self.tape.len() * n);
        for row in self.reach().range(n) {
            let sum: f64 = terms.iter().map(|id| values[id * n + row].abs()).sum();
            magnitudes[row] = sum / 2.0;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::Words;

    fn magnitudes(text: &str) -> Option<Vec<f64>> {
        let vocabulary = Words::new().state(["x", "v"]).check().unwrap();
        let law = &Law::parse("law", text, &vocabulary).unwrap()[0];
        let states = [3.0, 4.0, 0.0, -5.0];
        let steps = Steps { times: &[0.0, 1.0], states: &states, inputs: &[] };
        let (mut workspace, mut found) = (Workspace::new(), [0.0; 2]);
        law.magnitudes(&steps, None, &mut workspace, &mut found).then(|| found.to_vec())
    }

    #[test]
    fn it_is_half_of_what_the_terms_add_up_to_on_either_side() {
        for text in ["x^2 + v^2 == 25", "x^2 == 25 - v^2", "25 - v^2 - x^2 == 0"] {
            assert_eq!(magnitudes(text), Some(vec![25.0, 25.0]), "{text}");
        }
        assert_eq!(magnitudes("x == v"), Some(vec![3.5, 2.5]));
        assert_eq!(magnitudes("x*x == initial(x*x)"), Some(vec![9.0, 4.5]));
        // A neighbour that does not exist has no residual.
        assert_eq!(magnitudes("next(v) == v"), Some(vec![4.5, 0.0]));
    }

    #[test]
    fn one_term_is_compared_with_nothing() {
        for text in ["x >= 0", "(x - 3)*(v - 4) == 0", "-2*x <= 0"] {
            assert_eq!(magnitudes(text), None, "{text}");
        }
    }
}
