//! Results go to stdout, messages to stderr. A closed pipe ends the output, not the program.
//!
//! Names come from files of others. What a terminal would obey in them is made visible in messages, and
//! in results that go to a terminal; files and pipes get the exact bytes.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::path::Path;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use lawful_experiment::{Diagnostic, files, visible};

/// Prints results to stdout. A closed pipe (`| head`) is not an error; a full disk is.
pub(crate) fn data(text: &str) -> Result<(), Diagnostic> {
    let mut stdout = std::io::stdout().lock();
    let text = shown(text, stdout.is_terminal());
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Diagnostic::new(format!("cannot write to stdout: {error}"))
                .with_hint("the output is incomplete"))
        }
        _ => Ok(()),
    }
}

/// Returns a text as it is printed.
fn shown(text: &str, terminal: bool) -> Cow<'_, str> {
    if terminal { visible(text) } else { text.into() }
}

/// Prints a line to stderr. If stderr is closed, the program continues.
pub(crate) fn talk(line: impl Display) {
    let line = line.to_string();
    let _ = writeln!(std::io::stderr().lock(), "{}", visible(&line));
}

/// Does some work, and prints a line if it takes more than a second.
pub(crate) fn patiently<T>(line: &str, work: impl FnOnce() -> T) -> T {
    announced(Duration::from_secs(1), || talk(line), work)
}

/// Does some work, and calls `say` if it takes longer than this.
fn announced<T>(after: Duration, say: impl FnOnce() + Send, work: impl FnOnce() -> T) -> T {
    let (done, wait) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if wait.recv_timeout(after) == Err(RecvTimeoutError::Timeout) {
                say();
            }
        });
        let result = work();
        drop(done);
        result
    })
}

/// Returns what [`patiently`] says about an experiment file.
pub(crate) fn reading(experiment: &Path) -> &'static str {
    let inside = experiment.join("experiment.toml");
    let path = if experiment.is_dir() { &inside } else { experiment };
    let simulates = |text: String| text.lines().any(|line| line.trim() == "[data.simulate]");
    if files::read_text(path).is_ok_and(simulates) {
        "simulating the data …"
    } else {
        "reading the data …"
    }
}

/// Returns a path as it is typed in a shell: in quotes if it has spaces.
pub(crate) fn typed(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "-_./\\:+,@%=".contains(c);
    if text.chars().all(plain) { text } else { format!("\"{text}\"") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_changed_for_a_terminal_only() {
        let text = "\u{1b}[31mred\u{202e}\n";
        assert_eq!(shown(text, false), text);
        assert_eq!(shown(text, true), "\u{fffd}[31mred\u{fffd}\n");
    }

    #[test]
    fn long_work_is_announced_and_short_work_is_not() {
        let (said, heard) = std::sync::mpsc::channel();
        let work = || heard.recv().is_ok();
        assert!(announced(Duration::ZERO, || said.send(()).unwrap_or_default(), work));
        let hour = Duration::from_secs(3600);
        assert_eq!(announced(hour, || unreachable!("the work is done"), || 7), 7);
    }

    #[test]
    fn a_path_with_spaces_is_typed_in_quotes() {
        for (path, text) in [
            ("runs/a-1", "runs/a-1"),
            ("größe/x.toml", "größe/x.toml"),
            ("my runs/a", "\"my runs/a\""),
            ("a;b", "\"a;b\""),
        ] {
            assert_eq!(typed(Path::new(path)), text);
        }
    }
}
