//! The header of a table: finds the columns of the variables.

use lawful::law::nearest;

use super::place::{Sheet, Start};
use super::{Format, Variables};
use crate::diagnostic::Diagnostic;
use crate::phrases::listed;
use crate::toml_quote::key;

/// Positions of the columns that are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) time: usize,
    pub(super) trajectory: Option<usize>,
    pub(super) states: Vec<usize>,
    pub(super) inputs: Vec<usize>,
    /// The column `scored`, which only the files of a run have.
    pub(super) scored: Option<usize>,
    /// Names of all columns.
    pub(super) columns: Vec<String>,
}

/// Separators that a file may have instead of the expected one, as an experiment file writes them.
const SEPARATORS: [(char, &str); 5] =
    [(';', ";"), ('\t', "tab"), (',', ","), ('|', "|"), (' ', " ")];

impl Layout {
    /// Finds the columns by their names.
    pub(super) fn find(
        sheet: &Sheet,
        format: &Format,
        variables: Variables,
    ) -> Result<Self, Diagnostic> {
        let header = Header::read(sheet)?;
        let time = header.column(&format.time, Role::Time)?;
        let trajectory = format.trajectory.as_ref();
        let trajectory =
            trajectory.map(|name| header.column(name, Role::Trajectory)).transpose()?;
        let find = |names: &[String]| {
            let columns = names.iter().map(|name| {
                let mapped = format.columns.iter().find(|(ours, _)| ours == name);
                header.column(mapped.map_or(name, |(_, column)| column), Role::Variable(name))
            });
            columns.collect::<Result<Vec<_>, _>>()
        };
        let (states, inputs) = (find(variables.state)?, find(variables.inputs)?);
        Ok(Self { time, trajectory, states, inputs, scored: None, columns: header.columns })
    }

    /// Names of columns that are not read.
    pub(super) fn unused(&self) -> impl Iterator<Item = &str> {
        let used = [self.time].into_iter().chain(self.trajectory);
        let used: Vec<usize> =
            used.chain(self.states.iter().copied()).chain(self.inputs.iter().copied()).collect();
        let columns = self.columns.iter().enumerate();
        columns.filter(move |(n, _)| !used.contains(n)).map(|(_, name)| name.as_str())
    }
}

/// The first record of a file.
pub(super) struct Header<'a> {
    sheet: &'a Sheet,
    start: Start,
    pub(super) columns: Vec<String>,
}

/// What a column is used for.
#[derive(Clone, Copy)]
enum Role<'a> {
    Time,
    Trajectory,
    Variable(&'a str),
}

impl Role<'_> {
    /// Returns the key of `[data]` that selects this column.
    fn mapping(self, column: &str) -> String {
        match self {
            Self::Time => format!("`time = {column:?}`"),
            Self::Trajectory => format!("`trajectory = {column:?}`"),
            Self::Variable(name) => format!("`columns = {{ {} = {column:?} }}`", key(name)),
        }
    }

    /// Returns the purpose of the column if it is not its name.
    fn purpose(self, column: &str) -> String {
        match self {
            Self::Time => " for the time".to_owned(),
            Self::Trajectory => " for the trajectory".to_owned(),
            Self::Variable(name) if name == column => String::new(),
            Self::Variable(name) => format!(" for `{name}`"),
        }
    }
}

impl<'a> Header<'a> {
    pub(super) fn read(sheet: &'a Sheet) -> Result<Self, Diagnostic> {
        let mut record = csv::StringRecord::new();
        let found = sheet.reader().read_record(&mut record);
        if !found.map_err(|error| sheet.file_error(&format!("cannot be read: {error}")))? {
            let error = sheet.file_error("is empty");
            return Err(error.with_hint("write the names of the columns in the first line"));
        }
        let columns = record.iter().map(|cell| cell.trim().to_owned()).collect();
        Ok(Self { sheet, start: sheet.start(&record), columns })
    }

    /// Returns an error of the header as a whole.
    pub(super) fn error(&self, message: impl Into<String>) -> Diagnostic {
        self.sheet.row_error(self.start, message)
    }

    /// Returns the only column of this name.
    fn column(&self, name: &str, role: Role) -> Result<usize, Diagnostic> {
        let mut found = (0..self.columns.len()).filter(|&n| self.columns[n] == name);
        match (found.next(), found.next()) {
            (Some(column), None) => Ok(column),
            (Some(_), Some(second)) => {
                let message = format!("there are two columns `{name}`");
                let error = self.sheet.error(self.start, second, message);
                Err(error.with_hint("rename or delete one of them"))
            }
            (None, _) => Err(self.lacks(name, role)),
        }
    }

    fn lacks(&self, name: &str, role: Role) -> Diagnostic {
        let path = self.sheet.path().display();
        if self.columns.iter().all(|cell| cell.parse::<f64>().is_ok()) {
            return self
                .error(format!(
                    "the first line of `{path}` has numbers, but must have the names of the columns"
                ))
                .with_hint("add a first line with a name for each column, such as `t,x,v`");
        }
        let ours = char::from(self.sheet.separator());
        let shown = if ours == '\t' { "tab".to_owned() } else { ours.to_string() };
        if let Some(comment) = self.columns[0].strip_prefix('#') {
            let named = comment.trim() == name;
            let hint = if named {
                "delete the `#` before the names"
            } else {
                "delete the lines before the one with the names"
            };
            return self
                .error(format!(
                    "the first line of `{path}` is a comment, but must have the names of the columns"
                ))
                .with_hint(hint);
        }
        if let [only] = &self.columns[..]
            && let Some(word) = separator_of(only, name, ours)
        {
            return self
                .error(format!(
                    "`{path}` has only one column: its cells are not separated by `{shown}`"
                ))
                .with_hint(format!("write `separator = {word:?}` in [data]"));
        }
        let names: Vec<&str> = self.columns.iter().map(String::as_str).collect();
        let error = self.error(format!("`{path}` has no column `{name}`{}", role.purpose(name)));
        match nearest(name, names.iter().copied()).or_else(|| with_unit(name, &names)) {
            Some(close) => error
                .with_hint(format!("to use `{close}`, write {} in [data]", role.mapping(close))),
            None => error.with_hint(format!(
                "the columns are {}; name the right one with {} in [data]",
                some(&names),
                role.mapping("…")
            )),
        }
    }
}

/// Returns the separator of a header: one that separates the needed name from the rest, or else the
/// first one in it. A space alone is no evidence, because names can have spaces.
fn separator_of(header: &str, name: &str, ours: char) -> Option<&'static str> {
    let others = || SEPARATORS.iter().filter(|(separator, _)| *separator != ours);
    let parts = |separator: char| header.split(separator).any(|cell| cell.trim() == name);
    let found = others().find(|(separator, _)| header.contains(*separator) && parts(*separator));
    let found = found.or_else(|| {
        others().find(|(separator, _)| *separator != ' ' && header.contains(*separator))
    });
    found.map(|(_, word)| *word)
}

/// Returns a column whose name is `name` with an addition: `x [m]`, `time (s)`, `Time`.
fn with_unit<'a>(name: &str, columns: &[&'a str]) -> Option<&'a str> {
    let full = if name == "t" { "time" } else { name };
    let begins = |column: &str, name: &str| {
        let lower = column.to_lowercase();
        let rest = lower.strip_prefix(&name.to_lowercase());
        rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    columns.iter().copied().find(|column| begins(column, name) || begins(column, full))
}

/// Lists the names of columns; if there are very many, the first of them.
fn some(names: &[&str]) -> String {
    const MOST: usize = 20;
    let named = listed(names.iter().copied().take(MOST));
    if names.len() > MOST { format!("{named} and {} more", names.len() - MOST) } else { named }
}
