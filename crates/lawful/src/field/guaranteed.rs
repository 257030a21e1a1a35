//! The laws that a field guarantees, on single states: checks them, and moves states to them.

use lawful_ode::Refused;

use super::SmoothLaws;
use super::linear::LinearLaws;

/// How far a state is off a law that states its value.
#[derive(Debug, Clone, Copy)]
pub struct StateOff<'a> {
    /// The law's name.
    pub name: &'a str,
    /// By how much, in units of the law.
    pub off: f64,
    /// The size of the law.
    pub size: f64,
    /// The gradient of `off` by the state.
    pub gradient: &'a [f64],
}

/// The laws that a field guarantees; [`FieldDescription::guaranteed`](super::FieldDescription::guaranteed)
/// returns them.
///
/// ```
/// # use lawful::{FieldDescription, FieldPart, NetworkDescription, SmoothDescription, SmoothLaw};
/// let names = ["x".to_owned(), "y".to_owned()];
/// let circle = SmoothLaw { name: "circle".into(), holds: "x^2 + y^2 == 1".into(), size: 1.0 };
/// let smooth = SmoothDescription {
///     scale: vec![1.0, 1.0],
///     equalities: vec![circle],
///     falling: None,
///     softness: SmoothDescription::softness_of(1.0),
/// };
/// let network = NetworkDescription::new(&[4], &names);
/// let field = FieldDescription {
///     parts: vec![FieldPart::Network(network), FieldPart::Smooth(smooth)],
///     ..FieldDescription::new(&names)
/// };
/// let mut laws = field.guaranteed()?.expect("there is one law");
/// let mut state = [3.0, 4.0];
/// assert_eq!(laws.worst(0.0, &state), Some(("circle", 24.0)));
/// laws.project(0.0, &mut state)?;
/// assert!((state[0] - 0.6).abs() < 1e-15 && (state[1] - 0.8).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct GuaranteedLaws {
    laws: Laws,
}

#[derive(Debug, Clone)]
enum Laws {
    Smooth(SmoothLaws),
    Linear(LinearLaws),
}

impl GuaranteedLaws {
    pub(super) fn smooth(laws: SmoothLaws) -> Self {
        Self { laws: Laws::Smooth(laws) }
    }

    pub(super) fn linear(laws: LinearLaws) -> Self {
        Self { laws: Laws::Linear(laws) }
    }

    /// Moves the initial state of a path to the laws that state their value, by the shortest way in sizes
    /// of the states to first order. Returns whether it was off by more than rounding.
    ///
    /// # Errors
    /// If no such state is found.
    pub fn project(&mut self, t: f64, y: &mut [f64]) -> Result<bool, Refused> {
        match &mut self.laws {
            Laws::Smooth(laws) => laws.project(t, y),
            Laws::Linear(laws) => laws.project(y),
        }
    }

    /// Moves a state to the laws of a path that goes through another state: the start of a segment to
    /// those of the initial state.
    ///
    /// # Errors
    /// If no such state is found.
    pub fn project_to(
        &mut self,
        (t, y): (f64, &mut [f64]),
        initial: (f64, &[f64]),
    ) -> Result<bool, Refused> {
        match &mut self.laws {
            Laws::Smooth(laws) => laws.project_to((t, y), initial),
            Laws::Linear(laws) => laws.project_to(y, initial.1),
        }
    }

    /// The adjoint of [`project_to`](Self::project_to) at the state `y` before it was moved: turns the
    /// adjoint of the moved state into that of `y`, in place, and adds that of the initial state to
    /// `initial_bar`. For [`project`](Self::project) both states are the same, and so are both adjoints.
    ///
    /// # Panics
    /// If the state cannot be moved.
    pub fn pull_back(
        &mut self,
        at: (f64, &[f64]),
        initial: (f64, &[f64]),
        bar: &mut [f64],
        initial_bar: &mut [f64],
    ) {
        match &mut self.laws {
            Laws::Smooth(laws) => laws.pull_back(at, initial, bar, initial_bar),
            Laws::Linear(laws) => laws.pull_back(at.1, initial.1, bar, initial_bar),
        }
    }

    /// Calls `visit` with each law that states its value.
    pub fn each_off(&mut self, t: f64, y: &[f64], visit: &mut dyn FnMut(StateOff<'_>)) {
        match &mut self.laws {
            Laws::Smooth(laws) => laws.each_off(t, y, visit),
            Laws::Linear(laws) => laws.each_off(y, visit),
        }
    }

    /// Returns the name of a state variable on or beyond a bound of which the network sees the distance's logarithm, and
    /// the bound: no path can start there.
    pub fn on_open_bound(&self, y: &[f64]) -> Option<(&str, f64)> {
        match &self.laws {
            Laws::Smooth(_) => None,
            Laws::Linear(laws) => laws.on_open_bound(y),
        }
    }

    /// Returns the law that a state is farthest off, of those that state their value, in sizes of the law.
    pub fn worst(&mut self, t: f64, y: &[f64]) -> Option<(&str, f64)> {
        match &mut self.laws {
            Laws::Smooth(laws) => laws.worst(t, y),
            Laws::Linear(laws) => laws.worst(y),
        }
    }
}
