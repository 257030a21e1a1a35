//! Parses tokens to syntax, by precedence climbing with a limit on the depth.
//!
//! | strength | operators | associativity |
//! |---|---|---|
//! | 1 | `+` `-` | left |
//! | 2 | `*` `/` | left |
//! | 3 | sign `-` | `-x^2` is `-(x^2)`, `-x*y` is `(-x)*y` |
//! | 4 | `^` | right; `2^-x` needs no brackets |

use std::ops::Range;

use crate::error::{ErrorKind, LawError};
use crate::functions::{FUNCTIONS, Function};
use crate::hints::{habit, list};
use crate::lexer::{Token, TokenKind, tokens};
use crate::nearest::nearest;
use crate::syntax::{Comparison, Item, Operator, Syntax, strength};

/// The deepest nesting of brackets, signs and powers that can be parsed.
pub const MAX_DEPTH: usize = 200;

/// Parses an expression, without a relation.
pub(crate) fn parse_expression(text: &str) -> Result<Syntax, LawError> {
    let mut parser = Parser::new(text)?;
    let syntax = parser.side()?;
    match parser.peek() {
        TokenKind::End => Ok(syntax),
        _ => Err(parser.misplaced()),
    }
}

/// Parses one or more relations in a chain. There is one expression more than comparisons.
pub(crate) fn parse_relations(text: &str) -> Result<(Vec<Syntax>, Vec<Comparison>), LawError> {
    let mut parser = Parser::new(text)?;
    let mut sides = vec![parser.side()?];
    let mut comparisons = Vec::new();
    while let TokenKind::Comparison(comparison) = parser.peek() {
        parser.position += 1;
        comparisons.push(comparison);
        sides.push(parser.side()?);
    }
    match parser.peek() {
        TokenKind::End if comparisons.is_empty() => {
            let hint = "write a relation, for example `x <= 1` or `a + b == 1`".to_owned();
            Err(LawError::new(ErrorKind::MissingRelation, sides[0].span.clone()).with_hint(hint))
        }
        TokenKind::End => Ok((sides, comparisons)),
        _ => Err(parser.misplaced()),
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token<'a>>,
    position: usize,
    depth: usize,
    /// The brackets that are open, outermost first.
    open: Vec<Range<usize>>,
    items: Vec<(Item, Range<usize>)>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Result<Self, LawError> {
        let tokens = tokens(text)?;
        Ok(Self { text, tokens, position: 0, depth: 0, open: Vec::new(), items: Vec::new() })
    }

    fn peek(&self) -> TokenKind<'a> {
        self.tokens[self.position].kind
    }

    fn span(&self) -> Range<usize> {
        self.tokens[self.position].span.clone()
    }

    /// Parses a whole expression, outside all brackets.
    fn side(&mut self) -> Result<Syntax, LawError> {
        let span = self.expression(strength::SUM)?;
        Ok(Syntax { items: std::mem::take(&mut self.items), span })
    }

    /// Parses operands joined by operators that are at least as strong as `weakest`.
    fn expression(&mut self, weakest: u8) -> Result<Range<usize>, LawError> {
        let mut span = self.operand()?;
        while let TokenKind::Operator(operator) = self.peek()
            && operator.strength() >= weakest
        {
            let sign = self.span();
            self.position += 1;
            let right = if operator == Operator::Power {
                self.deeper(sign, |parser| parser.expression(operator.right()))?
            } else {
                self.expression(operator.right())?
            };
            span = span.start..right.end;
            self.items.push((Item::Binary(operator), span.clone()));
        }
        Ok(span)
    }

    fn operand(&mut self) -> Result<Range<usize>, LawError> {
        let span = self.span();
        match self.peek() {
            TokenKind::Number(value) => {
                self.position += 1;
                self.items.push((Item::Number(value), span.clone()));
                Ok(span)
            }
            TokenKind::Name(name) => {
                self.position += 1;
                self.name(name, span)
            }
            TokenKind::Operator(Operator::Subtract) => {
                self.position += 1;
                let operand =
                    self.deeper(span.clone(), |parser| parser.expression(strength::NEGATE))?;
                let span = span.start..operand.end;
                self.items.push((Item::Negate, span.clone()));
                Ok(span)
            }
            TokenKind::Open => {
                self.position += 1;
                self.open.push(span.clone());
                self.deeper(span.clone(), |parser| parser.expression(strength::SUM))?;
                Ok(span.start..self.close()?)
            }
            TokenKind::Close if self.open.is_empty() => {
                Err(LawError::new(ErrorKind::UnopenedBracket, span))
            }
            TokenKind::End => Err(LawError::new(ErrorKind::MissingExpression(None), span)),
            _ => {
                let found = self.text[span.clone()].to_owned();
                let hint = habit(&found);
                Err(LawError::new(ErrorKind::MissingExpression(Some(found)), span).with_hint(hint))
            }
        }
    }

    /// Parses a name, or a call if a bracket follows.
    fn name(&mut self, name: &str, span: Range<usize>) -> Result<Range<usize>, LawError> {
        let function = Function::named(name);
        if self.peek() != TokenKind::Open {
            if function.is_some() {
                let hint = format!("write `{name}(…)`");
                let kind = ErrorKind::MissingArguments(name.to_owned());
                return Err(LawError::new(kind, span).with_hint(hint));
            }
            self.items.push((Item::Name(name.into()), span.clone()));
            return Ok(span);
        }
        let Some(function) = function else { return Err(not_a_function(name, span)) };
        let bracket = self.span();
        self.position += 1;
        self.open.push(bracket.clone());
        let given = self.deeper(bracket, Self::arguments)?;
        let span = span.start..self.close()?;
        if !function.accepts(given) {
            return Err(LawError::new(ErrorKind::WrongArgumentCount { function, given }, span));
        }
        self.items.push((Item::Call(function, given), span.clone()));
        Ok(span)
    }

    /// Parses expressions separated by commas, and returns their number.
    fn arguments(&mut self) -> Result<usize, LawError> {
        if self.peek() == TokenKind::Close {
            return Ok(0);
        }
        self.expression(strength::SUM)?;
        let mut count = 1;
        while self.peek() == TokenKind::Comma {
            self.position += 1;
            self.expression(strength::SUM)?;
            count += 1;
        }
        Ok(count)
    }

    /// Parses the closing bracket, and returns where it ends.
    fn close(&mut self) -> Result<usize, LawError> {
        if self.peek() != TokenKind::Close {
            return Err(self.misplaced());
        }
        self.open.pop();
        self.position += 1;
        Ok(self.tokens[self.position - 1].span.end)
    }

    /// Parses one level deeper, up to the limit.
    fn deeper<T>(
        &mut self,
        span: Range<usize>,
        parse: impl FnOnce(&mut Self) -> Result<T, LawError>,
    ) -> Result<T, LawError> {
        if self.depth == MAX_DEPTH {
            return Err(LawError::new(ErrorKind::TooDeep, span));
        }
        self.depth += 1;
        let parsed = parse(self)?;
        self.depth -= 1;
        Ok(parsed)
    }

    /// Returns the error for a token that cannot follow a complete expression.
    fn misplaced(&self) -> LawError {
        let span = self.span();
        let found = &self.text[span.clone()];
        match self.peek() {
            TokenKind::End | TokenKind::Close => match self.open.last() {
                Some(bracket) => LawError::new(ErrorKind::UnclosedBracket, bracket.clone()),
                None => LawError::new(ErrorKind::UnopenedBracket, span),
            },
            TokenKind::Comparison(comparison) => {
                let kind = ErrorKind::UnexpectedRelation(comparison.symbol());
                let hint = if self.open.is_empty() {
                    "only laws have a relation; expressions and definitions do not"
                } else {
                    "move the relation outside all brackets"
                };
                LawError::new(kind, span).with_hint(hint.to_owned())
            }
            TokenKind::Comma => {
                LawError::new(ErrorKind::UnexpectedComma, span).with_hint(self.decimal_point())
            }
            TokenKind::Name("and" | "or") => {
                let kind = ErrorKind::UnknownSymbol(found.to_owned());
                LawError::new(kind, span).with_hint(habit(found))
            }
            _ => {
                let before = &self.tokens[self.position - 1];
                let hint = format!(
                    "to multiply, write `*`: `{}*{found}`",
                    &self.text[before.span.clone()]
                );
                LawError::new(ErrorKind::MissingOperator(found.to_owned()), span).with_hint(hint)
            }
        }
    }

    /// Returns the hint for a comma between two numbers, such as `1,5`.
    fn decimal_point(&self) -> Option<String> {
        let around = self.tokens.get(self.position.checked_sub(1)?..=self.position + 1)?;
        let is_number = |token: &Token<'_>| matches!(token.kind, TokenKind::Number(_));
        let [before, _, after] = around else { return None };
        let (before, after) =
            (is_number(before).then_some(before)?, is_number(after).then_some(after)?);
        let (whole, fraction) = (&self.text[before.span.clone()], &self.text[after.span.clone()]);
        Some(format!("write a decimal point: `{whole}.{fraction}`"))
    }
}

fn not_a_function(name: &str, span: Range<usize>) -> LawError {
    let names = || FUNCTIONS.iter().map(Function::name);
    let hint = habit(name).unwrap_or_else(|| match nearest(name, names()) {
        Some(close) => format!("did you mean `{close}`?"),
        None => format!("to multiply, write `{name}*(…)`; the functions are {}", list(names())),
    });
    LawError::new(ErrorKind::NotAFunction(name.to_owned()), span).with_hint(hint)
}
