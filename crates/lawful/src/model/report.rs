//! Measures the laws of a model on all of its sets.

use lawful_law::{Law, Workspace};
use lawful_ode::SolveError;

use super::Model;
use super::dense::{Density, Grid, Paths, Predicted};
use super::guarantee::guarantee;
use super::measure::Form;
use super::size::law_sizes;
use super::verdict::{Found, LawPlace, LawReport, LawVerdict, Unsolved};
use crate::{Dataset, Trajectory};

impl Model {
    /// Measures every law along the predictions for all sets, of which the first is the training set: at
    /// the rows, at about 20 points of each interval between them (2000 a trajectory at most), and for the
    /// training set on to the horizon. Initial states, inputs and solver are those of predictions.
    ///
    /// Each law is guaranteed, kept to a stated size, or broken: by more than its
    /// [tolerance](Law::tolerance), or without one by more than [`LAW_TOLERANCE`](crate::LAW_TOLERANCE) of its
    /// [size](law_sizes) on the training set. Without laws nothing is solved.
    ///
    /// # Panics
    /// If there is no set, or one has other variables than the model.
    pub fn measure(&self, sets: &[(&str, &Dataset)], horizon: Option<f64>) -> LawReport {
        let of = sets.iter().map(|(_, set)| set.trajectories().len()).sum();
        if self.laws.is_empty() {
            return LawReport { of, ..LawReport::default() };
        }
        let mut survey = Survey::new(self, of);
        let trained_until = end(sets[0].1.trajectories());
        let (mut unsolved, mut trajectories, mut number) = (Vec::new(), 0, 0);
        for (k, (set, dataset)) in sets.iter().enumerate() {
            let is_training = k == 0;
            let several = dataset.trajectories().len() > 1;
            let mut failed: Option<Unsolved> = None;
            for trajectory in dataset.trajectories() {
                let skipped = number % survey.density.stride > 0;
                number += 1;
                if skipped {
                    continue;
                }
                trajectories += 1;
                let (set, name) = ((*set).to_owned(), several.then(|| trajectory.name.clone()));
                let own = std::slice::from_ref(trajectory);
                let along = Along {
                    trajectory,
                    is_training,
                    until: horizon.filter(|_| is_training),
                    trained_until: if is_training { end(own) } else { trained_until },
                    place: (set.clone(), name.clone()),
                };
                if let Some(error) = survey.measure(&along) {
                    let (time, reason) = (error.at().t, error.to_string());
                    let first = Unsolved { set, trajectory: name, time, count: 0, reason };
                    failed.get_or_insert(first).count += 1;
                }
            }
            unsolved.extend(failed);
        }
        let constants: Vec<f64> = self.constants().into_iter().map(|(_, _, value)| value).collect();
        let sizes = law_sizes(sets[0].1, &self.laws, &constants);
        let laws = self.laws.iter().zip(survey.laws).zip(sizes);
        let laws = laws.map(|((law, Measuring { by, found, .. }), size)| {
            LawVerdict::new(law, size, by, &found)
        });
        LawReport { laws: laws.collect(), unsolved, trajectories, of }
    }
}

/// The laws of a model, and what was found of each so far.
struct Survey<'a> {
    model: &'a Model,
    laws: Vec<Measuring>,
    paths: Paths<'a>,
    density: Density,
    with_rates: bool,
    workspace: Workspace,
}

/// A law as it is measured.
struct Measuring {
    form: Form,
    /// By what it is guaranteed.
    by: Option<&'static str>,
    found: Found,
}

/// A trajectory along which laws are measured.
struct Along<'a> {
    trajectory: &'a Trajectory,
    is_training: bool,
    until: Option<f64>,
    /// What is later is beyond the training data.
    trained_until: f64,
    /// The set, and the trajectory if there are several.
    place: (String, Option<String>),
}

impl Along<'_> {
    fn place(&self, from: Option<f64>, time: f64) -> LawPlace {
        let (set, trajectory) = self.place.clone();
        LawPlace { set, trajectory, from, time, beyond: time > self.trained_until }
    }
}

impl<'a> Survey<'a> {
    fn new(model: &'a Model, trajectories: usize) -> Self {
        let mut laws = Vec::with_capacity(model.laws.len());
        for law in &model.laws {
            let form = Form::of(law);
            let by = guarantee(&model.description.field, law);
            laws.push(Measuring { found: Found::new(&form), form, by });
        }
        let paths = Paths::new(model);
        let by_rows = laws.iter().any(|law| matches!(law.form, Form::Rows));
        let density = Density::of(trajectories, by_rows || paths.ends_steps_at_times());
        let with_rates = model.laws.iter().any(Law::uses_rates);
        Self { model, laws, paths, density, with_rates, workspace: Workspace::default() }
    }

    /// Measures the laws along one trajectory. Returns why its path ends too early, if it does.
    fn measure(&mut self, along: &Along<'_>) -> Option<SolveError> {
        let trajectory = along.trajectory;
        let grid = Grid::new(&trajectory.times, along.until, self.density);
        let (dense, failure) = self.paths.along(trajectory, &grid, self.with_rates);
        if let Some(dense) = dense {
            // Where each output time ends a step, a prediction at the rows has other steps.
            let own_rows = self.paths.ends_steps_at_times().then(|| {
                let grid = Grid::of_rows(&trajectory.times);
                self.paths.along(trajectory, &grid, self.with_rates).0
            });
            self.add(along, &dense, own_rows.flatten());
        }
        failure
    }

    fn add(&mut self, along: &Along<'_>, dense: &Predicted, own_rows: Option<Predicted>) {
        let (has_own_rows, start) = (own_rows.is_some(), dense.first());
        let rows = own_rows.unwrap_or_else(|| dense.at_rows());
        for (law, Measuring { form, by, found }) in self.model.laws.iter().zip(&mut self.laws) {
            let by_rows = form.measure(law, &rows, &mut self.workspace);
            if along.is_training {
                found.rows = found.rows.max(by_rows.amount);
            }
            let at_rows_only = matches!(form, Form::Rows);
            if at_rows_only || has_own_rows {
                found.add(by_rows, along);
            }
            if !at_rows_only {
                found.add(form.measure(law, dense, &mut self.workspace), along);
            }
            if by.is_some() {
                let largest = dense.magnitude(law, &mut self.workspace);
                found.magnitude = found.magnitude.max(largest);
            }
            if matches!(form, Form::Point) {
                let at_start = form.measure(law, &start, &mut self.workspace);
                found.start = found.start.max(at_start.amount);
            }
        }
    }
}

impl Found {
    /// Adds what was measured along a trajectory.
    fn add(&mut self, violation: super::measure::Violation, along: &Along<'_>) {
        self.points += violation.points;
        if let Some(time) = violation.undefined {
            self.undefined.get_or_insert_with(|| along.place(None, time));
        }
        let before = self.violation.as_ref().map_or(-1.0, |(known, _)| *known);
        if violation.points > 0 && violation.amount > before {
            let place = along.place(violation.from, violation.time);
            self.violation = Some((violation.amount, place));
        }
    }
}

/// Returns the last time of some trajectories.
fn end(trajectories: &[Trajectory]) -> f64 {
    let ends = trajectories.iter().filter_map(|trajectory| trajectory.times.last());
    ends.copied().fold(f64::NEG_INFINITY, f64::max)
}
