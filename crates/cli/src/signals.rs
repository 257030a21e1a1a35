//! Ctrl-C: the first one stops after the current iteration and saves, the second one exits at once.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);
static LISTENING: OnceLock<()> = OnceLock::new();

/// From now on, Ctrl-C and SIGTERM ask the program to stop.
pub(crate) fn listen() {
    LISTENING.get_or_init(|| {
        let answer = ctrlc::set_handler(|| {
            if ASKED.swap(true, Ordering::Relaxed) {
                std::process::exit(i32::from(crate::INTERRUPTED));
            }
        });
        // Without a handler Ctrl-C exits at once; the last checkpoint is kept.
        drop(answer);
    });
}

/// Returns whether the user has asked to stop.
pub(crate) fn asked_to_stop() -> bool {
    ASKED.load(Ordering::Relaxed)
}
