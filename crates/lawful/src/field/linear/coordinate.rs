//! What the network sees of a state: itself, or the logarithm of its distances to bounds.

use lawful_ode::Scaling;

use super::description::Coordinate;
use super::form::{Edge, Form, StateForm};

/// Below this share of the usual distance the logarithm goes on as a straight line: stages of a step may
/// leave a bound before the step is refused.
const STRAIGHT: f64 = 1e-12;

/// In what a network sees a state variable, as one asks for it.
///
/// Only what the network sees changes, and how its output becomes a rate; errors are measured in the data's units. Log
/// coordinates are for states over several decades. A guaranteed bound is needed, and data strictly inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Coordinates {
    /// Itself, centred and scaled.
    #[default]
    Linear,
    /// `ln (y − l)` above a lower bound, `−ln (u − y)` below an upper one; the rate is in proportion to the distance.
    Log,
    /// `ln (y − l) − ln (u − y)` between two bounds; the rate is in proportion to both distances.
    Logit,
}

impl Coordinates {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Linear, Self::Log, Self::Logit];

    /// Returns its word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Log => "log",
            Self::Logit => "logit",
        }
    }
}

/// `ln q` and its derivative.
fn logarithm(q: f64) -> (f64, f64) {
    if q > STRAIGHT {
        (q.ln(), 1.0 / q)
    } else {
        (STRAIGHT.ln() + (q - STRAIGHT) / STRAIGHT, 1.0 / STRAIGHT)
    }
}

impl StateForm {
    /// The nearest value to a bound at which a path may start: not on an open one.
    pub(super) fn nearest_to(&self, edge: &Edge) -> f64 {
        let left = if self.is_open() { STRAIGHT * edge.distance } else { 0.0 };
        let inside = edge.at + edge.sign * left;
        // Beside a large bound the distance may be rounded away.
        if self.is_open() && edge.gap(inside) <= 0.0 {
            if edge.sign > 0.0 { edge.at.next_up() } else { edge.at.next_down() }
        } else {
            inside
        }
    }

    /// The coordinate at a state, and its derivative.
    pub(super) fn coordinate_at(&self, y: f64) -> (f64, f64) {
        if matches!(self.coordinate, Coordinate::Linear) {
            return (y, 1.0);
        }
        let (mut z, mut slope) = (0.0, 0.0);
        for edge in self.edges() {
            let (log, by_q) = logarithm(edge.q(y));
            z += edge.sign * log;
            slope += by_q / edge.distance;
        }
        (z, slope)
    }
}

impl Form {
    /// The units of the network, whose inputs are coordinates and whose outputs are of order one.
    pub(super) fn inner_scaling(&self) -> Scaling {
        let mut scaling = self.scaling.clone();
        for (i, state) in self.states.iter().enumerate() {
            if let Coordinate::Log { centre, spread } = state.coordinate {
                (scaling.state_centre[i], scaling.state[i]) = (centre, spread);
            }
        }
        scaling.rate = vec![1.0; self.flows.len()];
        scaling
    }
}

/// The range of data that are strictly inside of their bounds, for log coordinates.
///
/// ```
/// use lawful::LogRange;
/// // A population over four decades.
/// let range = LogRange::of([1.0, 10.0, 100.0, 1e3, 1e4], Some(0.0), None);
/// assert!((range.unwrap().middle - 100.0_f64.ln()).abs() < 1e-12);
/// // A state on its bound has none.
/// assert_eq!(LogRange::of([0.0, 1.0], Some(0.0), None), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogRange {
    /// Mean of `ln (y − l)`, of `−ln (u − y)`, or of the difference `ln (y − l) − ln (u − y)` between both.
    pub middle: f64,
    /// Its standard deviation; 1 if it does not vary.
    pub spread: f64,
}

impl LogRange {
    /// Returns the range of these measured values; nothing if there are no bounds or no values, or one is
    /// not strictly inside. Values that are not finite are gaps.
    pub fn of(
        values: impl IntoIterator<Item = f64>,
        lower: Option<f64>,
        upper: Option<f64>,
    ) -> Option<Self> {
        if lower.is_none() && upper.is_none() {
            return None;
        }
        let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for y in values.into_iter().filter(|y| y.is_finite()) {
            let below = lower.map_or(0.0, |l| (y - l).ln());
            let above = upper.map_or(0.0, |u| (u - y).ln());
            let z = below - above;
            if !z.is_finite() {
                return None;
            }
            count += 1.0;
            sum += z;
            squares += z * z;
        }
        if count < 1.0 {
            return None;
        }
        let middle = sum / count;
        let spread = (squares / count - middle * middle).max(0.0).sqrt();
        Some(Self { middle, spread: if spread > 1e-6 { spread } else { 1.0 } })
    }
}
