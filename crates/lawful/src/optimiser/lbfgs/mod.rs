//! L-BFGS: quasi-Newton steps from the last few changes of the gradient.

mod settings;

pub use settings::{LbfgsScaling, LbfgsSettings};

use super::line_search::{Answer, LineSearch};
use super::{Optimiser, Step};
use crate::settings::Settings as _;

/// The least `τ` of [`LbfgsScaling::Every`]: bounds how much a single pair can enlarge all steps.
const LEAST_FACTOR: f64 = 1e-3;

/// Accepted steps over which the objective must fall by at least [`LEAST_GAIN`] of its value.
const PATIENCE: usize = 50;
/// See [`PATIENCE`].
const LEAST_GAIN: f64 = 1e-6;

/// ```text
/// d = −H g      H from the pairs s = θ₊ − θ, y = g₊ − g, by the two-loop recursion:
/// H₊ = Vᵀ(H/τ)V + ρ s sᵀ,  V = I − ρ y sᵀ,  ρ = 1/sᵀy,  H₀ and τ by the [`LbfgsScaling`]
/// θ₊ = θ + α d  α by the strong Wolfe line search of Moré and Thuente
/// ```
///
/// (Nocedal 1980; Liu and Nocedal, Mathematical Programming 45, 1989, 503–528.) Every evaluation is
/// one trial of the line search. Both gradients of a pair belong to one objective: weights of laws
/// are updated only between searches, when [`advance`](Optimiser::advance) returns
/// [`Step::Accepted`]; the memory is dropped when they [jump](Optimiser::objective_changed).
#[derive(Debug, Clone)]
pub struct Lbfgs {
    settings: LbfgsSettings,
    /// Where the current search started.
    base: Vec<f64>,
    gradient: Vec<f64>,
    value: f64,
    direction: Vec<f64>,
    search: Option<LineSearch>,
    /// `s` and `y` of the pairs, oldest first in the ring that starts at `oldest`.
    steps: Vec<Vec<f64>>,
    changes: Vec<Vec<f64>>,
    /// `1/sᵀy` of each pair.
    rho: Vec<f64>,
    /// `τ` of each pair.
    tau: Vec<f64>,
    oldest: usize,
    pairs: usize,
    /// Consecutive failed searches.
    failed: usize,
    /// Accepted steps since `value_then` was stored.
    since: usize,
    value_then: f64,
    alphas: Vec<f64>,
}

impl Lbfgs {
    /// Creates an optimiser with an empty memory for this many parameters.
    ///
    /// # Panics
    /// If the settings' `memory` is 0.
    pub fn new(settings: LbfgsSettings, parameters: usize) -> Self {
        assert!(settings.memory > 0, "L-BFGS needs a memory of at least one pair");
        let rows = || vec![vec![0.0; parameters]; settings.memory];
        Self {
            settings,
            base: vec![0.0; parameters],
            gradient: vec![0.0; parameters],
            value: 0.0,
            direction: vec![0.0; parameters],
            search: None,
            steps: rows(),
            changes: rows(),
            rho: vec![0.0; settings.memory],
            tau: vec![1.0; settings.memory],
            oldest: 0,
            pairs: 0,
            failed: 0,
            since: 0,
            value_then: f64::INFINITY,
            alphas: vec![0.0; settings.memory],
        }
    }

    /// Starts a line search at the base and moves `θ` to its first trial.
    fn start_search(&mut self, theta: &mut [f64]) -> Step {
        self.update_direction();
        let slope = dot(&self.direction, &self.gradient);
        let norm = dot(&self.gradient, &self.gradient).sqrt();
        if norm <= 0.0 {
            return Step::Stalled("the gradient is zero");
        }
        if slope >= 0.0 {
            // Not a descent direction: rounding errors in the memory.
            self.pairs = 0;
            return self.start_search(theta);
        }
        // Without memory the direction is the negative gradient, whose length has no meaning as a step:
        // scale it to length 1.
        let first = if self.pairs == 0 { (1.0 / norm).min(1.0) } else { 1.0 };
        self.search = Some(LineSearch::new(self.value, slope, first));
        self.set_trial(theta, first);
        Step::Evaluate
    }

    /// Sets `θ = base + step · direction`.
    fn set_trial(&self, theta: &mut [f64], step: f64) {
        for ((theta, base), direction) in theta.iter_mut().zip(&self.base).zip(&self.direction) {
            *theta = base + step * direction;
        }
    }

    /// Computes the direction `−H g` by the two-loop recursion.
    fn update_direction(&mut self) {
        let Self { direction, gradient, steps, changes, rho, tau, alphas, oldest, pairs, .. } =
            self;
        for (direction, gradient) in direction.iter_mut().zip(gradient.iter()) {
            *direction = -gradient;
        }
        let slot = |n: usize| (*oldest + n) % steps.len();
        for n in (0..*pairs).rev() {
            let k = slot(n);
            alphas[k] = rho[k] * dot(&steps[k], direction);
            add(direction, -alphas[k], &changes[k]);
        }
        if *pairs > 0 {
            let k = match self.settings.scaling {
                LbfgsScaling::Newest => slot(*pairs - 1),
                LbfgsScaling::Every => slot(0),
            };
            let scale = 1.0 / (rho[k] * dot(&changes[k], &changes[k]));
            for d in direction.iter_mut() {
                *d *= scale;
            }
        }
        for n in 0..*pairs {
            let k = slot(n);
            let larger = 1.0 / tau[k];
            let beta = rho[k] * dot(&changes[k], direction) * larger;
            for (direction, step) in direction.iter_mut().zip(&steps[k]) {
                *direction = larger * *direction + (alphas[k] - beta) * step;
            }
        }
    }

    /// Returns `min(1, sᵀy/sᵀH⁻¹s)` of a pair. The step is along `d = −H g`, so that
    /// `sᵀH⁻¹s = (gᵀs)²/(−gᵀd)`.
    fn factor(&self, step: &[f64], curvature: f64) -> f64 {
        match self.settings.scaling {
            LbfgsScaling::Newest => 1.0,
            LbfgsScaling::Every => {
                let along = dot(&self.gradient, step);
                let expected = along * along / -dot(&self.gradient, &self.direction);
                (curvature / expected).clamp(LEAST_FACTOR, 1.0)
            }
        }
    }

    /// Stores the pair of the step from the base to θ if its curvature is positive.
    fn store_pair(&mut self, theta: &[f64], gradient: &[f64]) {
        let memory = self.settings.memory;
        let k = (self.oldest + self.pairs) % memory;
        for ((s, theta), base) in self.steps[k].iter_mut().zip(theta).zip(&self.base) {
            *s = theta - base;
        }
        for ((y, new), old) in self.changes[k].iter_mut().zip(gradient).zip(&self.gradient) {
            *y = new - old;
        }
        let curvature = dot(&self.steps[k], &self.changes[k]);
        if curvature > f64::EPSILON * dot(&self.changes[k], &self.changes[k]) {
            self.rho[k] = 1.0 / curvature;
            self.tau[k] = self.factor(&self.steps[k], curvature);
            if self.pairs == memory {
                self.oldest = (self.oldest + 1) % memory;
            } else {
                self.pairs += 1;
            }
        }
    }

    /// Accepts θ, where the search has ended. The next search starts there, after the weights are
    /// updated.
    fn accept(&mut self, theta: &[f64], value: f64, gradient: &[f64]) -> Step {
        self.store_pair(theta, gradient);
        self.search = None;
        self.failed = 0;
        self.since += 1;
        if self.since >= PATIENCE {
            if self.value_then - value <= LEAST_GAIN * value.abs() {
                return Step::Stalled("the objective does not fall any more");
            }
            (self.since, self.value_then) = (0, value);
        }
        Step::Accepted
    }

    /// Handles a failed search: restarts from the base without memory; stalls if that fails too.
    fn restart_or_stall(&mut self, theta: &mut [f64]) -> Step {
        theta.copy_from_slice(&self.base);
        self.search = None;
        self.failed += 1;
        if self.failed > 1 || self.pairs == 0 {
            return Step::Stalled("no step along the gradient lowers the objective");
        }
        self.pairs = 0;
        self.start_search(theta)
    }
}

impl Optimiser for Lbfgs {
    fn name(&self) -> &'static str {
        LbfgsSettings::NAME
    }

    fn advance(&mut self, theta: &mut [f64], value: f64, gradient: &[f64], _factor: f64) -> Step {
        let Some(search) = &mut self.search else {
            self.base.copy_from_slice(theta);
            self.gradient.copy_from_slice(gradient);
            self.value = value;
            return self.start_search(theta);
        };
        match search.judge(value, dot(&self.direction, gradient)) {
            Answer::Try(step) => {
                self.set_trial(theta, step);
                Step::Evaluate
            }
            Answer::Done => self.accept(theta, value, gradient),
            // A lower point is accepted even if its slope violates the curvature condition.
            Answer::Failed if value < self.value => self.accept(theta, value, gradient),
            Answer::Failed => self.restart_or_stall(theta),
        }
    }

    fn freezes_weights(&self) -> bool {
        self.search.is_some()
    }

    fn objective_changed(&mut self) {
        self.pairs = 0;
        (self.since, self.value_then) = (0, f64::INFINITY);
    }

    /// During a line search.
    fn can_shorten(&self) -> bool {
        self.search.is_some()
    }

    fn can_undo(&self) -> bool {
        true
    }

    /// Ends the search. A pair that it has added stays: every pair is one of the objective.
    fn undo(&mut self) {
        self.search = None;
    }

    fn shorten(&mut self, theta: &mut [f64]) -> Step {
        match self.search.as_mut().map(LineSearch::shorten) {
            Some(Answer::Try(step)) => {
                self.set_trial(theta, step);
                Step::Evaluate
            }
            _ => self.restart_or_stall(theta),
        }
    }

    fn finish(&mut self, theta: &mut [f64], value: f64) -> bool {
        let searching = self.search.take().is_some();
        if searching && value > self.value {
            theta.copy_from_slice(&self.base);
        }
        searching
    }

    fn save(&self, row: &mut Vec<f64>) {
        row.clear();
        row.extend([
            self.value,
            self.pairs as f64,
            self.failed as f64,
            self.since as f64,
            self.value_then,
            f64::from(u8::from(self.search.is_some())),
        ]);
        let search = self.search.unwrap_or(LineSearch::new(0.0, 0.0, 0.0));
        row.extend(search.numbers());
        row.extend(&self.base);
        row.extend(&self.gradient);
        row.extend(&self.direction);
        for n in 0..self.pairs {
            let k = (self.oldest + n) % self.settings.memory;
            row.push(self.tau[k]);
            row.extend(&self.steps[k]);
            row.extend(&self.changes[k]);
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts that `save` made"
    )]
    fn restore(&mut self, row: &[f64]) -> bool {
        const COUNTS: usize = 6;
        let n = self.base.len();
        let Some((&[value, pairs, failed, since, value_then, searching], rest)) =
            row.split_first_chunk::<COUNTS>()
        else {
            return false;
        };
        let Some((numbers, rest)) = rest.split_first_chunk::<{ LineSearch::NUMBERS }>() else {
            return false;
        };
        let pairs = pairs as usize;
        if pairs > self.settings.memory || rest.len() != 3 * n + pairs * (1 + 2 * n) {
            return false;
        }
        let (points, memory) = rest.split_at(3 * n);
        self.base.copy_from_slice(&points[..n]);
        self.gradient.copy_from_slice(&points[n..2 * n]);
        self.direction.copy_from_slice(&points[2 * n..]);
        for (k, pair) in memory.chunks_exact(1 + 2 * n).enumerate() {
            self.tau[k] = pair[0];
            self.steps[k].copy_from_slice(&pair[1..][..n]);
            self.changes[k].copy_from_slice(&pair[1 + n..]);
            self.rho[k] = 1.0 / dot(&self.steps[k], &self.changes[k]);
        }
        (self.value, self.value_then) = (value, value_then);
        (self.pairs, self.oldest) = (pairs, 0);
        (self.failed, self.since) = (failed as usize, since as usize);
        self.search = (searching > 0.0).then(|| LineSearch::restore(numbers));
        true
    }
}

/// `aᵀb`, in eight sums that a processor can add at the same time.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}

/// `a += factor · b`.
fn add(a: &mut [f64], factor: f64, b: &[f64]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a += factor * b;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rosenbrock's valley in `n` variables, with its gradient.
    fn valley(x: &[f64], gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        let mut value = 0.0;
        for k in 0..x.len() - 1 {
            let (a, b) = (x[k + 1] - x[k] * x[k], 1.0 - x[k]);
            value += 100.0 * a * a + b * b;
            gradient[k] += -400.0 * x[k] * a - 2.0 * b;
            gradient[k + 1] += 200.0 * a;
        }
        value
    }

    /// Minimises until the value is below `target`. Returns how many evaluations that took.
    fn descend(lbfgs: &mut Lbfgs, x: &mut [f64], target: f64) -> usize {
        let mut gradient = vec![0.0; x.len()];
        for evaluations in 1..2000 {
            let value = valley(x, &mut gradient);
            if value < target {
                return evaluations;
            }
            while lbfgs.advance(x, value, &gradient, 1.0) == Step::Accepted {}
        }
        panic!("did not get below {target}");
    }

    fn settings(memory: usize) -> [LbfgsSettings; 2] {
        LbfgsScaling::NAMES.map(|(_, scaling)| LbfgsSettings { memory, scaling })
    }

    #[test]
    fn the_valley_is_descended_in_few_evaluations() {
        for (n, memory, most) in [(2, 5, [60, 60]), (20, 20, [200, 200]), (100, 50, [1000, 700])] {
            for (settings, most) in settings(memory).into_iter().zip(most) {
                let mut x = vec![-1.2; n];
                let evaluations = descend(&mut Lbfgs::new(settings, n), &mut x, 1e-20);
                assert!(
                    evaluations < most,
                    "{n} variables, {settings:?}: {evaluations} evaluations"
                );
            }
        }
    }

    #[test]
    fn a_saved_search_continues_bit_for_bit() {
        for settings in settings(4) {
            let mut gradient = [0.0; 6];
            let (mut a, mut x) = (Lbfgs::new(settings, 6), vec![-1.2; 6]);
            let (mut b, mut z, mut row) = (a.clone(), Vec::new(), Vec::new());
            for evaluation in 0..60 {
                let value = valley(&x, &mut gradient);
                while a.advance(&mut x, value, &gradient, 1.0) == Step::Accepted {}
                a.save(&mut row);
                if evaluation > 0 {
                    let value = valley(&z, &mut gradient);
                    while b.advance(&mut z, value, &gradient, 1.0) == Step::Accepted {}
                    assert_eq!(x, z, "evaluation {evaluation}");
                }
                b = Lbfgs::new(settings, 6);
                assert!(b.restore(&row));
                z.clone_from(&x);
            }
            assert!(!b.restore(&row[1..]), "a row of another length is refused");
        }
    }

    /// Compares the two-loop recursion with the formula in full 2 × 2 matrices, `τ` from an inverse.
    #[test]
    fn directions_are_those_of_the_matrices() {
        type Matrix = [[f64; 2]; 2];
        let times = |m: &Matrix, v: &[f64]| m.map(|row| row[0] * v[0] + row[1] * v[1]);
        let inverse = |m: &Matrix| {
            let det = m[0][0] * m[1][1] - m[0][1] * m[1][0];
            [[m[1][1] / det, -m[0][1] / det], [-m[1][0] / det, m[0][0] / det]]
        };
        for settings in settings(50) {
            let (mut lbfgs, mut x, mut gradient) = (Lbfgs::new(settings, 2), [-1.2, 1.0], [0.0; 2]);
            let (mut scaled, mut pairs) = (0, Vec::new());
            let mut h: Matrix = [[1.0, 0.0], [0.0, 1.0]];
            while pairs.len() < 15 {
                let value = valley(&x, &mut gradient);
                let (base, old) = (lbfgs.base.clone(), lbfgs.gradient.clone());
                if lbfgs.advance(&mut x, value, &gradient, 1.0) != Step::Accepted {
                    continue;
                }
                let s = [x[0] - base[0], x[1] - base[1]];
                let y = [gradient[0] - old[0], gradient[1] - old[1]];
                let tau = match settings.scaling {
                    LbfgsScaling::Newest => 1.0,
                    LbfgsScaling::Every => {
                        (dot(&s, &y) / dot(&s, &times(&inverse(&h), &s))).min(1.0)
                    }
                };
                scaled += usize::from(tau < 1.0);
                pairs.push((s, y, tau));
                let (s, y, _) = match settings.scaling {
                    LbfgsScaling::Newest => pairs[pairs.len() - 1],
                    LbfgsScaling::Every => pairs[0],
                };
                let first = dot(&s, &y) / dot(&y, &y);
                h = [[first, 0.0], [0.0, first]];
                for (s, y, tau) in &pairs {
                    // H y/τ and yᵀH y/τ, for Vᵀ(H/τ)V + ρ s sᵀ written out.
                    let (rho, hy) = (1.0 / dot(s, y), times(&h, y).map(|x| x / tau));
                    let yhy = dot(y, &hy);
                    h = std::array::from_fn(|i| {
                        std::array::from_fn(|j| {
                            h[i][j] / tau - rho * (s[i] * hy[j] + hy[i] * s[j])
                                + (rho * rho * yhy + rho) * s[i] * s[j]
                        })
                    });
                }
                let expected = times(&h, &gradient).map(|x| -x);
                lbfgs.advance(&mut x, value, &gradient, 1.0);
                for (found, expected) in lbfgs.direction.iter().zip(expected) {
                    assert!(
                        (found - expected).abs() <= 1e-6 * expected.abs(),
                        "{settings:?}, pair {}: {found} for {expected}",
                        pairs.len()
                    );
                }
            }
            assert_eq!(
                scaled > 0,
                settings.scaling == LbfgsScaling::Every,
                "{scaled} of 15 scaled"
            );
        }
    }

    #[test]
    fn a_wrong_slope_ends_in_a_stall_and_not_in_a_loop() {
        let mut lbfgs = Lbfgs::new(LbfgsSettings::default(), 1);
        let mut x = [0.0];
        for _ in 0..100 {
            // The value rises along every direction, whatever the gradient is.
            let value = x[0] * x[0];
            let step = lbfgs.advance(&mut x, value, &[1.0], 1.0);
            if matches!(step, Step::Stalled(_)) {
                assert_eq!(x.map(f64::to_bits), [0], "back to where the value was lowest");
                return;
            }
        }
        panic!("no stall");
    }
}
