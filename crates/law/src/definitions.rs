//! The order in which definitions can be read, although they may use each other in any order.

use std::collections::HashMap;
use std::ops::Range;

use crate::error::{ErrorKind, LawError, Origin};
use crate::syntax::Syntax;

/// How far the walk through the definitions has come with one of them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    Unseen,
    /// On the way from the one where the walk began.
    Open,
    Done,
}

/// Positions of the definitions such that each comes after all that it uses, or the error that
/// names a circle.
///
/// The walk goes depth first with a stack of its own: a chain of definitions may be of any length.
pub(crate) fn reading_order(definitions: &[(&str, Syntax)]) -> Result<Vec<usize>, LawError> {
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
        // Each definition on the way, with how many of its uses have been followed.
        let mut way = vec![(begin, 0)];
        while let Some((current, followed)) = way.last_mut() {
            let Some((used, span)) = uses[*current].get(*followed) else {
                visits[*current] = Visit::Done;
                order.push(*current);
                way.pop();
                continue;
            };
            *followed += 1;
            match visits[*used] {
                Visit::Done => {}
                Visit::Unseen => {
                    visits[*used] = Visit::Open;
                    way.push((*used, 0));
                }
                Visit::Open => {
                    let user = definitions[*current].0.to_owned();
                    let circle = way.iter().map(|(on_way, _)| *on_way);
                    let circle = circle.skip_while(|on_way| on_way != used).chain([*used]);
                    let names = circle.map(|member| definitions[member].0.to_owned()).collect();
                    return Err(LawError::new(ErrorKind::Cycle(names), span.clone())
                        .within(Origin::Definition(user)));
                }
            }
        }
    }
    Ok(order)
}

/// The definitions that an expression uses, and where.
fn used(syntax: &Syntax, positions: &HashMap<&str, usize>) -> Vec<(usize, Range<usize>)> {
    let known =
        syntax.names().filter_map(|(name, span)| Some((*positions.get(name)?, span.clone())));
    known.collect()
}
