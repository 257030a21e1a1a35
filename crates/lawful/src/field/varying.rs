//! Learned constants that have one value for each trajectory.

use super::LearnedConstant;

/// The values of constants that differ from column to column.
///
/// ```text
/// value = constant(raw + deviation)
/// ```
///
/// with the raw number that all columns share and the deviation of each, which is an effect: the bounds of the
/// constant hold for every column.
#[derive(Debug, Clone, Default)]
pub(super) struct Varying {
    /// The index of each among the learned constants.
    constants: Vec<usize>,
    /// For each column and constant: deviation, value, its slope by the raw number, and the adjoint of the
    /// deviation.
    deviations: Vec<f64>,
    values: Vec<f64>,
    slopes: Vec<f64>,
    bars: Vec<f64>,
    /// The adjoint of the raw number of each constant.
    raw_bars: Vec<f64>,
}

impl Varying {
    pub(super) fn new(constants: Vec<usize>) -> Self {
        Self { raw_bars: vec![0.0; constants.len()], constants, ..Self::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.constants.len()
    }

    /// Returns the deviations, column after column.
    pub(super) fn deviations(&self) -> &[f64] {
        &self.deviations
    }

    /// Makes room for this many columns, whose deviations are 0.
    pub(super) fn reserve(&mut self, columns: usize, all: &[LearnedConstant], raw: &[f64]) {
        let len = columns * self.len();
        if self.deviations.len() < len {
            for numbers in
                [&mut self.deviations, &mut self.values, &mut self.slopes, &mut self.bars]
            {
                numbers.resize(len, 0.0);
            }
            self.place(all, raw);
        }
    }

    /// Sets the deviations of the first columns; those beyond are 0. Drops all adjoints.
    pub(super) fn set(&mut self, deviations: &[f64], all: &[LearnedConstant], raw: &[f64]) {
        if self.len() > 0 {
            self.reserve(deviations.len() / self.len(), all, raw);
        }
        self.deviations[..deviations.len()].copy_from_slice(deviations);
        self.deviations[deviations.len()..].fill(0.0);
        self.place(all, raw);
    }

    /// Computes the values at the raw numbers of all learned constants. Drops all adjoints.
    pub(super) fn place(&mut self, all: &[LearnedConstant], raw: &[f64]) {
        self.bars.fill(0.0);
        self.raw_bars.fill(0.0);
        for (n, deviation) in self.deviations.iter().enumerate() {
            let constant = self.constants[n % self.constants.len()];
            let raw = raw[constant] + deviation;
            self.values[n] = all[constant].value(raw);
            self.slopes[n] = all[constant].slope(raw);
        }
    }

    /// Writes the values of a column over those of all constants.
    pub(super) fn write(&self, column: usize, constants: &mut [f64]) {
        let values = self.values.iter().skip(column * self.len());
        self.constants.iter().zip(values).for_each(|(&at, value)| constants[at] = *value);
    }

    /// Moves the adjoints of the values of a column to those of its raw numbers.
    pub(super) fn gather(&mut self, column: usize, constants_bar: &mut [f64]) {
        let first = column * self.len();
        for (k, &at) in self.constants.iter().enumerate() {
            let bar = self.slopes[first + k] * std::mem::take(&mut constants_bar[at]);
            self.bars[first + k] += bar;
            self.raw_bars[k] += bar;
        }
    }

    /// Adds the adjoints of the shared raw numbers to those of all learned constants, and forgets them.
    pub(super) fn add_to(&mut self, raw_bar: &mut [f64]) {
        for (&at, bar) in self.constants.iter().zip(&mut self.raw_bars) {
            raw_bar[at] += std::mem::take(bar);
        }
    }

    /// Adds the adjoints of the deviations of a column, and forgets them.
    pub(super) fn take_bars(&mut self, column: usize, deviations_bar: &mut [f64]) {
        let own = self.bars[column * self.constants.len()..].iter_mut();
        deviations_bar.iter_mut().zip(own).for_each(|(sum, bar)| *sum += std::mem::take(bar));
    }
}
