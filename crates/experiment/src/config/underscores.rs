//! Keys with `_` in the place of `-`, as Python writes them.

use toml::{Table, Value};

use super::has_key;
use super::section::join;

/// Returns a table of an experiment in which keys with `_` have their own names: `time_input` is
/// `time-input`. Names of the user stay as they are.
#[must_use]
pub fn with_hyphens(table: &Table) -> Table {
    renamed(table, "")
}

fn renamed(table: &Table, path: &str) -> Table {
    let entries = table.iter().map(|(key, value)| {
        let hyphens = key.replace('_', "-");
        let other = !known(path, key) && known(path, &hyphens) && !table.contains_key(&hyphens);
        let key = if other { hyphens } else { key.clone() };
        // The names of test sets and constants are the user's.
        let is_named = matches!(path, "test" | "system.constants");
        let below = join(path, if is_named { "NAME" } else { &key });
        let value = match value {
            Value::Table(table) => renamed(table, &below).into(),
            Value::Array(list) => {
                let entries = list.iter().map(|entry| renamed_entry(entry, &below));
                entries.collect::<Vec<_>>().into()
            }
            value => value.clone(),
        };
        (key, value)
    });
    entries.collect()
}

fn renamed_entry(entry: &Value, path: &str) -> Value {
    match entry {
        Value::Table(table) => renamed(table, path).into(),
        entry => entry.clone(),
    }
}

/// Returns whether a section has a key; a phase has sections of other places.
fn known(path: &str, key: &str) -> bool {
    let homes = ["training.phase.", "training."];
    let others = homes.iter().filter_map(|home| path.strip_prefix(home));
    let in_training = path.strip_prefix("training.phase.").map(|rest| join("training", rest));
    has_key(path, key)
        || in_training.is_some_and(|path| has_key(&path, key))
        || others.into_iter().any(|path| has_key(path, key))
}

#[cfg(test)]
mod tests {
    use super::super::SECTIONS;
    use super::*;

    fn read(text: &str) -> Table {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn every_key_with_a_hyphen_can_be_written_with_an_underscore() {
        for (path, keys) in SECTIONS.iter() {
            for key in keys.iter().filter(|key| key.contains('-')) {
                let path = path.replace("NAME", "my_name");
                let of = |key: &str| read(&format!("{}.{key} = 1", path.trim_start_matches('.')));
                assert_eq!(with_hyphens(&of(&key.replace('-', "_"))), of(key), "{path} {key}");
            }
        }
        let phase = "[[training.phase]]\noptimiser = { kind = 'lbfgs', OLD = 1 }\nstrategy = { best_point = 1 }";
        let named = phase.replace("OLD", "max_step").replace("best_point", "best-point");
        let renamed = with_hyphens(&read(&phase.replace("OLD", "max_step")));
        assert_eq!(renamed, read(&named));
    }

    #[test]
    fn names_of_the_user_stay() {
        let text = "[system]\nstate = ['x_1']\nconstants = { time_input = 1, best_point = { start = 1 } }\n\
                    define = { weight_every = 'x_1' }\n[data.columns]\ninitial_state = 'a'\n\
                    [test.time_input]\nafter = 1\n[field.known]\ntime_input = '1'\n";
        assert_eq!(with_hyphens(&read(text)), read(text));
        let both = "[training]\ninitial-state = 'a'\ninitial_state = 'b'\n";
        assert_eq!(with_hyphens(&read(both)), read(both), "the reader refuses one of them");
    }
}
