//! Log coordinates that were asked for: the range of their data, and whether the form has them.

use lawful_law::Law;

use super::Question;
use crate::number::exact;
use crate::{Coordinate, Coordinates, FieldPart, LogRange, TrainingError};

/// Returns, for each state variable that is to have log coordinates, the range of its data. The bounds are those
/// of the laws with these numbers.
///
/// # Errors
/// If a variable is unknown, has not the bounds that its coordinates need, or has data that are not strictly inside.
pub(super) fn ranges(
    question: &Question,
    numbers: &[usize],
) -> Result<Vec<Option<LogRange>>, TrainingError> {
    let state = question.vocabulary.state();
    let mut logs = vec![None; state.len()];
    for (name, kind) in logarithmic(question) {
        let wrong = |reason: String, hint: String| wrong(name, *kind, reason, hint);
        let Some(i) = state.iter().position(|known| known == name) else {
            let hint = format!("the state variables are `{}`", state.join("`, `"));
            return Err(wrong("it is not a state variable".to_owned(), hint));
        };
        let (lower, upper) = bounds(question, numbers, i);
        match (kind, lower.is_some(), upper.is_some()) {
            (_, false, false) => {
                return Err(wrong(NO_BOUND.to_owned(), needs_bound(name, *kind)));
            }
            (Coordinates::Log, true, true) => {
                let hint = format!("write `{name} = \"logit\"`");
                return Err(wrong("it has two bounds".to_owned(), hint));
            }
            (Coordinates::Logit, lower, upper) if lower != upper => {
                let missing = if lower { "upper" } else { "lower" };
                let hint = format!("write `{name} = \"log\"`, or add a law with the other bound");
                return Err(wrong(format!("it has no {missing} bound"), hint));
            }
            _ => {}
        }
        if let Some((cell, bound)) = outside(question, i, lower, upper) {
            let reason =
                format!("{cell}, which is not strictly inside of its bound {}", exact(bound));
            let hint = "leave its cell empty if it was below the limit of detection, or write linear coordinates";
            return Err(wrong(reason, hint.to_owned()));
        }
        logs[i] = LogRange::of(values(question, i), lower, upper);
        if logs[i].is_none() {
            let hint = "leave `coordinates` out for a variable that was not measured".to_owned();
            return Err(wrong("it has no measured value".to_owned(), hint));
        }
    }
    Ok(logs)
}

/// Checks that a part of the field has the coordinates that were asked for.
///
/// # Errors
/// If it has not.
pub(super) fn check(question: &Question, part: Option<&FieldPart>) -> Result<(), TrainingError> {
    let state = question.vocabulary.state();
    for (name, kind) in logarithmic(question) {
        let has = |part: &FieldPart| match part {
            FieldPart::Linear(linear) => state.iter().zip(&linear.states).any(|(known, state)| {
                known == name && matches!(state.coordinate, Coordinate::Log { .. })
            }),
            _ => false,
        };
        if !part.is_some_and(has) {
            return Err(wrong(name, *kind, NO_BOUND.to_owned(), needs_bound(name, *kind)));
        }
    }
    Ok(())
}

const NO_BOUND: &str = "no bound of it is guaranteed";

fn wrong(name: &str, kind: Coordinates, reason: String, hint: String) -> TrainingError {
    TrainingError::Coordinates { variable: name.to_owned(), word: kind.name(), reason, hint }
}

fn needs_bound(name: &str, kind: Coordinates) -> String {
    let law = if kind == Coordinates::Logit {
        format!("0 <= {name} <= 1")
    } else {
        format!("{name} >= 0")
    };
    format!(
        "add a `[[law]]` with `holds = \"{law}\"` and `strategy = \"hard\"`, or write linear coordinates"
    )
}

/// What was asked for and is not linear.
fn logarithmic<'a>(question: &'a Question) -> impl Iterator<Item = &'a (String, Coordinates)> {
    question.field.coordinates.iter().filter(|(_, kind)| *kind != Coordinates::Linear)
}

/// The tightest bounds of a state variable.
fn bounds(question: &Question, numbers: &[usize], i: usize) -> (Option<f64>, Option<f64>) {
    let all = || numbers.iter().filter_map(|&k| Law::bound(&question.laws[k]));
    let of = |is_upper| {
        all().filter(move |b| b.variable == i && b.is_upper == is_upper).map(|bound| bound.at)
    };
    (of(false).reduce(f64::max), of(true).reduce(f64::min))
}

fn values(question: &Question, i: usize) -> impl Iterator<Item = f64> {
    let d = question.data.state().len();
    let all = question.data.trajectories().iter();
    all.flat_map(move |trajectory| trajectory.states.iter().skip(i).step_by(d).copied())
}

/// The first measured value that is not strictly inside, in words, and the bound.
fn outside(
    question: &Question,
    i: usize,
    lower: Option<f64>,
    upper: Option<f64>,
) -> Option<(String, f64)> {
    let (data, d) = (question.data, question.data.state().len());
    for trajectory in data.trajectories() {
        for (row, y) in trajectory.states.iter().skip(i).step_by(d).enumerate() {
            let beyond = lower.filter(|l| y <= l).or(upper.filter(|u| y >= u));
            if let Some(bound) = beyond {
                let of = match data.trajectories().len() {
                    1 => String::new(),
                    _ => format!(" of trajectory `{}`", trajectory.name),
                };
                let (name, y) = (&data.state()[i], exact(*y));
                let at = exact(trajectory.times[row]);
                let row = row + 1;
                return Some((
                    format!("column `{name}` is {y} in row {row}{of}, at t = {at}"),
                    bound,
                ));
            }
        }
    }
    None
}
