//! An experiment file with some of its keys changed.

use toml::{Table, Value};

use crate::config::{self, ExperimentFile};
use crate::diagnostic::Diagnostic;

/// Reads the text of an experiment file, or of changes to one; messages call it `name`.
pub fn parse(name: &str, text: &str) -> Result<Table, Diagnostic> {
    config::parse(name, text)
}

/// Sets every key of `changes`: tables key by key, everything else (lists too) as a whole.
pub fn set(table: &mut Table, changes: &Table) {
    for (key, new) in changes {
        match (table.get_mut(key), new) {
            (Some(Value::Table(old)), Value::Table(new)) => set(old, new),
            _ => {
                table.insert(key.clone(), new.clone());
            }
        }
    }
}

/// Removes a key, named with dots: `data.simulate.method`. Returns whether it was there.
pub fn remove(table: &mut Table, path: &str) -> bool {
    match path.split_once('.') {
        None => table.remove(path).is_some(),
        Some((first, rest)) => {
            let below = table.get_mut(first).and_then(Value::as_table_mut);
            below.is_some_and(|below| remove(below, rest))
        }
    }
}

/// Returns a table with one key, named with dots.
pub fn single(path: &str, value: impl Into<Value>) -> Table {
    let mut value = value.into();
    let mut keys: Vec<&str> = path.split('.').collect();
    let first = keys.remove(0);
    for key in keys.into_iter().rev() {
        value = Table::from_iter([(key.to_owned(), value)]).into();
    }
    Table::from_iter([(first.to_owned(), value)])
}

/// Reads a changed file as an experiment; messages call it `name`.
pub fn experiment(name: &str, table: &Table) -> Result<ExperimentFile, Diagnostic> {
    config::read_embedded(name, &config::to_text(table))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_changed_key_by_key_and_lists_as_a_whole() {
        let mut table = parse("a", "x = 1\nlist = [1, 2]\n[a.b]\nc = 1\nd = 2\n").unwrap();
        set(&mut table, &parse("b", "list = [3]\na.b.c = 5\na.e = 6\n").unwrap());
        assert!(remove(&mut table, "a.b.d"));
        assert!(!remove(&mut table, "a.b.d"));
        assert!(!remove(&mut table, "x.y"));
        let expected = parse("c", "x = 1\nlist = [3]\n[a]\nb = { c = 5 }\ne = 6\n").unwrap();
        assert_eq!(table, expected);
    }

    #[test]
    fn a_single_key_is_named_with_dots() {
        assert_eq!(single("a.b.c", 1), parse("a", "a.b.c = 1").unwrap());
        assert_eq!(single("a", "x"), parse("a", "a = \"x\"").unwrap());
    }

    #[test]
    fn what_is_not_toml_is_explained_with_its_place() {
        let error = parse("script.toml", "a = ").unwrap_err().to_string();
        assert!(error.contains("a value is missing"), "{error}");
        assert!(error.contains("script.toml:1:"), "{error}");
    }
}
