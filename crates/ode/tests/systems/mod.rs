//! Named systems with known solutions or known structure, shared by the solver's tests.

#![allow(dead_code, reason = "every test file uses some of them")]

use lawful_ode::{
    Control, Equations, InitialValueProblems, Inputs, Recorded, StepGuard, VectorField,
};

/// A limit cycle that is run through with changing speed: nonlinear, non-autonomous, solved.
///
/// ```text
/// x' = a x (1 − r²) − (1 + b cos t) y        r² = x² + y²
/// y' = a y (1 − r²) + (1 + b cos t) x
/// r(t)² = 1 / (1 + (1/r_0² − 1) e^{−2a(t−t_0)}),   angle = t + b sin t + constant
/// ```
#[derive(Clone)]
pub(crate) struct LimitCycle;

/// Growth a and modulation b used throughout.
pub(crate) const LIMIT_CYCLE: [f64; 2] = [0.8, 2.0];

impl Equations for LimitCycle {
    fn state_len(&self) -> usize {
        2
    }

    fn parameter_len(&self) -> usize {
        2
    }

    fn eval(&mut self, theta: &[f64], t: f64, y: &[f64], _u: &[f64], dy: &mut [f64]) {
        let growth = theta[0] * (1.0 - y[0] * y[0] - y[1] * y[1]);
        let speed = 1.0 + theta[1] * t.cos();
        dy[0] = growth * y[0] - speed * y[1];
        dy[1] = growth * y[1] + speed * y[0];
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
        let shape = 1.0 - y[0] * y[0] - y[1] * y[1];
        let speed = 1.0 + theta[1] * t.cos();
        let along = w[0] * y[0] + w[1] * y[1];
        y_bar[0] += theta[0] * (shape * w[0] - 2.0 * y[0] * along) + speed * w[1];
        y_bar[1] += theta[0] * (shape * w[1] - 2.0 * y[1] * along) - speed * w[0];
        theta_bar[0] += shape * along;
        theta_bar[1] += t.cos() * (w[1] * y[0] - w[0] * y[1]);
    }
}

impl LimitCycle {
    /// A field of it, with its parameters set.
    pub(crate) fn field() -> Recorded<Self> {
        with_parameters(Self, &LIMIT_CYCLE)
    }

    /// State at `t` of the solution with radius 1/4 and angle 0 at `t = 0`.
    pub(crate) fn solution(t: f64) -> [f64; 2] {
        let [a, b] = LIMIT_CYCLE;
        let r = (1.0 + 15.0 * (-2.0 * a * t).exp()).sqrt().recip();
        let angle = t + b * t.sin();
        [r * angle.cos(), r * angle.sin()]
    }
}

/// The limit cycle pushed by an input: `x' += θ_2 u y`, `y' += sin(θ_3 u) + θ_2 x²`.
#[derive(Clone)]
pub(crate) struct Driven;

/// Parameters used throughout.
pub(crate) const DRIVEN: [f64; 4] = [0.8, 0.5, 0.3, 0.7];

impl Equations for Driven {
    fn state_len(&self) -> usize {
        2
    }

    fn input_len(&self) -> usize {
        1
    }

    fn parameter_len(&self) -> usize {
        4
    }

    fn eval(&mut self, theta: &[f64], t: f64, y: &[f64], u: &[f64], dy: &mut [f64]) {
        LimitCycle.eval(theta, t, y, u, dy);
        dy[0] += theta[2] * u[0] * y[1];
        dy[1] += (theta[3] * u[0]).sin() + theta[2] * y[0] * y[0];
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
        LimitCycle.pull_back(theta, t, y, u, w, y_bar, theta_bar);
        y_bar[1] += theta[2] * u[0] * w[0];
        y_bar[0] += 2.0 * theta[2] * y[0] * w[1];
        theta_bar[2] += u[0] * y[1] * w[0] + y[0] * y[0] * w[1];
        theta_bar[3] += u[0] * (theta[3] * u[0]).cos() * w[1];
    }
}

impl Driven {
    /// A field of it, with its parameters set.
    pub(crate) fn field() -> Recorded<Self> {
        with_parameters(Self, &DRIVEN)
    }
}

/// `y' = A(t) y + θ` with `A = [[−0.1, −1 − t/5], [1, −0.3 cos t]]`: linear in state and parameters.
#[derive(Clone)]
pub(crate) struct Linear;

impl Linear {
    fn matrix(t: f64) -> [[f64; 2]; 2] {
        [[-0.1, -1.0 - t / 5.0], [1.0, -0.3 * t.cos()]]
    }
}

impl Equations for Linear {
    fn state_len(&self) -> usize {
        2
    }

    fn parameter_len(&self) -> usize {
        2
    }

    fn eval(&mut self, theta: &[f64], t: f64, y: &[f64], _u: &[f64], dy: &mut [f64]) {
        for ((dy, row), theta) in dy.iter_mut().zip(Self::matrix(t)).zip(theta) {
            *dy = row[0] * y[0] + row[1] * y[1] + theta;
        }
    }

    fn pull_back(
        &mut self,
        _theta: &[f64],
        t: f64,
        _y: &[f64],
        _u: &[f64],
        w: &[f64],
        y_bar: &mut [f64],
        theta_bar: &mut [f64],
    ) {
        for ((row, w), theta_bar) in Self::matrix(t).iter().zip(w).zip(theta_bar) {
            y_bar[0] += row[0] * w;
            y_bar[1] += row[1] * w;
            *theta_bar += w;
        }
    }
}

/// `y' = θ y²`, which from `y_0` blows up at `t = 1/(θ y_0)`.
#[derive(Clone)]
pub(crate) struct BlowUp;

impl Equations for BlowUp {
    fn state_len(&self) -> usize {
        1
    }

    fn parameter_len(&self) -> usize {
        1
    }

    fn eval(&mut self, theta: &[f64], _t: f64, y: &[f64], _u: &[f64], dy: &mut [f64]) {
        dy[0] = theta[0] * y[0] * y[0];
    }

    fn pull_back(
        &mut self,
        theta: &[f64],
        _t: f64,
        y: &[f64],
        _u: &[f64],
        w: &[f64],
        y_bar: &mut [f64],
        theta_bar: &mut [f64],
    ) {
        y_bar[0] += 2.0 * theta[0] * y[0] * w[0];
        theta_bar[0] += y[0] * y[0] * w[0];
    }
}

/// `y' = θ u`: the integral of its input.
#[derive(Clone)]
pub(crate) struct Integral;

impl Equations for Integral {
    fn state_len(&self) -> usize {
        1
    }

    fn input_len(&self) -> usize {
        1
    }

    fn parameter_len(&self) -> usize {
        1
    }

    fn eval(&mut self, theta: &[f64], _t: f64, _y: &[f64], u: &[f64], dy: &mut [f64]) {
        dy[0] = theta[0] * u[0];
    }

    fn pull_back(
        &mut self,
        _theta: &[f64],
        _t: f64,
        _y: &[f64],
        u: &[f64],
        w: &[f64],
        _y_bar: &mut [f64],
        theta_bar: &mut [f64],
    ) {
        theta_bar[0] += u[0] * w[0];
    }
}

/// The field of these equations at these parameters.
pub(crate) fn with_parameters<E: Equations>(equations: E, theta: &[f64]) -> Recorded<E> {
    let mut field = Recorded::new(equations);
    field.set_parameters(theta);
    field
}

/// `u = sin(2t + column)`.
pub(crate) struct Smooth;

impl Inputs for Smooth {
    fn at(&self, column: usize, t: f64, _step_start: f64, u: &mut [f64]) {
        u[0] = (2.0 * t + column as f64).sin();
    }
}

/// A signal held between samples at `t = 0, width, 2 width, …`, where it takes the sample's index.
pub(crate) struct Held {
    pub(crate) width: f64,
    /// Whether `next_break` reports the jumps.
    pub(crate) announced: bool,
}

impl Inputs for Held {
    fn at(&self, _column: usize, t: f64, step_start: f64, u: &mut [f64]) {
        let sample = (t / self.width).floor();
        let jumps_here = (sample * self.width - t).abs() < 1e-300 && step_start < t;
        u[0] = if jumps_here { sample - 1.0 } else { sample };
    }

    fn next_break(&self, _column: usize, t: f64) -> f64 {
        if self.announced { ((t / self.width).floor() + 1.0) * self.width } else { f64::INFINITY }
    }
}

/// A field that makes use of its right to lose its tape when it grows.
pub(crate) struct Forgetful {
    pub(crate) field: Box<dyn VectorField>,
    slots: usize,
}

impl Forgetful {
    pub(crate) fn new(field: Box<dyn VectorField>) -> Self {
        Self { field, slots: 0 }
    }
}

impl VectorField for Forgetful {
    fn state_len(&self) -> usize {
        self.field.state_len()
    }

    fn input_len(&self) -> usize {
        self.field.input_len()
    }

    fn parameter_len(&self) -> usize {
        self.field.parameter_len()
    }

    fn set_parameters(&mut self, theta: &[f64]) {
        self.field.set_parameters(theta);
    }

    fn reserve(&mut self, slots: usize, columns: usize) {
        self.field.reserve(slots, columns);
        if slots > self.slots {
            let [y, u, mut dy] = [self.state_len(), self.input_len(), self.state_len()]
                .map(|len| vec![f64::NAN; len]);
            for slot in 0..self.slots {
                self.field.eval(slot, &[f64::NAN], &y, &u, &mut dy);
            }
            self.slots = slots;
        }
    }

    fn slot_bytes(&self, columns: usize) -> usize {
        self.field.slot_bytes(columns)
    }

    fn eval(&mut self, slot: usize, t: &[f64], y: &[f64], u: &[f64], dy: &mut [f64]) {
        assert!(slot < self.slots, "slot {slot} of {}", self.slots);
        self.field.eval(slot, t, y, u, dy);
    }

    fn pull_back(&mut self, slot: usize, w: &[f64], y_bar: &mut [f64]) {
        self.field.pull_back(slot, w, y_bar);
    }

    fn pull_back_state(&mut self, slot: usize, w: &[f64], y_bar: &mut [f64]) {
        self.field.pull_back_state(slot, w, y_bar);
    }

    fn pull_back_parameters(&mut self, slot: usize, w: &[f64]) {
        self.field.pull_back_parameters(slot, w);
    }

    fn flush(&mut self, theta_bar: &mut [f64]) {
        self.field.flush(theta_bar);
    }

    fn guard(&mut self) -> Option<&mut dyn StepGuard> {
        self.field.guard()
    }

    fn fork(&self) -> Box<dyn VectorField> {
        Box::new(Self { field: self.field.fork(), slots: self.slots })
    }
}

/// These problems, and for a grid also the same ones with observations between their nodes.
pub(crate) fn with_observations_between(
    ivps: InitialValueProblems,
    control: Control,
) -> Vec<InitialValueProblems> {
    let between = matches!(control, Control::Grid { .. }).then(|| {
        let mut between = InitialValueProblems::new(ivps.state_len());
        for column in 0..ivps.columns() {
            let nodes = ivps.times(column);
            let mut times = Vec::new();
            for (interval, ends) in nodes.windows(2).enumerate() {
                times.push(ends[0]);
                // None, one or several in an interval; some at the end of a substep.
                let shares = &[0.25, 1.0 / 3.0, 0.5, 0.9][..(interval + column) % 5];
                times.extend(shares.iter().map(|share| ends[0] + (ends[1] - ends[0]) * share));
            }
            times.extend(nodes.last());
            let initial = &ivps.initial()[column * ivps.state_len()..][..ivps.state_len()];
            between.push_between(nodes, &times, initial).expect("a valid problem");
        }
        between
    });
    std::iter::once(ivps).chain(between).collect()
}
