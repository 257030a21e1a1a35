//! Layers: the points of all segments at which some of the laws have a residual.
//!
//! The first layer has every point of the paths. Laws whose meaning depends on their neighbours see a layer
//! of rows only, with the states of the first one.

use std::ops::Range;

use lawful_law::{Law, Steps};

use super::rates::Rows;
use crate::extend_rows;

/// The place of one segment in the flat arrays of a [`Layer`], and which of its points count.
#[derive(Debug, Clone)]
pub(super) struct SegmentPoints {
    /// Its points, including the lead.
    pub(super) points: Range<usize>,
    /// 1 if a lead with the trajectory's initial state precedes the segment, for `initial(…)`: a segment
    /// that starts later does not contain that state.
    pub(super) lead: usize,
    /// The first point that counts, as an offset in `points`: for its own terms, and as a neighbour.
    pub(super) first: usize,
    /// 1 if the point at `first` is measured, not predicted, because the segment starts there in the
    /// middle of its trajectory. It has no error, and no residual that depends only on it and earlier
    /// points: that would be a violation of the data, not of the path.
    pub(super) measured: usize,
    /// Whether it ends at the last point of its trajectory.
    pub(super) to_end: bool,
    /// Index of the trajectory's initial state, if that is not the measured one.
    pub(super) initial: Option<usize>,
    /// Index of its first point, without the lead, among all points of the data.
    pub(super) identity: usize,
}

impl SegmentPoints {
    /// Returns the points at which a law has a residual, as offsets in `points`.
    pub(super) fn residuals(&self, law: &Law) -> Range<usize> {
        let reach = law.reach();
        let n = self.points.len();
        // The path contains the points after the initial one only if it starts there.
        let initial_exists = reach.initial.is_none_or(|ahead| ahead == 0 || self.lead == 0);
        let final_exists = reach.final_.is_none_or(|back| {
            self.to_end && n.checked_sub(back + 1).is_some_and(|row| row >= self.first)
        });
        let uses_later_points = reach.ahead > 0 || reach.final_.is_some();
        let measured = if uses_later_points { 0 } else { self.measured };
        let range = reach.range(n);
        let first = self.first + reach.back.max(measured);
        if initial_exists && final_exists && first < range.end { first..range.end } else { 0..0 }
    }
}

/// Points of all segments, one after the other.
#[derive(Debug, Default)]
pub(super) struct Layer {
    pub(super) segments: Vec<SegmentPoints>,
    /// Number of points in all data, which number the residuals.
    pub(super) total: usize,
    /// Index of each point in the first layer; empty in that one.
    pub(super) from: Vec<usize>,
    /// Times, predicted states and inputs.
    pub(super) times: Vec<f64>,
    pub(super) states: Vec<f64>,
    pub(super) inputs: Vec<f64>,
    /// The rates of the field, if a law uses them.
    pub(super) rates: Vec<f64>,
    /// States and rates with the learned constants, or 0, behind each row; empty without constants.
    extended: Vec<f64>,
    extended_rates: Vec<f64>,
    /// Adjoints of states and rates.
    pub(super) state_bar: Vec<f64>,
    pub(super) rates_bar: Vec<f64>,
}

impl Layer {
    /// Removes all points and keeps the allocations.
    pub(super) fn clear(&mut self) {
        self.segments.clear();
        for numbers in [&mut self.times, &mut self.states, &mut self.inputs] {
            numbers.clear();
        }
        self.from.clear();
    }

    /// Copies states and rates from the first layer.
    pub(super) fn copy_from(&mut self, all: &Self, d: usize) {
        let copy = |to: &mut Vec<f64>, from: &[f64], rows: &[usize]| {
            to.clear();
            for &row in rows {
                to.extend_from_slice(&from[row * d..][..d]);
            }
        };
        copy(&mut self.states, &all.states, &self.from);
        if !all.rates.is_empty() {
            copy(&mut self.rates, &all.rates, &self.from);
        }
    }

    /// Puts the learned constants behind each row of states, and as many 0 behind each row of rates: they do
    /// not change in time.
    pub(super) fn extend(&mut self, d: usize, constants: &[f64]) {
        extend_rows(&self.states, d, constants, &mut self.extended);
        extend_rows(&self.rates, d, constants, &mut self.extended_rates);
        for row in self.extended_rates.chunks_exact_mut(d + constants.len()) {
            row[d..].fill(0.0);
        }
    }

    /// Sets the adjoints to 0.
    pub(super) fn reset_bars(&mut self) {
        for (bar, len) in
            [(&mut self.state_bar, self.states.len()), (&mut self.rates_bar, self.rates.len())]
        {
            bar.clear();
            bar.resize(len, 0.0);
        }
    }

    /// Adds the adjoints to those of the first layer.
    pub(super) fn add_bars_to(&self, all: &mut Self, d: usize) {
        let add = |to: &mut [f64], bars: &[f64]| {
            for (&row, bar) in self.from.iter().zip(bars.chunks_exact(d)) {
                to[row * d..][..d].iter_mut().zip(bar).for_each(|(sum, bar)| *sum += bar);
            }
        };
        add(&mut all.state_bar, &self.state_bar);
        add(&mut all.rates_bar, &self.rates_bar);
    }

    /// Returns all rows as points at which the field is evaluated, and the adjoints of rates and states.
    pub(super) fn rows(&mut self) -> (Rows<'_>, &mut [f64], &[f64], &mut [f64]) {
        let Self { times, states, inputs, rates, rates_bar, state_bar, .. } = self;
        (Rows { times, states, inputs }, rates, rates_bar, state_bar)
    }

    /// Returns the points of a segment as a law sees them, with its rates if the law uses them.
    pub(super) fn steps(&self, n: usize, law: &Law) -> (Steps<'_>, Option<&[f64]>) {
        let rows = self.segments[n].points.clone();
        let (of_states, of_rates) = if self.extended.is_empty() {
            (&self.states, &self.rates)
        } else {
            (&self.extended, &self.extended_rates)
        };
        let total = self.times.len();
        let (d, m) = (of_states.len() / total, self.inputs.len() / total);
        let steps = Steps {
            times: &self.times[rows.clone()],
            states: &of_states[rows.start * d..rows.end * d],
            inputs: &self.inputs[rows.start * m..rows.end * m],
        };
        let rates = law.uses_rates().then(|| &of_rates[rows.start * d..rows.end * d]);
        (steps, rates)
    }
}
