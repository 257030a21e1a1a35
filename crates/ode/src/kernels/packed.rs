//! A matrix with its bias, in the order in which a product reads it.

use super::lanes::{Lanes, Real, flat_mut, packs};

/// Up to this many outputs, a product is a dot product per output.
pub(crate) const THIN: usize = 4;

/// Packs of outputs that are summed side by side, when there is one column: enough to hide the
/// latency of the additions, few enough for the registers.
pub(crate) const ONE_COLUMN: usize = 8;

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
    /// Largest width of a panel; 0 means rows.
    most: usize,
    pub(crate) data: Vec<Lanes<T, N>>,
}

impl<T: Real, const N: usize> Packed<T, N> {
    /// A zero matrix whose panels are at most `most` packs wide.
    pub(crate) fn new(outputs: usize, inputs: usize, most: usize) -> Self {
        let (most, len) = if outputs <= THIN {
            (0, outputs * packs(inputs, N) + packs(outputs, N))
        } else {
            (most, (1 + inputs) * packs(outputs, N))
        };
        Self { inputs, outputs, most, data: vec![Lanes::zero(); len] }
    }

    /// Whether it is stored as rows.
    #[inline(always)]
    pub(crate) fn thin(&self) -> bool {
        self.most == 0
    }

    /// Widths of the panels: as equal as possible, the wide ones first.
    #[inline(always)]
    pub(crate) fn widths(&self) -> impl Iterator<Item = usize> + use<T, N> {
        let packs = packs(self.outputs, N);
        let panels = packs.div_ceil(self.most);
        (0..panels).map(move |panel| packs / panels + usize::from(panel < packs % panels))
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
        let (mut first, mut start) = (0, 0);
        for width in self.widths() {
            let (lanes, end) = (width * N, start + (1 + inputs) * width);
            let used = lanes.min(outputs - first);
            let mut rows = flat_mut(&mut self.data[start..end]).chunks_exact_mut(lanes);
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
            (first, start) = (first + lanes, end);
        }
    }
}
