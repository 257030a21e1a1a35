//! The table of one trajectory on which laws hold: an augmented Lagrangian on the table itself.

use lawful_law::{Law, Relation, Steps, Workspace};

use super::curvature::Curvature;
use super::minimise::minimise;

/// First penalty, its factor after a round, and the largest.
const RHO: f64 = 10.0;
const RHO_FACTOR: f64 = 3.0;
const RHO_MOST: f64 = 1e4;
/// Rounds of the augmented Lagrangian.
const ROUNDS: usize = 20;
/// At the largest penalty, residuals that stay above this share of those before never vanish.
const STAYS: f64 = 0.99;

/// How closely a table is computed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    /// Evaluations of a round.
    pub(crate) evaluations: usize,
    /// Residuals that count as 0, in units of the law.
    pub(crate) held: f64,
    /// Derivatives that count as 0.
    pub(crate) flat: f64,
}

impl Default for Effort {
    fn default() -> Self {
        Self { evaluations: 1500, held: 1e-7, flat: 1e-10 }
    }
}

/// The rows of one trajectory in which laws are to hold, in units of order one: `y = centre + scale z`.
#[derive(Debug, Clone)]
pub(crate) struct Rows<'a> {
    /// Times, increasing, and the row of the trajectory of each.
    pub(crate) times: Vec<f64>,
    pub(crate) numbers: Vec<usize>,
    /// Inputs, row after row.
    pub(crate) inputs: Vec<f64>,
    /// Measured cells: index in z, and value.
    pub(crate) cells: Vec<(usize, f64)>,
    /// The weight of each state variable's squared misfits.
    pub(crate) weights: Vec<f64>,
    /// The z from which the search starts.
    pub(crate) guess: Vec<f64>,
    pub(crate) centre: &'a [f64],
    pub(crate) scale: &'a [f64],
    /// Values of learned constants, which laws read behind the state.
    pub(crate) constants: &'a [f64],
}

/// A law, its size, and the rows (positions in [`Rows`]) at which it has a residual.
#[derive(Debug)]
pub(crate) struct LawPoints<'a> {
    pub(crate) law: &'a Law,
    pub(crate) size: f64,
    pub(crate) points: Vec<usize>,
}

/// The table that was found.
#[derive(Debug, Clone)]
pub(crate) struct Solution {
    /// The states in units of order one, row after row.
    pub(crate) z: Vec<f64>,
    /// The largest violation of each law, in units of the law.
    pub(crate) left: Vec<f64>,
}

/// Returns the table: the minimum of
///
/// ```text
/// mean over measured cells of w (z − measured)² + smoothness · Σ D²     such that every law holds
/// ```
///
/// with the second divided differences `D` of [`Curvature`]. With residuals `c` in units of the law's size
/// and T rows, every round minimises the above plus
///
/// ```text
/// 1/T Σ λc + ½ρc²                     for equalities
/// 1/T Σ ([λ + ρc]⁺² − λ²)/2ρ          for inequalities
/// ```
///
/// by L-BFGS; then `λ ← λ + ρc`, or its positive part, and ρ grows.
pub(crate) fn solve(
    rows: &Rows<'_>,
    laws: &[LawPoints<'_>],
    smoothness: f64,
    effort: Effort,
) -> Solution {
    let mut search = Search::new(rows, laws, smoothness);
    let mut z = rows.guess.clone();
    let (mut rho, mut before) = (RHO, f64::INFINITY);
    for _ in 0..ROUNDS {
        minimise(&mut z, effort.evaluations, effort.flat, |z, bar| search.evaluate(z, rho, bar));
        let moved = search.update_multipliers(&z, rho);
        let residual = moved / rho;
        let stays = rho >= RHO_MOST && residual > STAYS * before;
        if residual <= effort.held || stays {
            break;
        }
        before = residual;
        rho = (RHO_FACTOR * rho).min(RHO_MOST);
    }
    let left = search.violations(&z);
    Solution { z, left }
}

/// Returns the largest violation of each law at z, in units of the law.
pub(crate) fn violations(rows: &Rows<'_>, laws: &[LawPoints<'_>], z: &[f64]) -> Vec<f64> {
    Search::new(rows, laws, 0.0).violations(z)
}

/// The augmented Lagrangian with its buffers.
struct Search<'a> {
    rows: &'a Rows<'a>,
    laws: &'a [LawPoints<'a>],
    smoothness: f64,
    curvature: Curvature,
    multipliers: Vec<Vec<f64>>,
    /// States with constants behind each row, and their adjoints.
    states: Vec<f64>,
    states_bar: Vec<f64>,
    residuals: Vec<f64>,
    residual_bar: Vec<f64>,
    workspace: Workspace,
}

impl<'a> Search<'a> {
    fn new(rows: &'a Rows<'a>, laws: &'a [LawPoints<'a>], smoothness: f64) -> Self {
        let n = rows.times.len();
        let width = rows.scale.len() + rows.constants.len();
        Self {
            rows,
            laws,
            smoothness,
            curvature: Curvature::new(&rows.times),
            multipliers: laws.iter().map(|law| vec![0.0; law.points.len()]).collect(),
            states: vec![0.0; n * width],
            states_bar: vec![0.0; n * width],
            residuals: vec![0.0; n],
            residual_bar: vec![0.0; n],
            workspace: Workspace::new(),
        }
    }

    /// Writes the states at z.
    fn set_states(&mut self, z: &[f64]) {
        let Rows { centre, scale, constants, .. } = self.rows;
        let (d, width) = (scale.len(), scale.len() + constants.len());
        for (row, z) in self.states.chunks_exact_mut(width).zip(z.chunks_exact(d)) {
            for (i, state) in row[..d].iter_mut().enumerate() {
                *state = centre[i] + scale[i] * z[i];
            }
            row[d..].copy_from_slice(constants);
        }
    }

    /// Returns the augmented Lagrangian at z, and writes its gradient.
    fn evaluate(&mut self, z: &[f64], rho: f64, z_bar: &mut [f64]) -> f64 {
        z_bar.fill(0.0);
        let (d, n) = (self.rows.scale.len(), self.rows.times.len());
        let mut value = self.curvature.add(z, d, self.smoothness, z_bar);
        let share = 1.0 / self.rows.cells.len().max(1) as f64;
        for &(cell, measured) in &self.rows.cells {
            let error = z[cell] - measured;
            let share = share * self.rows.weights[cell % d];
            value += share * error * error;
            z_bar[cell] += 2.0 * share * error;
        }
        self.set_states(z);
        let steps =
            Steps { times: &self.rows.times, states: &self.states, inputs: &self.rows.inputs };
        self.states_bar.fill(0.0);
        let share = 1.0 / n as f64;
        for (LawPoints { law, size, points }, multipliers) in
            self.laws.iter().zip(&self.multipliers)
        {
            law.residuals(&steps, &mut self.workspace, &mut self.residuals);
            self.residual_bar.fill(0.0);
            for (&point, &lambda) in points.iter().zip(multipliers) {
                let c = self.residuals[point] / size;
                let force = match law.relation() {
                    Relation::Equality => {
                        value += share * (lambda * c + 0.5 * rho * c * c);
                        lambda + rho * c
                    }
                    Relation::AtMost => {
                        // Not `f64::max`, which would return 0 for NaN.
                        let force = if lambda + rho * c <= 0.0 { 0.0 } else { lambda + rho * c };
                        value += share * (force * force - lambda * lambda) / (2.0 * rho);
                        force
                    }
                };
                self.residual_bar[point] = share * force / size;
            }
            let (workspace, bars) = (&mut self.workspace, &mut self.states_bar);
            law.pull_back(&steps, workspace, &self.residual_bar, bars);
        }
        let width = d + self.rows.constants.len();
        for (z_bar, states_bar) in
            z_bar.chunks_exact_mut(d).zip(self.states_bar.chunks_exact(width))
        {
            for ((z_bar, bar), scale) in z_bar.iter_mut().zip(states_bar).zip(self.rows.scale) {
                *z_bar += scale * bar;
            }
        }
        value
    }

    /// Updates the multipliers at z. Returns the largest change.
    fn update_multipliers(&mut self, z: &[f64], rho: f64) -> f64 {
        self.set_states(z);
        let steps =
            Steps { times: &self.rows.times, states: &self.states, inputs: &self.rows.inputs };
        let mut largest = 0.0_f64;
        for (LawPoints { law, size, points }, multipliers) in
            self.laws.iter().zip(&mut self.multipliers)
        {
            law.residuals(&steps, &mut self.workspace, &mut self.residuals);
            for (&point, lambda) in points.iter().zip(multipliers) {
                let moved = *lambda + rho * self.residuals[point] / size;
                let new = match law.relation() {
                    Relation::Equality => moved,
                    Relation::AtMost => moved.max(0.0),
                };
                largest = largest.max((new - *lambda).abs());
                *lambda = new;
            }
        }
        largest
    }

    /// Returns the largest violation of each law at z, in units of the law; infinite where it has no
    /// finite value.
    fn violations(&mut self, z: &[f64]) -> Vec<f64> {
        self.set_states(z);
        let steps =
            Steps { times: &self.rows.times, states: &self.states, inputs: &self.rows.inputs };
        let mut largest = Vec::with_capacity(self.laws.len());
        for LawPoints { law, size, points } in self.laws {
            law.residuals(&steps, &mut self.workspace, &mut self.residuals);
            let violations =
                points.iter().map(|&n| law.relation().violation(self.residuals[n] / size, 0.0));
            let worst = |a: f64, b: f64| if b.is_finite() { a.max(b) } else { f64::INFINITY };
            largest.push(violations.fold(0.0, worst));
        }
        largest
    }
}
