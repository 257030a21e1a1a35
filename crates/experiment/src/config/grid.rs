//! `grid = { … }`: the times of simulated data.
//!
//! | key | default | range | purpose |
//! |---|---|---|---|
//! | `from` | 0 | finite | the first time |
//! | `to` | required, or `step` | above `from` | the last time |
//! | `step` | none | > 0 | instead of `to`: the distance between two times |
//! | `points` | required | 2 to 10 000 000 | the number of times, including both ends |

use super::complete::{self, Table};
use super::section::Section;
use super::value::{FINITE, POSITIVE};
use crate::diagnostic::Diagnostic;

/// The keys of a grid.
pub(crate) const KEYS: &[&str] = &["from", "to", "step", "points"];

/// Most points of a grid.
const MOST: u64 = 10_000_000;

/// Equidistant times.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Grid {
    from: f64,
    end: End,
    points: usize,
}

#[derive(Debug, Clone, PartialEq)]
enum End {
    To(f64),
    Step(f64),
}

/// Reads a grid.
pub(crate) fn read(mut section: Section) -> Result<Grid, Diagnostic> {
    section.only(KEYS)?;
    let from = section.take("from").map_or(Ok(0.0), |value| value.number(FINITE, "0"))?;
    let why = "because it is the number of times";
    let points = section.need("points", why, "200")?.count(2..=MOST, "200")?;
    let (to, step) = (section.take("to"), section.take("step"));
    let (end, last) = match (to, step) {
        (Some(value), None) => {
            let to = value.number(FINITE, "50")?;
            if to <= from {
                let error = value
                    .error(format!("the grid ends at {to}, which is not after its start, {from}"));
                return Err(error.with_hint("`to` must be larger than `from`"));
            }
            (End::To(to), value)
        }
        (None, Some(value)) => (End::Step(value.number(POSITIVE, "0.1")?), value),
        (Some(_), Some(step)) => {
            let error = step.error("a grid has `to` or `step`, not both");
            return Err(error.with_hint("the other one follows from `points`"));
        }
        (None, None) => {
            let error = section.error("this grid has no end");
            return Err(error.with_hint("add `to = 50` or `step = 0.5`"));
        }
    };
    let grid = Grid { from, end, points };
    let times = grid.times();
    if times.windows(2).any(|pair| pair[0] >= pair[1]) || times.iter().any(|t| !t.is_finite()) {
        return Err(last
            .error("the times of this grid are so close that some round to the same number")
            .with_hint("use fewer points, a larger step, or times nearer to 0"));
    }
    Ok(grid)
}

impl Grid {
    /// `from`, …, `to`, both exactly; or `from + n · step`.
    pub(crate) fn times(&self) -> Vec<f64> {
        let last = self.points - 1;
        let time = |n: usize| match self.end {
            End::To(to) if n == last => to,
            End::To(to) => self.from + n as f64 * (to - self.from) / last as f64,
            End::Step(step) => self.from + n as f64 * step,
        };
        (0..self.points).map(time).collect()
    }

    /// The table with every key.
    pub(crate) fn write(&self) -> Table {
        let end = match self.end {
            End::To(to) => ("to", to.into()),
            End::Step(step) => ("step", step.into()),
        };
        complete::table([("from", self.from.into()), end, ("points", complete::whole(self.points))])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_are_exact_and_distances_are_equal() {
        let grid = Grid { from: 0.1, end: End::To(0.7), points: 3 };
        assert_eq!(grid.times(), [0.1, 0.4, 0.7]);
        let whole = Grid { from: 0.0, end: End::To(99.0), points: 100 };
        assert!(
            whole.times().iter().enumerate().all(|(n, &t)| t.to_bits() == (n as f64).to_bits())
        );
        let grid = Grid { from: 0.0, end: End::Step(0.5), points: 3 };
        assert_eq!(grid.times(), [0.0, 0.5, 1.0]);
    }
}
