//! Writes the log, checkpoints and the manifest during training.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use lawful::posterior::Posterior;
use lawful::{BestPoint, Event, Model, Observer, ParameterLayout, PhaseStart, Plan, Progress, Row};

use super::checkpoint::{save_checkpoint, save_model};
use super::folder::RunFolder;
use super::log::Log;
use super::manifest::{Manifest, ModelChoice, RunEnd};
use crate::diagnostic::Diagnostic;
use crate::experiment::Experiment;

/// Longest time between two checkpoints, unless writing takes longer.
const LONGEST_WAIT: Duration = Duration::from_secs(2);
/// Shortest time between two checkpoints.
const SHORTEST_WAIT: Duration = Duration::from_millis(50);

/// Time from one checkpoint to the next, `trained` after the start, if writing one takes `cost`: a
/// crash costs a tenth of the work at most, and checkpoints a twentieth of the time.
fn wait(trained: Duration, cost: Duration) -> Duration {
    (trained / 10).clamp(SHORTEST_WAIT, LONGEST_WAIT).max(20 * cost)
}

/// Observes a run, to show its progress and to stop it.
pub trait RunObserver {
    /// Called when a run begins, or resumes, at `done` of `iterations`.
    fn begin(&mut self, folder: &RunFolder, done: usize, iterations: usize);

    /// Called when a phase begins; `iterations` is the new total of the training.
    fn phase(&mut self, text: &str, iterations: usize) {
        let _ = (text, iterations);
    }

    /// Called with a warning for the user.
    fn warn(&mut self, text: &str) {
        let _ = text;
    }

    /// Called after each iteration. Returns whether to continue.
    fn iteration(&mut self, row: &Row) -> ControlFlow<()>;

    /// Called when training has ended, before predictions and figures are written.
    fn end(&mut self, manifest: &Manifest);

    /// Returns whether figures are drawn into the run folder at the end.
    fn wants_figures(&self) -> bool {
        true
    }
}

/// Writes the run folder during training.
pub(super) struct Recorder<'a> {
    experiment: &'a Experiment,
    plan: Plan,
    layout: ParameterLayout,
    /// The event of the next row of the log.
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
    /// The first error of writing, which stops training.
    error: Option<Diagnostic>,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(
        experiment: &'a Experiment,
        plan: &Plan,
        folder: &'a RunFolder,
        manifest: Manifest,
        log: Log,
        observer: &'a mut dyn RunObserver,
    ) -> Self {
        let now = Instant::now();
        let training = &experiment.training;
        Self {
            experiment,
            plan: plan.clone(),
            layout: training.layout(plan.phase()),
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

    /// Ends the log, saves the last and the best model; the manifest is not written yet. Returns
    /// both models.
    ///
    /// `plan` is the plan at the end; if the run ends with the best model of an `earlier` phase, both
    /// models are this one.
    pub(super) fn end(
        mut self,
        last: &Progress,
        best: &BestPoint,
        plan: &Plan,
        earlier: bool,
        ended: Option<&RunEnd>,
    ) -> Result<(Manifest, Model, Model), Diagnostic> {
        if let Some(error) = self.error {
            return Err(error);
        }
        self.log.flush()?;
        self.plan.clone_from(plan);
        let earlier = plan.best_model().filter(|_| earlier);
        let label = earlier.map(|model| model.iteration);
        let training = &self.experiment.training;
        let posterior = training.posterior(plan, last).filter(|_| earlier.is_none());
        self.save(last, best, label, ended, posterior.as_ref())?;
        self.count(last.iteration, best);
        if let Some(earlier) = earlier {
            self.manifest.best_iteration = earlier.iteration;
            self.manifest.substeps = self.plan.phases()[earlier.phase].substeps;
        }
        let model = |theta: &[f64], iteration: usize| {
            let iteration = label.unwrap_or(self.plan.start() + iteration);
            training.model(self.layout.keep(theta), iteration).with_posterior(posterior.clone())
        };
        let models = (model(&last.theta, last.iteration), model(best.theta(), best.iteration()));
        Ok((self.manifest, models.0, models.1))
    }

    /// The best model first: it is part of the checkpoint, so a crash between the two loses nothing.
    fn save(
        &self,
        last: &Progress,
        best: &BestPoint,
        label: Option<usize>,
        ended: Option<&RunEnd>,
        posterior: Option<&Posterior>,
    ) -> Result<(), Diagnostic> {
        let Self { experiment, folder, layout, plan, .. } = self;
        let training = &experiment.training;
        if best.value().is_some() {
            let iteration = label.unwrap_or(plan.start() + best.iteration());
            let model = training.model(layout.keep(best.theta()), iteration);
            let model = model.with_posterior(posterior.cloned());
            save_model(&folder.model(ModelChoice::Best), &model)?;
        }
        let path = folder.model(ModelChoice::Last);
        let label = label.unwrap_or(plan.start() + last.iteration);
        let model = training.model(layout.keep(&last.theta), label);
        let model = model.with_posterior(posterior.cloned());
        save_checkpoint(&path, &model, plan, last, ended)
    }

    /// Updates the numbers of the manifest.
    fn count(&mut self, done: usize, best: &BestPoint) {
        let (manifest, start) = (&mut self.manifest, self.plan.start());
        manifest.done = start + done;
        manifest.seconds = self.seconds_before + self.started.elapsed().as_secs_f64();
        (manifest.accepted, manifest.rejected) = (best.accepted(), best.rejected());
        manifest.best_iteration = start + best.iteration();
    }

    fn write(&mut self, progress: &Progress) -> Result<(), Diagnostic> {
        // The log first: it may be ahead of the checkpoint, but not behind it.
        self.log.flush()?;
        self.save(progress, &progress.best, None, None, None)?;
        self.count(progress.iteration, &progress.best);
        self.manifest.write(&self.folder.manifest())
    }

    fn keep_error(&mut self, result: Result<(), Diagnostic>) {
        if let Err(error) = result {
            self.error.get_or_insert(error);
        }
    }
}

impl Observer for Recorder<'_> {
    fn phase(&mut self, phase: &PhaseStart) {
        let PhaseStart { plan, layout, resumed } = *phase;
        self.manifest.iterations = plan.total();
        self.manifest.substeps = plan.phase().substeps;
        self.plan = plan.clone();
        self.layout = layout.clone();
        let (number, of) = (plan.at() + 1, plan.len());
        let description = plan.phase().describe();
        let text = match plan.why() {
            Some(why) => format!("phase {number} of {of}, a remedy: {why}: {description}"),
            None => format!("phase {number} of {of}: {description}"),
        };
        self.observer.phase(&text, plan.total());
        let one = of == 1 && self.experiment.training.recipe.is_none();
        self.note = (!resumed && !one).then_some(Event::Note(text));
    }

    fn warn(&mut self, text: &str) {
        self.observer.warn(text);
    }

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
