//! A time in the experiment file, whose digits count where times are counted from an origin.

use lawful::law::Expression;
use lawful::{Law, Vocabulary};

use super::complete;
use super::source::Source;
use super::value::Mark;
use crate::diagnostic::Diagnostic;
use crate::table::TimeOrigin;

/// A time as written: a number, or a text of its digits.
#[derive(Debug)]
pub(crate) struct Moment<'s> {
    pub(super) number: f64,
    pub(super) digits: String,
    pub(super) mark: Mark<'s>,
}

impl Moment<'_> {
    /// Returns the time since the origin.
    pub(crate) fn since(&self, origin: &TimeOrigin) -> Result<f64, Diagnostic> {
        let Some(from) = origin.text() else { return Ok(self.number) };
        origin.read(&self.digits).ok_or_else(|| {
            let message = format!("this time cannot be counted from {from}");
            self.mark.error(message).with_hint("write it in plain digits, like those of the data")
        })
    }

    /// Returns its place.
    pub(crate) fn mark(&self) -> &Mark<'_> {
        &self.mark
    }

    /// The key's value: a number, or a text where it would lose digits.
    pub(crate) fn write(&self, origin: &TimeOrigin) -> complete::Value {
        if origin.text().is_none() {
            return self.number.into();
        }
        let whole = self.digits.parse::<i64>();
        whole.map_or_else(|_| self.digits.as_str().into(), complete::Value::Integer)
    }
}

/// Refuses a law with `t` where times are counted from an origin that the file does not name.
pub(super) fn check_law(parts: &[Law], mark: &Mark, origin: &str) -> Result<(), Diagnostic> {
    match parts.iter().find(|part| part.depends_on_time()) {
        Some(law) => Err(counted(mark.error(uses(&format!("the law `{}`", law.name()))), origin)),
        None => Ok(()),
    }
}

/// Refuses known rates with `t` likewise.
pub(super) fn check_known(
    known: &[(String, String)],
    vocabulary: &Vocabulary,
    source: &Source,
    origin: &str,
) -> Result<(), Diagnostic> {
    let depends =
        |text: &str| Expression::parse(text, vocabulary).is_ok_and(|e| e.depends_on_time());
    match known.iter().find(|(_, text)| depends(text)) {
        Some((name, _)) => {
            Err(counted(source.lacks(uses(&format!("the known rate of `{name}`"))), origin))
        }
        None => Ok(()),
    }
}

fn uses(what: &str) -> String {
    format!("{what} uses `t`, but the times of the data have more digits than double precision")
}

fn counted(error: Diagnostic, origin: &str) -> Diagnostic {
    error.with_hint(format!(
        "write `time-origin = {origin:?}` in [data]: `t` in laws and known rates is then counted from it"
    ))
}
