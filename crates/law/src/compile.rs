//! Compiles syntax to a graph and resolves names.

use crate::error::{ErrorKind, LawError};
use crate::functions::{Rule, Step};
use crate::graph::{Graph, Id};
use crate::rate::NoRate;
use crate::syntax::{Item, Syntax};

/// The names and functions that a text may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// A law: all of them.
    Trajectory,
    /// An expression: values at one time step.
    Point,
    /// A prescribed input: time and constants.
    Time,
}

/// Adds an expression to the graph and returns its node. `meaning` returns the node of a name, or
/// the error and the hint if there is none; `inputs` are the names of the inputs.
pub(crate) fn compile(
    syntax: &Syntax,
    scope: Scope,
    graph: &mut Graph,
    inputs: &[String],
    meaning: impl Fn(&str) -> Result<Id, (ErrorKind, Option<String>)>,
) -> Result<Id, LawError> {
    let mut stack: Vec<Id> = Vec::new();
    let pop = |stack: &mut Vec<Id>| stack.pop().expect("postfix code is balanced");
    for (item, span) in &syntax.items {
        let error = |kind: ErrorKind| LawError::new(kind, span.clone());
        let id = match item {
            Item::Number(value) => graph.constant(*value),
            Item::Name(name) => {
                let id = meaning(name).map_err(|(kind, hint)| error(kind).with_hint(hint))?;
                in_scope(name, id, scope, graph).map_err(error)?;
                id
            }
            Item::Negate => {
                let a = pop(&mut stack);
                graph.negate(a)
            }
            Item::Binary(operator) => {
                let (b, a) = (pop(&mut stack), pop(&mut stack));
                graph.binary(*operator, a, b)
            }
            Item::Call(function, count) => {
                let arguments = stack.split_off(stack.len() - count);
                let in_law = scope == Scope::Trajectory;
                match function.rule() {
                    Rule::At(_) if !in_law => {
                        return Err(error(ErrorKind::NotPointwise(function.name().to_owned())));
                    }
                    Rule::Rate if !in_law => {
                        return Err(error(ErrorKind::NeedsField(function.name().to_owned())));
                    }
                    Rule::Rate => graph.rate(arguments[0]).map_err(|reason| {
                        let (kind, hint) = no_rate(reason, inputs);
                        error(kind).with_hint(hint.to_owned())
                    })?,
                    rule => graph.call(function, &arguments).ok_or_else(|| {
                        let first = matches!(rule, Rule::At(Step::Initial));
                        let call =
                            if first { "initial(previous(…))" } else { "final(next(…))" };
                        error(ErrorKind::NeverExists(call))
                    })?,
                }
            }
        };
        if graph.constant_value(id).is_some_and(|value| !value.is_finite()) {
            return Err(error(ErrorKind::NotFinite));
        }
        stack.push(id);
    }
    Ok(pop(&mut stack))
}

/// Returns the error and the hint for an expression that has no rate.
fn no_rate(reason: NoRate, inputs: &[String]) -> (ErrorKind, &'static str) {
    match reason {
        NoRate::Input(input) => (
            ErrorKind::RateOfInput(inputs[input].clone()),
            "keep inputs outside, as in `u*rate(x)`, or write a finite difference: \
             `(next(e) - e)/(next(t) - t)`",
        ),
        NoRate::Rate => (
            ErrorKind::RateOfRate,
            "write a finite difference: `(next(rate(x)) - rate(x))/(next(t) - t)`",
        ),
    }
}

/// Checks that the scope allows the node of a name.
fn in_scope(name: &str, id: Id, scope: Scope, graph: &Graph) -> Result<(), ErrorKind> {
    let node = graph.node(id);
    if scope != Scope::Trajectory && !node.reach.is_pointwise() {
        return Err(ErrorKind::NotPointwise(name.to_owned()));
    }
    if scope != Scope::Trajectory && node.of_rate {
        return Err(ErrorKind::NeedsField(name.to_owned()));
    }
    if scope == Scope::Time && (node.of_state || node.of_input) {
        return Err(ErrorKind::NotOfTime(name.to_owned()));
    }
    Ok(())
}
