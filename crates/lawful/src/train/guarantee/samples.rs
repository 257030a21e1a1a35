//! States of the data at which laws are compared: their gradients, and whether these are independent.

use lawful_law::{Quantity, Steps, Workspace};
use lawful_ode::Scaling;

use crate::data::completed;
use crate::{Dataset, GuaranteedLaws, LearnedConstant, exact, extend_rows};

/// Most states of one trajectory, and most of all together.
const OF_ONE: usize = 16;
const ALL: usize = 256;
/// Gradients are dependent if one keeps less than this share of its length when the others are removed.
const DEPENDENT: f64 = 1e-8;

/// States of the data, with gaps filled.
pub(super) struct Samples {
    d: usize,
    scale: Vec<f64>,
    firsts: Vec<f64>,
    names: Vec<String>,
    times: Vec<f64>,
    /// States and learned constants, row after row.
    rows: Vec<f64>,
    inputs: Vec<f64>,
}

/// The scaled gradients `∇e∘s` of one quantity at all samples.
pub(super) struct Rows {
    d: usize,
    rows: Vec<f64>,
}

/// Orthonormal gradients of several laws at all samples: those of one law after the other.
#[derive(Default)]
pub(super) struct Gradients {
    laws: Vec<Rows>,
}

impl Samples {
    pub(super) fn new(dataset: &Dataset, constants: &[LearnedConstant], scaling: &Scaling) -> Self {
        let (d, m) = (dataset.state().len(), dataset.inputs().len());
        let firsts: Vec<f64> = constants.iter().map(|constant| constant.start).collect();
        let each = (ALL / dataset.trajectories().len()).clamp(1, OF_ONE);
        let (mut times, mut states, mut inputs) = (Vec::new(), Vec::new(), Vec::new());
        for trajectory in dataset.trajectories() {
            let filled = completed(trajectory, scaling);
            for row in (0..trajectory.len()).step_by(trajectory.len().div_ceil(each)) {
                times.push(trajectory.times[row]);
                states.extend_from_slice(&filled[row * d..][..d]);
                inputs.extend_from_slice(&trajectory.inputs[row * m..][..m]);
            }
        }
        let mut rows = Vec::new();
        extend_rows(&states, d, &firsts, &mut rows);
        let (scale, names) = (scaling.state.clone(), dataset.state().to_vec());
        Self { d, scale, firsts, names, times, rows, inputs }
    }

    /// Returns the scaled gradients of a quantity.
    pub(super) fn gradients(&self, quantity: &Quantity) -> Rows {
        let steps = Steps { times: &self.times, states: &self.rows, inputs: &self.inputs };
        let mut workspace = Workspace::new();
        let (mut values, mut bars) = (vec![0.0; self.times.len()], vec![0.0; self.rows.len()]);
        quantity.values(&steps, &mut workspace, &mut values);
        let ones = vec![1.0; self.times.len()];
        quantity.pull_back(&steps, &mut workspace, &ones, &mut bars);
        let width = self.d + self.firsts.len();
        let rows = bars
            .chunks_exact(width)
            .flat_map(|row| row[..self.d].iter().zip(&self.scale).map(|(bar, scale)| bar * scale));
        Rows { d: self.d, rows: rows.collect() }
    }

    /// Returns the largest value of a quantity at the samples, moved to these laws.
    pub(super) fn farthest(&self, quantity: &Quantity, laws: &mut GuaranteedLaws) -> f64 {
        let (mut workspace, mut value) = (Workspace::new(), [0.0]);
        let width = self.d + self.firsts.len();
        let m = self.inputs.len() / self.times.len();
        let mut farthest = 0.0_f64;
        for (n, (t, row)) in self.times.iter().zip(self.rows.chunks_exact(width)).enumerate() {
            let mut row = row.to_vec();
            if laws.project(*t, &mut row[..self.d]).is_ok() {
                let inputs = &self.inputs[n * m..][..m];
                let steps = Steps { times: &[*t], states: &row, inputs };
                quantity.values(&steps, &mut workspace, &mut value);
                farthest = farthest.max(value[0].abs());
            }
        }
        farthest
    }

    /// Returns where a sample is: `at t = 1, where x = 0, y = 2`.
    pub(super) fn place(&self, sample: usize) -> String {
        let width = self.d + self.firsts.len();
        let row = &self.rows[sample * width..][..self.d];
        let state = self.names.iter().zip(row);
        let state: Vec<String> = state.map(|(name, y)| format!("{name} = {}", exact(*y))).collect();
        format!("at t = {}, where {}", exact(self.times[sample]), state.join(", "))
    }
}

impl Rows {
    /// Returns the root mean square of their lengths: the size of the quantity.
    pub(super) fn size(&self) -> f64 {
        let squares = self.rows.iter().filter(|x| x.is_finite()).map(|x| x * x).sum::<f64>();
        (squares * self.d as f64 / self.rows.len() as f64).sqrt()
    }
}

impl Gradients {
    /// Returns whether gradients are independent of these at all samples; `false` if they are at none.
    ///
    /// # Errors
    /// If they are at some samples only: one at which they are not.
    pub(super) fn are_independent_of(&self, rows: &Rows) -> Result<bool, usize> {
        let size = rows.size();
        let independent: Vec<bool> = (0..rows.rows.len() / rows.d)
            .map(|sample| {
                let mut row = rows.at(sample).to_vec();
                let before = norm(&row);
                self.remove(sample, &mut row);
                before > DEPENDENT * size && norm(&row) > DEPENDENT * before
            })
            .collect();
        match independent.iter().position(|independent| !independent) {
            None => Ok(true),
            Some(_) if !independent.contains(&true) => Ok(false),
            Some(sample) => Err(sample),
        }
    }

    /// Adds gradients that are independent of these.
    pub(super) fn add(&mut self, mut rows: Rows) {
        let d = rows.d;
        for sample in 0..rows.rows.len() / d {
            let row = &mut rows.rows[sample * d..][..d];
            self.remove(sample, row);
            let length = norm(row);
            for x in row {
                *x /= length;
            }
        }
        self.laws.push(rows);
    }

    /// Removes the components along these gradients, twice for orthogonality to rounding.
    fn remove(&self, sample: usize, row: &mut [f64]) {
        for _ in 0..2 {
            for law in &self.laws {
                let along: f64 = law.at(sample).iter().zip(&*row).map(|(u, x)| u * x).sum();
                row.iter_mut().zip(law.at(sample)).for_each(|(x, u)| *x -= along * u);
            }
        }
    }
}

impl Rows {
    fn at(&self, sample: usize) -> &[f64] {
        &self.rows[sample * self.d..][..self.d]
    }
}

fn norm(row: &[f64]) -> f64 {
    row.iter().map(|x| x * x).sum::<f64>().sqrt()
}
