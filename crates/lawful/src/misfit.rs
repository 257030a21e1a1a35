//! What is left over of data and laws along a computed path.
//!
//! A [`Misfit`] is laid out once for a set of segments and then measured on solved paths only: no
//! law can be evaluated on the data by accident.

use std::ops::Range;

use lawful_law::{Law, Relation, Steps, Workspace};

use crate::flow::Flow;
use crate::initial_states::InitialStates;
use crate::strategy::{LawRows, MisfitView, Slopes};
use crate::{Failure, LearnedConstant, Problem, Segment, extend_rows};

/// The rows of one segment in the flat arrays of a [`Misfit`].
#[derive(Debug, Clone)]
struct SegmentRows {
    /// Its rows, the lead included.
    rows: Range<usize>,
    /// 1 if the trajectory's initial state stands before the first row, for `initial(…)`: a segment
    /// that starts later does not pass through it.
    lead: usize,
    /// The first row, counted in `rows`, that counts: for itself, and as a neighbour of others.
    first: usize,
    /// 1 if the row at `first` was measured and not predicted, because the segment starts there in
    /// the middle of its trajectory. It has no error, and no residual that knows only it and what
    /// came before: that would be the data's violation, not the path's.
    measured: usize,
    /// Whether it ends at the trajectory's last row.
    to_end: bool,
    /// Where in z the trajectory's initial state is, if it is trained.
    initial: Option<usize>,
}

impl SegmentRows {
    /// The rows, counted from the piece's own first, at which a law has a residual.
    fn residual_rows(&self, law: &Law) -> Range<usize> {
        let reach = law.reach();
        let n = self.rows.len();
        // The path passes through the rows after the initial one only if it starts there.
        let initial_exists = reach.initial.is_none_or(|ahead| ahead == 0 || self.lead == 0);
        let final_exists = reach.final_.is_none_or(|back| {
            self.to_end && n.checked_sub(back + 1).is_some_and(|row| row >= self.first)
        });
        let looks_ahead = reach.ahead > 0 || reach.final_.is_some();
        let measured = if looks_ahead { 0 } else { self.measured };
        let range = reach.range(n);
        let first = self.first + reach.back.max(measured);
        if initial_exists && final_exists && first < range.end { first..range.end } else { 0..0 }
    }
}

/// Errors of the data and violations of each law, at every row of a set of segments.
#[derive(Debug)]
pub struct Misfit {
    segment_rows: Vec<SegmentRows>,
    /// Times, predicted states and inputs of all pieces, row after row.
    times: Vec<f64>,
    states: Vec<f64>,
    inputs: Vec<f64>,
    /// The measured cells: where in `states`, and what was measured.
    cells: Vec<(usize, f64)>,
    terms: Vec<f64>,
    laws: Vec<LawRows>,
    /// Residuals `c` and violations `v` at the rows that have one, law after law, in units of the
    /// problem.
    residuals: Vec<f64>,
    violations: Vec<f64>,
    /// The fit in the data's own units.
    loss: f64,
    /// Rows, of all, at which a segment ends and the next one begins from a trained state.
    joints: Vec<(usize, usize)>,
    /// By how much each state jumps there, in units of the problem, as the residuals of a law.
    jumps: Vec<f64>,
    jump_sizes: Vec<f64>,
    continuity: [LawRows; 1],
    workspace: Workspace,
    /// Scratch of the longest piece.
    scratch: Vec<f64>,
    learned: Learned,
}

/// Constants that laws use and that are learned: variables behind the state, to a law.
#[derive(Debug, Default)]
struct Learned {
    values: Vec<f64>,
    /// Their adjoints.
    bars: Vec<f64>,
    /// `states` of all rows with the values behind each; empty without constants.
    rows: Vec<f64>,
    /// Scratch: adjoints of the rows of one piece.
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
            times: Vec::new(),
            states: Vec::new(),
            inputs: Vec::new(),
            cells: Vec::new(),
            terms: Vec::new(),
            laws: Vec::new(),
            residuals: Vec::new(),
            violations: Vec::new(),
            loss: 0.0,
            joints: Vec::new(),
            jumps: Vec::new(),
            jump_sizes: Vec::new(),
            continuity: [LawRows { relation: Relation::Equality, start: 0, len: 0 }],
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
        let Problem { dataset, laws, .. } = problem;
        let (d, m) = (dataset.state().len(), dataset.inputs().len());
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
            self.segment_rows.push(SegmentRows {
                rows: start..self.times.len(),
                lead,
                first: lead + unscored,
                measured,
                to_end: end == trajectory.len(),
                initial: starts.find(segment.trajectory, 0),
            });
        }
        self.lay_out_joints(segments, starts, d);
        self.terms.clear();
        self.terms.resize(self.cells.len(), 0.0);
        self.laws.clear();
        let mut start = 0;
        for law in laws {
            let len = self.segment_rows.iter().map(|piece| piece.residual_rows(law).len()).sum();
            self.laws.push(LawRows { relation: law.relation(), start, len });
            start += len;
        }
        self.residuals.clear();
        self.residuals.resize(start, 0.0);
        self.violations.clear();
        self.violations.resize(start, 0.0);
        let longest = self.segment_rows.iter().map(|piece| piece.rows.len()).max().unwrap_or(0);
        self.scratch.resize(longest.max(self.scratch.len()), 0.0);
    }

    /// Where one segment ends at the row at which another of its trajectory begins from a trained
    /// state.
    fn lay_out_joints(&mut self, segments: &[Segment], starts: &InitialStates, d: usize) {
        self.joints.clear();
        for (b, later) in segments.iter().enumerate() {
            if later.first == 0 || starts.find(later.trajectory, later.first).is_none() {
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
        self.continuity[0].len = len;
    }

    /// Measures errors and violations on the paths of `flow`, which was laid out for the same
    /// segments and solved from the same z; `theta` are the field's parameters, of which the last
    /// ones are the learned constants'.
    pub(crate) fn measure(
        &mut self,
        flow: &Flow,
        problem: &Problem,
        (starts, z): (&InitialStates, &[f64]),
        theta: &[f64],
    ) {
        let Problem { laws, loss, units, constants, .. } = problem;
        let d = units.state.len();
        for (n, piece) in self.segment_rows.iter().enumerate() {
            let own = &mut self.states[piece.rows.start * d..piece.rows.end * d];
            let (lead, observed) = own.split_at_mut(piece.lead * d);
            observed.copy_from_slice(flow.observed(n));
            if let (1, Some(at)) = (piece.lead, piece.initial) {
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
                    self.violations[at] = violation(law.relation(), c, units.margin);
                    at += 1;
                }
            }
        }
    }

    /// Adds the adjoints of the learned constants, as the last pull-back found them, to those of
    /// the field's parameters.
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

    /// The residuals of a law at every row of piece `n`, into `scratch`.
    fn evaluate(&mut self, law: &Law, n: usize) {
        let rows = self.segment_rows[n].rows.clone();
        let Self { times, states, inputs, learned, workspace, scratch, .. } = self;
        let seen = if learned.values.is_empty() { &*states } else { &learned.rows };
        let steps = steps(times, seen, inputs, rows.clone());
        law.residuals(&steps, workspace, &mut scratch[..rows.len()]);
    }

    /// The first row at which a law is infinite or not a number.
    pub(crate) fn undefined(&self, problem: &Problem, segments: &[Segment]) -> Option<Failure> {
        let Problem { dataset, laws, units, .. } = problem;
        let d = units.state.len();
        for (k, law) in laws.iter().enumerate() {
            let mut at = self.laws[k].start;
            for (piece, segment) in self.segment_rows.iter().zip(segments) {
                for row in piece.residual_rows(law) {
                    let residual = self.residuals[at] * units.law(k);
                    at += 1;
                    if residual.is_finite() {
                        continue;
                    }
                    let row = piece.rows.start + row;
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

    /// What a strategy looks at.
    pub fn view(&self) -> MisfitView<'_> {
        let Self { terms, violations, residuals, laws, .. } = self;
        MisfitView { terms, violations, residuals, laws }
    }

    /// What holds segments together, as one equality law of its own: the jumps of the states, in
    /// units of the problem, where one segment ends and the next one begins from a trained state.
    pub fn continuity(&self) -> MisfitView<'_> {
        let Self { jumps, jump_sizes, continuity, .. } = self;
        MisfitView { terms: &[], violations: jump_sizes, residuals: jumps, laws: continuity }
    }

    /// The mean violation of law `k`, in units of the problem, whatever margin training asks for.
    pub fn mean_violation(&self, k: usize) -> f64 {
        let (relation, residuals) = (self.laws[k].relation, self.residuals(k));
        let sum: f64 = residuals.iter().map(|&c| violation(relation, c, 0.0)).sum();
        sum / residuals.len().max(1) as f64
    }

    /// The fit `l(θ)` in the data's own units.
    pub fn loss(&self) -> f64 {
        self.loss
    }

    /// Residuals `c` of law `k`, at the rows that have one, in units of the problem.
    pub fn residuals(&self, k: usize) -> &[f64] {
        let rows = &self.laws[k];
        &self.residuals[rows.start..][..rows.len]
    }

    /// Times of the rows at which law `k` has a residual, in the order of
    /// [`residuals`](Self::residuals).
    pub fn residual_times(&self, law: &Law) -> Vec<f64> {
        let rows = |piece: &SegmentRows| {
            let own = piece.residual_rows(law);
            piece.rows.start + own.start..piece.rows.start + own.end
        };
        self.segment_rows.iter().flat_map(|piece| &self.times[rows(piece)]).copied().collect()
    }

    /// How many of the residuals of a law belong to each segment, in the order of the segments.
    pub fn residual_counts(&self, law: &Law) -> Vec<usize> {
        self.segment_rows.iter().map(|piece| piece.residual_rows(law).len()).collect()
    }

    /// Carries slopes of an objective back to the predicted states of every segment, and hands each
    /// to `flow`; adds the adjoint of trained initial states that laws look at to `z_bar`.
    pub(crate) fn pull_back(
        &mut self,
        (slopes, of_continuity): (&Slopes, &Slopes),
        problem: &Problem,
        flow: &mut Flow,
        (starts, z_bar): (&InitialStates, &mut [f64]),
    ) {
        let Problem { laws, loss, units, .. } = problem;
        let d = units.state.len();
        self.learned.bars.clear();
        self.learned.bars.resize(self.learned.values.len(), 0.0);
        let state_bar = &mut flow.state_bar;
        state_bar.clear();
        state_bar.resize(self.states.len(), 0.0);
        for (slope, &(at, measured)) in slopes.terms.iter().zip(&self.cells) {
            let unit = units.state[at % d];
            state_bar[at] += slope * loss.slope((self.states[at] - measured) / unit) / unit;
        }
        let bars = of_continuity.violations.iter().zip(&self.jumps);
        for (n, (bar, &jump)) in bars.enumerate() {
            let ((a, b), i) = (self.joints[n / d], n % d);
            let bar = bar * slope(Relation::Equality, jump, 0.0) / units.state[i];
            state_bar[a * d + i] += bar;
            state_bar[b * d + i] -= bar;
        }
        for (k, law) in laws.iter().enumerate() {
            let unit = units.law(k);
            let LawRows { start, len, .. } = self.laws[k];
            if slopes.violations[start..][..len].iter().all(|slope| *slope == 0.0) {
                continue;
            }
            let mut at = start;
            for n in 0..self.segment_rows.len() {
                let rows = self.segment_rows[n].residual_rows(law);
                if rows.is_empty() {
                    continue;
                }
                self.evaluate(law, n);
                let piece = self.segment_rows[n].rows.clone();
                let residual_bar = &mut self.scratch[..piece.len()];
                residual_bar.fill(0.0);
                for bar in &mut residual_bar[rows] {
                    let slope = slope(law.relation(), self.residuals[at], units.margin);
                    *bar = slopes.violations[at] * slope / unit;
                    at += 1;
                }
                let state_bar = &mut state_bar[piece.start * d..piece.end * d];
                let (times, inputs, learned) = (&self.times, &self.inputs, &mut self.learned);
                if learned.values.is_empty() {
                    let steps = steps(times, &self.states, inputs, piece);
                    law.pull_back(&steps, &mut self.workspace, residual_bar, state_bar);
                } else {
                    let steps = steps(times, &learned.rows, inputs, piece);
                    learned.rows_bar.clear();
                    learned.rows_bar.resize(steps.states.len(), 0.0);
                    let rows_bar = &mut learned.rows_bar;
                    law.pull_back(&steps, &mut self.workspace, residual_bar, rows_bar);
                    learned.gather(state_bar, d);
                }
            }
        }
        for (n, piece) in self.segment_rows.iter().enumerate() {
            let first = piece.rows.start + piece.lead;
            if let (1, Some(at)) = (piece.lead, piece.initial) {
                starts.gather(at, &flow.state_bar[piece.rows.start * d..first * d], z_bar);
            }
            flow.take_bar(n, first * d..piece.rows.end * d);
        }
    }
}

/// The violation: `|c|` of an equality, `max(c + margin, 0)` of an inequality.
fn violation(relation: Relation, residual: f64, margin: f64) -> f64 {
    match relation {
        Relation::Equality => residual.abs(),
        // Not `max`, which would turn NaN into 0.
        Relation::AtMost if residual + margin <= 0.0 => 0.0,
        Relation::AtMost => residual + margin,
    }
}

/// The slope of the violation as a function of the residual; 0 at its kink.
fn slope(relation: Relation, residual: f64, margin: f64) -> f64 {
    match relation {
        Relation::Equality if residual == 0.0 => 0.0,
        Relation::Equality => residual.signum(),
        Relation::AtMost => f64::from(u8::from(residual + margin > 0.0)),
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
