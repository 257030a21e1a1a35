//! Text that is not TOML: the parser's findings in the words of someone who never read its grammar.

use toml::de::Error;

use super::source::Source;
use crate::diagnostic::Diagnostic;

/// The parser's error as a message with a hint.
pub(super) fn explain(source: &Source, text: &str, error: &Error) -> Diagnostic {
    let span = error.span().unwrap_or(0..0);
    let found = text.get(span.clone()).unwrap_or_default().trim();
    let next = text.get(span.start..).and_then(|rest| rest.chars().next());
    let (message, hint) = if text.trim_start().starts_with('{') {
        let hint = "write lines `key = value` below headers `[section]`";
        ("this is JSON, and an experiment file is TOML".to_owned(), hint.to_owned())
    } else {
        words(error.message(), found, next)
    };
    let diagnostic = source.error(span, message);
    if hint.is_empty() { diagnostic } else { diagnostic.with_hint(hint) }
}

/// What is wrong and what to write, from the parser's message, the text it stumbled over and the
/// character that stands there.
fn words(message: &str, found: &str, next: Option<char>) -> (String, String) {
    let begins = |start: &str| message.starts_with(start);
    let (message, hint) = if begins("string values must be quoted") {
        match found {
            "" => ("a value is missing after `=`", "a text is written in quotes: `\"…\"`".into()),
            _ if found.contains(['“', '”', '„', '‘', '’']) => {
                ("these quotes have no meaning in TOML", "use straight quotes: `\"…\"`".into())
            }
            _ if found.parse::<f64>().is_ok() || found.contains(' ') => {
                ("this is not a value", "values in a list are separated by `,`".into())
            }
            _ => ("a text needs quotes", format!("write `\"{found}\"`")),
        }
    } else if begins("duplicate key") {
        return (
            format!("`{found}` is given twice"),
            "keep one of them; of several laws, each begins with `[[law]]`".into(),
        );
    } else if begins("unclosed table") {
        ("the bracket `[` of this header is never closed", "write `]` at its end".into())
    } else if begins("invalid basic string") || begins("invalid literal string") {
        ("this text is never closed", "end it with the quote that it begins with".into())
    } else if begins("unclosed array") || begins("unclosed inline table") {
        ("a list or a table is never closed", "a quote or a closing bracket is missing".into())
    } else if begins("missing comma") || begins("extra assignment") {
        ("a `,` or a closing bracket is missing before this", String::new())
    } else if begins("unexpected key or value") && next == Some(',') {
        (
            "`,` has no meaning here",
            "numbers have a decimal point: `1.5`; lists have brackets".into(),
        )
    } else if begins("unexpected key or value") {
        (
            "one more thing in this line than can be understood",
            "write one `key = value` per line".into(),
        )
    } else if begins("missing escaped value") || begins("invalid escape") {
        (
            "`\\` begins an escape that does not exist",
            "use `/` in paths, or single quotes: `'C:\\data'`".into(),
        )
    } else if begins("invalid mantissa") || begins("invalid fraction") {
        ("a number needs digits on both sides of its point", "write `0.5` or `5.0`".into())
    } else if begins("unexpected leading zero") {
        ("a number cannot begin with a superfluous 0", "leave it out".into())
    } else if begins("key with no value") {
        ("`=` is missing", "write `key = value`, or `[section]` for a header".into())
    } else if begins("invalid boolean") {
        ("this is not a value", "write `true` or `false`, in small letters".into())
    } else if begins("invalid unquoted key") {
        (
            "letters like these need quotes in a key",
            "write the whole key in quotes: `\"…\" = …`".into(),
        )
    } else if begins("cannot recurse") {
        ("brackets are nested too deeply", String::new())
    } else {
        return (format!("this is not TOML: {message}"), String::new());
    };
    (message.to_owned(), hint)
}
