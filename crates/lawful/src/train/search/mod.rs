//! A phase of least squares: several starts, of which the best by evidence goes on and wins.
//!
//! ```text
//! starts ── screening ──► kept by evidence ── iterations ──► rounds of multipliers ──► best by evidence
//! ```
//!
//! One iteration of the phase is one Levenberg–Marquardt step of every start that is left, on any number of
//! threads: starts do not see each other, so the result has the same bytes. A row of the log is the start of
//! the greatest evidence so far.

mod candidate;
mod constants;
mod minimum;
mod monotone;
mod perturbed;
mod posterior;
mod priors;
mod process_noise;
mod settings;
mod start;

use std::ops::ControlFlow;

use rayon::prelude::*;

pub use settings::LeastSquaresSettings;

use super::selection::Pilot;
use super::{BestPoint, Event, Observer, Outcome, Phase, Prepared, Progress, Row, StopReason};
use crate::number::short;
use crate::objective::PathResiduals;
use crate::train::Validated;
use crate::{Failure, StrategyMemory};
use candidate::Candidate;
use start::Curves;

/// A search in progress.
struct Search<'a> {
    settings: LeastSquaresSettings,
    iterations: usize,
    /// Iterations before the rounds.
    before_rounds: usize,
    tolerance: f64,
    candidates: Vec<Candidate>,
    training: &'a Prepared,
}

impl Prepared {
    /// Runs a phase of least squares from its own starts, or from a checkpoint.
    ///
    /// # Panics
    /// If the progress is of another training.
    pub(super) fn search(
        &self,
        phase: &Phase,
        settings: LeastSquaresSettings,
        progress: Option<Progress>,
        observer: &mut dyn Observer,
    ) -> Outcome {
        let mut search = Search::new(self, phase, settings, progress.as_ref());
        let iteration = progress.as_ref().map_or(0, |progress| progress.iteration);
        if let Some(progress) = progress.filter(|progress| !progress.optimiser.is_empty()) {
            search.restore(iteration, &progress.optimiser);
        }
        search.run(iteration, observer)
    }

    /// Returns whether a row may be the memory of this phase's optimiser, for θ of this length.
    pub fn reads_memory(&self, phase: &Phase, parameters: usize, row: &[f64]) -> bool {
        match phase.least_squares {
            // A search that has not begun has no memory.
            Some(_) if row.is_empty() => true,
            Some(settings) => {
                let each = Search::new(self, phase, settings, None).candidates[0].saved_len();
                row.len().is_multiple_of(each) && row.iter().all(|x| x.is_finite())
            }
            None => phase.optimiser.build(parameters).restore(row),
        }
    }
}

/// A search that is long enough to compare fields, not to train one.
const PILOT: LeastSquaresSettings =
    LeastSquaresSettings { starts: 4, screening: 15, kept: 2, rounds: 1, round: 1 };
const PILOT_ITERATIONS: usize = 45;

impl Prepared {
    /// Searches shortly by the settings of the first phase. Returns what the best start reaches; `None` if the
    /// phase is not one of least squares, or no start can be solved.
    pub(super) fn pilot(&self) -> Option<Pilot> {
        let phase = self.phases.first().filter(|phase| phase.least_squares.is_some())?;
        let mut search = Search::new(self, phase, PILOT, None);
        // Laws keep their first weight.
        search.before_rounds = usize::MAX;
        (0..PILOT_ITERATIONS).for_each(|iteration| search.advance(iteration));
        let best = &search.candidates[search.leader()];
        let (log_evidence, effective) = (best.log_evidence, best.effective());
        let noise = best.noise();
        log_evidence.is_finite().then_some(Pilot { log_evidence, effective, noise })
    }
}

impl<'a> Search<'a> {
    /// All starts, at their first points; of a checkpoint, one for each that is left.
    fn new(
        training: &'a Prepared,
        phase: &Phase,
        settings: LeastSquaresSettings,
        progress: Option<&Progress>,
    ) -> Self {
        let objective = || {
            let objective = training.objective(phase, training.data.clone());
            objective.expect("`prepare` has made one before")
        };
        let first = objective();
        let has_laws = first.misfit().view().residuals.iter().next().is_some()
            && !first.misfit().penalised().is_empty();
        let layout = first.layout();
        let centre = training.centre(&layout);
        let relative = training.relative_precisions(&layout, centre.len());
        let mut first = PathResiduals::new(first, centre.clone());
        let evidence = training.evidence(&mut first, &layout, &relative);
        let curves = Curves::new(training);
        let output = training.output_layer();
        let count = match progress {
            Some(progress) if progress.iteration >= settings.screening => {
                settings.kept.min(settings.starts)
            }
            _ => settings.starts,
        };
        // What is restored needs no first point.
        let drawn = progress.is_none_or(|progress| progress.optimiser.is_empty());
        let candidates = (0..count).into_par_iter().map(|number| {
            let residuals = PathResiduals::new(objective(), centre.clone());
            let mut x = vec![0.0; centre.len()];
            if drawn {
                let field = training.build_field();
                let theta = start::draw(training, number, &curves, field, &relative);
                x[..theta.len()].copy_from_slice(&theta);
            }
            Candidate::new(number, residuals, evidence.clone(), x, output.clone())
        });
        Self {
            before_rounds: phase.iterations.saturating_sub(settings.in_rounds(has_laws)),
            iterations: phase.iterations,
            tolerance: training.strategy_of(phase).tolerance,
            candidates: candidates.collect(),
            settings,
            training,
        }
    }

    /// Restores the starts that are left.
    fn restore(&mut self, iteration: usize, row: &[f64]) {
        let each = self.candidates[0].saved_len();
        assert_eq!(
            row.len(),
            each * self.candidates.len(),
            "progress at {iteration} of this search"
        );
        let rows = row.chunks_exact(each);
        for (candidate, row) in self.candidates.iter_mut().zip(rows.clone()) {
            candidate.number = start_number(row[0]);
        }
        let rows: Vec<&[f64]> = rows.collect();
        self.candidates
            .par_iter_mut()
            .zip(rows)
            .for_each(|(candidate, row)| candidate.restore(row));
    }

    fn run(mut self, mut iteration: usize, observer: &mut dyn Observer) -> Outcome {
        let mut stopping = false;
        loop {
            let last = iteration >= self.iterations;
            let leader = self.leader();
            let progress = self.progress(iteration, leader);
            if let Err(failure) = self.report(leader) {
                let _ = observer.iteration(&self.row(iteration, leader, true, None));
                return Outcome {
                    stop: StopReason::Failed(failure),
                    best: progress.best.clone(),
                    last: progress,
                    after_last_evaluation: false,
                };
            }
            if last || stopping || observer.wants_checkpoint(iteration) {
                observer.checkpoint(&progress);
            }
            let note = self.note(iteration, leader);
            let flow = observer.iteration(&self.row(iteration, leader, false, note.as_ref()));
            if last || stopping {
                let stop = if last { StopReason::Finished } else { StopReason::Interrupted };
                let best = progress.best.clone();
                return Outcome { stop, last: progress, best, after_last_evaluation: false };
            }
            stopping = flow == ControlFlow::Break(());
            self.advance(iteration);
            iteration += 1;
        }
    }

    /// Takes a step of every start; then screens, or begins a round.
    fn advance(&mut self, iteration: usize) {
        self.candidates.par_iter_mut().for_each(Candidate::iterate);
        let done = iteration + 1;
        if done == self.settings.screening {
            // A stable sort: among equals the lower number is kept.
            self.candidates.sort_by(|a, b| b.log_evidence.total_cmp(&a.log_evidence));
            self.candidates.truncate(self.settings.kept);
        }
        let in_rounds = done.checked_sub(self.before_rounds);
        if in_rounds.is_some_and(|n| n.is_multiple_of(self.settings.round))
            && done < self.iterations
        {
            self.candidates.par_iter_mut().for_each(Candidate::begin_round);
        }
    }

    /// Returns the start of the greatest evidence.
    fn leader(&self) -> usize {
        let mut best = 0;
        for (n, candidate) in self.candidates.iter().enumerate() {
            if candidate.log_evidence > self.candidates[best].log_evidence {
                best = n;
            }
        }
        best
    }

    /// Measures the leader for the log.
    fn report(&mut self, leader: usize) -> Result<(), Failure> {
        let candidate = &mut self.candidates[leader];
        let (theta, value) = (candidate.theta(), -candidate.log_evidence);
        let weight = candidate.law_weight();
        if !value.is_finite() {
            let failure = candidate.residuals().failure().cloned();
            return Err(failure.unwrap_or(Failure::Value(value)));
        }
        candidate.residuals_mut().objective_mut().report(&theta, value, weight)
    }

    fn row<'r>(
        &'r self,
        iteration: usize,
        leader: usize,
        failed: bool,
        event: Option<&'r Event>,
    ) -> Row<'r> {
        let objective = self.candidates[leader].residuals().objective();
        Row {
            iteration,
            laws: self.training.laws.len(),
            evaluation: (!failed).then(|| objective.evaluation()),
            verdict: None,
            factor: 1.0,
            event,
        }
    }

    /// Returns what happened, in words, where the starts are screened and at the end.
    fn note(&self, iteration: usize, leader: usize) -> Option<Event> {
        if iteration != self.settings.screening && iteration != self.iterations {
            return None;
        }
        let mut ranked: Vec<f64> =
            self.candidates.iter().map(|candidate| candidate.log_evidence).collect();
        ranked.sort_by(|a, b| b.total_cmp(a));
        let listed: Vec<String> = ranked.iter().map(|&log| format!("{log:.1}")).collect();
        let candidate = &self.candidates[leader];
        let names = self.training.data.state();
        let noise: Vec<String> = match candidate.noise()[..] {
            [noise] if names.len() > 1 => vec![format!("of all states {}", short(noise))],
            ref each => {
                let each = names.iter().zip(each);
                each.map(|(name, noise)| format!("of `{name}` {}", short(*noise))).collect()
            }
        };
        let process_noise = candidate.process_noise().into_iter().zip(self.training.data.state());
        let process_noise =
            process_noise.map(|(size, name)| format!("{} of `{name}`", short(size)));
        let process_noise: Vec<String> = process_noise.collect();
        let process_noise = if process_noise.is_empty() {
            String::new()
        } else {
            format!(", process noise {} per square root of time", process_noise.join(", "))
        };
        Some(Event::Note(format!(
            "log evidence {}; of the first, start {}: {:.1} effective parameters, noise {} standard deviations{process_noise}",
            listed.join(", "),
            candidate.number + 1,
            candidate.effective(),
            noise.join(", "),
        )))
    }

    /// Returns the state before this iteration's row.
    fn progress(&self, iteration: usize, leader: usize) -> Progress {
        let candidate = &self.candidates[leader];
        let theta = candidate.theta();
        let mut optimiser = Vec::new();
        self.candidates.iter().for_each(|candidate| candidate.save(&mut optimiser));
        let mut strategy = StrategyMemory::default();
        candidate.residuals().objective().save_strategy(&mut strategy);
        let n = theta.len();
        let known = candidate.log_evidence.is_finite();
        let best = if known {
            let log = candidate.log_evidence;
            let numbers = [1.0, -log, 0.0, 0.0, iteration as f64, iteration as f64, 0.0, 0.0];
            BestPoint::restore(self.tolerance, theta.clone(), &numbers)
        } else {
            BestPoint::new(self.tolerance, n)
        };
        Progress {
            iteration,
            best,
            best_gradient: vec![0.0; n],
            optimiser,
            strategy,
            outer_step: 0,
            failure_factor: 1.0,
            backtrack_factor: 1.0,
            validated: Validated::default(),
            theta,
        }
    }
}

/// A start's number that a checkpoint holds as a number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
fn start_number(number: f64) -> usize {
    number as usize
}
