//! Learned constants that laws use: laws read them as variables behind the state.

use crate::LearnedConstant;

/// The values of learned constants, and their adjoints.
#[derive(Debug, Default)]
pub(super) struct Learned {
    pub(super) values: Vec<f64>,
    bars: Vec<f64>,
    /// Scratch: adjoints of the states, and of the rates, of one segment with the constants behind each.
    pub(super) rows_bar: Vec<f64>,
    pub(super) rates_bar: Vec<f64>,
}

impl Learned {
    /// Computes the values at θ, of which the last numbers are the constants'.
    pub(super) fn set(&mut self, constants: &[LearnedConstant], theta: &[f64]) {
        let raw = &theta[theta.len() - constants.len()..];
        self.values.clear();
        self.values.extend(constants.iter().zip(raw).map(|(constant, &raw)| constant.value(raw)));
    }

    /// Sets all adjoints to 0.
    pub(super) fn reset(&mut self) {
        self.bars.clear();
        self.bars.resize(self.values.len(), 0.0);
    }

    /// Sets the adjoints of extended rows of a segment to as many zeros, and those of rates.
    pub(super) fn clear_rows(&mut self, len: usize, rates: bool) {
        self.rows_bar.clear();
        self.rows_bar.resize(len, 0.0);
        self.rates_bar.clear();
        self.rates_bar.resize(if rates { len } else { 0 }, 0.0);
    }

    /// Adds the adjoints of extended rows to those of the states and of the constants.
    pub(super) fn gather(&mut self, state_bar: &mut [f64], d: usize) {
        let width = d + self.values.len();
        for (row, state_bar) in self.rows_bar.chunks_exact(width).zip(state_bar.chunks_exact_mut(d))
        {
            let (of_state, of_constants) = row.split_at(d);
            for (sum, bar) in state_bar.iter_mut().zip(of_state) {
                *sum += bar;
            }
            for (sum, bar) in self.bars.iter_mut().zip(of_constants) {
                *sum += bar;
            }
        }
    }

    /// Adds the adjoints of extended rates to those of the rates; constants do not change in time.
    pub(super) fn gather_rates(&self, rates_bar: &mut [f64], d: usize) {
        let width = d + self.values.len();
        for (row, bar) in self.rates_bar.chunks_exact(width).zip(rates_bar.chunks_exact_mut(d)) {
            bar.iter_mut().zip(row).for_each(|(sum, bar)| *sum += bar);
        }
    }

    /// Adds the adjoints of the constants to those of the field's parameters.
    pub(super) fn add_to(&self, constants: &[LearnedConstant], theta: &[f64], bar: &mut [f64]) {
        let first = theta.len() - constants.len();
        let slopes = constants.iter().zip(&theta[first..]).map(|(c, &raw)| c.slope(raw));
        for ((sum, slope), bar) in bar[first..].iter_mut().zip(slopes).zip(&self.bars) {
            *sum += slope * bar;
        }
    }
}
