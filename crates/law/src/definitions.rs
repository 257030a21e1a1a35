//! Sorts definitions, which may use each other in any order, such that each follows those it uses.

use std::collections::HashMap;
use std::ops::Range;

use crate::error::{ErrorKind, LawError, Origin};
use crate::syntax::Syntax;

/// The state of a definition in the depth-first search.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    Unseen,
    /// On the current path.
    Open,
    Done,
}

/// Returns the positions of the definitions in an order in which each follows those it uses, or an
/// error if the definitions are circular.
///
/// The depth-first search has its own stack, so a chain of definitions may have any length.
pub(crate) fn dependency_order(definitions: &[(&str, Syntax)]) -> Result<Vec<usize>, LawError> {
    let positions: HashMap<&str, usize> =
        definitions.iter().enumerate().map(|(position, (name, _))| (*name, position)).collect();
    let uses: Vec<Vec<(usize, Range<usize>)>> =
        definitions.iter().map(|(_, syntax)| used(syntax, &positions)).collect();

    let mut visits = vec![Visit::Unseen; definitions.len()];
    let mut order = Vec::with_capacity(definitions.len());
    for begin in 0..definitions.len() {
        if visits[begin] != Visit::Unseen {
            continue;
        }
        visits[begin] = Visit::Open;
        // The current path: each definition with the number of its uses already followed.
        let mut path = vec![(begin, 0)];
        while let Some((current, followed)) = path.last_mut() {
            let Some((used, span)) = uses[*current].get(*followed) else {
                visits[*current] = Visit::Done;
                order.push(*current);
                path.pop();
                continue;
            };
            *followed += 1;
            match visits[*used] {
                Visit::Done => {}
                Visit::Unseen => {
                    visits[*used] = Visit::Open;
                    path.push((*used, 0));
                }
                Visit::Open => {
                    let user = definitions[*current].0.to_owned();
                    let cycle = path.iter().map(|(position, _)| *position);
                    let cycle = cycle.skip_while(|position| position != used).chain([*used]);
                    let names = cycle.map(|member| definitions[member].0.to_owned()).collect();
                    return Err(LawError::new(ErrorKind::Cycle(names), span.clone())
                        .within(Origin::Definition(user)));
                }
            }
        }
    }
    Ok(order)
}

/// Returns the definitions that an expression uses, and where.
fn used(syntax: &Syntax, positions: &HashMap<&str, usize>) -> Vec<(usize, Range<usize>)> {
    let known =
        syntax.names().filter_map(|(name, span)| Some((*positions.get(name)?, span.clone())));
    known.collect()
}
