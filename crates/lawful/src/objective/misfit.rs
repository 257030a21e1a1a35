//! The misfit of data and laws along a computed path.
//!
//! A [`Misfit`] is laid out once for a set of segments and then measured on solved paths only, so that
//! no law is evaluated on the data by accident.

use std::ops::Range;

use lawful_law::{Enforcement, Law, Relation, Steps, Workspace};

use super::flow::Flow;
use super::initial_states::InitialStates;
use crate::strategy::{LawRows, MisfitView, Slopes};
use crate::{Failure, LearnedConstant, Problem, Segment, extend_rows};

/// The place of one segment in the flat arrays of a [`Misfit`], and which of its rows count.
#[derive(Debug, Clone)]
struct SegmentRows {
    /// Its rows, including the lead row.
    rows: Range<usize>,
    /// 1 if a lead row with the trajectory's initial state precedes the segment, for `initial(…)`: a
    /// segment that starts later does not contain that state.
    lead: usize,
    /// The first row that counts, as an offset in `rows`: for its own terms, and as a neighbour.
    first: usize,
    /// 1 if the row at `first` is measured, not predicted, because the segment starts there in the
    /// middle of its trajectory. It has no error, and no residual that depends only on it and earlier
    /// rows: that would be a violation of the data, not of the path.
    measured: usize,
    /// Whether it ends at the last row of its trajectory.
    to_end: bool,
    /// Index of the trajectory's initial state, if that is not the measured one.
    initial: Option<usize>,
    /// Index of its first row, without the lead, among all rows of the data.
    identity: usize,
}

impl SegmentRows {
    /// Returns the rows at which a law has a residual, as offsets in `rows`.
    fn residual_rows(&self, law: &Law) -> Range<usize> {
        let reach = law.reach();
        let n = self.rows.len();
        // The path contains the rows after the initial one only if it starts there.
        let initial_exists = reach.initial.is_none_or(|ahead| ahead == 0 || self.lead == 0);
        let final_exists = reach.final_.is_none_or(|back| {
            self.to_end && n.checked_sub(back + 1).is_some_and(|row| row >= self.first)
        });
        let uses_later_rows = reach.ahead > 0 || reach.final_.is_some();
        let measured = if uses_later_rows { 0 } else { self.measured };
        let range = reach.range(n);
        let first = self.first + reach.back.max(measured);
        if initial_exists && final_exists && first < range.end { first..range.end } else { 0..0 }
    }
}

/// Errors of the data and violations of each law, at every row of a set of segments.
#[derive(Debug)]
pub struct Misfit {
    segment_rows: Vec<SegmentRows>,
    /// Rows of the data before each trajectory.
    offsets: Vec<usize>,
    /// Times, predicted states and inputs of all segments, row after row.
    times: Vec<f64>,
    states: Vec<f64>,
    inputs: Vec<f64>,
    /// The measured cells: index in `states`, and measured value.
    cells: Vec<(usize, f64)>,
    terms: Vec<f64>,
    laws: Vec<LawRows>,
    /// Indices of the penalised laws, and their rows.
    penalised: Vec<usize>,
    penalised_rows: Vec<LawRows>,
    /// Residuals `c` and violations `v` at the rows that have one, law after law, in units of the
    /// problem, and the point of each.
    residuals: Vec<f64>,
    violations: Vec<f64>,
    points: Vec<usize>,
    /// Margin of inequalities.
    margin: f64,
    /// The fit in the data's own units.
    loss: f64,
    /// The joints: the last row of a segment, and the first of the next one, which starts from a
    /// trained state.
    joints: Vec<(usize, usize)>,
    /// The jump of each state there, in units of the problem, as residuals of a law.
    jumps: Vec<f64>,
    jump_sizes: Vec<f64>,
    jump_points: Vec<usize>,
    continuity: [LawRows; 1],
    /// Adjoints of all predicted states.
    state_bar: Vec<f64>,
    workspace: Workspace,
    /// Scratch for the longest segment.
    scratch: Vec<f64>,
    learned: Learned,
}

/// Learned constants that laws use: laws read them as variables behind the state.
#[derive(Debug, Default)]
struct Learned {
    values: Vec<f64>,
    /// Their adjoints.
    bars: Vec<f64>,
    /// `states` of all rows with the values behind each; empty without constants.
    rows: Vec<f64>,
    /// Scratch: adjoints of the rows of one segment.
    rows_bar: Vec<f64>,
}

impl Learned {
    /// Adds the adjoints of extended rows to those of the states and to `bars`.
    fn gather(&mut self, state_bar: &mut [f64], d: usize) {
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
}

impl Default for Misfit {
    fn default() -> Self {
        Self {
            segment_rows: Vec::new(),
            offsets: Vec::new(),
            times: Vec::new(),
            states: Vec::new(),
            inputs: Vec::new(),
            cells: Vec::new(),
            terms: Vec::new(),
            laws: Vec::new(),
            penalised: Vec::new(),
            penalised_rows: Vec::new(),
            residuals: Vec::new(),
            violations: Vec::new(),
            points: Vec::new(),
            margin: 0.0,
            loss: 0.0,
            joints: Vec::new(),
            jumps: Vec::new(),
            jump_sizes: Vec::new(),
            jump_points: Vec::new(),
            continuity: [LawRows { relation: Relation::Equality, start: 0, len: 0, points: 0 }],
            state_bar: Vec::new(),
            workspace: Workspace::default(),
            scratch: Vec::new(),
            learned: Learned::default(),
        }
    }
}

impl Misfit {
    /// Lays out the rows of these segments, in this order.
    pub(crate) fn lay_out(
        &mut self,
        problem: &Problem,
        segments: &[Segment],
        starts: &InitialStates,
    ) {
        let Problem { dataset, laws, units, .. } = problem;
        self.margin = units.margin;
        let (d, m) = (dataset.state().len(), dataset.inputs().len());
        self.offsets.clear();
        let mut rows = 0;
        for trajectory in dataset.trajectories() {
            self.offsets.push(rows);
            rows += trajectory.len();
        }
        self.segment_rows.clear();
        self.times.clear();
        self.inputs.clear();
        self.states.clear();
        self.cells.clear();
        for segment in segments {
            let trajectory = &dataset.trajectories()[segment.trajectory];
            let start = self.times.len();
            let restarted = segment.first > 0;
            let (first, end) = (segment.first, segment.first + segment.rows);
            if restarted {
                self.times.push(trajectory.times[0]);
                self.states.extend_from_slice(&trajectory.states[..d]);
                self.inputs.extend_from_slice(&trajectory.inputs[..m]);
            }
            let lead = usize::from(restarted);
            let unscored = trajectory.scored_from.saturating_sub(first);
            let measured = usize::from(restarted && unscored == 0);
            for row in first + unscored + measured..end {
                let values = &trajectory.states[row * d..][..d];
                let at = (start + lead + row - first) * d;
                let known = values.iter().enumerate().filter(|(_, value)| !value.is_nan());
                self.cells.extend(known.map(|(variable, &value)| (at + variable, value)));
            }
            self.times.extend_from_slice(&trajectory.times[first..end]);
            self.states.resize(self.times.len() * d, 0.0);
            self.inputs.extend_from_slice(&trajectory.inputs[first * m..end * m]);
            let identity = self.offsets[segment.trajectory] + first;
            self.segment_rows.push(SegmentRows {
                rows: start..self.times.len(),
                lead,
                first: lead + unscored,
                measured,
                to_end: end == trajectory.len(),
                initial: starts.find(segment.trajectory, 0),
                identity,
            });
        }
        self.lay_out_joints(segments, starts, d);
        self.terms.clear();
        self.terms.resize(self.cells.len(), 0.0);
        self.laws.clear();
        self.points.clear();
        for law in laws {
            let start = self.points.len();
            for segment in &self.segment_rows {
                let own = segment.residual_rows(law);
                self.points.extend(own.map(|row| segment.identity + row - segment.lead));
            }
            let len = self.points.len() - start;
            self.laws.push(LawRows { relation: law.relation(), start, len, points: rows });
        }
        let penalised = |(_, law): &(usize, &Law)| law.enforcement() == Enforcement::Penalty;
        self.penalised.clear();
        self.penalised.extend(laws.iter().enumerate().filter(penalised).map(|(k, _)| k));
        self.penalised_rows.clear();
        self.penalised_rows.extend(self.penalised.iter().map(|&k| self.laws[k]));
        self.residuals.clear();
        self.residuals.resize(self.points.len(), 0.0);
        self.violations.clear();
        self.violations.resize(self.points.len(), 0.0);
        let longest = self.segment_rows.iter().map(|segment| segment.rows.len()).max().unwrap_or(0);
        self.scratch.resize(longest.max(self.scratch.len()), 0.0);
    }

    /// Finds the joints: rows at which one segment ends and another of the same trajectory starts from
    /// a trained state.
    fn lay_out_joints(&mut self, segments: &[Segment], starts: &InitialStates, d: usize) {
        self.joints.clear();
        for (b, later) in segments.iter().enumerate() {
            if later.first == 0 || starts.find_trained(later.trajectory, later.first).is_none() {
                continue;
            }
            let before = segments.iter().position(|segment| {
                segment.trajectory == later.trajectory
                    && segment.first + segment.rows == later.first + 1
            });
            if let Some(a) = before {
                let (a, b) = (&self.segment_rows[a], &self.segment_rows[b]);
                self.joints.push((a.rows.end - 1, b.rows.start + b.lead));
            }
        }
        let len = self.joints.len() * d;
        self.jumps.clear();
        self.jumps.resize(len, 0.0);
        self.jump_sizes.clear();
        self.jump_sizes.resize(len, 0.0);
        self.jump_points.clear();
        self.jump_points.extend(0..len);
        (self.continuity[0].len, self.continuity[0].points) = (len, len);
    }

    /// Measures errors and violations on the paths of `flow`, which holds the same segments, solved
    /// from the same z. `theta` are the field's parameters; the last ones are the learned constants'.
    pub(crate) fn measure(
        &mut self,
        flow: &Flow,
        problem: &Problem,
        (starts, z): (&InitialStates, &[f64]),
        theta: &[f64],
    ) {
        let Problem { laws, loss, units, constants, .. } = problem;
        let d = units.state.len();
        for (n, segment) in self.segment_rows.iter().enumerate() {
            let own = &mut self.states[segment.rows.start * d..segment.rows.end * d];
            let (lead, observed) = own.split_at_mut(segment.lead * d);
            observed.copy_from_slice(flow.observed(n));
            if let (1, Some(at)) = (segment.lead, segment.initial) {
                starts.write(at, z, lead);
            }
        }
        self.loss = 0.0;
        for (term, &(at, measured)) in self.terms.iter_mut().zip(&self.cells) {
            let error = self.states[at] - measured;
            *term = loss.term(error / units.state[at % d]);
            self.loss += loss.term(error);
        }
        self.loss /= self.cells.len().max(1) as f64;
        for (jumps, &(a, b)) in self.jumps.chunks_exact_mut(d).zip(&self.joints) {
            for (i, jump) in jumps.iter_mut().enumerate() {
                *jump = (self.states[a * d + i] - self.states[b * d + i]) / units.state[i];
            }
        }
        for (size, jump) in self.jump_sizes.iter_mut().zip(&self.jumps) {
            *size = jump.abs();
        }
        let raw = &theta[theta.len() - constants.len()..];
        self.learned.values.clear();
        let values = constants.iter().zip(raw).map(|(constant, &raw)| constant.value(raw));
        self.learned.values.extend(values);
        if !constants.is_empty() {
            extend_rows(&self.states, d, &self.learned.values, &mut self.learned.rows);
        }
        for (k, law) in laws.iter().enumerate() {
            let unit = units.law(k);
            let mut at = self.laws[k].start;
            for n in 0..self.segment_rows.len() {
                let rows = self.segment_rows[n].residual_rows(law);
                if rows.is_empty() {
                    continue;
                }
                self.evaluate(law, n);
                for &c in &self.scratch[rows] {
                    let c = c / unit;
                    self.residuals[at] = c;
                    self.violations[at] = law.relation().violation(c, self.margin);
                    at += 1;
                }
            }
        }
    }

    /// Adds the adjoints of the learned constants from the last pull-back to those of the field's
    /// parameters.
    pub(crate) fn add_constants(
        &self,
        constants: &[LearnedConstant],
        theta: &[f64],
        bar: &mut [f64],
    ) {
        let first = theta.len() - constants.len();
        let slopes = constants.iter().zip(&theta[first..]).map(|(c, &raw)| c.slope(raw));
        for ((sum, slope), bar) in bar[first..].iter_mut().zip(slopes).zip(&self.learned.bars) {
            *sum += slope * bar;
        }
    }

    /// Writes the residuals of a law at every row of segment `n` to `scratch`.
    fn evaluate(&mut self, law: &Law, n: usize) {
        let rows = self.segment_rows[n].rows.clone();
        let Self { times, states, inputs, learned, workspace, scratch, .. } = self;
        let rows_of_states = if learned.values.is_empty() { &*states } else { &learned.rows };
        let steps = steps(times, rows_of_states, inputs, rows.clone());
        law.residuals(&steps, workspace, &mut scratch[..rows.len()]);
    }

    /// Returns the first row at which a law is infinite or NaN.
    pub(crate) fn undefined(&self, problem: &Problem, segments: &[Segment]) -> Option<Failure> {
        let Problem { dataset, laws, units, .. } = problem;
        let d = units.state.len();
        for (k, law) in laws.iter().enumerate() {
            let mut at = self.laws[k].start;
            for (segment_rows, segment) in self.segment_rows.iter().zip(segments) {
                for row in segment_rows.residual_rows(law) {
                    let residual = self.residuals[at] * units.law(k);
                    at += 1;
                    if residual.is_finite() {
                        continue;
                    }
                    let row = segment_rows.rows.start + row;
                    let values = dataset.state().iter().zip(&self.states[row * d..]);
                    let short = |value: f64| format!("{value:.3e}").parse().unwrap_or(value);
                    let state: Vec<_> =
                        values.map(|(name, y)| format!("{name} = {}", short(*y))).collect();
                    return Some(Failure::Law {
                        law: law.name().to_owned(),
                        residual,
                        t: short(self.times[row]),
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

    /// Returns the fit `l(θ)` in the data's own units.
    pub fn loss(&self) -> f64 {
        self.loss
    }

    /// Returns the residuals `c` of law `k` at the rows that have one, in units of the problem.
    pub fn residuals(&self, k: usize) -> &[f64] {
        let rows = &self.laws[k];
        &self.residuals[rows.start..][..rows.len]
    }

    /// Returns the times of the rows at which a law has a residual, in the order of
    /// [`residuals`](Self::residuals).
    pub fn residual_times(&self, law: &Law) -> Vec<f64> {
        let rows = |segment: &SegmentRows| {
            let own = segment.residual_rows(law);
            segment.rows.start + own.start..segment.rows.start + own.end
        };
        self.segment_rows.iter().flat_map(|segment| &self.times[rows(segment)]).copied().collect()
    }

    /// Returns the number of residuals of a law in each segment, in the order of the segments.
    pub fn residual_counts(&self, law: &Law) -> Vec<usize> {
        self.segment_rows.iter().map(|segment| segment.residual_rows(law).len()).collect()
    }

    /// Pulls the slopes of an objective back to the predicted states of every segment, and adds the
    /// adjoints of trained initial states that laws use to `z_bar`.
    pub(crate) fn pull_back(
        &mut self,
        (slopes, of_continuity): (&Slopes, &Slopes),
        problem: &Problem,
        (starts, z_bar): (&InitialStates, &mut [f64]),
    ) {
        let Problem { laws, loss, units, .. } = problem;
        let d = units.state.len();
        self.learned.bars.clear();
        self.learned.bars.resize(self.learned.values.len(), 0.0);
        let mut state_bar = std::mem::take(&mut self.state_bar);
        state_bar.clear();
        state_bar.resize(self.states.len(), 0.0);
        for (slope, &(at, measured)) in slopes.terms.iter().zip(&self.cells) {
            let unit = units.state[at % d];
            state_bar[at] += slope * loss.slope((self.states[at] - measured) / unit) / unit;
        }
        for (n, bar) in of_continuity.residuals.iter().enumerate() {
            let ((a, b), i) = (self.joints[n / d], n % d);
            let bar = bar / units.state[i];
            state_bar[a * d + i] += bar;
            state_bar[b * d + i] -= bar;
        }
        for n in 0..self.penalised.len() {
            let k = self.penalised[n];
            self.pull_back_law(&laws[k], k, slopes, units.law(k), &mut state_bar);
        }
        for segment in &self.segment_rows {
            if let (1, Some(at)) = (segment.lead, segment.initial) {
                let first = segment.rows.start * d;
                starts.gather(at, &state_bar[first..first + d], z_bar);
            }
        }
        self.state_bar = state_bar;
    }

    /// Adds the adjoints of the states through law `k`, with its unit.
    fn pull_back_law(
        &mut self,
        law: &Law,
        k: usize,
        slopes: &Slopes,
        unit: f64,
        state_bar: &mut [f64],
    ) {
        let d = state_bar.len() / self.times.len().max(1);
        let LawRows { start, len, .. } = self.laws[k];
        if slopes.residuals[start..][..len].iter().all(|slope| *slope == 0.0) {
            return;
        }
        let mut at = start;
        for n in 0..self.segment_rows.len() {
            let rows = self.segment_rows[n].residual_rows(law);
            if rows.is_empty() {
                continue;
            }
            self.evaluate(law, n);
            let all_rows = self.segment_rows[n].rows.clone();
            let residual_bar = &mut self.scratch[..all_rows.len()];
            residual_bar.fill(0.0);
            for bar in &mut residual_bar[rows] {
                *bar = slopes.residuals[at] / unit;
                at += 1;
            }
            let state_bar = &mut state_bar[all_rows.start * d..all_rows.end * d];
            let (times, inputs, learned) = (&self.times, &self.inputs, &mut self.learned);
            if learned.values.is_empty() {
                let steps = steps(times, &self.states, inputs, all_rows);
                law.pull_back(&steps, &mut self.workspace, residual_bar, state_bar);
            } else {
                let steps = steps(times, &learned.rows, inputs, all_rows);
                learned.rows_bar.clear();
                learned.rows_bar.resize(steps.states.len(), 0.0);
                let rows_bar = &mut learned.rows_bar;
                law.pull_back(&steps, &mut self.workspace, residual_bar, rows_bar);
                learned.gather(state_bar, d);
            }
        }
    }

    /// Returns the adjoints of the predicted states of segment `n` from the last pull-back.
    pub(crate) fn observed_bar(&self, n: usize) -> &[f64] {
        let segment = &self.segment_rows[n];
        let d = self.states.len() / self.times.len().max(1);
        &self.state_bar[(segment.rows.start + segment.lead) * d..segment.rows.end * d]
    }
}

fn steps<'a>(
    times: &'a [f64],
    states: &'a [f64],
    inputs: &'a [f64],
    rows: Range<usize>,
) -> Steps<'a> {
    let (d, m) = (states.len() / times.len(), inputs.len() / times.len());
    Steps {
        times: &times[rows.clone()],
        states: &states[rows.start * d..rows.end * d],
        inputs: &inputs[rows.start * m..rows.end * m],
    }
}
