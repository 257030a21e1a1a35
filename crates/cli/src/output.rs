//! stdout is data, stderr is talk; a reader that goes away ends neither.

use std::fmt::Display;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use lawful_experiment::Diagnostic;

/// Prints data as they are. A reader that has seen enough (`| head`) is no error; a full disk is.
pub(crate) fn data(text: &str) -> Result<(), Diagnostic> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Diagnostic::new(format!("cannot write to stdout: {error}"))
                .with_hint("the output is not complete"))
        }
        _ => Ok(()),
    }
}

/// Says a line. If nobody listens any more, the work goes on.
pub(crate) fn talk(line: impl Display) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// A path as one types it in a shell: in quotes if it has spaces.
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
