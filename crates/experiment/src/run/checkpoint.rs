//! Checkpoints: a model with everything needed to resume training.

use std::path::Path;

use lawful::{
    Archive, BestModel, BestPoint, Model, ModelError, Plan, PlanState, Prepared, Progress,
    StrategyMemory, Validated,
};

use super::manifest::RunEnd;
use crate::diagnostic::Diagnostic;
use crate::experiment::Experiment;
use crate::files;

impl From<ModelError> for Diagnostic {
    fn from(error: ModelError) -> Self {
        Self::new(error.to_string()).with_hint(error.hint())
    }
}

/// Writes a model.
pub(super) fn save_model(path: &Path, model: &Model) -> Result<(), Diagnostic> {
    files::write(path, &model.archive().to_bytes())
}

/// Reads the tensors and metadata of a model or a checkpoint.
pub(super) fn read_archive(path: &Path) -> Result<Archive, Diagnostic> {
    let bytes = files::read(path)?;
    Ok(Archive::from_bytes(&path.display().to_string(), bytes)?)
}

/// Returns the model of an archive, which must have the network of this training.
pub(super) fn read_model(archive: &Archive, training: &Prepared) -> Result<Model, Diagnostic> {
    let model = Model::from_archive(archive)?;
    let expected = training.model(vec![0.0; training.theta_len()], 0);
    if !model.is_like(&expected) {
        let path = archive.name();
        let message = format!("the model in `{path}` is of another training than `config.toml`");
        return Err(Diagnostic::new(message)
            .with_hint("one of the two files was changed: restore it, or train again"));
    }
    Ok(model)
}

/// Returns how many iterations were done when a model, or a checkpoint, was written; `None` if it is damaged.
pub(super) fn iteration(archive: &Archive, model: &Model) -> Option<usize> {
    match archive.get(DONE) {
        Some(done) => done.as_u64().and_then(|done| usize::try_from(done).ok()),
        None => Some(model.description().iteration),
    }
}

/// The state of training in a checkpoint.
pub(super) struct Checkpoint {
    pub(super) plan: Plan,
    pub(super) progress: Progress,
    /// Whether its model is the best one of an earlier phase, with which the run ended.
    pub(super) earlier: bool,
    /// How training ended, if this is its last checkpoint.
    pub(super) ended: Option<RunEnd>,
}

/// The key of the iterations done, where the model is of an earlier one.
const DONE: &str = "done";
/// Most iterations of a run, as in an experiment file.
pub(super) const MOST_ITERATIONS: usize = 1 << 53;

/// Writes a checkpoint with its model, which may be of an earlier iteration.
pub(super) fn save_checkpoint(
    path: &Path,
    model: &Model,
    plan: &Plan,
    progress: &Progress,
    ended: Option<&RunEnd>,
) -> Result<(), Diagnostic> {
    let done = plan.start() + progress.iteration;
    let mut archive = model.archive();
    if model.description().iteration != done {
        archive.set(DONE, done.into());
    }
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
    files::write(path, &archive.to_bytes())
}

/// Reads the checkpoint of an experiment: the plan, and the progress of its phase.
pub fn read_checkpoint(
    path: &Path,
    experiment: &Experiment,
) -> Result<(Plan, Progress), Diagnostic> {
    let Checkpoint { plan, progress, .. } = read(path, &experiment.training)?;
    Ok((plan, progress))
}

/// Reads a checkpoint of this training.
pub(super) fn read(path: &Path, training: &Prepared) -> Result<Checkpoint, Diagnostic> {
    let archive = read_archive(path)?;
    let model = read_model(&archive, training)?;
    let damaged = |what: &str| Diagnostic::from(archive.damaged(what));
    let state: PlanState = match archive.get("plan") {
        Some(value) => serde_json::from_value(value.clone())
            .map_err(|error| damaged(&format!("its plan cannot be read: {error}")))?,
        None => PlanState::default(),
    };
    let plan = Plan::restore(&training.phases, &state)
        .ok_or_else(|| damaged("its plan is not one of `config.toml`"))?;
    let done = iteration(&archive, &model);
    let done = done.filter(|done| (plan.start()..=MOST_ITERATIONS).contains(done));
    let done = done.ok_or_else(|| damaged("its iteration is not one of its plan"))?;
    let best_model = read_best_model(&archive, training, done, plan.len())?;
    let plan = plan.with_best_model(best_model);
    let iteration = done - plan.start();
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
    if !training.reads_memory(plan.phase(), theta.len(), &optimiser) {
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
    let counts = [numbers[4], numbers[7], validated[1], outer_step[0]];
    let trials = numbers[5].max(numbers[6]) <= MOST_ITERATIONS as f64;
    if !trials || counts.iter().any(|&number| count(number) > iteration + 1) {
        return Err(damaged("its counts are larger than its iteration"));
    }
    let progress = Progress {
        iteration,
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
    let earlier = archive.get(DONE).is_some() && plan.best_model().is_some();
    Ok(Checkpoint { plan, progress, earlier, ended })
}

/// Reads the best model of a run with remedies; `None` if no remedy was applied.
fn read_best_model(
    archive: &Archive,
    training: &Prepared,
    done: usize,
    phases: usize,
) -> Result<Option<BestModel>, Diagnostic> {
    let Ok(kept) = archive.values("best-model.theta") else { return Ok(None) };
    if kept.len() != training.theta_len() {
        return Err(archive.damaged("`best-model.theta` has another length").into());
    }
    let mut numbers = [0.0; 3];
    archive.fill("best-model.numbers", &mut numbers)?;
    let best = BestModel::restore(kept.to_vec(), &numbers);
    if best.iteration > done || best.phase >= phases {
        return Err(archive.damaged("its best model is of a later iteration").into());
    }
    Ok(Some(best))
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
