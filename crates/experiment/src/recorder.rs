//! Writes the run folder while training goes: the log, checkpoints, how far it has come.

use std::ops::ControlFlow;

use std::time::{Duration, Instant};

use lawful::{BestPoint, Event, Observer, ParameterLayout, Progress, Row};

use crate::diagnostic::Diagnostic;
use crate::experiment::Experiment;
use crate::log::Log;
use crate::manifest::{Ending, Manifest, ModelChoice};
use crate::model::{save_checkpoint, save_model};
use crate::plan::Plan;
use crate::run_folder::RunFolder;

/// Longest time between two checkpoints, unless writing one takes long.
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// Shortest time between two checkpoints.
const SHORTEST_WAIT: Duration = Duration::from_millis(50);

/// Time from one checkpoint to the next, `trained` after the start, if writing one takes `cost`: a
/// crash costs a tenth of the work at most, and checkpoints a twentieth of the time.
fn wait(trained: Duration, cost: Duration) -> Duration {
    (trained / 10).clamp(SHORTEST_WAIT, LONGEST_WAIT).max(20 * cost)
}

/// Who shows a run to the user.
pub trait RunObserver {
    /// A run begins, or goes on, at `done` of `iterations`.
    fn begin(&mut self, folder: &RunFolder, done: usize, iterations: usize);

    /// A phase begins, and the training now has so many iterations in all.
    fn phase(&mut self, text: &str, iterations: usize) {
        let _ = (text, iterations);
    }

    /// Something that the user should know.
    fn warn(&mut self, text: &str) {
        let _ = text;
    }

    /// An iteration is done. The answer is whether to go on.
    fn iteration(&mut self, row: &Row) -> ControlFlow<()>;

    /// Training has ended; predictions and pictures come next.
    fn end(&mut self, manifest: &Manifest);

    /// Whether pictures are drawn into the run folder at the end.
    fn wants_pictures(&self) -> bool {
        true
    }
}

/// Writes the run folder as training goes.
pub(crate) struct Recorder<'a> {
    experiment: &'a Experiment,
    plan: Plan,
    layout: ParameterLayout,
    /// What the next row of the log has to say.
    note: Option<Event>,
    folder: &'a RunFolder,
    manifest: Manifest,
    log: Log,
    observer: &'a mut dyn RunObserver,
    started: Instant,
    /// Seconds of training before this session.
    seconds_before: f64,
    /// When the next checkpoint is due.
    due: Instant,
    /// The first thing that could not be written; training stops then.
    error: Option<Diagnostic>,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(
        experiment: &'a Experiment,
        plan: Plan,
        folder: &'a RunFolder,
        manifest: Manifest,
        log: Log,
        observer: &'a mut dyn RunObserver,
    ) -> Self {
        let now = Instant::now();
        let layout = experiment.objective(plan.phase(), experiment.split().0).layout();
        Self {
            experiment,
            plan,
            layout,
            note: None,
            folder,
            log,
            observer,
            started: now,
            seconds_before: manifest.seconds,
            manifest,
            due: now,
            error: None,
        }
    }

    /// A phase begins, or goes on after its first iteration.
    pub(crate) fn begin_phase(&mut self, plan: &Plan, layout: ParameterLayout, goes_on: bool) {
        self.manifest.iterations = plan.total();
        self.manifest.substeps = plan.phase().substeps;
        self.plan = plan.clone();
        self.layout = layout;
        let (number, of) = (plan.at() + 1, plan.len());
        let phase = plan.phase().describe();
        let text = match plan.why() {
            Some(why) => format!("phase {number} of {of}, a remedy: {why}: {phase}"),
            None => format!("phase {number} of {of}: {phase}"),
        };
        self.observer.phase(&text, plan.total());
        let one = of == 1 && self.experiment.training.recipe.is_none();
        self.note = (!goes_on && !one).then_some(Event::Note(text));
    }

    /// Tells the user something that does not change the training.
    pub(crate) fn warn(&mut self, text: &str) {
        self.observer.warn(text);
    }

    /// Ends the log, saves the last and the best model; the manifest is not written yet. Gives the
    /// parameters of both.
    pub(crate) fn end(
        mut self,
        last: &Progress,
        best: &BestPoint,
        ended: Option<&Ending>,
    ) -> Result<(Manifest, Vec<f64>, Vec<f64>), Diagnostic> {
        if let Some(error) = self.error {
            return Err(error);
        }
        self.log.flush()?;
        self.save(last, best, ended)?;
        self.watch(last.iteration, best);
        let (theta, best) = (self.layout.keep(&last.theta), self.layout.keep(best.theta()));
        Ok((self.manifest, theta, best))
    }

    /// The best model first: it is part of the checkpoint, so a crash between the two loses nothing.
    fn save(
        &self,
        last: &Progress,
        best: &BestPoint,
        ended: Option<&Ending>,
    ) -> Result<(), Diagnostic> {
        let Self { experiment, folder, layout, plan, .. } = self;
        if best.value().is_some() {
            let iteration = plan.start() + best.iteration();
            let theta = layout.keep(best.theta());
            save_model(&folder.model(ModelChoice::Best), experiment, iteration, &theta)?;
        }
        save_checkpoint(&folder.model(ModelChoice::Last), experiment, plan, layout, last, ended)
    }

    /// Notes how far the run has come.
    fn watch(&mut self, done: usize, best: &BestPoint) {
        let (manifest, start) = (&mut self.manifest, self.plan.start());
        manifest.done = start + done;
        manifest.seconds = self.seconds_before + self.started.elapsed().as_secs_f64();
        (manifest.accepted, manifest.rejected) = (best.accepted(), best.rejected());
        manifest.best_iteration = start + best.iteration();
    }

    fn write(&mut self, progress: &Progress) -> Result<(), Diagnostic> {
        // The log first: it may run ahead of the checkpoint, never behind it.
        self.log.flush()?;
        self.save(progress, &progress.best, None)?;
        self.watch(progress.iteration, &progress.best);
        self.manifest.write(&self.folder.manifest())
    }

    fn keep_error(&mut self, result: Result<(), Diagnostic>) {
        if let Err(error) = result {
            self.error.get_or_insert(error);
        }
    }
}

impl Observer for Recorder<'_> {
    fn iteration(&mut self, row: &Row) -> ControlFlow<()> {
        let note = if row.event.is_none() { self.note.take() } else { None };
        let iteration = self.plan.start() + row.iteration;
        let row = &Row { iteration, event: row.event.or(note.as_ref()), ..*row };
        let added = self.log.add(row);
        self.keep_error(added);
        let wish = self.observer.iteration(row);
        if self.error.is_some() { ControlFlow::Break(()) } else { wish }
    }

    fn wants_checkpoint(&mut self, _: usize) -> bool {
        Instant::now() >= self.due
    }

    fn checkpoint(&mut self, progress: &Progress) {
        if self.error.is_none() {
            let begun = Instant::now();
            let written = self.write(progress);
            self.keep_error(written);
            let now = Instant::now();
            self.due = now + wait(now - self.started, now - begun);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_costs_a_tenth_and_checkpoints_a_twentieth() {
        let wait_ms = |trained, cost| {
            wait(Duration::from_millis(trained), Duration::from_millis(cost)).as_millis()
        };
        assert_eq!(
            [0, 1_000, 10_000, 60_000].map(|trained| wait_ms(trained, 0)),
            [50, 100, 1_000, 2_000]
        );
        assert_eq!(wait_ms(60_000, 500), 10_000);
    }
}
