//! The layout of a [`Misfit`]: which rows, points, cells and joints a set of segments has.

use lawful_law::{Enforcement, Law, Relation, Workspace};
use lawful_ode::VectorField;

use super::cells::Cells;
use super::layer::{Layer, SegmentPoints};
use super::learned::Learned;
use super::rates::Rates;
use super::{InitialStates, Misfit};
use crate::data::Table;
use crate::objective::points::CountsAt;
use crate::strategy::LawRows;
use crate::{Problem, Segment};

impl Misfit {
    /// Creates the misfit of a problem, without segments. Laws with rates see those of this field.
    pub(crate) fn new(problem: &Problem, field: &dyn VectorField) -> Self {
        let Problem { laws, points, units, .. } = problem;
        let counts_at: Vec<CountsAt> = laws.iter().map(CountsAt::of).collect();
        // Without points between and rows beyond, all laws count at the same places.
        let has_layer =
            |at: &CountsAt| *at == CountsAt::Points || !points.is_empty() && counts_at.contains(at);
        let layers: Vec<CountsAt> = CountsAt::ALL.into_iter().filter(has_layer).collect();
        let layer_of = counts_at.iter().map(|at| layers.iter().position(|layer| layer == at));
        let penalised = |(_, law): &(usize, &Law)| law.enforcement() == Enforcement::Penalty;
        Self {
            layer_of: layer_of.map(|layer| layer.unwrap_or(0)).collect(),
            layers: layers.iter().map(|_| Layer::default()).collect(),
            counts_at: layers,
            rates: laws.iter().any(Law::uses_rates).then(|| Rates::new(field.fork())),
            offsets: Vec::new(),
            merged: Vec::new(),
            places: Vec::new(),
            cells: Vec::new(),
            terms: Vec::new(),
            laws: Vec::new(),
            penalised: laws.iter().enumerate().filter(penalised).map(|(k, _)| k).collect(),
            penalised_rows: Vec::new(),
            residuals: Vec::new(),
            violations: Vec::new(),
            points: Vec::new(),
            margin: units.margin,
            loss: 0.0,
            joints: Vec::new(),
            jumps: Vec::new(),
            jump_sizes: Vec::new(),
            jump_points: Vec::new(),
            continuity: [LawRows { relation: Relation::Equality, start: 0, len: 0, points: 0 }],
            workspace: Workspace::default(),
            scratch: Vec::new(),
            learned: Learned::default(),
        }
    }

    /// Lays out the points of these segments, in this order.
    pub(crate) fn lay_out(
        &mut self,
        problem: &Problem,
        segments: &[Segment],
        starts: &InitialStates,
    ) {
        self.lay_out_points(problem, segments, starts);
        self.lay_out_joints(segments, starts, problem.dataset.state().len());
        self.terms.clear();
        self.terms.resize(Cells::count(&self.cells), 0.0);
        self.laws.clear();
        self.points.clear();
        for (law, &layer) in problem.laws.iter().zip(&self.layer_of) {
            let (start, layer) = (self.points.len(), &self.layers[layer]);
            for segment in &layer.segments {
                let own = segment.residuals(law);
                self.points.extend(own.map(|row| segment.identity + row - segment.lead));
            }
            let len = self.points.len() - start;
            let relation = law.relation();
            self.laws.push(LawRows { relation, start, len, points: layer.total });
        }
        self.penalised_rows.clear();
        self.penalised_rows.extend(self.penalised.iter().map(|&k| self.laws[k]));
        self.residuals.clear();
        self.residuals.resize(self.points.len(), 0.0);
        self.violations.clear();
        self.violations.resize(self.points.len(), 0.0);
        let segments = &self.layers[0].segments;
        let longest = segments.iter().map(|segment| segment.points.len()).max().unwrap_or(0);
        self.scratch.resize(longest.max(self.scratch.len()), 0.0);
    }

    /// Fills the layers, and finds the measured cells.
    fn lay_out_points(&mut self, problem: &Problem, segments: &[Segment], starts: &InitialStates) {
        let Problem { dataset, points, interpolation, .. } = problem;
        let (d, m) = (dataset.state().len(), dataset.inputs().len());
        let trajectories = dataset.trajectories();
        self.cells.clear();
        self.offsets.clear();
        for (layer, &at) in self.layers.iter_mut().zip(&self.counts_at) {
            layer.clear();
            layer.total = 0;
            for (n, trajectory) in trajectories.iter().enumerate() {
                self.offsets.push(layer.total);
                layer.total += match at {
                    CountsAt::Points => trajectory.len() + points.of(n).len(),
                    CountsAt::Rows => trajectory.len(),
                    CountsAt::MeasuredRows => points.measured(n, trajectory.len()),
                };
            }
        }
        let (all, others) = self.layers.split_first_mut().expect("the layer of all points");
        for segment in segments {
            let trajectory = &trajectories[segment.trajectory];
            let start = all.times.len();
            let restarted = segment.first > 0;
            let (first, end) = (segment.first, segment.first + segment.rows);
            if restarted {
                all.times.push(trajectory.times[0]);
                all.states.extend_from_slice(&trajectory.states[..d]);
                all.inputs.extend_from_slice(&trajectory.inputs[..m]);
            }
            let lead = usize::from(restarted);
            let unscored = trajectory.scored_from.saturating_sub(first);
            let measured = usize::from(restarted && unscored == 0);
            points.merge(trajectory, segment, &mut self.merged, &mut self.places);
            for row in first + unscored + measured..end {
                let values = &trajectory.states[row * d..][..d];
                let at = (start + lead + self.places[row - first]) * d;
                for (variable, _) in values.iter().enumerate().filter(|(_, value)| !value.is_nan())
                {
                    let place = (segment.trajectory, row * d + variable);
                    Cells::push(&mut self.cells, at + variable, place);
                }
            }
            all.times.extend_from_slice(&self.merged);
            all.states.resize(all.times.len() * d, 0.0);
            if self.merged.len() == segment.rows {
                all.inputs.extend_from_slice(&trajectory.inputs[first * m..end * m]);
            } else if m > 0 {
                let table = Table { times: &trajectory.times, values: &trajectory.inputs };
                for &t in &self.merged {
                    let from = all.inputs.len();
                    all.inputs.resize(from + m, 0.0);
                    table.at(*interpolation, t, t, &mut all.inputs[from..]);
                }
            }
            let before = points.before(segment.trajectory, trajectory.times[first]);
            let place = |row: usize| self.places.get(row).copied().unwrap_or(self.merged.len());
            all.segments.push(SegmentPoints {
                points: start..all.times.len(),
                lead,
                first: lead + place(unscored),
                measured,
                to_end: end == trajectory.len(),
                initial: starts.find(segment.trajectory, 0),
                identity: self.offsets[segment.trajectory] + first + before,
            });
            let offsets = self.offsets.chunks_exact(trajectories.len()).skip(1);
            for ((layer, at), offsets) in others.iter_mut().zip(&self.counts_at[1..]).zip(offsets) {
                let len = match at {
                    CountsAt::MeasuredRows => points.measured(segment.trajectory, trajectory.len()),
                    _ => trajectory.len(),
                };
                let last = end.min(len);
                let rows = last.saturating_sub(first);
                let from = layer.from.len();
                layer.from.extend(restarted.then_some(start));
                layer.from.extend(self.places[..rows].iter().map(|place| start + lead + place));
                for &row in &layer.from[from..] {
                    layer.times.push(all.times[row]);
                    layer.inputs.extend_from_slice(&all.inputs[row * m..][..m]);
                }
                layer.segments.push(SegmentPoints {
                    points: from..layer.from.len(),
                    lead,
                    first: lead + unscored.min(rows),
                    measured,
                    to_end: last == len,
                    initial: None,
                    identity: offsets[segment.trajectory] + first,
                });
            }
        }
    }

    /// Finds the joints: points at which one segment ends and another of the same trajectory starts from a
    /// trained state.
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
                let places = &self.layers[0].segments;
                let (a, b) = (&places[a], &places[b]);
                self.joints.push((a.points.end - 1, b.points.start + b.lead));
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
}
