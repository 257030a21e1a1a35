//! Where a cell is in its file.

use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::diagnostic::{Diagnostic, Place};

/// The text of a CSV file.
#[derive(Debug)]
pub(super) struct Sheet {
    path: PathBuf,
    text: String,
    separator: u8,
}

/// A row of a file: where its record begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Start {
    /// Number of the line, from 1.
    pub(super) line: u64,
    /// Number of bytes before it.
    byte: usize,
}

impl Sheet {
    pub(super) fn new(path: &Path, mut text: String, separator: u8) -> Self {
        // Some spreadsheets still end lines as old Macintosh computers did.
        if !text.contains('\n') {
            text = text.replace('\r', "\n");
        }
        Self { path: path.to_owned(), text, separator }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn separator(&self) -> u8 {
        self.separator
    }

    /// Reads the records one by one, with any number of cells each.
    pub(super) fn reader(&self) -> csv::Reader<&[u8]> {
        csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(self.separator)
            .from_reader(self.text.as_bytes())
    }

    /// Returns where a record begins, without the empty lines before it, which the reader includes.
    pub(super) fn start(&self, record: &csv::StringRecord) -> Start {
        let (line, byte) = record.position().map_or((1, 0), |at| (at.line(), at.byte()));
        let byte = usize::try_from(byte).unwrap_or(self.text.len()).min(self.text.len());
        let empty = &self.text.as_bytes()[byte..];
        let skipped = empty.iter().take_while(|&&c| c == b'\n' || c == b'\r').count();
        let newlines: u64 = empty[..skipped].iter().map(|&c| u64::from(c == b'\n')).sum();
        Start { line: line + newlines, byte: byte + skipped }
    }

    /// Returns an error at a cell of a row; beyond the last cell, at the end of the row.
    pub(super) fn error(&self, row: Start, cell: usize, message: impl Into<String>) -> Diagnostic {
        let span = self.cell(row, cell);
        Diagnostic::new(message).at(Place::within(&self.path, &self.text, span))
    }

    /// Returns an error of a whole row.
    pub(super) fn row_error(&self, row: Start, message: impl Into<String>) -> Diagnostic {
        let line = self.text[row.byte..].split(['\n', '\r']).next().unwrap_or_default();
        let span = row.byte..row.byte + line.len();
        Diagnostic::new(message).at(Place::within(&self.path, &self.text, span))
    }

    /// Returns an error of the whole file.
    pub(super) fn file_error(&self, what: &str) -> Diagnostic {
        Diagnostic::new(format!("`{}` {what}", self.path.display())).at(Place::file(&self.path))
    }

    /// Returns the bytes of a cell, without spaces around it.
    fn cell(&self, row: Start, cell: usize) -> Range<usize> {
        let bytes = self.text.as_bytes();
        let (mut start, mut number, mut quoted) = (row.byte, 0, false);
        let mut end = row.byte;
        while end < bytes.len() {
            match bytes[end] {
                b'"' => quoted = !quoted,
                b'\n' | b'\r' if !quoted => break,
                byte if byte == self.separator && !quoted => {
                    if number == cell {
                        break;
                    }
                    (start, number) = (end + 1, number + 1);
                }
                _ => {}
            }
            end += 1;
        }
        if number < cell {
            return end..end;
        }
        let text = &self.text[start..end];
        let first = start + text.len() - text.trim_start().len();
        first..first + text.trim().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_found_behind_quotes_spaces_and_empty_lines() {
        let text = "t,x\n\n1, 2.5 ,\"a,\"\"b\",c\n3\n";
        let sheet = Sheet::new(Path::new("a.csv"), text.to_owned(), b',');
        let mut reader = sheet.reader();
        let mut record = csv::StringRecord::new();
        let mut starts = Vec::new();
        while reader.read_record(&mut record).unwrap() {
            starts.push(sheet.start(&record));
        }
        let lines: Vec<u64> = starts.iter().map(|start| start.line).collect();
        assert_eq!(lines, [1, 3, 4]);
        let found = |cell| &text[sheet.cell(starts[1], cell)];
        assert_eq!([found(0), found(1), found(2), found(3)], ["1", "2.5", "\"a,\"\"b\"", "c"]);
        assert_eq!(sheet.cell(starts[2], 1), text.len() - 1..text.len() - 1);
    }
}
