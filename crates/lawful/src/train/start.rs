//! Where a training starts: at random weights, or at the states nearest to the data on which its laws
//! hold.

use lawful_law::{Enforcement, Law};
use lawful_ode::VectorField;

use super::Prepared;
use crate::consistent::{Rows, TableMaker, minimise};
use crate::data::{has_own_scale, scaling_by, spread_on};
use crate::objective::initial_z;
use crate::strategy::StrategySettings;
use crate::{
    ConsistentTable, Dataset, LearnedConstant, Objective, TableSettings, noise, scaling, units,
};

/// Where a training starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Start {
    /// At random weights; states that are not measured start near the neighbouring rows.
    #[default]
    Random,
    /// At the [`ConsistentTable`]: random weights are fitted to its slopes (gradient matching), trained
    /// starts begin on it, and it gives a scale to state variables that are hardly measured. Where
    /// there is no such table, at random.
    Table,
}

impl Start {
    /// The words of an experiment file.
    pub const NAMES: [(&'static str, Self); 2] = [("table", Self::Table), ("random", Self::Random)];

    /// Returns the word for this in an experiment file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Table => "table",
        }
    }
}

/// Largest factor of the smoothness of a table, in powers of ten: it grows with the noise.
const SMOOTHER: i32 = 5;
/// A table on which laws hold less than this, in units of the law, is none.
const HELD: f64 = 1e-3;
/// Misfits, in standard deviations, above which a table does not fit the data.
const FITS: f64 = 0.1;
/// A state variable with few cells is known if it varies by this share of its guessed scale.
const VARIES: f64 = 0.02;
/// Most trajectories and rows for which a table is made: some seconds of work.
const MOST_TRAJECTORIES: usize = 200;
const MOST_ROWS: usize = 100_000;
/// Evaluations of the gradient matching, and most rows of it.
const EVALUATIONS: usize = 300;
const ROWS: usize = 2000;
/// Rows that are evaluated together.
const COLUMNS: usize = 64;

/// Returns the table of a training's start; `None` where no law is enforced, where the laws contradict
/// each other or the data, or leave open how a state variable with few cells moves; and for more than 200
/// trajectories or 100 000 rows.
///
/// Its smoothness is the largest of 1e-3, 1e-2, … at which its misfit is not above the noise. Laws that
/// use rates or learned constants do not shape it.
pub(super) fn table(
    dataset: &Dataset,
    laws: &[Law],
    constants: &[LearnedConstant],
    strategy: &StrategySettings,
) -> Option<ConsistentTable> {
    if dataset.trajectories().len() > MOST_TRAJECTORIES || dataset.rows() > MOST_ROWS {
        return None;
    }
    let scaling = scaling(dataset);
    let units = units(dataset, laws, constants, &scaling);
    let settings = TableSettings::default();
    let maker = TableMaker { dataset, laws, constants, scaling: &scaling, units: &units, settings };
    let d = dataset.state().len();
    let firsts = maker.firsts();
    let rows: Vec<Rows<'_>> = if constants.is_empty() {
        Vec::new()
    } else {
        dataset.trajectories().iter().map(|trajectory| maker.rows(trajectory, &firsts)).collect()
    };
    let shapes = |(k, law): (usize, &Law)| {
        let enforced = match law.enforcement() {
            Enforcement::Penalty => strategy.kind.enforces(),
            Enforcement::Hard => true,
            Enforcement::Monitor => false,
        };
        let known = !maker.depends(k, &rows)[d..].contains(&true);
        (enforced && known && !law.uses_rates()).then(|| law.clone())
    };
    let laws: Vec<Law> = laws.iter().enumerate().filter_map(shapes).collect();
    if laws.is_empty() {
        return None;
    }
    let units = crate::units(dataset, &laws, constants, &scaling);
    let make = |factor: f64| {
        let smoothness = factor * TableSettings::default().smoothness;
        let settings = TableSettings { smoothness, ..TableSettings::default() };
        ConsistentTable::new(dataset, &laws, constants, (&scaling, &units), settings)
    };
    let levels = noise(dataset);
    let level = (levels.iter().map(|level| level * level).sum::<f64>() / d as f64).sqrt();
    let mut found = make(1.0);
    if !found.holds(HELD) || found.total_misfit > FITS.max(3.0 * level) {
        return None;
    }
    for power in 1..=SMOOTHER {
        let smoother = make(10.0_f64.powi(power));
        if !smoother.holds(HELD) || smoother.total_misfit > level {
            break;
        }
        found = smoother;
    }
    let is_known = |i: usize| {
        has_own_scale(dataset, i) || spread_on(&found, d, i).1 > VARIES * scaling.state[i]
    };
    (0..d).all(is_known).then_some(found)
}

impl Prepared {
    /// Fits the field's parameters to the slopes of the table, in units of the rates, by gradient
    /// matching:
    ///
    /// ```text
    /// mean over rows n and state variables i of ((f_i(t_n, y_n; θ) − ẏ_ni)/rate_i)²  + decay/2 Σ θ²
    /// ```
    ///
    /// with the states y and slopes ẏ of the table. Rows at which the field has no finite value are left
    /// out.
    pub(super) fn match_slopes(&self, table: &ConsistentTable, theta: &mut [f64]) {
        let rates = self.scaling.clone().unwrap_or_else(|| scaling_by(&self.data, table)).rate;
        let mut matching = Matching::new(self.build_field(), &self.data, table, rates);
        let (decayed, decay) = (self.shape().parameter_len(), self.decay);
        let mut fitted = theta[..self.parameter_len()].to_vec();
        let value = |theta: &[f64], bar: &mut [f64]| {
            let mut value = matching.evaluate(theta, bar);
            for (theta, bar) in theta[..decayed].iter().zip(bar) {
                value += 0.5 * decay * theta * theta;
                *bar += decay * theta;
            }
            value
        };
        minimise(&mut fitted, EVALUATIONS, 1e-12, value);
        if fitted.iter().all(|theta| theta.is_finite()) {
            theta[..fitted.len()].copy_from_slice(&fitted);
        }
    }

    /// Returns the z of trained initial states that start on the table.
    pub(super) fn starts_on(&self, table: &ConsistentTable) -> Vec<f64> {
        let states: Vec<&[f64]> = table.trajectories.iter().map(|rows| &rows.states[..]).collect();
        initial_z(&self.split().0, &states)
    }

    /// Moves the free starts of segments to the table.
    pub(super) fn place_segments(&self, objective: &Objective, theta: &mut [f64]) {
        let Some(table) = &self.table else { return };
        let d = self.data.state().len();
        objective.start_at(theta, |trajectory, row| {
            let states = &table.trajectories[trajectory].states;
            states.get(row * d..(row + 1) * d).filter(|_| row > 0)
        });
    }
}

/// The rows of a table at which slopes are matched.
struct Matching {
    field: Box<dyn VectorField>,
    rates: Vec<f64>,
    times: Vec<f64>,
    states: Vec<f64>,
    slopes: Vec<f64>,
    inputs: Vec<f64>,
    found: Vec<f64>,
}

impl Matching {
    fn new(
        mut field: Box<dyn VectorField>,
        dataset: &Dataset,
        table: &ConsistentTable,
        rates: Vec<f64>,
    ) -> Self {
        let (d, m) = (dataset.state().len(), field.input_len());
        let stride = dataset.rows().div_ceil(ROWS);
        let (mut times, mut states, mut slopes, mut inputs) = (vec![], vec![], vec![], vec![]);
        for (trajectory, rows) in dataset.trajectories().iter().zip(&table.trajectories) {
            for row in (0..trajectory.len()).step_by(stride) {
                times.push(trajectory.times[row]);
                states.extend_from_slice(&rows.states[row * d..][..d]);
                slopes.extend_from_slice(&rows.slopes[row * d..][..d]);
                inputs.extend_from_slice(&trajectory.inputs[row * m..][..m]);
            }
        }
        field.reserve(times.len().div_ceil(COLUMNS), COLUMNS);
        let found = vec![0.0; states.len()];
        Self { field, rates, times, states, slopes, inputs, found }
    }

    /// Returns the mean square at θ, and writes its gradient.
    fn evaluate(&mut self, theta: &[f64], bar: &mut [f64]) -> f64 {
        bar.fill(0.0);
        let (d, m) = (self.rates.len(), self.field.input_len());
        self.field.set_parameters(theta);
        let share = 1.0 / self.slopes.len() as f64;
        let mut value = 0.0;
        for (slot, times) in self.times.chunks(COLUMNS).enumerate() {
            let first = slot * COLUMNS;
            let cells = first * d..(first + times.len()) * d;
            let inputs = &self.inputs[first * m..(first + times.len()) * m];
            let found = &mut self.found[cells.clone()];
            self.field.eval(slot, times, &self.states[cells.clone()], inputs, found);
            // From here on, the adjoints of the rates.
            for (found, slopes) in found.chunks_exact_mut(d).zip(self.slopes[cells].chunks_exact(d))
            {
                let is_finite = found.iter().all(|rate| rate.is_finite());
                for ((found, slope), rate) in found.iter_mut().zip(slopes).zip(&self.rates) {
                    let error = if is_finite { (*found - slope) / rate } else { 0.0 };
                    value += share * error * error;
                    *found = 2.0 * share * error / rate;
                }
            }
            self.field.pull_back_parameters(slot, found);
        }
        self.field.flush(bar);
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Laws, Training};

    /// An epidemic of which only the infected are counted after the first row.
    fn epidemic() -> Dataset {
        let (mut y, h) = ([0.99, 0.01, 0.0], 0.01);
        let (mut times, mut states) = (Vec::new(), Vec::new());
        for n in 0..=3900 {
            if n % 300 == 0 {
                times.push(h * f64::from(n));
                let unmeasured = |y: f64| if n == 0 { y } else { f64::NAN };
                states.extend([unmeasured(y[0]), y[1], unmeasured(y[2])]);
            }
            let (infected, recovered) = (1.2 * y[0] * y[1], 0.4 * y[1]);
            y = [y[0] - h * infected, y[1] + h * (infected - recovered), y[2] + h * recovered];
        }
        Dataset::single(&["S", "I", "R"], times, states).unwrap()
    }

    fn prepared(start: Start) -> Prepared {
        let data = epidemic();
        let laws = ["S + I + R == 1", "next(S) <= S", "next(R) >= R", "S >= 0"];
        let laws = Laws::parse(&data, laws).unwrap();
        Training::new(data).laws(laws).start(start).seed(2).prepare().unwrap()
    }

    #[test]
    fn hardly_measured_states_get_the_scale_of_the_table() {
        let scale = |start| prepared(start).scaling.unwrap().state;
        let (random, table) = (scale(Start::Random), scale(Start::Table));
        // S falls from 1 to some 0.05.
        assert!(random[0] < 0.15 && table[0] > 0.25, "{random:?}, {table:?}");
        assert!((random[1] - table[1]).abs() < 1e-15);
    }

    #[test]
    fn slopes_are_matched_and_starts_are_placed_on_the_table() {
        let prepared = prepared(Start::Table);
        let table = prepared.table.clone().unwrap();
        let rates = prepared.scaling.clone().unwrap().rate;
        let mut matching = Matching::new(prepared.build_field(), &prepared.data, &table, rates);
        let theta = prepared.initial_theta();
        let mut bar = vec![0.0; prepared.parameter_len()];
        let at_start = matching.evaluate(&theta[..bar.len()], &mut bar);
        let drawn = prepared.field.init.draw(&prepared.shape(), 2);
        let drawn = matching.evaluate(&drawn, &mut bar);
        assert!(at_start < 0.05 * drawn, "{at_start} of {drawn}");
        assert_eq!(theta, prepared.initial_theta());
    }

    #[test]
    fn the_gradient_of_matching_is_exact() {
        let prepared = prepared(Start::Table);
        let table = prepared.table.clone().unwrap();
        let rates = prepared.scaling.clone().unwrap().rate;
        let mut matching = Matching::new(prepared.build_field(), &prepared.data, &table, rates);
        let mut theta = prepared.field.init.draw(&prepared.shape(), 2);
        let (mut bar, mut other) = (vec![0.0; theta.len()], vec![0.0; theta.len()]);
        matching.evaluate(&theta, &mut bar);
        for n in (0..theta.len()).step_by(97) {
            let h = 1e-5;
            theta[n] += h;
            let above = matching.evaluate(&theta, &mut other);
            theta[n] -= 2.0 * h;
            let below = matching.evaluate(&theta, &mut other);
            theta[n] += h;
            let difference = (above - below) / (2.0 * h);
            assert!(
                (difference - bar[n]).abs() <= 1e-6 * bar[n].abs() + 1e-9,
                "{n}: {difference} {}",
                bar[n]
            );
        }
    }
}
