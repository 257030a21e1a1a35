//! The text of an experiment file, and places in it.

use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::de::DeTable;

use super::section::Section;
use super::syntax;
use crate::diagnostic::{Diagnostic, Place};

/// An experiment file as text.
#[derive(Debug)]
pub(crate) struct Source {
    file: PathBuf,
    text: String,
}

impl Source {
    pub(crate) fn new(file: &Path, text: String) -> Self {
        Self { file: file.to_owned(), text }
    }

    /// The path as the user wrote it.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Reads the text as TOML without checking its keys.
    pub(crate) fn table(&self) -> Result<toml::Table, Diagnostic> {
        self.text.parse().map_err(|error| syntax::explain(self, &error))
    }

    /// Reads the text as TOML.
    pub(crate) fn parse(&self) -> Result<Section<'_>, Diagnostic> {
        match DeTable::parse(&self.text) {
            Ok(table) => Ok(Section::top(self, table.into_inner())),
            Err(error) => Err(syntax::explain(self, &error)),
        }
    }

    /// Returns the place of these bytes.
    pub(crate) fn place(&self, span: Range<usize>) -> Place {
        Place::within(&self.file, &self.text, span)
    }

    /// Returns an error at these bytes of the text.
    pub(crate) fn error(&self, span: Range<usize>, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(message).at(self.place(span))
    }

    /// Returns an error of the file as a whole.
    pub(crate) fn lacks(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(message).at(Place::file(&self.file))
    }

    /// Returns the place of the bytes `inner` of a text whose token is at `token`.
    ///
    /// If the token has escapes, the whole token is returned.
    pub(crate) fn inside(
        &self,
        token: Range<usize>,
        value: &str,
        inner: Range<usize>,
    ) -> Range<usize> {
        let raw = &self.text[token.clone()];
        let quotes = ["\"\"\"\n", "'''\n", "\"\"\"\r\n", "'''\r\n", "\"\"\"", "'''", "\"", "'"];
        let opening = quotes.iter().find(|&&quote| raw.starts_with(quote)).map_or(0, |q| q.len());
        if raw.get(opening..).is_some_and(|rest| rest.starts_with(value)) {
            let start = token.start + opening;
            start + inner.start..start + inner.end
        } else {
            token
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_a_text_is_found_whatever_the_quotes() {
        for (raw, found) in [
            ("\"x + y\"", "y"),
            ("'x + y'", "y"),
            ("\"\"\"x + y\"\"\"", "y"),
            ("'''\nx + y'''", "y"),
            // With an escape in it, the whole token.
            ("\"x + \\u0079\"", "\"x + \\u0079\""),
        ] {
            let source = Source::new(Path::new("a.toml"), format!("a = {raw}\n"));
            let token = 4..4 + raw.len();
            let span = source.inside(token, "x + y", 4..5);
            assert_eq!(&source.text[span], found, "{raw}");
        }
    }
}
