//! A field that conserves weighted sums of the states.

use lawful_ode::VectorField;

use super::FieldError;

/// `f = g − Σ_k u_k (u_kᵀ g)` with orthonormal `u_k`: the rate `g` of another field, projected on the
/// directions in which no weighted sum `wᵀy` changes.
///
/// The projection is symmetric, so that it applies to adjoints in the same way: `w̄ ↦ w̄ − Σ u (uᵀ w̄)`.
pub struct ConservingField {
    field: Box<dyn VectorField>,
    /// Orthonormal rows that span the weights.
    basis: Vec<f64>,
    /// The projected adjoint of all columns.
    w: Vec<f64>,
}

/// A sum is left out if its weights depend linearly on those before, up to this share of their length.
const DEPENDENT: f64 = 1e-12;

impl ConservingField {
    /// Creates a field that conserves sums with these weights.
    ///
    /// # Errors
    /// If a sum does not have one finite weight for each state variable, or the field does not compute
    /// every rate.
    ///
    /// # Panics
    /// If the field has a guard, which must be the outermost part.
    pub fn new(mut field: Box<dyn VectorField>, sums: &[Vec<f64>]) -> Result<Self, FieldError> {
        assert!(field.guard().is_none(), "a field with a guard is the outermost part");
        let d = field.state_len();
        let outputs = field.output_len();
        if outputs != d {
            let what = "rates of a field that conserves sums";
            return Err(FieldError::Length { what, found: outputs, expected: d });
        }
        let mut basis: Vec<f64> = Vec::with_capacity(sums.len() * d);
        for weights in sums {
            if weights.len() != d || weights.iter().any(|weight| !weight.is_finite()) {
                let found = weights.iter().filter(|weight| weight.is_finite()).count();
                let what = "finite weights of a conserved sum";
                return Err(FieldError::Length { what, found, expected: d });
            }
            let mut row = weights.clone();
            // Twice is enough for orthogonality to rounding.
            for _ in 0..2 {
                project(&basis, &mut row);
            }
            let (length, before) = (norm(&row), norm(weights));
            if length > DEPENDENT * before {
                basis.extend(row.iter().map(|x| x / length));
            }
        }
        Ok(Self { field, basis, w: Vec::new() })
    }

    fn projected(&mut self, w: &[f64]) {
        self.w.clear();
        self.w.extend_from_slice(w);
        for column in self.w.chunks_exact_mut(self.field.state_len()) {
            project(&self.basis, column);
        }
    }
}

/// Removes the component along each row of an orthonormal basis from a vector.
fn project(basis: &[f64], vector: &mut [f64]) {
    for row in basis.chunks_exact(vector.len()) {
        let along: f64 = row.iter().zip(&*vector).map(|(u, x)| u * x).sum();
        vector.iter_mut().zip(row).for_each(|(x, u)| *x -= along * u);
    }
}

fn norm(vector: &[f64]) -> f64 {
    vector.iter().map(|x| x * x).sum::<f64>().sqrt()
}

impl VectorField for ConservingField {
    fn state_len(&self) -> usize {
        self.field.state_len()
    }

    fn input_len(&self) -> usize {
        self.field.input_len()
    }

    fn parameter_len(&self) -> usize {
        self.field.parameter_len()
    }

    fn set_parameters(&mut self, theta: &[f64]) {
        self.field.set_parameters(theta);
    }

    fn reserve(&mut self, slots: usize, columns: usize) {
        self.field.reserve(slots, columns);
        self.w.reserve(columns * self.field.state_len());
    }

    fn slot_bytes(&self, columns: usize) -> usize {
        self.field.slot_bytes(columns)
    }

    fn eval(&mut self, slot: usize, t: &[f64], y: &[f64], u: &[f64], dy: &mut [f64]) {
        self.field.eval(slot, t, y, u, dy);
        for column in dy.chunks_exact_mut(self.field.state_len()) {
            project(&self.basis, column);
        }
    }

    fn pull_back(&mut self, slot: usize, w: &[f64], y_bar: &mut [f64]) {
        self.projected(w);
        self.field.pull_back(slot, &self.w, y_bar);
    }

    fn pull_back_state(&mut self, slot: usize, w: &[f64], y_bar: &mut [f64]) {
        self.projected(w);
        self.field.pull_back_state(slot, &self.w, y_bar);
    }

    fn pull_back_parameters(&mut self, slot: usize, w: &[f64]) {
        self.projected(w);
        self.field.pull_back_parameters(slot, &self.w);
    }

    fn flush(&mut self, theta_bar: &mut [f64]) {
        self.field.flush(theta_bar);
    }

    fn effect_len(&self) -> usize {
        self.field.effect_len()
    }

    fn set_effects(&mut self, effects: &[f64]) {
        self.field.set_effects(effects);
    }

    fn flush_effects(&mut self, effects_bar: &mut [f64]) {
        self.field.flush_effects(effects_bar);
    }

    fn fork(&self) -> Box<dyn VectorField> {
        let basis = self.basis.clone();
        Box::new(Self { field: self.field.fork(), basis, w: Vec::new() })
    }
}
