//! The settings of a phase of least squares.

use crate::settings::{Access, Key, LARGEST, Settings};

/// Least squares from several starts, ranked by evidence.
///
/// | setting | default | range | purpose |
/// |---|---|---|---|
/// | `starts` | 15 | ≥ 1 | networks that are drawn |
/// | `screening` | 30 | ≥ 1 | iterations of all of them |
/// | `kept` | 4 | ≥ 1 | starts of the greatest evidence, which go on |
/// | `rounds` | 3 | ≥ 1 | updates of the laws' multipliers |
/// | `round` | 30 | ≥ 1 | iterations of each round |
///
/// What is left of the phase's iterations lies between screening and rounds. Without penalised laws there
/// are no rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeastSquaresSettings {
    /// Networks that are drawn.
    pub starts: usize,
    /// Iterations of all of them.
    pub screening: usize,
    /// Starts that go on.
    pub kept: usize,
    /// Updates of the laws' multipliers.
    pub rounds: usize,
    /// Iterations of each round.
    pub round: usize,
}

impl Default for LeastSquaresSettings {
    fn default() -> Self {
        Self { starts: 15, screening: 30, kept: 4, rounds: 3, round: 30 }
    }
}

impl Settings for LeastSquaresSettings {
    const NAME: &'static str = "least-squares";
    const HELP: &'static str =
        "Levenberg–Marquardt from several starts, regularised and ranked by evidence";
    const KEYS: &'static [Key<Self>] = &[
        Key {
            name: "starts",
            help: "networks that are drawn",
            access: Access::Count(LARGEST, |settings| &mut settings.starts),
        },
        Key {
            name: "screening",
            help: "iterations of all starts",
            access: Access::Count(LARGEST, |settings| &mut settings.screening),
        },
        Key {
            name: "kept",
            help: "starts of the greatest evidence, which go on",
            access: Access::Count(LARGEST, |settings| &mut settings.kept),
        },
        Key {
            name: "rounds",
            help: "updates of the laws' multipliers",
            access: Access::Count(LARGEST, |settings| &mut settings.rounds),
        },
        Key {
            name: "round",
            help: "iterations of each round",
            access: Access::Count(LARGEST, |settings| &mut settings.round),
        },
    ];
}

impl LeastSquaresSettings {
    /// Returns how starts are screened, in words.
    pub(crate) fn in_words(&self) -> String {
        let Self { starts, kept, screening, .. } = self;
        format!(
            "{starts} starts, of which the {kept} of the greatest evidence go on after {screening} iterations"
        )
    }

    /// Returns the iterations of the rounds, if there are `laws`.
    pub(crate) fn in_rounds(&self, laws: bool) -> usize {
        if laws { self.rounds.saturating_mul(self.round) } else { 0 }
    }
}
