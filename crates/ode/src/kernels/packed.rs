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

    /// Fills in `W[output][input] = weight(output, input)` and `b[output] = bias(output)`.
    pub(crate) fn fill(
        &mut self,
        weight: impl Fn(usize, usize) -> f64,
        bias: impl Fn(usize) -> f64,
    ) {
        let (inputs, outputs) = (self.inputs, self.outputs);
        if self.thin() {
            let row = packs(inputs, N) * N;
            let (rows, biases) = flat_mut(&mut self.data).split_at_mut(outputs * row);
            for o in 0..outputs {
                for i in 0..inputs {
                    rows[o * row + i] = T::from_f64(weight(o, i));
                }
                biases[o] = T::from_f64(bias(o));
            }
            return;
        }
        for panel in &self.panels {
            let (lanes, first) = (panel.width * N, panel.first * N);
            let used = lanes.min(outputs - first);
            let mut rows = flat_mut(&mut self.data[panel.data.clone()]).chunks_exact_mut(lanes);
            if let Some(row) = rows.next() {
                for (o, b) in row[..used].iter_mut().enumerate() {
                    *b = T::from_f64(bias(first + o));
                }
            }
            for (i, row) in rows.enumerate() {
                for (o, w) in row[..used].iter_mut().enumerate() {
                    *w = T::from_f64(weight(first + o, i));
                }
            }
        }
    }
}
