//! `log.csv`: one row per iteration, written as it goes.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use lawful::{Event, Row, Verdict};

use crate::diagnostic::Diagnostic;
use crate::files;

/// The growing log of a run.
pub struct Log {
    path: String,
    file: BufWriter<File>,
}

/// Columns before those of the laws.
const FIRST: &str = "iteration,value,fit,loss,violation";

impl Log {
    /// A new log with its header.
    pub fn create(path: &Path, laws: &[String]) -> Result<Self, Diagnostic> {
        let of_laws = |what: &str| -> Vec<String> {
            laws.iter().map(|law| quoted(&format!("{what}: {law}"))).collect()
        };
        let mut header = vec![FIRST.to_owned()];
        header.extend(of_laws("violation").into_iter().chain(of_laws("weight")));
        header.push("rate-factor,verdict,event\n".to_owned());
        files::write(path, header.join(",").as_bytes())?;
        Self::open(path)
    }

    /// Goes on with a log from which every row at or after `iteration` is cut, a half-written last
    /// one too.
    pub fn resume(path: &Path, iteration: usize) -> Result<Self, Diagnostic> {
        let text = String::from_utf8_lossy(&files::read(path)?).into_owned();
        let mut kept = String::with_capacity(text.len());
        let mut rows = 0;
        for (n, line) in text.split_inclusive('\n').enumerate() {
            let number = line.split(',').next().and_then(|cell| cell.parse::<usize>().ok());
            let expected = n == 0 || number == Some(rows);
            if !expected || (n > 0 && rows == iteration) || !line.ends_with('\n') {
                break;
            }
            rows += usize::from(n > 0);
            kept += line;
        }
        if rows < iteration || !kept.starts_with(FIRST) {
            let message =
                format!("`{}` is damaged: it ends before row {iteration}", path.display());
            let hint = "the checkpoint goes on from that row; restore the file, or train again";
            return Err(Diagnostic::new(message).with_hint(hint));
        }
        files::write(path, kept.as_bytes())?;
        Self::open(path)
    }

    fn open(path: &Path) -> Result<Self, Diagnostic> {
        let file = files::append(path)?;
        Ok(Self { path: path.display().to_string(), file: BufWriter::new(file) })
    }

    /// Adds a row.
    pub fn add(&mut self, row: &Row) -> Result<(), Diagnostic> {
        self.try_add(row).map_err(|error| self.failed(&error))
    }

    fn try_add(&mut self, row: &Row) -> std::io::Result<()> {
        let file = &mut self.file;
        write!(file, "{}", row.iteration)?;
        match row.evaluation {
            Some(evaluation) => {
                let value = &evaluation.value;
                write!(file, ",{:e},{:e}", value.value, value.fit)?;
                write!(file, ",{:e},{:e}", evaluation.loss, evaluation.violation)?;
                for number in evaluation.laws.iter().chain(&evaluation.weights) {
                    write!(file, ",{number:e}")?;
                }
            }
            // A failed evaluation has no numbers; the event says why.
            None => write!(file, ",,,,{}", ",".repeat(2 * row.laws))?,
        }
        let verdict = match row.verdict {
            Some(Verdict::Accepted) => "accepted",
            Some(Verdict::Rejected) => "rejected",
            None => "",
        };
        write!(file, ",{:e},{verdict},", row.factor)?;
        if let Some(event) = row.event {
            write!(file, "{}", quoted(&describe(event)))?;
        }
        writeln!(file)
    }

    /// Makes sure that what was added is in the file.
    pub fn flush(&mut self) -> Result<(), Diagnostic> {
        self.file.flush().map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &std::io::Error) -> Diagnostic {
        Diagnostic::new(format!("cannot write `{}`: {error}", self.path))
            .with_hint("free some space, then `lawful resume` the run")
    }
}

/// How a step that was taken back is noted.
pub(crate) const TAKEN_BACK: &str = "step taken back";

/// How a step that was halved after rejections is noted.
pub(crate) const BACKTRACKED: &str = "20 rejections in a row";
/// How the notes of phases begin.
pub(crate) const PHASE: &str = "phase ";

/// An event in words.
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

/// A cell of a CSV file.
pub(crate) fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
