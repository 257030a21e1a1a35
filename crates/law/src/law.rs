//! A law: a relation that must hold at every time step of a trajectory.

use std::fmt;

use crate::compile::Scope;
use crate::enforcement::Enforcement;
use crate::error::{ErrorKind, LawError};
use crate::linear::{Invariant, Linear};
use crate::parser::parse_relations;
use crate::quantity::Quantity;
use crate::reach::Reach;
use crate::relation::Relation;
use crate::steps::{Steps, Workspace};
use crate::syntax::{Comparison, Operator, Syntax};
use crate::tape::Tape;
use crate::vocabulary::Vocabulary;

/// A relation between two expressions, measured by its residual `c`.
///
/// | written | residual | must be |
/// |---|---|---|
/// | `l == r` | `c = l − r` | `c = 0` |
/// | `l <= r`, `l < r` | `c = l − r` | `c ≤ 0` |
/// | `l >= r`, `l > r` | `c = r − l` | `c ≤ 0` |
///
/// `Display` writes the relation with as few brackets as possible.
#[derive(Debug, Clone)]
pub struct Law {
    name: String,
    text: String,
    left: Syntax,
    comparison: Comparison,
    right: Syntax,
    pub(crate) tape: Tape,
    /// The quantity of which the residual is the rate, if it is that of one.
    pub(crate) rate_of: Option<Quantity>,
    enforcement: Enforcement,
    weight: f64,
    tolerance: Option<f64>,
}

impl Law {
    /// Parses the laws in `text`, one for each relation.
    ///
    /// A chain such as `0 <= S <= 1` is one law for each pair of neighbours, with the names
    /// `name (0 <= S)` and `name (S <= 1)`.
    pub fn parse(name: &str, text: &str, vocabulary: &Vocabulary) -> Result<Vec<Self>, LawError> {
        let (sides, comparisons) = parse_relations(text)?;
        let mut graph = vocabulary.graph();
        let mut compiled = Vec::with_capacity(sides.len());
        for side in sides {
            let id = vocabulary.compile(&side, Scope::Trajectory, &mut graph)?;
            compiled.push((side, id));
        }
        let chained = comparisons.len() > 1;
        let mut laws = Vec::with_capacity(comparisons.len());
        for (pair, comparison) in compiled.windows(2).zip(comparisons) {
            let [(left, l), (right, r)] = pair else { unreachable!("windows of two") };
            let span = left.span.start..right.span.end;
            let text = text[span.clone()].to_owned();
            let name = if chained { format!("{name} ({text})") } else { name.to_owned() };
            let c = match comparison {
                Comparison::Equal | Comparison::AtMost | Comparison::Less => {
                    graph.binary(Operator::Subtract, *l, *r)
                }
                Comparison::AtLeast | Comparison::Greater => {
                    graph.binary(Operator::Subtract, *r, *l)
                }
            };
            if !graph.node(c).of_state {
                return Err(LawError::new(ErrorKind::IndependentOfState { law: name }, span));
            }
            let rate_of = vocabulary.rate_of((left, *l), (right, *r), comparison, &mut graph)?;
            let (left, right) = (left.clone(), right.clone());
            let tape = vocabulary.tape(&graph, c);
            let enforcement = Enforcement::default();
            let weight = 1.0;
            laws.push(Self {
                name,
                text,
                left,
                comparison,
                right,
                tape,
                rate_of,
                enforcement,
                weight,
                tolerance: None,
            });
        }
        Ok(laws)
    }

    /// Returns the name. In a chain, it includes the text of the relation.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the relation as written, without the rest of a chain.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns what the residual must be.
    pub fn relation(&self) -> Relation {
        match self.comparison {
            Comparison::Equal => Relation::Equality,
            _ => Relation::AtMost,
        }
    }

    /// Returns how the law is enforced: [`Enforcement::Penalty`] unless
    /// [`enforced`](Self::enforced) changed it.
    pub fn enforcement(&self) -> Enforcement {
        self.enforcement
    }

    /// Returns the law with this enforcement. Residuals and gradients do not depend on it.
    #[must_use]
    pub fn enforced(self, enforcement: Enforcement) -> Self {
        Self { enforcement, ..self }
    }

    /// Returns the factor by which training multiplies the residual: 1 unless
    /// [`weighted`](Self::weighted) changed it.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// Returns the law with this weight, above 0. Residuals, violations and gradients of the law itself do
    /// not depend on it.
    #[must_use]
    pub fn weighted(self, weight: f64) -> Self {
        Self { weight, ..self }
    }

    /// Returns the violation above which the law counts as broken, in its own units, if one was
    /// [set](Self::tolerating); otherwise that is a share of the law's size.
    pub fn tolerance(&self) -> Option<f64> {
        self.tolerance
    }

    /// Returns the law with this tolerance. Residuals and gradients do not depend on it.
    #[must_use]
    pub fn tolerating(self, tolerance: Option<f64>) -> Self {
        Self { tolerance, ..self }
    }

    /// Returns the coefficients of the residual, if it is affine in the states and depends on
    /// neither time nor inputs.
    ///
    /// ```
    /// # use lawful_law::{Law, Words};
    /// let vocabulary = Words::new().state(["x", "v"]).constant("k", 0.5).check()?;
    /// let linear = Law::parse("bound", "k*(x - 1) <= 3", &vocabulary)?[0].linear().unwrap();
    /// assert!(linear.is_pointwise());
    /// assert_eq!((linear.terms[0].coefficient, linear.constant), (0.5, -3.5));
    ///
    /// assert_eq!(Law::parse("circle", "x^2 + v^2 == 1", &vocabulary)?[0].linear(), None);
    /// # Ok::<(), lawful_law::LawError>(())
    /// ```
    pub fn linear(&self) -> Option<Linear> {
        self.tape.linear()
    }

    /// Returns the quantity that the law conserves, if it is a linear conservation law.
    ///
    /// These are equalities between `w·y` and a constant, between `w·y` and its value at a fixed
    /// time step (`initial`, `final`), and between `w·y` at neighbouring time steps; and `rate(w·y) == 0`.
    ///
    /// ```
    /// # use lawful_law::{Invariant, Law, Words};
    /// let vocabulary = Words::new().state(["S", "I", "R"]).check()?;
    /// let invariant = |text| Law::parse("law", text, &vocabulary).map(|laws| laws[0].invariant());
    ///
    /// let weights = vec![1.0; 3];
    /// let people = Some(Invariant { weights: weights.clone(), value: Some(763.0) });
    /// assert_eq!(invariant("S + I + R == 763")?, people);
    /// let unchanged = Some(Invariant { weights, value: None });
    /// assert_eq!(invariant("S + I + R == initial(S + I + R)")?, unchanged);
    /// assert_eq!(invariant("next(S) <= S")?, None);
    /// # Ok::<(), lawful_law::LawError>(())
    /// ```
    pub fn invariant(&self) -> Option<Invariant> {
        let states = self.tape.state_len();
        match (self.relation(), &self.rate_of) {
            (Relation::Equality, None) => self.linear()?.invariant(states),
            (Relation::Equality, Some(quantity)) => {
                let invariant = quantity.linear()?.invariant(states)?;
                Some(Invariant { value: None, ..invariant })
            }
            (Relation::AtMost, _) => None,
        }
    }

    /// Returns the other time steps that a residual depends on.
    pub fn reach(&self) -> Reach {
        self.tape.reach()
    }

    /// Computes the residual at every time step, and records it in `workspace` for
    /// [`pull_back`](Self::pull_back).
    ///
    /// It is 0 outside [`reach`](Self::reach)`().range(n)`, where a time step it depends on does
    /// not exist.
    ///
    /// A law that [uses rates](Self::uses_rates) takes them from the rows: the slopes of the parabola
    /// through three neighbours, which is what is known without a vector field. A single row has none:
    /// the residual is NaN. See [`residuals_with_rates`](Self::residuals_with_rates).
    ///
    /// # Panics
    /// If a length in `steps` or that of `residuals` is wrong.
    pub fn residuals(&self, steps: &Steps<'_>, workspace: &mut Workspace, residuals: &mut [f64]) {
        self.tape.forward(steps, None, workspace, residuals);
    }

    /// Returns whether the residual depends on the state variable at this position in a row of states.
    pub fn depends_on(&self, variable: usize) -> bool {
        self.tape.has_state(variable)
    }

    /// Returns whether the residual depends on time other than through the state.
    pub fn depends_on_time(&self) -> bool {
        self.tape.has_time()
    }

    /// Returns whether the residual depends on `rate(…)`, a derivative along the vector field.
    pub fn uses_rates(&self) -> bool {
        self.tape.has_rates()
    }

    /// Computes the residuals with the rates of a vector field at each row, laid out as the states.
    ///
    /// ```
    /// # use lawful_law::{Law, Steps, Words, Workspace};
    /// // An oscillator with friction: dE/dt = −c v².
    /// let words = Words::new().state(["x", "v"]).constant("c", 0.5).define("E", "(x^2 + v^2)/2");
    /// let law = &Law::parse("power", "rate(E) == -c*v^2", &words.check()?)?[0];
    /// assert!(law.uses_rates());
    ///
    /// let (x, v) = (1.0, 2.0);
    /// let steps = Steps { times: &[0.0], states: &[x, v], inputs: &[] };
    /// let (mut workspace, mut residual) = (Workspace::new(), [f64::NAN]);
    /// law.residuals_with_rates(&steps, &[v, -x - 0.5 * v], &mut workspace, &mut residual);
    /// assert_eq!(residual, [0.0]);
    /// # Ok::<(), lawful_law::LawError>(())
    /// ```
    ///
    /// # Panics
    /// If a length in `steps` or that of `rates` or `residuals` is wrong.
    pub fn residuals_with_rates(
        &self,
        steps: &Steps<'_>,
        rates: &[f64],
        workspace: &mut Workspace,
        residuals: &mut [f64],
    ) {
        self.tape.forward(steps, Some(rates), workspace, residuals);
    }

    /// Adds the gradient: `state_bar += Σ residual_bar[row] · ∂c[row]/∂state`.
    ///
    /// `steps` must be those of the last call of [`residuals`](Self::residuals) with this
    /// workspace. Rows outside the range are ignored. A row where `residual_bar` is 0 adds nothing,
    /// even where a derivative is infinite.
    ///
    /// # Panics
    /// If a length is wrong. With debug assertions, also if the last forward sweep in `workspace`
    /// is that of another law or of other steps.
    pub fn pull_back(
        &self,
        steps: &Steps<'_>,
        workspace: &mut Workspace,
        residual_bar: &[f64],
        state_bar: &mut [f64],
    ) {
        self.tape.backward(steps, workspace, residual_bar, state_bar, None);
    }

    /// Adds the gradient of [`residuals_with_rates`](Self::residuals_with_rates) by the states and by
    /// the rates, which are independent of each other here. Otherwise as [`pull_back`](Self::pull_back).
    ///
    /// # Panics
    /// As [`pull_back`](Self::pull_back).
    pub fn pull_back_with_rates(
        &self,
        steps: &Steps<'_>,
        workspace: &mut Workspace,
        residual_bar: &[f64],
        state_bar: &mut [f64],
        rates_bar: &mut [f64],
    ) {
        let bars = Some(rates_bar);
        self.tape.backward(steps, workspace, residual_bar, state_bar, bars);
    }
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.left, self.comparison.symbol(), self.right)
    }
}
