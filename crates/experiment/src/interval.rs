//! Intervals around predictions at any number of times, and how good they are on each set.

use std::borrow::Cow;

use lawful::{
    Control, Dataset, Interval, IntervalError, IntervalScore, Intervals, LawDraws, Model,
    Trajectory,
};
use serde_json::{Map, Value, json};

use crate::experiment::{Experiment, in_a_line};
use crate::predict::{PART, Place, Prediction};

/// The level at which intervals are scored and drawn.
pub const LEVEL: f64 = 0.9;

/// A prediction with intervals, in parts of bounded memory. Values are the same in parts of any size.
#[expect(missing_debug_implementations, reason = "it has a function")]
pub struct IntervalPrediction<'a> {
    /// The prediction of the model.
    pub prediction: Prediction<'a>,
    /// The draws of the same model.
    pub intervals: &'a Intervals<'a>,
    /// Where each draw starts.
    pub start: DrawnStart<'a>,
}

/// Where a draw starts, and the effects it has.
#[derive(Debug, Clone, Copy)]
pub enum DrawnStart<'a> {
    /// At the drawn initial state of a trajectory, with its effects.
    Of(&'a Trajectory),
    /// At an exact state, with the effects of a trajectory. What is NaN is predicted by each draw.
    With(&'a Trajectory, &'a [f64]),
    /// At an exact state of a new trajectory, with effects that each draw predicts.
    New(&'a [f64]),
}

impl IntervalPrediction<'_> {
    /// Calls `print` with the times and intervals of each part, in order, until it returns false. Returns the
    /// last interval's warning.
    ///
    /// # Errors
    /// If the prediction or too many draws fail; then nothing was printed.
    pub fn run(
        &self,
        print: impl FnMut(&[f64], &Interval) -> bool,
    ) -> Result<Option<String>, IntervalError> {
        let paths = self.intervals.draws().len() + 1;
        let numbers = (self.prediction.initial.len() + 1).saturating_mul(paths);
        self.run_in_parts((PART / numbers).max(1), print)
    }

    fn run_in_parts(
        &self,
        rows: usize,
        mut print: impl FnMut(&[f64], &Interval) -> bool,
    ) -> Result<Option<String>, IntervalError> {
        let mut solved = vec![true; self.intervals.draws().len()];
        let on_grid = matches!(self.prediction.model.solver().control(), Control::Grid { .. });
        if on_grid && self.prediction.points > rows {
            // A later part can fail. Nothing is printed of a prediction that fails, and a draw that fails is
            // left out of every part.
            self.each_part(rows, on_grid, &mut solved, &mut |_, _| true)?;
        }
        self.each_part(rows, on_grid, &mut solved, &mut print)
    }

    fn each_part(
        &self,
        rows: usize,
        on_grid: bool,
        solved: &mut [bool],
        print: &mut dyn FnMut(&[f64], &Interval) -> bool,
    ) -> Result<Option<String>, IntervalError> {
        let Self { prediction, intervals, start } = self;
        let mut central = prediction.begin();
        let courses = intervals.draws().iter().zip(solved).map(|(draw, solved)| {
            let mut place = prediction.begin();
            let inputs = prediction.inputs;
            let drawn = draw.model();
            let mut complete = |model: &Model, given: &[f64]| {
                if given.iter().any(|value| value.is_nan()) {
                    place.initial.copy_from_slice(given);
                    let inputs = model.inputs_at(place.start, inputs);
                    model.complete_start(&mut place.initial, &inputs);
                }
            };
            let model = match *start {
                DrawnStart::Of(trajectory) => {
                    place.initial = draw.initial_state(trajectory);
                    drawn.of_trajectory(trajectory)
                }
                DrawnStart::With(trajectory, given) => {
                    let model = drawn.of_trajectory(trajectory).into_owned();
                    let model = Cow::Owned(model.without_increments());
                    complete(&model, given);
                    model
                }
                DrawnStart::New(given) => {
                    let model = drawn.of_start(prediction.start, given, inputs);
                    complete(&model, given);
                    model
                }
            };
            (model, place, solved)
        });
        let mut courses: Vec<(Cow<Model>, Place, &mut bool)> = courses.collect();
        let (mut first, mut warning) = (0, None);
        while first < prediction.points {
            let part = first..(first + rows).min(prediction.points);
            let (times, states) = prediction.part(&mut central, part.clone(), on_grid)?;
            let paths = intervals.each_draw(&mut courses, |_, (model, place, solved)| {
                let drawn = Prediction { model, ..*prediction };
                let path = solved.then(|| drawn.part(place, part.clone(), on_grid).ok()).flatten();
                let path = path.map(|(_, states)| states);
                let path = path.filter(|states| states.iter().all(|y| y.is_finite()));
                **solved = path.is_some();
                path
            });
            let interval = intervals.band(states, &paths)?;
            warning = interval.warning();
            if !print(&times, &interval) {
                break;
            }
            first = part.end;
        }
        Ok(warning)
    }
}

/// Intervals on every set of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct IntervalReport {
    /// The level.
    pub level: f64,
    /// Each set with the scores of each state variable, or why there are none.
    pub sets: Vec<(String, Result<Vec<IntervalScore>, String>)>,
    /// The laws that are not guaranteed, over the draws.
    pub laws: Vec<LawDraws>,
}

/// Scores the intervals of a model on every set of its experiment; `None` if it has no posterior.
pub fn score_intervals(experiment: &Experiment, model: &Model) -> Option<IntervalReport> {
    let intervals = model.intervals(LEVEL).ok()?;
    let sets: Vec<(&str, &Dataset)> = experiment.sets().collect();
    let score = |(name, dataset): &(&str, &Dataset)| {
        let scores = intervals.score(dataset).map_err(|error| error.to_string());
        ((*name).to_owned(), scores)
    };
    let mut laws = intervals.laws(&sets, experiment.horizon);
    for law in &mut laws {
        law.law = in_a_line(&law.law);
    }
    Some(IntervalReport { level: LEVEL, sets: sets.iter().map(score).collect(), laws })
}

impl IntervalReport {
    /// Returns the report as JSON: the sets by name, each with its state variables by name.
    pub fn json(&self) -> Value {
        let sets = self.sets.iter().map(|(name, scores)| {
            let value = match scores {
                Ok(scores) => {
                    let each = scores.iter().map(|score| (score.state.clone(), json!(score)));
                    each.collect::<Map<_, _>>().into()
                }
                Err(failure) => json!({ "failed": failure }),
            };
            (name.clone(), value)
        });
        json!({
            "level": self.level,
            "sets": sets.collect::<Map<_, _>>(),
            "laws": self.laws,
        })
    }
}
