//! A table of an experiment file, from which keys are taken one by one.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::source::Source;
use super::synonyms::elsewhere;
use super::value::{Mark, Value};
use crate::diagnostic::Diagnostic;
use crate::phrases::{listed, meant};
use crate::toml_quote::key as quote;

/// A table with its name in messages and its place in the file.
#[derive(Debug)]
pub(crate) struct Section<'s> {
    source: &'s Source,
    /// `training`, `data.simulate`; empty at the top of the file.
    path: String,
    /// The header or the inline table; `None` if the file has no such table.
    span: Option<Range<usize>>,
    entries: DeTable<'s>,
}

/// A key whose name the user chose, such as that of a constant.
#[derive(Debug, Clone)]
pub(crate) struct Name<'s> {
    source: &'s Source,
    span: Range<usize>,
    /// The name itself.
    pub(crate) text: String,
}

impl Name<'_> {
    /// Returns an error at this name.
    pub(crate) fn error(&self, message: impl Into<String>) -> Diagnostic {
        self.source.error(self.span.clone(), message)
    }
}

impl<'s> Section<'s> {
    /// The whole file.
    pub(crate) fn top(source: &'s Source, entries: DeTable<'s>) -> Self {
        Self { source, path: String::new(), span: None, entries }
    }

    /// The table that a value is.
    pub(crate) fn new(
        source: &'s Source,
        path: String,
        span: Range<usize>,
        entries: DeTable<'s>,
    ) -> Self {
        Self { source, path, span: Some(span), entries }
    }

    /// The file.
    pub(crate) fn source(&self) -> &'s Source {
        self.source
    }

    /// Returns `[training]`, or nothing at the top of the file.
    pub(crate) fn title(&self) -> String {
        match self.path.as_str() {
            "" => String::new(),
            "law" => "[[law]]".to_owned(),
            path => format!("[{path}]"),
        }
    }

    /// Returns whether the file has this key.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// Returns the value of this key if it is a text.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        match self.entries.get(key)?.get_ref() {
            DeValue::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the place of the value of this key.
    pub(crate) fn peek(&self, key: &str) -> Option<Mark<'s>> {
        self.entries.get(key).map(|value| Mark::new(self.source, value.span()))
    }

    /// Returns an error for a key that is not one of these.
    pub(crate) fn only(&self, known: &[&str]) -> Result<(), Diagnostic> {
        let unknown =
            self.entries.iter().find(|(key, _)| !known.iter().any(|&word| word == key.get_ref()));
        let Some((key, value)) = unknown else { return Ok(()) };
        let word = key.get_ref().as_ref();
        let message = match (self.path.as_str(), value.get_ref()) {
            ("", DeValue::Table(_)) => format!("unknown section `[{word}]`"),
            ("", DeValue::Array(_)) => format!("unknown section `[[{word}]]`"),
            ("", _) => format!("unknown key `{word}` at the top of the file"),
            _ => format!("unknown key `{word}` in {}", self.title()),
        };
        let hint = elsewhere(word, known)
            .unwrap_or_else(|| meant(word, known.iter().copied(), "the keys here are"));
        Err(self.source.error(key.span(), message).with_hint(hint))
    }

    /// Removes a key and returns its value.
    pub(crate) fn take(&mut self, key: &str) -> Option<Value<'s>> {
        let (key, value) = self.entries.remove_entry(key)?;
        let path = self.path.clone();
        Some(Value::new(self.source, path, key.into_inner().into_owned(), value))
    }

    /// Removes a required key and returns its value; `why` ends the sentence "… is needed".
    pub(crate) fn need(
        &mut self,
        key: &str,
        why: &str,
        example: &str,
    ) -> Result<Value<'s>, Diagnostic> {
        self.take(key)
            .ok_or_else(|| self.lacks(key, why).with_hint(format!("write `{key} = {example}`")))
    }

    /// Returns the error of a required key that is missing.
    pub(crate) fn lacks(&self, key: &str, why: &str) -> Diagnostic {
        let title = self.title();
        let gap = if title.is_empty() { "" } else { " " };
        self.error(format!("`{title}{gap}{key}` is needed {why}"))
    }

    /// Returns an error of the table as a whole.
    pub(crate) fn error(&self, message: impl Into<String>) -> Diagnostic {
        match &self.span {
            Some(span) => self.source.error(span.clone(), message),
            None => self.source.lacks(message),
        }
    }

    /// Removes a table and returns it, or an empty one if the file does not have it.
    pub(crate) fn section(&mut self, key: &str, known: &[&str]) -> Result<Self, Diagnostic> {
        let section = match self.take(key) {
            Some(value) => value.section()?,
            None => Self {
                source: self.source,
                path: join(&self.path, key),
                span: None,
                entries: DeTable::new(),
            },
        };
        section.only(known)?;
        Ok(section)
    }

    /// Returns all remaining entries, for tables whose keys are the user's names.
    pub(crate) fn rest(self) -> Vec<(Name<'s>, Value<'s>)> {
        let Self { source, path, entries, .. } = self;
        let named = entries.into_iter().map(|(key, value)| {
            let span = key.span();
            let text = key.into_inner().into_owned();
            let value = Value::new(source, path.clone(), text.clone(), value);
            (Name { source, span, text }, value)
        });
        named.collect()
    }

    /// Returns the values of these names, in their order; other names are errors.
    pub(crate) fn some_of(
        mut self,
        names: &[String],
        noun: &str,
    ) -> Result<Vec<(String, Value<'s>)>, Diagnostic> {
        self.only_names(names, noun)?;
        let found = names.iter().filter_map(|name| Some((name.clone(), self.take(name)?)));
        Ok(found.collect())
    }

    /// Returns an error for a key that is not one of the user's names.
    fn only_names(&self, names: &[String], noun: &str) -> Result<(), Diagnostic> {
        for (key, _) in &self.entries {
            let word = key.get_ref().as_ref();
            if !names.iter().any(|name| name == word) {
                let known = names.iter().map(String::as_str);
                let message = format!("unknown {noun} `{word}` in {}", self.title());
                let hint = if names.is_empty() {
                    format!("[system] has no {noun}s")
                } else {
                    meant(word, known, &format!("the {noun}s are"))
                };
                return Err(self.source.error(key.span(), message).with_hint(hint));
            }
        }
        Ok(())
    }

    /// Returns one value for each of these names, in their order; other names and missing ones are
    /// errors.
    pub(crate) fn one_each(
        mut self,
        names: &[String],
        noun: &str,
        example: &str,
    ) -> Result<Vec<Value<'s>>, Diagnostic> {
        self.only_names(names, noun)?;
        let title = self.title();
        let values = names.iter().map(|name| {
            self.take(name).ok_or_else(|| {
                self.error(format!("{title} lacks the {noun} `{name}`")).with_hint(format!(
                    "it needs one for each of {}: add `{} = {example}`",
                    listed(names.iter().map(String::as_str)),
                    quote(name)
                ))
            })
        });
        values.collect()
    }
}

/// `[data]` and `simulate` make `data.simulate`.
pub(super) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}
