//! A value of an experiment file, with a reader for each type.

use std::ops::{Range, RangeInclusive};

use toml::Spanned;
use toml::de::{DeInteger, DeValue};

use super::moment::Moment;
use super::section::{Section, join};
use super::source::Source;
use crate::diagnostic::{Diagnostic, Place};
use crate::phrases::meant;

/// A value with its key, for messages, and its place in the file.
#[derive(Debug)]
pub(crate) struct Value<'s> {
    source: &'s Source,
    /// The section's path.
    path: String,
    key: String,
    /// Whether it is an entry of the list of this key.
    entry: bool,
    span: Range<usize>,
    content: DeValue<'s>,
}

/// A text with its place in the file.
#[derive(Debug, Clone)]
pub(crate) struct Text<'s> {
    source: &'s Source,
    span: Range<usize>,
    /// The text itself.
    pub(crate) value: String,
}

/// Which numbers are allowed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    words: &'static str,
    hold: fn(f64) -> bool,
}

/// Any finite number.
pub(crate) const FINITE: Bounds = Bounds { words: "a finite number", hold: |_| true };
/// Above 0.
pub(crate) const POSITIVE: Bounds = Bounds { words: "a number above 0", hold: |x| x > 0.0 };
/// At least 0.
pub(crate) const NOT_NEGATIVE: Bounds =
    Bounds { words: "a number of at least 0", hold: |x| x >= 0.0 };
/// At least 1.
pub(crate) const AT_LEAST_ONE: Bounds =
    Bounds { words: "a number of at least 1", hold: |x| x >= 1.0 };
/// From 0 to below 1.
pub(crate) const BELOW_ONE: Bounds =
    Bounds { words: "a number from 0 to below 1", hold: |x| (0.0..1.0).contains(&x) };
/// Between 0 and 1, neither included.
pub(crate) const BETWEEN: Bounds =
    Bounds { words: "a number between 0 and 1", hold: |x| x > 0.0 && x < 1.0 };
/// From 0 to 1.
pub(crate) const SHARE: Bounds =
    Bounds { words: "a number from 0 to 1", hold: |x| (0.0..=1.0).contains(&x) };
/// Above 0, at most 1.
pub(crate) const FACTOR: Bounds =
    Bounds { words: "a number above 0, at most 1", hold: |x| x > 0.0 && x <= 1.0 };

/// Largest whole number, which a float represents exactly: 2⁵³.
pub(crate) const LARGEST: u64 = 1 << 53;

impl<'s> Value<'s> {
    pub(super) fn new(
        source: &'s Source,
        path: String,
        key: String,
        value: Spanned<DeValue<'s>>,
    ) -> Self {
        Self { source, path, key, entry: false, span: value.span(), content: value.into_inner() }
    }

    /// Returns an error at this value.
    pub(crate) fn error(&self, message: impl Into<String>) -> Diagnostic {
        self.source.error(self.span.clone(), message)
    }

    /// Returns the place of this value.
    pub(crate) fn mark(&self) -> Mark<'s> {
        Mark { source: self.source, span: self.span.clone() }
    }

    /// "`seed` in [training] is the text "one", but must be a whole number".
    pub(crate) fn wrong(&self, needed: &str, example: &str) -> Diagnostic {
        let (key, found) = (&self.key, describe(&self.content));
        let home = match self.path.as_str() {
            "" => String::new(),
            "law" => " in [[law]]".to_owned(),
            path => format!(" in [{path}]"),
        };
        let (subject, example) = if self.entry {
            (format!("an entry of `{key}`"), example.to_owned())
        } else {
            (format!("`{key}`"), format!("{key} = {example}"))
        };
        self.error(format!("{subject}{home} is {found}, but must be {needed}"))
            .with_hint(format!("for example `{example}`"))
    }

    /// Returns its key.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// Returns whether it is a table.
    pub(crate) fn is_table(&self) -> bool {
        matches!(self.content, DeValue::Table(_))
    }

    /// Returns whether it is a list.
    pub(crate) fn is_list(&self) -> bool {
        matches!(self.content, DeValue::Array(_))
    }

    /// Returns whether it is a text.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self.content, DeValue::String(_))
    }

    /// Reads a finite number in these bounds, with or without a decimal point.
    pub(crate) fn number(&self, bounds: Bounds, example: &str) -> Result<f64, Diagnostic> {
        let number = as_number(&self.content).filter(|&x| x.is_finite() && (bounds.hold)(x));
        number.ok_or_else(|| self.wrong(bounds.words, example))
    }

    /// Reads a time: a finite number, or a text of its digits.
    pub(crate) fn moment(&self, example: &str) -> Result<Moment<'s>, Diagnostic> {
        let digits = match &self.content {
            DeValue::String(text) => text.trim().to_owned(),
            DeValue::Integer(number) if number.radix() == 10 => number.as_str().to_owned(),
            DeValue::Float(number) => number.as_str().to_owned(),
            _ => self.number(FINITE, example)?.to_string(),
        };
        let number = digits.parse().ok().filter(|number: &f64| number.is_finite());
        let number = number.ok_or_else(|| self.wrong(FINITE.words, example))?;
        Ok(Moment { number, digits, mark: self.mark() })
    }

    /// Reads a whole number in this range; `1e4` is one, too.
    pub(crate) fn whole(
        &self,
        range: RangeInclusive<u64>,
        example: &str,
    ) -> Result<u64, Diagnostic> {
        let whole = match &self.content {
            DeValue::Integer(integer) => as_integer(integer),
            value => as_number(value).and_then(exact),
        };
        whole.filter(|whole| range.contains(whole)).ok_or_else(|| {
            let (least, most) = range.into_inner();
            let too_large = as_number(&self.content).is_some_and(|x| x > LARGEST as f64);
            let needed = match most {
                LARGEST if !too_large => format!("a whole number of at least {least}"),
                _ => format!("a whole number from {least} to {most}"),
            };
            self.wrong(&needed, example)
        })
    }

    /// Reads a whole number in this range as a `usize`.
    pub(crate) fn count(
        &self,
        range: RangeInclusive<u64>,
        example: &str,
    ) -> Result<usize, Diagnostic> {
        let whole = self.whole(range, example)?;
        usize::try_from(whole).map_err(|_| self.wrong("smaller on this machine", example))
    }

    /// Reads `true` or `false`.
    pub(crate) fn flag(&self) -> Result<bool, Diagnostic> {
        match self.content {
            DeValue::Boolean(flag) => Ok(flag),
            _ => Err(self.wrong("`true` or `false`", "true")),
        }
    }

    /// Reads a text.
    pub(crate) fn text(&self, example: &str) -> Result<Text<'s>, Diagnostic> {
        match &self.content {
            DeValue::String(text) => {
                let (source, span) = (self.source, self.span.clone());
                Ok(Text { source, span, value: text.clone().into_owned() })
            }
            _ => Err(self.wrong("a text", &format!("\"{example}\""))),
        }
    }

    /// Reads one of these words; `noun` names them in messages.
    pub(crate) fn word<T: Copy>(&self, noun: &str, words: &[(&str, T)]) -> Result<T, Diagnostic> {
        let example = words.first().map_or("", |(word, _)| word);
        let text = self.text(example)?;
        let found = words.iter().find(|(word, _)| *word == text.value);
        found.map(|&(_, meaning)| meaning).ok_or_else(|| {
            let known = words.iter().map(|(word, _)| *word);
            let hint = meant(&text.value, known, &format!("`{}` may be", self.key));
            self.error(format!("unknown {noun} `{}`", text.value)).with_hint(hint)
        })
    }

    /// Returns the elements of a list.
    pub(crate) fn list(self, needed: &str, example: &str) -> Result<Vec<Self>, Diagnostic> {
        if !self.is_list() {
            return Err(self.wrong(needed, example));
        }
        let Self { source, path, key, content, .. } = self;
        let DeValue::Array(elements) = content else { return Ok(Vec::new()) };
        let entry =
            |value| Self { entry: true, ..Self::new(source, path.clone(), key.clone(), value) };
        Ok(elements.into_iter().map(entry).collect())
    }

    /// Returns the elements of a list, or the value itself if it is not a list.
    pub(crate) fn one_or_more(self) -> Result<Vec<Self>, Diagnostic> {
        if self.is_list() { self.list("", "") } else { Ok(vec![self]) }
    }

    /// Reads a table that has its own header.
    pub(crate) fn section(self) -> Result<Section<'s>, Diagnostic> {
        let title = join(&self.path, &self.key);
        self.into_table("a table")
            .map_err(|error| error.with_hint(format!("write its keys below a line `[{title}]`")))
    }

    /// Reads a table; `example` is for messages.
    pub(crate) fn table(self, example: &str) -> Result<Section<'s>, Diagnostic> {
        self.table_or("a table", example)
    }

    /// Reads a table where another type is possible, too; `needed` names both in messages.
    pub(crate) fn table_or(self, needed: &str, example: &str) -> Result<Section<'s>, Diagnostic> {
        if self.is_table() { self.into_table(needed) } else { Err(self.wrong(needed, example)) }
    }

    fn into_table(self, needed: &str) -> Result<Section<'s>, Diagnostic> {
        match self.content {
            DeValue::Table(entries) => {
                Ok(Section::new(self.source, join(&self.path, &self.key), self.span, entries))
            }
            _ => Err(self.wrong(needed, "{ … }")),
        }
    }
}

/// A place in the file that outlives its value.
#[derive(Debug, Clone)]
pub(crate) struct Mark<'s> {
    source: &'s Source,
    span: Range<usize>,
}

impl<'s> Mark<'s> {
    pub(super) fn new(source: &'s Source, span: Range<usize>) -> Self {
        Self { source, span }
    }

    /// Returns the place.
    pub(crate) fn place(&self) -> Place {
        self.source.place(self.span.clone())
    }

    /// Returns an error at this place.
    pub(crate) fn error(&self, message: impl Into<String>) -> Diagnostic {
        self.source.error(self.span.clone(), message)
    }
}

impl Text<'_> {
    /// Returns an error at this text.
    pub(crate) fn error(&self, message: impl Into<String>) -> Diagnostic {
        self.source.error(self.span.clone(), message)
    }

    /// Returns an error at these bytes of the text.
    pub(crate) fn error_at(&self, inner: Range<usize>, message: impl Into<String>) -> Diagnostic {
        let span = self.source.inside(self.span.clone(), &self.value, inner);
        self.source.error(span, message)
    }
}

/// Describes a value in words.
fn describe(value: &DeValue) -> String {
    match value {
        DeValue::String(text) if text.chars().count() <= 40 => format!("the text \"{text}\""),
        DeValue::String(_) => "a text".to_owned(),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(flag) => format!("`{flag}`"),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

fn as_number(value: &DeValue) -> Option<f64> {
    match value {
        DeValue::Float(number) => number.as_str().parse().ok(),
        DeValue::Integer(number) if number.radix() == 10 => number.as_str().parse().ok(),
        DeValue::Integer(number) => as_integer(number).map(|whole| whole as f64),
        _ => None,
    }
}

fn as_integer(integer: &DeInteger) -> Option<u64> {
    u64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

/// Returns the whole number that a float is equal to.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be a whole number from 0 to 2⁵³"
)]
fn exact(number: f64) -> Option<u64> {
    let whole = number.fract().abs() < f64::MIN_POSITIVE;
    (whole && (0.0..=LARGEST as f64).contains(&number)).then_some(number as u64)
}
