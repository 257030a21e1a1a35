//! The nine methods that the paper compares, called variants here.
//!
//! Tables, columns and options call them methods, as the published tables do; in code, a method is a
//! Runge–Kutta method.

use std::fmt;

use toml::{Table, Value};

use lawful_experiment::{Diagnostic, meant};

/// One of the nine methods of the paper: a strategy, with or without best point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variant {
    /// Its strategy: how violations enter the objective.
    pub kind: Kind,
    /// Whether training returns to the best point.
    pub best_point: bool,
}

/// How violations enter the objective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Not at all.
    Vanilla,
    /// With this fixed μ.
    L1(u32),
    /// With the paper's μ.
    SelfAdaptive,
}

/// The nine methods of the paper in the order of its tables, each with its word on the command line.
pub const VARIANTS: [(&str, Variant); 9] = [
    ("vanilla", Variant { kind: Kind::Vanilla, best_point: false }),
    ("l1:1+best", Variant { kind: Kind::L1(1), best_point: true }),
    ("l1:10+best", Variant { kind: Kind::L1(10), best_point: true }),
    ("l1:100+best", Variant { kind: Kind::L1(100), best_point: true }),
    ("l1:1", Variant { kind: Kind::L1(1), best_point: false }),
    ("l1:10", Variant { kind: Kind::L1(10), best_point: false }),
    ("l1:100", Variant { kind: Kind::L1(100), best_point: false }),
    ("self-adaptive+best", Variant { kind: Kind::SelfAdaptive, best_point: true }),
    ("self-adaptive", Variant { kind: Kind::SelfAdaptive, best_point: false }),
];

impl Variant {
    /// Returns the nine methods of the paper in the order of its tables.
    pub fn all() -> impl Iterator<Item = Self> + Clone {
        VARIANTS.iter().map(|(_, variant)| *variant)
    }

    /// Returns the method of a word on the command line.
    pub fn from_word(word: &str) -> Result<Self, Diagnostic> {
        let known = VARIANTS.iter().find(|(known, _)| *known == word);
        known.map(|(_, variant)| *variant).ok_or_else(|| {
            let words = VARIANTS.iter().map(|(word, _)| *word);
            Diagnostic::new(format!("there is no method `{word}` in the paper")).with_hint(meant(
                word,
                words,
                "the methods are",
            ))
        })
    }

    /// Returns its strategy in published tables: `l1`.
    pub fn strategy(self) -> &'static str {
        match self.kind {
            Kind::Vanilla => "vanilla",
            Kind::L1(_) => "l1",
            Kind::SelfAdaptive => "self-adaptive",
        }
    }

    /// Returns its μ in published tables; empty for strategies without one.
    pub fn mu(self) -> String {
        match self.kind {
            Kind::L1(mu) => mu.to_string(),
            Kind::Vanilla | Kind::SelfAdaptive => String::new(),
        }
    }

    /// Returns `[strategy]` of an experiment file.
    pub fn table(self) -> Table {
        let mut table = Table::from_iter([("kind".to_owned(), Value::from(self.strategy()))]);
        if let Kind::L1(mu) = self.kind {
            table.insert("mu".to_owned(), f64::from(mu).into());
        }
        table.insert("best-point".to_owned(), self.best_point.into());
        table
    }
}

/// `L1 μ = 10 + best point`.
impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::Vanilla => f.write_str("vanilla")?,
            Kind::L1(mu) => write!(f, "L1 μ = {mu}")?,
            Kind::SelfAdaptive => f.write_str("self-adaptive")?,
        }
        f.write_str(if self.best_point { " + best point" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_read_as_its_method_and_others_are_refused() {
        for (word, variant) in VARIANTS {
            assert_eq!(Variant::from_word(word), Ok(variant));
        }
        let error = Variant::from_word("l1:1000").unwrap_err();
        assert_eq!(error.message, "there is no method `l1:1000` in the paper");
        assert_eq!(error.hint.as_deref(), Some("did you mean `l1:100`?"));
        let error = Variant::from_word("vanilla+best").unwrap_err();
        assert!(error.hint.is_some());
    }
}
