//! Mistakes in formulas, shown inside the text of the experiment file.

use lawful::law::{ErrorKind, LawError};

use super::value::Text;
use crate::diagnostic::Diagnostic;

/// The error of a formula, which is `subject` in the message ("the law `mass`").
pub(super) fn explain(text: &Text, subject: &str, error: &LawError) -> Diagnostic {
    let message = match error.kind() {
        ErrorKind::UnknownName(name) => format!("{subject} uses `{name}`, which is not known"),
        // It names the law itself.
        ErrorKind::IndependentOfState { .. } => error.to_string(),
        _ => format!("{subject} cannot be read: {error}"),
    };
    with_hint(text.error_at(error.span(), message), error)
}

/// Adds what the law's reader would write instead.
pub(super) fn with_hint(diagnostic: Diagnostic, error: &LawError) -> Diagnostic {
    match (error.hint(), error.kind()) {
        (Some(hint), _) => diagnostic.with_hint(hint),
        (None, ErrorKind::IndependentOfState { .. }) => {
            diagnostic.with_hint("a law says something about the state: name a variable of it")
        }
        (None, ErrorKind::MissingRelation) => {
            diagnostic.with_hint("write `==`, `<=` or `>=` between two expressions")
        }
        (None, _) => diagnostic,
    }
}
