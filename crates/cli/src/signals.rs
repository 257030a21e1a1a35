//! Ctrl-C: the first one finishes the iteration and saves, the second one ends the program.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);
static LISTENING: OnceLock<()> = OnceLock::new();

/// From now on, Ctrl-C (and a polite request to terminate) asks to stop.
pub(crate) fn listen() {
    LISTENING.get_or_init(|| {
        let answer = ctrlc::set_handler(|| {
            if ASKED.swap(true, Ordering::Relaxed) {
                std::process::exit(i32::from(crate::INTERRUPTED));
            }
        });
        // Without a handler Ctrl-C ends the program at once: less polite, and still safe.
        drop(answer);
    });
}

/// Whether the user has asked to stop.
pub(crate) fn asked_to_stop() -> bool {
    ASKED.load(Ordering::Relaxed)
}
