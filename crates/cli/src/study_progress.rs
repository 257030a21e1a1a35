//! Progress of a study: a live line on a terminal, plain lines in a pipe.

use std::ops::ControlFlow;

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lawful_experiment::runner::StudyObserver;
use lawful_experiment::{Manifest, Status, counted};
use lawful_paper::timings::duration;

use crate::output::talk;
use crate::signals;

/// Time between two updates of a live line.
const LIVE_EVERY: Duration = Duration::from_millis(200);
/// Time between two plain lines.
const PLAIN_EVERY: Duration = Duration::from_secs(20);

/// Shows the progress of many trainings, and stops them on Ctrl-C.
pub(crate) struct StudyProgress {
    quiet: bool,
    live: bool,
    bar: ProgressBar,
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
    stopping: bool,
}

impl StudyProgress {
    pub(crate) fn new(quiet: bool) -> Self {
        signals::listen();
        let live = !quiet && std::io::stderr().is_terminal();
        let target = if live { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(1000), target);
        let style = ProgressStyle::with_template("{bar:20} {wide_msg}").expect("a fixed template");
        bar.set_style(style.progress_chars("=> "));
        let now = Instant::now();
        let state = State {
            started: now,
            last_line: now,
            trainings: 0,
            ended: 0,
            work: 0.0,
            done: 0.0,
            stopping: false,
        };
        Self { quiet, live, bar, state: Mutex::new(state) }
    }

    /// Removes the live line.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }

    fn say(&self, line: &str) {
        if self.quiet {
        } else if self.live {
            self.bar.println(line);
        } else {
            talk(line);
        }
    }

    /// `12 of 81 trainings, 14 %, 6.9 min left`.
    fn show(&self, state: &mut State) {
        let every = if self.live { LIVE_EVERY } else { PLAIN_EVERY };
        if self.quiet || state.last_line.elapsed() < every {
            return;
        }
        state.last_line = Instant::now();
        let line = state.line();
        if self.live {
            self.bar.set_position(state.per_mille());
            self.bar.set_message(line);
        } else {
            talk(format!("  {line}"));
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
        self.say(&format!("{}{found}", counted(trainings, "training")));
    }

    fn advance(&self, work: f64) -> ControlFlow<()> {
        let mut state = self.state.lock().expect("no thread panicked");
        state.done += work;
        self.show(&mut state);
        if !signals::asked_to_stop() {
            return ControlFlow::Continue(());
        }
        if !state.stopping {
            state.stopping = true;
            self.say("stopping after this iteration; press Ctrl-C again to exit at once");
        }
        ControlFlow::Break(())
    }

    fn ended(&self, label: &str, manifest: &Manifest) {
        let mut state = self.state.lock().expect("no thread panicked");
        state.ended += 1;
        if manifest.status == Status::Failed {
            self.say(&format!("{label} failed: {}", manifest.reason));
        }
    }
}
