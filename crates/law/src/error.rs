//! Errors in the text of a law: what is wrong, where, and what to write instead.

use std::fmt;
use std::ops::Range;

use crate::functions::Function;

/// An error in the text of a law, of an expression or of a vocabulary.
///
/// [`Display`](fmt::Display) writes the message alone. [`span`](Self::span) and
/// [`origin`](Self::origin) locate the error; [`hint`](Self::hint) suggests what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LawError {
    kind: ErrorKind,
    span: Range<usize>,
    origin: Origin,
    hint: Option<String>,
}

impl LawError {
    pub(crate) fn new(kind: ErrorKind, span: Range<usize>) -> Self {
        Self { kind, span, origin: Origin::Text, hint: None }
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<Option<String>>) -> Self {
        self.hint = hint.into();
        self
    }

    pub(crate) fn within(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    /// Returns what is wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// Returns the place of the error: a range of bytes in the text that [`origin`](Self::origin)
    /// names.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Returns the text that contains the span.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Returns what to write instead, if there is a suggestion.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

/// The text that contains a span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The text given to [`Law::parse`](crate::Law::parse) or
    /// [`Expression::parse`](crate::Expression::parse).
    Text,
    /// The text of the definition of this name.
    Definition(String),
    /// A name of the vocabulary itself.
    Name(String),
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorKind {
    /// The text has more bytes than [`MAX_TEXT_BYTES`](crate::MAX_TEXT_BYTES).
    TooLong {
        /// Bytes of the text.
        bytes: usize,
    },
    /// Brackets, signs or powers are nested deeper than [`MAX_DEPTH`](crate::MAX_DEPTH).
    TooDeep,
    /// A character or an operator that is not part of the language.
    UnknownSymbol(String),
    /// Digits that do not form a number.
    MalformedNumber(String),
    /// A number that `f64` cannot hold.
    NumberTooLarge(String),
    /// No expression where one is required; contains the text found instead, if any.
    MissingExpression(Option<String>),
    /// Two expressions with no operator between them; contains the start of the second one.
    MissingOperator(String),
    /// A bracket `(` without its `)`.
    UnclosedBracket,
    /// A bracket `)` without its `(`.
    UnopenedBracket,
    /// A comma outside the arguments of a function.
    UnexpectedComma,
    /// A function's name without brackets.
    MissingArguments(String),
    /// A name before brackets that is not a function.
    NotAFunction(String),
    /// The wrong number of arguments.
    WrongArgumentCount {
        /// The function.
        function: &'static Function,
        /// The number of arguments found.
        given: usize,
    },
    /// A law without a relation.
    MissingRelation,
    /// A relation inside an expression.
    UnexpectedRelation(&'static str),
    /// A name that is not in the vocabulary.
    UnknownName(String),
    /// A name with a fixed meaning, or reserved for future use.
    ReservedName(String),
    /// A name that is not a letter followed by letters, digits and `_`.
    InvalidName(String),
    /// A name that is defined twice.
    DuplicateName(String),
    /// A constant, written or computed, that is infinite or not a number.
    NotFinite,
    /// Circular definitions: the names along the cycle, the first one repeated at the end.
    Cycle(Vec<String>),
    /// A time step before the first or after the last: `initial(previous(x))`, `final(next(x))`.
    NeverExists(&'static str),
    /// Another time step, in an expression that has values at one time step only.
    NotPointwise(String),
    /// A derivative along the vector field, outside of a law.
    NeedsField(String),
    /// The rate of an expression that depends on this input.
    RateOfInput(String),
    /// A rate inside another one.
    RateOfRate,
    /// A state variable or an input in an expression of time alone.
    NotOfTime(String),
    /// A law whose residual does not depend on any state variable.
    IndependentOfState {
        /// The law's name.
        law: String,
    },
}

impl fmt::Display for LawError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl std::error::Error for LawError {}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { bytes } => {
                write!(f, "the text has {bytes} bytes; the limit is {}", crate::MAX_TEXT_BYTES)
            }
            Self::TooDeep => write!(f, "the nesting is deeper than {} levels", crate::MAX_DEPTH),
            Self::UnknownSymbol(symbol) => write!(f, "unknown symbol `{symbol}`"),
            Self::MalformedNumber(text) => write!(f, "`{text}` is not a number"),
            Self::NumberTooLarge(text) => {
                write!(f, "the number `{text}` is too large: the limit is about 1.8e308")
            }
            Self::MissingExpression(None) => write!(f, "an expression is missing at the end"),
            Self::MissingExpression(Some(found)) => {
                write!(f, "an expression is missing before `{found}`")
            }
            Self::MissingOperator(found) => write!(f, "an operator is missing before `{found}`"),
            Self::UnclosedBracket => write!(f, "the bracket `(` is never closed"),
            Self::UnopenedBracket => write!(f, "the bracket `)` was never opened"),
            Self::UnexpectedComma => write!(f, "`,` is only allowed between function arguments"),
            Self::MissingArguments(name) => {
                write!(f, "the function `{name}` needs arguments")
            }
            Self::NotAFunction(name) => write!(f, "`{name}` is not a function"),
            Self::WrongArgumentCount { function, given } => {
                write!(f, "`{}` takes {}, found {given}", function.name(), function.arguments())
            }
            Self::MissingRelation => write!(f, "a law needs a relation"),
            Self::UnexpectedRelation(relation) => {
                write!(f, "the relation `{relation}` is not allowed in an expression")
            }
            Self::UnknownName(name) => write!(f, "`{name}` is not known"),
            Self::ReservedName(name) => write!(f, "the name `{name}` is reserved"),
            Self::InvalidName(name) => write!(f, "`{name}` is not a valid name"),
            Self::DuplicateName(name) => write!(f, "the name `{name}` is defined twice"),
            Self::NotFinite => write!(f, "this constant is not a finite number"),
            Self::Cycle(names) => {
                write!(f, "the definitions are circular: {}", names.join(" → "))
            }
            Self::NeverExists(call) => {
                write!(f, "`{call}` refers to a time step outside the trajectory")
            }
            Self::NotPointwise(name) => {
                write!(f, "`{name}` refers to another time step, which is only allowed in a law")
            }
            Self::NeedsField(name) => {
                write!(
                    f,
                    "`{name}` is a rate along the vector field, which is only allowed in a law"
                )
            }
            Self::RateOfInput(input) => {
                write!(f, "the rate of the input `{input}` is not known")
            }
            Self::RateOfRate => write!(f, "the rate of a rate is not known"),
            Self::NotOfTime(name) => {
                write!(f, "`{name}` is not allowed here: only `t` and constants are")
            }
            Self::IndependentOfState { law } => {
                write!(f, "the law `{law}` does not depend on any state variable")
            }
        }
    }
}
