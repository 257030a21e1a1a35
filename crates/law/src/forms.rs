//! Forms of a law that name a quantity: one that is conserved, one that never rises.
//!
//! The residual is read as a sum. Its terms are of two kinds: those at its own time step, and those
//! taken from another one. Where the terms of both kinds are the same but for their sign, the law
//! compares one quantity, the sum of the first, at two time steps:
//!
//! | law | residual | form |
//! |---|---|---|
//! | `x^2 + y^2 == 1` | terms at this time step only | the residual is conserved, and is 0 |
//! | `E == initial(E)`, `E == final(E)` | `E − initial(E)` | `E` is conserved |
//! | `next(E) == E`, `E == previous(E)` | `next(E) − E` | `E` is conserved |
//! | `next(E) <= E`, `E <= previous(E)` | `next(E) − E` | `E` never rises |
//! | `next(E) >= E` | `E − next(E)` | `−E` never rises |
//! | `rate(E) == 0` | `rate(E)` | `E` is conserved |
//! | `rate(E) <= 0`, `rate(E) >= 0` | `rate(E)`, `−rate(E)` | `E`, `−E` never rises |
//!
//! `E <= initial(E)` says less than that `E` never rises, so that it is not of that form.

use std::fmt;

use crate::functions::Step;
use crate::graph::{Graph, Id, Op};
use crate::law::Law;
use crate::quantity::Quantity;
use crate::relation::Relation;
use crate::syntax::Operator::{Add, Subtract};

/// A quantity that a law conserves.
#[derive(Debug, Clone)]
pub struct Conserved {
    /// The quantity.
    pub quantity: Quantity,
    /// Whether the law states its value, which is 0, or each trajectory has its own.
    pub is_zero: bool,
}

/// Why a law is not of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotOfThisForm {
    /// It is an inequality, and an equality was asked for.
    NotAnEquality,
    /// It is an equality, and an inequality was asked for.
    NotAnInequality,
    /// It does not compare neighbouring time steps.
    NotNeighbours,
    /// It takes values from several other time steps.
    SeveralSteps,
    /// A term depends on several time steps.
    Mixed,
    /// The two sides are not the same quantity.
    DifferentQuantities,
    /// It states a rate other than 0.
    Rate,
}

impl fmt::Display for NotOfThisForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotAnEquality => "it is not an equality",
            Self::NotAnInequality => "it is not an inequality",
            Self::NotNeighbours => {
                "it does not compare a quantity with itself at the next time step, as `next(E) <= E` does"
            }
            Self::SeveralSteps => "it compares more than two time steps",
            Self::Mixed => "a term of it depends on several time steps",
            Self::DifferentQuantities => {
                "its two sides are not the same quantity at two time steps"
            }
            Self::Rate => "it states a rate that is not 0",
        })
    }
}

impl std::error::Error for NotOfThisForm {}

/// A term of a residual: its sign, its node without the time step that it is taken at, and that.
struct Term {
    negative: bool,
    id: Id,
    at: Option<Step>,
}

impl Law {
    /// Returns the quantity that the law conserves.
    ///
    /// # Errors
    /// If the law has not this form.
    pub fn conserved(&self) -> Result<Conserved, NotOfThisForm> {
        if self.relation() != Relation::Equality {
            return Err(NotOfThisForm::NotAnEquality);
        }
        if self.uses_rates() {
            let quantity = self.rate_of.clone().ok_or(NotOfThisForm::Rate)?;
            return Ok(Conserved { quantity, is_zero: false });
        }
        let mut graph = Graph::of(&self.tape);
        let (here, there) = self.terms(&mut graph)?;
        let is_zero = there.is_empty();
        if !is_zero {
            same_but_for_their_sign(&here, &there)?;
        }
        Ok(Conserved { quantity: self.quantity(&mut graph, &here), is_zero })
    }

    /// Returns the quantity that never rises, by this law, from one time step to the next.
    ///
    /// # Errors
    /// If the law has not this form.
    pub fn never_rising(&self) -> Result<Quantity, NotOfThisForm> {
        if self.relation() != Relation::AtMost {
            return Err(NotOfThisForm::NotAnInequality);
        }
        if self.uses_rates() {
            return self.rate_of.clone().ok_or(NotOfThisForm::Rate);
        }
        let mut graph = Graph::of(&self.tape);
        let (here, there) = self.terms(&mut graph)?;
        let falls = match there.first().and_then(|term| term.at) {
            // next(E) − E ≤ 0: what stands at the next time step never rises.
            Some(Step::Next) => &there,
            // E − previous(E) ≤ 0.
            Some(Step::Previous) => &here,
            _ => return Err(NotOfThisForm::NotNeighbours),
        };
        same_but_for_their_sign(&here, &there)?;
        Ok(self.quantity(&mut graph, falls))
    }

    /// Returns the terms of the residual at its own time step, and those taken from another one.
    fn terms(&self, graph: &mut Graph) -> Result<(Vec<Term>, Vec<Term>), NotOfThisForm> {
        let root = self.tape.len() - 1;
        let (plain, taken) = without_steps(graph, root);
        let mut terms = Vec::new();
        let mut stack = vec![(false, root)];
        while let Some((negative, id)) = stack.pop() {
            match graph.node(id).op {
                Op::Binary(Add, a, b) => stack.extend([(negative, b), (negative, a)]),
                Op::Binary(Subtract, a, b) => stack.extend([(!negative, b), (negative, a)]),
                Op::Negate(a) => stack.push((!negative, a)),
                _ => {
                    let at = match taken[id] {
                        Taken::Nowhere => None,
                        Taken::From(step) => Some(step),
                        Taken::Mixed => return Err(NotOfThisForm::Mixed),
                    };
                    // The terms of a sum that is taken at another time step are terms.
                    let mut inner = vec![(negative, plain[id])];
                    while let Some((negative, id)) = inner.pop() {
                        match graph.node(id).op {
                            Op::Binary(Add, a, b) => inner.extend([(negative, b), (negative, a)]),
                            Op::Binary(Subtract, a, b) => {
                                inner.extend([(!negative, b), (negative, a)]);
                            }
                            Op::Negate(a) => inner.push((!negative, a)),
                            _ => terms.push(Term { negative, id, at }),
                        }
                    }
                }
            }
        }
        let (here, there): (Vec<_>, Vec<_>) = terms.into_iter().partition(|term| term.at.is_none());
        if there.windows(2).any(|pair| pair[0].at != pair[1].at) {
            return Err(NotOfThisForm::SeveralSteps);
        }
        Ok((here, there))
    }

    fn quantity(&self, graph: &mut Graph, terms: &[Term]) -> Quantity {
        let mut sum = graph.constant(0.0);
        for term in terms {
            sum = graph.binary(if term.negative { Subtract } else { Add }, sum, term.id);
        }
        Quantity::new(graph, sum, self.tape.state_len(), self.tape.input_len())
    }
}

/// The time step that a node is taken from.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Taken {
    Nowhere,
    From(Step),
    Mixed,
}

/// Returns for each node up to `root` the node of the same formula at one time step, and the time step that
/// it is taken from.
fn without_steps(graph: &mut Graph, root: Id) -> (Vec<Id>, Vec<Taken>) {
    let (mut plain, mut taken) = (Vec::with_capacity(root + 1), Vec::with_capacity(root + 1));
    for id in 0..=root {
        let op = graph.node(id).op;
        let operands = op.operands().filter(|&operand| graph.constant_value(operand).is_none());
        let of_operands: Vec<Taken> = operands.map(|operand| taken[operand]).collect();
        let (node, step) = match op {
            Op::At(step, a) => {
                let from =
                    if taken[a] == Taken::Nowhere { Taken::From(step) } else { Taken::Mixed };
                (plain[a], from)
            }
            Op::Constant(_) | Op::Time | Op::State(_) | Op::Input(_) | Op::Rate(_) => {
                (id, Taken::Nowhere)
            }
            _ => {
                let first = of_operands.first().copied().unwrap_or(Taken::Nowhere);
                let same = of_operands.iter().all(|&taken| taken == first);
                (graph.rebuilt(op, &plain), if same { first } else { Taken::Mixed })
            }
        };
        plain.push(node);
        taken.push(step);
    }
    (plain, taken)
}

/// Checks that each term here has its opposite there.
fn same_but_for_their_sign(here: &[Term], there: &[Term]) -> Result<(), NotOfThisForm> {
    let mut left: Vec<&Term> = there.iter().collect();
    for term in here {
        let opposite = |other: &&Term| other.id == term.id && other.negative != term.negative;
        let Some(found) = left.iter().position(opposite) else {
            return Err(NotOfThisForm::DifferentQuantities);
        };
        left.swap_remove(found);
    }
    if left.is_empty() { Ok(()) } else { Err(NotOfThisForm::DifferentQuantities) }
}
