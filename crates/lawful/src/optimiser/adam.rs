//! Adam (Kingma and Ba, arXiv 1412.6980), with optional clipping of the gradient's norm.

use super::{ListedOptimiser, Optimiser, Step};
use crate::number::exact;
use crate::settings::{Access, Key, Range, Settings};

/// The settings of [`Adam`].
///
/// | setting | default | range | purpose |
/// |---|---|---|---|
/// | `rate` | 1e-3 | > 0 | step size α |
/// | `beta1` | 0.9 | [0, 1) | memory of the mean of gradients |
/// | `beta2` | 0.999 | [0, 1) | memory of the mean of squared gradients |
/// | `epsilon` | 1e-8 | > 0 | keeps the division finite |
/// | `clip` | none | > 0 | largest Euclidean norm of the gradient |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdamSettings {
    /// Step size α.
    pub rate: f64,
    /// Memory of the mean of gradients.
    pub beta1: f64,
    /// Memory of the mean of squared gradients.
    pub beta2: f64,
    /// Keeps the division finite.
    pub epsilon: f64,
    /// Gradients with a larger norm are scaled down to this norm.
    pub clip: Option<f64>,
}

impl Default for AdamSettings {
    fn default() -> Self {
        Self { rate: 1e-3, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, clip: None }
    }
}

impl Settings for AdamSettings {
    const NAME: &'static str = "adam";
    const HELP: &'static str = "Kingma and Ba's Adam, with gradient clipping";
    const KEYS: &'static [Key<Self>] = &[
        Key {
            name: "rate",
            help: "learning rate",
            access: Access::Number(Range::Positive, |adam| &mut adam.rate),
        },
        Key {
            name: "beta1",
            help: "memory of the mean of gradients",
            access: Access::Number(Range::BelowOne, |adam| &mut adam.beta1),
        },
        Key {
            name: "beta2",
            help: "memory of the mean of squared gradients",
            access: Access::Number(Range::BelowOne, |adam| &mut adam.beta2),
        },
        Key {
            name: "epsilon",
            help: "keeps the division finite",
            access: Access::Number(Range::Positive, |adam| &mut adam.epsilon),
        },
        Key {
            name: "clip",
            help: "largest norm of a gradient",
            access: Access::Optional(Range::Positive, |adam| &mut adam.clip),
        },
    ];
}

impl ListedOptimiser for AdamSettings {
    fn build(&self, parameters: usize) -> Box<dyn Optimiser> {
        Box::new(Adam::new(*self, parameters))
    }

    fn title(&self) -> &'static str {
        "Adam"
    }

    fn rate(&self) -> Option<f64> {
        Some(self.rate)
    }

    fn takes_batches(&self) -> bool {
        true
    }

    fn returns_to_best_point(&self) -> bool {
        true
    }

    fn details(&self) -> String {
        self.clip.map_or(String::new(), |clip| format!(", gradients clipped at {}", exact(clip)))
    }
}

/// ```text
/// m ← β1 m + (1 − β1) g          v ← β2 v + (1 − β2) g²
/// θ ← θ − α · m/(1 − β1^k) / (√(v/(1 − β2^k)) + ε)
/// ```
#[derive(Debug, Clone)]
pub struct Adam {
    settings: AdamSettings,
    /// `k`, then `m`, then `v`.
    state: Vec<f64>,
    /// The state before the last step. Each step overwrites the older of the two, so that undoing a
    /// step is a swap.
    before: Vec<f64>,
}

impl Adam {
    /// Creates an optimiser with zero moments for this many parameters.
    pub fn new(settings: AdamSettings, parameters: usize) -> Self {
        let rest = vec![0.0; 1 + 2 * parameters];
        Self { settings, before: rest.clone(), state: rest }
    }
}

impl Optimiser for Adam {
    fn name(&self) -> &'static str {
        AdamSettings::NAME
    }

    fn advance(&mut self, theta: &mut [f64], _value: f64, gradient: &[f64], factor: f64) -> Step {
        let AdamSettings { rate, beta1, beta2, epsilon, clip } = self.settings;
        assert_eq!(self.state.len(), 1 + 2 * theta.len(), "Adam for another number of parameters");
        let scale = clip.map_or(1.0, |clip| {
            let norm = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
            if norm > clip { clip / norm } else { 1.0 }
        });
        std::mem::swap(&mut self.state, &mut self.before);
        let (k, old) = split(&mut self.before);
        let (next_k, new) = split(&mut self.state);
        *next_k = *k + 1.0;
        let shares = (1.0 - beta1.powf(*next_k), 1.0 - beta2.powf(*next_k));
        let (m, v) = old.split_at(theta.len());
        let (next_m, next_v) = new.split_at_mut(theta.len());
        lawful_ode::vectorised(|| {
            let new = next_m.iter_mut().zip(next_v);
            let old = m.iter().zip(v);
            for (((theta, g), (m, v)), (next_m, next_v)) in
                theta.iter_mut().zip(gradient).zip(old).zip(new)
            {
                let g = scale * g;
                *next_m = beta1 * *m + (1.0 - beta1) * g;
                *next_v = beta2 * *v + (1.0 - beta2) * g * g;
                let step = (*next_m / shares.0) / ((*next_v / shares.1).sqrt() + epsilon);
                *theta -= factor * rate * step;
            }
        });
        Step::Evaluate
    }

    fn can_undo(&self) -> bool {
        true
    }

    fn undo(&mut self) {
        std::mem::swap(&mut self.state, &mut self.before);
    }

    fn save(&self, row: &mut Vec<f64>) {
        row.clone_from(&self.state);
    }

    fn restore(&mut self, row: &[f64]) -> bool {
        let fits = row.len() == self.state.len();
        if fits {
            self.state.copy_from_slice(row);
        }
        fits
    }
}

/// The step count, and the moments.
fn split(state: &mut [f64]) -> (&mut f64, &mut [f64]) {
    state.split_first_mut().expect("the step count is always there")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_steps_agree_with_the_formulas_worked_by_hand() {
        let settings = AdamSettings { rate: 0.1, ..AdamSettings::default() };
        let mut adam = Adam::new(settings, 1);
        let mut theta = [1.0];
        let (mut m, mut v, mut expected) = (0.0, 0.0, 1.0);
        for (k, g) in [(1, 0.5), (2, -0.25), (3, 2.0)] {
            adam.advance(&mut theta, 0.0, &[g], 1.0);
            m = 0.9 * m + 0.1 * g;
            v = 0.999 * v + 0.001 * g * g;
            let (m_hat, v_hat): (f64, f64) =
                (m / (1.0 - 0.9_f64.powi(k)), v / (1.0 - 0.999_f64.powi(k)));
            expected -= 0.1 * m_hat / (v_hat.sqrt() + 1e-8);
            assert!((theta[0] - expected).abs() < 1e-15, "step {k}");
        }
        // The first step is the rate itself, whatever the gradient's size.
        let mut first = [0.0];
        Adam::new(settings, 1).advance(&mut first, 0.0, &[123.0], 1.0);
        assert!((first[0] + 0.1).abs() < 1e-10);
    }

    #[test]
    fn clipping_shortens_a_long_gradient_and_leaves_a_short_one() {
        let with = |clip| {
            let mut adam = Adam::new(AdamSettings { clip, ..AdamSettings::default() }, 2);
            adam.advance(&mut [0.0, 0.0], 0.0, &[3.0, 4.0], 1.0);
            adam.state[1..3].to_vec()
        };
        let length = |m: &[f64]| (m[0].powi(2) + m[1].powi(2)).sqrt() / 0.1;
        assert!((length(&with(None)) - 5.0).abs() < 1e-12);
        assert!((length(&with(Some(1.0))) - 1.0).abs() < 1e-12);
        assert!((length(&with(Some(6.0))) - 5.0).abs() < 1e-12);
    }

    #[test]
    fn a_copied_state_repeats_the_step() {
        let mut adam = Adam::new(AdamSettings::default(), 2);
        let mut theta = [1.0, -1.0];
        adam.advance(&mut theta, 0.0, &[0.3, 0.1], 1.0);
        let (kept_state, kept_theta) = (adam.state.clone(), theta);
        adam.advance(&mut theta, 0.0, &[0.2, -0.4], 1.0);
        let mut again = Adam::new(AdamSettings::default(), 2);
        assert!(again.restore(&kept_state));
        let mut theta_again = kept_theta;
        again.advance(&mut theta_again, 0.0, &[0.2, -0.4], 1.0);
        assert_eq!(theta.map(f64::to_bits), theta_again.map(f64::to_bits));
        // So does a step that was undone.
        let mut theta_again = kept_theta;
        adam.undo();
        adam.advance(&mut theta_again, 0.0, &[0.2, -0.4], 1.0);
        assert_eq!(theta.map(f64::to_bits), theta_again.map(f64::to_bits));
    }
}
