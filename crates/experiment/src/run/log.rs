//! `log.csv`: one row per iteration, written during training.

use std::fmt::{self, Write};
use std::fs::File;
use std::path::Path;

use lawful::{Event, Row, Verdict};

use crate::csv_writer::CsvWriter;
use crate::diagnostic::Diagnostic;
use crate::files;

/// The growing log of a run.
pub struct Log {
    path: String,
    file: csv::Writer<File>,
    /// The text of a cell.
    cell: String,
}

/// Columns before those of the laws.
const FIRST: [&str; 5] = ["iteration", "value", "fit", "loss", "violation"];
/// Columns after those of the laws.
const LAST: [&str; 3] = ["rate-factor", "verdict", "event"];

impl Log {
    /// Creates a log with its header.
    pub fn create(path: &Path, laws: &[String]) -> Result<Self, Diagnostic> {
        let mut header = CsvWriter::new();
        for column in FIRST {
            header.cell(column);
        }
        for what in ["violation", "weight"] {
            for law in laws {
                header.cell(format!("{what}: {law}"));
            }
        }
        for column in LAST {
            header.cell(column);
        }
        header.end_row();
        files::write(path, header.into_text().as_bytes())?;
        Self::open(path)
    }

    /// Opens a log to append to it. Removes the rows from `iteration` on and an incomplete last row.
    pub fn resume(path: &Path, iteration: usize) -> Result<Self, Diagnostic> {
        let bytes = files::read(path)?;
        let kept = length_before(&bytes, iteration).ok_or_else(|| {
            let message =
                format!("`{}` is damaged: it ends before row {iteration}", path.display());
            let hint = "the checkpoint resumes at that row; restore the file, or train again";
            Diagnostic::new(message).with_hint(hint)
        })?;
        files::write(path, &bytes[..kept])?;
        Self::open(path)
    }

    fn open(path: &Path) -> Result<Self, Diagnostic> {
        let file = csv::Writer::from_writer(files::append(path)?);
        Ok(Self { path: path.display().to_string(), file, cell: String::new() })
    }

    /// Adds a row.
    pub fn add(&mut self, row: &Row) -> Result<(), Diagnostic> {
        self.try_add(row).map_err(|error| self.failed(&error))
    }

    fn try_add(&mut self, row: &Row) -> csv::Result<()> {
        self.write(format_args!("{}", row.iteration))?;
        match row.evaluation {
            Some(evaluation) => {
                let value = &evaluation.value;
                for number in [value.value, value.fit, evaluation.loss, evaluation.violation] {
                    self.write(format_args!("{number:e}"))?;
                }
                for number in evaluation.laws.iter().chain(&evaluation.weights) {
                    self.write(format_args!("{number:e}"))?;
                }
            }
            // A failed evaluation has no numbers; the event says why.
            None => (1..FIRST.len() + 2 * row.laws).try_for_each(|_| self.file.write_field(""))?,
        }
        self.write(format_args!("{:e}", row.factor))?;
        self.file.write_field(match row.verdict {
            Some(Verdict::Accepted) => "accepted",
            Some(Verdict::Rejected) => "rejected",
            None => "",
        })?;
        self.file.write_field(row.event.map(describe).unwrap_or_default())?;
        self.file.write_record(None::<&[u8]>)
    }

    /// Writes a cell.
    fn write(&mut self, text: fmt::Arguments<'_>) -> csv::Result<()> {
        self.cell.clear();
        self.cell.write_fmt(text).expect("memory can be written");
        self.file.write_field(&self.cell)
    }

    /// Writes all added rows to the file.
    pub fn flush(&mut self) -> Result<(), Diagnostic> {
        self.file.flush().map_err(|error| self.failed(&error.into()))
    }

    fn failed(&self, error: &csv::Error) -> Diagnostic {
        Diagnostic::new(format!("cannot write `{}`: {error}", self.path))
            .with_hint("free some space, then `lawful resume` the run")
    }
}

/// Returns how many bytes of a log are its header and the rows before `iteration`, or `None` if not
/// all of them are there.
fn length_before(log: &[u8], iteration: usize) -> Option<usize> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(log);
    let mut record = csv::StringRecord::new();
    let mut length = 0;
    let mut columns = 0;
    for line in 0..=iteration {
        reader.read_record(&mut record).ok()?;
        if line == 0 {
            columns = record.len();
        }
        let expected = match line.checked_sub(1) {
            None => record.iter().zip(FIRST).all(|(cell, column)| cell == column),
            Some(row) => record.get(0)?.parse() == Ok(row),
        };
        length = usize::try_from(reader.position().byte()).ok()?;
        if !expected || record.len() != columns || !log[..length].ends_with(b"\n") {
            return None;
        }
    }
    Some(length)
}

/// The event of a step that was undone.
pub(crate) const TAKEN_BACK: &str = "step taken back";

/// The event of a step that was halved after rejections.
pub(crate) const BACKTRACKED: &str = "20 rejections in a row";
/// The beginning of the event of a phase.
pub(crate) const PHASE: &str = "phase ";

/// Returns an event in words.
pub fn describe(event: &Event) -> String {
    match event {
        Event::TakenBack { failure, factor } => {
            format!("{TAKEN_BACK}, rate now times {factor:?}: {failure}")
        }
        Event::Shortened { failure } => {
            format!("{TAKEN_BACK}, the line search tries a shorter one: {failure}")
        }
        Event::Note(text) => text.clone(),
        Event::Backtracked { factor } => {
            format!("{BACKTRACKED}, step now times {factor:?}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "iteration,value,fit,loss,violation,\"violation: a,\nb\",\"weight: a,\nb\",\
                       rate-factor,verdict,event\n0,1e0,1e0,1e0,0e0,0e0,1e0,1e0,,\n\
                       1,,,,,,,5e-1,,\"step taken back, rate now times 0.5: x\"\n2,1e0";

    fn row(iteration: usize, event: Option<&Event>) -> Row<'_> {
        Row { iteration, laws: 1, evaluation: None, factor: 0.5, verdict: None, event }
    }

    #[test]
    fn a_resumed_log_has_the_rows_before_its_iteration_whatever_the_laws_are_called() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.csv");
        let written = || files::read_text(&path).unwrap();
        let law = ["a,\nb".to_owned()];
        Log::create(&path, &law).unwrap();
        let header = written();
        assert_eq!(&LOG[..header.len()], header);

        files::write(&path, LOG.as_bytes()).unwrap();
        assert!(Log::resume(&path, 3).is_err(), "its last row is incomplete");
        let mut log = Log::resume(&path, 1).unwrap();
        assert_eq!(written().lines().last(), Some("0,1e0,1e0,1e0,0e0,0e0,1e0,1e0,,"));
        let note = Event::Note("step taken back, rate now times 0.5: x".to_owned());
        log.add(&row(1, Some(&note))).unwrap();
        log.flush().unwrap();
        assert_eq!(written(), LOG[..LOG.len() - "2,1e0".len()]);
        assert!(Log::resume(&path, 2).is_ok());
        assert!(Log::resume(&path, 3).is_err(), "there is no row 2");
    }
}
