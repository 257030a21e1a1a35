//! What was measured of each law: guaranteed, kept to a stated size, or broken.

use std::fmt::Write as _;

use lawful_law::Law;
use serde::{Deserialize, Serialize};

use super::guarantee::ROUNDING;
use super::measure::Form;
use crate::number::{exact, short};

/// The share of its size by which a law without a tolerance of its own may be violated.
pub const LAW_TOLERANCE: f64 = 1e-3;

/// What a model makes of its laws, on a dense grid over all sets and up to the horizon.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct LawReport {
    /// One verdict for each law, in order.
    pub laws: Vec<LawVerdict>,
    /// Paths that end too early, the first of each set: the laws are not known after that.
    pub unsolved: Vec<Unsolved>,
    /// The trajectories that were measured, of all sets.
    pub trajectories: usize,
    /// The trajectories that there are: of very many, some are measured.
    pub of: usize,
}

/// What was measured of a law.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct LawVerdict {
    /// Its name.
    pub name: String,
    /// The relation.
    pub holds: String,
    /// The verdict.
    pub status: LawStatus,
    /// By what it is guaranteed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The violation, in the law's units.
    pub violation: f64,
    /// The same per cent of its size.
    pub percent: f64,
    /// Its size, see [`law_sizes`](crate::law_sizes).
    pub size: f64,
    /// The violation above which it is broken.
    pub tolerance: f64,
    /// The violation at the initial states.
    pub start: f64,
    /// The violation by the rows of the training data alone.
    pub rows: f64,
    /// Where it was measured.
    pub measured: Measured,
    /// The points that were measured.
    pub points: usize,
    /// Where the violation is; none if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<LawPlace>,
    /// The first place where it has no finite value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undefined: Option<LawPlace>,
}

/// The verdict on a law.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LawStatus {
    /// The form of the vector field guarantees it, and the measurement agrees.
    Guaranteed,
    /// It is violated by no more than its tolerance.
    Kept,
    /// It is violated by more than its tolerance.
    Broken,
    /// It has no finite value somewhere.
    Undefined,
    /// No path has the rows that it needs, or none could be solved.
    Unmeasured,
    /// The vector field should guarantee it, and does not: a bug of ours.
    GuaranteeFailed,
}

/// How the points were chosen at which a law is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measured {
    /// On a dense grid.
    Everywhere,
    /// On a dense grid, as the change that adds up along the path.
    AddedUp,
    /// At the rows of the data only: on other rows the law would mean another thing.
    AtRows,
}

/// A place on a path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct LawPlace {
    /// The set.
    pub set: String,
    /// The trajectory, if its set has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trajectory: Option<String>,
    /// Where a change begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<f64>,
    /// The time.
    pub time: f64,
    /// Whether it is after the last row of the training data.
    pub beyond: bool,
}

/// A path that the solver could not follow to its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Unsolved {
    /// The set.
    pub set: String,
    /// The trajectory, if its set has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trajectory: Option<String>,
    /// The time where it ends.
    pub time: f64,
    /// How many trajectories of the set end too early.
    pub count: usize,
    /// Why.
    pub reason: String,
}

impl LawReport {
    /// Returns whether every law is known to be guaranteed or kept.
    pub fn is_clean(&self) -> bool {
        self.unsolved.is_empty() && self.faults().next().is_none()
    }

    /// Returns the laws that are broken, have no value somewhere, or whose guarantee failed.
    pub fn faults(&self) -> impl Iterator<Item = &LawVerdict> {
        self.laws.iter().filter(|law| law.status.is_fault())
    }
}

impl Unsolved {
    /// Returns ``after t = 0.82 on trajectory `a` and 3 more of `later` ``.
    pub fn describe(&self) -> String {
        let time = short_time(self.time);
        match (&self.trajectory, self.count) {
            (None, _) => format!("after t = {time} on `{}`", self.set),
            (Some(trajectory), count) => {
                let more = match count {
                    1 => String::new(),
                    2 => " and one more".to_owned(),
                    count => format!(" and {} more", count - 1),
                };
                format!("after t = {time} on trajectory `{trajectory}`{more} of `{}`", self.set)
            }
        }
    }
}

impl LawStatus {
    /// Returns its word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Guaranteed => "guaranteed",
            Self::Kept => "kept",
            Self::Broken => "broken",
            Self::Undefined => "undefined",
            Self::Unmeasured => "unmeasured",
            Self::GuaranteeFailed => "guarantee-failed",
        }
    }

    /// Returns whether the model does not do what the law says.
    pub fn is_fault(self) -> bool {
        matches!(self, Self::Broken | Self::Undefined | Self::GuaranteeFailed)
    }
}

impl LawPlace {
    /// Returns ``at t = 3 on `later` ``, ``from t = 3 to t = 5 on trajectory `a` of `later`, beyond the training
    /// data``.
    pub fn describe(&self) -> String {
        let time = short_time(self.time);
        let mut text = match self.from {
            Some(from) => format!("from t = {} to t = {time}", short_time(from)),
            None => format!("at t = {time}"),
        };
        // Writing to a string cannot fail.
        let _ = match &self.trajectory {
            Some(trajectory) => write!(text, " on trajectory `{trajectory}` of `{}`", self.set),
            None => write!(text, " on `{}`", self.set),
        };
        if self.beyond {
            text += ", beyond the training data";
        }
        text
    }
}

/// A time in a message: four digits, or exact far from zero.
fn short_time(time: f64) -> String {
    let rounded = format!("{time:.3e}").parse();
    rounded.ok().filter(|_| time.abs() < 1e4).map_or_else(|| exact(time), exact)
}

impl LawVerdict {
    /// The verdict on what was measured.
    pub(super) fn new(law: &Law, size: f64, by: Option<&str>, found: &Found) -> Self {
        let violation = found.violation.as_ref().map_or(0.0, |(violation, _)| *violation);
        let tolerance = law.tolerance().unwrap_or(LAW_TOLERANCE * size);
        let rounding = ROUNDING * size.max(found.magnitude);
        // A field can only keep a path on the law that starts there.
        let by = by.filter(|_| found.start <= rounding);
        let status = if found.undefined.is_some() {
            LawStatus::Undefined
        } else if found.points == 0 {
            LawStatus::Unmeasured
        } else {
            match by {
                Some(_) if violation <= rounding => LawStatus::Guaranteed,
                Some(_) => LawStatus::GuaranteeFailed,
                None if violation <= tolerance => LawStatus::Kept,
                None => LawStatus::Broken,
            }
        };
        let place = found.violation.as_ref().filter(|_| violation > 0.0);
        Self {
            name: law.name().to_owned(),
            holds: law.text().to_owned(),
            status,
            by: by.map(ToOwned::to_owned),
            violation,
            percent: 100.0 * (violation / size).min(f64::MAX / 100.0),
            size,
            tolerance,
            start: found.start,
            rows: found.rows,
            measured: found.measured,
            points: found.points,
            place: place.map(|(_, place)| place.clone()),
            undefined: found.undefined.clone(),
        }
    }

    /// Returns `1.2 (0.16 % of its size)`.
    pub fn amount(&self) -> String {
        format!("{} ({} % of its size)", short(self.violation), short(self.percent))
    }

    /// Returns the verdict as the end of a sentence that begins with the law: `is broken by 1.2 (0.16 % of its
    /// size) at t = 20`.
    pub fn describe(&self) -> String {
        let place =
            self.place.as_ref().map_or(String::new(), |place| format!(" {}", place.describe()));
        let amount = self.amount();
        match (self.status, self.measured) {
            (LawStatus::Guaranteed, _) => {
                let by = self.by.as_deref().unwrap_or_default();
                format!("is guaranteed by {by}: measured {}", short(self.violation))
            }
            (LawStatus::Kept, _) if self.violation > 0.0 => format!("is kept to {amount}"),
            (LawStatus::Kept, _) => "is kept".to_owned(),
            (LawStatus::Broken, Measured::AddedUp) => {
                format!("is broken by {amount} in all, most of it{place}")
            }
            (LawStatus::Broken, _) => format!("is broken by {amount}{place}"),
            (LawStatus::Undefined, _) => {
                let place = self.undefined.as_ref().map(LawPlace::describe).unwrap_or_default();
                format!("has no finite value {place}")
            }
            (LawStatus::Unmeasured, _) => "could not be measured on any path".to_owned(),
            (LawStatus::GuaranteeFailed, _) => {
                let by = self.by.as_deref().unwrap_or_default();
                format!("should be guaranteed by {by}, but is broken by {amount}{place}")
            }
        }
    }
}

/// What was found of a law on all paths.
#[derive(Debug, Clone)]
pub(super) struct Found {
    /// The largest violation, and where.
    pub(super) violation: Option<(f64, LawPlace)>,
    /// The first place without a finite value.
    pub(super) undefined: Option<LawPlace>,
    pub(super) measured: Measured,
    /// The largest violation at an initial state.
    pub(super) start: f64,
    /// The largest violation by the rows of the training data alone.
    pub(super) rows: f64,
    /// The largest terms that it compares on any path, where a guarantee is checked: they round.
    pub(super) magnitude: f64,
    pub(super) points: usize,
}

impl Found {
    pub(super) fn new(form: &Form) -> Self {
        let measured = match form {
            Form::Point => Measured::Everywhere,
            Form::Rise(_) | Form::Drift(_) => Measured::AddedUp,
            Form::Rows => Measured::AtRows,
        };
        let (violation, undefined) = (None, None);
        let (start, rows, magnitude, points) = (0.0, 0.0, 0.0, 0);
        Self { violation, undefined, measured, start, rows, magnitude, points }
    }
}
