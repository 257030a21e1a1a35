//! Guards of three kinds, and a field that each of them has to keep to its law.

#![allow(dead_code, reason = "every test file uses some of them")]

use std::cell::Cell;

use lawful_ode::{Equations, GuardedStep, InsideBars, Recorded, Refused, StepGuard, VectorField};

use crate::systems::{LimitCycle, with_parameters};

/// Equations with a guard.
#[derive(Clone)]
pub(crate) struct Guarded<E, G> {
    pub(crate) equations: E,
    pub(crate) guard: G,
}

impl<E: Equations, G: StepGuard + Clone + Send + 'static> Equations for Guarded<E, G> {
    fn state_len(&self) -> usize {
        self.equations.state_len()
    }

    fn parameter_len(&self) -> usize {
        self.equations.parameter_len()
    }

    fn guard(&mut self) -> Option<&mut dyn StepGuard> {
        Some(&mut self.guard)
    }

    fn eval(&mut self, theta: &[f64], t: f64, y: &[f64], u: &[f64], dy: &mut [f64]) {
        self.equations.eval(theta, t, y, u, dy);
    }

    fn pull_back(
        &mut self,
        theta: &[f64],
        t: f64,
        y: &[f64],
        u: &[f64],
        w: &[f64],
        y_bar: &mut [f64],
        theta_bar: &mut [f64],
    ) {
        self.equations.pull_back(theta, t, y, u, w, y_bar, theta_bar);
    }
}

/// A guarded field with a law: at every time its violation is to be rounding.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) theta: &'static [f64],
    pub(crate) initial: [[f64; 2]; 3],
    pub(crate) make: fn() -> Box<dyn VectorField>,
    pub(crate) violation: fn(f64, &[f64]) -> f64,
}

impl Case {
    pub(crate) fn field(&self) -> Box<dyn VectorField> {
        let mut field = (self.make)();
        field.set_parameters(self.theta);
        field
    }
}

/// A bound on one variable, a weighted sum that moves in time, and the unit circle.
pub(crate) const CASES: [Case; 3] = [
    Case {
        name: "bound",
        theta: &[20.0, 0.1],
        initial: [[0.6, -0.2], [0.05, 0.9], [1.3, 0.4]],
        make: || Box::new(Recorded::new(Guarded { equations: Pulses, guard: Bound })),
        violation: |_, y| (-y[0]).max(0.0),
    },
    Case {
        name: "sum",
        theta: &[0.9, 0.02],
        initial: [[0.6, -0.05], [1.1, -0.3], [0.0, 0.25]],
        make: || Box::new(Recorded::new(Guarded { equations: Exchange, guard: Sum })),
        violation: |t, y| (y[0] + 2.0 * y[1] - total(t)).abs(),
    },
    Case {
        name: "circle",
        theta: &[0.8, 2.0],
        initial: [[0.6, -0.8], [0.0, 1.0], [-0.8, 0.6]],
        make: || Box::new(Recorded::new(Guarded { equations: LimitCycle, guard: Circle })),
        violation: |_, y| (y[0].hypot(y[1]) - 1.0).abs(),
    },
];

/// Initial states are at `t = 0` where the law moves in time.
pub(crate) fn circle_field() -> Recorded<Guarded<LimitCycle, Circle>> {
    with_parameters(Guarded { equations: LimitCycle, guard: Circle }, &[0.8, 2.0])
}

thread_local! {
    /// Number of dense outputs that a bound has blended.
    pub(crate) static BLENDED: Cell<usize> = const { Cell::new(0) };
}

/// `y_0 ≥ 0`: a step may cover nine tenths of the way to the bound.
#[derive(Clone)]
pub(crate) struct Bound;

const SHARE: f64 = 0.9;

impl StepGuard for Bound {
    fn correct(&mut self, step: &GuardedStep<'_>, next: &mut [f64]) -> Result<bool, Refused> {
        let (y, computed) = (step.y[0], step.computed[0]);
        if computed >= 0.0 {
            return Ok(false);
        }
        let a = SHARE * y / (y - computed);
        for ((next, y), computed) in next.iter_mut().zip(step.y).zip(step.computed) {
            *next = y + a * (computed - y);
        }
        Ok(true)
    }

    fn pull_back(
        &mut self,
        step: &GuardedStep<'_>,
        _next: &[f64],
        next_bar: &[f64],
        y_bar: &mut [f64],
        computed_bar: &mut [f64],
    ) {
        let (y, computed) = (step.y[0], step.computed[0]);
        let limited = computed < 0.0;
        let a = if limited { SHARE * y / (y - computed) } else { 1.0 };
        let mut a_bar = 0.0;
        for i in 0..next_bar.len() {
            y_bar[i] += (1.0 - a) * next_bar[i];
            computed_bar[i] += a * next_bar[i];
            a_bar += next_bar[i] * (step.computed[i] - step.y[i]);
        }
        if limited {
            y_bar[0] += a_bar * (SHARE - a) / (y - computed);
            computed_bar[0] += a_bar * a / (y - computed);
        }
    }

    fn blend(&mut self, control: &[f64]) -> f64 {
        let (a, _) = factor(control);
        BLENDED.set(BLENDED.get() + usize::from(a < 1.0));
        a
    }

    fn pull_back_blend(&mut self, control: &[f64], a_bar: f64, control_bar: &mut [f64]) {
        let (a, Some(j)) = factor(control) else { return };
        let d = control.len() / 5;
        let (p, along) = (control[j * d], j as f64 / 4.0);
        let chord = control[0] + along * (control[4 * d] - control[0]);
        // a = c/(c − p)
        let chord_bar = a_bar * (1.0 - a) / (chord - p);
        control_bar[j * d] += a_bar * a / (chord - p);
        control_bar[0] += (1.0 - along) * chord_bar;
        control_bar[4 * d] += along * chord_bar;
    }
}

/// The largest factor with all coefficients within the bound, and the coefficient that decides it.
fn factor(control: &[f64]) -> (f64, Option<usize>) {
    let d = control.len() / 5;
    let mut least = (1.0, None);
    for j in 1..4 {
        let (p, along) = (control[j * d], j as f64 / 4.0);
        let chord = control[0] + along * (control[4 * d] - control[0]);
        if p < 0.0 {
            let a = chord / (chord - p);
            if a < least.0 {
                least = (a, Some(j));
            }
        }
    }
    least
}

/// `y_0' = −θ_0 (1 + sin 7t) y_0 + s(t)` with `s = max(0, cos t)⁴`, `y_1' = θ_1 (cos t − y_1) + y_0 y_1`.
///
/// Where the source s vanishes, steps that are stable only just fall below 0.
#[derive(Clone)]
pub(crate) struct Pulses;

impl Equations for Pulses {
    fn state_len(&self) -> usize {
        2
    }

    fn parameter_len(&self) -> usize {
        2
    }

    fn eval(&mut self, theta: &[f64], t: f64, y: &[f64], _u: &[f64], dy: &mut [f64]) {
        let source = t.cos().max(0.0).powi(4);
        dy[0] = source - theta[0] * (1.0 + (7.0 * t).sin()) * y[0];
        dy[1] = theta[1] * (t.cos() - y[1]) + y[0] * y[1];
    }

    fn pull_back(
        &mut self,
        theta: &[f64],
        t: f64,
        y: &[f64],
        _u: &[f64],
        w: &[f64],
        y_bar: &mut [f64],
        theta_bar: &mut [f64],
    ) {
        let decay = 1.0 + (7.0 * t).sin();
        y_bar[0] += y[1] * w[1] - theta[0] * decay * w[0];
        y_bar[1] += (y[0] - theta[1]) * w[1];
        theta_bar[0] -= decay * y[0] * w[0];
        theta_bar[1] += (t.cos() - y[1]) * w[1];
    }
}

/// `y_0 + 2 y_1 = c(t)`, by the nearest point.
#[derive(Clone)]
pub(crate) struct Sum;

/// c(t).
pub(crate) fn total(t: f64) -> f64 {
    0.5 + 0.1 * t * (t - 1.0)
}

fn to_sum(t: f64, y: &mut [f64]) -> bool {
    let off = (y[0] + 2.0 * y[1] - total(t)) / 5.0;
    y[0] -= off;
    y[1] -= 2.0 * off;
    off.abs() > 1e-13
}

fn along_sum(bar: &[f64], y_bar: &mut [f64]) {
    let off = (bar[0] + 2.0 * bar[1]) / 5.0;
    y_bar[0] += bar[0] - off;
    y_bar[1] += bar[1] - 2.0 * off;
}

impl StepGuard for Sum {
    fn correct(&mut self, step: &GuardedStep<'_>, next: &mut [f64]) -> Result<bool, Refused> {
        Ok(to_sum(step.end, next))
    }

    fn pull_back(
        &mut self,
        _step: &GuardedStep<'_>,
        _next: &[f64],
        next_bar: &[f64],
        _y_bar: &mut [f64],
        computed_bar: &mut [f64],
    ) {
        along_sum(next_bar, computed_bar);
    }

    fn correct_inside(
        &mut self,
        step: &GuardedStep<'_>,
        _curve: &[f64],
        theta: f64,
        value: &mut [f64],
    ) -> Result<(), Refused> {
        to_sum(step.start + theta * (step.end - step.start), value);
        Ok(())
    }

    fn pull_back_inside(
        &mut self,
        _step: &GuardedStep<'_>,
        _curve: &[f64],
        _theta: f64,
        inside: InsideBars<'_>,
    ) {
        along_sum(inside.value_bar, inside.blended_bar);
    }
}

/// `y_0' = θ_0 ((0.3 − y_0)(1 + y_1²) + sin 2t)`, `y_1' = (c'(t) − y_0')/2 + θ_1 cos t`: the sum, but for `θ_1`.
#[derive(Clone)]
pub(crate) struct Exchange;

impl Equations for Exchange {
    fn state_len(&self) -> usize {
        2
    }

    fn parameter_len(&self) -> usize {
        2
    }

    fn eval(&mut self, theta: &[f64], t: f64, y: &[f64], _u: &[f64], dy: &mut [f64]) {
        dy[0] = theta[0] * ((0.3 - y[0]) * (1.0 + y[1] * y[1]) + (2.0 * t).sin());
        dy[1] = 0.5 * (0.2 * t - 0.1 - dy[0]) + theta[1] * t.cos();
    }

    fn pull_back(
        &mut self,
        theta: &[f64],
        t: f64,
        y: &[f64],
        _u: &[f64],
        w: &[f64],
        y_bar: &mut [f64],
        theta_bar: &mut [f64],
    ) {
        let along = w[0] - 0.5 * w[1];
        let bend = 1.0 + y[1] * y[1];
        y_bar[0] -= theta[0] * bend * along;
        y_bar[1] += theta[0] * (0.3 - y[0]) * 2.0 * y[1] * along;
        theta_bar[0] += ((0.3 - y[0]) * bend + (2.0 * t).sin()) * along;
        theta_bar[1] += t.cos() * w[1];
    }
}

/// `y_0² + y_1² = 1`, by Newton steps along the gradient.
#[derive(Clone)]
pub(crate) struct Circle;

fn to_circle(y: &mut [f64]) -> Result<bool, Refused> {
    let mut moved = false;
    for _ in 0..20 {
        let square = y[0] * y[0] + y[1] * y[1];
        let off = 0.5 * (square - 1.0) / square;
        if off.abs() < 1e-15 {
            return Ok(moved);
        }
        moved |= off.abs() > 1e-14;
        for y in &mut *y {
            *y -= off * *y;
        }
    }
    Err(Refused::new("stays off the circle"))
}

/// The adjoint of `y/|y|`, to which the steps converge.
fn along_circle(y: &[f64], bar: &[f64], y_bar: &mut [f64]) {
    let length = y[0].hypot(y[1]);
    let along = (y[0] * bar[0] + y[1] * bar[1]) / (length * length);
    y_bar.iter_mut().zip(bar).zip(y).for_each(|((sum, bar), y)| *sum += (bar - along * y) / length);
}

impl StepGuard for Circle {
    fn correct(&mut self, _step: &GuardedStep<'_>, next: &mut [f64]) -> Result<bool, Refused> {
        to_circle(next)
    }

    fn pull_back(
        &mut self,
        step: &GuardedStep<'_>,
        _next: &[f64],
        next_bar: &[f64],
        _y_bar: &mut [f64],
        computed_bar: &mut [f64],
    ) {
        along_circle(step.computed, next_bar, computed_bar);
    }

    fn correct_inside(
        &mut self,
        _step: &GuardedStep<'_>,
        _curve: &[f64],
        _theta: f64,
        value: &mut [f64],
    ) -> Result<(), Refused> {
        to_circle(value).map(drop)
    }

    fn pull_back_inside(
        &mut self,
        _step: &GuardedStep<'_>,
        _curve: &[f64],
        _theta: f64,
        inside: InsideBars<'_>,
    ) {
        along_circle(inside.blended, inside.value_bar, inside.blended_bar);
    }
}
