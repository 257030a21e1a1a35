//! The misfit of data and laws along a computed path.
//!
//! A [`Misfit`] is laid out once for a set of segments (`layout.rs`) and then measured on solved paths only,
//! so that no law is evaluated on the data by accident.

mod cells;
mod layer;
mod layout;
mod learned;
mod rates;

use lawful_law::{Law, Workspace};

use super::flow::Flow;
use super::initial_states::InitialStates;
use super::path_residuals::Cell;
use super::points::CountsAt;
use crate::strategy::{LawRows, MisfitView, Slopes};
use crate::{Dataset, Failure, LearnedConstant, Problem, Segment};
use cells::Cells;
use layer::Layer;
use learned::Learned;
use rates::Rates;

/// Errors of the data and violations of each law, at every row and point of a set of segments.
#[derive(Debug)]
pub struct Misfit {
    /// The points of all segments, then those of laws that do not count at all of them.
    layers: Vec<Layer>,
    /// Where the laws of each layer count, and the layer of each law.
    counts_at: Vec<CountsAt>,
    layer_of: Vec<usize>,
    /// The field's rates at the points, if a law uses them.
    rates: Option<Rates>,
    /// Points of the data before each trajectory, layer after layer.
    offsets: Vec<usize>,
    /// Scratch: the times of a segment's points, and the place of each row in them.
    merged: Vec<f64>,
    places: Vec<usize>,
    /// The measured cells, of each of which there is a term of the loss.
    cells: Vec<Cells>,
    terms: Vec<f64>,
    laws: Vec<LawRows>,
    /// Indices of the penalised laws, and their rows.
    penalised: Vec<usize>,
    penalised_rows: Vec<LawRows>,
    /// Residuals `c` and violations `v` at the points that have one, law after law, in units of the
    /// problem, and the number of each point.
    residuals: Vec<f64>,
    violations: Vec<f64>,
    points: Vec<usize>,
    /// Margin of inequalities.
    margin: f64,
    /// The fit in the data's own units.
    loss: f64,
    /// The joints: the last point of a segment, and the first of the next one, which starts from a
    /// trained state.
    joints: Vec<(usize, usize)>,
    /// The jump of each state there, in units of the problem, as residuals of a law.
    jumps: Vec<f64>,
    jump_sizes: Vec<f64>,
    jump_points: Vec<usize>,
    continuity: [LawRows; 1],
    workspace: Workspace,
    /// Scratch for the longest segment.
    scratch: Vec<f64>,
    learned: Learned,
}

impl Misfit {
    /// Measures errors and violations on the paths of `flow`, which holds the same segments, solved
    /// from the same z. `theta` are the field's parameters; the last ones are the learned constants'.
    pub(crate) fn measure(
        &mut self,
        flow: &Flow,
        problem: &Problem,
        (starts, z): (&InitialStates, &[f64]),
        theta: &[f64],
    ) {
        let Problem { dataset, laws, loss, units, constants, .. } = problem;
        let d = units.state.len();
        let (all, others) = self.layers.split_first_mut().expect("the layer of all points");
        for (n, segment) in all.segments.iter().enumerate() {
            let own = &mut all.states[segment.points.start * d..segment.points.end * d];
            let (lead, observed) = own.split_at_mut(segment.lead * d);
            observed.copy_from_slice(flow.observed(n));
            if let (1, Some(at)) = (segment.lead, segment.initial) {
                starts.write(at, z, lead);
            }
        }
        self.loss = 0.0;
        let mut terms = self.terms.iter_mut();
        for cells in &self.cells {
            let (predicted, measured) = (&all.states[cells.range()], cells.measured(dataset));
            let mut variable = cells.at % d;
            // The terms last: only the end of the cells ends a run.
            for ((predicted, measured), term) in predicted.iter().zip(measured).zip(&mut terms) {
                let error = predicted - measured;
                *term = loss.term(error / units.state[variable]);
                self.loss += loss.term(error);
                variable = if variable + 1 == d { 0 } else { variable + 1 };
            }
        }
        self.loss /= self.terms.len().max(1) as f64;
        for (jumps, &(a, b)) in self.jumps.chunks_exact_mut(d).zip(&self.joints) {
            for (i, jump) in jumps.iter_mut().enumerate() {
                *jump = (all.states[a * d + i] - all.states[b * d + i]) / units.state[i];
            }
        }
        for (size, jump) in self.jump_sizes.iter_mut().zip(&self.jumps) {
            *size = jump.abs();
        }
        if let Some(rates) = &mut self.rates {
            all.rates.resize(all.states.len(), 0.0);
            let (rows, of_rows, ..) = all.rows();
            rates.evaluate(theta, rows, of_rows);
        }
        for layer in others {
            layer.copy_from(all, d);
        }
        self.learned.set(constants, theta);
        if !constants.is_empty() {
            self.layers.iter_mut().for_each(|layer| layer.extend(d, &self.learned.values));
        }
        for (k, law) in laws.iter().enumerate() {
            let unit = units.law(k);
            let layer = &self.layers[self.layer_of[k]];
            let mut at = self.laws[k].start;
            for (n, segment) in layer.segments.iter().enumerate() {
                let points = segment.residuals(law);
                if points.is_empty() {
                    continue;
                }
                evaluate(law, layer, n, &mut self.workspace, &mut self.scratch);
                for &c in &self.scratch[points] {
                    let c = c / unit;
                    self.residuals[at] = c;
                    self.violations[at] = law.relation().violation(c, self.margin);
                    at += 1;
                }
            }
        }
    }

    /// Adds the adjoints of the learned constants and of the field's rates from the last pull-back to those
    /// of the field's parameters.
    pub(crate) fn add_parameters(
        &self,
        constants: &[LearnedConstant],
        theta: &[f64],
        bar: &mut [f64],
    ) {
        self.learned.add_to(constants, theta, bar);
        if let Some(rates) = &self.rates {
            rates.add_to(bar);
        }
    }

    /// Returns the first point at which a law is infinite or NaN.
    pub(crate) fn undefined(&self, problem: &Problem, segments: &[Segment]) -> Option<Failure> {
        let Problem { dataset, laws, units, .. } = problem;
        let d = units.state.len();
        for (k, law) in laws.iter().enumerate() {
            let mut at = self.laws[k].start;
            let layer = &self.layers[self.layer_of[k]];
            for (own, segment) in layer.segments.iter().zip(segments) {
                for row in own.residuals(law) {
                    let residual = self.residuals[at] * units.law(k);
                    at += 1;
                    if residual.is_finite() {
                        continue;
                    }
                    let row = own.points.start + row;
                    let values = dataset.state().iter().zip(&layer.states[row * d..]);
                    let short = |value: f64| format!("{value:.3e}").parse().unwrap_or(value);
                    let state: Vec<_> =
                        values.map(|(name, y)| format!("{name} = {}", short(*y))).collect();
                    return Some(Failure::Law {
                        law: law.name().to_owned(),
                        residual,
                        t: short(layer.times[row]),
                        trajectory: dataset.trajectories()[segment.trajectory].name.clone(),
                        state: state.join(", "),
                    });
                }
            }
        }
        None
    }

    /// Returns the indices of the penalised laws: those of [`view`](Self::view).
    pub fn penalised(&self) -> &[usize] {
        &self.penalised
    }

    /// Returns the view for a strategy: the loss terms, and the residuals of the penalised laws.
    pub fn view(&self) -> MisfitView<'_> {
        let Self { terms, residuals, violations, points, penalised_rows, margin, .. } = self;
        let (laws, margin) = (penalised_rows, *margin);
        MisfitView { terms, residuals, violations, points, laws, margin }
    }

    /// Returns the continuity of segments as one equality law: the jumps of the states, in units of the
    /// problem, where one segment ends and the next one starts from a trained state.
    ///
    /// Its points number the states of the joints of the current segments, joint after joint. Unlike
    /// the points of [`view`](Self::view), they change their meaning with the segments.
    pub fn continuity(&self) -> MisfitView<'_> {
        let Self { jumps, jump_sizes, jump_points, continuity, .. } = self;
        MisfitView {
            terms: &[],
            residuals: jumps,
            violations: jump_sizes,
            points: jump_points,
            laws: continuity,
            margin: 0.0,
        }
    }

    /// Returns the violations of law `k`, penalised or not, in units of the problem.
    pub fn violations(&self, k: usize) -> &[f64] {
        let rows = &self.laws[k];
        &self.violations[rows.start..][..rows.len]
    }

    /// Returns the mean violation of law `k` in units of the problem, without the margin.
    pub fn mean_violation(&self, k: usize) -> f64 {
        let (relation, residuals) = (self.laws[k].relation, self.residuals(k));
        let sum: f64 = residuals.iter().map(|&c| relation.violation(c, 0.0)).sum();
        sum / residuals.len().max(1) as f64
    }

    /// Returns the measured cells, each with its place among the predicted values of its segment.
    pub(super) fn cells(&self, dataset: &Dataset) -> Vec<Cell> {
        let all = &self.layers[0];
        let d = all.states.len() / all.times.len().max(1);
        let mut found = Vec::with_capacity(self.terms.len());
        let mut segment = 0;
        for cells in &self.cells {
            for (at, &measured) in cells.range().zip(cells.measured(dataset)) {
                while at >= all.segments[segment].points.end * d {
                    segment += 1;
                }
                let own = &all.segments[segment];
                let place = at - (own.points.start + own.lead) * d;
                found.push(Cell { segment, place, measured });
            }
        }
        found
    }

    /// Returns the fit `l(θ)` in the data's own units.
    pub fn loss(&self) -> f64 {
        self.loss
    }

    /// Returns the residuals `c` of law `k` at the rows that have one, in units of the problem.
    pub fn residuals(&self, k: usize) -> &[f64] {
        let rows = &self.laws[k];
        &self.residuals[rows.start..][..rows.len]
    }

    /// Returns the times of the points at which a law has a residual, in the order of
    /// [`residuals`](Self::residuals).
    pub fn residual_times(&self, law: &Law) -> Vec<f64> {
        let layer = self.layer(law);
        let rows = layer.segments.iter().flat_map(|segment| {
            let own = segment.residuals(law);
            segment.points.start + own.start..segment.points.start + own.end
        });
        rows.map(|row| layer.times[row]).collect()
    }

    /// Returns the number of residuals of a law in each segment, in the order of the segments.
    pub fn residual_counts(&self, law: &Law) -> Vec<usize> {
        self.layer(law).segments.iter().map(|segment| segment.residuals(law).len()).collect()
    }

    /// Returns the layer at whose points a law has residuals.
    fn layer(&self, law: &Law) -> &Layer {
        let of_law = || self.counts_at.iter().position(|&at| at == CountsAt::of(law));
        let only = self.layers.len() == 1;
        &self.layers[if only { 0 } else { of_law().unwrap_or(0) }]
    }

    /// Pulls the slopes of an objective back to the predicted states of every segment, and adds the
    /// adjoints of trained initial states that laws use to `z_bar`.
    pub(crate) fn pull_back(
        &mut self,
        (slopes, of_continuity): (&Slopes, &Slopes),
        problem: &Problem,
        (starts, z_bar): (&InitialStates, &mut [f64]),
    ) {
        let Problem { dataset, laws, loss, units, .. } = problem;
        let d = units.state.len();
        self.learned.reset();
        self.layers.iter_mut().for_each(Layer::reset_bars);
        let Layer { states, state_bar, .. } = &mut self.layers[0];
        let mut terms = slopes.terms.iter();
        for cells in &self.cells {
            let (predicted, measured) = (&states[cells.range()], cells.measured(dataset));
            let (bars, mut variable) = (&mut state_bar[cells.range()], cells.at % d);
            let pairs = bars.iter_mut().zip(predicted).zip(measured);
            for (((bar, predicted), measured), slope) in pairs.zip(&mut terms) {
                let unit = units.state[variable];
                *bar += slope * loss.slope((predicted - measured) / unit) / unit;
                variable = if variable + 1 == d { 0 } else { variable + 1 };
            }
        }
        for (n, bar) in of_continuity.residuals.iter().enumerate() {
            let ((a, b), i) = (self.joints[n / d], n % d);
            let bar = bar / units.state[i];
            state_bar[a * d + i] += bar;
            state_bar[b * d + i] -= bar;
        }
        for n in 0..self.penalised.len() {
            let k = self.penalised[n];
            self.pull_back_law(&laws[k], k, slopes, units.law(k));
        }
        let (all, others) = self.layers.split_first_mut().expect("the layer of all points");
        for layer in others {
            layer.add_bars_to(all, d);
        }
        if let Some(rates) = &mut self.rates {
            let (rows, _, rates_bar, state_bar) = all.rows();
            rates.pull_back(rows, rates_bar, state_bar);
        }
        for segment in &all.segments {
            if let (1, Some(at)) = (segment.lead, segment.initial) {
                let first = segment.points.start * d;
                starts.gather(at, &all.state_bar[first..first + d], z_bar);
            }
        }
    }

    /// Adds the adjoints of the states, and of the rates, through law `k`, with its unit.
    fn pull_back_law(&mut self, law: &Law, k: usize, slopes: &Slopes, unit: f64) {
        let Self { layers, layer_of, learned, workspace, scratch, .. } = self;
        let LawRows { start, len, .. } = self.laws[k];
        if slopes.residuals[start..][..len].iter().all(|slope| *slope == 0.0) {
            return;
        }
        let layer = &mut layers[layer_of[k]];
        let d = layer.states.len() / layer.times.len().max(1);
        let [mut state_bar, mut rates_bar] =
            [&mut layer.state_bar, &mut layer.rates_bar].map(std::mem::take);
        let mut at = start;
        for (n, segment) in layer.segments.iter().enumerate() {
            let points = segment.residuals(law);
            if points.is_empty() {
                continue;
            }
            evaluate(law, layer, n, workspace, scratch);
            let cells = segment.points.start * d..segment.points.end * d;
            let residual_bar = &mut scratch[..segment.points.len()];
            residual_bar.fill(0.0);
            for bar in &mut residual_bar[points] {
                *bar = slopes.residuals[at] / unit;
                at += 1;
            }
            let (steps, rates) = layer.steps(n, law);
            let state_bar = &mut state_bar[cells.clone()];
            let extended = !learned.values.is_empty();
            let len = if extended { steps.states.len() } else { 0 };
            learned.clear_rows(len, rates.is_some());
            match (rates.is_some(), extended) {
                (false, false) => law.pull_back(&steps, workspace, residual_bar, state_bar),
                (false, true) => {
                    law.pull_back(&steps, workspace, residual_bar, &mut learned.rows_bar);
                }
                (true, false) => {
                    let rates_bar = &mut rates_bar[cells];
                    law.pull_back_with_rates(&steps, workspace, residual_bar, state_bar, rates_bar);
                    continue;
                }
                (true, true) => {
                    let Learned { rows_bar, rates_bar: bars, .. } = &mut *learned;
                    law.pull_back_with_rates(&steps, workspace, residual_bar, rows_bar, bars);
                    learned.gather_rates(&mut rates_bar[cells], d);
                }
            }
            if extended {
                learned.gather(state_bar, d);
            }
        }
        (layer.state_bar, layer.rates_bar) = (state_bar, rates_bar);
    }

    /// Returns the adjoints of the predicted states of each segment from the last pull-back.
    pub(crate) fn observed_bars<'a>(&'a self) -> impl Fn(usize) -> &'a [f64] + Sync {
        let Layer { segments, times, states, state_bar, .. } = &self.layers[0];
        let d = states.len() / times.len().max(1);
        move |n| {
            let segment = &segments[n];
            &state_bar[(segment.points.start + segment.lead) * d..segment.points.end * d]
        }
    }
}

/// Writes the residuals of a law at every point of segment `n` of its layer to `scratch`.
fn evaluate(law: &Law, layer: &Layer, n: usize, workspace: &mut Workspace, scratch: &mut [f64]) {
    let (steps, rates) = layer.steps(n, law);
    let residuals = &mut scratch[..steps.times.len()];
    match rates {
        Some(rates) => law.residuals_with_rates(&steps, rates, workspace, residuals),
        None => law.residuals(&steps, workspace, residuals),
    }
}
