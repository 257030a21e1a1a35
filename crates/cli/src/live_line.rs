//! Where progress is shown: a live line on a terminal, plain lines in a pipe, nothing when quiet.

use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lawful_experiment::visible;

use crate::output::talk;
use crate::signals;

/// A progress bar and the lines above it.
pub(crate) struct LiveLine {
    pub(crate) bar: ProgressBar,
    quiet: bool,
    live: bool,
    /// Whether the user was told that the program is about to stop.
    stopping: AtomicBool,
}

impl LiveLine {
    /// A line with this template; from now on Ctrl-C asks the program to stop.
    pub(crate) fn new(quiet: bool, template: &str) -> Self {
        signals::listen();
        let live = !quiet && std::io::stderr().is_terminal();
        let target = if live { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let style = ProgressStyle::with_template(template).expect("a fixed template");
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(style.progress_chars("=> "));
        Self { bar, quiet, live, stopping: AtomicBool::new(false) }
    }

    /// Returns whether nothing is printed.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Returns whether the line is redrawn on a terminal.
    pub(crate) fn is_live(&self) -> bool {
        self.live
    }

    /// Prints a line above the progress bar.
    pub(crate) fn say(&self, line: &str) {
        if self.quiet {
        } else if self.live {
            self.bar.println(visible(line));
        } else {
            talk(line);
        }
    }

    /// Shows a text beside the progress bar.
    pub(crate) fn show(&self, text: &str) {
        self.bar.set_message(visible(text).into_owned());
    }

    /// Returns whether to continue; says so once if the user has asked to stop.
    pub(crate) fn check_stop(&self) -> ControlFlow<()> {
        if !signals::asked_to_stop() {
            return ControlFlow::Continue(());
        }
        if !self.stopping.swap(true, Ordering::Relaxed) {
            self.say("stopping after this iteration; press Ctrl-C again to exit at once");
        }
        ControlFlow::Break(())
    }
}
