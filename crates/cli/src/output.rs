//! Results go to stdout, messages to stderr. A closed pipe ends the output, not the program.

use std::fmt::Display;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use lawful_experiment::Diagnostic;

/// Prints results to stdout. A closed pipe (`| head`) is not an error; a full disk is.
pub(crate) fn data(text: &str) -> Result<(), Diagnostic> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Diagnostic::new(format!("cannot write to stdout: {error}"))
                .with_hint("the output is incomplete"))
        }
        _ => Ok(()),
    }
}

/// Prints a line to stderr. If stderr is closed, the program continues.
pub(crate) fn talk(line: impl Display) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
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
