//! Whether a phase can be run on the data, with its strategy and its optimiser.

use lawful_law::Enforcement;

use super::{LeastSquaresSettings, Phase, Prepared, Shooting};
use crate::data::{Batch, Sampler};
use crate::strategy::{StrategyKind, StrategySettings};
use crate::{Loss, Trajectory};

pub(super) fn check_phase(prepared: &Prepared, phase: &Phase) -> Result<(), String> {
    let data = &prepared.data;
    let longest = data.trajectories().iter().map(Trajectory::len).max().unwrap_or(0);
    let (optimiser, strategy) = (phase.optimiser.title(), prepared.strategy_of(phase));
    let windows = matches!(phase.batch, Batch::Windows { .. });
    if windows && prepared.horizon.is_some() {
        return Err("batches of windows do not reach the horizon: use trajectories".to_owned());
    }
    if strategy.between > StrategySettings::MOST_BETWEEN {
        let most = StrategySettings::MOST_BETWEEN;
        return Err(format!("{} points between rows, but at most {most} are", strategy.between));
    }
    let in_range = phase.optimiser.check().and_then(|()| strategy.kind.check());
    in_range.map_err(|error| error.to_string())?;
    if let Some(settings) = phase.least_squares {
        check_least_squares(prepared, phase, settings)?;
    }
    if phase.batch != Batch::Full && !phase.optimiser.takes_batches() {
        return Err(format!(
            "{optimiser} cannot be trained on batches: the objective differs between batches"
        ));
    }
    if windows && !strategy.kind.takes_windows() {
        let (why, others) = strategy.kind.refuses_windows();
        return Err(format!("{why}; windows are for {others}"));
    }
    if !strategy.kind.takes_line_searches() && phase.optimiser.searches_lines() {
        return Err(format!(
            "{optimiser} searches along lines, on which the objective of `{}` changes; it can minimise those of {}",
            strategy.kind.name(),
            StrategyKind::for_line_searches()
        ));
    }
    if strategy.best_point.is_some() && phase.batch != Batch::Full {
        return Err(
            "the best point cannot be found on batches: the objective differs between batches"
                .into(),
        );
    }
    if strategy.best_point.is_some() && !phase.optimiser.returns_to_best_point() {
        return Err(format!("{optimiser} never takes a worse point than the best one"));
    }
    if let Some(rows) = phase.part {
        if rows < 2 {
            return Err(format!("a part of {rows} rows, but at least 2 are needed"));
        }
        if phase.batch != Batch::Full {
            return Err("a phase on a part of the data has no batches".to_owned());
        }
    }
    match phase.shooting {
        Shooting::Multiple { steps: 0, .. } => Err("segments of 0 steps".to_owned()),
        Shooting::Multiple { steps, .. } if steps >= longest => Err(format!(
            "segments of {steps} steps, but the longest trajectory has {}",
            longest.saturating_sub(1)
        )),
        Shooting::Multiple { .. } if phase.batch != Batch::Full => {
            Err("multiple shooting uses all segments at once, not a batch".to_owned())
        }
        Shooting::Multiple { .. } => Ok(()),
        Shooting::Single => match Sampler::new(phase.batch, data, prepared.seed) {
            Some(_) => Ok(()),
            None => Err("no window begins with a row in which every state is measured".to_owned()),
        },
    }
}

/// Most parameters of least squares: its matrices have their square.
const MOST_PARAMETERS: usize = 500;

/// Checks a phase of least squares: what the evidence chooses cannot be set beside it.
fn check_least_squares(
    prepared: &Prepared,
    phase: &Phase,
    settings: LeastSquaresSettings,
) -> Result<(), String> {
    crate::settings::check(&settings).map_err(|error| error.to_string())?;
    let has_laws = prepared.laws.iter().any(|law| law.enforcement() == Enforcement::Penalty);
    let fewest = settings.screening.saturating_add(settings.in_rounds(has_laws));
    if phase.iterations < fewest {
        return Err(format!(
            "{} iterations, but screening and rounds alone are {fewest}",
            phase.iterations
        ));
    }
    let parameters = prepared.layout(phase).len();
    if parameters > MOST_PARAMETERS {
        return Err(format!(
            "least squares is for at most {MOST_PARAMETERS} parameters, and these are {parameters}: use \
             smaller layers"
        ));
    }
    let wrong = [
        (
            prepared.loss != Loss::Mse,
            "least squares minimises squared errors: `loss` must be \"mse\"",
        ),
        (
            prepared.decay > 0.0,
            "the evidence chooses the decay of weights: leave `weight-decay` out",
        ),
        (prepared.validation > 0.0, "the evidence needs no held-out data: leave `validation` out"),
        (
            phase.shooting != Shooting::Single && !prepared.process_noise,
            "least squares is for full trajectories, or for segments with process noise between them",
        ),
        (phase.batch != Batch::Full, "least squares uses all data at once, not a batch"),
        (
            prepared.strategy_of(phase).best_point.is_some(),
            "least squares ends with the greatest evidence: leave `best-point` out",
        ),
    ];
    match wrong.iter().find(|(wrong, _)| *wrong) {
        Some((_, reason)) => Err((*reason).to_owned()),
        None => Ok(()),
    }
}
