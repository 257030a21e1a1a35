//! Trains an experiment into a run folder, and goes on with one that was interrupted.

use std::path::Path;
use std::time::{Duration, Instant};

use lawful::{BestPoint, Event, MlpShape, Observer, Outcome, Progress, Row, Stop, Wish};

use crate::assess::{Assessment, assess};
use crate::diagnostic::Diagnostic;
use crate::experiment::Experiment;
use crate::log::Log;
use crate::manifest::{Manifest, Status, Which};
use crate::model::{ModelFile, save_checkpoint, save_model};
use crate::run_folder::{RunFolder, sets};
use crate::{config, files, pictures, predict};

/// Time between two checkpoints: what a crash may cost.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(2);

/// Who shows a run to the user.
pub trait Watcher {
    /// A run begins, or goes on, at `done` of `iterations`.
    fn begin(&mut self, folder: &RunFolder, done: usize, iterations: usize);

    /// An iteration is done. The answer is whether to go on.
    fn iteration(&mut self, row: &Row) -> Wish;

    /// Training has ended; predictions and pictures come next.
    fn end(&mut self, manifest: &Manifest);
}

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
    let manifest = Manifest::read(&folder.manifest())?;
    let log = Log::create(&folder.log(), &experiment.law_names())?;
    run(experiment, folder, manifest, log, None, watcher)
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
    let experiment = config::read_run(path)?;
    let mut manifest = Manifest::read(&folder.manifest())?;
    match iterations {
        Some(more) if more > manifest.iterations => {
            manifest.extended_from.push(manifest.iterations);
            manifest.iterations = more;
        }
        Some(same) if same == manifest.iterations => {}
        Some(fewer) => {
            return Err(Diagnostic::new(format!(
                "this run is planned for {} iterations; {fewer} would be fewer",
                manifest.iterations
            ))
            .with_hint("give the number of iterations in all, for example twice as many"));
        }
        None => {}
    }
    if manifest.status == Status::Finished && manifest.done >= manifest.iterations {
        return Ok(Resumed::Finished(Box::new(manifest)));
    }
    let checkpoint = folder.model(Which::Last);
    let progress = if checkpoint.is_file() {
        let file = ModelFile::read(&checkpoint)?;
        Some(file.progress(&experiment.shape(), experiment.strategy.tolerance)?)
    } else {
        None
    };
    let log = match &progress {
        Some(progress) => Log::resume(&folder.log(), progress.iteration)?,
        None => Log::create(&folder.log(), &experiment.law_names())?,
    };
    manifest.status = Status::Running;
    manifest.write(&folder.manifest())?;
    let trained = run(&experiment, folder, manifest, log, progress, watcher)?;
    Ok(Resumed::Trained(Box::new(trained)))
}

fn run(
    experiment: &Experiment,
    folder: RunFolder,
    mut manifest: Manifest,
    log: Log,
    progress: Option<Progress>,
    watcher: &mut dyn Watcher,
) -> Result<Trained, Diagnostic> {
    let done = progress.as_ref().map_or(0, |progress| progress.iteration);
    watcher.begin(&folder, done, manifest.iterations);
    let mut trainer = experiment.trainer(manifest.iterations);
    if let Some(progress) = progress {
        trainer = trainer.from_checkpoint(progress);
    }
    let mut recorder = Recorder {
        experiment,
        shape: experiment.shape(),
        folder: &folder,
        log,
        watcher,
        saved: None,
        failures: 0,
        error: None,
    };
    let started = Instant::now();
    let outcome = trainer.run(&mut recorder);
    let Recorder { mut log, failures, error, .. } = recorder;
    log.flush()?;
    if let Some(error) = error {
        return Err(error);
    }
    manifest.seconds += started.elapsed().as_secs_f64();
    manifest.failures += failures;
    let Outcome { stop, last, best } = outcome;
    save_last_and_best(experiment, &folder, &last, &best)?;
    manifest.end(&stop);
    manifest.done = last.iteration;
    (manifest.accepted, manifest.rejected) = (best.accepted(), best.rejected());
    manifest.best_iteration = best.iteration();
    manifest.write(&folder.manifest())?;
    watcher.end(&manifest);
    let assessment = match stop {
        Stop::Interrupted => None,
        Stop::Finished | Stop::Failed(_) => {
            let theta = if manifest.model == Which::Best { best.theta() } else { &last.theta };
            let assessment = assess(experiment, theta);
            write_results(experiment, &folder, theta, &assessment)?;
            Some(assessment)
        }
    };
    Ok(Trained { folder, manifest, assessment })
}

fn save_last_and_best(
    experiment: &Experiment,
    folder: &RunFolder,
    last: &Progress,
    best: &BestPoint,
) -> Result<(), Diagnostic> {
    let shape = experiment.shape();
    let metadata = experiment.metadata(last.iteration);
    save_checkpoint(&folder.model(Which::Last), &shape, &metadata, last)?;
    if best.value().is_some() {
        let metadata = experiment.metadata(best.iteration());
        save_model(&folder.model(Which::Best), &shape, &metadata, best.theta())?;
    }
    Ok(())
}

/// Predictions and pictures.
fn write_results(
    experiment: &Experiment,
    folder: &RunFolder,
    theta: &[f64],
    assessment: &Assessment,
) -> Result<(), Diagnostic> {
    for ((name, dataset), set) in sets(experiment).zip(&assessment.sets) {
        if let Ok(score) = &set.outcome {
            let text = predict::csv_text(dataset, &score.predicted);
            files::write(&folder.predictions(name), text.as_bytes())?;
        }
    }
    pictures::write(experiment, folder, theta, assessment)
}

/// Writes the run folder as training goes.
struct Recorder<'a> {
    experiment: &'a Experiment,
    shape: MlpShape,
    folder: &'a RunFolder,
    log: Log,
    watcher: &'a mut dyn Watcher,
    saved: Option<Instant>,
    failures: u64,
    /// The first thing that could not be written; training stops then.
    error: Option<Diagnostic>,
}

impl Recorder<'_> {
    fn note(&mut self, result: Result<(), Diagnostic>) {
        if let Err(error) = result {
            self.error.get_or_insert(error);
        }
    }
}

impl Observer for Recorder<'_> {
    fn iteration(&mut self, row: &Row) -> Wish {
        let added = self.log.add(row);
        self.note(added);
        self.failures += u64::from(matches!(row.event, Some(Event::TakenBack { .. })));
        let wish = self.watcher.iteration(row);
        if self.error.is_some() { Wish::Stop } else { wish }
    }

    fn wants_checkpoint(&mut self, _: usize) -> bool {
        self.saved.is_none_or(|saved| saved.elapsed() >= CHECKPOINT_EVERY)
    }

    fn checkpoint(&mut self, progress: &Progress) {
        // The log first: it may run ahead of the checkpoint, never behind it.
        let flushed = self.log.flush();
        self.note(flushed);
        let metadata = self.experiment.metadata(progress.iteration);
        let path = self.folder.model(Which::Last);
        let saved = save_checkpoint(&path, &self.shape, &metadata, progress);
        self.note(saved);
        self.saved = Some(Instant::now());
    }
}
