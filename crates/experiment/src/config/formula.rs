//! Mistakes in formulas, shown inside the text of the experiment file.

use lawful::law::{ErrorKind, LawError};

use super::value::Text;
use crate::diagnostic::Diagnostic;

/// Returns the error of a formula; `subject` names it in the message ("the law `mass`").
pub(super) fn explain(text: &Text, subject: &str, error: &LawError) -> Diagnostic {
    let message = match error.kind() {
        ErrorKind::UnknownName(name) => format!("{subject} uses `{name}`, which is not known"),
        // It names the law itself.
        ErrorKind::IndependentOfState { .. } => error.to_string(),
        _ => format!("{subject} cannot be read: {error}"),
    };
    let located = text.error_at(error.span(), message).in_formula(&text.value, error.span());
    with_hint(located, error)
}

/// Adds the hint of the parser of laws, or one for this kind of error.
pub(super) fn with_hint(diagnostic: Diagnostic, error: &LawError) -> Diagnostic {
    match (error.hint(), error.kind()) {
        (Some(hint), _) => diagnostic.with_hint(hint),
        (None, ErrorKind::IndependentOfState { .. }) => {
            diagnostic.with_hint("a law must depend on the state: use a state variable in it")
        }
        (None, ErrorKind::MissingRelation) => {
            diagnostic.with_hint("write `==`, `<=` or `>=` between two expressions")
        }
        (None, _) => diagnostic,
    }
}
