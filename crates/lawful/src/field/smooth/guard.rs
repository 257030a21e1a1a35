//! The guard of smooth laws: returns the steps of a solver to their surface.
//!
//! After a step the state moves to the levels of the equalities: 0, or the value at the step's start.
//! If the falling quantity is then above its value at the start, the state moves to that level too.
//! Inside a step, each value of the dense output moves to the levels of the equalities, and to the
//! monotone cubic between the falling quantity's values at the ends.

use lawful_ode::{GuardedStep, InsideBars, Refused};

use super::lost::Lost;
use super::monotone::Ends;
use super::newton::{Newton, NoArrival};
use super::surface::SurfaceLaw;
use crate::field::StateOff;

/// Keeps smooth laws in the steps of a solver.
#[derive(Debug, Clone)]
pub(super) struct SurfaceGuard {
    newton: Newton,
    state: Vec<String>,
    /// An adjoint, a state and directions, of one column.
    bar: Vec<f64>,
    y: Vec<f64>,
    p: Vec<f64>,
}

/// Which end of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    Start,
    End,
}

impl SurfaceGuard {
    pub(super) fn new(newton: Newton, state: &[String]) -> Self {
        let d = state.len();
        Self { newton, state: state.to_vec(), bar: vec![0.0; d], y: vec![0.0; d], p: vec![0.0; d] }
    }

    /// Number of equalities.
    fn equalities(&self) -> usize {
        self.newton.surface.len() - usize::from(self.newton.falling)
    }

    /// Names of the laws.
    pub(super) fn names(&self) -> Vec<&str> {
        self.newton.surface.laws.iter().map(|law| &*law.name).collect()
    }

    /// Sets the levels of all laws for a path that goes through this state.
    pub(super) fn set_levels(&mut self, t: f64, y: &[f64]) {
        let Newton { surface, levels, .. } = &mut self.newton;
        for (law, level) in levels.iter_mut().enumerate() {
            *level = if surface.laws[law].is_zero { 0.0 } else { surface.value(law, t, y) };
        }
    }

    /// Returns the law with a stated value that a state is farthest off, in sizes of the law.
    pub(super) fn worst(&mut self, t: f64, y: &[f64]) -> Option<(&str, f64)> {
        let surface = &mut self.newton.surface;
        let mut worst: Option<(usize, f64)> = None;
        for law in (0..surface.len()).filter(|&law| surface.laws[law].is_zero).collect::<Vec<_>>() {
            let off = (surface.value(law, t, y) / surface.laws[law].size).abs();
            if worst.is_none_or(|(_, most)| off > most || off.is_nan()) {
                worst = Some((law, off));
            }
        }
        worst.map(|(law, off)| (&*self.newton.surface.laws[law].name, off))
    }

    /// Calls `visit` with each law that states its value.
    pub(super) fn each_off(&mut self, t: f64, y: &[f64], visit: &mut dyn FnMut(StateOff<'_>)) {
        let surface = &mut self.newton.surface;
        for law in 0..surface.len() {
            if surface.laws[law].is_zero {
                let off = surface.value(law, t, y);
                self.bar.fill(0.0);
                surface.add_gradient(law, t, y, 1.0, &mut self.bar);
                let SurfaceLaw { name, size, .. } = &surface.laws[law];
                visit(StateOff { name, off, size: *size, gradient: &self.bar });
            }
        }
    }

    /// Moves a state to the levels of the equalities.
    pub(super) fn move_to_surface(&mut self, t: f64, y: &mut [f64]) -> Result<bool, Refused> {
        let count = self.equalities();
        self.newton.start();
        self.newton.solve(count, t, y).map(|steps| steps > 0).map_err(|why| self.refused(t, why))
    }

    /// The adjoint of [`move_to_surface`](Self::move_to_surface) at the state before, in place.
    pub(super) fn pull_back_move(&mut self, t: f64, y: &[f64], bar: &mut [f64]) {
        let mut moved = std::mem::take(&mut self.y);
        moved.copy_from_slice(y);
        self.move_to_surface(t, &mut moved).expect("a state that was moved");
        self.y = moved;
        self.back(t, bar);
        bar.copy_from_slice(&self.bar);
    }

    /// Adds the adjoints of the levels of the equalities, which are values at a state, to that of the state.
    pub(super) fn add_equalities_bar(&mut self, t: f64, y: &[f64], y_bar: &mut [f64]) {
        self.add_levels_bar(self.equalities(), t, y, y_bar);
    }

    /// Moves the end of a step to its levels.
    fn move_to_levels(&mut self, t: f64, y: &mut [f64]) -> Result<bool, Refused> {
        let mut moved = self.move_to_surface(t, y)?;
        if self.newton.falling {
            let last = self.equalities();
            let Newton { surface, levels, .. } = &mut self.newton;
            if surface.value(last, t, y) > levels[last] {
                let steps = self.newton.solve(last + 1, t, y);
                moved |= steps.map_err(|why| self.refused(t, why))? > 0;
            }
        }
        Ok(moved)
    }

    /// Moves a value inside a step to the levels of all laws.
    fn move_to_all_levels(&mut self, t: f64, y: &mut [f64]) -> Result<(), Refused> {
        let count = self.newton.surface.len();
        self.newton.start();
        self.newton.solve(count, t, y).map(|_| ()).map_err(|why| self.refused(t, why))
    }

    /// Adds the adjoints of the levels, which are values at a state, to the adjoint of the state.
    fn add_levels_bar(&mut self, count: usize, t: f64, y: &[f64], y_bar: &mut [f64]) {
        let Newton { surface, levels_bar, .. } = &mut self.newton;
        for (law, &bar) in levels_bar.iter().enumerate().take(count) {
            if !surface.laws[law].is_zero && bar != 0.0 {
                surface.add_gradient(law, t, y, bar, y_bar);
            }
        }
    }

    fn refused(&self, t: f64, why: NoArrival) -> Refused {
        let names = self.names();
        Refused::new(match why {
            NoArrival::Rank(loss) => {
                Lost { loss, t, y: self.newton.at.clone() }.why(&names, &self.state)
            }
            NoArrival::Off(law, off) => format!(
                "leaves the law `{}`, and Newton's iteration does not lead back: it is off by {off:.1e} of \
                 its size at t = {t:.6}",
                names[law]
            ),
        })
    }

    /// Why there is no rate at a place.
    pub(super) fn undefined(&self, lost: &Lost) -> Refused {
        Refused::new(lost.why(&self.names(), &self.state))
    }

    /// The falling quantity's value and slope by ϑ at an end of a step, whose dense output is given by its
    /// Bernstein coefficients.
    fn end(&mut self, end: End, step: &GuardedStep<'_>, control: &[f64]) -> (f64, f64) {
        let (t, d) = (time(step, end), self.state.len());
        let law = self.equalities();
        let (state, other) = coefficients(end, control, d);
        for ((p, state), other) in self.p.iter_mut().zip(state).zip(other) {
            *p = sign(end) * DEGREE * (other - state);
        }
        let surface = &mut self.newton.surface;
        let slope = surface.sweep(law, &[t], state, &self.p, 0.0).values[0];
        (surface.value(law, t, state), slope)
    }

    /// The adjoint of [`end`](Self::end): adds to the adjoint of the coefficients.
    fn pull_back_end(
        &mut self,
        end: End,
        step: &GuardedStep<'_>,
        control: &[f64],
        (value_bar, slope_bar): (f64, f64),
        control_bar: &mut [f64],
    ) {
        let (t, d) = (time(step, end), self.state.len());
        let law = self.equalities();
        let (state, other) = coefficients(end, control, d);
        let factor = sign(end) * DEGREE;
        for ((p, state), other) in self.p.iter_mut().zip(state).zip(other) {
            *p = factor * (other - state);
        }
        let (at, next_to) = positions(end);
        let surface = &mut self.newton.surface;
        let sweep = surface.sweep(law, &[t], state, &self.p, 0.0);
        for i in 0..d {
            let gradient = sweep.gradient(0)[i];
            control_bar[at * d + i] +=
                slope_bar * (sweep.by_state(0)[i] - factor * gradient) + value_bar * gradient;
            control_bar[next_to * d + i] += slope_bar * factor * gradient;
        }
    }

    fn ends(&mut self, step: &GuardedStep<'_>, control: &[f64]) -> Ends {
        let (start, end) = (self.end(End::Start, step, control), self.end(End::End, step, control));
        Ends { values: [start.0, end.0], slopes: [start.1, end.1] }
    }

    /// Sets the levels for a value inside a step.
    fn set_inside(&mut self, step: &GuardedStep<'_>, control: &[f64], theta: f64) -> Option<Ends> {
        self.set_levels(step.start, step.y);
        if !self.newton.falling {
            return None;
        }
        let ends = self.ends(step, control);
        let last = self.equalities();
        self.newton.levels[last] = ends.at(theta);
        Some(ends)
    }

    /// Corrects the end of a step, see [`lawful_ode::StepGuard`].
    pub(super) fn correct(
        &mut self,
        step: &GuardedStep<'_>,
        next: &mut [f64],
    ) -> Result<bool, Refused> {
        self.set_levels(step.start, step.y);
        self.move_to_levels(step.end, next)
    }

    /// The adjoint of [`correct`](Self::correct).
    pub(super) fn pull_back(
        &mut self,
        step: &GuardedStep<'_>,
        next_bar: &[f64],
        y_bar: &mut [f64],
        computed_bar: &mut [f64],
    ) {
        let mut y = std::mem::take(&mut self.y);
        y.copy_from_slice(step.computed);
        self.correct(step, &mut y).expect("a step that was accepted");
        self.y = y;
        self.back(step.end, next_bar);
        add(computed_bar, &self.bar);
        let count = self.newton.surface.len();
        self.add_levels_bar(count, step.start, step.y, y_bar);
    }

    /// Corrects a value inside a step.
    pub(super) fn correct_inside(
        &mut self,
        step: &GuardedStep<'_>,
        curve: &[f64],
        theta: f64,
        value: &mut [f64],
    ) -> Result<(), Refused> {
        self.set_inside(step, curve, theta);
        self.move_to_all_levels(within(step, theta), value)
    }

    /// The adjoint of [`correct_inside`](Self::correct_inside).
    pub(super) fn pull_back_inside(
        &mut self,
        step: &GuardedStep<'_>,
        curve: &[f64],
        theta: f64,
        inside: &mut InsideBars<'_>,
    ) {
        let ends = self.set_inside(step, curve, theta);
        let t = within(step, theta);
        let mut y = std::mem::take(&mut self.y);
        y.copy_from_slice(inside.blended);
        self.move_to_all_levels(t, &mut y).expect("a value that was accepted");
        self.y = y;
        self.back(t, inside.value_bar);
        add(inside.blended_bar, &self.bar);
        let equalities = self.equalities();
        let d = self.state.len();
        self.add_levels_bar(equalities, step.start, step.y, &mut inside.curve_bar[..d]);
        if let Some(ends) = ends {
            let bars = ends.pull_back(theta, self.newton.levels_bar[equalities]);
            for (end, value_bar, slope_bar) in [
                (End::Start, bars.values[0], bars.slopes[0]),
                (End::End, bars.values[1], bars.slopes[1]),
            ] {
                self.pull_back_end(end, step, curve, (value_bar, slope_bar), inside.curve_bar);
            }
        }
    }

    /// Pulls the adjoint of the end of the last iteration back to its start, in `self.bar`.
    fn back(&mut self, t: f64, bar: &[f64]) {
        self.bar.copy_from_slice(bar);
        self.newton.levels_bar.fill(0.0);
        self.newton.pull_back(t, &mut self.bar);
    }
}

/// The degree of the dense output's polynomial.
const DEGREE: f64 = 4.0;

fn time(step: &GuardedStep<'_>, end: End) -> f64 {
    if end == End::Start { step.start } else { step.end }
}

fn within(step: &GuardedStep<'_>, theta: f64) -> f64 {
    step.start + theta * (step.end - step.start)
}

/// The slope at the start is `4 (c₁ − c₀)`, at the end `−4 (c₃ − c₄)`.
fn sign(end: End) -> f64 {
    if end == End::Start { 1.0 } else { -1.0 }
}

/// The positions of the coefficients at an end and next to it.
fn positions(end: End) -> (usize, usize) {
    if end == End::Start { (0, 1) } else { (4, 3) }
}

fn coefficients(end: End, control: &[f64], d: usize) -> (&[f64], &[f64]) {
    let (at, next_to) = positions(end);
    (&control[at * d..][..d], &control[next_to * d..][..d])
}

fn add(sum: &mut [f64], bar: &[f64]) {
    sum.iter_mut().zip(bar).for_each(|(sum, bar)| *sum += bar);
}
