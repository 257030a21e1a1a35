//! A quantity: a formula of the state and time at one time step, and its differential.

use crate::functions::{AT_MOST, SIGN};
use crate::graph::{Graph, Id, Op};
use crate::linear::Linear;
use crate::steps::{Steps, Workspace};
use crate::tape::Tape;

/// A formula of the state, the inputs and time at one time step, without a text.
///
/// A law names it, and it can be differentiated as often as one likes: its
/// [`differential`](Self::differential) is a quantity again.
///
/// ```
/// # use lawful_law::{Law, Steps, Words, Workspace};
/// let vocabulary = Words::new().state(["x", "v"]).check()?;
/// let law = &Law::parse("energy", "x^2 + v^2 == initial(x^2 + v^2)", &vocabulary)?[0];
/// let energy = law.conserved().unwrap().quantity;
///
/// // 2 x ẋ + 2 v v̇ at x = 3, v = 1, ẋ = 1, v̇ = −3. The last number of the row is ṫ.
/// let steps = Steps { times: &[0.0], states: &[3.0, 1.0, 1.0, -3.0, 1.0], inputs: &[] };
/// let (mut workspace, mut rate) = (Workspace::new(), [f64::NAN]);
/// energy.differential().values(&steps, &mut workspace, &mut rate);
/// assert_eq!(rate, [0.0]);
/// # Ok::<(), lawful_law::LawError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Quantity {
    tape: Tape,
}

impl Quantity {
    /// The quantity of a node that depends on no other time step.
    pub(crate) fn new(graph: &Graph, root: Id, state_len: usize, input_len: usize) -> Self {
        Self { tape: graph.tape(root, state_len, input_len) }
    }

    /// Number of values in a row of states.
    pub fn state_len(&self) -> usize {
        self.tape.state_len()
    }

    /// Returns the coefficients of the value, if it is affine in the states and depends on neither time nor
    /// inputs.
    pub fn linear(&self) -> Option<Linear> {
        self.tape.linear()
    }

    /// Returns whether the value depends on the state variable at this position in a row of states.
    pub fn depends_on(&self, variable: usize) -> bool {
        self.tape.has_state(variable)
    }

    /// Returns whether the value depends on an input.
    pub fn depends_on_inputs(&self) -> bool {
        self.tape.root().of_input
    }

    /// Returns whether the value depends on time other than through the state.
    pub fn depends_on_time(&self) -> bool {
        self.tape.has_time()
    }

    /// Returns whether the gradient has no jumps, as those of `abs`, `min` and `max`.
    pub fn is_smooth(&self) -> bool {
        let jumps = |op| match op {
            Op::Map(function, _) => *function == SIGN,
            Op::Fold(function, ..) => *function == AT_MOST,
            _ => false,
        };
        !self.differential().tape.nodes().iter().any(|node| jumps(node.op))
    }

    /// Returns the differential, `Σ_i ∂e/∂y_i · ẏ_i + ∂e/∂t · ṫ`, as a quantity of the row `(y, ẏ, ṫ)`.
    ///
    /// One tape of it holds all first and second derivatives: with the rates of a vector field for `ẏ` and
    /// `ṫ = 1` its value is the rate of `e`, its gradient by `ẏ` is `∇e`, by `ṫ` it is `∂e/∂t`, and its
    /// gradient by `y` with `ṫ = 0` is the second derivative of `e` times `ẏ`. Inputs do not differ.
    #[must_use]
    pub fn differential(&self) -> Self {
        let d = self.tape.state_len();
        let mut graph = Graph::of(&self.tape);
        let differential = graph.differential(self.tape.len() - 1, |graph, op| match op {
            Op::State(variable) => Some(graph.leaf(Op::State(d + variable))),
            Op::Time => Some(graph.leaf(Op::State(2 * d))),
            _ => None,
        });
        let root = differential.unwrap_or_else(|| graph.constant(0.0));
        Self::new(&graph, root, 2 * d + 1, self.tape.input_len())
    }

    /// Computes the value at every time step, and records it in `workspace` for
    /// [`pull_back`](Self::pull_back).
    ///
    /// # Panics
    /// If a length in `steps` or that of `values` is wrong.
    pub fn values(&self, steps: &Steps<'_>, workspace: &mut Workspace, values: &mut [f64]) {
        self.tape.forward(steps, None, workspace, values);
    }

    /// Adds the gradient: `state_bar += Σ value_bar[row] · ∂value[row]/∂state`.
    ///
    /// `steps` must be those of the last call of [`values`](Self::values) with this workspace. A
    /// row where `value_bar` is 0 adds nothing, even where a derivative is infinite.
    ///
    /// # Panics
    /// If a length is wrong. With debug assertions, also if the last forward sweep in `workspace`
    /// is that of another quantity or of other steps.
    pub fn pull_back(
        &self,
        steps: &Steps<'_>,
        workspace: &mut Workspace,
        value_bar: &[f64],
        state_bar: &mut [f64],
    ) {
        self.tape.backward(steps, workspace, value_bar, state_bar, None);
    }
}
