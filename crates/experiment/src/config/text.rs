//! Writes a table as the text of an experiment file.
//!
//! Short tables go in one line, long ones and the sections below a header of their own; numbers
//! have as many digits as give the same number back.

use super::complete::{Table, Value};
use crate::toml_quote::{key, quoted};

/// Longest line that a table is put in.
const LONGEST: usize = 100;

/// Returns the text of a whole file.
pub fn to_text(table: &Table) -> String {
    let (mut text, below) = lines(table, "");
    write_below(&mut text, "", &below);
    text
}

/// Returns the entries of a table that take one line each, and those that go below headers.
fn lines<'t>(table: &'t Table, path: &str) -> (String, Vec<(&'t String, &'t Value)>) {
    let (mut text, mut below) = (String::new(), Vec::new());
    for (name, value) in table {
        let line = format!("{} = {}", key(name), inline(value));
        let is_section = path.is_empty() || path == "test";
        match value {
            Value::Table(table) if is_section || !fits(table, &line) => below.push((name, value)),
            Value::Array(list) if path.is_empty() && is_list_of_tables(list) => {
                below.push((name, value));
            }
            _ => text.extend([&line, "\n"]),
        }
    }
    (text, below)
}

fn is_list_of_tables(list: &[Value]) -> bool {
    !list.is_empty() && list.iter().all(Value::is_table)
}

/// Writes entries with headers of their own.
fn write_below(text: &mut String, path: &str, entries: &[(&String, &Value)]) {
    for (name, value) in entries {
        let path = if path.is_empty() { key(name) } else { format!("{path}.{}", key(name)) };
        let mut write = |header: String, table: &Table| {
            let (own, below) = lines(table, &path);
            // A table that has only sections, such as `[test]`, needs no header.
            if !own.is_empty() || below.is_empty() {
                text.extend(["\n", &header, "\n", &own]);
            }
            write_below(text, &path, &below);
        };
        match value {
            Value::Table(table) => write(format!("[{path}]"), table),
            Value::Array(list) => {
                for table in list.iter().filter_map(Value::as_table) {
                    write(format!("[[{path}]]"), table);
                }
            }
            _ => {}
        }
    }
}

/// Returns whether a table fits in one line.
fn fits(table: &Table, line: &str) -> bool {
    line.chars().count() <= LONGEST && (table.is_empty() || !table.values().any(Value::is_table))
}

fn inline(value: &Value) -> String {
    match value {
        Value::Float(number) => format!("{number:?}"),
        Value::Array(list) => {
            let entries: Vec<String> = list.iter().map(inline).collect();
            format!("[{}]", entries.join(", "))
        }
        Value::Table(table) if table.is_empty() => "{}".to_owned(),
        Value::Table(table) => {
            let entries =
                table.iter().map(|(name, value)| format!("{} = {}", key(name), inline(value)));
            format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
        }
        Value::String(text) => quoted(text),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(table: &Table) {
        let text = to_text(table);
        let back: Table = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(back, *table, "{text}");
    }

    #[test]
    fn what_is_written_reads_back_the_same() {
        let text = "name = 'a'\nlist = [1, 2.5e-12, 1e300, -0.1]\n[a]\nb = { c = 1, \"d e\" = 'x\"\\' }\n\
                    [[law]]\nholds = '''x\ny\t'''\n[test.one]\ngrid = { from = 0.1 }\n[test.\"ü\"]\nafter = 3.0\n\
                    [data.simulate.deep]\nx = [{ a = 1 }, { a = true }]\n[empty]\ntable = {}\nlist = []\n";
        round_trip(&text.parse().unwrap());
    }

    #[test]
    fn any_text_is_quoted_so_that_it_reads_back() {
        let texts: Vec<String> = (0..0x250).filter_map(char::from_u32).map(String::from).collect();
        for text in texts {
            let table: Table = [(text.clone(), Value::from(text.clone()))].into_iter().collect();
            round_trip(&table);
        }
    }

    #[test]
    fn sections_have_headers_and_short_tables_one_line() {
        let text = "name = \"a\"\n\n[system]\nstate = [\"x\"]\nconstants = { k = 1e-9 }\n\n\
                    [[law]]\nholds = \"x <= 1\"\n\n[test.later]\nafter = 40.0\n";
        assert_eq!(to_text(&text.parse().unwrap()), text);
    }
}
