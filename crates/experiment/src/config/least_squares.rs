//! `least-squares` of a phase: Levenberg–Marquardt from several starts, ranked by evidence.
//!
//! | key | default | range | purpose |
//! |---|---|---|---|
//! | `starts` | 15 | ≥ 1 | networks that are drawn |
//! | `screening` | 30 | ≥ 1 | iterations of all of them |
//! | `kept` | 4 | ≥ 1 | starts of the greatest evidence, which go on |
//! | `rounds` | 3 | ≥ 1 | updates of the laws' multipliers; none without laws |
//! | `round` | 30 | ≥ 1 | iterations of each round |

use lawful::LeastSquaresSettings;
use lawful::settings as known;

use super::complete::Table;
use super::settings;
use super::value::Value;
use crate::diagnostic::Diagnostic;

/// The keys of the table.
pub(crate) const KEYS: &[&str] = &["starts", "screening", "kept", "rounds", "round"];

/// Reads the table.
pub(super) fn read(value: Value) -> Result<LeastSquaresSettings, Diagnostic> {
    let mut section = value.table("{ starts = 15 }")?;
    section.only(KEYS)?;
    let mut read = LeastSquaresSettings::default();
    for key in known::keys::<LeastSquaresSettings>() {
        if let Some(value) = section.take(key.name) {
            let default = known::get(&read, key.name);
            let setting = settings::read(value, &key, default.as_ref(), &[])?;
            assert!(known::set(&mut read, key.name, setting), "read as what it may be");
        }
    }
    Ok(read)
}

/// The table with every key.
pub(super) fn write(written: &LeastSquaresSettings) -> Table {
    let values = KEYS.iter().filter_map(|key| {
        let setting = known::get(written, key)?;
        Some((*key, settings::write(&setting, &[])?))
    });
    let mut table = Table::new();
    values.for_each(|(key, value)| {
        table.insert(key.to_owned(), value);
    });
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_are_those_of_the_settings() {
        let names: Vec<&str> =
            known::keys::<LeastSquaresSettings>().iter().map(|key| key.name).collect();
        assert_eq!(names, KEYS);
        assert_eq!(write(&LeastSquaresSettings::default()).len(), KEYS.len());
    }
}
