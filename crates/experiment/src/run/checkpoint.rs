//! Checkpoints: a model with everything needed to resume training.

use std::path::Path;

use lawful::{
    Archive, BestModel, BestPoint, Model, ModelError, ParameterLayout, Plan, PlanState, Prepared,
    Progress, StrategyMemory, Validated,
};

use super::digest;
use super::manifest::RunEnd;
use crate::diagnostic::Diagnostic;
use crate::files;

impl From<ModelError> for Diagnostic {
    fn from(error: ModelError) -> Self {
        Self::new(error.to_string()).with_hint(error.hint())
    }
}

/// Writes a model.
pub(super) fn save_model(path: &Path, model: &Model) -> Result<(), Diagnostic> {
    write_archive(path, model.archive())
}

/// The key of the fingerprint of the tensors in the metadata.
const TENSORS: &str = "tensors";

/// Writes an archive, with a fingerprint of its tensors.
fn write_archive(path: &Path, mut archive: Archive) -> Result<(), Diagnostic> {
    let fingerprint = digest::of_bytes(tensors(&archive.to_bytes()));
    archive.set(TENSORS, fingerprint.into());
    files::write(path, &archive.to_bytes())
}

/// Returns the bytes of all tensors of a safetensors file: they follow the header, whose length is in
/// the first eight bytes.
fn tensors(file: &[u8]) -> &[u8] {
    let header = file.first_chunk().map_or(0, |length| u64::from_le_bytes(*length));
    let start = usize::try_from(header).ok().and_then(|header| header.checked_add(8));
    start.and_then(|start| file.get(start..)).unwrap_or_default()
}

/// Reads the tensors and metadata of a model or a checkpoint.
pub(super) fn read_archive(path: &Path) -> Result<Archive, Diagnostic> {
    let bytes = files::read(path)?;
    let found = digest::of_bytes(tensors(&bytes));
    let archive = Archive::from_bytes(&path.display().to_string(), bytes)?;
    // Files of earlier versions have none.
    match archive.get(TENSORS) {
        Some(written) if *written != found => {
            Err(archive.damaged("its numbers have changed since it was written").into())
        }
        _ => Ok(archive),
    }
}

/// Returns the model of an archive, which must have the network of this training.
pub(super) fn read_model(archive: &Archive, training: &Prepared) -> Result<Model, Diagnostic> {
    let model = Model::from_archive(archive)?;
    let expected = training.model(vec![0.0; training.theta_len()], 0);
    if !model.is_like(&expected) {
        let path = archive.name();
        let message = format!("the model in `{path}` has another network than `config.toml`");
        return Err(Diagnostic::new(message)
            .with_hint("one of the two files was changed: restore it, or train again"));
    }
    Ok(model)
}

/// The state of training in a checkpoint.
pub(super) struct Checkpoint {
    pub(super) plan: Plan,
    pub(super) progress: Progress,
    /// How training ended, if this is its last checkpoint.
    pub(super) ended: Option<RunEnd>,
}

/// Writes a checkpoint.
pub(super) fn save_checkpoint(
    path: &Path,
    training: &Prepared,
    plan: &Plan,
    layout: &ParameterLayout,
    progress: &Progress,
    ended: Option<&RunEnd>,
) -> Result<(), Diagnostic> {
    let model = training.model(layout.keep(&progress.theta), plan.start() + progress.iteration);
    let mut archive = model.archive();
    let best = progress.best.numbers();
    let factors = [progress.failure_factor, progress.backtrack_factor];
    let validated = [progress.validated.error, progress.validated.iteration as f64];
    let outer_step = [progress.outer_step as f64];
    for (name, values) in [
        ("theta", &*progress.theta),
        ("optimiser", &progress.optimiser),
        ("strategy", &progress.strategy.laws.numbers),
        ("continuity", &progress.strategy.continuity.numbers),
        ("weights", &progress.strategy.weights),
        ("outer-step", &outer_step),
        ("best.theta", progress.best.theta()),
        ("best.numbers", &best),
        ("best.gradient", &progress.best_gradient),
        ("factors", &factors),
        ("validated.theta", &progress.validated.theta),
        ("validated.numbers", &validated),
    ] {
        archive.add(&format!("training.{name}"), values);
    }
    if let Some(best) = plan.best_model() {
        archive.add("best-model.theta", &best.kept);
        archive.add("best-model.numbers", &best.numbers());
    }
    archive.set("plan", serde_json::to_value(plan.state()).expect("plain data"));
    if let Some(ended) = ended {
        archive.set("ended", serde_json::to_value(ended).expect("plain data"));
    }
    write_archive(path, archive)
}

/// Reads a checkpoint of this training.
pub(super) fn read_checkpoint(path: &Path, training: &Prepared) -> Result<Checkpoint, Diagnostic> {
    let archive = read_archive(path)?;
    let model = read_model(&archive, training)?;
    let damaged = |what: &str| Diagnostic::from(archive.damaged(what));
    let state: PlanState = match archive.get("plan") {
        Some(value) => serde_json::from_value(value.clone())
            .map_err(|error| damaged(&format!("its plan cannot be read: {error}")))?,
        None => PlanState::default(),
    };
    let plan = Plan::restore(&training.phases, &state)
        .ok_or_else(|| damaged("its phase is not one of `config.toml`"))?;
    let plan = plan.with_best_model(read_best_model(&archive, training)?);
    let ended = match archive.get("ended") {
        Some(value) => Some(
            serde_json::from_value(value.clone())
                .map_err(|error| damaged(&format!("its end cannot be read: {error}")))?,
        ),
        None => None,
    };
    let blank = vec![0.0; training.theta_len()];
    let trainer = training.trainer(plan.phase(), &blank);
    let layout = trainer.objective().layout();
    let mut theta = layout.extend(&blank);
    archive.fill("training.theta", &mut theta)?;
    let (mut best_theta, mut best_gradient) = (vec![0.0; theta.len()], vec![0.0; theta.len()]);
    archive.fill("training.best.theta", &mut best_theta)?;
    archive.fill("training.best.gradient", &mut best_gradient)?;
    let optimiser = archive.values("training.optimiser")?.to_vec();
    if !plan.phase().optimiser.build(theta.len()).restore(&optimiser) {
        return Err(damaged("`training.optimiser` has another length"));
    }
    let mut strategy = StrategyMemory::default();
    trainer.objective().save_strategy(&mut strategy);
    archive.fill("training.strategy", &mut strategy.laws.numbers)?;
    archive.fill("training.continuity", &mut strategy.continuity.numbers)?;
    archive.fill("training.weights", &mut strategy.weights)?;
    let (mut numbers, mut factors) = ([0.0; 8], [0.0; 2]);
    let (mut validated, mut outer_step) = ([0.0; 2], [0.0; 1]);
    archive.fill("training.best.numbers", &mut numbers)?;
    archive.fill("training.factors", &mut factors)?;
    archive.fill("training.validated.numbers", &mut validated)?;
    archive.fill("training.outer-step", &mut outer_step)?;
    let held = archive.values("training.validated.theta")?.to_vec();
    if !held.is_empty() && held.len() != theta.len() {
        return Err(damaged("`training.validated.theta` has another length"));
    }
    let progress = Progress {
        iteration: model.description().iteration.saturating_sub(plan.start()),
        theta,
        optimiser,
        strategy,
        outer_step: count(outer_step[0]),
        best: BestPoint::restore(
            training.strategy_of(plan.phase()).tolerance,
            best_theta,
            &numbers,
        ),
        best_gradient,
        failure_factor: factors[0],
        backtrack_factor: factors[1],
        validated: Validated { theta: held, error: validated[0], iteration: count(validated[1]) },
    };
    Ok(Checkpoint { plan, progress, ended })
}

/// Reads the best model of a run with remedies; `None` if no remedy was applied.
fn read_best_model(
    archive: &Archive,
    training: &Prepared,
) -> Result<Option<BestModel>, Diagnostic> {
    let Ok(kept) = archive.values("best-model.theta") else { return Ok(None) };
    if kept.len() != training.theta_len() {
        return Err(archive.damaged("`best-model.theta` has another length").into());
    }
    let mut numbers = [0.0; 3];
    archive.fill("best-model.numbers", &mut numbers)?;
    Ok(Some(BestModel::restore(kept.to_vec(), &numbers)))
}

/// A count that a checkpoint holds as a number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an iteration that a checkpoint holds"
)]
fn count(number: f64) -> usize {
    number as usize
}
