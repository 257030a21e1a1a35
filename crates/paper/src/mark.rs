//! Comparison with a published number: reached, better, worse, or not comparable.

use super::published::{Published, Spread};
use super::system::System;

/// How our number compares with the published one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mark {
    /// The same within the spreads.
    Reached,
    /// Clearly lower.
    Better,
    /// Clearly higher.
    Worse,
    /// They cannot be compared, and why.
    NotComparable(String),
}

/// What the marks mean, as written in the report.
pub const RULE: &str = "A mark compares means. *Better*: ours is lower by more than both standard \
    deviations together, or less than half. *Worse*: ours is higher by more than both standard \
    deviations together, or more than twice. *Reached*: anything else, and every difference of less than a tenth.";

impl Mark {
    /// Returns its word in the report.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Reached => "reached",
            Self::Better => "better",
            Self::Worse => "worse",
            Self::NotComparable(_) => "cannot be compared",
        }
    }

    /// Compares a lower-is-better number.
    pub fn of(ours: Spread, theirs: Spread) -> Self {
        let tenth = 0.1 * theirs.mean;
        let spreads = ours.std.unwrap_or(0.0) + theirs.std.unwrap_or(0.0);
        let difference = ours.mean - theirs.mean;
        if difference > spreads.min(theirs.mean).max(tenth) {
            Self::Worse
        } else if -difference > spreads.min(0.5 * theirs.mean).max(tenth) {
            Self::Better
        } else {
            Self::Reached
        }
    }

    /// Compares mean squared errors.
    pub fn of_mse(ours: Option<Spread>, published: &Published, all: &[Published]) -> Self {
        Self::unless(copied(published, all), ours, published.mse)
    }

    /// Compares violations, measured as the authors' script does.
    pub fn of_violation(ours: Option<Spread>, published: &Published, all: &[Published]) -> Self {
        let reason = copied(published, all).or_else(|| {
            (published.system == System::Oscillator).then(|| {
                "the true system violates the second law itself, so a lower value is no better model"
                    .to_owned()
            })
        });
        Self::unless(reason, ours, published.violation)
    }

    fn unless(reason: Option<String>, ours: Option<Spread>, theirs: Spread) -> Self {
        match (reason, ours) {
            (Some(reason), _) => Self::NotComparable(reason),
            (None, None) => Self::NotComparable("no seed could be solved".to_owned()),
            (None, Some(ours)) => Self::of(ours, theirs),
        }
    }
}

/// Returns why a published cell is a copying mistake, if it is one.
fn copied(published: &Published, all: &[Published]) -> Option<String> {
    let twin = published.twin(all)?;
    // The population was first; the reaction's cell is the copy.
    (published.system > twin)
        .then(|| format!("the published cell equals the {}'s to the digit", twin.name()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published::published;

    fn spread(mean: f64, std: f64) -> Spread {
        Spread { mean, std: Some(std) }
    }

    #[test]
    fn marks_follow_the_rule() {
        let cases = [
            ("the same", spread(1.0, 0.0), spread(1.0, 0.0), Mark::Reached),
            ("a tenth more", spread(1.09, 0.0), spread(1.0, 0.0), Mark::Reached),
            ("more than a tenth more", spread(1.11, 0.0), spread(1.0, 0.0), Mark::Worse),
            ("more, but within the spreads", spread(1.5, 0.3), spread(1.0, 0.3), Mark::Reached),
            ("more than the spreads", spread(1.7, 0.3), spread(1.0, 0.3), Mark::Worse),
            ("less, but within the spreads", spread(0.7, 0.1), spread(1.0, 0.3), Mark::Reached),
            ("less than the spreads", spread(0.7, 0.1), spread(1.0, 0.1), Mark::Better),
            ("less than half of a wild number", spread(0.4, 0.0), spread(1.0, 2.0), Mark::Better),
            ("more than twice, wildly", spread(12.0, 13.0), spread(0.001, 0.0), Mark::Worse),
            ("one seed", Spread { mean: 1.2, std: None }, spread(1.0, 0.3), Mark::Reached),
        ];
        for (case, ours, theirs, mark) in cases {
            assert_eq!(Mark::of(ours, theirs), mark, "{case}");
        }
    }

    #[test]
    fn what_means_something_else_is_not_compared_and_the_reason_is_given() {
        let all = published();
        let ours = Some(spread(1.0, 0.1));
        let mut mse = 0;
        let mut violations = 0;
        for cell in &all {
            let no_mse = matches!(Mark::of_mse(ours, cell, &all), Mark::NotComparable(_));
            let no_violation =
                matches!(Mark::of_violation(ours, cell, &all), Mark::NotComparable(_));
            assert!(!no_mse || cell.system == System::Reaction);
            mse += u32::from(no_mse);
            violations += u32::from(no_violation);
        }
        // Six cells of the reaction are copies; the violations of the oscillator mean nothing.
        assert_eq!((mse, violations), (6, 6 + 27));
        let nothing = Mark::of_mse(None, &all[0], &all);
        assert_eq!(nothing, Mark::NotComparable("no seed could be solved".to_owned()));
    }
}
