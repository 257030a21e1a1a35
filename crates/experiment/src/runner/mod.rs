//! Many trainings on all cores: experiments × variations × strategies × seeds.
//!
//! The name of a training's run folder follows from its experiment and data, so that running the
//! same plan again finds its folders: a finished training is not repeated, and a killed one resumes
//! from its checkpoint. Trainings share nothing, so results depend neither on the number of threads
//! nor on their order.
//!
//! ```text
//! file ── changes ──► Experiment ─┐
//!   (variation, strategy, seed)   ├─► run ─► FinishedRun, in the order of the plan
//!                StudyObserver ◄──────┘
//! ```

pub mod changes;
mod job;
pub mod pool;
mod study_observer;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::config::ExperimentFile;
use crate::diagnostic::Diagnostic;
use crate::files::{self, Lock};
use crate::run::{Manifest, RunFolder};

pub use job::cost;
pub use study_observer::StudyObserver;

use job::Job;

/// A training that has ended: all iterations are done, or too many evaluations failed.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedRun {
    /// The folder with its results.
    pub folder: RunFolder,
    /// Its status, timings and settings.
    pub manifest: Manifest,
}

/// Trains every experiment of a plan into a run folder below `parent`, on this many threads.
///
/// Returns the runs in the order of the plan, or `None` if the observer stopped them: running the
/// plan again resumes. Equal experiments are trained once. The longest trainings begin first, so that
/// the last ones to end are short. A second process is refused while this one trains.
pub fn run(
    plan: &[ExperimentFile],
    parent: &Path,
    threads: usize,
    observer: &dyn StudyObserver,
) -> Result<Option<Vec<FinishedRun>>, Diagnostic> {
    files::create_folder(parent)?;
    let _lock = Lock::take(parent, &mut |text| observer.warn(text))?;
    remove_parts(parent)?;
    let wanted: Vec<Job> = plan.iter().map(|file| Job::new(file, parent)).collect();
    let mut jobs: Vec<&Job> = Vec::new();
    for job in &wanted {
        if !jobs.iter().any(|known| known.path == job.path) {
            jobs.push(job);
        }
    }
    let found: Vec<Option<Manifest>> =
        jobs.iter().map(|job| job.found()).collect::<Result<_, _>>()?;
    let mut open: Vec<(f64, &Job)> = Vec::new();
    for (&job, found) in jobs.iter().zip(&found) {
        if !found.as_ref().is_some_and(job::has_ended) {
            let done = found.as_ref().map_or(0, |manifest| manifest.done);
            open.push((job.work_left(done), job));
        }
    }
    let work = open.iter().map(|(work, _)| work).sum();
    observer.begin(jobs.len(), jobs.len() - open.len(), work);
    open.sort_by(|a, b| b.0.total_cmp(&a.0));

    let stop = AtomicBool::new(false);
    let outcomes = pool::map(&open, threads, |(_, job)| {
        if stop.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let ended = job.train(observer, &stop);
        if !matches!(ended, Ok(true)) {
            stop.store(true, Ordering::Relaxed);
        }
        ended
    });
    let mut all_ended = true;
    for outcome in outcomes {
        all_ended &= outcome?;
    }
    if !all_ended {
        return Ok(None);
    }
    let finished = wanted.iter().map(|job| {
        let folder = RunFolder::open(&job.path)?;
        let manifest = Manifest::read(&folder.manifest())?;
        Ok(FinishedRun { folder, manifest })
    });
    finished.collect::<Result<_, _>>().map(Some)
}

/// Removes the incomplete run folders that a killed program left.
fn remove_parts(parent: &Path) -> Result<(), Diagnostic> {
    for name in files::list(parent) {
        let path = parent.join(&name);
        let is_part = path.extension().is_some_and(|extension| extension == "part");
        if name.starts_with('.') && is_part && path.is_dir() {
            files::remove_folder(&path)?;
        }
    }
    Ok(())
}
