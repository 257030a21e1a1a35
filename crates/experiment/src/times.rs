//! The times in a file: one column of a CSV table, increasing.

use std::ops::Range;
use std::path::Path;

use crate::diagnostic::{Diagnostic, Place};
use crate::files;
use crate::table::TimeOrigin;

/// Reads the times in the column called `time`, or in the only column, whatever its name; a file of
/// one column needs no header. Cells are separated by `,`, `;` or tabs. Times are since the origin.
pub fn read_times(file: &Path, time: &str, origin: &TimeOrigin) -> Result<Vec<f64>, Diagnostic> {
    let text = files::read_text(file)?;
    let error =
        |message: String, span| Diagnostic::new(message).at(Place::within(file, &text, span));
    let mut rows = rows(&text);
    let Some((header, names)) = rows.next() else {
        return Err(Diagnostic::new(format!("`{}` is empty", file.display())).with_hint(format!(
            "write `{time}` in the first line, and one time in each line below"
        )));
    };
    let column = match names.iter().position(|name| text[name.clone()] == *time) {
        Some(column) => column,
        None if names.len() == 1 => 0,
        None => {
            let message = format!("`{}` has no column `{time}`", file.display());
            return Err(error(message, header).with_hint(
                "rename the column with the times, or give a file with only that column",
            ));
        }
    };
    let mut times: Vec<f64> = Vec::new();
    let headless = (names.len() == 1).then_some(&names[0]);
    let first = headless.filter(|cell| origin.read(&text[(*cell).clone()]).is_some());
    let cells = first.map(|cell| (header.clone(), vec![cell.clone()])).into_iter().chain(rows);
    for (row, cells) in cells {
        let Some(cell) = cells.get(column) else {
            return Err(error(format!("this line has no column `{time}`"), row));
        };
        let Some(t) = origin.read(&text[cell.clone()]) else {
            let message = format!("`{}` is not a time", &text[cell.clone()]);
            return Err(error(message, cell.clone()).with_hint("write it like `2.5` or `1e-3`"));
        };
        if let Some(&before) = times.last().filter(|before| **before >= t) {
            let message = format!("time {} comes after {}", origin.shown(t), origin.shown(before));
            return Err(
                error(message, cell.clone()).with_hint("sort the times, and remove repeated ones")
            );
        }
        times.push(t);
    }
    if times.is_empty() {
        return Err(Diagnostic::new(format!("`{}` has no times", file.display()))
            .with_hint("write one in each line below the header"));
    }
    Ok(times)
}

/// Returns the bytes of each line that is not empty, and of its cells.
fn rows(text: &str) -> impl Iterator<Item = (Range<usize>, Vec<Range<usize>>)> {
    let trimmed = |start: usize, part: &str| {
        let start = start + part.len() - part.trim_start().len();
        start..start + part.trim().len()
    };
    let mut at = 0;
    let lines = text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line)
    });
    lines.filter(|(_, line)| !line.trim().is_empty()).map(move |(start, line)| {
        let mut from = start;
        let cells = line.split([',', ';', '\t']).map(|cell| {
            let range = trimmed(from, cell);
            from += cell.len() + 1;
            range
        });
        let cells = cells.collect();
        (trimmed(start, line), cells)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<f64>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("times.csv");
        files::write(&path, text.as_bytes()).unwrap();
        read_times(&path, "t", &TimeOrigin::default()).map_err(|error| error.message)
    }

    #[test]
    fn times_are_found_by_name_or_because_they_are_alone() {
        for text in ["t\n1\n2.5\n", "hours\n1\n2.5", "1\n2.5\n", "a;t\r\nx; 1\r\n\r\ny;2.5\r\n"] {
            assert_eq!(read(text), Ok(vec![1.0, 2.5]), "{text:?}");
        }
        assert_eq!(read("t\n-3\n"), Ok(vec![-3.0]));
    }

    #[test]
    fn a_wrong_file_is_explained() {
        for (text, message) in [
            ("a,b\n1,2\n", "has no column `t`"),
            ("t\n1\nsoon\n", "`soon` is not a time"),
            ("t\n1\ninf\n", "`inf` is not a time"),
            ("t\n1\n1\n", "time 1 comes after 1"),
            ("a,t\n1\n", "this line has no column `t`"),
            ("t\n", "has no times"),
            ("\n \n", "is empty"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(message), "{text:?}: {error}");
        }
    }
}
