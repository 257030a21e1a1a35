//! Splits text into tokens, each with its range of bytes.

use std::ops::Range;

use crate::error::{ErrorKind, LawError};
use crate::hints::{foreign_symbol, habit};
use crate::syntax::{Comparison, Operator};

/// The longest text that can be parsed, in bytes.
pub const MAX_TEXT_BYTES: usize = 64 * 1024;

/// A token and its range of bytes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token<'a> {
    pub(crate) kind: TokenKind<'a>,
    pub(crate) span: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum TokenKind<'a> {
    Number(f64),
    Name(&'a str),
    Operator(Operator),
    Comparison(Comparison),
    Open,
    Close,
    Comma,
    End,
}

/// All symbols. A symbol stands before its prefixes.
const SYMBOLS: &[(&str, TokenKind<'static>)] = &[
    ("==", TokenKind::Comparison(Comparison::Equal)),
    ("<=", TokenKind::Comparison(Comparison::AtMost)),
    (">=", TokenKind::Comparison(Comparison::AtLeast)),
    ("≤", TokenKind::Comparison(Comparison::AtMost)),
    ("≥", TokenKind::Comparison(Comparison::AtLeast)),
    ("<", TokenKind::Comparison(Comparison::Less)),
    (">", TokenKind::Comparison(Comparison::Greater)),
    ("+", TokenKind::Operator(Operator::Add)),
    ("-", TokenKind::Operator(Operator::Subtract)),
    ("*", TokenKind::Operator(Operator::Multiply)),
    ("/", TokenKind::Operator(Operator::Divide)),
    ("^", TokenKind::Operator(Operator::Power)),
    ("(", TokenKind::Open),
    (")", TokenKind::Close),
    (",", TokenKind::Comma),
];

/// Returns whether `text` is a name: a letter or `_`, then letters, digits and `_`.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty() && name_length(text) == text.len()
}

/// Returns the tokens of `text`. The last one is [`TokenKind::End`].
pub(crate) fn tokens(text: &str) -> Result<Vec<Token<'_>>, LawError> {
    if text.len() > MAX_TEXT_BYTES {
        let kind = ErrorKind::TooLong { bytes: text.len() };
        return Err(LawError::new(kind, 0..text.len()));
    }
    let mut tokens = Vec::new();
    let mut start = 0;
    loop {
        start += text[start..].len() - text[start..].trim_start().len();
        let (kind, length) = token(&text[start..], start)?;
        tokens.push(Token { kind, span: start..start + length });
        if kind == TokenKind::End {
            return Ok(tokens);
        }
        start += length;
    }
}

/// Returns the token at the start of `rest`, and its length. `start` is the position of `rest` in
/// the text.
fn token(rest: &str, start: usize) -> Result<(TokenKind<'_>, usize), LawError> {
    let Some(first) = rest.chars().next() else { return Ok((TokenKind::End, 0)) };
    let foreign = foreign_symbol(rest);
    if let Some((symbol, kind)) = SYMBOLS.iter().find(|(symbol, _)| rest.starts_with(symbol))
        && foreign.is_none_or(|foreign| foreign.len() <= symbol.len())
    {
        return Ok((*kind, symbol.len()));
    }
    let length = name_length(rest);
    if length > 0 {
        return Ok((TokenKind::Name(&rest[..length]), length));
    }
    let length = number_length(rest);
    if length > 0 {
        return number(rest, length, start);
    }
    let symbol = foreign.map_or_else(|| first.to_string(), str::to_owned);
    let span = start..start + symbol.len();
    let hint = habit(&symbol);
    Err(LawError::new(ErrorKind::UnknownSymbol(symbol), span).with_hint(hint))
}

fn name_length(text: &str) -> usize {
    let begins = text.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let continues = |c: char| c.is_alphabetic() || c.is_ascii_digit() || c == '_';
    if begins { text.find(|c| !continues(c)).unwrap_or(text.len()) } else { 0 }
}

/// Returns the length of a number, `digits [. digits] [e [±] digits]` with a digit on at least one
/// side of the point, or 0 if there is none.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let whole = digits(0);
    let mut length = whole;
    if bytes.get(length) == Some(&b'.') {
        let fraction = digits(length + 1);
        if whole + fraction == 0 {
            return 0;
        }
        length += 1 + fraction;
    }
    if length > 0 && matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let exponent = digits((length + 1 + sign).min(bytes.len()));
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    length
}

fn number(rest: &str, length: usize, start: usize) -> Result<(TokenKind<'_>, usize), LawError> {
    let digits = |c: char| c == '.' || c.is_ascii_digit();
    let written = &rest[..length];
    if rest[length..].starts_with('.') {
        let end = rest[length..].find(|c| !digits(c)).map_or(rest.len(), |more| length + more);
        let kind = ErrorKind::MalformedNumber(rest[..end].to_owned());
        return Err(LawError::new(kind, start..start + end));
    }
    match written.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((TokenKind::Number(value), length)),
        Ok(_) => {
            let kind = ErrorKind::NumberTooLarge(written.to_owned());
            Err(LawError::new(kind, start..start + length))
        }
        Err(_) => {
            let kind = ErrorKind::MalformedNumber(written.to_owned());
            Err(LawError::new(kind, start..start + length))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind<'_>> {
        tokens(text).unwrap().into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn every_symbol_is_its_own_token() {
        for (symbol, kind) in SYMBOLS {
            assert_eq!(kinds(symbol), [*kind, TokenKind::End], "{symbol}");
        }
    }

    #[test]
    fn every_way_to_write_a_number_gives_its_value() {
        let written = [("1", 1.0), ("1.5", 1.5), (".5", 0.5), ("1e-3", 1e-3), ("2.E+4", 2e4)];
        for (text, value) in written {
            assert_eq!(kinds(text), [TokenKind::Number(value), TokenKind::End], "{text}");
        }
    }

    #[test]
    fn an_exponent_without_digits_is_a_name() {
        assert_eq!(kinds("2e"), [TokenKind::Number(2.0), TokenKind::Name("e"), TokenKind::End]);
        assert_eq!(kinds("2e+")[1], TokenKind::Name("e"));
    }

    #[test]
    fn names_may_have_letters_of_any_script() {
        for name in ["x", "_x1", "θ", "température", "速度", "x_2"] {
            assert!(is_name(name), "{name}");
            assert_eq!(kinds(name), [TokenKind::Name(name), TokenKind::End]);
        }
        for text in ["", "1x", "x y", "x-1", "x²", "x'"] {
            assert!(!is_name(text), "{text}");
        }
    }

    #[test]
    fn spans_are_bytes_of_the_text() {
        let text = " θ ≤ 1.5";
        let found: Vec<&str> =
            tokens(text).unwrap().into_iter().map(|token| &text[token.span]).collect();
        assert_eq!(found, ["θ", "≤", "1.5", ""]);
    }
}
