//! The effects of trajectories: numbers of their own that the field reads, constant along each path.

/// The effects of every trajectory of the data, one after the other. They are trained, as the last numbers of
/// θ, or fixed.
#[derive(Debug, Clone, Default)]
pub(super) struct Effects {
    /// Number of effects of one trajectory.
    pub(super) each: usize,
    trajectories: usize,
    fixed: Option<Vec<f64>>,
}

impl Effects {
    /// Trained effects.
    pub(super) fn new(each: usize, trajectories: usize) -> Self {
        Self { each, trajectories, fixed: None }
    }

    /// The same number of effects, fixed at these values.
    pub(super) fn fixed(&self, values: Vec<f64>) -> Self {
        assert_eq!(values.len(), self.each * self.trajectories, "the effects of all trajectories");
        Self { fixed: Some(values), ..*self }
    }

    /// Returns how many of the last numbers of θ are effects.
    pub(super) fn len(&self) -> usize {
        if self.fixed.is_some() { 0 } else { self.each * self.trajectories }
    }

    /// Returns the field's parameters at θ, the numbers of trained initial states, and the effects.
    pub(super) fn parts<'t>(
        &'t self,
        theta: &'t [f64],
        field_len: usize,
    ) -> (&'t [f64], &'t [f64], &'t [f64]) {
        let (before, trained) = theta.split_at(theta.len() - self.len());
        let (field, z) = before.split_at(field_len);
        (field, z, self.fixed.as_deref().unwrap_or(trained))
    }

    /// Returns the same parts of a gradient; effects that are fixed have none.
    pub(super) fn parts_mut<'t>(
        &self,
        gradient: &'t mut [f64],
        field_len: usize,
    ) -> (&'t mut [f64], &'t mut [f64], &'t mut [f64]) {
        let (before, trained) = gradient.split_at_mut(gradient.len() - self.len());
        let (field, z) = before.split_at_mut(field_len);
        (field, z, trained)
    }
}
