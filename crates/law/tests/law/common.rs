//! Shared by several tests.

use lawful_law::{Expression, Law, LawError, Steps, Vocabulary, Words, Workspace};

/// State `x`, `v`, input `u`, constants `k = 2`, `m = 0.5`, definitions of energy and its increase.
pub(crate) fn vocabulary() -> Vocabulary {
    Words::new()
        .state(["x", "v"])
        .inputs(["u"])
        .constant("k", 2.0)
        .constant("m", 0.5)
        .define("rise", "next(E) - E")
        .define("E", "k*x^2/2 + m*v^2/2")
        .check()
        .expect("a good vocabulary")
}

/// The one law in a text.
pub(crate) fn law(text: &str) -> Result<Law, LawError> {
    let mut laws = Law::parse("law", text, &vocabulary())?;
    assert_eq!(laws.len(), 1, "{text}");
    Ok(laws.remove(0))
}

/// A trajectory that owns its numbers; the input is `u = 10·row`.
#[derive(Debug, Clone)]
pub(crate) struct Trajectory {
    pub(crate) times: Vec<f64>,
    pub(crate) states: Vec<f64>,
    pub(crate) inputs: Vec<f64>,
}

impl Trajectory {
    /// Rows `(x, v)` at the times 0, 1, 2, …
    pub(crate) fn new(states: &[f64]) -> Self {
        let rows = states.len() / 2;
        let times: Vec<f64> = (0..rows).map(|row| row as f64).collect();
        let inputs = times.iter().map(|t| 10.0 * t).collect();
        Self { times, states: states.to_vec(), inputs }
    }

    pub(crate) fn steps(&self) -> Steps<'_> {
        Steps { times: &self.times, states: &self.states, inputs: &self.inputs }
    }
}

/// Residuals of a law.
pub(crate) fn residuals(law: &Law, trajectory: &Trajectory) -> Vec<f64> {
    let mut result = vec![f64::NAN; trajectory.times.len()];
    law.residuals(&trajectory.steps(), &mut Workspace::new(), &mut result);
    result
}

/// `Jᵀ w`, the gradient of the residuals weighted by `w`.
pub(crate) fn gradient(law: &Law, trajectory: &Trajectory, w: &[f64]) -> Vec<f64> {
    let mut workspace = Workspace::new();
    let mut unused = vec![0.0; w.len()];
    let mut state_bar = vec![0.0; trajectory.states.len()];
    law.residuals(&trajectory.steps(), &mut workspace, &mut unused);
    law.pull_back(&trajectory.steps(), &mut workspace, w, &mut state_bar);
    state_bar
}

/// Value and derivatives by `x` and `v` of a formula at one point with `t = 0` and `u = 0`.
pub(crate) fn at_point(text: &str, x: f64, v: f64) -> (f64, [f64; 2]) {
    let expression = Expression::parse(text, &vocabulary()).expect(text);
    let trajectory = Trajectory::new(&[x, v]);
    let mut workspace = Workspace::new();
    let (mut value, mut slopes) = ([f64::NAN], [0.0; 2]);
    expression.values(&trajectory.steps(), &mut workspace, &mut value);
    expression.pull_back(&trajectory.steps(), &mut workspace, &[1.0], &mut slopes);
    (value[0], slopes)
}
