//! A matrix with its bias, in the order in which a product reads it.

use std::ops::Range;

use super::lanes::{Lanes, Real, flat_mut, packs, parts};

/// Up to this many outputs, which are then one pack, a product is a dot product per output.
pub(crate) const THIN: usize = 4;

/// Packs of outputs that are summed side by side, when there is one column: enough to hide the
/// latency of the additions, few enough for the registers.
pub(crate) const ONE_COLUMN: usize = 14;

/// The same when there are many columns, each of which needs sums of its own.
pub(crate) const MANY_COLUMNS: usize = 2;

/// `W` and `b` of `W x + b`, packed.
///
/// *Panels*: the outputs are cut into panels of some packs of lanes. A panel of width `R` is a
/// row of `R` packs with its biases, then for each input a row of `R` packs with its weights:
/// what the product reads is contiguous. Missing outputs in the last pack are zeros.
///
/// *Rows* (thin matrices): for each output the weights of all inputs, filled up with zeros to
/// whole packs; then one row with the biases.
pub(crate) struct Packed<T, const N: usize> {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    /// Empty if the matrix is stored as rows.
    pub(crate) panels: Vec<Panel>,
    pub(crate) data: Vec<Lanes<T, N>>,
}

/// Some neighbouring packs of outputs.
pub(crate) struct Panel {
    /// How many packs.
    pub(crate) width: usize,
    /// The first of them.
    pub(crate) first: usize,
    /// Where they are in `data`.
    pub(crate) data: Range<usize>,
}

impl<T: Real, const N: usize> Packed<T, N> {
    /// A zero matrix whose panels are at most `most` packs wide.
    pub(crate) fn new(outputs: usize, inputs: usize, most: usize) -> Self {
        if outputs <= THIN {
            let data = vec![Lanes::zero(); outputs * packs(inputs, N) + packs(outputs, N)];
            return Self { inputs, outputs, panels: Vec::new(), data };
        }
        let mut first = 0;
        let panel = |width| {
            let data = (1 + inputs) * first..(1 + inputs) * (first + width);
            let panel = Panel { width, first, data };
            first += width;
            panel
        };
        let panels = parts(packs(outputs, N), most).map(panel).collect();
        let data = vec![Lanes::zero(); (1 + inputs) * packs(outputs, N)];
        Self { inputs, outputs, panels, data }
    }

    /// Whether it is stored as rows.
    #[inline(always)]
    pub(crate) fn thin(&self) -> bool {
        self.panels.is_empty()
    }

    /// Fills in `W`, given row by row (`row(output)` has a weight per input), and `b`.
    #[inline(always)]
    pub(crate) fn fill_by_rows<'a>(&mut self, row: impl Fn(usize) -> &'a [f64], biases: &[f64]) {
        let (inputs, outputs) = (self.inputs, self.outputs);
        if self.thin() {
            let len = packs(inputs, N) * N;
            let (rows, rest) = flat_mut(&mut self.data).split_at_mut(outputs * len);
            for (o, weights) in rows.chunks_exact_mut(len).enumerate() {
                cast(row(o), &mut weights[..inputs]);
            }
            return cast(biases, &mut rest[..outputs]);
        }
        for panel in &self.panels {
            let (lanes, first) = (panel.width * N, panel.first * N);
            let used = lanes.min(outputs - first);
            let data = flat_mut(&mut self.data[panel.data.clone()]);
            cast(&biases[first..][..used], &mut data[..used]);
            for o in 0..used {
                let weights = data[lanes + o..].iter_mut().step_by(lanes);
                weights.zip(row(first + o)).for_each(|(to, from)| *to = T::from_f64(*from));
            }
        }
    }

    /// Fills in `W`, given column by column (`column(input)` has a weight per output); `b = 0`.
    #[inline(always)]
    pub(crate) fn fill_by_columns<'a>(&mut self, column: impl Fn(usize) -> &'a [f64]) {
        let (inputs, outputs) = (self.inputs, self.outputs);
        if self.thin() {
            let len = packs(inputs, N) * N;
            for i in 0..inputs {
                let weights = flat_mut(&mut self.data)[i..].iter_mut().step_by(len);
                weights.zip(&column(i)[..outputs]).for_each(|(to, w)| *to = T::from_f64(*w));
            }
            return;
        }
        for panel in &self.panels {
            let (lanes, first) = (panel.width * N, panel.first * N);
            let used = lanes.min(outputs - first);
            let data = flat_mut(&mut self.data[panel.data.clone()]);
            for (i, weights) in data.chunks_exact_mut(lanes).skip(1).enumerate() {
                cast(&column(i)[first..][..used], &mut weights[..used]);
            }
        }
    }
}

/// `to = from` in this precision.
#[inline(always)]
fn cast<T: Real>(from: &[f64], to: &mut [T]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = T::from_f64(*from));
}
