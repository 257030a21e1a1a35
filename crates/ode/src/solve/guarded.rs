//! What a guard does in a step, and directly below each part its adjoint.
//!
//! ```text
//! forward                                      back
//! ỹ = y_n + h Σ b_i k_i                        observations add to the adjoints of y_n, y_{n+1}, k_i
//! y_{n+1} = C(t_n, t_{n+1}, y_n, ỹ)            k_end adds to the adjoint λ of y_{n+1}
//! k_end = f(t_{n+1}, y_{n+1})                  adjoint of y_n: (∂C/∂y_n)ᵀλ + …,  of ỹ: (∂C/∂ỹ)ᵀλ
//! y(ϑ) from y_n, y_{n+1}, k_i and k_end
//! ```
//!
//! The end stage is that of the corrected end, so it is the first stage of the next step as without a
//! guard. The polynomial p of the dense output has the values `y_n` and `y_{n+1}` and the slopes `k_0`
//! and `k_end` at the ends, and the quartic part of the tableau. Its Bernstein coefficients are
//!
//! ```text
//! y_n,   y_n + (h/4) k_0,   (y_n + y_{n+1})/2 + (h/6) (k_0 − k_end + Σ d_i k_i),   y_{n+1} − (h/4) k_end,   y_{n+1}
//! ```

use crate::field::VectorField;
use crate::guard::{GuardedStep, InsideBars, Refused, StepGuard};
use crate::path::Step;
use crate::solve::workspace::{Workspace, zeroed};
use crate::tableau::Tableau;

/// Bernstein coefficients of a polynomial of degree 4.
const COEFFICIENTS: usize = 5;

/// Buffers of a guarded step.
#[derive(Debug, Clone, Default)]
pub(crate) struct Guarded {
    /// State at the step's end as the tableau computed it, and its adjoint.
    pub(crate) computed: Vec<f64>,
    pub(crate) computed_bar: Vec<f64>,
    /// Columns whose end the guard has changed.
    pub(crate) corrected: usize,
    pub(crate) inside: Inside,
}

impl Guarded {
    /// Sizes the buffers of a solve.
    pub(crate) fn prepare(&mut self, columns: usize, d: usize) {
        zeroed(&mut self.computed, columns * d);
        self.inside.prepare(d);
    }

    /// Sizes the buffers of the adjoint.
    pub(crate) fn prepare_back(&mut self, columns: usize, d: usize) {
        zeroed(&mut self.computed_bar, columns * d);
        self.inside.prepare(d);
    }
}

/// The states of a guarded step, as blocks of columns, and its stages where the dense output was used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GuardedStates<'a> {
    pub(crate) y: &'a [f64],
    pub(crate) computed: &'a [f64],
    pub(crate) next: &'a [f64],
    pub(crate) k: &'a [f64],
}

impl<'a> GuardedStates<'a> {
    /// Number of values that [`save`](Self::save) adds for blocks of `n` entries.
    pub(crate) fn saved_len(n: usize, stages: usize) -> usize {
        (3 + stages) * n
    }

    /// Adds the states and stages to `saved`.
    pub(crate) fn save(&self, saved: &mut Vec<f64>) {
        for block in [self.y, self.computed, self.next, self.k] {
            saved.extend_from_slice(block);
        }
    }

    /// The states and stages that were saved.
    pub(crate) fn saved(saved: &'a [f64], n: usize) -> Self {
        let (y, rest) = saved.split_at(n);
        let (computed, rest) = rest.split_at(n);
        let (next, k) = rest.split_at(n);
        Self { y, computed, next, k }
    }

    /// The step of one column of `d` variables.
    pub(crate) fn step(&self, column: usize, step: Step, d: usize) -> GuardedStep<'a> {
        let (y, computed) = (&self.y[column * d..][..d], &self.computed[column * d..][..d]);
        GuardedStep { column, start: step.start, end: step.end, y, computed }
    }

    /// The end of one column.
    pub(crate) fn end(&self, column: usize, d: usize) -> &'a [f64] {
        &self.next[column * d..][..d]
    }

    /// A stage of one column.
    fn stage(&self, stage: usize, column: usize, d: usize) -> &'a [f64] {
        &self.k[stage * self.y.len() + column * d..][..d]
    }
}

/// Returns the guard of a field that has one.
pub(crate) fn guard(field: &mut dyn VectorField) -> &mut dyn StepGuard {
    field.guard().expect("a field has a guard at all times or at none")
}

/// Corrects the end of every column. A state that is not finite stays.
///
/// # Errors
/// The column whose step is refused.
pub(crate) fn correct(
    field: &mut dyn VectorField,
    work: &mut Workspace,
    d: usize,
) -> Result<(), (usize, Refused)> {
    let Workspace { steps, y, next, guarded, .. } = work;
    let n = steps.len() * d;
    guarded.corrected = 0;
    guarded.computed[..n].copy_from_slice(&next[..n]);
    if !next[..n].iter().all(|next| next.is_finite()) {
        return Ok(());
    }
    let guard = guard(field);
    for (column, step) in steps.iter().enumerate() {
        let cells = column * d..(column + 1) * d;
        let (y, computed) = (&y[cells.clone()], &guarded.computed[cells.clone()]);
        let step = GuardedStep { column, start: step.start, end: step.end, y, computed };
        let moved = guard.correct(&step, &mut next[cells]).map_err(|refused| (column, refused))?;
        guarded.corrected += usize::from(moved);
    }
    Ok(())
}

/// Adjoint of [`correct`]: replaces the adjoint of the end, `y_bar`, by that of the computed end, and
/// adds to `start_bar`.
pub(crate) fn pull_back_correct(
    field: &mut dyn VectorField,
    work: &mut Workspace,
    states: &GuardedStates<'_>,
    d: usize,
) {
    let Workspace { steps, y_bar, start_bar, guarded, .. } = work;
    let n = steps.len() * d;
    let computed_bar = &mut guarded.computed_bar[..n];
    computed_bar.fill(0.0);
    let guard = guard(field);
    for (column, &step) in steps.iter().enumerate() {
        let cells = column * d..(column + 1) * d;
        guard.pull_back(
            &states.step(column, step, d),
            states.end(column, d),
            &y_bar[cells.clone()],
            &mut start_bar[cells.clone()],
            &mut computed_bar[cells],
        );
    }
    y_bar[..n].copy_from_slice(computed_bar);
}

/// The dense output of one column's step.
#[derive(Debug, Clone, Default)]
pub(crate) struct Inside {
    /// Bernstein coefficients of p, and of q: coefficients × state.
    control: Vec<f64>,
    blended: Vec<f64>,
    control_bar: Vec<f64>,
    blended_bar: Vec<f64>,
    /// The factor a.
    factor: f64,
    /// q(ϑ), y(ϑ) and the adjoint of q(ϑ).
    q: Vec<f64>,
    value: Vec<f64>,
    q_bar: Vec<f64>,
}

impl Inside {
    fn prepare(&mut self, d: usize) {
        let Self { control, blended, control_bar, blended_bar, q, value, q_bar, .. } = self;
        for buffer in [control, blended, control_bar, blended_bar] {
            zeroed(buffer, COEFFICIENTS * d);
        }
        for buffer in [q, value, q_bar] {
            zeroed(buffer, d);
        }
    }

    /// Sets the polynomials p and q of a column's step of size `h`.
    ///
    /// # Errors
    /// If p is not finite.
    pub(crate) fn set(
        &mut self,
        guard: &mut dyn StepGuard,
        tableau: &Tableau,
        states: &GuardedStates<'_>,
        (column, h): (usize, f64),
    ) -> Result<(), Refused> {
        let d = self.q.len();
        let own = tableau.own_stages();
        let (y, next) = (&states.y[column * d..][..d], states.end(column, d));
        let (first, end) = (states.stage(0, column, d), states.stage(own, column, d));
        for i in 0..d {
            let quartic = tableau.dense.quartic.iter().enumerate();
            let bulge: f64 =
                quartic.map(|(s, weight)| weight * states.stage(s, column, d)[i]).sum();
            let middle = 0.5 * (y[i] + next[i]) + h / 6.0 * (first[i] - end[i] + bulge);
            let coefficients =
                [y[i], y[i] + 0.25 * h * first[i], middle, next[i] - 0.25 * h * end[i], next[i]];
            for (j, coefficient) in coefficients.into_iter().enumerate() {
                self.control[j * d + i] = coefficient;
            }
        }
        if !self.control.iter().all(|coefficient| coefficient.is_finite()) {
            return Err(Refused::new("ends where the derivative is not finite"));
        }
        let a = guard.blend(&self.control);
        assert!((0.0..=1.0).contains(&a), "a guard blends by a factor from 0 to 1, not {a}");
        self.factor = a;
        for j in 0..COEFFICIENTS {
            let along = j as f64 / (COEFFICIENTS - 1) as f64;
            for i in 0..d {
                let chord = y[i] + along * (next[i] - y[i]);
                let p = self.control[j * d + i];
                // The ends are not blended: they would be rounded.
                let is_inner = 0 < j && j < COEFFICIENTS - 1;
                self.blended[j * d + i] =
                    if is_inner && a < 1.0 { a * p + (1.0 - a) * chord } else { p };
            }
        }
        self.blended_bar.fill(0.0);
        Ok(())
    }

    /// Writes y(ϑ) to `value`.
    ///
    /// # Errors
    /// If the guard cannot make its laws hold there.
    pub(crate) fn value(
        &self,
        guard: &mut dyn StepGuard,
        step: &GuardedStep<'_>,
        theta: f64,
        value: &mut [f64],
    ) -> Result<(), Refused> {
        at(&self.blended, theta, value);
        guard.correct_inside(step, &self.blended, theta, value)
    }

    /// Adjoint of [`value`](Self::value): adds to the adjoint of q.
    pub(crate) fn pull_back_value(
        &mut self,
        guard: &mut dyn StepGuard,
        step: &GuardedStep<'_>,
        theta: f64,
        value_bar: &[f64],
    ) {
        at(&self.blended, theta, &mut self.q);
        self.value.copy_from_slice(&self.q);
        let corrected = guard.correct_inside(step, &self.blended, theta, &mut self.value);
        corrected.expect("a guard accepts what it has accepted before");
        self.q_bar.fill(0.0);
        let Self { q, value, q_bar, blended, blended_bar: curve_bar, .. } = self;
        let bars = InsideBars { blended: q, value, value_bar, curve_bar, blended_bar: q_bar };
        guard.pull_back_inside(step, blended, theta, bars);
        for (bar, weight) in curve_bar.chunks_exact_mut(q_bar.len()).zip(bernstein(theta)) {
            bar.iter_mut().zip(&*q_bar).for_each(|(sum, bar)| *sum += weight * bar);
        }
    }

    /// Adjoint of [`set`](Self::set), after the values': adds to the adjoints of the ends and stages.
    pub(crate) fn pull_back_set(
        &mut self,
        guard: &mut dyn StepGuard,
        tableau: &Tableau,
        states: &GuardedStates<'_>,
        (column, h): (usize, f64),
        (start_bar, end_bar, k_bar): (&mut [f64], &mut [f64], &mut [f64]),
    ) {
        let Self { control, blended_bar, control_bar, factor: a, .. } = self;
        let (a, d, n) = (*a, self.q.len(), states.y.len());
        let (y, next) = (&states.y[column * d..][..d], states.end(column, d));
        let mut a_bar = 0.0;
        for j in 0..COEFFICIENTS {
            let along = j as f64 / (COEFFICIENTS - 1) as f64;
            for i in 0..d {
                let chord = y[i] + along * (next[i] - y[i]);
                let (bar, cell) = (blended_bar[j * d + i], j * d + i);
                a_bar += bar * (control[cell] - chord);
                control_bar[cell] = a * bar;
                let chord_bar = (1.0 - a) * bar;
                start_bar[i] += (1.0 - along) * chord_bar;
                end_bar[i] += along * chord_bar;
            }
        }
        guard.pull_back_blend(control, a_bar, control_bar);
        let own = tableau.own_stages();
        for i in 0..d {
            let [c0, c1, c2, c3, c4] = std::array::from_fn(|j| control_bar[j * d + i]);
            start_bar[i] += c0 + c1 + 0.5 * c2;
            end_bar[i] += 0.5 * c2 + c3 + c4;
            let mut stage = |stage: usize, bar: f64| k_bar[stage * n + column * d + i] += h * bar;
            stage(0, c1 / 4.0 + c2 / 6.0);
            stage(own, -c2 / 6.0 - c3 / 4.0);
            for (s, weight) in tableau.dense.quartic.iter().enumerate() {
                stage(s, weight * c2 / 6.0);
            }
        }
    }
}

/// Writes the value at ϑ of the polynomial with these Bernstein coefficients.
fn at(coefficients: &[f64], theta: f64, value: &mut [f64]) {
    value.fill(0.0);
    for (coefficient, weight) in coefficients.chunks_exact(value.len()).zip(bernstein(theta)) {
        value.iter_mut().zip(coefficient).for_each(|(sum, x)| *sum += weight * x);
    }
}

/// The Bernstein polynomials of degree 4 at ϑ.
fn bernstein(theta: f64) -> [f64; COEFFICIENTS] {
    let (t, r) = (theta, 1.0 - theta);
    let (t2, r2) = (t * t, r * r);
    [r2 * r2, 4.0 * t * r2 * r, 6.0 * t2 * r2, 4.0 * t2 * t * r, t2 * t2]
}
