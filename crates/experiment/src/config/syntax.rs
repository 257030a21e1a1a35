//! Text that is not TOML, explained from the text itself.
//!
//! The parser's own messages need knowledge of the grammar, and change with its version. [`scanner`]
//! reads the text again and recognises common mistakes. For all others the parser's message is shown.

mod scalar;
mod scanner;

use std::ops::Range;

use toml::de::Error;

use super::source::Source;
use crate::diagnostic::Diagnostic;

/// Returns the parser's error as a message with a hint.
pub(super) fn explain(source: &Source, error: &Error) -> Diagnostic {
    let span = error.span().unwrap_or(0..0);
    match scanner::first_mistake(source.text()) {
        // The parser stops at the first error; a mistake found later is another one.
        Some(mistake) if error.span().is_none() || mistake.span.start <= span.end => {
            let diagnostic = source.error(mistake.span, mistake.message);
            if mistake.hint.is_empty() { diagnostic } else { diagnostic.with_hint(mistake.hint) }
        }
        _ => source.error(span, format!("this is not TOML: {}", error.message())),
    }
}

/// An error in a text, with a hint.
#[derive(Debug, PartialEq, Eq)]
struct Mistake {
    span: Range<usize>,
    message: String,
    /// Empty if there is no hint.
    hint: String,
}

impl Mistake {
    fn new(span: Range<usize>, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { span, message: message.into(), hint: hint.into() }
    }
}

/// Quotes of word processors.
const CURVED_QUOTES: [char; 7] = ['“', '”', '„', '‘', '’', '«', '»'];
