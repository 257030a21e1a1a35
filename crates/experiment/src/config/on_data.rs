//! Checks of the training data that need numbers: laws must have a value on them, and states a square; a horizon
//! must be after the data.

use lawful::{Dataset, Law, LawWindow, LearnedConstant, exact};

use super::value::Mark;
use crate::diagnostic::Diagnostic;
use crate::phrases::counted;
use crate::table::TimeOrigin;

/// The largest size of a state whose square, and sums of such squares, do not overflow.
const LARGEST: f64 = 1e150;
/// The smallest largest size of a state variable whose square does not vanish.
const SMALLEST: f64 = 1e-150;

/// Rows on which a law is evaluated at the same time.
const ROWS: usize = 4096;

/// A law on the steps of some data that are complete.
#[derive(Debug, Default)]
pub(crate) struct LawValues {
    /// The residuals that are finite.
    pub(crate) residuals: Vec<f64>,
    /// Number of steps at which it has no finite value.
    pub(crate) undefined: usize,
    /// The first of them: `at t = 1, x = 0, v = 2`, and what the value is.
    pub(crate) first: Option<(String, f64)>,
}

/// Evaluates a law at every step of the data without missing cells; learned constants have their initial
/// values.
pub(crate) fn law_values(law: &Law, dataset: &Dataset, constants: &[LearnedConstant]) -> LawValues {
    let firsts: Vec<f64> = constants.iter().map(|constant| constant.start).collect();
    let (d, mut window) = (dataset.state().len(), LawWindow::default());
    let mut values = LawValues::default();
    for (number, trajectory) in dataset.trajectories().iter().enumerate() {
        let reach = law.reach();
        let all = reach.range(trajectory.len());
        for start in all.clone().step_by(ROWS) {
            let rows = start..all.end.min(start + ROWS);
            let at = window.gather(law, trajectory, (&trajectory.states, &firsts), rows.clone());
            let residuals = &window.residuals(law)[at..];
            for (row, &residual) in rows.zip(residuals) {
                let near = (row - reach.back) * d..(row + reach.ahead + 1) * d;
                if trajectory.states[near].iter().any(|x| x.is_nan()) {
                    continue;
                }
                if residual.is_finite() {
                    values.residuals.push(residual);
                } else {
                    values.undefined += 1;
                    values.first.get_or_insert_with(|| (moment(dataset, number, row), residual));
                }
            }
        }
    }
    values
}

/// Returns `t = 1, x = 0, v = 2`, with the trajectory's name if there are several.
fn moment(dataset: &Dataset, number: usize, row: usize) -> String {
    let trajectory = &dataset.trajectories()[number];
    let cells = |names: &[String], cells: &[f64]| -> String {
        let from = row * names.len();
        let cells = names.iter().zip(&cells[from..from + names.len()]);
        let cells = cells.map(|(name, value)| format!(", {name} = {}", exact(*value)));
        cells.collect::<Vec<_>>().concat()
    };
    let states = cells(dataset.state(), &trajectory.states);
    let inputs = cells(dataset.inputs(), &trajectory.inputs);
    let of = match dataset.trajectories().len() {
        1 => String::new(),
        _ => format!(" of trajectory `{}`", trajectory.name),
    };
    format!("t = {}{states}{inputs}{of}", exact(trajectory.times[row]))
}

/// Refuses a law that has no finite value on any complete row of the data.
pub(super) fn check_law(
    law: &Law,
    mark: &Mark,
    dataset: &Dataset,
    constants: &[LearnedConstant],
) -> Result<(), Diagnostic> {
    let values = law_values(law, dataset, constants);
    let Some((moment, value)) = values.first.filter(|_| values.residuals.is_empty()) else {
        return Ok(());
    };
    let is = if value.is_nan() { "not a number" } else { "infinite" };
    let steps = counted(values.undefined, "complete step");
    Err(mark
        .error(format!(
            "the law `{}` has no finite value on the data ({steps}): it is {is} at {moment}",
            law.name()
        ))
        .with_hint(
            "check where it is defined: no division by 0, no root or logarithm of a negative number",
        ))
}

/// Refuses a horizon that no law or no trajectory would notice.
pub(super) fn check_horizon(
    (horizon, origin): (f64, &TimeOrigin),
    mark: &Mark,
    dataset: &Dataset,
    has_laws: bool,
) -> Result<(), Diagnostic> {
    if !has_laws {
        let error = mark.error("`horizon` has no effect: there is no law");
        return Err(error.with_hint("leave it out, or add a [[law]]"));
    }
    let ends = dataset.trajectories().iter().filter_map(|t| t.times.last().copied());
    let (first, last) =
        ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), end| (a.min(end), b.max(end)));
    // At the last row it says where laws count already.
    if horizon >= first {
        return Ok(());
    }
    let error = mark.error(format!(
        "`horizon` has no effect: no trajectory of the training data ends before t = {}",
        origin.shown(horizon)
    ));
    Err(error.with_hint(format!("give {} or a later time, or leave it out", origin.shown(last))))
}

/// Refuses states whose squares overflow or vanish, and so do their errors.
pub(super) fn check_sizes(dataset: &Dataset) -> Result<(), Diagnostic> {
    let d = dataset.state().len();
    for (variable, name) in dataset.state().iter().enumerate() {
        let (mut size, mut place) = (0.0, None);
        for (number, trajectory) in dataset.trajectories().iter().enumerate() {
            for (row, value) in trajectory.states.iter().skip(variable).step_by(d).enumerate() {
                if value.abs() > size {
                    (size, place) = (value.abs(), Some((number, row)));
                }
            }
        }
        let Some((number, row)) = place else { continue };
        let (are, how, units) = match size {
            LARGEST.. => ("large", "overflow", "larger"),
            size if size < SMALLEST => ("small", "vanish", "smaller"),
            _ => continue,
        };
        let power = size.log10().floor();
        return Err(Diagnostic::new(format!(
            "the values of `{name}` are so {are} that their squares {how} in double precision: the \
             largest is at {}",
            moment(dataset, number, row)
        ))
        .with_hint(format!(
            "give `{name}` in {units} units: divide it by 1e{power:.0}, also in laws and equations"
        )));
    }
    Ok(())
}
