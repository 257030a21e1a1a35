//! The syntax of an expression, as postfix code, and its printed text.
//!
//! Operands stand before their operator: `a + 2*b` is `a, 2, b, *, +`. A tree of any shape is one
//! flat list, so that nothing in this crate recurses over it and dropping it cannot overflow the
//! stack.

use std::fmt;
use std::ops::Range;

use crate::functions::Function;

/// An expression in postfix order.
#[derive(Debug, Clone)]
pub(crate) struct Syntax {
    pub(crate) items: Vec<(Item, Range<usize>)>,
    /// The bytes of the whole expression, including brackets around it.
    pub(crate) span: Range<usize>,
}

impl Syntax {
    /// Returns every name in it, and where.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&str, &Range<usize>)> {
        self.items.iter().filter_map(|(item, span)| match item {
            Item::Name(name) => Some((&**name, span)),
            _ => None,
        })
    }
}

impl Syntax {
    /// Returns the argument if the whole expression is a call of this function of one argument.
    pub(crate) fn argument_of(&self, function: &str) -> Option<Self> {
        let ((last, _), argument) = self.items.split_last()?;
        let is_call = matches!(last, Item::Call(called, 1) if called.name() == function);
        is_call.then(|| Self { items: argument.to_vec(), span: self.span.clone() })
    }
}

/// One step of the postfix code.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Item {
    /// A number, never negative: `-2` is the negated 2.
    Number(f64),
    Name(Box<str>),
    /// The negative of the expression before it.
    Negate,
    /// An operator applied to the two expressions before it.
    Binary(Operator),
    /// A function applied to this number of expressions before it.
    Call(&'static Function, usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
}

/// A relation as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    AtMost,
    AtLeast,
    Less,
    Greater,
}

/// How tightly an operator binds. An operand that binds less tightly needs brackets.
pub(crate) mod strength {
    pub(crate) const SUM: u8 = 1;
    pub(crate) const PRODUCT: u8 = 2;
    pub(crate) const NEGATE: u8 = 3;
    pub(crate) const POWER: u8 = 4;
    pub(crate) const ATOM: u8 = 5;
}

impl Operator {
    pub(crate) fn strength(self) -> u8 {
        match self {
            Self::Add | Self::Subtract => strength::SUM,
            Self::Multiply | Self::Divide => strength::PRODUCT,
            Self::Power => strength::POWER,
        }
    }

    /// Returns the least strength of a left operand that needs no brackets.
    fn left(self) -> u8 {
        if self == Self::Power { strength::ATOM } else { self.strength() }
    }

    /// Returns the least strength of a right operand that needs no brackets.
    pub(crate) fn right(self) -> u8 {
        if self == Self::Power { strength::POWER } else { self.strength() + 1 }
    }

    /// Returns the operator with the spaces of the printed text.
    fn spaced(self) -> &'static str {
        match self {
            Self::Add => " + ",
            Self::Subtract => " - ",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Power => "^",
        }
    }
}

impl Comparison {
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::AtMost => "<=",
            Self::AtLeast => ">=",
            Self::Less => "<",
            Self::Greater => ">",
        }
    }
}

/// A printed part and its strength.
struct Printed {
    text: String,
    strength: u8,
}

impl Printed {
    fn in_brackets_below(self, least: u8) -> String {
        if self.strength < least { format!("({})", self.text) } else { self.text }
    }
}

/// Writes as few brackets as possible such that the text parses to the same syntax.
impl fmt::Display for Syntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut stack: Vec<Printed> = Vec::new();
        let pop = |stack: &mut Vec<Printed>| stack.pop().expect("postfix code is balanced");
        for (item, _) in &self.items {
            let (text, strength) = match item {
                Item::Number(value) => (number(*value), strength::ATOM),
                Item::Name(name) => (name.to_string(), strength::ATOM),
                Item::Negate => {
                    let operand = pop(&mut stack).in_brackets_below(strength::NEGATE);
                    (format!("-{operand}"), strength::NEGATE)
                }
                Item::Binary(operator) => {
                    let right = pop(&mut stack);
                    // A sign is unambiguous after an operator: no brackets.
                    let bare = right.strength == strength::NEGATE;
                    let right = right.in_brackets_below(if bare { 0 } else { operator.right() });
                    let mut text = pop(&mut stack).in_brackets_below(operator.left());
                    text.push_str(operator.spaced());
                    text.push_str(&right);
                    (text, operator.strength())
                }
                Item::Call(function, arguments) => {
                    let parts = stack.split_off(stack.len() - arguments);
                    let parts: Vec<String> = parts.into_iter().map(|part| part.text).collect();
                    (format!("{}({})", function.name(), parts.join(", ")), strength::ATOM)
                }
            };
            stack.push(Printed { text, strength });
        }
        f.write_str(&pop(&mut stack).text)
    }
}

/// Returns the shorter of the plain and the scientific form. Both parse to the same number.
fn number(value: f64) -> String {
    let (plain, scientific) = (format!("{value}"), format!("{value:e}"));
    if scientific.len() < plain.len() { scientific } else { plain }
}
