//! Trains an experiment into a run folder, and goes on with one that was interrupted.

use std::path::Path;

use lawful::{Outcome, Progress, StopReason};

use crate::assess::{Scores, assess};
use crate::diagnosis::{Diagnosis, diagnose};
use crate::diagnostic::Diagnostic;
use crate::experiment::Experiment;
use crate::history::Record;
use crate::log::Log;
use crate::manifest::{Ending, Manifest, ModelChoice, Status};
use crate::model::ModelFile;
use crate::plan::{Plan, Remedy};
use crate::recorder::{Recorder, RunObserver};
use crate::run_folder::{RunFolder, sets};
use crate::{config, figures, files, predict};

/// What a run ends with.
#[derive(Debug)]
pub struct Trained {
    /// Where everything is.
    pub folder: RunFolder,
    /// How it went.
    pub manifest: Manifest,
    /// How well the model does on each set; `None` after an interruption.
    pub assessment: Option<Scores>,
}

/// Trains from the start. The run folder is made below `parent`.
pub fn train(
    experiment: &Experiment,
    parent: &Path,
    observer: &mut dyn RunObserver,
) -> Result<Trained, Diagnostic> {
    let folder = RunFolder::create(parent, experiment)?;
    let log = Log::resume(&folder.log(), 0)?;
    let from = Begin { plan: Plan::new(experiment), progress: None, ended: None };
    run(experiment, folder, Manifest::new(experiment), log, from, observer)
}

/// Where a run begins or goes on.
struct Begin {
    plan: Plan,
    progress: Option<Progress>,
    /// How training ended, if only what comes after it is left to do.
    ended: Option<Ending>,
}

impl Begin {
    /// Iterations done.
    fn done(&self) -> usize {
        self.progress.as_ref().map_or(0, |progress| self.plan.start() + progress.iteration)
    }
}

/// What there is to resume.
#[derive(Debug)]
pub enum Resumed {
    /// The run went on, and this is how it ended.
    Trained(Box<Trained>),
    /// It was finished already.
    Finished(Box<Manifest>),
}

/// Goes on with a run from its last checkpoint; `iterations` extends it to that many in all.
pub fn resume(
    path: &Path,
    iterations: Option<usize>,
    observer: &mut dyn RunObserver,
) -> Result<Resumed, Diagnostic> {
    let folder = RunFolder::open(path)?;
    let mut manifest = Manifest::read(&folder.manifest())?;
    let experiment = config::read_run(path)?;
    manifest.check_data(&experiment)?;
    match iterations {
        Some(more) if more > manifest.iterations => {
            manifest.extended_by += more - manifest.iterations;
            manifest.extended_from.push(manifest.iterations);
            manifest.iterations = more;
        }
        Some(fewer) if fewer < manifest.iterations => {
            return Err(Diagnostic::new(format!(
                "this run is planned for {} iterations; {fewer} would be fewer",
                manifest.iterations
            ))
            .with_hint("give the number of iterations in all, for example twice as many"));
        }
        _ => {}
    }
    if manifest.status == Status::Finished && manifest.done >= manifest.iterations {
        return Ok(Resumed::Finished(Box::new(manifest)));
    }
    let checkpoint = folder.model(ModelChoice::Last);
    let mut from = if checkpoint.is_file() {
        let file = ModelFile::read(&checkpoint)?;
        let (plan, progress) = file.progress(&experiment)?;
        // A run that failed is asked to try again; one that was killed goes on where it was.
        let killed = manifest.status == Status::Running && iterations.is_none();
        let plan_state = file.metadata().plan_state.as_ref();
        let ended = plan_state.filter(|_| killed).and_then(|plan_state| plan_state.ended.clone());
        Begin { plan, progress: Some(progress), ended }
    } else {
        Begin { plan: Plan::new(&experiment), progress: None, ended: None }
    };
    from.plan.lengthen(manifest.extended_by);
    folder.remove_parts()?;
    // The last look is repeated, unless it is over.
    let rows = from.done() + usize::from(from.ended.is_some());
    let log = Log::resume(&folder.log(), rows)?;
    manifest.status = Status::Running;
    manifest.reason.clear();
    manifest.model = Manifest::usual_model(&experiment);
    manifest.write(&folder.manifest())?;
    let trained = run(&experiment, folder, manifest, log, from, observer)?;
    Ok(Resumed::Trained(Box::new(trained)))
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
    let plan = from.plan.clone();
    let mut recorder = Recorder::new(experiment, plan, &folder, manifest, log, &mut *observer);
    let to_go_on = |error: Diagnostic| {
        let hint = format!("mend this, then go on: `lawful resume {}`", folder.path().display());
        error.with_hint(hint)
    };
    let (ending, last, best, ended) = match from {
        Begin { progress: Some(last), ended: Some(ending), .. } => {
            let best = last.best.clone();
            (ending, last, best, true)
        }
        from => {
            let Outcome { stop, last, best, after_last_look } =
                run_phases(experiment, from, &mut recorder);
            (Ending::of(&stop, best.value().is_some()), last, best, after_last_look)
        }
    };
    let (mut manifest, theta, best_theta) =
        recorder.end(&last, &best, ended.then_some(&ending)).map_err(to_go_on)?;
    let interrupted = ending.status == Status::Interrupted;
    manifest.end(ending, best.value().is_some());
    let record = Record::read(&folder.log())?;
    manifest.failures = record.taken_back.len();
    observer.end(&manifest);
    let assessment = if interrupted {
        None
    } else {
        let theta = if manifest.model == ModelChoice::Best { &best_theta } else { &theta };
        let assessment = assess(experiment, theta, manifest.substeps);
        write_predictions(experiment, &folder, &assessment).map_err(to_go_on)?;
        if observer.wants_pictures() {
            figures::write(experiment, &folder, theta, &assessment, record).map_err(to_go_on)?;
        }
        Some(assessment)
    };
    // Last: a run that says that it has ended has everything in its folder.
    manifest.write(&folder.manifest()).map_err(to_go_on)?;
    Ok(Trained { folder, manifest, assessment })
}

/// Runs the phases that are left, and those that remedies add.
fn run_phases(experiment: &Experiment, from: Begin, recorder: &mut Recorder) -> Outcome {
    let Begin { mut plan, mut progress, .. } = from;
    let mut kept = experiment.initial_theta();
    loop {
        let mut trainer = experiment.trainer(plan.phase(), &kept);
        let layout = trainer.objective().layout();
        let goes_on = progress.as_ref().is_some_and(|progress| progress.iteration > 0);
        recorder.begin_phase(&plan, layout.clone(), goes_on);
        if let Some(progress) = progress.take() {
            trainer = trainer.from_checkpoint(progress);
        }
        let outcome = trainer.run(recorder);
        if outcome.stop == StopReason::Interrupted {
            return outcome;
        }
        kept = layout.keep(&outcome.last.theta);
        let mut why = None;
        if let Some(Diagnosis { what, how, remedy }) =
            diagnose(experiment, &plan, &outcome.stop, &kept)
        {
            if !experiment.training.remedies {
                recorder.warn(&format!(
                    "{what}; `remedies = true` under `[training]` would mend it: {how}"
                ));
            } else if plan.may_try(&remedy) {
                if matches!(remedy, Remedy::MultipleShooting { afresh: true, .. }) {
                    kept = experiment.drawn_theta(plan.draws() + 1);
                }
                plan.apply(remedy);
                why = Some(format!("{what}: {how}"));
            } else {
                recorder.warn(&format!("{what}, and no remedy is left to try"));
            }
        }
        let hopeless = matches!(outcome.stop, StopReason::Failed(_)) && why.is_none();
        if hopeless || !plan.next(outcome.last.iteration, why) {
            return outcome;
        }
    }
}

fn write_predictions(
    experiment: &Experiment,
    folder: &RunFolder,
    assessment: &Scores,
) -> Result<(), Diagnostic> {
    for ((name, dataset), set) in sets(experiment).zip(&assessment.sets) {
        let path = folder.predictions(name);
        if let Ok(score) = &set.outcome {
            files::write(&path, predict::csv_text(dataset, &score.predicted).as_bytes())?;
        } else if path.exists() {
            // Those of an earlier model.
            files::remove(&path)?;
        }
    }
    Ok(())
}
