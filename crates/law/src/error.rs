//! What can be wrong with a law, where, and what to write instead.

use std::fmt;
use std::ops::Range;

use crate::functions::Function;

/// An error in the text of a law, of an expression or of a vocabulary.
///
/// [`Display`](fmt::Display) gives the message alone; [`span`](Self::span) and
/// [`origin`](Self::origin) say where it is, [`hint`](Self::hint) what to write instead.
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

    /// What is wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// Where it is wrong: bytes of the text named by [`origin`](Self::origin).
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Which text the span lies in.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// What to write instead, if there is a good guess.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

/// The text that a span lies in.
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
    /// A character or an operator that the language does not have.
    UnknownSymbol(String),
    /// Digits that do not make a number.
    MalformedNumber(String),
    /// A number that `f64` cannot hold.
    NumberTooLarge(String),
    /// No expression where one must stand; the text that stands there instead, if any.
    MissingExpression(Option<String>),
    /// Two expressions with nothing between them; the second one.
    MissingOperator(String),
    /// A bracket `(` without its `)`.
    UnclosedBracket,
    /// A bracket `)` without its `(`.
    UnopenedBracket,
    /// A comma that separates no arguments.
    UnexpectedComma,
    /// A function's name without brackets.
    MissingArguments(String),
    /// A name before brackets that is no function.
    NotAFunction(String),
    /// The wrong number of arguments.
    WrongArgumentCount {
        /// The function called.
        function: &'static Function,
        /// Arguments given.
        given: usize,
    },
    /// A law without a relation.
    MissingRelation,
    /// A relation where only an expression may stand.
    UnexpectedRelation(&'static str),
    /// A name that the vocabulary does not have.
    UnknownName(String),
    /// A name with a fixed meaning, or kept for one to come.
    ReservedName(String),
    /// A name that is not a letter followed by letters, digits and `_`.
    InvalidName(String),
    /// A name with two meanings.
    DuplicateName(String),
    /// A constant, given or computed, that is infinite or not a number.
    NotFinite,
    /// Definitions that use each other in a circle, from a name back to itself.
    Cycle(Vec<String>),
    /// A time step before the first or after the last: `initial(previous(x))`, `final(next(x))`.
    NeverExists(&'static str),
    /// Another time step in an expression that knows only one.
    NotPointwise(String),
    /// A state variable or an input in an expression of time alone.
    NotOfTime(String),
    /// A law that no choice of the state can change.
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
            Self::NotOfTime(name) => {
                write!(f, "`{name}` is not allowed here: only `t` and constants are")
            }
            Self::IndependentOfState { law } => {
                write!(f, "the law `{law}` does not depend on any state variable")
            }
        }
    }
}
