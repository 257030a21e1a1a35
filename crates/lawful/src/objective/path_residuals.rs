//! An objective as a sum of squares: the errors of all measured cells, then the residuals of penalised laws.
//!
//! ```text
//! r = (ŷ − y)/s            of a measured cell, in units of the problem
//! r = (x − flow)/(s √(Δt/τ)) of an increment of process noise, see `increments.rs`
//! r = c + λ/ρ              of an equality at a point, with its multiplier λ and weight ρ
//! r = max(0, c + λ/ρ)      of an inequality
//! ```
//!
//! The Jacobian comes from the sensitivities of the path: those of a cell are rows of it, those of a law the
//! slopes of its residual times the rows of all states that it uses.

use lawful_law::Relation;

use super::flow::Mode;
use super::increments::Increments;
use super::{Failure, Objective};
use crate::least_squares::Residuals;
use crate::strategy::Slopes;

/// The residuals of an objective as functions of `x = θ − centre`.
pub(crate) struct PathResiduals {
    objective: Objective,
    /// Where x is 0.
    centre: Vec<f64>,
    theta: Vec<f64>,
    /// The measured cells on paths.
    cells: Vec<Cell>,
    /// Increments of process noise, and the cells of states after them.
    increments: Increments,
    /// The residuals of penalised laws.
    points: Vec<Point>,
    /// λ/ρ of each.
    shifts: Vec<f64>,
    /// Why the last point could not be evaluated.
    failure: Option<Failure>,
    slopes: Slopes,
    of_continuity: Slopes,
    /// Scratch: the adjoint of an initial state.
    initial_bar: Vec<f64>,
}

/// A measured cell: its segment, its place among the segment's predicted values, and its value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell {
    pub(super) segment: usize,
    pub(super) place: usize,
    pub(super) measured: f64,
}

/// A residual of a penalised law: its place among all residuals.
#[derive(Debug, Clone, Copy)]
struct Point {
    place: usize,
    relation: Relation,
}

impl PathResiduals {
    /// The residuals of an objective on full trajectories, or on segments that end at trained states.
    pub(crate) fn new(mut objective: Objective, centre: Vec<f64>) -> Self {
        objective.flow.separate();
        objective.flow.select(&objective.problem, &objective.segments, &objective.starts);
        let mut cells = objective.misfit.cells(&objective.problem.dataset);
        let increments = Increments::of(&objective, &mut cells);
        let view = objective.misfit.view();
        let points = view.laws.iter().flat_map(|rows| {
            let relation = rows.relation;
            (rows.start..rows.start + rows.len).map(move |place| Point { place, relation })
        });
        let points: Vec<Point> = points.collect();
        let slopes = |view: &crate::strategy::MisfitView| Slopes {
            terms: vec![0.0; view.terms.len()],
            residuals: vec![0.0; view.residuals.len()],
        };
        let d = objective.problem.dataset.state().len();
        Self {
            slopes: slopes(&view),
            of_continuity: slopes(&objective.misfit.continuity()),
            shifts: vec![0.0; points.len()],
            theta: centre.clone(),
            initial_bar: vec![0.0; d],
            failure: None,
            centre,
            cells,
            increments,
            points,
            objective,
        }
    }

    /// Returns the number of measured cells.
    pub(crate) fn cell_len(&self) -> usize {
        self.cells.len() + self.increments.cell_variables().count()
    }

    /// Returns the number of residuals before those of laws: measured cells and increments.
    pub(crate) fn data_len(&self) -> usize {
        self.cell_len() + self.increment_len()
    }

    /// Returns the number of residuals that are increments.
    fn increment_len(&self) -> usize {
        self.increments.len() * self.objective.problem.units.state.len()
    }

    /// Returns the increments of process noise.
    pub(crate) fn increments(&self) -> &Increments {
        &self.increments
    }

    /// Returns for each state variable the share of its increments that are free: 1 where no guaranteed law ties
    /// them, nothing without increments.
    pub(crate) fn free_increments(&mut self) -> Vec<f64> {
        let Self { objective, centre, increments, .. } = self;
        let (_, z, _) = objective.effects.parts(centre, objective.field_len);
        increments.free(&mut objective.starts, z)
    }

    /// Returns the increments at x in the data's units. `None` if it has no path.
    pub(crate) fn increments_at(&mut self, x: &[f64]) -> Option<Vec<f64>> {
        let mut residuals = vec![0.0; self.residual_len()];
        if !self.evaluate(x, &mut residuals) {
            return None;
        }
        let Self { objective, theta, increments, .. } = self;
        let (_, z, _) = objective.effects.parts(theta, objective.field_len);
        Some(increments.values(objective, z))
    }

    /// Returns the state variable of each measured cell.
    pub(crate) fn cell_states(&self) -> impl Iterator<Item = usize> {
        let d = self.objective.problem.units.state.len();
        let on_paths = self.cells.iter().map(move |cell| cell.place % d);
        on_paths.chain(self.increments.cell_variables())
    }

    /// Returns `λ/ρ` of each residual of a law.
    pub(crate) fn shifts(&self) -> &[f64] {
        &self.shifts
    }

    /// Returns `λ/ρ` of each residual of a law, for change.
    pub(crate) fn shifts_mut(&mut self) -> &mut [f64] {
        &mut self.shifts
    }

    /// Returns θ at x.
    pub(crate) fn theta(&self, x: &[f64]) -> Vec<f64> {
        self.centre.iter().zip(x).map(|(centre, x)| centre + x).collect()
    }

    /// Returns why the last point could not be evaluated.
    pub(crate) fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// Returns the objective.
    pub(crate) fn objective(&self) -> &Objective {
        &self.objective
    }

    /// Returns the objective, for evaluations between steps.
    pub(crate) fn objective_mut(&mut self) -> &mut Objective {
        &mut self.objective
    }

    /// Moves the multipliers at the last point evaluated, where the weight of laws was ρ, and returns to
    /// the same multipliers in units of the next weight: `λ/ρ ← (c + λ/ρ) ρ/ρ_next`, for inequalities its
    /// positive part.
    pub(crate) fn update_multipliers(&mut self, ratio: f64) {
        let view = self.objective.misfit.view();
        for (shift, point) in self.shifts.iter_mut().zip(&self.points) {
            let moved = view.residuals[point.place] + margin(point.relation, view.margin) + *shift;
            *shift = ratio * clipped(point.relation, moved);
        }
    }
}

/// The margin counts for inequalities only.
fn margin(relation: Relation, margin: f64) -> f64 {
    match relation {
        Relation::Equality => 0.0,
        Relation::AtMost => margin,
    }
}

/// Returns the positive part for inequalities.
fn clipped(relation: Relation, residual: f64) -> f64 {
    match relation {
        // Not `max`, which would hide NaN.
        Relation::AtMost if residual <= 0.0 => 0.0,
        Relation::Equality | Relation::AtMost => residual,
    }
}

impl Residuals for PathResiduals {
    fn residual_len(&self) -> usize {
        self.data_len() + self.points.len()
    }

    fn parameter_len(&self) -> usize {
        self.centre.len()
    }

    fn evaluate(&mut self, x: &[f64], residuals: &mut [f64]) -> bool {
        let data = self.data_len();
        let Self { objective, centre, theta, cells, increments, points, shifts, failure, .. } =
            self;
        for ((theta, centre), x) in theta.iter_mut().zip(&*centre).zip(x) {
            *theta = centre + x;
        }
        if let Err(why) = objective.measure(theta, Mode::Record) {
            *failure = Some(why);
            return false;
        }
        let units = &objective.problem.units.state;
        let (of_data, of_laws) = residuals.split_at_mut(data);
        let (of_cells, of_increments) = of_data.split_at_mut(cells.len());
        for (r, cell) in of_cells.iter_mut().zip(&*cells) {
            let predicted = objective.flow.observed(cell.segment)[cell.place];
            *r = (predicted - cell.measured) / units[cell.place % units.len()];
        }
        let (_, z, _) = objective.effects.parts(theta, objective.field_len);
        increments.residuals(objective, z, of_increments);
        let view = objective.misfit.view();
        for ((r, point), shift) in of_laws.iter_mut().zip(&*points).zip(&*shifts) {
            let c = view.residuals[point.place] + margin(point.relation, view.margin);
            *r = clipped(point.relation, c + shift);
        }
        if residuals.iter().all(|r| r.is_finite()) {
            return true;
        }
        let law = objective.misfit.undefined(&objective.problem, &objective.segments);
        *failure = Some(law.unwrap_or(Failure::Loss(f64::NAN)));
        false
    }

    fn jacobian(&mut self, jacobian: &mut [f64]) {
        let data = self.data_len();
        let Self {
            objective, theta, cells, increments, points, shifts, slopes, initial_bar, ..
        } = self;
        objective.flow.sensitivities(&objective.problem.dataset);
        let (of_data, of_laws) = jacobian.split_at_mut(data * theta.len());
        let (of_cells, of_increments) = of_data.split_at_mut(cells.len() * theta.len());
        increments.jacobian(objective, theta.len(), of_increments);
        let Objective { problem, flow, misfit, starts, segments, field_len, effects, .. } =
            objective;
        let (p, n, each) = (*field_len, theta.len(), effects.each);
        let units = &problem.units.state;
        let d = units.len();
        let width = p + each + d;
        // The effects of a trajectory, unless they are fixed.
        let own = |trajectory: usize| {
            let own = trajectory * each..(trajectory + 1) * each;
            if effects.len() > 0 { own } else { 0..0 }
        };
        for (row, cell) in of_cells.chunks_exact_mut(n).zip(&*cells) {
            let unit = units[cell.place % d];
            let sensitivity = &flow.sensitivity(cell.segment)[cell.place * width..][..width];
            let (of_field, of_starts, of_effects) = effects.parts_mut(row, p);
            of_field.iter_mut().zip(sensitivity).for_each(|(slope, s)| *slope = s / unit);
            of_starts.fill(0.0);
            of_effects.fill(0.0);
            let segment = segments[cell.segment];
            let of_effects = of_effects[own(segment.trajectory)].iter_mut();
            of_effects.zip(&sensitivity[p..]).for_each(|(slope, s)| *slope = s / unit);
            if let Some(at) = starts.find(segment.trajectory, segment.first) {
                let bars = initial_bar.iter_mut().zip(&sensitivity[p + each..]);
                bars.for_each(|(bar, s)| *bar = s / unit);
                starts.gather(at, initial_bar, of_starts);
            }
            starts.pull_back(of_starts);
        }
        of_laws.fill(0.0);
        for (k, point) in points.iter().enumerate() {
            let c =
                misfit.view().residuals[point.place] + margin(point.relation, misfit.view().margin);
            if point.relation == Relation::AtMost && c + shifts[k] <= 0.0 {
                continue;
            }
            let (of_field, of_starts, of_effects) =
                effects.parts_mut(&mut of_laws[k * n..][..n], p);
            slopes.residuals[point.place] = 1.0;
            misfit.pull_back((&*slopes, &self.of_continuity), problem, (&*starts, &mut *of_starts));
            slopes.residuals[point.place] = 0.0;
            for (s, segment) in segments.iter().enumerate() {
                let bars = misfit.observed_bars()(s);
                let rows = flow.sensitivity(s).chunks_exact(width);
                let of_effects = &mut of_effects[own(segment.trajectory)];
                initial_bar.fill(0.0);
                for (bar, row) in bars.iter().zip(rows).filter(|(bar, _)| **bar != 0.0) {
                    of_field.iter_mut().zip(row).for_each(|(sum, s)| *sum += bar * s);
                    of_effects.iter_mut().zip(&row[p..]).for_each(|(sum, s)| *sum += bar * s);
                    let of_initial = initial_bar.iter_mut().zip(&row[p + each..]);
                    of_initial.for_each(|(sum, s)| *sum += bar * s);
                }
                if let Some(at) = starts.find(segment.trajectory, segment.first) {
                    starts.gather(at, initial_bar, of_starts);
                }
            }
            starts.pull_back(of_starts);
            misfit.add_parameters(&problem.constants, &theta[..p], of_field);
        }
    }
}

impl Objective {
    /// Evaluates the misfit at θ without a gradient, under this value of the objective, for a report.
    pub(crate) fn report(&mut self, theta: &[f64], value: f64, weight: f64) -> Result<(), Failure> {
        self.measure(theta, Mode::Observe)?;
        let view = self.misfit.view();
        let (fit, violation) = (view.fit(), view.violation());
        self.evaluation.value = crate::strategy::Value { value, fit, violation };
        for &k in self.misfit.penalised() {
            self.evaluation.weights[k] = weight;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::Vanilla;
    use crate::{
        Activation, Control, Dataset, FreeStarts, Interpolation, Law, LearnedConstant, Loss, Mlp,
        MlpShape, Precision, Problem, Random, Segment, Solver, Trajectory, Units,
    };
    use lawful_law::Words;
    use lawful_ode::tableaus::RK4;
    use lawful_ode::{VectorField, WithEffects};

    /// Two trajectories of different lengths with gaps and an input, laws of all kinds, and effects of each.
    fn objective(texts: &[&str], effects: usize) -> Objective {
        let mut random = Random::new(3, "residuals");
        let trajectories = [6_u8, 4].map(|rows| Trajectory {
            name: rows.to_string(),
            times: (0..rows).map(|n| 0.3 * f64::from(n) + 0.1 * random.uniform()).collect(),
            states: (0..2 * rows)
                .map(|k| if k % 5 == 3 { f64::NAN } else { 0.4 * random.normal() })
                .collect(),
            inputs: (0..rows).map(|_| random.normal()).collect(),
            scored_from: 0,
        });
        let names = ["x", "v"].map(str::to_owned).to_vec();
        let dataset =
            Dataset::with_open_starts(names, vec!["u".to_owned()], trajectories.to_vec()).unwrap();
        let words = Words::new().state(["x", "v", "k"]).inputs(["u"]).check().unwrap();
        let laws: Vec<Law> =
            texts.iter().flat_map(|text| Law::parse(text, text, &words).unwrap()).collect();
        let mut units = Units::of_data(2, laws.len());
        units.state = vec![0.5, 2.0];
        units.laws.fill(3.0);
        units.margin = 0.01;
        let k = LearnedConstant { name: "k".to_owned(), start: 0.7, min: Some(0.1), max: None };
        let base = Problem::new(dataset, laws);
        let problem = Problem {
            loss: Loss::Mse,
            interpolation: Interpolation::Linear,
            units,
            constants: vec![k],
            ..base
        };
        let mut shape = MlpShape::new(2 + effects, &[4], Activation::Tanh);
        (shape.inputs, shape.outputs) = (1, 2);
        let network: Box<dyn VectorField> = Box::new(Mlp::new(shape, Precision::Double).unwrap());
        let field: Box<dyn VectorField> =
            if effects > 0 { Box::new(WithEffects::new(network, effects)) } else { network };
        let solver = Solver::new(&RK4, Control::Grid { substeps: 2 }).unwrap();
        let segments = Segment::whole(&problem.dataset);
        let objective = Objective::new(problem, field, solver, Box::new(Vanilla)).unwrap();
        objective.with_free_starts(FreeStarts { initial: true, segments: false }, &segments)
    }

    const LAWS: [&str; 7] = [
        "x + k*v == -0.7",
        "x^2 + v^2 <= -0.5*k",
        "next(x*v) <= x*v - 4",
        "previous(x)*v == 5 + x",
        "x + v == initial(x - 2*v) + 6",
        "x >= final(x*v) + 5",
        "x*u <= -6 - u",
    ];

    #[test]
    fn the_jacobian_matches_central_differences() {
        for effects in [0, 1, 2] {
            let objective = objective(&LAWS, effects);
            let n = objective.parameter_len();
            assert_eq!(n, 4 * (3 + effects) + 4 + 2 * 4 + 2 + 4 + 2 * effects);
            let mut residuals = PathResiduals::new(objective, vec![0.1; n]);
            let m = residuals.residual_len();
            assert_eq!(residuals.cell_len(), 17);
            let shifts = residuals.shifts().len();
            assert_eq!(m, 17 + shifts);
            residuals.shifts_mut().fill(0.05);
            let mut random = Random::new(5, "x");
            let x: Vec<f64> = (0..n).map(|_| 0.5 * random.normal()).collect();
            let (mut r, mut jacobian) = (vec![0.0; m], vec![0.0; m * n]);
            assert!(residuals.evaluate(&x, &mut r));
            residuals.jacobian(&mut jacobian);
            assert!(r[17..].iter().filter(|r| **r != 0.0).count() > shifts / 2);
            for k in 0..n {
                let mut at = |shift: f64| {
                    let mut moved = x.clone();
                    moved[k] += shift;
                    let mut r = vec![0.0; m];
                    assert!(residuals.evaluate(&moved, &mut r));
                    r
                };
                let e = 1e-3;
                let [a, b, c, d] = [-2.0 * e, -e, e, 2.0 * e].map(&mut at);
                for i in 0..m {
                    let difference = (8.0 * (c[i] - b[i]) - (d[i] - a[i])) / (12.0 * e);
                    let exact = jacobian[i * n + k];
                    let error = (exact - difference).abs() / exact.abs().max(1.0);
                    assert!(error < 1e-8, "{i} {k}: {exact}, differences {difference}");
                }
            }
        }
    }

    #[test]
    fn the_adjoint_of_effects_matches_central_differences() {
        let mut objective = objective(&LAWS, 2);
        let n = objective.parameter_len();
        let mut random = Random::new(6, "theta");
        let theta: Vec<f64> = (0..n).map(|_| 0.5 * random.normal()).collect();
        let gradient = objective.evaluate(&theta, 0).unwrap().gradient.clone();
        for k in n - 4..n {
            let mut at = |shift: f64| {
                let mut moved = theta.clone();
                moved[k] += shift;
                objective.evaluate(&moved, 0).unwrap().value.value
            };
            let e = 1e-3;
            let [a, b, c, d] = [-2.0 * e, -e, e, 2.0 * e].map(&mut at);
            let difference = (8.0 * (c - b) - (d - a)) / (12.0 * e);
            let error = (gradient[k] - difference).abs() / gradient[k].abs().max(1e-3);
            assert!(error < 1e-8, "{k}: {}, differences {difference}", gradient[k]);
        }
    }

    #[test]
    fn fixed_effects_give_the_same_path_and_leave_no_slope() {
        let mut trained = objective(&LAWS, 1);
        let n = trained.parameter_len();
        let mut theta = vec![0.1; n];
        theta[n - 2..].copy_from_slice(&[0.6, -0.4]);
        let mut fixed = objective(&LAWS, 1).with_effects(vec![0.6, -0.4]);
        assert_eq!(fixed.parameter_len(), n - 2);
        let [a, b] = [(&mut trained, &theta[..]), (&mut fixed, &theta[..n - 2])]
            .map(|(objective, theta)| objective.evaluate(theta, 0).unwrap().clone());
        assert_eq!((a.loss, &a.gradient[..n - 2]), (b.loss, &b.gradient[..]));
        assert!(a.gradient[n - 2..].iter().all(|slope| *slope != 0.0));
    }

    #[test]
    fn multipliers_move_as_worked_by_hand() {
        let mut residuals = PathResiduals::new(objective(&["x == 2", "x <= -3"], 0), vec![0.0; 30]);
        let mut r = vec![0.0; residuals.residual_len()];
        assert!(residuals.evaluate(&[0.0; 30], &mut r));
        let c = r[17..].to_vec();
        residuals.update_multipliers(0.1);
        let mut moved = r.clone();
        assert!(residuals.evaluate(&[0.0; 30], &mut moved));
        // λ/ρ is a tenth of c, so the residual is 1.1 times what it was.
        for (moved, c) in moved[17..].iter().zip(&c) {
            assert!((moved - 1.1 * c).abs() < 1e-12, "{moved} {c}");
        }
    }
}
