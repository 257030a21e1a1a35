//! The Gram matrix of the gradients of an objective's terms: the fit, and the penalty of each law.

use super::flow::Mode;
use super::{Failure, Objective, pull_back};
use crate::strategy::Slopes;

/// The gradient of each term, and their products; empty unless a strategy needs them.
#[derive(Debug, Default)]
pub(super) struct Gram {
    /// Term after term.
    gradients: Vec<f64>,
    products: Vec<f64>,
    /// Slopes of continuity, which belongs to no term: zeros.
    none: Slopes,
}

impl Objective {
    /// Updates the strategy by the products of the gradients of its terms at θ. Each term is solved and
    /// pulled back on its own, since a field is pulled back once for each solve.
    ///
    /// # Errors
    /// If θ cannot be solved.
    pub(super) fn balance(&mut self, theta: &[f64]) -> Result<(), Failure> {
        let mut gram = std::mem::take(&mut self.gram);
        let done = self.fill(&mut gram, theta);
        // Where a gradient is not finite, the evaluation that follows fails, and says why.
        if done.is_ok() && gram.products.iter().all(|product| product.is_finite()) {
            self.evaluator.balance(&gram.products);
        }
        self.gram = gram;
        done
    }

    fn fill(&mut self, gram: &mut Gram, theta: &[f64]) -> Result<(), Failure> {
        let (terms, len) = (1 + self.misfit.penalised().len(), theta.len());
        gram.gradients.resize(terms * len, 0.0);
        gram.none.residuals.clear();
        gram.none.residuals.resize(self.misfit.continuity().residuals.len(), 0.0);
        for (term, gradient) in gram.gradients.chunks_exact_mut(len).enumerate() {
            self.measure(theta, Mode::Record)?;
            let Self { problem, flow, misfit, evaluator, starts, effects, .. } = self;
            evaluator.evaluate_term(&misfit.view(), term);
            let slopes = (evaluator.slopes(), &gram.none);
            let field = &theta[..self.field_len];
            let bars = effects.parts_mut(gradient, self.field_len);
            pull_back((problem, starts), (flow, misfit), slopes, field, bars);
        }
        gram.products.clear();
        for a in gram.gradients.chunks_exact(len) {
            let product = |b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            gram.products.extend(gram.gradients.chunks_exact(len).map(product));
        }
        Ok(())
    }
}
