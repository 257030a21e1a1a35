//! Progress of a study: a live line on a terminal, plain lines in a pipe.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use lawful_experiment::runner::StudyObserver;
use lawful_experiment::{Manifest, Status, counted};
use lawful_paper::timings::duration;

use crate::live_line::LiveLine;

/// Time between two updates of a live line.
const LIVE_EVERY: Duration = Duration::from_millis(200);
/// Time between two plain lines.
const PLAIN_EVERY: Duration = Duration::from_secs(20);

/// Shows the progress of many trainings, and stops them on Ctrl-C.
pub(crate) struct StudyProgress {
    line: LiveLine,
    state: Mutex<State>,
}

struct State {
    started: Instant,
    last_line: Instant,
    trainings: usize,
    ended: usize,
    /// Cost of what this session has to do, and of what it has done.
    work: f64,
    done: f64,
}

impl StudyProgress {
    pub(crate) fn new(quiet: bool) -> Self {
        let line = LiveLine::new(quiet, "{bar:20} {wide_msg}");
        line.bar.set_length(1000);
        let now = Instant::now();
        let state =
            State { started: now, last_line: now, trainings: 0, ended: 0, work: 0.0, done: 0.0 };
        Self { line, state: Mutex::new(state) }
    }

    /// Removes the live line.
    pub(crate) fn clear(&self) {
        self.line.bar.finish_and_clear();
    }

    /// `12 of 81 trainings, 14 %, 6.9 min left`.
    fn show(&self, state: &mut State) {
        let every = if self.line.is_live() { LIVE_EVERY } else { PLAIN_EVERY };
        if self.line.is_quiet() || state.last_line.elapsed() < every {
            return;
        }
        state.last_line = Instant::now();
        let line = state.line();
        if self.line.is_live() {
            self.line.bar.set_position(state.per_mille());
            self.line.show(&line);
        } else {
            self.line.say(&format!("  {line}"));
        }
    }
}

impl State {
    fn share(&self) -> f64 {
        if self.work > 0.0 { (self.done / self.work).min(1.0) } else { 1.0 }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1000")]
    fn per_mille(&self) -> u64 {
        (1000.0 * self.share()) as u64
    }

    fn line(&self) -> String {
        let (share, elapsed) = (self.share(), self.started.elapsed().as_secs_f64());
        let left = if share > 0.0 {
            format!(", {} left", duration(elapsed * (1.0 - share) / share))
        } else {
            String::new()
        };
        let percent = 100.0 * share;
        format!("{} of {}, {percent:.0} %{left}", self.ended, counted(self.trainings, "training"))
    }
}

impl StudyObserver for StudyProgress {
    fn begin(&self, trainings: usize, finished: usize, work: f64) {
        let mut state = self.state.lock().expect("no thread panicked");
        (state.trainings, state.ended, state.work) = (trainings, finished, work);
        state.started = Instant::now();
        let found = match finished {
            0 => String::new(),
            found => format!(", {found} of them finished before"),
        };
        self.line.say(&format!("{}{found}", counted(trainings, "training")));
    }

    fn advance(&self, work: f64) -> ControlFlow<()> {
        let mut state = self.state.lock().expect("no thread panicked");
        state.done += work;
        self.show(&mut state);
        self.line.check_stop()
    }

    fn ended(&self, label: &str, manifest: &Manifest) {
        let mut state = self.state.lock().expect("no thread panicked");
        state.ended += 1;
        if manifest.status == Status::Failed {
            self.line.say(&format!("{label} failed: {}", manifest.reason));
        }
    }
}
