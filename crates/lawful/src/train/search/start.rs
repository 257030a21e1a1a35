//! A start: a drawn first layer, and an output layer by gradient matching.
//!
//! The output layer is the ridge regression of the field's rates on the slopes of a monotone spline through
//! the measured cells; where nobody measured, the law-consistent table gives the curve. The regression is
//! Levenberg–Marquardt on the output layer alone: exact in one step where the field is linear in it, and
//! right for any field that is built around the network.

use lawful_ode::VectorField;

use super::constants;
use super::monotone::Monotone;
use crate::data::Table;
use crate::least_squares::{Damping, LevenbergMarquardt, Point, Residuals, Stepped};
use crate::train::Prepared;
use crate::{Random, Trajectory};

/// Standard deviation of the first layer.
const SPREAD: f64 = 0.8;
/// Ridge per point and unit of the relative precision.
const RIDGE: f64 = 0.002;
/// Places in each interval between measured rows.
const PLACES: [f64; 4] = [0.0, 0.25, 0.5, 0.75];
/// Most points.
const MOST_POINTS: usize = 400;
/// Most steps of the regression, and the relative change that ends it.
const STEPS: usize = 10;
const CHANGE: f64 = 1e-4;
/// Fewest measured cells of a variable for a curve of its own.
const FEWEST: usize = 2;
/// Spread of the raw numbers of learned constants beside a network.
const CONSTANTS_WITH_NETWORK: f64 = 0.5;

/// States with slopes and inputs at which rates are compared.
#[derive(Debug, Clone, Default)]
pub(super) struct Curves {
    times: Vec<f64>,
    states: Vec<f64>,
    slopes: Vec<f64>,
    inputs: Vec<f64>,
    /// The unit of each rate.
    rate: Vec<f64>,
}

impl Curves {
    /// The curves of a training's data.
    pub(super) fn new(prepared: &Prepared) -> Self {
        let data = &prepared.data;
        let (d, m) = (data.state().len(), data.inputs().len());
        let scaling = prepared.scaling.clone().unwrap_or_else(|| crate::scaling(data));
        let table = prepared.table.as_ref();
        let mut curves = Self { rate: scaling.rate.clone(), ..Self::default() };
        let rows: usize = data.trajectories().iter().map(Trajectory::len).sum();
        let stride = (PLACES.len() * rows).div_ceil(MOST_POINTS).max(1);
        let mut place = 0;
        for (n, trajectory) in data.trajectories().iter().enumerate() {
            let splines: Vec<Option<Monotone>> = (0..d)
                .map(|i| {
                    let mut cells = cells(trajectory, d, i);
                    if let (true, Some(table)) = (cells.len() < FEWEST, table) {
                        let rows = &table.trajectories[n];
                        let values = rows.states.iter().skip(i).step_by(d).copied();
                        cells = rows.times.iter().copied().zip(values).collect();
                    }
                    (cells.len() >= FEWEST).then(|| Monotone::new(cells))
                })
                .collect();
            let measured: Vec<usize> = trajectory.measured(d).collect();
            for pair in measured.windows(2) {
                let (start, end) = (trajectory.times[pair[0]], trajectory.times[pair[1]]);
                for share in PLACES {
                    place += 1;
                    if place % stride != 0 {
                        continue;
                    }
                    let t = start + share * (end - start);
                    curves.times.push(t);
                    for (i, spline) in splines.iter().enumerate() {
                        let centre = (scaling.state_centre[i], 0.0);
                        let (state, slope) = spline.as_ref().map_or(centre, |curve| curve.at(t));
                        curves.states.push(state);
                        curves.slopes.push(slope);
                    }
                    let from = curves.inputs.len();
                    curves.inputs.resize(from + m, 0.0);
                    let inputs = Table { times: &trajectory.times, values: &trajectory.inputs };
                    if m > 0 {
                        inputs.at(prepared.interpolation, t, t, &mut curves.inputs[from..]);
                    }
                }
            }
        }
        curves
    }
}

/// Returns the measured cells of a state variable with their times.
fn cells(trajectory: &Trajectory, d: usize, i: usize) -> Vec<(f64, f64)> {
    let values = trajectory.states.iter().skip(i).step_by(d).copied();
    let cells = trajectory.times.iter().copied().zip(values);
    cells.filter(|(_, value)| value.is_finite()).collect()
}

/// Returns the field's parameters of start `number`; `relative` are the relative precisions of the network's.
pub(super) fn draw(
    prepared: &Prepared,
    number: usize,
    curves: &Curves,
    field: Box<dyn VectorField>,
    relative: &[f64],
) -> Vec<f64> {
    let mut theta = vec![0.0; field.parameter_len()];
    if !prepared.has_network() {
        draw_constants(&mut theta, prepared, number, curves, field, relative);
        return theta;
    }
    let mut random = Random::new(prepared.seed, &format!("start {number}"));
    let shape = prepared.shape();
    let layers: Vec<_> = shape.layers().collect();
    let (last, hidden) = layers.split_last().expect("a network has an output layer");
    for layer in hidden {
        for k in layer.weights.start..layer.biases.end {
            theta[k] = SPREAD * random.normal() / relative[k].sqrt();
        }
    }
    let free = last.weights.start..last.biases.end;
    match_gradients(&mut theta, free, curves, field, relative);
    if number > 0 {
        let constants = theta[shape.parameter_len()..].iter_mut();
        constants.for_each(|raw| *raw = CONSTANTS_WITH_NETWORK * random.normal());
    }
    theta
}

/// Draws the constants of known physics alone, around their given values, which are the first start.
fn draw_constants(
    theta: &mut [f64],
    prepared: &Prepared,
    number: usize,
    curves: &Curves,
    field: Box<dyn VectorField>,
    relative: &[f64],
) {
    let mut random = Random::new(prepared.seed, &format!("start {number}"));
    if number > 1 {
        let raw = theta.iter_mut().zip(&prepared.constants);
        raw.for_each(|(raw, constant)| *raw = constants::draw(constant, number, &mut random));
    }
    // Every second start goes on to the slopes: where all states are measured, that is near the solution.
    if number % 2 == 1 {
        let free = 0..theta.len();
        match_gradients(theta, free, curves, field, relative);
    }
}

/// Sets the `free` parameters to the ridge regression of rates on slopes.
fn match_gradients(
    theta: &mut [f64],
    free: std::ops::Range<usize>,
    curves: &Curves,
    field: Box<dyn VectorField>,
    relative: &[f64],
) {
    let points = curves.times.len();
    if points == 0 {
        return;
    }
    let precisions: Vec<f64> =
        relative[free.clone()].iter().map(|u| RIDGE * points as f64 * u).collect();
    let x = theta[free.clone()].to_vec();
    let mut rates = Rates { theta, free, curves, field };
    rates.field.reserve(points, 1);
    let weights = vec![1.0; rates.residual_len()];
    let Some(mut point) = Point::new(&mut rates, x) else { return };
    let mut method = LevenbergMarquardt::new(Damping { first: 1e-9, ..Damping::default() });
    for _ in 0..STEPS {
        let before = point.value(&weights, &precisions);
        let stepped = method.step(&mut rates, &mut point, &weights, &precisions);
        if stepped == Stepped::Stalled
            || before - point.value(&weights, &precisions) < CHANGE * before
        {
            break;
        }
    }
    let free = rates.free.clone();
    theta[free].copy_from_slice(&point.x);
}

/// Residuals `(f − slope)/rate` as functions of the free parameters.
struct Rates<'a> {
    theta: &'a mut [f64],
    free: std::ops::Range<usize>,
    curves: &'a Curves,
    field: Box<dyn VectorField>,
}

impl Residuals for Rates<'_> {
    fn residual_len(&self) -> usize {
        self.curves.slopes.len()
    }

    fn parameter_len(&self) -> usize {
        self.free.len()
    }

    fn evaluate(&mut self, x: &[f64], residuals: &mut [f64]) -> bool {
        let Self { theta, free, curves, field } = self;
        theta[free.clone()].copy_from_slice(x);
        field.set_parameters(theta);
        let (d, m) = (field.state_len(), field.input_len());
        for (n, r) in residuals.chunks_exact_mut(d).enumerate() {
            let inputs = if m > 0 { &curves.inputs[n * m..][..m] } else { &[] };
            field.eval(n, &curves.times[n..=n], &curves.states[n * d..][..d], inputs, r);
            for ((r, slope), rate) in r.iter_mut().zip(&curves.slopes[n * d..]).zip(&curves.rate) {
                *r = (*r - slope) / rate;
            }
        }
        residuals.iter().all(|r| r.is_finite())
    }

    fn jacobian(&mut self, jacobian: &mut [f64]) {
        let Self { theta, free, curves, field } = self;
        let d = field.state_len();
        let (mut w, mut bar) = (vec![0.0; d], vec![0.0; theta.len()]);
        for (row, slopes) in jacobian.chunks_exact_mut(free.len()).enumerate() {
            let i = row % d;
            bar.fill(0.0);
            w[i] = 1.0 / curves.rate[i];
            field.pull_back_parameters(row / d, &w);
            field.flush(&mut bar);
            w[i] = 0.0;
            slopes.copy_from_slice(&bar[free.clone()]);
        }
    }
}
