//! Trains an experiment into a run folder, and resumes one that was interrupted.

use std::path::Path;

use lawful::{Model, Plan, Progress, Run};

use super::checkpoint::{self, Checkpoint};
use super::digest;
use super::figures;
use super::folder::RunFolder;
use super::history::Record;
use super::log::Log;
use super::manifest::{Manifest, ModelChoice, RunEnd, Status};
use super::recorder::{Recorder, RunObserver};
use crate::config::{self, ExperimentFile};
use crate::diagnostic::Diagnostic;
use crate::experiment::Experiment;
use crate::files::{self, Lock};
use crate::phrases::counted;
use crate::predict;
use crate::scores::{Scores, score_sets};

/// The result of a run.
#[derive(Debug)]
pub struct Trained {
    /// The run folder.
    pub folder: RunFolder,
    /// The manifest.
    pub manifest: Manifest,
    /// The scores of the model on each set; `None` after an interruption.
    pub scores: Option<Scores>,
}

/// Trains from the start, into a new run folder in `parent`.
pub fn train(
    file: &ExperimentFile,
    parent: &Path,
    observer: &mut dyn RunObserver,
) -> Result<Trained, Diagnostic> {
    let experiment = &file.experiment;
    let folder = RunFolder::create(parent, file)?;
    let _lock = Lock::take(folder.path(), &mut |text| observer.warn(text))?;
    let (log, _) = Log::resume(&folder.log(), &experiment.law_names(), 0)?;
    let plan = Plan::new(&experiment.training.phases);
    let from = Begin { plan, progress: None, earlier: false, ended: None };
    run(experiment, folder, Manifest::new(file), log, from, observer)
}

/// Where a run begins or resumes.
struct Begin {
    plan: Plan,
    progress: Option<Progress>,
    /// Whether the model of `progress` is the best one of an earlier phase.
    earlier: bool,
    /// How training ended, if only scores, predictions and figures are left.
    ended: Option<RunEnd>,
}

impl Begin {
    /// Iterations done.
    fn done(&self) -> usize {
        self.progress.as_ref().map_or(0, |progress| self.plan.start() + progress.iteration)
    }
}

/// The result of resuming a run.
#[derive(Debug)]
pub enum Resumed {
    /// The run was resumed.
    Trained(Box<Trained>),
    /// The run was finished already.
    Finished(Box<Manifest>),
}

/// Resumes a run from its last checkpoint; `iterations` extends it to this total number.
pub fn resume(
    path: &Path,
    iterations: Option<usize>,
    observer: &mut dyn RunObserver,
) -> Result<Resumed, Diagnostic> {
    let folder = RunFolder::open(path)?;
    Manifest::read(&folder.manifest())?.check_config(&folder.config())?;
    let experiment = config::read_run(path)?.experiment;
    let read = || -> Result<_, Diagnostic> {
        let manifest = Manifest::read(&folder.manifest())?;
        manifest.check_data(&experiment)?;
        manifest.check_numbers(&folder.manifest(), &experiment)?;
        let wanted = more(&manifest, iterations)?;
        Ok((manifest, wanted))
    };
    // Nothing is written into a finished run, which may be in a folder that cannot be written.
    let (manifest, wanted) = read()?;
    if manifest.status == Status::Finished && wanted.is_none() {
        return Ok(Resumed::Finished(Box::new(manifest)));
    }
    files::refuse_links_out(path)?;
    let _lock = Lock::take(path, &mut |text| observer.warn(text))?;
    // Another process may have trained it before it was locked.
    let (mut manifest, wanted) = read()?;
    if manifest.status == Status::Finished && wanted.is_none() {
        return Ok(Resumed::Finished(Box::new(manifest)));
    }
    let checkpoint = folder.model(ModelChoice::Last);
    let found = if checkpoint.is_file() {
        Some(digest::of_bytes(&files::read(&checkpoint)?))
    } else {
        None
    };
    if found.is_none() && manifest.done > 0 && wanted.or(manifest.extended_to).is_some() {
        let message =
            format!("`{}` has no `last.safetensors`, which an extension needs", path.display());
        return Err(Diagnostic::new(message).with_hint("restore it, or train again"));
    }
    let mut from = if found.is_some() {
        let Checkpoint { plan, progress, earlier, ended } =
            checkpoint::read(&checkpoint, &experiment.training)?;
        // A failed run tries again; a killed one continues from its last state.
        // The end in a checkpoint from before an extension is not its end.
        let before = manifest.extended_checkpoint == found;
        let killed = manifest.status == Status::Running && wanted.is_none() && !before;
        Begin { plan, progress: Some(progress), earlier, ended: ended.filter(|_| killed) }
    } else {
        let plan = Plan::new(&experiment.training.phases);
        Begin { plan, progress: None, earlier: false, ended: None }
    };
    if let (Some(to), Some(last)) = (manifest.extended_to, manifest.extended_last)
        && from.plan.extended_to() != Some(to)
    {
        // No remedy has followed it, so that it is not in the checkpoint.
        from.plan.extend_last(to, last);
    }
    if let Some(wanted) = wanted {
        // What the plan lacks, so that the same number of iterations never adds to it twice.
        let planned = from.plan.total();
        from.plan.extend_to(wanted);
        manifest.extended_from.push(manifest.iterations);
        manifest.extended_by += from.plan.total().saturating_sub(planned);
        manifest.extended_to = Some(wanted);
        manifest.extended_checkpoint = found;
        manifest.extended_last = Some(from.plan.last_phase().iterations);
        manifest.iterations = from.plan.total();
    }
    folder.remove_parts()?;
    // The last evaluation is repeated, unless it is over.
    let rows = from.done() + usize::from(from.ended.is_some());
    let (log, warning) = Log::resume(&folder.log(), &experiment.law_names(), rows)?;
    if let Some(warning) = warning {
        observer.warn(&warning);
    }
    manifest.status = Status::Running;
    manifest.reason.clear();
    manifest.laws.clear();
    manifest.unsolved.clear();
    manifest.model = Manifest::usual_model(&experiment);
    manifest.write(&folder.manifest())?;
    let trained = run(&experiment, folder, manifest, log, from, observer)?;
    Ok(Resumed::Trained(Box::new(trained)))
}

/// Returns the number of iterations, all together, if it is more than the run has, and not what an
/// earlier `resume` was asked for: that one may have stopped early, or have added phases.
fn more(manifest: &Manifest, iterations: Option<usize>) -> Result<Option<usize>, Diagnostic> {
    let Some(wanted) = iterations.filter(|&wanted| manifest.extended_to != Some(wanted)) else {
        return Ok(None);
    };
    if wanted < manifest.iterations {
        let planned = counted(manifest.iterations, "iteration");
        return Err(Diagnostic::new(format!("this run has {planned}; {wanted} is less"))
            .with_hint("give the total number of iterations, for example twice as many"));
    }
    Ok((wanted > manifest.iterations).then_some(wanted))
}

fn run(
    experiment: &Experiment,
    folder: RunFolder,
    manifest: Manifest,
    log: Log,
    from: Begin,
    observer: &mut dyn RunObserver,
) -> Result<Trained, Diagnostic> {
    observer.begin(&folder, from.done(), manifest.iterations);
    let training = &experiment.training;
    let mut recorder =
        Recorder::new(experiment, &from.plan, &folder, manifest, log, &mut *observer);
    let to_resume = |error: Diagnostic| {
        let path = folder.path().display();
        error.with_hint(format!("fix this, then resume: `lawful resume {path}`"))
    };
    let (end, last, best, ended, plan, earlier) = match from {
        Begin { plan, progress: Some(last), ended: Some(end), earlier } => {
            let best = last.best.clone();
            (end, last, best, true, plan, earlier)
        }
        Begin { plan, progress, .. } => {
            let Run { outcome, plan, earlier, .. } = training.resume(plan, progress, &mut recorder);
            let end = RunEnd::of(&outcome.stop, outcome.best.value().is_some());
            (end, outcome.last, outcome.best, outcome.after_last_evaluation, plan, earlier)
        }
    };
    let (mut manifest, last, best_model) =
        recorder.end(&last, &best, &plan, earlier, ended.then_some(&end)).map_err(to_resume)?;
    let interrupted = end.status == Status::Interrupted;
    manifest.end(end, best.value().is_some());
    let record = Record::read(&folder.log()).unwrap_or_else(|error| {
        observer.warn(&format!("{}; the learning figure is empty", error.message));
        Record::default()
    });
    let known = record.taken_back.len();
    let is_whole = record.iterations.len() > manifest.done;
    // A log with a gap has lost some of them.
    manifest.failures = if is_whole { known } else { known.max(manifest.failures) };
    observer.end(&manifest);
    let scores = if interrupted {
        None
    } else {
        let model = if manifest.model == ModelChoice::Best { &best_model } else { &last };
        Some(
            finish(experiment, &folder, model, manifest.substeps, record, observer)
                .map_err(to_resume)?,
        )
    };
    if let Some(scores) = &scores {
        manifest.laws.clone_from(&scores.report.laws);
        manifest.unsolved.clone_from(&scores.report.unsolved);
    }
    // Last: an ended run has all of its files.
    manifest.write(&folder.manifest()).map_err(to_resume)?;
    Ok(Trained { folder, manifest, scores })
}

/// Scores a model, and writes its predictions and figures.
fn finish(
    experiment: &Experiment,
    folder: &RunFolder,
    model: &Model,
    substeps: usize,
    record: Record,
    observer: &mut dyn RunObserver,
) -> Result<Scores, Diagnostic> {
    let scores = score_sets(experiment, model, substeps).with_intervals(experiment, model);
    write_predictions(experiment, folder, &scores)?;
    if observer.wants_figures() {
        figures::write(experiment, folder, model, &scores, record)?;
    }
    Ok(scores)
}

fn write_predictions(
    experiment: &Experiment,
    folder: &RunFolder,
    scores: &Scores,
) -> Result<(), Diagnostic> {
    for ((name, dataset), set) in experiment.sets().zip(&scores.sets) {
        let path = folder.predictions(name);
        if let Ok(score) = &set.score {
            let text = predict::csv_text(dataset, &experiment.time_origin, &score.predicted);
            files::write(&path, text.as_bytes())?;
        } else if path.exists() {
            // Those of an earlier model.
            files::remove(&path)?;
        }
    }
    Ok(())
}
