//! Variations: experiments of the paper with one change.

use toml::{Table, Value};

use super::system::System;
use lawful_experiment::Diagnostic;
use lawful_experiment::runner::changes;

/// The variations, as a file.
const FILE: &str = include_str!("../experiments/variations.toml");

/// What a variation is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A correction of the published data or laws.
    Truth,
    /// Another learning rate.
    Rate,
}

/// An experiment with one change.
#[derive(Debug, Clone, PartialEq)]
pub struct Variation {
    /// Its name in the column `dataset`.
    pub name: String,
    /// What it is for.
    pub purpose: Purpose,
    /// What it changes, for the report.
    pub says: String,
    /// The system that it changes.
    pub system: System,
    change: Table,
    remove: Vec<String>,
}

/// Returns all variations, in the order of the file.
///
/// # Panics
/// If the embedded file is not the one that was committed.
pub fn variations() -> Vec<Variation> {
    let table = changes::parse("variations.toml", FILE).expect("the committed file");
    let mut all = Vec::new();
    for (word, purpose) in [("truth", Purpose::Truth), ("rate", Purpose::Rate)] {
        let named = table.get(word).and_then(Value::as_table).into_iter().flatten();
        all.extend(named.map(|(name, value)| {
            variation(name, purpose, value).expect("the committed file has all keys")
        }));
    }
    all
}

fn variation(name: &str, purpose: Purpose, value: &Value) -> Option<Variation> {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let removed = value.get("remove").and_then(Value::as_array).into_iter().flatten();
    Some(Variation {
        name: name.to_owned(),
        purpose,
        says: text("says")?.to_owned(),
        system: System::from_name(text("system")?)?,
        change: value.get("change").and_then(Value::as_table).cloned().unwrap_or_default(),
        remove: removed.filter_map(Value::as_str).map(str::to_owned).collect(),
    })
}

impl Variation {
    /// Applies the change to an experiment file of its system and names the file after it.
    pub fn apply(&self, table: &mut Table) -> Result<(), Diagnostic> {
        for path in &self.remove {
            if !changes::remove(table, path) {
                let message = format!("`{}` removes `{path}`, which does not exist", self.name);
                return Err(Diagnostic::new(message));
            }
        }
        changes::set(table, &self.change);
        table.insert("name".to_owned(), self.name.as_str().into());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variation_makes_an_experiment_that_differs_from_its_system() {
        let all = variations();
        let names: Vec<&str> = all.iter().map(|variation| variation.name.as_str()).collect();
        assert_eq!(names, ["reaction-exact", "oscillator-energy", "oscillator-1e-4"]);
        for variation in all {
            let mut table = variation.system.table().unwrap();
            let published = changes::experiment("published", &table).unwrap().experiment;
            variation.apply(&mut table).unwrap();
            let varied = changes::experiment(&variation.name, &table).unwrap().experiment;
            assert_eq!(varied.name, variation.name);
            let differs = varied.training.data != published.training.data
                || varied.training.laws.len() != published.training.laws.len()
                || varied.training.phases != published.training.phases;
            assert!(differs, "{}", variation.name);
        }
    }
}
