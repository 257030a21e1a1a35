//! A tableau with its step-size control, checked.

use crate::control::Control;
use crate::error::InvalidSolver;
use crate::tableau::Tableau;

/// A tableau, its step-size control, and a bound on the memory of the adjoint.
///
/// ```
/// use lawful_ode::{Adaptive, Control, Solver, tableaus};
/// assert!(Solver::new(&tableaus::RK4, Control::Grid { substeps: 2 }).is_ok());
/// let error = Solver::new(&tableaus::RK4, Control::Adaptive(Adaptive::default())).unwrap_err();
/// assert_eq!(error.to_string(), "`rk4` has no error estimate, so it cannot choose its steps");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Solver {
    tableau: &'static Tableau,
    control: Control,
    memory: usize,
}

/// The 3/8 rule, one step per interval of the data: the paper's.
impl Default for Solver {
    fn default() -> Self {
        let control = Control::Grid { substeps: 1 };
        Self::new(&crate::tableaus::RK4_38, control).expect("every tableau can step on a grid")
    }
}

impl Solver {
    /// Default bound on the field's tape: 1 GiB.
    pub const MEMORY: usize = 1 << 30;

    /// Combines a tableau with step-size control.
    ///
    /// # Errors
    /// If steps are adaptive and the tableau has no error estimate, or a setting is outside its
    /// range.
    pub fn new(tableau: &'static Tableau, control: Control) -> Result<Self, InvalidSolver> {
        match control {
            Control::Grid { substeps: 0 } => {
                let (setting, range) = ("substeps", "at least 1");
                return Err(InvalidSolver::OutOfRange { setting, range, value: 0.0 });
            }
            Control::Grid { .. } => {}
            Control::Adaptive(settings) => {
                settings.check()?;
                if tableau.embedded.is_none() {
                    return Err(InvalidSolver::NoErrorEstimate { name: tableau.name });
                }
            }
        }
        Ok(Self { tableau, control, memory: Self::MEMORY })
    }

    /// Sets the bound, in bytes, on the field's tape; default [`MEMORY`](Self::MEMORY).
    ///
    /// A path that needs more is stored in checkpoint blocks, of which only the last is on the
    /// tape; the adjoint computes the others again from their first state. The gradient is the same
    /// bit for bit. One step always fits.
    #[must_use]
    pub fn with_memory(self, bytes: usize) -> Self {
        Self { memory: bytes, ..self }
    }

    /// The tableau.
    pub fn tableau(&self) -> &'static Tableau {
        self.tableau
    }

    /// The step-size control.
    pub fn control(&self) -> Control {
        self.control
    }

    /// Bound on the field's tape in bytes.
    pub fn memory(&self) -> usize {
        self.memory
    }
}
