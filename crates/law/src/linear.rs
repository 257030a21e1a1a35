//! The linear form of a law: its coefficients, if the residual is affine in the states.
//!
//! The form of every node on the tape follows from those of its operands:
//!
//! | node | form |
//! |---|---|
//! | a constant, a state variable | itself |
//! | `-a`, `a + b`, `a - b` | the coefficients negated, added, subtracted |
//! | `a*b`, `a/b` | the coefficients scaled, if the other factor or the divisor has no states |
//! | `a^k` | a constant, if `a` has no states |
//! | `next(a)`, `previous(a)`, `initial(a)`, `final(a)` | the coefficients, at other time steps |
//! | time, inputs, rates, everything else | none |

use crate::functions::Step;
use crate::graph::Op;
use crate::syntax::Operator;
use crate::tape::Tape;

/// A residual that is affine in the states: `c = Σ coefficient · y[variable](at) + constant`.
///
/// A law with the relation `c ≤ 0` and a single term at this time step is a bound on one state
/// variable, `−constant/coefficient`: an upper bound if the coefficient is positive, a lower bound
/// if it is negative.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Linear {
    /// The terms, sorted by time step and variable. No two have the same time step and variable,
    /// and no coefficient is 0.
    pub terms: Vec<LinearTerm>,
    /// The residual where all states are 0.
    pub constant: f64,
}

/// One state variable at one time step, times a coefficient.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinearTerm {
    /// The time step of the state.
    pub at: TimeStep,
    /// The position of the variable in a row of states.
    pub variable: usize,
    /// The factor.
    pub coefficient: f64,
}

/// A time step, relative to that of a residual or to an end of the trajectory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TimeStep {
    /// This many steps later, or earlier if negative. `Offset(0)` is the residual's own time step.
    Offset(isize),
    /// This many steps after the first one.
    Initial(usize),
    /// This many steps before the last one.
    Final(usize),
}

/// A conserved quantity: `w·y` is the same at every time step.
#[derive(Debug, Clone, PartialEq)]
pub struct Invariant {
    /// The weights `w`, one for each state variable. The first one that is not 0 is positive.
    pub weights: Vec<f64>,
    /// The value of `w·y` if the law states it, or `None` if each trajectory has its own.
    pub value: Option<f64>,
}

impl Linear {
    /// Returns whether the residual depends only on the states at its own time step.
    pub fn is_pointwise(&self) -> bool {
        self.terms.iter().all(|term| term.at == TimeStep::Offset(0))
    }

    /// Returns the quantity that `c = 0` conserves.
    ///
    /// `w·y` is conserved if `c` is `w·y − constant` at the residual's own time step, or the
    /// difference of `w·y` between that time step and a fixed one, or between neighbours.
    pub(crate) fn invariant(&self, state_len: usize) -> Option<Invariant> {
        let mut groups = self.terms.chunk_by(|a, b| a.at == b.at);
        let (first, second) = (groups.next()?, groups.next().unwrap_or_default());
        let is_constant = match (first[0].at, second.first().map(|term| term.at)) {
            (TimeStep::Offset(0), None) => true,
            (TimeStep::Offset(0), Some(TimeStep::Initial(_) | TimeStep::Final(_))) => false,
            (TimeStep::Offset(k), Some(TimeStep::Offset(next))) if next == k + 1 => false,
            _ => return None,
        };
        let is_opposite = |(a, b): (&LinearTerm, &LinearTerm)| {
            a.variable == b.variable && a.coefficient + b.coefficient == 0.0
        };
        let is_difference = first.len() == second.len()
            && first.iter().zip(second).all(is_opposite)
            && groups.next().is_none()
            && self.constant == 0.0;
        if !(is_constant || is_difference) {
            return None;
        }
        let sign = first[0].coefficient.signum();
        let mut weights = vec![0.0; state_len];
        for term in first {
            weights[term.variable] = sign * term.coefficient;
        }
        let value = is_constant.then_some(0.0 - sign * self.constant);
        Some(Invariant { weights, value })
    }

    fn constant(constant: f64) -> Self {
        Self { terms: Vec::new(), constant }
    }

    /// Returns the value of a form without states.
    fn as_constant(&self) -> Option<f64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// Applies `factor` to every coefficient and to the constant.
    fn scaled(&self, factor: impl Fn(f64) -> f64) -> Self {
        let scaled =
            |term: &LinearTerm| LinearTerm { coefficient: factor(term.coefficient), ..*term };
        Self { terms: self.terms.iter().map(scaled).collect(), constant: factor(self.constant) }
            .merged()
    }

    fn plus(&self, other: &Self) -> Self {
        let terms = self.terms.iter().chain(&other.terms).copied().collect();
        Self { terms, constant: self.constant + other.constant }.merged()
    }

    /// Returns the form of the same value, taken at another time step.
    fn taken_at(&self, step: Step) -> Self {
        let taken = |term: &LinearTerm| LinearTerm { at: term.at.taken_at(step), ..*term };
        Self { terms: self.terms.iter().map(taken).collect(), constant: self.constant }.merged()
    }

    /// Sorts the terms, adds those of the same state, and drops those with coefficient 0.
    fn merged(mut self) -> Self {
        self.terms.sort_by_key(|term| (term.at, term.variable));
        self.terms.dedup_by(|later, kept| {
            let same = (later.at, later.variable) == (kept.at, kept.variable);
            if same {
                kept.coefficient += later.coefficient;
            }
            same
        });
        self.terms.retain(|term| term.coefficient != 0.0);
        self
    }

    fn is_finite(&self) -> bool {
        self.constant.is_finite() && self.terms.iter().all(|term| term.coefficient.is_finite())
    }
}

impl TimeStep {
    /// Returns where a value at this time step comes from when it is taken at another one.
    fn taken_at(self, step: Step) -> Self {
        match (self, step) {
            (Self::Offset(offset), Step::Next) => Self::Offset(offset + 1),
            (Self::Offset(offset), Step::Previous) => Self::Offset(offset - 1),
            // The graph has no `initial` of an earlier step, and no `final` of a later one.
            (Self::Offset(offset), Step::Initial) => Self::Initial(offset.unsigned_abs()),
            (Self::Offset(offset), Step::Final) => Self::Final(offset.unsigned_abs()),
            (fixed, _) => fixed,
        }
    }
}

impl Tape {
    /// Returns the linear form of the result, or `None` if it is not affine in the states, depends
    /// on time or inputs, or has a coefficient that is not finite.
    pub(crate) fn linear(&self) -> Option<Linear> {
        let mut last_use = vec![0; self.len()];
        for (id, node) in self.nodes().iter().enumerate() {
            node.op.operands().for_each(|operand| last_use[operand] = id);
        }
        let mut forms: Vec<Linear> = Vec::with_capacity(self.len());
        for (id, node) in self.nodes().iter().enumerate() {
            let form = form(node.op, &forms)?;
            // A long chain of definitions has long forms: keep only those still needed.
            for operand in node.op.operands().filter(|&operand| last_use[operand] == id) {
                forms[operand] = Linear::default();
            }
            forms.push(form);
        }
        let root = forms.pop()?;
        // −0 becomes 0.
        root.is_finite().then_some(Linear { constant: root.constant + 0.0, ..root })
    }
}

/// Returns the form of a node, given those of all nodes before it.
fn form(op: Op, earlier: &[Linear]) -> Option<Linear> {
    let of = |id: usize| &earlier[id];
    Some(match op {
        Op::Constant(bits) => Linear::constant(bits.value()),
        Op::State(variable) => {
            let term = LinearTerm { at: TimeStep::Offset(0), variable, coefficient: 1.0 };
            Linear { terms: vec![term], constant: 0.0 }
        }
        Op::Negate(a) => of(a).scaled(|c| -c),
        Op::Binary(Operator::Add, a, b) => of(a).plus(of(b)),
        Op::Binary(Operator::Subtract, a, b) => of(a).plus(&of(b).scaled(|c| -c)),
        Op::Binary(Operator::Multiply, a, b) => match (of(a).as_constant(), of(b).as_constant()) {
            (Some(factor), _) => of(b).scaled(|c| factor * c),
            (_, Some(factor)) => of(a).scaled(|c| c * factor),
            (None, None) => return None,
        },
        Op::Binary(Operator::Divide, a, b) => {
            let divisor = of(b).as_constant()?;
            of(a).scaled(|c| c / divisor)
        }
        Op::WholePower(a, k) => Linear::constant(of(a).as_constant()?.powi(k)),
        Op::At(step, a) => of(a).taken_at(step),
        Op::Time
        | Op::Input(_)
        | Op::Rate(_)
        | Op::Binary(Operator::Power, ..)
        | Op::Map(..)
        | Op::Fold(..) => return None,
    })
}
