//! Progress of a run: a live line on a terminal, plain lines in a pipe, nothing when quiet.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lawful::{Row, Wish};
use lawful_experiment::{Manifest, RunFolder, Status, Watcher, describe};

use crate::signals;
use crate::text_table::short;

/// Shows a run and listens for Ctrl-C.
pub(crate) struct Progress {
    quiet: bool,
    /// What stands before every line, to tell runs apart.
    label: String,
    bar: ProgressBar,
    live: bool,
    done_before: usize,
    iterations: usize,
    started: Instant,
    last_line: Instant,
    /// Share of the iterations, in percent, at which the last plain line was printed.
    last_percent: usize,
}

/// Time between two updates of a live line.
const LIVE_EVERY: Duration = Duration::from_millis(100);
/// Time between two plain lines, unless a tenth of the run has passed.
const PLAIN_EVERY: Duration = Duration::from_secs(30);

impl Progress {
    pub(crate) fn new(quiet: bool, label: impl Into<String>) -> Self {
        signals::listen();
        let live = !quiet && std::io::stderr().is_terminal();
        let target = if live { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let now = Instant::now();
        Self {
            quiet,
            label: label.into(),
            bar: ProgressBar::with_draw_target(None, target),
            live,
            done_before: 0,
            iterations: 0,
            started: now,
            last_line: now,
            last_percent: 0,
        }
    }

    /// Says something beside the progress.
    fn say(&self, line: &str) {
        if self.quiet {
        } else if self.live {
            self.bar.println(line);
        } else {
            eprintln!("{line}");
        }
    }

    fn time_left(&self, iteration: usize) -> String {
        let done = iteration.saturating_sub(self.done_before);
        if done == 0 {
            return String::new();
        }
        let rest = self.iterations.saturating_sub(iteration) as f64 / done as f64;
        format!(", {} left", duration(self.started.elapsed().mul_f64(rest)))
    }

    fn numbers(&self, row: &Row) -> String {
        let Some(evaluation) = row.evaluation else { return "step taken back".to_owned() };
        let mut text = format!("loss {}", short(evaluation.loss));
        if row.laws > 0 {
            text += &format!(", violation {}", short(evaluation.violation));
            let shown = evaluation.weights.iter().take(4).map(|weight| short(*weight));
            let shown: Vec<String> = shown.collect();
            let more = if evaluation.weights.len() > 4 { " …" } else { "" };
            text += &format!(", weight {}{more}", shown.join(" "));
        }
        text
    }
}

/// `3 s`, `2 min 5 s`, `1 h 3 min`.
pub(crate) fn duration(time: Duration) -> String {
    match time.as_secs() {
        0..=9 => format!("{:.1} s", time.as_secs_f64()),
        seconds @ 10..=119 => format!("{seconds} s"),
        seconds @ 120..=7199 => format!("{} min {} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

impl Watcher for Progress {
    fn begin(&mut self, folder: &RunFolder, done: usize, iterations: usize) {
        (self.done_before, self.iterations) = (done, iterations);
        self.last_percent = if iterations == 0 { 0 } else { 100 * done / iterations };
        self.started = Instant::now();
        self.last_line = self.started;
        self.bar.set_length(iterations as u64);
        self.bar.set_position(done as u64);
        let template = "{prefix} {bar:24} {pos}/{len}  {msg}";
        let style = ProgressStyle::with_template(template).expect("a fixed template");
        self.bar.set_style(style.progress_chars("=> "));
        self.bar.set_prefix(self.label.clone());
        let verb =
            if done > 0 { format!("goes on at iteration {done}") } else { "runs".to_owned() };
        self.say(&format!("{} {verb}, into {}", self.label, folder.path().display()));
    }

    fn iteration(&mut self, row: &Row) -> Wish {
        let now = Instant::now();
        let percent =
            if self.iterations == 0 { 100 } else { 100 * row.iteration / self.iterations };
        if let Some(event) = row.event {
            self.say(&format!("  iteration {}: {}", row.iteration, describe(event)));
        }
        if self.live {
            if now - self.last_line >= LIVE_EVERY || row.iteration >= self.iterations {
                self.last_line = now;
                self.bar.set_position(row.iteration as u64);
                let message = format!("{}{}", self.numbers(row), self.time_left(row.iteration));
                self.bar.set_message(message);
            }
        } else if percent / 10 > self.last_percent / 10 || now - self.last_line >= PLAIN_EVERY {
            (self.last_line, self.last_percent) = (now, percent);
            let left = self.time_left(row.iteration);
            let numbers = self.numbers(row);
            self.say(&format!("  {}/{}  {numbers}{left}", row.iteration, self.iterations));
        }
        if signals::asked_to_stop() { Wish::Stop } else { Wish::Continue }
    }

    fn end(&mut self, manifest: &Manifest) {
        self.bar.finish_and_clear();
        let took = duration(self.started.elapsed());
        let done = manifest.done.saturating_sub(self.done_before);
        let word = match manifest.status {
            Status::Finished => "finished",
            Status::Interrupted => "interrupted",
            Status::Running | Status::Failed => "failed",
        };
        self.say(&format!("{} {word}: {done} iterations in {took}", self.label));
        if manifest.status == Status::Failed {
            self.say(&format!("  {}", manifest.reason));
        }
    }
}
