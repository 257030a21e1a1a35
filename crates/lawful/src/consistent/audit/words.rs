//! Contradictions in words.

use super::{Audit, Contradiction, Evidence, Finding};
use crate::number::{exact, short};

impl Audit {
    /// Returns the contradiction that law `k` is part of in words, for a message.
    pub fn describe(&self, k: usize) -> Option<String> {
        let contradiction = self.contradicts(k)?;
        let named = |k: usize| format!("`{}`", self.laws[k].name);
        let subject = match contradiction.with[..] {
            [] => format!("the law {} contradicts the data", named(k)),
            ref with => {
                let mut names: Vec<String> =
                    std::iter::once(k).chain(with.iter().copied()).map(named).collect();
                let last = names.pop().unwrap_or_default();
                format!(
                    "on these data the laws {} and {last} contradict each other",
                    names.join(", ")
                )
            }
        };
        Some(format!("{subject}: {}", self.evidence(contradiction)))
    }

    fn evidence(&self, Contradiction { evidence, with }: &Contradiction) -> String {
        match evidence {
            Evidence::Impossible => {
                "no states obey them".replace("them", if with.is_empty() { "it" } else { "them" })
            }
            Evidence::Mean { residual, error } => format!(
                "left side minus right side is {} on average, with a standard error of {}",
                short(*residual),
                short(*error)
            ),
            Evidence::Trend { change, error } => format!(
                "left side minus right side changes by {} from the first row to the last, with a standard error of {}",
                short(*change),
                short(*error)
            ),
            Evidence::Misfit { misfit, noise, place } => {
                let sizes = format!(
                    "the nearest states that obey are {} standard deviations away, and noise explains {}",
                    short(*misfit),
                    short(*noise)
                );
                let Some(place) = place else { return sizes };
                let name = &self.state[place.variable];
                format!(
                    "at t = {}, `{name}` is {} and would have to be {} ({sizes})",
                    exact(place.time),
                    short(place.measured),
                    short(place.nearest)
                )
            }
        }
    }

    /// Returns what to do about the contradiction that law `k` is part of.
    pub fn hint(&self, k: usize) -> Option<String> {
        let contradiction = self.contradicts(k)?;
        let what = if contradiction.with.is_empty() { "the law" } else { "one of the laws" };
        Some(format!(
            "correct {what} or the data, or measure it only, by `strategy = \"monitor\"` under its `[[law]]`"
        ))
    }

    /// Returns each contradiction once, in words.
    pub fn warnings(&self) -> Vec<String> {
        let first = |k: &usize| {
            let contradiction = self.contradicts(*k);
            contradiction.is_some_and(|found| found.with.iter().all(|other| other > k))
        };
        (0..self.laws.len()).filter(first).filter_map(|k| self.describe(k)).collect()
    }
}

impl Finding {
    /// Returns the finding in a word or two: `agrees`, `contradicted`, `not audited`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Agrees { .. } => "agrees",
            Self::Contradicted(_) => "contradicted",
            Self::NotAudited { .. } => "not audited",
        }
    }
}
