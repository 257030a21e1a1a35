//! Progress of a run: a live line on a terminal, plain lines in a pipe, nothing when quiet.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use lawful::{Event, Row};
use lawful_experiment::{Manifest, RunFolder, RunObserver, Status, counted, describe, short};

use crate::live_line::LiveLine;

/// Shows the progress of a run, and stops it on Ctrl-C.
pub(crate) struct Progress {
    /// Name of the run in messages.
    label: String,
    line: LiveLine,
    done_before: usize,
    iterations: usize,
    started: Instant,
    last_line: Instant,
    /// Tenths of the iterations that were done when the last plain line was printed.
    last_tenth: usize,
    /// Events so far.
    events: usize,
}

/// Time between two updates of a live line.
const LIVE_EVERY: Duration = Duration::from_millis(100);
/// Time between two plain lines, unless a tenth of the run has passed.
const PLAIN_EVERY: Duration = Duration::from_secs(30);
/// Number of events that are printed; the log has all of them.
const EVENTS_TOLD: usize = 5;
/// The most important part comes first: a narrow terminal cuts the end off.
const LIVE_LINE: &str = "{bar:10} {pos}/{len}  {wide_msg}";

impl Progress {
    pub(crate) fn new(quiet: bool, label: impl Into<String>) -> Self {
        let now = Instant::now();
        Self {
            label: label.into(),
            line: LiveLine::new(quiet, LIVE_LINE),
            done_before: 0,
            iterations: 0,
            started: now,
            last_line: now,
            last_tenth: 0,
            events: 0,
        }
    }

    /// Returns `12 s left, `, or nothing at the start and close to the end.
    fn time_left(&self, iteration: usize) -> String {
        let done = iteration.saturating_sub(self.done_before);
        let rest = self.iterations.saturating_sub(iteration);
        if done == 0 || rest == 0 {
            return String::new();
        }
        let left = self.started.elapsed().mul_f64(rest as f64 / done as f64);
        if left < Duration::from_secs(1) {
            String::new()
        } else {
            format!("{} left, ", rough(left))
        }
    }

    fn event(&mut self, row: &Row) {
        let Some(event) = row.event else { return };
        if matches!(event, Event::Note(_)) {
            // It was printed when the phase began.
            return;
        }
        self.events += 1;
        if self.events <= EVENTS_TOLD {
            self.line.say(&format!("  iteration {}: {}", row.iteration, describe(event)));
        } else if self.events == EVENTS_TOLD + 1 {
            self.line.say("  further events are in `log.csv`");
        }
    }
}

fn numbers(row: &Row) -> String {
    let Some(evaluation) = row.evaluation else { return "step taken back".to_owned() };
    let loss = format!("loss {}", short(evaluation.loss));
    if row.laws == 0 {
        return loss;
    }
    let weights: Vec<String> = evaluation.weights.iter().map(|mu| short(*mu)).collect();
    let (violation, plural) = (short(evaluation.violation), if row.laws > 1 { "s" } else { "" });
    format!("{loss}, violation {violation}, weight{plural} {}", weights.join(" "))
}

/// `3.2 s`, `2 min 5 s`, `1 h 3 min`.
fn duration(time: Duration) -> String {
    match time.as_secs() {
        0..=9 => format!("{:.1} s", time.as_secs_f64()),
        seconds @ 10..=119 => format!("{seconds} s"),
        seconds @ 120..=7199 => format!("{} min {} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// `3 s`, `2 min`, `5 h`: an estimate has no more digits.
fn rough(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds < 99.5 => format!("{seconds:.0} s"),
        seconds if seconds < 99.5 * 60.0 => format!("{:.0} min", seconds / 60.0),
        seconds => format!("{:.0} h", seconds / 3600.0),
    }
}

impl RunObserver for Progress {
    fn begin(&mut self, folder: &RunFolder, done: usize, iterations: usize) {
        (self.done_before, self.iterations) = (done, iterations);
        self.last_tenth = (10 * done).checked_div(iterations).unwrap_or(0);
        self.started = Instant::now();
        self.last_line = self.started;
        self.line.bar.set_length(iterations as u64);
        self.line.bar.set_position(done as u64);
        let (label, folder) = (&self.label, folder.path().display());
        self.line.say(&match done {
            0 => format!("training {label} into {folder}"),
            _ => format!("resuming {label} at iteration {done}, in {folder}"),
        });
    }

    fn phase(&mut self, text: &str, iterations: usize) {
        self.iterations = iterations;
        self.line.bar.set_length(iterations as u64);
        self.line.say(&format!("  {text}"));
    }

    fn warn(&mut self, text: &str) {
        self.line.say(&format!("warning: {text}"));
    }

    fn iteration(&mut self, row: &Row) -> ControlFlow<()> {
        let (now, iteration) = (Instant::now(), row.iteration);
        self.event(row);
        if self.line.is_live() {
            if now - self.last_line >= LIVE_EVERY || iteration >= self.iterations {
                self.last_line = now;
                self.line.bar.set_position(iteration as u64);
                self.line.show(&(self.time_left(iteration) + &numbers(row)));
            }
        } else if !self.line.is_quiet() {
            let tenth = (10 * iteration).checked_div(self.iterations).unwrap_or(10);
            if tenth > self.last_tenth || now - self.last_line >= PLAIN_EVERY {
                (self.last_line, self.last_tenth) = (now, tenth);
                let left = self.time_left(iteration);
                self.line.say(&format!(
                    "  {iteration}/{}  {left}{}",
                    self.iterations,
                    numbers(row)
                ));
            }
        }
        self.line.check_stop()
    }

    fn end(&mut self, manifest: &Manifest) {
        self.line.bar.finish_and_clear();
        let took = duration(self.started.elapsed());
        let (done, all) = (manifest.done, counted(manifest.iterations, "iteration"));
        let how = match manifest.status {
            Status::Finished => format!("finished {} in {took}", counted(done, "iteration")),
            Status::Interrupted => {
                format!("interrupted at {done} of {all} after {took}")
            }
            Status::Running | Status::Failed => {
                format!("failed at {done} of {all} after {took}")
            }
        };
        self.line.say(&format!("{}: {how}", self.label));
    }
}
