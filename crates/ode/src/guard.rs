//! Guards: what keeps a law in the steps of a solver, where the field alone cannot.
//!
//! A field that obeys a law is solved by a method that need not: a Runge–Kutta step may leave a bound
//! although the field points inwards there, and keeps only linear invariants exactly. A guard takes
//! the end `ỹ` of each step as the tableau computed it, and returns an end `y_{n+1}` at which the law
//! holds, a differentiable function of the start and of `ỹ`:
//!
//! ```text
//! y_{n+1} = C(t_n, t_{n+1}, y_n, ỹ)
//! ```
//!
//! Between the ends the dense output follows. Its polynomial, moved so that it ends in `y_{n+1}`, is
//! first blended with the chord of the step, by one factor per step; then each value is corrected on
//! its own:
//!
//! ```text
//! p(ϑ)  = y(t_n + ϑh) + ϑ²(3 − 2ϑ) (y_{n+1} − ỹ)
//! q(ϑ)  = a p(ϑ) + (1 − a) ((1 − ϑ) y_n + ϑ y_{n+1}),      a in [0, 1] of the step alone
//! y(ϑ)  = D(ϑ, q, q(ϑ))
//! ```
//!
//! Nothing depends on the output times asked for. A guard has no parameters, and no memory: the same
//! step gives the same bits, since the adjoint of a long path computes its steps again.
//!
//! An adaptive solve counts `y_{n+1} − ỹ` as an error of the step: what a guard changes by more than
//! the tolerance is rejected, so that a guard that limits need not know how steps are chosen. The end
//! stage, and with it the first stage of the next step, is that of the corrected end.

use std::sync::Arc;

/// A step of one column, as the tableau computed it.
#[derive(Debug, Clone, Copy)]
pub struct GuardedStep<'a> {
    /// The column.
    pub column: usize,
    /// Time at its start, `t_n`.
    pub start: f64,
    /// Time at its end, `t_{n+1}`.
    pub end: f64,
    /// State at its start, `y_n`, at which the laws hold.
    pub y: &'a [f64],
    /// State at its end as the tableau computed it, `ỹ`.
    pub computed: &'a [f64],
}

/// A step that no correction saves: an adaptive solve tries a shorter one, a solve on a grid fails.
///
/// Adaptive solves may refuse many steps: a guard whose texts are ready allocates nothing then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Why, as the end of the sentence "the step …" or "the value at t = …".
    pub why: Arc<str>,
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the step {}", self.why)
    }
}

impl std::error::Error for Refused {}

impl Refused {
    /// A refusal for this reason.
    pub fn new(why: impl Into<Arc<str>>) -> Self {
        Self { why: why.into() }
    }
}

/// Keeps laws in the steps of a solver. All bars are added to.
///
/// A field offers it by [`VectorField::guard`](crate::VectorField::guard), always or never; a solve
/// calls it for the columns one after the other. Units and times are those of the outermost field.
pub trait StepGuard {
    /// Corrects the end of a step: `next` arrives as a copy of `step.computed`, which is finite. Returns
    /// whether it has changed by more than rounding.
    ///
    /// # Errors
    /// If no correction makes the laws hold.
    fn correct(&mut self, step: &GuardedStep<'_>, next: &mut [f64]) -> Result<bool, Refused>;

    /// The adjoint of [`correct`](Self::correct), which returned `next`: adds `(∂C/∂y_n)ᵀ next_bar` to
    /// `y_bar` and `(∂C/∂ỹ)ᵀ next_bar` to `computed_bar`.
    fn pull_back(
        &mut self,
        step: &GuardedStep<'_>,
        next: &[f64],
        next_bar: &[f64],
        y_bar: &mut [f64],
        computed_bar: &mut [f64],
    );

    /// Returns the factor `a` of a step, the largest at which the blend keeps the laws for every ϑ.
    ///
    /// `control` are the Bernstein coefficients of `p`, degree 4: five states, the first is `y_n` and
    /// the last `y_{n+1}`. Those of the chord are `y_n + (j/4)(y_{n+1} − y_n)`.
    fn blend(&mut self, control: &[f64]) -> f64 {
        let _ = control;
        1.0
    }

    /// The adjoint of [`blend`](Self::blend): adds `(∂a/∂control)ᵀ a_bar` to `control_bar`.
    fn pull_back_blend(&mut self, control: &[f64], a_bar: f64, control_bar: &mut [f64]) {
        let _ = (control, a_bar, control_bar);
    }

    /// Corrects the value at `theta` inside a step: `value` arrives as `q(ϑ)`, with `0 < ϑ < 1`.
    ///
    /// `curve` are the Bernstein coefficients of `q`: five states, the first is `y_n`, the last `y_{n+1}`,
    /// and the slopes by ϑ at the ends are four times the differences of the outer pairs.
    ///
    /// # Errors
    /// If no correction makes the laws hold. The solve fails then, adaptive or not: steps do not depend
    /// on the output times.
    fn correct_inside(
        &mut self,
        step: &GuardedStep<'_>,
        curve: &[f64],
        theta: f64,
        value: &mut [f64],
    ) -> Result<(), Refused> {
        let _ = (step, curve, theta, value);
        Ok(())
    }

    /// The adjoint of [`correct_inside`](Self::correct_inside), which returned `value` for `blended`:
    /// adds to the bars of `curve` and of `q(ϑ)`. Without a correction the latter is `value_bar`.
    fn pull_back_inside(
        &mut self,
        step: &GuardedStep<'_>,
        curve: &[f64],
        theta: f64,
        inside: InsideBars<'_>,
    ) {
        let _ = (step, curve, theta);
        for (sum, bar) in inside.blended_bar.iter_mut().zip(inside.value_bar) {
            *sum += bar;
        }
    }

    /// Returns why the field has no rate somewhere between two times of a column, if it knows: asked when a
    /// step is not finite, for the message.
    fn undefined(&mut self, column: usize, start: f64, end: f64) -> Option<Refused> {
        let _ = (column, start, end);
        None
    }
}

/// A value inside a step with its adjoints.
#[derive(Debug)]
pub struct InsideBars<'a> {
    /// `q(ϑ)`.
    pub blended: &'a [f64],
    /// The corrected value.
    pub value: &'a [f64],
    /// Adjoint of the corrected value.
    pub value_bar: &'a [f64],
    /// Adjoint of the Bernstein coefficients of `q`, added to.
    pub curve_bar: &'a mut [f64],
    /// Adjoint of `q(ϑ)`, added to.
    pub blended_bar: &'a mut [f64],
}
