//! Text that is not TOML, explained from the text itself.
//!
//! The parser's own messages are sentences for those who know its grammar, and change with its
//! version. [`scanner`] reads the text again, and knows the mistakes that people make. The parser's
//! message is shown for the others.

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
        // The parser stops at the first mistake; what comes later is another one, or none.
        Some(mistake) if error.span().is_none() || mistake.span.start <= span.end => {
            let diagnostic = source.error(mistake.span, mistake.message);
            if mistake.hint.is_empty() { diagnostic } else { diagnostic.with_hint(mistake.hint) }
        }
        _ => source.error(span, format!("this is not TOML: {}", error.message())),
    }
}

/// What is wrong in a text, and what to write instead.
#[derive(Debug, PartialEq, Eq)]
struct Mistake {
    span: Range<usize>,
    message: String,
    /// Empty if there is nothing to add.
    hint: String,
}

impl Mistake {
    fn new(span: Range<usize>, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { span, message: message.into(), hint: hint.into() }
    }
}

/// Quotes of word processors.
const CURVED_QUOTES: [char; 7] = ['“', '”', '„', '‘', '’', '«', '»'];
