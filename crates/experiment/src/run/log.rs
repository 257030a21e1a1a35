//! `log.csv`: one row per iteration, written during training.
//!
//! With more than 24 laws, most rows leave the cells of the laws empty, so that 500 laws do not make 13 kB of
//! every row: rows with them are those of iterations 0 to 31, every second up to 63, every fourth up to 127, and
//! so on, and those with an event.

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

/// Most laws whose cells are in every row.
const FEW_LAWS: usize = 24;
/// Full rows of many laws each time the number of iterations doubles.
const FULL_ROWS: usize = 16;

/// Columns before those of the laws.
const FIRST: [&str; 5] = ["iteration", "value", "fit", "loss", "violation"];
/// Columns after those of the laws.
const LAST: [&str; 3] = ["rate-factor", "verdict", "event"];

impl Log {
    /// Creates a log with its header.
    pub fn create(path: &Path, laws: &[String]) -> Result<Self, Diagnostic> {
        files::write(path, Self::header(laws).as_bytes())?;
        Self::open(path)
    }

    fn header(laws: &[String]) -> String {
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
        header.into_text()
    }

    /// Opens a log to append to it. Removes the rows from `iteration` on and an incomplete last row.
    ///
    /// A log that is missing, or damaged before `iteration`, keeps its first whole rows, and continues
    /// at `iteration`: training does not need it. Then this returns a warning too, and a damaged log is
    /// kept as `log.csv.damaged`.
    pub fn resume(
        path: &Path,
        laws: &[String],
        iteration: usize,
    ) -> Result<(Self, Option<String>), Diagnostic> {
        let bytes = if path.is_file() { files::read(path)? } else { Vec::new() };
        let columns = FIRST.len() + 2 * laws.len() + LAST.len();
        let Kept { length, next } = rows_before(&bytes, columns, iteration);
        let warning = (next < iteration).then(|| {
            let rows = match iteration - next {
                1 => format!("row {next} is"),
                _ => format!("rows {next} to {} are", iteration - 1),
            };
            let what = if bytes.is_empty() { "missing or empty" } else { "damaged" };
            format!(
                "`{}` is {what}: {rows} lost; training does not need them and continues, and so does \
                 the log, at row {iteration}",
                path.display()
            )
        });
        if warning.is_some() && length < bytes.len() {
            files::write(&path.with_extension("csv.damaged"), &bytes)?;
        }
        if length == 0 {
            return Ok((Self::create(path, laws)?, warning));
        }
        files::write(path, &bytes[..length])?;
        Ok((Self::open(path)?, warning))
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
                if is_full(row) {
                    for number in evaluation.laws.iter().chain(&evaluation.weights) {
                        self.write(format_args!("{number:e}"))?;
                    }
                } else {
                    (0..2 * row.laws).try_for_each(|_| self.file.write_field(""))?;
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

    /// Writes all added rows to the disk.
    pub fn flush(&mut self) -> Result<(), Diagnostic> {
        let flushed = self.file.flush().and_then(|()| files::sync(self.file.get_ref()));
        flushed.map_err(|error| self.failed(&error.into()))
    }

    fn failed(&self, error: &csv::Error) -> Diagnostic {
        Diagnostic::new(format!("cannot write `{}`: {error}", self.path))
            .with_hint("free some space, then `lawful resume` the run")
    }
}

/// Returns whether the cells of the laws are written in this row.
fn is_full(row: &Row) -> bool {
    let apart = (row.iteration / FULL_ROWS).checked_ilog2().map_or(1, |doubled| 1 << doubled);
    row.laws <= FEW_LAWS || row.event.is_some() || row.iteration.is_multiple_of(apart)
}

/// The part of a log that is kept.
struct Kept {
    /// Its bytes.
    length: usize,
    /// The iteration after its last row.
    next: usize,
}

/// Returns the header and the rows before `iteration`, as far as they are whole. Rows may be missing
/// between them: those of an earlier damage.
fn rows_before(log: &[u8], columns: usize, iteration: usize) -> Kept {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(log);
    let mut record = csv::StringRecord::new();
    let mut kept = Kept { length: 0, next: 0 };
    while let Ok(true) = reader.read_record(&mut record) {
        let Ok(end) = usize::try_from(reader.position().byte()) else { break };
        if record.len() != columns || !log[..end].ends_with(b"\n") {
            break;
        }
        if kept.length == 0 {
            if !record.iter().zip(FIRST).all(|(cell, column)| cell == column) {
                break;
            }
        } else {
            match record[0].parse() {
                Ok(row) if (kept.next..iteration).contains(&row) => kept.next = row + 1,
                _ => break,
            }
        }
        kept.length = end;
    }
    kept
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
        let (mut log, warning) = Log::resume(&path, &law, 1).unwrap();
        assert_eq!(warning, None);
        assert_eq!(written().lines().last(), Some("0,1e0,1e0,1e0,0e0,0e0,1e0,1e0,,"));
        let note = Event::Note("step taken back, rate now times 0.5: x".to_owned());
        log.add(&row(1, Some(&note))).unwrap();
        log.flush().unwrap();
        assert_eq!(written(), LOG[..LOG.len() - "2,1e0".len()]);
        assert_eq!(Log::resume(&path, &law, 2).unwrap().1, None);
    }

    #[test]
    fn with_many_laws_most_rows_leave_their_cells_out() {
        let full = |laws: usize, iteration: usize| is_full(&Row { laws, ..row(iteration, None) });
        let count = |laws: usize, iterations: usize| {
            (0..iterations).filter(|&iteration| full(laws, iteration)).count()
        };
        assert_eq!([1, FEW_LAWS].map(|laws| count(laws, 5000)), [5000, 5000]);
        assert_eq!(count(FEW_LAWS + 1, 32), 32);
        assert_eq!(
            [33, 62, 68, 128].map(|iteration| full(500, iteration)),
            [false, true, true, true]
        );
        assert_eq!([64, 128, 256, 5000].map(|end| count(500, end)), [48, 64, 80, 148]);
        let note = Event::Note("phase 2 of 2".to_owned());
        assert!(is_full(&Row { laws: 500, ..row(4999, Some(&note)) }), "a row with an event");
    }

    #[test]
    fn a_log_that_is_short_damaged_or_missing_continues_after_a_gap() {
        let folder = tempfile::tempdir().unwrap();
        let (path, damaged) =
            (folder.path().join("log.csv"), folder.path().join("log.csv.damaged"));
        let law = ["a,\nb".to_owned()];
        let header = Log::header(&law);
        let whole = &LOG[..LOG.len() - "2,1e0".len()];
        let header = header.as_str();
        for (found, iteration, kept, lost, copied) in [
            (Some(LOG), 3, whole, "is damaged: row 2 is lost;", true),
            (Some(whole), 9, whole, "is damaged: rows 2 to 8 are lost;", false),
            (Some(&LOG[..30]), 2, header, "is damaged: rows 0 to 1 are lost;", true),
            (Some("garbage\n\0"), 1, header, "is damaged: row 0 is lost;", true),
            (Some(""), 1, header, "is missing or empty: row 0 is lost;", false),
            (None, 2, header, "is missing or empty: rows 0 to 1 are lost;", false),
        ] {
            let _ = files::remove(&path);
            let _ = files::remove(&damaged);
            if let Some(found) = found {
                files::write(&path, found.as_bytes()).unwrap();
            }
            let (mut log, warning) = Log::resume(&path, &law, iteration).unwrap();
            let warning = warning.unwrap();
            assert!(warning.contains(lost), "{warning}");
            assert_eq!(files::read_text(&path).unwrap(), kept);
            let copy = files::read(&damaged).ok();
            assert_eq!(copy.as_deref(), found.filter(|_| copied).map(str::as_bytes));
            log.add(&row(iteration, None)).unwrap();
            log.flush().unwrap();
            drop(log);
            let next = Log::resume(&path, &law, iteration + 1).unwrap().1;
            assert_eq!(next, None, "an old gap is no news");
        }
    }
}
