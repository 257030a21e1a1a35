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

/// Up to this many packs of outputs, the even and the odd inputs are summed apart: so few sums alone
/// would wait for their own additions.
const FEW: usize = 7;

/// Up to this many packs of outputs, one or two outputs more make a [`Rest`]: with more, sums and rest
/// would not fit the registers, and less would be saved.
pub(crate) const WITH_REST: usize = 6;

/// `W` and `b` of `W x + b`, packed.
///
/// *Panels*: the outputs are cut into panels of some packs of lanes. A panel of width `R` is a
/// row of `R` packs with its biases, then for each input a row of `R` packs with its weights:
/// what the product reads is contiguous. Missing outputs in the last pack are zeros.
///
/// *Rest*: one or two outputs that are left over by a few whole packs would waste most of a pack for
/// every input. They are no part of a panel, see [`Rest`].
///
/// *Rows* (thin matrices): for each output the weights of all inputs, filled up with zeros to
/// whole packs; then one row with the biases.
pub(crate) struct Packed<T, const N: usize> {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    /// Packs that hold a column of inputs, and one of outputs.
    pub(crate) input_packs: usize,
    pub(crate) output_packs: usize,
    /// How wide panels may be: [`ONE_COLUMN`] or [`MANY_COLUMNS`].
    pub(crate) most: usize,
    /// Empty if the matrix is stored as rows.
    pub(crate) panels: Vec<Panel>,
    pub(crate) rest: Option<Rest>,
    /// Whether even and odd inputs are summed apart.
    pub(crate) split: bool,
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

/// One or two outputs beyond the last whole pack.
///
/// A pack has the weights of half a pack of inputs: the first output's, then the second's, or zeros.
/// Before them a pack has the biases, each beside zeros.
pub(crate) struct Rest {
    /// The pack of outputs that it is, behind those of the panels.
    pub(crate) first: usize,
    /// Where it is in `data`.
    pub(crate) data: Range<usize>,
}

impl Rest {
    /// For so many outputs, if they leave one.
    fn new(outputs: usize, inputs: usize, lanes: usize) -> Option<Self> {
        let (first, left) = (outputs / lanes, outputs % lanes);
        let start = first * (1 + inputs);
        let data = start..start + 1 + inputs.div_ceil(lanes / 2);
        ((1..=WITH_REST).contains(&first) && (1..=2).contains(&left))
            .then_some(Self { first, data })
    }
}

impl<T: Real, const N: usize> Packed<T, N> {
    /// A zero matrix whose panels are at most `most` packs wide.
    pub(crate) fn new(outputs: usize, inputs: usize, most: usize) -> Self {
        let (input_packs, output_packs) = (packs(inputs, N), packs(outputs, N));
        if outputs <= THIN {
            let (panels, rest, split) = (Vec::new(), None, false);
            let data = vec![Lanes::zero(); outputs * input_packs + output_packs];
            return Self {
                inputs,
                outputs,
                input_packs,
                output_packs,
                most,
                panels,
                rest,
                split,
                data,
            };
        }
        let mut first = 0;
        let panel = |width| {
            let data = (1 + inputs) * first..(1 + inputs) * (first + width);
            let panel = Panel { width, first, data };
            first += width;
            panel
        };
        let rest = Rest::new(outputs, inputs, N);
        let whole = rest.as_ref().map_or(output_packs, |rest| rest.first);
        let len = rest.as_ref().map_or((1 + inputs) * whole, |rest| rest.data.end);
        let panels = parts(whole, most).map(panel).collect();
        let data = vec![Lanes::zero(); len];
        let split = whole <= FEW;
        Self { inputs, outputs, input_packs, output_packs, most, panels, rest, split, data }
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
        if let Some(rest) = &self.rest {
            let first = rest.first * N;
            let (ahead, packs) = flat_mut(&mut self.data[rest.data.clone()]).split_at_mut(N);
            for (i, bias) in biases[first..].iter().enumerate() {
                ahead[i * (N / 2)] = T::from_f64(*bias);
                let halves = packs.chunks_exact_mut(N / 2).skip(i).step_by(2);
                for (half, weights) in halves.zip(row(first + i).chunks(N / 2)) {
                    cast(weights, half);
                }
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
        if let Some(rest) = &self.rest {
            let packs = &mut flat_mut(&mut self.data[rest.data.clone()])[N..];
            for i in 0..inputs {
                let lanes = packs[i / (N / 2) * N + i % (N / 2)..].iter_mut().step_by(N / 2);
                let weights = &column(i)[rest.first * N..outputs];
                lanes.zip(weights).for_each(|(to, from)| *to = T::from_f64(*from));
            }
        }
    }
}

/// `to = from` in this precision.
#[inline(always)]
fn cast<T: Real>(from: &[f64], to: &mut [T]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = T::from_f64(*from));
}
