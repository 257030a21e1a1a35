//! How a law is enforced during training.

/// How a law is enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Enforcement {
    /// Violations enter the training objective through the strategy: the default.
    #[default]
    Penalty,
    /// The form of the vector field guarantees the law. Violations are measured and reported, but
    /// not penalised.
    Hard,
    /// Violations are measured and reported. Nothing enforces the law.
    Monitor,
}

impl Enforcement {
    /// The words of an experiment file.
    pub const NAMES: [(&'static str, Self); 3] =
        [("penalty", Self::Penalty), ("hard", Self::Hard), ("monitor", Self::Monitor)];

    /// Returns the word for this in an experiment file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Penalty => "penalty",
            Self::Hard => "hard",
            Self::Monitor => "monitor",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_the_name_of_its_enforcement() {
        for (name, enforcement) in Enforcement::NAMES {
            assert_eq!(enforcement.name(), name);
        }
        assert_eq!(Enforcement::NAMES[0].1, Enforcement::default());
    }
}
