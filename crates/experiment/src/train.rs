//! Trains an experiment into a run folder, and goes on with one that was interrupted.

use std::path::Path;

use lawful::{Outcome, Progress, Stop};

use crate::assess::{Assessment, assess};
use crate::course::{Course, Remedy};
use crate::diagnostic::Diagnostic;
use crate::experiment::Experiment;
use crate::history::Record;
use crate::log::Log;
use crate::manifest::{Ending, Manifest, Status, Which};
use crate::model::ModelFile;
use crate::recorder::{Recorder, Watcher};
use crate::review::{Finding, review};
use crate::run_folder::{RunFolder, sets};
use crate::{config, files, pictures, predict};

/// What a run ends with.
#[derive(Debug)]
pub struct Trained {
    /// Where everything is.
    pub folder: RunFolder,
    /// How it went.
    pub manifest: Manifest,
    /// How well the model does on each set; `None` after an interruption.
    pub assessment: Option<Assessment>,
}

/// Trains from the start. The run folder is made below `parent`.
pub fn train(
    experiment: &Experiment,
    parent: &Path,
    watcher: &mut dyn Watcher,
) -> Result<Trained, Diagnostic> {
    let folder = RunFolder::create(parent, experiment)?;
    let log = Log::resume(&folder.log(), 0)?;
    let from = Begin { course: Course::new(experiment), progress: None, ended: None };
    run(experiment, folder, Manifest::new(experiment), log, from, watcher)
}

/// Where a run begins or goes on.
struct Begin {
    course: Course,
    progress: Option<Progress>,
    /// How training ended, if only what comes after it is left to do.
    ended: Option<Ending>,
}

impl Begin {
    /// Iterations done.
    fn done(&self) -> usize {
        self.progress.as_ref().map_or(0, |progress| self.course.start() + progress.iteration)
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
    watcher: &mut dyn Watcher,
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
    let checkpoint = folder.model(Which::Last);
    let mut from = if checkpoint.is_file() {
        let file = ModelFile::read(&checkpoint)?;
        let (course, progress) = file.progress(&experiment)?;
        // A run that failed is asked to try again; one that was killed goes on where it was.
        let killed = manifest.status == Status::Running && iterations.is_none();
        let stage = file.metadata().stage.as_ref();
        let ended = stage.filter(|_| killed).and_then(|stage| stage.ended.clone());
        Begin { course, progress: Some(progress), ended }
    } else {
        Begin { course: Course::new(&experiment), progress: None, ended: None }
    };
    from.course.lengthen(manifest.extended_by);
    folder.remove_parts()?;
    // The last look is repeated, unless it is over.
    let rows = from.done() + usize::from(from.ended.is_some());
    let log = Log::resume(&folder.log(), rows)?;
    manifest.status = Status::Running;
    manifest.reason.clear();
    manifest.model = Manifest::usual_model(&experiment);
    manifest.write(&folder.manifest())?;
    let trained = run(&experiment, folder, manifest, log, from, watcher)?;
    Ok(Resumed::Trained(Box::new(trained)))
}

fn run(
    experiment: &Experiment,
    folder: RunFolder,
    manifest: Manifest,
    log: Log,
    from: Begin,
    watcher: &mut dyn Watcher,
) -> Result<Trained, Diagnostic> {
    watcher.begin(&folder, from.done(), manifest.iterations);
    let course = from.course.clone();
    let mut recorder = Recorder::new(experiment, course, &folder, manifest, log, &mut *watcher);
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
    watcher.end(&manifest);
    let assessment = if interrupted {
        None
    } else {
        let theta = if manifest.model == Which::Best { &best_theta } else { &theta };
        let assessment = assess(experiment, theta, manifest.substeps);
        write_predictions(experiment, &folder, &assessment).map_err(to_go_on)?;
        if watcher.wants_pictures() {
            pictures::write(experiment, &folder, theta, &assessment, record).map_err(to_go_on)?;
        }
        Some(assessment)
    };
    // Last: a run that says that it has ended has everything in its folder.
    manifest.write(&folder.manifest()).map_err(to_go_on)?;
    Ok(Trained { folder, manifest, assessment })
}

/// Runs the phases that are left, and those that remedies add.
fn run_phases(experiment: &Experiment, from: Begin, recorder: &mut Recorder) -> Outcome {
    let Begin { mut course, mut progress, .. } = from;
    let mut kept = experiment.initial_theta();
    loop {
        let mut trainer = experiment.trainer(course.phase(), &kept);
        let layout = trainer.objective().layout();
        let goes_on = progress.as_ref().is_some_and(|progress| progress.iteration > 0);
        recorder.begin_phase(&course, layout.clone(), goes_on);
        if let Some(progress) = progress.take() {
            trainer = trainer.from_checkpoint(progress);
        }
        let outcome = trainer.run(recorder);
        if outcome.stop == Stop::Interrupted {
            return outcome;
        }
        kept = layout.keep(&outcome.last.theta);
        let mut why = None;
        if let Some(Finding { what, how, remedy }) =
            review(experiment, &course, &outcome.stop, &kept)
        {
            if !experiment.training.remedies {
                recorder.warn(&format!(
                    "{what}; `remedies = true` under `[training]` would mend it: {how}"
                ));
            } else if course.may_try(&remedy) {
                if matches!(remedy, Remedy::Segments { afresh: true, .. }) {
                    kept = experiment.drawn_theta(course.draws() + 1);
                }
                course.apply(remedy);
                why = Some(format!("{what}: {how}"));
            } else {
                recorder.warn(&format!("{what}, and no remedy is left to try"));
            }
        }
        let hopeless = matches!(outcome.stop, Stop::Failed(_)) && why.is_none();
        if hopeless || !course.next(outcome.last.iteration, why) {
            return outcome;
        }
    }
}

fn write_predictions(
    experiment: &Experiment,
    folder: &RunFolder,
    assessment: &Assessment,
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
