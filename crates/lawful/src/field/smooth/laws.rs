//! The description of smooth laws, and the laws themselves.

use lawful_law::{Law, Vocabulary};
use lawful_ode::{Refused, VectorField};
use serde::{Deserialize, Serialize};

use super::falling::Falling;
use super::field::SmoothField;
use super::guard::SurfaceGuard;
use super::newton::Newton;
use super::recognise::{NotSmooth, dissipation, smooth_equality};
use super::surface::{Surface, SurfaceLaw};
use super::tangent::Tangent;
use crate::field::{FieldError, StateOff};

/// Smooth laws that a field guarantees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SmoothDescription {
    /// The size of each state variable, above 0: distances are measured in them.
    pub scale: Vec<f64>,
    /// Equalities, whose gradients must not depend on each other.
    pub equalities: Vec<SmoothLaw>,
    /// A law whose quantity never rises.
    pub falling: Option<SmoothLaw>,
    /// `ε`, a rate above 0: the width in which the removal of what raises the quantity sets in, times its
    /// scaled gradient. About a thousandth of what one time scale of the data allows is the default.
    pub softness: f64,
}

/// A law of a [`SmoothDescription`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SmoothLaw {
    /// Its name.
    pub name: String,
    /// Its text, one relation.
    pub holds: String,
    /// Its size, above 0: that of its quantity in the data.
    pub size: f64,
}

/// Smooth laws, with which initial states can be checked and moved.
#[derive(Debug, Clone)]
pub struct SmoothLaws {
    guard: SurfaceGuard,
}

impl SmoothDescription {
    /// The softness for data with this time scale: the removal sets in at a thousandth of the rates.
    pub fn softness_of(time_scale: f64) -> f64 {
        1e-3 / time_scale
    }

    /// Wraps a field of one's own: its rate obeys the laws, and it has the guard of its steps.
    ///
    /// ```
    /// use lawful::law::Words;
    /// use lawful::{FormulaField, Recorded, SmoothDescription, SmoothLaw, VectorField};
    ///
    /// // A rate that leaves the unit circle, and its part along the circle.
    /// let vocabulary = Words::new().state(["x", "y"]).check()?;
    /// let field = Recorded::new(FormulaField::new(&["x - y", "x + y"], &vocabulary)?);
    /// let circle = SmoothLaw {
    ///     name: "circle".to_owned(),
    ///     holds: "x^2 + y^2 == 1".to_owned(),
    ///     size: 1.0,
    /// };
    /// let laws = SmoothDescription {
    ///     scale: vec![1.0, 1.0],
    ///     equalities: vec![circle],
    ///     falling: None,
    ///     softness: SmoothDescription::softness_of(1.0),
    /// };
    /// let mut field = laws.around(Box::new(field), &vocabulary)?;
    /// field.reserve(1, 1);
    /// let mut dy = [0.0; 2];
    /// field.eval(0, &[0.0], &[0.0, 1.0], &[], &mut dy);
    /// assert_eq!(dy, [-1.0, 0.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a law cannot be read or guaranteed, or a length or a number is not valid.
    pub fn around(
        &self,
        field: Box<dyn VectorField>,
        vocabulary: &Vocabulary,
    ) -> Result<SmoothField, FieldError> {
        self.wrap(field, vocabulary, vocabulary, &[])
    }

    /// Wraps a field. `variables` is the vocabulary in which learned constants are variables behind the
    /// state, and `known` the indices of the state variables with known rates.
    ///
    /// # Errors
    /// If a law cannot be read or guaranteed, or a length or a number is not valid.
    pub(in crate::field) fn wrap(
        &self,
        mut field: Box<dyn VectorField>,
        vocabulary: &Vocabulary,
        variables: &Vocabulary,
        known: &[usize],
    ) -> Result<SmoothField, FieldError> {
        let (d, outputs) = (field.state_len(), field.output_len());
        if outputs != d {
            let what = "rates of a field with smooth laws";
            return Err(FieldError::Length { what, found: outputs, expected: d });
        }
        if field.guard().is_some() {
            let reason = "cannot be outside of a part that guards its steps, which would undo them";
            return Err(FieldError::Order { part: "smooth", reason });
        }
        let (equalities, falling) = self.laws(vocabulary, variables, known)?;
        let inputs = vocabulary.inputs().len();
        let surface = |laws: Vec<SurfaceLaw>| Surface::new(laws, &self.scale, inputs);
        let tangent = Tangent::new(surface(equalities.clone()));
        let falls = falling.is_some();
        let mut all = equalities;
        all.extend(falling);
        let falling = falls.then(|| Falling::new(surface(all.clone()), self.softness));
        let guard = SurfaceGuard::new(Newton::new(surface(all), falls), vocabulary.state());
        Ok(SmoothField::new(field, tangent, falling, guard))
    }

    /// Returns the laws, to check and move states.
    pub(in crate::field) fn on_states(
        &self,
        vocabulary: &Vocabulary,
        variables: &Vocabulary,
    ) -> Result<SmoothLaws, FieldError> {
        let (equalities, _) = self.laws(vocabulary, variables, &[])?;
        let surface = Surface::new(equalities, &self.scale, vocabulary.inputs().len());
        Ok(SmoothLaws { guard: SurfaceGuard::new(Newton::new(surface, false), vocabulary.state()) })
    }

    fn laws(
        &self,
        vocabulary: &Vocabulary,
        variables: &Vocabulary,
        known: &[usize],
    ) -> Result<(Vec<SurfaceLaw>, Option<SurfaceLaw>), FieldError> {
        let state = vocabulary.state();
        let (found, expected) = (self.scale.len(), state.len());
        let is_size = |size: &f64| size.is_finite() && *size > 0.0;
        if found != expected || !self.scale.iter().all(is_size) {
            let found = self.scale.iter().filter(|size| is_size(size)).count();
            return Err(FieldError::Length { what: "sizes of states above 0", found, expected });
        }
        let wrong = |law: &SmoothLaw, why| FieldError::Law { law: law.name.clone(), why };
        if !is_size(&self.softness) {
            let reason = "needs a softness above 0";
            return Err(FieldError::Order { part: "smooth", reason });
        }
        // A law is checked where learned constants can be seen, and read where they cannot.
        let read = |law: &SmoothLaw, vocabulary: &Vocabulary| {
            let laws = Law::parse(&law.name, &law.holds, vocabulary);
            let mut laws = laws.map_err(FieldError::Names)?;
            if laws.len() != 1 || !is_size(&law.size) {
                return Err(wrong(law, "it must be one relation, with a size above 0".to_owned()));
            }
            Ok(laws.remove(0))
        };
        let refused = |law: &SmoothLaw, why: NotSmooth| wrong(law, why.to_string());
        let mut equalities = Vec::with_capacity(self.equalities.len());
        for law in &self.equalities {
            let seen = smooth_equality(&read(law, variables)?, state, known);
            seen.map_err(|why| refused(law, why))?;
            let conserved = smooth_equality(&read(law, vocabulary)?, state, known);
            let conserved = conserved.map_err(|why| refused(law, why))?;
            if self.falling.is_some() && conserved.quantity.depends_on_time() {
                let why = "it moves with time, while another law's quantity must not rise on it";
                return Err(wrong(law, why.to_owned()));
            }
            let (quantity, is_zero) = (conserved.quantity, conserved.is_zero);
            equalities.push(SurfaceLaw::new(&law.name, quantity, is_zero, law.size));
        }
        let mut falling = None;
        if let Some(law) = &self.falling {
            dissipation(&read(law, variables)?, state, known).map_err(|why| refused(law, why))?;
            let quantity = dissipation(&read(law, vocabulary)?, state, known);
            let quantity = quantity.map_err(|why| refused(law, why))?;
            falling = Some(SurfaceLaw::new(&law.name, quantity, false, law.size));
        }
        Ok((equalities, falling))
    }
}

impl SmoothLaws {
    /// Moves the initial state of a path to the laws that state their value, by the shortest way in sizes
    /// of the states to first order. Returns whether it was off by more than rounding.
    ///
    /// # Errors
    /// If no such state is found.
    pub fn project(&mut self, t: f64, y: &mut [f64]) -> Result<bool, Refused> {
        // Its own values are the levels of the laws that each trajectory has its own value of.
        self.guard.set_levels(t, y);
        self.guard.move_to_surface(t, y)
    }

    /// Moves a state to the surface of a path that goes through another state: the start of a segment to
    /// that of the initial state.
    ///
    /// # Errors
    /// If no such state is found.
    pub fn project_to(
        &mut self,
        (t, y): (f64, &mut [f64]),
        (t_initial, initial): (f64, &[f64]),
    ) -> Result<bool, Refused> {
        self.guard.set_levels(t_initial, initial);
        self.guard.move_to_surface(t, y)
    }

    /// The adjoint of [`project_to`](Self::project_to) at the state before it was moved: turns the adjoint
    /// of the moved state into that of the state, in place, and adds that of the initial state to
    /// `initial_bar`.
    ///
    /// # Panics
    /// If the state cannot be moved.
    pub fn pull_back(
        &mut self,
        (t, y): (f64, &[f64]),
        (t_initial, initial): (f64, &[f64]),
        bar: &mut [f64],
        initial_bar: &mut [f64],
    ) {
        self.guard.set_levels(t_initial, initial);
        self.guard.pull_back_move(t, y, bar);
        self.guard.add_equalities_bar(t_initial, initial, initial_bar);
    }

    /// Calls `visit` with each law that states its value.
    pub(in crate::field) fn each_off(
        &mut self,
        t: f64,
        y: &[f64],
        visit: &mut dyn FnMut(StateOff<'_>),
    ) {
        self.guard.each_off(t, y, visit);
    }

    /// Returns the law that a state is farthest off, of those that state their value, in sizes of the law.
    pub fn worst(&mut self, t: f64, y: &[f64]) -> Option<(&str, f64)> {
        self.guard.worst(t, y)
    }
}
